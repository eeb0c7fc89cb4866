# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of all faults, with the results of the tests of each row."""

from dataclasses import dataclass, field

from catalogue import ROWS

HEAD = """# Faults

Faults, the required reactions and the observed ones. `make faults` tests all and writes this
file. REJECT: the input is dropped, counted and reported in `~/status`. HOLD: the arm brakes within
its limits, then no command is sent. STOP: no command is sent until the chain is enabled again.
REFUSE: the transition, parameter or description fails with a reason, and the old one stays.

Rows on the bench run the whole node, its controller and its arm on a clock of their own; the
controller's outputs are held against the joints' limits (`test/bench/bench.py`). In rows with
processes a recorder checks every command and the measured arm
(`test/faults/recorder.py`); `make faults` first checks that it detects bad ones.

"""
COLUMNS = ("row", "fault", "required", "how", "observed", "pass", "seconds")


@dataclass
class Outcome:
    """The results of the tests of one row.

    Attributes:
        observed: Their observations, each once, in order.
        seconds: Their duration.
        ran: Whether a test ended.
        failed: Whether one failed, or was skipped.
    """

    observed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    ran: bool = False
    failed: bool = False

    @property
    def word(self):
        """The result in the table: a row passes if all of its tests pass."""
        return "fail" if self.failed else "pass" if self.ran else "not run"

    def add(self, report):
        """Add a phase of a test, as pytest reports it."""
        self.seconds += report.duration
        self.failed = self.failed or not report.passed
        self.ran = self.ran or report.when == "call"
        if report.when == "teardown":
            told = [text for name, text in report.user_properties if name == "observed"]
            self.observed = list(dict.fromkeys([*self.observed, *told]))


def lines(outcomes):
    """Return the cells of all rows of the catalogue, of outcomes by number."""
    table, section = [], None
    for number, row in ROWS.items():
        if row.section != section:
            section = row.section
            table.append(("", f"**{section}**", *[""] * (len(COLUMNS) - 2)))
        outcome = outcomes.get(number, Outcome())
        observed = "; ".join(outcome.observed)
        seen = (row.how, observed, outcome.word, f"{outcome.seconds:.1f}")
        table.append((str(number), row.fault, row.required, *seen))
    return table


def markdown(outcomes):
    """Return the whole file."""
    table = [COLUMNS, ("---",) * len(COLUMNS), *lines(outcomes)]
    return HEAD + "".join(f"| {' | '.join(map(_escaped, line))} |\n" for line in table)


def _escaped(cell):
    return " ".join(cell.replace("|", "\\|").split())


def not_passed(outcomes):
    """Return the numbers of the rows that have not passed."""
    return [number for number in ROWS if outcomes.get(number, Outcome()).word != "pass"]

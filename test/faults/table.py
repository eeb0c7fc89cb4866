# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The table of all faults: what each row's tests have come to."""

from dataclasses import dataclass, field

from catalogue import ROWS

HEAD = """# Faults

What can go wrong, what is required then, and what was seen when it was tried. `make faults` tries
all of it and writes this file. REJECT: the input is dropped, counted and named in `~/status`. HOLD:
the arm brakes within its limits, then silence. STOP: nothing is commanded until somebody enables it
again. REFUSE: the transition, parameter or description fails with its reason, the old one stays.

Where a row needs processes, a recorder judges every command and the measured arm
(`test/faults/recorder.py`); `make faults` shows first that it catches bad ones.

"""
COLUMNS = ("row", "fault", "required", "how", "observed", "pass", "seconds")


@dataclass
class Outcome:
    """What the tests of one row have come to.

    Attributes:
        observed: What they saw, each once, in their order.
        seconds: How long they took.
        ran: Whether a test came to its end.
        failed: Whether one failed, or was skipped.
    """

    observed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    ran: bool = False
    failed: bool = False

    @property
    def word(self):
        """What the table says: a row has passed when all of its tests have."""
        return "fail" if self.failed else "pass" if self.ran else "not run"

    def add(self, report):
        """Fold in a phase of a test, as pytest reports it."""
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

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Each row of the catalogue has one test, and the page of faults has its result."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from catalogue import ROWS
from table import COLUMNS, Outcome, lines, markdown, not_passed

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "faults.md"
written = pytest.mark.skipif(not PAGE.exists(), reason="make faults has not written the page yet")


def functions():
    """Return (number, file) of every test of a row."""
    found = []
    for file in sorted(FOLDER.glob("test_*.py")):
        for each in ast.parse(file.read_text()).body:
            if isinstance(each, ast.FunctionDef) and (
                number := re.match(r"test_row_(\d\d+)_\w", each.name)
            ):
                found.append((int(number[1]), file.name))
    return found


def test_the_rows_are_numbered_from_1_to_134():
    assert list(ROWS) == list(range(1, 135))


def test_each_row_has_one_test_in_the_right_file():
    numbers = [number for number, _ in functions()]
    assert sorted(numbers) == sorted(set(numbers) & ROWS.keys())
    for number, file in functions():
        kind = ROWS[number].how.removesuffix("es")
        assert file.startswith(f"test_{kind}_"), (number, file)


@written
def test_each_row_has_a_test():
    assert {number for number, _ in functions()} == ROWS.keys()


@written
def test_the_page_has_all_rows_as_passed():
    """In the words of the catalogue: `make faults` writes it."""
    page = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \d", line)]
    reported = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in page]
    assert [len(cells) for cells in reported] == [len(COLUMNS)] * len(ROWS)
    for (number, row), cells in zip(ROWS.items(), reported, strict=True):
        seen = str(number), row.fault, row.required, row.how, "pass"
        assert (*cells[:4], cells[5]) == seen
        assert cells[4], f"row {number}: nothing was observed"


def report(when="call", outcome="passed", observed=()):
    """A phase of a test, as pytest reports it."""
    return SimpleNamespace(
        when=when,
        passed=outcome == "passed",
        duration=0.5,
        user_properties=[("observed", text) for text in observed],
    )


@pytest.mark.parametrize(
    ("reports", "word"),
    [
        ([], "not run"),
        ([report("setup"), report(), report("teardown")], "pass"),
        ([report("setup"), report(outcome="failed"), report("teardown")], "fail"),
        ([report("setup", "failed"), report("teardown")], "fail"),
        ([report("setup"), report(outcome="skipped"), report("teardown")], "fail"),
        ([report("setup"), report(), report("teardown", "failed")], "fail"),
        ([report(), report(outcome="failed"), report()], "fail"),
    ],
)
def test_a_row_passes_if_all_phases_of_its_tests_pass(reports, word):
    outcome = Outcome()
    for each in reports:
        outcome.add(each)
    assert outcome.word == word
    assert outcome.seconds == 0.5 * len(reports)
    assert (1 in not_passed({1: outcome})) == (word != "pass")


def test_each_observation_is_listed_once():
    outcome = Outcome()
    outcome.add(report("teardown", observed=["a | b", "c\nd"]))
    outcome.add(report("teardown", observed=["c\nd", "e"]))
    assert lines({1: outcome})[1][4] == "a | b; c\nd; e"
    assert "| a \\| b; c d; e |" in markdown({1: outcome})

"""docs/texts.md and docs/mathematics.md name only what exists, and leave out no step."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (DOCS / "texts.md").read_text().splitlines()
    if line.startswith(("| B ", "| N "))
]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def resolve(name: str) -> object:
    """Import the longest module in a dotted name and follow the rest as attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((REPOSITORY / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1][:40]}")
def test_each_row_names_functions_and_tests_that_exist(row: list[str]) -> None:
    _where, what, functions, tests = row
    assert what
    assert quoted(functions)
    assert quoted(tests)
    for name in quoted(functions):
        assert callable(resolve(name))
    for test in quoted(tests):
        path, name = test.split("::")
        assert name in names_in(path)


def test_no_section_and_no_step_is_missing() -> None:
    where = {row[0] for row in ROWS}
    steps = {"2.1": 7, "2.2": 6, "3": 5}
    expected = {f"B {section}" for section in ("1", "2", "2.1", "2.2", "3")}
    expected |= {f"B {s} step {i}" for s, count in steps.items() for i in range(1, count + 1)}
    expected |= {
        f"N {heading}"
        for heading in (
            "Prerequisites",
            "Rotation about a Point",
            "Rotating Sum of two points",
            "Transforms",
            "Combining Transform Nodes",
            "Example 1",
            "Example 2",
            "Scaling, Translation and Rotation",
            "Combining Transform Nodes with Scale",
        )
    }
    assert where == expected


def test_the_mathematics_names_functions_that_exist() -> None:
    text = (DOCS / "mathematics.md").read_text()
    names = [name for name in quoted(text) if name.startswith("basis_ik.")]
    assert len(names) > 30
    for name in names:
        resolve(name)

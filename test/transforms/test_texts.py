# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""docs/texts.md and docs/mathematics.md name existing functions and tests, for all steps."""

import ast
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from texts_trace import resolve

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (DOCS / "texts.md").read_text().splitlines()
    if line.startswith(("| B ", "| N "))
]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def over_ros(test: str) -> bool:
    """Return whether a test starts whole nodes, which cannot be traced."""
    return test.startswith(("test/ros/", "test/launch/", "test/bench/"))


@cache
def names_in(path: str) -> set[str]:
    body = ast.parse((REPOSITORY / path).read_text()).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    return names | {
        f"{each.name}::{node.name}"
        for each in classes
        for node in each.body
        if isinstance(node, ast.FunctionDef)
    }


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The functions of its rows that each test calls."""
    rows = [(quoted(functions), quoted(tests)) for _where, _what, functions, tests in ROWS]
    asked = [row for row in rows if not any(map(over_ros, row[1]))]
    folder = tmp_path_factory.mktemp("texts")
    (folder / "asked.json").write_text(json.dumps(asked))
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "texts_trace.py", "asked.json", "answer.json"],
        cwd=folder,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    answer = json.loads((folder / "answer.json").read_text())
    return {test: set(names) for test, names in answer.items()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1][:40]}")
def test_each_function_is_called_by_a_test_of_its_row_and_each_test_calls_one(
    row: list[str], called: dict[str, set[str]]
) -> None:
    _where, what, functions, tests = row
    names = quoted(functions)
    assert what
    assert names
    assert quoted(tests)
    for test in quoted(tests):
        path, _, name = test.partition("::")
        assert name in names_in(path)
        if over_ros(test):
            (program,) = (each.removeprefix("basis_ik.programs.") for each in names)
            assert program in path + (REPOSITORY / path).read_text()
        else:
            assert called[test] & set(names), f"{test} calls none of {names}"
    if what.startswith("over ROS"):
        assert all(over_ros(test) for test in quoted(tests))
    else:
        heard = set().union(*(called[test] for test in quoted(tests)))
        assert set(names) <= heard, f"not called: {set(names) - heard}"


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

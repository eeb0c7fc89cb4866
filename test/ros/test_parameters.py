"""The parameter table of the documentation says what the code declares."""

import math
from pathlib import Path

import pytest

from basis_ik.ros.parameters import IK_NODE

DOCS = Path(__file__).parents[2] / "docs" / "interfaces.md"


def row(declaration):
    value = declaration.default
    default = "empty" if value == "" else f"`{str(value).lower()}`"
    span = f" In [{declaration.low:g}, {declaration.high:g}]." if isinstance(value, float) else ""
    fixed = " Fixed at start." if declaration.read_only else ""
    if isinstance(value, str) and value:
        default = f"`{value}`"
    return f"| `{declaration.name}` | {default} | {declaration.description}{span}{fixed} |"


@pytest.mark.parametrize("declaration", IK_NODE, ids=lambda d: d.name)
def test_the_documentation_has_the_declared_row(declaration):
    assert row(declaration) in DOCS.read_text().splitlines()


def test_the_documentation_has_no_other_row():
    table = DOCS.read_text().split("### Parameters")[1].split("\n\n")[1]
    assert len(table.splitlines()) == len(IK_NODE) + 2


@pytest.mark.parametrize("declaration", IK_NODE, ids=lambda d: d.name)
def test_defaults_fit_and_nan_never_does(declaration):
    assert declaration.complaint(declaration.default) is None
    if isinstance(declaration.default, float):
        for bad in (math.nan, math.inf, -math.inf, declaration.low - 1.0, declaration.high * 2.0):
            assert declaration.name in declaration.complaint(bad)
        assert declaration.complaint(1) is not None
    assert declaration.complaint([1.0]) is not None

"""Declarations, and that the documentation and the shipped configuration say the same."""

import importlib.util
import math
from pathlib import Path

import pytest
import yaml

from basis_ik.ros.ik_parameters import CHAIN, NODE
from basis_ik.ros.parameters import Declaration

ROOT = Path(__file__).parents[2]
IK_NODE = (*NODE, *CHAIN)


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("writer", ROOT / "docs" / "write_parameters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_is_declared(writer):
    assert writer.MARKDOWN.read_text() == writer.markdown(), "run python docs/write_parameters.py"


def test_the_configuration_is_what_is_declared(writer):
    assert writer.CONFIG.read_text() == writer.config(), "run python docs/write_parameters.py"


def test_the_configuration_holds_every_default():
    given = yaml.safe_load((ROOT / "config" / "basis_ik.yaml").read_text())["/**"]
    expected = {d.name: d.default for d in IK_NODE if not d.is_array}
    assert given["ros__parameters"] == expected


@pytest.mark.parametrize("declaration", IK_NODE, ids=lambda d: d.name)
def test_defaults_fit_and_nan_never_does(declaration):
    assert declaration.complaint(declaration.default) is None
    if isinstance(declaration.default, float):
        for bad in (math.nan, math.inf, -math.inf, declaration.low - 1.0, declaration.high * 2.0):
            assert declaration.name in declaration.complaint(bad)
        assert declaration.complaint(1) is not None
    if declaration.element is float:
        for bad in (math.nan, math.inf, -math.inf):
            assert declaration.name in declaration.complaint([0.0, bad])
        assert declaration.complaint([1]) is not None
    assert declaration.complaint([b"x"]) is not None
    assert declaration.complaint(None) is not None


def test_a_text_outside_its_choices_is_refused():
    declaration = Declaration("kind", "a", "A kind.", choices=("a", "b"))
    assert declaration.complaint("b") is None
    assert declaration.complaint("c") == "kind must be one of a, b, not 'c'"


@pytest.mark.parametrize("declaration", IK_NODE, ids=lambda d: d.name)
def test_each_has_a_description_and_numbers_have_a_range(declaration):
    assert declaration.description.endswith(".")
    if isinstance(declaration.default, float) or declaration.element is float:
        assert math.isfinite(declaration.low)
        assert math.isfinite(declaration.high)

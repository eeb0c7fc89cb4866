# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Declarations, and their match with the documentation and the shipped configuration."""

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import rclpy
import yaml
from rclpy.parameter import Parameter

from basis_ik.ros.demo.simulated_arm_parameters import DECLARATIONS as OF_ARM
from basis_ik.ros.frames import transform_node_parameters as nodes
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS
from basis_ik.ros.parameters.parameters import (
    ConfigError,
    Declaration,
    Parameters,
    check_clock,
    file_of,
    frame_complaint,
    names_complaint,
    topic_complaint,
)

# The numbers themselves: with those of the module no change of them would be seen.
LONGEST_NAME = 100

ROOT = Path(__file__).parents[2]
IK_NODE = (*NODE_PARAMETERS, *CHAIN_PARAMETERS)
OF_NODES = (*nodes.TREE_PARAMETERS, nodes.NODE_PARENT, *nodes.FIELD_PARAMETERS, nodes.NODE_CHAIN)


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("writer", ROOT / "docs" / "write_parameters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_matches_the_declarations(writer):
    assert writer.MARKDOWN.read_text() == writer.markdown(), "run python docs/write_parameters.py"


def test_the_configuration_matches_the_declarations(writer):
    assert writer.CONFIG.read_text() == writer.config(), "run python docs/write_parameters.py"


def test_the_configuration_holds_every_default():
    given = yaml.safe_load((ROOT / "config" / "basis_ik.yaml").read_text())["/**"]
    expected = {d.name: d.default for d in IK_NODE if not d.is_array}
    assert given["ros__parameters"] == expected


@pytest.mark.parametrize("declaration", [*IK_NODE, *OF_NODES], ids=lambda d: d.name)
def test_defaults_are_valid_and_nan_is_not(declaration):
    assert declaration.complaint(declaration.default) is None
    if isinstance(declaration.default, float):
        for bad in (math.nan, math.inf, -math.inf, declaration.low - 1.0, declaration.high * 2.0):
            assert "must lie in" in declaration.complaint(bad)
        assert declaration.complaint(True) is not None
    if declaration.element is float:
        for bad in (math.nan, math.inf, -math.inf):
            assert "must lie in" in declaration.complaint([0.0, bad])
        assert declaration.complaint([True]) is not None
    assert declaration.complaint([b"x"]) is not None
    assert declaration.complaint(None) is not None


def test_a_whole_number_is_whole_and_in_its_range():
    declaration = Declaration("port", 0, "A port.", 0, 65535)
    for good in (0, 8080, 65535):
        assert declaration.complaint(good) is None
    for bad in (-1, 65536):
        assert "must lie in [0, 65535]" in declaration.complaint(bad)
    for bad in (1.0, "1", True):
        assert "must be a whole number" in declaration.complaint(bad)
    (found,) = declaration.descriptor().integer_range
    assert (found.from_value, found.to_value) == (0, 65535)


NUMBERS = [
    each for each in [*IK_NODE, *OF_NODES, *OF_ARM] if float in (type(each.default), each.element)
]


@pytest.mark.parametrize("declaration", NUMBERS, ids=lambda d: d.name)
def test_whole_numbers_are_taken_for_numbers(domain, declaration):
    """At start and as a change, of the type that the parameter has."""
    whole = max(1, math.ceil(declaration.low))
    if whole > declaration.high:
        pytest.skip("no whole number is within the range")
    value = [whole] * 4 if declaration.is_array else whole
    context = rclpy.Context()
    context.init(domain_id=domain)
    node = rclpy.create_node(
        "whole",
        context=context,
        parameter_overrides=[Parameter(declaration.name, value=value)],
        automatically_declare_parameters_from_overrides=True,
    )
    try:
        parameters = Parameters(node)
        parameters.declare([replace(declaration, read_only=False, check=None)])
        for _ in range(2):
            kept = parameters[declaration.name]
            assert kept == value
            assert {type(each) for each in (kept if declaration.is_array else [kept])} == {float}
            assert node.get_parameter(declaration.name).type_.name.startswith("DOUBLE")
            assert node.set_parameters([Parameter(declaration.name, value=value)])[0].successful
    finally:
        node.destroy_node()
        context.shutdown()


def test_a_text_outside_its_choices_is_refused():
    declaration = Declaration("kind", "a", "A kind.", choices=("a", "b"))
    assert declaration.complaint("b") is None
    assert declaration.complaint("c") == "must be one of a, b, not 'c'"


@pytest.mark.parametrize("declaration", IK_NODE, ids=lambda d: d.name)
def test_each_has_a_description_and_numbers_have_a_range(declaration):
    assert declaration.description.endswith(".")
    if isinstance(declaration.default, float) or declaration.element is float:
        assert math.isfinite(declaration.low)
        assert math.isfinite(declaration.high)


NO_NAMES = {
    "space": "a b", "empty": "", "two slashes": "/abs//x", "slash at the end": "a/", "root": "/",
    "digit": "1a", "inner digit": "a/1b", "letter": "\u00fc", "dot": "a.b", "dash": "a-b",
    "tilde": "a~", "inner tilde": "a/~b", "line": "a\nb", "braces": "{node}", "end": "a\n",
    "long": "a" * (LONGEST_NAME + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_NAMES.values(), ids=NO_NAMES)
def test_an_invalid_topic_name_is_refused_in_one_line(name):
    complaint = topic_complaint(name)
    assert "which is not a topic name: letters, digits and _" in complaint
    assert "which is not a name: letters, digits and _" in names_complaint(["good", name])
    for text in (complaint, names_complaint([name])):
        assert len(text) < 250
        assert text.isprintable()


def test_a_valid_topic_name_is_accepted(node):
    longest = "a" * LONGEST_NAME
    for name in ("a", "/a/b", "~/a", "a_1/_b", longest):
        assert topic_complaint(name) is None
        assert node.resolve_topic_name(f"{name}/joint_trajectory")
    for name in ("a/b", "/a", "~/a"):
        assert names_complaint([name]) is not None, "a part of a name"
    assert names_complaint(["left", "right", "_a1", longest]) is None


def test_a_name_given_twice_is_refused():
    assert names_complaint(["a", "b", "a"]) == "has 'a' twice; each must have a name of its own"


@pytest.mark.parametrize(
    "frame", ["", "/a", " a", "a\n", "a\x1b", "a" * 256], ids=["0", "1", "2", "3", "4", "5"]
)
def test_an_invalid_frame_name_is_refused(frame):
    assert "which is not a frame" in frame_complaint(frame)
    assert len(frame_complaint(frame)) < 200
    assert frame_complaint("a/b c") is None
    assert frame_complaint("a" * 255) is None


def test_a_check_comes_after_type_and_range():
    declaration = Declaration("names", [], "Names.", check=names_complaint)
    assert declaration.complaint([1]) == "must be text, not 1"
    assert declaration.complaint(["a", "a"]).startswith("has 'a' twice")
    assert declaration.complaint(["a"]) is None


def test_a_long_value_is_shortened():
    assert len(Declaration("rate", 1.0, "A rate.").complaint("x" * 1000)) < 150


@pytest.mark.parametrize("name", ["rat\n", "x" * 1000], ids=["line", "long"])
def test_an_undeclared_name_is_one_short_line(node, name):
    parameters = Parameters(node)
    parameters.declare(Declaration(f"first_{k}" * 5, 1.0, "A number.") for k in range(40))
    node.declare_parameter(name, 1.0)
    with pytest.raises(ConfigError, match="does not exist; valid: 'first_0") as caught:
        parameters.refuse_unknown()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "content",
    [b"since: 2001-99-99", b"!!timestamp x", b"\xff\xfe\xfa", b"[" * 5000, b"a: &a {b: *a}"],
    ids=["date", "tag", "binary", "deep", "endless"],
)
def test_an_invalid_yaml_file_has_no_parameters(tmp_path, content):
    file = tmp_path / "given.yaml"
    file.write_bytes(content)
    assert file_of("rate", ["--params-file", str(file)]) is None


def test_use_sim_time_is_true_or_false(node):
    """Rclpy logs another type as an error, and goes on by the system's time."""
    check_clock(node)
    given = [Parameter("use_sim_time", value=5)]
    other = rclpy.create_node(
        "other",
        context=node.context,
        parameter_overrides=given,
        automatically_declare_parameters_from_overrides=True,
    )
    with pytest.raises(ConfigError, match="'use_sim_time' must be true or false, not 5"):
        Parameters(other)
    other.destroy_node()


@pytest.fixture
def node(domain):
    context = rclpy.Context()
    context.init(domain_id=domain)
    node = rclpy.create_node(
        "holder", context=context, automatically_declare_parameters_from_overrides=True
    )
    yield node
    node.destroy_node()
    context.shutdown()


@pytest.fixture
def started(domain, tmp_path, monkeypatch):
    """Start `/arm1/ik` with a parameter file; return its parameters and what it warned of."""
    context, nodes = rclpy.Context(), []

    def start(text, *more):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        words = ["--ros-args", "--params-file", str(path), *more]
        monkeypatch.setattr(sys, "argv", ["ik", *words])
        context.init(args=words, domain_id=domain)
        node = rclpy.create_node(
            "ik",
            namespace="arm1",
            context=context,
            automatically_declare_parameters_from_overrides=True,
        )
        nodes.append(node)
        said, log = [], node.get_logger()
        node.get_logger = lambda: SimpleNamespace(warning=said.append, info=log.info)
        parameters = Parameters(node)
        parameters.declare([Declaration("max_speed", 9.0, "A cap.", 0.0, 9.0)])
        parameters.refuse_unknown()
        return parameters, said

    yield start
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def section(nodes, name="max_speed"):
    return f"{nodes}:\n  ros__parameters:\n    {name}: 1.0\n"


@pytest.mark.parametrize("nodes", ["arm1/ik", "/**", "/**/ik", "/*/ik", '"*/ik"', "/arm1/*"])
def test_a_section_for_the_node_is_used_silently(started, nodes):
    parameters, said = started(section(nodes) + section("controller_manager", "update_rate"))
    assert (parameters["max_speed"], said) == (1.0, [])


@pytest.mark.parametrize("nodes", ["ik_node", "ik", "/ik", "/arm2/ik", "/*", "/*/*/ik"])
def test_a_file_for_a_node_of_another_name_is_named(started, nodes):
    """Otherwise the speed caps in it would be lost in silence."""
    parameters, (said,) = started(section(nodes))
    assert (parameters["max_speed"], parameters.unused) == (9.0, [said])
    assert said.startswith("no section of ")
    assert said.endswith(
        f"mine.yaml is for /arm1/ik; it has '/{nodes.lstrip('/')}': they are not used"
    )


def test_parameters_that_only_another_section_has_are_named(started):
    _, said = started(section("/**", "use_sim_time").replace("1.0", "false") + section("ik_node"))
    assert len(said) == 1
    assert "has parameters of this node for '/ik_node', not for /arm1/ik" in said[0]


def test_a_section_for_all_nodes_may_have_parameters_of_others(started):
    parameters, (said,) = started(section("/**", "robot_ip") + section("/arm1/ik"))
    assert parameters["max_speed"] == 1.0
    assert said.startswith(
        "parameter 'robot_ip' is ignored: this node does not have it; it is below /** in "
    )


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (section("/arm1/ik", "robot_ip"), ()),
        (section("/**", "max_sped"), ()),
        (section("/**", "robot_ip") + section("/**/ik", "robot_ip"), ()),
        (section("/**", "robot_ip"), ("-p", "robot_ip:=2")),
    ],
    ids=["own", "typo", "both", "word"],
)
def test_an_unknown_parameter_of_the_node_is_refused(started, text, more):
    with pytest.raises(ConfigError, match="does not exist"):
        started(text, *more)


@pytest.mark.parametrize(
    "bad", [[1.0, math.nan], [1.0, -1.0], [math.inf], [1, -2], [True], ["a"], 1.0, None, "1.0"]
)
def test_a_bad_element_refuses_the_whole_set(node, bad):
    """rclpy looks at neither the elements nor the type of an array."""
    parameters = Parameters(node)
    parameters.declare(
        [
            Declaration("weights", [], "Weights.", 0.0, 1e3, element=float),
            Declaration("gain", 1.0, "Gain.", 0.0, 1e3),
        ]
    )
    good = [Parameter("weights", value=[1.0, 2.0]), Parameter("gain", value=2.0)]
    assert node.set_parameters_atomically(good).successful
    result = node.set_parameters_atomically(
        [Parameter("gain", value=3.0), Parameter("weights", value=bad)]
    )
    assert not result.successful
    assert result.reason.startswith("parameter 'weights' ")
    assert (parameters["weights"], parameters["gain"]) == ([1.0, 2.0], 2.0)
    assert list(node.get_parameter("weights").value) == [1.0, 2.0]

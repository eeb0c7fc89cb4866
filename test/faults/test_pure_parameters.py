# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bad parameters, at start and at run time: refused by name, and nothing changes."""

import math
import signal
import sys
import threading

import pytest
import rclpy
from pure_arm import UR5E, Arm, Settings
from rclpy.parameter import Parameter

from basis_ik import programs
from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.loaded_robot import read_description
from basis_ik.ros.parameters.chain_parameters import ChainParameters
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS
from basis_ik.ros.parameters.parameters import ConfigError, Parameters

MODEL = RobotModel.from_urdf(UR5E)
ALL = {each.name: each for each in (*NODE_PARAMETERS, *CHAIN_PARAMETERS)}
RESCUE = 10.0  # s after which a program that should have ended is told to


class Node:
    """A node of this process that has the parameters of `ik_node`, and is never spun."""

    def __init__(self, context, **given):
        self.node = rclpy.create_node(
            "holder",
            context=context,
            parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
            automatically_declare_parameters_from_overrides=True,
            start_parameter_services=False,
        )
        try:
            self.parameters = Parameters(self.node)
            self.parameters.declare(NODE_PARAMETERS)
            self.parameters.declare(CHAIN_PARAMETERS)
        except ConfigError:
            self.node.destroy_node()
            raise

    def values(self):
        """All that the rest of the node sees of them."""
        seen = {name: self.parameters[name] for name in ALL}
        reported = {name: self.node.get_parameter(name).value for name in ALL}
        return (
            seen,
            reported,
            ChainParameters(self.parameters, "").settings(MODEL, MODEL.chain()),
            self.parameters.changes,
        )

    def refuses(self, *changes):
        """Try to set (name, value) pairs at once; return the reason."""
        before = self.values()
        reported = self.node.set_parameters_atomically([Parameter(n, value=v) for n, v in changes])
        assert not reported.successful, changes
        assert self.values() == before, "everything as before"
        return reported.reason


@pytest.fixture(scope="module")
def context(domain):
    context = rclpy.Context()
    context.init(domain_id=domain)
    yield context
    context.shutdown()


@pytest.fixture(scope="module")
def node(context):
    node = Node(context)
    yield node
    node.node.destroy_node()


def senseless(declaration):
    """Return values that a parameter cannot have."""
    default = declaration.default
    if isinstance(default, bool):
        return ["true", 1, 1.0, [True]]
    if isinstance(default, float):
        beyond = [declaration.low - 1.0, declaration.high + 1.0, -1.0 - abs(declaration.low)]
        return [math.nan, math.inf, -math.inf, *beyond, "1.0", True, [1.0]]
    if isinstance(default, int):
        return [1.0, True, "1", [1], int(declaration.low) - 1]
    choices = ["none of these"] if declaration.choices else []
    return [1.0, 1, ["a"], *[True] * (True not in declaration.choices), *choices]


def of_arrays(declaration):
    """Return lists that a parameter cannot have, and what is no list."""
    if declaration.element is float:
        beyond = declaration.low - 1.0
        return [[0.5, math.nan], [math.inf], [0.5, beyond], [True], ["a"], 1.0, "1.0"]
    if declaration.element is int:
        return [[1.0], [True], ["a"], [int(declaration.low) - 1], 1]
    return [[1.0], [1, 2], "left", 1.0, *([["none of these"]] if declaration.choices else [])]


def test_row_63_senseless_values(node, context, observed):
    count = 0
    for name, declaration in ALL.items():
        if declaration.is_array or declaration.read_only:
            continue
        for value in senseless(declaration):
            logged = node.refuses((name, value))
            assert name in logged or "Wrong parameter type" in logged or "type" in logged, logged
            count += 1
    for name, declaration in ALL.items():  # those that are fixed at start
        if not declaration.read_only:
            continue
        for value in of_arrays(declaration) if declaration.is_array else senseless(declaration):
            with pytest.raises(ConfigError) as caught:
                Node(context, **{name: value})
            assert str(caught.value).startswith(f"parameter '{name}' ")
            count += 1
    lengths = {"home": [0.0], "max_acceleration": [1.0] * 5, "max_jerk": [1.0] * 7}
    for name, value in lengths.items():
        with pytest.raises(BasisIkError, match=f"^parameter '{name}' ") as caught:
            Arm(**{name: value})
        assert "6" in str(caught.value)
        count += 1
    with pytest.raises(
        BasisIkError, match=r"^parameter 'joint_limit_margin' must have 1 number or 6"
    ):
        Arm(joint_limit_margin=[0.1, 0.1])
    observed(f"REFUSE, {count + 1} of {count + 1}")


def test_row_64_half_of_a_set_is_bad(node, observed):
    good = [("goal_tolerance", 0.02), ("target_max_age", 1.0), ("path", "straight")]
    bad = [
        ("max_velocity_scaling_factor", 2.0),
        ("speed_override", math.nan),
        ("solver", "magic"),
        ("scale.linear", -0.1),
    ]
    for each in bad:
        for changes in ([each, *good], [*good, each], [good[0], each, *good[1:]]):
            assert each[0] in node.refuses(*changes)
    assert all(each[0] in node.refuses(*good, each, *bad[:2]) for each in bad[:1])
    reported = node.node.set_parameters_atomically([Parameter(n, value=v) for n, v in good])
    assert reported.successful, "the good half alone"
    assert [node.parameters[name] for name, _ in good] == [value for _, value in good]
    observed("REFUSE all of them")


def test_row_65_read_only(node, observed):
    count = 0
    others = {"": "other", True: False, False: True}
    for name, declaration in ALL.items():
        if not declaration.read_only:
            continue
        default = declaration.default
        if isinstance(default, float):
            value = 0.5 * (default + declaration.low)
        elif declaration.is_array:
            numbers = [0] * (2 if name.endswith("buttons") else 6)
            choice = [*declaration.choices, "other"][:1]
            value = {float: [1.0] * 3, int: numbers, str: choice}[declaration.element]
        elif type(default) is int:
            value = 0
        elif declaration.choices:
            value = declaration.choices[-1]
        else:
            value = others.get(default, "other")
        assert declaration.complaint(value) is None, f"{name}: at start it would do"
        node.refuses((name, value))
        count += 1
    assert count >= 15
    observed(f"REFUSE, {count} of {count}")


def two_arms(parent):
    """Return a robot of two joints, the second below a link of the first's."""
    joints = "".join(
        f'<link name="{child}"/><joint name="{name}" type="revolute"><axis xyz="0 0 1"/>'
        f'<parent link="{above}"/><child link="{child}"/><origin xyz="0.2 0 0"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for name, above, child in (("j", "base", "tip_a"), ("k", parent, "tip_b"))
    )
    return f'<robot name="two"><link name="base"/>{joints}</robot>'


def test_row_89_chains_that_share_joints(context, observed):
    prefixed = {f"{chain}.{name}": each.default for chain in "ab" for name, each in ALL.items()}
    asked = Settings(**{**prefixed, "a.tip_link": "tip_a", "b.tip_link": "tip_b"})
    assert set(read_description(two_arms("base"), ["a", "b"], asked).chains) == {"a", "b"}
    with pytest.raises(ConfigError, match=r"^parameter 'chains' has 'a' and 'b', which both") as e:
        read_description(two_arms("tip_a"), ["a", "b"], asked)
    assert "both move 'j'; start one below" in str(e.value)
    with pytest.raises(ConfigError, match=r"^parameter 'chains' has 'left' twice"):
        Node(context, chains=["left", "right", "left"])
    Node(context, chains=["left", "right"]).node.destroy_node()
    observed("REFUSE: 'chains' has 'a' and 'b', which both move 'j'; 'left' twice")


AT_START = {
    "a blank": ("controller:=a b", "'controller' is 'a b', which is not a topic name"),
    "two slashes": ("controller:=/abs//x", "'controller' is '/abs//x', which is not a topic name"),
    "no name": ("controller:=''", "'controller' is '', which is not a topic name"),
    "chain": ('chains:=["bad name"]', "'chains' has 'bad name', which is not a name"),
    "slash": ("chains:=[a/b]", "'chains' has 'a/b', which is not a name"),
    "axis": ("pointing_axis:=[0.0,0.0,0.0]", "'pointing_axis' must be three numbers that are not"),
    "short axis": ("pointing_axis:=[1.0]", "'pointing_axis' must be three numbers"),
    "NaN in an axis": ("pointing_axis:=[.nan,1.0,0.0]", "'pointing_axis' must lie in"),
    "chain twice": ("chains:=[a,a]", "'chains' has 'a' twice; each must have a name of its own"),
    "sim time": ("use_sim_time:=5", "'use_sim_time' must be true or false, not 5"),
    "home": ("home:=[.nan]", "'home' must lie in"),
    "acceleration": ("max_acceleration:=[-1.0]", "'max_acceleration' must lie in"),
    "jerk": ("max_jerk:=[.inf]", "'max_jerk' must lie in"),
    "rate": ("update_rate:=0.0", "'update_rate' must lie in [10, 1000]"),
    "ends": ("root_link:=a -p tip_link:=a", "'tip_link' is 'a', like root_link"),
    "unknown": ("tip_lnk:=tool0", "'tip_lnk' does not exist; did you mean 'tip_link'?"),
}


@pytest.mark.parametrize(("given", "logged"), AT_START.values(), ids=AT_START)
def test_row_90_senseless_names_and_poses(capfd, monkeypatch, own_domain, observed, given, logged):
    """The program ends at once; no robot is waited for."""
    monkeypatch.setattr(
        programs, "PROGRAM_TIMEOUT", 3600.0
    )  # not the end of pytest where it runs on
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain))
    words = given.split(" -p ") if " -p " in given else [given]
    given = [word for each in words for word in ("-p", each)]
    monkeypatch.setattr(sys, "argv", ["ik_node", "--ros-args", *given])
    rescue = threading.Timer(RESCUE, signal.raise_signal, [signal.SIGINT])
    rescue.start()
    try:
        assert programs.ik_node() == 1
    finally:
        rescue.cancel()
    output = capfd.readouterr().err
    assert "Traceback" not in output
    (line,) = [line for line in output.splitlines() if line.startswith("ik_node: ")]
    assert line.startswith(f"ik_node: parameter {logged}")
    observed(line.removeprefix("ik_node: ")[:80])
    if given[1].startswith("home"):
        with pytest.raises(BasisIkError, match=r"^parameter 'home' does not fit: elbow_joint must"):
            Arm(home=[0.0, 0.0, 3.2, 0.0, 0.0, 0.0])

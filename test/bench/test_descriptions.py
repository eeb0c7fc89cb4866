# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions: bad ones, an unusual one with a continuous joint, and one read in motion."""

import numpy as np
import pytest
from bench import HOME, PERIOD, URDF, Robot, down, running
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from std_msgs.msg import String

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ELBOW = '<joint name="elbow_joint" type="revolute">'


def elbow(text, old, new):
    """Change something in the elbow joint alone."""
    start = text.index(ELBOW)
    end = text.index("</joint>", start)
    changed = text[start:end].replace(old, new, 1)
    assert changed != text[start:end], old
    return text[:start] + changed + text[end:]


def added(text, more):
    return text.replace("</robot>", f"{more}</robot>")


def fixed(name, parent, child):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="fixed">{ends}</joint>'


def mimicking(text, master):
    return elbow(text, "<axis", f'<mimic joint="{master}"/><axis')


# Pan turns for ever, the elbow states no speed, and a finger that no chain needs states nothing.
FINGER = (
    '<link name="f"/><joint name="finger" type="revolute">'
    '<parent link="tool0"/><child link="f"/></joint>'
)
ODD = elbow(added(URDF, FINGER), 'velocity="', 'velocity="0" x:was="').replace(
    '<joint name="shoulder_pan_joint" type="revolute">',
    '<joint name="shoulder_pan_joint" type="continuous">',
)
E = "'elbow_joint'"
LINES = "\n" * 9
DEEP = "<a>" * 65 + "</a>" * 65
BAD = {
    "empty": ("", ["line 1", "empty"]),
    "truncated": (URDF[: len(URDF) // 2], ["line ", "not well-formed"]),
    "no XML": (f"{LINES}hello", ["line 10", "not well-formed"]),
    "entity bomb": (
        '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><robot>&b;</robot>',
        ["line 1", "DOCTYPE"],
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="&a;"/>',
        ["line 1", "DOCTYPE"],
    ),
    "too big": (added(URDF, " " * (4 * 1024 * 1024)), ["4194304 bytes"]),
    "too deep": (added(URDF, DEEP), ["line ", "64 deep"]),
    "too many": (added(URDF, fixed("j", "a", "b") * 1001), ["line ", "1000 joints"]),
    "no limits": (elbow(URDF, "<limit", "<x"), ["line ", E, "states no limits"]),
    "crossed": (elbow(URDF, 'lower="-3', 'lower="4'), ["line ", E, "is above upper"]),
    "nan": (elbow(URDF, 'lower="', 'lower="nan" x:was="'), ["line ", E, "'nan'"]),
    "zeros": (
        elbow(URDF, "<limit", '<limit lower="0" upper="0" velocity="0"/><x'),
        ["line ", E, "zeros"],
    ),
    "grammar": (elbow(URDF, 'velocity="', 'velocity="1_000" x:was="'), ["line ", E, "1_000"]),
    "huge": (elbow(URDF, 'velocity="', 'velocity="1e999" x:was="'), ["line ", E, "1e999"]),
    "ball": (elbow(URDF, '"revolute"', '"ball"'), ["line ", E, "'ball'"]),
    "zero axis": (elbow(URDF, "0 0 1", "0 0 0"), ["line ", E, "axis is zero"]),
    "infinite": (elbow(URDF, "-0.425", "inf"), ["line ", E, "'inf'"]),
    "mimic loop": (mimicking(URDF, "elbow_joint"), ["loop", E]),
    "no master": (mimicking(URDF, "ghost"), [E, "'ghost'"]),
    "floating": (elbow(URDF, '"revolute"', '"floating"'), [E, "floating"]),
    "planar": (elbow(URDF, '"revolute"', '"planar"'), [E, "planar"]),
    "loop": (added(URDF, fixed("j", "tool0", "world")), ["loop", "'world'"]),
    "two parents": (added(URDF, fixed("j", "base_link", "tool0")), ["two parent", "'tool0'"]),
    "two roots": (added(URDF, fixed("j", "alone", "end")), ["2 root links", "'alone'"]),
    "link twice": (added(URDF, '<link name="tool0"/>'), ["duplicate", "'tool0'"]),
    "tip absent": (URDF.replace("tool0", "tool9"), ["no link 'tool0'", "'tool9'"]),
    "a line of its own": (added(URDF, '<link name="a&#10;[FATAL]"/>'), ["line ", r"'a\n[FATAL]'"]),
}  # fmt: skip


class Undescribed(Robot):
    """Its description comes when the test says so."""

    def topic(self, name):
        topic = super().topic(name)
        topic.link.loss = float(name == "/robot_description")
        return topic

    def describe(self, text):
        self.description.link.loss = 0.0
        self.description.publish(String(data=text))
        self.run(2 * PERIOD)


def said(robot, since=0):
    """Return what the node has logged since a line."""
    return "\n".join(robot.log.lines()[since:])


def test_the_arm_moves_on_while_a_description_is_read():
    with running("-p", "max_velocity_scaling_factor:=0.05") as robot:
        robot.run(0.1)  # it learns the controller's rule
        robot.set_off(FAR, 0.05)
        robot.boundary.solving, begin, first = 1.0, robot.time, len(robot.arm.outputs)
        robot.description.publish(String(data=URDF.replace('name="ur5e"', 'name="large"', 1)))
        robot.run(0.5)
        robot.description.publish(String(data="<robot/>"))
        robot.wait(lambda: "braking before it is used" in said(robot), "it is read")
        assert 1.0 <= robot.time - begin <= 1.0 + 2 * PERIOD + 1e-9
        way = np.array([output for _, output in robot.arm.outputs[first:]])
        assert (np.diff(way, axis=0) != 0.0).any(axis=1).all(), "it moves on"
        robot.wait(lambda: "ready: large" in said(robot), "it is used")
        assert 1.25 <= robot.time - begin <= 1.35, "it repeats its last command for 0.25 s"
        outputs = np.array([output for _, output in robot.arm.outputs[-60:]])
        assert (outputs == outputs[0]).all(), "the arm rests"
        assert "robot description refused" not in said(robot)
        robot.wait(lambda: "robot description refused" in said(robot), "the next one is read", 1.0)
        assert "the old one is kept" in said(robot)
        assert robot.rests()
        robot.boundary.solving = 0.0
        assert robot.set_parameter("max_velocity_scaling_factor", 1.0).successful
        robot.reach(NEAR, 1e-9)


CYLINDER = """<link name="drawn"/><joint name="cylinder" type="revolute">
<parent link="base_link"/><child link="drawn"/><limit lower="-1" upper="2" velocity="9" effort="1"/>
<mimic joint="elbow_joint"/></joint>"""


@pytest.mark.parametrize(
    ("mimic_limits", "span", "note"),
    [
        (False, "-3.142 to 3.142", "those of 'cylinder' would leave elbow_joint -1..2"),
        (True, "-1 to 2", "limits of elbow_joint narrowed to -1..2 by its mimics 'cylinder'"),
    ],
)
def test_the_report_says_which_limits_of_mimic_joints_bind(mimic_limits, span, note):
    urdf = added(URDF, CYLINDER)
    with running("-p", f"mimic_limits:={str(mimic_limits).lower()}", urdf=urdf) as robot:
        assert f"joint elbow_joint: {span} rad" in said(robot)
        assert note in said(robot)


@pytest.fixture(scope="module")
def robot():
    """A robot whose node waits for a description, and to be configured."""
    robot = Undescribed("-p", "autostart:=false", "-p", "tip_link:=tool0", urdf=ODD)
    yield robot
    robot.end()
    assert max(map(len, robot.log.lines())) < 600
    assert "".join(robot.log.lines()).isprintable()


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_description_fails_configure_with_a_reason(robot, name):
    text, words = BAD[name]
    robot.run(1.0)  # the same reason is not logged twice within a second
    since = len(robot.log)
    robot.describe(text)
    assert not robot.transit("configure")
    for line in said(robot, since).splitlines():
        assert all(word in line for word in words), line
    assert "cannot configure" in said(robot, since)
    assert robot.state() == "unconfigured"


@pytest.fixture(scope="module")
def odd(robot):
    """The same robot, active with the unusual description."""
    robot.describe(ODD)
    robot.describe(ODD)
    assert robot.transit("configure")
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    return robot


def test_an_unusual_description_is_accepted_and_assumptions_are_logged(odd):
    log = said(odd)
    assert log.count("ready: ur5e") == 1
    assert f"joint {E} states velocity 0, which is a placeholder: at most 1 rad/s" in log
    assert "joint elbow_joint: -3.142 to 3.142 rad, at most 1 rad/s" in log
    assert "faulty, but not needed by the chain: line " in log
    assert ": joint 'finger' is revolute and states no limits; write its lower" in log
    odd.reach(NEAR, 1e-9)


def wrapped(angles):
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


class Wrapping:
    """Publishes joint states like drivers that only know one turn."""

    def __init__(self, publisher):
        self._publisher = publisher

    def publish(self, state):
        state.position[0] = float(wrapped(state.position[0]))
        self._publisher.publish(state)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("driver", ["counts on", "wraps"])
def test_a_continuous_joint_takes_the_shortest_turn_across_pi(odd, side, driver):
    odd.wait(odd.rests, "silence")
    start, goal, tell = HOME.copy(), HOME.copy(), odd.states
    start[0], goal[0] = side * 3.0, -side * 3.0  # 0.28 rad away
    odd.positions = start
    odd.states = Wrapping(tell) if driver == "wraps" else tell
    odd.run(1.0)
    first = len(odd.arm.outputs)
    odd.reach(odd.chain.forward(goal), 1e-9)
    odd.wait(odd.rests, "silence")
    odd.states = tell
    way = np.array([output for _, output in odd.arm.outputs[first:]])
    np.testing.assert_allclose(
        way[-1] - start, [side * (2.0 * np.pi - 6.0), 0, 0, 0, 0, 0], atol=1e-6
    )
    turn = side * np.diff(way[:, 0])
    assert turn.min() >= -1e-6, "the shorter way round, without a detour"
    assert turn.max() <= odd.chain.velocity[0] * 0.002 + 1e-9, "no leap"


# Parameters ----------------------------------------------------------------------------------


def text(value):
    return ParameterValue(type=4, string_value=value)


def number(value):
    return ParameterValue(type=3, double_value=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_velocity_scaling_factor", number(float("nan"))),
        ("max_velocity_scaling_factor", number(float("inf"))),
        ("max_velocity_scaling_factor", number(-0.5)),
        ("max_velocity_scaling_factor", number(0.0)),
        ("max_velocity_scaling_factor", number(1.5)),
        ("max_velocity_scaling_factor", ParameterValue(type=2, integer_value=2)),
        ("max_velocity_scaling_factor", ParameterValue(type=1, bool_value=True)),
        ("max_velocity_scaling_factor", text("1.0")),
        ("max_velocity_scaling_factor", ParameterValue(type=8, double_array_value=[1.0])),
        ("max_velocity_scaling_factor", ParameterValue(type=0)),
        ("position_only_ik", ParameterValue(type=0)),
        ("position_only_ik", number(1.0)),
        ("home", ParameterValue(type=8, double_array_value=[float("nan")] * 6)),
        ("home", ParameterValue(type=8, double_array_value=[0.0] * 5)),
        ("home", ParameterValue(type=0)),
        ("update_rate", number(200.0)),
        ("controller", text("another")),
        ("robot_description", text(URDF)),
        ("no_such_thing", number(1.0)),
    ],
)  # fmt: skip
def test_invalid_parameters_are_refused_and_change_nothing(odd, name, value):
    names = ["max_velocity_scaling_factor", "position_only_ik", "update_rate", "controller", "home"]
    before = odd.call(GetParameters, "get_parameters", names=names).values
    given = [Parameter(name=name, value=value)]
    (result,) = odd.call(SetParameters, "set_parameters", parameters=given).results
    assert not result.successful
    assert result.reason
    assert odd.call(GetParameters, "get_parameters", names=names).values == before
    assert len(before) == len(names)

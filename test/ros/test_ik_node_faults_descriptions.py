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

"""Bad robot descriptions over DDS; then an unusual one with a continuous pan joint."""

import os
import time

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from robot_bench import (
    HOME,
    URDF,
    Robot,
    down,
    logged_too_often,
    start_node,
    stop_node,
    wait_for_log,
)
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


@pytest.fixture(scope="module")
def robot(domain):
    """A node that waits to be configured, and the robot of its last description."""
    robot = Robot(domain, ODD)
    robot.process = start_node(domain, "-p", "autostart:=false", "-p", "tip_link:=tool0")
    yield robot
    code, output = stop_node(robot.process)
    robot.close()
    print(output)
    assert code == 0
    assert "Traceback" not in output
    assert max(map(len, output.splitlines())) < 600
    # The reason of a failed configure is logged for each request, if it is new.
    unasked = [line for line in output.splitlines() if "cannot configure" not in line]
    assert logged_too_often("\n".join(unasked)) == []
    assert output.replace("\n", "").isprintable()
    assert robot.complaints == []


def said(robot):
    """Return what the node has logged so far."""
    return os.pread(robot.process.output.fileno(), 1 << 20, 0).decode()


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_description_fails_configure_with_a_reason(robot, name):
    text, words = BAD[name]
    already = said(robot).count("cannot configure")
    robot.description.publish(String(data=text))

    def reported():
        """Retry until the error is about this description."""
        assert not robot.transit("configure")
        lines = [line for line in said(robot).splitlines() if "cannot configure" in line]
        return any(all(word in line for word in words) for line in lines[already:])

    robot.wait(reported, f"{words} in the reason")
    assert robot.state() == "unconfigured"
    assert robot.process.poll() is None


def test_an_unusual_description_is_accepted_and_assumptions_are_logged(robot):
    robot.description.publish(String(data=ODD))
    robot.description.publish(String(data=ODD))
    robot.wait(lambda: robot.transit("configure"), "it is configured")
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    assert said(robot).count("ready: ur5e") == 1
    assert f"joint {E} states velocity 0, which is a placeholder: at most 1 rad/s" in said(robot)
    assert "joint elbow_joint: -3.142 to 3.142 rad, at most 1 rad/s" in said(robot)
    assert "faulty, but not needed by the chain: line " in said(robot)
    assert ": joint 'finger' is revolute and states no limits; write its lower" in said(robot)
    robot.reach(NEAR, "the arm is there")


def wrapped(angles):
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("driver", ["counts on", "wraps"])
def test_a_continuous_joint_takes_the_shortest_turn_across_pi(robot, side, driver):
    robot.wait(robot.no_commands, "silence")
    start = HOME.copy()
    start[0] = side * 3.0
    goal = start.copy()
    goal[0] = -side * 3.0  # 0.28 rad away
    tell = robot.states

    def attempt():
        robot.positions = start.copy()
        robot.states = Wrapping(tell) if driver == "wraps" else tell
        robot.settle()
        first = len(robot.commands)
        robot.reach(robot.chain.forward(goal), "the arm is there")
        robot.wait(robot.no_commands, "silence")
        robot.states = tell
        return np.array([start, *robot.commands[first:]])

    way = robot.unstalled(attempt)
    assert (np.abs(np.diff(way, axis=0)) <= robot.chain.velocity * 0.01 + 1e-9).all(), "no leap"
    assert np.abs(way[:, 0] - start[0]).max() < 0.3, "the shorter way round"
    np.testing.assert_allclose(wrapped(way[-1] - goal), 0.0, atol=1e-4)


class Wrapping:
    """Publishes joint states like drivers that only know one turn."""

    def __init__(self, publisher):
        self._publisher = publisher

    def publish(self, state):
        state.position[0] = float(wrapped(state.position[0]))
        self._publisher.publish(state)


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
        ("max_velocity_scaling_factor", ParameterValue(type=2, integer_value=1)),
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
def test_invalid_parameters_are_refused_and_change_nothing(robot, name, value):
    names = ["max_velocity_scaling_factor", "position_only_ik", "update_rate", "controller"]
    before = robot.call(GetParameters, "get_parameters", names=names).values
    answer = robot.call(
        SetParameters, "set_parameters", parameters=[Parameter(name=name, value=value)]
    )
    assert not answer.results[0].successful
    assert answer.results[0].reason
    assert robot.call(GetParameters, "get_parameters", names=names).values == before
    assert len(before) == len(names)


# Descriptions that take long to read ----------------------------------------------------------

SLOW = """
import sys
import time
from pathlib import Path

from basis_ik.ros import ik_node
from basis_ik.ros.programs import run

read_description = ik_node.read_description


def slow(text, names, parameters):
    if 'name="large"' in text:
        print("reading the large one", flush=True)
        while not Path({go!r}).exists():
            time.sleep(0.01)
    return read_description(text, names, parameters)


ik_node.read_description = slow
sys.exit(run("ik_node"))
"""


def test_the_arm_moves_on_while_a_description_is_read(own_domain, tmp_path):
    script, go = tmp_path / "node.py", tmp_path / "go"
    script.write_text(SLOW.format(go=str(go)))
    robot = Robot(own_domain)
    process = start_node(
        own_domain, "-p", "max_velocity_scaling_factor:=0.05", program=(str(script),)
    )
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        robot.set_off(FAR, 0.05)
        robot.description.publish(String(data=URDF.replace('name="ur5e"', 'name="large"', 1)))
        wait_for_log(process, "reading the large one")
        first = len(robot.commands)
        robot.wait(lambda: len(robot.commands) > first + 30, "commands", 20.0)
        robot.description.publish(String(data="<robot/>"))
        time.sleep(0.2)
        go.touch()
        wait_for_log(process, "braking before it is used")
        said = wait_for_log(process, "ready: large")
        assert "robot description refused" in said, "and then the one that came meanwhile"
        robot.send("base_link", NEAR)
        robot.wait_status(state="MOVING")
    finally:
        go.touch()
        code, output = stop_node(process)
        robot.close()
    print(output)
    assert code == 0
    assert robot.complaints == []

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`tool_frame`: what reaches the targets, and when it changes."""

import numpy as np
import pytest
from bench import PERIOD, Robot, down, running

from basis_ik.transforms.rigid import RigidTransform

READY, FAR = down(0.40, 0.20, 0.35), down(-0.40, -0.30, 0.40)
GRIPPER = RigidTransform.from_rpy(0.0, 0.4, 0.0, [0.05, 0.0, 0.1])  # tip_T_gripper
TCP = RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.08])  # gripper_T_tcp
BRAKING = 0.6  # s, with the repetitions of the last command, at the speed of these tests


def test_a_tool_given_at_start_is_waited_for():
    robot = Robot("-p", "tool_frame:=gripper")
    try:
        robot.run(1.0)
        assert robot.statuses[-1]["state"] == "WAITING"
        assert "tool_frame 'gripper': NO_TRANSFORM" in robot.statuses[-1]["message"]
        robot.place("tool0", "gripper", GRIPPER)
        robot.run(2 * PERIOD)
        assert robot.statuses[-1]["state"] == "READY"
        assert robot.statuses[-1]["tool_frame"] == "gripper"
    finally:
        robot.end()


@pytest.fixture(scope="module")
def started():
    with running() as robot:
        robot.place("tool0", "gripper", GRIPPER)
        robot.place("gripper", "tcp", TCP)
        robot.frames["base_link", "bird"] = lambda: RigidTransform.from_rpy(0, 0, 0, [0.5, 0, 0.5])
        robot.run(0.1)
        yield robot


@pytest.fixture
def robot(started):
    """A robot without a tool, whose tip rests at READY."""
    robot = started
    arrive(robot)
    choose(robot, "")
    arrive(robot)
    yield robot
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


def choose(robot, frame):
    """Choose the tool of an arm at rest, which takes it in the second period."""
    assert robot.set_parameter("tool_frame", frame).successful
    robot.run(2 * PERIOD)
    assert robot.statuses[-1].get("tool_frame", "") == frame
    assert robot.statuses[-1]["state"] in ("READY", "ARRIVED")


def arrive(robot):
    """Send READY, and wait until the arm rests there."""
    robot.send("base_link", READY)
    robot.wait(robot.rests, "silence")
    assert (robot.statuses[-1]["verdict"], robot.statuses[-1]["state"]) == ("REACHED", "ARRIVED")


def tool(robot, frame):
    """Return the pose of the tool in the root's frame."""
    return robot.tip() @ GRIPPER @ TCP if frame else robot.tip()


def near(pose, other):
    return np.allclose(pose.matrix, other.matrix, rtol=0.0, atol=1e-9)


def test_poses_move_the_tool_until_it_is_removed(robot):
    choose(robot, "tcp")
    arrive(robot)
    assert near(tool(robot, "tcp"), READY)
    assert robot.statuses[-1]["tool_frame"] == "tcp"
    assert float(robot.statuses[-1]["position_error"]) < 1e-9
    choose(robot, "")
    arrive(robot)
    assert near(robot.tip(), READY)


def test_a_tool_that_is_removed_without_a_target_is_not_reported_any_more(robot):
    choose(robot, "tcp")
    choose(robot, "")


@pytest.mark.parametrize("forward", [0.0, 0.1])
def test_a_twist_turns_about_the_tools_origin_and_moves_it_along_its_axes(robot, forward):
    choose(robot, "tcp")
    start = tool(robot, "tcp")
    for _ in range(50):
        robot.jog("tcp", linear=(forward, 0.0, 0.0), angular=(0.0, 0.5, 0.0))
        robot.run(0.02)
    robot.wait(robot.rests, "silence")
    moved = (start.inverse() @ tool(robot, "tcp")).log()
    assert moved[4] > 0.4
    expected = [forward, 0.0, 0.0, 0.0, 0.5, 0.0]
    np.testing.assert_allclose(0.5 * moved / moved[4], expected, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(("before", "after"), [("", "tcp"), ("tcp", "")], ids=["up", "down"])
def test_a_change_in_motion_brakes_first(robot, before, after):
    choose(robot, before)
    robot.set_off(FAR)
    assert robot.set_parameter("tool_frame", after).successful
    begin, count = robot.time, len(robot.statuses)
    robot.wait_status(state="READY")
    assert robot.time - begin <= BRAKING
    assert {s.get("tool_frame", "") for s in robot.statuses[count:-1]} == {before}
    assert robot.statuses[-1].get("tool_frame", "") == after
    assert np.array_equal(robot.arm.outputs[-100][1], robot.positions), "it had come to rest"
    assert robot.rests(), "its old goal is dropped"
    arrive(robot)
    assert near(tool(robot, after), READY)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("nobody", "NO_TRANSFORM"),
        ("bird", "moves against"),
        ("forearm_link", "hangs on"),
        ("/tcp", "not a frame"),
    ],
)
def test_a_frame_not_fixed_to_the_tip_is_refused(robot, frame, words):
    answer = robot.set_parameter("tool_frame", frame)
    assert not answer.successful
    assert words in answer.reason
    assert "tool_frame" in answer.reason
    assert robot.rests()
    assert "tool_frame" not in robot.statuses[-1]
    assert robot.statuses[-1]["state"] == "ARRIVED"


def test_a_link_that_is_fixed_to_the_tip_is_a_tool_without_tf(robot):
    choose(robot, "wrist_3_link")
    arrive(robot)
    wrist = robot.model.chain("base_link", "wrist_3_link")
    assert near(wrist.forward(robot.positions), READY)


def test_a_tool_is_used_once_it_is_prepared(robot):
    robot.boundary.solving = 0.5
    assert robot.set_parameter("tool_frame", "tcp").successful
    robot.run(0.5)
    assert robot.statuses[-1]["message"] == "the tool is being prepared"
    robot.run(2 * PERIOD)
    assert robot.statuses[-1]["tool_frame"] == "tcp"
    robot.boundary.solving = 0.0

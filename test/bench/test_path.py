# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameter `path`: where the tip goes."""

import numpy as np
import pytest
from bench import ACCELERATION_BOUND, down, running

from basis_ik.transforms.rigid import RigidTransform

NEAR, AWAY = down(0.45, 0.20, 0.40), down(0.30, -0.35, 0.55)
BEHIND = down(-0.45, -0.20, 0.40)  # the line there passes the base too near
EXACT = 5e-7  # m and rad off the line and the axis


@pytest.fixture(scope="module")
def started():
    with running("-p", "path:=straight") as robot:
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests at NEAR, and moves on straight lines from there."""
    choose(started, "joint")
    started.reach(NEAR, 1e-9)
    started.wait(started.rests, "silence")
    choose(started, "straight")
    yield started
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []


def choose(robot, path):
    assert robot.set_parameter("path", path).successful


def way_to(robot, target):
    """Send the arm to a target; return the poses of its tip on the way."""
    count = len(robot.arm.outputs)
    robot.reach(target, 1e-9)
    robot.wait(robot.rests, "silence")
    return tips(robot, count)


def tips(robot, count):
    """Return the poses of the tip since a number of cycles of the controller, every 10 ms."""
    return [robot.chain.forward(positions) for _, positions in robot.arm.outputs[count::5]]


def off(poses, target):
    """How far off the line [m] and the axis [rad] from the first pose to the target they are."""
    ways = np.array([pose.translation - poses[0].translation for pose in poses])
    turns = np.array([(pose @ poses[0].inverse()).log()[3:] for pose in poses])
    line = target.translation - poses[0].translation
    return aside(ways, line), aside(turns, (target @ poses[0].inverse()).log()[3:])


def aside(vectors, along):
    along = along / max(np.linalg.norm(along), 1e-9)
    return np.linalg.norm(vectors - np.outer(vectors @ along, along), axis=1).max()


def test_the_tip_keeps_the_line_and_the_path_changes_at_run_time(robot):
    for target in (AWAY, NEAR):
        assert max(off(way_to(robot, target), target)) < EXACT
    choose(robot, "joint")
    assert off(way_to(robot, AWAY), AWAY)[0] > 0.1
    answer = robot.set_parameter("path", "crooked")
    assert not answer.successful
    assert "must be one of joint, straight, straight_or_joint" in answer.reason
    choose(robot, "straight")
    assert max(off(way_to(robot, NEAR), NEAR)) < EXACT


def test_the_end_of_a_line_is_reported_and_joint_motion_may_continue(robot):
    count = len(robot.arm.outputs)
    robot.send("base_link", BEHIND)
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    status, here = robot.statuses[-1], robot.positions
    assert status["verdict"] == "SINGULAR"
    assert status["message"].startswith("the line ends 626 mm before")
    missing = np.linalg.norm(robot.tip().translation - BEHIND.translation)
    assert float(status["position_error"]) == pytest.approx(missing, abs=1e-8)
    assert max(off(tips(robot, count), BEHIND)) < 4 * EXACT
    robot.send("base_link", BEHIND)
    assert robot.rests(), "the line ends here"
    choose(robot, "straight_or_joint")
    robot.run(1.0)
    assert np.array_equal(robot.positions, here), "nobody has asked for motion"
    robot.reach(BEHIND, 1e-9)  # the same target again
    robot.reach(NEAR, 1e-9)
    robot.wait(robot.rests, "silence")
    lines = len(robot.log)
    robot.reach(BEHIND, 1e-9)
    assert any("continuing in joint space" in line for line in robot.log.lines()[lines:])


@pytest.mark.parametrize(("stall", "way"), [(0.02, EXACT), (0.05, 5e-6), (0.15, 5e-4), (1.0, 5e-4)])
def test_an_arm_whose_node_stalls_in_mid_line_stays_near_the_line_and_arrives(robot, stall, way):
    count, start = len(robot.arm.outputs), robot.tip().translation
    robot.send("base_link", AWAY)
    robot.wait(lambda: np.linalg.norm(robot.tip().translation - start) > 0.2, "half the way")
    robot.boundary.stalls.add(robot.world.now, stall)
    # Beyond its settled commands a window is not quite on the line: the next joins 0.2 mrad off.
    robot.arm.bound = 5.0
    commands = len(robot.commands)
    robot.reach(AWAY, 1e-9)
    first, second = robot.commands[commands - 1 : commands + 1]
    assert second.time - first.time == round(1e9 * stall)
    assert off(tips(robot, count), AWAY)[0] < way
    robot.arm.bound = ACCELERATION_BOUND


def test_a_turn_is_about_one_axis(robot):
    start = robot.tip()
    turn = RigidTransform.from_axis_angle([0.0, 0.0, 1.0], 1.2)
    target = RigidTransform.from_rotation_translation(
        turn.rotation @ start.rotation, start.translation
    )
    poses = way_to(robot, target)
    assert max(np.linalg.norm(pose.translation - start.translation) for pose in poses) < EXACT
    assert off(poses, target)[1] < EXACT

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of hands, of policies, and of the gripper beside the arm."""

import math

import numpy as np
import pytest
from bench import HOME, PERIOD, down
from bench_arm import NEAR, arrives, refusals, robot_of, stands
from geometry_msgs.msg import PoseStamped, Twist
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger
from test_chunks import joints
from test_clutch import Hand, shifted
from test_gripper import Server
from test_joint_target import lead

TIMEOUT = 0.1  # s: the default of incoming_command_timeout
TOLD = 2 * PERIOD  # s until the node has handled a message, and told it
WAY = np.array([0.05, -0.04, 0.06])
NOTICED = 2.5  # s until a gripper's controller that is silent or gone is told of


@pytest.fixture
def hand(robot):
    """A hand whose clutch is held, and that has led the arm; at the end it is let go."""
    robot.reach(NEAR)
    hand = Hand(robot)
    robot.run(0.1)
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.allclose(robot.tip().translation, NEAR.translation + WAY, atol=1e-4)
    yield hand
    hand.held, hand.on = False, True
    robot.run(0.1)
    hand.on = False


def leads(robot, hand, way=-WAY):
    """Hold that what the hand does counts from where the tip is now."""
    before = robot.tip()
    hand.go(way)
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.allclose(robot.tip().matrix, shifted(before, way).matrix, atol=1e-4)


def ceases(robot, hand):
    """Let something end what a hand in motion leads; return when it is noticed [s]."""
    hand.go(-WAY, seconds=0.2)
    assert robot.statuses[-1]["state"] == "MOVING"
    begin = robot.time
    yield
    robot.wait(lambda: robot.statuses[-1]["state"] != "MOVING", "it brakes")
    yield robot.time - begin


@pytest.mark.parametrize("fault", ["NON_FINITE", "BAD_QUATERNION", "STALE"])
def test_row_124_bad_device_pose(robot, hand, observed, fault):
    message = PoseStamped()
    message.header.frame_id, message.header.stamp = "headset", robot.stamp()
    message.pose.orientation.w = 0.0 if fault == "BAD_QUATERNION" else 1.0
    if fault == "NON_FINITE":
        message.pose.position.x = math.nan
    if fault == "STALE":
        message.header.stamp.sec -= 60
    hand.poses.publish(message)
    robot.run(TOLD)
    observed(robot.statuses[-1]["last_refusal.device_pose"].split(":")[0])
    assert refusals(robot, fault) == 1
    assert stands(robot)
    leads(robot, hand)


@pytest.mark.parametrize("fault", ["jump", "turn", "frame"])
def test_row_125_jump_of_the_device(robot, hand, observed, fault):
    if fault == "turn":
        hand.at = shifted(hand.at, np.zeros(3), (0.4, 0.0, 0.0))
    elif fault == "jump":
        hand.at = shifted(hand.at, (0.0, 0.3, 0.0))
    else:
        hand.at, hand.frame = shifted(hand.at, (0.0, 0.02, 0.0)), "recentred"
    before = robot.positions
    robot.run(1.0)
    moved = np.abs(robot.positions - before).max()
    assert moved < 1e-9
    observed("nothing moved")
    leads(robot, hand)


def test_row_126_pause_of_the_tracker(robot, hand, observed):
    braked = ceases(robot, hand)
    next(braked)
    hand.tracked = False
    late = next(braked)
    assert late < TIMEOUT + 3 * PERIOD
    observed(f"it braked {1e3 * late:.0f} ms after the last pose")
    hand.at = shifted(hand.at, (0.0, 0.3, 0.0))
    robot.wait(lambda: stands(robot, 0.3), "rest")
    hand.tracked = True
    assert stands(robot)
    leads(robot, hand)


def test_row_127_lost_release(robot, hand, observed):
    braked = ceases(robot, hand)
    next(braked)
    hand.held = None
    late = next(braked)
    assert TIMEOUT - 0.02 - 2 * PERIOD < late < TIMEOUT + 3 * PERIOD
    observed(f"it braked {1e3 * late:.0f} ms after the last word of the clutch")
    robot.wait(lambda: stands(robot, 0.3), "rest")
    hand.go(WAY)
    assert stands(robot)


@pytest.mark.parametrize("fault", ["stop", "silence", "target"])
def test_row_128_clutch_held_on(robot, hand, observed, fault):
    hand.go(-WAY, seconds=0.2)
    if fault == "stop":
        assert robot.call(Trigger, "stop").success
        assert robot.call(SetBool, "enable", data=True).success
    elif fault == "silence":
        robot.publishing = False
        robot.run(1.0)
        robot.publishing = True
    else:
        robot.send("base_link", down(0.42, 0.22, 0.42))
        arrives(robot, down(0.42, 0.22, 0.42))
    robot.run(1.0)
    robot.wait(lambda: stands(robot, 0.3), "rest")
    hand.go(WAY)
    assert stands(robot)
    observed(robot.statuses[-1]["clutch"])
    assert robot.statuses[-1]["clutch"].startswith("blocked: ")
    hand.held = False
    robot.run(0.1)
    hand.held = True
    robot.run(0.1)
    leads(robot, hand)


BAD_CHUNKS = {
    "NON_FINITE": ([0.1], [HOME * math.nan], {}),
    "UNKNOWN_JOINT": ([0.1], [[0.0]], {"names": ["elbow_join"]}),
    "OUT_OF_RANGE": ([0.2, 0.1], [HOME, HOME], {}),
    "STALE": ([-1.0, -0.5], [HOME, HOME], {}),
}


@pytest.mark.parametrize("fault", BAD_CHUNKS)
def test_row_129_bad_chunk(robot, observed, fault):
    here, later = robot.positions, np.arange(1, 11) * 0.1
    joints(robot, later, here + 0.03 * np.arange(1, 11)[:, np.newaxis])
    robot.run(0.5)
    times, rows, how = BAD_CHUNKS[fault]
    joints(robot, times, rows, **how)
    robot.run(TOLD)
    observed(robot.statuses[-1]["last_refusal.joint_chunk"].split(":")[0])
    assert refusals(robot, fault) == 1
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.allclose(robot.positions, here + 0.3, rtol=0.0, atol=1e-9)


def test_row_130_late_and_contradicting_chunk(robot, observed):
    here, later = robot.positions, np.arange(1, 17) * 0.1
    joints(robot, later, here + 0.05 * np.arange(1, 17)[:, np.newaxis])
    robot.run(0.6)
    before, seen = robot.positions, len(robot.arm.outputs)
    joints(robot, later - 0.3, here - 0.05 * np.arange(1, 17)[:, np.newaxis])
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.allclose(robot.positions, here - 0.8, rtol=0.0, atol=1e-9)
    outputs = np.array([output for _, output in robot.arm.outputs[seen:]])
    steps = np.abs(np.diff(outputs, axis=0)).max()
    overrun = float((outputs - before).max())
    assert overrun < 0.15
    observed(f"turned back within {1e3 * overrun:.0f} mrad, {1e3 * steps:.1f} mrad a cycle at most")


def test_row_131_leaping_joint_positions(robot, observed):
    here = robot.positions
    for _ in range(10):
        for leap in (1.0, -1.0):
            lead(robot, here + leap)
            robot.run(0.05)
    for fault, given in (("NON_FINITE", {"elbow_joint": math.nan}), ("UNKNOWN_JOINT", {"x": 0.0})):
        lead(robot, given)
        robot.run(TOLD)
        assert refusals(robot, fault) == 1
    lead(robot, here)
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.allclose(robot.positions, here, rtol=0.0, atol=1e-6)
    observed("NON_FINITE; UNKNOWN_JOINT; all outputs were within the limits")


def test_row_132_dead_device_of_plain_twists(observed):
    with robot_of("-p", "plain_inputs:=[twist]") as robot:
        robot.reach(NEAR)
        for z in 50 * [-0.1]:
            message = Twist()
            message.linear.z = z
            robot.topic("twist").publish(message)
            robot.run(0.02)
        last = robot.time
        robot.wait(lambda: robot.statuses[-1]["state"] != "MOVING", "it brakes")
        late = robot.time - last
        assert late < TIMEOUT + 3 * PERIOD
        observed(f"it braked {1e3 * late:.0f} ms later")
        robot.wait(lambda: stands(robot, 0.3), "rest")
        message.linear.z = math.nan
        robot.topic("twist").publish(message)
        robot.run(TOLD)
        assert refusals(robot, "NON_FINITE") == 1
        observed("NON_FINITE")


GRIPPING = ("-p", "gripper.interface:=gripper_command", "-p", "gripper.controller:=hand")


def grip(robot, opening):
    robot.topic("gripper").publish(Float64(data=opening))
    robot.run(0.1)


@pytest.mark.parametrize("opening", [math.nan, math.inf, 1.01, -0.01])
def test_row_133_bad_opening(observed, opening):
    with robot_of(*GRIPPING) as robot:
        server = Server(robot)
        grip(robot, 0.0)
        grip(robot, opening)
        fault = "OUT_OF_RANGE" if math.isfinite(opening) else "NON_FINITE"
        assert refusals(robot, fault) == 1
        observed(fault)
        assert len(server.goals) == 1
        assert server.canceled == []
        server.end()
        assert robot.statuses[-1]["gripper"] == "REACHED"


@pytest.mark.parametrize("fault", ["refuses", "is silent", "dies"])
def test_row_134_gripper_controller(observed, fault):
    with robot_of(*GRIPPING) as robot:
        server = Server(robot)
        server.accepts = {"refuses": False, "is silent": None, "dies": True}[fault]
        robot.send("base_link", NEAR)
        grip(robot, 0.0)
        if fault == "dies":
            robot.boundary.sources["ready"] = False
        begin = robot.time
        robot.wait(lambda: robot.statuses[-1]["gripper"] == "FAILED", "it is told")
        assert robot.time - begin < NOTICED
        observed(robot.statuses[-1]["gripper_text"])
        assert "the gripper: " in robot.statuses[-1]["message"]
        arrives(robot, NEAR)
        robot.boundary.sources["ready"] = True
        server.accepts = True
        grip(robot, 1.0)
        server.end()
        assert robot.statuses[-1]["gripper"] == "REACHED"

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's actions with every output, exact drives and drives that lag."""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from bench import HOME, running
from moveit_client import joints_at, motion_goal
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MoveItErrorCodes
from std_msgs.msg import Float64

CODE = MoveItErrorCodes
AWAY = HOME + np.array([0.9, 0.2, -0.4, 0.5, -0.3, 0.8])
FULL = 1.0
OUTPUTS = ("joint_trajectory", "follow_joint_trajectory", "position", "joint_state")


@pytest.fixture(params=[f"{output} {lag}" for output in OUTPUTS for lag in (0.0, 0.1)])
def robot(request):
    output, lag = request.param.split()
    with running("-p", f"command_interface:={output}", lag=float(lag)) as robot:
        robot.within = 1e-3 if float(lag) else 1e-9  # rad: where it comes to rest
        robot.run(0.3)
        yield robot


def goal_at(robot, positions, speed=FULL, **how):
    joints = dict(zip(robot.chain.joint_names, positions.tolist(), strict=True))
    return motion_goal(joints_at(joints), max_velocity_scaling_factor=speed,
                       max_acceleration_scaling_factor=1.0, **how)  # fmt: skip


def set_off(robot, goal):
    start, sent = robot.positions, robot.act("move_action", goal)
    robot.wait(lambda: np.abs(robot.positions - start).max() > 0.2, "the arm moves")
    return sent


def test_both_actions_arrive(robot):
    sent = robot.act("move_action", goal_at(robot, AWAY))
    assert robot.end_of(sent) == GoalStatus.STATUS_SUCCEEDED
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=0.011)
    robot.run(1.0)
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=robot.within)
    plan = robot.act("move_action", goal_at(robot, HOME, plan_only=True))
    assert robot.end_of(plan) == GoalStatus.STATUS_SUCCEEDED
    back = ExecuteTrajectory.Goal(trajectory=plan.result.planned_trajectory)
    assert robot.end_of(robot.act("execute_trajectory", back)) == GoalStatus.STATUS_SUCCEEDED
    robot.run(1.0)
    assert np.allclose(robot.positions, HOME, rtol=0.0, atol=robot.within)


def test_a_canceled_motion_stops_also_after_a_change_of_its_speed(robot):
    sent = set_off(robot, goal_at(robot, AWAY, 0.3))
    robot.overrides.publish(Float64(data=0.5))
    robot.run(0.3)
    sent.is_cancel_requested = True
    assert robot.end_of(sent) == GoalStatus.STATUS_CANCELED
    assert sent.result.error_code.val == CODE.PREEMPTED
    robot.run(0.5)
    here = robot.positions
    robot.run(0.3)
    assert np.allclose(robot.positions, here, rtol=0.0, atol=1e-3)
    assert 0.1 < np.abs(here - AWAY).max() < 0.8


def test_an_arm_that_is_held_is_no_success(robot):
    sent = set_off(robot, goal_at(robot, AWAY, 0.3))
    held = robot.positions

    def hold():
        robot.arm.joints.positions[: len(held)] = held

    robot.world.every(1_000_000, hold)
    robot.wait(lambda: sent.status is not None, "the goal's end")
    assert sent.status == GoalStatus.STATUS_ABORTED
    assert sent.result.error_code.val == CODE.CONTROL_FAILED
    robot.arm.complaints.clear()  # a hold at the measured arm is a leap of the output


def test_a_motion_that_ends_short_is_not_repeated(robot):
    """A repetition would lead to the end on another way."""

    def hold():
        robot.arm.joints.positions[0] = min(robot.arm.joints.positions[0], AWAY[0] - 0.05)

    sent = set_off(robot, goal_at(robot, AWAY))
    robot.world.every(1_000_000, hold)
    robot.wait_status(state="HOLDING")
    robot.run(0.5)
    count = len(robot.commands)
    robot.wait(lambda: sent.status is not None, "the goal's end")
    assert sent.status == GoalStatus.STATUS_ABORTED
    assert sent.result.error_code.val == CODE.CONTROL_FAILED
    assert "shoulder_pan_joint stays 0.05 short" in sent.result.error_code.message
    assert len(robot.commands) - count <= 2, "it is told to rest once"

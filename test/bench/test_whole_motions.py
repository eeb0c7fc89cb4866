# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`command_interface: follow_joint_trajectory`: a motion is one goal of the controller."""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from bench import HOME, down, miss, running
from builtin_interfaces.msg import Duration
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger
from world import SECOND

from basis_ik.transforms.rigid import RigidTransform

ACTION = "/joint_trajectory_controller/follow_joint_trajectory"
NEAR, FAR, OTHER = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40), down(0.45, -0.10, 0.30)
POINT = (0.9, -0.5, 0.7)
# From the top speed of pi within 0.25 s and the jerk's 0.05 s [rad]; a request waits for 20 ms,
# and the arm goes on for 50 ms, by which the goal may be late.
BRAKING = 0.5 * np.pi * 0.3 + np.pi * 0.05


def whole(**how):
    words = ("command_interface:=follow_joint_trajectory", f"home:={HOME.tolist()}")
    return running(*(word for each in words for word in ("-p", each)), **how)


@pytest.fixture
def robot():
    with whole() as robot:
        yield robot


def goals(robot):
    """Keep the goals that the node sends."""
    order, sent = robot.boundary.order, []

    def keep(goal):
        sent.append(goal)
        order(goal)

    robot.boundary.order = keep
    return sent


def stands(robot):
    """Return whether the arm stands still for 0.3 s, in which time passes."""
    before = robot.positions
    robot.run(0.3)
    return np.array_equal(robot.positions, before)


def test_a_motion_is_one_goal_from_the_measured_state_to_rest_at_the_solution(robot):
    sent = goals(robot)
    robot.reach(FAR, 1e-9)
    (goal,) = sent
    points = goal.trajectory.points
    assert goal.trajectory.joint_names == list(robot.chain.joint_names)
    assert goal.trajectory.header.stamp.sec == 0, "it begins when the controller takes it"
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points]
    positions = np.array([p.positions for p in points])
    assert times[0] == 0.0
    assert np.array_equal(positions[0], HOME)
    speeds = np.diff(positions, axis=0) / np.diff(times)[:, np.newaxis]
    assert (np.diff(times) > 0.0).all()
    assert (np.abs(speeds) <= robot.chain.velocity + 1e-6).all()
    assert np.allclose(robot.chain.forward(positions[-1]).matrix, FAR.matrix, rtol=0.0, atol=1e-9)
    assert not any((*points[-1].velocities, *points[-1].accelerations))


@pytest.mark.parametrize(("blends", "spacing"), [(False, 0.01), (True, 0.02)])
def test_a_controller_that_blends_gets_samples_that_leave_time_for_the_next_goal(blends, spacing):
    with running("-p", "command_interface:=follow_joint_trajectory", replaces=blends) as robot:
        robot.run(0.5)  # until the controller has told its rule
        sent = goals(robot)
        robot.reach(FAR, 1e-9)
        (goal,) = sent
        times = [1e-9 * p.time_from_start.nanosec for p in goal.trajectory.points[:20]]
        assert np.diff(times) == pytest.approx(spacing)


def test_a_newer_target_replaces_the_present_one(robot):
    robot.set_off(FAR)
    robot.reach(OTHER, 1e-9)


@pytest.mark.parametrize("lag", [0.1, 0.3])
@pytest.mark.parametrize("targets", [[], [NEAR], [NEAR, FAR, OTHER]])
def test_drives_that_lag_are_not_lost_where_a_motion_replaces_another(targets, lag):
    """They are still on the way of the one before, farther behind than `tracking_margin`."""
    with whole(lag=lag) as robot:
        robot.send("base_link", FAR)
        robot.wait(lambda: np.abs(robot.arm.joints.velocities).max() > 1.5, "it is fast")
        for target in targets:
            robot.send("base_link", target)
            robot.run(0.08)
        if targets:
            robot.wait_status(state="ARRIVED")
        else:
            assert robot.call(Trigger, "stop").success
            robot.wait_status(state="STOPPED")
        assert not any(each["state"] == "TRACKING_LOST" for each in robot.statuses)


@pytest.mark.parametrize("lag", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("after", [0.0, 0.25])
def test_a_motion_begins_where_the_controller_rests_however_far_behind_the_arm_is(after, lag):
    """Its output would leap back otherwise, and the arm stop in a cycle."""
    with whole(lag=lag) as robot:
        robot.send("base_link", FAR)
        robot.wait(lambda: robot.statuses[-1]["state"] in ("HOLDING", "ARRIVED"), "the end")
        robot.run(after)
        robot.reach(OTHER, 1e-2)
        assert not any(each["state"] == "TRACKING_LOST" for each in robot.statuses)


def test_a_joint_that_stands_where_a_motion_replaces_another_is_lost_as_soon(robot):
    robot.set_off(FAR, 0.3)
    robot.arm.joints.blocked[0] = True
    robot.overrides.publish(Float64(data=0.9))
    robot.wait_status(state="TRACKING_LOST", patience=0.4)
    robot.arm.complaints.clear()  # a goal that is canceled stops at once


def test_home_is_reached(robot):
    robot.reach(NEAR)
    assert robot.call(Trigger, "home").success
    robot.wait(lambda: np.allclose(robot.positions, HOME, rtol=0.0, atol=1e-9), "it is at home")


@pytest.mark.parametrize("how", ["stop", "deactivate"])
def test_the_arm_brakes_along_its_motion(robot, how):
    robot.set_off(FAR)
    here = robot.positions
    if how == "stop":
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
    else:
        assert robot.transit("deactivate")
    robot.wait(lambda: stands(robot), "rest", 1.0)
    assert 0.0 < np.abs(robot.positions - here).max() < BRAKING + np.pi * 0.04
    assert not robot.at(FAR, 1e-2)


def test_at_a_speed_override_of_zero_the_arm_rests_and_later_continues(robot):
    def override(value):
        robot.overrides.publish(Float64(data=value))
        robot.wait_status(speed_override=f"{value:g}")

    robot.set_off(FAR)
    override(0.3)
    override(0.0)
    robot.wait(lambda: stands(robot), "rest", 2.0)
    assert not robot.at(FAR, 1e-2)
    assert robot.statuses[-1]["state"] == "MOVING"
    override(1.0)
    robot.wait_status(state="ARRIVED")
    assert robot.at(FAR, 1e-9)
    override(0.0)
    robot.send("base_link", NEAR)
    robot.wait_status(state="MOVING")
    robot.run(5.0)
    assert robot.statuses[-1]["state"] == "MOVING", "it has not arrived"
    assert robot.at(FAR, 1e-9)
    override(1.0)
    robot.wait_status(state="ARRIVED")
    assert robot.at(NEAR, 1e-9)


def test_a_twist_is_refused(robot):
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    robot.wait_status(**{"refused.NOT_STREAMED": "1"})
    assert stands(robot)


def test_a_moving_frame_is_looked_up_once(robot):
    begun = robot.time
    robot.frames["base_link", "drift"] = lambda: RigidTransform.from_rpy(
        0.0, 0.0, 0.0, [0.4, 0.05 * (robot.time - begun), 0.2]
    )
    robot.run(0.3)
    seen = robot.frames["base_link", "drift"]()
    robot.send("drift", down(0.0, 0.0, 0.2), stamp=None)
    robot.wait_status(state="ARRIVED")
    assert robot.at(seen @ down(0.0, 0.0, 0.2), 1e-3), "where it was within a turn of the loop"
    robot.wait(lambda: stands(robot), "rest, although the frame goes on", 1.0)


def test_a_missing_controller_is_reported(robot):
    robot.boundary.sources["ready"] = False
    robot.wait_status(state="WAITING")
    assert f"waiting for the action {ACTION}" in robot.statuses[-1]["message"]
    robot.send("base_link", NEAR)
    robot.wait_status(**{"refused.NOT_READY": "1"})
    robot.boundary.sources["ready"] = True
    robot.wait_status(state="READY")
    robot.run(1.0)
    assert np.array_equal(robot.positions, HOME)
    robot.reach(NEAR, 1e-9)


def test_a_displaced_arm_returns_only_for_a_repeated_target(robot):
    robot.reach(NEAR, 1e-9)
    sent = goals(robot)
    robot.send("base_link", NEAR)  # where it is
    robot.run(0.5)
    robot.positions = robot.positions + 0.2
    robot.run(2.0)
    assert sent == []
    robot.reach(NEAR, 1e-9)
    assert len(sent) == 1


def test_a_goal_that_the_controller_rejects_is_reported_and_dropped(robot):
    sent = goals(robot)
    robot.arm.rejects = True
    robot.send("base_link", NEAR)
    robot.wait(lambda: "rejected the motion" in robot.statuses[-1]["message"], "the reason")
    robot.arm.rejects = False
    robot.run(2.0)
    assert len(sent) == 1, "it is not sent again"
    assert np.array_equal(robot.positions, HOME)
    robot.reach(FAR, 1e-9)


@pytest.mark.parametrize("delay", [0.12, 0.25, 0.6])
def test_a_goal_that_brakes_too_late_is_rejected_and_sent_again_earlier(delay):
    """It is over when the controller gets it, which goes on with the motion before."""
    with whole() as robot:
        assert robot.set_parameter("speed_override", 0.05).successful
        robot.set_off(FAR, 0.1)
        robot.commanding.delay = 2 * (round(delay * SECOND),)
        sent = goals(robot)
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        there = robot.arm.outputs[-1][1]
        assert 2 <= len(sent) <= 3
        robot.commanding.delay = (0, 0)
        robot.run(2.0)
        assert np.array_equal(robot.arm.outputs[-1][1], there), "it had stopped"


def test_a_goal_that_the_controller_rejects_in_mid_motion_ends_it_at_rest(robot):
    robot.set_off(FAR)
    robot.arm.rejects = True
    robot.send("base_link", NEAR)
    robot.run(0.03)
    robot.arm.rejects = False
    robot.wait(lambda: "rejected the motion" in robot.statuses[-1]["message"], "the reason")
    robot.wait_status(state="READY")
    there = robot.arm.outputs[-1][1]
    robot.run(1.0)
    assert np.array_equal(robot.arm.outputs[-1][1], there), "it had come to rest"
    assert not robot.at(FAR, 1e-2)
    robot.reach(NEAR, 1e-9)


def test_a_controller_that_is_deactivated_in_motion_ends_it(robot):
    robot.set_off(FAR)
    robot.arm.deactivate()
    robot.run(0.01)
    robot.arm.complaints.clear()  # it stops at once, of its own accord
    robot.wait(lambda: "aborted by the controller" in robot.statuses[-1]["message"], "the reason")
    here = robot.positions
    robot.run(1.0)
    robot.arm.activate()
    robot.run(1.0)
    assert np.abs(robot.positions - here).max() < 0.01
    robot.call(SetBool, "enable", data=True)
    robot.reach(NEAR, 1e-9)


def test_a_controller_that_was_started_again_moves_nothing(robot):
    robot.set_off(FAR)
    robot.positions = HOME
    robot.run(3.0)
    assert np.array_equal(robot.positions, HOME)
    robot.call(SetBool, "enable", data=True)
    robot.run(1.0)
    robot.reach(NEAR, 1e-9)


def test_a_path_is_ignored():
    with running(
        "-p", "command_interface:=follow_joint_trajectory", "-p", "path:=straight"
    ) as robot:
        robot.reach(FAR, 1e-9)
        line = "path is ignored: straight needs six joints and an interface that streams"
        assert robot.log.lines().count(line) == 1


@pytest.mark.parametrize(("frame", "axis"), [("", (0.0, 0.0, 1.0)), ("ft_frame", (1.0, 0.0, 0.0))])
def test_a_head_goal_is_one_motion_with_its_duration(robot, frame, axis):
    sent, begun = goals(robot), robot.time
    goal = robot.point("base_link", POINT, pointing_frame=frame, min_duration=Duration(sec=2))
    assert robot.end_of(goal) == GoalStatus.STATUS_SUCCEEDED
    assert 2.0 <= robot.time - begun <= 2.2
    assert len(sent) == 1
    assert goal.feedback[0] > 0.1
    robot.wait(lambda: stands(robot), "rest", 1.0)
    pointing = robot.model.chain("base_link", frame or "tool0").forward(robot.positions)
    assert miss(pointing, POINT, axis) < 1e-6


def test_a_head_goal_is_canceled_in_motion(robot):
    goal = robot.point("base_link", POINT, min_duration=Duration(sec=10))
    robot.run(2.0)
    assert not np.array_equal(robot.positions, HOME)
    goal.is_cancel_requested = True
    assert robot.end_of(goal) == GoalStatus.STATUS_CANCELED
    robot.wait(lambda: stands(robot), "rest", 1.0)
    assert miss(robot.tip(), POINT) > 0.05


def test_a_head_goal_aborted_by_the_controller_ends_with_the_reason(robot):
    robot.arm.rejects = True
    goal = robot.point("base_link", POINT)
    assert robot.end_of(goal) == GoalStatus.STATUS_ABORTED
    assert "head goal aborted: the controller rejected the motion" in robot.log.lines()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Drives that lag behind, joints that stand, and controllers that pause, in both interfaces."""

import contextlib

import numpy as np
import pytest
from bench import CYCLE, HOME, PERIOD, Robot, down, running
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger
from world import MILLISECOND, SECOND

from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
BESIDE = down(0.45, -0.10, 0.30)
LAG = 0.03  # s
STREAM, WHOLE = (), ("-p", "command_interface:=follow_joint_trajectory")


@pytest.fixture(
    params=[(STREAM, False), (STREAM, True), (WHOLE, False)], ids=["stream", "blended", "whole"]
)
def robot(request):
    words, replaces = request.param
    with running(*words, lag=LAG, replaces=replaces) as robot:
        if words:
            robot.arm.bound = 4.0  # of a goal in mid-motion, as in test_whole_motions.py
        if replaces:
            robot.run(0.5)  # the answer about the rule counts from the next start from rest on
        yield robot


def switch_off(robot):
    """Deactivate the controller: its output stops at once, of its own accord."""
    robot.arm.deactivate()
    robot.run(PERIOD)
    robot.arm.complaints.clear()


def stands(robot):
    """Return whether the output is the same for a second, in which time passes."""
    robot.run(1.0)
    outputs = np.array([output for _, output in robot.arm.outputs[-SECOND // CYCLE :]])
    return (outputs == outputs[-1]).all()


def enabled_again(robot):
    """Enable targets, and reach one."""
    assert robot.call(SetBool, "enable", data=True).success
    robot.wait_status(state="READY")
    robot.reach(NEAR, 1e-6)


@pytest.mark.parametrize("replaces", [False, True])
def test_windows_have_the_form_of_the_controllers_rule(replaces):
    """The first begins when it is taken; later stamps are ahead for a controller that blends."""
    with running(replaces=replaces) as robot:
        robot.run(0.5)  # the answer counts from the next start from rest on
        robot.set_off(FAR)
        robot.send("base_link", NEAR)
        robot.run(0.1)
        first, *others = (each.message for each in robot.commands)
        assert (first.header.stamp.sec, first.points[0].time_from_start.sec) == (0, 0)
        starts = [each.points[0].time_from_start for each in others]
        assert others
        assert {(start.sec + 1e-9 * start.nanosec < 0.0) for start in starts} == {replaces}


def test_arrival_is_reported_for_the_measured_arm(robot):
    robot.send("base_link", FAR)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    assert robot.at(FAR, 0.005), "it was true when it was told"
    robot.run(1.0)
    assert robot.at(FAR, 1e-9)


def scaled(robot, factor):
    """Let the controller scale its speed; return the arm's way from then on."""
    robot.arm.controller.speed_scaling = factor
    robot.run(0.1)
    robot.arm.complaints.clear()
    return len(robot.arm.outputs)


def drag(robot, seconds, place=NEAR):
    """Send a target that moves on a circle of 5 cm; return the last one."""
    for step in range(round(seconds / 0.02)):
        shift = [0.05 * np.sin(0.06 * step), 0.05 * (1.0 - np.cos(0.06 * step)), 0.0]
        target = RigidTransform.from_rpy(0.0, 0.0, 0.0, shift) @ place
        robot.send("base_link", target)
        robot.run(0.02)
    return target


@pytest.fixture(params=[False, True], ids=["stamp", "blends"])
def slow_robot(request):
    with running(lag=LAG, replaces=request.param) as robot:
        robot.run(0.5)
        robot.blends = request.param
        yield robot


@pytest.mark.parametrize(("kind", "factor"), [("target", 0.1), ("moving", 0.5), ("twist", 0.5)])
def test_a_motion_from_rest_has_the_controllers_pace(slow_robot, kind, factor):
    robot = slow_robot
    first = scaled(robot, factor)
    if kind == "target":
        robot.reach(NEAR, 1e-6)
    elif kind == "moving":
        robot.reach(drag(robot, 2.0), 1e-6)
    else:
        here = robot.tip().translation
        for _ in range(100):
            robot.jog("base_link", linear=(0.0, 0.0, 0.1))
            robot.run(0.02)
        assert robot.tip().translation[2] - here[2] > 0.2 * factor * 0.1 * 2.0
    way = np.array([positions for _, positions in robot.arm.outputs[first:]])
    speeds = np.abs(np.diff(way, axis=0)) / (1e-9 * CYCLE)
    assert (speeds <= 1.003 * factor * robot.arm.limits.velocity).all()
    if kind != "twist":
        assert robot.arm.complaints == []


def test_what_moves_is_followed_from_rest_to_rest_and_status_says_so(slow_robot):
    scaled(slow_robot, 0.5)
    for _ in range(50):
        slow_robot.jog("base_link", linear=(0.0, 0.0, 0.1))
        slow_robot.run(0.02)
    told = [(each["level"], each["message"]) for each in slow_robot.statuses]
    text = "the controller scales its speed to 0.5: the arm follows in motions from rest to rest"
    assert (DiagnosticStatus.WARN, text) in told


def test_another_target_counts_at_once_at_the_controllers_pace(slow_robot):
    """Not only when the arm has been at the first one, which takes seconds."""
    robot, factor = slow_robot, 0.5
    scaled(robot, factor)
    robot.set_off(FAR, 0.3)
    robot.arm.complaints.clear()
    began = robot.time
    robot.send("base_link", NEAR)
    robot.run(1.0 / factor)
    assert not robot.at(FAR, 0.2)
    robot.wait_status(state="ARRIVED")
    robot.run(0.5)
    assert robot.at(NEAR, 1e-6)
    assert robot.time - began < 1.7 / factor + 1.0
    if robot.blends:
        assert robot.arm.complaints == [], "without a step"
    assert {what for _, what, _ in robot.arm.complaints} <= {"rate"}, "no leap"
    robot.arm.complaints.clear()


@pytest.mark.parametrize("begins", [True, False])
def test_at_a_speed_of_zero_the_arm_rests_with_its_goal_and_goes_on_afterwards(slow_robot, begins):
    robot = slow_robot
    if begins:
        robot.set_off(FAR, 0.3)
    scaled(robot, 0.0)
    if not begins:
        robot.send("base_link", FAR)
        robot.run(0.1)
    here = robot.arm.outputs[-1][1]
    robot.run(3.0)
    assert np.array_equal(robot.arm.outputs[-1][1], here)
    text = "the controller scales its speed to 0: the arm goes on once it is above"
    robot.wait_status(state="MOVING", level=DiagnosticStatus.WARN, message=text)
    scaled(robot, 0.5)
    robot.wait_status(state="ARRIVED", level=DiagnosticStatus.OK)
    robot.run(0.5)
    assert robot.at(FAR, 1e-6)


def test_a_motion_that_stands_at_its_begin_is_not_lost():
    """The controller has taken it; sent again, it would begin again after it has moved."""
    with running(lag=LAG) as robot:
        robot.run(0.1)
        robot.arm.taking.add(robot.world.now, 0.03)
        robot.send("base_link", FAR)
        robot.world.at(robot.world.now + 25 * MILLISECOND, lambda: scale(robot, 0.0))
        robot.run(3.0)
        scale(robot, 1.0)
        robot.run(0.3)
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        assert stands(robot)
        assert not robot.at(FAR, 0.1)


def scale(robot, factor):
    robot.arm.controller.speed_scaling = factor


@pytest.mark.parametrize("interface", [STREAM, WHOLE])
def test_at_a_speed_of_zero_the_target_is_dropped_if_it_shall_not_go_on(interface):
    with running("-p", "resume_after_pause:=false", *interface, lag=LAG) as robot:
        robot.set_off(FAR, 0.3)
        scaled(robot, 0.0)
        robot.wait_status(state="WAITING", message="the controller scales its speed to 0")
        scaled(robot, 1.0)
        robot.wait_status(state="READY")
        assert stands(robot)
        assert not robot.at(FAR, 0.1)
        robot.reach(FAR, 1e-6)


@pytest.mark.parametrize("factor", [0.5, 0.2, 0.0])
def test_a_motion_goes_on_at_the_controllers_speed(factor):
    """At 0 it stands with its goal."""
    with running(lag=0.03) as robot:
        robot.run(0.1)
        robot.set_off(FAR, 0.3)
        robot.arm.controller.speed_scaling, slow_since = factor, robot.world.now
        robot.run(0.5)
        assert robot.statuses[-1]["state"] == "MOVING"
        here = robot.positions
        robot.run(0.5)
        way = np.abs(robot.positions - here).max()
        assert (way < 1e-6) if factor == 0.0 else (0.01 < way <= 0.51 * factor * np.pi)
        robot.arm.controller.speed_scaling, fast_since = 1.0, robot.world.now
        robot.wait_status(state="ARRIVED")
        robot.run(1.0)
        assert robot.at(FAR, 1e-9)
        leaps = [time for time, _, _ in robot.arm.complaints]
        assert all(
            min(abs(time - slow_since), abs(time - fast_since)) <= 2 * CYCLE for time in leaps
        ), "the controller's own"
        robot.arm.complaints.clear()


@pytest.mark.parametrize("factor", [0.5, 0.2])
@pytest.mark.parametrize("delay", [0, 10])
def test_a_slow_motion_can_be_stopped(delay, factor):
    with running(lag=0.03) as robot:
        robot.run(0.1)
        for link in (robot.commanding, robot.states.link, robot.controller_states.link):
            link.delay = (delay * MILLISECOND, delay * MILLISECOND)
        robot.set_off(FAR, 0.3)
        robot.arm.controller.speed_scaling = factor
        robot.run(0.3)
        robot.arm.complaints.clear()
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        there = robot.arm.outputs[-1][1]
        robot.wait(robot.rests, "silence")
        assert np.array_equal(robot.arm.outputs[-1][1], there), "it was true when it was told"
        assert not robot.at(FAR, 0.1)
        assert {what for _, what, _ in robot.arm.complaints} <= {"rate"}, "no leap"
        robot.arm.complaints.clear()  # it brakes at the controller's pace in the window, too


def test_an_arm_that_was_stopped_at_a_speed_of_zero_does_not_go_on():
    with running(lag=0.03) as robot:
        robot.run(0.1)
        robot.set_off(FAR, 0.3)
        robot.arm.controller.speed_scaling = 0.0
        robot.run(0.5)
        robot.arm.complaints.clear()
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        here = robot.positions
        robot.arm.controller.speed_scaling = 1.0
        robot.run(1.0)
        assert np.abs(robot.positions - here).max() < 1e-6


@pytest.mark.parametrize("takes_factors", [True, False])
def test_a_speed_of_zero_from_the_start_counts_where_there_is_scaling(takes_factors):
    """Controllers without it leave the field at zero."""
    robot = Robot()
    try:
        robot.boundary.sources["scaling"] = int(takes_factors)
        robot.arm.controller.speed_scaling = 0.0
        robot.wait_status(state="READY")
        robot.run(0.5)
        assert ("scales its speed to 0:" in robot.statuses[-1]["message"]) == takes_factors
    finally:
        robot.end()


def test_a_blocked_joint_stops_the_arm_until_it_is_enabled(robot):
    robot.set_off(FAR, 0.1)
    robot.arm.joints.blocked[0] = True
    robot.wait_status(state="TRACKING_LOST", level=DiagnosticStatus.ERROR)
    way = robot.statuses[-1]["message"].removeprefix("shoulder_pan_joint is ").split()[0]
    assert 0.1 < float(way) < 0.115
    robot.run(1.0)
    leap = {time for time, _, _ in robot.arm.complaints}
    assert max(leap) - min(leap) <= 2 * CYCLE, "once: to where the joint is"
    robot.arm.complaints.clear()
    held = robot.positions
    robot.arm.joints.blocked[0] = False
    assert stands(robot)
    assert np.abs(robot.positions - held).max() < 1e-9
    robot.send("base_link", NEAR)
    assert stands(robot), "latched"
    enabled_again(robot)


INSISTENCE = 3.0  # s for which a hold is repeated


@contextlib.contextmanager
def deaf():
    """Yield a robot whose first joint was blocked, and whose controller takes no hold."""
    with running(lag=LAG) as robot:
        robot.run(0.1)
        robot.set_off(FAR, 0.1)
        robot.arm.joints.blocked[0] = True
        robot.wait(lambda: abs(robot.arm.outputs[-1][1][0] - robot.positions[0]) > 0.2, "a gap")
        robot.commanding.loss = 1.0
        robot.wait(lambda: len(robot.commands) > 1, "the hold")
        yield robot
        robot.arm.complaints.clear()  # the controller's output leaps back from where it went on


@pytest.mark.parametrize("late", [0.05, 0.5, 2.5])
def test_a_hold_is_repeated_until_the_controller_has_taken_it(late):
    """Meanwhile the other joints go on to the target: it does not matter where they are."""
    with deaf() as robot:
        robot.run(late)
        held, taken = robot.positions, robot.world.now
        assert abs(robot.arm.outputs[-1][1][0] - held[0]) > 0.2
        robot.commanding.loss = 0.0
        robot.wait(lambda: robot.arm.outputs[-1][1][0] == held[0], "it is held where it is", 0.03)
        robot.wait(robot.rests, "silence", 0.8)
        assert 1e-9 * (robot.commands[-1].time - taken) <= 0.15
        robot.arm.joints.blocked[0] = False
        assert stands(robot)
        assert abs(robot.positions[0] - held[0]) < 1e-9, "no step on release"


def test_a_hold_that_the_controller_never_takes_is_given_up():
    with deaf() as robot:
        count = len(robot.commands)
        robot.run(INSISTENCE + 1.0)
        periods = len(robot.commands) - count
        assert periods == pytest.approx(INSISTENCE / PERIOD, abs=10)
        robot.commanding.loss = 0.0
        assert stands(robot)
        assert robot.statuses[-1]["state"] == "TRACKING_LOST"


def test_a_hold_is_not_repeated_once_the_joint_has_been_moved():
    """It would lead back to where the joint was blocked."""
    with deaf() as robot:
        robot.run(0.5)
        held = robot.positions[0]
        robot.arm.joints.positions[0] += 0.06
        robot.run(2 * PERIOD)
        assert robot.positions[0] == pytest.approx(held + 0.06)
        robot.commanding.loss, first = 0.0, len(robot.arm.outputs)
        robot.run(2 * INSISTENCE)
        outputs = np.array([output[0] for _, output in robot.arm.outputs[first:]])
        assert np.abs(outputs - held).min() > 0.03
        assert robot.rests()


@pytest.mark.parametrize("back", [2.0, 20.0])
def test_a_clock_that_is_set_back_on_a_line_stops_the_arm(back):
    """Also if a window is on its way: by its stamp it begins once the clock is there again."""
    with running("-p", "path:=straight") as robot:
        robot.reach(NEAR, 1e-6)
        robot.wait(robot.rests, "silence")
        robot.set_off(BESIDE, 0.1)
        count = len(robot.commands)
        robot.wait(lambda: len(robot.commands) > count, "a window")
        before, first = robot.positions, len(robot.arm.outputs)
        robot.boundary.offset -= round(SECOND * back)
        robot.run(back + 2.0)
        outputs = np.array([output for _, output in robot.arm.outputs[first:]])
        rests = 1e-9 * CYCLE * np.flatnonzero(np.diff(outputs, axis=0).any(axis=1))[-1]
        assert rests <= 0.4
        assert np.abs(outputs - before).max() <= 0.3


@pytest.mark.parametrize("pause", [0.25, 3.0])
def test_a_controller_that_was_switched_off_and_on_does_not_go_on(robot, pause):
    robot.set_off(FAR, 0.3)
    seen = len(robot.statuses)
    switch_off(robot)
    robot.run(pause)
    held = robot.positions
    robot.arm.activate()
    assert stands(robot)
    assert np.abs(robot.positions - held).max() < 1e-4, "the rest of the drives' way"
    assert all(status["state"] != "ARRIVED" for status in robot.statuses[seen:])
    enabled_again(robot)


@pytest.mark.parametrize("pause", [0.2, 0.4])
def test_a_controller_that_was_off_where_the_motion_would_have_ended_does_not_go_on(robot, pause):
    robot.send("base_link", FAR)
    robot.wait(lambda: np.abs(robot.arm.joints.velocities).max() > 1.0, "it moves")
    robot.wait(lambda: np.abs(robot.arm.joints.velocities).max() < 1.0, "it brakes")
    switch_off(robot)
    robot.run(pause)
    held = robot.positions
    assert not robot.at(FAR, 1e-2)
    robot.arm.activate()
    assert stands(robot)
    assert np.abs(robot.positions - held).max() < 1e-3, "the rest of the drives' way"
    assert robot.statuses[-1]["state"] == "READY"
    enabled_again(robot)


def test_a_driver_that_was_started_again_elsewhere_moves_nothing(robot):
    robot.set_off(FAR, 0.3)
    robot.publishing, robot.boundary.sources["listeners"] = False, 0
    switch_off(robot)
    robot.wait_status(state="WAITING")
    robot.positions = HOME
    robot.publishing, robot.boundary.sources["listeners"] = True, 1
    robot.wait_status(state="READY")
    assert stands(robot)
    assert np.array_equal(robot.positions, HOME)
    enabled_again(robot)


def test_drives_that_lag_are_not_taken_for_another_client():
    with running(lag=0.1) as robot:
        for target in (down(0.40, 0.20, 0.40), down(0.40, -0.20, 0.40)):
            seen = len(robot.statuses)
            robot.reach(target, 1e-3)
            waits = [each for each in robot.statuses[seen:] if each["state"] == "HOLDING"]
            assert waits
            assert not any("has moved the arm" in each["message"] for each in waits)

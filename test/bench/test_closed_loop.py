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

"""Drives that lag behind, joints that stand, and controllers that pause, in both interfaces."""

import numpy as np
import pytest
from bench import CONTROLLER_STATES, CYCLE, HOME, PERIOD, Robot, down, running
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger
from world import SECOND

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
LAG = 0.03  # s
STREAM, WHOLE = (), ("-p", "command_interface:=follow_joint_trajectory")


@pytest.fixture(params=[STREAM, WHOLE], ids=["stream", "whole"])
def robot(request):
    with running(*request.param, lag=LAG) as robot:
        if request.param:
            robot.arm.bound = 4.0  # of a goal in mid-motion, as in test_whole_motions.py
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


@pytest.mark.parametrize(("replaces", "first_points"), [(False, {0.0}), (True, {-2 * PERIOD})])
def test_windows_have_the_form_of_the_controllers_rule(replaces, first_points):
    """Stamps are ahead of the present for a controller that blends."""
    with running(replaces=replaces) as robot:
        robot.run(0.5)  # the answer counts from the next start from rest on
        robot.set_off(FAR)
        starts = [each.message.points[0].time_from_start for each in robot.commands]
        assert {round(start.sec + 1e-9 * start.nanosec, 9) for start in starts} == first_points


def test_arrival_is_reported_for_the_measured_arm(robot):
    robot.send("base_link", FAR)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    assert robot.at(FAR, 0.005), "it was true when it was told"
    robot.run(1.0)
    assert robot.at(FAR, 1e-9)


@pytest.mark.parametrize("factor", [0.3, 0.0])
def test_a_slow_controller_gets_no_stream(factor):
    with running() as robot:
        robot.boundary.sources["scaling"] = 0  # it has shown a factor, that is enough
        robot.run(0.1)
        robot.arm.controller.speed_scaling = factor
        robot.wait_status(state="WAITING")
        assert f"scales its speed to {factor:g}," in robot.statuses[-1]["message"]
        robot.send("base_link", FAR)
        assert robot.rests()
        robot.arm.controller.speed_scaling = 1.0
        robot.wait_status(state="READY")
        robot.reach(FAR, 1e-9)


@pytest.mark.parametrize("factor", [0.5, 0.2, 0.0])
def test_a_stream_ends_once_the_controller_says_that_it_is_slow(factor):
    """Each further window would be entered by a leap."""
    with running(lag=0.03) as robot:
        robot.set_off(FAR, 0.3)
        robot.arm.controller.speed_scaling, slow_since = factor, robot.world.now
        robot.run(0.5)
        leaps = [time for time, _, _ in robot.arm.complaints]
        assert all(time <= slow_since + CONTROLLER_STATES + 2 * PERIOD * SECOND for time in leaps)
        robot.arm.complaints.clear()
        robot.run(3.0)  # until it has braked, at its pace; at 0 it has a way left
        assert robot.statuses[-1]["state"] == ("WAITING" if factor else "BRAKING")
        assert robot.rests()
        here = robot.positions
        robot.arm.controller.speed_scaling, fast_since = 1.0, robot.world.now
        robot.wait_status(state="READY")
        assert np.abs(robot.positions - here).max() < 0.75, "the way of one window"
        leaps = [time for time, _, _ in robot.arm.complaints]
        assert all(time <= fast_since + 2 * CYCLE for time in leaps), "the controller's own"
        robot.arm.complaints.clear()
        robot.reach(FAR, 1e-9)


def test_stopped_is_not_said_of_an_arm_that_will_move_with_the_slider():
    """At a speed of 0 it stands, and ends its window once the speed is above."""
    with running(lag=0.03) as robot:
        robot.set_off(FAR, 0.3)
        robot.arm.controller.speed_scaling = 0.0
        robot.run(0.5)
        assert robot.call(Trigger, "stop").success
        robot.run(1.0)
        assert robot.statuses[-1]["state"] == "BRAKING"
        robot.arm.complaints.clear()
        robot.arm.controller.speed_scaling, fast_since = 1.0, robot.world.now
        robot.wait_status(state="STOPPED")
        here = robot.positions
        robot.run(1.0)
        assert np.abs(robot.positions - here).max() < 0.01, "what the drives lag behind"
        leaps = [time for time, _, _ in robot.arm.complaints]
        assert all(time <= fast_since + 2 * CYCLE for time in leaps), "the controller's own"
        robot.arm.complaints.clear()


@pytest.mark.parametrize("takes_factors", [True, False])
def test_a_speed_of_zero_from_the_start_counts_where_there_is_scaling(takes_factors):
    """Controllers without it leave the field at zero."""
    robot = Robot()
    try:
        robot.boundary.sources["scaling"] = int(takes_factors)
        robot.arm.controller.speed_scaling = 0.0
        robot.wait_status(state="WAITING" if takes_factors else "READY")
        if takes_factors:
            robot.run(0.5)
            assert "scales its speed to 0," in robot.statuses[-1]["message"]
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

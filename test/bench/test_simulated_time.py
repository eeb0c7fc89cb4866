# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulation that is slow, coarse, paused or reset; with use_sim_time its time alone counts."""

import numpy as np
import pytest
from bench import HOME, PERIOD, down
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.time import Time
from simulation import Simulation, simulating
from world import MILLISECOND, SECOND

from basis_ik.ros.sim_clock import CLOCK_MISSING

STANDSTILL, START_TIME = 1.0, 2.0  # s: until each is reported
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


@pytest.fixture
def robot():
    with simulating() as robot:
        yield robot


def duration(robot):
    """Return how long the way from home to FAR and back takes in simulated time [s]."""
    home, begin = robot.tip(), robot.now()
    robot.reach(FAR, 1e-9)
    robot.reach(home, 1e-9)
    return (robot.now() - begin) / SECOND


@pytest.mark.parametrize(
    ("factor", "step", "bound"), [(0.2, 2, 1.05), (1.0, 50, 1.3), (3.0, 3, 1.1)]
)
def test_motions_take_as_long_in_simulated_time_whatever_its_rate(robot, factor, step, bound):
    """Windows that come late in simulated time meet the last one's braking for a moment."""
    plain = duration(robot)
    robot.factor, robot.step, robot.arm.bound = factor, step * MILLISECOND, bound
    grain = PERIOD + max(1e-3 * step, factor * PERIOD)
    assert duration(robot) == pytest.approx(plain, abs=2.0 * grain)


def test_the_arm_pauses_and_goes_on_with_the_simulation(robot):
    robot.set_off(FAR)
    robot.factor, begin = 0.0, robot.time
    robot.wait_status(state="WAITING")
    assert STANDSTILL - PERIOD <= robot.time - begin <= STANDSTILL + PERIOD + 1e-9
    assert "stands still" in robot.statuses[-1]["message"]
    count = len(robot.commands)
    robot.send("base_link", NEAR, stamp=None)
    robot.run(5.0)
    assert len(robot.commands) == count, "for longer than joint states may be old"
    robot.factor = 1.0
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert robot.at(NEAR, 1e-9)


@pytest.mark.parametrize("seconds", [-98, -2])
def test_stamped_targets_are_accepted_after_a_reset(robot, seconds):
    robot.reach(NEAR, 1e-9)
    robot.jumps += seconds * SECOND
    robot.run(2 * PERIOD)
    robot.reach(FAR, 1e-9)
    assert "refused.OUT_OF_ORDER" not in robot.statuses[-1]


def test_joint_states_of_another_clock_are_refused(robot):
    real = robot.states

    class SystemTime:
        def publish(self, state):
            state.header.stamp = Time(nanoseconds=robot.boundary.system()).to_msg()
            real.publish(state)

    robot.states = SystemTime()
    robot.wait_status(state="WAITING")
    assert robot.statuses[-1]["last_refusal.joint_states"].startswith("FUTURE: ")
    robot.wait(lambda: "use_sim_time" in robot.statuses[-1]["message"], "the cause is named")
    robot.send("base_link", FAR, stamp=None)
    assert robot.rests()
    assert np.array_equal(robot.positions, HOME)


class Undescribed(Simulation):
    """Its description comes when the test says so."""

    def topic(self, name):
        topic = super().topic(name)
        topic.link.loss = float(name == "/robot_description")
        return topic


@pytest.mark.parametrize(
    ("kind", "part"), [(Undescribed, "basis_ik: start"), (Simulation, "basis_ik: control loop")]
)
def test_a_missing_clock_is_reported_in_log_and_diagnostics(kind, part):
    robot = kind()
    try:
        robot.run(START_TIME - 2 * PERIOD)
        assert CLOCK_MISSING not in robot.log.lines()
        robot.run(4 * PERIOD)
        assert robot.log.lines().count(CLOCK_MISSING) == 1
        robot.run(2.0)
        assert robot.log.lines().count(CLOCK_MISSING) == 1
        (told,) = [each for each in robot.heard["/diagnostics"].status if part in each.name]
        assert told.level == DiagnosticStatus.WARN
        assert CLOCK_MISSING in told.message
        robot.factor = 1.0
        robot.run(START_TIME + 2 * PERIOD)
        assert robot.log.lines().count("receiving the time on /clock") == 1
        assert robot.log.lines().count(CLOCK_MISSING) == 1
    finally:
        robot.end()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Streams of poses, late, uneven or with losses, are followed; when they end the arm stops."""

import numpy as np
import pytest
from moving_poses import (
    PATHS,
    SPEED,
    Sender,
    circle,
    eight,
    ending,
    follow,
    line,
    measure,
)
from shipped_arms import HOMES, Kinematics, chain_of, urdf_of, worst

from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Pipeline

PERIOD = 0.01


class Arm:
    """A robot with its limits, and independent kinematics."""

    def __init__(self, robot):
        self.chain, self.home = chain_of(robot), HOMES[robot]
        self.limits = MotionLimits.of_chain(self.chain)
        self.kinematics = Kinematics(urdf_of(robot), self.chain.tip)

    def follow(self, path, sender, period=PERIOD, way="joint", **more):
        """Return the run; none of its commands leaves a limit."""
        pipe = Pipeline(self.chain, period=period, limits=self.limits)
        pipe.path = way
        run = follow(pipe, self.kinematics, self.home, path, sender, period=period, **more)
        assert worst(run.commands, self.limits, period).max() <= 1.0 + 1e-6
        return run


@pytest.fixture(scope="module")
def arms():
    return {robot: Arm(robot) for robot in HOMES}


def test_the_independent_kinematics_are_correct(arms):
    for arm in arms.values():
        expected = arm.chain.forward(arm.home + 0.1).matrix
        assert np.allclose(arm.kinematics(arm.home + 0.1), expected, atol=1e-9)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
@pytest.mark.parametrize("rate", [20, 50, 100, 200])
@pytest.mark.parametrize("robot", HOMES)
def test_a_stream_is_followed_without_lag_or_distortion(arms, robot, rate, path):
    figures = measure(arms[robot].follow(path, Sender(rate), after=0.0), path)
    assert abs(figures.lag) < 2e-3
    assert figures.shape < (6e-4 if rate == 20 else 2e-4)
    assert figures.shape_max < (2e-3 if rate == 20 else 5e-4)
    assert figures.turn < 5e-3


@pytest.mark.parametrize("robot", HOMES)
def test_with_straight_paths_a_stream_is_followed_as_well(arms, robot):
    figures = measure(arms[robot].follow(eight, Sender(50), way="straight", after=0.0), eight)
    assert abs(figures.lag) < 2e-3
    assert figures.shape_max < 1e-3


@pytest.mark.parametrize("path", [circle, eight], ids=lambda path: path.__name__)
@pytest.mark.parametrize("rate", [20, 50, 100, 200])
def test_stamps_compensate_for_jitter_delay_and_loss(arms, rate, path):
    sender = Sender(rate, jitter=0.004, loss=0.2, late=0.01)
    figures = measure(arms["ur5e"].follow(path, sender, after=0.0), path)
    assert abs(figures.lag) < 5e-3
    assert figures.shape < (2.5e-3 if rate == 20 and path is eight else 1e-3)


@pytest.mark.parametrize("rate", [20, 50])
def test_without_stamps_arrival_times_are_smoothed(arms, rate):
    sender = Sender(rate, jitter=0.004, loss=0.2, stamped=False)
    figures = measure(arms["ur5e"].follow(circle, sender, after=0.0), circle)
    late = 0.004 * np.sqrt(2.0 / np.pi)  # the mean of what messages are late
    assert abs(figures.lag - late) < 2e-3
    assert figures.shape < 1e-3


def test_at_10_hz_a_circle_is_followed_as_well_as_a_cubic_predicts(arms):
    """A cubic through four goals, h apart, misses h⁴ x⁗ at the next: 0.1⁴ s⁴ · 9.2 m/s⁴."""
    figures = measure(arms["ur5e"].follow(circle, Sender(10), after=0.0), circle)
    assert abs(figures.lag) < 5e-3
    assert figures.shape < 1e-3


def test_a_fast_loop_follows_as_well(arms):
    sender = Sender(50, jitter=0.004, loss=0.2)
    figures = measure(
        arms["panda"].follow(circle, sender, period=0.002, until=2.5, after=0.0), circle
    )
    assert abs(figures.lag) < 1e-3
    assert figures.shape < 1e-3


@pytest.mark.parametrize("robot", HOMES)
@pytest.mark.parametrize("rate", [10, 20, 50, 100])
def test_at_the_end_of_a_stream_the_arm_returns_to_the_last_pose(arms, robot, rate):
    arm = arms[robot]
    run = arm.follow(circle, Sender(rate))
    end = ending(run, circle)
    # That no more comes is known half an interval after it was due, and to the loop a period later.
    known = run.reported + 1.5 / rate + 2.0 * PERIOD
    k = int(np.searchsorted(run.times, known))
    way = SPEED * (known - run.reported)
    limiter = Limiter(arm.limits, PERIOD, arm.home)
    differences = [np.diff(run.commands[k - 3 : k], n, axis=0)[-1] / PERIOD**n for n in (0, 1, 2)]
    limiter.go_on(np.stack(differences, axis=1))
    start = arm.kinematics(limiter.position)[:3, 3]
    while not limiter.at_rest:
        limiter.brake()
    stop = np.linalg.norm(arm.kinematics(limiter.position)[:3, 3] - start)
    assert end.past < 1.3 * (way + stop)
    assert end.missing < 1e-4


def test_a_sharp_reversal_has_a_small_overshoot(arms):
    def zigzag(t):
        return np.array([0.0, 0.1 * abs((2.0 * t + 0.5) % 2.0 - 1.0) - 0.05, 0.0]), 0.0

    run = arms["ur5e"].follow(zigzag, Sender(50))
    y = run.tips[run.times > 0.5][:, 1, 3] - run.tips[0][1, 3]
    assert y.max() < 0.05 + 0.02
    assert y.min() > -0.05 - 0.02


def test_a_step_in_a_stream_has_no_overshoot(arms):
    def step(t):
        return np.array([0.0, 0.05 if t > 1.0 else 0.0, 0.0]), 0.0

    run = arms["ur5e"].follow(step, Sender(50), until=2.0)
    y = run.tips[:, 1, 3] - run.tips[0][1, 3]
    assert y.max() < 0.05 + 1e-4
    assert ending(run, step).missing < 1e-4


def test_bursts_and_repeated_messages_do_not_disturb(arms):
    class Bursts(Sender):
        def messages(self, until, rng):
            times, _ = super().messages(until, rng)
            arrivals = np.ceil(times / 0.06) * 0.06
            return np.repeat(times, 2), np.repeat(arrivals, 2)

    run = arms["ur5e"].follow(line, Bursts(50), after=0.0)
    figures = measure(run, line)
    assert abs(figures.lag) < 5e-3
    assert figures.shape < 2e-3

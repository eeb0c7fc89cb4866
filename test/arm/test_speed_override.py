# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The speed override slows all motions down and continues them, within all limits."""

from itertools import cycle

import numpy as np
import pytest
from shipped_arms import chain_of, worst

from basis_ik.arm.goals import JointGoal, JointVelocityGoal, PoseGoal, TwistGoal
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.transforms.rigid import RigidTransform

HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
THERE = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.45, -0.25, 0.45])
PERIOD = 0.01
CHANGES = (1.0, 0.0, 1.0, 0.3)
GOALS = {
    "joints": JointGoal(tuple(HOME + np.array([1.5, 0.4, -0.6, 0.3, 0.2, -2.0]))),
    "pose": PoseGoal(THERE),
    "twist": TwistGoal((0.0, 0.08, -0.05), (0.0, 0.0, 0.2)),
    "tip_twist": TwistGoal((0.0, 0.08, -0.05), (0.0, 0.0, 0.2), in_tip=True),
    "joint_jog": JointVelocityGoal((0.4, 0.0, -0.3, 0.2, 0.0, 1.0)),
}


@pytest.fixture(scope="module")
def chain():
    return chain_of("ur5e")


class Arm:
    """A pipeline, an arm that executes commands exactly, and all commands."""

    def __init__(self, chain, path="joint"):
        self.chain, self.limits = chain, MotionLimits.of_chain(chain)
        self.pipe, self.commands = Pipeline(chain, period=PERIOD), [HOME] * 4
        self.pipe.path = path

    def go(self, goal, periods):
        """Move to a goal; return the commands of these periods, or until they end."""
        begun = len(self.commands)
        for _ in range(periods):
            self.pipe.set_goal(goal, self.commands[-1])
            command = self.pipe.step(self.commands[-1])
            if command is None:
                break
            self.commands.append(command)
        return np.array(self.commands[begun:])

    def worst(self):
        """Largest velocity, acceleration or jerk, relative to its limit."""
        return worst(self.commands, self.limits, PERIOD).max()


def way(commands):
    """How far the tip or the joints moved in each period, as the joints' norm."""
    return np.linalg.norm(np.diff(commands, axis=0), axis=1)


@pytest.mark.parametrize("path", ["joint", "straight"])
@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("periods", [7, 23, 40])
def test_a_change_keeps_every_limit(chain, kind, path, periods):
    arm = Arm(chain, path)
    for override in (*CHANGES, *CHANGES, 0.0, 0.001, 1.0):
        arm.pipe.speed_override = override
        arm.go(GOALS[kind], periods)
    assert arm.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize("path", ["joint", "straight"])
def test_at_zero_the_arm_brakes_and_later_continues(chain, path):
    arm = Arm(chain, path)
    arm.go(GOALS["pose"], 25)
    arm.pipe.speed_override = 0.0
    arm.go(GOALS["pose"], 100)
    rest = arm.go(GOALS["pose"], 100)
    assert len(rest) == 100, "it is not silent, for it has not arrived"
    assert not way(rest).any()
    assert arm.pipe.phase is Phase.MOVING
    assert not arm.chain.forward(rest[-1]).is_close(THERE, 1e-2)
    arm.pipe.speed_override = 1.0
    arm.go(GOALS["pose"], 1000)
    assert arm.pipe.phase is Phase.ARRIVED
    assert arm.chain.forward(arm.commands[-1]).is_close(THERE, 2e-5)
    assert arm.worst() <= 1.0 + 1e-6


def test_a_straight_line_stays_straight(chain):
    arm = Arm(chain, "straight")
    start = chain.forward(HOME)
    for override in (*CHANGES, 0.0, 1.0):
        arm.pipe.speed_override = override
        arm.go(GOALS["pose"], 30)
    arm.go(GOALS["pose"], 1000)
    assert arm.pipe.phase is Phase.ARRIVED
    line = THERE.translation - start.translation
    ways = np.array([chain.forward(q).translation - start.translation for q in arm.commands])
    aside = ways - np.outer(ways @ line, line) / (line @ line)
    assert np.linalg.norm(aside, axis=1).max() < 5e-4


def test_a_twist_is_scaled_on_its_line(chain):
    arm, goal = Arm(chain), TwistGoal((0.0, 0.06, -0.08), (0.0, 0.0, 0.0))
    for override in (1.0, 0.25, 0.0, 0.5):
        arm.pipe.speed_override = override
        commands = arm.go(goal, 60)
        before, last = (chain.forward(q).translation for q in commands[-2:])
        assert np.linalg.norm(last - before) / PERIOD == pytest.approx(0.1 * override, abs=1e-6)
    ways = np.array([chain.forward(q).translation for q in arm.commands])
    ways -= ways[0]
    line = np.array([0.0, 0.6, -0.8])
    assert np.linalg.norm(ways - np.outer(ways @ line, line), axis=1).max() < 1e-6


def test_jogged_joints_are_scaled(chain):
    arm, velocities = Arm(chain), np.array([0.4, 0.0, -0.3, 0.2, 0.0, 1.0])
    for override in (1.0, 0.25, 0.0, 0.5):
        arm.pipe.speed_override = override
        last = np.diff(arm.go(JointVelocityGoal(tuple(velocities)), 60), axis=0)[-1] / PERIOD
        np.testing.assert_allclose(last, override * velocities, rtol=0, atol=1e-9)


@pytest.mark.parametrize("path", ["joint", "straight"])
def test_a_motion_to_a_goal_is_scaled(chain, path):
    arms = [Arm(chain, path), Arm(chain, path)]
    arms[1].pipe.speed_override = 0.1
    fast, slow = (way(arm.go(GOALS["pose"], 5000)).max() for arm in arms)
    assert slow == pytest.approx(0.1 * fast, rel=0.3)
    assert all(arm.pipe.phase is Phase.ARRIVED for arm in arms)
    assert slow < 0.11 * np.linalg.norm(arms[1].limits.velocity) * PERIOD


def test_a_motion_in_progress_is_scaled(chain):
    arm, goal = Arm(chain), JointGoal((*(HOME[:5]), 6.0))
    assert way(arm.go(goal, 60)).max() == pytest.approx(np.pi * PERIOD)
    arm.pipe.speed_override = 0.3
    arm.go(goal, 50)
    assert way(arm.go(goal, 20)) == pytest.approx(0.3 * np.pi * PERIOD)


def test_a_goal_received_at_zero_waits(chain):
    arm = Arm(chain)
    arm.pipe.speed_override = 0.0
    assert np.array_equal(arm.go(GOALS["joints"], 50), [HOME] * 50)
    arm.pipe.speed_override = 1.0
    arm.go(GOALS["joints"], 1000)
    assert np.array_equal(arm.commands[-1], GOALS["joints"].positions)


def test_at_zero_a_stop_ends_the_commands(chain):
    arm = Arm(chain)
    arm.go(GOALS["joints"], 30)
    arm.pipe.speed_override = 0.0
    arm.go(GOALS["joints"], 5)
    arm.pipe.brake()
    while (command := arm.pipe.step(arm.commands[-1])) is not None:
        arm.commands.append(command)
    assert arm.pipe.phase is Phase.IDLE
    assert arm.worst() <= 1.0 + 1e-6


def test_at_zero_there_is_no_step_off_a_singularity(chain):
    stretched = np.array([0.0, -1.57, 0.0, -1.57, 0.0, 0.0])
    arm = Arm(chain)
    arm.commands = [stretched] * 4
    inward = TwistGoal((0.0, 0.0, -0.1), (0.0, 0.0, 0.0))
    arm.pipe.speed_override = 0.0
    assert np.array_equal(arm.go(inward, 50), [stretched] * 50)
    arm.pipe.speed_override = 1.0
    assert way(arm.go(inward, 50)).any()
    assert arm.worst() <= 1.0 + 1e-6


def test_a_whole_motion_is_scaled_and_rests_at_zero(chain):
    arm = Arm(chain)
    arm.pipe.set_goal(GOALS["joints"], HOME)
    arm.pipe.speed_override = 0.3
    rest = np.column_stack([HOME, np.zeros((6, 2))])
    slow = arm.pipe.plan(rest, braking=False)
    fastest = np.abs(slow.velocities / arm.limits.velocity).max()
    assert fastest == pytest.approx(0.3)
    arm.pipe.speed_override = 0.0
    halt = arm.pipe.plan(slow.at(0.5 * slow.times[-1]), braking=False)
    assert not halt.velocities[-1].any()
    assert 0.0 < halt.times[-1] < 0.5 * slow.times[-1]
    arm.pipe.speed_override = 1.0
    on = arm.pipe.plan(np.column_stack([halt.positions[-1], np.zeros((6, 2))]), braking=False)
    assert np.array_equal(on.positions[-1], GOALS["joints"].positions)


@pytest.mark.parametrize("moving", [False, True])
def test_random_changes_keep_every_limit_of_any_joints(moving):
    rng = np.random.default_rng(3)
    for _ in range(20):
        velocity = 10 ** rng.uniform(-1, 0.7, 4)
        acceleration = velocity / 10 ** rng.uniform(-1.3, 0.3, 4)
        jerk = acceleration / 10 ** rng.uniform(-2, 0, 4)
        limits = MotionLimits(np.full(4, -2.0), np.full(4, 2.0), velocity, acceleration, jerk)
        limiter = Limiter(limits, PERIOD, np.zeros(4))
        commands = [np.zeros(4)] * 4
        overrides = cycle([1.0, 0.0, 1.0, 0.3, 1e-3])
        goal, speed = rng.uniform(-2, 2, 4), np.zeros(4)
        for _ in range(2000):
            if rng.random() < 0.03:
                limiter.slow_down(next(overrides))
            if rng.random() < 0.01:
                goal = rng.uniform(-2, 2, 4)
                speed = rng.uniform(-1, 1, 4) * velocity * moving
            goal = np.clip(goal + speed * PERIOD, -2.0, 2.0)
            commands.append(limiter.step(goal, speed))
        assert np.abs(commands).max() <= 2.0
        for order, most in enumerate((velocity, acceleration, jerk), 1):
            rate = np.abs(np.diff(commands, order, axis=0)).max(0)
            assert (rate <= most * PERIOD**order * (1 + 1e-9) + 1e-13).all(), order

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jogged joints keep all limits, and stop by themselves at their position limits."""

import numpy as np
import pytest
from shipped_arms import chain_of, worst

from basis_ik.arm.goals import JointVelocityGoal, PoseGoal
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Pipeline
from basis_ik.verdict import Verdict

HOME = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
PERIOD = 0.01


@pytest.fixture(scope="module")
def chain():
    return chain_of("panda")


class Arm:
    """A pipeline, an arm that executes commands exactly, and all commands."""

    def __init__(self, chain, q=HOME):
        self.chain, self.limits = chain, MotionLimits.of_chain(chain)
        self.pipe, self.commands = Pipeline(chain, period=PERIOD), [q] * 3

    def jog(self, velocities, periods):
        self.go(JointVelocityGoal(tuple(map(float, velocities))), periods)

    def go(self, goal, periods):
        self.pipe.set_goal(goal, self.commands[-1])
        self.step(periods)

    def step(self, periods):
        for _ in range(periods):
            command = self.pipe.step(self.commands[-1])
            if command is None:
                return
            self.commands.append(command)

    @property
    def velocity(self):
        return (self.commands[-1] - self.commands[-2]) / PERIOD

    def worst(self):
        """Largest velocity, acceleration or jerk, relative to its limit."""
        return worst(self.commands, self.limits, PERIOD).max()


def one(joint, velocity):
    return np.where(np.arange(7) == joint, velocity, 0.0)


def test_a_joint_moves_as_commanded_and_the_others_rest(chain):
    arm = Arm(chain)
    arm.jog(one(3, 0.5), 100)
    assert np.allclose(arm.velocity, one(3, 0.5), rtol=0, atol=1e-9)
    arm.jog(np.zeros(7), 100)
    assert np.array_equal(arm.commands[-1], arm.commands[-2])
    assert (np.delete(arm.commands[-1], 3) == np.delete(HOME, 3)).all()
    assert arm.worst() <= 1.0 + 1e-9


def test_velocities_beyond_a_limit_are_scaled_together(chain):
    arm = Arm(chain)
    arm.jog([0.0, 0.0, 0.0, 0.0, 10.0, 0.0, 5.0], 40)
    assert arm.velocity[4] == pytest.approx(chain.velocity[4], rel=2e-3)
    assert arm.velocity[6] == pytest.approx(0.5 * arm.velocity[4])
    assert arm.worst() <= 1.0 + 1e-9


@pytest.mark.parametrize("velocity", [-2.0, -0.2, 2.0])
def test_a_joint_stops_at_its_limit_and_the_others_continue(chain, velocity):
    arm = Arm(chain)
    arm.jog(one(3, velocity) + one(0, 0.05), 1500)
    bound = (chain.upper if velocity > 0.0 else chain.lower)[3]
    assert arm.commands[-1][3] == pytest.approx(bound, abs=1e-3)
    assert arm.velocity[0] == pytest.approx(0.05)
    solution = arm.pipe.solution
    assert (solution.verdict, solution.reason.joint) == (Verdict.LIMIT, chain.joint_names[3])
    assert solution.reason.bound == bound
    assert arm.worst() <= 1.0 + 1e-9
    arm.jog(one(3, -0.1 * np.sign(velocity)), 50)
    assert arm.pipe.solution is None
    assert abs(arm.commands[-1][3] - bound) > 0.01


def test_random_velocities_keep_all_limits(chain):
    arm, rng = Arm(chain), np.random.default_rng(0)
    for _ in range(200):
        arm.jog(rng.uniform(-3.0, 3.0, 7) * (rng.random(7) < 0.6), rng.integers(1, 40))
    assert arm.worst() <= 1.0 + 1e-9
    assert (np.array(arm.commands) >= chain.lower).all()
    assert (np.array(arm.commands) <= chain.upper).all()


def test_jogging_and_poses_replace_each_other_in_motion(chain):
    arm, there = Arm(chain), chain.forward(HOME + 0.4)
    arm.go(PoseGoal(there), 30)
    assert np.abs(arm.velocity).max() > 0.2
    arm.jog(one(1, 0.5), 5)
    assert np.abs(arm.velocity).max() > 0.2, "without a stop"
    arm.step(100)
    assert np.allclose(arm.velocity, one(1, 0.5), rtol=0, atol=1e-9)
    arm.go(PoseGoal(there), 1000)
    assert np.allclose(chain.forward(arm.commands[-1]).matrix, there.matrix, rtol=0, atol=2e-5)
    assert arm.worst() <= 1.0 + 1e-9


def test_joint_jogging_can_brake(chain):
    arm = Arm(chain)
    arm.jog(one(0, 1.0), 50)
    arm.pipe.brake()
    arm.step(500)
    assert arm.pipe.step(arm.commands[-1]) is None
    assert np.array_equal(arm.commands[-1], arm.commands[-2])
    assert arm.worst() <= 1.0 + 1e-9

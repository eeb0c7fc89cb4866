# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands and solutions keep a margin at the joints' limits; an arm inside it only leaves it."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.goals import JointVelocityGoal, PoseGoal
from basis_ik.arm.pipeline import Pipeline
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import solve
from basis_ik.verdict import Verdict

URDF = Path(__file__).parents[2] / "urdf"
HOME = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
MARGIN = 0.3


@pytest.fixture(scope="module")
def wide():
    return RobotModel.from_urdf((URDF / "panda.urdf").read_text()).chain()


@pytest.fixture(scope="module")
def chain(wide):
    return wide.within(wide.lower + MARGIN, wide.upper - MARGIN)


def run(pipe, goal, q, periods=400):
    commands = [q]
    pipe.set_goal(goal, q)
    for _ in range(periods):
        command = pipe.step(commands[-1])
        if command is None:
            break
        commands.append(command)
    return np.array(commands)


def test_solutions_keep_the_margin(wide, chain):
    rng, beyond = np.random.default_rng(0), 0
    for _ in range(200):
        target = wide.forward(rng.uniform(wide.lower, wide.upper))
        seed = rng.uniform(chain.lower, chain.upper)
        q = solve(chain, target, seed).positions
        assert (q >= chain.lower).all()
        assert (q <= chain.upper).all()
        q = solve(wide, target, seed).positions
        beyond += (q < chain.lower).any() or (q > chain.upper).any()
    assert beyond > 50, "without the margin they do not"


def test_the_reduced_limit_is_reported(chain):
    pipe = Pipeline(chain, period=0.01)
    commands = run(pipe, JointVelocityGoal((0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0)), HOME, 1500)
    assert commands[-1][3] == pytest.approx(chain.upper[3], abs=1e-3)
    assert commands.max(axis=0)[3] <= chain.upper[3]
    assert (pipe.solution.verdict, pipe.solution.reason.bound) == (Verdict.LIMIT, chain.upper[3])


def test_an_arm_inside_the_margin_only_leaves_it(wide, chain):
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = rng.uniform(chain.lower, chain.upper)
        joint = rng.integers(7)
        q[joint] = wide.upper[joint] - 0.5 * MARGIN
        target = chain.forward(rng.uniform(chain.lower, chain.upper))
        commands = run(Pipeline(chain, period=0.01), PoseGoal(target), q, 2000)
        inside = commands[:, joint] > chain.upper[joint]
        assert (np.diff(commands[inside, joint]) <= 0.0).all()
        assert commands[-1][joint] <= chain.upper[joint]
    pipe = Pipeline(chain, period=0.01)
    outwards = run(pipe, JointVelocityGoal(tuple(0.2 * (np.arange(7) == joint))), q)
    assert (np.diff(outwards[:, joint]) <= 0.0).all()


def test_a_margin_that_leaves_no_position_is_refused(wide):
    with pytest.raises(
        ChainError, match="'panda_joint4' has no position within its limits"
    ) as caught:
        wide.within(wide.lower + 1.6, wide.upper - 1.6)
    assert caught.value.joint == "panda_joint4"

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of all kinds in turn: the newest is followed, within every limit."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.goals import (
    JointGoal,
    JointVelocityGoal,
    PointGoal,
    PoseGoal,
    Ray,
    TwistGoal,
)
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[2] / "urdf"
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD = 0.01


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


def goals(rng):
    """A goal of each kind, near HOME."""
    place = rng.uniform((0.25, -0.15, 0.25), (0.55, 0.15, 0.55))
    return (
        PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, place)),
        PointGoal((0.8, 0.2, 0.1), Ray((0.0, 0.0, 1.0))),
        TwistGoal(tuple(rng.uniform(-0.2, 0.2, 3)), tuple(rng.uniform(-0.3, 0.3, 3))),
        TwistGoal(tuple(rng.uniform(-0.2, 0.2, 3)), (0.0, 0.0, 0.2), in_tip=True),
        JointVelocityGoal(tuple(rng.uniform(-1.0, 1.0, 6))),
        JointGoal(tuple(HOME + rng.uniform(-0.5, 0.5, 6))),
    )


@pytest.mark.parametrize("path", ["joint", "straight"])
@pytest.mark.parametrize("longest", [3, 40])
def test_kinds_of_input_replace_each_other_in_motion(chain, path, longest):
    rng = np.random.default_rng(5)
    pipe, commands, limits = (
        Pipeline(chain, period=PERIOD),
        [HOME] * 4,
        MotionLimits.of_chain(chain),
    )
    pipe.path = path

    def go(goal, periods):
        for _ in range(periods):
            pipe.set_goal(goal, commands[-1])
            command = pipe.step(commands[-1])
            if command is not None:
                commands.append(command)

    for _ in range(1200 // longest):
        kinds = goals(rng)
        go(kinds[rng.integers(len(kinds))], int(rng.integers(1, longest + 1)))
    last = goals(rng)[0]
    go(last, 1000)
    assert pipe.phase is Phase.ARRIVED
    assert chain.forward(commands[-1]).is_close(last.root_T_target, 2e-5)
    for order, most in enumerate((limits.velocity, limits.acceleration, limits.jerk), 1):
        steps = np.abs(np.diff(commands, order, axis=0)) / PERIOD**order
        assert (steps <= most * (1 + 1e-6)).all(), order

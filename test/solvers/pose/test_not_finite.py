# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every function refuses targets that are not finite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.path.cartesian_path import follow
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.pose.track import track
from basis_ik.solvers.tasks.prefer import solve_posture
from basis_ik.solvers.tasks.solve_tasks import PoseTask, solve_tasks
from basis_ik.transforms.rigid import trusted

URDF = Path(__file__).parents[3] / "urdf"
Q = [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]
CALLS = {
    "solve": lambda chain, target: solve(chain, target, Q),
    "free_axis": lambda chain, target: solve(
        chain, target, Q, constraint=PoseConstraint(free_axis=(0.6, 0.0, 0.8))
    ),
    "position": lambda chain, target: solve(chain, target, Q, position_only=True),
    "race": lambda chain, target: solve(chain, target, Q, time_limit=1.0),
    "track": lambda chain, target: track(chain, target, Q, 0.1),
    "every": lambda chain, target: solve_all(chain, target, Q),
    "posture": lambda chain, target: solve_posture(chain, target, Q, Q),
    "batch": lambda chain, target: solve_batch(chain, [target], Q),
    "follow": lambda chain, target: follow(chain, [target], Q),
}


def broken(chain, row, column):
    m = chain.forward(Q).matrix.copy()
    m[row, column] = np.nan
    return trusted(m)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("row", "column"), [(0, 0), (2, 1), (1, 2), (1, 3)])
def test_targets_that_are_not_finite_are_refused(robot, call, row, column):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError, match="target"):
        CALLS[call](chain, broken(chain, row, column))


def test_targets_of_several_tips_that_are_not_finite_are_refused(robot):
    model = RobotModel.from_urdf((URDF / "panda.urdf").read_text())
    with pytest.raises(SolveArgumentError, match=r"tasks\[0\].target must be finite"):
        solve_tasks(model, [PoseTask("panda_hand", broken(robot("panda"), 0, 0))])

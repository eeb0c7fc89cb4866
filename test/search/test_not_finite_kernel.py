# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A NaN step must not become a plausible command: the joint does not move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from from_python import from_python

from basis_ik.descent.descent_kernel import DESCENT_REACHED, apply_step
from basis_ik.descent.tables_kernel import STEP
from basis_ik.robot.robot import RobotModel
from basis_ik.search.levels_kernel import _move
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.track_kernel import step_towards

URDF = Path(__file__).parents[2] / "urdf"
PANDA = RobotModel.from_urdf((URDF / "panda.urdf").read_text()).chain()
Q = [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]


@pytest.mark.parametrize("number", range(6))
def test_a_step_that_is_no_number_moves_no_joint(number):
    ready, start, q = prepared(PANDA), np.array(Q), np.zeros(7)
    weights, target = ready.weights.copy(), PANDA.forward(np.array(Q) + 0.2).matrix.copy()
    weights[number] = np.nan
    pace = start, start, np.full(7, 0.1), 60
    goal, still, work = (weights, target, 1e-6, 1e-6), np.zeros(6), ready.new_work()
    status = step_towards(ready.fields, goal, pace, still, q, work)[0]
    assert status != DESCENT_REACHED
    assert np.abs(q - start).max() < 0.06  # a kick off a singularity, not the whole step
    if number in (1, 2, 4):
        assert q.tolist() == Q


def test_a_descent_that_is_no_number_moves_no_joint():
    ready, q = prepared(PANDA), np.zeros(7)
    weights, target = ready.weights.copy(), PANDA.forward(np.array(Q) + 0.2).matrix.copy()
    weights[4] = np.nan
    ready.search(weights, target, np.array(Q), q, (1e-6, 1e-6), 3)
    assert q.tolist() == Q


def test_a_step_to_a_point_or_of_ranked_tasks_that_is_no_number_moves_no_joint():
    ready, q, moved = prepared(PANDA), np.array(Q), np.zeros(7)
    work = ready.new_work()
    work[:, STEP] = np.nan
    from_python(apply_step)(ready.variables, q, work, 0.1)
    assert q.tolist() == Q
    from_python(_move)(ready.variables, q, np.full(7, np.nan), moved)
    assert moved.tolist() == Q

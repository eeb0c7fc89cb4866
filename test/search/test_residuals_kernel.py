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

"""What is left of tasks, and its derivatives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from from_python import from_python

from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import _pack_exact
from basis_ik.search.residuals_kernel import (
    FIRST_ROW,
    KIND,
    LOOK,
    POSE,
    POSITION_GOAL,
    ROTATION_GOAL,
    TaskArrays,
    arrived,
    evaluate,
)
from basis_ik.search.residuals_kernel import WEIGHTS as WEIGHT
from basis_ik.search.tables_kernel import COLUMNS, SCALE

arrived, evaluate = map(from_python, (arrived, evaluate))

URDF = Path(__file__).parents[2] / "urdf"
WEIGHTS = [
    [1, 2, 3, 0.5, 0.6, 0.7, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 0.5, 0.6, 0, 0, 0.1, 0, 0, 0, 0],
    [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [2, 1, 1, 0, 0, 0, 0.3, 0, np.inf, 0, 0, 0],
    [1, 1, 1, 0.5, 0.6, 0.7, 0, 0, 0, 0.2, 0, np.inf],
    [1, 1, 1, 0.5, 0.6, 0, 0, 0, 0, 0.2, 0.1, 0],
]


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "panda.urdf").read_text()).chain()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_jacobian_is_the_derivative_also_far_from_the_goal(chain, weights):
    exact, n = _pack_exact(chain.arrays), 7
    limbs, starts = np.concatenate((exact, exact)), np.array([0, 8, 16])
    tasks = np.zeros((2, 16))
    tasks[0, KIND], tasks[1, KIND], tasks[1, FIRST_ROW], tasks[1, WEIGHT] = POSE, LOOK, 6, 0.3
    tasks[0, WEIGHT:POSITION_GOAL] = weights
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = rng.uniform(chain.lower, chain.upper, (3, n))
        goals = np.array([chain.forward(q).matrix for q in drawn[:2]])
        scales, posture, pull = rng.uniform(0.5, 2, n), rng.normal(size=n), rng.uniform(0, 1, n)

        variables = np.zeros((n, COLUMNS))
        variables[:, SCALE] = scales

        def left(q, goals=goals, variables=variables, posture=posture, pull=pull):
            error, jacobian = np.empty(9 + n), np.empty((9 + n, n))
            problem = TaskArrays(limbs, starts, tasks, goals, variables, posture, pull)
            evaluate(problem, q, np.empty((9, 6)), np.empty((n, 6)), error, jacobian)
            return error, jacobian

        h = 1e-6 * np.eye(n)
        slopes = [(left(drawn[2] - d)[0] - left(drawn[2] + d)[0]) / 2e-6 for d in h]
        jacobian = left(drawn[2])[1]
        # Where a rotation nears half a turn its error turns about quickly.
        assert np.allclose(
            jacobian, np.array(slopes).T * scales, atol=1e-5 * np.abs(jacobian).max()
        )


def test_tasks_have_arrived_when_position_and_rotation_have():
    tasks = np.zeros((2, 16))
    tasks[1, :2] = LOOK, 6
    tasks[:, POSITION_GOAL], tasks[0, ROTATION_GOAL] = 1e-4, 1e-2
    error = np.zeros(9)
    assert arrived(tasks, error, 0, 9)
    error[1] = 0.02
    assert not arrived(tasks, error, 0, 6)
    assert arrived(tasks, error, 6, 9)
    error[1], error[4] = 0.0, 0.2
    assert not arrived(tasks, error, 0, 9)
    error[4], error[7] = 0.05, 0.02
    assert not arrived(tasks, error, 0, 9)
    assert arrived(tasks, error, 0, 6)
    error[0] = np.nan
    assert not arrived(tasks, error, 0, 6)

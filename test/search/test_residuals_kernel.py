# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is left of tasks, and its derivatives."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from from_python import from_python

from basis_ik.descent.tables_kernel import COLUMNS, SCALE, WRX, WX
from basis_ik.robot.robot import RobotModel
from basis_ik.search import residuals_kernel
from basis_ik.search.distance_residual_kernel import DISTANCE_RESIDUAL, TO_KEEP
from basis_ik.search.limb_kernel import Residual
from basis_ik.search.look_residual_kernel import LOOK_RESIDUAL, look_miss
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.prepare import _pack_exact
from basis_ik.search.residuals_kernel import (
    FIRST_ROW,
    POSITION_GOAL,
    POSITION_ROWS,
    ROTATION_GOAL,
    ROTATION_ROWS,
    TASK_COLUMNS,
    TASK_KIND,
    TaskArrays,
    arrived,
    evaluate,
)
from basis_ik.search.residuals_kernel import TASK_WEIGHTS as WEIGHT

arrived, evaluate = map(from_python, (arrived, evaluate))

URDF = Path(__file__).parents[2] / "urdf"
SEARCH = Path(residuals_kernel.__file__).parent
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


def pack(*residuals):
    """Return the table of tasks that have these residuals, and how many rows these have."""
    tasks, row = np.zeros((len(residuals), TASK_COLUMNS)), 0
    for task, (number, shifts, turns, _) in zip(tasks, residuals, strict=True):
        task[TASK_KIND], task[FIRST_ROW] = number, row
        task[POSITION_ROWS], task[ROTATION_ROWS] = shifts, turns
        row += shifts + turns
    return tasks, row


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_jacobian_is_the_derivative_also_far_from_the_goal(chain, weights):
    exact, n = _pack_exact(chain.arrays), 7
    limbs, starts = np.concatenate((exact, exact, exact)), np.array([0, 8, 16, 24])
    tasks, rows = pack(POSE_RESIDUAL, LOOK_RESIDUAL, DISTANCE_RESIDUAL)
    tasks[0, WEIGHT:], tasks[1, WEIGHT + WRX] = weights, 0.3
    tasks[2, WEIGHT + WX], tasks[2, WEIGHT + TO_KEEP] = 0.7, 0.4
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = rng.uniform(chain.lower, chain.upper, (3, n))
        goals = np.array([chain.forward(q).matrix for q in drawn[[0, 1, 1]]])
        scales, posture, pull = rng.uniform(0.5, 2, n), rng.normal(size=n), rng.uniform(0, 1, n)

        variables = np.zeros((n, COLUMNS))
        variables[:, SCALE] = scales

        def left(q, goals=goals, variables=variables, posture=posture, pull=pull):
            error, jacobian = np.empty(rows + n), np.empty((rows + n, n))
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
    tasks, rows = pack(POSE_RESIDUAL, LOOK_RESIDUAL)
    tasks[0, POSITION_GOAL], tasks[0, ROTATION_GOAL], tasks[1, ROTATION_GOAL] = 1e-4, 1e-2, 1e-4
    error = np.zeros(rows)
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


def kinds():
    """Return all kinds of residuals, each with the file that has it."""
    for path in sorted(SEARCH.glob("*_residual_kernel.py")):
        module = import_module(f"basis_ik.search.{path.stem}")
        for name, value in vars(module).items():
            if isinstance(value, Residual):
                yield pytest.param(value, module, id=name)


def test_each_kind_has_a_number_of_its_own():
    numbers = [each.values[0].number for each in kinds()]
    assert sorted(numbers) == list(range(len(numbers)))
    assert len(numbers) >= 3


@pytest.mark.parametrize(("kind", "module"), kinds())
def test_each_kind_is_in_the_list(kind, module, chain):
    tasks, rows = pack(kind)
    tasks[0, WEIGHT : WEIGHT + 6] = 1.0
    variables = np.ones((7, COLUMNS))
    exact, goals = _pack_exact(chain.arrays), np.eye(4)[np.newaxis].copy()
    problem = TaskArrays(exact, np.array([0, 8]), tasks, goals, variables, np.zeros(7), np.zeros(7))
    error, jacobian = np.full(rows + 7, np.nan), np.full((rows + 7, 7), np.nan)
    evaluate(
        problem,
        0.5 * (chain.lower + chain.upper),
        np.empty((8, 6)),
        np.empty((7, 6)),
        error,
        jacobian,
    )
    assert np.isfinite(error).all()
    assert np.isfinite(jacobian).all()


@pytest.mark.parametrize(("kind", "module"), kinds())
def test_the_proof_of_each_kind_calls_no_kernel_of_its_search(kind, module):
    miss = getattr(kind.miss, "py_func", kind.miss)
    if miss.__module__ == module.__name__:
        called = {name for name in miss.__code__.co_names if name in vars(module)}
        assert not {name for name in called if hasattr(getattr(module, name), "py_func")}
        assert not {name for name in called if name.endswith("_rows")}
    else:
        assert miss.__module__ == "basis_ik.descent.proof_kernel"


def test_where_the_tip_is_at_the_centre_its_distance_can_still_grow(chain):
    q = 0.5 * (chain.lower + chain.upper)
    tasks, rows = pack(DISTANCE_RESIDUAL)
    tasks[0, WEIGHT + WX], tasks[0, WEIGHT + TO_KEEP] = 1.0, 0.4
    variables = np.zeros((7, COLUMNS))
    variables[:, SCALE] = 1.0
    exact, goals = _pack_exact(chain.arrays), chain.forward(q).matrix[np.newaxis].copy()
    problem = TaskArrays(exact, np.array([0, 8]), tasks, goals, variables, np.zeros(7), np.zeros(7))
    error, jacobian = np.empty(rows + 7), np.empty((rows + 7, 7))
    evaluate(problem, q, np.empty((8, 6)), np.empty((7, 6)), error, jacobian)
    assert error[0] == pytest.approx(0.4)
    assert np.abs(jacobian[0]).max() > 0.1


def test_a_ray_is_off_by_half_a_turn_where_the_point_is_its_own_origin():
    goal = np.eye(4)
    assert look_miss(np.eye(3, 4), goal, np.zeros(12)) == (0.0, np.pi)
    goal[2, 3] = 2e-9
    assert look_miss(np.eye(3, 4), goal, np.zeros(12)) == (0.0, 0.0)

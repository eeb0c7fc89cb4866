# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residuals of several tasks on one robot, and their derivatives by its joint variables.

A task acts on a limb, the row of joints from the root to its tip. Limbs of one robot share
variables, such as those of a torso or of a joint that others mimic. Each limb is walked by itself,
and their columns meet in one Jacobian. All derivatives are exact, also far from the goal, so a best
effort is a true minimum of the residual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.descent.tables_kernel import SCALE
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.search.distance_residual_kernel import DISTANCE_KIND, distance_rows
from basis_ik.search.limb_kernel import fill_twists, place_limb
from basis_ik.search.look_residual_kernel import LOOK_KIND, look_rows
from basis_ik.search.pose_residual_kernel import POSE_KIND, pose_rows

IntArray = NDArray[np.int64]

TASK_KIND, FIRST_ROW = 0, 1  # columns of a task
POSITION_ROWS, ROTATION_ROWS = 2, 3  # how many rows each has
POSITION_GOAL, ROTATION_GOAL = 4, 5  # squared weighted errors that count as arrived
TASK_WEIGHTS = 6  # and the next eleven
TASK_COLUMNS = 18


@helper
def _fill_rows(
    task: FloatArray, goal: FloatArray, frame: FloatArray, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write the error of one task, and minus its derivative.

    This is the list of the kinds of residuals: numba keeps no call through a table of functions on
    disk, so each has a branch.
    """
    kind, weights = task[TASK_KIND], task[TASK_WEIGHTS:]
    if kind == POSE_KIND:
        pose_rows(weights, goal, frame, twists, error, jacobian)
    elif kind == LOOK_KIND:
        look_rows(weights, goal, frame, twists, error, jacobian)
    elif kind == DISTANCE_KIND:
        distance_rows(weights, goal, frame, twists, error, jacobian)


class TaskArrays(NamedTuple):
    """Tasks on the limbs of a robot with n variables."""

    limbs: FloatArray
    """(M, 16) the limbs of the tasks, one after another, each as `exact` in `tables_kernel`."""
    starts: IntArray
    """(t + 1,) the first row of each limb, and M."""
    tasks: FloatArray
    """(t, 18): kind of residual; its first row; how many rows of position and of rotation it has;
    squared weighted errors of these that count as arrived; weights (12,)."""
    goals: FloatArray
    """(t, 4, 4), what each residual makes of it."""
    variables: FloatArray
    """(n, 8)."""
    posture: FloatArray
    """(n,) preferred values, the last n rows of the residual."""
    pull: FloatArray
    """(n,) their weights."""


@helper
def evaluate(
    problem: TaskArrays, q: FloatArray, axes: FloatArray, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write the residual of all tasks (R,), and minus its derivative by the scaled variables.

    Args:
        problem: The tasks.
        q: (n,) variables.
        axes: (≥ joints of a limb, 6) to work in.
        twists: (n, 6) to work in.
        error: (R,) result.
        jacobian: (R, n) result.
    """
    tasks, starts = problem.tasks, problem.starts
    n, frame = q.shape[0], np.empty((3, 4))
    for t in range(tasks.shape[0]):
        limb, first = problem.limbs[starts[t] : starts[t + 1]], int(tasks[t, FIRST_ROW])
        rows = slice(first, first + int(tasks[t, POSITION_ROWS] + tasks[t, ROTATION_ROWS]))
        place_limb(limb, q, axes, frame)
        fill_twists(limb, axes, frame, twists)
        _fill_rows(tasks[t], problem.goals[t], frame, twists, error[rows], jacobian[rows])
    last = error.shape[0] - n
    for k in range(n):
        error[last + k] = problem.pull[k] * (problem.posture[k] - q[k])
        for c in range(n):
            jacobian[last + c, k] = problem.pull[k] if c == k else 0.0
    for r in range(error.shape[0]):
        for k in range(n):
            jacobian[r, k] *= problem.variables[k, SCALE]


@helper
def _sum_of_squares(error: FloatArray, first: int, rows: int) -> float:
    total = 0.0
    for r in range(first, first + rows):
        total += error[r] * error[r]
    return total


@helper
def arrived(tasks: FloatArray, error: FloatArray, first: int, last: int) -> bool:
    """Return whether all tasks with rows from `first` to before `last` are met."""
    for t in range(tasks.shape[0]):
        row, turns = int(tasks[t, FIRST_ROW]), int(tasks[t, ROTATION_ROWS])
        if first <= row < last:
            shifts = int(tasks[t, POSITION_ROWS])
            if not _sum_of_squares(error, row, shifts) <= tasks[t, POSITION_GOAL]:
                return False
            if not _sum_of_squares(error, row + shifts, turns) <= tasks[t, ROTATION_GOAL]:
                return False
    return True

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

"""Descent through levels of tasks: each as far down as the levels before it allow.

Level after level is brought to its minimum by damped least squares while the residuals of the
levels before stay what they are: the hierarchy of Siciliano and Slotine 1991, with bounds on the
variables as in Escande, Mansard and Wieber 2014. A step follows the equations to first order, is
then brought back onto them, and counts only if they hold again: no lower level can buy anything
from a higher one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.bounded_step_kernel import bounded_step, moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.residuals_kernel import TaskArrays, arrived, evaluate
from basis_ik.search.tables_kernel import (
    LOWER,
    SCALE,
    UPPER,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TRUST = 0.1  # damping at the start, of the squared error
FLOOR = 1e-13
LARGEST_STEP = 0.5  # [rad], or half a reach for a slide
CORRECTIONS = 12  # Newton steps back onto the equations; they converge by squares, or not at all
STILL = 1e-10  # a step below this, or a gain below this of the error, is none
STALLS = 4  # gains as small as that in a row


@helper
def _squared(e: FloatArray) -> float:
    total = 0.0
    for r in range(e.shape[0]):
        total += e[r] * e[r]
    return total


@helper
def _copy(values: FloatArray, to: FloatArray) -> None:
    for k in range(values.shape[0]):
        to[k] = values[k]


@helper
def _largest(step: FloatArray) -> float:
    largest = 0.0
    for k in range(step.shape[0]):
        largest = max(largest, abs(step[k]))
    return largest


@helper
def _subtract(a: FloatArray, b: FloatArray, rows: int, out: FloatArray) -> float:
    """Write the first rows of a − b; return the sum of their squares."""
    total = 0.0
    for r in range(rows):
        out[r] = a[r] - b[r]
        total += out[r] * out[r]
    return total


@helper
def _move(variables: FloatArray, q: FloatArray, step: FloatArray, moved: FloatArray) -> None:
    """Write q + step, shortened where it is too long, and kept inside the limits."""
    largest = _largest(step)
    factor = 1.0 if largest <= LARGEST_STEP else LARGEST_STEP / largest
    for k in range(q.shape[0]):
        value = q[k] + factor * variables[k, SCALE] * step[k]
        moved[k] = moved_inside(q[k], value, variables[k, LOWER], variables[k, UPPER])


@helper
def _gaps(variables: FloatArray, q: FloatArray, low: FloatArray, high: FloatArray) -> None:
    for k in range(q.shape[0]):
        low[k] = min(0.0, (variables[k, LOWER] - q[k]) / variables[k, SCALE])
        high[k] = max(0.0, (variables[k, UPPER] - q[k]) / variables[k, SCALE])


@jit
def descend_levels(
    problem: TaskArrays, levels: IntArray, slack: float, iterations: int, q: FloatArray,
    error: FloatArray,
) -> int:  # fmt: skip
    """Walk q (n,) downhill, level by level, inside the limits.

    Args:
        problem: The tasks.
        levels: (l + 1,) the first row of each level in `error`, ascending, and the end of the last;
            rows after that do not count.
        slack: Squared error by which the levels before may change altogether.
        iterations: Steps allowed for each level.
        q: (n,) start inside the limits, and result.
        error: (R,) what is left of each row at the result.

    Returns:
        Steps taken.
    """
    variables, tasks = problem.variables, problem.tasks
    n, size = q.shape[0], error.shape[0]
    axes, twists = np.empty((problem.limbs.shape[0], 6)), np.empty((n, 6))
    jacobian, trial = np.empty((size, n)), np.empty((size, n))
    trial_error, kept, due = np.empty(size), np.empty(size), np.empty(size)
    low, high, step, moved = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    none = np.empty((0, n))
    evaluate(problem, q, axes, twists, error, jacobian)
    taken = 0
    for level in range(levels.shape[0] - 1):
        a, c = levels[level], levels[level + 1]
        cost, trust, stalls = _squared(error[a:c]), TRUST, 0
        hard = c <= size - n
        for _ in range(iterations):
            if cost == 0.0 or (hard and arrived(tasks, error, a, c)):
                break
            taken += 1
            _gaps(variables, q, low, high)
            _subtract(error, kept, a, due)
            bounded_step(
                jacobian[:a], due[:a], jacobian[a:c], error[a:c], trust * cost + FLOOR,
                low, high, step,
            )  # fmt: skip
            if _largest(step) < STILL:
                break
            _move(variables, q, step, moved)
            off = np.inf
            for _ in range(CORRECTIONS):
                evaluate(problem, moved, axes, twists, trial_error, trial)
                before, off = off, _subtract(trial_error, kept, a, due)
                if off <= slack or off > 0.5 * before:
                    break
                _gaps(variables, moved, low, high)
                bounded_step(trial[:a], due[:a], none, due[:0], 1.0, low, high, step)
                _move(variables, moved, step, moved)
            new = _squared(trial_error[a:c])
            if off <= slack and new < cost:
                stalls = stalls + 1 if cost - new <= STILL * cost else 0
                cost, trust = new, max(trust / 3.0, 1e-7)
                jacobian, trial = trial, jacobian
                _copy(moved, q)
                _copy(trial_error, error)
                if stalls >= STALLS:
                    break
            else:
                trust *= 6.0
                if trust * cost > 1e6:
                    break
        for r in range(a, c):
            kept[r] = error[r]
    return taken

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Descent through levels of tasks, each as far down as the levels before it allow.

One level after the other is brought to its minimum by damped least squares, while the residuals of
the levels before it stay the same. This is the hierarchy of Siciliano and Slotine 1991, with bounds
on the variables as in Escande, Mansard and Wieber 2014. A step follows the equations of the levels
before to first order and is then brought back onto them. It counts only if they hold again, so a
lower level never worsens a higher one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.descent.tables_kernel import (
    LOWER,
    SCALE,
    UPPER,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import Rows, bounded_step, moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.residuals_kernel import TaskArrays, arrived, evaluate

IntArray = NDArray[np.int64]

FIRST_LEVEL_DAMPING = 0.1  # damping at the start, of the squared error
LEVEL_FLOOR = 1e-13
LARGEST_LEVEL_STEP = 0.5  # [rad], or half a reach for a slide
# Newton steps back onto the equations; they converge by squares, or not at all
LEVEL_CORRECTIONS = 12
LEAST_LEVEL_GAIN = 1e-10  # a step below this, or a gain below this of the error, is none
STALLED_LEVEL_STEPS = 4  # gains as small as that in a row


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
    factor = 1.0 if largest <= LARGEST_LEVEL_STEP else LARGEST_LEVEL_STEP / largest
    for k in range(q.shape[0]):
        value = q[k] + factor * variables[k, SCALE] * step[k]
        moved[k] = moved_inside(q[k], value, variables[k, LOWER], variables[k, UPPER])


@helper
def _gaps(variables: FloatArray, q: FloatArray, low: FloatArray, high: FloatArray) -> None:
    for k in range(q.shape[0]):
        low[k] = min(0.0, (variables[k, LOWER] - q[k]) / variables[k, SCALE])
        high[k] = max(0.0, (variables[k, UPPER] - q[k]) / variables[k, SCALE])


class Place(NamedTuple):
    """Positions, the residual there, and its derivative."""

    q: FloatArray
    """(n,)."""
    error: FloatArray
    """(R,)."""
    jacobian: FloatArray
    """(R, n) minus the derivative of the error, by the scaled variables."""


class Memory(NamedTuple):
    """The work arrays of a descent."""

    axes: FloatArray
    """(≥ joints of a limb, 6)."""
    twists: FloatArray
    """(n, 6)."""
    kept: FloatArray
    """(R,) the errors at which the levels before are held."""
    due: FloatArray
    """(R,) by how much they are off these."""
    low: FloatArray
    """(n,)."""
    high: FloatArray
    """(n,)."""
    step: FloatArray
    """(n,)."""


@helper
def _evaluate(problem: TaskArrays, place: Place, memory: Memory) -> None:
    """Write the residual of a place and its derivative."""
    evaluate(problem, place.q, memory.axes, memory.twists, place.error, place.jacobian)


@helper
def _go_back(
    problem: TaskArrays, first: int, slack: float, there: Place, memory: Memory
) -> float:  # fmt: skip
    """Bring a place back onto the equations of the rows before `first`, by Newton's steps.

    Returns:
        By how much they are off, squared.
    """
    variables, off, nothing = problem.variables, np.inf, np.empty((0, there.q.shape[0]))
    for _ in range(LEVEL_CORRECTIONS):
        _evaluate(problem, there, memory)
        before, off = off, _subtract(there.error, memory.kept, first, memory.due)
        if off <= slack or off > 0.5 * before:
            break
        _gaps(variables, there.q, memory.low, memory.high)
        equations = Rows(there.jacobian[:first], memory.due[:first])
        none = Rows(nothing, memory.due[:0])
        bounded_step(equations, none, 1.0, memory.low, memory.high, memory.step)
        _move(variables, there.q, memory.step, there.q)
    return off


@helper
def _accept(there: Place, here: Place) -> None:
    """Copy a place."""
    _copy(there.q, here.q)
    _copy(there.error, here.error)
    for r in range(here.error.shape[0]):
        _copy(there.jacobian[r], here.jacobian[r])


@helper
def _descend_level(
    problem: TaskArrays, rows: tuple[int, int], slack: float, iterations: int, here: Place,
    there: Place, memory: Memory,
) -> int:  # fmt: skip
    """Minimise the rows of one level, while those of the levels before stay the same.

    Args:
        problem: The tasks.
        rows: The first row of the level, and the one behind its last.
        slack: Squared error by which the levels before may change altogether.
        iterations: Steps allowed.
        here: Start, and result.
        there: To work in.
        memory: To work in.

    Returns:
        Steps taken.
    """
    (a, c), variables, taken = rows, problem.variables, 0
    cost, trust, stalls = _squared(here.error[a:c]), FIRST_LEVEL_DAMPING, 0
    hard = c <= here.error.shape[0] - here.q.shape[0]
    for _ in range(iterations):
        if cost == 0.0 or (hard and arrived(problem.tasks, here.error, a, c)):
            break
        taken += 1
        _gaps(variables, here.q, memory.low, memory.high)
        _subtract(here.error, memory.kept, a, memory.due)
        equations = Rows(here.jacobian[:a], memory.due[:a])
        wanted = Rows(here.jacobian[a:c], here.error[a:c])
        damping = trust * cost + LEVEL_FLOOR
        bounded_step(equations, wanted, damping, memory.low, memory.high, memory.step)
        if _largest(memory.step) < LEAST_LEVEL_GAIN:
            break
        _move(variables, here.q, memory.step, there.q)
        off = _go_back(problem, a, slack, there, memory)
        new = _squared(there.error[a:c])
        if off <= slack and new < cost:
            stalls = stalls + 1 if cost - new <= LEAST_LEVEL_GAIN * cost else 0
            cost, trust = new, max(trust / 3.0, 1e-7)
            _accept(there, here)
            if stalls >= STALLED_LEVEL_STEPS:
                break
        else:
            trust *= 6.0
            if trust * cost > 1e6:
                break
    return taken


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
    n, size = q.shape[0], error.shape[0]
    memory = Memory(
        np.empty((problem.limbs.shape[0], 6)), np.empty((n, 6)), np.empty(size), np.empty(size),
        np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip
    here = Place(q, error, np.empty((size, n)))
    there = Place(np.empty(n), np.empty(size), np.empty((size, n)))
    _evaluate(problem, here, memory)
    taken = 0
    for level in range(levels.shape[0] - 1):
        rows = (levels[level], levels[level + 1])
        taken += _descend_level(problem, rows, slack, iterations, here, there, memory)
        for r in range(rows[0], rows[1]):
            memory.kept[r] = error[r]
    return taken

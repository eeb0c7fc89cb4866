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

"""One step of variables between bounds: some equations hold, others are met as well as may be.

    minimise ‖C s − e‖² + damping ‖s‖²  subject to  A s = b,  low ≤ s ≤ high

By a primal active set (Nocedal and Wright 2006, section 16.5): a variable that would leave its
bounds is held there, and one that its bound keeps from a better step is let go again.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RANK = 1e-7  # a row whose new part is shorter than this, of the longest, says nothing new
PULL = 1e-9  # a multiplier below this, of the largest, is rounding
MOST_FREED = 3  # times that one variable is let go: a bound for degenerate cases


@helper
def moved_inside(here: float, there: float, lower: float, upper: float) -> float:
    """Return where a variable gets that is to move from here to there; a NaN moves nothing.

    The minimum and maximum alone would make a NaN the lower bound: a command like any other.
    """
    return min(upper, max(lower, there)) if there == there else here


@helper
def _span_equations(
    rows: FloatArray, b: FloatArray, step: FloatArray, held: IntArray,
    basis: FloatArray, lower: FloatArray, pivots: IntArray, rest: FloatArray, left: FloatArray,
) -> int:  # fmt: skip
    """Find an orthonormal basis of the rows (a, n) over what is not held, and the shortest step.

    Gram and Schmidt, modified, with the longest row first, so that rows that say nothing new are
    told apart. Adds the step to `step`, whose held entries are given.

    Returns:
        The rank r. `basis` (r, n) and `lower` (a, r): rows[pivots] = lower[pivots] @ basis.
    """
    a, n = rows.shape
    longest = 0.0
    for i in range(a):
        left[i], length = b[i], 0.0
        for k in range(n):
            rest[i, k] = rows[i, k] if held[k] == 0 else 0.0
            if held[k] != 0:
                left[i] -= rows[i, k] * step[k]
            length += rest[i, k] * rest[i, k]
        longest = max(longest, length)
        pivots[i] = i
    rank = 0
    while rank < a and rank < n:
        best, norm = rank, -1.0
        for i in range(rank, a):
            length = 0.0
            for k in range(n):
                length += rest[pivots[i], k] * rest[pivots[i], k]
            if length > norm:
                best, norm = i, length
        if not norm > RANK * RANK * longest:
            break
        pivots[rank], pivots[best] = pivots[best], pivots[rank]
        p, norm = pivots[rank], sqrt(norm)
        lower[p, rank] = norm
        for k in range(n):
            basis[rank, k] = rest[p, k] / norm
        amount = left[p] / norm
        for k in range(n):
            step[k] += amount * basis[rank, k]
        for i in range(rank + 1, a):
            p, dot = pivots[i], 0.0
            for k in range(n):
                dot += rest[p, k] * basis[rank, k]
            for k in range(n):
                rest[p, k] -= dot * basis[rank, k]
            left[p] -= dot * amount
            lower[p, rank] = dot
        rank += 1
    return rank


@helper
def _solve_in_place(gram: FloatArray, x: FloatArray) -> None:
    """Solve gram x = x for a symmetric positive definite matrix, by Cholesky's factors."""
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = gram[i, j]
            for k in range(j):
                total -= gram[i, k] * gram[j, k]
            gram[i, j] = sqrt(max(total, 1e-300)) if i == j else total / gram[j, j]
    for i in range(n):
        for k in range(i):
            x[i] -= gram[i, k] * x[k]
        x[i] /= gram[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= gram[k, i] * x[k]
        x[i] /= gram[i, i]


@helper
def _approach(
    rows: FloatArray, e: FloatArray, damping: float, step: FloatArray, held: IntArray,
    basis: FloatArray, rank: int, across: FloatArray, gram: FloatArray, z: FloatArray,
) -> None:  # fmt: skip
    """Add to a step what brings the rows (c, n) to e (c,) without leaving the equations.

    `z` (c,) gets what is left of e, divided by the damping.
    """
    c, n = rows.shape
    for i in range(c):
        z[i] = e[i]
        for k in range(n):
            z[i] -= rows[i, k] * step[k]
            across[i, k] = rows[i, k] if held[k] == 0 else 0.0
        for r in range(rank):
            dot = 0.0
            for k in range(n):
                dot += across[i, k] * basis[r, k]
            for k in range(n):
                across[i, k] -= dot * basis[r, k]
    for i in range(c):
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for k in range(n):
                total += across[i, k] * across[j, k]
            gram[i, j] = total
    _solve_in_place(gram[:c, :c], z[:c])
    for i in range(c):
        for k in range(n):
            step[k] += z[i] * across[i, k]


@helper
def _most_hindered(
    equations: FloatArray, rows: FloatArray, z: FloatArray, step: FloatArray, held: IntArray,
    freed: IntArray, basis: FloatArray, lower: FloatArray, pivots: IntArray, rank: int,
    multipliers: FloatArray,
) -> int:  # fmt: skip
    """Return the held variable that would better the step most if it were let go, or -1."""
    n, c = held.shape[0], rows.shape[0]
    pulls, largest = np.empty(n), 0.0
    for k in range(n):
        pulls[k] = 0.0
        for i in range(c):
            pulls[k] += rows[i, k] * z[i]
        largest = max(largest, abs(pulls[k]))
        pulls[k] -= step[k]
    for r in range(rank - 1, -1, -1):  # Lᵀ λ = Q (Cᵀ z − s)
        total = 0.0
        for k in range(n):
            total += basis[r, k] * pulls[k]
        for s in range(r + 1, rank):
            total -= lower[pivots[s], r] * multipliers[s]
        multipliers[r] = total / lower[pivots[r], r]
    most, found = PULL * largest, -1
    for k in range(n):
        if held[k] != 0 and freed[k] < MOST_FREED:
            pull = pulls[k]
            for r in range(rank):
                pull -= multipliers[r] * equations[pivots[r], k]
            inward = -held[k] * pull
            if inward > most:
                most, found = inward, k
    return found


@helper
def _shortest(
    equations: FloatArray, b: FloatArray, low: FloatArray, high: FloatArray, held: IntArray,
    basis: FloatArray, lower: FloatArray, pivots: IntArray, rest: FloatArray, left: FloatArray,
    step: FloatArray,
) -> None:  # fmt: skip
    """Write a short step between the bounds for which the equations hold, as far as found."""
    for _ in range(step.shape[0] + 1):
        for k in range(step.shape[0]):
            step[k] = 0.0
            if held[k] != 0:
                step[k] = low[k] if held[k] < 0 else high[k]
        _span_equations(equations, b, step, held, basis, lower, pivots, rest, left)
        leaving = False
        for k in range(step.shape[0]):
            if held[k] == 0 and (step[k] < low[k] or step[k] > high[k]):
                held[k] = -1 if step[k] < low[k] else 1
                leaving = True
        if not leaving:
            break
    for k in range(step.shape[0]):
        step[k] = moved_inside(0.0, step[k], low[k], high[k])
        held[k] = 0


@helper
def _advance(
    low: FloatArray, high: FloatArray, wish: FloatArray, held: IntArray, step: FloatArray
) -> bool:
    """Go from a step towards the one wished for, up to the first bound, and hold that variable.

    One at a time: two that stop together may say the same, given the equations.

    Returns:
        Whether a bound was in the way.
    """
    share, beyond, first = 1.0, 0.0, -1
    for k in range(step.shape[0]):
        if held[k] == 0 and (wish[k] < low[k] or wish[k] > high[k]):
            bound = low[k] if wish[k] < low[k] else high[k]
            until = max(0.0, (bound - step[k]) / (wish[k] - step[k]))
            over = abs(wish[k] - bound)
            if first < 0 or until < share or (until == share and over > beyond):
                share, beyond, first = until, over, k
    for k in range(step.shape[0]):
        if held[k] == 0:
            step[k] += share * (wish[k] - step[k])
    if first < 0:
        return False
    held[first] = -1 if wish[first] < low[first] else 1
    step[first] = low[first] if held[first] < 0 else high[first]
    return True


@helper
def bounded_step(
    equations: FloatArray, b: FloatArray, rows: FloatArray, e: FloatArray, damping: float,
    low: FloatArray, high: FloatArray, step: FloatArray,
) -> None:  # fmt: skip
    """Write the best step (n,) between the bounds.

    Where b is 0 it is the minimum. Another b is met by a short step first; if bounds leave that
    impossible, or it is not found, the step is the best of those that miss b by as much.

    Args:
        equations: (a, n) A, maybe without rows; they may depend on one another.
        b: (a,).
        rows: (c, n) C, maybe without rows.
        e: (c,).
        damping: Above 0.
        low: (n,) 0 or less, maybe infinite.
        high: (n,) 0 or more.
        step: (n,) result.
    """
    a, n, c = equations.shape[0], step.shape[0], rows.shape[0]
    basis, lower, rest = np.empty((n, n)), np.empty((a, n)), np.empty((a, n))
    left, pivots, multipliers = np.empty(a), np.empty(a, np.int64), np.empty(n)
    across, gram, z = np.empty((c, n)), np.empty((c, c)), np.empty(c)
    held, freed, wish = np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n)
    _shortest(equations, b, low, high, held, basis, lower, pivots, rest, left, step)
    if c == 0:
        return
    kept = np.zeros(a)
    for i in range(a):
        for k in range(n):
            kept[i] += equations[i, k] * step[k]
    for _ in range((MOST_FREED + 2) * n):
        for k in range(n):
            wish[k] = step[k] if held[k] != 0 else 0.0
        rank = _span_equations(equations, kept, wish, held, basis, lower, pivots, rest, left)
        _approach(rows, e, damping, wish, held, basis, rank, across, gram, z)
        if _advance(low, high, wish, held, step):
            continue
        k = _most_hindered(
            equations, rows, z, step, held, freed, basis, lower, pivots, rank, multipliers
        )
        if k < 0:
            break
        held[k] = 0
        freed[k] += 1
    for k in range(n):
        step[k] = moved_inside(0.0, step[k], low[k], high[k])

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One step of variables between bounds that keeps equations and meets rows as well as possible.

    minimise ‖C s − e‖² + damping ‖s‖²  subject to  A s = b,  low ≤ s ≤ high

The method is a primal active set (Nocedal and Wright 2006, section 16.5). A variable that would
leave its bounds is held there. It is let go again where that makes the step better.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined
from basis_ik.numerics.normal_equations_kernel import solve_symmetric

IntArray = NDArray[np.int64]

RANK_TOLERANCE = 1e-7  # a row whose new part is shorter than this, of the longest, says nothing new
MULTIPLIER_TOLERANCE = 1e-9  # a multiplier below this, of the largest, is rounding
MOST_RELEASES = 3  # times that one variable is let go: a bound for degenerate cases


class Rows(NamedTuple):
    """Linear equations in the step."""

    matrix: FloatArray
    """(r, n), maybe without rows."""
    right: FloatArray
    """(r,) right-hand sides."""


class Span(NamedTuple):
    """The factors of the equations: rows[pivots] = lower[pivots] @ basis, of rank r."""

    basis: FloatArray
    """(n, n), of which r rows are an orthonormal basis."""
    lower: FloatArray
    """(a, n)."""
    pivots: IntArray
    """(a,) the rows, those that say something new first."""
    rest: FloatArray
    """(a, n) what is left of the rows."""
    left: FloatArray
    """(a,) and of their right-hand sides."""


class Gram(NamedTuple):
    """The part of the rows that the equations leave open."""

    across: FloatArray
    """(c, n) the rows without what the equations determine."""
    matrix: FloatArray
    """(c, c) their Gram matrix, damped."""
    z: FloatArray
    """(c,) what is left of the right-hand sides, divided by the damping."""


class Active(NamedTuple):
    """The active set."""

    held: IntArray
    """(n,) -1 where a variable is held at its lower bound, 1 at its upper, else 0."""
    freed: IntArray
    """(n,) how often each has been let go."""


@helper
def moved_inside(here: float, there: float, lower: float, upper: float) -> float:
    """Return `there` brought between the bounds, or `here` if it is NaN.

    Minimum and maximum alone would turn a NaN into the lower bound, a command like any other.
    """
    return min(upper, max(lower, there)) if there == there else here


@inlined
def leaves(value: float, lower: float, upper: float, push: float, least: float) -> bool:
    """Return whether a variable stands at a bound and is pushed out of it by more than `least`."""
    return bool((value <= lower and push < -least) or (value >= upper and push > least))


@helper
def _leave_out_held(equations: Rows, step: FloatArray, held: IntArray, span: Span) -> float:
    """Write the equations without the variables that are held.

    Returns:
        The square of the longest row of it.
    """
    rows, b = equations
    rest, left, longest = span.rest, span.left, 0.0
    for i in range(rows.shape[0]):
        left[i], length = b[i], 0.0
        for k in range(rows.shape[1]):
            rest[i, k] = rows[i, k] if held[k] == 0 else 0.0
            if held[k] != 0:
                left[i] -= rows[i, k] * step[k]
            length += rest[i, k] * rest[i, k]
        longest = max(longest, length)
        span.pivots[i] = i
    return longest


@helper
def _span_equations(equations: Rows, step: FloatArray, held: IntArray, span: Span) -> int:
    """Find an orthonormal basis of the rows (a, n) over what is not held, and the shortest step.

    Gram and Schmidt, modified, with the longest row first, so that rows that say nothing new are
    told apart. Adds the step to `step`, whose held entries are given.

    Returns:
        The rank r.
    """
    basis, lower, pivots, rest, left = span
    a, n = equations.matrix.shape
    longest, rank = _leave_out_held(equations, step, held, span), 0
    while rank < a and rank < n:
        best, norm = rank, -1.0
        for i in range(rank, a):
            length = 0.0
            for k in range(n):
                length += rest[pivots[i], k] * rest[pivots[i], k]
            if length > norm:
                best, norm = i, length
        if not norm > RANK_TOLERANCE * RANK_TOLERANCE * longest:
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
def _approach(
    wanted: Rows, damping: float, step: FloatArray, held: IntArray, basis: FloatArray, rank: int,
    gram: Gram,
) -> None:  # fmt: skip
    """Move a step so that it meets the rows as well as possible and keeps the equations.

    Args:
        wanted: The rows.
        damping: See `bounded_step`.
        step: (n,), and result.
        held: See `Active`.
        basis: See `Span`.
        rank: Its number of rows.
        gram: Result.
    """
    (rows, e), (across, matrix, z) = wanted, gram
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
            matrix[i, j] = total
    solve_symmetric(matrix[:c, :c], z[:c])
    for i in range(c):
        for k in range(n):
            step[k] += z[i] * across[i, k]


@helper
def _most_hindered(
    equations: FloatArray, rows: FloatArray, z: FloatArray, step: FloatArray, active: Active,
    span: Span, rank: int,
) -> int:  # fmt: skip
    """Return the held variable that would improve the step most if it were let go, or -1."""
    (held, freed), (basis, lower, pivots, _, _) = active, span
    n, c = held.shape[0], rows.shape[0]
    pulls, multipliers, largest = np.empty(n), np.empty(n), 0.0
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
    most, found = MULTIPLIER_TOLERANCE * largest, -1
    for k in range(n):
        if held[k] != 0 and freed[k] < MOST_RELEASES:
            pull = pulls[k]
            for r in range(rank):
                pull -= multipliers[r] * equations[pivots[r], k]
            inward = -held[k] * pull
            if inward > most:
                most, found = inward, k
    return found


@helper
def _shortest(
    equations: Rows, low: FloatArray, high: FloatArray, held: IntArray, span: Span, step: FloatArray
) -> None:
    """Write a short step between the bounds for which the equations hold, as far as found."""
    for _ in range(step.shape[0] + 1):
        for k in range(step.shape[0]):
            step[k] = 0.0
            if held[k] != 0:
                step[k] = low[k] if held[k] < 0 else high[k]
        _span_equations(equations, step, held, span)
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
    """Go from a step towards a better one up to the first bound, and hold that variable.

    Only one variable at a time is held: with the equations, two bounds may depend on each other.

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
    equations: Rows, wanted: Rows, damping: float, low: FloatArray, high: FloatArray,
    step: FloatArray,
) -> None:  # fmt: skip
    """Write the best step (n,) between the bounds.

    For b = 0 it is the minimum. Another b is met by a short step first. If the bounds make that
    impossible, or no such step is found, the result is the best step that misses b by as much.

    Args:
        equations: A (a, n) and b (a,); they may depend on one another.
        wanted: C (c, n) and e (c,).
        damping: Above 0.
        low: (n,) 0 or less, maybe infinite.
        high: (n,) 0 or more.
        step: (n,) result.
    """
    a, n, c = equations.matrix.shape[0], step.shape[0], wanted.matrix.shape[0]
    pivots, left = np.empty(a, np.int64), np.empty(a)
    span = Span(np.empty((n, n)), np.empty((a, n)), pivots, np.empty((a, n)), left)
    gram = Gram(np.empty((c, n)), np.empty((c, c)), np.empty(c))
    held, freed, wish = np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n)
    _shortest(equations, low, high, held, span, step)
    if c == 0:
        return
    kept = np.zeros(a)
    for i in range(a):
        for k in range(n):
            kept[i] += equations.matrix[i, k] * step[k]
    still = Rows(equations.matrix, kept)
    for _ in range((MOST_RELEASES + 2) * n):
        for k in range(n):
            wish[k] = step[k] if held[k] != 0 else 0.0
        rank = _span_equations(still, wish, held, span)
        _approach(wanted, damping, wish, held, span.basis, rank, gram)
        if _advance(low, high, wish, held, step):
            continue
        active = Active(held, freed)
        k = _most_hindered(equations.matrix, wanted.matrix, gram.z, step, active, span, rank)
        if k < 0:
            break
        held[k] = 0
        freed[k] += 1
    for k in range(n):
        step[k] = moved_inside(0.0, step[k], low[k], high[k])

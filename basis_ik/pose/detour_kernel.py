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

"""The way out of a dead end: round to another posture, with the tip as near as it can stay.

An arm with joints to spare may have come to a target in a posture from which a limit keeps it,
while it reaches the target in another one. Here that other posture is looked for, and one step is
made towards it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper
from basis_ik.numerics.normal_equations_kernel import diagonal_6, solve_symmetric_6, with_column_6
from basis_ik.pose.null_space_kernel import (
    FADING,
    Pace,
    approach,
    bound_step,
    fill_scaled_columns,
    product,
    project,
)
from basis_ik.search.descent_kernel import REACHED, column_inside, fill_jacobian, place
from basis_ik.search.pose_error_kernel import has_deadband, pose_residual
from basis_ik.search.pose_search_kernel import (
    LIMITS,
    go_back_to_best,
    keep_best,
    set_bounds,
    take_shortest_turns,
    write_start,
)
from basis_ik.search.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    CENTRING,
    JRX,
    JRY,
    JRZ,
    JX,
    JY,
    JZ,
    LOWER,
    SCALE,
    START,
    STEP,
    UPPER,
    PackedChain,
    Six,
)

STARTS = 12  # of a search, besides those with one joint put aside
STEPS = 20  # of each descent
LONGEST = 40  # of that from where the arm is: a dead end is what it cannot leave
ASIDE = 1.5  # [rad], or reaches for a slide: how far that joint is put aside
SLIDES = 8  # steps of self-motion that bring another posture nearer
LONGEST_SLIDE = 0.3  # [rad], or reaches, of each
SHORTEST_SLIDE = 0.01  # [rad], or reaches: what is nearer by less is not worth a step
POINTS = 5  # of the straight line to a posture, where the tip is looked at
TIP_COUNTS = 20.0  # [rad] of way that a weighted tip error of 1, one reach or 3.3 rad, outweighs
LARGEST_ERROR = 0.5  # weighted, of the tip on the line; a detour with more is not made
CORRECTIONS = 2  # steps that bring the tip nearer
SOFT = 0.02  # their damping


@helper
def tip_error(chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray) -> Six:
    """Return the weighted error of the tip; leave in `work` what its Jacobian needs."""
    n, boxed = q.shape[0], has_deadband(weights)
    frame = place(chain.joints, chain.ends[1], q, work, n)
    residual = pose_residual(weights, boxed, work, n + chain.joints.shape[0] + 1, frame)
    fill_jacobian(chain.joints, weights, boxed, work, n, frame)
    return residual


@helper
def slide_nearer(
    chain: PackedChain, weights: FloatArray, q: FloatArray, here: FloatArray, work: FloatArray,
    arrival: tuple[float, float],
) -> None:  # fmt: skip
    """Move q by self-motion to near another posture, as long as the target stays reached."""
    n, variables = q.shape[0], chain.variables
    for _ in range(SLIDES):
        keep_best(q, work)
        fill_scaled_columns(chain, weights, q, work)
        for k in range(n):
            work[k, CENTRING] = (here[k] - q[k]) / variables[k, SCALE]
        largest = project(q, work)
        if not largest > SHORTEST_SLIDE:
            return
        amount = min(1.0, LONGEST_SLIDE / largest)
        for k in range(n):
            free = variables[k, SCALE] * (work[k, CENTRING] - work[k, STEP])
            moved = q[k] + amount * free
            q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
        status, _, _ = approach(chain, weights, q, work, arrival, STEPS)
        if status != REACHED:
            go_back_to_best(q, work)
            return


@helper
def price(
    chain: PackedChain, weights: FloatArray, here: FloatArray, there: FloatArray, work: FloatArray
) -> float:
    """Return what a straight line between postures costs: its length, and the tip's largest error.

    Infinite where the tip would be too far off.
    """
    n, way, worst, point = here.shape[0], 0.0, 0.0, np.empty(here.shape[0])
    for k in range(n):
        way = max(way, abs(there[k] - here[k]) / chain.variables[k, SCALE])
    for i in range(1, POINTS + 1):
        for k in range(n):
            point[k] = here[k] + (there[k] - here[k]) * i / (POINTS + 1)
        e0, e1, e2, e3, e4, e5 = tip_error(chain, weights, point, work)
        worst = max(worst, sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5))
    return way + TIP_COUNTS * worst if worst <= LARGEST_ERROR else np.inf


@helper
def begin_search(variables: FloatArray, here: FloatArray, number: int, q: FloatArray) -> None:
    """Write a start: those of the chain, then those with one joint put aside to either side."""
    if number < STARTS:
        write_start(variables, number + 1, q)
        return
    k = (number - STARTS) // 2
    aside = ASIDE * variables[k, SCALE]
    for i in range(q.shape[0]):
        q[i] = here[i]
    moved = here[k] + aside if (number - STARTS) % 2 == 0 else here[k] - aside
    q[k] = min(variables[k, UPPER], max(variables[k, LOWER], moved))


@helper
def find_detour(
    chain: PackedChain, weights: FloatArray, here: FloatArray, work: FloatArray,
    arrival: tuple[float, float], there: FloatArray,
) -> bool:  # fmt: skip
    """Write the posture that reaches the target and costs least to go to; False if there is none.

    Nor is there one where the arm has no need of it: where it comes to the target by a descent.
    """
    variables, n, least = chain.variables, here.shape[0], np.inf
    q = here.copy()
    set_bounds(variables, LIMITS, work)
    status, _, _ = approach(chain, weights, q, work, arrival, LONGEST)
    if status == REACHED:
        return False
    for number in range(STARTS + 2 * n):
        begin_search(variables, here, number, q)
        status, _, _ = approach(chain, weights, q, work, arrival, STEPS)
        if status == REACHED:
            take_shortest_turns(variables, here, q)
            slide_nearer(chain, weights, q, here, work, arrival)
            cost = price(chain, weights, here, q, work)
            if cost < least:
                least = cost
                for k in range(n):
                    there[k] = q[k]
    return least < np.inf


@helper
def bring_tip_nearer(
    chain: PackedChain, weights: FloatArray, q: FloatArray, there: FloatArray, work: FloatArray
) -> None:
    """Lower the tip's error across the direction to another posture, within the bounds.

    The Jacobian loses what moves along that direction, so the way made along it stays.
    """
    n, variables = q.shape[0], chain.variables
    for _ in range(CORRECTIONS):
        residual = tip_error(chain, weights, q, work)
        length = FADING  # above 0 where the arm is there
        for k in range(n):
            work[k, CENTRING] = (there[k] - q[k]) / variables[k, SCALE] ** 2
            length += ((there[k] - q[k]) / variables[k, SCALE]) ** 2
            work[k, STEP] = there[k] - q[k]
        along = product(work, n, STEP)
        gram = diagonal_6(SOFT)
        for k in range(n):
            for c in range(6):
                work[k, c] -= work[k, CENTRING] / length * along[c]
            column = column_inside(variables, q, work, k, residual)
            work[k, JX], work[k, JY], work[k, JZ], work[k, JRX], work[k, JRY], work[k, JRZ] = column
            gram = with_column_6(gram, column)
        z0, z1, z2, z3, z4, z5 = solve_symmetric_6(gram, residual)
        for k in range(n):
            rate = work[k, JX] * z0 + work[k, JY] * z1 + work[k, JZ] * z2
            rate += work[k, JRX] * z3 + work[k, JRY] * z4 + work[k, JRZ] * z5
            moved = q[k] + variables[k, SCALE] * rate
            q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@helper
def make_detour(
    chain: PackedChain, weights: FloatArray, pace: Pace, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float],
) -> int:  # fmt: skip
    """Make a step from where the arm is towards another posture that reaches the target.

    Args:
        chain: The chain.
        weights: (12,).
        pace: Where the arm is, and how far it may go.
        q: (n,) where the step ends without a detour, and result.
        work: With the bounds on the step, and where it starts.
        arrival: See `descend`.

    Returns:
        The joint with the longest way to go; -1 if no detour is needed or known: q is the same.
    """
    n, slowest, steps = q.shape[0], -1, 1.0
    here, there = np.empty(n), np.empty(n)
    for k in range(n):
        here[k] = work[k, START]
    found = find_detour(chain, weights, here, work, arrival, there)
    bound_step(chain.variables, pace.current, pace.bound, work)
    if not found:
        return -1
    for k in range(n):
        least = abs(there[k] - here[k]) / pace.bound[k]
        if slowest < 0 or least > steps:
            slowest, steps = k, max(1.0, least)
    for k in range(n):
        moved = here[k] + (there[k] - here[k]) / steps
        q[k] = moved_inside(here[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    bring_tip_nearer(chain, weights, q, there, work)
    return slowest

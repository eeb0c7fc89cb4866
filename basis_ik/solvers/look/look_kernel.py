# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The search for joint positions at which a ray is proven to pass through a point.

One call does everything and allocates nothing. The starts and their order depend on the inputs
alone.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED, DESCENT_STALLED, place
from basis_ik.descent.pose_search_kernel import (
    BAD_SEED,
    BAD_TARGET,
    LARGEST_ANGLE,
    LARGEST_LENGTH,
    LIMITS,
    TOLERANCE_SHARE,
    begin_inside,
    set_bounds,
    take_shortest_turns,
    write_start,
)
from basis_ik.descent.starts_kernel import over_starts
from basis_ik.descent.tables_kernel import BEST_SCOUT, LOWER, UPPER, ChainFields, PackedChain
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.solvers.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.solvers.look.ray_kernel import (
    descend_to_point,
    exact_miss,
    pull_to_seed,
    squared_way,
)

NEARBY_STARTS = 4  # fresh starts that are mixed with the seed, each with half as much of it
CLOSED_STARTS = 8  # where a closed form has no answer, a start can help only at its very edge
LOOK_SCOUTS = 64  # configurations that are looked at for each later start


@helper
def relate_to_point(base: FloatArray, point: FloatArray, work: FloatArray, row: int) -> None:
    """Write point_T_first_joint (3, 4), turned as the root is, into a row of `work`."""
    for r in range(3):
        for c in range(4):
            work[row, 4 * r + c] = base[r, c]
        work[row, 4 * r + 3] -= point[r]


@helper
def begin_aside(variables: FloatArray, seed: FloatArray, start: int, q: FloatArray) -> None:
    """Write the start-th fresh start: the first ones are mixed with the seed, to stay near it."""
    write_start(variables, start, q)
    take_shortest_turns(variables, seed, q)
    mix = 0.5 ** max(NEARBY_STARTS + 1 - start, 0)
    for k in range(variables.shape[0]):
        mixed = seed[k] + mix * (q[k] - seed[k])
        q[k] = min(variables[k, UPPER], max(variables[k, LOWER], mixed))


@helper
def begin_well(
    chain: PackedChain, seed: FloatArray, start: int, q: FloatArray, work: FloatArray
) -> None:
    """Write the start-th fresh start: the first ones near the seed, later ones the best of many.

    The best has the ray that passes the point most closely, in metres. A point close to the tip is
    met from a small part of the configurations only, and around it the angle tells little.
    """
    variables = chain.variables
    if start <= NEARBY_STARTS:
        begin_aside(variables, seed, start, q)
        return
    n, least = variables.shape[0], np.inf
    for i in range(LOOK_SCOUTS):
        write_start(variables, LOOK_SCOUTS * (start - NEARBY_STARTS) + i, q)
        tip = place(chain.joints, chain.ends[1], q, work, n)
        _, _, d0, p0, _, _, d1, p1, _, _, d2, p2 = tip
        ahead = max(-(d0 * p0 + d1 * p1 + d2 * p2), 0.0)
        missed = (p0 + ahead * d0) ** 2 + (p1 + ahead * d1) ** 2 + (p2 + ahead * d2) ** 2
        if missed < least:
            least = missed
            for k in range(n):
                work[k, BEST_SCOUT] = q[k]
    for k in range(n):
        q[k] = work[k, BEST_SCOUT]
    take_shortest_turns(variables, seed, q)


@helper
def nearest_branch(
    exact: FloatArray, variables: FloatArray, point: FloatArray, begin: FloatArray, q: FloatArray,
    work: FloatArray,
) -> None:  # fmt: skip
    """Write the branch of the closed form that is inside the limits and nearest to the seed.

    The first row of `work` (…, 12) is overwritten. Without such a branch q stays as it is.
    """
    found = work[0].reshape((6, 2))
    count, _ = pan_tilt(exact, point, begin, found)
    least = np.inf
    for i in range(count):
        take_shortest_turns(variables, begin, found[i])
        inside = True
        for k in range(2):
            low, high = variables[k, LOWER], variables[k, UPPER]
            if not low - 1e-9 <= found[i, k] <= high + 1e-9:
                inside = False
            found[i, k] = min(high, max(low, found[i, k]))
        way = squared_way(variables, begin, found[i])
        if inside and way < least:
            least = way
            q[0], q[1] = found[i, 0], found[i, 1]


class LookEffort(NamedTuple):
    """The angle that a search for a point allows, and how long it may go on."""

    tolerance: float
    """[rad]."""
    iterations: int
    """Steps allowed, all descents together."""
    restarts: int
    """Number of the last start: 0 is the seed, all others are fresh ones."""


@jit
def solve_look(
    chain: ChainFields, point: FloatArray, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: tuple[float, int, int],
) -> tuple[int, int, int, float]:  # fmt: skip
    """Run `search_look` from Python, with the fields of its named tuples."""
    return search_look(PackedChain(*chain), point, seed, q, work, LookEffort(*effort))


@helper
def check_look(seed: FloatArray, point: FloatArray) -> int:
    """Return BAD_SEED or BAD_TARGET for numbers that no search can start from, else 0."""
    for k in range(seed.shape[0]):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED
    for r in range(3):
        if not abs(point[r]) <= LARGEST_LENGTH:
            return BAD_TARGET
    return 0


class RaySearch(NamedTuple):
    """What an attempt to meet a point takes."""

    chain: PackedChain
    """The chain with the ray as its tip's z."""
    point: FloatArray
    """(3,) in the root frame [m]."""
    begin: FloatArray
    """(n,) the seed, inside the limits [rad or m]."""
    tolerance: float
    """[rad]."""


@helper
def attempt_point(
    problem: RaySearch, q: FloatArray, work: FloatArray, number: int, left: int
) -> tuple[int, int, float, float, float]:
    """Descend from the nearest closed form, the seed or another start; see `Attempt`."""
    (chain, point, begin, tolerance), n = problem, q.shape[0]
    if number > 0:
        begin_well(chain, begin, number, q, work)
    else:
        for k in range(n):
            q[k] = begin[k]
        if admits_pan_tilt(chain.exact, n):
            nearest_branch(chain.exact, chain.variables, point, begin, q, work)
    goal = TOLERANCE_SHARE * tolerance
    status, taken, angle = descend_to_point(chain, q, work, goal, left)
    if status == DESCENT_REACHED and n > 2:
        taken += pull_to_seed(chain, begin, q, work, goal, left - taken)
    take_shortest_turns(chain.variables, begin, q)
    frame = work[n + chain.joints.shape[0] + 1].reshape((3, 4))
    angle = exact_miss(chain.exact, q, point, frame)
    if status == DESCENT_REACHED and not angle <= tolerance:
        status = DESCENT_STALLED + 0 * n  # of one type with what a descent returns
    return status, taken, angle, 0.0, angle


attempt_points = over_starts(attempt_point)


@helper
def search_look(
    chain: PackedChain, point: FloatArray, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: LookEffort,
) -> tuple[int, int, int, float]:  # fmt: skip
    """Descend from the nearest closed form or the seed, then from fresh starts, until proven.

    Args:
        chain: The chain with the ray as its tip's z.
        point: (3,) in the root frame [m].
        seed: (n,).
        q: (n,) result: what meets the point, else the least angle of all descents.
        work: (n + 2 m + 3, 12).
        effort: How near to come, and how long to go on.

    Returns:
        DESCENT_REACHED, else how the last descent ended (DESCENT_SPENT, DESCENT_STALLED), BAD_SEED
        or BAD_TARGET before any work; steps; number of the last start; the angle left at q [rad].
    """
    refused = check_look(seed, point)
    if refused != 0:
        return refused, 0, 0, pi
    n, restarts = q.shape[0], effort.restarts
    last = n + chain.joints.shape[0]
    begin = work[last + 2 :].reshape(-1)[:n]
    begin_inside(chain.variables, seed, begin)
    relate_to_point(chain.ends[0], point, work, last)
    set_bounds(chain.variables, LIMITS, work)
    if admits_pan_tilt(chain.exact, n):
        restarts = min(restarts, CLOSED_STARTS)
    problem, first = RaySearch(chain, point, begin, effort.tolerance), 0 * n
    status, steps, number, _, _, angle = attempt_points(
        problem, q, work, (first, restarts), effort.iterations, np.inf
    )
    if status != DESCENT_REACHED:
        angle = exact_miss(chain.exact, q, point, work[last + 1].reshape((3, 4)))
    return status, steps, number, angle

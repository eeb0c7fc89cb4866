# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The best effort at a pose out of reach: the nearest position, and there the nearest orientation.

The position alone is minimised from one start after another. Where limits hold an arm, most starts
end at a farther one than the nearest, and so do starts that look for the orientation at the same
time. From those that ended at the nearest position the orientation is minimised, with the position
held ever closer.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.pose.newton_kernel import ANGLE_LEFT, DISTANCE_LEFT, LEAST_GAIN, Ends, minimise
from basis_ik.search.descent_kernel import begin_descent, descend
from basis_ik.search.pose_search_kernel import (
    LIMITS,
    begin_inside,
    measure,
    meets,
    relate_to_target,
    set_bounds,
    squared_arrival,
    take_shortest_turns,
    write_start,
)
from basis_ik.search.tables_kernel import (
    COLUMNS,
    LOWER,
    SCALE,
    UPPER,
    WX,
    ChainFields,
    Effort,
    GoalFields,
    PackedChain,
    PoseGoal,
)

OWN, BEST = 0, 1  # rows of the results: what the seed leads to, and the best of all
ALONE, FIRST = 0, 1  # rows of the weights, see `find_best_effort`
STARTS = 60  # starts that are made at most
ENOUGH = 8  # starts that came to the best so far, after which no more are made
SLACK = 0.3  # of the tolerance: by how much a position held by weights may be off the nearest
IMPATIENT = 0  # steps without progress, after which Newton's method takes over
ROUGH_GAIN = 1e-6  # see `newton_kernel.Ends.least_gain`, where further rows follow
BETTER = 1e-4  # [rad] by which another orientation has to be nearer
ALIKE = 1e-3  # [rad] by which orientations that count as the same may differ
PUSH = 2.0  # by what factor starts are moved away from the middle of the limits, every second one


class Problem(NamedTuple):
    """What is minimised."""

    chain: PackedChain
    goal: PoseGoal
    weights: FloatArray
    """(w, 12), see `find_best_effort`."""
    memory: tuple[FloatArray, FloatArray]
    """See `newton_kernel.minimise_each`."""


@helper
def minimise_by(
    problem: Problem, row: int, q: FloatArray, least_gain: float, allowed: int
) -> tuple[float, float, int]:
    """Minimise by a row of weights; return distance [m] and angle [rad] left, and steps taken.

    Least squares come near the minimum at half the cost of Newton's steps, which follow.

    Args:
        problem: See there.
        row: Of the weights.
        q: (n,) start, and result.
        least_gain: See `newton_kernel.Ends`.
        allowed: Steps allowed.
    """
    chain, goal, weights, (work, square) = problem
    wanted = PoseGoal(weights[row], goal.target, goal.position_tolerance, goal.rotation_tolerance)
    taken, arrival = 0, squared_arrival(wanted)
    if row <= FIRST:
        begin_descent(work)
        effort = Effort(allowed, IMPATIENT, False)
        _, taken, _ = descend(chain, weights[row], q, work, arrival, effort)
    ends = Ends(allowed - taken, least_gain)
    taken += minimise(chain, weights[row], q, work, square, arrival, ends)
    distance, angle = measure(chain, goal, q, work)
    return (distance if goal.weights[WX] != 0.0 else 0.0), angle, taken


@helper
def turn_in_place(
    problem: Problem, q: FloatArray, bounds: tuple[float, float], allowed: int
) -> tuple[float, float, int]:
    """Minimise the orientation at q (n,) with the position held ever closer.

    Its error only grows by that, so what leaves more than the best is abandoned.

    Args:
        problem: See there.
        q: (n,) at the nearest position, and result.
        bounds: Distance of the nearest position [m]; angle that the best leaves [rad].
        allowed: Steps allowed.

    Returns:
        Distance [m] left, infinite where it was abandoned; angle [rad] left; and steps taken.
    """
    total, (least, best), last = 0, bounds, problem.weights.shape[0] - 1
    distance, angle = np.inf, np.inf
    for row in range(FIRST, last + 1):
        gain = LEAST_GAIN if row == last else ROUGH_GAIN
        distance, angle, taken = minimise_by(problem, row, q, gain, allowed - total)
        total += taken
        if angle >= best - BETTER:
            return np.inf, angle, total
    if distance > least + SLACK * problem.goal.position_tolerance:
        distance, angle, taken = minimise_by(problem, ALONE, q, LEAST_GAIN, allowed - total)
        total += taken
    return distance, angle, total


@helper
def push_to_limits(variables: FloatArray, q: FloatArray) -> None:
    """Move a start (n,) away from the middle of the limits: about half of the joints come to one.

    Few other starts lead to what is best with many joints at their limits.
    """
    for k in range(q.shape[0]):
        low, high = variables[k, LOWER], variables[k, UPPER]
        if high - low < 2.0 * pi * variables[k, SCALE]:
            middle = 0.5 * (low + high)
            q[k] = min(high, max(low, middle + PUSH * (q[k] - middle)))


@helper
def write_next_start(variables: FloatArray, starts: FloatArray, made: int, q: FloatArray) -> None:
    """Write start number `made` (n,): one of those given (s, n), or a fresh one."""
    given = starts.shape[0]
    if made < given:
        begin_inside(variables, starts[made], q)
        return
    write_start(variables, variables.shape[1] - COLUMNS + made - given + 1, q)
    if made % 2 == 1:
        push_to_limits(variables, q)


@jit
def find_best_effort(
    chain: ChainFields, goal: GoalFields, weights: FloatArray, starts: FloatArray,
    results: tuple[FloatArray, FloatArray], memory: tuple[FloatArray, FloatArray], allowed: int,
) -> int:  # fmt: skip
    """Find the nearest position, and there the nearest orientation; return steps taken.

    It ends before where it comes upon all that is wanted.

    Args:
        chain: The fields of the chain.
        goal: The fields of the goal.
        weights: (w, 12) rows: ALONE has the position alone; from FIRST on they hold it ever
            closer. ALONE by itself: the orientation is free.
        starts: (s, n), the seed first; fresh ones follow them. Full turns end near the seed.
        results: (2, n) what the seed leads to, and the best of all; (2, 2) distance [m] and angle
            [rad] left there.
        memory: See `newton_kernel.minimise_each`.
        allowed: Steps allowed.
    """
    problem = Problem(PackedChain(*chain), PoseGoal(*goal), weights, memory)
    variables, tolerance, n = (
        problem.chain.variables,
        problem.goal.position_tolerance,
        starts.shape[1],
    )
    (found, figures), q, end = results, np.empty(n), np.empty(n)
    figures[:] = np.inf
    set_bounds(variables, LIMITS, memory[0])
    at_target = n + problem.chain.joints.shape[0]
    relate_to_target(problem.chain.ends[0], problem.goal.target, memory[0], at_target)
    made, again, total, least, best = 0, 0, 0, np.inf, np.inf
    while made < STARTS and again < ENOUGH and (total < allowed or made == 0):
        write_next_start(variables, starts, made, q)
        made += 1
        distance, angle, taken = minimise_by(problem, ALONE, q, LEAST_GAIN, allowed - total)
        total += taken
        if distance > least + tolerance:
            continue
        if distance < least - tolerance:
            best, again = np.inf, 0
        least = min(least, distance)
        if weights.shape[0] > 1:
            end[:] = q
            distance, angle, taken = turn_in_place(problem, q, (least, best), allowed - total)
            total += taken
            if distance > least + tolerance and best == np.inf:
                q[:] = end
                distance, angle = measure(problem.chain, problem.goal, q, memory[0])
            again += 1 if abs(angle - best) <= ALIKE else 0
            if distance > least + tolerance or angle >= best - BETTER:
                continue
            again = again if angle >= best - ALIKE else 1
            best = angle
        else:
            again += 1
            if distance >= figures[BEST, DISTANCE_LEFT]:
                continue
        take_shortest_turns(variables, starts[0], q)
        found[BEST], figures[BEST, DISTANCE_LEFT], figures[BEST, ANGLE_LEFT] = q, distance, angle
        if made == 1:
            found[OWN], figures[OWN] = found[BEST], figures[BEST]
        if meets(problem.goal, distance, angle):
            break
    return total

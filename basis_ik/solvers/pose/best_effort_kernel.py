# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The best effort at a pose out of reach: the nearest position, and there the nearest orientation.

The position alone is minimised from one start after another. Where limits hold an arm, most starts
end at a farther one than the nearest, and so do starts that look for the orientation at the same
time. From those that ended at the nearest position the orientation is minimised, with the position
held ever closer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from basis_ik.descent.pose_search_kernel import (
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
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    WX,
    ChainFields,
    GoalFields,
    PackedChain,
    PoseGoal,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.solvers.pose.newton_kernel import (
    ANGLE_LEFT,
    DISTANCE_LEFT,
    LEAST_NEWTON_GAIN,
    Ends,
    minimise,
)

OWN_RESULT, BEST_RESULT = 0, 1  # rows of the results: what the seed leads to, and the best of all
# Rows of the weights, see `find_best_effort`: of the position alone; the first with which the
# orientation is minimised where the position is reached, and where it is not; the first that holds
# the position close enough to end with.
POSITION_ALONE, LOOSE, TIGHT, CLOSE_ENOUGH = 0, 1, 2, 4
STARTS_AT_LEAST, STARTS_AT_MOST = 40, 120
STARTS_PER_NEEDED = 2  # more starts, for each that was needed until the best so far was found
FOUND_OFTEN = 12  # starts that came to the best so far, after which no more are made
POSITION_SLACK = 0.3  # of the tolerance: by how much a held position may be off the nearest
ROUGH_GAIN = 1e-6  # see `newton_kernel.Ends.least_gain`, where further rows follow
BETTER_ANGLE = 1e-4  # [rad] by which another orientation has to be nearer
SAME_ANGLE = 1e-3  # [rad] by which starts that came to the same orientation may differ
FINAL_STEPS = 300  # allowed to the best of all, whose way along a valley may be long


class Problem(NamedTuple):
    """What is minimised."""

    chain: PackedChain
    goal: PoseGoal
    weights: FloatArray
    """(w, 12), see `find_best_effort`."""


class Memory(NamedTuple):
    """Arrays to work in, see `newton_kernel.minimise_each`."""

    work: FloatArray
    square: FloatArray


@helper
def minimise_by(
    problem: Problem, row: int, q: FloatArray, memory: Memory, steps: int, least_gain: float
) -> tuple[float, float, int]:
    """Minimise by a row of weights; return distance [m] and angle [rad] left, and steps taken.

    Args:
        problem: See there.
        row: Of the weights.
        q: (n,) start, and result.
        memory: See there.
        steps: Steps allowed.
        least_gain: See `newton_kernel.Ends`.
    """
    chain, goal, weights = problem.chain, problem.goal, problem.weights[row]
    wanted = PoseGoal(weights, goal.target, goal.position_tolerance, goal.rotation_tolerance)
    ends = Ends(steps, least_gain)
    taken = minimise(chain, weights, q, memory.work, memory.square, squared_arrival(wanted), ends)
    distance, angle = measure(chain, goal, q, memory.work)
    return (distance if goal.weights[WX] != 0.0 else 0.0), angle, taken


@helper
def turn_at_position(
    problem: Problem, first: int, q: FloatArray, memory: Memory, bounds: tuple[float, float],
    allowed: tuple[int, int],
) -> tuple[float, float, int]:  # fmt: skip
    """Minimise the orientation at q (n,) with the position held ever closer.

    Its error only grows by that, so what leaves more than the best is abandoned. The last rows are
    for where limits hold the arm so that the position is still off.

    Args:
        problem: See there.
        first: First row of the weights.
        q: (n,) start, and result.
        memory: See there.
        bounds: Distance of the nearest position [m]; angle that the best leaves [rad].
        allowed: Steps allowed to each row; and in all.

    Returns:
        Distance [m] left, infinite where it was abandoned; angle [rad] left, then at least; and
        steps taken.
    """
    total, (least, best) = 0, bounds
    near = least + POSITION_SLACK * problem.goal.position_tolerance
    # the best of all to all digits
    gain = LEAST_NEWTON_GAIN if first == CLOSE_ENOUGH else ROUGH_GAIN
    distance, angle = np.inf, np.inf
    for row in range(first, problem.weights.shape[0]):
        steps = min(allowed[0], allowed[1] - total)
        distance, angle, taken = minimise_by(problem, row, q, memory, steps, gain)
        total += taken
        if angle >= best - BETTER_ANGLE:
            return np.inf, angle, total
        if row >= CLOSE_ENOUGH and distance <= near:
            break
    if distance > near:
        steps = min(allowed[0], allowed[1] - total)
        distance, angle, taken = minimise_by(
            problem, POSITION_ALONE, q, memory, steps, LEAST_NEWTON_GAIN
        )
        total += taken
    return distance, angle, total


@helper
def keep_end(
    variables: FloatArray, seed: FloatArray, q: FloatArray, left: tuple[float, float],
    results: tuple[FloatArray, FloatArray],
) -> None:  # fmt: skip
    """Make q (n,), with full turns near the seed, the best of all; `left`: distance, angle."""
    found, figures = results
    take_shortest_turns(variables, seed, q)
    found[BEST_RESULT], figures[BEST_RESULT, DISTANCE_LEFT], figures[BEST_RESULT, ANGLE_LEFT] = (
        q,
        left[0],
        left[1],
    )


@helper
def finish_best(
    problem: Problem, seed: FloatArray, q: FloatArray, memory: Memory, bounds: tuple[float, float],
    results: tuple[FloatArray, FloatArray], allowed: int,
) -> int:  # fmt: skip
    """Minimise the orientation of the best of all to all digits; return steps taken.

    Args:
        problem: See there.
        seed: (n,) near which full turns end.
        q: (n,) to work in.
        memory: See there.
        bounds: Distance of the nearest position [m]; angle that the best leaves [rad].
        results: See `find_best_effort`.
        allowed: Steps allowed in all.
    """
    (found, _), (least, best) = results, bounds
    q[:] = found[BEST_RESULT]
    distance, angle, taken = turn_at_position(
        problem, CLOSE_ENOUGH, q, memory, (least, np.inf), (FINAL_STEPS, allowed)
    )
    if distance <= least + problem.goal.position_tolerance and angle < best:
        keep_end(problem.chain.variables, seed, q, (distance, angle), results)
    return taken


@jit
def find_best_effort(
    chain: ChainFields, goal: GoalFields, weights: FloatArray, starts: FloatArray,
    results: tuple[FloatArray, FloatArray], memory: tuple[FloatArray, FloatArray],
    allowed: tuple[int, int],
) -> int:  # fmt: skip
    """Find the nearest position, and there the nearest orientation; return steps taken.

    It ends before where it comes upon all that is wanted.

    Args:
        chain: The fields of the chain.
        goal: The fields of the goal.
        weights: (w, 12) rows: the first has the position alone, the others hold it ever closer. The
            first by itself: the orientation is free.
        starts: (s, n), the seed first; fresh ones follow them. Full turns end near the seed.
        results: (2, n) what the seed leads to, and the best of all; (2, 2) distance [m] and angle
            [rad] left there.
        memory: See `newton_kernel.minimise_each`.
        allowed: Steps allowed to each row of weights from each start; steps allowed in all.
    """
    problem, (each, most) = Problem(PackedChain(*chain), PoseGoal(*goal), weights), allowed
    room, (found, figures), turns = Memory(memory[0], memory[1]), results, weights.shape[0] > 1
    variables, tolerance = problem.chain.variables, problem.goal.position_tolerance
    given, n = starts.shape
    q, at_position = np.empty(n), np.empty(n)
    figures[:] = np.inf
    set_bounds(variables, LIMITS, room.work)
    at_target = n + problem.chain.joints.shape[0]
    relate_to_target(problem.chain.ends[0], problem.goal.target, room.work, at_target)
    made, needed, often, total, least, best = 0, 0, 0, 0, np.inf, np.inf
    while (
        made < min(STARTS_AT_MOST, STARTS_AT_LEAST + STARTS_PER_NEEDED * needed)
        and often < FOUND_OFTEN
        and (total < most or made == 0)
    ):
        if made < given:
            begin_inside(variables, starts[made], q)
        else:
            write_start(variables, variables.shape[1] - COLUMNS + made - given + 1, q)
        made += 1
        steps = min(each, most - total)
        distance, angle, taken = minimise_by(
            problem, POSITION_ALONE, q, room, steps, LEAST_NEWTON_GAIN
        )
        total += taken
        if distance > least + tolerance:
            continue
        if distance < least - tolerance:
            best, often = np.inf, 0
        least = min(least, distance)
        if turns:
            at_position[:] = q
            first = LOOSE if least <= tolerance else TIGHT
            distance, angle, taken = turn_at_position(
                problem, first, q, room, (least, best), (each, most - total)
            )
            total += taken
            if distance > least + tolerance and best == np.inf:
                q[:] = at_position
                distance, angle = measure(problem.chain, problem.goal, q, room.work)
            often += 1 if abs(angle - best) <= SAME_ANGLE else 0
            if distance > least + tolerance or angle >= best - BETTER_ANGLE:
                continue
            often = often if angle >= best - SAME_ANGLE else 1
        elif distance >= figures[BEST_RESULT, DISTANCE_LEFT]:
            continue
        best, needed = angle, made
        keep_end(variables, starts[0], q, (distance, angle), results)
        if made == 1:
            found[OWN_RESULT], figures[OWN_RESULT] = found[BEST_RESULT], figures[BEST_RESULT]
        if meets(problem.goal, distance, angle):
            break
    if turns and not meets(problem.goal, least, best) and total < most:
        total += finish_best(problem, starts[0], q, room, (least, best), results, most - total)
    return total

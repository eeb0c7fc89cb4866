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

"""The best effort at a pose out of reach: the nearest position, and there the nearest orientation.

From one start after another the position alone is settled. Where limits hold an arm, most starts
end at a farther one than the nearest, and so do starts that look for the orientation at the same
time. From what ended at the nearest position, the orientation is settled, with the position held
ever closer.
"""

from __future__ import annotations

from math import pi, sin

import numpy as np

from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.pose.newton_kernel import ANGLE_LEFT, DISTANCE_LEFT, SETTLED, Ends, minimise
from basis_ik.search.descent_kernel import begin_descent, descend
from basis_ik.search.pose_error_kernel import has_deadband
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
    PERIODIC,
    UPPER,
    WRX,
    WX,
    ChainFields,
    Effort,
    GoalFields,
    PackedChain,
    PoseGoal,
)

OWN, BEST = 0, 1  # rows of the results: what the seed leads to, and the best of all
ALONE, FREELY, FIRMLY, FIRMEST = 0, 1, 2, 3  # rows of the weights, see `find_best_effort`
STARTS = 24  # starts that are made at least
MORE, FOR_FEWER = 16, 36  # and more for each joint beyond six; for each below, which are quick
AGAIN = 2  # more starts, for each that was needed until the best so far was found
MOST_STARTS = 120
# Where some start has reached the position, the others settle the orientation at once, which takes
# half the steps. But one of so many settles the position alone first, and comes to other bottoms.
ALONE_EVERY = 3
FINISHING = 300  # steps allowed to the best of all, whose way along a valley may be long
SLACK = 0.3  # of the tolerance: by how much a position held by weights may be off the nearest
SAME = 1e-2  # [rad or m] within which all joints are at one bottom
IMPATIENT = 0  # steps without progress, after which Newton's method takes over
ROUGHLY = 1e-6  # see `newton_kernel.Ends.settled`, where further rows follow
BETTER = 1e-4  # [rad] by which another orientation has to be nearer
AT_LIMIT = 1e-3  # [rad] from its limit at which a joint may go on from the other one
WIDE = 3.0  # [rad] between the limits of a joint that nearly turns fully


@helper
def is_known(variables: FloatArray, q: FloatArray, known: FloatArray, count: int) -> bool:
    """Tell whether one of the first rows of `known` (k, n) is q (n,), full turns aside."""
    for i in range(count):
        same = True
        for k in range(q.shape[0]):
            off = q[k] - known[i, k]
            if variables[k, PERIODIC] != 0.0:
                off -= whole_turns(off)
            same = same and abs(off) <= SAME
        if same:
            return True
    return False


@helper
def queue_across(variables: FloatArray, q: FloatArray, queue: FloatArray, queued: int) -> int:
    """Queue q (n,) with each joint that stands at a limit at its other one; return the new length.

    A joint that nearly turns fully stands there because of the gap between its limits.
    """
    for k in range(q.shape[0]):
        low, high = variables[k, LOWER], variables[k, UPPER]
        stands = min(q[k] - low, high - q[k]) <= AT_LIMIT and variables[k, PERIODIC] != 0.0
        if stands and high - low > WIDE and queued < queue.shape[0]:
            queue[queued] = q
            queue[queued, k] = low if high - q[k] <= AT_LIMIT else high
            queued += 1
    return queued


@helper
def come_near(
    chain: PackedChain, goal: PoseGoal, weights: FloatArray, q: FloatArray, work: FloatArray,
    allowed: int,
) -> int:  # fmt: skip
    """Move q (n,) to about the bottom, by least squares; return steps taken.

    That costs half a step of Newton's method, and needs no bottom in sight.
    """
    wanted = PoseGoal(weights, goal.target, goal.position_tolerance, goal.rotation_tolerance)
    begin_descent(work)
    effort = Effort(allowed, IMPATIENT, False)
    _, taken, _ = descend(chain, weights, q, work, squared_arrival(wanted), effort)
    return taken


@helper
def settle(
    chain: PackedChain, goal: PoseGoal, weights: FloatArray, q: FloatArray,
    memory: tuple[FloatArray, FloatArray], allowed: tuple[int, float, float],
) -> tuple[float, float, int]:  # fmt: skip
    """Settle q (n,) by some weights; return distance [m] and angle [rad] left, and steps taken.

    Args:
        chain: The chain.
        goal: The goal.
        weights: (12,).
        q: (n,) start, and result.
        memory: See `newton_kernel.minimise_each`.
        allowed: Steps allowed; see `newton_kernel.Ends.settled`; angle that it has to come
            below [rad], may be infinite.
    """
    (work, square), (steps, settled, best) = memory, allowed
    wanted = PoseGoal(weights, goal.target, goal.position_tolerance, goal.rotation_tolerance)
    hopeless = np.inf
    if best < pi and not has_deadband(weights):
        hopeless = 2.0 * weights[WRX] * sin(0.5 * max(best, 0.0))
    ends = Ends(steps, settled, hopeless)
    taken = minimise(chain, weights, q, work, square, squared_arrival(wanted), ends)
    away, turned = measure(chain, goal, q, work)
    return (away if goal.weights[WX] != 0.0 else 0.0), turned, taken


@helper
def hold_closer(
    chain: PackedChain, goal: PoseGoal, weights: FloatArray, q: FloatArray,
    memory: tuple[FloatArray, FloatArray], bounds: tuple[int, float, float],
    allowed: tuple[int, int],
) -> tuple[float, float, int]:  # fmt: skip
    """Settle the orientation at q (n,) with the position held ever closer.

    Its error only grows by that, so what leaves more than the best is abandoned.

    Args:
        chain: The chain.
        goal: The goal.
        weights: See `find_best_effort`.
        q: (n,) start, and result.
        memory: See `newton_kernel.minimise_each`.
        bounds: First row of the weights; distance of the nearest position [m]; angle that the best
            leaves [rad].
        allowed: Steps allowed to each row; and in all.

    Returns:
        Distance [m] and angle [rad] left, infinite where it was abandoned; and steps taken.
    """
    total, last, (first, least, best) = 0, weights.shape[0] - 1, bounds
    away, turned = np.inf, np.inf
    for row in range(first, last + 1):
        most = min(allowed[0], allowed[1] - total)
        ends = most, SETTLED if row == last else ROUGHLY, best - BETTER
        away, turned, taken = settle(chain, goal, weights[row], q, memory, ends)
        total += taken
        if turned >= best - BETTER:
            return np.inf, np.inf, total
    if away > least + SLACK * goal.position_tolerance:
        most = min(allowed[0], allowed[1] - total)
        ends = most, SETTLED, np.inf
        away, turned, taken = settle(chain, goal, weights[ALONE], q, memory, ends)
        total += taken
    return away, turned, total


@helper
def turn_in_place(
    chain: PackedChain, goal: PoseGoal, weights: FloatArray, q: FloatArray,
    memory: tuple[FloatArray, FloatArray, FloatArray], bounds: tuple[int, int, float, float],
    allowed: tuple[int, int],
) -> tuple[float, float, int, int]:  # fmt: skip
    """Settle the orientation at q (n,), which is at the nearest position.

    Args:
        chain: The chain.
        goal: The goal.
        weights: See `find_best_effort`.
        q: (n,) start, and result.
        memory: `work`, and (2, n, n) to work in; (k, n) bottoms that are known.
        bounds: First row of the weights; how many bottoms are known; distance of the nearest
            position [m]; angle that the best leaves [rad].
        allowed: See `hold_closer`.

    Returns:
        Distance [m] and angle [rad] left, infinite where it was abandoned; steps taken; and how
        many bottoms are known now.
    """
    (work, square, known), (row, bottoms, least, best) = memory, bounds
    ends = min(allowed[0], allowed[1]), ROUGHLY, best - BETTER
    _, turned, first = settle(chain, goal, weights[row], q, (work, square), ends)
    if turned >= best - BETTER or is_known(chain.variables, q, known, bottoms):
        return np.inf, np.inf, first, bottoms
    known[bottoms] = q
    away, turned, taken = hold_closer(
        chain, goal, weights, q, (work, square), (row + 1, least, best),
        (allowed[0], allowed[1] - first),
    )  # fmt: skip
    return away, turned, first + taken, bottoms + 1


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
        weights: (w, 12) rows: ALONE has the position alone; from FREELY on, or from FIRMLY where
            the position is not reached, or from FIRMEST where that leads away from the nearest,
            they hold it ever closer. ALONE by itself: the orientation is free.
        starts: (s, n), the seed first; fresh ones follow them. Full turns end near the seed.
        results: (2, n) what the seed leads to, and the best of all; (2, 2) distance [m] and angle
            [rad] left there.
        memory: See `newton_kernel.minimise_each`.
        allowed: Steps allowed to each row of weights from each start; steps allowed in all.
    """
    packed, wanted, (found, figures) = PackedChain(*chain), PoseGoal(*goal), results
    variables, tolerance, (work, square) = packed.variables, wanted.position_tolerance, memory
    n, given, own = starts.shape[1], starts.shape[0], variables.shape[1] - COLUMNS
    queue, known, q = np.empty((MOST_STARTS, n)), np.empty((MOST_STARTS, n)), np.empty(n)
    figures[:] = np.inf
    set_bounds(variables, LIMITS, work)
    relate_to_target(packed.ends[0], wanted.target, work, n + packed.joints.shape[0])
    made, last, fewest = 0, 0, STARTS + MORE * max(0, n - 6) + FOR_FEWER * max(0, 6 - n)
    total, bottoms, queued, across, row, reached = 0, 0, 0, 0, FIRMLY, False
    least, best, end = np.inf, np.inf, np.empty(n)
    while made < min(MOST_STARTS, fewest + AGAIN * last) and (total < allowed[1] or made == 0):
        if made < given:
            begin_inside(variables, starts[made], q)
        elif across < queued:
            q[:] = queue[across]
            across += 1
        else:
            write_start(variables, own + made - given - across + 1, q)
        made += 1
        direct = reached and made % ALONE_EVERY != 0
        left = min(allowed[0], allowed[1] - total)
        taken = come_near(packed, wanted, weights[FREELY if direct else ALONE], q, work, left)
        total += taken
        if not direct:
            ends = left - taken, SETTLED, np.inf
            away, turned, taken = settle(packed, wanted, weights[ALONE], q, memory, ends)
            total += taken
            if away > least + tolerance:
                continue
            if away < least - tolerance:
                best, bottoms, last = np.inf, 0, made
                reached = away <= tolerance and weights.shape[0] > 1
                row = FREELY if reached else FIRMLY
            least = min(least, away)
        if weights.shape[0] > 1:
            end[:] = q
            begin = row if made == 1 or not reached else FREELY if direct else FIRMLY
            if reached and not direct:
                left = min(allowed[0], allowed[1] - total)
                total += come_near(packed, wanted, weights[begin], q, work, left)
            while True:
                away, turned, taken, bottoms = turn_in_place(
                    packed, wanted, weights, q, (work, square, known),
                    (begin, bottoms, least, best), (allowed[0], allowed[1] - total),
                )  # fmt: skip
                total += taken
                if begin == FIRMEST or not least + tolerance < away < np.inf:
                    break
                if direct:  # it ended off the nearest position
                    reached = False
                    break
                begin, bottoms, q[:] = FIRMEST, 0, end
                row = row if reached else FIRMEST
            if away > least + tolerance and best == np.inf:
                q[:] = end
                away, turned = measure(packed, wanted, q, work)
            if away > least + tolerance or turned >= best - BETTER:
                continue
        elif away >= figures[BEST, DISTANCE_LEFT]:
            continue
        best, last = turned, made
        take_shortest_turns(variables, starts[0], q)
        found[BEST], figures[BEST, DISTANCE_LEFT], figures[BEST, ANGLE_LEFT] = q, away, turned
        if made == 1:
            found[OWN], figures[OWN] = found[BEST], figures[BEST]
        if meets(wanted, away, turned):
            break
        queued = queue_across(variables, q, queue, queued)
    if weights.shape[0] > 1 and not meets(wanted, least, best) and total < allowed[1]:
        q[:] = found[BEST]
        away, turned, taken = hold_closer(
            packed, wanted, weights, q, memory, (weights.shape[0] - 1, least, np.inf),
            (FINISHING, allowed[1] - total),
        )  # fmt: skip
        total += taken
        if away <= least + tolerance and turned < best:
            take_shortest_turns(variables, starts[0], q)
            found[BEST], figures[BEST, DISTANCE_LEFT], figures[BEST, ANGLE_LEFT] = q, away, turned
    return total

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The best effort at a pose out of reach: the nearest position, and there the nearest orientation.

The position alone is minimised from one start after another. Where limits hold an arm, most starts
end at a farther one than the nearest, and so do starts that look for the orientation at the same
time. From those that ended at the nearest position the orientation is minimised, with the position
held ever closer.
"""

from __future__ import annotations

from math import asin, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.pose.newton_kernel import ANGLE_LEFT, DISTANCE_LEFT, LEAST_GAIN, Ends, minimise
from basis_ik.search.descent_kernel import begin_descent, descend
from basis_ik.search.pose_error_kernel import has_deadband
from basis_ik.search.pose_search_kernel import (
    LIMITS,
    begin_inside,
    is_out_of_reach,
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
    DRIVER,
    IS_ONLY,
    LOWER,
    PERIODIC,
    SCALE,
    TURN,
    TURN_OFFSET,
    TWIST_COSINE,
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
ALONE, FREELY, FIRMLY, FIRMEST, CLOSEST = range(5)  # rows of the weights, see `find_best_effort`
STARTS = 24  # starts that are made at least
MORE, FOR_FEWER = 16, 36  # and more for each joint beyond six; for each below, which are quick
MORE_AWAY = 7  # for each joint beyond six, if the target is beyond the links' lengths: few minima
AGAIN = 2  # more starts, for each that was needed until the best so far was found
MOST_STARTS = 120
# Where some start has reached the position, the others minimise the orientation at once, in half
# the steps. But one of so many minimises the position alone first, and finds other minima.
ALONE_EVERY = 3
FINISHING = 300  # steps allowed to the best of all, whose way along a valley may be long
SLACK = 0.3  # of the tolerance: by how much a position held by weights may be off the nearest
SAME = 1e-2  # [rad or m] within which all joints are at one minimum
IMPATIENT = 0  # steps without progress, after which Newton's method takes over
ROUGH_GAIN = 1e-6  # see `newton_kernel.Ends.least_gain`, where further rows follow
BETTER = 1e-4  # [rad] by which another orientation has to be nearer
AT_LIMIT = 1e-3  # [rad] from its limit at which a joint may go on from the other one
WIDE = 3.0  # [rad] between the limits of a joint that nearly turns fully
SQUARE = 0.1  # cosine of the angle between two axes that count as square to each other
PUSH = 2.0  # by what factor starts are moved away from the middle of the limits, every second one
FLIP_SLACK = 0.3  # [rad] by which a flipped joint may be beyond a limit, where it starts at it
AROUND = 1e-2  # [rad] by which an angle may grow once the position is the nearest; `least_angle`
# If so many starts came to the best so far, no more are made: this share of the least number of
# starts for six joints or fewer, and so many more for each joint beyond six.
OFTEN, OFTEN_MORE = 0.5, 4
OFTEN_AWAY = 13.0  # or so many where the target is beyond the links' lengths ...
OFTEN_SHARE = 0.3  # ... if they are such a share of all
ALIKE = 1e-3  # [rad] by which they may differ


class Problem(NamedTuple):
    """What is minimised."""

    chain: PackedChain
    goal: PoseGoal
    weights: FloatArray
    """(w, 12), see `find_best_effort`."""


class Memory(NamedTuple):
    """Arrays to work in."""

    work: FloatArray
    """See `newton_kernel.minimise_each`."""
    square: FloatArray
    """(2, n, n)."""
    known: FloatArray
    """(k, n + 1) minima of the orientation, as far as they are known, and the angles [rad] that
    they left in the end."""
    queue: FloatArray
    """(k, n) further starts."""


@helper
def find_known(variables: FloatArray, q: FloatArray, known: FloatArray, count: int) -> int:
    """Return which of the first rows of `known` (k, n + 1) is q (n,), full turns aside; else -1."""
    for i in range(count):
        same = True
        for k in range(q.shape[0]):
            off = q[k] - known[i, k]
            if variables[k, PERIODIC] != 0.0:
                off -= whole_turns(off)
            same = same and abs(off) <= SAME
        if same:
            return i
    return -1


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
def is_wrist(joints: FloatArray, first: int) -> bool:
    """Return whether three joints are hinges whose axes are square to each other, in turn."""
    for j in range(first, first + 3):
        if joints[j, TURN] == 0.0 or joints[j, IS_ONLY] == 0.0:
            return False
        if j < first + 2 and abs(joints[j, TWIST_COSINE]) > SQUARE:
            return False
    return True


@helper
def queue_flipped(chain: PackedChain, q: FloatArray, queue: FloatArray, queued: int) -> int:
    """Queue q (n,) with each wrist flipped, where limits allow it; return the new length.

    Rz(a) Rx(± π/2) Rz(b) Rx(± π/2) Rz(c) is the same with a + π, -b and c + π. So is the pose of
    the tip where the three axes meet; elsewhere it is close.
    """
    joints, variables = chain.joints, chain.variables
    for first in range(joints.shape[0] - 2):
        if queued >= queue.shape[0] or not is_wrist(joints, first):
            continue
        queue[queued], inside = q, True
        for j in range(first, first + 3):
            k = int(joints[j, DRIVER])
            low, high, flipped = variables[k, LOWER], variables[k, UPPER], q[k] + pi
            if j == first + 1:
                flipped = -q[k] - 2.0 * joints[j, TURN_OFFSET] / joints[j, TURN]
            flipped -= whole_turns(flipped - (0.5 * (low + high) if high - low < np.inf else q[k]))
            inside = inside and low - FLIP_SLACK <= flipped <= high + FLIP_SLACK
            queue[queued, k] = min(high, max(low, flipped))
        queued += 1 if inside else 0
    return queued


@helper
def come_near(problem: Problem, row: int, q: FloatArray, work: FloatArray, allowed: int) -> int:
    """Move q (n,) to about the minimum by a row of weights, by least squares; return steps taken.

    That costs half a step of Newton's method, and needs no minimum in sight.
    """
    weights, goal = problem.weights[row], problem.goal
    wanted = PoseGoal(weights, goal.target, goal.position_tolerance, goal.rotation_tolerance)
    begin_descent(work)
    effort = Effort(allowed, IMPATIENT, False)
    _, taken, _ = descend(problem.chain, weights, q, work, squared_arrival(wanted), effort)
    return taken


@helper
def minimise_by(
    problem: Problem, row: int, q: FloatArray, memory: Memory,
    allowed: tuple[int, float, float, float],
) -> tuple[float, float, int]:  # fmt: skip
    """Minimise by a row of weights; return distance [m] and angle [rad] left, and steps taken.

    Args:
        problem: See there.
        row: Of the weights.
        q: (n,) start, and result.
        memory: See there.
        allowed: Steps allowed; see `newton_kernel.Ends.least_gain`; distance [m] and angle [rad]
            that it has to come below, may be infinite.
    """
    chain, goal, (steps, least_gain, near, best) = problem.chain, problem.goal, allowed
    weights = problem.weights[row]
    wanted = PoseGoal(weights, goal.target, goal.position_tolerance, goal.rotation_tolerance)
    bound = np.inf
    if near < np.inf and (weights[WRX] == 0.0 or (best < pi and not has_deadband(weights))):
        bound = (weights[WX] * near) ** 2
        if weights[WRX] != 0.0:
            bound += (2.0 * weights[WRX] * sin(0.5 * max(best, 0.0))) ** 2
    ends = Ends(steps, least_gain, bound)
    taken = minimise(chain, weights, q, memory.work, memory.square, squared_arrival(wanted), ends)
    distance, angle = measure(chain, goal, q, memory.work)
    return (distance if goal.weights[WX] != 0.0 else 0.0), angle, taken


@helper
def least_angle(weights: FloatArray, distance: float, angle: float, least: float) -> float:
    """Return the angle [rad] that is left at least, once the position is the nearest.

    The weighted squared error is not less there than at a minimum by weights, and the position's
    share of it is known. A minimum far off may not lead there; then its own angle is returned.

    Args:
        weights: (12,).
        distance: At the minimum [m].
        angle: At the minimum [rad].
        least: Distance of the nearest position [m].
    """
    if has_deadband(weights):
        return angle
    away = (weights[WX] / weights[WRX]) ** 2 * max(0.0, distance**2 - least**2)
    end = 2.0 * asin(min(1.0, sqrt(sin(0.5 * angle) ** 2 + 0.25 * away)))
    return end if end <= angle + AROUND else angle


@helper
def hold_closer(
    problem: Problem, first: int, q: FloatArray, memory: Memory, bounds: tuple[float, float],
    allowed: tuple[int, int],
) -> tuple[float, float, int]:  # fmt: skip
    """Minimise the orientation at q (n,) with the position held ever closer.

    Its error only grows by that, so what will leave more than the best is abandoned. Rows beyond
    CLOSEST are for where limits hold the arm so that the position is still off.

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
    total, (least, best), near = 0, bounds, bounds[0] + SLACK * problem.goal.position_tolerance
    gain = LEAST_GAIN if first == CLOSEST else ROUGH_GAIN  # the best of all to all digits
    distance, angle = np.inf, np.inf
    for row in range(first, problem.weights.shape[0]):
        ends = min(allowed[0], allowed[1] - total), gain, least, best - BETTER
        distance, angle, taken = minimise_by(problem, row, q, memory, ends)
        total += taken
        end = least_angle(problem.weights[row], distance, angle, least)
        if end >= best - BETTER:
            return np.inf, end, total
        if row >= CLOSEST and distance <= near:
            break
    if distance > near:
        ends = min(allowed[0], allowed[1] - total), LEAST_GAIN, np.inf, np.inf
        distance, angle, taken = minimise_by(problem, ALONE, q, memory, ends)
        total += taken
    return distance, angle, total


@helper
def turn_in_place(
    problem: Problem, row: int, q: FloatArray, memory: Memory, bounds: tuple[int, float, float],
    allowed: tuple[int, int],
) -> tuple[float, float, int, int]:  # fmt: skip
    """Minimise the orientation at q (n,), which is at the nearest position.

    Args:
        problem: See there.
        row: First row of the weights.
        q: (n,) start, and result.
        memory: See there.
        bounds: How many minima are known; distance of the nearest position [m]; angle that the
            best leaves [rad].
        allowed: See `hold_closer`.

    Returns:
        Distance [m] left, infinite where it was abandoned; angle [rad] left, then at least or of
        the known minimum; steps taken; and how many minima are known now.
    """
    minima, least, best = bounds
    ends = min(allowed[0], allowed[1]), ROUGH_GAIN, least, best - BETTER
    distance, angle, first = minimise_by(problem, row, q, memory, ends)
    known, end = memory.known, least_angle(problem.weights[row], distance, angle, least)
    if end >= best - BETTER:
        return np.inf, end, first, minima
    which, n = find_known(problem.chain.variables, q, known, minima), q.shape[0]
    if which >= 0:
        return np.inf, known[which, n], first, minima
    for k in range(n):
        known[minima, k] = q[k]
    left = allowed[0], allowed[1] - first
    distance, angle, taken = hold_closer(problem, row + 1, q, memory, (least, best), left)
    known[minima, n] = angle
    return distance, angle, first + taken, minima + 1


@helper
def turn_at_nearest(
    problem: Problem, begin: tuple[int, FloatArray, bool], q: FloatArray, memory: Memory,
    bounds: tuple[int, float, float], allowed: tuple[int, int],
) -> tuple[float, float, int, int, bool]:  # fmt: skip
    """Minimise the orientation at q (n,), and again from the nearest position if that is left.

    The position is then held firmest.

    Args:
        problem: See there.
        begin: First row of the weights; (n,) the nearest position; whether that was not minimised
            by itself, so that there is nothing to begin again from.
        q: (n,) start, and result.
        memory: See there.
        bounds: See `turn_in_place`.
        allowed: See `hold_closer`.

    Returns:
        As `turn_in_place`, and whether the first attempt left the nearest position.
    """
    (row, end, direct), (minima, least, best) = begin, bounds
    distance, angle, total, minima = turn_in_place(problem, row, q, memory, bounds, allowed)
    left = row != FIRMEST and least + problem.goal.position_tolerance < distance < np.inf
    if left and not direct:
        q[:] = end
        distance, angle, taken, minima = turn_in_place(
            problem, FIRMEST, q, memory, (0, least, best), (allowed[0], allowed[1] - total)
        )
        total += taken
    return distance, angle, total, minima, left


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
def write_next_start(
    variables: FloatArray, starts: FloatArray, queue: FloatArray, numbers: tuple[int, int, int],
    q: FloatArray,
) -> int:  # fmt: skip
    """Write the next start (n,): one given, one queued, or a fresh one; return `across`.

    Args:
        variables: Of the chain.
        starts: (s, n) given.
        queue: See `Memory`.
        numbers: Starts made so far; starts taken from the queue, `across`; starts queued.
        q: (n,) result.
    """
    (made, across, queued), given = numbers, starts.shape[0]
    if made < given:
        begin_inside(variables, starts[made], q)
    elif across < queued:
        q[:] = queue[across]
        return across + 1
    else:
        write_start(variables, variables.shape[1] - COLUMNS + made - given - across + 1, q)
        if made % 2 == 1:
            push_to_limits(variables, q)
    return across


@helper
def keep_end(
    variables: FloatArray, seed: FloatArray, q: FloatArray, left: tuple[float, float],
    results: tuple[FloatArray, FloatArray],
) -> None:  # fmt: skip
    """Make q (n,), with full turns near the seed, the best of all; `left`: distance, angle."""
    found, figures = results
    take_shortest_turns(variables, seed, q)
    found[BEST], figures[BEST, DISTANCE_LEFT], figures[BEST, ANGLE_LEFT] = q, left[0], left[1]


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
    q[:] = found[BEST]
    distance, angle, taken = hold_closer(
        problem, CLOSEST, q, memory, (least, np.inf), (FINISHING, allowed)
    )
    if distance <= least + problem.goal.position_tolerance and angle < best:
        keep_end(problem.chain.variables, seed, q, (distance, angle), results)
    return taken


@helper
def come_to_position(
    problem: Problem, direct: bool, q: FloatArray, memory: Memory, least: float, allowed: int
) -> tuple[float, float, int]:  # fmt: skip
    """Move q (n,) to the nearest position; return distance [m] and angle [rad] left, steps taken.

    Args:
        problem: See there.
        direct: Whether q is only to come near the pose, for which the orientation counts, too; then
            the distance is given as the least.
        q: (n,) start, and result.
        memory: See there.
        least: Distance of the nearest position so far [m].
        allowed: Steps allowed.
    """
    taken = come_near(problem, FREELY if direct else ALONE, q, memory.work, allowed)
    if direct:
        return least, np.inf, taken
    ends = allowed - taken, LEAST_GAIN, least + problem.goal.position_tolerance, np.inf
    distance, angle, steps = minimise_by(problem, ALONE, q, memory, ends)
    return distance, angle, taken + steps


@helper
def turn_from_position(
    problem: Problem, begin: tuple[int, bool, bool], q: FloatArray, memory: Memory,
    bounds: tuple[int, float, float], allowed: tuple[int, int],
) -> tuple[float, float, int, int, bool]:  # fmt: skip
    """Minimise the orientation at q (n,), where `come_to_position` has led; q stays if that fails.

    Args:
        problem: See there.
        begin: First row of the weights; whether `come_to_position` was `direct`; whether to come
            near the pose first.
        q: (n,) start, and result.
        memory: See there.
        bounds: See `turn_in_place`.
        allowed: See `hold_closer`.

    Returns:
        As `turn_at_nearest`.
    """
    (row, direct, near_first), (_, least, best), total = begin, bounds, 0
    end, (steps, most) = q.copy(), allowed
    if near_first:
        total = come_near(problem, row, q, memory.work, min(steps, most))
    distance, angle, taken, minima, astray = turn_at_nearest(
        problem, (row, end, direct), q, memory, bounds, (steps, most - total)
    )
    if distance > least + problem.goal.position_tolerance and best == np.inf:
        q[:] = end
        distance, angle = measure(problem.chain, problem.goal, q, memory.work)
    return distance, angle, total + taken, minima, astray


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
    problem, most = Problem(PackedChain(*chain), PoseGoal(*goal), weights), allowed[1]
    variables, tolerance, n = (
        problem.chain.variables,
        problem.goal.position_tolerance,
        starts.shape[1],
    )
    room = Memory(memory[0], memory[1], np.empty((MOST_STARTS, n + 1)), np.empty((MOST_STARTS, n)))
    (found, figures), q, turns = results, np.empty(n), weights.shape[0] > 1
    figures[:] = np.inf
    set_bounds(variables, LIMITS, room.work)
    at_target = n + problem.chain.joints.shape[0]
    relate_to_target(problem.chain.ends[0], problem.goal.target, room.work, at_target)
    away, spare = is_out_of_reach(problem.chain, problem.goal), max(0, n - 6)
    fewest = STARTS + FOR_FEWER * max(0, 6 - n)
    enough = OFTEN * fewest + OFTEN_MORE * spare
    enough = min(OFTEN_AWAY, enough) if away else enough
    fewest += (MORE_AWAY if away else MORE) * spare
    made, last, across, queued, total, minima, found_again = 0, 0, 0, 0, 0, 0, 0
    least, best, row, reached = np.inf, np.inf, FIRMLY, False
    while made < min(MOST_STARTS, fewest + AGAIN * last) and (total < most or made == 0):
        across = write_next_start(variables, starts, room.queue, (made, across, queued), q)
        made += 1
        direct, left = reached and made % ALONE_EVERY != 0, min(allowed[0], most - total)
        distance, angle, taken = come_to_position(problem, direct, q, room, least, left)
        total += taken
        if distance > least + tolerance:
            continue
        if distance < least - tolerance:
            best, minima, last = np.inf, 0, made
            reached = distance <= tolerance and turns
            row = FREELY if reached else FIRMLY
        least = min(least, distance)
        if turns:
            first = row if made == 1 or not reached else FREELY if direct else FIRMLY
            begin, bounds = (first, direct, reached and not direct), (minima, least, best)
            distance, angle, taken, minima, astray = turn_from_position(
                problem, begin, q, room, bounds, (allowed[0], most - total)
            )
            total += taken
            row = row if reached or not astray else FIRMEST
            reached = reached and not (astray and direct)
            found_again += 1 if abs(angle - best) <= ALIKE else 0
            if found_again >= max(enough, OFTEN_SHARE * made):
                break
            if distance > least + tolerance or angle >= best - BETTER:
                continue
            found_again = found_again if angle >= best - ALIKE else 1
        elif distance >= figures[BEST, DISTANCE_LEFT]:
            continue
        best, last = angle, made
        keep_end(variables, starts[0], q, (distance, angle), results)
        if made == 1:
            found[OWN], figures[OWN] = found[BEST], figures[BEST]
        if meets(problem.goal, distance, angle):
            break
        queued = queue_across(variables, q, room.queue, queued)
        queued = queue_flipped(problem.chain, q, room.queue, queued)
    if turns and not meets(problem.goal, least, best) and total < most:
        total += finish_best(problem, starts[0], q, room, (least, best), results, most - total)
    return total

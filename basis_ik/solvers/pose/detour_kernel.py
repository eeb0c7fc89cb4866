# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way out of a dead end: round to another posture, with the tip as near as it can stay.

An arm with joints to spare may have come to a target in a posture from which a limit keeps it,
while it reaches the target in another one. Here that other posture is looked for where the target
will be when the arm arrives, and one step is made towards it. No step delays the arrival: only
joints that have time left serve to keep the tip near.
"""

from __future__ import annotations

from math import exp as decay
from math import sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED, column_inside, fill_jacobian, place
from basis_ik.descent.pose_error_kernel import has_deadband, pose_residual
from basis_ik.descent.pose_search_kernel import (
    LIMITS,
    go_back_to_best,
    keep_best,
    relate_to_target,
    set_bounds,
    take_shortest_turns,
    write_start,
)
from basis_ik.descent.tables_kernel import (
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
    PoseGoal,
    Six,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper
from basis_ik.numerics.normal_equations_kernel import diagonal_6, solve_symmetric_6, with_column_6
from basis_ik.solvers.pose.null_space_kernel import (
    SELF_MOTION_DAMPING,
    Pace,
    approach,
    bound_step,
    fill_scaled_columns,
    product,
    project,
)
from basis_ik.transforms.rigid_kernel import exp

DETOUR_STARTS = 12  # of a search, besides those with one joint put aside
DETOUR_STEPS = 20  # of each descent
OWN_DETOUR_STEPS = 40  # of that from where the arm is: a dead end is what it cannot leave
PUT_ASIDE = 1.5  # [rad], or reaches for a slide: how far that joint is put aside
DETOUR_SLIDES = 8  # steps of self-motion that bring another posture nearer
LONGEST_SLIDE = 0.3  # [rad], or reaches, of each
SHORTEST_SLIDE = 0.01  # [rad], or reaches: what is nearer by less is not worth a step
LINE_POINTS = 5  # of the straight line to a posture, where the tip is looked at
# Steps of way that a weighted tip error of 1, one reach or 3.3 rad, outweighs.
TIP_ERROR_COST = 100.0
LARGEST_LINE_ERROR = 1.5  # weighted, of the tip on the line; a detour with more is not made
# Steps as the last one: from there the posture is found that the arm is going to.
ONWARD_STEPS = 40.0
FAVOURED_COST = 0.8  # of its cost counts for that posture: another one must be clearly cheaper
SOON_STEPS = 5.0  # steps in which a descent brings the arm to a moving target: no detour then
LEAD_STEPS = 60.0  # steps ahead at which every other start looks for the target
FADING_STEPS = 100.0  # steps over which the target's motion is taken to end
DEARER_COST = 1.2  # times the least cost so far: longer ways are left out at first sight
MEETING_CORRECTIONS = 2  # times at most that the place of meeting is put right
SAME_PLACE_STEPS = 8.0  # steps between two places that count as the same
ASTRAY_COST = 5.0  # times its cost counts for a posture that does not reach the place of meeting
TIP_CORRECTIONS = 2  # steps that bring the tip nearer
TIP_DAMPING = 0.02  # their damping


class Chase(NamedTuple):
    """A target that moves, and an arm that goes after it.

    Attributes:
        goal: What to reach now.
        motion: (6,) the target's twist in one step, in root's axes; zero where it is not known.
        here: (n,) where the arm is, within its limits.
        last: (n,) its last step.
        bound: (n,) largest change of each joint in a step.
    """

    goal: PoseGoal
    motion: FloatArray
    here: FloatArray
    last: FloatArray
    bound: FloatArray


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
    for _ in range(DETOUR_SLIDES):
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
        status, _, _ = approach(chain, weights, q, work, arrival, DETOUR_STEPS)
        if status != DESCENT_REACHED:
            go_back_to_best(q, work)
            return


@helper
def move_target_ahead(chain: PackedChain, chase: Chase, lead: float, work: FloatArray) -> None:
    """Set the target of descents to where it will be after a number of steps.

    Its motion goes on along the twist of the last step, and fades: far ahead it is not known.
    """
    target, row = chase.goal.target, chase.here.shape[0] + chain.joints.shape[0]
    along, moved, there = np.empty(6), np.empty((4, 4)), target.copy()
    for c in range(6):
        along[c] = FADING_STEPS * (1.0 - decay(-lead / FADING_STEPS)) * chase.motion[c]
    if lead > 0.0 and exp(along, moved):
        for r in range(3):
            for c in range(4):
                there[r, c] = moved[r, 3] if c == 3 else 0.0
                for i in range(3):
                    there[r, c] += moved[r, i] * target[i, c]
    relate_to_target(chain.ends[0], there, work, row)


@helper
def steps_to(chase: Chase, q: FloatArray) -> float:
    """Return in how many steps at full speed the arm is in a posture."""
    steps = 0.0
    for k in range(q.shape[0]):
        steps = max(steps, abs(q[k] - chase.here[k]) / chase.bound[k])
    return steps


@helper
def largest_error(
    chain: PackedChain, weights: FloatArray, here: FloatArray, there: FloatArray, work: FloatArray
) -> float:
    """Return the tip's largest weighted error on the straight line between two postures."""
    n, worst, point = here.shape[0], 0.0, np.empty(here.shape[0])
    for i in range(1, LINE_POINTS + 1):
        for k in range(n):
            point[k] = here[k] + (there[k] - here[k]) * i / (LINE_POINTS + 1)
        e0, e1, e2, e3, e4, e5 = tip_error(chain, weights, point, work)
        worst = max(worst, sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5))
    return worst


@helper
def come_to_target(
    chain: PackedChain, chase: Chase, lead: float, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float],
) -> float:  # fmt: skip
    """Move q to the nearest posture at the target after some steps; return the steps to there.

    Infinite where the descent does not arrive.
    """
    move_target_ahead(chain, chase, lead, work)
    status, _, _ = approach(chain, chase.goal.weights, q, work, arrival, DETOUR_STEPS)
    if status != DESCENT_REACHED:
        return np.inf
    take_shortest_turns(chain.variables, chase.here, q)
    slide_nearer(chain, chase.goal.weights, q, chase.here, work, arrival)
    return steps_to(chase, q)


@helper
def intercept(
    chain: PackedChain, chase: Chase, lead: float, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float], most: float,
) -> float:  # fmt: skip
    """Move q to a posture in which the arm meets the target, and price the way to it.

    Args:
        chain: The chain.
        chase: The target and the arm.
        lead: Steps ahead at which the target is tried first.
        q: (n,) start of the descent, and the posture.
        work: With the limits.
        arrival: See `descend`.
        most: Steps beyond which a way is not looked at closer.

    Returns:
        Steps until the arm meets the target, and what the tip's largest error on the way counts;
        infinite where there is no such posture, or the tip would be too far off.
    """
    n, steps, factor = q.shape[0], come_to_target(chain, chase, lead, q, work, arrival), 1.0
    if not steps < most:
        return np.inf
    found = q.copy()
    for _ in range(MEETING_CORRECTIONS):
        if abs(steps - lead) <= SAME_PLACE_STEPS:
            break
        later = come_to_target(chain, chase, steps, q, work, arrival)
        if not later < np.inf:
            factor = ASTRAY_COST
            break
        lead, steps = steps, later
        for k in range(n):
            found[k] = q[k]
    for k in range(n):
        q[k] = found[k]
    move_target_ahead(chain, chase, 0.0, work)
    worst = largest_error(chain, chase.goal.weights, chase.here, q, work)
    if not worst <= LARGEST_LINE_ERROR:
        return np.inf
    return factor * max(steps, lead) + TIP_ERROR_COST * worst


@helper
def begin_search(variables: FloatArray, chase: Chase, number: int, q: FloatArray) -> None:
    """Write a start: where the last step leads, the chain's, one joint put aside to either side."""
    n, here = q.shape[0], chase.here
    if 0 < number <= DETOUR_STARTS:
        write_start(variables, number, q)
        return
    for i in range(n):
        q[i] = here[i]
        if number == 0:
            q[i] += ONWARD_STEPS * chase.last[i]
    if number > DETOUR_STARTS:
        k = (number - DETOUR_STARTS - 1) // 2
        aside = PUT_ASIDE * variables[k, SCALE]
        q[k] += aside if (number - DETOUR_STARTS) % 2 == 1 else -aside
    for i in range(n):
        q[i] = min(variables[i, UPPER], max(variables[i, LOWER], q[i]))


@helper
def find_detour(
    chain: PackedChain, chase: Chase, work: FloatArray, arrival: tuple[float, float],
    there: FloatArray,
) -> bool:  # fmt: skip
    """Write the posture that meets the target and costs least to go to; False if there is none.

    Nor is there one where the arm has no need of it: where a descent brings it to the target, and
    soon if the target moves.
    """
    variables, n, least, q = chain.variables, there.shape[0], np.inf, chase.here.copy()
    set_bounds(variables, LIMITS, work)
    move_target_ahead(chain, chase, 0.0, work)
    status, _, _ = approach(chain, chase.goal.weights, q, work, arrival, OWN_DETOUR_STEPS)
    by_descent, moves = status == DESCENT_REACHED, False
    for c in range(6):
        moves = moves or chase.motion[c] != 0.0
    for number in range(-1, DETOUR_STARTS + 2 * n + 1):
        if number >= 0:
            begin_search(variables, chase, number, q)
        elif not by_descent:
            continue
        lead = LEAD_STEPS if number % 2 == 0 else 0.0
        cost = intercept(chain, chase, lead, q, work, arrival, DEARER_COST * least)
        if number < 0 and (not moves or steps_to(chase, q) < SOON_STEPS):
            return False
        if number == 0:
            cost *= FAVOURED_COST
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
    for _ in range(TIP_CORRECTIONS):
        residual = tip_error(chain, weights, q, work)
        length = SELF_MOTION_DAMPING  # above 0 where the arm is there
        for k in range(n):
            work[k, CENTRING] = (there[k] - q[k]) / variables[k, SCALE] ** 2
            length += ((there[k] - q[k]) / variables[k, SCALE]) ** 2
            work[k, STEP] = there[k] - q[k]
        along = product(work, n, STEP)
        gram = diagonal_6(TIP_DAMPING)
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
def keep_pace(pace: Pace, there: FloatArray, steps: float, work: FloatArray) -> None:
    """Narrow the bounds on the step to where the arm still arrives in a number of steps."""
    for k in range(there.shape[0]):
        left = pace.bound[k] * (steps - 1.0)
        low, high = work[k, BOUND_LOWER], work[k, BOUND_UPPER]
        work[k, BOUND_LOWER] = min(high, max(low, there[k] - left))
        work[k, BOUND_UPPER] = max(low, min(high, there[k] + left))


@helper
def make_detour(
    chain: PackedChain, goal: PoseGoal, pace: Pace, motion: FloatArray, q: FloatArray,
    work: FloatArray, arrival: tuple[float, float],
) -> int:  # fmt: skip
    """Make a step from where the arm is towards another posture that reaches the target.

    Args:
        chain: The chain.
        goal: What to reach now.
        pace: Where the arm is, and how far it may go.
        motion: (6,) the target's twist in the last step.
        q: (n,) where the step ends without a detour, and result.
        work: With the bounds on the step, and where it starts.
        arrival: See `descend`.

    Returns:
        The joint with the longest way to go; -1 if no detour is needed or known: q is the same.
    """
    n, slowest, steps = q.shape[0], -1, 1.0
    here, last, there = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        here[k], last[k] = work[k, START], pace.current[k] - pace.previous[k]
    found = find_detour(chain, Chase(goal, motion, here, last, pace.bound), work, arrival, there)
    relate_to_target(chain.ends[0], goal.target, work, n + chain.joints.shape[0])
    bound_step(chain.variables, pace.current, pace.bound, work)
    if not found:
        return -1
    for k in range(n):
        least = abs(there[k] - here[k]) / pace.bound[k]
        if slowest < 0 or least > steps:
            slowest, steps = k, max(1.0, least)
    keep_pace(pace, there, steps, work)
    for k in range(n):
        moved = here[k] + (there[k] - here[k]) / steps
        q[k] = moved_inside(here[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    bring_tip_nearer(chain, goal.weights, q, there, work)
    return slowest

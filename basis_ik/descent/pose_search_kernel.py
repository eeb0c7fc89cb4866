# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Search from a target pose and a seed to joint positions that forward kinematics proves.

One call does everything and allocates nothing: descents from a sequence of starts until one
arrives, the shortest turns, the proof. The starts and their order depend on the inputs only.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import (
    DESCENT_REACHED,
    DESCENT_SPENT,
    DESCENT_STALLED,
    begin_descent,
    descend,
)
from basis_ik.descent.fabrik_sweep_kernel import sweep
from basis_ik.descent.hinge_fit_kernel import ORIENTATION_MOMENT
from basis_ik.descent.proof_kernel import distance_and_angle, place_exactly
from basis_ik.descent.starts_kernel import go_back_to_best as go_back_to_best
from basis_ik.descent.starts_kernel import keep_best as keep_best
from basis_ik.descent.starts_kernel import over_starts
from basis_ik.descent.tables_kernel import (
    ANGLE,
    BOUND_LOWER,
    BOUND_UPPER,
    DISTANCE,
    GOLDEN_STEP,
    IS_REACHED,
    LAST_START,
    LOWER,
    PERIODIC,
    SEARCH_LEAST,
    SEARCH_PHASE,
    SEARCH_START,
    START_LOWER,
    START_UPPER,
    STEPS,
    UNFINISHED,
    UPPER,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    ChainFields,
    Effort,
    GoalFields,
    PackedChain,
    PoseGoal,
)
from basis_ik.descent.tables_kernel import COLUMNS as COLUMNS
from basis_ik.numerics.angles_kernel import WHOLE_TURN, turned_inside
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit

Found = tuple[int, int, int, float, float]
"""Status; steps; number of the last start; distance [m] and angle [rad] left."""

BAD_SEED, BAD_TARGET, OUT_OF_REACH = -2, -3, -4
GO_ON = -1  # instead of the first start's number: continue after a call that ended DESCENT_SPENT
LIMITS, FREE_TURNS, UNBOUNDED = 0.0, 1.0, 2.0  # see `set_bounds`; integers would be a type each
LARGEST_ANGLE = 1e5  # [rad]; the resolution of a double is worse than 1e-11 rad beyond it
LARGEST_TOLERANCE = 1e6  # [m] or [rad]
LARGEST_LENGTH = 1e6  # [m]; the resolution of a double is worse than 1e-10 m beyond it
BEYOND_LIMITS_EVERY = 2  # every second further start first descends without limits
# Phases of a start: ended, or the descent's bounds.
START_ENDED, WITHIN_LIMITS, BEYOND_LIMITS = 0, 1, 2
FAR_OFF = 1e300  # squared error of a result that any other one replaces
NEAR_SEED = 0.4  # weighted squared error below which a seed is not swept
DESCENT_PATIENCE = 1  # steps without progress, see `Effort`; measured in docs/algorithms.md
TOLERANCE_SHARE = 0.1  # share of the tolerances at which a descent ends: then the proof holds


class Starts(NamedTuple):
    """The starts of a search."""

    first: int
    """Number of the first start: 0 is the seed. Or GO_ON, with `work` as the last call left it: a
    search in slices finds the same as in one piece."""
    last: int
    """Number of the last start."""
    near: float
    """A start with a smaller weighted squared error is not swept; infinite: none is."""


@helper
def is_valid_target(target: FloatArray) -> bool:
    """Return whether a target (4, 4) is finite and not too far away."""
    for r in range(3):
        for c in range(4):
            if not abs(target[r, c]) <= LARGEST_LENGTH:
                return False
    return True


@helper
def relate_to_target(base: FloatArray, target: FloatArray, work: FloatArray, row: int) -> None:
    """Write target_T_first_joint (3, 4), by rows, into a row of `work`."""
    for r in range(3):
        for c in range(4):
            dot = target[0, r] * base[0, c] + target[1, r] * base[1, c] + target[2, r] * base[2, c]
            if c == 3:
                dot -= target[0, r] * target[0, 3]
                dot -= target[1, r] * target[1, 3] + target[2, r] * target[2, 3]
            work[row, 4 * r + c] = dot


@inlined
def shortest_turn(variables: FloatArray, k: int, seed: float, value: float) -> float:
    """Return a variable's value, turned to within half a turn of the seed if the limits allow.

    A value is returned unchanged if it is not periodic, or if no full turn brings it inside.
    """
    if variables[k, PERIODIC] == 0.0:
        return value
    lower, upper = variables[k, LOWER], variables[k, UPPER]
    near = turned_inside(value, seed, lower, upper)
    if lower <= near <= upper:
        return near
    if upper - lower >= WHOLE_TURN:  # outside by rounding, with limits one turn apart
        return min(upper, max(lower, near))  # type: ignore[no-any-return]
    return value


@jit
def take_shortest_turns(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Turn every periodic variable of q to near its seed, within the limits."""
    for k in range(variables.shape[0]):
        q[k] = shortest_turn(variables, k, seed[k], q[k])


@helper
def set_bounds(variables: FloatArray, kind: float, work: FloatArray) -> None:
    """Write the bounds of a descent on each variable into `work`.

    LIMITS are the joint limits. FREE_TURNS drops those of a periodic variable with a range of a
    turn or more: `take_shortest_turns` brings it back, and such a limit would only stop the
    descent. UNBOUNDED drops all.
    """
    for k in range(variables.shape[0]):
        low, high = variables[k, LOWER], variables[k, UPPER]
        turns = variables[k, PERIODIC] != 0.0 and high - low >= WHOLE_TURN
        if kind == UNBOUNDED or (kind == FREE_TURNS and turns):
            low, high = -np.inf, np.inf
        work[k, BOUND_LOWER], work[k, BOUND_UPPER] = low, high


@jit
def begin_inside(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Copy the seed into q, turned or else clamped into the limits."""
    for k in range(variables.shape[0]):
        q[k] = seed[k]
    bring_inside(variables, seed, q)


@helper
def bring_inside(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Bring q into the limits, by full turns near the seed if possible, else by clamping."""
    take_shortest_turns(variables, seed, q)
    for k in range(variables.shape[0]):
        q[k] = min(variables[k, UPPER], max(variables[k, LOWER], q[k]))


@jit
def write_start(variables: FloatArray, start: int, q: FloatArray) -> None:
    """Write a start into q: the chain's own starts first, then points spread over the limits.

    Roberts' sequence of the generalised golden ratio is deterministic and has no state.
    """
    own = variables.shape[1] - COLUMNS
    for k in range(variables.shape[0]):
        if start <= own:
            q[k] = variables[k, COLUMNS + start - 1]
            continue
        u = 0.5 + (start - own) * variables[k, GOLDEN_STEP]
        u -= floor(u)
        low, high = variables[k, START_LOWER], variables[k, START_UPPER]
        q[k] = low + u * (high - low)


@helper
def check_start(seed: FloatArray, target: FloatArray) -> int:
    """Return BAD_SEED or BAD_TARGET if numbers are not finite or too large, else 0."""
    for k in range(seed.shape[0]):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED
    return 0 if is_valid_target(target) else BAD_TARGET


@helper
def are_tolerances(position: float, rotation: float) -> bool:
    """Return whether tolerances [m], [rad] are above 0 and not too large."""
    return 0.0 < position < LARGEST_TOLERANCE and 0.0 < rotation < LARGEST_TOLERANCE


@helper
def is_out_of_reach(chain: PackedChain, goal: PoseGoal) -> bool:
    """Return whether a target is farther away than the chain is long."""
    far = 0.0
    for r in range(3):
        far += (goal.target[r, 3] - chain.ends[0, r, 3]) ** 2
    return sqrt(far) > chain.reach + goal.position_tolerance


@helper
def squared_arrival(goal: PoseGoal) -> tuple[float, float]:
    """Return the weighted squared errors of position and rotation at which a descent ends."""
    w = goal.weights
    position, rotation = max(w[WX], max(w[WY], w[WZ])), max(w[WRX], max(w[WRY], w[WRZ]))
    return (
        (TOLERANCE_SHARE * goal.position_tolerance * position) ** 2,
        (TOLERANCE_SHARE * goal.rotation_tolerance * rotation) ** 2,
    )


@inlined
def measure(
    chain: PackedChain, goal: PoseGoal, q: FloatArray, work: FloatArray
) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] left at q, by the proof's kinematics."""
    frame = np.empty((3, 4))  # costs less than reshaping a row of `work`
    place_exactly(chain.exact, q, frame)
    return distance_and_angle(frame, goal.target, goal.weights)


@helper
def meets(goal: PoseGoal, distance: float, angle: float) -> bool:
    """Return whether a distance [m] and an angle [rad] are within the tolerances that count."""
    near_enough = goal.weights[WX] == 0.0 or distance <= goal.position_tolerance
    return near_enough and (goal.weights[WRX] == 0.0 or angle <= goal.rotation_tolerance)


@helper
def save_unfinished(q: FloatArray, work: FloatArray) -> None:
    """Save q for the next slice of the search."""
    for k in range(q.shape[0]):
        work[k, UNFINISHED] = q[k]


@helper
def restore_unfinished(q: FloatArray, work: FloatArray) -> None:
    """Restore q as the last slice of the search left it."""
    for k in range(q.shape[0]):
        q[k] = work[k, UNFINISHED]


@helper
def begin_start(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, careful: bool,
    starts: Starts, number: int,
) -> int:  # fmt: skip
    """Set the bounds of a new start and sweep it; return WITHIN_LIMITS or BEYOND_LIMITS."""
    position_free, rotation_free = weights[WX] == 0.0, weights[WRX] == 0.0
    swept = starts.near < np.inf and not position_free and (rotation_free or weights[WRZ] > 0.0)
    further = number - (chain.variables.shape[1] - COLUMNS)
    beyond_limits = (
        swept and starts.first < starts.last and further > 0 and further % BEYOND_LIMITS_EVERY == 0
    )
    begin_descent(work)
    bounds = UNBOUNDED if beyond_limits else LIMITS if careful else FREE_TURNS
    set_bounds(chain.variables, bounds, work)
    if swept:
        moment = 0.0 if rotation_free else ORIENTATION_MOMENT / weights[WX] ** 2
        if not sweep(chain, weights, q, work, moment, starts.near if number == 0 else 0.0):
            set_bounds(chain.variables, LIMITS, work)  # so near that no joint should unwind
    return BEYOND_LIMITS if beyond_limits else WITHIN_LIMITS


@helper
def return_inside(
    variables: FloatArray, seed: FloatArray, q: FloatArray, work: FloatArray, status: int,
    more: bool,
) -> tuple[int, int]:  # fmt: skip
    """Bring q into the limits after a descent beyond them; return the status and the next phase.

    If that descent has arrived, one within the limits follows, unless there are no steps left.
    """
    bring_inside(variables, seed, q)
    if status != DESCENT_REACHED:
        return status, BEYOND_LIMITS
    begin_descent(work)
    set_bounds(variables, FREE_TURNS, work)
    if more:
        return status, WITHIN_LIMITS
    save_unfinished(q, work)
    return DESCENT_SPENT, WITHIN_LIMITS


@helper
def prove(
    chain: PackedChain, goal: PoseGoal, q: FloatArray, work: FloatArray
) -> tuple[int, float, float]:
    """Return the status, distance [m] and angle [rad] left at q.

    The status is DESCENT_REACHED, or DESCENT_STALLED if the proof fails.
    """
    distance, angle = measure(chain, goal, q, work)
    return DESCENT_REACHED if meets(goal, distance, angle) else DESCENT_STALLED, distance, angle


@helper
def last_status(status: int, out_of_reach: bool, careful: bool, more: bool) -> int:
    """Return the status of a search, from its last descent and whether starts are left."""
    if out_of_reach and (careful or status != DESCENT_SPENT):
        return OUT_OF_REACH
    return DESCENT_SPENT if more and not out_of_reach else status


@jit
def solve_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: tuple[int, int, bool], starts: tuple[int, int, float],
) -> Found:  # fmt: skip
    """Run `search` from Python, with the fields of its named tuples."""
    return search(
        PackedChain(*chain), PoseGoal(*goal), seed, q, work, Effort(*effort), Starts(*starts)
    )


class PoseSearch(NamedTuple):
    """What an attempt to reach a pose takes."""

    chain: PackedChain
    goal: PoseGoal
    seed: FloatArray
    """(n,) [rad or m]."""
    arrival: tuple[float, float]
    """See `descend`."""
    effort: Effort
    starts: Starts


@helper
def attempt_pose(
    problem: PoseSearch, q: FloatArray, work: FloatArray, number: int, left: int
) -> tuple[int, int, float, float, float]:
    """Descend from a start, or go on where the last slice ended; see `starts_kernel.Attempt`."""
    chain, goal, seed, arrival, effort, starts = problem
    variables, state = chain.variables, work[work.shape[0] - 1]
    phase, taken = int(state[SEARCH_PHASE]), 0
    if phase == START_ENDED:
        if number == 0:
            begin_inside(variables, seed, q)
        else:
            write_start(variables, number, q)
        if number == starts.first:
            keep_best(q, work)  # or a NaN error would leave the memory's old content
        phase = begin_start(chain, goal.weights, q, work, effort.careful, starts, number)
    else:
        restore_unfinished(q, work)
    while True:
        rest = Effort(left - taken, effort.patience, effort.careful)
        status, more, error = descend(chain, goal.weights, q, work, arrival, rest)
        taken += more
        if status == DESCENT_SPENT:
            save_unfinished(q, work)
        if phase != BEYOND_LIMITS:
            break
        status, phase = return_inside(variables, seed, q, work, status, taken < left)
        if status != DESCENT_REACHED:
            error = FAR_OFF
            break
    state[SEARCH_PHASE] = phase if status == DESCENT_SPENT else START_ENDED
    take_shortest_turns(variables, seed, q)
    distance, angle = np.inf, np.inf
    if status == DESCENT_REACHED:
        status, distance, angle = prove(chain, goal, q, work)
    return status, taken, error, distance, angle


attempt_poses = over_starts(attempt_pose)


@helper
def search(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: Effort, starts: Starts,
) -> Found:  # fmt: skip
    """Descend from the seed, then from further starts, until a descent arrives and is proven.

    Args:
        chain: The chain.
        goal: The goal.
        seed: (n,) [rad or m].
        q: (n,) result: the solution, or else the best of all descents [rad or m].
        work: (n + 2 m + 3, 12) workspace.
        effort: Budget of all descents together.
        starts: The starts.

    Returns:
        DESCENT_REACHED; otherwise OUT_OF_REACH, or the status of the last descent (DESCENT_SPENT,
        DESCENT_STALLED); BAD_SEED or BAD_TARGET before any work. Steps; number of the last start;
        distance [m] and angle [rad] left at q.
    """
    refused = check_start(seed, goal.target)
    if refused != 0:
        return refused, 0, 0, np.inf, np.inf
    state, out_of_reach = work[work.shape[0] - 1], is_out_of_reach(chain, goal)
    number, least = starts.first, np.inf
    if number == GO_ON:
        number, least = int(state[SEARCH_START]), state[SEARCH_LEAST]
        number += 1 if state[SEARCH_PHASE] == START_ENDED else 0
    else:
        state[SEARCH_PHASE] = START_ENDED
    relate_to_target(chain.ends[0], goal.target, work, q.shape[0] + chain.joints.shape[0])
    problem = PoseSearch(chain, goal, seed, squared_arrival(goal), effort, starts)
    last = number if out_of_reach else starts.last
    status, steps, number, least, distance, angle = attempt_poses(
        problem, q, work, (number, last), effort.iterations, least
    )
    if status == DESCENT_REACHED:
        return status, steps, number, distance, angle
    state[SEARCH_START], state[SEARCH_LEAST] = number, least
    status = last_status(status, out_of_reach, effort.careful, number < starts.last)
    distance, angle = measure(chain, goal, q, work)
    return status, steps, number, distance, angle


@helper
def write_figures(found: Found, figures: FloatArray) -> None:
    """Write the result of one search of a batch into its row of figures (5,)."""
    figures[IS_REACHED] = 1.0 if found[0] == DESCENT_REACHED else 0.0
    figures[STEPS], figures[LAST_START] = found[1], found[2]
    figures[DISTANCE], figures[ANGLE] = found[3], found[4]

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

"""From a target pose and a seed to joint positions that are proven by forward kinematics.

One call does everything and allocates nothing: descents from a row of starts until one arrives, the
shortest turns, the proof. Which starts, and in which order, depends on the inputs alone.
"""

from __future__ import annotations

from math import floor, pi, sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.search.descent_kernel import REACHED, SPENT, STALLED, begin_descent, descend
from basis_ik.search.fabrik_sweep_kernel import sweep
from basis_ik.search.hinge_fit_kernel import ORIENTATION_MOMENT
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly
from basis_ik.search.tables_kernel import (
    ANGLE,
    BEST,
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
from basis_ik.search.tables_kernel import COLUMNS as COLUMNS

Found = tuple[int, int, int, float, float]
"""How a search ended; steps; number of the last start; distance [m] and angle [rad] left."""

BAD_SEED, BAD_TARGET, OUT_OF_REACH = -2, -3, -4
GO_ON = -1  # in place of the first start's number: where the last call was SPENT
LIMITS, FREE_TURNS, UNBOUNDED = 0.0, 1.0, 2.0  # what bounds a descent; integers: a type for each
LARGEST_ANGLE = 1e5  # [rad]: beyond it a double no longer resolves 1e-11 rad
LARGEST_TOLERANCE = 1e6  # [m] or [rad]
LARGEST_LENGTH = 1e6  # [m]: beyond it a double no longer resolves 1e-10 m
ROAMING_EVERY = 2  # of the further starts look for a solution outside the limits first
ENDED, INSIDE, ROAMING = 0, 1, 2  # a descent: over, within its limits, outside them
FAR_OFF = 1e300  # squared error of what is only worth keeping for want of anything else
NEAR = 0.4  # weighted squared error below which a seed is descended from as it is
PATIENCE = 1  # steps of a descent that may fail to get nearer, see `Effort`; docs/algorithms.md
MARGIN = 0.1  # the descent aims at a tenth of the tolerance: one more step, and the proof holds


class Starts(NamedTuple):
    """Where a search starts."""

    first: int
    """Number of the first start: 0 is the seed, all others are fresh ones; or GO_ON, with `work` as
    the last call left it: a search in slices finds what it finds in one."""
    last: int
    """Number of the last start."""
    near: float
    """Starts with a smaller weighted squared error are not swept; infinite: no sweeps."""


@helper
def is_sound(target: FloatArray) -> bool:
    """Tell whether a target (4, 4) is finite, its rotation too, and not too far away."""
    for r in range(3):
        for c in range(4):
            if not abs(target[r, c]) <= LARGEST_LENGTH:
                return False
    return True


@helper
def relate_to_target(base: FloatArray, target: FloatArray, work: FloatArray, row: int) -> None:
    """Write target_T_first_joint (3, 4) into a row of `work`, by rows."""
    for r in range(3):
        for c in range(4):
            dot = target[0, r] * base[0, c] + target[1, r] * base[1, c] + target[2, r] * base[2, c]
            if c == 3:
                dot -= target[0, r] * target[0, 3]
                dot -= target[1, r] * target[1, 3] + target[2, r] * target[2, 3]
            work[row, 4 * r + c] = dot


@inlined
def shortest_turn(variables: FloatArray, k: int, seed: float, value: float) -> float:
    """Return a variable's value at the turn nearest its seed that lies inside the limits.

    What may not turn fully is left as it is, and what no full turn brings inside.
    """
    if variables[k, PERIODIC] == 0.0:
        return value
    lower, upper = variables[k, LOWER], variables[k, UPPER]
    near = value + 2.0 * pi * floor((seed - value) / (2.0 * pi) + 0.5)
    if near > upper:
        near -= 2.0 * pi * np.ceil((near - upper) / (2.0 * pi))
    if near < lower:
        near += 2.0 * pi * np.ceil((lower - near) / (2.0 * pi))
    if lower <= near <= upper:
        return near
    if upper - lower >= 2.0 * pi:  # a rounding beyond a limit one turn from the other
        return min(upper, max(lower, near))  # type: ignore[no-any-return]
    return value


@jit
def take_shortest_turns(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Move every q that may turn fully to the turn nearest its seed that lies inside the limits."""
    for k in range(variables.shape[0]):
        q[k] = shortest_turn(variables, k, seed[k], q[k])


@helper
def set_bounds(variables: FloatArray, kind: float, work: FloatArray) -> None:
    """Write between what bounds a descent may move each variable into `work`.

    LIMITS are what they say. FREE_TURNS leaves out those of a variable that may turn fully and has
    room for it, since `take_shortest_turns` brings it back: such a limit would only stop a descent
    at a wall that is none. UNBOUNDED leaves out all.
    """
    for k in range(variables.shape[0]):
        low, high = variables[k, LOWER], variables[k, UPPER]
        turns = variables[k, PERIODIC] != 0.0 and high - low >= 2.0 * pi
        if kind == UNBOUNDED or (kind == FREE_TURNS and turns):
            low, high = -np.inf, np.inf
        work[k, BOUND_LOWER], work[k, BOUND_UPPER] = low, high


@jit
def begin_inside(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Copy the seed, by full turns where that helps and else to the limit, into the limits."""
    for k in range(variables.shape[0]):
        q[k] = seed[k]
    bring_inside(variables, seed, q)


@helper
def bring_inside(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Move q inside, by full turns to near the seed where that helps, else to the limit."""
    take_shortest_turns(variables, seed, q)
    for k in range(variables.shape[0]):
        q[k] = min(variables[k, UPPER], max(variables[k, LOWER], q[k]))


@jit
def begin_anew(variables: FloatArray, start: int, q: FloatArray) -> None:
    """Write the start-th of the chain's own starts, and after these a point spread over the limits.

    Roberts' generalised golden ratio sequence: deterministic, and without a state to keep.
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
    """Return BAD_SEED or BAD_TARGET for numbers that no search can start from, else 0."""
    for k in range(seed.shape[0]):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED
    return 0 if is_sound(target) else BAD_TARGET


@helper
def are_tolerances(position: float, rotation: float) -> bool:
    """Tell whether tolerances [m], [rad] are above 0 and not too large."""
    return 0.0 < position < LARGEST_TOLERANCE and 0.0 < rotation < LARGEST_TOLERANCE


@helper
def is_out_of_reach(chain: PackedChain, goal: PoseGoal) -> bool:
    """Tell whether the chain's lengths rule a target out."""
    far = 0.0
    for r in range(3):
        far += (goal.target[r, 3] - chain.ends[0, r, 3]) ** 2
    return sqrt(far) > chain.reach + goal.position_tolerance


@helper
def squared_arrival(goal: PoseGoal) -> tuple[float, float]:
    """Return the weighted squared errors of position and rotation at which a descent arrives."""
    w = goal.weights
    position, rotation = max(w[WX], max(w[WY], w[WZ])), max(w[WRX], max(w[WRY], w[WRZ]))
    return (
        (MARGIN * goal.position_tolerance * position) ** 2,
        (MARGIN * goal.rotation_tolerance * rotation) ** 2,
    )


@inlined
def measure(
    chain: PackedChain, goal: PoseGoal, q: FloatArray, work: FloatArray
) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] that are left at q, by the proof."""
    frame = np.empty((3, 4))  # which costs less than a row of `work` in another shape
    place_exactly(chain.exact, q, frame)
    return distance_and_angle(frame, goal.target, goal.weights)


@helper
def meets(goal: PoseGoal, away: float, turned: float) -> bool:
    """Tell whether a distance [m] and an angle [rad] are within the tolerances that count."""
    near_enough = goal.weights[WX] == 0.0 or away <= goal.position_tolerance
    return near_enough and (goal.weights[WRX] == 0.0 or turned <= goal.rotation_tolerance)


@helper
def keep_best(q: FloatArray, work: FloatArray) -> None:
    """Keep q as the best so far."""
    for k in range(q.shape[0]):
        work[k, BEST] = q[k]


@helper
def go_back_to_best(q: FloatArray, work: FloatArray) -> None:
    """Write the best so far into q."""
    for k in range(q.shape[0]):
        q[k] = work[k, BEST]


@helper
def keep_unfinished(q: FloatArray, work: FloatArray) -> None:
    """Keep q as where a search in slices goes on."""
    for k in range(q.shape[0]):
        work[k, UNFINISHED] = q[k]


@helper
def resume(
    variables: FloatArray, seed: FloatArray, q: FloatArray, work: FloatArray, first: int
) -> tuple[int, float, int]:
    """Write the first start, or where the last slice stood; return its number, least and phase."""
    fresh, least, phase = first, np.inf, ENDED + 0 * q.shape[0]
    if first == GO_ON:
        state = work[work.shape[0] - 1]
        fresh, least = int(state[SEARCH_START]), state[SEARCH_LEAST]
        phase = int(state[SEARCH_PHASE])
        for k in range(q.shape[0]):
            q[k] = work[k, UNFINISHED]
        if phase == ENDED:
            fresh += 1
            begin_anew(variables, fresh, q)
        return fresh, least, phase
    if first == 0:
        begin_inside(variables, seed, q)
    else:
        begin_anew(variables, first, q)
    keep_best(q, work)  # or an error that is NaN would leave what the memory held before
    return fresh, least, phase


@helper
def suspend(work: FloatArray, fresh: int, least: float, phase: int) -> None:
    """Keep where the search stands for the next slice."""
    state = work[work.shape[0] - 1]
    state[SEARCH_START], state[SEARCH_LEAST], state[SEARCH_PHASE] = fresh, least, phase


@helper
def begin_start(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, careful: bool,
    starts: Starts, fresh: int,
) -> int:  # fmt: skip
    """Set the bounds of a new descent and sweep its start; return INSIDE or ROAMING."""
    position_free, rotation_free = weights[WX] == 0.0, weights[WRX] == 0.0
    swept = starts.near < np.inf and not position_free and (rotation_free or weights[WRZ] > 0.0)
    further = fresh - (chain.variables.shape[1] - COLUMNS)
    roams = swept and starts.first < starts.last and further > 0 and further % ROAMING_EVERY == 0
    begin_descent(work)
    bounds = UNBOUNDED if roams else LIMITS if careful else FREE_TURNS
    set_bounds(chain.variables, bounds, work)
    if swept:
        moment = 0.0 if rotation_free else ORIENTATION_MOMENT / weights[WX] ** 2
        if not sweep(chain, weights, q, work, moment, starts.near if fresh == 0 else 0.0):
            set_bounds(chain.variables, LIMITS, work)  # so near that no joint should have to unwind
    return ROAMING if roams else INSIDE


@helper
def come_inside(
    variables: FloatArray, seed: FloatArray, q: FloatArray, work: FloatArray, status: int,
    more: bool,
) -> tuple[int, int]:  # fmt: skip
    """Bring q inside the limits after a descent outside them; return how that ended, and a phase.

    Where it has reached the target, a descent inside the limits begins there, if there are steps.
    """
    bring_inside(variables, seed, q)
    if status != REACHED:
        return status, ROAMING
    begin_descent(work)
    set_bounds(variables, FREE_TURNS, work)
    if more:
        return status, INSIDE
    keep_unfinished(q, work)
    return SPENT, INSIDE


@helper
def prove(
    chain: PackedChain, goal: PoseGoal, q: FloatArray, work: FloatArray
) -> tuple[int, float, float]:
    """Return REACHED, or STALLED where the proof fails; distance [m] and angle [rad] left at q."""
    away, turned = measure(chain, goal, q, work)
    return REACHED if meets(goal, away, turned) else STALLED, away, turned


@helper
def last_status(status: int, out_of_reach: bool, careful: bool, more: bool) -> int:
    """Return how a search ended, by how its last descent did and whether it may make more."""
    if out_of_reach and (careful or status != SPENT):
        return OUT_OF_REACH
    return SPENT if more and not out_of_reach else status


@jit
def solve_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: tuple[int, int, bool], starts: tuple[int, int, float],
) -> Found:  # fmt: skip
    """Run `search` from Python, with the fields of its named tuples."""
    return search(
        PackedChain(*chain), PoseGoal(*goal), seed, q, work, Effort(*effort), Starts(*starts)
    )


@helper
def search(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    effort: Effort, starts: Starts,
) -> Found:  # fmt: skip
    """Descend from the seed, then from fresh starts, until a descent arrives and is proven.

    Args:
        chain: The chain.
        goal: What to reach.
        seed: (n,).
        q: (n,) result: what reached the target, else the best of all descents.
        work: (n + 2 m + 3, 12).
        effort: Its steps are those of all descents together.
        starts: Where to start.

    Returns:
        REACHED; else OUT_OF_REACH, or how the last descent ended (SPENT, STALLED); BAD_SEED or
        BAD_TARGET before any work. Steps; number of the last start; distance [m] and angle [rad]
        left at q.
    """
    refused = check_start(seed, goal.target)
    if refused != 0:
        return refused, 0, 0, np.inf, np.inf
    variables, n, steps = chain.variables, q.shape[0], 0
    out_of_reach, arrival = is_out_of_reach(chain, goal), squared_arrival(goal)
    fresh, least, phase = resume(variables, seed, q, work, starts.first)
    relate_to_target(chain.ends[0], goal.target, work, n + chain.joints.shape[0])
    while True:
        if phase == ENDED:
            phase = begin_start(chain, goal.weights, q, work, effort.careful, starts, fresh)
        left = Effort(effort.iterations - steps, effort.patience, effort.careful)
        status, taken, error = descend(chain, goal.weights, q, work, arrival, left)
        steps += taken
        if status == SPENT:
            keep_unfinished(q, work)
        if phase == ROAMING:
            more = steps < effort.iterations
            status, phase = come_inside(variables, seed, q, work, status, more)
            if status == REACHED:
                continue
            error = FAR_OFF
        if status == REACHED or error < least:
            take_shortest_turns(variables, seed, q)
        if status == REACHED:
            status, away, turned = prove(chain, goal, q, work)
            if status == REACHED:
                return status, steps, fresh, away, turned
        if error < least:
            least = error
            keep_best(q, work)
        if out_of_reach or fresh >= starts.last or steps >= effort.iterations:
            break
        fresh, phase = fresh + 1, ENDED + 0 * n  # of one type with what follows
        begin_anew(variables, fresh, q)
    suspend(work, fresh, least, phase if status == SPENT else ENDED + 0 * n)
    status = last_status(status, out_of_reach, effort.careful, fresh < starts.last)
    go_back_to_best(q, work)
    away, turned = measure(chain, goal, q, work)
    return status, steps, fresh, away, turned


@helper
def note(found: Found, figures: FloatArray) -> None:
    """Write how a search of a batch ended into its row of figures (5,)."""
    figures[IS_REACHED] = 1.0 if found[0] == REACHED else 0.0
    figures[STEPS], figures[LAST_START] = found[1], found[2]
    figures[DISTANCE], figures[ANGLE] = found[3], found[4]

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

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper, jit
from basis_ik.search.descent_kernel import REACHED, SPENT, STALLED, begin, descend
from basis_ik.search.fabrik_sweep_kernel import ORIENTATION_MOMENT, sweep
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly
from basis_ik.search.tables_kernel import (
    BEST,
    BOUND_LOWER,
    BOUND_UPPER,
    GOLDEN_STEP,
    LOWER,
    PERIODIC,
    SEARCH_LEAST,
    SEARCH_PHASE,
    SEARCH_START,
    START_LOWER,
    START_UPPER,
    UNFINISHED,
    UPPER,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
)
from basis_ik.search.tables_kernel import COLUMNS as COLUMNS

FloatArray = NDArray[np.float64]

BAD_SEED, BAD_TARGET, OUT_OF_REACH = -2, -3, -4
GO_ON = -1  # in place of the first start's number: where the last call was SPENT
LIMITS, FREE_TURNS, UNBOUNDED = 0.0, 1.0, 2.0  # what bounds a descent; integers: a type for each
LARGEST_ANGLE = 1e5  # [rad]: beyond it a double no longer resolves 1e-11 rad
LARGEST_LENGTH = 1e6  # [m]: beyond it a double no longer resolves 1e-10 m
ROAMING = 2  # every so many of the further starts look for a solution outside the limits first
FAR_OFF = 1e300  # squared error of what is only worth keeping for want of anything else
MARGIN = 0.1  # the descent aims at a tenth of the tolerance: one more step, and the proof holds


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


@jit
def take_shortest_turns(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Move every q that may turn fully to the turn nearest its seed that lies inside the limits."""
    for k in range(variables.shape[0]):
        if variables[k, PERIODIC] != 0.0:
            lower, upper = variables[k, LOWER], variables[k, UPPER]
            near = q[k] + 2.0 * pi * floor((seed[k] - q[k]) / (2.0 * pi) + 0.5)
            if near > upper:
                near -= 2.0 * pi * np.ceil((near - upper) / (2.0 * pi))
            if near < lower:
                near += 2.0 * pi * np.ceil((lower - near) / (2.0 * pi))
            if lower <= near <= upper:
                q[k] = near
            elif upper - lower >= 2.0 * pi:  # a rounding beyond a limit one turn from the other
                q[k] = min(upper, max(lower, near))


@helper
def set_bounds(variables: FloatArray, kind: float, work: FloatArray) -> None:
    """Write between what bounds a descent may move each variable into columns 9-10 of `work`.

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


@jit
def solve_pose(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    reach: float,
    weights: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    q: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    iterations: int,
    first: int,
    restarts: int,
    patience: int,
    careful: bool,
    near: float,
) -> tuple[int, int, int, float, float]:
    """Descend from the seed, then from fresh starts, until a descent arrives and is proven.

    Args:
        exact: (m + 1, 16), see `proof.place_exactly`.
        joints: (m, 12), see `descent.place`.
        variables: (n, 8 + s): lower, upper, scale, lower and upper of fresh starts, whether a full
            turn changes nothing, step of the recurrence, 0; then s starts that suit this chain.
        ends: (2, 3, 4): root_T_first_joint, last_joint_T_tip.
        reach: No tip is farther than this from the first joint [m].
        weights: (12,), see `descent.descend`.
        target: (4, 4) root_T_target.
        seed: (n,).
        q: (n,) result: what reached the target, else the best of all descents.
        work: (n + 2 m + 3, 12).
        position_tolerance: [m].
        rotation_tolerance: [rad].
        iterations: Steps allowed, all descents together.
        first: Number of the first start: 0 is the seed, all others are fresh ones; or GO_ON, with
            `work` as the last call left it: a search in slices finds what it finds in one.
        restarts: Number of the last start.
        patience: See `descent.descend`.
        careful: See `descent.descend`.
        near: Starts with a smaller weighted squared error are not swept; infinite: no sweeps.

    Returns:
        REACHED; else OUT_OF_REACH, or how the last descent ended (SPENT, STALLED); BAD_SEED or
        BAD_TARGET before any work. Steps; number of the last start; distance [m] and angle [rad]
        left at q.
    """
    n, last = variables.shape[0], variables.shape[0] + joints.shape[0]
    for k in range(n):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED, 0, 0, np.inf, np.inf
    if not is_sound(target):
        return BAD_TARGET, 0, 0, np.inf, np.inf
    frame = work[last + 1].reshape((3, 4))
    tip = ends[1]
    aim_p = (MARGIN * position_tolerance * max(weights[WX], max(weights[WY], weights[WZ]))) ** 2
    aim_r = (MARGIN * rotation_tolerance * max(weights[WRX], max(weights[WRY], weights[WRZ]))) ** 2
    free_p, free_r = weights[WX] == 0.0, weights[WRX] == 0.0
    swept = near < np.inf and not free_p and (free_r or weights[WRZ] > 0.0)
    far = 0.0
    for r in range(3):
        far += (target[r, 3] - ends[0, r, 3]) ** 2
    out_of_reach = sqrt(far) > reach + position_tolerance
    state = work[last + 2 + joints.shape[0]]  # after the two that are the descent's
    least, steps, fresh, unfinished, roams = np.inf, 0, first, False, False
    own = variables.shape[1] - COLUMNS
    if first == GO_ON:
        fresh, least = int(state[SEARCH_START]), state[SEARCH_LEAST]
        unfinished, roams = state[SEARCH_PHASE] != 0.0, state[SEARCH_PHASE] == 2.0
        for k in range(n):
            q[k] = work[k, UNFINISHED]
        if not unfinished:
            fresh += 1
            begin_anew(variables, fresh, q)
    elif first == 0:
        begin_inside(variables, seed, q)
    else:
        begin_anew(variables, first, q)
    if first != GO_ON:  # or an error that is NaN would leave what the memory held before
        for k in range(n):
            work[k, BEST] = q[k]
    relate_to_target(ends[0], target, work, last)
    spent, stalled, out = SPENT + 0 * n, STALLED + 0 * n, OUT_OF_REACH + 0 * n  # of one type
    moment = 0.0
    if swept and not free_r:
        moment = ORIENTATION_MOMENT / weights[WX] ** 2
    while True:
        if not unfinished:
            begin(work)
            roams = swept and first < restarts and fresh > own and (fresh - own) % ROAMING == 0
            set_bounds(variables, UNBOUNDED if roams else LIMITS if careful else FREE_TURNS, work)
            if swept:
                moved = sweep(joints, tip, q, work, weights, moment, near if fresh == 0 else 0.0, n)
                if not moved:  # a start so near that no joint should have to unwind
                    set_bounds(variables, LIMITS, work)
        unfinished = False
        status, taken, error = descend(
            joints, variables, tip, weights, q, work, aim_p, aim_r,
            iterations - steps, patience, careful,
        )  # fmt: skip
        steps += taken
        if status == SPENT:
            for k in range(n):
                work[k, UNFINISHED] = q[k]
        if roams:
            bring_inside(variables, seed, q)
            error = FAR_OFF
            if status == REACHED:  # outside the limits: a start from which they are not far
                begin(work)
                set_bounds(variables, FREE_TURNS, work)
                roams, unfinished = False, steps < iterations
                if unfinished:
                    continue
                status = spent
                for k in range(n):
                    work[k, UNFINISHED] = q[k]
        if status == REACHED or error < least:
            take_shortest_turns(variables, seed, q)
            if status == REACHED:
                place_exactly(exact, q, frame)
                away, turned = distance_and_angle(frame, target, weights)
                near_enough = free_p or away <= position_tolerance
                if near_enough and (free_r or turned <= rotation_tolerance):
                    return REACHED, steps, fresh, away, turned
                status = stalled
        if error < least:
            least = error
            for k in range(n):
                work[k, BEST] = q[k]
        if out_of_reach or fresh >= restarts or steps >= iterations:
            break
        fresh += 1
        begin_anew(variables, fresh, q)
    state[SEARCH_START], state[SEARCH_LEAST], state[SEARCH_PHASE] = fresh, least, 0.0
    if status == SPENT:
        state[SEARCH_PHASE] = 2.0 if roams else 1.0
    if not out_of_reach and fresh < restarts:
        status = spent
    for k in range(n):
        q[k] = work[k, BEST]
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    if out_of_reach and (careful or status != SPENT):
        status = out
    return status, steps, fresh, away, turned

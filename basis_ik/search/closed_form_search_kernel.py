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

"""The branches of an arm that has a closed form, as starts of the search."""

from __future__ import annotations

from math import floor, isnan, pi

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper, jit
from basis_ik.search.closed_form_kernel import (
    COUPLED,
    DRIVES,
    FREE,
    HELD,
    KIND,
    LIFT,
    MOST,
    find_branches,
    lowered,
)
from basis_ik.search.descent_kernel import REACHED, SPENT, STALLED
from basis_ik.search.pose_search_kernel import (
    COLUMNS,
    LARGEST_ANGLE,
    MARGIN,
    solve_pose,
    take_shortest_turns,
)
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly

FloatArray = NDArray[np.float64]

OUTSIDE = 1e-2  # [rad] beyond a limit at which a branch is still tried: it is polished inside
# Of the margin for a proof: where the nearest branch is the nearest answer. Errors are worked out
# at their worst, and where the arm really is singular the margin is a thousandth of this.
REGULAR = 0.01
NOWHERE = -5  # proven: no branch lies within the limits, nor nearly so


@jit
def branch_starts(
    form: FloatArray,
    variables: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Write variables with the branches of a pose as the chain's own starts, the nearest first.

    Args:
        form: See `closed_form_kernel.find_branches`.
        variables: (n, 8 or more), see `pose_search_kernel.solve_pose`.
        target: (4, 4) root_T_target.
        seed: (n,) near which the branches are turned, within the limits where that is possible.
        starts: (n, 16) result.

    Returns:
        How many branches lie within the limits, or so little outside that they have been brought
        inside; how many there are, those farther outside behind; and by how much the target may be
        off, [rad] and [sizes], before there are fewer or more, or one of the latter comes inside.
    """
    found, goal = np.empty((MOST, 7)), np.empty((4, 4))
    rise = lowered(form, target, goal)
    count, margin = find_branches(form, goal, seed, found)
    return order_starts(form, variables, seed, found, count, margin, rise, starts)


@helper
def order_starts(
    form: FloatArray,
    variables: FloatArray,
    seed: FloatArray,
    found: FloatArray,
    count: int,
    margin: float,
    rise: float,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Write what `find_branches` has found as starts; see `branch_starts`."""
    n = variables.shape[0]
    branches, ways = np.empty((MOST, n)), np.empty(MOST)
    inside, kept = 0, 0
    for k in range(count):
        if isnan(found[k, 0]):  # a wrist that cannot be turned so
            continue
        beside, blur = drive_branch(form, variables, seed, found[k], branches[kept])
        if beside > OUTSIDE:  # what is held does not reach it, whatever the limits
            margin = min(margin, beside / (blur * found[k, 6]))
            continue
        lift = -1
        if form[LIFT + 1, 0] != 0.0:
            lift = int(form[LIFT + 1, 2])
            branches[kept, lift] = form[LIFT + 1, 0] * (rise - form[LIFT + 1, 1])
        outside, ways[kept] = order_branch(variables, seed, branches[kept], lift)
        if outside > OUTSIDE:
            margin = min(margin, outside / found[k, 6])
        else:
            inside += 1
        kept += 1
    for i in range(n):
        for c in range(COLUMNS):
            starts[i, c] = variables[i, c]
    for rank in range(kept):
        best = 0
        for k in range(1, kept):
            if ways[k] < ways[best] or not ways[best] >= 0.0:
                best = k
        ways[best] = np.nan
        for i in range(n):
            starts[i, COLUMNS + rank] = branches[best, i]
    return inside, kept, margin


@helper
def drive_branch(
    form: FloatArray,
    variables: FloatArray,
    seed: FloatArray,
    angles: FloatArray,
    branch: FloatArray,
) -> tuple[float, float]:
    """Write the variables (n,) that give a form its six angles, within a turn of the seed.

    Returns:
        By how much an axis is off where it is held, or coupled to another [rad]; and how many times
        as far as one angle may be off, that may be.
    """
    for v in range(variables.shape[0]):  # those that drive no axis are locked
        branch[v] = min(variables[v, 1], max(variables[v, 0], seed[v]))
    for i in range(6):
        if form[DRIVES + i, 2] >= 0.0:
            angle = angles[5 - i] if form[KIND, 1] != 0.0 else angles[i]
            v = int(form[DRIVES + i, 2])
            away = form[DRIVES + i, 0] * (angle - form[DRIVES + i, 1]) - seed[v]
            branch[v] = seed[v] + away - 2.0 * pi * floor(away / (2.0 * pi) + 0.5)
    beside, blur = 0.0, 1.0
    for i in range(6):
        number, at = form[DRIVES + i, 2], 0.0
        if number < 0.0 and number != FREE:
            if number != HELD:
                at = form[DRIVES + i, 0] * branch[int(COUPLED - number)] + form[DRIVES + i, 1]
                blur = max(blur, 1.0 + abs(form[DRIVES + i, 0]))
            angle = angles[5 - i] if form[KIND, 1] != 0.0 else angles[i]
            off = angle - at
            beside = max(beside, abs(off - 2.0 * pi * floor(off / (2.0 * pi) + 0.5)))
    return beside, blur


@helper
def order_branch(
    variables: FloatArray, seed: FloatArray, branch: FloatArray, lift: int
) -> tuple[float, float]:
    """Turn a branch, but for the slide `lift`, to near the seed, within the limits.

    Returns:
        By how much some joint is outside [rad or sizes]; and how far it is from the seed, squared,
        but infinitely far where it is outside by more than polishing could mend.
    """
    take_shortest_turns(variables, seed, branch)
    way, outside = 0.0, 0.0
    for k in range(seed.shape[0]):
        lower, upper = variables[k, 0], variables[k, 1]
        if not lower <= branch[k] <= upper:  # by how much depends on the turn: the least counts
            if k != lift:
                turns = (0.5 * (lower + upper) - branch[k]) / (2.0 * pi)
                branch[k] += 2.0 * pi * floor(turns + 0.5)
            outside = max(outside, max(lower - branch[k], branch[k] - upper) / variables[k, 2])
        way += (branch[k] - seed[k]) ** 2
    if outside > OUTSIDE:
        return outside, np.inf
    for k in range(seed.shape[0]):
        branch[k] = min(variables[k, 1], max(variables[k, 0], branch[k]))
    return outside, way


@jit
def solve_closed_pose(
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
    patience: int,
    near: float,
    form: FloatArray,
    clear: float,
) -> tuple[int, int, int, float, float]:
    """Find joint positions q (n,) that reach a target (4, 4), from its branches and the seed (n,).

    Above the margin `clear`, see `branch_starts`, it is proven that there are no other branches.
    For all else see `pose_search_kernel.solve_pose`.

    Returns:
        As `solve_pose`, or NOWHERE for how the search ended.
    """
    starts = np.empty((variables.shape[0], COLUMNS + MOST))
    inside, _, margin = branch_starts(form, variables, target, seed, starts)
    return solve_from_branches(
        exact, joints, variables, ends, reach, weights, target, seed, q, work, position_tolerance,
        rotation_tolerance, iterations, patience, near, starts, inside, margin / clear,
    )  # fmt: skip


@jit
def solve_closed_poses(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    reach: float,
    weights: FloatArray,
    targets: FloatArray,
    seeds: FloatArray,
    q: FloatArray,
    figures: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    iterations: int,
    patience: int,
    near: float,
    form: FloatArray,
    clear: float,
) -> None:
    """Solve for targets (k, 4, 4) from seeds (k, n) into q (k, n); see `solve_closed_pose`.

    Row i of `figures` (k, 5) gets: reached, steps, last start, distance [m], angle [rad].
    """
    for i in range(targets.shape[0]):
        status, steps, last, away, turned = solve_closed_pose(
            exact, joints, variables, ends, reach, weights, targets[i], seeds[i], q[i], work,
            position_tolerance, rotation_tolerance, iterations, patience, near, form, clear,
        )  # fmt: skip
        figures[i, 0] = 1.0 if status == REACHED else 0.0
        figures[i, 1], figures[i, 2], figures[i, 3], figures[i, 4] = steps, last, away, turned


@helper
def solve_from_branches(
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
    patience: int,
    near: float,
    starts: FloatArray,
    inside: int,
    margin: float,
) -> tuple[int, int, int, float, float]:
    """Take a target's nearest branch, or descend from its branches and from the seed.

    As a rule the nearest branch is the nearest answer. Where the arm is singular, the descent from
    the seed may lead to a nearer one, and comes first. `margin` is in parts of that for a proof.
    """
    last, careful = 0 * iterations, iterations < 0
    first, far = last + 1, np.inf + 0.0 * near  # constants would be types of their own
    status, nowhere, regular = STALLED + last, NOWHERE + last, margin > REGULAR
    steps, fresh, away, turned = last, last, far, far
    if regular and inside > 0:
        away, turned = miss_of_first(exact, variables, weights, target, seed, q, work, starts)
        if away <= MARGIN * position_tolerance and turned <= MARGIN * rotation_tolerance:
            return REACHED + last, steps, fresh, away, turned
    for turn in range(2):
        if not STALLED <= status <= SPENT:
            continue
        if (turn == 0) != regular:
            status, taken, fresh, away, turned = solve_pose(
                exact, joints, variables, ends, reach, weights, target, seed, q, work,
                position_tolerance, rotation_tolerance, iterations - steps, last, last, patience,
                careful, near,
            )  # fmt: skip
            steps += taken
        elif inside > 0:
            status, taken, fresh, away, turned = solve_pose(
                exact, joints, starts, ends, reach, weights, target, seed, q, work,
                position_tolerance, rotation_tolerance, iterations - steps, first, inside, patience,
                careful, far,
            )  # fmt: skip
            steps += taken
            if regular:  # these are the first starts
                fresh -= 1
    if margin > 1.0 and inside == 0 and STALLED <= status <= SPENT:
        status = nowhere
    return status, steps, fresh, away, turned


@helper
def miss_of_first(
    exact: FloatArray,
    variables: FloatArray,
    weights: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    q: FloatArray,
    work: FloatArray,
    starts: FloatArray,
) -> tuple[float, float]:
    """Write the nearest branch, and return by what it misses the target [m], [rad].

    Where only the position is wanted, the angle is 0; of a seed that `solve_pose` refuses, both are
    infinite.
    """
    frame = work[variables.shape[0]].reshape((3, 4))
    for k in range(variables.shape[0]):
        q[k] = starts[k, COLUMNS]
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return np.inf, np.inf
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    return away, turned if weights[3] > 0.0 else 0.0

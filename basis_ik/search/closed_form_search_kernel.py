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
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.robot.safety_kernel import is_inside
from basis_ik.search.closed_form_kernel import (
    AWAY,
    BACKWARD,
    COUPLED,
    DRIVES,
    ERROR,
    FACTOR,
    FREE,
    HELD,
    KIND,
    LENGTH,
    LIFT,
    MOST,
    NUMBER,
    OFF,
    ROWS,
    SHIFT,
    SIZE,
    TURNED,
    find_branches,
    form_goal,
    rise_of,
)
from basis_ik.search.descent_kernel import REACHED, SPENT, STALLED
from basis_ik.search.pose_search_kernel import (
    MARGIN,
    NEAR,
    PATIENCE,
    Found,
    Starts,
    are_tolerances,
    check_start,
    measure,
    note,
    search,
    shortest_turn,
)
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly
from basis_ik.search.tables_kernel import (
    COLUMNS,
    LOWER,
    SCALE,
    UPPER,
    WRX,
    ChainFields,
    Effort,
    GoalFields,
    PackedChain,
    PoseGoal,
    PoseGoals,
)
from basis_ik.transforms.rigid_kernel import is_exact

MOST_OF_ALL = 16  # branches that an arm of six turning joints has at most
OUTSIDE = 1e-2  # [rad] beyond a limit at which a branch is still tried: it is polished inside
# Of the margin for a proof: where the nearest branch is the nearest answer. Errors are worked out
# at their worst, and where the arm really is singular the margin is a thousandth of this.
REGULAR = 0.01
SAFETY = 10.0  # how many times what an arm and an answer may be off must not matter, for a proof
PER_TURN = 0.5 / pi
NOWHERE = -5  # proven: no branch lies within the limits, nor nearly so


class FormBranches(NamedTuple):
    """What a form finds for a pose."""

    angles: FloatArray
    """(8, 7) or (16, 7), see `closed_form_kernel.find_branches`."""
    number: int
    """How many rows are written."""
    margin: float
    """By how much the target may be off, likewise."""
    rise: float
    """Where a slide along the axes has to be, see `closed_form_kernel.rise_of` [m]."""


class FormArrays(NamedTuple):
    """A form, as the kernels that solve with it take it."""

    rows: FloatArray
    """(27, 3), see `closed_form_kernel.find_branches`."""
    starts: FloatArray
    """(n, 16 or 24) to work in."""


class Branched(NamedTuple):
    """A form, and what it finds for a pose, as starts of a search."""

    form: FloatArray
    """(27, 3), see `closed_form_kernel.find_branches`."""
    found: FormBranches
    """What it finds."""
    starts: FloatArray
    """(n, 16 or 24) to write the chain's variables into, with the branches as its own starts."""


# What `take_nearest_branch` reads of a chain is one table, since each array costs 50 ns on the way
# in from Python: a form, weights, the lower and the upper limits as the chain was given, its
# variables, and the chain as it was given. See `closed_form.pack_exact_form`.
WEIGHTS_ROW, LOWER_ROW, UPPER_ROW, VARIABLE_ROWS = ROWS, ROWS + 1, ROWS + 2, ROWS + 3


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
    found, rise = np.empty((MOST, ERROR + 1)), rise_of(form, target)
    count, margin = find_branches(form, form_goal(form, target, rise, seed), found)
    return order_starts(form, variables, seed, FormBranches(found, count, margin, rise), starts)


@helper
def order_starts(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches,
    starts: FloatArray,
) -> tuple[int, int, float]:  # fmt: skip
    """Write the branches that a form has found as starts; see `branch_starts`."""
    branches, ways = np.empty((MOST_OF_ALL, variables.shape[0])), np.empty(MOST_OF_ALL)
    inside, kept, margin = 0, 0, found.margin
    for k in range(found.number):
        hold_locked(variables, seed, branches[kept])
        way, room = fit_branch(form, variables, seed, found, k, branches[kept])
        margin = min(margin, room)
        if way >= 0.0:
            ways[kept] = way
            kept += 1
            if way < np.inf:
                inside += 1
    write_nearest_first(variables, branches, ways, kept, starts)
    return inside, kept, margin


@inlined
def take_nearest(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches, q: FloatArray
) -> tuple[float, float]:
    """Write the branch nearest to the seed (n,) within the limits.

    Returns:
        Its squared distance from the seed, infinite where there is none; and by how much the target
        may be off, see `branch_starts`.
    """
    branch, least, margin = np.empty(q.shape[0]), np.inf, found.margin
    hold_locked(variables, seed, branch)
    for k in range(found.number):
        way, room = fit_branch(form, variables, seed, found, k, branch)
        margin = min(margin, room)
        if 0.0 <= way < least:
            least = way
            for i in range(q.shape[0]):
                q[i] = branch[i]
    return least, margin


@inlined
def fit_branch(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches, k: int,
    branch: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Write the variables (n,) of a branch, but for the locked ones, near the seed, within limits.

    Returns:
        How far they are from the seed, squared; infinite outside the limits, and -1 where the row
        of angles is no branch. And by how much the target may be off before that changes.
    """
    angles = found.angles[k]
    if isnan(angles[0]):  # a wrist that cannot be turned so
        return -1.0, np.inf
    beside, blur = drive_branch(form, seed, angles, branch)
    if beside > OUTSIDE:  # what is held does not reach it, whatever the limits
        return -1.0, beside / (blur * angles[ERROR])
    lift = -1
    if form[LIFT + 1, FACTOR] != 0.0:
        lift = int(form[LIFT + 1, NUMBER])
        branch[lift] = form[LIFT + 1, FACTOR] * (found.rise - form[LIFT + 1, SHIFT])
    outside, way = order_branch(variables, seed, branch, lift)
    return way, outside / angles[ERROR] if outside > OUTSIDE else np.inf


@helper
def write_nearest_first(
    variables: FloatArray, branches: FloatArray, ways: FloatArray, kept: int, starts: FloatArray
) -> None:
    """Write variables with the branches behind them, those with the shortest ways first."""
    n = variables.shape[0]
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


@helper
def hold_locked(variables: FloatArray, seed: FloatArray, branch: FloatArray) -> None:
    """Write the seed within the limits: where the variables stay that drive no axis."""
    for v in range(seed.shape[0]):
        branch[v] = min(variables[v, UPPER], max(variables[v, LOWER], seed[v]))


@inlined
def drive_branch(
    form: FloatArray, seed: FloatArray, angles: FloatArray, branch: FloatArray
) -> tuple[float, float]:
    """Write those variables (n,) that give a form its six angles, within half a turn of the seed.

    Returns:
        By how much an axis is off where it is held, or coupled to another [rad]; and how many times
        as far as one angle may be off, that may be.
    """
    bound, first, on = False, 0, 1
    if form[KIND, BACKWARD] != 0.0:
        first, on = 5, -1
    for i in range(6):
        number = form[DRIVES + i, NUMBER]
        if number >= 0.0:
            angle, v = angles[first + on * i], int(number)
            away = form[DRIVES + i, FACTOR] * (angle - form[DRIVES + i, SHIFT]) - seed[v]
            branch[v] = seed[v] + away - 2.0 * pi * floor(away * PER_TURN + 0.5)
        elif number != FREE:
            bound = True
    return bound_off(form, angles, branch) if bound else (0.0, 1.0)


@helper
def bound_off(form: FloatArray, angles: FloatArray, branch: FloatArray) -> tuple[float, float]:
    """Return what `drive_branch` does, of a form with axes that are held or coupled."""
    beside, blur = 0.0, 1.0
    for i in range(6):
        number, at = form[DRIVES + i, NUMBER], 0.0
        if number < 0.0 and number != FREE:
            if number != HELD:
                at = (
                    form[DRIVES + i, FACTOR] * branch[int(COUPLED - number)]
                    + form[DRIVES + i, SHIFT]
                )
                blur = max(blur, 1.0 + abs(form[DRIVES + i, FACTOR]))
            angle = angles[5 - i] if form[KIND, BACKWARD] != 0.0 else angles[i]
            off = angle - at
            beside = max(beside, abs(off - 2.0 * pi * floor(off * PER_TURN + 0.5)))
    return beside, blur


@inlined
def order_branch(
    variables: FloatArray, seed: FloatArray, branch: FloatArray, lift: int
) -> tuple[float, float]:
    """Turn a branch, but for the slide `lift`, to near the seed, within the limits.

    Returns:
        By how much some joint is outside [rad or sizes]; and how far it is from the seed, squared,
        but infinitely far where it is outside by more than polishing could mend.
    """
    way, outside = 0.0, 0.0
    for k in range(seed.shape[0]):
        lower, upper = variables[k, LOWER], variables[k, UPPER]
        if not lower <= branch[k] <= upper:
            branch[k] = shortest_turn(variables, k, seed[k], branch[k])
        if not lower <= branch[k] <= upper:  # by how much depends on the turn: the least counts
            if k != lift:
                branch[k] += 2.0 * pi * floor((0.5 * (lower + upper) - branch[k]) * PER_TURN + 0.5)
            outside = max(outside, max(lower - branch[k], branch[k] - upper) / variables[k, SCALE])
        way += (branch[k] - seed[k]) ** 2
    if outside > OUTSIDE:
        return outside, np.inf
    if outside > 0.0:
        for k in range(seed.shape[0]):
            branch[k] = min(variables[k, UPPER], max(variables[k, LOWER], branch[k]))
    return outside, way


@jit
def clear_of(form: FloatArray, position_tolerance: float, rotation_tolerance: float) -> float:
    """Return by how much a target must be let off without effect for a proof.

    An answer of the arm within the tolerances is one of its form's within these and what the arm is
    off its form.

    Args:
        form: (27, 3), see `closed_form_kernel.find_branches`.
        position_tolerance: [m].
        rotation_tolerance: [rad].

    Returns:
        To be compared with a margin.
    """
    lengths, angles = position_tolerance + form[OFF, AWAY], rotation_tolerance + form[OFF, TURNED]
    return SAFETY * max(lengths / form[SIZE, LENGTH], angles)  # type: ignore[no-any-return]


@jit
def take_nearest_branch(
    chain: FloatArray, target: FloatArray, q: FloatArray, position_tolerance: float,
    rotation_tolerance: float,
) -> tuple[int, float, float]:  # fmt: skip
    """Replace a seed by the branch nearest to it, which reaches the target as a rule.

    What `solve_closed` begins with, for arms whose form is exact, at half of its costs from Python.

    Args:
        chain: (31 + n + m, 16 or n), see WEIGHTS_ROW.
        target: (4, 4) root_T_target, not checked yet.
        q: (n,) the seed, not checked yet; and the result.
        position_tolerance: [m].
        rotation_tolerance: [rad].

    Returns:
        REACHED, or else STALLED, for whatever reason. The distance [m] and the angle [rad] left.
    """
    n, weights = q.shape[0], chain[WEIGHTS_ROW]
    form, variables, exact = chain[:ROWS], chain[VARIABLE_ROWS:], chain[VARIABLE_ROWS + n :]
    seed, found, frame = np.empty(q.shape[0]), np.empty((MOST, ERROR + 1)), np.empty((3, 4))
    for k in range(q.shape[0]):
        seed[k] = q[k]
    sound = check_start(seed, target) == 0 and is_exact(target)
    if not (sound and are_tolerances(position_tolerance, rotation_tolerance)):
        return STALLED, np.inf, np.inf
    rise = rise_of(form, target)
    count, margin = find_branches(form, form_goal(form, target, rise, seed), found)
    branches = FormBranches(found, count, margin, rise)
    way, margin = take_nearest(form, variables, seed, branches, q)
    regular = margin > REGULAR * clear_of(form, position_tolerance, rotation_tolerance)
    if not (way < np.inf and regular and is_inside(q, chain[LOWER_ROW], chain[UPPER_ROW])):
        return STALLED, np.inf, np.inf
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    turned = turned if weights[WRX] > 0.0 else 0.0
    if away <= MARGIN * position_tolerance and turned <= MARGIN * rotation_tolerance:
        return REACHED, away, turned
    return STALLED, away, turned


@inlined
def solve_closed(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FormArrays,
) -> Found:  # fmt: skip
    """Find joint positions q (n,) that reach a target, from its branches and the seed (n,)."""
    rows, starts = form
    found, rise = np.empty((MOST, ERROR + 1)), rise_of(rows, goal.target)
    count, margin = find_branches(rows, form_goal(rows, goal.target, rise, seed), found)
    branched = Branched(rows, FormBranches(found, count, margin, rise), starts)
    return solve_from_branches(chain, goal, seed, q, work, iterations, branched)


@jit
def solve_closed_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FloatArray,
) -> Found:  # fmt: skip
    """Run `solve_closed` from Python, with the fields of its named tuples.

    Returns:
        As `pose_search_kernel.solve_pose`, or NOWHERE for how the search ended.
    """
    arrays = FormArrays(form, np.empty((q.shape[0], COLUMNS + MOST)))
    return solve_closed(PackedChain(*chain), PoseGoal(*goal), seed, q, work, iterations, arrays)


@jit
def solve_closed_poses(
    chain: PackedChain, goals: PoseGoals, form: FormArrays, q: FloatArray,
    figures: FloatArray, work: FloatArray, iterations: int,
) -> None:  # fmt: skip
    """Solve for k targets into q (k, n), each as `solve_closed` does.

    Args:
        chain: The chain.
        goals: What to reach, and from where.
        form: The chain's form.
        q: (k, n) result.
        figures: (k, 5) result: whether reached, steps, last start, distance [m], angle [rad].
        work: (n + 2 m + 3, 12).
        iterations: Steps allowed for each target.
    """
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        found = solve_closed(chain, goal, goals.seeds[i], q[i], work, iterations, form)
        note(found, figures[i])


@helper
def solve_from_branches(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, branched: Branched,
) -> Found:  # fmt: skip
    """Take a target's nearest branch, or descend from its branches and from the seed.

    As a rule the nearest branch is the nearest answer. Where the arm is singular, the descent from
    the seed may lead to a nearer one, and comes first.
    """
    zero, careful = 0 * iterations, iterations < 0  # constants would be types of their own
    status, steps, fresh, away, turned = STALLED + zero, zero, zero, np.inf, np.inf
    clear = clear_of(branched.form, goal.position_tolerance, goal.rotation_tolerance)
    way, margin = take_nearest(branched.form, chain.variables, seed, branched.found, q)
    regular = margin > REGULAR * clear
    if regular and way < np.inf and check_start(seed, goal.target) == 0:
        away, turned = measure(chain, goal, q, work)
        turned = turned if goal.weights[WRX] > 0.0 else 0.0
        strict = MARGIN * goal.position_tolerance, MARGIN * goal.rotation_tolerance
        if away <= strict[0] and turned <= strict[1]:
            return REACHED + zero, steps, fresh, away, turned
    starts = branched.starts
    inside, _, _ = order_starts(branched.form, chain.variables, seed, branched.found, starts)
    for attempt in range(2):
        of_branches = (attempt == 0) == regular
        if not STALLED <= status <= SPENT or (of_branches and inside == 0):
            continue
        begun, asked = chain, Starts(zero, zero, NEAR)
        if of_branches:
            begun = PackedChain(chain.exact, chain.joints, starts, chain.ends, chain.reach)
            asked = Starts(zero + 1, inside, np.inf)
        effort = Effort(iterations - steps, PATIENCE + zero, careful)
        status, taken, fresh, away, turned = search(begun, goal, seed, q, work, effort, asked)
        steps += taken
        if of_branches and regular:  # these are the first starts
            fresh -= 1
    if margin > clear and inside == 0 and STALLED <= status <= SPENT:
        status = NOWHERE + zero
    return status, steps, fresh, away, turned

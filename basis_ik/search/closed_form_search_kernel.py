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
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.closed_form_kernel import (
    BACKWARD,
    COUPLED,
    DRIVES,
    ERROR,
    FACTOR,
    FREE,
    HELD,
    KIND,
    LIFT,
    MOST,
    NUMBER,
    SHIFT,
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
    check_start,
    measure,
    note,
    search,
    take_shortest_turns,
)
from basis_ik.search.tables_kernel import (
    COLUMNS,
    LOWER,
    SCALE,
    UPPER,
    WRX,
    Effort,
    PackedChain,
    PoseGoal,
    PoseGoals,
)

MOST_OF_ALL = 16  # branches that an arm of six turning joints has at most
OUTSIDE = 1e-2  # [rad] beyond a limit at which a branch is still tried: it is polished inside
# Of the margin for a proof: where the nearest branch is the nearest answer. Errors are worked out
# at their worst, and where the arm really is singular the margin is a thousandth of this.
REGULAR = 0.01
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


class BranchStarts(NamedTuple):
    """The branches of a pose, as starts of a search."""

    chain: PackedChain
    """The chain with the branches as its own starts, the nearest first."""
    inside: int
    """How many of them lie within the limits."""
    margin: float
    """By how much the target may be off before that changes, in parts of what a proof needs."""


class FormArrays(NamedTuple):
    """A form, as the kernels that solve with it take it."""

    rows: FloatArray
    """(26, 3), see `closed_form_kernel.find_branches`."""
    clear: float
    """By how much a target may be off without effect for a proof, see `BranchStarts`."""
    starts: FloatArray
    """(n, 16) to work in."""


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
        angles, branch = found.angles[k], branches[kept]
        if isnan(angles[0]):  # a wrist that cannot be turned so
            continue
        beside, blur = drive_branch(form, variables, seed, angles, branch)
        if beside > OUTSIDE:  # what is held does not reach it, whatever the limits
            margin = min(margin, beside / (blur * angles[ERROR]))
            continue
        lift = -1
        if form[LIFT + 1, FACTOR] != 0.0:
            lift = int(form[LIFT + 1, NUMBER])
            branch[lift] = form[LIFT + 1, FACTOR] * (found.rise - form[LIFT + 1, SHIFT])
        outside, ways[kept] = order_branch(variables, seed, branch, lift)
        if outside > OUTSIDE:
            margin = min(margin, outside / angles[ERROR])
        else:
            inside += 1
        kept += 1
    write_nearest_first(variables, branches, ways, kept, starts)
    return inside, kept, margin


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
        branch[v] = min(variables[v, UPPER], max(variables[v, LOWER], seed[v]))
    for i in range(6):
        if form[DRIVES + i, NUMBER] >= 0.0:
            angle = angles[5 - i] if form[KIND, BACKWARD] != 0.0 else angles[i]
            v = int(form[DRIVES + i, NUMBER])
            away = form[DRIVES + i, FACTOR] * (angle - form[DRIVES + i, SHIFT]) - seed[v]
            branch[v] = seed[v] + away - 2.0 * pi * floor(away / (2.0 * pi) + 0.5)
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
        lower, upper = variables[k, LOWER], variables[k, UPPER]
        if not lower <= branch[k] <= upper:  # by how much depends on the turn: the least counts
            if k != lift:
                turns = (0.5 * (lower + upper) - branch[k]) / (2.0 * pi)
                branch[k] += 2.0 * pi * floor(turns + 0.5)
            outside = max(outside, max(lower - branch[k], branch[k] - upper) / variables[k, SCALE])
        way += (branch[k] - seed[k]) ** 2
    if outside > OUTSIDE:
        return outside, np.inf
    for k in range(seed.shape[0]):
        branch[k] = min(variables[k, UPPER], max(variables[k, LOWER], branch[k]))
    return outside, way


@helper
def solve_closed(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    form: FormArrays, iterations: int,
) -> Found:  # fmt: skip
    """Find joint positions q (n,) that reach a target, from its branches and the seed (n,)."""
    inside, _, margin = branch_starts(form.rows, chain.variables, goal.target, seed, form.starts)
    branched = PackedChain(chain.exact, chain.joints, form.starts, chain.ends, chain.reach)
    branches = BranchStarts(branched, inside, margin / form.clear)
    return solve_from_branches(chain, goal, seed, q, work, iterations, branches)


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
    form: FloatArray,
    clear: float,
) -> Found:
    """Run `solve_closed` from Python, on the fields of its arguments one by one.

    Returns:
        As `pose_search_kernel.solve_pose`, or NOWHERE for how the search ended.
    """
    starts = np.empty((variables.shape[0], COLUMNS + MOST))
    chain = PackedChain(exact, joints, variables, ends, reach)
    goal = PoseGoal(weights, target, position_tolerance, rotation_tolerance)
    return solve_closed(chain, goal, seed, q, work, FormArrays(form, clear, starts), iterations)


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
        found = solve_closed(chain, goal, goals.seeds[i], q[i], work, form, iterations)
        note(found, figures[i])


@helper
def solve_from_branches(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, branches: BranchStarts,
) -> Found:  # fmt: skip
    """Take a target's nearest branch, or descend from its branches and from the seed.

    As a rule the nearest branch is the nearest answer. Where the arm is singular, the descent from
    the seed may lead to a nearer one, and comes first.
    """
    zero, careful = 0 * iterations, iterations < 0  # constants would be types of their own
    regular, inside = branches.margin > REGULAR, branches.inside
    status, steps, fresh, away, turned = STALLED + zero, zero, zero, np.inf, np.inf
    if regular and inside > 0:
        away, turned = measure_nearest(chain, goal, seed, q, work, branches)
        strict = MARGIN * goal.position_tolerance, MARGIN * goal.rotation_tolerance
        if away <= strict[0] and turned <= strict[1]:
            return REACHED + zero, steps, fresh, away, turned
    for attempt in range(2):
        of_branches = (attempt == 0) == regular
        if not STALLED <= status <= SPENT or (of_branches and inside == 0):
            continue
        begun, starts = chain, Starts(zero, zero, NEAR)
        if of_branches:
            begun, starts = branches.chain, Starts(zero + 1, inside, np.inf)
        effort = Effort(iterations - steps, PATIENCE + zero, careful)
        status, taken, fresh, away, turned = search(begun, goal, seed, q, work, effort, starts)
        steps += taken
        if of_branches and regular:  # these are the first starts
            fresh -= 1
    if branches.margin > 1.0 and inside == 0 and STALLED <= status <= SPENT:
        status = NOWHERE + zero
    return status, steps, fresh, away, turned


@helper
def measure_nearest(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    branches: BranchStarts,
) -> tuple[float, float]:  # fmt: skip
    """Write the nearest branch, and return by what it misses the target [m], [rad].

    Where only the position is wanted, the angle is 0; of what no search can start from, both are
    infinite.
    """
    for k in range(q.shape[0]):
        q[k] = branches.chain.variables[k, COLUMNS]
    if check_start(seed, goal.target) != 0:
        return np.inf, np.inf
    away, turned = measure(chain, goal, q, work)
    return away, turned if goal.weights[WRX] > 0.0 else 0.0

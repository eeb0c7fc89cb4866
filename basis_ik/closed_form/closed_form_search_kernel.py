# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solving for a pose from the branches of a closed form."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np

from basis_ik.closed_form.closed_form_kernel import (
    AXIS_COUPLED,
    AXIS_FREE,
    AXIS_HELD,
    ERROR,
    FACTOR,
    FORM_DRIVES,
    FORM_KIND,
    FORM_MISFIT,
    FORM_ROWS,
    FORM_SIZE,
    KIND_BACKWARD,
    LENGTH,
    MAX_FORM_BRANCHES,
    MISFIT_ANGLE,
    MISFIT_DISTANCE,
    NUMBER,
    SHIFT,
    SLIDE_AXIS,
    find_branches,
    find_slide_offset,
    form_goal,
)
from basis_ik.descent.descent_kernel import DESCENT_REACHED, DESCENT_SPENT, DESCENT_STALLED
from basis_ik.descent.pose_search_kernel import (
    DESCENT_PATIENCE,
    NEAR_SEED,
    TOLERANCE_SHARE,
    Found,
    Starts,
    are_tolerances,
    check_start,
    measure,
    search,
    shortest_turn,
    write_figures,
)
from basis_ik.descent.proof_kernel import distance_and_angle, place_exactly
from basis_ik.descent.tables_kernel import (
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
from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.robot.safety_kernel import is_inside
from basis_ik.transforms.rigid_kernel import is_exact

MAX_BRANCHES_6R = 16  # of any arm with six revolute joints
OUTSIDE_LIMITS = 1e-2  # [rad or sizes] outside the limits: clamped, and polished by a descent
# Share of the margin for a proof above which the nearest branch is the nearest solution. Error
# bounds are worst cases; where the arm really is singular, the margin is a thousandth of this.
REGULAR_SHARE = 0.01
PROOF_SAFETY = 10.0  # factor on errors of the form and of a solution, for a proof


class FormBranches(NamedTuple):
    """Branches of a pose, as a form yields them."""

    angles: FloatArray
    """(8, 7) or (16, 7), see `closed_form_kernel.find_branches`."""
    number: int
    """Number of rows in use."""
    margin: float
    """Error of the target below which their number cannot change, see there."""
    slide_offset: float
    """Displacement of a slide, see `closed_form_kernel.find_slide_offset` [m]."""


class FormArrays(NamedTuple):
    """A form in the layout of the kernels that solve with it."""

    rows: FloatArray
    """(27, 3), see `closed_form_kernel.find_branches`."""
    starts: FloatArray
    """(n, 16 or 24) workspace."""


class BranchSearch(NamedTuple):
    """A form and its branches of a pose, for a search that starts from these."""

    form: FloatArray
    """(27, 3), see `closed_form_kernel.find_branches`."""
    found: FormBranches
    """The branches."""
    starts: FloatArray
    """(n, 16 or 24) workspace: `variables`, with the branches as the chain's own starts."""


# `take_nearest_branch` reads one table, because passing an array from Python costs 50 ns: a form,
# the weights, the lower and upper limits of the chain as given, `variables` and `exact`. See
# `closed_form.pack_exact_form`.
WEIGHTS_ROW, LOWER_ROW, UPPER_ROW, VARIABLE_ROWS = (
    FORM_ROWS,
    FORM_ROWS + 1,
    FORM_ROWS + 2,
    FORM_ROWS + 3,
)


@jit
def branch_starts(
    form: FloatArray,
    variables: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Write `variables` with the branches of a pose as the chain's own starts, the nearest first.

    Args:
        form: See `closed_form_kernel.find_branches`.
        variables: (n, 8 or more), see `tables_kernel`.
        target: (4, 4) root_T_target.
        seed: (n,) each variable is turned to within half a turn of it if the limits allow [rad or
            m].
        starts: (n, 16) result.

    Returns:
        Number of branches within the limits, including those that were clamped to a limit close by;
        number of all branches, those farther outside being last; the error of the target, in [rad]
        and [sizes], below which neither number can change.
    """
    found, slide_offset = np.empty((MAX_FORM_BRANCHES, ERROR + 1)), find_slide_offset(form, target)
    count, margin = find_branches(form, form_goal(form, target, slide_offset, seed), found)
    return order_starts(
        form, variables, seed, FormBranches(found, count, margin, slide_offset), starts
    )


@helper
def order_starts(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches,
    starts: FloatArray,
) -> tuple[int, int, float]:  # fmt: skip
    """Write the branches of a form as starts; see `branch_starts`."""
    branches, squared_distances = (
        np.empty((MAX_BRANCHES_6R, variables.shape[0])),
        np.empty(MAX_BRANCHES_6R),
    )
    inside, kept, margin = 0, 0, found.margin
    for k in range(found.number):
        clamp_seed(variables, seed, branches[kept])
        squared_distance, clearance = fit_branch(form, variables, seed, found, k, branches[kept])
        margin = min(margin, clearance)
        if squared_distance >= 0.0:
            squared_distances[kept] = squared_distance
            kept += 1
            if squared_distance < np.inf:
                inside += 1
    write_nearest_first(variables, branches, squared_distances, kept, starts)
    return inside, kept, margin


@inlined
def take_nearest(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches, q: FloatArray
) -> tuple[float, float]:
    """Write the branch within the limits that is nearest to the seed (n,).

    Returns:
        Its squared distance from the seed, infinite if there is none; the margin, see
        `branch_starts`.
    """
    branch, least, margin = np.empty(q.shape[0]), np.inf, found.margin
    clamp_seed(variables, seed, branch)
    for k in range(found.number):
        squared_distance, clearance = fit_branch(form, variables, seed, found, k, branch)
        margin = min(margin, clearance)
        if 0.0 <= squared_distance < least:
            least = squared_distance
            for i in range(q.shape[0]):
                q[i] = branch[i]
    return least, margin


@inlined
def fit_branch(
    form: FloatArray, variables: FloatArray, seed: FloatArray, found: FormBranches, k: int,
    branch: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Write the unlocked variables (n,) of a branch, near the seed and within the limits.

    Returns:
        Their squared distance from the seed, infinite outside the limits, and -1 if the row of
        angles is no branch; the error of the target below which that cannot change.
    """
    angles = found.angles[k]
    if isnan(angles[0]):  # the wrist has no solution
        return -1.0, np.inf
    error, amplification = assign_variables(form, seed, angles, branch)
    if error > OUTSIDE_LIMITS:  # it contradicts held or coupled axes
        return -1.0, error / (amplification * angles[ERROR])
    slide_variable = -1
    if form[SLIDE_AXIS + 1, FACTOR] != 0.0:
        slide_variable = int(form[SLIDE_AXIS + 1, NUMBER])
        branch[slide_variable] = form[SLIDE_AXIS + 1, FACTOR] * (
            found.slide_offset - form[SLIDE_AXIS + 1, SHIFT]
        )
    outside, squared_distance = turn_branch_inside(variables, seed, branch, slide_variable)
    return squared_distance, outside / angles[ERROR] if outside > OUTSIDE_LIMITS else np.inf


@helper
def write_nearest_first(
    variables: FloatArray,
    branches: FloatArray,
    squared_distances: FloatArray,
    kept: int,
    starts: FloatArray,
) -> None:
    """Write `variables` with the branches behind them, by distance from the seed."""
    n = variables.shape[0]
    for i in range(n):
        for c in range(COLUMNS):
            starts[i, c] = variables[i, c]
    for rank in range(kept):
        best = 0
        for k in range(1, kept):
            if squared_distances[k] < squared_distances[best] or not squared_distances[best] >= 0.0:
                best = k
        squared_distances[best] = np.nan
        for i in range(n):
            starts[i, COLUMNS + rank] = branches[best, i]


@helper
def clamp_seed(variables: FloatArray, seed: FloatArray, branch: FloatArray) -> None:
    """Write the seed, clamped to the limits: the values of variables that drive no axis."""
    for v in range(seed.shape[0]):
        branch[v] = min(variables[v, UPPER], max(variables[v, LOWER], seed[v]))


@inlined
def assign_variables(
    form: FloatArray, seed: FloatArray, angles: FloatArray, branch: FloatArray
) -> tuple[float, float]:
    """Write the variables (n,) that give a form its six angles, within half a turn of the seed.

    Returns:
        Largest deviation of a held or coupled axis from its angle [rad]; by what factor an error of
        the angles is amplified in it.
    """
    bound, first, on = False, 0, 1
    if form[FORM_KIND, KIND_BACKWARD] != 0.0:
        first, on = 5, -1
    for i in range(6):
        number = form[FORM_DRIVES + i, NUMBER]
        if number >= 0.0:
            angle, v = angles[first + on * i], int(number)
            offset = (
                form[FORM_DRIVES + i, FACTOR] * (angle - form[FORM_DRIVES + i, SHIFT]) - seed[v]
            )
            branch[v] = seed[v] + offset - whole_turns(offset)
        elif number != AXIS_FREE:
            bound = True
    return coupling_error(form, angles, branch) if bound else (0.0, 1.0)


@helper
def coupling_error(form: FloatArray, angles: FloatArray, branch: FloatArray) -> tuple[float, float]:
    """Return the result of `assign_variables` for a form with held or coupled axes."""
    error, amplification = 0.0, 1.0
    for i in range(6):
        number, at = form[FORM_DRIVES + i, NUMBER], 0.0
        if number < 0.0 and number != AXIS_FREE:
            if number != AXIS_HELD:
                at = (
                    form[FORM_DRIVES + i, FACTOR] * branch[int(AXIS_COUPLED - number)]
                    + form[FORM_DRIVES + i, SHIFT]
                )
                amplification = max(amplification, 1.0 + abs(form[FORM_DRIVES + i, FACTOR]))
            angle = angles[5 - i] if form[FORM_KIND, KIND_BACKWARD] != 0.0 else angles[i]
            off = angle - at
            error = max(error, abs(off - whole_turns(off)))
    return error, amplification


@inlined
def turn_branch_inside(
    variables: FloatArray, seed: FloatArray, branch: FloatArray, slide_variable: int
) -> tuple[float, float]:
    """Turn a branch, except its variable `slide_variable`, to near the seed and within the limits.

    Returns:
        Largest excess over a limit [rad or sizes]; the squared distance from the seed, infinite if
        the excess is larger than OUTSIDE_LIMITS. A smaller excess is clamped.
    """
    squared_distance, outside = 0.0, 0.0
    for k in range(seed.shape[0]):
        lower, upper = variables[k, LOWER], variables[k, UPPER]
        if not lower <= branch[k] <= upper:
            branch[k] = shortest_turn(variables, k, seed[k], branch[k])
        if not lower <= branch[k] <= upper:  # use the full turn with the least excess
            if k != slide_variable:
                branch[k] += whole_turns(0.5 * (lower + upper) - branch[k])
            outside = max(outside, max(lower - branch[k], branch[k] - upper) / variables[k, SCALE])
        squared_distance += (branch[k] - seed[k]) ** 2
    if outside > OUTSIDE_LIMITS:
        return outside, np.inf
    if outside > 0.0:
        for k in range(seed.shape[0]):
            branch[k] = min(variables[k, UPPER], max(variables[k, LOWER], branch[k]))
    return outside, squared_distance


@jit
def proof_margin(form: FloatArray, position_tolerance: float, rotation_tolerance: float) -> float:
    """Return the margin that branches must exceed for a proof.

    A solution of the arm within the tolerances is one of its form within these plus its misfit.

    Args:
        form: (27, 3), see `closed_form_kernel.find_branches`.
        position_tolerance: [m].
        rotation_tolerance: [rad].

    Returns:
        Least `FormBranches.margin`, in [rad] and [sizes].
    """
    lengths, angles = (
        position_tolerance + form[FORM_MISFIT, MISFIT_DISTANCE],
        rotation_tolerance + form[FORM_MISFIT, MISFIT_ANGLE],
    )
    return PROOF_SAFETY * max(lengths / form[FORM_SIZE, LENGTH], angles)  # type: ignore[no-any-return]


@jit
def take_nearest_branch(
    chain: FloatArray, target: FloatArray, q: FloatArray, position_tolerance: float,
    rotation_tolerance: float,
) -> tuple[int, float, float]:  # fmt: skip
    """Replace a seed by the branch nearest to it, which usually reaches the target.

    For arms with an exact form. `solve_closed` begins alike, at twice the cost of the call from
    Python.

    Args:
        chain: (31 + n + m, 16 or n), see WEIGHTS_ROW.
        target: (4, 4) root_T_target, not checked yet.
        q: (n,) seed, not checked yet; and result [rad or m].
        position_tolerance: [m].
        rotation_tolerance: [rad].

    Returns:
        DESCENT_REACHED, or DESCENT_STALLED for any other outcome; distance [m] and angle [rad]
        left.
    """
    n, weights = q.shape[0], chain[WEIGHTS_ROW]
    form, variables, exact = chain[:FORM_ROWS], chain[VARIABLE_ROWS:], chain[VARIABLE_ROWS + n :]
    seed, found, frame = (
        np.empty(q.shape[0]),
        np.empty((MAX_FORM_BRANCHES, ERROR + 1)),
        np.empty((3, 4)),
    )
    for k in range(q.shape[0]):
        seed[k] = q[k]
    sound = check_start(seed, target) == 0 and is_exact(target)
    if not (sound and are_tolerances(position_tolerance, rotation_tolerance)):
        return DESCENT_STALLED, np.inf, np.inf
    slide_offset = find_slide_offset(form, target)
    count, margin = find_branches(form, form_goal(form, target, slide_offset, seed), found)
    branches = FormBranches(found, count, margin, slide_offset)
    squared_distance, margin = take_nearest(form, variables, seed, branches, q)
    regular = margin > REGULAR_SHARE * proof_margin(form, position_tolerance, rotation_tolerance)
    if not (
        squared_distance < np.inf and regular and is_inside(q, chain[LOWER_ROW], chain[UPPER_ROW])
    ):
        return DESCENT_STALLED, np.inf, np.inf
    place_exactly(exact, q, frame)
    distance, angle = distance_and_angle(frame, target, weights)
    angle = angle if weights[WRX] > 0.0 else 0.0
    if (
        distance <= TOLERANCE_SHARE * position_tolerance
        and angle <= TOLERANCE_SHARE * rotation_tolerance
    ):
        return DESCENT_REACHED, distance, angle
    return DESCENT_STALLED, distance, angle


@inlined
def solve_closed(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FormArrays,
) -> Found:  # fmt: skip
    """Find positions q (n,) that reach a target, from its branches and the seed (n,)."""
    rows, starts = form
    found, slide_offset = (
        np.empty((MAX_FORM_BRANCHES, ERROR + 1)),
        find_slide_offset(rows, goal.target),
    )
    count, margin = find_branches(rows, form_goal(rows, goal.target, slide_offset, seed), found)
    branched = BranchSearch(rows, FormBranches(found, count, margin, slide_offset), starts)
    return solve_from_branches(chain, goal, seed, q, work, iterations, branched)


@jit
def solve_closed_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FloatArray,
) -> Found:  # fmt: skip
    """Run `solve_closed` from Python, with the fields of its named tuples.

    Returns:
        See `pose_search_kernel.solve_pose`.
    """
    arrays = FormArrays(form, np.empty((q.shape[0], COLUMNS + MAX_FORM_BRANCHES)))
    return solve_closed(PackedChain(*chain), PoseGoal(*goal), seed, q, work, iterations, arrays)


@jit
def solve_closed_poses(
    chain: PackedChain, goals: PoseGoals, form: FormArrays, q: FloatArray,
    figures: FloatArray, work: FloatArray, iterations: int,
) -> None:  # fmt: skip
    """Solve for k targets into q (k, n), each by `solve_closed`.

    Args:
        chain: The chain.
        goals: Targets and seeds.
        form: The chain's form.
        q: (k, n) result [rad or m].
        figures: (k, 5) result: reached or not, steps, last start, distance [m], angle [rad].
        work: (n + 2 m + 3, 12) workspace.
        iterations: Steps allowed for each target.
    """
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        found = solve_closed(chain, goal, goals.seeds[i], q[i], work, iterations, form)
        write_figures(found, figures[i])


@helper
def solve_from_branches(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, branched: BranchSearch,
) -> Found:  # fmt: skip
    """Take the branch nearest to the seed, or descend from the branches and from the seed.

    The nearest branch usually is the nearest solution. Near a singularity the descent from the seed
    may lead to a nearer one, and comes first.
    """
    zero, careful = 0 * iterations, iterations < 0  # constants would be types of their own
    status, steps, number, distance, angle = DESCENT_STALLED + zero, zero, zero, np.inf, np.inf
    clear = proof_margin(branched.form, goal.position_tolerance, goal.rotation_tolerance)
    squared_distance, margin = take_nearest(branched.form, chain.variables, seed, branched.found, q)
    regular = margin > REGULAR_SHARE * clear
    if regular and squared_distance < np.inf and check_start(seed, goal.target) == 0:
        distance, angle = measure(chain, goal, q, work)
        angle = angle if goal.weights[WRX] > 0.0 else 0.0
        strict = (
            TOLERANCE_SHARE * goal.position_tolerance,
            TOLERANCE_SHARE * goal.rotation_tolerance,
        )
        if distance <= strict[0] and angle <= strict[1]:
            return DESCENT_REACHED + zero, steps, number, distance, angle
    starts = branched.starts
    inside, _, _ = order_starts(branched.form, chain.variables, seed, branched.found, starts)
    for attempt in range(2):
        of_branches = (attempt == 0) == regular
        if not DESCENT_STALLED <= status <= DESCENT_SPENT or (of_branches and inside == 0):
            continue
        begun, asked = chain, Starts(zero, zero, NEAR_SEED)
        if of_branches:
            begun = PackedChain(chain.exact, chain.joints, starts, chain.ends, chain.reach)
            asked = Starts(zero + 1, inside, np.inf)
        effort = Effort(iterations - steps, DESCENT_PATIENCE + zero, careful)
        status, taken, number, distance, angle = search(begun, goal, seed, q, work, effort, asked)
        steps += taken
        if of_branches and regular:  # the branches are the first starts
            number -= 1
    return status, steps, number, distance, angle

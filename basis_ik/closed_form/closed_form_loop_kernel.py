# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed forms of six-joint arms whose special axes are at another place in the chain.

The target closes the chain to a loop, which may be opened between any two joints. Let E_i be the
rotation about axis i as it is with all joints at 0, and G the motion of the tip from there to the
target: E_1 ... E_6 = G. Then E_k+1 ... E_6 E'_1 ... E'_k = G, where E'_i = G⁻¹ E_i G is a rotation
about axis i, moved by G⁻¹. This is an arm whose first joint is k + 1 and some of whose axes depend
on the target. If its special axes are where `closed_form_kernel` or `closed_form_quartic_kernel`
needs them, their equations solve it.

Few arms need this module, which is compiled when the first one does.
"""

from __future__ import annotations

import numpy as np

from basis_ik.closed_form.closed_form_kernel import (
    ERROR,
    FORM_AXES,
    FORM_KIND,
    FORM_OFFSETS,
    FORM_SIZE,
    FORM_TIP,
    KIND_NAME,
    LENGTH,
    LOOP_START,
    FormGoal,
    Vector,
    apply_rotation,
    back,
    cross,
    find_branches,
    find_slide_offset,
    form_goal,
    plus,
    rotate_about,
    row,
    solve_wrist,
    turn_by,
)
from basis_ik.closed_form.closed_form_quartic_kernel import (
    PARALLELS,
    WRIST,
    solve_any_shoulder,
    solve_three_parallel_by_quartic,
)
from basis_ik.closed_form.closed_form_search_kernel import (
    MAX_BRANCHES_6R,
    BranchSearch,
    FormArrays,
    FormBranches,
    order_starts,
    solve_from_branches,
)
from basis_ik.closed_form.closed_form_series_kernel import solve_meeting_axes
from basis_ik.descent.descent_kernel import DESCENT_SPENT, DESCENT_STALLED
from basis_ik.descent.pose_search_kernel import (
    DESCENT_PATIENCE,
    NEAR_SEED,
    Found,
    Starts,
    search,
    write_figures,
)
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    ChainFields,
    Effort,
    GoalFields,
    Nine,
    PackedChain,
    PoseGoal,
    PoseGoals,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

MEET_5_6 = 7.0  # kind of arm, besides those of other modules: axes 5 and 6 intersect
MAX_LOOP_BRANCHES = MAX_BRANCHES_6R
FIRST_LOOP_STARTS = 6  # besides the seed, tried before the series, which takes twice as long
# An error of the target is an error of the vector across the opening, and rotates the axes behind
# it.
OPENING_LEVER = 2.0


@helper
def write_row(table: FloatArray, i: int, v: Vector) -> None:
    """Write a row of a table (k, 3)."""
    table[i, 0], table[i, 1], table[i, 2] = v


@helper
def transpose(rotation: Nine) -> Nine:
    """Return Rᵀ."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
    return r00, r10, r20, r01, r11, r21, r02, r12, r22


@helper
def open_loop(form: FloatArray, goal: FormGoal, opened: FloatArray) -> FormGoal:
    """Write the arm whose first joint is the one at which a form opens its loop.

    G moves the last axis' point to p from the first one's. So the vector from that point to the
    first axis, moved by G⁻¹, is −Rᵀ p, and the point of the new first axis is at its a from the
    last.

    Args:
        form: See `closed_form_kernel.find_branches`.
        goal: Pose that the form has to reach.
        opened: (27, 3) result.

    Returns:
        Pose that the opened arm has to reach.
    """
    first, inverse_rotation = int(form[FORM_SIZE, LOOP_START]), transpose(goal.rotation)
    for i in range(form.shape[0]):
        write_row(opened, i, row(form, i))
    for i in range(6):
        k = (i + first) % 6
        axis, way = row(form, FORM_AXES + k), row(form, FORM_OFFSETS + k)
        if k < first:
            axis, way = (
                apply_rotation(inverse_rotation, axis),
                apply_rotation(inverse_rotation, way),
            )
        if k == 0 and i > 0:
            way = back(apply_rotation(inverse_rotation, goal.p))
        write_row(opened, FORM_AXES + i, axis)
        write_row(opened, FORM_OFFSETS + i, way)
    if first > 0:
        opened[FORM_SIZE, LENGTH] = OPENING_LEVER * form[FORM_SIZE, LENGTH]
    s = goal.seed
    seed = (
        s[first % 6], s[(first + 1) % 6], s[(first + 2) % 6],
        s[(first + 3) % 6], s[(first + 4) % 6], s[(first + 5) % 6],
    )  # fmt: skip
    p = goal.p if first == 0 else back(row(form, FORM_OFFSETS + first))
    return FormGoal(goal.rotation, p, seed)


@helper
def close_loop(first: int, count: int, found: FloatArray) -> None:
    """Bring the angles found by an opened arm into the order of the form's joints."""
    angles = np.empty(6)
    for i in range(count):
        for k in range(6):
            angles[(k + first) % 6] = found[i, k]
        if found[i, 0] == found[i, 0]:
            for k in range(6):
                found[i, k] = angles[k]


@helper
def find_opened(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Do the work of `closed_form_kernel.find_branches` for an opened arm."""
    if form[FORM_KIND, KIND_NAME] == MEET_5_6:
        return solve_meeting_axes(form, goal, found)
    if form[FORM_KIND, KIND_NAME] == PARALLELS:
        return solve_three_parallel_by_quartic(form, goal, found)
    if form[FORM_KIND, KIND_NAME] == WRIST:
        placed, margin = solve_any_shoulder(form, goal, found)
        return solve_wrist(form, goal, placed, margin, found)
    return find_branches(form, goal, found)


@helper
def fill_loop_jacobian(
    form: FloatArray, angles: FloatArray, size: float, table: FloatArray
) -> None:
    """Write the Jacobian of a form's tip, beside the identity.

    Args:
        form: See `closed_form_kernel.find_branches`.
        angles: (6,) or more [rad].
        size: The arm's size [m].
        table: (6, 12) result: rows of the tip's velocity [sizes] and of its angular velocity [rad].
    """
    way = row(form, FORM_TIP)
    for i in range(5, -1, -1):
        axis, by = row(form, FORM_AXES + i), turn_by(angles[i])
        way = rotate_about(axis, by, way)
        for k in range(i, 6):
            turn, move = axis, cross(axis, way)
            if k > i:
                move = rotate_about(axis, by, (table[0, k], table[1, k], table[2, k]))
                turn = rotate_about(axis, by, (table[3, k], table[4, k], table[5, k]))
            for c in range(3):
                table[c, k], table[3 + c, k] = move[c], turn[c]
        way = plus(way, row(form, FORM_OFFSETS + i))
    for r in range(6):
        for c in range(6):
            table[r, 6 + c] = 1.0 if r == c else 0.0
            if r < 3:
                table[r, c] /= size


@helper
def invert_table(table: FloatArray) -> None:
    """Transform (A, 1) into (1, A⁻¹), (6, 12); it has infinities if A is singular."""
    for k in range(6):
        best = k
        for r in range(k + 1, 6):
            if abs(table[r, k]) > abs(table[best, k]):
                best = r
        pivot = table[best, k]
        for c in range(12):
            kept = table[k, c]
            table[k, c] = table[best, c] / pivot
            if best != k:
                table[best, c] = kept
        for r in range(6):
            factor = table[r, k]
            if r != k and factor != 0.0:
                for c in range(12):
                    table[r, c] -= factor * table[k, c]


@helper
def measure_errors(form: FloatArray, count: int, found: FloatArray) -> None:
    """Write the bound on the error of the angles of each branch, per error of the target."""
    table = np.empty((6, 12))
    for i in range(count):
        fill_loop_jacobian(form, found[i], form[FORM_SIZE, LENGTH], table)
        invert_table(table)
        worst = 0.0
        for r in range(6):
            error = 0.0
            for c in range(6, 12):
                error += abs(table[r, c])
            if not error <= worst:  # NaN too
                worst = error
        found[i, ERROR] = worst if worst < np.inf else np.inf


@helper
def find_branches_by_loop(form: FloatArray, target: FloatArray, seed: FloatArray) -> FormBranches:
    """Do the work of `closed_form_kernel.find_branches` for this module."""
    found, opened, slide_offset = (
        np.empty((MAX_LOOP_BRANCHES, ERROR + 1)),
        np.empty_like(form),
        find_slide_offset(form, target),
    )
    goal = open_loop(form, form_goal(form, target, slide_offset, seed), opened)
    count, margin = find_opened(opened, goal, found)
    close_loop(int(form[FORM_SIZE, LOOP_START]), count, found)
    measure_errors(form, count, found)
    return FormBranches(found, count, margin, slide_offset)


@jit
def loop_branch_starts(
    form: FloatArray,
    variables: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Do the work of `closed_form_search_kernel.branch_starts` for this module."""
    return order_starts(form, variables, seed, find_branches_by_loop(form, target, seed), starts)


@helper
def solve_loop(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FormArrays,
) -> Found:  # fmt: skip
    """Do the work of `closed_form_search_kernel.solve_closed` for this module.

    The series of MEET_5_6 costs as much as a dozen descents, so a few of these are tried before.
    """
    zero, steps = 0 * iterations, 0 * iterations
    if form.rows[FORM_KIND, KIND_NAME] == MEET_5_6:
        effort = Effort(iterations, DESCENT_PATIENCE + zero, iterations < 0)
        found = search(
            chain, goal, seed, q, work, effort, Starts(zero, FIRST_LOOP_STARTS + zero, NEAR_SEED)
        )
        if not DESCENT_STALLED <= found[0] <= DESCENT_SPENT:
            return found
        steps = found[1]
    branched = BranchSearch(
        form.rows, find_branches_by_loop(form.rows, goal.target, seed), form.starts
    )
    status, taken, number, distance, angle = solve_from_branches(
        chain, goal, seed, q, work, iterations - steps, branched
    )
    return status, steps + taken, number, distance, angle


@jit
def solve_loop_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FloatArray,
) -> Found:  # fmt: skip
    """Do the work of `closed_form_search_kernel.solve_closed_pose` for this module."""
    arrays = FormArrays(form, np.empty((q.shape[0], COLUMNS + MAX_LOOP_BRANCHES)))
    return solve_loop(PackedChain(*chain), PoseGoal(*goal), seed, q, work, iterations, arrays)


@jit
def solve_loop_poses(
    chain: PackedChain, goals: PoseGoals, form: FormArrays, q: FloatArray,
    figures: FloatArray, work: FloatArray, iterations: int,
) -> None:  # fmt: skip
    """Do the work of `closed_form_search_kernel.solve_closed_poses` for this module."""
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        found = solve_loop(chain, goal, goals.seeds[i], q[i], work, iterations, form)
        write_figures(found, figures[i])

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed forms of six-joint arms that need a quartic: two joints are solved for together.

For a spherical wrist behind arbitrary axes, or three parallel axes in the middle, two equations are
linear in the sines and cosines of two joints. Eliminating one joint leaves an equation of the first
and second harmonics of the other, a quartic in the tangent of half its angle (Pieper 1968;
subproblems 5 and 6 of Elias and Wen, IK-Geo, 2022). Its roots are not found by a polynomial solver:
between two neighbouring extrema, which have brackets of their own, there is one root or none.

Few arms need this module, which is compiled when the first one does.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

import numpy as np

from basis_ik.closed_form.closed_form_kernel import (
    ERROR,
    FORM_AXES,
    FORM_KIND,
    FORM_OFFSETS,
    FORM_SIZE,
    KIND_NAME,
    KIND_SLACK,
    LENGTH,
    MAX_FORM_BRANCHES,
    SHOULDER_ERROR,
    VANISHING_PART,
    FormGoal,
    Vector,
    angle_of,
    apply_rotation,
    back,
    complete_three_parallel,
    cross,
    dot,
    find_slide_offset,
    form_goal,
    length,
    minus,
    plus,
    rotate_about,
    row,
    solve_wrist,
    subproblem_1,
    turn_by,
)
from basis_ik.closed_form.closed_form_search_kernel import (
    BranchSearch,
    FormArrays,
    FormBranches,
    order_starts,
    solve_from_branches,
)
from basis_ik.descent.pose_search_kernel import Found, write_figures
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    ChainFields,
    GoalFields,
    PackedChain,
    PoseGoal,
    PoseGoals,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

Wave = tuple[float, float, float, float, float]
"""c, a, b, d, e of the function c + a cos θ + b sin θ + d cos 2θ + e sin 2θ."""
Plane = tuple[float, float, float]
"""c, a, b of the function c + a cos θ + b sin θ."""

# Kinds of arms, besides those of `closed_form_kernel`: the last three axes intersect; axes 2 to 4
# are parallel.
WRIST, PARALLELS = 5.0, 6.0
# Relative; smaller coefficients are replaced by it, so that the slope has a sign.
LEAST_COEFFICIENT = 1e-12
ROOT_ITERATIONS = 100  # for one root; bisection alone would need fifty


@helper
def height_at(wave: Wave, angle: float) -> float:
    """Return the value of a wave at an angle [rad]."""
    c, s = cos(angle), sin(angle)
    return wave[0] + wave[1] * c + wave[2] * s + wave[3] * (c * c - s * s) + wave[4] * 2.0 * c * s


@helper
def slope_of(wave: Wave) -> Wave:
    """Return the derivative of a wave."""
    return 0.0 * wave[0], wave[2], -wave[1], 2.0 * wave[4], -2.0 * wave[3]


@helper
def root_between(wave: Wave, low: float, high: float, rises: bool) -> float:
    """Return the root of a wave within a bracket [rad], by Newton's method and bisection.

    Args:
        wave: Has opposite signs at `low` and `high`, and one root between them.
        low: [rad].
        high: [rad], above `low`.
        rises: Whether the wave is positive at `high`.
    """
    slope, x = slope_of(wave), 0.5 * (low + high)
    for _ in range(ROOT_ITERATIONS):
        height, steepness, last = height_at(wave, x), height_at(slope, x), x
        if (height > 0.0) == rises:
            high = x
        else:
            low = x
        x = 0.5 * (low + high)
        if steepness != 0.0 and low <= last - height / steepness <= high:
            x = last - height / steepness
        if abs(x - last) <= 1e-15:
            break
    return x


@helper
def turning_points(wave: Wave, points: FloatArray) -> int:
    """Write the angles (5,) of a wave's extrema, two or four, in increasing order [rad].

    With ψ = θ − φ, where φ is the phase of the second harmonic and R its amplitude, the slope is Q
    cos ψ − P sin ψ − 4 R sin ψ cos ψ. Divided by sin ψ cos ψ it is monotonic within a quarter turn
    at whose ends it has opposite signs. In any other quarter it has one extremum, at tan³ψ = −Q /
    P.

    Returns:
        Number of extrema. The first one follows the last once more, plus a full turn.
    """
    second, phase = hypot(wave[3], wave[4]), 0.5 * atan2(wave[4], wave[3])
    p = wave[1] * cos(phase) + wave[2] * sin(phase)
    q = wave[2] * cos(phase) - wave[1] * sin(phase)
    least = LEAST_COEFFICIENT * (hypot(p, q) + second)  # a slope of 0 at an end would have no sign
    if abs(p) < least:
        p = least
    if abs(q) < least:
        q = least
    slope = 0.0 * p, q, -p, 0.0 * p, -2.0 * second
    steep, count = atan2(abs(q) ** (1.0 / 3.0), abs(p) ** (1.0 / 3.0)), 0
    for quarter in range(4):
        low, high = 0.5 * pi * quarter, 0.5 * pi * (quarter + 1)
        even, begins = quarter % 2 == 0, q
        if not even:
            begins = -p
        if quarter > 1:
            begins = -begins
        if (p * q > 0.0) == even:
            points[count] = phase + root_between(slope, low, high, begins < 0.0)
            count += 1
            continue
        middle = low + steep if even else high - steep
        if (height_at(slope, middle) > 0.0) != (begins > 0.0):
            points[count] = phase + root_between(slope, low, middle, begins < 0.0)
            points[count + 1] = phase + root_between(slope, middle, high, begins > 0.0)
            count += 2
    points[count] = points[0] + 2.0 * pi
    return count


@helper
def roots_of(
    wave: Wave, error: float, slack: float, default: float, roots: FloatArray, errors: FloatArray
) -> tuple[int, float]:
    """Write the roots of a wave, and bounds on their errors.

    Args:
        wave: Its values are of the order of 1.
        error: Bound on the error of its value.
        slack: An extremum nearer to 0 than this counts as a root.
        default: Root to return where any angle is one [rad].
        roots: (4,) result [rad].
        errors: (4,) result.

    Returns:
        Number of roots; the margin, as a multiple of the error, below which it cannot change.
    """
    if hypot(wave[1], wave[2]) + hypot(wave[3], wave[4]) <= VANISHING_PART:
        roots[0], errors[0] = default, np.inf
        return (1 if abs(wave[0]) <= slack else 0), 0.0
    points, slope = np.empty(5), slope_of(wave)
    turns = turning_points(wave, points)
    count, margin, before = 0, np.inf, height_at(wave, points[turns - 1])
    for i in range(turns):
        here, after = height_at(wave, points[i]), height_at(wave, points[i + 1])
        margin = min(margin, abs(here) / error)
        if (here > 0.0) != (after > 0.0):
            roots[count] = root_between(wave, points[i], points[i + 1], after > 0.0)
            errors[count] = error / max(abs(height_at(slope, roots[count])), VANISHING_PART)
            count += 1
        elif (here > 0.0) == (before > 0.0) and abs(here) < min(abs(after), slack):
            roots[count], errors[count] = points[i], np.inf
            count += 1
        before = here
    return count, margin


@helper
def plane(normal: Vector, axis: Vector, v: Vector) -> Plane:
    """Return normal · (v turned about a unit axis), as a function of the angle."""
    along = dot(normal, axis) * dot(axis, v)
    return along, dot(normal, v) - along, dot(normal, cross(axis, v))


class Equation(NamedTuple):
    """An equation of two angles, left(α) = right(β)."""

    left: Plane
    right: Plane
    error: float
    """Bound on the error of the left side."""


@helper
def solve_pair(
    one: Equation, other: Equation, slack: float, default: float, pairs: FloatArray
) -> tuple[int, float]:
    """Write the solutions α, β of two equations.

    The equations are linear in cos β and sin β. Inserted into cos²β + sin²β = 1 they leave a wave
    of α.

    Args:
        one: The first equation.
        other: The second.
        slack: See `roots_of`.
        default: α to return where any angle is a solution [rad].
        pairs: (4, 4) result: α, β and the bounds on their errors.

    Returns:
        Number of solutions; the margin, as a multiple of the errors, below which it cannot change.
    """
    (left, right, error), (left2, right2, error2) = one, other
    det = right[1] * right2[2] - right[2] * right2[1]
    a, b, c, d = right2[2] / det, -right[2] / det, -right2[1] / det, right[1] / det
    k, k2 = left[0] - right[0], left2[0] - right2[0]
    c0, c1, c2 = a * k + b * k2, a * left[1] + b * left2[1], a * left[2] + b * left2[2]
    s0, s1, s2 = c * k + d * k2, c * left[1] + d * left2[1], c * left[2] + d * left2[2]
    wave = (
        c0 * c0 + s0 * s0 + 0.5 * (c1 * c1 + c2 * c2 + s1 * s1 + s2 * s2) - 1.0,
        2.0 * (c0 * c1 + s0 * s1),
        2.0 * (c0 * c2 + s0 * s2),
        0.5 * (c1 * c1 - c2 * c2 + s1 * s1 - s2 * s2),
        c1 * c2 + s1 * s2,
    )
    bound = hypot(abs(a) * error + abs(b) * error2, abs(c) * error + abs(d) * error2)
    roots, errors = np.empty(4), np.empty(4)
    count, margin = roots_of(wave, 3.0 * bound, slack, default, roots, errors)
    for i in range(count):
        x, y = cos(roots[i]), sin(roots[i])
        pairs[i, 0] = roots[i]
        pairs[i, 1] = atan2(s0 + s1 * x + s2 * y, c0 + c1 * x + c2 * y)
        pairs[i, 2] = errors[i]
        pairs[i, 3] = bound + errors[i] * hypot(c2 * x - c1 * y, s2 * x - s1 * y)
    return count, margin


@helper
def solve_any_shoulder(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all angles of joints 1 to 3, with arbitrary axes, that bring the wrist centre to p.

    In R_1ᵀ p − a_1 = R_2 (a_2 + R_3 a_3), joint 2 changes neither the length nor the height along
    axis 2. See `closed_form_kernel.solve_shoulder`.
    """
    h1, h2, h3 = row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_AXES + 2)
    a1, a2, a3 = (
        row(form, FORM_OFFSETS + 1),
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
    )
    p, seed, slack = goal.p, goal.seed, form[FORM_KIND, KIND_SLACK]
    back1, e, far, l3 = back(h1), 2.0 * form[FORM_SIZE, LENGTH], length(p), length(a3)
    left, left2 = plane(a1, back1, p), plane(h2, back1, p)
    # Half the squared lengths; all constants are on the left side.
    k = 0.5 * (dot(a2, a2) + dot(a3, a3) - dot(p, p) - dot(a1, a1))
    left = -left[0] - k, -left[1], -left[2]
    left2 = left2[0] - dot(h2, plus(a1, a2)), left2[1], left2[2]
    pairs = np.empty((4, 4))
    lengths = Equation(left, plane(a2, h3, a3), e * (far + length(a1)))
    heights = Equation(left2, plane(h2, h3, a3), e)
    count, margin = solve_pair(lengths, heights, slack, seed[0], pairs)
    for i in range(count):
        q1, q3 = pairs[i, 0], pairs[i, 1]
        upper = plus(a2, rotate_about(h3, turn_by(q3), a3))
        w = minus(rotate_about(back1, turn_by(q1), p), a1)
        t2, e2 = subproblem_1(h2, upper, w, e + far * pairs[i, 2] + l3 * pairs[i, 3], seed[1])
        found[i, 0], found[i, 1], found[i, 2] = q1, angle_of(t2), q3
        found[i, SHOULDER_ERROR] = pairs[i, 2] + pairs[i, 3] + e2
    return count, margin


@helper
def solve_three_parallel_by_quartic(
    form: FloatArray, goal: FormGoal, found: FloatArray
) -> tuple[int, float]:
    """Write all branches of an arm whose axes 2 to 4 are parallel.

    The parallel joints change no height along their axes, neither that of axis 6 nor of its point.
    """
    h1, h2, h5, h6 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 4),
        row(form, FORM_AXES + 5),
    )
    a1, a2, a3 = (
        row(form, FORM_OFFSETS + 1),
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
    )
    back1, a4 = back(h1), row(form, FORM_OFFSETS + 4)
    left, e = plane(h2, back1, goal.p), 2.0 * form[FORM_SIZE, LENGTH]
    left = left[0] - dot(h2, plus(plus(a1, a2), plus(a3, a4))), left[1], left[2]
    pairs, count = np.empty((4, 4)), 0
    points = Equation(left, plane(h2, h5, row(form, FORM_OFFSETS + 5)), e)
    axes = Equation(plane(h2, back1, apply_rotation(goal.rotation, h6)), plane(h2, h5, h6), 1.0)
    n, margin = solve_pair(points, axes, form[FORM_KIND, KIND_SLACK], goal.seed[0], pairs)
    for i in range(n):
        known, errors = (turn_by(pairs[i, 0]), turn_by(pairs[i, 1])), (pairs[i, 2], pairs[i, 3])
        count, off = complete_three_parallel(form, goal, known, errors, found, count)
        margin = min(margin, off)
    return count, margin


@helper
def find_branches_by_quartic(
    form: FloatArray, target: FloatArray, seed: FloatArray
) -> FormBranches:
    """Do the work of `closed_form_kernel.find_branches` for this module."""
    found, slide_offset = np.empty((MAX_FORM_BRANCHES, ERROR + 1)), find_slide_offset(form, target)
    goal = form_goal(form, target, slide_offset, seed)
    if form[FORM_KIND, KIND_NAME] == PARALLELS:
        count, margin = solve_three_parallel_by_quartic(form, goal, found)
    else:
        placed, near = solve_any_shoulder(form, goal, found)
        count, margin = solve_wrist(form, goal, placed, near, found)
    return FormBranches(found, count, margin, slide_offset)


@jit
def quartic_branch_starts(
    form: FloatArray,
    variables: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Do the work of `closed_form_search_kernel.branch_starts` for this module."""
    return order_starts(form, variables, seed, find_branches_by_quartic(form, target, seed), starts)


@jit
def solve_quartic_pose(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    iterations: int, form: FloatArray,
) -> Found:  # fmt: skip
    """Do the work of `closed_form_search_kernel.solve_closed_pose` for this module."""
    starts, pose_goal = np.empty((q.shape[0], COLUMNS + MAX_FORM_BRANCHES)), PoseGoal(*goal)
    branched = BranchSearch(form, find_branches_by_quartic(form, pose_goal.target, seed), starts)
    return solve_from_branches(PackedChain(*chain), pose_goal, seed, q, work, iterations, branched)


@jit
def solve_quartic_poses(
    chain: PackedChain, goals: PoseGoals, form: FormArrays, q: FloatArray,
    figures: FloatArray, work: FloatArray, iterations: int,
) -> None:  # fmt: skip
    """Do the work of `closed_form_search_kernel.solve_closed_poses` for this module."""
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        branched = BranchSearch(
            form.rows, find_branches_by_quartic(form.rows, goal.target, goals.seeds[i]), form.starts
        )
        found = solve_from_branches(chain, goal, goals.seeds[i], q[i], work, iterations, branched)
        write_figures(found, figures[i])

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed forms of arms with six revolute joints whose axes intersect or are parallel.

Three axes that intersect in a point, or three that are parallel, split the arm into triangles and
cones, each with one equation A cos θ + B sin θ = C (Pieper 1968; subproblems 1 and 4 of Paden and
Kahan, in the form of Elias and Wen, IK-Geo, 2022). The joint angles follow one after the other.
Where an equation has two solutions, both are followed. `closed_form` recognises the
arms that have such a form.

The solutions are called branches. Each comes with a first-order bound on the error of its angles
for an error of the target, and all of them with a margin: the error of the target that would change
their number. Both are relative: positions in units of the arm's size.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.descent.pose_error_kernel import sine_cosine
from basis_ik.descent.tables_kernel import Nine, Six
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined

Vector = tuple[float, float, float]
Turn = tuple[float, float]
"""Cosine and sine of an angle. A rotation needs these, not the angle itself."""

MAX_FORM_BRANCHES = 8  # of an arm of this module
# A form is a table (27, 3), see `find_branches`. First row of each of its parts:
FORM_ROWS = 27
FORM_AXES, FORM_OFFSETS, FORM_TIP, FORM_REST, FORM_KIND, FORM_SIZE = 0, 6, 12, 13, 16, 17
FORM_DRIVES, SLIDE_AXIS, FORM_MISFIT = 18, 24, 26
# Columns of row FORM_KIND: the kind of arm; not 0 if the form runs from the tip to the root; by how
# much an equation may miss a solution, relative to its size.
KIND_NAME, KIND_BACKWARD, KIND_SLACK = range(3)
# Columns of row FORM_SIZE: the arm's size [m]; the tip's height along the slide with all joints at
# 0 [m]; the joint at which `closed_form_loop_kernel` opens the loop.
LENGTH, HEIGHT, LOOP_START = range(3)
# Columns of a row FORM_DRIVES: angle = FACTOR q[NUMBER] + SHIFT. Row SLIDE_AXIS + 1: the same for a
# slide.
FACTOR, SHIFT, NUMBER = range(3)
# Columns of row FORM_MISFIT: largest distance [m] and angle [rad] between the tip of the arm and of
# its form.
MISFIT_DISTANCE, MISFIT_ANGLE = range(2)
ERROR = 6  # column of a branch (7,): bound on the error of its angles, per error of the target
SHOULDER_ERROR = 3  # the same column while only the first three angles are known
# The kinds of arms: which axes are parallel or intersect. The last three axes intersect too, or the
# last two for PARALLEL_2_3_4. Up to MEET_2_3, joint 1 is solved for first.
PARALLEL_2_3, MEET_2_3, MEET_1_2, PARALLEL_1_2, PARALLEL_2_3_4 = 0.0, 1.0, 2.0, 3.0, 4.0
# NUMBER of an axis is that of its variable. Otherwise the axis is held at 0, or free to turn, or,
# from AXIS_COUPLED downward, driven by variable AXIS_COUPLED - NUMBER, which drives another axis,
# too.
AXIS_HELD, AXIS_FREE, AXIS_COUPLED = -1.0, -2.0, -3.0
VANISHING_PART = 1e-9  # relative: a vector with less than this across an axis is along it


@helper
def row(table: FloatArray, i: int) -> Vector:
    """Return a row of a table (k, 3)."""
    return table[i, 0], table[i, 1], table[i, 2]


@helper
def plus(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def minus(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def dot(a: Vector, b: Vector) -> float:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def turn_by(angle: float) -> Turn:
    """Return cosine and sine of an angle [rad]."""
    sine, cosine = sine_cosine(angle)
    return cosine, sine


@helper
def angle_of(turn: Turn) -> float:
    """Return the angle of a turn [rad], within 1e-15, in half the time of a library's arctangent.

    The octant is rotated by -π/8. The sine of what is left is small, and its arcsine is a
    polynomial, interpolated at Chebyshev nodes.
    """
    c, s = abs(turn[0]), abs(turn[1])
    x = min(c, s) * 0.9238795325112867 - max(c, s) * 0.3826834323650898
    w = x * x
    w2 = w * w
    w4 = w2 * w2
    a = 0.16666666666666655 + w * 0.07500000000017083
    b = 0.04464285710448711 + w * 0.030381947777332136
    d = 0.022372012607820138 + w * 0.017356444100706234
    e = 0.01390898588722584 + w * 0.012070112265968054
    f = 0.006925299097326817 + w * 0.016467470525366845
    angle = 0.125 * pi + (x + x * w * (a + w2 * b + w4 * (d + w2 * e + w4 * f)))
    if s > c:
        angle = 0.5 * pi - angle
    if turn[0] < 0.0:
        angle = pi - angle
    return -angle if turn[1] < 0.0 else angle


@helper
def inverse_turn(turn: Turn) -> Turn:
    """Return the inverse of a turn."""
    return turn[0], -turn[1]


@helper
def rotate_about(axis: Vector, turn: Turn, v: Vector) -> Vector:
    """Return v rotated about a unit axis (Rodrigues' formula)."""
    c, s = turn
    w, along = cross(axis, v), (1.0 - c) * dot(axis, v)
    return (
        c * v[0] + s * w[0] + along * axis[0],
        c * v[1] + s * w[1] + along * axis[1],
        c * v[2] + s * w[2] + along * axis[2],
    )


@helper
def apply_rotation(rotation: Nine, v: Vector) -> Vector:
    """Return R v."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
    return dot((r00, r01, r02), v), dot((r10, r11, r12), v), dot((r20, r21, r22), v)


@helper
def length(v: Vector) -> float:
    """Return |v|."""
    return sqrt(dot(v, v))


@helper
def subproblem_1(
    axis: Vector, a: Vector, b: Vector, error: float, default: float
) -> tuple[Turn, float]:
    """Return the turn about a unit axis that brings a closest to b, and the error of its angle.

    Subproblem 1 of Paden and Kahan.

    Args:
        axis: The axis.
        a: Vector to be turned.
        b: Vector to be reached.
        error: Bound on the error of a and b together.
        default: Angle to return where a or b is along the axis, and any angle is a solution [rad].
    """
    u, v = cross(axis, a), cross(axis, b)
    uu, vv, least = dot(u, u), dot(v, v), VANISHING_PART * VANISHING_PART
    if uu > least * dot(a, a) and vv > least * dot(b, b):
        cosine, sine = dot(u, v), dot(u, b)
        size = 1.0 / sqrt(cosine * cosine + sine * sine)
        return (cosine * size, sine * size), error / sqrt(min(uu, vv))
    return turn_by(default), np.inf


@helper
def subproblem_4(
    normal: Vector, axis: Vector, v: Vector, height: float, error: float, slack: float,
    default: float,
) -> tuple[int, Turn, Turn, float, float]:  # fmt: skip
    """Return the turns about a unit axis with normal · (v turned) = height.

    Subproblem 4 of Paden and Kahan: A cos θ + B sin θ = C.

    Args:
        normal: Normal of the plane, of any length.
        axis: The axis.
        v: Vector to be turned.
        height: Right-hand side.
        error: Bound on the error of C.
        slack: Where |C| exceeds √(A² + B²) by less than this, relative to it, the nearest turn
            counts as a solution.
        default: Angle to return where any angle is a solution [rad].

    Returns:
        Number of turns; the two turns; the margin, as a multiple of the error, to |C| = √(A² + B²),
        where two solutions merge and vanish; the error of the angles.
    """
    along = dot(normal, axis) * dot(axis, v)
    a, b, c = dot(normal, v) - along, dot(normal, cross(axis, v)), height - along
    square, size = a * a + b * b, dot(normal, normal) * dot(v, v)
    if square <= VANISHING_PART * VANISHING_PART * size:
        any_turn = turn_by(default)
        return (1 if abs(c) <= slack * sqrt(size) else 0), any_turn, any_turn, 0.0, np.inf
    radius = sqrt(square)
    margin = abs(abs(c) - radius) / error
    if abs(c) <= radius:
        slope, part = sqrt((radius - c) * (radius + c)), 1.0 / square
        one = (a * c - b * slope) * part, (b * c + a * slope) * part
        two = (a * c + b * slope) * part, (b * c - a * slope) * part
        return 2, one, two, margin, error / max(slope, VANISHING_PART * sqrt(size))
    part = 1.0 / radius if c > 0.0 else -1.0 / radius
    nearest = a * part, b * part
    if abs(c) - radius > slack * radius:
        return 0, nearest, nearest, margin, 0.0
    return 1, nearest, nearest, margin, np.inf


@helper
def law_of_cosines(c: Vector, a: Vector, b: Vector) -> float:
    """Return a · R b for a rotation R with |a + R b| = |c|."""
    return 0.5 * (dot(c, c) - dot(a, a) - dot(b, b))


class FormGoal(NamedTuple):
    """Pose that a form has to reach."""

    rotation: Nine
    """(3, 3) rotation of the tip, relative to the one with all joints at 0."""
    p: Vector
    """Position of a point on the last axis, from the point of the first axis [m]."""
    seed: Six
    """(6,) angles for joints whose angle is arbitrary [rad], in the form's order."""


class Shoulder(NamedTuple):
    """The first three joints of an arm, and the position of its wrist centre.

    With R_i the rotation of joint i and a_i the vector from axis i to axis i + 1:
    p = R_1 (a_1 + R_2 (a_2 + R_3 a_3)).
    """

    kind: float
    """Which of the axes 1 to 3 are parallel or intersect, see PARALLEL_2_3."""
    slack: float
    """See `subproblem_4`."""
    error: float
    """Bound on the error of a length [m], per error of the target."""
    p: Vector
    h1: Vector
    h2: Vector
    h3: Vector
    a1: Vector
    a2: Vector
    a3: Vector


@helper
def back(axis: Vector) -> Vector:
    """Return the opposite direction."""
    return -axis[0], -axis[1], -axis[2]


@inlined
def first_turns(arm: Shoulder, seed: Six) -> tuple[int, Turn, Turn, float, float]:
    """Solve for joint 1, or for joint 3 if axes 1 and 2 are special; see `subproblem_4`."""
    kind, slack, e, p, h1, h2, h3, a1, a2, a3 = arm
    if kind == PARALLEL_2_3:
        c = dot(h2, plus(a1, plus(a2, a3)))
        return subproblem_4(h2, back(h1), p, c, e, slack, seed[0])
    if kind == MEET_2_3:
        c = 0.5 * (dot(p, p) + dot(a1, a1) - dot(a3, a3))
        return subproblem_4(a1, back(h1), p, c, e * (length(p) + length(a1)), slack, seed[0])
    if kind == MEET_1_2:
        return subproblem_4(a2, h3, a3, law_of_cosines(p, a2, a3), e * length(p), slack, seed[2])
    c = dot(h1, minus(p, plus(a1, a2)))
    return subproblem_4(h1, h3, a3, c, e, slack, seed[2])


@inlined
def behind_first(arm: Shoulder, first: Turn) -> Vector:
    """Return the vector that is known after the first turn: R_1ᵀ p − a_1, or a_2 + R_3 a_3."""
    if arm.kind <= MEET_2_3:
        return minus(rotate_about(back(arm.h1), first, arm.p), arm.a1)
    return plus(arm.a2, rotate_about(arm.h3, first, arm.a3))


@inlined
def second_turns(
    arm: Shoulder, rest: Vector, e: float, seed: Six
) -> tuple[int, Turn, Turn, float, float]:
    """Solve for the joint that follows from the first one found; see `subproblem_4`.

    Args:
        arm: The arm.
        rest: Vector returned by `behind_first`.
        e: Bound on its error.
        seed: See `FormGoal`.
    """
    kind, slack, _, p, h1, h2, h3, a1, a2, a3 = arm
    if kind == PARALLEL_2_3:
        c = law_of_cosines(rest, a2, a3)
        return subproblem_4(a2, h3, a3, c, e * length(rest), slack, seed[2])
    if kind == MEET_2_3:
        return subproblem_4(h3, back(h2), rest, dot(h3, a3), e, slack, seed[1])
    if kind == MEET_1_2:
        return subproblem_4(h2, back(h1), p, dot(h2, rest), e, slack, seed[0])
    size = length(p) + length(a1) + length(rest)
    return subproblem_4(a1, h2, rest, law_of_cosines(p, a1, rest), e * size, slack, seed[1])


@inlined
def third_turn(
    arm: Shoulder, rest: Vector, known: tuple[Turn, Turn], errors: tuple[float, float],
    seed: Six,
) -> tuple[Turn, Turn, Turn, float]:  # fmt: skip
    """Return the turns of all three joints, and the error of the last one found.

    Args:
        arm: The arm.
        rest: Vector returned by `behind_first`.
        known: The two turns in the order in which they were found.
        errors: Bounds on the error of `rest` and of the second angle.
        seed: See `FormGoal`.
    """
    kind, _, _, p, h1, h2, h3, a1, a2, a3 = arm
    (first, second), (e, e3) = known, errors
    if kind == PARALLEL_2_3:
        elbow = plus(a2, rotate_about(h3, second, a3))
        t2, e4 = subproblem_1(h2, elbow, rest, e + length(a3) * e3, seed[1])
        return first, t2, second, e4
    if kind == MEET_2_3:
        to = rotate_about(back(h2), second, rest)
        t3, e4 = subproblem_1(h3, a3, to, e + length(rest) * e3, seed[2])
        return first, second, t3, e4
    if kind == MEET_1_2:
        to = rotate_about(back(h1), second, p)
        t2, e4 = subproblem_1(h2, rest, to, e + length(p) * e3, seed[1])
        return second, t2, first, e4
    elbow = plus(a1, rotate_about(h2, second, rest))
    t1, e4 = subproblem_1(h1, elbow, p, e + length(rest) * e3, seed[0])
    return t1, second, first, e4


@helper
def solve_shoulder(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all angles of joints 1 to 3 that bring the wrist centre to its position.

    Two of the three equations have two solutions, one or none.

    Args:
        form: See `find_branches`.
        goal: Pose to reach.
        found: (8, 7) result: the three angles [rad], and a bound on the sum of their errors.

    Returns:
        Number of solutions; the margin, as a multiple of the error of the target.
    """
    arm = Shoulder(
        form[FORM_KIND, KIND_NAME], form[FORM_KIND, KIND_SLACK], 2.0 * form[FORM_SIZE, LENGTH],
        goal.p,
        row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_AXES + 2),
        row(form, FORM_OFFSETS + 1), row(form, FORM_OFFSETS + 2), row(form, FORM_OFFSETS + 3),
    )  # fmt: skip
    count = 0
    n, one, two, margin, e1 = first_turns(arm, goal.seed)
    # Error of the vectors that the first angle acts on.
    e2 = arm.error + e1 * (length(arm.p) if arm.kind <= MEET_2_3 else length(arm.a3))
    for i in range(n):
        first = one if i == 0 else two
        rest = behind_first(arm, first)
        k, s, t, off, e3 = second_turns(arm, rest, e2, goal.seed)
        margin = min(margin, off)
        for j in range(k):
            known = (first, s if j == 0 else t)
            t1, t2, t3, e4 = third_turn(arm, rest, known, (e2, e3), goal.seed)
            found[count, 0], found[count, 1] = angle_of(t1), angle_of(t2)
            found[count, 2] = angle_of(t3)
            found[count, SHOULDER_ERROR] = e1 + e3 + e4
            count += 1
    return count, margin


@helper
def solve_wrist(
    form: FloatArray, goal: FormGoal, placed: int, margin: float, found: FloatArray
) -> tuple[int, float]:
    """Write all branches of an arm with a spherical wrist, from `placed` solutions of its shoulder.

    With R the rotation to reach, R_4 R_5 R_6 = (R_1 R_2 R_3)ᵀ R.
    """
    h1, h2, h3 = row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_AXES + 2)
    h4, h5, h6 = row(form, FORM_AXES + 3), row(form, FORM_AXES + 4), row(form, FORM_AXES + 5)
    across, seed, slack = cross(h6, h5), goal.seed, form[FORM_KIND, KIND_SLACK]
    h6_goal, side = apply_rotation(goal.rotation, h6), apply_rotation(goal.rotation, across)
    count = placed
    if form[FORM_DRIVES + 3, NUMBER] == AXIS_FREE:  # and so are joints 5 and 6
        for i in range(placed):
            error = 1.0 + found[i, SHOULDER_ERROR]
            for c in range(3, 6):
                found[i, c] = found[i, 0]
            found[i, ERROR] = error
        return placed, margin
    for i in range(placed):
        q1, q2, q3, e = found[i, 0], found[i, 1], found[i, 2], 1.0 + found[i, SHOULDER_ERROR]
        t1, t2, t3 = turn_by(-q1), turn_by(-q2), turn_by(-q3)
        a = rotate_about(h3, t3, rotate_about(h2, t2, rotate_about(h1, t1, h6_goal)))
        b = rotate_about(h3, t3, rotate_about(h2, t2, rotate_about(h1, t1, side)))
        n, one, two, off, e5 = subproblem_4(h4, h5, h6, dot(h4, a), e, slack, seed[4])
        margin = min(margin, off)
        if n == 0:
            found[i, 0] = np.nan
        for j in range(n):
            t5 = one if j == 0 else two
            t4, e4 = subproblem_1(h4, rotate_about(h5, t5, h6), a, e + e5, seed[3])
            bent = rotate_about(h5, inverse_turn(t5), rotate_about(h4, inverse_turn(t4), b))
            t6, e6 = subproblem_1(h6, across, bent, length(across) * (e + e5 + e4), seed[5])
            k = i if j == 0 else count
            found[k, 0], found[k, 1], found[k, 2] = q1, q2, q3
            found[k, 3], found[k, 4], found[k, 5] = angle_of(t4), angle_of(t5), angle_of(t6)
            found[k, ERROR] = e + e5 + e4 + e6
            count += j
    return count, margin


@helper
def complete_three_parallel(
    form: FloatArray, goal: FormGoal, known: tuple[Turn, Turn], errors: tuple[float, float],
    found: FloatArray, count: int,
) -> tuple[int, float]:  # fmt: skip
    """Write the branches of an arm with parallel axes 2 to 4 whose joints 1 and 5 are known.

    The sum of the parallel joints' angles follows from the direction of axis 6, and the angles
    themselves from a triangle.

    Args:
        form: See `find_branches`.
        goal: Pose to reach.
        known: Turns of joints 1 and 5.
        errors: Bounds on their errors, per error of the target.
        found: (8, 7) result.
        count: Number of its rows in use.

    Returns:
        Number of rows in use; the margin, as a multiple of the error of the target.
    """
    h1, h2, h3, h4 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 2),
        row(form, FORM_AXES + 3),
    )
    h5, h6, (t1, t5), (error1, error5) = (
        row(form, FORM_AXES + 4),
        row(form, FORM_AXES + 5),
        known,
        errors,
    )
    a1, a2, a3 = (
        row(form, FORM_OFFSETS + 1),
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
    )
    a4 = plus(row(form, FORM_OFFSETS + 4), rotate_about(h5, t5, row(form, FORM_OFFSETS + 5)))
    back1, across, seed, slack = back(h1), cross(h6, h5), goal.seed, form[FORM_KIND, KIND_SLACK]
    sign3, sign4 = dot(h2, h3), dot(h2, h4)
    bent = seed[1] + sign3 * seed[2] + sign4 * seed[3]
    a = rotate_about(back1, t1, apply_rotation(goal.rotation, h6))
    b = rotate_about(back1, t1, apply_rotation(goal.rotation, across))
    turns = 1.0 + error1 + error5
    t234, e4 = subproblem_1(h2, rotate_about(h5, t5, h6), a, turns, bent)
    side6 = rotate_about(h5, inverse_turn(t5), rotate_about(h2, inverse_turn(t234), b))
    t6, e6 = subproblem_1(h6, across, side6, length(across) * (turns + e4), seed[5])
    w = minus(rotate_about(back1, t1, goal.p), plus(a1, rotate_about(h2, t234, a4)))
    e = 2.0 * form[FORM_SIZE, LENGTH] + error1 * length(goal.p) + e4 * length(a4)
    e += error5 * length(row(form, FORM_OFFSETS + 5))
    height3 = law_of_cosines(w, a2, a3)
    m, u, v, margin, e3 = subproblem_4(a2, h3, a3, height3, e * length(w), slack, seed[2])
    q1, q5, q6, sum234 = angle_of(t1), angle_of(t5), angle_of(t6), angle_of(t234)
    for bend in range(m):
        t3 = u if bend == 0 else v
        upper = plus(a2, rotate_about(h3, t3, a3))
        t2, e2 = subproblem_1(h2, upper, w, e + length(a3) * e3, seed[1])
        q2, q3 = angle_of(t2), angle_of(t3)
        found[count, ERROR] = turns + e2 + e3 + e4 + e6
        found[count, 0], found[count, 1], found[count, 2] = q1, q2, q3
        found[count, 3], found[count, 4] = sign4 * (sum234 - q2 - sign3 * q3), q5
        found[count, 5] = q6
        count += 1
    return count, margin


@helper
def solve_three_parallel(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all branches of an arm whose axes 2 to 4 are parallel and whose axes 5 and 6 intersect.

    The parallel joints change no height along their axes. The height of the point where axes 5 and
    6 intersect yields joint 1, the height of axis 6 joint 5.
    """
    h1, h2, h5, h6 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 4),
        row(form, FORM_AXES + 5),
    )
    a1, a2 = row(form, FORM_OFFSETS + 1), row(form, FORM_OFFSETS + 2)
    a3, a4 = row(form, FORM_OFFSETS + 3), row(form, FORM_OFFSETS + 4)
    back1, to, seed, slack = (
        back(h1),
        apply_rotation(goal.rotation, h6),
        goal.seed,
        form[FORM_KIND, KIND_SLACK],
    )
    height = dot(h2, plus(plus(a1, a2), plus(a3, a4)))
    count, e = 0, 2.0 * form[FORM_SIZE, LENGTH]
    n, one, two, margin, e1 = subproblem_4(h2, back1, goal.p, height, e, slack, seed[0])
    for i in range(n):
        t1 = one if i == 0 else two
        a = rotate_about(back1, t1, to)
        k, s, t, off, e5 = subproblem_4(h2, h5, h6, dot(h2, a), 1.0 + e1, slack, seed[4])
        margin = min(margin, off)
        for j in range(k):
            known = (t1, s if j == 0 else t)
            count, off = complete_three_parallel(form, goal, known, (e1, e5), found, count)
            margin = min(margin, off)
    return count, margin


@helper
def goal_row(form: FloatArray, target: FloatArray, r: int) -> Vector:
    """Return a row of the rotation to reach: the target's, or its inverse's."""
    if form[FORM_KIND, KIND_BACKWARD] != 0.0:
        return target[0, r], target[1, r], target[2, r]
    return target[r, 0], target[r, 1], target[r, 2]


@helper
def relative_row(form: FloatArray, goal: Vector) -> Vector:
    """Return a row of a rotation relative to the tip's with all joints at 0."""
    x, y, z = row(form, FORM_REST), row(form, FORM_REST + 1), row(form, FORM_REST + 2)
    return 0.0 + dot(goal, x), 0.0 + dot(goal, y), 0.0 + dot(goal, z)


@helper
def seed_angle(form: FloatArray, seed: FloatArray, i: int) -> float:
    """Return the seed's angle of a joint of a form [rad]; 0 if no variable drives it."""
    j = FORM_DRIVES + (5 - i if form[FORM_KIND, KIND_BACKWARD] != 0.0 else i)
    number = form[j, NUMBER]
    if number <= AXIS_COUPLED:
        number = AXIS_COUPLED - number
    if not number >= 0.0:
        return 0.0
    return form[j, FACTOR] * seed[int(number)] + form[j, SHIFT]  # type: ignore[no-any-return]


@helper
def find_slide_offset(form: FloatArray, target: FloatArray) -> float:
    """Return the displacement of the slide that the revolute joints cannot make [m].

    The slide is along the common direction of all axes, along which the other joints move nothing.

    Args:
        form: Its last rows are the slide's direction, or 0, and its multiplier, offset and
            variable. Its row FORM_SIZE has the tip's height with all joints at 0 [m].
        target: (4, 4) root_T_target.
    """
    place = (target[0, 3], target[1, 3], target[2, 3])
    return dot(row(form, SLIDE_AXIS), place) - form[FORM_SIZE, HEIGHT]  # type: ignore[no-any-return]


@helper
def form_goal(
    form: FloatArray, target: FloatArray, slide_offset: float, seed: FloatArray
) -> FormGoal:
    """Return the pose that a form has to reach, and the angles of arbitrary joints.

    Args:
        form: See `find_branches`.
        target: (4, 4) root_T_target.
        slide_offset: See `find_slide_offset` [m].
        seed: (n,) [rad or m].
    """
    u, v, w = goal_row(form, target, 0), goal_row(form, target, 1), goal_row(form, target, 2)
    x, y, z = relative_row(form, u), relative_row(form, v), relative_row(form, w)
    rotation = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    along = row(form, SLIDE_AXIS)
    p0, p1 = target[0, 3] - slide_offset * along[0], target[1, 3] - slide_offset * along[1]
    p2 = target[2, 3] - slide_offset * along[2]
    to = (p0, p1, p2)
    if form[FORM_KIND, KIND_BACKWARD] != 0.0:
        to = (
            0.0 - u[0] * p0 - u[1] * p1 - u[2] * p2,
            0.0 - v[0] * p0 - v[1] * p1 - v[2] * p2,
            0.0 - w[0] * p0 - w[1] * p1 - w[2] * p2,
        )
    angles = (
        seed_angle(form, seed, 0), seed_angle(form, seed, 1), seed_angle(form, seed, 2),
        seed_angle(form, seed, 3), seed_angle(form, seed, 4), seed_angle(form, seed, 5),
    )  # fmt: skip
    tip = plus(row(form, FORM_OFFSETS), apply_rotation(rotation, row(form, FORM_TIP)))
    return FormGoal(rotation, minus(to, tip), angles)


@helper
def find_branches(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write the angles of all branches of a form for a pose, without regard to limits.

    Args:
        form: (27, 3) the arm with all joints at 0, in its root frame: the six axes; the vectors
            from the root to the first axis and from each axis to the next; the vector to the tip;
            the tip's rotation, by rows; the rows FORM_KIND and FORM_SIZE; what drives the axes,
            from the root on; the direction and the variable of a slide, see `find_slide_offset`;
            the row FORM_MISFIT.
        goal: Pose to reach.
        found: (8, 7) result, of which as many rows are written as are returned, in the form's order
            of joints: angles [rad], and a bound on the error of each, to first order, per error of
            the target in [rad] and [sizes]. A row that begins with NaN is no branch.

    Returns:
        Number of rows; the error of the target, in [rad] and [sizes], below which their number
        cannot change.
    """
    if form[FORM_KIND, KIND_NAME] == PARALLEL_2_3_4:
        return solve_three_parallel(form, goal, found)
    placed, margin = solve_shoulder(form, goal, found)
    return solve_wrist(form, goal, placed, margin, found)

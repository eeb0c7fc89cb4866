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

"""All joint positions of an arm of six turning joints whose axes meet or are parallel.

Three axes that meet, or three that are parallel, take the arm apart into triangles and cones, and
every one of these into one equation A cos θ + B sin θ = C (Pieper 1968; Paden and Kahan's
subproblems 1 and 4, as Elias and Wen, IK-Geo, 2022, use them). Joint positions follow one after the
other, and where an equation has two answers, all go on. `basis_ik.search.closed_form` finds out
which arms have such a form.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined
from basis_ik.search.pose_error_kernel import sine_cosine
from basis_ik.search.tables_kernel import Nine, Six

Vector = tuple[float, float, float]
Turn = tuple[float, float]
"""Cosine and sine of an angle: what a turn does needs these, and not the angle itself."""

MOST = 8  # branches that such an arm has at most
ROWS = 27  # of a form
# Its first row of each.
AXES, OFFSETS, TIP, REST, KIND, SIZE, DRIVES, LIFT, OFF = 0, 6, 12, 13, 16, 17, 18, 24, 26
# Columns of its row KIND: what kind of arm it is; not 0: it is taken from the tip to the root; what
# part of an equation's size it may be short of an answer.
NAME, BACKWARD, SOFT = range(3)
# Of its row SIZE: the arm's size; the tip's height when all are at 0 [m]; see
# `closed_form_loop_kernel`: at which joint the loop is opened.
LENGTH, HEIGHT, FIRST = range(3)
# Of a row DRIVES: angle = FACTOR q[NUMBER] + SHIFT. Of the row behind LIFT: the same for the slide.
FACTOR, SHIFT, NUMBER = range(3)
# Of its row OFF: largest distance [m] and angle [rad] of the arm's tip from where the form puts it.
AWAY, TURNED = range(2)
ERROR = (
    6  # of a branch (7,), behind its angles: how many times as far as the target each may be off
)
PLACED_ERROR = 3  # of one of whose angles only the first three are known
# Which axes are parallel or meet, beside the last three, which meet but in PARALLEL_2_3_4, where
# the last two do. In the order in which joints are solved for: up to MEET_2_3 from the first on.
PARALLEL_2_3, MEET_2_3, MEET_1_2, PARALLEL_1_2, PARALLEL_2_3_4 = 0.0, 1.0, 2.0, 3.0, 4.0
# What drives an axis: a variable of the chain, by its number; or nothing: it is held at 0, or free
# to turn; or, from COUPLED downward, a variable that drives another axis too.
HELD, FREE, COUPLED = -1.0, -2.0, -3.0
VANISHING = 1e-9  # of its size: what a vector leaves across an axis that it lies along


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
    """Return the turn by an angle [rad]."""
    sine, cosine = sine_cosine(angle)
    return cosine, sine


@helper
def angle_of(turn: Turn) -> float:
    """Return a turn's angle [rad], within 1e-15, in half the time of a library's arctangent.

    What the first octant leaves of π/8 has a small sine, and the arcsine of that is a polynomial:
    its interpolation at Chebyshev's nodes.
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
def undo(turn: Turn) -> Turn:
    """Return the turn back."""
    return turn[0], -turn[1]


@helper
def turned(axis: Vector, turn: Turn, v: Vector) -> Vector:
    """Return v turned about a unit axis (Rodrigues)."""
    c, s = turn
    w, along = cross(axis, v), (1.0 - c) * dot(axis, v)
    return (
        c * v[0] + s * w[0] + along * axis[0],
        c * v[1] + s * w[1] + along * axis[1],
        c * v[2] + s * w[2] + along * axis[2],
    )


@helper
def rotated(rotation: Nine, v: Vector) -> Vector:
    """Return R v."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
    return dot((r00, r01, r02), v), dot((r10, r11, r12), v), dot((r20, r21, r22), v)


@helper
def length(v: Vector) -> float:
    """Return |v|."""
    return sqrt(dot(v, v))


@helper
def turn_onto(
    axis: Vector, a: Vector, b: Vector, error: float, otherwise: float
) -> tuple[Turn, float]:
    """Return the turn about a unit axis that takes a onto b, as near as may be, and its error.

    Subproblem 1. Where a or b lies along the axis, any turn does: then that by `otherwise`.

    Args:
        axis: The axis.
        a: What is turned.
        b: Whereto.
        error: By how much both may be off, together.
        otherwise: As above [rad].
    """
    u, v = cross(axis, a), cross(axis, b)
    uu, vv, least = dot(u, u), dot(v, v), VANISHING * VANISHING
    if uu > least * dot(a, a) and vv > least * dot(b, b):
        cosine, sine = dot(u, v), dot(u, b)
        size = 1.0 / sqrt(cosine * cosine + sine * sine)
        return (cosine * size, sine * size), error / sqrt(min(uu, vv))
    return turn_by(otherwise), np.inf


@helper
def turns_to_plane(
    normal: Vector, axis: Vector, v: Vector, height: float, error: float, soft: float,
    otherwise: float,
) -> tuple[int, Turn, Turn, float, float]:  # fmt: skip
    """Return the turns about a unit axis after which normal · (v turned) = height.

    Subproblem 4: A cos θ + B sin θ = C.

    Args:
        normal: Of any length.
        axis: The axis.
        v: What is turned.
        height: As above.
        error: By how much C may be off.
        soft: By what part of √(A² + B²) C may be larger, for the nearest turn to count.
        otherwise: The angle where any does [rad].

    Returns:
        How many turns; these; how many times the error leads to where two turns become one and
        none, |C| = √(A² + B²); and the error of the angles.
    """
    along = dot(normal, axis) * dot(axis, v)
    a, b, c = dot(normal, v) - along, dot(normal, cross(axis, v)), height - along
    square, size = a * a + b * b, dot(normal, normal) * dot(v, v)
    if square <= VANISHING * VANISHING * size:
        anyhow = turn_by(otherwise)
        return (1 if abs(c) <= soft * sqrt(size) else 0), anyhow, anyhow, 0.0, np.inf
    radius = sqrt(square)
    margin = abs(abs(c) - radius) / error
    if abs(c) <= radius:
        slope, part = sqrt((radius - c) * (radius + c)), 1.0 / square
        one = (a * c - b * slope) * part, (b * c + a * slope) * part
        two = (a * c + b * slope) * part, (b * c - a * slope) * part
        return 2, one, two, margin, error / max(slope, VANISHING * sqrt(size))
    part = 1.0 / radius if c > 0.0 else -1.0 / radius
    nearest = a * part, b * part
    if abs(c) - radius > soft * radius:
        return 0, nearest, nearest, margin, 0.0
    return 1, nearest, nearest, margin, np.inf


@helper
def third_side(whole: Vector, a: Vector, b: Vector) -> float:
    """Return a · R b where |a + R b| = |whole|."""
    return 0.5 * (dot(whole, whole) - dot(a, a) - dot(b, b))


class FormGoal(NamedTuple):
    """What a form is to reach."""

    rotation: Nine
    """(3, 3) how the tip is to be turned, relative to its rotation with all joints at 0."""
    p: Vector
    """From the first axis to the last one's point."""
    seed: Six
    """(6,) where a joint stays that makes no difference [rad], in the form's order."""


class Shoulder(NamedTuple):
    """The first three joints of an arm whose wrist's centre is to be at p from the first axis.

    With R_i the turns of the joints and a_i the way from axis i to the next:
    p = R_1 (a_1 + R_2 (a_2 + R_3 a_3)).
    """

    kind: float
    """Which of the axes 1 to 3 are parallel or meet."""
    soft: float
    """See `turns_to_plane`."""
    error: float
    """By how much a length may be off."""
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
    """Return what `turns_to_plane` does, for joint 1, or 3 where the axes 1 and 2 are special."""
    kind, soft, e, p, h1, h2, h3, a1, a2, a3 = arm
    if kind == PARALLEL_2_3:
        c = dot(h2, plus(a1, plus(a2, a3)))
        return turns_to_plane(h2, back(h1), p, c, e, soft, seed[0])
    if kind == MEET_2_3:
        c = 0.5 * (dot(p, p) + dot(a1, a1) - dot(a3, a3))
        return turns_to_plane(a1, back(h1), p, c, e * (length(p) + length(a1)), soft, seed[0])
    if kind == MEET_1_2:
        return turns_to_plane(a2, h3, a3, third_side(p, a2, a3), e * length(p), soft, seed[2])
    c = dot(h1, minus(p, plus(a1, a2)))
    return turns_to_plane(h1, h3, a3, c, e, soft, seed[2])


@inlined
def behind_first(arm: Shoulder, first: Turn) -> Vector:
    """Return what the first turn leaves: R_1ᵀ p − a_1, or a_2 + R_3 a_3."""
    if arm.kind <= MEET_2_3:
        return minus(turned(back(arm.h1), first, arm.p), arm.a1)
    return plus(arm.a2, turned(arm.h3, first, arm.a3))


@inlined
def second_turns(
    arm: Shoulder, rest: Vector, e: float, seed: Six
) -> tuple[int, Turn, Turn, float, float]:
    """Return what `turns_to_plane` does, for the joint that follows from the first one found.

    Args:
        arm: The arm.
        rest: By `behind_first`.
        e: By how much the rest may be off.
        seed: See `FormGoal`.
    """
    kind, soft, _, p, h1, h2, h3, a1, a2, a3 = arm
    if kind == PARALLEL_2_3:
        c = third_side(rest, a2, a3)
        return turns_to_plane(a2, h3, a3, c, e * length(rest), soft, seed[2])
    if kind == MEET_2_3:
        return turns_to_plane(h3, back(h2), rest, dot(h3, a3), e, soft, seed[1])
    if kind == MEET_1_2:
        return turns_to_plane(h2, back(h1), p, dot(h2, rest), e, soft, seed[0])
    size = length(p) + length(a1) + length(rest)
    return turns_to_plane(a1, h2, rest, third_side(p, a1, rest), e * size, soft, seed[1])


@inlined
def third_turn(
    arm: Shoulder, rest: Vector, known: tuple[Turn, Turn], errors: tuple[float, float],
    seed: Six,
) -> tuple[Turn, Turn, Turn, float]:  # fmt: skip
    """Return all three turns, and the error of the one that is found last.

    Args:
        arm: The arm.
        rest: By `behind_first`.
        known: The first turn that was found, and the second.
        errors: By how much the rest may be off, and the second angle.
        seed: See `FormGoal`.
    """
    kind, _, _, p, h1, h2, h3, a1, a2, a3 = arm
    (first, second), (e, e3) = known, errors
    if kind == PARALLEL_2_3:
        elbow = plus(a2, turned(h3, second, a3))
        t2, e4 = turn_onto(h2, elbow, rest, e + length(a3) * e3, seed[1])
        return first, t2, second, e4
    if kind == MEET_2_3:
        to = turned(back(h2), second, rest)
        t3, e4 = turn_onto(h3, a3, to, e + length(rest) * e3, seed[2])
        return first, second, t3, e4
    if kind == MEET_1_2:
        to = turned(back(h1), second, p)
        t2, e4 = turn_onto(h2, rest, to, e + length(p) * e3, seed[1])
        return second, t2, first, e4
    elbow = plus(a1, turned(h2, second, rest))
    t1, e4 = turn_onto(h1, elbow, p, e + length(rest) * e3, seed[0])
    return t1, second, first, e4


@helper
def place_wrist(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all positions of the first three joints that bring the wrist's centre to its place.

    One angle follows after the other, of which two have two answers, one or none.

    Args:
        form: See `find_branches`.
        goal: What to reach.
        found: (8, 7) result: these three, and the error of all of them together.

    Returns:
        How many; and how many times the error leads to fewer or more.
    """
    arm = Shoulder(
        form[KIND, NAME], form[KIND, SOFT], 2.0 * form[SIZE, LENGTH], goal.p,
        row(form, AXES), row(form, AXES + 1), row(form, AXES + 2),
        row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3),
    )  # fmt: skip
    count = 0
    n, one, two, margin, e1 = first_turns(arm, goal.seed)
    # Of the vectors that the first angle turns.
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
            found[count, PLACED_ERROR] = e1 + e3 + e4
            count += 1
    return count, margin


@helper
def turn_wrist(
    form: FloatArray, goal: FormGoal, placed: int, margin: float, found: FloatArray
) -> tuple[int, float]:
    """Write all branches of an arm whose last three axes meet; the first three are `placed`.

    With R the rotation that is wanted, R_4 R_5 R_6 = (R_1 R_2 R_3)ᵀ R.
    """
    h1, h2, h3 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2)
    h4, h5, h6 = row(form, AXES + 3), row(form, AXES + 4), row(form, AXES + 5)
    across, seed, soft = cross(h6, h5), goal.seed, form[KIND, SOFT]
    to, side = rotated(goal.rotation, h6), rotated(goal.rotation, across)
    count = placed
    if form[DRIVES + 3, NUMBER] == FREE:  # and those after it
        for i in range(placed):
            error = 1.0 + found[i, PLACED_ERROR]
            for c in range(3, 6):
                found[i, c] = found[i, 0]
            found[i, ERROR] = error
        return placed, margin
    for i in range(placed):
        q1, q2, q3, e = found[i, 0], found[i, 1], found[i, 2], 1.0 + found[i, PLACED_ERROR]
        t1, t2, t3 = turn_by(-q1), turn_by(-q2), turn_by(-q3)
        a = turned(h3, t3, turned(h2, t2, turned(h1, t1, to)))
        b = turned(h3, t3, turned(h2, t2, turned(h1, t1, side)))
        n, one, two, off, e5 = turns_to_plane(h4, h5, h6, dot(h4, a), e, soft, seed[4])
        margin = min(margin, off)
        if n == 0:
            found[i, 0] = np.nan
        for j in range(n):
            t5 = one if j == 0 else two
            t4, e4 = turn_onto(h4, turned(h5, t5, h6), a, e + e5, seed[3])
            bent = turned(h5, undo(t5), turned(h4, undo(t4), b))
            t6, e6 = turn_onto(h6, across, bent, length(across) * (e + e5 + e4), seed[5])
            k = i if j == 0 else count
            found[k, 0], found[k, 1], found[k, 2] = q1, q2, q3
            found[k, 3], found[k, 4], found[k, 5] = angle_of(t4), angle_of(t5), angle_of(t6)
            found[k, ERROR] = e + e5 + e4 + e6
            count += j
    return count, margin


@helper
def fold_parallels(
    form: FloatArray, goal: FormGoal, known: tuple[Turn, Turn], errors: tuple[float, float],
    found: FloatArray, count: int,
) -> tuple[int, float]:  # fmt: skip
    """Write the branches with given joints 1 and 5 of an arm whose axes 2 to 4 are parallel.

    The sum of the parallel joints turns axis 6 the way it is wanted; the rest is a triangle.

    Args:
        form: See `find_branches`.
        goal: What to reach.
        known: Joints 1 and 5.
        errors: How many times as far as the target each of them may be off.
        found: (8, 7) result.
        count: How many rows of it are in use.

    Returns:
        How many are then; and how many times the error leads to fewer or more.
    """
    h1, h2, h3, h4 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 3)
    h5, h6, (t1, t5), (error1, error5) = row(form, AXES + 4), row(form, AXES + 5), known, errors
    a1, a2, a3 = row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3)
    a4 = plus(row(form, OFFSETS + 4), turned(h5, t5, row(form, OFFSETS + 5)))
    back1, across, seed, soft = back(h1), cross(h6, h5), goal.seed, form[KIND, SOFT]
    sign3, sign4 = dot(h2, h3), dot(h2, h4)
    bent = seed[1] + sign3 * seed[2] + sign4 * seed[3]
    a = turned(back1, t1, rotated(goal.rotation, h6))
    b = turned(back1, t1, rotated(goal.rotation, across))
    turns = 1.0 + error1 + error5
    whole, e4 = turn_onto(h2, turned(h5, t5, h6), a, turns, bent)
    side6 = turned(h5, undo(t5), turned(h2, undo(whole), b))
    t6, e6 = turn_onto(h6, across, side6, length(across) * (turns + e4), seed[5])
    w = minus(turned(back1, t1, goal.p), plus(a1, turned(h2, whole, a4)))
    e = 2.0 * form[SIZE, LENGTH] + error1 * length(goal.p) + e4 * length(a4)
    e += error5 * length(row(form, OFFSETS + 5))
    height3 = third_side(w, a2, a3)
    m, u, v, margin, e3 = turns_to_plane(a2, h3, a3, height3, e * length(w), soft, seed[2])
    q1, q5, q6, sum234 = angle_of(t1), angle_of(t5), angle_of(t6), angle_of(whole)
    for bend in range(m):
        t3 = u if bend == 0 else v
        upper = plus(a2, turned(h3, t3, a3))
        t2, e2 = turn_onto(h2, upper, w, e + length(a3) * e3, seed[1])
        q2, q3 = angle_of(t2), angle_of(t3)
        found[count, ERROR] = turns + e2 + e3 + e4 + e6
        found[count, 0], found[count, 1], found[count, 2] = q1, q2, q3
        found[count, 3], found[count, 4] = sign4 * (sum234 - q2 - sign3 * q3), q5
        found[count, 5] = q6
        count += 1
    return count, margin


@helper
def bend_parallels(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all branches of an arm whose axes 2 to 4 are parallel and whose axes 5 and 6 meet.

    The parallel joints keep all heights along their axes. So the height of where the axes 5 and 6
    meet gives joint 1, that of axis 6 joint 5.
    """
    h1, h2, h5, h6 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 4), row(form, AXES + 5)
    a1, a2 = row(form, OFFSETS + 1), row(form, OFFSETS + 2)
    a3, a4 = row(form, OFFSETS + 3), row(form, OFFSETS + 4)
    back1, to, seed, soft = back(h1), rotated(goal.rotation, h6), goal.seed, form[KIND, SOFT]
    height = dot(h2, plus(plus(a1, a2), plus(a3, a4)))
    count, e = 0, 2.0 * form[SIZE, LENGTH]
    n, one, two, margin, e1 = turns_to_plane(h2, back1, goal.p, height, e, soft, seed[0])
    for i in range(n):
        t1 = one if i == 0 else two
        a = turned(back1, t1, to)
        k, s, t, off, e5 = turns_to_plane(h2, h5, h6, dot(h2, a), 1.0 + e1, soft, seed[4])
        margin = min(margin, off)
        for j in range(k):
            known = (t1, s if j == 0 else t)
            count, off = fold_parallels(form, goal, known, (e1, e5), found, count)
            margin = min(margin, off)
    return count, margin


@helper
def wanted_row(form: FloatArray, target: FloatArray, r: int) -> Vector:
    """Return a row of the rotation that a form is to reach: the target's, or its inverse's."""
    if form[KIND, BACKWARD] != 0.0:
        return target[0, r], target[1, r], target[2, r]
    return target[r, 0], target[r, 1], target[r, 2]


@helper
def turned_row(form: FloatArray, wanted: Vector) -> Vector:
    """Return a row of a rotation relative to the tip's with all joints at 0."""
    x, y, z = row(form, REST), row(form, REST + 1), row(form, REST + 2)
    return 0.0 + dot(wanted, x), 0.0 + dot(wanted, y), 0.0 + dot(wanted, z)


@helper
def seed_angle(form: FloatArray, seed: FloatArray, i: int) -> float:
    """Return the seed's angle for a joint of a form [rad]; 0 if no variable drives it."""
    j = DRIVES + (5 - i if form[KIND, BACKWARD] != 0.0 else i)
    number = form[j, NUMBER]
    if number <= COUPLED:
        number = COUPLED - number
    if not number >= 0.0:
        return 0.0
    return form[j, FACTOR] * seed[int(number)] + form[j, SHIFT]  # type: ignore[no-any-return]


@helper
def rise_of(form: FloatArray, target: FloatArray) -> float:
    """Return where the slide has to be [m], so that the other joints need not lift the tip.

    It slides along axes that are all parallel: no joint changes the heights along them.

    Args:
        form: Of which the last rows are the slide's direction, or 0; and its multiplier, offset and
            variable. Its row SIZE has the tip's height when all are at 0 [m].
        target: (4, 4) root_T_target.
    """
    place = (target[0, 3], target[1, 3], target[2, 3])
    return dot(row(form, LIFT), place) - form[SIZE, HEIGHT]  # type: ignore[no-any-return]


@helper
def form_goal(form: FloatArray, target: FloatArray, rise: float, seed: FloatArray) -> FormGoal:
    """Return what a form is to reach, and where its joints stay that make no difference.

    Args:
        form: See `find_branches`.
        target: (4, 4) root_T_target.
        rise: By `rise_of`: what the slide does of it.
        seed: (n,).
    """
    u, v, w = wanted_row(form, target, 0), wanted_row(form, target, 1), wanted_row(form, target, 2)
    x, y, z = turned_row(form, u), turned_row(form, v), turned_row(form, w)
    rotation = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    along = row(form, LIFT)
    p0, p1 = target[0, 3] - rise * along[0], target[1, 3] - rise * along[1]
    p2 = target[2, 3] - rise * along[2]
    to = (p0, p1, p2)
    if form[KIND, BACKWARD] != 0.0:
        to = (
            0.0 - u[0] * p0 - u[1] * p1 - u[2] * p2,
            0.0 - v[0] * p0 - v[1] * p1 - v[2] * p2,
            0.0 - w[0] * p0 - w[1] * p1 - w[2] * p2,
        )
    angles = (
        seed_angle(form, seed, 0), seed_angle(form, seed, 1), seed_angle(form, seed, 2),
        seed_angle(form, seed, 3), seed_angle(form, seed, 4), seed_angle(form, seed, 5),
    )  # fmt: skip
    tip = plus(row(form, OFFSETS), rotated(rotation, row(form, TIP)))
    return FormGoal(rotation, minus(to, tip), angles)


@helper
def find_branches(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all angles of the six joints of a form with which it reaches a pose, limits aside.

    Args:
        form: (27, 3) the arm with all joints at 0, in its root frame: the axes; the ways from the
            root to the first axis and from each axis to the next; that to the tip; the tip's
            rotation, by rows; what kind of arm it is, whether it is taken from the tip to the
            root, and what part of an equation's size it may be short of an answer; its size [m];
            what drives the axes, from the root on: angle = [0] q[k] + [1], and k or see HELD; of a
            slide along the axes, if there is one, see `rise_of`; and how far the arm is off it.
        goal: What to reach.
        found: (8, 7) result, of which `count` rows are written, in the order in which the form
            has the joints: angles [rad]; and how many times as far as the target, [rad] and
            [sizes], each may be off, to first order. A row that begins with NaN does not count.

    Returns:
        How many; and by how much the target may be off before there are fewer or more of them.
    """
    if form[KIND, NAME] == PARALLEL_2_3_4:
        return bend_parallels(form, goal, found)
    placed, near = place_wrist(form, goal, found)
    return turn_wrist(form, goal, placed, near, found)

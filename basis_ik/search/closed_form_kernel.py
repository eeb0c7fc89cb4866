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

from math import acos, atan2, cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper

FloatArray = NDArray[np.float64]
Vector = tuple[float, float, float]

MOST = 8  # branches that such an arm has at most
ROWS = 26  # of a form
# Its first row of each.
AXES, OFFSETS, TIP, REST, KIND, SIZE, DRIVES, LIFT = 0, 6, 12, 13, 16, 17, 18, 24
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
def turned(axis: Vector, angle: float, v: Vector) -> Vector:
    """Return v turned about a unit axis (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    w, along = cross(axis, v), (1.0 - c) * dot(axis, v)
    return (
        c * v[0] + s * w[0] + along * axis[0],
        c * v[1] + s * w[1] + along * axis[1],
        c * v[2] + s * w[2] + along * axis[2],
    )


@helper
def rotated(rotation: FloatArray, v: Vector) -> Vector:
    """Return R v."""
    return dot(row(rotation, 0), v), dot(row(rotation, 1), v), dot(row(rotation, 2), v)


@helper
def length(v: Vector) -> float:
    """Return |v|."""
    return sqrt(dot(v, v))


@helper
def angle_onto(
    axis: Vector, a: Vector, b: Vector, error: float, otherwise: float
) -> tuple[float, float]:
    """Return the angle about a unit axis that takes a onto b, as near as may be, and its error.

    Subproblem 1. Where a or b lies along the axis, any angle does: then `otherwise`.

    Args:
        axis: The axis.
        a: What is turned.
        b: Whereto.
        error: By how much both may be off, together.
        otherwise: As above.
    """
    u, v = cross(axis, a), cross(axis, b)
    least = VANISHING * VANISHING
    if dot(u, u) > least * dot(a, a) and dot(v, v) > least * dot(b, b):
        angle = atan2(dot(axis, cross(u, v)), dot(u, v))
        return angle, error / sqrt(min(dot(u, u), dot(v, v)))
    return otherwise, np.inf


@helper
def angles_to_plane(
    normal: Vector, axis: Vector, v: Vector, height: float, error: float, soft: float,
    otherwise: float,
) -> tuple[int, float, float, float, float]:  # fmt: skip
    """Return the angles about a unit axis at which normal · (v turned) = height.

    Subproblem 4: A cos θ + B sin θ = C.

    Args:
        normal: Of any length.
        axis: The axis.
        v: What is turned.
        height: As above.
        error: By how much C may be off.
        soft: By what part of √(A² + B²) C may be larger, for the nearest angle to count.
        otherwise: The angle where any does.

    Returns:
        How many angles; these; how many times the error leads to where two angles become one and
        none, |C| = √(A² + B²); and the error of the angles.
    """
    along = dot(normal, axis) * dot(axis, v)
    a, b, c = dot(normal, v) - along, dot(normal, cross(axis, v)), height - along
    size = sqrt(dot(normal, normal) * dot(v, v))
    radius = sqrt(a * a + b * b)
    if radius <= VANISHING * size:
        return (1 if abs(c) <= soft * size else 0), otherwise, otherwise, 0.0, np.inf
    middle, part = atan2(b, a), c / radius
    margin = abs(abs(c) - radius) / error
    if abs(part) <= 1.0:
        half, slope = acos(part), sqrt((radius - c) * (radius + c))
        return 2, middle + half, middle - half, margin, error / max(slope, VANISHING * size)
    if abs(part) - 1.0 > soft:
        return 0, middle, middle, margin, 0.0
    return 1, (middle if part > 0.0 else middle + pi), middle, margin, np.inf


@helper
def third_side(whole: Vector, a: Vector, b: Vector) -> float:
    """Return a · R b where |a + R b| = |whole|."""
    return 0.5 * (dot(whole, whole) - dot(a, a) - dot(b, b))


@helper
def place_wrist(
    form: FloatArray, kind: float, soft: float, p: Vector, seed: FloatArray, found: FloatArray
) -> tuple[int, float]:
    """Write all positions of the first three joints that bring the wrist's centre to p.

    With R_i the turns of the joints and a_i the way from axis i to the next:
    p = R_1 (a_1 + R_2 (a_2 + R_3 a_3)).

    Args:
        form: See `find_branches`.
        kind: Which of the axes 1 to 3 are parallel or meet.
        soft: See `angles_to_plane`.
        p: From the first axis.
        seed: (6,) where a joint stays that makes no difference.
        found: (8, 7) result: these three, and the error of all of them together.

    Returns:
        How many; and how many times the error leads to fewer or more.
    """
    h1, h2, h3 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2)
    a1, a2, a3 = row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3)
    back1, back2 = (-h1[0], -h1[1], -h1[2]), (-h2[0], -h2[1], -h2[2])
    far, e, zero, l3 = length(p), 2.0 * form[SIZE, 0], 0.0 * p[0], length(a3)
    count, q1, q2, q3, w, v = 0, zero, zero, zero, p, p
    if kind == PARALLEL_2_3:
        c = dot(h2, plus(a1, plus(a2, a3)))
        n, one, two, margin, e1 = angles_to_plane(h2, back1, p, c, e, soft, seed[0])
    elif kind == MEET_2_3:
        c = 0.5 * (dot(p, p) + dot(a1, a1) - dot(a3, a3))
        n, one, two, margin, e1 = angles_to_plane(
            a1, back1, p, c, e * (far + length(a1)), soft, seed[0]
        )
    elif kind == MEET_1_2:
        c = third_side(p, a2, a3)
        n, one, two, margin, e1 = angles_to_plane(a2, h3, a3, c, e * far, soft, seed[2])
    else:
        c = dot(h1, minus(p, plus(a1, a2)))
        n, one, two, margin, e1 = angles_to_plane(h1, h3, a3, c, e, soft, seed[2])
    # Of the vectors that the first angle turns.
    e2 = e + e1 * (far if kind <= MEET_2_3 else l3)
    for i in range(n):
        first = one if i == 0 else two
        if kind <= MEET_2_3:
            q1 = first
            w = minus(turned(back1, q1, p), a1)
        else:
            q3 = first
            v = plus(a2, turned(h3, q3, a3))
        if kind == PARALLEL_2_3:
            c = third_side(w, a2, a3)
            k, s, t, off, e3 = angles_to_plane(a2, h3, a3, c, e2 * length(w), soft, seed[2])
        elif kind == MEET_2_3:
            k, s, t, off, e3 = angles_to_plane(h3, back2, w, dot(h3, a3), e2, soft, seed[1])
        elif kind == MEET_1_2:
            k, s, t, off, e3 = angles_to_plane(h2, back1, p, dot(h2, v), e2, soft, seed[0])
        else:
            c = third_side(p, a1, v)
            k, s, t, off, e3 = angles_to_plane(
                a1, h2, v, c, e2 * (far + length(a1) + length(v)), soft, seed[1]
            )
        margin = min(margin, off)
        for j in range(k):
            second = s if j == 0 else t
            if kind == PARALLEL_2_3:
                q3 = second
                q2, e4 = angle_onto(h2, plus(a2, turned(h3, q3, a3)), w, e2 + l3 * e3, seed[1])
            elif kind == MEET_2_3:
                q2 = second
                q3, e4 = angle_onto(h3, a3, turned(back2, q2, w), e2 + length(w) * e3, seed[2])
            elif kind == MEET_1_2:
                q1 = second
                q2, e4 = angle_onto(h2, v, turned(back1, q1, p), e2 + far * e3, seed[1])
            else:
                q2 = second
                q1, e4 = angle_onto(
                    h1, plus(a1, turned(h2, q2, v)), p, e2 + length(v) * e3, seed[0]
                )
            found[count, 0], found[count, 1], found[count, 2] = q1, q2, q3
            found[count, 3] = e1 + e3 + e4
            count += 1
    return count, margin


@helper
def turn_wrist(
    form: FloatArray, soft: float, rotation: FloatArray, placed: int, margin: float,
    seed: FloatArray, found: FloatArray,
) -> tuple[int, float]:  # fmt: skip
    """Write all branches of an arm whose last three axes meet; the first three are `placed`.

    With R the rotation that is wanted, R_4 R_5 R_6 = (R_1 R_2 R_3)ᵀ R.
    """
    h1, h2, h3 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2)
    h4, h5, h6 = row(form, AXES + 3), row(form, AXES + 4), row(form, AXES + 5)
    across = cross(h6, h5)
    to, side = rotated(rotation, h6), rotated(rotation, across)
    count = placed
    if form[DRIVES + 3, 2] == FREE:  # and those after it
        for i in range(placed):
            found[i, 4], found[i, 5], found[i, 6] = found[i, 0], found[i, 0], 1.0 + found[i, 3]
            found[i, 3] = found[i, 0]
        return placed, margin
    for i in range(placed):
        q1, q2, q3, e = found[i, 0], found[i, 1], found[i, 2], 1.0 + found[i, 3]
        a = turned(h3, -q3, turned(h2, -q2, turned(h1, -q1, to)))
        b = turned(h3, -q3, turned(h2, -q2, turned(h1, -q1, side)))
        n, one, two, off, e5 = angles_to_plane(h4, h5, h6, dot(h4, a), e, soft, seed[4])
        margin = min(margin, off)
        if n == 0:
            found[i, 0] = np.nan
        for j in range(n):
            q5 = one if j == 0 else two
            q4, e4 = angle_onto(h4, turned(h5, q5, h6), a, e + e5, seed[3])
            bent = turned(h5, -q5, turned(h4, -q4, b))
            q6, e6 = angle_onto(h6, across, bent, length(across) * (e + e5 + e4), seed[5])
            k = i if j == 0 else count
            found[k, 0], found[k, 1], found[k, 2] = q1, q2, q3
            found[k, 3], found[k, 4], found[k, 5] = q4, q5, q6
            found[k, 6] = e + e5 + e4 + e6
            count += j
    return count, margin


@helper
def fold_parallels(
    form: FloatArray, soft: float, rotation: FloatArray, p: Vector, q1: float, q5: float,
    error1: float, error5: float, seed: FloatArray, found: FloatArray, count: int,
) -> tuple[int, float]:  # fmt: skip
    """Write the branches with given joints 1 and 5 of an arm whose axes 2 to 4 are parallel.

    The sum of the parallel joints turns axis 6 the way it is wanted; the rest is a triangle.

    Args:
        form: See `find_branches`.
        soft: See `angles_to_plane`.
        rotation: (3, 3) how the tip is to be turned.
        p: From the first axis to the last one's point.
        q1: [rad].
        q5: [rad].
        error1: How many times as far as the target joint 1 may be off.
        error5: Likewise.
        seed: (6,) where a joint stays that makes no difference.
        found: (8, 7) result.
        count: How many rows of it are in use.

    Returns:
        How many are then; and how many times the error leads to fewer or more.
    """
    h1, h2, h3, h4 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 3)
    h5, h6 = row(form, AXES + 4), row(form, AXES + 5)
    a1, a2, a3 = row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3)
    a4 = plus(row(form, OFFSETS + 4), turned(h5, q5, row(form, OFFSETS + 5)))
    back1, across = (-h1[0], -h1[1], -h1[2]), cross(h6, h5)
    sign3, sign4 = dot(h2, h3), dot(h2, h4)
    bent = seed[1] + sign3 * seed[2] + sign4 * seed[3]
    a = turned(back1, q1, rotated(rotation, h6))
    b = turned(back1, q1, rotated(rotation, across))
    turns = 1.0 + error1 + error5
    whole, e4 = angle_onto(h2, turned(h5, q5, h6), a, turns, bent)
    side6 = turned(h5, -q5, turned(h2, -whole, b))
    q6, e6 = angle_onto(h6, across, side6, length(across) * (turns + e4), seed[5])
    w = minus(turned(back1, q1, p), plus(a1, turned(h2, whole, a4)))
    e = 2.0 * form[SIZE, 0] + error1 * length(p) + e4 * length(a4)
    e += error5 * length(row(form, OFFSETS + 5))
    height3 = third_side(w, a2, a3)
    m, u, v, margin, e3 = angles_to_plane(a2, h3, a3, height3, e * length(w), soft, seed[2])
    for bend in range(m):
        q3 = u if bend == 0 else v
        upper = plus(a2, turned(h3, q3, a3))
        q2, e2 = angle_onto(h2, upper, w, e + length(a3) * e3, seed[1])
        found[count, 6] = turns + e2 + e3 + e4 + e6
        found[count, 0], found[count, 1], found[count, 2] = q1, q2, q3
        found[count, 3], found[count, 4] = sign4 * (whole - q2 - sign3 * q3), q5
        found[count, 5] = q6
        count += 1
    return count, margin


@helper
def bend_parallels(
    form: FloatArray, soft: float, rotation: FloatArray, p: Vector, seed: FloatArray,
    found: FloatArray,
) -> tuple[int, float]:  # fmt: skip
    """Write all branches of an arm whose axes 2 to 4 are parallel and whose axes 5 and 6 meet.

    The parallel joints keep all heights along their axes. So the height of where the axes 5 and 6
    meet gives joint 1, that of axis 6 joint 5.
    """
    h1, h2, h5, h6 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 4), row(form, AXES + 5)
    a1, a2 = row(form, OFFSETS + 1), row(form, OFFSETS + 2)
    a3, a4 = row(form, OFFSETS + 3), row(form, OFFSETS + 4)
    back1, to = (-h1[0], -h1[1], -h1[2]), rotated(rotation, h6)
    height = dot(h2, plus(plus(a1, a2), plus(a3, a4)))
    count, e = 0, 2.0 * form[SIZE, 0]
    n, one, two, margin, e1 = angles_to_plane(h2, back1, p, height, e, soft, seed[0])
    for i in range(n):
        q1 = one if i == 0 else two
        a = turned(back1, q1, to)
        k, s, t, off, e5 = angles_to_plane(h2, h5, h6, dot(h2, a), 1.0 + e1, soft, seed[4])
        margin = min(margin, off)
        for j in range(k):
            count, off = fold_parallels(
                form, soft, rotation, p, q1, s if j == 0 else t, e1, e5, seed, found, count
            )
            margin = min(margin, off)
    return count, margin


@helper
def see_target(
    form: FloatArray, target: FloatArray, seed: FloatArray, rotation: FloatArray, start: FloatArray
) -> Vector:
    """Write what a form is to reach, and where its joints stay that make no difference.

    Args:
        form: See `find_branches`.
        target: Likewise.
        seed: Likewise.
        rotation: (3, 3) result: how the tip is to be turned.
        start: (6,) result: the seed's angles [rad], in the form's order.

    Returns:
        From the first axis to the last one's point.
    """
    backward, to = form[KIND, 1] != 0.0, np.empty(3)
    for r in range(3):
        to[r] = target[r, 3]
        if backward:
            to[r] = 0.0
            for i in range(3):
                to[r] -= target[i, r] * target[i, 3]
        for c in range(3):
            rotation[r, c] = 0.0
            for i in range(3):
                wanted = target[i, r] if backward else target[r, i]
                rotation[r, c] += wanted * form[REST + c, i]
    for i in range(6):
        j = 5 - i if backward else i
        number, start[i] = form[DRIVES + j, 2], 0.0
        if number <= COUPLED:
            number = COUPLED - number
        if number >= 0.0:
            start[i] = form[DRIVES + j, 0] * seed[int(number)] + form[DRIVES + j, 1]
    return minus((to[0], to[1], to[2]), plus(row(form, OFFSETS), rotated(rotation, row(form, TIP))))


@helper
def lowered(form: FloatArray, target: FloatArray, goal: FloatArray) -> float:
    """Write where the target would be with the slide at 0, and return where the slide has to be.

    It slides along axes that are all parallel: no joint changes the heights along them.

    Args:
        form: Of which the last rows are the slide's direction, or 0; and its multiplier, offset and
            variable. The second number in the row SIZE is the tip's height when all are at 0 [m].
        target: (4, 4) root_T_target.
        goal: (4, 4) result.
    """
    along = row(form, LIFT)
    rise: float = dot(along, (target[0, 3], target[1, 3], target[2, 3])) - form[SIZE, 1]
    for r in range(4):
        for c in range(4):
            goal[r, c] = target[r, c]
    for r in range(3):
        goal[r, 3] -= rise * along[r]
    return rise


@helper
def find_branches(
    form: FloatArray, target: FloatArray, seed: FloatArray, found: FloatArray
) -> tuple[int, float]:
    """Write all angles of the six joints of a form with which it reaches a pose, limits aside.

    Args:
        form: (26, 3) the arm with all joints at 0, in its root frame: the axes; the ways from the
            root to the first axis and from each axis to the next; that to the tip; the tip's
            rotation, by rows; what kind of arm it is, whether it is taken from the tip to the
            root, and what part of an equation's size it may be short of an answer; its size [m];
            what drives the axes, from the root on: angle = [0] q[k] + [1], and k or see HELD; and
            of a slide along the axes, if there is one, see `lowered`.
        target: (4, 4) root_T_target.
        seed: (n,) where a joint stays that makes no difference [rad].
        found: (8, 7) result, of which `count` rows are written, in the order in which the form
            has the joints: angles [rad]; and how many times as far as the target, [rad] and
            [sizes], each may be off, to first order. A row that begins with NaN does not count.

    Returns:
        How many; and by how much the target may be off before there are fewer or more of them.
    """
    kind, soft = form[KIND, 0], form[KIND, 2]
    rotation, start = np.empty((3, 3)), np.empty(6)
    p = see_target(form, target, seed, rotation, start)
    if kind == PARALLEL_2_3_4:
        return bend_parallels(form, soft, rotation, p, start, found)
    placed, near = place_wrist(form, kind, soft, p, start, found)
    return turn_wrist(form, soft, rotation, placed, near, start, found)

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

"""All joint positions of an arm of six turning joints of which only the last two axes meet.

At a given angle of joint 1 the joints 2 to 4 bring the point where the last axes meet to its place,
in four ways, of which some may be complex. What each of them misses of the angle between axis 6 as
it is wanted and axis 5 is multiplied over all four, and with what vanishes where a way goes to
infinity. The product is real and smooth, also where two ways become one and none: it consists of
twelve harmonics of the angle of joint 1. So 32 values give it exactly, and with it all its zeros,
which are the joint positions. (Elias and Wen, IK-Geo, 2022, search along each real way for changes
of sign.)
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.numerics.trigonometric_kernel import (
    EVEN,
    HARMONICS,
    ODD,
    SIZE_OF,
    root_of_series,
    series_at,
    series_turning_points,
)
from basis_ik.search.closed_form_kernel import (
    AXES,
    LENGTH,
    OFFSETS,
    SIZE,
    FormGoal,
    Vector,
    angle_of,
    back,
    cross,
    dot,
    minus,
    plus,
    rotated,
    row,
    turn_by,
    turn_onto,
    turned,
    undo,
)
from basis_ik.search.closed_form_quartic_kernel import plane

ComplexArray = NDArray[np.complex128]
ComplexVector = tuple[complex, complex, complex]

SAMPLES = 32
ROUGH = 1e-6  # of the largest coefficient: up to where those that should vanish are rounding
ROUNDS = 60  # of approaching the roots of a quartic
SETTLED = 4  # rounds after which what no longer gets nearer is rounding
TRUE = 1e-7  # what a branch may miss, and be complex by
TRIES = 6  # to bring it there


class Reacher(NamedTuple):
    """An arm whose axes 5 and 6 meet, and where these are to be.

    With R_i the turns of the joints and a_i the way from axis i to the next:
    p = R_1 (a_1 + R_2 (a_2 + R_3 (a_3 + R_4 a_4))), and R_1 R_2 R_3 R_4 h_5 · to = h_5 · h_6.
    """

    h1: Vector
    h2: Vector
    h3: Vector
    h4: Vector
    h5: Vector
    a1: Vector
    a2: Vector
    a3: Vector
    a4: Vector
    p: Vector
    """Where the axes meet, from the first axis' point."""
    to: Vector
    """How axis 6 is to point."""
    cosine: float
    """Of the angle between the axes 5 and 6."""
    lever: float
    """By how much a length may be off."""


class Way(NamedTuple):
    """What joint 1 leaves for the others, and how that changes with it."""

    w: Vector
    """R_1ᵀ p − a_1."""
    n: Vector
    """R_1ᵀ to."""
    dw: Vector
    dn: Vector


class Bend(NamedTuple):
    """The joints 2 to 4, which may be complex, by cosine and sine."""

    c2: complex
    s2: complex
    c4: complex
    s4: complex
    y: ComplexVector
    """From axis 3 to where the last axes meet, as joint 2 leaves it."""
    n: ComplexVector
    """How axis 6 is to point, likewise."""
    c3: complex
    """Times `across`."""
    s3: complex
    """Times `across`."""
    across: complex
    """The square of what y leaves across axis 3."""


@helper
def ratio(a: complex, b: complex) -> complex:
    """Return a / b, infinite where b is 0: numba's own division raises an error there."""
    square = b.real * b.real + b.imag * b.imag
    if square == 0.0:
        return complex(np.inf, np.inf)
    real, imaginary = a.real * b.real + a.imag * b.imag, a.imag * b.real - a.real * b.imag
    return complex(real / square, imaginary / square)


@helper
def scalar(a: ComplexVector, b: ComplexVector) -> complex:
    """Return a · b, without conjugation."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def across(a: ComplexVector, b: ComplexVector) -> ComplexVector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def total(a: ComplexVector, b: ComplexVector) -> ComplexVector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def magnitude(a: ComplexVector) -> float:
    """Return |a|."""
    return hypot(abs(a[0]), hypot(abs(a[1]), abs(a[2])))


@helper
def swung(axis: Vector, c: complex, s: complex, v: ComplexVector) -> ComplexVector:
    """Return v turned about a unit axis by an angle of which cosine and sine are given."""
    w, along = across(axis, v), (1.0 - c) * scalar(axis, v)
    return (
        c * v[0] + s * w[0] + along * axis[0],
        c * v[1] + s * w[1] + along * axis[1],
        c * v[2] + s * w[2] + along * axis[2],
    )


@helper
def reacher_of(form: FloatArray, goal: FormGoal) -> Reacher:
    """Return an opened form, see `closed_form_loop_kernel`, and what it is to reach."""
    h5, h6 = row(form, AXES + 4), row(form, AXES + 5)
    return Reacher(
        row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 3), h5,
        row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3),
        row(form, OFFSETS + 4), goal.p, rotated(goal.rotation, h6), dot(h5, h6),
        2.0 * form[SIZE, LENGTH],
    )  # fmt: skip


@helper
def way_at(arm: Reacher, angle: float) -> Way:
    """Return what joint 1 at an angle leaves."""
    axis, turn = back(arm.h1), turn_by(angle)
    p, n = turned(axis, turn, arm.p), turned(axis, turn, arm.to)
    return Way(minus(p, arm.a1), n, cross(axis, p), cross(axis, n))


@helper
def remove(table: FloatArray, r: int, k: int) -> None:
    """Take from row r of a table (m, 4) what lies along its row k, of length 1."""
    along = 0.0
    for c in range(4):
        along += table[r, c] * table[k, c]
    for c in range(4):
        table[r, c] -= along * table[k, c]


@helper
def normalise(table: FloatArray, r: int) -> float:
    """Bring row r of a table (m, 4) to length 1, and return its length before."""
    square = 0.0
    for c in range(4):
        square += table[r, c] * table[r, c]
    size = sqrt(square)
    for c in range(4):
        table[r, c] /= size
    return size


@helper
def infinity(table: FloatArray, side: float) -> float:
    """Return what vanishes where two equations (2, 4) have a solution (1, i, s, ± i s)."""
    real = table[0, 0] * table[1, 2] - table[1, 0] * table[0, 2]
    real -= side * (table[0, 1] * table[1, 3] - table[1, 1] * table[0, 3])
    imaginary = table[0, 1] * table[1, 2] - table[1, 1] * table[0, 2]
    imaginary += side * (table[0, 0] * table[1, 3] - table[1, 0] * table[0, 3])
    return real * real + imaginary * imaginary  # type: ignore[no-any-return]


@helper
def fill_plane(arm: Reacher, w: Vector, table: FloatArray) -> tuple[float, float]:
    """Write where x = (cos θ_2, sin θ_2, cos θ_4, sin θ_4) meets length and height along axis 3.

    These are linear, see `closed_form_quartic_kernel.place_anyhow`; and |x|² = 2, which leaves a
    circle in a plane.

    Args:
        arm: The arm.
        w: See `Way`.
        table: (5, 4) result: two rows to work in, the circle's centre, and two directions.

    Returns:
        The square of the circle's radius, which may be below 0; and what vanishes where one of the
        four ways goes to infinity.
    """
    one, other = plane(arm.a2, back(arm.h2), w), plane(arm.h3, back(arm.h2), w)
    right, right2 = plane(arm.a3, arm.h4, arm.a4), plane(arm.h3, arm.h4, arm.a4)
    squares = dot(arm.a3, arm.a3) + dot(arm.a4, arm.a4) - dot(w, w) - dot(arm.a2, arm.a2)
    table[0, 0], table[0, 1], table[0, 2], table[0, 3] = one[1], one[2], right[1], right[2]
    table[1, 0], table[1, 1], table[1, 2], table[1, 3] = other[1], other[2], -right2[1], -right2[2]
    reach = infinity(table, 1.0) * infinity(table, -1.0)
    first = (-0.5 * squares - one[0] - right[0]) / normalise(table, 0)
    second = dot(arm.h3, plus(arm.a2, arm.a3)) - other[0] + right2[0]
    second /= normalise(table, 1)
    along = 0.0
    for c in range(4):
        along += table[0, c] * table[1, c]
    remove(table, 1, 0)
    second = (second - along * first) / normalise(table, 1)
    for c in range(4):
        table[2, c] = first * table[0, c] + second * table[1, c]
    for r in range(3, 5):  # the unit vector that is farthest from those before
        best, least = 0, np.inf
        for c in range(4):
            taken = table[0, c] ** 2 + table[1, c] ** 2
            if r == 4:
                taken += table[3, c] ** 2
            if taken < least:
                best, least = c, taken
        for c in range(4):
            table[r, c] = 1.0 if c == best else 0.0
        remove(table, r, 0)
        remove(table, r, 1)
        if r == 4:
            remove(table, r, 3)
        normalise(table, r)
    return 2.0 - first * first - second * second, reach


@helper
def approach_roots(k2: complex, k1: complex, k0: float, square: float, roots: ComplexArray) -> None:
    """Bring roots (4,) to those of k2 z⁴ + k1 z³ + k0 z² + k1* r z + k2* r², from where they are.

    Aberth's method: Newton's, with the others' roots divided out.
    """
    c3, c2 = ratio(k1, k2), ratio(k0, k2)
    c1, c0 = ratio(k1.conjugate(), k2) * square, ratio(k2.conjugate(), k2) * square * square
    before = np.inf
    for turn in range(ROUNDS):
        farthest = 0.0
        for i in range(4):
            z = roots[i]
            height = (((z + c3) * z + c2) * z + c1) * z + c0
            slope = ((4.0 * z + 3.0 * c3) * z + 2.0 * c2) * z + c1
            for j in range(4):
                if roots[j] != z:
                    slope -= ratio(height, z - roots[j])
            if slope != 0.0:
                step = ratio(height, slope)
                roots[i] = z - step
                farthest = max(farthest, abs(step) / (abs(z) + 1e-300))
        if farthest <= 1e-15 or (turn >= SETTLED and before <= farthest < 1e-6):
            break
        before = farthest


@helper
def find_ways(
    arm: Reacher, way: Way, table: FloatArray, roots: ComplexArray
) -> tuple[float, float]:
    """Write the plane of `fill_plane`, and four roots that are the joints 2 and 4 there.

    On the circle x is centre + (z + r / z) / 2 u + (z - r / z) / 2i v, where r is the square of its
    radius. Joint 2 has |(cos θ_2, sin θ_2)| = 1, and so has joint 4, since |x|² = 2.

    Returns:
        As `fill_plane`.
    """
    square, reach = fill_plane(arm, way.w, table)
    x, y, ux, uy = table[2, 0], table[2, 1], table[3, 0], table[3, 1]
    vx, vy = table[4, 0], table[4, 1]
    uu, vv, uv = ux * ux + uy * uy, vx * vx + vy * vy, ux * vx + uy * vy
    k2, k1 = complex(0.25 * (uu - vv), -0.5 * uv), complex(x * ux + y * uy, -x * vx - y * vy)
    approach_roots(k2, k1, x * x + y * y - 1.0 + 0.5 * square * (uu + vv), square, roots)
    return square, reach


@helper
def bend_at(arm: Reacher, way: Way, table: FloatArray, square: float, root: complex) -> Bend:
    """Return the joints 2 to 4 that belong to a root of `find_ways`."""
    other = ratio(square, root)
    u, v = 0.5 * (root + other), -0.5j * (root - other)
    c2 = table[2, 0] + u * table[3, 0] + v * table[4, 0]
    s2 = table[2, 1] + u * table[3, 1] + v * table[4, 1]
    c4 = table[2, 2] + u * table[3, 2] + v * table[4, 2]
    s4 = table[2, 3] + u * table[3, 3] + v * table[4, 3]
    h3, back2 = arm.h3, back(arm.h2)
    n, y = swung(back2, c2, s2, way.n), total(swung(back2, c2, s2, way.w), back(arm.a2))
    from3 = total(arm.a3, swung(arm.h4, c4, s4, arm.a4))
    height = scalar(h3, y)
    c3, s3 = scalar(from3, y) - scalar(h3, from3) * height, scalar(h3, across(from3, y))
    return Bend(c2, s2, c4, s4, y, n, c3, s3, scalar(y, y) - height * height)


@helper
def missed(arm: Reacher, bend: Bend) -> complex:
    """Return by how much axis 5 misses its angle to where axis 6 is to point, times `across`."""
    h, n = arm.h3, bend.n
    g = swung(arm.h4, bend.c4, bend.s4, arm.h5)
    along = scalar(h, n) * scalar(h, g)
    miss = bend.c3 * (scalar(n, g) - along) + bend.s3 * scalar(n, across(h, g))
    return miss + bend.across * (along - arm.cosine)


@helper
def sensitivity(arm: Reacher, way: Way, bend: Bend) -> tuple[complex, float]:
    """Return how a miss changes with joint 1, and what errors of the target make of it.

    Returns:
        Its derivative; and how many times as far off as the target.
    """
    h2, h3, a2 = arm.h2, arm.h3, arm.a2
    c3, s3 = ratio(bend.c3, bend.across), ratio(bend.s3, bend.across)
    g = swung(arm.h4, bend.c4, bend.s4, arm.h5)
    axis5, lean = swung(h3, c3, s3, g), swung(h3, c3, s3, across(arm.h4, g))
    j2, j3 = across(h2, total(a2, bend.y)), across(h3, bend.y)
    j4 = swung(h3, c3, s3, across(arm.h4, swung(arm.h4, bend.c4, bend.s4, arm.a4)))
    to2, to3, to4 = across(j3, j4), across(j4, j2), across(j2, j3)
    whole = scalar(j2, to2)
    e2, e3, e4 = scalar(bend.n, across(h2, axis5)), scalar(bend.n, across(h3, axis5)), 0.0j
    e4 += scalar(bend.n, lean)
    pull = (
        ratio(e2 * to2[0] + e3 * to3[0] + e4 * to4[0], whole),
        ratio(e2 * to2[1] + e3 * to3[1] + e4 * to4[1], whole),
        ratio(e2 * to2[2] + e3 * to3[2] + e4 * to4[2], whole),
    )
    back2 = back(h2)
    slope = scalar(pull, swung(back2, bend.c2, bend.s2, way.dw))
    slope += scalar(swung(back2, bend.c2, bend.s2, way.dn), axis5)
    return slope, magnitude(axis5) + magnitude(pull) * arm.lever


@helper
def product_at(arm: Reacher, angle: float, table: FloatArray, roots: ComplexArray) -> float:
    """Return what all four ways miss at an angle of joint 1, multiplied."""
    way = way_at(arm, angle)
    square, reach = find_ways(arm, way, table, roots)
    product = complex(reach, 0.0)
    for k in range(4):
        product *= missed(arm, bend_at(arm, way, table, square, roots[k]))
    return product.real


@helper
def fill_series(arm: Reacher, table: FloatArray, roots: ComplexArray, series: FloatArray) -> float:
    """Write the Fourier series (3, 16) of `product_at`, and return how far its values may be off.

    They may be anything, infinite, where the arm is such that it is none.
    """
    for k in range(4):
        roots[k] = complex(0.4, 0.9) ** k
    for k in range(SAMPLES // 2):
        series[EVEN, k], series[ODD, k] = 0.0, 0.0
    for i in range(SAMPLES):
        angle = 2.0 * pi * i / SAMPLES
        value = product_at(arm, angle, table, roots)
        for k in range(SAMPLES // 2):
            series[EVEN, k] += value * cos(k * angle) / (SAMPLES if k == 0 else SAMPLES // 2)
            series[ODD, k] += value * sin(k * angle) / (SAMPLES // 2)
    largest, rest = 0.0, 0.0
    for k in range(SAMPLES // 2):
        size = hypot(series[EVEN, k], series[ODD, k])
        series[SIZE_OF, k] = size
        if k <= HARMONICS:
            largest = max(largest, size)
        else:
            rest = max(rest, size)
    return rest * SAMPLES if largest > 0.0 and rest <= ROUGH * largest else np.inf


@helper
def nearest_way(
    arm: Reacher, way: Way, table: FloatArray, roots: ComplexArray
) -> tuple[float, complex, Bend]:
    """Return what misses nothing after the least turn of joint 1: by how much now, and that turn.

    Not what misses least: another way may, with its own zero farther off.
    """
    square, least, miss = find_ways(arm, way, table, roots)[0], np.inf, np.inf
    best, step = bend_at(arm, way, table, square, roots[0]), 0.0j
    for k in range(4):
        bend = bend_at(arm, way, table, square, roots[k])
        off = ratio(missed(arm, bend), bend.across)
        turn = ratio(off, sensitivity(arm, way, bend)[0])
        if abs(turn) < least:
            best, least, miss, step = bend, abs(turn), abs(off), turn
    return miss, step, best


@helper
def room_at(arm: Reacher, angle: float, table: FloatArray, roots: ComplexArray) -> float:
    """Return how far off the target may be for no way to miss nothing at an angle of joint 1."""
    way, room = way_at(arm, angle), np.inf
    square = find_ways(arm, way, table, roots)[0]
    for k in range(4):
        bend = bend_at(arm, way, table, square, roots[k])
        blur = sensitivity(arm, way, bend)[1]
        room = min(room, abs(ratio(missed(arm, bend), bend.across)) / blur)
    return room


@helper
def write_branch(
    arm: Reacher, form: FloatArray, goal: FormGoal, angle: float, bend: Bend, found: FloatArray
) -> None:
    """Write the angles of a branch (7,) of which the first four joints are known."""
    h5, h6, seed = arm.h5, row(form, AXES + 5), goal.seed
    q2, q4 = atan2(bend.s2.real, bend.c2.real), atan2(bend.s4.real, bend.c4.real)
    q3 = atan2(ratio(bend.s3, bend.across).real, ratio(bend.c3, bend.across).real)
    side, t1, t2, t3, t4 = cross(h6, h5), turn_by(-angle), turn_by(-q2), turn_by(-q3), turn_by(-q4)
    a = turned(arm.h2, t2, turned(arm.h1, t1, arm.to))
    b = turned(arm.h2, t2, turned(arm.h1, t1, rotated(goal.rotation, side)))
    a, b = turned(arm.h4, t4, turned(arm.h3, t3, a)), turned(arm.h4, t4, turned(arm.h3, t3, b))
    t5, _ = turn_onto(h5, h6, a, 1.0, seed[4])
    t6, _ = turn_onto(h6, side, turned(h5, undo(t5), b), 1.0, seed[5])
    found[0], found[1], found[2], found[3] = angle, q2, q3, q4
    found[4], found[5] = angle_of(t5), angle_of(t6)


@helper
def settle_branch(
    arm: Reacher, form: FloatArray, goal: FormGoal, angle: float, table: FloatArray,
    roots: ComplexArray, found: FloatArray,
) -> bool:  # fmt: skip
    """Write the branch (7,) next to an angle of joint 1; return whether there is one."""
    for _ in range(TRIES):
        way = way_at(arm, angle)
        miss, turn, bend = nearest_way(arm, way, table, roots)
        step = turn.real
        if miss <= 1e-14 or not abs(step) < 1.0:
            break
        angle -= step
    complexity = abs(bend.c2.imag) + abs(bend.s2.imag) + abs(bend.c4.imag) + abs(bend.s4.imag)
    write_branch(arm, form, goal, angle, bend, found)
    return miss + complexity <= TRUE


@helper
def bend_and_reach(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all branches of an arm whose axes 5 and 6 meet.

    Args:
        form: See `closed_form_kernel.find_branches`, opened by `closed_form_loop_kernel`.
        goal: What it is to reach.
        found: (16, 7) result.

    Returns:
        How many; and by how much the target may be off before there are fewer or more.
    """
    arm, table, roots = reacher_of(form, goal), np.empty((5, 4)), np.empty(4, np.complex128)
    series, points = np.empty((3, SAMPLES // 2)), np.empty(2 * HARMONICS + 1)
    noise = fill_series(arm, table, roots, series)
    if not noise < np.inf:
        return 0, 0.0
    turns, count, margin = series_turning_points(series, points), 0, np.inf
    if turns == 0:
        return 0, 0.0
    for i in range(turns):
        here = series_at(series, points[i])[0]
        after = series_at(series, points[i + 1])[0]
        margin = min(margin, room_at(arm, points[i], table, roots))
        if abs(here) <= noise:
            margin = 0.0
        if (here > 0.0) == (after > 0.0):
            continue
        if count == found.shape[0]:
            return count, 0.0
        angle = root_of_series(series, points[i], points[i + 1], 0)
        settled = settle_branch(arm, form, goal, angle, table, roots, found[count])
        if settled and points[i] <= found[count, 0] <= points[i + 1]:  # else it is another's
            count += 1
        else:
            margin = 0.0
    return count, margin

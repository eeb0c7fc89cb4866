# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed form of six-joint arms of which only the last two axes intersect.

For a given angle of joint 1, joints 2 to 4 bring the intersection of the last axes to its position
in four ways, here called elbows, some of which may be complex. Each elbow leaves a residual: the
angle between axis 5 and the goal of axis 6 differs from that between the axes. The four residuals
are multiplied together, and by a factor that vanishes where an elbow goes to infinity. The product
is real and smooth even where two elbows merge and vanish: a trigonometric polynomial of degree
twelve in the angle of joint 1. So 32 values determine it, and its zeros are the solutions. (Elias
and Wen, IK-Geo, 2022, search along each real elbow for changes of sign.)
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.closed_form.closed_form_kernel import (
    FORM_AXES,
    FORM_OFFSETS,
    FORM_SIZE,
    LENGTH,
    FormGoal,
    Vector,
    angle_of,
    apply_rotation,
    back,
    cross,
    dot,
    inverse_turn,
    minus,
    plus,
    rotate_about,
    row,
    subproblem_1,
    turn_by,
)
from basis_ik.closed_form.closed_form_quartic_kernel import plane
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.numerics.trigonometric_kernel import (
    AMPLITUDES,
    COSINES,
    HARMONICS,
    SINES,
    root_of_series,
    series_at,
    series_turning_points,
)

ComplexArray = NDArray[np.complex128]
ComplexVector = tuple[complex, complex, complex]

SERIES_SAMPLES = 32
# Relative to the largest coefficient: bound on coefficients that should vanish.
VANISHING_COEFFICIENT = 1e-6
ABERTH_STEPS = 60  # for the roots of a quartic, at most
MIN_ABERTH_STEPS = 4  # after these, a step that does not shrink is rounding
BRANCH_RESIDUAL = 1e-7  # residual plus imaginary parts of a branch
BRANCH_NEWTON_STEPS = 6  # to refine a branch


class MeetingArm(NamedTuple):
    """An arm whose axes 5 and 6 intersect, and the pose to reach.

    With R_i the rotation of joint i and a_i the vector from axis i to axis i + 1:
    p = R_1 (a_1 + R_2 (a_2 + R_3 (a_3 + R_4 a_4))), and R_1 R_2 R_3 R_4 h_5 · h6_goal = h_5 · h_6.
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
    """Position of the intersection, from the point of the first axis [m]."""
    h6_goal: Vector
    """Direction that axis 6 has to take."""
    cosine: float
    """Cosine of the angle between axes 5 and 6."""
    length_error: float
    """Bound on the error of a length [m], per error of the target."""


class Remainder(NamedTuple):
    """What joint 1 leaves for the other joints, and its derivative by the angle of joint 1."""

    w: Vector
    """R_1ᵀ p − a_1."""
    n: Vector
    """R_1ᵀ h6_goal."""
    dw: Vector
    dn: Vector


class Elbow(NamedTuple):
    """Joints 2 to 4, possibly complex, as cosines and sines."""

    c2: complex
    s2: complex
    c4: complex
    s4: complex
    y: ComplexVector
    """Vector from axis 3 to the intersection, in the frame behind joint 2."""
    n: ComplexVector
    """Goal of axis 6, in the frame behind joint 2."""
    c3: complex
    """Times `scale`."""
    s3: complex
    """Times `scale`."""
    scale: complex
    """Squared distance of the tip of y from axis 3."""


@helper
def ratio(a: complex, b: complex) -> complex:
    """Return a / b, infinite if b is 0, where numba's own division raises an error."""
    square = b.real * b.real + b.imag * b.imag
    if square == 0.0:
        return complex(np.inf, np.inf)
    real, imaginary = a.real * b.real + a.imag * b.imag, a.imag * b.real - a.real * b.imag
    return complex(real / square, imaginary / square)


@helper
def dot_complex(a: ComplexVector, b: ComplexVector) -> complex:
    """Return a · b, without conjugation."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross_complex(a: ComplexVector, b: ComplexVector) -> ComplexVector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def add_complex(a: ComplexVector, b: ComplexVector) -> ComplexVector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def norm_complex(a: ComplexVector) -> float:
    """Return |a|."""
    return hypot(abs(a[0]), hypot(abs(a[1]), abs(a[2])))


@helper
def rotate_complex(axis: Vector, c: complex, s: complex, v: ComplexVector) -> ComplexVector:
    """Return v rotated about a unit axis, by the cosine and sine of the angle."""
    w, along = cross_complex(axis, v), (1.0 - c) * dot_complex(axis, v)
    return (
        c * v[0] + s * w[0] + along * axis[0],
        c * v[1] + s * w[1] + along * axis[1],
        c * v[2] + s * w[2] + along * axis[2],
    )


@helper
def meeting_arm(form: FloatArray, goal: FormGoal) -> MeetingArm:
    """Return the arm of an opened form, see `closed_form_loop_kernel`, and its goal."""
    h5, h6 = row(form, FORM_AXES + 4), row(form, FORM_AXES + 5)
    return MeetingArm(
        row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_AXES + 2),
        row(form, FORM_AXES + 3), h5,
        row(form, FORM_OFFSETS + 1), row(form, FORM_OFFSETS + 2), row(form, FORM_OFFSETS + 3),
        row(form, FORM_OFFSETS + 4), goal.p, apply_rotation(goal.rotation, h6), dot(h5, h6),
        2.0 * form[FORM_SIZE, LENGTH],
    )  # fmt: skip


@helper
def remainder_at(arm: MeetingArm, angle: float) -> Remainder:
    """Return the remainder at an angle of joint 1 [rad]."""
    axis, turn = back(arm.h1), turn_by(angle)
    p, n = rotate_about(axis, turn, arm.p), rotate_about(axis, turn, arm.h6_goal)
    return Remainder(minus(p, arm.a1), n, cross(axis, p), cross(axis, n))


@helper
def remove_component(table: FloatArray, r: int, k: int) -> None:
    """Subtract from row r of a table (m, 4) its component along row k, a unit vector."""
    along = 0.0
    for c in range(4):
        along += table[r, c] * table[k, c]
    for c in range(4):
        table[r, c] -= along * table[k, c]


@helper
def normalise(table: FloatArray, r: int) -> float:
    """Scale row r of a table (m, 4) to length 1; return its length before."""
    square = 0.0
    for c in range(4):
        square += table[r, c] * table[r, c]
    size = sqrt(square)
    for c in range(4):
        table[r, c] /= size
    return size


@helper
def factor_at_infinity(table: FloatArray, side: float) -> float:
    """Return a factor that is 0 where two equations (2, 4) have a solution (1, i, s, ± i s)."""
    real = table[0, 0] * table[1, 2] - table[1, 0] * table[0, 2]
    real -= side * (table[0, 1] * table[1, 3] - table[1, 1] * table[0, 3])
    imaginary = table[0, 1] * table[1, 2] - table[1, 1] * table[0, 2]
    imaginary += side * (table[0, 0] * table[1, 3] - table[1, 0] * table[0, 3])
    return real * real + imaginary * imaginary  # type: ignore[no-any-return]


@helper
def fill_circle(arm: MeetingArm, w: Vector, table: FloatArray) -> tuple[float, float]:
    """Write the circle of x = (cos θ_2, sin θ_2, cos θ_4, sin θ_4) that a remainder allows.

    Length and height along axis 3 are linear in x, see
    `closed_form_quartic_kernel.solve_any_shoulder`. With |x|² = 2 they leave a circle in a plane.

    Args:
        arm: The arm.
        w: See `Remainder`.
        table: (5, 4) result: two rows of workspace, the circle's centre, and two unit directions.

    Returns:
        The squared radius, which may be negative; the factor that is 0 where an elbow goes to
        infinity.
    """
    one, other = plane(arm.a2, back(arm.h2), w), plane(arm.h3, back(arm.h2), w)
    right, right2 = plane(arm.a3, arm.h4, arm.a4), plane(arm.h3, arm.h4, arm.a4)
    squares = dot(arm.a3, arm.a3) + dot(arm.a4, arm.a4) - dot(w, w) - dot(arm.a2, arm.a2)
    table[0, 0], table[0, 1], table[0, 2], table[0, 3] = one[1], one[2], right[1], right[2]
    table[1, 0], table[1, 1], table[1, 2], table[1, 3] = other[1], other[2], -right2[1], -right2[2]
    reach = factor_at_infinity(table, 1.0) * factor_at_infinity(table, -1.0)
    first = (-0.5 * squares - one[0] - right[0]) / normalise(table, 0)
    second = dot(arm.h3, plus(arm.a2, arm.a3)) - other[0] + right2[0]
    second /= normalise(table, 1)
    along = 0.0
    for c in range(4):
        along += table[0, c] * table[1, c]
    remove_component(table, 1, 0)
    second = (second - along * first) / normalise(table, 1)
    for c in range(4):
        table[2, c] = first * table[0, c] + second * table[1, c]
    for r in range(3, 5):  # the unit vector with the least part in the rows before
        best, least = 0, np.inf
        for c in range(4):
            taken = table[0, c] ** 2 + table[1, c] ** 2
            if r == 4:
                taken += table[3, c] ** 2
            if taken < least:
                best, least = c, taken
        for c in range(4):
            table[r, c] = 1.0 if c == best else 0.0
        remove_component(table, r, 0)
        remove_component(table, r, 1)
        if r == 4:
            remove_component(table, r, 3)
        normalise(table, r)
    return 2.0 - first * first - second * second, reach


@helper
def approach_roots(k2: complex, k1: complex, k0: float, square: float, roots: ComplexArray) -> None:
    """Refine the roots (4,) of k2 z⁴ + k1 z³ + k0 z² + k1* r z + k2* r², with r = `square`.

    By Aberth's method: Newton's, with the other roots divided out.
    """
    c3, c2 = ratio(k1, k2), ratio(k0, k2)
    c1, c0 = ratio(k1.conjugate(), k2) * square, ratio(k2.conjugate(), k2) * square * square
    before = np.inf
    for turn in range(ABERTH_STEPS):
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
        if farthest <= 1e-15 or (turn >= MIN_ABERTH_STEPS and before <= farthest < 1e-6):
            break
        before = farthest


@helper
def find_elbows(
    arm: MeetingArm, remainder: Remainder, table: FloatArray, roots: ComplexArray
) -> tuple[float, float]:
    """Write the circle of `fill_circle`, and the four roots that yield joints 2 and 4.

    On the circle x is centre + (z + r / z) / 2 u + (z - r / z) / 2i v, with r its squared radius.
    The roots z are those with |(cos θ_2, sin θ_2)| = 1. Since |x|² = 2, the same holds for joint 4.

    Returns:
        See `fill_circle`.
    """
    square, reach = fill_circle(arm, remainder.w, table)
    x, y, ux, uy = table[2, 0], table[2, 1], table[3, 0], table[3, 1]
    vx, vy = table[4, 0], table[4, 1]
    uu, vv, uv = ux * ux + uy * uy, vx * vx + vy * vy, ux * vx + uy * vy
    k2, k1 = complex(0.25 * (uu - vv), -0.5 * uv), complex(x * ux + y * uy, -x * vx - y * vy)
    approach_roots(k2, k1, x * x + y * y - 1.0 + 0.5 * square * (uu + vv), square, roots)
    return square, reach


@helper
def elbow_at(
    arm: MeetingArm, remainder: Remainder, table: FloatArray, square: float, root: complex
) -> Elbow:
    """Return the joints 2 to 4 of a root of `find_elbows`."""
    other = ratio(square, root)
    u, v = 0.5 * (root + other), -0.5j * (root - other)
    c2 = table[2, 0] + u * table[3, 0] + v * table[4, 0]
    s2 = table[2, 1] + u * table[3, 1] + v * table[4, 1]
    c4 = table[2, 2] + u * table[3, 2] + v * table[4, 2]
    s4 = table[2, 3] + u * table[3, 3] + v * table[4, 3]
    h3, back2 = arm.h3, back(arm.h2)
    n, y = (
        rotate_complex(back2, c2, s2, remainder.n),
        add_complex(rotate_complex(back2, c2, s2, remainder.w), back(arm.a2)),
    )
    from3 = add_complex(arm.a3, rotate_complex(arm.h4, c4, s4, arm.a4))
    height = dot_complex(h3, y)
    c3, s3 = (
        dot_complex(from3, y) - dot_complex(h3, from3) * height,
        dot_complex(h3, cross_complex(from3, y)),
    )
    return Elbow(c2, s2, c4, s4, y, n, c3, s3, dot_complex(y, y) - height * height)


@helper
def residual_of(arm: MeetingArm, elbow: Elbow) -> complex:
    """Return the error of the cosine between axis 5 and the goal of axis 6, times `scale`."""
    h, n = arm.h3, elbow.n
    g = rotate_complex(arm.h4, elbow.c4, elbow.s4, arm.h5)
    along = dot_complex(h, n) * dot_complex(h, g)
    residual = elbow.c3 * (dot_complex(n, g) - along) + elbow.s3 * dot_complex(
        n, cross_complex(h, g)
    )
    return residual + elbow.scale * (along - arm.cosine)


@helper
def sensitivity(arm: MeetingArm, remainder: Remainder, elbow: Elbow) -> tuple[complex, float]:
    """Return how a residual depends on joint 1 and on errors of the target.

    Returns:
        Its derivative by the angle of joint 1; the bound on its error, per error of the target.
    """
    h2, h3, a2 = arm.h2, arm.h3, arm.a2
    c3, s3 = ratio(elbow.c3, elbow.scale), ratio(elbow.s3, elbow.scale)
    g = rotate_complex(arm.h4, elbow.c4, elbow.s4, arm.h5)
    axis5, lean = (
        rotate_complex(h3, c3, s3, g),
        rotate_complex(h3, c3, s3, cross_complex(arm.h4, g)),
    )
    j2, j3 = cross_complex(h2, add_complex(a2, elbow.y)), cross_complex(h3, elbow.y)
    j4 = rotate_complex(
        h3, c3, s3, cross_complex(arm.h4, rotate_complex(arm.h4, elbow.c4, elbow.s4, arm.a4))
    )
    to2, to3, to4 = cross_complex(j3, j4), cross_complex(j4, j2), cross_complex(j2, j3)
    det = dot_complex(j2, to2)
    e2, e3, e4 = (
        dot_complex(elbow.n, cross_complex(h2, axis5)),
        dot_complex(elbow.n, cross_complex(h3, axis5)),
        0.0j,
    )
    e4 += dot_complex(elbow.n, lean)
    pull = (
        ratio(e2 * to2[0] + e3 * to3[0] + e4 * to4[0], det),
        ratio(e2 * to2[1] + e3 * to3[1] + e4 * to4[1], det),
        ratio(e2 * to2[2] + e3 * to3[2] + e4 * to4[2], det),
    )
    back2 = back(h2)
    slope = dot_complex(pull, rotate_complex(back2, elbow.c2, elbow.s2, remainder.dw))
    slope += dot_complex(rotate_complex(back2, elbow.c2, elbow.s2, remainder.dn), axis5)
    return slope, norm_complex(axis5) + norm_complex(pull) * arm.length_error


@helper
def product_at(arm: MeetingArm, angle: float, table: FloatArray, roots: ComplexArray) -> float:
    """Return the product of the residuals of all four elbows at an angle of joint 1 [rad]."""
    remainder = remainder_at(arm, angle)
    square, reach = find_elbows(arm, remainder, table, roots)
    product = complex(reach, 0.0)
    for k in range(4):
        product *= residual_of(arm, elbow_at(arm, remainder, table, square, roots[k]))
    return product.real


@helper
def fill_series(
    arm: MeetingArm, table: FloatArray, roots: ComplexArray, series: FloatArray
) -> float:
    """Write the Fourier series (3, 16) of `product_at`; return a bound on the error of its values.

    The bound is infinite if the product is no such series, because the arm is degenerate.
    """
    for k in range(4):
        roots[k] = complex(0.4, 0.9) ** k
    for k in range(SERIES_SAMPLES // 2):
        series[COSINES, k], series[SINES, k] = 0.0, 0.0
    for i in range(SERIES_SAMPLES):
        angle = 2.0 * pi * i / SERIES_SAMPLES
        value = product_at(arm, angle, table, roots)
        for k in range(SERIES_SAMPLES // 2):
            series[COSINES, k] += (
                value * cos(k * angle) / (SERIES_SAMPLES if k == 0 else SERIES_SAMPLES // 2)
            )
            series[SINES, k] += value * sin(k * angle) / (SERIES_SAMPLES // 2)
    largest, rest = 0.0, 0.0
    for k in range(SERIES_SAMPLES // 2):
        size = hypot(series[COSINES, k], series[SINES, k])
        series[AMPLITUDES, k] = size
        if k <= HARMONICS:
            largest = max(largest, size)
        else:
            rest = max(rest, size)
    return (
        rest * SERIES_SAMPLES
        if largest > 0.0 and rest <= VANISHING_COEFFICIENT * largest
        else np.inf
    )


@helper
def nearest_elbow(
    arm: MeetingArm, remainder: Remainder, table: FloatArray, roots: ComplexArray
) -> tuple[float, complex, Elbow]:
    """Return the residual, the step of joint 1 to its zero [rad], and the elbow of the least step.

    The elbow with the least residual may have its zero farther off.
    """
    square, least, residual = find_elbows(arm, remainder, table, roots)[0], np.inf, np.inf
    best, step = elbow_at(arm, remainder, table, square, roots[0]), 0.0j
    for k in range(4):
        elbow = elbow_at(arm, remainder, table, square, roots[k])
        off = ratio(residual_of(arm, elbow), elbow.scale)
        turn = ratio(off, sensitivity(arm, remainder, elbow)[0])
        if abs(turn) < least:
            best, least, residual, step = elbow, abs(turn), abs(off), turn
    return residual, step, best


@helper
def clearance_at(arm: MeetingArm, angle: float, table: FloatArray, roots: ComplexArray) -> float:
    """Return the least error of the target that gives an elbow a zero at this angle of joint 1."""
    remainder, clearance = remainder_at(arm, angle), np.inf
    square = find_elbows(arm, remainder, table, roots)[0]
    for k in range(4):
        elbow = elbow_at(arm, remainder, table, square, roots[k])
        amplification = sensitivity(arm, remainder, elbow)[1]
        clearance = min(clearance, abs(ratio(residual_of(arm, elbow), elbow.scale)) / amplification)
    return clearance


@helper
def write_branch(
    arm: MeetingArm, form: FloatArray, goal: FormGoal, angle: float, elbow: Elbow, found: FloatArray
) -> None:
    """Write the angles of a branch (7,) whose first four joints are known."""
    h5, h6, seed = arm.h5, row(form, FORM_AXES + 5), goal.seed
    q2, q4 = atan2(elbow.s2.real, elbow.c2.real), atan2(elbow.s4.real, elbow.c4.real)
    q3 = atan2(ratio(elbow.s3, elbow.scale).real, ratio(elbow.c3, elbow.scale).real)
    side, t1, t2, t3, t4 = cross(h6, h5), turn_by(-angle), turn_by(-q2), turn_by(-q3), turn_by(-q4)
    a = rotate_about(arm.h2, t2, rotate_about(arm.h1, t1, arm.h6_goal))
    b = rotate_about(arm.h2, t2, rotate_about(arm.h1, t1, apply_rotation(goal.rotation, side)))
    a, b = (
        rotate_about(arm.h4, t4, rotate_about(arm.h3, t3, a)),
        rotate_about(arm.h4, t4, rotate_about(arm.h3, t3, b)),
    )
    t5, _ = subproblem_1(h5, h6, a, 1.0, seed[4])
    t6, _ = subproblem_1(h6, side, rotate_about(h5, inverse_turn(t5), b), 1.0, seed[5])
    found[0], found[1], found[2], found[3] = angle, q2, q3, q4
    found[4], found[5] = angle_of(t5), angle_of(t6)


@helper
def refine_branch(
    arm: MeetingArm, form: FloatArray, goal: FormGoal, angle: float, table: FloatArray,
    roots: ComplexArray, found: FloatArray,
) -> bool:  # fmt: skip
    """Write the branch (7,) next to an angle of joint 1; return whether there is one."""
    # Set before the loop, or numba up to 0.58 finds no value of them behind it.
    residual, turn, elbow = nearest_elbow(arm, remainder_at(arm, angle), table, roots)
    for i in range(BRANCH_NEWTON_STEPS):
        step = turn.real
        if residual <= 1e-14 or not abs(step) < 1.0:
            break
        angle -= step
        if i + 1 < BRANCH_NEWTON_STEPS:
            residual, turn, elbow = nearest_elbow(arm, remainder_at(arm, angle), table, roots)
    complexity = abs(elbow.c2.imag) + abs(elbow.s2.imag) + abs(elbow.c4.imag) + abs(elbow.s4.imag)
    write_branch(arm, form, goal, angle, elbow, found)
    return residual + complexity <= BRANCH_RESIDUAL


@helper
def solve_meeting_axes(form: FloatArray, goal: FormGoal, found: FloatArray) -> tuple[int, float]:
    """Write all branches of an arm whose axes 5 and 6 intersect.

    Args:
        form: See `closed_form_kernel.find_branches`, opened by `closed_form_loop_kernel`.
        goal: Pose to reach.
        found: (16, 7) result.

    Returns:
        Number of branches; the error of the target below which it cannot change.
    """
    arm, table, roots = meeting_arm(form, goal), np.empty((5, 4)), np.empty(4, np.complex128)
    series, points = np.empty((3, SERIES_SAMPLES // 2)), np.empty(2 * HARMONICS + 1)
    noise = fill_series(arm, table, roots, series)
    if not noise < np.inf:
        return 0, 0.0
    turns, count, margin = series_turning_points(series, points), 0, np.inf
    if turns == 0:
        return 0, 0.0
    for i in range(turns):
        here = series_at(series, points[i])[0]
        after = series_at(series, points[i + 1])[0]
        margin = min(margin, clearance_at(arm, points[i], table, roots))
        if abs(here) <= noise:
            margin = 0.0
        if (here > 0.0) == (after > 0.0):
            continue
        if count == found.shape[0]:
            return count, 0.0
        angle = root_of_series(series, points[i], points[i + 1], 0)
        refined = refine_branch(arm, form, goal, angle, table, roots, found[count])
        if (
            refined and points[i] <= found[count, 0] <= points[i + 1]
        ):  # otherwise another interval's
            count += 1
        else:
            margin = 0.0
    return count, margin

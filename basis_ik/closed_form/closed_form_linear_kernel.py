# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""First-order forms: what is known about vectors and numbers that depend on three angles.

Within a box, three angles differ from its middle by x_k, up to its half widths w_k. A vector is
v + sum_k x_k d_k, and a number c + sum_k x_k g_k, up to a bound r of all that is left: the terms of
second order over the whole box, errors of the target, and rounding. An interval forgets that two of
its vectors move together; these forms do not, so what is left shrinks with the square of the box.
"""

from __future__ import annotations

from math import atan2, inf

from basis_ik.closed_form.closed_form_interval_kernel import INTERVAL_ROUNDING
from basis_ik.closed_form.closed_form_kernel import (
    Vector,
    cross,
    dot,
    length,
    rotate_about,
    turn_by,
)
from basis_ik.numerics.jit import helper

Linear = tuple[float, float, float, float, float]
"""Number in the middle of the box, its three slopes, and the bound of what is left."""
LinearVector = tuple[Vector, Vector, Vector, Vector, float]
"""Vector in the middle of the box, its three derivatives, and the bound of what is left."""
Widths = tuple[float, float, float]
"""Half widths of the box."""


@helper
def constant(v: Vector, r: float) -> LinearVector:
    """Return the form of a vector that is the same in the whole box, up to an error of r."""
    zero = (0.0, 0.0, 0.0)
    return v, zero, zero, zero, r


@helper
def swing(v: LinearVector, w: Widths) -> float:
    """Return a bound of the terms of first order of a vector."""
    return length(v[1]) * w[0] + length(v[2]) * w[1] + length(v[3]) * w[2]


@helper
def span(c: Linear, w: Widths) -> float:
    """Return a bound of the difference of a number from that in the middle of the box."""
    return abs(c[1]) * w[0] + abs(c[2]) * w[1] + abs(c[3]) * w[2] + c[4]


@helper
def moved_along(a: Vector, x: float, b: Vector) -> Vector:
    """Return a + x b."""
    return a[0] + x * b[0], a[1] + x * b[1], a[2] + x * b[2]


@helper
def shifted(v: LinearVector, x: float, b: Vector) -> LinearVector:
    """Return the form of v + x b for a known vector b, |x| = 1."""
    rounding = INTERVAL_ROUNDING * (length(v[0]) + length(b))
    return moved_along(v[0], x, b), v[1], v[2], v[3], v[4] + rounding


@helper
def linearly_turned(axis: Vector, angle: Linear, v: LinearVector, w: Widths) -> LinearVector:
    """Return the form of a vector, turned about a unit axis.

    With θ the difference of the angle from that in the middle, and h × v its derivative, v turned
    is at most θ²/2 |h × v| off v + θ h × v, and d_k x_k turned at most θ |d_k x_k| off itself.
    """
    by = turn_by(angle[0])
    middle = rotate_about(axis, by, v[0])
    across = cross(axis, middle)
    wide, far, swung = span(angle, w), length(across), swing(v, w)
    rest = v[4] + (angle[4] + 0.5 * wide * wide) * far + wide * swung
    return (
        middle,
        moved_along(rotate_about(axis, by, v[1]), angle[1], across),
        moved_along(rotate_about(axis, by, v[2]), angle[2], across),
        moved_along(rotate_about(axis, by, v[3]), angle[3], across),
        rest + INTERVAL_ROUNDING * (length(v[0]) + swung + wide * far),
    )


@helper
def opposite(c: Linear) -> Linear:
    """Return the form of −c."""
    return -c[0], -c[1], -c[2], -c[3], c[4]


@helper
def difference(a: Linear, b: Linear) -> Linear:
    """Return the form of a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] + b[4]


@helper
def height_of(v: LinearVector, axis: Vector) -> Linear:
    """Return the form of a vector's component along a unit axis."""
    rest = v[4] + INTERVAL_ROUNDING * length(v[0])
    return dot(axis, v[0]), dot(axis, v[1]), dot(axis, v[2]), dot(axis, v[3]), rest


@helper
def half_square(v: LinearVector, w: Widths) -> Linear:
    """Return the form of half the square of a vector's length."""
    size, off = length(v[0]), swing(v, w) + v[4]
    rest = size * v[4] + 0.5 * off * off + INTERVAL_ROUNDING * size * size
    return 0.5 * size * size, dot(v[0], v[1]), dot(v[0], v[2]), dot(v[0], v[3]), rest


@helper
def angle_about(axis: Vector, v: LinearVector, w: Widths) -> Linear:
    """Return the form of a vector's angle about a unit axis, less that in the middle of the box.

    Where the vector differs across the axis by z of its distance, the angle is that of 1 + z: the
    imaginary part of log (1 + z), which is at most |z|² / (2 − 2 |z|) off that of z. What is left
    is infinite if the vector may come close to the axis.
    """
    across = cross(axis, v[0])
    square, error = dot(across, across), v[4] + INTERVAL_ROUNDING * length(v[0])
    far, off = length(across), swing(v, w) + error
    if not off < 0.5 * far:
        return 0.0, 0.0, 0.0, 0.0, inf
    z = off / far
    first, second, third = dot(across, v[1]), dot(across, v[2]), dot(across, v[3])
    rest = error / far + 0.5 * z * z / (1.0 - z) + INTERVAL_ROUNDING
    return 0.0, first / square, second / square, third / square, rest


@helper
def linear_turn(axis: Vector, a: LinearVector, b: LinearVector, w: Widths) -> Linear:
    """Return the form of the turn about a unit axis that brings a vector onto another."""
    u, v = cross(axis, a[0]), cross(axis, b[0])
    to, off = angle_about(axis, b, w), angle_about(axis, a, w)
    turn = difference(to, off)
    return atan2(dot(u, b[0]), dot(u, v)), turn[1], turn[2], turn[3], turn[4] + INTERVAL_ROUNDING


@helper
def slopes(c: Linear) -> Vector:
    """Return the slopes of a number."""
    return c[1], c[2], c[3]


@helper
def is_zero_excluded(a: Linear, b: Linear, c: Linear, by: Vector, w: Widths) -> bool:
    """Return whether a combination of numbers, each by its factor, is zero nowhere in the box."""
    x, y, z = by
    middle = x * a[0] + y * b[0] + z * c[0]
    first = x * a[1] + y * b[1] + z * c[1]
    second = x * a[2] + y * b[2] + z * c[2]
    third = x * a[3] + y * b[3] + z * c[3]
    wide, noise = span((0.0, first, second, third, 0.0), w), 0.0
    noise += abs(x) * (a[4] + INTERVAL_ROUNDING * (abs(a[0]) + span(a, w)))
    noise += abs(y) * (b[4] + INTERVAL_ROUNDING * (abs(b[0]) + span(b, w)))
    noise += abs(z) * (c[4] + INTERVAL_ROUNDING * (abs(c[0]) + span(c, w)))
    return abs(middle) > wide + noise


@helper
def may_vanish_together(a: Linear, b: Linear, c: Linear, w: Widths) -> bool:
    """Return whether three numbers may be zero at the same place in a box.

    The factors of each combination are those that leave the slope of one angle alone, up to
    rounding: a row of the inverse of the matrix of slopes, times its determinant.
    """
    if abs(a[0]) > span(a, w) or abs(b[0]) > span(b, w) or abs(c[0]) > span(c, w):
        return False
    u, v, t = slopes(a), slopes(b), slopes(c)
    x, y, z = cross(v, t), cross(t, u), cross(u, v)
    return not (
        is_zero_excluded(a, b, c, (x[0], y[0], z[0]), w)
        or is_zero_excluded(a, b, c, (x[1], y[1], z[1]), w)
        or is_zero_excluded(a, b, c, (x[2], y[2], z[2]), w)
    )

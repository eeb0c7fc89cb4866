# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals of angles and balls of vectors, as the proof of a closed form calculates with them.

A vector is known within a ball, an angle within an interval: (middle, half width). With an error
of a vector of r, rotation about an axis by an interval of half width w adds w times its distance
from the axis. Every bound also includes a multiple of rounding.
"""

from __future__ import annotations

from math import acos, asin, atan2, pi
from typing import NamedTuple

from basis_ik.closed_form.closed_form_kernel import (
    FORM_AXES,
    FORM_OFFSETS,
    FormGoal,
    Vector,
    cross,
    dot,
    law_of_cosines,
    length,
    plus,
    rotate_about,
    row,
    turn_by,
)
from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper

Interval = tuple[float, float]
"""Middle and half width of an angle [rad]; a negative half width: empty."""

INTERVAL_ROUNDING = 1e-13  # relative to the size of what is calculated, and absolute for angles
EMPTY_INTERVAL = -1.0


class Pose(NamedTuple):
    """An opened form, its pose within a ball, and the intervals that the limits leave."""

    form: FloatArray
    """(27, 3), opened."""
    goal: FormGoal
    allowed: FloatArray
    """(6, 2) intervals of the joints, in the order of the opened form."""
    length_error: float
    """Of the position [m]."""
    angle_error: float
    """Of the rotation [rad]."""


@helper
def in_common(found: Interval, part: Interval) -> Interval:
    """Return what an interval has in common with another, as a part of that, modulo full turns."""
    middle, half = part
    if half >= pi or found[1] < 0.0:
        return found
    if found[1] >= pi:
        return part
    off = found[0] - middle
    off, width = off - whole_turns(off), found[1] + INTERVAL_ROUNDING
    low, high = max(off - width, -half), min(off + width, half)
    again_low = off - width + 2.0 * pi <= half
    again_high = off + width - 2.0 * pi >= -half
    if again_low or again_high:
        if low <= high or (again_low and again_high):
            return part  # both ends of it
        low = max(off - width + (2.0 * pi if again_low else -2.0 * pi), -half)
        high = min(off + width + (2.0 * pi if again_low else -2.0 * pi), half)
    if low > high:
        return 0.0, EMPTY_INTERVAL
    return middle + 0.5 * (low + high), 0.5 * (high - low) + INTERVAL_ROUNDING


@helper
def within(found: Interval, allowed: FloatArray, i: int) -> Interval:
    """Return what an interval has in common with the allowed one of a joint, modulo full turns."""
    return in_common(found, (allowed[i, 0], allowed[i, 1]))


@helper
def both_within(
    found: tuple[Interval, Interval], allowed: FloatArray, i: int
) -> tuple[Interval, Interval]:
    """Return what each of two intervals has in common with the allowed one of a joint."""
    return within(found[0], allowed, i), within(found[1], allowed, i)


@helper
def turned(axis: Vector, angle: Interval, v: Vector, error: float) -> tuple[Vector, float]:
    """Return a ball that contains all vectors of a ball, turned by all angles of an interval."""
    wide = min(angle[1], 2.0) * length(cross(axis, v))
    return rotate_about(axis, turn_by(angle[0]), v), error + wide + INTERVAL_ROUNDING * length(v)


@helper
def turns_onto(axis: Vector, a: Vector, ra: float, b: Vector, rb: float) -> Interval:
    """Return the turns about an axis that bring a vector of one ball onto one of another."""
    u, v = cross(axis, a), cross(axis, b)
    first, second = length(u), length(v)
    ra, rb = ra + INTERVAL_ROUNDING * length(a), rb + INTERVAL_ROUNDING * length(b)
    if abs(first - second) > ra + rb or abs(dot(axis, a) - dot(axis, b)) > ra + rb:
        return 0.0, EMPTY_INTERVAL
    if ra >= first or rb >= second:
        return 0.0, pi
    angle = atan2(dot(u, b), dot(u, v))
    return angle, min(asin(ra / first) + asin(rb / second) + INTERVAL_ROUNDING, pi)


@helper
def turns_to_height(
    normal: Vector, axis: Vector, v: Vector, height: float, error: float
) -> tuple[Interval, Interval]:
    """Return all turns with |normal · (v turned) − height| ≤ error; see `subproblem_4`."""
    along = dot(normal, axis) * dot(axis, v)
    a, b, c = dot(normal, v) - along, dot(normal, cross(axis, v)), height - along
    error += INTERVAL_ROUNDING * (length(normal) * length(v) + abs(height))
    radius = (a * a + b * b) ** 0.5
    if abs(c) > radius + error:
        return (0.0, EMPTY_INTERVAL), (0.0, EMPTY_INTERVAL)
    if radius <= error:
        return (0.0, pi), (0.0, EMPTY_INTERVAL)
    near, far = acos(min(1.0, (c + error) / radius)), acos(max(-1.0, (c - error) / radius))
    phase, middle, half = atan2(b, a), 0.5 * (near + far), 0.5 * (far - near) + INTERVAL_ROUNDING
    if near == 0.0:
        if far >= pi:
            return (0.0, pi), (0.0, EMPTY_INTERVAL)
        return (phase, far + INTERVAL_ROUNDING), (0.0, EMPTY_INTERVAL)
    if far >= pi:
        return (phase + pi, pi - near + INTERVAL_ROUNDING), (0.0, EMPTY_INTERVAL)
    return (phase + middle, half), (phase - middle, half)


@helper
def bends(
    pose: Pose, i: int, bent: Interval, w: Vector, errors: Interval
) -> tuple[tuple[Interval, Interval], tuple[Interval, Interval]]:
    """Return the turns of two successive joints, an elbow, that bring their end to a ball.

    Args:
        pose: Pose to reach.
        i: Index of the first of the joints.
        bent: Interval to which the second one is cut.
        w: Middle of the ball, from the first axis' point.
        errors: Its radius, and the error of its height along the first axis.

    Returns:
        Two solutions, each with the turns of both joints, the first's empty if there is none.
    """
    form, allowed, (rw, rise) = pose.form, pose.allowed, errors
    h, h_bent = row(form, FORM_AXES + i), row(form, FORM_AXES + i + 1)
    a, b = row(form, FORM_OFFSETS + i + 1), row(form, FORM_OFFSETS + i + 2)
    size, sizes = length(a) + length(b), dot(w, w) + dot(a, a) + dot(b, b)
    error = rw * (length(w) + 0.5 * rw) + INTERVAL_ROUNDING * sizes
    one, other = turns_to_height(a, h_bent, b, law_of_cosines(w, a, b), error)
    lean, nothing = length(cross(h_bent, h)) * length(b), (0.0, EMPTY_INTERVAL)
    first, second = (nothing, nothing), (nothing, nothing)
    for k in range(2):
        t = in_common(one if k == 0 else other, bent)
        if t[1] < 0.0:
            continue
        v, rv = turned(h_bent, t, b, INTERVAL_ROUNDING * size)
        v = plus(a, v)
        lift = min(t[1], 2.0) * lean + INTERVAL_ROUNDING * (length(w) + size)
        if abs(dot(h, w) - dot(h, v)) > rise + lift:
            continue
        found = within(turns_onto(h, v, rv, w, rw), allowed, i), t
        if k == 0:
            first = found
        else:
            second = found
    return first, second

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of a joint between two bones: swing and twist, and the nearest allowed rotation.

Quaternions are (w, x, y, z) and unit. A bone's rotation says how it is turned against its rest
pose; a joint's, how the child is turned against its parent, both in rest coordinates. In a ball
joint's own frame the child at rest points along +z and `up` is +y; its rotation is a swing times a
twist about z on its right, and the swing is given by its tilt: how far [rad] the bone leans towards
+x and +y. Aristidou, Chrysanthou & Lasenby, "Extending FABRIK with model constraints",
Computer Animation and Virtual Worlds 27 (2016), bound the tilt by an ellipse for each quadrant;
here the ellipses live in angles, not in a plane at a distance, so that they may pass 90°.
"""

from __future__ import annotations

import math

from basis_ik.numerics.angles_kernel import nearest_angle
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper

Quaternion = tuple[float, float, float, float]
Vector = tuple[float, float, float]

FREE_JOINT = 0
BALL_JOINT = 1
HINGE_JOINT = 2

# Columns of a ball's bounds: tilt towards +x, +y, −x, −y; then least and greatest twist. Of a
# hinge's: least and greatest angle, in the same columns as the twist. All [rad].
TILT_LEFT, TILT_UP, TILT_RIGHT, TILT_DOWN, LEAST_TWIST, GREATEST_TWIST = 0, 1, 2, 3, 4, 5

# Directions are opposite, and a turn has no axis of its own, below this length of their sum. There
# rounding would turn it by more than it is long.
_OPPOSITE_SUM = 1e-8


@helper
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton's product: the rotation b, then a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@helper
def conjugate(a: Quaternion) -> Quaternion:
    """Return the rotation back."""
    return a[0], -a[1], -a[2], -a[3]


@helper
def unit(a: Quaternion) -> Quaternion:
    """Return a quaternion scaled to length one, against the rounding of products."""
    size = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return a[0] / size, a[1] / size, a[2] / size, a[3] / size


@helper
def rotate(a: Quaternion, x: float, y: float, z: float) -> Vector:
    """Rotate a vector: v + 2 w (u × v) + 2 u × (u × v) with a = (w, u)."""
    s, t, r = a[2] * z - a[3] * y, a[3] * x - a[1] * z, a[1] * y - a[2] * x
    return (
        x + 2.0 * (a[0] * s + a[2] * r - a[3] * t),
        y + 2.0 * (a[0] * t + a[3] * s - a[1] * r),
        z + 2.0 * (a[0] * r + a[1] * t - a[2] * s),
    )


@helper
def about(x: float, y: float, z: float, angle: float) -> Quaternion:
    """Rotation by an angle [rad] about a unit axis."""
    s = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), s * x, s * y, s * z


@helper
def between(a: Vector, b: Vector) -> Quaternion:
    """Smallest rotation from unit vector a to unit vector b; a fixed half turn if opposite.

    With the unit vector h halfway from a to b it is (a·h, a × h).
    """
    x, y, z = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    size = math.sqrt(x * x + y * y + z * z)
    if size > _OPPOSITE_SUM:
        x, y, z = x / size, y / size, z / size
        w = a[0] * x + a[1] * y + a[2] * z
        return w, a[1] * z - a[2] * y, a[2] * x - a[0] * z, a[0] * y - a[1] * x
    if abs(a[0]) <= abs(a[1]) and abs(a[0]) <= abs(a[2]):
        return unit((0.0, 0.0, -a[2], a[1]))
    if abs(a[1]) <= abs(a[2]):
        return unit((0.0, a[2], 0.0, -a[0]))
    return unit((0.0, -a[1], a[0], 0.0))


@helper
def swing_twist(a: Quaternion) -> Vector:
    """Split a rotation into tilt towards x, tilt towards y and twist about z [rad].

    The twist is in [−π, π], the tilt no longer than π. A bone that points backwards has no twist of
    its own; it is then called 0.
    """
    lean = math.sqrt(a[1] * a[1] + a[2] * a[2])
    upright = math.sqrt(a[0] * a[0] + a[3] * a[3])
    if upright == 0.0:
        return math.pi * a[2], -math.pi * a[1], 0.0
    c, s = a[0] / upright, a[3] / upright
    twist = 2.0 * math.atan2(s, c)
    if twist > math.pi:
        twist -= 2.0 * math.pi
    elif twist < -math.pi:
        twist += 2.0 * math.pi
    if lean == 0.0:
        return 0.0, 0.0, twist
    # The swing is a times the twist undone: (upright, x c − y s, x s + y c, 0).
    size = 2.0 * math.atan2(lean, upright) / lean
    return size * (a[1] * s + a[2] * c), -size * (a[1] * c - a[2] * s), twist


@helper
def from_swing_twist(x: float, y: float, twist: float) -> Quaternion:
    """Compose a rotation from tilt towards x, tilt towards y and twist about z [rad]."""
    angle = math.sqrt(x * x + y * y)
    s = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.0
    swing = (math.cos(0.5 * angle), -s * y, s * x, 0.0)
    return multiply(swing, (math.cos(0.5 * twist), 0.0, 0.0, math.sin(0.5 * twist)))


@helper
def clamp_angle(angle: float, lower: float, upper: float) -> float:
    """Nearest place on the circle to an angle [rad], within bounds that may span it all."""
    return nearest_angle(angle, 0.5 * (lower + upper), lower, upper)


@helper
def nearest_on_ellipse(x: float, y: float, a: float, b: float) -> tuple[float, float]:
    """Nearest point to (x, y) with x, y ≥ 0 on or in the quarter ellipse of half axes a, b ≥ 0.

    It is (a² x/(t + a²), b² y/(t + b²)) for the t ≥ 0 that puts it on the ellipse; the condition
    falls and is convex in t, so Newton's method from the left never overshoots.
    """
    if a <= 0.0 or b <= 0.0:
        return min(x, max(a, 0.0)), min(y, max(b, 0.0))
    if (x / a) ** 2 + (y / b) ** 2 <= 1.0:
        return x, y
    t = max(a * (x - a), b * (y - b), 0.0)
    for _ in range(60):
        u, v = a * x / (t + a * a), b * y / (t + b * b)
        value = u * u + v * v - 1.0
        step = 0.5 * value / (u * u / (t + a * a) + v * v / (t + b * b))
        t += step
        if not step > 1e-15 * t:
            break
    u, v = a * x / (t + a * a), b * y / (t + b * b)
    size = math.sqrt(u * u + v * v)
    return a * u / size, b * v / size


@helper
def clamp_tilt(x: float, y: float, bounds: FloatArray) -> tuple[float, float]:
    """Nearest tilt that a ball's ellipses allow.

    Args:
        x: Tilt towards +x [rad].
        y: Tilt towards +y [rad].
        bounds: The ball's bounds, shape (6,).

    Returns:
        The tilt.
    """
    a = bounds[TILT_LEFT] if x >= 0.0 else bounds[TILT_RIGHT]
    b = bounds[TILT_UP] if y >= 0.0 else bounds[TILT_DOWN]
    u, v = nearest_on_ellipse(abs(x), abs(y), a, b)
    return math.copysign(u, x), math.copysign(v, y)


@helper
def hinge_angle(turn: Quaternion, axis: FloatArray) -> float:
    """Angle [rad] of the rotation about an axis that is nearest to a rotation."""
    along = turn[1] * axis[0] + turn[2] * axis[1] + turn[3] * axis[2]
    return 2.0 * math.atan2(along, turn[0])


@helper
def clamp_joint(
    turn: Quaternion, kind: int, bounds: FloatArray, axis: FloatArray, frame: Quaternion
) -> Quaternion:
    """Nearest rotation that a joint allows.

    Args:
        turn: Rotation of the child against the parent.
        kind: FREE, BALL or HINGE.
        bounds: Its bounds [rad], shape (6,).
        axis: A hinge's axis, unit, shape (3,).
        frame: A ball's frame in rest coordinates.

    Returns:
        The allowed rotation; swing and twist, each nearest for itself, or an angle about the axis.
    """
    if kind == BALL_JOINT:
        local = multiply(conjugate(frame), multiply(turn, frame))
        x, y, twist = swing_twist(local)
        x, y = clamp_tilt(x, y, bounds)
        twist = clamp_angle(twist, bounds[LEAST_TWIST], bounds[GREATEST_TWIST])
        return multiply(frame, multiply(from_swing_twist(x, y, twist), conjugate(frame)))
    if kind == HINGE_JOINT:
        angle = clamp_angle(hinge_angle(turn, axis), bounds[LEAST_TWIST], bounds[GREATEST_TWIST])
        return about(axis[0], axis[1], axis[2], angle)
    return turn

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rotations from one direction to another."""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.transforms.rigid_kernel import rotation_vector

# Within this sine of exactly opposite, the fallback determines the plane of the turn, not rounding.
_OPPOSITE_SINE = 1e-9
# Within this sine of the bone, a direction does not determine the bone's roll.
_ALONG_BONE_SINE = 1e-9


@jit
def perpendicular(a: FloatArray, out: FloatArray) -> None:
    """Write a unit vector perpendicular to `a`; it depends only on `a`.

    Args:
        a: Unit vector, shape (3,).
        out: Filled with a × e, normalised, where e is the first axis least parallel to `a`.
    """
    least = 0
    for i in range(1, 3):
        if abs(a[i]) < abs(a[least]):
            least = i
    i, j = (least + 1) % 3, (least + 2) % 3
    length = math.hypot(a[i], a[j])
    out[least] = 0.0
    out[i] = a[j] / length
    out[j] = -a[i] / length


@jit
def rotation_about(
    x: float, y: float, z: float, cosine: float, sine: float, out: FloatArray
) -> None:
    """Write the rotation about the unit axis (x, y, z): c I + s [n]× + (1 − c) n nᵀ (Rodrigues).

    Args:
        x: First component of the axis.
        y: Second component of the axis.
        z: Third component of the axis.
        cosine: Cosine of the angle.
        sine: Sine of the angle.
        out: Filled with the rotation, shape (3, 3).
    """
    k = 1.0 - cosine
    out[0, 0] = cosine + k * x * x
    out[1, 1] = cosine + k * y * y
    out[2, 2] = cosine + k * z * z
    out[0, 1] = k * x * y - sine * z
    out[1, 0] = k * x * y + sine * z
    out[0, 2] = k * x * z + sine * y
    out[2, 0] = k * x * z - sine * y
    out[1, 2] = k * y * z - sine * x
    out[2, 1] = k * y * z + sine * x


@helper
def _rotation_along(
    x: float, y: float, z: float, cosine: float, sine: float, out: FloatArray
) -> None:
    """Write the rotation along a × b = (x, y, z) of length `sine`, which may be zero."""
    scale = 1.0 / sine if sine > 0.0 else 0.0
    rotation_about(scale * x, scale * y, scale * z, cosine, sine, out)


@jit
def rotation_between(a: FloatArray, b: FloatArray, fallback: FloatArray, out: FloatArray) -> float:
    """Write the smallest rotation that takes direction `a` to direction `b`.

    Args:
        a: Unit vector, shape (3,).
        b: Unit vector, shape (3,).
        fallback: Axis of the half turn when `b` is opposite to `a`: unit, perpendicular to `a`.
        out: Filled with the rotation, shape (3, 3).

    Returns:
        The angle between the directions [rad], in [0, π].
    """
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    sine = math.sqrt(x * x + y * y + z * z)
    if sine <= _OPPOSITE_SINE and cosine < 0.0:
        # The half turn takes a to −a; the small rest, about −(a × b), goes from −a to b.
        _rotation_along(-x, -y, -z, -cosine, sine, out)
        for i in range(3):
            u = out[i, 0] * fallback[0] + out[i, 1] * fallback[1] + out[i, 2] * fallback[2]
            for j in range(3):
                out[i, j] = 2.0 * u * fallback[j] - out[i, j]
    elif cosine < 0.0:
        # Near opposite, a × b has few digits. The axis must be perpendicular to `a`, so that the
        # turn stays in a plane that contains both.
        along = (x * a[0] + y * a[1] + z * a[2]) / sine
        x, y, z = x / sine - along * a[0], y / sine - along * a[1], z / sine - along * a[2]
        length = math.sqrt(x * x + y * y + z * z)
        rotation_about(x / length, y / length, z / length, cosine, sine, out)
    else:
        _rotation_along(x, y, z, cosine, sine, out)
    return math.atan2(sine, cosine)


@jit
def roll_towards(
    direction: FloatArray, axis: FloatArray, up: FloatArray, rotation: FloatArray
) -> bool:
    """Roll a rotated bone about its direction, so that one of its axes leans towards `up`.

    Args:
        direction: Direction of the bone after `rotation`: unit vector, shape (3,).
        axis: The bone's axis before `rotation`: unit vector, shape (3,).
        up: The direction that it should lean towards: unit vector, shape (3,).
        rotation: The bone's rotation, shape (3, 3); multiplied from the left by the roll.

    Returns:
        Whether the roll is determined; it is not if axis or `up` is along the bone.
    """
    x = rotation[0, 0] * axis[0] + rotation[0, 1] * axis[1] + rotation[0, 2] * axis[2]
    y = rotation[1, 0] * axis[0] + rotation[1, 1] * axis[1] + rotation[1, 2] * axis[2]
    z = rotation[2, 0] * axis[0] + rotation[2, 1] * axis[1] + rotation[2, 2] * axis[2]
    d0, d1, d2 = direction[0], direction[1], direction[2]
    along = x * d0 + y * d1 + z * d2
    x, y, z = x - along * d0, y - along * d1, z - along * d2
    along = up[0] * d0 + up[1] * d1 + up[2] * d2
    u, v, w = up[0] - along * d0, up[1] - along * d1, up[2] - along * d2
    if (
        x * x + y * y + z * z < _ALONG_BONE_SINE * _ALONG_BONE_SINE
        or u * u + v * v + w * w < _ALONG_BONE_SINE * _ALONG_BONE_SINE
    ):
        return False
    cosine = x * u + y * v + z * w
    sine = d0 * (y * w - z * v) + d1 * (z * u - x * w) + d2 * (x * v - y * u)
    if sine == 0.0 and cosine == 0.0:
        return False
    length = math.hypot(sine, cosine)
    cosine, sine = cosine / length, sine / length
    for j in range(3):
        x, y, z = rotation[0, j], rotation[1, j], rotation[2, j]
        along = (1.0 - cosine) * (d0 * x + d1 * y + d2 * z)
        rotation[0, j] = cosine * x + sine * (d1 * z - d2 * y) + along * d0
        rotation[1, j] = cosine * y + sine * (d2 * x - d0 * z) + along * d1
        rotation[2, j] = cosine * z + sine * (d0 * y - d1 * x) + along * d2
    return True


@jit
def twist_angle(rotation: FloatArray, axis: FloatArray) -> float:
    """Return the twist of a rotation about an axis; the rest is a swing of that axis.

    Rotation = swing · twist, where the swing's axis is perpendicular to `axis`. With the half-angle
    form (cos θ/2, n sin θ/2), tan(twist/2) = n·axis tan(θ/2).

    Args:
        rotation: Rotation, shape (3, 3).
        axis: Unit vector, shape (3,).

    Returns:
        The twist [rad], in [−π, π]; 0 if the swing is a half turn, which hides it.
    """
    vector = np.empty(3)
    angle = rotation_vector(rotation, vector)
    if angle == 0.0:
        return 0.0
    along = (vector[0] * axis[0] + vector[1] * axis[1] + vector[2] * axis[2]) / angle
    return 2.0 * math.atan(along * math.tan(0.5 * angle))

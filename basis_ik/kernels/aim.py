"""Turning one direction onto another."""

from __future__ import annotations

import math

from basis_ik.kernels.jit import jit
from basis_ik.kernels.rigid import FloatArray

# Sine of the angle to exactly opposite below which the plane of the turn is rounding noise.
_OPPOSITE = 1e-14


@jit
def perpendicular(a: FloatArray, out: FloatArray) -> None:
    """Write a unit vector perpendicular to `a`, always the same for the same `a`.

    Args:
        a: Unit vector, shape (3,).
        out: Filled with a × e, normalised, e being the first axis that is least along `a`.
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
    # 1 − c without cancellation for small angles.
    k = sine * sine / (1.0 + cosine) if cosine > 0.0 else 1.0 - cosine
    out[0, 0] = cosine + k * x * x
    out[1, 1] = cosine + k * y * y
    out[2, 2] = cosine + k * z * z
    out[0, 1] = k * x * y - sine * z
    out[1, 0] = k * x * y + sine * z
    out[0, 2] = k * x * z + sine * y
    out[2, 0] = k * x * z - sine * y
    out[1, 2] = k * y * z - sine * x
    out[2, 1] = k * y * z + sine * x


@jit
def rotation_between(a: FloatArray, b: FloatArray, fallback: FloatArray, out: FloatArray) -> float:
    """Write the smallest rotation that takes direction `a` to direction `b`.

    Args:
        a: Unit vector, shape (3,).
        b: Unit vector, shape (3,).
        fallback: Axis of the half turn when `b` is opposite to `a`: unit, perpendicular to `a`.
        out: Filled with the rotation, shape (3, 3).

    Returns:
        Its angle [rad], in [0, π].
    """
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    sine = math.sqrt(x * x + y * y + z * z)
    if cosine >= 0.0:
        if sine == 0.0:
            rotation_about(0.0, 0.0, 0.0, 1.0, 0.0, out)
        else:
            rotation_about(x / sine, y / sine, z / sine, cosine, sine, out)
    elif sine <= _OPPOSITE:
        rotation_about(fallback[0], fallback[1], fallback[2], -1.0, 0.0, out)
    else:
        # Towards opposite, a × b keeps few digits. What must hold is that the axis is
        # perpendicular to `a`, so that the turn stays in a plane that holds both.
        along = (x * a[0] + y * a[1] + z * a[2]) / sine
        x, y, z = x / sine - along * a[0], y / sine - along * a[1], z / sine - along * a[2]
        length = math.sqrt(x * x + y * y + z * z)
        rotation_about(x / length, y / length, z / length, cosine, sine, out)
    return math.atan2(sine, cosine)

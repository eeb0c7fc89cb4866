# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rigid transforms on bare (4, 4) homogeneous matrices.

Kernels write into arrays that the caller allocates, because returning an array to Python costs more
than the arithmetic.
"""

from __future__ import annotations

import math

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import inlined, jit

Four = tuple[float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]
"""A matrix (3, 3) by rows, in registers."""

ORTHONORMAL_TOLERANCE = 1e-12  # a rotation this close to orthonormal is kept bit for bit
# Below this squared angle [rad²] the closed forms of exp lose digits and their series do not.
_SERIES_ANGLE_SQUARED = 1e-2


@jit
def invert(m: FloatArray, out: FloatArray) -> None:
    """Write the inverse of a rigid transform: (R, t)⁻¹ = (Rᵀ, −Rᵀ t).

    Args:
        m: Transform, shape (4, 4).
        out: Filled with the inverse, shape (4, 4); must not be `m`.
    """
    for i in range(3):
        out[i, 0] = m[0, i]
        out[i, 1] = m[1, i]
        out[i, 2] = m[2, i]
        # 0.0 − x rather than −x: the inverse of the identity has no negative zeros.
        out[i, 3] = 0.0 - (m[0, i] * m[0, 3] + m[1, i] * m[1, 3] + m[2, i] * m[2, 3])
    out[3, 0] = 0.0
    out[3, 1] = 0.0
    out[3, 2] = 0.0
    out[3, 3] = 1.0


@jit
def apply_point(m: FloatArray, p: FloatArray, w: float) -> None:
    """Replace the homogeneous point (p, w) by its image.

    Args:
        m: Affine map, shape (4, 4).
        p: Overwritten with the image, shape (3,).
        w: 1 for a point, 0 for a vector (which a translation does not move).
    """
    x, y, z = p[0], p[1], p[2]
    p[0] = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3] * w
    p[1] = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3] * w
    p[2] = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3] * w


@jit
def apply_points(m: FloatArray, points: FloatArray, w: float) -> None:
    """Replace each homogeneous point (p, w) by its image.

    Args:
        m: Affine map, shape (4, 4).
        points: Overwritten with the images, shape (N, 3).
        w: 1 for points, 0 for vectors.
    """
    # Scalars: the compiler would reload array elements after every store.
    a, b, c, d = m[0, 0], m[0, 1], m[0, 2], m[0, 3] * w
    e, f, g, h = m[1, 0], m[1, 1], m[1, 2], m[1, 3] * w
    i, j, k, n = m[2, 0], m[2, 1], m[2, 2], m[2, 3] * w
    for row in range(points.shape[0]):
        x, y, z = points[row, 0], points[row, 1], points[row, 2]
        points[row, 0] = a * x + b * y + c * z + d
        points[row, 1] = e * x + f * y + g * z + h
        points[row, 2] = i * x + j * y + k * z + n


@jit
def exp(twist: FloatArray, out: FloatArray) -> bool:
    """Write the transform reached by moving along a constant twist for unit time.

    R = I + A W + B W² and t = (I + B W + C W²) v with W = [ω]×, A = sin θ/θ,
    B = (1 − cos θ)/θ², C = (θ − sin θ)/θ³ (Murray, Li, Sastry 1994, Eq. 2.36).

    Args:
        twist: (v, ω), shape (6,), linear part [m] first, angular part [rad].
        out: Filled with the transform, shape (4, 4).

    Returns:
        Whether the transform is finite; it is not if the square of an angle overflows.
    """
    x, y, z = twist[3], twist[4], twist[5]
    squared = x * x + y * y + z * z
    if squared < _SERIES_ANGLE_SQUARED:
        a = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0))
        b = 0.5 - squared / 24.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0))
        c = (1.0 - squared / 20.0 * (1.0 - squared / 42.0 * (1.0 - squared / 72.0))) / 6.0
    else:
        angle = math.sqrt(squared)
        half = math.sin(0.5 * angle)
        a = math.sin(angle) / angle
        b = 2.0 * half * half / squared
        c = (1.0 - a) / squared
    out[0, 0] = 1.0 - b * (y * y + z * z)
    out[1, 1] = 1.0 - b * (x * x + z * z)
    out[2, 2] = 1.0 - b * (x * x + y * y)
    out[0, 1] = b * x * y - a * z
    out[1, 0] = b * x * y + a * z
    out[0, 2] = b * x * z + a * y
    out[2, 0] = b * x * z - a * y
    out[1, 2] = b * y * z - a * x
    out[2, 1] = b * y * z + a * x
    u, v, w = twist[0], twist[1], twist[2]
    # ω×v and ω×(ω×v)
    p, q, r = y * w - z * v, z * u - x * w, x * v - y * u
    out[0, 3] = u + b * p + c * (y * r - z * q)
    out[1, 3] = v + b * q + c * (z * p - x * r)
    out[2, 3] = w + b * r + c * (x * q - y * p)
    out[3, 0] = 0.0
    out[3, 1] = 0.0
    out[3, 2] = 0.0
    out[3, 3] = 1.0
    for i in range(3):
        for j in range(4):
            if not math.isfinite(out[i, j]):
                return False
    return True


@inlined
def vector_of_quaternion(w: float, x: float, y: float, z: float) -> Four:
    """Return angle [rad] and axis × angle of the rotation of a quaternion of any length but 0.

    The angle is in [0, π]. At π exactly, the first non-zero component of the axis is positive.
    """
    s = math.sqrt(x * x + y * y + z * z)
    if w < 0.0 or (w == 0.0 and (x < 0.0 or (x == 0.0 and (y < 0.0 or (y == 0.0 and z < 0.0))))):
        w, x, y, z = -w, -x, -y, -z
    angle = 2.0 * math.atan2(s, w)
    scale = 2.0 / w if s == 0.0 else angle / s
    return angle, scale * x, scale * y, scale * z


@inlined
def vector_of_rotation(r: Nine) -> Four:
    """Return angle [rad] and axis × angle of a rotation (3, 3), exact to rounding from 0 to π.

    The half-angle cosine and sine·axis are computed from the largest of the four squares (Shepperd
    1978), so that no divisor is small; acos(trace) would lose half the digits near 0 and π.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = r
    trace = r00 + r11 + r22
    if trace >= r00 and trace >= r11 and trace >= r22:
        w, x, y, z = 1.0 + trace, r21 - r12, r02 - r20, r10 - r01
    elif r00 >= r11 and r00 >= r22:
        w, x, y, z = r21 - r12, 1.0 + 2.0 * r00 - trace, r01 + r10, r02 + r20
    elif r11 >= r22:
        w, x, y, z = r02 - r20, r01 + r10, 1.0 + 2.0 * r11 - trace, r12 + r21
    else:
        w, x, y, z = r10 - r01, r02 + r20, r12 + r21, 1.0 + 2.0 * r22 - trace
    return vector_of_quaternion(w, x, y, z)


@jit
def rotation_vector(m: FloatArray, out: FloatArray) -> float:
    """Write axis × angle of a rotation, exact to rounding at every angle from 0 to π.

    Args:
        m: Rotation in its upper left, shape (3, 3) or (4, 4).
        out: Filled with the rotation vector [rad], shape (3,). At an angle of π exactly, the
            first non-zero component of the axis is positive.

    Returns:
        The angle [rad], in [0, π].
    """
    r = (
        m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2]
    )  # fmt: skip
    angle, out[0], out[1], out[2] = vector_of_rotation(r)
    return angle


@jit
def log(m: FloatArray, out: FloatArray) -> None:
    """Write the shortest twist whose `exp` is the transform.

    v = (I − W/2 + D W²) t with D = (1 − (θ/2) cot(θ/2))/θ², which is smooth up to π.

    Args:
        m: Transform, shape (4, 4).
        out: Filled with (v, ω), shape (6,), angle in [0, π].
    """
    angle = rotation_vector(m, out[3:])
    x, y, z = out[3], out[4], out[5]
    squared = angle * angle
    if squared < _SERIES_ANGLE_SQUARED:
        d = (1.0 + squared / 60.0 * (1.0 + squared / 42.0 * (1.0 + squared / 40.0))) / 12.0
    else:
        half = 0.5 * angle
        d = (1.0 - half * math.cos(half) / math.sin(half)) / squared
    u, v, w = m[0, 3], m[1, 3], m[2, 3]
    p, q, r = y * w - z * v, z * u - x * w, x * v - y * u
    out[0] = u - 0.5 * p + d * (y * r - z * q)
    out[1] = v - 0.5 * q + d * (z * p - x * r)
    out[2] = w - 0.5 * r + d * (x * q - y * p)


@jit
def from_rpy(roll: float, pitch: float, yaw: float, out: FloatArray) -> None:
    """Write Rz(yaw) Ry(pitch) Rx(roll), the fixed-axis convention of URDF and REP-103.

    Args:
        roll: Angle about the fixed x axis [rad].
        pitch: Angle about the fixed y axis [rad].
        yaw: Angle about the fixed z axis [rad].
        out: Its upper left part is filled with the rotation, shape (3, 3) or (4, 4).
    """
    a, b = math.cos(roll), math.sin(roll)
    c, d = math.cos(pitch), math.sin(pitch)
    e, f = math.cos(yaw), math.sin(yaw)
    out[0, 0] = e * c
    out[1, 0] = f * c
    out[2, 0] = -d
    out[0, 1] = e * d * b - f * a
    out[1, 1] = f * d * b + e * a
    out[2, 1] = c * b
    out[0, 2] = e * d * a + f * b
    out[1, 2] = f * d * a - e * b
    out[2, 2] = c * a


@jit
def from_xyzw(
    quaternion: tuple[float, float, float, float], translation: tuple[float, float, float],
    out: FloatArray,
) -> float:  # fmt: skip
    """Write a rotation given by a quaternion of any length above 0, and a translation.

    Each product has two elements of the quaternion as factors, so q and -q give the same bits.

    Args:
        quaternion: (x, y, z, w).
        translation: (x, y, z).
        out: Shape (4, 4); its last row is not changed.

    Returns:
        The quaternion's length; NaN if an element of either is NaN or infinite.
    """
    (x, y, z, w), (tx, ty, tz) = quaternion, translation
    square = x * x + y * y + z * z + w * w
    s = 2.0 / square
    out[0, 0] = 1.0 - s * (y * y + z * z)
    out[0, 1] = s * (x * y - z * w)
    out[0, 2] = s * (x * z + y * w)
    out[1, 0] = s * (x * y + z * w)
    out[1, 1] = 1.0 - s * (x * x + z * z)
    out[1, 2] = s * (y * z - x * w)
    out[2, 0] = s * (x * z - y * w)
    out[2, 1] = s * (y * z + x * w)
    out[2, 2] = 1.0 - s * (x * x + y * y)
    out[0, 3], out[1, 3], out[2, 3] = tx, ty, tz
    placed = math.isfinite(tx) and math.isfinite(ty) and math.isfinite(tz)
    return math.sqrt(square) if placed and math.isfinite(square) else math.nan


@jit
def is_equal(a: FloatArray, b: FloatArray) -> bool:
    """Return whether two matrices, shape (4, 4), have equal elements."""
    for r in range(4):
        for c in range(4):
            if a[r, c] != b[r, c]:
                return False
    return True


@jit
def is_exact(m: FloatArray) -> bool:
    """Return whether a matrix, shape (4, 4), is a rigid transform up to rounding."""
    last = m[3, 0] == 0.0 and m[3, 1] == 0.0 and m[3, 2] == 0.0 and m[3, 3] == 1.0
    return last and rotation_defect(m) <= ORTHONORMAL_TOLERANCE


@jit
def rotation_defect(m: FloatArray) -> float:
    """Return the deviation of a matrix from a rigid transform.

    Args:
        m: Candidate, shape (4, 4); its last row is ignored.

    Returns:
        max |RᵀR − I|; infinite if R reflects or is singular, or an element is NaN or infinite.
    """
    worst = 0.0
    for i in range(3):
        if not math.isfinite(m[i, 3]):
            return math.inf
        for j in range(i, 3):
            dot = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            off = abs(dot - 1.0) if i == j else abs(dot)
            if not off <= worst:  # true for NaN
                worst = off
                if math.isnan(off):
                    return math.inf
    determinant = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    return worst if determinant > 0.0 else math.inf

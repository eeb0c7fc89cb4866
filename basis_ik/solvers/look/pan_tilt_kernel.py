# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The closed form of two turning joints and a ray that is to pass through a point.

The ray lies in a plane across the second axis, and stays in it while that joint turns. So the first
joint brings the point into that plane, where its circle meets the plane. The second joint brings
the ray onto the point, where in the plane a circle meets a line. Each has up to two solutions.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

import numpy as np

from basis_ik.descent.tables_kernel import (
    MULTIPLIER,
    OFFSET,
    P0,
    P1,
    P2,
    PRISMATIC,
    R00,
    R01,
    R02,
    R10,
    R11,
    R12,
    R20,
    R21,
    R22,
    VARIABLE,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

LEAST_LEAN = 1e-3  # sine between the axes, and of the ray to the second axis: below, not this form
# The ray may leave its plane by so much: what a URDF rounds; a descent takes it away.
FLAT_RAY = 1e-4
ON_AXIS = 1e-9  # [m] from an axis to the point: nearer, that joint makes no difference


@jit
def admits_pan_tilt(exact: FloatArray, n: int) -> bool:
    """Return whether a chain, `exact` with the ray as its tip, has this form."""
    if n != 2 or exact.shape[0] != 3:
        return False
    for i in range(2):
        plain = exact[i, MULTIPLIER] == 1.0 and exact[i, OFFSET] == 0.0
        if exact[i, PRISMATIC] != 0.0 or not plain or exact[i, VARIABLE] != i:
            return False
    lean = sqrt(exact[1, R02] ** 2 + exact[1, R12] ** 2)
    return lean > LEAST_LEAN and abs(exact[2, R22]) < FLAT_RAY


@helper
def tilts(
    exact: FloatArray, x: float, y: float, pan: float, tilt: float, found: FloatArray, count: int
) -> tuple[int, float]:
    """Append the tilts that meet the point (x, y) in the ray's plane.

    With the ray's origin o and direction d in that plane, b = o·d and |o + s d| = |(x, y)|:
    s = −b ± √(b² − |o|² + x² + y²), of which those in front, s > 0, count.

    Returns:
        The new count; by how much the point is too near if there is none [m].
    """
    o0, o1, d0, d1 = exact[2, P0], exact[2, P1], exact[2, R02], exact[2, R12]
    flat = sqrt(d0 * d0 + d1 * d1)
    d0, d1 = d0 / flat, d1 / flat
    b, away = o0 * d0 + o1 * d1, sqrt(x * x + y * y)
    across = o0 * d1 - o1 * d0
    radicand = (away - across) * (away + across)
    least = sqrt(o0 * o0 + o1 * o1) if b > 0.0 else abs(across)
    root = sqrt(max(radicand, 0.0))
    before = count
    for sign in (1.0, -1.0):
        s = sign * root - b
        if radicand >= 0.0 and s > 0.0:
            v0, v1 = o0 + s * d0, o1 + s * d1
            found[count, 0], found[count, 1] = pan, tilt
            if away > ON_AXIS:
                found[count, 1] = atan2(y * v0 - x * v1, x * v0 + y * v1)
            count += 1
    return count, (0.0 if count > before else max(least - away, 0.0))


@jit
def pan_tilt(
    exact: FloatArray, point: FloatArray, seed: FloatArray, found: FloatArray
) -> tuple[int, float]:
    """Write all positions of two joints at which the ray meets a point, without regard to limits.

    With the point in the first joint's coordinates (X, Y, Z), the second axis w and joint at t
    there, and the ray's plane at c along the second axis: A cos + B sin = C with A = w₀X + w₁Y,
    B = w₀Y − w₁X, C = c + w·t − w₂Z. For a pan about z and a tilt about y this is the text book's
    x = ±√(ρ² − c²), θ = atan2(Y, X) − atan2(c, x).

    Args:
        exact: (3, 16), see `proof_kernel.place_exactly`; the last row holds the ray along z.
        point: (3,) in the root frame [m].
        seed: (2,) where a joint stays that makes no difference [rad].
        found: (4, 2) result, of which `count` rows are written [rad].

    Returns:
        How many; and if none, by how much the point is too near to an axis [m].
    """
    e0, e1, e2 = point[0] - exact[0, P0], point[1] - exact[0, P1], point[2] - exact[0, P2]
    x = exact[0, R00] * e0 + exact[0, R10] * e1 + exact[0, R20] * e2
    y = exact[0, R01] * e0 + exact[0, R11] * e1 + exact[0, R21] * e2
    z = exact[0, R02] * e0 + exact[0, R12] * e1 + exact[0, R22] * e2
    w0, w1, w2 = exact[1, R02], exact[1, R12], exact[1, R22]
    t0, t1, t2 = exact[1, P0], exact[1, P1], exact[1, P2]
    along = exact[2, P2] + w0 * t0 + w1 * t1 + w2 * t2 - w2 * z
    a, b = w0 * x + w1 * y, w0 * y - w1 * x
    lean, size = sqrt(w0 * w0 + w1 * w1), sqrt(a * a + b * b)
    count, missing = 0, np.inf
    if abs(along) > size + ON_AXIS * lean:
        return 0, (abs(along) - size) / lean
    still = size <= ON_AXIS * lean
    off = sqrt(max((size - along) * (size + along), 0.0))
    for side in (1.0, -1.0):
        pan = seed[0] if still else atan2(b * along + side * a * off, a * along - side * b * off)
        c, s = cos(pan), sin(pan)
        f0, f1, f2 = c * x + s * y - t0, c * y - s * x - t1, z - t2
        u = exact[1, R00] * f0 + exact[1, R10] * f1 + exact[1, R20] * f2
        v = exact[1, R01] * f0 + exact[1, R11] * f1 + exact[1, R21] * f2
        count, near = tilts(exact, u, v, pan, seed[1], found, count)
        missing = min(missing, near)
        if still:
            break
    return count, (0.0 if count > 0 else missing)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rotation of a hinge that brings the points beyond it closest to their goals.

A hinge at o with axis z rotates points a, and a motion X then takes them towards their goals t. The
rotation W with the least Σ |X (o + W (a − o)) − t|² maximises tr(W N) with
N = Σ (a − o) (t − X o)ᵀ X, which yields its sine and cosine in closed form.
"""

from __future__ import annotations

from math import pi

from basis_ik.descent.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    POINT_X,
    POINT_Y,
    POINT_Z,
    Frame,
    Nine,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined

ORIENTATION_MOMENT = 0.03  # [reach²]: weight of the tip's orientation against one joint's position


@helper
def rough_angle(y: float, x: float) -> float:
    """Return atan2(y, x) within 1e-5 rad, by an odd polynomial; this suffices for a start."""
    a, b = abs(y), abs(x)
    large = max(a, b)
    r = min(a, b) / large if large > 0.0 else 0.0
    w = r * r
    angle = 0.05265332 + w * -0.01172120
    angle = -0.33262347 + w * (0.19354346 + w * (-0.11643287 + w * angle))
    angle = r * (0.99997726 + w * angle)
    if a > b:
        angle = 0.5 * pi - angle
    if x < 0.0:
        angle = pi - angle
    return -angle if y < 0.0 else angle


@inlined
def point_of(work: FloatArray, row: int) -> Triple:
    """Return the point on a joint's axis that `descent_kernel.place` wrote into a row of `work`."""
    return work[row, POINT_X], work[row, POINT_Y], work[row, POINT_Z]


@inlined
def axis_of(work: FloatArray, row: int) -> Triple:
    """Return the direction of a joint's axis that `descent_kernel.place` wrote there."""
    return work[row, AXIS_X], work[row, AXIS_Y], work[row, AXIS_Z]


@inlined
def moved(motion: Frame, point: Triple) -> Triple:
    """Return a point after a motion."""
    a00, a01, a02, t0, a10, a11, a12, t1, a20, a21, a22, t2 = motion
    x, y, z = point
    return (
        a00 * x + a01 * y + a02 * z + t0,
        a10 * x + a11 * y + a12 * z + t1,
        a20 * x + a21 * y + a22 * z + t2,
    )


@inlined
def fit_turn(
    moments: Nine, offsets: Triple, hinge: Triple, motion: Frame, axis: Triple
) -> tuple[float, float]:
    """Return sine and cosine of the best rotation about a hinge, times a common factor.

    Args:
        moments: Σ (a − o) tᵀ over all points beyond the hinge.
        offsets: Σ (a − o).
        hinge: X o.
        motion: X.
        axis: z.
    """
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = moments
    (d0, d1, d2), (h0, h1, h2), (z0, z1, z2) = offsets, hinge, axis
    a00, a01, a02, _, a10, a11, a12, _, a20, a21, a22, _ = motion
    e00, e01, e02 = m00 - d0 * h0, m01 - d0 * h1, m02 - d0 * h2
    e10, e11, e12 = m10 - d1 * h0, m11 - d1 * h1, m12 - d1 * h2
    e20, e21, e22 = m20 - d2 * h0, m21 - d2 * h1, m22 - d2 * h2
    n00 = e00 * a00 + e01 * a10 + e02 * a20
    n01 = e00 * a01 + e01 * a11 + e02 * a21
    n02 = e00 * a02 + e01 * a12 + e02 * a22
    n10 = e10 * a00 + e11 * a10 + e12 * a20
    n11 = e10 * a01 + e11 * a11 + e12 * a21
    n12 = e10 * a02 + e11 * a12 + e12 * a22
    n20 = e20 * a00 + e21 * a10 + e22 * a20
    n21 = e20 * a01 + e21 * a11 + e22 * a21
    n22 = e20 * a02 + e21 * a12 + e22 * a22
    across = z0 * (n12 - n21) + z1 * (n20 - n02) + z2 * (n01 - n10)
    along = n00 + n11 + n22
    along -= z0 * (z0 * n00 + z1 * n10 + z2 * n20)
    along -= z1 * (z0 * n01 + z1 * n11 + z2 * n21)
    along -= z2 * (z0 * n02 + z1 * n12 + z2 * n22)
    return across, along


@inlined
def turned_first(motion: Frame, axis: Triple, s: float, c: float, point: Triple) -> Frame:
    """Return a motion that follows a rotation (sine s, cosine c) about an axis through a point."""
    a00, a01, a02, _, a10, a11, a12, _, a20, a21, a22, _ = motion
    (z0, z1, z2), (x, y, z), (h0, h1, h2), v = axis, point, moved(motion, point), 1.0 - c
    w00, w01, w02 = c + v * z0 * z0, v * z0 * z1 - s * z2, v * z0 * z2 + s * z1
    w10, w11, w12 = v * z0 * z1 + s * z2, c + v * z1 * z1, v * z1 * z2 - s * z0
    w20, w21, w22 = v * z0 * z2 - s * z1, v * z1 * z2 + s * z0, c + v * z2 * z2
    b00, b01 = a00 * w00 + a01 * w10 + a02 * w20, a00 * w01 + a01 * w11 + a02 * w21
    b10, b11 = a10 * w00 + a11 * w10 + a12 * w20, a10 * w01 + a11 * w11 + a12 * w21
    b20, b21 = a20 * w00 + a21 * w10 + a22 * w20, a20 * w01 + a21 * w11 + a22 * w21
    b02 = a00 * w02 + a01 * w12 + a02 * w22
    b12 = a10 * w02 + a11 * w12 + a12 * w22
    b22 = a20 * w02 + a21 * w12 + a22 * w22
    return (
        b00, b01, b02, h0 - (b00 * x + b01 * y + b02 * z),
        b10, b11, b12, h1 - (b10 * x + b11 * y + b12 * z),
        b20, b21, b22, h2 - (b20 * x + b21 * y + b22 * z),
    )  # fmt: skip

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual of a pose, and the sine and cosine that the descent uses."""

from __future__ import annotations

from math import atan2, sqrt, tan

from basis_ik.descent.tables_kernel import (
    BOX_RX,
    BOX_RY,
    BOX_RZ,
    BOX_X,
    BOX_Y,
    BOX_Z,
    D00,
    D01,
    D02,
    D10,
    D11,
    D12,
    D20,
    D21,
    D22,
    P0,
    P1,
    P2,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Frame,
    Six,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined
from basis_ik.transforms.rigid_kernel import vector_of_rotation


@helper
def sine_cosine(x: float) -> tuple[float, float]:
    """Return sin x and cos x within 1e-15 for |x| < 1e5.

    Half the cost of two library calls: both share one range reduction (Cody and Waite) and
    branchless polynomials (the minimax coefficients of fdlibm's k_sin and k_cos).
    """
    turns = (x * 0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0
    r = (x - turns * 1.5707963267341256) - turns * 6.077100506506192e-11
    w = r * r
    s = 2.75573137070700676789e-06 + w * (
        -2.50507602534068634195e-08 + w * 1.58969099521155010221e-10
    )
    s = -1.66666666666666324348e-01 + w * (
        8.33333333332248946124e-03 + w * (-1.98412698298579493134e-04 + w * s)
    )
    s = r + r * w * s
    c = -2.75573143513906633035e-07 + w * (
        2.08757232129817482790e-09 + w * -1.13596475577881948265e-11
    )
    c = 4.16666666666666019037e-02 + w * (
        -1.38888888888741095749e-03 + w * (2.48015872894767294178e-05 + w * c)
    )
    c = 1.0 - 0.5 * w + w * w * c
    quadrant = int(turns) & 3
    if quadrant & 1:
        s, c = c, s
    return (-s if quadrant & 2 else s), (-c if (quadrant + 1) & 2 else c)


@helper
def rotation_error(frame: Frame) -> Triple:
    """Return 2 sin(θ/2) times the axis of the rotation that undoes a frame's.

    It needs no arctangent, increases monotonically up to half a turn, and agrees with the rotation
    vector to second order.
    """
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = frame
    four = 1.0 + r00 + r11 + r22  # 4 cos²(θ/2)
    x, y, z = r12 - r21, r20 - r02, r01 - r10
    if four > 1e-4:
        f = 1.0 / sqrt(four)
        return x * f, y * f, z * f
    # Near half a turn the skew part vanishes; the symmetric part is cos θ I + (1 - cos θ) n nᵀ.
    cosine = 0.5 * four - 1.0
    a, b, c = r00 - cosine, 0.5 * (r10 + r01), 0.5 * (r20 + r02)
    if r11 >= r00 and r11 >= r22:
        a, b, c = 0.5 * (r10 + r01), r11 - cosine, 0.5 * (r21 + r12)
    elif r22 >= r00:
        a, b, c = 0.5 * (r20 + r02), 0.5 * (r21 + r12), r22 - cosine
    f = sqrt((4.0 - four) / (a * a + b * b + c * c))
    if a * x + b * y + c * z < 0.0:
        f = -f
    return a * f, b * f, c * f


@helper
def axis_error(x: float, y: float, z: float) -> Triple:
    """Return 2 sin(θ/2) times the axis of the rotation from direction (x, y, z) to z."""
    if z < -0.9999999:  # antiparallel: any perpendicular axis
        return 2.0, 0.0, 0.0
    f = sqrt(2.0 / (1.0 + z))
    return y * f, -x * f, 0.0


@helper
def excess(x: float, half: float) -> float:
    """Return the signed excess of x over the deadband ±half."""
    return x - min(max(x, -half), half)


@helper
def has_deadband(weights: FloatArray) -> bool:
    """Return whether the rotation counts and has a deadband."""
    largest = max(weights[BOX_RX], max(weights[BOX_RY], weights[BOX_RZ]))
    return bool(weights[WRX] > 0.0 and largest > 0.0)


@helper
def rotation_excess(weights: FloatArray, work: FloatArray, row: int, frame: Frame) -> Triple:
    """Return the weighted error of a rotation in excess of its deadband.

    The deadband, columns 9-11 of the weights (12,), bounds the rotation vector; with a free axis z,
    that of the shortest rotation from the direction z to the tip's. The derivative of the error by
    an angular velocity, negated, is written into columns 0-8 of a row of `work`, (3, 3) by rows. It
    is 0 for a component within its deadband, and exact, since a deadband may be wide.
    """
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = frame
    if weights[WRZ] == 0.0:
        x, y, z = r02, r12, r22
        square = x * x + y * y
        size = sqrt(square)
        g, h = 1.0, 1.0 / 3.0  # the vector is g (-y, x, 0); h = -dg/dz
        if size > 1e-4:
            g = atan2(size, z) / size
            h = (1.0 - g * z) / square
        v0, v1, v2 = -g * y, g * x, 0.0
        a00, a01, a02 = g * z + h * y * y, -h * x * y, -g * x
        a10, a11, a12 = -h * x * y, g * z + h * x * x, -g * y
        a20, a21, a22 = 0.0, 0.0, 0.0
    else:
        rotation = (r00, r01, r02, r10, r11, r12, r20, r21, r22)
        angle, v0, v1, v2 = vector_of_rotation(rotation)
        b = 1.0 / 12.0
        if angle > 1e-3:
            b = (1.0 - 0.5 * angle / tan(0.5 * angle)) / (angle * angle)
        # The inverse of the left Jacobian of SO(3): a I + b v vᵀ - [v]×/2.
        a = 1.0 - b * angle * angle
        a00, a01, a02 = a + b * v0 * v0, b * v0 * v1 + 0.5 * v2, b * v0 * v2 - 0.5 * v1
        a10, a11, a12 = b * v0 * v1 - 0.5 * v2, a + b * v1 * v1, b * v1 * v2 + 0.5 * v0
        a20, a21, a22 = b * v0 * v2 + 0.5 * v1, b * v1 * v2 - 0.5 * v0, a + b * v2 * v2
    b0, b1, b2 = weights[BOX_RX], weights[BOX_RY], weights[BOX_RZ]
    d0, d1, d2 = excess(v0, b0), excess(v1, b1), excess(v2, b2)
    w0 = weights[WRX] if b0 == 0.0 or d0 != 0.0 else 0.0
    w1 = weights[WRY] if b1 == 0.0 or d1 != 0.0 else 0.0
    w2 = weights[WRZ] if b2 == 0.0 or d2 != 0.0 else 0.0
    work[row, D00], work[row, D01], work[row, D02] = w0 * a00, w0 * a01, w0 * a02
    work[row, D10], work[row, D11], work[row, D12] = w1 * a10, w1 * a11, w1 * a12
    work[row, D20], work[row, D21], work[row, D22] = w2 * a20, w2 * a21, w2 * a22
    return -w0 * d0, -w1 * d1, -w2 * d2


@helper
def residual_rate(work: FloatArray, row: int, x: float, y: float, z: float) -> Triple:
    """Return the derivative of the residual times an angular velocity, by `rotation_excess`."""
    return (
        work[row, D00] * x + work[row, D01] * y + work[row, D02] * z,
        work[row, D10] * x + work[row, D11] * y + work[row, D12] * z,
        work[row, D20] * x + work[row, D21] * y + work[row, D22] * z,
    )


@inlined
def rotation_residual(weights: FloatArray, frame: Frame) -> Triple:
    """Return the weighted error of a rotation target_T_tip that has no deadband."""
    _, _, r02, _, _, _, r12, _, _, _, r22, _ = frame
    if weights[WRZ] == 0.0 and weights[WRX] > 0.0:
        e0, e1, e2 = axis_error(r02, r12, r22)
    else:
        e0, e1, e2 = rotation_error(frame)
    return weights[WRX] * e0, weights[WRY] * e1, weights[WRZ] * e2


@inlined
def pose_residual(
    weights: FloatArray, boxed: bool, work: FloatArray, row: int, frame: Frame
) -> Six:  # fmt: skip
    """Return the weighted residual of a pose: position, then rotation, along the target's axes.

    Args:
        weights: (12,), see `tables_kernel`.
        boxed: Whether the rotation has a deadband, see `has_deadband`.
        work: `rotation_excess` writes into its row if so.
        row: Number of that row.
        frame: target_T_tip.
    """
    e0 = -weights[WX] * excess(frame[P0], weights[BOX_X])
    e1 = -weights[WY] * excess(frame[P1], weights[BOX_Y])
    e2 = -weights[WZ] * excess(frame[P2], weights[BOX_Z])
    if boxed:
        e3, e4, e5 = rotation_excess(weights, work, row, frame)
    else:
        e3, e4, e5 = rotation_residual(weights, frame)
    return e0, e1, e2, e3, e4, e5

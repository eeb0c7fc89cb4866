# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""One FABRIK sweep of an arm of hinges, in joint space.

The backward pass of FABRIK (Aristidou and Lasenby 2011) puts the last link on the target and pulls
the joints after it, blind to hinges and limits. The forward pass then turns each hinge, from the
root on, by the one angle that brings everything beyond it closest to where the backward pass wants
it: a least squares fit in closed form, clamped to the limits, so the sweep ends in a configuration
that the arm can take. Without the backward pass it would be cyclic coordinate descent.

The moments that the fits need are summed up once from the tip inwards: a sweep is linear in the
number of joints.
"""

from __future__ import annotations

from math import floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper
from basis_ik.search.descent_kernel import place
from basis_ik.search.pose_error_kernel import beyond, sine_cosine
from basis_ik.search.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    BOUND_LOWER,
    BOUND_UPPER,
    BOX_X,
    BOX_Y,
    BOX_Z,
    DRIVER,
    IS_ONLY,
    M0,
    M00,
    M01,
    M02,
    M1,
    M2,
    M10,
    M11,
    M12,
    M20,
    M21,
    M22,
    POINT_X,
    POINT_Y,
    POINT_Z,
    TURN,
    WRX,
    WX,
    Frame,
    PackedChain,
)

FloatArray = NDArray[np.float64]

ORIENTATION_MOMENT = (
    0.03  # [reach²]: what the tip's orientation weighs against one joint's position
)


@helper
def rough_angle(y: float, x: float) -> float:
    """Return atan2(y, x) within 1e-5 rad, by an odd polynomial: a start needs no more."""
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


@helper
def clamp_turn(value: float, lower: float, upper: float) -> float:
    """Return the angle within the limits that is nearest on the circle to `value` [rad]."""
    if lower <= value <= upper:
        return value
    above = value - upper
    above -= 2.0 * pi * floor(above / (2.0 * pi))
    below = lower - value
    below -= 2.0 * pi * floor(below / (2.0 * pi))
    if above + below >= 2.0 * pi:  # some whole turns away lies an angle within
        return upper - 2.0 * pi + above
    return upper if above < below else lower


@helper
def sum_moments(joints: FloatArray, work: FloatArray, n: int, moment: float, tip: Frame) -> None:
    """Do the backward pass and sum, for each joint, the moments of all points beyond it.

    With a the points as they are and t where they should be, row n + m + 2 + i of `work` gets
    Σ (a − o) tᵀ (3, 3) and Σ (a − o) (3,) over all points beyond joint i, whose own point is o.
    """
    m = joints.shape[0]
    r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = tip
    # The tip counts as one point at its origin, wanted at 0, and by `moment` for its orientation.
    c00, c01, c02 = moment * r00, moment * r01, moment * r02
    c10, c11, c12 = moment * r10, moment * r11, moment * r12
    c20, c21, c22 = moment * r20, moment * r21, moment * r22
    a0, a1, a2, t0, t1, t2, count = p0, p1, p2, 0.0, 0.0, 0.0, 1.0
    g0, g1, g2, o0, o1, o2 = 0.0, 0.0, 0.0, p0, p1, p2
    for i in range(m - 1, -1, -1):
        u0, u1, u2 = o0, o1, o2
        o0, o1, o2 = work[n + i, POINT_X], work[n + i, POINT_Y], work[n + i, POINT_Z]
        row = n + m + 2 + i
        work[row, M00], work[row, M01], work[row, M02] = c00 - o0 * t0, c01 - o0 * t1, c02 - o0 * t2
        work[row, M10], work[row, M11], work[row, M12] = c10 - o1 * t0, c11 - o1 * t1, c12 - o1 * t2
        work[row, M20], work[row, M21], work[row, M22] = c20 - o2 * t0, c21 - o2 * t1, c22 - o2 * t2
        work[row, M0], work[row, M1], work[row, M2] = (
            a0 - count * o0,
            a1 - count * o1,
            a2 - count * o2,
        )
        if i == m - 1 and moment > 0.0:  # rigid with the tip: it goes where the tip takes it
            d0, d1, d2 = o0 - p0, o1 - p1, o2 - p2
            g0 = r00 * d0 + r10 * d1 + r20 * d2
            g1 = r01 * d0 + r11 * d1 + r21 * d2
            g2 = r02 * d0 + r12 * d1 + r22 * d2
        else:
            d0, d1, d2 = o0 - g0, o1 - g1, o2 - g2
            apart = d0 * d0 + d1 * d1 + d2 * d2
            length = (o0 - u0) ** 2 + (o1 - u1) ** 2 + (o2 - u2) ** 2
            f = sqrt(length / apart) if apart > 0.0 else 0.0
            g0, g1, g2 = g0 + f * d0, g1 + f * d1, g2 + f * d2
        a0, a1, a2 = a0 + o0, a1 + o1, a2 + o2
        t0, t1, t2, count = t0 + g0, t1 + g1, t2 + g2, count + 1.0
        c00, c01, c02 = c00 + o0 * g0, c01 + o0 * g1, c02 + o0 * g2
        c10, c11, c12 = c10 + o1 * g0, c11 + o1 * g1, c12 + o1 * g2
        c20, c21, c22 = c20 + o2 * g0, c21 + o2 * g1, c22 + o2 * g2


@helper
def sweep(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, moment: float,
    near: float,
) -> bool:  # fmt: skip
    """Move q (n,) by one FABRIK sweep towards the target, inside the limits, unless it is near.

    Slides, and joints that share a variable, keep their place: the descent moves them.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) start, and result.
        work: With target_T_first_joint in its row n + m, and the bounds.
        moment: What the tip's orientation weighs against a point one metre away [m²]; 0 leaves
            the orientation free.
        near: Weighted squared error below which q stays: the nearest solution is downhill.

    Returns:
        Whether q was not near.
    """
    joints, n, m = chain.joints, q.shape[0], chain.joints.shape[0]
    tip = place(joints, chain.ends[1], q, work, n)
    r00, _, _, p0, _, r11, _, p1, _, _, r22, p2 = tip
    d0, d1, d2 = beyond(p0, weights[BOX_X]), beyond(p1, weights[BOX_Y]), beyond(p2, weights[BOX_Z])
    error = weights[WX] ** 2 * (d0 * d0 + d1 * d1 + d2 * d2)
    error += weights[WRX] ** 2 * (3.0 - r00 - r11 - r22)
    if error < near:
        return False
    sum_moments(joints, work, n, moment, tip)
    x00, x01, x02, x10, x11, x12, x20, x21, x22 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    s0, s1, s2 = 0.0, 0.0, 0.0  # x maps everything beyond the joint from before to after the turns
    for i in range(m):
        turn = joints[i, TURN]
        if turn == 0.0 or joints[i, IS_ONLY] == 0.0:
            continue
        o0, o1, o2 = work[n + i, POINT_X], work[n + i, POINT_Y], work[n + i, POINT_Z]
        z0, z1, z2 = work[n + i, AXIS_X], work[n + i, AXIS_Y], work[n + i, AXIS_Z]
        h0 = x00 * o0 + x01 * o1 + x02 * o2 + s0
        h1 = x10 * o0 + x11 * o1 + x12 * o2 + s1
        h2 = x20 * o0 + x21 * o1 + x22 * o2 + s2
        row = n + m + 2 + i
        d0, d1, d2 = work[row, M0], work[row, M1], work[row, M2]
        e00, e01, e02 = work[row, M00] - d0 * h0, work[row, M01] - d0 * h1, work[row, M02] - d0 * h2
        e10, e11, e12 = work[row, M10] - d1 * h0, work[row, M11] - d1 * h1, work[row, M12] - d1 * h2
        e20, e21, e22 = work[row, M20] - d2 * h0, work[row, M21] - d2 * h1, work[row, M22] - d2 * h2
        # Σ (a − o) (Xᵀ (t − h))ᵀ: the fit is done in the frame before the turns.
        n00 = e00 * x00 + e01 * x10 + e02 * x20
        n01 = e00 * x01 + e01 * x11 + e02 * x21
        n02 = e00 * x02 + e01 * x12 + e02 * x22
        n10 = e10 * x00 + e11 * x10 + e12 * x20
        n11 = e10 * x01 + e11 * x11 + e12 * x21
        n12 = e10 * x02 + e11 * x12 + e12 * x22
        n20 = e20 * x00 + e21 * x10 + e22 * x20
        n21 = e20 * x01 + e21 * x11 + e22 * x21
        n22 = e20 * x02 + e21 * x12 + e22 * x22
        across = z0 * (n12 - n21) + z1 * (n20 - n02) + z2 * (n01 - n10)
        along = n00 + n11 + n22
        along -= z0 * (z0 * n00 + z1 * n10 + z2 * n20)
        along -= z1 * (z0 * n01 + z1 * n11 + z2 * n21)
        along -= z2 * (z0 * n02 + z1 * n12 + z2 * n22)
        k = int(joints[i, DRIVER])
        wanted = q[k] + rough_angle(across, along) / turn
        reached = clamp_turn(wanted, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
        size = across * across + along * along
        if reached == wanted and size > 0.0:  # the usual case need not wait for the angle
            f = 1.0 / sqrt(size)
            s, c = f * across, f * along
        else:
            s, c = sine_cosine(turn * (reached - q[k]))
        q[k] = reached
        v = 1.0 - c
        w00, w01, w02 = c + v * z0 * z0, v * z0 * z1 - s * z2, v * z0 * z2 + s * z1
        w10, w11, w12 = v * z0 * z1 + s * z2, c + v * z1 * z1, v * z1 * z2 - s * z0
        w20, w21, w22 = v * z0 * z2 - s * z1, v * z1 * z2 + s * z0, c + v * z2 * z2
        x00, x01, x02 = (
            x00 * w00 + x01 * w10 + x02 * w20,
            x00 * w01 + x01 * w11 + x02 * w21,
            x00 * w02 + x01 * w12 + x02 * w22,
        )
        x10, x11, x12 = (
            x10 * w00 + x11 * w10 + x12 * w20,
            x10 * w01 + x11 * w11 + x12 * w21,
            x10 * w02 + x11 * w12 + x12 * w22,
        )
        x20, x21, x22 = (
            x20 * w00 + x21 * w10 + x22 * w20,
            x20 * w01 + x21 * w11 + x22 * w21,
            x20 * w02 + x21 * w12 + x22 * w22,
        )
        s0 = h0 - (x00 * o0 + x01 * o1 + x02 * o2)
        s1 = h1 - (x10 * o0 + x11 * o1 + x12 * o2)
        s2 = h2 - (x20 * o0 + x21 * o1 + x22 * o2)
    return True

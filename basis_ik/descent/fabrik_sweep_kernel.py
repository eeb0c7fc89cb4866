# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One FABRIK sweep of an arm of hinges, in joint space: it improves a start before the descent.

The backward pass of FABRIK (Aristidou and Lasenby 2011) puts the last link on the target and pulls
the joints after it, without regard to hinges and limits. The forward pass turns each hinge, from
the root on, by the angle that brings all points beyond it closest to their places after the
backward pass. This is a least-squares fit in closed form, clamped to the limits, so the sweep ends
in a configuration of the arm. Without the backward pass it would be cyclic coordinate descent.

The moments for the fits are summed once, from the tip inward: a sweep is linear in the number of
joints.
"""

from __future__ import annotations

from math import sqrt

from basis_ik.descent.descent_kernel import place
from basis_ik.descent.hinge_fit_kernel import (
    axis_of,
    fit_turn,
    moved,
    point_of,
    rough_angle,
    turned_first,
)
from basis_ik.descent.pose_error_kernel import excess, sine_cosine
from basis_ik.descent.tables_kernel import (
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
from basis_ik.numerics.angles_kernel import nearest_angle
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined


@helper
def sum_moments(joints: FloatArray, work: FloatArray, n: int, moment: float, tip: Frame) -> None:
    """Make the backward pass, and sum for each joint the moments of all points beyond it.

    With a the points and t their goals, row n + m + 2 + i of `work` receives Σ (a − o) tᵀ (3, 3)
    and Σ (a − o) (3,) over all points beyond joint i, where o is the joint's own point.
    """
    m = joints.shape[0]
    r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = tip
    # The tip counts as one point at its origin, with goal 0, and by `moment` for its orientation.
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
        if i == m - 1 and moment > 0.0:  # rigid with the tip
            d0, d1, d2 = o0 - p0, o1 - p1, o2 - p2
            g0 = r00 * d0 + r10 * d1 + r20 * d2
            g1 = r01 * d0 + r11 * d1 + r21 * d2
            g2 = r02 * d0 + r12 * d1 + r22 * d2
        else:
            d0, d1, d2 = o0 - g0, o1 - g1, o2 - g2
            square = d0 * d0 + d1 * d1 + d2 * d2
            length = (o0 - u0) ** 2 + (o1 - u1) ** 2 + (o2 - u2) ** 2
            f = sqrt(length / square) if square > 0.0 else 0.0
            g0, g1, g2 = g0 + f * d0, g1 + f * d1, g2 + f * d2
        a0, a1, a2 = a0 + o0, a1 + o1, a2 + o2
        t0, t1, t2, count = t0 + g0, t1 + g1, t2 + g2, count + 1.0
        c00, c01, c02 = c00 + o0 * g0, c01 + o0 * g1, c02 + o0 * g2
        c10, c11, c12 = c10 + o1 * g0, c11 + o1 * g1, c12 + o1 * g2
        c20, c21, c22 = c20 + o2 * g0, c21 + o2 * g1, c22 + o2 * g2


@inlined
def is_near_target(weights: FloatArray, tip: Frame, near: float) -> bool:
    """Return whether the weighted squared error of a frame target_T_tip is below `near`."""
    r00, _, _, p0, _, r11, _, p1, _, _, r22, p2 = tip
    d0, d1, d2 = (
        excess(p0, weights[BOX_X]),
        excess(p1, weights[BOX_Y]),
        excess(p2, weights[BOX_Z]),
    )
    error = weights[WX] ** 2 * (d0 * d0 + d1 * d1 + d2 * d2)
    error += weights[WRX] ** 2 * (3.0 - r00 - r11 - r22)
    return bool(error < near)


@inlined
def turn_hinge(
    q: FloatArray, work: FloatArray, k: int, turn: float, fit: tuple[float, float]
) -> tuple[float, float]:
    """Turn a hinge to the best angle within its bounds; return sine and cosine of the rotation.

    Args:
        q: (n,), of which one entry is written [rad or m].
        work: Has the bounds.
        k: Number of the hinge's variable.
        turn: Angle per unit of the variable.
        fit: Result of `fit_turn`.
    """
    across, along = fit
    best = q[k] + rough_angle(across, along) / turn
    reached = nearest_angle(best, best, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    size = across * across + along * along
    if reached == best and size > 0.0:  # the usual case does not need the angle
        f = 1.0 / sqrt(size)
        s, c = f * across, f * along
    else:
        s, c = sine_cosine(turn * (reached - q[k]))
    q[k] = reached
    return s, c


@helper
def sweep(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, moment: float,
    near: float,
) -> bool:  # fmt: skip
    """Move q (n,) towards the target by one FABRIK sweep within the limits, unless it is near.

    Slides and joints that share a variable do not move; the descent moves them.

    Args:
        chain: The chain.
        weights: (12,), see `tables_kernel`.
        q: (n,) start, and result [rad or m].
        work: Has target_T_first_joint in row n + m, and the bounds.
        moment: Weight of the tip's orientation relative to a point one metre away [m²]; 0 leaves
            the orientation free.
        near: Weighted squared error below which q does not move, because the nearest solution is
            downhill.

    Returns:
        Whether q was moved.
    """
    joints, n, m = chain.joints, q.shape[0], chain.joints.shape[0]
    tip = place(joints, chain.ends[1], q, work, n)
    if is_near_target(weights, tip, near):
        return False
    sum_moments(joints, work, n, moment, tip)
    # Motion of everything beyond the joint, by the turns so far.
    motion = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    for i in range(m):
        turn = joints[i, TURN]
        if turn == 0.0 or joints[i, IS_ONLY] == 0.0:
            continue
        point, axis, sums = point_of(work, n + i), axis_of(work, n + i), work[n + m + 2 + i]
        moments = (
            sums[M00], sums[M01], sums[M02], sums[M10], sums[M11], sums[M12],
            sums[M20], sums[M21], sums[M22],
        )  # fmt: skip
        offsets = (sums[M0], sums[M1], sums[M2])
        fit = fit_turn(moments, offsets, moved(motion, point), motion, axis)
        s, c = turn_hinge(q, work, int(joints[i, DRIVER]), turn, fit)
        motion = turned_first(motion, axis, s, c, point)
    return True

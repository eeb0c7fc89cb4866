# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One damped least-squares descent to a pose, fused into a single loop of scalars.

The chain is reduced so that a joint costs two plane rotations: the constant transform between two
axes is Rz(a) [Rx(b) | t] Rz(c), and both rotations about z are added to the neighbouring joint
angles (`basis_ik.search.prepare` does this once per chain). All frames are relative to the target,
so the error is the tip's deviation from the identity and costs nothing to form.
"""

from __future__ import annotations

import numpy as np

from basis_ik.descent.pose_error_kernel import (
    excess,
    has_deadband,
    pose_residual,
    residual_rate,
    sine_cosine,
)
from basis_ik.descent.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    BEFORE,
    BOUND_LOWER,
    BOUND_UPPER,
    BOX_X,
    BOX_Y,
    BOX_Z,
    DESCENT_LEAST,
    DESCENT_STALLS,
    DRIVER,
    IS_FIRST,
    JRX,
    JRY,
    JRZ,
    JX,
    JY,
    JZ,
    LINK_X,
    LINK_Y,
    LINK_Z,
    P0,
    P1,
    P2,
    POINT_X,
    POINT_Y,
    POINT_Z,
    R00,
    R01,
    R02,
    R10,
    R11,
    R12,
    R20,
    R21,
    R22,
    SCALE,
    SLIDE,
    SLIDE_OFFSET,
    STEP,
    TURN,
    TURN_OFFSET,
    TWIST_COSINE,
    TWIST_SINE,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Effort,
    Frame,
    PackedChain,
    Six,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import leaves, moved_inside
from basis_ik.numerics.jit import helper, inlined
from basis_ik.numerics.normal_equations_kernel import (
    diagonal_6,
    solve_symmetric_6,
    with_column_6,
)
from basis_ik.robot.chain_kernel import joint_twist

DESCENT_REACHED, DESCENT_SPENT, DESCENT_STALLED = 1, 0, -1

# Times the squared error (Sugihara 2011, Eq. 22); measured in docs/algorithms.md.
DESCENT_DAMPING = 0.1
DESCENT_FLOOR = 1e-13  # keeps the matrix positive definite where rows vanish
LARGEST_DESCENT_STEP = 1.0  # [rad], or one reach for a slide: the range of the linear model


@helper
def place(joints: FloatArray, tip: FloatArray, q: FloatArray, work: FloatArray, n: int) -> Frame:
    """Return target_T_tip at q; write a point and the direction of each axis into `work`."""
    m = joints.shape[0]
    first = n + m
    x0, y0, z0, p0 = work[first, R00], work[first, R01], work[first, R02], work[first, P0]
    x1, y1, z1, p1 = work[first, R10], work[first, R11], work[first, R12], work[first, P1]
    x2, y2, z2, p2 = work[first, R20], work[first, R21], work[first, R22], work[first, P2]
    for i in range(m):
        work[n + i, POINT_X], work[n + i, POINT_Y], work[n + i, POINT_Z] = p0, p1, p2
        work[n + i, AXIS_X], work[n + i, AXIS_Y], work[n + i, AXIS_Z] = z0, z1, z2
        value = q[int(joints[i, DRIVER])]
        s, c = sine_cosine(joints[i, TURN] * value + joints[i, TURN_OFFSET])
        slide = joints[i, SLIDE] * value + joints[i, SLIDE_OFFSET]
        u0, u1, u2 = c * x0 + s * y0, c * x1 + s * y1, c * x2 + s * y2
        v0, v1, v2 = c * y0 - s * x0, c * y1 - s * x1, c * y2 - s * x2
        cb, sb = joints[i, TWIST_COSINE], joints[i, TWIST_SINE]
        a, b, d = joints[i, LINK_X], joints[i, LINK_Y], joints[i, LINK_Z] + slide
        p0, p1, p2 = (
            p0 + a * u0 + b * v0 + d * z0,
            p1 + a * u1 + b * v1 + d * z1,
            p2 + a * u2 + b * v2 + d * z2,
        )
        x0, x1, x2 = u0, u1, u2
        y0, y1, y2 = cb * v0 + sb * z0, cb * v1 + sb * z1, cb * v2 + sb * z2
        z0, z1, z2 = cb * z0 - sb * v0, cb * z1 - sb * v1, cb * z2 - sb * v2
    a, b, d = tip[0, 3], tip[1, 3], tip[2, 3]
    p0 += a * x0 + b * y0 + d * z0
    p1 += a * x1 + b * y1 + d * z1
    p2 += a * x2 + b * y2 + d * z2
    a, b, d = tip[0, 0], tip[1, 0], tip[2, 0]
    r00, r10, r20 = a * x0 + b * y0 + d * z0, a * x1 + b * y1 + d * z1, a * x2 + b * y2 + d * z2
    a, b, d = tip[0, 1], tip[1, 1], tip[2, 1]
    r01, r11, r21 = a * x0 + b * y0 + d * z0, a * x1 + b * y1 + d * z1, a * x2 + b * y2 + d * z2
    a, b, d = tip[0, 2], tip[1, 2], tip[2, 2]
    r02, r12, r22 = a * x0 + b * y0 + d * z0, a * x1 + b * y1 + d * z1, a * x2 + b * y2 + d * z2
    return r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2


@inlined
def twist_by(turn: float, slide: float, work: FloatArray, row: int, point: Triple) -> Six:
    """Return how a joint that `place` wrote into a row moves a point; see `joint_twist`."""
    axis = (work[row, AXIS_X], work[row, AXIS_Y], work[row, AXIS_Z])
    a, b = point[0] - work[row, POINT_X], point[1] - work[row, POINT_Y]
    return joint_twist(turn, slide, axis, (a, b, point[2] - work[row, POINT_Z]))


@helper
def fill_columns(joints: FloatArray, work: FloatArray, n: int, point: Triple, factors: Six) -> None:
    """Write the Jacobian of the tip at a point, its rows times `factors`, by variable."""
    w0, w1, w2, w3, w4, w5 = factors
    for i in range(joints.shape[0]):
        j0, j1, j2, j3, j4, j5 = twist_by(joints[i, TURN], joints[i, SLIDE], work, n + i, point)
        j0, j1, j2, j3, j4, j5 = w0 * j0, w1 * j1, w2 * j2, w3 * j3, w4 * j4, w5 * j5
        k = int(joints[i, DRIVER])
        if joints[i, IS_FIRST] == 0.0:  # a mimic joint adds to its variable's column
            j0, j1, j2 = j0 + work[k, JX], j1 + work[k, JY], j2 + work[k, JZ]
            j3, j4, j5 = j3 + work[k, JRX], j4 + work[k, JRY], j5 + work[k, JRZ]
        work[k, JX], work[k, JY], work[k, JZ] = j0, j1, j2
        work[k, JRX], work[k, JRY], work[k, JRZ] = j3, j4, j5


@inlined
def fill_jacobian(
    joints: FloatArray, weights: FloatArray, boxed: bool, work: FloatArray, n: int, frame: Frame
) -> None:
    """Write the negated Jacobian of `pose_residual`, which has filled row n + m + 1 of `work`.

    A component within its deadband has derivative 0.
    """
    point = (frame[P0], frame[P1], frame[P2])
    w0, w1, w2 = weights[WX], weights[WY], weights[WZ]
    w3, w4, w5 = weights[WRX], weights[WRY], weights[WRZ]
    if weights[BOX_X] > 0.0 and excess(point[0], weights[BOX_X]) == 0.0:
        w0 = 0.0
    if weights[BOX_Y] > 0.0 and excess(point[1], weights[BOX_Y]) == 0.0:
        w1 = 0.0
    if weights[BOX_Z] > 0.0 and excess(point[2], weights[BOX_Z]) == 0.0:
        w2 = 0.0
    if boxed:
        w3, w4, w5 = 1.0, 1.0, 1.0
    fill_columns(joints, work, n, point, (w0, w1, w2, w3, w4, w5))
    if boxed:
        row = n + joints.shape[0] + 1
        for k in range(n):
            x, y, z = residual_rate(work, row, work[k, JRX], work[k, JRY], work[k, JRZ])
            work[k, JRX], work[k, JRY], work[k, JRZ] = x, y, z


@inlined
def column_inside(
    variables: FloatArray, q: FloatArray, work: FloatArray, k: int, residual: Six
) -> Six:
    """Return a variable's scaled column of the Jacobian, or zeros if the variable is held.

    It is held at a bound if the residual pulls it outward.
    """
    scale = variables[k, SCALE]
    j0, j1, j2 = scale * work[k, JX], scale * work[k, JY], scale * work[k, JZ]
    j3, j4, j5 = scale * work[k, JRX], scale * work[k, JRY], scale * work[k, JRZ]
    lower, upper = work[k, BOUND_LOWER], work[k, BOUND_UPPER]
    if not lower < q[k] < upper:
        e0, e1, e2, e3, e4, e5 = residual
        pull = j0 * e0 + j1 * e1 + j2 * e2 + j3 * e3 + j4 * e4 + j5 * e5
        if leaves(q[k], lower, upper, pull, 0.0):
            j0, j1, j2, j3, j4, j5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return j0, j1, j2, j3, j4, j5


@helper
def fill_step(
    variables: FloatArray, q: FloatArray, work: FloatArray, damping: float, residual: Six
) -> float:
    """Write the damped step Jᵀ (J Jᵀ + damping I)⁻¹ e; return its largest entry.

    A variable at a limit that is pulled outward leaves the step (projected Gauss-Newton, Bertsekas
    1982), and the others take over.
    """
    n, gram = variables.shape[0], diagonal_6(damping)
    for k in range(n):
        column = column_inside(variables, q, work, k, residual)
        work[k, JX], work[k, JY], work[k, JZ], work[k, JRX], work[k, JRY], work[k, JRZ] = column
        gram = with_column_6(gram, column)
    x0, x1, x2, x3, x4, x5 = solve_symmetric_6(gram, residual)
    largest = 0.0
    for k in range(n):
        step = work[k, JX] * x0 + work[k, JY] * x1 + work[k, JZ] * x2
        step += work[k, JRX] * x3 + work[k, JRY] * x4 + work[k, JRZ] * x5
        work[k, STEP] = step
        largest = max(largest, abs(step))
    return largest


@inlined
def apply_step(variables: FloatArray, q: FloatArray, work: FloatArray, largest: float) -> None:
    """Apply the step, shortened to the range of the linear model, within the bounds."""
    factor = 1.0 if largest <= LARGEST_DESCENT_STEP else LARGEST_DESCENT_STEP / largest
    for k in range(variables.shape[0]):
        moved = q[k] + factor * variables[k, SCALE] * work[k, STEP]
        q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@inlined
def squared(residual: Six) -> tuple[float, float]:
    """Return the squared norms of a residual's position and rotation."""
    e0, e1, e2, e3, e4, e5 = residual
    return e0 * e0 + e1 * e1 + e2 * e2, e3 * e3 + e4 * e4 + e5 * e5


@inlined
def save_start(q: FloatArray, work: FloatArray) -> None:
    """Save q as the start of a step."""
    for k in range(q.shape[0]):
        work[k, BEFORE] = q[k]


@inlined
def restore_start(q: FloatArray, work: FloatArray) -> None:
    """Restore q to the start of the last step."""
    for k in range(q.shape[0]):
        q[k] = work[k, BEFORE]


@helper
def begin_descent(work: FloatArray) -> None:
    """Reset the state of `descend`, which starts a new descent; careful ones need no reset."""
    last = work.shape[0] - 1
    work[last, DESCENT_LEAST], work[last, DESCENT_STALLS] = np.inf, 0.0


@helper
def descend(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float], effort: Effort,
) -> tuple[int, int, float]:  # fmt: skip
    """Move q (n,) to the target within the bounds, until it arrives or stops making progress.

    Args:
        chain: The chain.
        weights: (12,), see `tables_kernel`.
        q: (n,) start, and result [rad or m].
        work: Has target_T_first_joint in row n + m, the bounds, and in the last row the state:
            after `begin_descent`, or after a call that ended DESCENT_SPENT, which this call
            continues. A careful descent ignores the state.
        arrival: Weighted squared errors of position and rotation that count as reached.
        effort: Budget.

    Returns:
        DESCENT_REACHED, DESCENT_SPENT or DESCENT_STALLED; steps taken; weighted squared error at q.
    """
    joints, variables, tip, careful = chain.joints, chain.variables, chain.ends[1], effort.careful
    n, last, boxed = variables.shape[0], work.shape[0] - 1, has_deadband(weights)
    rates, least, stalls, damping, taken = n + joints.shape[0] + 1, np.inf, 0.0, DESCENT_DAMPING, 0
    if not careful:
        least, stalls = work[last, DESCENT_LEAST], work[last, DESCENT_STALLS]
    while True:
        frame = place(joints, tip, q, work, n)
        residual = pose_residual(weights, boxed, work, rates, frame)
        squared_position, squared_rotation = squared(residual)
        error = squared_position + squared_rotation
        if squared_position <= arrival[0] and squared_rotation <= arrival[1]:
            return DESCENT_REACHED, taken, error
        if careful:
            if error > least:
                damping *= 8.0
                restore_start(q, work)
            else:
                least, damping = error, max(damping / 3.0, 1e-7)
                save_start(q, work)
            if damping > 1e9:
                return DESCENT_STALLED, taken, least
        elif taken >= effort.iterations:
            work[last, DESCENT_LEAST], work[last, DESCENT_STALLS] = least, stalls
            return DESCENT_SPENT, taken, error
        elif error < 0.95 * least:
            least, stalls = error, 0.0
        else:
            stalls += 1.0
            if stalls > effort.patience:
                return DESCENT_STALLED, taken, error
        if taken >= effort.iterations:
            return DESCENT_SPENT, taken, error
        taken += 1
        fill_jacobian(joints, weights, boxed, work, n, frame)
        largest = fill_step(variables, q, work, damping * error + DESCENT_FLOOR, residual)
        if careful and error <= least and largest < 1e-11:
            return DESCENT_STALLED, taken, error
        apply_step(variables, q, work, largest)

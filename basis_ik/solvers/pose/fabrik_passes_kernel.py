# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on the joints of a robot: backward and forward passes to a pose, within the limits.

FABRIK (Aristidou and Lasenby 2011) makes two passes over the positions of the joints. The backward
pass puts the tip on the target and goes down the chain; each joint keeps what is below it as close
as possible to its previous place. The root then has left its place. The forward pass puts the root
back and goes up the chain; each joint brings what is above it as close as possible to its place
after the backward pass.

A ball joint needs only the position of the next joint for that. But a hinge has one angle, a slide
one length, and a mimic joint no value of its own. So each joint takes the value that is best, in
the least-squares sense, for the positions of all joints on the moving side and for the orientation
of the link at its end: a closed form, clamped to the limits. The moving side is rigid, so the
positions enter by their moments only, and a pass is linear in the number of joints.

Passes converge linearly, and slowly on some arms. They are extrapolated from the last few passes
(Anderson 1965), and a start from which they make no progress is given up for the next one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import (
    DESCENT_REACHED,
    DESCENT_SPENT,
    DESCENT_STALLED,
    LARGEST_DESCENT_STEP,
    place,
)
from basis_ik.descent.hinge_fit_kernel import (
    ORIENTATION_MOMENT,
    axis_of,
    fit_turn,
    moved,
    point_of,
    rough_angle,
    turned_first,
)
from basis_ik.descent.pose_error_kernel import axis_error, rotation_error, sine_cosine
from basis_ik.descent.pose_search_kernel import (
    FREE_TURNS,
    GO_ON,
    OUT_OF_REACH,
    Found,
    begin_inside,
    check_start,
    go_back_to_best,
    is_out_of_reach,
    keep_best,
    measure,
    meets,
    prove,
    relate_to_target,
    set_bounds,
    take_shortest_turns,
    write_start,
)
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    DRIVER,
    IS_ONLY,
    SCALE,
    SLIDE,
    START,
    TURN,
    WRX,
    WRZ,
    WX,
    ChainFields,
    Frame,
    GoalFields,
    Nine,
    PackedChain,
    PoseGoal,
    Triple,
)
from basis_ik.numerics.angles_kernel import nearest_angle
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, inlined, jit

PASS_PATIENCE = 5.0  # passes that may fail to halve the squared error
NEAR_SEED_BELOW = 0.04  # weighted squared error of a seed that should lead to its nearest solution
SLOW_BELOW = 1e-5  # weighted squared error at which a descent replaces slow passes
EXTRAPOLATION_DEPTH = 3  # number of differences in the extrapolation
LEAST_MOMENT = 1e-9  # squared length, relative: with less around its axis a hinge does not move
REGULARISATION = 3e-4  # relative to a squared unit difference: separates similar ones

# Columns of the first n rows of `work`, besides those of `tables_kernel`:
# Of the pass's start, and of its increment; three columns each.
CHANGES, RESPONSES = 0, EXTRAPOLATION_DEPTH
PASS_START, PASS_ADDED = 6, 7  # start and increment of the last pass
# Columns of the n rows from row n + m + 2 on:
PLACE_BEFORE, PLACE_NOW = 0, 1
BACKWARD_ROTATION = 2  # nine columns of the first of these rows: the tip after the backward pass
# Columns of the last row: the state of passes that run in slices.
START_NUMBER, PASS_COUNT, OUTWARDS, PASS_LEAST, PASS_ALL_LEAST, PASS_STALLS, SEED_IS_NEAR = range(7)


class Pass(NamedTuple):
    """A pass along the chain."""

    outwards: bool
    """Whether it goes from the root to the tip."""
    sign: float
    """1 outwards, -1 inwards."""
    unit: float
    """Square of the chain's unit of length [m²]."""
    axis_only: bool
    """Whether the tip's z is a free axis."""
    rotation_free: bool
    """Whether the tip's orientation is free."""


class Moments(NamedTuple):
    """Moments of points x: their number, Σ x, and the six different entries of Σ x xᵀ."""

    number: float
    sums: Triple
    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


@inlined
def _with_point(moments: Moments, point: Triple, times: float) -> Moments:
    """Return moments with a point added (times 1) or removed (times -1)."""
    count, (sx, sy, sz), xx, xy, xz, yy, yz, zz = moments
    x, y, z = point
    u, v, w = times * x, times * y, times * z
    return Moments(
        count + times, (sx + u, sy + v, sz + w),
        xx + u * x, xy + u * y, xz + u * z, yy + v * y, yz + v * z, zz + w * z,
    )  # fmt: skip


@inlined
def _about(moments: Moments, point: Triple) -> tuple[Nine, Triple]:
    """Return Σ (x − o) xᵀ and Σ (x − o) for a point o."""
    count, (sx, sy, sz), xx, xy, xz, yy, yz, zz = moments
    x, y, z = point
    about = (
        xx - x * sx, xy - x * sy, xz - x * sz,
        xy - y * sx, yy - y * sy, yz - y * sz,
        xz - z * sx, yz - z * sy, zz - z * sz,
    )  # fmt: skip
    return about, (sx - count * x, sy - count * y, sz - count * z)


@helper
def _moments_of_all(work: FloatArray, n: int, m: int, course: Pass, tip: Frame) -> Moments:
    """Return the moments of all joints and of the body at the end of the moving side.

    The body is the tip, or the root at the position of the first joint. Three directions represent
    its orientation, or one with a free axis.
    """
    moment = 0.0 if course.outwards and course.rotation_free else ORIENTATION_MOMENT * course.unit
    none = (0.0, 0.0, 0.0)
    moments = Moments(0.0, none, moment, 0.0, 0.0, moment, 0.0, moment)
    if course.outwards:
        x, y, z = tip[2], tip[6], tip[10]
        if course.axis_only:
            moments = Moments(
                0.0, none, moment * x * x, moment * x * y, moment * x * z,
                moment * y * y, moment * y * z, moment * z * z,
            )  # fmt: skip
        moments = _with_point(moments, (tip[3], tip[7], tip[11]), 1.0)
    else:
        moments = _with_point(moments, point_of(work, n), 1.0)
    for i in range(m):
        moments = _with_point(moments, point_of(work, n + i), 1.0)
    return moments


@helper
def _share_of_variable(joints: FloatArray, i: int) -> float:
    """Return 1 / number of joints that share the variable of joint i."""
    if joints[i, IS_ONLY] != 0.0:
        return 1.0
    count = 0.0
    for j in range(joints.shape[0]):
        count += 1.0 if joints[j, DRIVER] == joints[i, DRIVER] else 0.0
    return 1.0 / count


@inlined
def _turn_joint(
    joints: FloatArray, i: int, q: FloatArray, work: FloatArray, course: Pass, moments: Moments,
    motion: Frame,
) -> Frame:  # fmt: skip
    """Turn a hinge to the best angle within its bounds; return the motion beyond it."""
    n, turn, k = q.shape[0], joints[i, TURN], int(joints[i, DRIVER])
    point, axis = point_of(work, n + i), axis_of(work, n + i)
    about, offsets = _about(moments, point)
    across, along = fit_turn(about, offsets, moved(motion, point), motion, axis)
    if max(abs(across), abs(along)) > LEAST_MOMENT * course.unit:
        best = (
            q[k] + course.sign * _share_of_variable(joints, i) * rough_angle(across, along) / turn
        )
        q[k] = nearest_angle(best, best, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    before = work[n + joints.shape[0] + 2 + k, PLACE_BEFORE]
    s, c = sine_cosine(course.sign * turn * (q[k] - before))
    return turned_first(motion, axis, s, c, point)


@inlined
def _slide_joint(
    joints: FloatArray, i: int, q: FloatArray, work: FloatArray, course: Pass, moments: Moments,
    motion: Frame,
) -> Frame:  # fmt: skip
    """Slide a joint to the best length within its bounds; return the motion beyond it."""
    n, slide, k = q.shape[0], joints[i, SLIDE], int(joints[i, DRIVER])
    a00, a01, a02, t0, a10, a11, a12, t1, a20, a21, a22, t2 = motion
    (z0, z1, z2), count, (sx, sy, sz) = axis_of(work, n + i), moments.number, moments.sums
    u0 = a00 * z0 + a01 * z1 + a02 * z2
    u1 = a10 * z0 + a11 * z1 + a12 * z2
    u2 = a20 * z0 + a21 * z1 + a22 * z2
    d0 = sx - (a00 * sx + a01 * sy + a02 * sz) - count * t0
    d1 = sy - (a10 * sx + a11 * sy + a12 * sz) - count * t1
    d2 = sz - (a20 * sx + a21 * sy + a22 * sz) - count * t2
    correction = course.sign * _share_of_variable(joints, i) * (d0 * u0 + d1 * u1 + d2 * u2)
    best = q[k] + correction / (count * slide)
    q[k] = moved_inside(q[k], best, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    shift = course.sign * slide * (q[k] - work[n + joints.shape[0] + 2 + k, PLACE_BEFORE])
    return (
        a00, a01, a02, t0 + shift * u0,
        a10, a11, a12, t1 + shift * u1,
        a20, a21, a22, t2 + shift * u2,
    )  # fmt: skip


@helper
def _pass_along(
    joints: FloatArray, q: FloatArray, work: FloatArray, course: Pass, tip: Frame, motion: Frame
) -> None:
    """Let each joint in turn bring the points beyond it as close as possible to their goals.

    Args:
        joints: (m, 12), see `tables_kernel`.
        q: (n,) positions at which `place` was called, and result [rad or m].
        work: (n + 2 m + 3, 12) as left by `place`, with the bounds.
        course: Direction and goal.
        tip: target_T_tip, as returned by `place`.
        motion: Motion of everything beyond the first joint, from its goal to its place.
    """
    n, m = q.shape[0], joints.shape[0]
    for k in range(n):
        work[n + m + 2 + k, PLACE_BEFORE] = q[k]
    moments = _moments_of_all(work, n, m, course, tip)
    for step in range(m):
        i = step if course.outwards else m - 1 - step
        point = point_of(work, n + i)
        if course.outwards:  # a joint's position belongs to the link below it
            moments = _with_point(moments, point, -1.0)
        if joints[i, TURN] != 0.0:
            motion = _turn_joint(joints, i, q, work, course, moments, motion)
        elif joints[i, SLIDE] != 0.0:
            motion = _slide_joint(joints, i, q, work, course, moments, motion)
        if not course.outwards:
            moments = _with_point(moments, point, -1.0)


@helper
def _store_differences(variables: FloatArray, q: FloatArray, work: FloatArray, passes: int) -> bool:
    """Store the differences of a pass's start and increment from those of the pass before.

    Both are scaled so that the difference of the increments has length 1.

    Args:
        variables: (n, 8 + s), see `tables_kernel`.
        q: (n,) end of the pass [rad or m].
        work: Its first n rows are written.
        passes: Number of earlier passes from this start.

    Returns:
        Whether there is a difference to extrapolate from.
    """
    n, slot = variables.shape[0], (passes - 1) % EXTRAPOLATION_DEPTH if passes > 0 else 0
    square = 0.0
    for k in range(n):
        start = work[k, START] / variables[k, SCALE]
        added = (q[k] - work[k, START]) / variables[k, SCALE]
        if passes > 0:
            work[k, CHANGES + slot] = start - work[k, PASS_START]
            work[k, RESPONSES + slot] = added - work[k, PASS_ADDED]
            square += work[k, RESPONSES + slot] ** 2
        else:
            for j in range(2 * EXTRAPOLATION_DEPTH):
                work[k, j] = 0.0
        work[k, PASS_START], work[k, PASS_ADDED] = start, added
    if not square > 0.0:
        return False
    length = sqrt(square)
    for k in range(n):
        work[k, CHANGES + slot] /= length
        work[k, RESPONSES + slot] /= length
    return True


@helper
def _combination(work: FloatArray, n: int) -> Triple:
    """Return the factors of the stored differences that minimise the next increment.

    By the normal equations of three unit differences, some of which may still be 0.
    """
    g01, g02, g12, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        d0, d1, d2 = work[k, RESPONSES], work[k, RESPONSES + 1], work[k, RESPONSES + 2]
        added = work[k, PASS_ADDED]
        g01, g02, g12 = g01 + d0 * d1, g02 + d0 * d2, g12 + d1 * d2
        b0, b1, b2 = b0 + d0 * added, b1 + d1 * added, b2 + d2 * added
    one = 1.0 + REGULARISATION
    l10, l20 = g01 / one, g02 / one
    f1 = one - l10 * g01
    h21 = g12 - l20 * g01
    l21 = h21 / f1
    f2 = one - l20 * g02 - l21 * h21
    b1 -= l10 * b0
    b2 -= l20 * b0 + l21 * b1
    c2 = b2 / f2
    c1 = b1 / f1 - l21 * c2
    return b0 / one - l10 * c1 - l20 * c2, c1, c2


@helper
def _extrapolate(variables: FloatArray, q: FloatArray, work: FloatArray, passes: int) -> None:
    """Extrapolate q from the last passes (Anderson 1965).

    At the solution the increment of a pass is 0. To first order, the stored differences show how
    the increment depends on the start. q is set to the end of a pass from the start with the least
    increment.

    Args:
        variables: (n, 8 + s), see `tables_kernel`.
        q: (n,) end of the pass, and result [rad or m].
        work: Its first n rows are read and written.
        passes: Number of earlier passes from this start.
    """
    if not _store_differences(variables, q, work, passes):
        return
    n = variables.shape[0]
    c0, c1, c2 = _combination(work, n)
    largest = 0.0
    for k in range(n):
        step = work[k, PASS_ADDED]
        step -= c0 * (work[k, CHANGES] + work[k, RESPONSES])
        step -= c1 * (work[k, CHANGES + 1] + work[k, RESPONSES + 1])
        step -= c2 * (work[k, CHANGES + 2] + work[k, RESPONSES + 2])
        q[k] = step
        largest = max(largest, abs(step))
    factor = 1.0 if largest <= LARGEST_DESCENT_STEP else LARGEST_DESCENT_STEP / largest
    for k in range(n):
        there = work[k, START] + factor * variables[k, SCALE] * q[k]
        q[k] = moved_inside(work[k, START], there, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@helper
def _turn_to_target(weights: FloatArray, tip: Frame) -> Frame:
    """Return the motion that puts the tip on the target.

    With a free axis the tip's z is turned by the smallest rotation; a free orientation is kept.
    """
    r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = tip
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = r00, r10, r20, r01, r11, r21, r02, r12, r22
    if weights[WRX] == 0.0:
        a00, a01, a02, a10, a11, a12, a20, a21, a22 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    elif weights[WRZ] == 0.0:
        if r22 > -0.9999999:  # I + [v]× + [v]×² / (1 + cosine), with v = tip's z × z
            f = 1.0 / (1.0 + r22)
            a00, a01, a02 = 1.0 - f * r02 * r02, -f * r02 * r12, -r02
            a10, a11, a12 = -f * r02 * r12, 1.0 - f * r12 * r12, -r12
            a20, a21, a22 = r02, r12, r22
        else:  # antiparallel: half a turn about x
            a00, a01, a02 = 1.0, 0.0, 0.0
            a10, a11, a12, a20, a21, a22 = 0.0, -1.0, 0.0, 0.0, 0.0, -1.0
    return (
        a00, a01, a02, -(a00 * p0 + a01 * p1 + a02 * p2),
        a10, a11, a12, -(a10 * p0 + a11 * p1 + a12 * p2),
        a20, a21, a22, -(a20 * p0 + a21 * p1 + a22 * p2),
    )  # fmt: skip


@helper
def _begin_backward(
    weights: FloatArray, q: FloatArray, work: FloatArray, memory: int, tip: Frame
) -> Frame:
    """Save the start of a pass; return the motion that puts the tip on the target."""
    for k in range(q.shape[0]):
        work[k, START] = q[k]
    motion = _turn_to_target(weights, tip)
    # The forward pass needs the tip's orientation after this motion.
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = tip
    for r in range(3):
        x, y, z = motion[4 * r], motion[4 * r + 1], motion[4 * r + 2]
        work[memory, BACKWARD_ROTATION + 3 * r] = x * r00 + y * r10 + z * r20
        work[memory, BACKWARD_ROTATION + 3 * r + 1] = x * r01 + y * r11 + z * r21
        work[memory, BACKWARD_ROTATION + 3 * r + 2] = x * r02 + y * r12 + z * r22
    return motion


@helper
def _begin_forward(work: FloatArray, memory: int, tip: Frame) -> Frame:
    """Return the motion from the tip after the backward pass to the tip as the root has it."""
    b = work[memory, BACKWARD_ROTATION:]
    b00, b01, b02, b10, b11, b12 = b[0], b[1], b[2], b[3], b[4], b[5]
    b20, b21, b22 = b[6], b[7], b[8]
    r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = tip
    return (
        r00 * b00 + r01 * b01 + r02 * b02, r00 * b10 + r01 * b11 + r02 * b12,
        r00 * b20 + r01 * b21 + r02 * b22, p0,
        r10 * b00 + r11 * b01 + r12 * b02, r10 * b10 + r11 * b11 + r12 * b12,
        r10 * b20 + r11 * b21 + r12 * b22, p1,
        r20 * b00 + r21 * b01 + r22 * b02, r20 * b10 + r21 * b11 + r22 * b12,
        r20 * b20 + r21 * b21 + r22 * b22, p2,
    )  # fmt: skip


@helper
def _pose_errors(weights: FloatArray, tip: Frame, axis_only: bool) -> tuple[float, float]:
    """Return the distance [m] and 2 sin of half the angle [rad] of a frame target_T_tip."""
    if axis_only:
        e0, e1, e2 = axis_error(tip[2], tip[6], tip[10])
    else:
        e0, e1, e2 = rotation_error(tip)
    p0, p1, p2 = tip[3], tip[7], tip[11]
    return sqrt(p0 * p0 + p1 * p1 + p2 * p2), sqrt(e0 * e0 + e1 * e1 + e2 * e2)


@helper
def _save_positions(q: FloatArray, work: FloatArray, memory: int) -> None:
    """Save q as the present positions."""
    for k in range(q.shape[0]):
        work[memory + k, PLACE_NOW] = q[k]


@helper
def _restore_positions(q: FloatArray, work: FloatArray, memory: int) -> None:
    """Restore the present positions into q."""
    for k in range(q.shape[0]):
        q[k] = work[memory + k, PLACE_NOW]


@helper
def _begin_search(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray
) -> None:
    """Write the first start into q, and reset the state in `work`."""
    state = work[work.shape[0] - 1]
    state[START_NUMBER], state[PASS_COUNT], state[OUTWARDS], state[SEED_IS_NEAR] = (
        0.0,
        0.0,
        0.0,
        0.0,
    )
    state[PASS_LEAST], state[PASS_ALL_LEAST], state[PASS_STALLS] = np.inf, np.inf, 0.0
    begin_inside(chain.variables, seed, q)
    set_bounds(chain.variables, FREE_TURNS, work)
    keep_best(q, work)
    relate_to_target(chain.ends[0], goal.target, work, q.shape[0] + chain.joints.shape[0])


@helper
def _has_stalled(state: FloatArray, error: float) -> bool:
    """Count passes without progress; return whether there were too many."""
    if state[PASS_COUNT] == 0.0 and state[START_NUMBER] == 0.0:
        state[SEED_IS_NEAR] = 1.0 if error < NEAR_SEED_BELOW else 0.0
    state[PASS_STALLS] += 1.0
    if error < 0.5 * state[PASS_LEAST]:
        state[PASS_LEAST], state[PASS_STALLS] = error, 0.0
    return not state[PASS_STALLS] <= PASS_PATIENCE


@helper
def _begin_next(variables: FloatArray, q: FloatArray, work: FloatArray, restarts: int) -> bool:
    """Write the next start into q; return whether there is one.

    There is none after a seed near the target if the passes almost reached the solution next to it.
    """
    state = work[work.shape[0] - 1]
    if state[START_NUMBER] >= restarts:
        return False
    if state[SEED_IS_NEAR] != 0.0 and state[START_NUMBER] == 0.0 and state[PASS_LEAST] < SLOW_BELOW:
        return False
    state[START_NUMBER] += 1.0
    state[PASS_COUNT], state[PASS_LEAST], state[PASS_STALLS] = 0.0, np.inf, 0.0
    write_start(variables, int(state[START_NUMBER]), q)
    set_bounds(variables, FREE_TURNS, work)
    return True


@helper
def _store_error(
    goal: PoseGoal, q: FloatArray, work: FloatArray, tip: Frame
) -> tuple[float, float, float]:
    """Return the weighted squared error at q, the distance [m] and the angle [rad]; keep the best.

    Args:
        goal: The goal.
        q: (n,) [rad or m].
        work: Has the least error so far in its last row.
        tip: target_T_tip at q.
    """
    weights, state = goal.weights, work[work.shape[0] - 1]
    axis_only = weights[WRX] > 0.0 and weights[WRZ] == 0.0
    distance, angle = _pose_errors(weights, tip, axis_only)
    error = (weights[WX] * distance) ** 2 + (weights[WRX] * angle) ** 2
    if error < state[PASS_ALL_LEAST]:
        state[PASS_ALL_LEAST] = error
        keep_best(q, work)
    return error, distance, angle


@helper
def _make_pass(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, tip: Frame
) -> None:
    """Make the next pass, inwards or outwards in turn; extrapolate after an outward one."""
    memory, state = q.shape[0] + chain.joints.shape[0] + 2, work[work.shape[0] - 1]
    outwards, rotation_free = state[OUTWARDS] != 0.0, weights[WRX] == 0.0
    axis_only = weights[WRX] > 0.0 and weights[WRZ] == 0.0
    if outwards:
        motion = _begin_forward(work, memory, tip)
    else:
        motion = _begin_backward(weights, q, work, memory, tip)
    unit = 1.0 / weights[WX] ** 2
    course = Pass(outwards, 1.0 if outwards else -1.0, unit, axis_only, rotation_free)
    _pass_along(chain.joints, q, work, course, tip, motion)
    if outwards:
        _extrapolate(chain.variables, q, work, int(state[PASS_COUNT]))
        state[PASS_COUNT] += 1.0
    state[OUTWARDS] = 0.0 if outwards else 1.0


@jit
def solve_by_passes(
    chain: ChainFields, goal: GoalFields, seed: FloatArray, q: FloatArray, work: FloatArray,
    allowed: tuple[int, int, int],
) -> Found:  # fmt: skip
    """Run `search_by_passes` from Python, with the fields of its named tuples."""
    return search_by_passes(PackedChain(*chain), PoseGoal(*goal), seed, q, work, allowed)


@helper
def search_by_passes(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray,
    allowed: tuple[int, int, int],
) -> Found:  # fmt: skip
    """Pass backward and forward from the seed and from further starts, until a solution is proven.

    Args:
        chain: The chain.
        goal: The goal; its position counts, and nothing has a deadband.
        seed: (n,) [rad or m].
        q: (n,) result: the solution, or else the best of all starts [rad or m].
        work: (n + 2 m + 3, 12) workspace. Column PLACE_NOW has the positions after the last pass.
        allowed: Passes allowed in this call, backward and forward ones counted apart; 0, or GO_ON
            with `work` as the last call left it, where slices find the same as one call; number of
            the last start.

    Returns:
        DESCENT_REACHED; otherwise OUT_OF_REACH before any pass, DESCENT_SPENT, BAD_SEED or
        BAD_TARGET; DESCENT_STALLED at the last start, or near a seed from which no other start is
        made. Passes of this call, backward and forward ones counted apart; number of the last
        start; distance [m] and angle [rad] left at q.
    """
    refused = check_start(seed, goal.target)
    if refused != 0:
        return refused, 0, 0, np.inf, np.inf
    (half_passes, first, restarts), n = allowed, q.shape[0]
    memory, state = n + chain.joints.shape[0] + 2, work[work.shape[0] - 1]
    if first == GO_ON:
        _restore_positions(q, work, memory)
    else:
        _begin_search(chain, goal, seed, q, work)
    status, taken, error = DESCENT_SPENT + 0 * n, 0, np.inf  # of one type with what follows
    if is_out_of_reach(chain, goal):
        status, half_passes = OUT_OF_REACH + 0 * n, 0
    while True:
        tip = place(chain.joints, chain.ends[1], q, work, n)
        inwards = state[OUTWARDS] == 0.0
        if inwards:
            error, distance, angle = _store_error(goal, q, work, tip)
            if meets(goal, distance, angle):
                _save_positions(q, work, memory)
                take_shortest_turns(chain.variables, seed, q)
                proof, distance, angle = prove(chain, goal, q, work)
                if proof == DESCENT_REACHED:
                    return proof, taken, int(state[START_NUMBER]), distance, angle
                _restore_positions(q, work, memory)
        if taken >= half_passes:
            break
        if inwards and _has_stalled(state, error):
            if _begin_next(chain.variables, q, work, restarts):
                continue
            status = DESCENT_STALLED + 0 * n
            break
        _make_pass(chain, goal.weights, q, work, tip)
        taken += 1
    _save_positions(q, work, memory)
    go_back_to_best(q, work)
    take_shortest_turns(chain.variables, seed, q)
    distance, angle = measure(chain, goal, q, work)
    return status, taken, int(state[START_NUMBER]), distance, angle

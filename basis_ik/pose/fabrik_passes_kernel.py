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

"""FABRIK on the joints of a robot: backward and forward passes to a pose, inside the limits.

FABRIK (Aristidou and Lasenby 2011) has two passes over the joints' positions. The backward pass
puts the tip on the target and goes down the chain; each joint lets what lies below it come as near
as it can to where it was. That leaves the root away from its place. The forward pass puts it back
and goes up the chain; each joint brings what lies above it as near as it can to where the backward
pass had it.

Ball joints need the next joint's position for that alone. A hinge has one angle, a slide one
length, and a mimic joint none of its own. So each takes the value that is best, by least squares,
for the positions of all joints on the side that moves, and for the orientation of the link at the
end of it: a closed form, clamped to the limits. What moves is rigid meanwhile, so the positions
enter by their moments alone, and a pass is linear in the number of joints.

Passes converge linearly, on arms slowly. They are therefore extrapolated from the last few of them
(Anderson 1965), and a start that they do not lead anywhere from is given up for the next one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.search.descent_kernel import LARGEST_STEP, REACHED, SPENT, STALLED, place
from basis_ik.search.hinge_fit_kernel import (
    ORIENTATION_MOMENT,
    axis_of,
    clamp_turn,
    fit_turn,
    moved,
    point_of,
    rough_angle,
    turned_first,
)
from basis_ik.search.pose_error_kernel import axis_error, rotation_error, sine_cosine
from basis_ik.search.pose_search_kernel import (
    FREE_TURNS,
    GO_ON,
    OUT_OF_REACH,
    Found,
    begin_anew,
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
)
from basis_ik.search.tables_kernel import (
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

PATIENCE = 5.0  # passes that may fail to halve the squared error
NEARBY = 0.04  # weighted squared error of a seed that is to end at the solution next to it
CRAWL = 1e-5  # below it passes that no longer pay are near a solution: a descent gets there
DEPTH = 3  # passes that the extrapolation looks back on
LEVER = 1e-9  # of the square of a length: where no more lies beside its axis, a hinge stays
EVEN = 3e-4  # of the squared length of a difference: keeps apart differences that are alike

# Columns of the first n rows of `work`, besides those of `tables_kernel`.
CHANGES, ANSWERS = 0, DEPTH  # of the pass's start and of what the pass adds, three columns each
PASS_START, PASS_ADDED = 6, 7  # of the pass before
# Columns of the n rows from row n + m + 2 on.
BEFORE, NOW = 0, 1
TURNED = 2  # and the eight behind it, in the first of these rows: the tip in the backward pass
# Columns of the last row: where the passes stand. A call in slices goes on from it.
FRESH, PASSES, OUTWARDS, LEAST, ALL_LEAST, STALLS, NEARBY_SEED = range(7)


class Pass(NamedTuple):
    """A pass along the chain."""

    outwards: bool
    """Whether it goes from the root to the tip."""
    sign: float
    """1 if it does, else -1."""
    unit: float
    """The square of the chain's unit of length [m²]."""
    spins: bool
    """Whether the tip may turn freely about its z."""
    free: bool
    """Whether it may turn freely."""


class Moments(NamedTuple):
    """Of points x: their number, Σ x, and the six different numbers of Σ x xᵀ."""

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
    """Return moments with a point added, times 1, or taken away, times -1."""
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
    """Return the moments of all joints, and of the body at the end of what moves.

    That is the tip, or the root at the place of the first joint, with three directions for its
    orientation, or one where it may turn about that.
    """
    moment = 0.0 if course.outwards and course.free else ORIENTATION_MOMENT * course.unit
    none = (0.0, 0.0, 0.0)
    moments = Moments(0.0, none, moment, 0.0, 0.0, moment, 0.0, moment)
    if course.outwards:
        x, y, z = tip[2], tip[6], tip[10]
        if course.spins:
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
def _share(joints: FloatArray, i: int) -> float:
    """Return what part a joint has in its variable: joints that share one ask for as much each."""
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
    """Turn a hinge to the best angle that its bounds allow; return the motion beyond it."""
    n, turn, k = q.shape[0], joints[i, TURN], int(joints[i, DRIVER])
    point, axis = point_of(work, n + i), axis_of(work, n + i)
    about, offsets = _about(moments, point)
    across, along = fit_turn(about, offsets, moved(motion, point), motion, axis)
    if max(abs(across), abs(along)) > LEVER * course.unit:
        wanted = q[k] + course.sign * _share(joints, i) * rough_angle(across, along) / turn
        q[k] = clamp_turn(wanted, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    before = work[n + joints.shape[0] + 2 + k, BEFORE]
    s, c = sine_cosine(course.sign * turn * (q[k] - before))
    return turned_first(motion, axis, s, c, point)


@inlined
def _slide_joint(
    joints: FloatArray, i: int, q: FloatArray, work: FloatArray, course: Pass, moments: Moments,
    motion: Frame,
) -> Frame:  # fmt: skip
    """Slide a joint to the best length that its bounds allow; return the motion beyond it."""
    n, slide, k = q.shape[0], joints[i, SLIDE], int(joints[i, DRIVER])
    a00, a01, a02, t0, a10, a11, a12, t1, a20, a21, a22, t2 = motion
    (z0, z1, z2), count, (sx, sy, sz) = axis_of(work, n + i), moments.number, moments.sums
    u0 = a00 * z0 + a01 * z1 + a02 * z2
    u1 = a10 * z0 + a11 * z1 + a12 * z2
    u2 = a20 * z0 + a21 * z1 + a22 * z2
    d0 = sx - (a00 * sx + a01 * sy + a02 * sz) - count * t0
    d1 = sy - (a10 * sx + a11 * sy + a12 * sz) - count * t1
    d2 = sz - (a20 * sx + a21 * sy + a22 * sz) - count * t2
    asked = course.sign * _share(joints, i) * (d0 * u0 + d1 * u1 + d2 * u2)
    wanted = q[k] + asked / (count * slide)
    q[k] = moved_inside(q[k], wanted, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    away = course.sign * slide * (q[k] - work[n + joints.shape[0] + 2 + k, BEFORE])
    return (
        a00, a01, a02, t0 + away * u0,
        a10, a11, a12, t1 + away * u1,
        a20, a21, a22, t2 + away * u2,
    )  # fmt: skip


@helper
def _pass_along(
    joints: FloatArray, q: FloatArray, work: FloatArray, course: Pass, tip: Frame, motion: Frame
) -> None:
    """Let each joint in turn bring what lies beyond it as near as it can to where it should be.

    Args:
        joints: (m, 12), see `tables_kernel`.
        q: (n,) where the joints are, as `place` saw them, and result.
        work: (n + 2 m + 3, 12), as `place` left it, with bounds in columns 9-10 of the first n.
        course: Which way to go.
        tip: target_T_tip, as `place` returned it.
        motion: What takes all that lies beyond from where it should be to where it is.
    """
    n, m = q.shape[0], joints.shape[0]
    for k in range(n):
        work[n + m + 2 + k, BEFORE] = q[k]
    moments = _moments_of_all(work, n, m, course, tip)
    for step in range(m):
        i = step if course.outwards else m - 1 - step
        point = point_of(work, n + i)
        if course.outwards:  # a joint's position is fixed to the link below it
            moments = _with_point(moments, point, -1.0)
        if joints[i, TURN] != 0.0:
            motion = _turn_joint(joints, i, q, work, course, moments, motion)
        elif joints[i, SLIDE] != 0.0:
            motion = _slide_joint(joints, i, q, work, course, moments, motion)
        if not course.outwards:
            moments = _with_point(moments, point, -1.0)


@helper
def _note_pass(variables: FloatArray, q: FloatArray, work: FloatArray, passes: int) -> bool:
    """Keep by how much a pass started elsewhere than the one before it, and added something else.

    Both are scaled so that what it added otherwise has length 1.

    Args:
        variables: (n, 8 + s).
        q: (n,) where the pass ended.
        work: Its first n rows.
        passes: How many this start has had before this one.

    Returns:
        Whether there is anything to extrapolate from.
    """
    n, slot = variables.shape[0], (passes - 1) % DEPTH if passes > 0 else 0
    square = 0.0
    for k in range(n):
        start = work[k, START] / variables[k, SCALE]
        added = (q[k] - work[k, START]) / variables[k, SCALE]
        if passes > 0:
            work[k, CHANGES + slot] = start - work[k, PASS_START]
            work[k, ANSWERS + slot] = added - work[k, PASS_ADDED]
            square += work[k, ANSWERS + slot] ** 2
        else:
            for j in range(2 * DEPTH):
                work[k, j] = 0.0
        work[k, PASS_START], work[k, PASS_ADDED] = start, added
    if not square > 0.0:
        return False
    length = sqrt(square)
    for k in range(n):
        work[k, CHANGES + slot] /= length
        work[k, ANSWERS + slot] /= length
    return True


@helper
def _combination(work: FloatArray, n: int) -> Triple:
    """Return the factors of the last differences that leave the least of what a pass adds.

    By the normal equations of three unit differences, of which some may still be 0.
    """
    g01, g02, g12, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        d0, d1, d2 = work[k, ANSWERS], work[k, ANSWERS + 1], work[k, ANSWERS + 2]
        added = work[k, PASS_ADDED]
        g01, g02, g12 = g01 + d0 * d1, g02 + d0 * d2, g12 + d1 * d2
        b0, b1, b2 = b0 + d0 * added, b1 + d1 * added, b2 + d2 * added
    one = 1.0 + EVEN
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
    """Move q from where a pass ended to where such passes seem to lead (Anderson 1965).

    What a pass adds is to be 0. Of the last few passes it is known how much less was added from
    where, so the combination of their starts is taken from which, linearly, least would be added.

    Args:
        variables: (n, 8 + s).
        q: (n,) where the pass ended, and result.
        work: Its first n rows.
        passes: How many this start has had before this one.
    """
    if not _note_pass(variables, q, work, passes):
        return
    n = variables.shape[0]
    c0, c1, c2 = _combination(work, n)
    largest = 0.0
    for k in range(n):
        step = work[k, PASS_ADDED]
        step -= c0 * (work[k, CHANGES] + work[k, ANSWERS])
        step -= c1 * (work[k, CHANGES + 1] + work[k, ANSWERS + 1])
        step -= c2 * (work[k, CHANGES + 2] + work[k, ANSWERS + 2])
        q[k] = step
        largest = max(largest, abs(step))
    factor = 1.0 if largest <= LARGEST_STEP else LARGEST_STEP / largest
    for k in range(n):
        there = work[k, START] + factor * variables[k, SCALE] * q[k]
        q[k] = moved_inside(work[k, START], there, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@helper
def _turn_to_target(weights: FloatArray, tip: Frame) -> Frame:
    """Return the turn and shift that puts the tip on the target, as far as it is told.

    The whole orientation, or that of the tip's z by the smallest turn, or none.
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
        else:  # antiparallel: half a turn about x will do
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
    """Keep where a pass starts; return the motion that puts the tip on the target.

    The tip's orientation after it is kept for the forward pass.
    """
    for k in range(q.shape[0]):
        work[k, START] = q[k]
    motion = _turn_to_target(weights, tip)
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = tip
    for r in range(3):
        x, y, z = motion[4 * r], motion[4 * r + 1], motion[4 * r + 2]
        work[memory, TURNED + 3 * r] = x * r00 + y * r10 + z * r20
        work[memory, TURNED + 3 * r + 1] = x * r01 + y * r11 + z * r21
        work[memory, TURNED + 3 * r + 2] = x * r02 + y * r12 + z * r22
    return motion


@helper
def _begin_forward(work: FloatArray, memory: int, tip: Frame) -> Frame:
    """Return the motion from where the backward pass had the tip to where it is by the root."""
    b = work[memory, TURNED:]
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
def _left(weights: FloatArray, tip: Frame, spins: bool) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad], by its sine, of a frame target_T_tip."""
    if spins:
        e0, e1, e2 = axis_error(tip[2], tip[6], tip[10])
    else:
        e0, e1, e2 = rotation_error(tip)
    p0, p1, p2 = tip[3], tip[7], tip[11]
    return sqrt(p0 * p0 + p1 * p1 + p2 * p2), sqrt(e0 * e0 + e1 * e1 + e2 * e2)


@helper
def _keep_now(q: FloatArray, work: FloatArray, memory: int) -> None:
    """Keep q as where the joints are."""
    for k in range(q.shape[0]):
        work[memory + k, NOW] = q[k]


@helper
def _go_back_to_now(q: FloatArray, work: FloatArray, memory: int) -> None:
    """Write where the joints are into q."""
    for k in range(q.shape[0]):
        q[k] = work[memory + k, NOW]


@helper
def _begin_search(
    chain: PackedChain, goal: PoseGoal, seed: FloatArray, q: FloatArray, work: FloatArray
) -> None:
    """Write the first start into q, and what passes read into `work`."""
    state = work[work.shape[0] - 1]
    state[FRESH], state[PASSES], state[OUTWARDS], state[NEARBY_SEED] = 0.0, 0.0, 0.0, 0.0
    state[LEAST], state[ALL_LEAST], state[STALLS] = np.inf, np.inf, 0.0
    begin_inside(chain.variables, seed, q)
    set_bounds(chain.variables, FREE_TURNS, work)
    keep_best(q, work)
    relate_to_target(chain.ends[0], goal.target, work, q.shape[0] + chain.joints.shape[0])


@helper
def _stalls(state: FloatArray, error: float) -> bool:
    """Count the passes that do not get on; return whether there were too many of them."""
    if state[PASSES] == 0.0 and state[FRESH] == 0.0:
        state[NEARBY_SEED] = 1.0 if error < NEARBY else 0.0
    state[STALLS] += 1.0
    if error < 0.5 * state[LEAST]:
        state[LEAST], state[STALLS] = error, 0.0
    return not state[STALLS] <= PATIENCE


@helper
def _begin_next(variables: FloatArray, q: FloatArray, work: FloatArray, restarts: int) -> bool:
    """Write the next start into q; return whether there is one.

    There is none after a seed that is to end at the solution next to it, and has nearly.
    """
    state = work[work.shape[0] - 1]
    if state[FRESH] >= restarts:
        return False
    if state[NEARBY_SEED] != 0.0 and state[FRESH] == 0.0 and state[LEAST] < CRAWL:
        return False
    state[FRESH] += 1.0
    state[PASSES], state[LEAST], state[STALLS] = 0.0, np.inf, 0.0
    begin_anew(variables, int(state[FRESH]), q)
    set_bounds(variables, FREE_TURNS, work)
    return True


@helper
def _note_error(
    goal: PoseGoal, q: FloatArray, work: FloatArray, tip: Frame
) -> tuple[float, float, float]:
    """Return the weighted squared error at q, the distance [m] and the angle [rad]; keep the best.

    Args:
        goal: What to reach.
        q: (n,).
        work: Its last row has the least error so far.
        tip: target_T_tip at q.
    """
    weights, state = goal.weights, work[work.shape[0] - 1]
    spins = weights[WRX] > 0.0 and weights[WRZ] == 0.0
    away, turned = _left(weights, tip, spins)
    error = (weights[WX] * away) ** 2 + (weights[WRX] * turned) ** 2
    if error < state[ALL_LEAST]:
        state[ALL_LEAST] = error
        keep_best(q, work)
    return error, away, turned


@helper
def _make_pass(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, tip: Frame
) -> None:
    """Pass along the chain once, outwards if the last pass was not; extrapolate after these."""
    memory, state = q.shape[0] + chain.joints.shape[0] + 2, work[work.shape[0] - 1]
    outwards, free = state[OUTWARDS] != 0.0, weights[WRX] == 0.0
    spins = weights[WRX] > 0.0 and weights[WRZ] == 0.0
    if outwards:
        motion = _begin_forward(work, memory, tip)
    else:
        motion = _begin_backward(weights, q, work, memory, tip)
    unit = 1.0 / weights[WX] ** 2
    course = Pass(outwards, 1.0 if outwards else -1.0, unit, spins, free)
    _pass_along(chain.joints, q, work, course, tip, motion)
    if outwards:
        _extrapolate(chain.variables, q, work, int(state[PASSES]))
        state[PASSES] += 1.0
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
    """Pass backward and forward from the seed, then from fresh starts, until it is proven to reach.

    Args:
        chain: The chain.
        goal: What to reach; the position counts, and nothing has a deadband.
        seed: (n,).
        q: (n,) result: what reached the target, else the best of all starts.
        work: (n + 2 m + 3, 12).
        allowed: Passes allowed in this call, backward and forward ones counted apart; 0, or GO_ON
            with `work` as the last call left it: passes in slices find what they find in one;
            number of the last start. Column NOW of `work` says where the joints are after the last
            pass.

    Returns:
        REACHED; else OUT_OF_REACH before any pass; SPENT; STALLED at the last start, or from a seed
        near the target so near to it that no other start is made; BAD_SEED or BAD_TARGET.
        Passes of this call, backward and forward ones counted apart; number of the last start;
        distance [m] and angle [rad] left at q.
    """
    refused = check_start(seed, goal.target)
    if refused != 0:
        return refused, 0, 0, np.inf, np.inf
    (halves, first, restarts), n = allowed, q.shape[0]
    memory, state = n + chain.joints.shape[0] + 2, work[work.shape[0] - 1]
    if first == GO_ON:
        _go_back_to_now(q, work, memory)
    else:
        _begin_search(chain, goal, seed, q, work)
    status, taken, error = SPENT + 0 * n, 0, np.inf  # of one type with what follows
    if is_out_of_reach(chain, goal):
        status, halves = OUT_OF_REACH + 0 * n, 0
    while True:
        tip = place(chain.joints, chain.ends[1], q, work, n)
        inwards = state[OUTWARDS] == 0.0
        if inwards:
            error, away, turned = _note_error(goal, q, work, tip)
            if meets(goal, away, turned):
                _keep_now(q, work, memory)
                take_shortest_turns(chain.variables, seed, q)
                proof, away, turned = prove(chain, goal, q, work)
                if proof == REACHED:
                    return proof, taken, int(state[FRESH]), away, turned
                _go_back_to_now(q, work, memory)
        if taken >= halves:
            break
        if inwards and _stalls(state, error):
            if _begin_next(chain.variables, q, work, restarts):
                continue
            status = STALLED + 0 * n
            break
        _make_pass(chain, goal.weights, q, work, tip)
        taken += 1
    _keep_now(q, work, memory)
    go_back_to_best(q, work)
    take_shortest_turns(chain.variables, seed, q)
    away, turned = measure(chain, goal, q, work)
    return status, taken, int(state[FRESH]), away, turned

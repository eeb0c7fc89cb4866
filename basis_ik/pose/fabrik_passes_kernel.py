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

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.descent_kernel import LARGEST_STEP, REACHED, SPENT, STALLED, place
from basis_ik.search.fabrik_sweep_kernel import ORIENTATION_MOMENT, clamp_turn, rough_angle
from basis_ik.search.pose_error_kernel import axis_error, rotation_error, sine_cosine
from basis_ik.search.pose_search_kernel import (
    BAD_SEED,
    BAD_TARGET,
    FREE_TURNS,
    GO_ON,
    LARGEST_ANGLE,
    OUT_OF_REACH,
    begin_anew,
    begin_inside,
    is_sound,
    relate_to_target,
    set_bounds,
    take_shortest_turns,
)
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly
from basis_ik.search.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    BEST,
    BOUND_LOWER,
    BOUND_UPPER,
    DRIVER,
    IS_ONLY,
    POINT_X,
    POINT_Y,
    POINT_Z,
    SCALE,
    SLIDE,
    START,
    TURN,
    WRX,
    WRZ,
    WX,
)

FloatArray = NDArray[np.float64]

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
# Columns of the last row, where passes in slices keep where they stand.
FRESH, PASSES, OUTWARDS, LEAST, ALL_LEAST, STALLS, NEARBY_SEED = range(7)

Twelve = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip


@helper
def _pass_along(
    joints: FloatArray, q: FloatArray, work: FloatArray, n: int, outwards: bool, unit: float,
    spins: bool, free: bool, tip: Twelve, e: Twelve,
) -> None:  # fmt: skip
    """Let each joint in turn bring what lies beyond it as near as it can to where it should be.

    Args:
        joints: (m, 12), see `tables_kernel`.
        q: (n,) where the joints are, as `place` saw them, and result.
        work: (n + 2 m + 3, 12), as `place` left it, with bounds in columns 9-10 of the first n.
        n: Number of variables.
        outwards: Whether the pass goes from the root to the tip.
        unit: The square of the chain's unit of length [m²].
        spins: Whether the tip may turn freely about its z.
        free: Whether it may turn freely.
        tip: target_T_tip by rows, as `place` returned it.
        e: (3, 4) by rows: takes what lies beyond from where it should be to where it is.
    """
    m = joints.shape[0]
    memory, moment = n + m + 2, 0.0 if outwards and free else ORIENTATION_MOMENT * unit
    r02, p0, r12, p1, r22, p2 = tip[2], tip[3], tip[6], tip[7], tip[10], tip[11]
    a00, a01, a02, t0, a10, a11, a12, t1, a20, a21, a22, t2 = e
    # Moments of all positions x beyond: count, Σ x, Σ x xᵀ. At the end of the chain lies a body:
    # the tip, or the root at the place of the first joint, with three directions for orientation.
    x, y, z = work[n, POINT_X], work[n, POINT_Y], work[n, POINT_Z]
    mxx, myy, mzz, mxy, mxz, myz = moment, moment, moment, 0.0, 0.0, 0.0
    if outwards:
        x, y, z = p0, p1, p2
        if spins:
            mxx, mxy, mxz = moment * r02 * r02, moment * r02 * r12, moment * r02 * r22
            myy, myz, mzz = moment * r12 * r12, moment * r12 * r22, moment * r22 * r22
    count, sx, sy, sz = 1.0, x, y, z
    mxx, mxy, mxz = mxx + x * x, mxy + x * y, mxz + x * z
    myy, myz, mzz = myy + y * y, myz + y * z, mzz + z * z
    for i in range(m):
        x, y, z = work[n + i, POINT_X], work[n + i, POINT_Y], work[n + i, POINT_Z]
        count, sx, sy, sz = count + 1.0, sx + x, sy + y, sz + z
        mxx, mxy, mxz = mxx + x * x, mxy + x * y, mxz + x * z
        myy, myz, mzz = myy + y * y, myz + y * z, mzz + z * z
    for k in range(n):
        work[memory + k, BEFORE] = q[k]
    sign = 1.0 if outwards else -1.0
    for step in range(m):
        i = step if outwards else m - 1 - step
        x, y, z = work[n + i, POINT_X], work[n + i, POINT_Y], work[n + i, POINT_Z]
        if outwards:  # a joint's position is fixed to the link below it
            count, sx, sy, sz = count - 1.0, sx - x, sy - y, sz - z
            mxx, mxy, mxz = mxx - x * x, mxy - x * y, mxz - x * z
            myy, myz, mzz = myy - y * y, myz - y * z, mzz - z * z
        z0, z1, z2 = work[n + i, AXIS_X], work[n + i, AXIS_Y], work[n + i, AXIS_Z]
        turn, slide, k = joints[i, TURN], joints[i, SLIDE], int(joints[i, DRIVER])
        share = 1.0
        if joints[i, IS_ONLY] == 0.0:  # others move along: each asks for its part of what it wants
            share = 0.0
            for j in range(m):
                share += 1.0 if int(joints[j, DRIVER]) == k else 0.0
            share = 1.0 / share
        if turn != 0.0:
            h0 = a00 * x + a01 * y + a02 * z + t0
            h1 = a10 * x + a11 * y + a12 * z + t1
            h2 = a20 * x + a21 * y + a22 * z + t2
            # N = Σ d (x − h)ᵀ A, with d from the axis: the turn W has the greatest tr(W N).
            d0, d1, d2 = sx - count * x, sy - count * y, sz - count * z
            e00, e01, e02 = mxx - x * sx - d0 * h0, mxy - x * sy - d0 * h1, mxz - x * sz
            e10, e11, e12 = mxy - y * sx - d1 * h0, myy - y * sy - d1 * h1, myz - y * sz
            e20, e21, e22 = mxz - z * sx - d2 * h0, myz - z * sy - d2 * h1, mzz - z * sz
            e02, e12, e22 = e02 - d0 * h2, e12 - d1 * h2, e22 - d2 * h2
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
            if max(abs(across), abs(along)) > LEVER * unit:
                wanted = q[k] + sign * share * rough_angle(across, along) / turn
                q[k] = clamp_turn(wanted, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
            s, c = sine_cosine(sign * turn * (q[k] - work[memory + k, BEFORE]))
            v = 1.0 - c
            w00, w01, w02 = c + v * z0 * z0, v * z0 * z1 - s * z2, v * z0 * z2 + s * z1
            w10, w11, w12 = v * z0 * z1 + s * z2, c + v * z1 * z1, v * z1 * z2 - s * z0
            w20, w21, w22 = v * z0 * z2 - s * z1, v * z1 * z2 + s * z0, c + v * z2 * z2
            a00, a01, a02 = (
                a00 * w00 + a01 * w10 + a02 * w20,
                a00 * w01 + a01 * w11 + a02 * w21,
                a00 * w02 + a01 * w12 + a02 * w22,
            )
            a10, a11, a12 = (
                a10 * w00 + a11 * w10 + a12 * w20,
                a10 * w01 + a11 * w11 + a12 * w21,
                a10 * w02 + a11 * w12 + a12 * w22,
            )
            a20, a21, a22 = (
                a20 * w00 + a21 * w10 + a22 * w20,
                a20 * w01 + a21 * w11 + a22 * w21,
                a20 * w02 + a21 * w12 + a22 * w22,
            )
            t0 = h0 - (a00 * x + a01 * y + a02 * z)
            t1 = h1 - (a10 * x + a11 * y + a12 * z)
            t2 = h2 - (a20 * x + a21 * y + a22 * z)
        elif slide != 0.0:
            u0 = a00 * z0 + a01 * z1 + a02 * z2
            u1 = a10 * z0 + a11 * z1 + a12 * z2
            u2 = a20 * z0 + a21 * z1 + a22 * z2
            d0 = sx - (a00 * sx + a01 * sy + a02 * sz) - count * t0
            d1 = sy - (a10 * sx + a11 * sy + a12 * sz) - count * t1
            d2 = sz - (a20 * sx + a21 * sy + a22 * sz) - count * t2
            wanted = q[k] + sign * share * (d0 * u0 + d1 * u1 + d2 * u2) / (count * slide)
            q[k] = moved_inside(q[k], wanted, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
            moved = sign * slide * (q[k] - work[memory + k, BEFORE])
            t0, t1, t2 = t0 + moved * u0, t1 + moved * u1, t2 + moved * u2
        if not outwards:
            count, sx, sy, sz = count - 1.0, sx - x, sy - y, sz - z
            mxx, mxy, mxz = mxx - x * x, mxy - x * y, mxz - x * z
            myy, myz, mzz = myy - y * y, myz - y * z, mzz - z * z


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
    n = variables.shape[0]
    slot = (passes - 1) % DEPTH if passes > 0 else 0
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
        return
    length = sqrt(square)
    # The normal equations of three unit differences, of which some may still be 0.
    g01, g02, g12, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        work[k, CHANGES + slot] /= length
        work[k, ANSWERS + slot] /= length
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
    c0 = b0 / one - l10 * c1 - l20 * c2
    largest = 0.0
    for k in range(n):
        moved = work[k, PASS_ADDED]
        moved -= c0 * (work[k, CHANGES] + work[k, ANSWERS])
        moved -= c1 * (work[k, CHANGES + 1] + work[k, ANSWERS + 1])
        moved -= c2 * (work[k, CHANGES + 2] + work[k, ANSWERS + 2])
        q[k] = moved
        largest = max(largest, abs(moved))
    factor = 1.0 if largest <= LARGEST_STEP else LARGEST_STEP / largest
    for k in range(n):
        moved = work[k, START] + factor * variables[k, SCALE] * q[k]
        q[k] = moved_inside(work[k, START], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@helper
def _turn_to_target(weights: FloatArray, tip: Twelve) -> Twelve:
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


@jit
def solve_by_passes(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    reach: float,
    weights: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    q: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    halves: int,
    first: int,
    restarts: int,
) -> tuple[int, int, int, float, float]:
    """Pass backward and forward from the seed, then from fresh starts, until it is proven to reach.

    Python calls it with the fields of a `PackedChain` one by one.

    Args:
        exact: (m + 1, 16), see `tables_kernel`.
        joints: (m, 12), see there.
        variables: (n, 8 + s), see there.
        ends: (2, 3, 4): root_T_first_joint, last_joint_T_tip.
        reach: No tip is farther than this from the first joint [m].
        weights: (12,), see `tables_kernel`; the position counts, and nothing has tolerances.
        target: (4, 4) root_T_target.
        seed: (n,).
        q: (n,) result: what reached the target, else the best of all starts.
        work: (n + 2 m + 3, 12).
        position_tolerance: [m].
        rotation_tolerance: [rad].
        halves: Passes allowed in this call, backward and forward ones counted apart.
        first: 0, or GO_ON with `work` as the last call left it: passes in slices find what they
            find in one. Column NOW of `work` says where the joints are after the last of them.
        restarts: Number of the last start.

    Returns:
        REACHED; else OUT_OF_REACH before any pass; SPENT; STALLED at the last start, or from a seed
        near the target so near to it that no other start is made; BAD_SEED or BAD_TARGET.
        Passes of this call, backward and forward ones counted apart; number of the last start;
        distance [m] and angle [rad] left at q.
    """
    n, m = variables.shape[0], joints.shape[0]
    last, memory, end = n + m, n + m + 2, n + 2 * m + 2
    for k in range(n):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED, 0, 0, np.inf, np.inf
    if not is_sound(target):
        return BAD_TARGET, 0, 0, np.inf, np.inf
    frame, tip = work[last + 1].reshape((3, 4)), ends[1]
    free_r, spins = weights[WRX] == 0.0, weights[WRX] > 0.0 and weights[WRZ] == 0.0
    unit = 1.0 / weights[WX] ** 2
    far = 0.0
    for r in range(3):
        far += (target[r, 3] - ends[0, r, 3]) ** 2
    fresh, passes, taken, outwards, nearby = 0, 0, 0, False, False
    least, all_least, stalls = np.inf, np.inf, 0.0
    status = SPENT + 0 * n  # of one type with what follows
    if first == GO_ON:
        fresh, passes = int(work[end, FRESH]), int(work[end, PASSES])
        outwards, nearby = work[end, OUTWARDS] != 0.0, work[end, NEARBY_SEED] != 0.0
        least, all_least, stalls = work[end, LEAST], work[end, ALL_LEAST], work[end, STALLS]
        for k in range(n):
            q[k] = work[memory + k, NOW]
    else:
        begin_inside(variables, seed, q)
        set_bounds(variables, FREE_TURNS, work)
        for k in range(n):
            work[k, BEST] = q[k]
        relate_to_target(ends[0], target, work, last)
    if sqrt(far) > reach + position_tolerance:
        status = OUT_OF_REACH + 0 * n
    while True:
        tip_now = place(joints, tip, q, work, n)
        r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = tip_now
        if not outwards:
            if spins:
                e0, e1, e2 = axis_error(r02, r12, r22)
            else:
                e0, e1, e2 = rotation_error(tip_now)
            away, turned = sqrt(p0 * p0 + p1 * p1 + p2 * p2), sqrt(e0 * e0 + e1 * e1 + e2 * e2)
            error = (weights[WX] * away) ** 2 + (weights[WRX] * turned) ** 2
            if error < all_least:
                all_least = error
                for k in range(n):
                    work[k, BEST] = q[k]
            if away <= position_tolerance and (free_r or turned <= rotation_tolerance):
                for k in range(n):
                    work[memory + k, NOW] = q[k]
                take_shortest_turns(variables, seed, q)
                place_exactly(exact, q, frame)
                away, turned = distance_and_angle(frame, target, weights)
                if away <= position_tolerance and (free_r or turned <= rotation_tolerance):
                    return REACHED, taken, fresh, away, turned
                for k in range(n):
                    q[k] = work[memory + k, NOW]
            if status == OUT_OF_REACH or taken >= halves:
                break
            if passes == 0 and fresh == 0:
                nearby = error < NEARBY
            stalls += 1.0
            if error < 0.5 * least:
                least, stalls = error, 0.0
            if not stalls <= PATIENCE:
                if fresh >= restarts or (nearby and fresh == 0 and least < CRAWL):
                    status = STALLED + 0 * n
                    break
                fresh += 1
                passes, least, stalls = 0, np.inf, 0.0
                begin_anew(variables, fresh, q)
                set_bounds(variables, FREE_TURNS, work)
                continue
            for k in range(n):
                work[k, START] = q[k]
            e = _turn_to_target(weights, tip_now)
            # Where the tip's orientation is, or will be, after the shift to the target.
            for r in range(3):
                x, y, z = e[4 * r], e[4 * r + 1], e[4 * r + 2]
                work[memory, TURNED + 3 * r] = x * r00 + y * r10 + z * r20
                work[memory, TURNED + 3 * r + 1] = x * r01 + y * r11 + z * r21
                work[memory, TURNED + 3 * r + 2] = x * r02 + y * r12 + z * r22
        elif taken >= halves:
            break
        else:
            b = work[memory, TURNED:]
            b00, b01, b02, b10, b11, b12 = b[0], b[1], b[2], b[3], b[4], b[5]
            b20, b21, b22 = b[6], b[7], b[8]
            e = (
                r00 * b00 + r01 * b01 + r02 * b02, r00 * b10 + r01 * b11 + r02 * b12,
                r00 * b20 + r01 * b21 + r02 * b22, p0,
                r10 * b00 + r11 * b01 + r12 * b02, r10 * b10 + r11 * b11 + r12 * b12,
                r10 * b20 + r11 * b21 + r12 * b22, p1,
                r20 * b00 + r21 * b01 + r22 * b02, r20 * b10 + r21 * b11 + r22 * b12,
                r20 * b20 + r21 * b21 + r22 * b22, p2,
            )  # fmt: skip
        _pass_along(joints, q, work, n, outwards, unit, spins, free_r, tip_now, e)
        taken += 1
        if outwards:
            _extrapolate(variables, q, work, passes)
            passes += 1
        outwards = not outwards
    work[end, FRESH], work[end, PASSES] = fresh, passes
    work[end, OUTWARDS] = 1.0 if outwards else 0.0
    work[end, NEARBY_SEED] = 1.0 if nearby else 0.0
    work[end, LEAST], work[end, ALL_LEAST], work[end, STALLS] = least, all_least, stalls
    for k in range(n):
        work[memory + k, NOW] = q[k]
        q[k] = work[k, BEST]
    take_shortest_turns(variables, seed, q)
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    return status, taken, fresh, away, turned

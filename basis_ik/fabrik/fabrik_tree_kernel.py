# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on trees of bones with rotations, where limits hold in both passes.

Every bone has a rotation, which hinges and twists need. The backward pass goes from the end
effectors to the root, and turns each bone as far towards its new place as the joints to its
children allow. The forward pass goes from the root outwards, and turns each bone as far as the
joint to its parent allows. It ends in a pose within every limit and keeps every bone's length.
Where branches meet (a sub-base), the backward pass goes on from the centroid of their proposals
(Aristidou & Lasenby 2011, on several end effectors). Both ends of a loop go to the point between.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.fabrik.skeleton_kernel import (
    Accuracy,
    Goals,
    IntArray,
    Skeleton,
    align_bone,
    copy,
    errors,
    load,
    store,
)
from basis_ik.fabrik.swing_twist_kernel import (
    GREATEST_TWIST,
    HINGE_JOINT,
    LEAST_TWIST,
    Quaternion,
    Vector,
    about,
    clamp_angle,
    clamp_joint,
    conjugate,
    hinge_angle,
    multiply,
    rotate,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

# A round of so many sweeps is followed by another if it leaves less than this part of the error.
_ROUND_SWEEPS = 5
_ROUND_GAIN = 0.3


@helper
def _fitted(axis: FloatArray, bone: Vector, wanted: Vector, otherwise: float) -> float:
    """Angle [rad] about an axis that brings a bone nearest to a direction."""
    n0, n1, n2 = axis[0], axis[1], axis[2]
    along = (bone[0] * n0 + bone[1] * n1 + bone[2] * n2) * (
        wanted[0] * n0 + wanted[1] * n1 + wanted[2] * n2
    )
    cosine = bone[0] * wanted[0] + bone[1] * wanted[1] + bone[2] * wanted[2] - along
    sine = (
        n0 * (bone[1] * wanted[2] - bone[2] * wanted[1])
        + n1 * (bone[2] * wanted[0] - bone[0] * wanted[2])
        + n2 * (bone[0] * wanted[1] - bone[1] * wanted[0])
    )
    if cosine == 0.0 and sine == 0.0:
        return otherwise
    return math.atan2(sine, cosine)


@helper
def _hinged(
    s: Skeleton, j: int, bone: Vector, wanted: Vector, turn: Quaternion, sense: float
) -> Quaternion:
    """Rotation about joint j's hinge, within its bounds, that brings a bone nearest to a direction.

    Args:
        s: The tree.
        j: The joint's bone.
        bone: At rest, in the coordinates of what does not move.
        wanted: Where it is to point, likewise.
        turn: The joint's rotation, kept where every angle is as good.
        sense: 1 if the bone is the child, −1 if it is the parent, which turns the other way.
    """
    axis = s.axes[j]
    angle = sense * _fitted(axis, bone, wanted, sense * hinge_angle(turn, axis))
    angle = clamp_angle(angle, s.bounds[j, LEAST_TWIST], s.bounds[j, GREATEST_TWIST])
    return about(axis[0], axis[1], axis[2], sense * angle)


@helper
def _allowed_by_parent(
    s: Skeleton, parent: Quaternion, j: int, aligned: Quaternion, along: Vector
) -> Quaternion:
    """Nearest rotation of bone j to `aligned`, along a vector, that its joint to the parent has."""
    turn = multiply(conjugate(parent), aligned)
    if s.kinds[j] == HINGE_JOINT:
        bone = (s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
        wanted = rotate(conjugate(parent), along[0], along[1], along[2])
        return multiply(parent, _hinged(s, j, bone, wanted, turn, 1.0))
    frame = load(s.frames, j)
    return multiply(parent, clamp_joint(turn, s.kinds[j], s.bounds[j], s.axes[j], frame))


@helper
def _allowed_by_child(
    s: Skeleton, child: Quaternion, j: int, i: int, aligned: Quaternion, along: Vector
) -> Quaternion:
    """Nearest rotation of bone i to `aligned`, along a vector, that the joint to child j has."""
    turn = multiply(conjugate(aligned), child)
    if s.kinds[j] == HINGE_JOINT:
        bone = (s.bones[i, 0], s.bones[i, 1], s.bones[i, 2])
        wanted = rotate(conjugate(child), along[0], along[1], along[2])
        return multiply(child, _hinged(s, j, bone, wanted, turn, -1.0))
    frame = load(s.frames, j)
    allowed = clamp_joint(turn, s.kinds[j], s.bounds[j], s.axes[j], frame)
    return multiply(child, conjugate(allowed))


@helper
def _gather_goals(g: Goals, p: FloatArray, sums: FloatArray, votes: IntArray) -> None:
    """Write the sum and the number of the points at which goals and loops want each joint."""
    for i in range(votes.shape[0]):
        sums[i, 0], sums[i, 1], sums[i, 2], votes[i] = 0.0, 0.0, 0.0, 0
    for k in range(g.joints.shape[0]):
        i = g.joints[k]
        votes[i] += 1
        for c in range(3):
            sums[i, c] += g.points[k, c]
    for k in range(g.loops.shape[0]):
        a, b = g.loops[k, 0], g.loops[k, 1]
        votes[a] += 1
        votes[b] += 1
        for c in range(3):
            middle = 0.5 * (p[a, c] + p[b, c])
            sums[a, c] += middle
            sums[b, c] += middle


@helper
def reach_backward(
    s: Skeleton, g: Goals, q: FloatArray, p: FloatArray, sums: FloatArray, votes: IntArray
) -> None:
    """Pull the bones from the end effectors to the root.

    Args:
        s: The tree.
        g: The goals.
        q: Rotations, shape (m, 4); those of active bones are changed.
        p: Joint positions [m], shape (m + 1, 3); the ends of active bones are moved, and the root
            if it is free.
        sums: Scratch, shape (m + 1, 3).
        votes: Scratch, shape (m + 1,).
    """
    _gather_goals(g, p, sums, votes)
    for k in range(g.turned.shape[0]):
        store(q, g.turned[k], load(g.turns, k))
    for j in range(q.shape[0] - 1, -1, -1):
        end, start = j + 1, s.starts[j]
        if g.active[j] == 0:
            continue
        if votes[end] > 0:
            for c in range(3):
                p[end, c] = sums[end, c] / votes[end]
        x, y, z = p[end, 0] - p[start, 0], p[end, 1] - p[start, 1], p[end, 2] - p[start, 2]
        aligned = load(q, j)
        if not _is_turned(g, j):
            aligned = align_bone(s, q, j, x, y, z)
            child = s.children[j]
            while child >= 0:
                if g.active[child] == 1:
                    aligned = _allowed_by_child(s, load(q, child), child, j, aligned, (x, y, z))
                child = s.siblings[child]
        store(q, j, aligned)
        x, y, z = rotate(load(q, j), s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
        votes[start] += 1
        sums[start, 0] += p[end, 0] - x
        sums[start, 1] += p[end, 1] - y
        sums[start, 2] += p[end, 2] - z
    if s.free_root[0] == 1 and votes[0] > 0:
        for c in range(3):
            p[0, c] = sums[0, c] / votes[0]


@helper
def _is_turned(g: Goals, j: int) -> bool:
    """Return whether bone j has an orientation as a goal."""
    found = False
    for k in range(g.turned.shape[0]):
        found = found or g.turned[k] == j
    return found


@helper
def reach_forward(s: Skeleton, g: Goals, q: FloatArray, p: FloatArray) -> None:
    """Pull the bones from the root outwards, each within its joint's limits.

    Args:
        s: The tree.
        g: The goals.
        q: Rotations, shape (m, 4); changed.
        p: Joint positions [m], shape (m + 1, 3); all but the root are changed.
    """
    for j in range(q.shape[0]):
        end, start = j + 1, s.starts[j]
        x, y, z = p[end, 0] - p[start, 0], p[end, 1] - p[start, 1], p[end, 2] - p[start, 2]
        aligned = load(q, j)
        if _is_turned(g, j):
            x, y, z = rotate(aligned, s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
        else:
            aligned = align_bone(s, q, j, x, y, z)
        parent = load(q, start - 1)
        store(q, j, _allowed_by_parent(s, parent, j, aligned, (x, y, z)))
        x, y, z = rotate(load(q, j), s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
        p[end, 0], p[end, 1], p[end, 2] = p[start, 0] + x, p[start, 1] + y, p[start, 2] + z


@jit
def sweep_tree(
    s: Skeleton, g: Goals, q: FloatArray, p: FloatArray, accuracy: Accuracy, budget: int,
    record: FloatArray,
) -> int:  # fmt: skip
    """Sweep for as long as the sweeps make progress.

    Args:
        s: The tree.
        g: The goals.
        q: Rotations of the start, shape (m, 4); overwritten with the best found, within limits.
        p: Joint positions of the start [m], shape (m + 1, 3); likewise.
        accuracy: Where to stop, and how angles count.
        budget: Largest number of sweeps; before the first, the start is brought within limits.
        record: Filled with the distance from the goals [m] after each, as far as it goes.

    Returns:
        The sweeps used.
    """
    tolerance, turn_tolerance, scale = accuracy
    sums, votes = np.empty_like(p), np.empty(p.shape[0], np.int64)
    best, best_q, best_p = math.inf, np.empty_like(q), np.empty_like(p)
    milestone, used = math.inf, 0
    while True:
        reach_forward(s, g, q, p)
        distance, angle = errors(g, q, p)
        if 0 < used <= record.shape[0]:
            record[used - 1] = distance
        if distance + scale * angle < best:
            best = distance + scale * angle
            copy(q, best_q)
            copy(p, best_p)
        if (distance <= tolerance and angle <= turn_tolerance) or used >= budget:
            break
        if used % _ROUND_SWEEPS == 0:
            if best > _ROUND_GAIN * milestone:
                break
            milestone = best
        reach_backward(s, g, q, p, sums, votes)
        used += 1
    copy(best_q, q)
    copy(best_p, p)
    return used

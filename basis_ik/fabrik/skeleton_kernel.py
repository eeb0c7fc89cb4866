# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tree of bones with rotations, its goals, and the distance of a pose from them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik.swing_twist_kernel import (
    Quaternion,
    between,
    conjugate,
    multiply,
    rotate,
    unit,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

IntArray = npt.NDArray[np.int64]


class Skeleton(NamedTuple):
    """A tree of m bones. Bone j runs from joint `starts[j]` ≤ j to joint j + 1; 0 is the root.

    Attributes:
        starts: Shape (m,).
        children: Last bone that starts where bone j ends, −1 for none, shape (m,).
        siblings: The bone before j that starts where j starts, −1 for none, shape (m,).
        bones: Each bone at rest [m], shape (m, 3).
        kinds: FREE, BALL or HINGE: the joint of each bone to its parent, shape (m,).
        bounds: See `swing_twist_kernel` [rad], shape (m, 6).
        axes: Hinges' axes at rest, unit, shape (m, 3).
        frames: Balls' frames at rest, shape (m, 4).
        free_root: 1 where the root may move, shape (1,).
    """

    starts: IntArray
    children: IntArray
    siblings: IntArray
    bones: FloatArray
    kinds: IntArray
    bounds: FloatArray
    axes: FloatArray
    frames: FloatArray
    free_root: IntArray


class Goals(NamedTuple):
    """The goals of a tree.

    Attributes:
        joints: End effectors, shape (k,).
        points: Where they should be [m], shape (k, 3).
        turned: Bones with an orientation, shape (t,).
        turns: Those bones' rotations against rest, shape (t, 4).
        loops: Pairs of joints that should coincide, shape (l, 2).
        active: 1 for bones on the way from the root to any of these, shape (m,).
    """

    joints: IntArray
    points: FloatArray
    turned: IntArray
    turns: FloatArray
    loops: IntArray
    active: IntArray


Accuracy = tuple[float, float, float]
"""Distance [m] and angle [rad] to stop at; what a radian counts for against metres [m]."""


@helper
def load(q: FloatArray, j: int) -> Quaternion:
    """Return bone j's rotation; −1 stands for the root's surroundings, which are at rest."""
    if j < 0:
        return 1.0, 0.0, 0.0, 0.0
    return q[j, 0], q[j, 1], q[j, 2], q[j, 3]


@helper
def store(q: FloatArray, j: int, value: Quaternion) -> None:
    """Write bone j's rotation."""
    q[j, 0], q[j, 1], q[j, 2], q[j, 3] = unit(value)


@helper
def copy(source: FloatArray, out: FloatArray) -> None:
    """Copy rows; plain loops compile to a fraction of what array expressions do."""
    for i in range(source.shape[0]):
        for c in range(source.shape[1]):
            out[i, c] = source[i, c]


@jit
def place_bones(s: Skeleton, q: FloatArray, p: FloatArray) -> None:
    """Lay out the joints from the root p[0] by the bones' rotations.

    Args:
        s: The tree.
        q: Rotations, shape (m, 4).
        p: Joint positions [m], shape (m + 1, 3); all but the first are overwritten.
    """
    for j in range(q.shape[0]):
        x, y, z = rotate(load(q, j), s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
        a = s.starts[j]
        p[j + 1, 0], p[j + 1, 1], p[j + 1, 2] = p[a, 0] + x, p[a, 1] + y, p[a, 2] + z


@helper
def align_bone(s: Skeleton, q: FloatArray, j: int, x: float, y: float, z: float) -> Quaternion:
    """Return bone j's rotation, turned as little as possible to point along (x, y, z)."""
    now = load(q, j)
    bone = rotate(now, s.bones[j, 0], s.bones[j, 1], s.bones[j, 2])
    length = math.sqrt(bone[0] * bone[0] + bone[1] * bone[1] + bone[2] * bone[2])
    size = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or size == 0.0:
        return now
    a = (bone[0] / length, bone[1] / length, bone[2] / length)
    return multiply(between(a, (x / size, y / size, z / size)), now)


@jit
def errors(g: Goals, q: FloatArray, p: FloatArray) -> tuple[float, float]:
    """Measure how far a pose is from its goals.

    Args:
        g: The goals.
        q: Rotations, shape (m, 4).
        p: Joint positions [m], shape (m + 1, 3).

    Returns:
        Largest distance of an end effector from its target or between the ends of a loop [m], and
        largest angle between a bone and the orientation asked of it [rad].
    """
    distance, angle = 0.0, 0.0
    for k in range(g.joints.shape[0]):
        i, square = g.joints[k], 0.0
        for c in range(3):
            square += (p[i, c] - g.points[k, c]) ** 2
        distance = max(distance, math.sqrt(square))
    for k in range(g.loops.shape[0]):
        a, b, square = g.loops[k, 0], g.loops[k, 1], 0.0
        for c in range(3):
            square += (p[a, c] - p[b, c]) ** 2
        distance = max(distance, math.sqrt(square))
    for k in range(g.turned.shape[0]):
        off = multiply(load(g.turns, k), conjugate(load(q, g.turned[k])))
        sine = math.sqrt(off[1] * off[1] + off[2] * off[2] + off[3] * off[3])
        angle = max(angle, 2.0 * math.atan2(sine, abs(off[0])))
    return distance, angle


@jit
def fit_rotations(s: Skeleton, p: FloatArray, q: FloatArray) -> None:
    """Find rotations that fit joint positions, bone after bone by a points-at for each.

    From the root outwards (change_of_basis, 3): a bone first turns with its parent, and then by the
    smallest rotation that points it to where its end is.

    Args:
        s: The tree.
        p: Joint positions [m], shape (m + 1, 3).
        q: Filled with the rotations, shape (m, 4).
    """
    for j in range(q.shape[0]):
        a = s.starts[j]
        store(q, j, load(q, a - 1))
        x, y, z = p[j + 1, 0] - p[a, 0], p[j + 1, 1] - p[a, 1], p[j + 1, 2] - p[a, 2]
        store(q, j, align_bone(s, q, j, x, y, z))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Look-ups of transforms between frames of a tree in arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

IntArray = npt.NDArray[np.int64]


@jit
def common_ancestor(parents: IntArray, depths: IntArray, a: int, b: int) -> int:
    """Return the lowest frame that is `a` or above it, and `b` or above it.

    Args:
        parents: Parent of each frame, shape (N,).
        depths: Distance of each frame from the root, shape (N,).
        a: A frame.
        b: A frame.
    """
    while depths[a] > depths[b]:
        a = parents[a]
    while depths[b] > depths[a]:
        b = parents[b]
    while a != b:
        a, b = parents[a], parents[b]
    return a


@helper
def _prepend(pool: FloatArray, frame: int, m: FloatArray) -> None:
    """Replace `m` by (transform of `frame` in its parent) · m."""
    for j in range(4):
        x, y, z = m[0, j], m[1, j], m[2, j]
        for i in range(3):
            m[i, j] = pool[frame, i, 0] * x + pool[frame, i, 1] * y + pool[frame, i, 2] * z
        if j == 3:
            for i in range(3):
                m[i, j] += pool[frame, i, 3]


@jit
def lookup(
    parents: IntArray, depths: IntArray, pool: FloatArray, target: int, source: int, out: FloatArray
) -> None:
    """Write target_T_source, without transforms above the lowest common ancestor.

    Args:
        parents: Parent of each frame, shape (N,).
        depths: Distance of each frame from the root, shape (N,).
        pool: parent_T_frame of each frame, shape (N, 4, 4).
        target: The reference frame.
        source: The frame whose transform is written.
        out: Filled with target_T_source, shape (4, 4).
    """
    ancestor = common_ancestor(parents, depths, target, source)
    down = np.eye(4)  # ancestor_T_target
    out[:] = 0.0
    for i in range(4):
        out[i, i] = 1.0
    while source != ancestor:
        _prepend(pool, source, out)
        source = parents[source]
    while target != ancestor:
        _prepend(pool, target, down)
        target = parents[target]
    # The inverse (Rᵀ, −Rᵀ t) of the path down, applied to the path up.
    for j in range(4):
        x, y, z = out[0, j], out[1, j], out[2, j]
        if j == 3:
            x, y, z = x - down[0, 3], y - down[1, 3], z - down[2, 3]
        for i in range(3):
            out[i, j] = down[0, i] * x + down[1, i] * y + down[2, i] * z

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The FABRIK iteration on a chain of points: backward to the target, forward to the root.

Aristidou & Lasenby, "FABRIK: A fast, iterative solver for the inverse kinematics problem",
Graphical Models 73 (2011), Algorithm 1. Kernels work in place on arrays the caller allocated.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.transforms.directions_kernel import perpendicular

# A chain whose joints and target leave their common line by less than this part of its reach never
# bends by itself: every pull acts along the line.
_COLLINEAR = 1e-12
# The sideways push [reach] that breaks the tie.
_NUDGE = 1e-2
# Stagnation: fewer than this part of the residual won in so many sweeps.
_STALLED_BALL_SWEEPS = 32
_LEAST_BALL_GAIN = 1e-6


@jit
def bone_lengths(p: FloatArray, out: FloatArray) -> float:
    """Measure the bones of a chain.

    Args:
        p: Joint positions [m], shape (n + 1, 3).
        out: Filled with the lengths [m], shape (n,).

    Returns:
        Their sum, the reach [m].
    """
    reach = 0.0
    for i in range(out.shape[0]):
        x, y, z = p[i + 1, 0] - p[i, 0], p[i + 1, 1] - p[i, 1], p[i + 1, 2] - p[i, 2]
        out[i] = math.sqrt(x * x + y * y + z * z)
        reach += out[i]
    return reach


@jit
def distance(a: FloatArray, b: FloatArray) -> float:
    """Distance [m] of two points, each of shape (3,)."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return math.sqrt(x * x + y * y + z * z)


@jit
def pull(p: FloatArray, anchor: int, joint: int, length: float) -> None:
    """Move a joint along its line to the anchor until they are `length` apart (Algorithm 1).

    Where the two coincide there is no line, and the joint leaves along +x.

    Args:
        p: Joint positions [m], shape (n + 1, 3); one row is changed.
        anchor: Row that stays.
        joint: Row that moves.
        length: Distance to reach [m], ≥ 0.
    """
    x, y, z = p[joint, 0] - p[anchor, 0], p[joint, 1] - p[anchor, 1], p[joint, 2] - p[anchor, 2]
    apart = math.sqrt(x * x + y * y + z * z)
    if apart > 0.0:
        scale = length / apart
        p[joint, 0] = p[anchor, 0] + x * scale
        p[joint, 1] = p[anchor, 1] + y * scale
        p[joint, 2] = p[anchor, 2] + z * scale
    else:
        p[joint, 0] = p[anchor, 0] + length
        p[joint, 1] = p[anchor, 1]
        p[joint, 2] = p[anchor, 2]


@helper
def bow(p: FloatArray, target: FloatArray, reach: float) -> None:
    """Push the inner joints off a line that holds the whole chain and its target.

    Args:
        p: Joint positions [m], shape (n + 1, 3); changed only if all is straight.
        target: Where the tip should go [m], shape (3,).
        reach: Sum of the bone lengths [m].
    """
    n = p.shape[0] - 1
    line, side, far = np.zeros(3), np.empty(3), 0.0
    line[0] = 1.0
    for i in range(1, n + 2):
        q = target if i == n + 1 else p[i]
        apart = distance(q, p[0])
        if apart > far:
            far = apart
            for k in range(3):
                line[k] = (q[k] - p[0, k]) / far
    for i in range(1, n + 2):
        q = target if i == n + 1 else p[i]
        along, off = 0.0, 0.0
        for k in range(3):
            along += (q[k] - p[0, k]) * line[k]
        for k in range(3):
            off += (q[k] - p[0, k] - along * line[k]) ** 2
        if math.sqrt(off) > _COLLINEAR * reach:
            return
    perpendicular(line, side)
    for i in range(1, n):
        push = _NUDGE * reach * i * (n - i) / (n * n)
        for k in range(3):
            p[i, k] += push * side[k]


@jit
def sweep_ball_chain(
    p: FloatArray,
    lengths: FloatArray,
    target: FloatArray,
    tolerance: float,
    budget: int,
    record: FloatArray,
) -> tuple[float, int]:
    """Run FABRIK with a fixed root until the tip is at the target, stalls, or the budget is spent.

    A pull moves a joint by no more than its anchor moved (triangle inequality), so the residual
    never rises and the last pose is the best one.

    Args:
        p: Joint positions [m], shape (n + 1, 3); overwritten with the result.
        lengths: Bone lengths [m], shape (n,).
        target: Where the tip should go [m], shape (3,).
        tolerance: Distance at which the target counts as reached [m].
        budget: Largest number of sweeps, each one backward and one forward pass.
        record: Filled with the residual [m] before each sweep and after the last, as far as it
            goes; shape (0,) to record nothing.

    Returns:
        Residual [m] and the sweeps used.
    """
    n = lengths.shape[0]
    x, y, z = p[0, 0], p[0, 1], p[0, 2]
    residual = distance(p[n], target)
    if record.shape[0] > 0:
        record[0] = residual
    if residual > tolerance:
        reach = 0.0
        for i in range(n):
            reach += lengths[i]
        bow(p, target, reach)
    milestone, used = residual, 0
    while residual > tolerance and used < budget:
        p[n, 0], p[n, 1], p[n, 2] = target[0], target[1], target[2]
        for i in range(n - 1, -1, -1):
            pull(p, i + 1, i, lengths[i])
        p[0, 0], p[0, 1], p[0, 2] = x, y, z
        for i in range(n):
            pull(p, i, i + 1, lengths[i])
        residual = distance(p[n], target)
        used += 1
        if used < record.shape[0]:
            record[used] = residual
        if used % _STALLED_BALL_SWEEPS == 0:
            if residual > (1.0 - _LEAST_BALL_GAIN) * milestone:
                break
            milestone = residual
    return residual, used

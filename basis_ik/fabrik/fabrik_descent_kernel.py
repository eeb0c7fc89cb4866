# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Damped least squares over the joints' own coordinates within limits, for where sweeps stall.

Limits make FABRIK stop at poses where no single bone can give way. Here all joints move together.
A freedom whose limit the step would run against leaves the step (an active set), and a joint that
still leaves its limits is brought back to the nearest allowed place.
"""

from __future__ import annotations

import numpy as np

from basis_ik.fabrik.freedom_kernel import freedoms, turn_joints
from basis_ik.fabrik.skeleton_kernel import (
    Accuracy,
    Goals,
    Skeleton,
    copy,
    errors,
    load,
    place_bones,
)
from basis_ik.fabrik.swing_twist_kernel import Vector, conjugate, multiply
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.numerics.normal_equations_kernel import solve_symmetric
from basis_ik.robot.chain_kernel import joint_twist
from basis_ik.transforms.rigid_kernel import vector_of_quaternion

# Damping is relative to the mean diagonal; the largest is the last that is worth a try.
_FIRST_DAMPING = 1e-3
_LARGEST_DAMPING = 1e8
_DAMPING_DECREASE = 0.1  # factor after a good step
_DAMPING_INCREASE = 8.0  # factor after a bad step
# Longest turn of one joint in one step [rad].
_LARGEST_TURN = 0.6
# So many steps in a row end the descent if each gains less than this part of the squared error.
_STALLED_STEPS = 4
_LEAST_STEP_GAIN = 1e-6


@helper
def _fill_joint_rows(
    s: Skeleton, table: FloatArray, p: FloatArray, i: int, row: int, sign: float, jac: FloatArray
) -> None:
    """Add how joint i moves with every freedom between it and the root to three rows of J."""
    joint = i
    while joint > 0:
        bone = joint - 1
        joint = s.starts[bone]
        arm = (p[i, 0] - p[joint, 0], p[i, 1] - p[joint, 1], p[i, 2] - p[joint, 2])
        for c in range(3 * bone, 3 * bone + 3):
            axis = (table[c, 0], table[c, 1], table[c, 2])
            x, y, z, _, _, _ = joint_twist(sign, 0.0, axis, arm)
            jac[row, c] += x
            jac[row + 1, c] += y
            jac[row + 2, c] += z
    if s.free_root[0] == 1:
        for c in range(3):
            jac[row + c, jac.shape[1] - 3 + c] += sign


@helper
def _rotation_vector(goal: FloatArray, k: int, q: FloatArray, j: int) -> Vector:
    """Rotation vector [rad] from bone j's rotation to goal k."""
    w, x, y, z = multiply(load(goal, k), conjugate(load(q, j)))
    _, x, y, z = vector_of_quaternion(w, x, y, z)
    return x, y, z


@helper
def _fill_residual(g: Goals, q: FloatArray, p: FloatArray, scale: float, out: FloatArray) -> float:
    """Write the differences from the goals, angles times `scale`; return the sum of squares."""
    row = 0
    for k in range(g.joints.shape[0]):
        for c in range(3):
            out[row + c] = g.points[k, c] - p[g.joints[k], c]
        row += 3
    for k in range(g.loops.shape[0]):
        for c in range(3):
            out[row + c] = p[g.loops[k, 1], c] - p[g.loops[k, 0], c]
        row += 3
    for k in range(g.turned.shape[0]):
        x, y, z = _rotation_vector(g.turns, k, q, g.turned[k])
        out[row], out[row + 1], out[row + 2] = scale * x, scale * y, scale * z
        row += 3
    total = 0.0
    for i in range(row):
        total += out[i] * out[i]
    return total


@helper
def _jacobian(
    s: Skeleton, g: Goals, table: FloatArray, p: FloatArray, scale: float, jac: FloatArray
) -> None:
    """Fill J: how the rows of `_fill_residual` shrink with each freedom, shape (rows, 3 m + 3)."""
    for i in range(jac.shape[0]):
        for c in range(jac.shape[1]):
            jac[i, c] = 0.0
    for k in range(g.joints.shape[0]):
        _fill_joint_rows(s, table, p, g.joints[k], 3 * k, 1.0, jac)
    row = 3 * g.joints.shape[0]
    for k in range(g.loops.shape[0]):
        _fill_joint_rows(s, table, p, g.loops[k, 0], row + 3 * k, 1.0, jac)
        _fill_joint_rows(s, table, p, g.loops[k, 1], row + 3 * k, -1.0, jac)
    row += 3 * g.loops.shape[0]
    for k in range(g.turned.shape[0]):
        joint = g.turned[k] + 1
        while joint > 0:
            for c in range(3 * joint - 3, 3 * joint):
                for i in range(3):
                    jac[row + i, c] = scale * table[c, i]
            joint = s.starts[joint - 1]
        row += 3


@helper
def _clear(jac: FloatArray, c: int) -> None:
    """Set the column of a freedom in J to zero."""
    for i in range(jac.shape[0]):
        jac[i, c] = 0.0


@helper
def _step(
    jac: FloatArray, table: FloatArray, residual: FloatArray, damping: float, step: FloatArray
) -> None:
    """Write the damped least-squares step, Jᵀ(J Jᵀ + μ I)⁻¹ residual, that runs against no limit.

    Args:
        jac: J, shape (rows, columns); columns of blocked freedoms are cleared.
        table: Freedoms, shape (3 m, 6).
        residual: Shape (rows,).
        damping: μ as part of the mean diagonal of J Jᵀ.
        step: Filled, shape (columns,).
    """
    rows = jac.shape[0]
    normal, weights = np.empty((rows, rows)), np.empty(rows)
    for c in range(table.shape[0]):
        if table[c, 5] == 2.0:
            _clear(jac, c)
    for _ in range(8):
        mean = 0.0
        for i in range(rows):
            for k in range(i + 1):
                value = 0.0
                for c in range(jac.shape[1]):
                    value += jac[i, c] * jac[k, c]
                normal[i, k] = value
            mean += normal[i, i] / rows
            weights[i] = residual[i]
        for i in range(rows):
            normal[i, i] += damping * mean + 1e-300
        solve_symmetric(normal, weights)
        blocked = False
        for c in range(jac.shape[1]):
            step[c] = 0.0
            for i in range(rows):
                step[c] += jac[i, c] * weights[i]
            if c < table.shape[0] and step[c] * table[c, 5] > 0.0:
                blocked = True
                _clear(jac, c)
                step[c] = 0.0
        if not blocked:
            break
    longest = 0.0
    for c in range(table.shape[0]):
        longest = max(longest, abs(step[c]))
    if longest > _LARGEST_TURN:
        for c in range(step.shape[0]):
            step[c] *= _LARGEST_TURN / longest


@jit
def descend_tree(
    s: Skeleton, g: Goals, q: FloatArray, p: FloatArray, accuracy: Accuracy, budget: int,
    record: FloatArray,
) -> int:  # fmt: skip
    """Move all joints downhill until the goals are met, progress ends, or the budget is spent.

    Args:
        s: The tree.
        g: The goals.
        q: Rotations within their limits, shape (m, 4); overwritten with better ones.
        p: Joint positions that belong to them [m], shape (m + 1, 3); likewise.
        accuracy: Where to stop, and how angles count.
        budget: Largest number of steps tried.
        record: Filled with the distance from the goals [m] after each, as far as it goes.

    Returns:
        The steps tried.
    """
    tolerance, turn_tolerance, scale = accuracy
    m = q.shape[0]
    rows = 3 * (g.joints.shape[0] + g.loops.shape[0] + g.turned.shape[0])
    jac, table = np.empty((rows, 3 * m + 3)), np.empty((3 * m, 6))
    residual, step, other = np.empty(rows), np.empty(3 * m + 3), np.empty(rows)
    next_q, next_p = np.empty_like(q), np.empty_like(p)
    error, damping = _fill_residual(g, q, p, scale, residual), _FIRST_DAMPING
    used, idle = 0, 0
    while used < budget and idle < _STALLED_STEPS and damping < _LARGEST_DAMPING:
        distance, angle = errors(g, q, p)
        if distance <= tolerance and angle <= turn_tolerance:
            break
        used += 1
        freedoms(s, q, table)
        _jacobian(s, g, table, p, scale, jac)
        _step(jac, table, residual, damping, step)
        turn_joints(s, q, table, step, next_q)
        for c in range(3):
            next_p[0, c] = p[0, c] + step[3 * m + c]
        place_bones(s, next_q, next_p)
        trial = _fill_residual(g, next_q, next_p, scale, other)
        if trial < error:
            idle = idle + 1 if trial > (1.0 - _LEAST_STEP_GAIN) * error else 0
            copy(next_q, q)
            copy(next_p, p)
            for i in range(rows):
                residual[i] = other[i]
            error = trial
            damping = max(damping * _DAMPING_DECREASE, 1e-12)
        else:
            damping *= _DAMPING_INCREASE
        if used <= record.shape[0]:
            record[used - 1] = errors(g, q, p)[0]
    return used

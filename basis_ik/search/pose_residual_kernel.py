# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual of a pose: its rows for a descent, and its measure for the proof."""

from __future__ import annotations

from math import sqrt

import numpy as np

from basis_ik.descent.pose_error_kernel import (
    axis_error,
    excess,
    has_deadband,
    residual_rate,
    rotation_error,
    rotation_excess,
)
from basis_ik.descent.proof_kernel import distance_and_angle
from basis_ik.descent.tables_kernel import (
    BOX_X,
    BOX_Y,
    BOX_Z,
    P0,
    P1,
    P2,
    R02,
    R12,
    R22,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Frame,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.search.limb_kernel import Residual

POSE_KIND = 0
POSE_RESIDUAL = Residual(POSE_KIND, 3, 3, distance_and_angle)


@helper
def _along_goal(goal: FloatArray, twists: FloatArray, k: int, first: int) -> Triple:
    """Return three numbers of a twist, from column `first` on, along the goal's axes."""
    a, b, c = twists[k, first], twists[k, first + 1], twists[k, first + 2]
    return (
        goal[0, 0] * a + goal[1, 0] * b + goal[2, 0] * c,
        goal[0, 1] * a + goal[1, 1] * b + goal[2, 1] * c,
        goal[0, 2] * a + goal[1, 2] * b + goal[2, 2] * c,
    )


@helper
def _goal_T_tip(goal: FloatArray, frame: FloatArray) -> Frame:
    """Return goal_T_tip."""
    rest = np.empty((3, 4))
    for r in range(3):
        for k in range(4):
            rest[r, k] = goal[0, r] * frame[0, k] + goal[1, r] * frame[1, k]
            rest[r, k] += goal[2, r] * frame[2, k]
        rest[r, 3] -= goal[0, r] * goal[0, 3] + goal[1, r] * goal[1, 3] + goal[2, r] * goal[2, 3]
    return (
        rest[0, 0], rest[0, 1], rest[0, 2], rest[0, 3],
        rest[1, 0], rest[1, 1], rest[1, 2], rest[1, 3],
        rest[2, 0], rest[2, 1], rest[2, 2], rest[2, 3],
    )  # fmt: skip


@helper
def _position_rows(
    weights: FloatArray, goal: FloatArray, tip: Frame, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the position along the goal's axes."""
    d0, d1 = excess(tip[P0], weights[BOX_X]), excess(tip[P1], weights[BOX_Y])
    d2 = excess(tip[P2], weights[BOX_Z])
    w0, w1, w2 = weights[WX], weights[WY], weights[WZ]
    error[0], error[1], error[2] = -w0 * d0, -w1 * d1, -w2 * d2
    w0 = w0 if weights[BOX_X] == 0.0 or d0 != 0.0 else 0.0
    w1 = w1 if weights[BOX_Y] == 0.0 or d1 != 0.0 else 0.0
    w2 = w2 if weights[BOX_Z] == 0.0 or d2 != 0.0 else 0.0
    for k in range(twists.shape[0]):
        u, v, w = _along_goal(goal, twists, k, 0)
        jacobian[0, k], jacobian[1, k], jacobian[2, k] = w0 * u, w1 * v, w2 * w


@helper
def _boxed_rotation_rows(
    weights: FloatArray, goal: FloatArray, tip: Frame, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the part of the rotation about the goal's axes beyond a deadband."""
    slopes, row = np.empty((1, 9)), 0 * twists.shape[0]  # a constant would be a type of its own
    error[3], error[4], error[5] = rotation_excess(weights, slopes, row, tip)
    for k in range(twists.shape[0]):
        u, v, w = _along_goal(goal, twists, k, 3)
        jacobian[3, k], jacobian[4, k], jacobian[5, k] = residual_rate(slopes, row, u, v, w)


@helper
def _rotation_rows(
    weights: FloatArray, goal: FloatArray, tip: Frame, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the rotation about the goal's axes."""
    a, b, c = rotation_error(tip)
    error[3], error[4], error[5] = weights[WRX] * a, weights[WRY] * b, weights[WRZ] * c
    half = sqrt(max(0.0, 1.0 - 0.25 * (a * a + b * b + c * c)))  # cosine of half the angle
    for k in range(twists.shape[0]):
        u, v, w = _along_goal(goal, twists, k, 3)
        # The quaternion's derivative: the error is twice its vector part.
        g, h = half * u + 0.5 * (b * w - c * v), half * v + 0.5 * (c * u - a * w)
        i = half * w + 0.5 * (a * v - b * u)
        jacobian[3, k], jacobian[4, k] = weights[WRX] * g, weights[WRY] * h
        jacobian[5, k] = weights[WRZ] * i


@helper
def _axis_rows(
    weights: FloatArray, goal: FloatArray, tip: Frame, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the rotation that takes the tip's z onto the goal's."""
    x, y, z = tip[R02], tip[R12], tip[R22]
    a, b, c = axis_error(x, y, z)
    error[3], error[4], error[5] = weights[WRX] * a, weights[WRY] * b, weights[WRZ] * c
    near = z >= -0.9999999
    f = sqrt(2.0 / (1.0 + z)) if near else 1.0
    for k in range(twists.shape[0]):
        u, v, w = _along_goal(goal, twists, k, 3)
        g, h = u, v
        if near:  # the error is f (y, -x, 0) of the tip's z axis (x, y, z)
            slope = 0.5 * f / (1.0 + z) * (u * y - v * x)
            g, h = -f * (w * x - u * z) + slope * y, f * (v * z - w * y) - slope * x
        jacobian[3, k], jacobian[4, k], jacobian[5, k] = weights[WRX] * g, weights[WRY] * h, 0.0


@helper
def pose_rows(
    weights: FloatArray, goal: FloatArray, frame: FloatArray, twists: FloatArray,
    error: FloatArray, jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write six rows: the position along the goal's axes, then the rotation about them."""
    tip = _goal_T_tip(goal, frame)
    _position_rows(weights, goal, tip, twists, error, jacobian)
    if has_deadband(weights):
        _boxed_rotation_rows(weights, goal, tip, twists, error, jacobian)
    elif weights[WRZ] == 0.0 and weights[WRX] > 0.0:
        _axis_rows(weights, goal, tip, twists, error, jacobian)
    else:
        _rotation_rows(weights, goal, tip, twists, error, jacobian)

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

"""What is left of several tasks on one robot, and how each joint variable changes it.

A task lives on a limb: the row of joints from the root to its tip. Limbs of one robot share
variables (a torso's, or a joint's that others mimic), so each is walked for itself and their
columns meet in one Jacobian. All derivatives are exact, not only where a task is met: a best effort
is a true minimum of what is left.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.search.pose_error_kernel import (
    axis_error,
    excess,
    has_deadband,
    residual_rate,
    rotation_error,
    rotation_excess,
)
from basis_ik.search.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    BOX_X,
    BOX_Y,
    BOX_Z,
    MULTIPLIER,
    OFFSET,
    P0,
    P1,
    P2,
    POINT_X,
    POINT_Y,
    POINT_Z,
    PRISMATIC,
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
    VARIABLE,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Frame,
    Triple,
)

IntArray = NDArray[np.int64]

POSE, LOOK = 0, 1
ROWS = (6, 3)  # of the kinds
KIND, FIRST_ROW, WEIGHTS = 0, 1, 2  # columns of a task; its weights have twelve
POSITION_GOAL, ROTATION_GOAL = 14, 15
NEAREST = 1e-9  # [m]: a point nearer to a ray's origin has no direction from there


@helper
def place_limb(limb: FloatArray, q: FloatArray, axes: FloatArray, frame: FloatArray) -> None:
    """Write the axis of every joint, a point (3,) and a direction (3,), and root_T_tip (3, 4).

    The steps are those of `proof_kernel.place_exactly`, written twice on purpose: what proves an
    answer shares nothing with what found it.

    Args:
        limb: (m + 1, 16) as `proof_kernel.place_exactly` takes it.
        q: (n,) variables.
        axes: (≥ m, 6) result.
        frame: (3, 4) result.
    """
    for r in range(3):
        for c in range(4):
            frame[r, c] = limb[0, 4 * r + c]
    for i in range(limb.shape[0] - 1):
        value = limb[i, MULTIPLIER] * q[int(limb[i, VARIABLE])] + limb[i, OFFSET]
        cosine, sine, slide = 1.0, 0.0, value
        if limb[i, PRISMATIC] == 0.0:
            cosine, sine, slide = cos(value), sin(value), 0.0
        j = i + 1
        for r in range(3):
            axes[i, POINT_X + r], axes[i, AXIS_X + r] = frame[r, 3], frame[r, 2]
            x = cosine * frame[r, 0] + sine * frame[r, 1]
            y = cosine * frame[r, 1] - sine * frame[r, 0]
            z = frame[r, 2]
            t = frame[r, 3] + slide * z
            frame[r, 0] = x * limb[j, R00] + y * limb[j, R10] + z * limb[j, R20]
            frame[r, 1] = x * limb[j, R01] + y * limb[j, R11] + z * limb[j, R21]
            frame[r, 2] = x * limb[j, R02] + y * limb[j, R12] + z * limb[j, R22]
            frame[r, 3] = x * limb[j, P0] + y * limb[j, P1] + z * limb[j, P2] + t


@helper
def fill_twists(limb: FloatArray, axes: FloatArray, frame: FloatArray, twists: FloatArray) -> None:
    """Write how the tip moves (n, 3) and turns (n, 3) per unit of each variable.

    Args:
        limb: See `place_limb`.
        axes: As `place_limb` wrote them.
        frame: (3, 4), as `place_limb` wrote it.
        twists: (n, 6) result.
    """
    for k in range(twists.shape[0]):
        for c in range(6):
            twists[k, c] = 0.0
    for i in range(limb.shape[0] - 1):
        k, g = int(limb[i, VARIABLE]), limb[i, MULTIPLIER]
        x, y, z = g * axes[i, AXIS_X], g * axes[i, AXIS_Y], g * axes[i, AXIS_Z]
        if limb[i, PRISMATIC] != 0.0:
            twists[k, 0] += x
            twists[k, 1] += y
            twists[k, 2] += z
            continue
        u, v = frame[0, 3] - axes[i, POINT_X], frame[1, 3] - axes[i, POINT_Y]
        w = frame[2, 3] - axes[i, POINT_Z]
        twists[k, 0] += y * w - z * v
        twists[k, 1] += z * u - x * w
        twists[k, 2] += x * v - y * u
        twists[k, 3] += x
        twists[k, 4] += y
        twists[k, 5] += z


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
    """Return where the tip is, seen from the goal."""
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
    """Write three rows: the rotation about the goal's axes, as far as it is beyond a deadband."""
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
def _pose_rows(
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


@helper
def _look_rows(
    weight: float, goal: FloatArray, frame: FloatArray, twists: FloatArray,
    error: FloatArray, jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the direction to the point, less that of the ray, the tip's z."""
    ray, way = frame[:, 2], np.empty(3)
    far = 0.0
    for r in range(3):
        way[r] = goal[r, 3] - frame[r, 3]
        far += way[r] * way[r]
    far = max(sqrt(far), NEAREST)
    for r in range(3):
        way[r] /= far
        error[r] = weight * (way[r] - ray[r])
    for k in range(twists.shape[0]):
        along = way[0] * twists[k, 0] + way[1] * twists[k, 1] + way[2] * twists[k, 2]
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            turned = twists[k, 3 + s] * ray[t] - twists[k, 3 + t] * ray[s]
            jacobian[r, k] = weight * (turned + (twists[k, r] - along * way[r]) / far)


class TaskArrays(NamedTuple):
    """Tasks on the limbs of a robot with n variables."""

    limbs: FloatArray
    """(M, 16) the limbs of the tasks, one after another, each as `exact` in `tables_kernel`."""
    starts: IntArray
    """(t + 1,) the first row of each limb, and M."""
    tasks: FloatArray
    """(t, 16): POSE or LOOK; first row of the task in the residual; weights (12,), but any above 0
    or for all of position or rotation 0, for LOOK the first alone; squared weighted errors of
    position and rotation that count as arrived."""
    goals: FloatArray
    """(t, 4, 4) root_T_goal; of LOOK the point in column 3 counts, for the tip's z to meet."""
    variables: FloatArray
    """(n, 8)."""
    posture: FloatArray
    """(n,) preferred values, the last n rows of the residual."""
    pull: FloatArray
    """(n,) their weights."""


@helper
def evaluate(
    problem: TaskArrays, q: FloatArray, axes: FloatArray, twists: FloatArray, error: FloatArray,
    jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write the residual of all tasks (R,), and minus its derivative by the scaled variables.

    Args:
        problem: The tasks.
        q: (n,) variables.
        axes: (≥ joints of a limb, 6) to work in.
        twists: (n, 6) to work in.
        error: (R,) result.
        jacobian: (R, n) result.
    """
    tasks, starts = problem.tasks, problem.starts
    n, frame = q.shape[0], np.empty((3, 4))
    for t in range(tasks.shape[0]):
        limb, first = problem.limbs[starts[t] : starts[t + 1]], int(tasks[t, FIRST_ROW])
        place_limb(limb, q, axes, frame)
        fill_twists(limb, axes, frame, twists)
        if tasks[t, KIND] == POSE:
            rows = slice(first, first + 6)
            weights = tasks[t, WEIGHTS:POSITION_GOAL]
            _pose_rows(weights, problem.goals[t], frame, twists, error[rows], jacobian[rows])
        else:
            rows = slice(first, first + 3)
            _look_rows(
                tasks[t, WEIGHTS], problem.goals[t], frame, twists, error[rows], jacobian[rows]
            )
    last = error.shape[0] - n
    for k in range(n):
        error[last + k] = problem.pull[k] * (problem.posture[k] - q[k])
        for c in range(n):
            jacobian[last + c, k] = problem.pull[k] if c == k else 0.0
    for r in range(error.shape[0]):
        for k in range(n):
            jacobian[r, k] *= problem.variables[k, SCALE]


@helper
def arrived(tasks: FloatArray, error: FloatArray, first: int, last: int) -> bool:
    """Return whether all tasks with rows from `first` to before `last` are met."""
    for t in range(tasks.shape[0]):
        row = int(tasks[t, FIRST_ROW])
        if first <= row < last:
            away = error[row] ** 2 + error[row + 1] ** 2 + error[row + 2] ** 2
            if not away <= tasks[t, POSITION_GOAL]:
                return False
            if tasks[t, KIND] == POSE:
                turned = error[row + 3] ** 2 + error[row + 4] ** 2 + error[row + 5] ** 2
                if not turned <= tasks[t, ROTATION_GOAL]:
                    return False
    return True

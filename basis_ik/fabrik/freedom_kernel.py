# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The freedoms of joints within limits: their axes, which of them are blocked, and steps."""

from __future__ import annotations

import math

from basis_ik.fabrik.skeleton_kernel import IntArray, Skeleton, load, store
from basis_ik.fabrik.swing_twist_kernel import (
    BALL_JOINT,
    GREATEST_TWIST,
    HINGE_JOINT,
    LEAST_TWIST,
    TILT_DOWN,
    TILT_LEFT,
    TILT_RIGHT,
    TILT_UP,
    Quaternion,
    Vector,
    about,
    clamp_angle,
    clamp_tilt,
    conjugate,
    from_swing_twist,
    hinge_angle,
    multiply,
    rotate,
    swing_twist,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

# How near to its bound [rad] a coordinate counts as lying on it.
_AT_BOUND = 1e-9


@helper
def local_turn(s: Skeleton, q: FloatArray, j: int) -> Quaternion:
    """Rotation of bone j against its parent, in the ball's frame for balls."""
    turn = multiply(conjugate(load(q, s.starts[j] - 1)), load(q, j))
    if s.kinds[j] == BALL_JOINT:
        frame = load(s.frames, j)
        return multiply(conjugate(frame), multiply(turn, frame))
    return turn


@helper
def _normal(x: float, y: float, bounds: FloatArray) -> tuple[float, float, float]:
    """Outward normal of a ball's ellipse at a tilt on it, and 1; or x, y axis and 0 inside.

    A half axis of zero leaves no inside: the answer is then 2, and the direction across.
    """
    a = bounds[TILT_LEFT] if x >= 0.0 else bounds[TILT_RIGHT]
    b = bounds[TILT_UP] if y >= 0.0 else bounds[TILT_DOWN]
    if max(bounds[TILT_LEFT], bounds[TILT_RIGHT]) <= _AT_BOUND:
        return 1.0, 0.0, 2.0
    if max(bounds[TILT_UP], bounds[TILT_DOWN]) <= _AT_BOUND:
        return 0.0, 1.0, 2.0
    if a <= _AT_BOUND:
        return (1.0 if bounds[TILT_LEFT] <= _AT_BOUND else -1.0), 0.0, 1.0
    if b <= _AT_BOUND:
        return 0.0, (1.0 if bounds[TILT_UP] <= _AT_BOUND else -1.0), 1.0
    if (x / a) ** 2 + (y / b) ** 2 < 1.0 - _AT_BOUND:
        return 1.0, 0.0, 0.0
    u, v = x / (a * a), y / (b * b)
    size = math.sqrt(u * u + v * v)
    return u / size, v / size, 1.0


@helper
def _swing_axis(x: float, y: float, u: float, v: float) -> Vector:
    """Axis of the turn, in the ball's frame, when a tilt (x, y) changes at the rate (u, v).

    With the rotation vector r = (−y, x, 0) of the swing and its rate d = (−v, u, 0) this is
    d + (1 − cos θ)/θ² r × d + (θ − sin θ)/θ³ r × (r × d), θ = |r|.
    """
    square = x * x + y * y
    angle = math.sqrt(square)
    if angle < 1e-4:
        first, second = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        first = (1.0 - math.cos(angle)) / square
        second = (angle - math.sin(angle)) / (square * angle)
    z = -y * u + x * v  # of r × d, whose other components are zero
    return -v + second * x * z, u + second * y * z, first * z


@helper
def freedoms(s: Skeleton, q: FloatArray, table: FloatArray) -> None:
    """Fill the table of freedoms of a pose.

    Args:
        s: The tree.
        q: Rotations, shape (m, 4).
        table: Three rows for each bone, shape (3 m, 6): axis of the turn in root coordinates, the
            tilt that it stands for, and −1, 0 or 1 where turning that way is blocked, 2 where the
            freedom is none.
    """
    for j in range(q.shape[0]):
        r = 3 * j
        for i in range(r, r + 3):
            for c in range(6):
                table[i, c] = 0.0
        parent = load(q, s.starts[j] - 1)
        lower, upper = s.bounds[j, LEAST_TWIST], s.bounds[j, GREATEST_TWIST]
        if s.kinds[j] == BALL_JOINT:
            x, y, twist = swing_twist(local_turn(s, q, j))
            u, v, side = _normal(x, y, s.bounds[j])
            outer = multiply(parent, load(s.frames, j))
            _turning(outer, _swing_axis(x, y, u, v), table, r)
            _turning(outer, _swing_axis(x, y, -v, u), table, r + 1)
            _turning(multiply(outer, from_swing_twist(x, y, 0.0)), (0.0, 0.0, 1.0), table, r + 2)
            table[r, 3], table[r, 4], table[r, 5] = u, v, side
            table[r + 1, 3], table[r + 1, 4] = -v, u
            if side == 2.0 and max(s.bounds[j, TILT_UP], s.bounds[j, TILT_DOWN]) <= _AT_BOUND:
                flat = max(s.bounds[j, TILT_LEFT], s.bounds[j, TILT_RIGHT]) <= _AT_BOUND
                table[r + 1, 5] = 2.0 if flat else 0.0
            table[r + 2, 5] = _side(twist, lower, upper)
        elif s.kinds[j] == HINGE_JOINT:
            n = s.axes[j]
            _turning(parent, (n[0], n[1], n[2]), table, r + 2)
            angle = clamp_angle(hinge_angle(local_turn(s, q, j), n), lower, upper)
            table[r, 5], table[r + 1, 5] = 2.0, 2.0
            table[r + 2, 5] = _side(angle, lower, upper)
        else:
            table[r, 0], table[r + 1, 1], table[r + 2, 2] = 1.0, 1.0, 1.0


@helper
def _turning(outer: Quaternion, axis: Vector, table: FloatArray, row: int) -> None:
    """Write an axis, seen in a rotated frame, to a row of the table."""
    table[row, 0], table[row, 1], table[row, 2] = rotate(outer, axis[0], axis[1], axis[2])


@helper
def _side(angle: float, lower: float, upper: float) -> float:
    """−1 at the lower bound, 1 at the upper, 2 where they leave no room, 0 between."""
    if upper - lower <= _AT_BOUND:
        return 2.0
    if upper - lower >= 2.0 * math.pi:
        return 0.0
    if angle <= lower + _AT_BOUND:
        return -1.0
    return 1.0 if angle >= upper - _AT_BOUND else 0.0


@helper
def turn_joints(
    s: Skeleton, q: FloatArray, table: FloatArray, step: FloatArray, out: FloatArray
) -> None:
    """Turn all joints by a step and bring each back to the nearest place that its limit allows.

    Args:
        s: The tree.
        q: Rotations before, shape (m, 4).
        table: The freedoms of that pose, shape (3 m, 6).
        step: How far to go in each [rad], shape (3 m,) or longer.
        out: Filled with the rotations afterwards, shape (m, 4); not `q`.
    """
    for j in range(q.shape[0]):
        a, b, c = step[3 * j], step[3 * j + 1], step[3 * j + 2]
        parent = load(out, s.starts[j] - 1)
        local = local_turn(s, q, j)
        lower, upper = s.bounds[j, LEAST_TWIST], s.bounds[j, GREATEST_TWIST]
        if s.kinds[j] == BALL_JOINT:
            x, y, twist = swing_twist(local)
            x += a * table[3 * j, 3] + b * table[3 * j + 1, 3]
            y += a * table[3 * j, 4] + b * table[3 * j + 1, 4]
            x, y = clamp_tilt(x, y, s.bounds[j])
            turn = from_swing_twist(x, y, clamp_angle(twist + c, lower, upper))
            frame = load(s.frames, j)
            store(out, j, multiply(parent, multiply(frame, multiply(turn, conjugate(frame)))))
        elif s.kinds[j] == HINGE_JOINT:
            n = s.axes[j]
            angle = clamp_angle(hinge_angle(local, n), lower, upper)
            angle = min(max(angle + c, lower), upper)
            store(out, j, multiply(parent, about(n[0], n[1], n[2], angle)))
        else:
            angle = math.sqrt(a * a + b * b + c * c)
            turned = load(q, j)
            if angle > 0.0:
                turned = multiply(about(a / angle, b / angle, c / angle, angle), turned)
            turn = multiply(conjugate(load(q, s.starts[j] - 1)), turned)
            store(out, j, multiply(parent, turn))


@jit
def scatter(s: Skeleton, chance: FloatArray, q: FloatArray) -> None:
    """Fill rotations with a pose that spreads over what the limits allow.

    Args:
        s: The tree.
        chance: Numbers in 0 … 1, three for each bone, shape (3 m,).
        q: Filled, shape (m, 4).
    """
    for j in range(q.shape[0]):
        a, b, c = 2.0 * math.pi * chance[3 * j], chance[3 * j + 1], chance[3 * j + 2]
        parent = load(q, s.starts[j] - 1)
        lower, upper = s.bounds[j, LEAST_TWIST], s.bounds[j, GREATEST_TWIST]
        if s.kinds[j] == BALL_JOINT:
            x, y = math.sqrt(b) * math.cos(a), math.sqrt(b) * math.sin(a)
            x *= s.bounds[j, TILT_LEFT] if x >= 0.0 else s.bounds[j, TILT_RIGHT]
            y *= s.bounds[j, TILT_UP] if y >= 0.0 else s.bounds[j, TILT_DOWN]
            turn, frame = from_swing_twist(x, y, lower + c * (upper - lower)), load(s.frames, j)
            turn = multiply(frame, multiply(turn, conjugate(frame)))
        elif s.kinds[j] == HINGE_JOINT:
            n = s.axes[j]
            turn = about(n[0], n[1], n[2], lower + c * (upper - lower))
        else:
            angle = math.acos(1.0 - 2.0 * b)
            turn = from_swing_twist(angle * math.cos(a), angle * math.sin(a), 2.0 * math.pi * c)
        store(q, j, multiply(parent, turn))


@jit
def held(s: Skeleton, q: FloatArray, table: FloatArray, out: IntArray) -> None:
    """Mark the bones whose limit is touched.

    Args:
        s: The tree.
        q: Rotations, shape (m, 4).
        table: Scratch, shape (3 m, 6).
        out: Filled with 1 where a limit is touched, else 0, shape (m,).
    """
    freedoms(s, q, table)
    for j in range(q.shape[0]):
        out[j] = 0
        for c in range(3 * j, 3 * j + 3):
            if abs(table[c, 5]) == 1.0:
                out[j] = 1

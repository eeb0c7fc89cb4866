# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The nearest pose of an arm by brute force: Newton's method from many random starts.

It shares no code with the library: frames are products of matrices, as the description has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain

WEIGHTS = (3.0, 30.0, 300.0, 3e3, 3e4)  # of a metre against a radian, one after another
STEPS = 60  # of each weight
ENOUGH = 1e-14  # of the error: a step that gains less is not worth taking
AS_NEAR = 1e-10  # [m] by which a position may be farther than the nearest one


@njit(cache=True)  # type: ignore[untyped-decorator]
def place(
    origins: FloatArray, slides: Any, tip: FloatArray, q: FloatArray, axes: FloatArray,
    points: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the rotation and the place of the tip; write each joint's axis and a point of it."""
    turn, at, step = np.eye(3), np.zeros(3), np.empty((3, 3))
    for j in range(q.shape[0]):
        at, turn = at + _times(turn, origins[j, :, 3]), _product(turn, origins[j, :, :3])
        axes[j], points[j] = turn[:, 2], at
        if slides[j]:
            at = at + q[j] * turn[:, 2]
        else:
            c, s = np.cos(q[j]), np.sin(q[j])
            step[0, 0], step[0, 1], step[0, 2] = c, -s, 0.0
            step[1, 0], step[1, 1], step[1, 2] = s, c, 0.0
            step[2, 0], step[2, 1], step[2, 2] = 0.0, 0.0, 1.0
            turn = _product(turn, step)
    return _product(turn, tip[:, :3]), at + _times(turn, tip[:, 3])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _times(a: FloatArray, x: FloatArray) -> FloatArray:
    out = np.empty(3)
    for i in range(3):
        out[i] = a[i, 0] * x[0] + a[i, 1] * x[1] + a[i, 2] * x[2]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    out = np.empty((3, 3))
    for i in range(3):
        for k in range(3):
            out[i, k] = a[i, 0] * b[0, k] + a[i, 1] * b[1, k] + a[i, 2] * b[2, k]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def _dot(a: FloatArray, b: FloatArray) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _derivatives(
    slides: Any, axes: FloatArray, points: FloatArray, at: FloatArray, off: FloatArray,
    away: FloatArray, weights: tuple[float, float], slope: FloatArray, bend: FloatArray,
) -> None:  # fmt: skip
    """Write the error's gradient (n,) and Hessian (n, n): half a square, and 3 - trace(off)."""
    n, square, trace = slope.shape[0], weights[0] ** 2, off[0, 0] + off[1, 1] + off[2, 2]
    curl = np.empty(3)
    for i in range(3):
        curl[i] = off[(i + 2) % 3, (i + 1) % 3] - off[(i + 1) % 3, (i + 2) % 3]
    moves, levers, turned = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    for j in range(n):
        moves[j] = axes[j] if slides[j] else _cross(axes[j], at - points[j])
        levers[j], turned[j] = _cross(moves[j], away), _times(off, axes[j])
        slope[j] = square * _dot(moves[j], away)
        if not slides[j]:
            slope[j] += weights[1] * _dot(axes[j], curl)
        for i in range(j + 1):
            value = square * _dot(moves[i], moves[j])
            if not slides[i]:
                value += square * _dot(axes[i], levers[j])
                if not slides[j]:
                    both = _dot(axes[j], turned[i]) - _dot(axes[i], axes[j]) * trace
                    value -= weights[1] * both
            bend[i, j] = bend[j, i] = value


@njit(cache=True)  # type: ignore[untyped-decorator]
def _step(bend: FloatArray, slope: FloatArray, held: Any, damping: float, step: FloatArray) -> bool:
    """Write the damped step of the joints that are not held; False where it leads to no bottom."""
    n = slope.shape[0]
    low = np.zeros((n, n))
    for k in range(n):
        for i in range(k + 1):
            total = 0.0 if held[i] or held[k] else bend[k, i]
            if i == k:
                total = 1.0 if held[k] else total + damping
            for h in range(i):
                total -= low[k, h] * low[i, h]
            if i < k:
                low[k, i] = total / low[i, i]
            elif not total > 0.0:
                return False
            else:
                low[k, k] = np.sqrt(total)
    for k in range(n):
        total = 0.0 if held[k] else -slope[k]
        for h in range(k):
            total -= low[k, h] * step[h]
        step[k] = total / low[k, k]
    for k in range(n - 1, -1, -1):
        total = step[k]
        for h in range(k + 1, n):
            total -= low[h, k] * step[h]
        step[k] = total / low[k, k]
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _descend(
    origins: FloatArray, slides: Any, tip: FloatArray, limits: FloatArray, target: FloatArray,
    weights: tuple[float, float], q: FloatArray,
) -> None:  # fmt: skip
    """Walk q (n,) downhill within the limits (2, n), until it stands."""
    n = q.shape[0]
    axes, points, slope, bend = np.empty((n, 3)), np.empty((n, 3)), np.empty(n), np.empty((n, n))
    step, held, least, damping = np.empty(n), np.zeros(n, np.bool_), np.inf, 1e-3
    trial, back = q.copy(), np.ascontiguousarray(target[:3, :3].T)
    for _ in range(STEPS):
        turn, at = place(origins, slides, tip, trial, axes, points)
        away, off = at - target[:3, 3], _product(turn, back)
        error = 0.5 * weights[0] ** 2 * _dot(away, away)
        error += weights[1] * (3.0 - off[0, 0] - off[1, 1] - off[2, 2])
        if error < least:
            gain, least = least - error, error
            q[:] = trial
            if gain <= ENOUGH * least:
                return
            damping = max(damping / 10.0, 1e-10 * (1.0 + weights[0] ** 2))
            _derivatives(slides, axes, points, at, off, away, weights, slope, bend)
            for k in range(n):
                low, high = q[k] <= limits[0, k], q[k] >= limits[1, k]
                held[k] = (low and slope[k] >= 0.0) or (high and slope[k] <= 0.0)
        else:
            damping *= 10.0
        while not _step(bend, slope, held, damping, step):
            damping *= 10.0
        if damping > 1e9 * (1.0 + weights[0] ** 2):
            return
        most = max(1.0, np.abs(step).max() / 0.7)
        for k in range(n):
            trial[k] = min(limits[1, k], max(limits[0, k], q[k] + step[k] / most))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _descend_each(
    origins: FloatArray, slides: Any, tip: FloatArray, limits: FloatArray, target: FloatArray,
    weights: FloatArray, starts: FloatArray, left: FloatArray,
) -> None:  # fmt: skip
    """Descend from starts (k, n), which are overwritten; write distances and angles (k, 2)."""
    n = starts.shape[1]
    axes, points = np.empty((n, 3)), np.empty((n, 3))
    for i in range(starts.shape[0]):
        if i % 2:  # to the nearest position first
            _descend(origins, slides, tip, limits, target, (weights[-1], 0.0), starts[i])
        for weight in weights:
            _descend(origins, slides, tip, limits, target, (weight, 1.0), starts[i])
        _descend(origins, slides, tip, limits, target, (weights[-1], 0.0), starts[i])
        turn, at = place(origins, slides, tip, starts[i], axes, points)
        left[i, 0] = np.sqrt(((at - target[:3, 3]) ** 2).sum())
        left[i, 1] = np.sqrt(((turn - target[:3, :3]) ** 2).sum())


def nearest(
    chain: Chain, target: FloatArray, start: FloatArray, starts: int, rng: np.random.Generator
) -> FloatArray:
    """Return distance [m] and angle [rad] that each of many starts leaves, (starts, 2).

    Args:
        chain: Without coupled joints.
        target: (4, 4) root_T_target.
        start: (n,) the first start.
        starts: How many; the others are random.
        rng: For these.
    """
    arrays = chain.arrays
    limits = np.array([arrays.lower, arrays.upper])
    low, high = np.maximum(limits[0], -np.pi), np.minimum(limits[1], np.pi)
    q, left = rng.uniform(low, high, (starts, len(low))), np.empty((starts, 2))
    q[0] = start
    _descend_each(
        arrays.origins, arrays.prismatic, arrays.tip, limits, target, np.array(WEIGHTS), q, left
    )
    left[:, 1] = 2.0 * np.arcsin(np.minimum(1.0, left[:, 1] / np.sqrt(8.0)))
    return left

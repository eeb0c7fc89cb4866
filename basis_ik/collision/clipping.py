# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Triangles cut by planes, and directions in which shapes are measured."""

from __future__ import annotations

from functools import cache

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import read_only


def clipped(triangles: FloatArray, over: FloatArray) -> FloatArray:
    """Return the parts (g, 3, 3) of triangles whose corners have `over` (f, 3) below zero."""
    count = (over > 0.0).sum(axis=1)
    parts = [triangles[count == 0]]
    for k in range(3):
        a, b, c = k, (k + 1) % 3, (k + 2) % 3
        alone = (count == 2) & (over[:, a] <= 0.0)  # one corner is left
        tip, at = triangles[alone], over[alone]
        parts.append(
            np.stack([tip[:, a], _between(tip, at, a, b), _between(tip, at, a, c)], axis=1)
        )
        lost = (count == 1) & (over[:, a] > 0.0)  # two are left
        rest, at = triangles[lost], over[lost]
        first, second = _between(rest, at, b, a), _between(rest, at, c, a)
        parts.append(np.stack([rest[:, b], rest[:, c], second], axis=1))
        parts.append(np.stack([rest[:, b], second, first], axis=1))
    return np.concatenate(parts)


def _between(triangles: FloatArray, over: FloatArray, inside: int, outside: int) -> FloatArray:
    """Return where edges of triangles cross the plane at which `over` is zero."""
    share = (over[:, inside] / (over[:, inside] - over[:, outside]))[:, None]
    crossing: FloatArray = triangles[:, inside] + share * (
        triangles[:, outside] - triangles[:, inside]
    )
    return crossing


def crossings(triangles: FloatArray, axis: int, at: float) -> FloatArray:
    """Return where the edges of triangles (f, 3, 3) cross a plane across an axis, shape (k, 3)."""
    ends = triangles, np.roll(triangles, -1, axis=1)
    over = [each[:, :, axis] - at for each in ends]
    crosses = over[0] * over[1] < 0.0
    one, other = (each[crosses] for each in ends)
    share = (over[0][crosses] / (over[0][crosses] - over[1][crosses]))[:, np.newaxis]
    found: FloatArray = one + share * (other - one)
    return found


@cache
def directions_around(count: int) -> FloatArray:
    """Return directions (count, 3) all around, read-only."""
    k = np.arange(count) + 0.5
    up = 1.0 - 2.0 * k / count
    turn = k * np.pi * (3.0 - 5.0**0.5)
    flat = np.sqrt(1.0 - up * up)
    return read_only(np.column_stack([flat * np.cos(turn), flat * np.sin(turn), up]))

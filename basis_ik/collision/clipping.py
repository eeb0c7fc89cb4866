# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Triangles cut by planes, and directions in which shapes are measured."""

from __future__ import annotations

from functools import cache

import numpy as np

from basis_ik.collision.clipping_kernel import write_clipped
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import read_only


def clipped(triangles: FloatArray, axis: int, sign: float, bound: float) -> FloatArray:
    """Return the parts (g, 3, 3) of triangles at whose points x sign * x[axis] <= bound."""
    parts = np.empty((2 * len(triangles), 3, 3))
    found: FloatArray = parts[: write_clipped(triangles, axis, sign, bound, parts)]
    return found


@cache
def directions_around(count: int) -> FloatArray:
    """Return directions (count, 3) all around, read-only."""
    k = np.arange(count) + 0.5
    up = 1.0 - 2.0 * k / count
    turn = k * np.pi * (3.0 - 5.0**0.5)
    flat = np.sqrt(1.0 - up * up)
    return read_only(np.column_stack([flat * np.cos(turn), flat * np.sin(turn), up]))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Triangles cut across an axis, and the points of the parts that are farthest along directions."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit


@jit
def write_clipped(
    triangles: FloatArray, axis: int, sign: float, bound: float, parts: FloatArray
) -> int:
    """Write the parts of triangles on one side of a plane across an axis.

    Args:
        triangles: (f, 3, 3).
        axis: 0, 1 or 2.
        sign: 1 or -1: points x with sign * x[axis] <= bound are kept.
        bound: The plane is where these are equal.
        parts: (2 f, 3, 3) result.

    Returns:
        The number of parts.
    """
    count = 0
    over = np.empty(3)
    for f in range(triangles.shape[0]):
        outside, lone_out, lone_in = 0, 0, 0
        for i in range(3):
            over[i] = sign * triangles[f, i, axis] - bound
            if over[i] > 0.0:
                outside, lone_out = outside + 1, i
            else:
                lone_in = i
        if outside == 3:
            continue
        if outside == 0:
            for i in range(3):
                for j in range(3):
                    parts[count, i, j] = triangles[f, i, j]
            count += 1
            continue
        # One corner is alone on its side; two edges from it cross the plane.
        a = lone_out if outside == 1 else lone_in
        b, c = (a + 1) % 3, (a + 2) % 3
        to_b, to_c = over[a] / (over[a] - over[b]), over[a] / (over[a] - over[c])
        for j in range(3):
            tip = triangles[f, a, j]
            at_b = tip + to_b * (triangles[f, b, j] - tip)
            at_c = tip + to_c * (triangles[f, c, j] - tip)
            if outside == 2:
                parts[count, 0, j], parts[count, 1, j], parts[count, 2, j] = tip, at_b, at_c
            else:
                x, y = triangles[f, b, j], triangles[f, c, j]
                parts[count, 0, j], parts[count, 1, j], parts[count, 2, j] = x, y, at_c
                parts[count + 1, 0, j], parts[count + 1, 1, j] = x, at_c
                parts[count + 1, 2, j] = at_b
        count += 3 - outside
    return count


@helper
def _take_in(
    x: FloatArray, directions: FloatArray, heights: FloatArray, points: FloatArray
) -> None:
    """Put a point (3,) in the place of those that it is farther along directions than."""
    for k in range(directions.shape[0]):
        height = directions[k, 0] * x[0] + directions[k, 1] * x[1] + directions[k, 2] * x[2]
        if height > heights[k]:
            heights[k] = height
            for i in range(3):
                points[k, i] = x[i]


@jit
def write_farthest(
    triangles: FloatArray, axis: int, cuts: FloatArray, directions: FloatArray, farthest: FloatArray
) -> None:
    """Write the points that are farthest along directions, on both sides of each cut.

    Args:
        triangles: (f, 3, 3).
        axis: Which axis is cut.
        cuts: (k,) where, ascending.
        directions: (d, 3).
        farthest: (2, k, d, 3) result: points of triangles, and where the cut crosses their edges,
            below and above the cuts; infinite where there are none.
    """
    count, most = cuts.shape[0], directions.shape[0]
    # Each corner is looked at once, in its part between two cuts, and not anew for each cut.
    between, points = np.full((count + 1, most), -np.inf), np.full((count + 1, most, 3), np.inf)
    heights = np.full((2, count, most), -np.inf)
    farthest[:] = np.inf
    x = np.empty(3)
    for f in range(triangles.shape[0]):
        for i in range(3):
            one, other = triangles[f, i], triangles[f, (i + 1) % 3]
            part = 0
            for k in range(count):
                over, over_other = one[axis] - cuts[k], other[axis] - cuts[k]
                if over > 0.0:
                    part = k + 1
                if over == 0.0 or over * over_other < 0.0:
                    share = 0.0 if over == 0.0 else over / (over - over_other)
                    for j in range(3):
                        x[j] = one[j] + share * (other[j] - one[j])
                    for side in range(2):
                        _take_in(x, directions, heights[side, k], farthest[side, k])
            _take_in(one, directions, between[part], points[part])
    for k in range(count):
        for part in range(count + 1):
            side = 0 if part <= k else 1
            for d in range(most):
                if between[part, d] > heights[side, k, d]:
                    heights[side, k, d] = between[part, d]
                    for j in range(3):
                        farthest[side, k, d, j] = points[part, d, j]

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The capsule along an axis that contains points and sticks out of a shape least."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

CENTRE_STEPS = 19


@helper
def _write_centre(points: FloatArray, i: int, j: int, centre: FloatArray) -> float:
    """Write nearly the centre of the least circle around points; return its squared radius.

    By Badoiu and Clarkson 2003: each step goes some way towards the farthest point.
    """
    low, high = np.array([inf, inf]), np.array([-inf, -inf])
    for k in range(points.shape[0]):
        low[0], high[0] = min(low[0], points[k, i]), max(high[0], points[k, i])
        low[1], high[1] = min(low[1], points[k, j]), max(high[1], points[k, j])
    x, y, least = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), inf
    for step in range(1, CENTRE_STEPS + 1):
        farthest, most = 0, -1.0
        for k in range(points.shape[0]):
            squared = (points[k, i] - x) ** 2 + (points[k, j] - y) ** 2
            if squared > most:
                farthest, most = k, squared
        if most < least:
            least, centre[0], centre[1] = most, x, y
        x += (points[farthest, i] - x) / (step + 1.0)
        y += (points[farthest, j] - y) / (step + 1.0)
    return least


@jit
def fit_capsule(
    points: FloatArray, axis: int, directions: FloatArray, support: FloatArray, ratios: FloatArray,
    capsule: FloatArray,
) -> float:  # fmt: skip
    """Write the capsule along an axis that contains points; return the least surplus found.

    Args:
        points: (n, 3).
        axis: 0, 1 or 2.
        directions: (d, 3) in which the surplus is measured.
        support: (d,) of the shape.
        ratios: Radii to try, by the least radius about the axis.
        capsule: (7,) result: both ends of its axis, and its radius.
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    centre = np.empty(2)
    least = sqrt(_write_centre(points, i, j, centre))
    best = chosen = inf
    for ratio in ratios:
        radius = least * ratio + 1e-12
        low, high = inf, -inf
        for k in range(points.shape[0]):
            off = (points[k, i] - centre[0]) ** 2 + (points[k, j] - centre[1]) ** 2
            half = sqrt(max(radius * radius - off, 0.0))
            low, high = min(low, points[k, axis] + half), max(high, points[k, axis] - half)
        if low > high:
            low = high = 0.5 * (low + high)
        surplus = -inf
        for k in range(directions.shape[0]):
            n = directions[k]
            top = max(low * n[axis], high * n[axis]) + n[i] * centre[0] + n[j] * centre[1]
            surplus = max(surplus, top - support[k])
        if surplus + radius < best:
            best, chosen = surplus + radius, radius
            capsule[axis], capsule[3 + axis] = low, high
    capsule[i] = capsule[3 + i] = centre[0]
    capsule[j] = capsule[3 + j] = centre[1]
    # The radius by the points themselves: what was rounded above does not matter.
    most = 0.0
    for k in range(points.shape[0]):
        along = min(max(points[k, axis], capsule[axis]), capsule[3 + axis])
        off = (points[k, i] - centre[0]) ** 2 + (points[k, j] - centre[1]) ** 2
        most = max(most, off + (points[k, axis] - along) ** 2)
    capsule[6] = sqrt(most)
    return float(best + max(0.0, capsule[6] - chosen))

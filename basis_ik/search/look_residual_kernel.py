# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual of a ray that is to meet a point: its rows, and its measure for the proof."""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from basis_ik.descent.tables_kernel import WRX
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.search.limb_kernel import Residual

NEAREST_RAY_POINT = 1e-9  # [m]: a point nearer to a ray's origin has no direction from there


def look_miss(frame: FloatArray, goal: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return 0, and the angle between the tip's z and the direction to the point [rad].

    The angle is π where the point is the ray's own origin: there is no direction.
    """
    (x, y, z), (a, b, c) = frame[:, 2].tolist(), (goal[:3, 3] - frame[:, 3]).tolist()
    if not a * a + b * b + c * c > NEAREST_RAY_POINT * NEAREST_RAY_POINT:
        return 0.0, pi
    across = sqrt((y * c - z * b) ** 2 + (z * a - x * c) ** 2 + (x * b - y * a) ** 2)
    return 0.0, atan2(across, x * a + y * b + z * c)  # np.cross would take 50 µs


LOOK_KIND = 1
LOOK_RESIDUAL = Residual(LOOK_KIND, 0, 3, look_miss)


@helper
def look_rows(
    weights: FloatArray, goal: FloatArray, frame: FloatArray, twists: FloatArray,
    error: FloatArray, jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write three rows: the direction to the point, less that of the ray, the tip's z."""
    ray, way, weight, far = frame[:, 2], np.empty(3), weights[WRX], 0.0
    for r in range(3):
        way[r] = goal[r, 3] - frame[r, 3]
        far += way[r] * way[r]
    far = max(sqrt(far), NEAREST_RAY_POINT)
    for r in range(3):
        way[r] /= far
        error[r] = weight * (way[r] - ray[r])
    for k in range(twists.shape[0]):
        along = way[0] * twists[k, 0] + way[1] * twists[k, 1] + way[2] * twists[k, 2]
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            turned = twists[k, 3 + s] * ray[t] - twists[k, 3 + t] * ray[s]
            jacobian[r, k] = weight * (turned + (twists[k, r] - along * way[r]) / far)

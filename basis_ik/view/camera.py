# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where a camera sees all that is to be seen."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray

CAMERA_SIDE = np.array([1.0, 1.0, 0.75])  # where cameras stand, as seen from the middle
VIEW_MARGIN = 0.2  # for meshes, the handle and a text
LEAST_VIEW_EXTENT = 0.5  # [m]


class View(NamedTuple):
    """Where a camera is, and what it looks at.

    Attributes:
        position: [m].
        look_at: [m].
    """

    position: FloatArray
    look_at: FloatArray


def fitted(points: FloatArray, field: float, aspect: float, spare: float = VIEW_MARGIN) -> View:
    """Return the nearest view from `CAMERA_SIDE` that has points, with space around them, in sight.

    Args:
        points: Shape (n, 3) [m].
        field: Vertical field of view [rad].
        aspect: Width of the window divided by its height.
        spare: The space around them, in their extents.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    middle, extent = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), LEAST_VIEW_EXTENT)
    back = CAMERA_SIDE / np.linalg.norm(CAMERA_SIDE)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    toward, across, up = ((points - middle) @ np.stack([back, right, np.cross(back, right)]).T).T
    slope = math.tan(0.5 * field)
    needed = np.maximum(
        (np.abs(across) + spare * extent) / (slope * aspect),
        (np.abs(up) + spare * extent) / slope,
    )
    return View(middle + float((toward + needed).max()) * back, middle)

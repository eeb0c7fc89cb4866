# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual of a point of a link that is to keep a distance from another point.

The whole residual is in this file: its rows for a descent, its measure for the proof, and the task
that a caller gives. `residuals_kernel` lists its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from basis_ik.descent.pose_search_kernel import LARGEST_LENGTH
from basis_ik.descent.tables_kernel import BOX_X, ORIGIN, WX
from basis_ik.numerics.arrays import ByValue, FloatArray, as_length, as_three
from basis_ik.numerics.jit import helper
from basis_ik.search.limb_kernel import PackedTask, PreparedLimb, Residual

NEAREST_POINT = 1e-12  # [m]: of a point nearer than this any direction leads away
TO_KEEP = BOX_X  # of the weights: the distance to keep [m]


@helper
def distance_rows(
    weights: FloatArray, goal: FloatArray, frame: FloatArray, twists: FloatArray,
    error: FloatArray, jacobian: FloatArray,
) -> None:  # fmt: skip
    """Write one row: the distance to keep less the tip's distance from the point."""
    x, y, z = frame[0, 3] - goal[0, 3], frame[1, 3] - goal[1, 3], frame[2, 3] - goal[2, 3]
    far = sqrt(x * x + y * y + z * z)
    u, v, w = 1.0, 0.0, 0.0
    if far > NEAREST_POINT:
        u, v, w = x / far, y / far, z / far
    error[0] = weights[WX] * (weights[TO_KEEP] - far)
    for k in range(twists.shape[0]):
        jacobian[0, k] = weights[WX] * (u * twists[k, 0] + v * twists[k, 1] + w * twists[k, 2])


def distance_miss(frame: FloatArray, goal: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the difference from the distance to keep [m], and 0."""
    return float(abs(np.linalg.norm(frame[:, 3] - goal[:3, 3]) - weights[TO_KEEP])), 0.0


DISTANCE_KIND = 2
DISTANCE_RESIDUAL = Residual(DISTANCE_KIND, 1, 0, distance_miss)


@dataclass(frozen=True, eq=False)
class DistanceTask(ByValue):
    """A point of a link is to be at a distance from a point: a camera's or a sprayer's standoff.

    Attributes:
        tip: The link.
        point: (3,) the centre, in the root frame [m].
        distance: How far from it the link's point is to be [m], above 0: to be at the point is a
            `PoseTask`.
        origin: (3,) the link's point, in the link's coordinates [m].
        priority: 0 is the most important.
    """

    tip: str
    point: ArrayLike
    distance: float
    origin: ArrayLike = (0.0, 0.0, 0.0)
    priority: int = 0

    def pack(self, name: str, ready: PreparedLimb) -> PackedTask:
        """Return the task as kernels take it.

        Args:
            name: Its own, for errors.
            ready: The chain to the tip.

        Raises:
            SolveArgumentError: An attribute of wrong kind, shape or range.
        """
        goal, weights, limb = np.eye(4), np.zeros(12), ready.exact.copy()
        goal[:3, 3] = as_three(f"{name}.point", self.point, LARGEST_LENGTH)
        weights[WX] = ready.weights[WX]
        weights[TO_KEEP] = as_length(f"{name}.distance", self.distance, LARGEST_LENGTH)
        origin = as_three(f"{name}.origin", self.origin, LARGEST_LENGTH)
        link = limb[-1, ORIGIN].reshape(3, 4)
        link[:, 3] += link[:, :3] @ origin
        radius = float(weights[TO_KEEP] + np.linalg.norm(origin))
        return PackedTask(DISTANCE_RESIDUAL, limb, weights, goal, radius)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pointing error of a ray, and its progress."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from basis_ik.arm.goals import Ray, Triple
from basis_ik.transforms.rigid import RigidTransform

STALL_TIME = 5.0  # [s], without progress, after which a goal is aborted
LEAST_PROGRESS = 1e-4  # [rad, or m for a prismatic joint]


@dataclass
class Progress:
    """Progress of a ray towards a point.

    Attributes:
        since: Steady time of the last progress, or until which none is expected [s].
        angle: Smallest pointing error so far [rad].
        way: Smallest remaining distance of any joint so far [rad or m].
    """

    since: float
    angle: float = math.inf
    way: float = math.inf

    def observe(self, angle: float, way: float, now: float) -> None:
        """Add a pointing error [rad] and the joints' remaining distance [rad or m] at now [s]."""
        if angle < self.angle - LEAST_PROGRESS or way < self.way - LEAST_PROGRESS:
            self.since = max(self.since, now)
            self.angle, self.way = min(angle, self.angle), min(way, self.way)

    def wait(self, now: float) -> None:
        """Expect no progress before a time [s]."""
        self.since = max(self.since, now)

    def stalled(self, now: float) -> bool:
        """Return whether there has been no progress for too long."""
        return now - self.since > STALL_TIME


def pointing_error(root_T_tip: RigidTransform, ray: Ray, root_point: Triple) -> float:
    """Return the angle between a ray and the line from its origin to a point [rad].

    A point at the origin has no direction; its error counts as half a turn.

    Args:
        root_T_tip: Pose of the tip.
        ray: The ray, in tip coordinates.
        root_point: The point, in the root frame [m].
    """
    line = np.array(root_point) - root_T_tip.apply(ray.origin)
    if not line.any():
        return math.pi
    axis = root_T_tip.apply_vector(ray.axis)
    return math.atan2(float(np.linalg.norm(np.cross(axis, line))), float(axis @ line))

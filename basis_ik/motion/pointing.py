"""How far a ray misses a point."""

from __future__ import annotations

import math

import numpy as np

from basis_ik.motion.goals import Ray, Triple
from basis_ik.transforms.rigid import RigidTransform


def pointing_error(root_T_tip: RigidTransform, ray: Ray, root_point: Triple) -> float:
    """Return the angle between a ray and the line from its origin to a point [rad].

    A point on the origin itself has no direction; it counts as missed by half a turn.

    Args:
        root_T_tip: Where the tip is.
        ray: In tip coordinates.
        root_point: In the root frame [m].
    """
    line = np.array(root_point) - root_T_tip.apply(ray.origin)
    if not line.any():
        return math.pi
    axis = root_T_tip.apply_vector(ray.axis)
    return math.atan2(float(np.linalg.norm(np.cross(axis, line))), float(axis @ line))

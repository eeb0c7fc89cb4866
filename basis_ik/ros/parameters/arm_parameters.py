# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ray of an arm from parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from basis_ik.arm.goals import Ray
from basis_ik.robot.chain import Chain
from basis_ik.robot.names import forward_axis
from basis_ik.robot.placement import place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.parameters.parameters import ConfigError
from basis_ik.transforms.rigid import RigidTransform

SHORTEST_AXIS = 1e-9


def pointing_ray(model: RobotModel, chain: Chain, axis: Sequence[float], frame: str) -> Ray:
    """Return the ray that points at target points, in tip coordinates.

    Args:
        model: The robot.
        chain: The chain.
        axis: Direction in the coordinates of `frame` (3,), of any positive length; empty:
            `forward_axis` of that link.
        frame: A link that is fixed to the tip; empty: the tip.

    Raises:
        BasisIkError: The axis does not have three numbers or is zero, or the link does not exist.
    """
    frame = model.link(frame) or chain.tip
    return ray_of(place_link(model, chain.tip, frame, {}), axis, frame)


def axis_complaint(axis: Sequence[float]) -> str | None:
    """Return why numbers are not a direction, or None; an empty list means the default."""
    if not axis or (len(axis) == 3 and SHORTEST_AXIS <= math.hypot(*axis) < math.inf):
        return None
    return f"must be three numbers that are not all 0, not {list(axis[:4])}"


def ray_of(tip_T_frame: RigidTransform, axis: Sequence[float], frame: str) -> Ray:
    """Return the ray from a frame's origin along an axis of that frame, in tip coordinates.

    Args:
        tip_T_frame: The frame's pose.
        axis: As for `pointing_ray`.
        frame: The frame's name.

    Raises:
        ConfigError: The axis does not have three numbers, or is zero.
    """
    if not axis:
        axis = forward_axis(frame)
    complaint = axis_complaint(axis)
    if complaint:
        raise ConfigError(f"pointing_axis {complaint}")
    x, y, z = tip_T_frame.apply_vector(axis).tolist()
    a, b, c = tip_T_frame.translation.tolist()
    return Ray((x, y, z), (a, b, c))

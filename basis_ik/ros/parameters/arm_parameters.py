# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The settings of an arm from parameters: of its loop, its ray and its positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.arm.admission import StampRules
from basis_ik.arm.goals import Ray
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.names import forward_axis
from basis_ik.robot.placement import place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.parameters.parameters import ConfigError, Parameters
from basis_ik.transforms.rigid import RigidTransform

SHORTEST_AXIS = 1e-9
# Drives that overshoot leave a joint slightly outside its limits. Farther outside than this, its
# encoder or the model is wrong, or the arm was moved by hand.
MOST_OUTSIDE = 0.5  # rad
MOST_OUTSIDE_SLIDE = 0.1  # m


class Settings(NamedTuple):
    """The parameters of the control loop, in its units."""

    stamp_rules: StampRules
    target_max_reach: float
    transform_timeout: float
    joint_state_timeout: float
    resume_timeout: float
    twist_lasts: float
    position_only: bool
    velocity_scaling: float
    acceleration_scaling: float
    position_tolerance: float
    orientation_tolerance: float
    goal_tolerance: float

    @staticmethod
    def of(parameters: Parameters) -> Settings:
        """Return the settings from a node's current parameters."""
        return Settings(
            stamp_rules=StampRules(
                max_age=round(parameters["target_max_age"] * 1e9),
                max_future=round(parameters["target_max_future"] * 1e9),
            ),
            target_max_reach=parameters["target_max_reach"],
            transform_timeout=parameters["transform_timeout"],
            joint_state_timeout=parameters["joint_state_timeout"],
            resume_timeout=parameters["resume_timeout"],
            twist_lasts=parameters["incoming_command_timeout"],
            position_only=parameters["position_only_ik"],
            velocity_scaling=parameters["max_velocity_scaling_factor"],
            acceleration_scaling=parameters["max_acceleration_scaling_factor"],
            position_tolerance=parameters["position_threshold"],
            orientation_tolerance=parameters["orientation_threshold"],
            goal_tolerance=parameters["goal_tolerance"],
        )


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


def outside(chain: Chain, margin: Sequence[float], measured: FloatArray) -> str:
    """Return which joint is too far outside its limits to move by itself, or nothing.

    Args:
        chain: The chain; its limits are those of the joints, less a margin.
        margin: That margin, one for all joints or one for each; empty: none [rad or m].
        measured: Positions (n,) [rad or m]; NaN where they are not known.
    """
    apart = np.array(margin) if margin else 0.0
    lower, upper = chain.lower - apart, chain.upper + apart
    most = np.where(chain.prismatic, MOST_OUTSIDE_SLIDE, MOST_OUTSIDE)
    beyond = np.maximum(lower - measured, measured - upper)
    if not (beyond > most).any():
        return ""
    k = int(np.nanargmax(beyond / most))
    return (
        f"{chain.joint_names[k]} is at {measured[k]:.4g}, {beyond[k]:.4g} outside its limits "
        f"[{lower[k]:.4g}, {upper[k]:.4g}]: check its encoder and the robot description, or move "
        "it back by the robot's own means"
    )


def misplaced(chain: Chain, positions: Sequence[float]) -> str | None:
    """Return what is wrong with joint positions (n,) [rad or m], or None."""
    names = chain.joint_names
    if len(positions) != len(names):
        return f"{len(names)} positions are needed ({', '.join(names)}), not {len(positions)}"
    for name, value, low, high in zip(names, positions, chain.lower, chain.upper, strict=True):
        if not (np.isfinite(value) and low <= value <= high):
            return f"{name} must lie in [{low:g}, {high:g}], not {value:g}"
    return None

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commanded joint trajectories, and the rules by which a trajectory controller refuses them.

The rules are those of ros2_control's joint_trajectory_controller (Jazzy), according to its manual;
docstrings state where this module is stricter. Positions are [rad] or [m], velocities per second,
times [s].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import listed

# [rad] or [m], beyond any joint's value; larger numbers would overflow the interpolation.
LARGEST_WAYPOINT_VALUE = 1e9
# A final velocity below this counts as zero (single precision epsilon, as upstream).
LARGEST_FINAL_VELOCITY = float(np.finfo(np.float32).eps)


class ErrorCode(IntEnum):
    """The result of a command or goal, as in control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True)
class CommandFault:
    """Why a command is refused.

    Attributes:
        code: The kind of fault.
        reason: One line with the offending joint, point and value.
    """

    code: ErrorCode
    reason: str


class Waypoint(NamedTuple):
    """A state to reach; all arrays but the positions may be empty.

    Attributes:
        time: Since the start of the trajectory [s].
        positions: shape (k,), in the order of the command's joint names.
        velocities: shape (k,) or (0,).
        accelerations: shape (k,) or (0,).
        effort: shape (k,) or (0,).
    """

    time: float
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class TrajectoryCommand:
    """A commanded trajectory, not yet checked.

    Attributes:
        joint_names: k names.
        waypoints: The waypoints, in the order of their times.
        start: Time of its start on the controller's clock [s]; None: the time it takes effect.
    """

    joint_names: tuple[str, ...]
    waypoints: tuple[Waypoint, ...]
    start: float | None = None


def refuse_trajectory(
    command: TrajectoryCommand,
    joints: Sequence[str],
    now: float,
    *,
    allow_partial_joints: bool = False,
    allow_final_velocity: bool = False,
) -> CommandFault | None:
    """Return why a command is refused, or None.

    Stricter than upstream: duplicate joints, values that are not finite or beyond 1e9, and
    accelerations without velocities are also refused.

    Args:
        command: The command.
        joints: The controller's joints.
        now: Time on the controller's clock [s].
        allow_partial_joints: Whether a subset of the joints is enough.
        allow_final_velocity: Whether the last waypoint may have a velocity.
    """
    refusal = _refuse_joints(command.joint_names, joints, allow_partial_joints)
    if refusal is not None:
        return refusal
    if not command.waypoints:
        return CommandFault(ErrorCode.INVALID_GOAL, "the trajectory has no points")
    for index, waypoint in enumerate(command.waypoints):
        reason = _waypoint_fault(waypoint, command.joint_names)
        if reason is not None:
            return CommandFault(ErrorCode.INVALID_GOAL, f"point {index}: {reason}")
    times = [waypoint.time for waypoint in command.waypoints]
    for index in range(1, len(times)):
        if not times[index - 1] < times[index]:
            return CommandFault(
                ErrorCode.INVALID_GOAL,
                f"point {index}: time_from_start {times[index]:.9g} s is not after the "
                f"{times[index - 1]:.9g} s of the point before",
            )
    if command.start is not None and command.start + times[-1] < now:
        ago = now - (command.start + times[-1])
        return CommandFault(ErrorCode.OLD_HEADER_TIMESTAMP, f"the trajectory ended {ago:.3f} s ago")
    return None if allow_final_velocity else _refuse_final_velocity(command)


def _refuse_final_velocity(command: TrajectoryCommand) -> CommandFault | None:
    velocities = command.waypoints[-1].velocities
    for name, velocity in zip(command.joint_names, velocities, strict=False):
        if abs(velocity) > LARGEST_FINAL_VELOCITY:
            text = f"joint '{name}' has velocity {velocity:.6g} at the last point instead of zero"
            return CommandFault(ErrorCode.INVALID_GOAL, text)
    return None


def _refuse_joints(
    names: Sequence[str], joints: Sequence[str], allow_partial: bool
) -> CommandFault | None:
    reason = None
    counts = Counter(names)
    unknown = [name for name in counts if name not in joints]
    duplicates = [name for name, count in counts.items() if count > 1]
    missing = [joint for joint in joints if joint not in counts]
    if not names:
        reason = "no joint names"
    elif unknown:
        reason = f"unknown joint {listed(unknown, 1)}; the joints are {listed(joints)}"
    elif duplicates:
        reason = f"joint {listed(duplicates)} is named more than once"
    elif missing and not allow_partial:
        reason = f"joint {listed(missing)} is missing and allow_partial_joints_goal is false"
    return None if reason is None else CommandFault(ErrorCode.INVALID_JOINTS, reason)


def _waypoint_fault(waypoint: Waypoint, names: Sequence[str]) -> str | None:
    if not math.isfinite(waypoint.time):
        return f"time_from_start {waypoint.time:.9g} s is not finite"
    if waypoint.effort.size:
        return "effort is not supported"
    fields = ("positions", "velocities", "accelerations")
    for field, values in zip(fields, waypoint[1:4], strict=True):
        if values.size != len(names) and (values.size or field == "positions"):
            return f"{values.size} {field} for {len(names)} joint names"
        if not np.all(np.abs(values) <= LARGEST_WAYPOINT_VALUE):
            index = int(np.argmin(np.abs(values) <= LARGEST_WAYPOINT_VALUE))
            limit = "beyond 1e9" if np.isfinite(values[index]) else "not finite"
            return f"{field} of joint '{names[index]}' are {limit} ({values[index]:g})"
    if waypoint.accelerations.size and not waypoint.velocities.size:
        return "accelerations without velocities"
    return None

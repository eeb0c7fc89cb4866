"""Trajectory messages to commands, and desired and actual states back to messages."""

from __future__ import annotations

from array import array

import numpy as np
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.motion.tolerances import JointTolerance
from basis_ik.motion.trajectory_command import TrajectoryCommand, Waypoint

FloatArray = NDArray[np.float64]


def to_command(message: JointTrajectory, origin: int) -> TrajectoryCommand:
    """A message as a command.

    Args:
        message: Any; nothing is checked.
        origin: What its stamp is counted from [ns].

    Returns:
        The command; a stamp of zero means "start now".
    """
    stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    return TrajectoryCommand(
        tuple(message.joint_names),
        tuple(_waypoint(point) for point in message.points),
        1e-9 * (stamp - origin) if stamp else None,
    )


def _waypoint(point: JointTrajectoryPoint) -> Waypoint:
    return Waypoint(
        point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec,
        np.array(point.positions),
        np.array(point.velocities),
        np.array(point.accelerations),
        np.array(point.effort),
    )


def to_wishes(
    goal: FollowJointTrajectory.Goal,
) -> tuple[list[JointTolerance], list[JointTolerance], float]:
    """The tolerances that a goal asks for: on the path, at the goal, and in time [s]."""
    path, end = (
        [JointTolerance(wish.name, wish.position, wish.velocity) for wish in wishes]
        for wishes in (goal.path_tolerance, goal.goal_tolerance)
    )
    time = goal.goal_time_tolerance
    return path, end, time.sec + 1e-9 * time.nanosec


def to_point(
    positions: FloatArray, velocities: FloatArray, accelerations: FloatArray | None = None
) -> JointTrajectoryPoint:
    """A state as a message; each array has shape (n,)."""
    point = JointTrajectoryPoint(positions=to_array(positions), velocities=to_array(velocities))
    if accelerations is not None:
        point.accelerations = to_array(accelerations)
    return point


def to_array(values: FloatArray) -> array[float]:
    """Values in the form that messages take without looking at each."""
    return array("d", values.tobytes())

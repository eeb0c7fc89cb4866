# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between trajectory messages and commands, motions or states."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.arm.limiter import Motion
from basis_ik.arm.moment import SECOND
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.simulation.tolerances import JointTolerance
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint

HEADER_BYTES = 4  # before the content of a serialised message


def to_command(message: JointTrajectory, origin: int) -> TrajectoryCommand:
    """Return a message as a command.

    Args:
        message: The message, not checked.
        origin: Time that is zero in the command's start time [ns].

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


def to_overrides(
    goal: FollowJointTrajectory.Goal,
) -> tuple[list[JointTolerance], list[JointTolerance], float]:
    """Return a goal's tolerances: of the path, of the goal, and of the goal's time [s]."""
    path, end = (
        [JointTolerance(each.name, each.position, each.velocity) for each in joints]
        for joints in (goal.path_tolerance, goal.goal_tolerance)
    )
    time = goal.goal_time_tolerance
    return path, end, time.sec + 1e-9 * time.nanosec


def to_point(
    positions: FloatArray, velocities: FloatArray, accelerations: FloatArray | None = None
) -> JointTrajectoryPoint:
    """Return a state as a message; each array has shape (n,)."""
    point = JointTrajectoryPoint(positions=to_array(positions), velocities=to_array(velocities))
    if accelerations is not None:
        point.accelerations = to_array(accelerations)
    return point


class SerializationError(BasisIkError):
    """The middleware serialises messages in an unknown format."""


class SerializedTrajectory:
    """A serialised JointTrajectory with a fixed number of points.

    Successive messages of a control loop differ only in numbers. Creating and serialising a message
    object would take as long as the rest of the loop. Therefore rclpy serialises one sample, and
    later numbers overwrite the sample's.

    Args:
        joint_names: The n joints.
        count: Number of points, k.
        held: Names of m further joints, which rest.

    Raises:
        SerializationError: The sample does not have the layout of CDR, ROS 2's format.
    """

    def __init__(self, joint_names: Sequence[str], count: int, held: Sequence[str] = ()) -> None:
        joint_names = [*joint_names, *held]
        n = len(joint_names)
        states = np.pi + np.arange(float(count * 3 * n)).reshape(count, 3, n)
        times = 1 + np.arange(2 * (1 + count)).reshape(1 + count, 2)
        found = _sample(joint_names, states, times)
        # Each point: three times a count and n numbers, the number of efforts (0), the time.
        begin, field = max(found.find(states[0, 0].tobytes()), 0), 8 * (n + 1)
        point = 3 * field + 8
        self._length = len(found)
        self._bytes = np.zeros(max(len(found), begin + count * point), np.uint8)
        self._bytes[: len(found)] = np.frombuffer(found, np.uint8)
        self._states: FloatArray = np.ndarray(
            (count, 3, n), np.float64, self._bytes, begin, strides=(point, field, 8)
        )
        self._times: NDArray[np.int32] = np.ndarray(
            (count, 2), np.int32, self._bytes, begin + 3 * field - 4, strides=(point, 4)
        )
        self._stamp: NDArray[np.int32] = np.ndarray(2, np.int32, self._bytes, HEADER_BYTES)
        if not (
            np.array_equal(self._states, states)
            and np.array_equal(self._times, times[1:])
            and np.array_equal(self._stamp, times[0])
        ):
            raise SerializationError("a serialised message does not look like CDR")
        self._moved = n - len(held)
        self._states[:, :, self._moved :] = 0.0

    def filled(
        self, stamp: int, motion: Motion, start: int = 0, held: FloatArray | None = None
    ) -> bytes:
        """Return the message of a motion of k samples.

        Args:
            stamp: The message's stamp [ns].
            motion: The motion.
            start: Time of its start since the stamp [ns]; may be negative.
            held: Where the further joints are (m,) [rad or m].
        """
        self._stamp[0], self._stamp[1] = divmod(stamp, SECOND)
        nanoseconds = start + np.rint(1e9 * motion.times).astype(np.int64)
        self._times[:, 0], self._times[:, 1] = np.divmod(nanoseconds, SECOND)
        states = self._states[:, :, : self._moved]
        states[:, 0] = motion.positions
        states[:, 1] = motion.velocities
        states[:, 2] = motion.accelerations
        if held is not None:
            self._states[:, 0, self._moved :] = held
        return self._bytes[: self._length].tobytes()


def _sample(joint_names: Sequence[str], states: FloatArray, times: NDArray[np.int64]) -> bytes:
    """Return a serialised message with states (k, 3, n), and its stamp and times (1 + k, 2)."""
    (sec, nanosec), *durations = times.tolist()
    sample = JointTrajectory(joint_names=list(joint_names))
    sample.header.stamp = Time(sec=sec, nanosec=nanosec)
    for state, (sec, nanosec) in zip(states, durations, strict=True):
        point = to_point(*state)
        point.time_from_start = Duration(sec=sec, nanosec=nanosec)
        sample.points.append(point)
    return bytes(serialize_message(sample))


def to_array(values: FloatArray) -> array[float]:
    """Return values as an array type that messages accept without checking each element."""
    return array("d", values.tobytes())

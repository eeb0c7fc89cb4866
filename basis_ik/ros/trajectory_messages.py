"""Trajectory messages to commands, and motions, desired and actual states back to messages."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.errors import BasisIkError
from basis_ik.motion.limiter import Motion
from basis_ik.motion.tolerances import JointTolerance
from basis_ik.motion.trajectory_command import TrajectoryCommand, Waypoint

FloatArray = NDArray[np.float64]

SECOND = 1_000_000_000  # ns
HEADER = 4  # bytes before the content of a serialised message, which aligns numbers from there on


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


class SerializationError(BasisIkError):
    """The middleware serialises messages in an unknown form."""


class SerializedTrajectory:
    """A JointTrajectory of so many points, in the form in which it is sent.

    A control loop sends many that differ in numbers only. To make one of Python's objects, and to
    take it apart again for sending, would cost as much as all else that the loop does. So rclpy
    serialises a sample, once, and numbers are then written where the sample's are found.

    Args:
        joint_names: The n joints.
        count: The k points.

    Raises:
        SerializationError: The middleware serialises otherwise than as CDR, as all of ROS 2's do.
    """

    def __init__(self, joint_names: Sequence[str], count: int) -> None:
        # Whatever is to be found is there once.
        marks = np.pi + np.arange(float(count * 3 * len(joint_names))).reshape(count, 3, -1)
        sample = JointTrajectory(joint_names=list(joint_names))
        sample.header.stamp = Time(sec=_MARK, nanosec=_MARK)
        for number, states in enumerate(marks):
            point = to_point(*states)
            point.time_from_start = Duration(sec=_MARK, nanosec=_MARK + 1 + number)
            sample.points.append(point)
        found: bytes = serialize_message(sample)
        # In front there is room, so that numbers are aligned in memory as they are in the message.
        self._begin, self._end = HEADER, HEADER + len(found)
        self._whole: FloatArray = np.zeros(-(-self._end // 8))
        self._bytes = self._whole.view(np.uint8)
        self._bytes[self._begin : self._end] = np.frombuffer(found, np.uint8)
        self._integers = self._whole.view(np.int32)
        columns = np.arange(len(joint_names))
        self._states = [
            np.array([_place(found, row.tobytes(), 8) for row in rows])[:, np.newaxis] + columns
            for rows in marks.swapaxes(0, 1)
        ]
        self._stamp, *times = (
            _place(found, struct.pack("=iI", _MARK, _MARK + number), 4)
            for number in range(1 + count)
        )
        self._seconds = np.array(times)

    def filled(self, stamp: int, motion: Motion) -> bytes:
        """Return the message of a motion of k samples.

        Args:
            stamp: When it begins [ns].
            motion: The motion.
        """
        whole, integers = self._whole, self._integers
        integers[self._stamp], integers[self._stamp + 1] = divmod(stamp, SECOND)
        nanoseconds = np.rint(1e9 * motion.times).astype(np.int64)
        seconds = nanoseconds // SECOND
        integers[self._seconds] = seconds
        integers[self._seconds + 1] = nanoseconds - SECOND * seconds
        positions, velocities, accelerations = self._states
        whole[positions] = motion.positions
        whole[velocities] = motion.velocities
        whole[accelerations] = motion.accelerations
        return self._bytes[self._begin : self._end].tobytes()


_MARK = 0x1234567


def _place(found: bytes, mark: bytes, size: int) -> int:
    """Return where a mark is, counted in numbers of `size` bytes, the room in front included."""
    place, rest = divmod(HEADER + found.find(mark), size)
    if rest:
        raise SerializationError("a serialised message does not look like CDR")
    return place


def to_array(values: FloatArray) -> array[float]:
    """Values in the form that messages take without looking at each."""
    return array("d", values.tobytes())

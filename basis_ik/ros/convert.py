# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between messages and values."""

from __future__ import annotations

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Pose, Transform, TransformStamped
from std_msgs.msg import Header

from basis_ik.arm.admission import Refused, admit_pose
from basis_ik.arm.target_input import FrameStamp
from basis_ik.transforms.rigid import RigidTransform


def frame_stamp(header: Header) -> FrameStamp:
    """Return the frame and the time of a Header message."""
    return FrameStamp(header.frame_id, header.stamp.sec, header.stamp.nanosec)


def pose_value(pose: Pose) -> RigidTransform | Refused:
    """Return a Pose message as a transform, or why it is refused."""
    p, q = pose.position, pose.orientation
    return admit_pose((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_value(transform: Transform) -> RigidTransform | Refused:
    """Return a Transform message as a transform, or why it is refused: tf2 accepts infinities."""
    t, q = transform.translation, transform.rotation
    return admit_pose((t.x, t.y, t.z), (q.x, q.y, q.z, q.w))


def pose_message(transform: RigidTransform) -> Pose:
    """Return a transform as a Pose message."""
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, transform.translation)
    q = pose.orientation
    q.x, q.y, q.z, q.w = map(float, transform.as_quaternion_xyzw())
    return pose


def transform_message(
    parent: str, child: str, parent_T_child: RigidTransform, stamp: Time
) -> TransformStamped:
    """Return a frame as a TransformStamped message."""
    pose = pose_message(parent_T_child)
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, stamp
    t = message.transform.translation
    t.x, t.y, t.z = pose.position.x, pose.position.y, pose.position.z
    message.transform.rotation = pose.orientation
    return message


def duration_message(seconds: float) -> Duration:
    """Return seconds as a Duration message, whose nanoseconds are never negative."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def duration_value(duration: Duration) -> float:
    """Return a Duration message in seconds."""
    return float(duration.sec + 1e-9 * duration.nanosec)


def time_message(nanoseconds: int) -> Time:
    """Return a time [ns] as a message."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=seconds, nanosec=rest)

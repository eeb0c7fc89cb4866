# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tf buffer with the parents of frames, and look-ups that do not wait."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time
from std_msgs.msg import Header
from tf2_ros import Buffer, TransformException

from basis_ik.arm.admission import Refusal, Refused, admit_frame, printable
from basis_ik.arm.target_input import Located
from basis_ik.robot.elements import listed
from basis_ik.ros.convert import transform_value
from basis_ik.transforms.rigid import RigidTransform


class FrameBuffer(Buffer):
    """A tf buffer that stores the parent of each frame.

    tf2 returns parents only as YAML of the whole tree, which is too slow for a control loop.

    Attributes:
        parents: The parent of each frame, from its newest transform.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str] = {}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Store a transform of a moving frame."""
        super().set_transform(transform, authority)
        self._note(transform)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Store a static transform."""
        super().set_transform_static(transform, authority)
        self._note(transform)

    def _note(self, transform: TransformStamped) -> None:
        # tf2 also accepts tf1's names, which begin with a slash.
        self.parents[transform.child_frame_id.lstrip("/")] = transform.header.frame_id.lstrip("/")

    def locate(self, root: str, frame_id: str, stamp: int) -> Located | Refused:
        """Return the pose of a frame at a time, or why it is not known; see `Frames.locate`."""
        try:
            found = self.lookup_transform(root, frame_id, Time(nanoseconds=stamp))
        except TransformException as error:
            return self.refused(error, root, frame_id)
        sec, nanosec = found.header.stamp.sec, found.header.stamp.nanosec
        latest = 10**9 * sec + nanosec  # a `Time` refuses those before 1970
        return Located(transform_value(found.transform), latest)

    def refused(self, error: TransformException, *frames: str) -> Refused:
        """Return the refusal for a failed look-up.

        It hints at frames that tf has with another prefix: such is robot_state_publisher's
        `frame_prefix`.

        Args:
            error: tf's reason.
            frames: The frames that were looked up.
        """
        known = {*self.parents, *self.parents.values()}
        alike = sorted(
            name for frame in {*frames} - known for name in known if _is_prefixed(name, frame)
        )
        hint = f"; tf has {listed(alike, 3)}: see the parameter frame_prefix" if alike else ""
        return Refused(Refusal.NO_TRANSFORM, printable(str(error), 240) + hint)


def _is_prefixed(one: str, other: str) -> bool:
    """Return whether one of two different names is the other with a prefix."""
    short, long = sorted((one, other), key=len)
    return long.endswith(short) and not long.removesuffix(short)[-1:].isalpha()


def look_up(buffer: FrameBuffer, reference: str, header: Header) -> RigidTransform | Refused:
    """Return reference_T_frame for a header's frame, or why it is refused.

    If tf has no transform for the stamp yet, the latest one is used: clients send the current time
    as stamp, and the response must not wait. A stamp of zero also means the latest.

    Args:
        buffer: Source of the transforms; queried with zero timeout.
        reference: The reference frame.
        header: The frame and the time.
    """
    refused = admit_frame(header.frame_id)
    if refused is not None:
        return refused
    stamp = header.stamp.sec * 1_000_000_000 + header.stamp.nanosec
    if stamp < 0:
        return Refused(Refusal.BAD_STAMP, f"sec {header.stamp.sec}")
    try:
        latest = buffer.get_latest_common_time(reference, header.frame_id).nanoseconds
        # For static frames the latest time is zero: any time.
        found = buffer.lookup_transform(
            reference, header.frame_id, Time(nanoseconds=min(stamp, latest))
        )
    except TransformException as error:
        return buffer.refused(error, reference, header.frame_id)
    return transform_value(found.transform)


def look_up_fixed(buffer: FrameBuffer, reference: str, frame_id: str) -> RigidTransform | Refused:
    """Return reference_T_frame of a static frame, or why it is refused.

    Args:
        buffer: Source of the transforms; queried with zero timeout.
        reference: The reference frame.
        frame_id: The frame.
    """
    found = look_up(buffer, reference, Header(frame_id=frame_id))
    if isinstance(found, Refused):
        return found
    # Only for static frames is the latest time zero.
    if buffer.get_latest_common_time(reference, frame_id).nanoseconds != 0:
        return Refused(Refusal.BAD_FRAME, f"'{frame_id}' moves against '{reference}'")
    return found

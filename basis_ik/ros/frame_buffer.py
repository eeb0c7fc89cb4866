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

"""tf's buffer: the parents of frames, and their transforms without waiting."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time
from std_msgs.msg import Header
from tf2_ros import Buffer, TransformException

from basis_ik.motion.admission import Refusal, Refused, admit_frame, printable
from basis_ik.ros.convert import transform_value
from basis_ik.transforms.rigid import RigidTransform


class FrameBuffer(Buffer):
    """A tf buffer that stores the parent of each frame.

    tf2 returns parents only as YAML of the whole tree, too slowly for a control loop.

    Attributes:
        parents: The parent of each frame in the transform that came last.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str] = {}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Store a transform of a frame that moves."""
        super().set_transform(transform, authority)
        self._note(transform)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Store a static transform."""
        super().set_transform_static(transform, authority)
        self._note(transform)

    def _note(self, transform: TransformStamped) -> None:
        # tf2 also accepts names of tf1, which begin with a slash.
        self.parents[transform.child_frame_id.lstrip("/")] = transform.header.frame_id.lstrip("/")


def look_up(buffer: Buffer, reference: str, header: Header) -> RigidTransform | Refused:
    """Return reference_T_frame for a header's frame, or why it is refused.

    If tf has no transform for the stamp yet, the latest is used: a client sends a stamp of "now",
    and the response must not wait. Stamp zero means the latest, too.

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
        # Between static frames the latest time is zero, which means any.
        found = buffer.lookup_transform(
            reference, header.frame_id, Time(nanoseconds=min(stamp, latest))
        )
    except TransformException as error:
        return Refused(Refusal.NO_TRANSFORM, printable(str(error), 240))
    return transform_value(found.transform)


def look_up_fixed(buffer: Buffer, reference: str, frame_id: str) -> RigidTransform | Refused:
    """Return reference_T_frame of a frame that is static in another, or why it is refused.

    Args:
        buffer: Source of the transforms; queried with zero timeout.
        reference: The reference frame.
        frame_id: The frame.
    """
    found = look_up(buffer, reference, Header(frame_id=frame_id))
    if isinstance(found, Refused):
        return found
    # The latest time is zero only between static frames.
    if buffer.get_latest_common_time(reference, frame_id).nanoseconds != 0:
        return Refused(Refusal.BAD_FRAME, f"'{frame_id}' moves against '{reference}'")
    return found

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

"""The buffer: messages in, messages out, from any thread."""

import math
import sys
from threading import RLock

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

from tf2_ros.exceptions import InvalidArgumentException, LookupException
from tf2_ros.frame_tree import FrameTree
from tf2_ros.quaternion import Pose
from tf2_ros.time_cache import Sample, seconds

_CACHE_TIME = 10_000_000_000  # [ns]
_NORM_TOLERANCE = 10e-3  # of the squared length of a quaternion, as upstream


class Buffer:
    """Stores transforms of the last 10 s and answers where one frame is relative to another.

    Time zero means the latest time at which every link in question is known. A failing lookup
    raises LookupException (no such frame, or a loop), ConnectivityException (separate trees),
    ExtrapolationException (not known at that time) or InvalidArgumentException (a name that is
    empty or begins with a slash).
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._tree = FrameTree(_CACHE_TIME)

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Add a sample. An unfit one is refused on stderr; upstream returns nothing either."""
        self._insert(transform, authority, False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform that holds at all times."""
        self._insert(transform, authority, True)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time
    ) -> TransformStamped:
        """The transform that maps coordinates of the source frame into the target frame."""
        with self._lock:
            if target_frame != source_frame:  # a frame is where it is even if nobody knows it
                self._admit("lookupTransform", target_frame, source_frame)
            found = self._tree.relative(target_frame, source_frame, time.nanoseconds)
        return _message(target_frame, source_frame, *found)

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Time:
        """The latest time at which every link between two frames is known; zero if all static."""
        with self._lock:
            self._admit("get_latest_common_time", target_frame, source_frame)
            stamp = self._tree.latest_common_time(target_frame, source_frame)
        return Time(nanoseconds=stamp)

    def clear(self) -> None:
        """Forget the history of the moving frames. Names and static transforms stay."""
        with self._lock:
            self._tree.clear()

    def all_frames_as_yaml(self) -> str:
        """Every frame with its parent."""
        with self._lock:
            parents = self._tree.parents()
        return "".join(f"{f}:\n  parent: '{p}'\n" for f, p in parents.items()) or "[]"

    def all_frames_as_string(self) -> str:
        """One line per frame that has a parent."""
        with self._lock:
            parents = self._tree.parents()
        return "".join(f"Frame {f} exists with parent {p}.\n" for f, p in parents.items())

    def _insert(self, transform: TransformStamped, authority: str, static: bool) -> None:
        child = _without_slash(transform.child_frame_id)
        parent = _without_slash(transform.header.frame_id)
        t, q = transform.transform.translation, transform.transform.rotation
        stamp = Time.from_msg(transform.header.stamp).nanoseconds
        sample = Sample(stamp, parent, (t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        refusals = _refusals(child, sample, authority)
        for refusal in refusals:
            print(f"Error:   {refusal}", file=sys.stderr)
        if refusals:
            return
        with self._lock:
            accepted = self._tree.insert(child, sample, static)
        if not accepted:
            print(
                f"Warning: TF_OLD_DATA ignoring data from the past for frame {child} "
                f"at time {seconds(stamp)} according to authority {authority}",
                file=sys.stderr,
            )

    def _admit(self, function: str, *frames: str) -> None:
        for place, frame in enumerate(frames):
            if frame in self._tree.names:
                continue
            argument = f"{function} argument {('target', 'source')[place]}_frame"
            if not frame:
                text = f"Invalid argument passed to {argument} in tf2 frame_ids cannot be empty"
                raise InvalidArgumentException(text)
            if frame.startswith("/"):
                text = f'Invalid argument "{frame}" passed to {argument} in tf2 frame_ids'
                raise InvalidArgumentException(f"{text} cannot start with a '/'")
            raise LookupException(f'"{frame}" passed to {argument} does not exist. ')


def _without_slash(frame: str) -> str:
    return frame[1:] if frame.startswith("/") else frame


def _refusals(child: str, sample: Sample, authority: str) -> list[str]:
    numbers = sample.translation + sample.rotation
    nan = any(map(math.isnan, numbers))
    squared_length = sum(number * number for number in sample.rotation)
    denormalized = not abs(squared_length - 1.0) < _NORM_TOLERANCE  # NaN counts as denormalized
    if child and sample.parent and child != sample.parent and not nan and not denormalized:
        return []
    about = f'Ignoring transform for child_frame_id "{child}" from authority "{authority}" because'
    shown = "in the transform ({:f} {:f} {:f}) ({:f} {:f} {:f} {:f})".format(*numbers)
    faults = (
        (child == sample.parent, f"TF_SELF_TRANSFORM: {about} frame_id is the same"),
        (not child, f"TF_NO_CHILD_FRAME_ID: {about} child_frame_id not set"),
        (not sample.parent, f"TF_NO_FRAME_ID: {about} frame_id not set"),
        (nan, f"TF_NAN_INPUT: {about} of a nan value {shown}"),
        (denormalized, f"TF_DENORMALIZED_QUATERNION: {about} of an invalid quaternion {shown}"),
    )
    return [text for found, text in faults if found]


def _message(target: str, source: str, pose: Pose, stamp: int) -> TransformStamped:
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = target, source
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    translation, rotation = message.transform.translation, message.transform.rotation
    (translation.x, translation.y, translation.z), quaternion = pose
    rotation.x, rotation.y, rotation.z, rotation.w = quaternion
    return message

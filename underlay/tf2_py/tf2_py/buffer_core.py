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

"""The buffer as upstream's Python module offers it: messages in, messages out, from any thread."""

import math
import sys
from collections.abc import Callable
from threading import RLock
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time

from tf2_py.exceptions import InvalidArgumentException, LookupException, TransformException
from tf2_py.frame_tree import FrameTree
from tf2_py.quaternion import Pose, compose
from tf2_py.time_cache import Sample, seconds

_CACHE_TIME = Duration(seconds=10)
_NORM_TOLERANCE = 10e-3  # of the squared length of a quaternion, as upstream


class BufferCore:
    """Stores transforms and answers where one frame is relative to another.

    Times are `rclpy.time.Time` or `builtin_interfaces.msg.Time`; zero means the latest time at
    which every link in question is known. A failing lookup raises LookupException (no such frame,
    or a loop), ConnectivityException (separate trees), ExtrapolationException (not known at that
    time) or InvalidArgumentException (a name that is empty or begins with a slash).
    """

    def __init__(self, cache_time: Duration | None = None) -> None:
        self._lock = RLock()
        self._tree = FrameTree((_CACHE_TIME if cache_time is None else cache_time).nanoseconds)
        self._authorities: dict[str, str] = {}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Add a sample. An unfit one is refused on stderr; upstream returns nothing either."""
        self._insert(transform, authority, False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform that holds at all times."""
        self._insert(transform, authority, True)

    def lookup_transform_core(
        self, target_frame: str, source_frame: str, time: Any
    ) -> TransformStamped:
        """The transform that maps coordinates of the source frame into the target frame."""
        found = self._lookup("lookupTransform", target_frame, source_frame, time)
        return _message(target_frame, source_frame, *found)

    def lookup_transform_full_core(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
    ) -> TransformStamped:
        """The source frame at its time from the target frame at another, across a fixed frame."""
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        found = self._lookup_full("lookupTransform", *frames)
        return _message(target_frame, source_frame, *found)

    def can_transform_core(
        self, target_frame: str, source_frame: str, time: Any
    ) -> tuple[int, str]:
        """1 or 0 (not a bool, as upstream), and in the latter case why."""
        return _possible(self._lookup, target_frame, source_frame, time)

    def can_transform_full_core(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
    ) -> tuple[int, str]:
        """1 or 0 (not a bool, as upstream), and in the latter case why."""
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        return _possible(self._lookup_full, *frames)

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
        """Every frame with its parent, broadcaster, rate [Hz] and the extent of its history [s]."""
        with self._lock:
            if not self._tree.names:
                return "[]"
            return "".join(
                f"{frame}: \n  parent: '{sample.parent}'\n"
                f"  broadcaster: '{self._authorities[frame]}'\n"
                f"  rate: {count / max((newest - oldest) / 1e9, 1e-4):.3f}\n"
                f"  most_recent_transform: {seconds(newest)}\n"
                f"  oldest_transform: {seconds(oldest)}\n"
                f"  buffer_length: {(newest - oldest) / 1e9:.3f}\n"
                for frame, sample, (oldest, newest, count) in self._tree.links()
            )

    def all_frames_as_string(self) -> str:
        """One line per frame that has a parent."""
        with self._lock:
            links = self._tree.links()
        return "".join(f"Frame {f} exists with parent {s.parent}.\n" for f, s, _ in links)

    def _frameExists(self, frame_id: str) -> bool:
        return frame_id in self._tree.names

    def _getFrameStrings(self) -> list[str]:
        with self._lock:
            return list(self._tree.names)

    def _insert(self, transform: TransformStamped, authority: str, static: bool) -> None:
        child = _without_slash(transform.child_frame_id)
        parent = _without_slash(transform.header.frame_id)
        t, q = transform.transform.translation, transform.transform.rotation
        stamp = _nanoseconds(transform.header.stamp)
        sample = Sample(stamp, parent, (t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        refusals = _refusals(child, sample, authority)
        for refusal in refusals:
            print(f"Error:   {refusal}", file=sys.stderr)
        if refusals:
            return
        with self._lock:
            accepted = self._tree.insert(child, sample, static)
            if accepted:
                self._authorities[child] = authority
        if not accepted:
            print(
                f"Warning: TF_OLD_DATA ignoring data from the past for frame {child} "
                f"at time {seconds(stamp)} according to authority {authority}",
                file=sys.stderr,
            )

    def _lookup(self, function: str, target: str, source: str, time: Any) -> tuple[Pose, int]:
        with self._lock:
            if target != source:  # a frame is where it is even if nobody knows it
                self._admit(function, target, source)
            return self._tree.relative(target, source, _nanoseconds(time))

    def _lookup_full(
        self,
        function: str,
        target: str,
        target_time: Any,
        source: str,
        source_time: Any,
        fixed: str,
    ) -> tuple[Pose, int]:
        with self._lock:
            self._admit(function, target, source, fixed)
            fixed_T_source, _ = self._tree.relative(fixed, source, _nanoseconds(source_time))
            target_T_fixed, stamp = self._tree.relative(target, fixed, _nanoseconds(target_time))
        return compose(target_T_fixed, fixed_T_source), stamp

    def _admit(self, function: str, *frames: str) -> None:
        for place, frame in enumerate(frames):
            if frame in self._tree.names:
                continue
            argument = f"{function} argument {('target', 'source', 'fixed')[place]}_frame"
            if not frame:
                text = f"Invalid argument passed to {argument} in tf2 frame_ids cannot be empty"
                raise InvalidArgumentException(text)
            if frame.startswith("/"):
                text = f'Invalid argument "{frame}" passed to {argument} in tf2 frame_ids'
                raise InvalidArgumentException(f"{text} cannot start with a '/'")
            if function == "canTransform":
                text = f'Invalid frame ID "{frame}" passed to {argument} - frame does not exist'
                raise LookupException(text)
            raise LookupException(f'"{frame}" passed to {argument} does not exist. ')


def _possible(lookup: Callable[..., Any], *frames: Any) -> tuple[int, str]:
    try:
        lookup("canTransform", *frames)
    except TransformException as error:
        return 0, str(error)
    return 1, ""


def _nanoseconds(time: Any) -> int:
    try:
        return time.nanoseconds
    except AttributeError:
        return time.sec * 10**9 + time.nanosec


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

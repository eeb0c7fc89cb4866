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

"""What is known of one frame: where it was, relative to which parent, at which times."""

from bisect import bisect_left
from typing import NamedTuple

from tf2_ros.exceptions import ExtrapolationException
from tf2_ros.quaternion import Pose, Quaternion, Vector, slerp


class Sample(NamedTuple):
    """parent_T_frame at one time. Stamps are in [ns]."""

    stamp: int
    parent: str
    translation: Vector
    rotation: Quaternion


Bracket = tuple[Sample, Sample]
"""The samples before and after a time; the same one twice where there is nothing between."""


class TimeCache:
    """The samples of a moving frame over the last `duration` [ns], in the order of their stamps."""

    def __init__(self, duration: int) -> None:
        self._duration = duration
        self._stamps: list[int] = []
        self._samples: list[Sample] = []

    def insert(self, sample: Sample) -> bool:
        """Keep a sample, in place of one of the same stamp; False if it is too old to be kept."""
        stamps, samples = self._stamps, self._samples
        if stamps and sample.stamp < stamps[-1] - self._duration:
            return False
        place = bisect_left(stamps, sample.stamp)
        replaced = place < len(stamps) and stamps[place] == sample.stamp
        stamps[place : place + replaced] = [sample.stamp]
        samples[place : place + replaced] = [sample]
        expired = bisect_left(stamps, stamps[-1] - self._duration)
        del stamps[:expired], samples[:expired]
        return True

    def bracket(self, stamp: int) -> Bracket:
        """The samples around a time; 0 means the newest.

        Raises:
            ExtrapolationException: The time lies outside the history.
        """
        stamps, samples = self._stamps, self._samples
        if not stamps:
            raise ExtrapolationException("Unable to lookup transform, cache is empty")
        if stamp == 0:
            return samples[-1], samples[-1]
        place = bisect_left(stamps, stamp)
        if place < len(stamps) and stamps[place] == stamp:
            return samples[place], samples[place]
        if 0 < place < len(stamps):
            return samples[place - 1], samples[place]
        raise ExtrapolationException(self._outside(stamp))

    def _outside(self, stamp: int) -> str:
        need, oldest, newest = (
            "Lookup would require extrapolation",
            self._stamps[0],
            self._stamps[-1],
        )
        if oldest == newest:
            return (
                f"{need} at time {seconds(stamp)}, but only time {seconds(newest)} is in the buffer"
            )
        if stamp < oldest:
            where, known = "into the past", f"earliest data is at time {seconds(oldest)}"
        else:
            where, known = "into the future", f"latest data is at time {seconds(newest)}"
        return f"{need} {where}.  Requested time {seconds(stamp)} but the {known}"

    def newest(self) -> Sample | None:
        """The sample of the highest stamp."""
        return self._samples[-1] if self._samples else None

    def clear(self) -> None:
        """Forget the history."""
        del self._stamps[:], self._samples[:]


class StaticCache:
    """The one sample of a frame that does not move. It holds at all times, so its stamp is 0."""

    _sample: Sample

    def insert(self, sample: Sample) -> bool:
        """Replace the sample."""
        self._sample = sample._replace(stamp=0)
        return True

    def bracket(self, stamp: int) -> Bracket:
        """The sample, whatever the time."""
        return self._sample, self._sample

    def newest(self) -> Sample:
        """The sample."""
        return self._sample

    def clear(self) -> None:
        """Nothing: upstream keeps static transforms when a buffer is cleared."""


def interpolate(bracket: Bracket, stamp: int) -> Pose:
    """parent_T_frame at a time inside a bracket; across a change of parent, the older sample."""
    older, newer = bracket
    if older is newer or older.parent != newer.parent:
        return older.translation, older.rotation
    ratio = (stamp - older.stamp) / (newer.stamp - older.stamp)
    keep = 1.0 - ratio
    (ax, ay, az), (bx, by, bz) = older.translation, newer.translation
    translation = (keep * ax + ratio * bx, keep * ay + ratio * by, keep * az + ratio * bz)
    return translation, slerp(older.rotation, newer.rotation, ratio)


def seconds(stamp: int) -> str:
    """A stamp as messages show it."""
    return f"{stamp / 1e9:.6f}"

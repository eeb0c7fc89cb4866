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

"""The frames, how they hang together at a time, and where one is relative to another.

A frame has at most one parent at a time, so there is one way between two frames: up from the
source to the first frame that is also above the target, and down again.
"""

import math
from collections.abc import Container
from typing import NoReturn

from tf2_ros.exceptions import ConnectivityException, ExtrapolationException, LookupException
from tf2_ros.quaternion import IDENTITY, Pose, compose, inverse
from tf2_ros.time_cache import Bracket, Sample, StaticCache, TimeCache, interpolate


class FrameTree:
    """Histories by frame. Stamps are in [ns]; 0 asks for the latest that all links know."""

    def __init__(self, cache_time: int) -> None:
        self._cache_time = cache_time
        self.names: dict[str, None] = {}  # every frame met so far, parents included, in that order
        self._caches: dict[str, TimeCache | StaticCache] = {}

    def insert(self, frame: str, sample: Sample, static: bool) -> bool:
        """Add a sample; False if it is too old. A change between static and moving starts anew."""
        self.names[frame] = self.names[sample.parent] = None
        cache = self._caches.get(frame)
        if static and not isinstance(cache, StaticCache):
            cache = self._caches[frame] = StaticCache()
        elif not static and not isinstance(cache, TimeCache):
            cache = self._caches[frame] = TimeCache(self._cache_time)
        return cache.insert(sample)

    def clear(self) -> None:
        """Forget the history of the moving frames. Names and static transforms stay."""
        for cache in self._caches.values():
            cache.clear()

    def parents(self) -> dict[str, str]:
        """The parent of every frame that has one, in the newest sample."""
        newest = {
            frame: self._caches[frame].newest() for frame in self.names if frame in self._caches
        }
        return {frame: sample.parent for frame, sample in newest.items() if sample}

    def relative(self, target: str, source: str, stamp: int) -> tuple[Pose, int]:
        """target_T_source at a time, and that time where 0 was asked for.

        Raises:
            LookupException: The frames form a loop.
            ConnectivityException: The frames are in separate trees.
            ExtrapolationException: A link is not known at that time.
        """
        if stamp == 0:
            stamp = self.latest_common_time(target, source)
        if target == source:
            return ((0.0, 0.0, 0.0), IDENTITY), stamp
        rising: dict[str, Bracket] = {}
        falling: dict[str, Bracket] = {}
        top, missing = self._climb(source, {target}, stamp, rising)
        common = top
        if top != target:
            common, gap = self._climb(target, {top, *rising}, stamp, falling)
            if common != top and common not in rising:
                _fail(target, source, gap or missing)
        common_T_source = _chain(rising, common, stamp)
        if not falling:
            return common_T_source, stamp
        return compose(inverse(_chain(falling, common, stamp)), common_T_source), stamp

    def latest_common_time(self, target: str, source: str) -> int:
        """Judged by each frame's newest parent; links without a stamp (static ones) do not count.

        Raises:
            LookupException: The frames form a loop.
            ConnectivityException: The frames are in separate trees.
        """
        if target == source:
            newest = target in self._caches and self._caches[target].newest()
            return newest.stamp if newest else 0
        above_source = self._newest_above(source, {target})
        above_target = self._newest_above(target, above_source)
        common = next(reversed(above_target))
        if common not in above_source:
            _fail(target, source, None)
        stamp = min(above_source[common], above_target[common])
        return 0 if stamp == math.inf else int(stamp)

    def _climb(
        self, frame: str, until: Container[str], stamp: int, links: dict[str, Bracket]
    ) -> tuple[str, ExtrapolationException | None]:
        """Collect links upwards to one of `until`, to the root, or to a link not known then."""
        while frame not in until and frame in self._caches:
            if frame in links:
                self._fail_by_loop()
            try:
                links[frame] = self._caches[frame].bracket(stamp)
            except ExtrapolationException as error:
                return frame, error
            frame = links[frame][0].parent
        return frame, None

    def _newest_above(self, frame: str, until: Container[str]) -> dict[str, float]:
        """Frames upwards from one, each with the lowest of the newest stamps of the links below."""
        stamp = math.inf
        above = {frame: stamp}
        while frame not in until and frame in self._caches:
            sample = self._caches[frame].newest()
            if sample is None:
                break
            frame = sample.parent
            if frame in above:
                self._fail_by_loop()
            above[frame] = stamp = min(stamp, sample.stamp or stamp)
        return above

    def _fail_by_loop(self) -> NoReturn:
        links = "".join(f"\n{frame} -> {parent}" for frame, parent in self.parents().items())
        raise LookupException(f"The tf tree is invalid because it contains a loop.{links}")


def _fail(target: str, source: str, gap: ExtrapolationException | None) -> NoReturn:
    if gap is not None:
        frames = f"when looking up transform from frame [{source}] to frame [{target}]"
        raise ExtrapolationException(f"{gap}, {frames}") from None
    raise ConnectivityException(
        f"Could not find a connection between '{target}' and '{source}' because they are not part "
        "of the same tree.Tf has two or more unconnected trees."
    )


def _chain(links: dict[str, Bracket], top: str, stamp: int) -> Pose:
    """top_T_first of links that are in order from the first frame upwards, as far as `top`."""
    pose = (0.0, 0.0, 0.0), IDENTITY
    for frame, bracket in links.items():
        if frame == top:
            break
        pose = compose(interpolate(bracket, stamp), pose)
    return pose

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Frames at even times, from messages that come at times of their own."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from basis_ik.errors import BasisIkError

NANOSECOND = 1e-9
LONGEST_INTERVAL = 0.1  # [s] between two numbers that are taken for one motion
_stamp = itemgetter(0)


class SampleError(BasisIkError):
    """An episode cannot begin, or go on; the text says what is missing."""


class Stream(NamedTuple):
    """What a frame needs of a stream.

    Attributes:
        age: How old its value may be [s].
        moves: Whether its values are numbers, with more of them between two.
    """

    age: float = math.inf
    moves: bool = False


class Sampler:
    """Takes for each frame the newest value of each stream whose stamp is not later than the frame.

    A frame is decided `delay` after its time, so what comes late by no more than that counts. What
    moves is interpolated: held, it would jerk by what the rates of frames and messages differ.

    Args:
        fps: Frames in a second.
        delay: How long a frame waits for messages that are on their way [s].
    """

    def __init__(self, fps: int, delay: float) -> None:
        self._fps, self._delay = fps, round(delay / NANOSECOND)
        self._values: dict[str, list[tuple[int, Any]]] = {}  # of each stream, by stamp
        self._streams: Mapping[str, Stream] = {}
        self._now = 0
        self._begin: int | None = None
        self._end: int | None = None
        self._count = 0  # frames of the episode

    def add(self, stream: str, stamp: int, value: Any) -> None:
        """Keep a message; of several with one stamp the first counts.

        Args:
            stream: Its stream.
            stamp: Its time [ns].
            value: What it says.
        """
        values = self._values.setdefault(stream, [])
        values.insert(bisect.bisect_left(values, stamp, key=_stamp), (stamp, value))

    @property
    def records(self) -> bool:
        """Whether an episode has begun, and not all of its frames are decided."""
        return self._begin is not None

    def begin(self, now: int, streams: Mapping[str, Stream]) -> None:
        """Begin an episode, whose first frame is at this time.

        Args:
            now: The time [ns].
            streams: What a frame has, by name.

        Raises:
            SampleError: A stream has no value, or none that is new enough.
        """
        self._check_clock(now)
        self._streams = streams
        self._at(now)
        self._begin, self._end, self._count = now, None, 0

    def end(self, now: int) -> None:
        """End the episode at a time [ns], unless it ends already; its last frames are still due."""
        self._end = now if self._end is None else self._end

    def cancel(self) -> None:
        """Drop the episode."""
        self._begin = None

    def frames(self, now: int) -> Iterator[dict[str, Any]]:
        """Yield the values of each frame that can be decided at a time [ns], by stream.

        Raises:
            SampleError: A stream has ended, or the clock was set back: the episode is dropped.
        """
        try:
            self._check_clock(now)
            while self._begin is not None:
                time = self._begin + round(self._count / self._fps / NANOSECOND)
                if self._end is not None and time > self._end:
                    self._begin = None
                    break
                if time + self._delay > now:
                    break
                values = self._at(time)
                self._count += 1
                self._forget(time)
                yield values
        except SampleError:
            self.cancel()
            raise
        if self._begin is None:
            self._forget(now - self._delay)

    def _check_clock(self, now: int) -> None:
        """Refuse a clock that was set back: stamps of before say nothing any more."""
        before, self._now = self._now, now
        if now < before:
            self._values.clear()
            raise SampleError(f"the clock was set back by {NANOSECOND * (before - now):.3f} s")

    def _at(self, time: int) -> dict[str, Any]:
        """Return the value of each stream at a time [ns]."""
        found = dict[str, Any]()
        for stream, (age, moves) in self._streams.items():
            values = self._values.get(stream, [])
            at = bisect.bisect_right(values, time, key=_stamp) - 1
            if at < 0:
                raise SampleError(f"there is no value of {stream} yet")
            stamp, value = values[at]
            late = NANOSECOND * (time - stamp)
            if not late <= age:
                raise SampleError(f"the newest value of {stream} is {late:.2f} s old")
            if moves and at + 1 < len(values):
                width, way = NANOSECOND * (values[at + 1][0] - stamp), values[at + 1][1] - value
                value += way * late / width if width <= LONGEST_INTERVAL else 0.0
            found[stream] = value
        return found

    def _forget(self, time: int) -> None:
        """Forget what no frame from a time [ns] on needs."""
        for values in self._values.values():
            del values[: max(bisect.bisect_right(values, time, key=_stamp) - 1, 0)]

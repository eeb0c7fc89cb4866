# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windows that a trajectory controller may be following, and what its reference tells of that.

A message may be late, and the controller takes it as long as it is not over. So a window that was
sent is not one that is followed. What is known comes from the controller's reference at its stamp.
Positions are [rad] or [m], times [ns] on the controller's clock.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.limiter import Motion
from basis_ik.numerics.arrays import FloatArray


class WindowMatch(NamedTuple):
    """How near a controller's reference must be to a window to follow it."""

    # A controller that is late by less may still follow a window: by this time, or by this factor
    # times the usual error of stamps.
    late_time: float = 2e-3  # [s]
    late_factor: float = 4.0
    same: float = 1e-9  # [rad or m]: positions that do not differ by more are the same
    follows: float = 2e-6  # [rad or m]: a controller whose reference is closer follows the window
    leaves: float = 1e-3  # [rad or m]: one whose reference is farther from all has left them
    rest_speed: float = 1e-5  # [rad/s or m/s]: a slower joint does not tell where on its way it is


WINDOW_MATCH = WindowMatch()


class SuspectTuning(NamedTuple):
    """What measured joints must do to tell whether a window moves them."""

    interval: int = 200_000_000  # [ns], for which they are watched at least
    way: float = 3e-3  # [rad or m]: a window that moves no joint farther meanwhile does not tell
    share: float = 0.5  # of that way, which a joint that is moved goes at least
    off: float = 0.05  # [rad or m]: one farther from the window than this and its lag is not on it


SUSPECT_TUNING = SuspectTuning()


class Window(NamedTuple):
    """A trajectory that was sent.

    Attributes:
        begin: Time of its first sample; that of sending, while it is `pending`.
        motion: Its samples.
        joins: Until then it is the same as the one sent before.
        settles: Whether it leads to the goal; otherwise it brakes.
    """

    begin: int
    motion: Motion
    joins: int
    settles: bool

    @property
    def end(self) -> int:
        """Time from which it rests."""
        times, velocities = self.motion.times, self.motion.velocities
        moves = (k for k in reversed(range(len(times))) if velocities[k].any())  # one of the last
        last = min(next(moves, -1) + 1, len(times) - 1)
        return self.begin + round(1e9 * float(times[last]))

    @property
    def over(self) -> int:
        """Time from which a controller refuses it."""
        return self.begin + round(1e9 * float(self.motion.times[-1]))

    @property
    def samples(self) -> NDArray[np.int64]:
        """Times of its samples, shape (k,)."""
        return self.begin + np.rint(1e9 * self.motion.times).astype(np.int64)

    def at(self, time: int) -> FloatArray:
        """Return positions, velocities and accelerations at a time, shape (n, 3)."""
        return self.motion.at(1e-9 * (time - self.begin))

    def is_at(self, positions: FloatArray, time: int, close: float, inexact: float) -> bool:
        """Return whether positions (n,) are close to those at a time that is inexact [s]."""
        states = self.at(time)
        allowed = close + inexact * np.abs(states[:, 1])
        return bool((np.abs(positions - states[:, 0]) <= allowed).all())

    def moved(self, by: int) -> Window:
        """Return the window, moved in time."""
        return self._replace(begin=self.begin + by, joins=self.joins + by)

    def placed(self, positions: FloatArray, time: int) -> Window | None:
        """Return the window, moved in time so that it is at positions (n,) then.

        It is the same where the joints are too slow to tell, and None if they are not on its way.
        """
        elapsed = self.motion.time_of(positions)
        states = self.motion.at(elapsed)
        if (np.abs(states[:, 0] - positions) > WINDOW_MATCH.follows).any():
            return None
        if np.abs(states[:, 1]).max() > WINDOW_MATCH.rest_speed:
            return self._replace(begin=time - round(1e9 * elapsed))
        if (np.abs(self.motion.positions[-1] - positions) <= WINDOW_MATCH.same).all():
            return self._replace(begin=time - (self.end - self.begin))
        if (np.abs(self.motion.positions[0] - positions) <= WINDOW_MATCH.same).all():
            return self._replace(begin=time)
        return self

    def part(self, begin: int, until: int) -> tuple[list[int], list[FloatArray]]:
        """Return times and states (n, 3) that interpolate it between two times.

        The first time may be earlier.
        """
        times = self.samples
        first = max(int(times.searchsorted(begin, side="right")) - 1, 0)
        kept = slice(first, max(first, self._count_before(until)))
        states = np.stack([each[kept] for each in self.motion[1:]], axis=2)
        return [*times[kept].tolist(), until], [*states, self.at(until)]

    def way(self, begin: int, until: int) -> FloatArray:
        """Return positions (k, n) that interpolate it from one time to another, not earlier one."""
        first = int(self.samples.searchsorted(begin, side="right"))
        between = self.motion.positions[first : self._count_before(until)]
        return np.vstack([self.at(begin)[:, 0], between, self.at(until)[:, 0]])

    def _count_before(self, time: int) -> int:
        """Return the number of samples before a time; closer ones would hardly differ."""
        return int(self.samples.searchsorted(time - 1000))


class SentWindows:
    """The windows that the controller may be following.

    Attributes:
        windows: Oldest first. The controller follows the first, or has taken another one since.
        pending: Whether the only one begins when it is taken, and has not been seen to begin.
        seen: Stamp of the newest reference.
        resting: Where the controller rests, without any of them; None if that is not known.
    """

    def __init__(self) -> None:
        self._untaken: list[Window] = []  # oldest first; without those that are over
        self.clear()

    def outlasting(self, time: int) -> list[Window]:
        """Return those before the newest that may still be followed after a time."""
        return [each for each in self._untaken[:-1] if time < each.end]

    def clear(self) -> None:
        """Forget which are followed; `over` stays."""
        self.windows: list[Window] = []
        self._last: FloatArray | None = None  # the newest reference (n,)
        self._proven = 0  # number of those that it follows, or that cannot be told from that
        self.pending = False
        self.seen = 0
        self.resting: FloatArray | None = None
        self._rested_at: FloatArray | None = None

    def on_clock_jump(self, seen: int) -> None:
        """Forget until when windows can be taken; `seen` is the stamp of the newest reference."""
        self._untaken, self.seen = [], seen

    @property
    def over(self) -> int:
        """Time from which none of all that were ever sent can be taken any more."""
        return max((each.over for each in self._untaken), default=0)

    def ends_after(self, time: int) -> bool:
        """Return whether the controller may be moving at a time."""
        return self.pending or any(time < each.end for each in self.windows)

    @property
    def newest(self) -> Window | None:
        """The one that was sent last."""
        return self.windows[-1] if self.windows else None

    def send(self, window: Window, *, alone: bool = False) -> None:
        """Add a window.

        Args:
            window: The window.
            alone: Whether the controller is taken to follow it at once.
        """
        self.windows = [window] if alone else [*self.windows, window]
        self._proven = 1 if alone else self._proven
        # Here, too: a controller that publishes no state is never observed.
        self._untaken = [each for each in self._untaken if window.begin < each.over] + [window]

    def begin(self, window: Window, reference: FloatArray | None) -> None:
        """Add a window from rest that begins when it is taken.

        Args:
            window: The window.
            reference: The controller's reference before (n,).
        """
        self.windows, self.pending, self._rested_at = [window], True, reference
        self._proven = 1

    def begin_now(self) -> None:
        """Take the pending window to have begun, as the controller may be at its begin."""
        self.windows, self.pending = [self.windows[0]._replace(begin=self.seen)], False

    def settle(self) -> None:
        """Drop those that were not taken once they cannot be taken any more."""
        if self.seen >= self.over and not self.pending:
            del self.windows[max(self._proven, 1) :]

    def since(self) -> float:
        """Return the time since which the controller may have left the newest window's way."""
        followed = self.windows[: self._proven]
        return math.inf if len(followed) == len(self.windows) else self.windows[self._proven].joins

    def is_off(self, close: float, inexact: float) -> bool:
        """Return whether the newest reference is off all windows that have left its way before.

        Args:
            close: Error by which it may be off a window that is followed [rad or m].
            inexact: Time by which the controller's stamps are inexact [s].
        """
        last, seen = self._last, self.seen
        others = [each for each in self.windows[self._proven :] if each.joins < seen]
        if last is None or not others:
            return False
        return not any(each.is_at(last, seen, close, inexact) for each in others)

    def drop_others(self) -> None:
        """Take those to be lost that the controller is not known to follow."""
        del self.windows[self._proven :]

    def observe(
        self,
        stamp: int,
        reference: FloatArray,
        inexact: float,
        *,
        shifted: bool,
        delayed: bool = False,
    ) -> bool:
        """Draw conclusions from a reference.

        Args:
            stamp: Its stamp.
            reference: The reference (n,).
            inexact: Time by which the controller's stamps are inexact [s].
            shifted: Whether its time may have been shifted, because it has scaled its speed.
            delayed: Whether it begins a window that has come late where that begins.

        Returns:
            False if it follows no window that was sent.
        """
        if stamp == self.seen:
            return True
        if not self.windows:
            last, self._rested_at = self._rested_at, reference if stamp >= self.over else None
            rests = last is not None and (np.abs(reference - last) <= WINDOW_MATCH.same).all()
            self.seen, self.resting = stamp, reference if rests else None
            return True
        before, self.seen, self._last = (self.seen, self._last), stamp, reference
        self._untaken = [each for each in self._untaken if stamp < each.over]
        if self.pending:
            return self._observe_begin(stamp, reference)
        on_way = [
            each.is_at(reference, stamp, WINDOW_MATCH.follows, inexact) for each in self.windows
        ]
        if any(on_way):
            followed = on_way.index(True)
            for k in range(followed + 1, len(self.windows)):  # where both rest
                if on_way[k] and stamp >= max(self.windows[followed].end, self.windows[k].end):
                    followed = k
            del self.windows[:followed]
            self._has_taken(self.windows[0])
            self._proven = 1
            for window, is_on_way in zip(self.windows[1:], on_way[followed + 1 :], strict=True):
                if not is_on_way or stamp <= window.joins:
                    break
                self._proven += 1
        elif (taken := self._dropped_at(stamp, reference, inexact)) is not None:
            self._has_taken(taken)
            self.windows, self._proven = [taken], 1
        elif not shifted and self._stands(*before, reference):
            return False
        elif shifted and self._shift(stamp, reference, before[1], together=delayed):
            pass
        elif delayed and self._relocate(stamp, reference):
            return True
        elif not any(
            each.is_at(
                reference,
                stamp,
                WINDOW_MATCH.leaves,
                max(WINDOW_MATCH.late_time, WINDOW_MATCH.late_factor * inexact),
            )
            for each in self.windows
        ):
            return False
        self.settle()
        return True

    def _dropped_at(self, stamp: int, reference: FloatArray, inexact: float) -> Window | None:
        """Return the window, taken to be lost too early, that the controller follows, or None."""
        for window in self._untaken:
            if window.is_at(reference, stamp, WINDOW_MATCH.follows, inexact):
                return window
        return None

    def _stands(self, since: int, before: FloatArray | None, reference: FloatArray) -> bool:
        """Return whether the controller holds the arm while all windows move on."""
        if before is None or not (np.abs(reference - before) <= WINDOW_MATCH.same).all():
            return False
        ways = [each.at(self.seen)[:, 0] - each.at(since)[:, 0] for each in self.windows]
        return all((np.abs(way) > WINDOW_MATCH.follows).any() for way in ways)

    def _observe_begin(self, stamp: int, reference: FloatArray) -> bool:
        window = self.windows[0]
        starts = [window.motion.positions[0], self._rested_at]
        if any(
            at is not None and (np.abs(reference - at) <= WINDOW_MATCH.same).all() for at in starts
        ):
            self.pending = bool(window.motion.velocities.any())
            return True
        return self._relocate(stamp, reference)

    def _relocate(self, stamp: int, reference: FloatArray) -> bool:
        """Place the newest window on whose way the controller is where it is now."""
        for window in reversed(self.windows):
            placed = window.placed(reference, stamp)
            if placed is not None:
                if placed is not window:
                    self._has_taken(window)
                    self.windows, self.pending, self._proven = [placed], False, 1
                return True
        return False

    def _shift(
        self, stamp: int, reference: FloatArray, before: FloatArray | None, *, together: bool
    ) -> bool:
        """Place the oldest window on whose way the controller is; keep the later ones.

        Those have the same time if they are `together`, as the controller then blends them.
        """
        placed = [window.placed(reference, stamp) for window in self.windows]
        found = [k for k, each in enumerate(placed) if each is not None]
        if not found:
            return False
        followed = found[0]
        newest = self.windows[found[-1]]
        stands = before is not None and (np.abs(reference - before) <= WINDOW_MATCH.same).all()
        if stands and (np.abs(newest.motion.positions[-1] - reference) <= WINDOW_MATCH.same).all():
            followed = found[-1]  # the others would move it on
        first = placed[followed]
        assert first is not None
        later = self.windows[followed + 1 :]
        self._has_taken(self.windows[followed])
        if together:
            by = first.begin - self.windows[followed].begin
            self._untaken = [each.moved(by) for each in self._untaken]
            later = [each.moved(by) for each in later]
        self.windows, self._proven = [first, *later], 1
        for each in placed[followed + 1 :]:
            if each is None:
                break
            self._proven += 1
        return True

    def _has_taken(self, window: Window) -> None:
        """Note that neither a window nor those before it can be taken any more."""
        for k, each in enumerate(self._untaken):
            if each.motion is window.motion:
                del self._untaken[: k + 1]
                return


class Suspects:
    """Windows that may move the arm after it was told to brake, if no reference tells.

    The measured joints do: they are where a window is, and go as far meanwhile, or they do not.

    Attributes:
        windows: Those that can still be followed, also by a controller that stands for a while.
        followed: The one that is.
        in_doubt: Whether it is not known yet if one is, or one is.
    """

    def __init__(self) -> None:
        self.suspect([], 0, 0)

    def suspect(self, windows: list[Window], since: int, lag: int) -> None:
        """Watch the arm.

        Args:
            windows: What it may follow.
            since: From then on it should rest.
            lag: By which it may do so later [ns].
        """
        self.windows, self._since, self._lag = windows, since, lag
        self.followed: Window | None = None
        self.in_doubt = bool(windows)
        self._before: tuple[int, FloatArray] | None = None

    def observe(self, time: int, measured: FloatArray) -> None:
        """Draw conclusions from where the joints were measured at a time (n,)."""
        if not self.windows or time < self._since:
            return
        if self._before is None:
            self._before = time, measured
        begin, at_begin = self._before
        if time - begin < SUSPECT_TUNING.interval:
            return
        followed, undecided = None, False
        for window in list(self.windows):
            here = window.at(time)[:, 0]
            way = here - window.at(begin)[:, 0]
            tells = np.abs(way) >= SUSPECT_TUNING.way
            if tells.any():
                goes = ((measured - at_begin)[tells] / way[tells] >= SUSPECT_TUNING.share).all()
                lagged = np.abs(here - window.at(time - self._lag)[:, 0])
                near = np.abs(measured - here) <= lagged + SUSPECT_TUNING.off
                followed = window if goes and near.all() else followed
            elif window.end <= time:
                self.windows.remove(window)
            else:
                undecided = True
        if followed is None and undecided:
            return
        self._before = time, measured
        self.followed = followed if self._since + self._lag <= begin else None
        self.in_doubt = followed is not None

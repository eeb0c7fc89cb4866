# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windows of several controllers that share an arm: each may be following another one.

Positions are [rad] or [m], times [ns] on the controllers' clocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.limiter import Motion
from basis_ik.arm.sent_windows import SentWindows, Window
from basis_ik.numerics.arrays import FloatArray


class SharedWindows(SentWindows):
    """The windows that the controllers of an arm may be following, each with its joints of them.

    `windows` has those that are followed by any of them. All begin by their stamps.

    Args:
        columns: Of each controller: the indices of its joints.
    """

    def __init__(self, columns: Sequence[NDArray[np.intp]]) -> None:
        self._columns = tuple(columns)
        self._parts = [SentWindows() for _ in columns]
        super().__init__()

    def clear(self) -> None:
        """Forget which are followed; `over` stays."""
        super().clear()
        for part in self._parts:
            part.clear()
        # What was sent, and of that each controller's share; oldest first.
        self._whole: list[tuple[Window, list[Window]]] = []
        self._mixed: list[list[Window]] = []  # what `windows` was joined from

    def on_clock_jump(self, seen: int) -> None:
        """See `SentWindows.on_clock_jump`."""
        self.seen = seen
        for part in self._parts:
            part.on_clock_jump(seen)

    @property
    def over(self) -> int:
        """Time from which none of all that were ever sent can be taken any more."""
        return max((part.over for part in self._parts), default=0)

    def send(self, window: Window, *, alone: bool = False) -> None:
        """Add a window; see `SentWindows.send`."""
        shares = [window._replace(motion=window.motion.of(each)) for each in self._columns]
        for part, share in zip(self._parts, shares, strict=True):
            part.send(share, alone=alone)
        self._whole.append((window, shares))
        self._merge()

    def settle(self) -> None:
        """Drop those that were not taken once they cannot be taken any more."""
        for part in self._parts:
            part.settle()
        self._merge()

    def drop_others(self) -> None:
        """Take those to be lost that a controller is not known to follow."""
        for part in self._parts:
            part.drop_others()
        self._merge()

    def since(self) -> float:
        """Return the time since which a controller may have left the newest window's way."""
        return min(part.since() for part in self._parts)

    def is_off(self, close: float, inexact: float) -> bool:
        """Return whether a controller is off what has left its way; see `SentWindows.is_off`."""
        return any(part.is_off(close, inexact) for part in self._parts)

    def observe_each(
        self, stamps: Sequence[int], reference: FloatArray, inexact: float, *, shifted: bool
    ) -> list[bool]:
        """Draw conclusions from the references of the controllers; see `SentWindows.observe`.

        Args:
            stamps: Of each controller.
            reference: The references (n,).
            inexact: Time by which the stamps are inexact [s].
            shifted: Whether times may have been shifted, because one has scaled its speed.

        Returns:
            Of each controller: False if it follows no window that was sent.
        """
        known = [
            part.observe(stamp, reference[columns], inexact, shifted=shifted)
            for part, stamp, columns in zip(self._parts, stamps, self._columns, strict=True)
        ]
        self._merge()
        return known

    def _merge(self) -> None:
        """Find out what the controllers follow together."""
        parts = self._parts
        self.seen = min((part.seen for part in parts), default=0)
        resting = [part.resting for part in parts]
        known = [each for each in resting if each is not None]
        self.resting = self._joined(known) if len(known) == len(parts) else None
        if not parts or not parts[0].windows:
            self.windows = []
            return
        followed = {id(each) for part in parts for each in part.windows}
        newest = self._whole[-1]
        kept = [each for each in self._whole if any(id(share) in followed for share in each[1])]
        if all(part.newest is share for part, share in zip(parts, newest[1], strict=True)):
            self._whole, self._mixed = kept, []
            self.windows = [window for window, _ in kept]
            return
        # One has left the others: it has not taken the newest one, or not in time.
        self._whole = kept if kept and kept[-1] is newest else [*kept, newest]
        mixed = [[part.windows[0] for part in parts]]
        if any(len(part.windows) > 1 for part in parts):
            mixed.append([part.windows[-1] for part in parts])
        if not _same(mixed, self._mixed):
            self._mixed = mixed
            self.windows = [self._mixture(each) for each in mixed]

    def _mixture(self, shares: Sequence[Window]) -> Window:
        """Return the window in which each controller follows its own one."""
        times = sorted(
            {each.begin + round(1e9 * float(time)) for each in shares for time in each.motion.times}
        )
        states = np.stack([self._joined([share.at(time) for share in shares]) for time in times])
        samples = np.ascontiguousarray(states.transpose(2, 0, 1))
        motion = Motion(1e-9 * (np.array(times) - times[0]), *samples)
        return Window(times[0], motion, max(each.joins for each in shares), settles=False)

    def _joined(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return the controllers' values in the order of the arm's joints."""
        joined: FloatArray = np.concatenate(values)[np.argsort(np.concatenate(self._columns))]
        return joined


def _same(first: list[list[Window]], second: list[list[Window]]) -> bool:
    """Return whether both have the same windows, which are not compared by their values."""
    return [[id(each) for each in row] for row in first] == [
        [id(each) for each in row] for row in second
    ]

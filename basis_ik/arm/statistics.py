# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Counts, rates and windows of values, cheap enough for a control loop; without a clock."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


class Window:
    """The newest values of a quantity.

    Args:
        size: Number of stored values.
    """

    def __init__(self, size: int = 1000) -> None:
        self._values = np.empty(size)
        self.count = 0
        """Number of values so far."""

    def add(self, value: float) -> None:
        """Add a value; the oldest is dropped when the window is full."""
        self._values[self.count % len(self._values)] = value
        self.count += 1

    def values(self) -> NDArray[np.float64]:
        """Return a copy of the stored values, in no order."""
        return self._values[: self.count].copy()

    def quantiles(self, *fractions: float) -> tuple[float, ...]:
        """Return quantiles; each is NaN while there are no values.

        Args:
            fractions: In [0, 1]; 1 gives the largest value.
        """
        kept = self.values()
        if not len(kept):
            return (math.nan,) * len(fractions)
        return tuple(np.quantile(kept, fractions).tolist())


class Rate:
    """Counts events, and returns their rate since the last call."""

    def __init__(self) -> None:
        self.count = 0
        """Number of events so far; callers increment it."""
        self._last_call: tuple[float, int] | None = None

    def since_last_call(self, now: float) -> float:
        """Return the rate [1/s] since the last call; NaN at the first one.

        Args:
            now: A steady clock [s].
        """
        before, self._last_call = self._last_call, (now, self.count)
        if before is None or not now > before[0]:
            return math.nan
        return (self.count - before[1]) / (now - before[0])


class LoopMeter:
    """Measures a loop that should run one cycle per period.

    A period is missed if the next cycle begins more than half a period late; a cycle that is n
    periods late counts as n missed periods.

    Args:
        period: Period of the loop [s].
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.turns = Rate()
        self.missed = 0
        """Number of periods without a cycle so far."""
        self.work = Window()
        """Durations of the newest cycles [s]."""
        self._began: float | None = None

    def begin(self, now: float) -> None:
        """Begin a cycle.

        Args:
            now: A steady clock [s].
        """
        if self._began is not None:
            self.missed += max(0, round((now - self._began) / self.period) - 1)
        self._began = now
        self.turns.count += 1

    def end(self, now: float) -> None:
        """End the cycle; on the same clock."""
        if self._began is not None:
            self.work.add(now - self._began)


class ArmMeter:
    """Counters and rates of one arm."""

    def __init__(self) -> None:
        self.joint_states, self.targets, self.commands = Rate(), Rate(), Rate()
        self.solve_time = Window()
        """Durations of the newest solves [s]."""
        self.check_time = Window()
        """Durations of the newest periods' checks for collisions, in motion [s]."""
        self.verdicts: dict[str, int] = {}
        """Number of solves by verdict."""

    def solved(self, seconds: float, verdict: str) -> None:
        """Add a solve."""
        self.solve_time.add(seconds)
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1

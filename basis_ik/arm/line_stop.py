# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quickest stop of a tip on its line.

The whole stop is planned at once, with the accelerations and jerks that keep the tip on its line;
docs/mathematics.md has the formulae.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from basis_ik.arm.joints_kernel import ACCELERATION, JERK
from basis_ik.arm.profile_kernel import ROW, duration, plan_stop, sample
from basis_ik.numerics.arrays import FloatArray


class LineStopTuning(NamedTuple):
    """Tuning of the plan of a stop."""

    # Fractions of the stop at which the demand on the joints is evaluated.
    times: tuple[float, ...] = (0.0, 0.3, 0.5, 0.75, 1.0)
    interval: float = 1e-3  # [s], of the finite difference for the change of an acceleration
    least_share: float = 0.2  # of a joint's limits, reserved for the stop at any curvature
    bisections: int = 6  # for the fraction of the jerk that stops a turn of the twist
    direction_tolerance: float = 1e-9  # relative deviation of a rate that counts as along the twist


LINE_STOP_TUNING = LineStopTuning()


StatesOnLine = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Maps positions (n,), twist (6,) and its rate (6,) to the joints' states (n, 3)."""


class Needs(NamedTuple):
    """Largest demand of a stop on each joint; each (n,)."""

    along: FloatArray
    """Speed for a unit twist along its direction."""
    aside: FloatArray
    """Speed for a unit twist across."""
    acceleration: FloatArray
    """For the curvature of the line, with a constant twist."""
    jerk: FloatArray
    """For a change of that curvature."""


class LineStop:
    """The quickest stop of a twist.

    The twist shrinks along its own direction, while the rate across it shrinks to zero; each is a
    quickest stop, both in the same time if possible.

    Args:
        q: Positions of the joints (n,) [rad or m].
        twist: Twist of the tip (6,).
        rate: Its derivative (6,).
        bounds: The joints' limits (5, n).
        share: Fraction of acceleration and jerk to use, in (0, 1].
        states: Returns the joints' states on the line.
    """

    def __init__(
        self,
        q: FloatArray,
        twist: FloatArray,
        rate: FloatArray,
        bounds: FloatArray,
        share: float,
        states: StatesOnLine,
    ) -> None:
        self._top, self._jerk = share * bounds[ACCELERATION], share * bounds[JERK]
        # The twist once the rate has returned to zero directly; the part across is short-lived.
        back = float((np.abs(states(q, rate, np.zeros(6))[:, 1]) / self._jerk).max())
        along, across = _directions(twist + 0.5 * back * rate, twist, rate)
        self._directions = np.stack([along, across])
        self._begin = [(float(twist @ each), float(rate @ each)) for each in self._directions]
        self._rows: FloatArray = np.zeros((2, ROW))
        self._plan(self._needs(q, states, 0.0, None))
        total, worst = self.duration, None
        for part in LINE_STOP_TUNING.times:
            worst = self._needs(q, states, part * total, worst)
        assert worst is not None
        self._plan(worst)

    @property
    def duration(self) -> float:
        """Duration of the stop [s]."""
        return max(float(duration(row)) for row in self._rows)

    def at(self, time: float) -> FloatArray:
        """Return displacement since the start, twist and rate (3, 6) after a time [s]."""
        then = np.zeros((3, 6))
        for direction, (v, a), row in zip(self._directions, self._begin, self._rows, strict=True):
            then += np.outer(sample(row, 0.0, v, a, time)[:3], direction)
        return then

    def _needs(
        self, q: FloatArray, states: StatesOnLine, time: float, worst: Needs | None
    ) -> Needs:
        """Return the maximum of the demand at a time of the stop and a given one."""
        way, twist, rate = self.at(time)
        still = np.zeros(6)
        q = q + states(q, way, still)[:, 1]
        along, aside = (states(q, each, still)[:, 1] for each in self._directions)
        _, speeds, accelerations = states(q, twist, rate).T
        later = states(
            q + LINE_STOP_TUNING.interval * speeds, twist + LINE_STOP_TUNING.interval * rate, rate
        )[:, 2]
        bend = accelerations - states(q, rate, still)[:, 1]
        found = Needs(
            *map(np.abs, (along, aside, bend, (later - accelerations) / LINE_STOP_TUNING.interval))
        )
        return found if worst is None else Needs(*map(np.maximum, found, worst))

    def _plan(self, needs: Needs) -> None:
        """Plan both profiles, with durations as equal as possible."""
        top = np.maximum(self._top - needs.acceleration, LINE_STOP_TUNING.least_share * self._top)
        jerk = np.maximum(self._jerk - needs.jerk, LINE_STOP_TUNING.least_share * self._jerk)
        bounds = np.stack([top, jerk])
        low, high = (0.0, 1.0) if self._directions[1].any() else (1.0, 1.0)
        part = 0.5 * (low + high)
        for _ in range(LINE_STOP_TUNING.bisections if low < high else 1):
            aside = (1.0 - part) * _least(bounds, needs.aside)
            along = _least(bounds - np.outer(aside, needs.aside), needs.along)
            for begin, most, row in zip(self._begin, (along, aside), self._rows, strict=True):
                if begin != (0.0, 0.0):
                    plan_stop(*begin, float(most[0]), float(most[1]), row)
            if duration(self._rows[0]) > duration(self._rows[1]):
                low = part
            else:
                high = part
            part = 0.5 * (low + high)


def _directions(
    left: FloatArray, twist: FloatArray, rate: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the unit vector along the remaining twist, and the one across it, or zeros."""
    size, turn = float(np.linalg.norm(twist)), float(np.linalg.norm(rate))
    if size > 0.0:
        aside = rate - (rate @ twist) / size**2 * twist
        if np.linalg.norm(aside) <= LINE_STOP_TUNING.direction_tolerance * turn:
            return twist / size, np.zeros(6)
    elif turn > 0.0:
        return rate / turn, np.zeros(6)
    along = left / max(float(np.linalg.norm(left)), 1e-300)
    aside = rate - (rate @ along) * along
    return along, aside / max(float(np.linalg.norm(aside)), 1e-300)


def _least(bounds: FloatArray, speeds: FloatArray) -> FloatArray:
    """Return the bounds along a direction, from the joints' bounds (2, n) and speeds on it (n,)."""
    with np.errstate(divide="ignore"):  # a joint at rest sets no bound
        most: FloatArray = np.minimum((bounds / speeds).min(axis=1), 1e9)
    return most

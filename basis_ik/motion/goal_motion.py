"""How a goal that comes anew again and again moves on in between."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LONGEST = 0.1  # goals farther apart than this are single goals, not a moving one [s]
SMOOTHING = 0.05  # time constant of the velocity's low-pass filter [s]
OVERDUE = 1.5  # intervals after which the next goal no longer is on its way


class GoalMotion:
    """Estimates the velocity of a goal, so that it can be followed without lag.

    A goal whose next one is overdue rests, and so does one that has jumped farther than the joints
    can follow.

    Args:
        speeds: Largest speeds of the joints (n,) [rad/s or m/s].
        period: Time between two calls of `observe` [s].
    """

    def __init__(self, speeds: FloatArray, period: float) -> None:
        self._speeds, self._period = speeds, period
        self.reset()

    def reset(self) -> None:
        """Forget the goals so far."""
        self._goal: FloatArray = np.full_like(self._speeds, np.nan)
        self._velocity: FloatArray = np.zeros_like(self._speeds)
        self._age = self._interval = np.inf

    def observe(self, goal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where the goal is now (n,) and its velocity (n,) [1/s]; call this each period.

        Args:
            goal: The goal as last told (n,).
        """
        self._age += self._period
        if not np.array_equal(goal, self._goal):
            self._velocity = self._estimate(goal)
            self._interval, self._age, self._goal = self._age, 0.0, goal.copy()
        elif self._age > OVERDUE * self._interval:
            self._velocity = np.zeros_like(goal)
        return goal + self._velocity * self._age, self._velocity

    def _estimate(self, goal: FloatArray) -> FloatArray:
        if not self._age <= LONGEST:
            return np.zeros_like(goal)
        raw: FloatArray = (goal - self._goal) / self._age
        if not (np.abs(raw) <= self._speeds).all():
            return np.zeros_like(goal)
        blend = -math.expm1(-self._age / SMOOTHING)
        return self._velocity + blend * (raw - self._velocity)

"""How a goal that comes anew again and again moves on in between."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.motion_joints import is_equal

FloatArray = NDArray[np.float64]

LONGEST = 0.1  # goals farther apart than this are single goals, not a moving one [s]
SMOOTHING = 0.05  # time constant of the velocity's low-pass filter [s]
OVERDUE = 1.5  # intervals after which the next goal no longer is on its way


class GoalMotion:
    """Estimates the velocity of a goal, so that it need not be caught up with.

    A goal whose next one is overdue rests, and so does one that has jumped farther than the joints
    can follow.

    Args:
        speeds: Largest speeds of the joints (n,) [rad/s or m/s].
        period: Time between two calls of `observe` [s].
    """

    def __init__(self, speeds: FloatArray, period: float) -> None:
        self._speeds, self._period = speeds, period
        self._still: FloatArray = np.zeros_like(speeds)
        self.reset()

    def reset(self) -> None:
        """Forget the goals so far."""
        self._goal: FloatArray | None = None
        self._velocity = self._still
        self._age = self._interval = np.inf

    def observe(self, goal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where the goal is now (n,) and its velocity (n,) [1/s]; call this each period.

        Args:
            goal: The goal as last told (n,).
        """
        self._age += self._period
        if self._goal is None or not is_equal(goal, self._goal):
            self._velocity = self._estimate(goal)
            self._interval, self._age, self._goal = self._age, 0.0, goal.copy()
        elif self._age > OVERDUE * self._interval:
            self._velocity = self._still
        if self._velocity is self._still:
            return goal, self._still
        return goal + self._velocity * self._age, self._velocity

    def _estimate(self, goal: FloatArray) -> FloatArray:
        if self._goal is None or not self._age <= LONGEST:
            return self._still
        raw: FloatArray = (goal - self._goal) / self._age
        if not (np.abs(raw) <= self._speeds).all():
            return self._still
        blend = -math.expm1(-self._age / SMOOTHING)
        return self._velocity + blend * (raw - self._velocity)

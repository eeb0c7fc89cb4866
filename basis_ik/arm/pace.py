# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bounds on the speed of the motion to one goal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray

LEAST_PACE = 1e-6  # least fraction, because it must not be zero


@dataclass(frozen=True, eq=False)
class Pace:
    """A goal's bounds on its motion, within the joints' limits.

    Attributes:
        speeds: The joints' velocity limits (n,) [rad/s or m/s], above zero.
        not_before: Steady time before which the motion must not end [s].
        max_velocity: Largest speed of any revolute joint [rad/s]; inf for none.
        turning: The revolute joints (n,) bool.
    """

    speeds: FloatArray
    not_before: float
    max_velocity: float
    turning: NDArray[np.bool_]

    def scaling(self, remaining: FloatArray, now: float) -> float:
        """Return the fraction of the joints' speeds to use, in (0, 1].

        Called in every cycle, it spreads the remaining distance over the remaining time, so that a
        moving target is followed at least as fast.

        Args:
            remaining: Remaining distance of each joint (n,) [rad or m].
            now: Steady time [s].
        """
        fraction = 1.0
        if self.turning.any():
            fraction = min(fraction, self.max_velocity / float(self.speeds[self.turning].max()))
        time_left = self.not_before - now
        if time_left > 0.0:
            time_needed = float((np.abs(remaining) / self.speeds).max())
            fraction = min(fraction, time_needed / time_left)
        return max(fraction, LEAST_PACE)

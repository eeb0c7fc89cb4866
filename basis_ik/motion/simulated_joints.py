"""Joints without dynamics that obey their limits: they go where told, as fast as they may."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class SimulatedJoints:
    """Positions and velocities of joints between hard stops, with a greatest speed each.

    A target beyond a limit or too fast is followed as far and as fast as the limits allow, so it
    shows as tracking error: hardware protects itself, it does not refuse.
    """

    def __init__(
        self, lower: FloatArray, upper: FloatArray, speed: FloatArray, positions: FloatArray
    ) -> None:
        """Stand still at the given positions.

        Args:
            lower: shape (n,), [rad] or [m], -inf where there is none.
            upper: shape (n,), inf where there is none.
            speed: shape (n,), greatest [rad/s] or [m/s], inf where there is none.
            positions: shape (n,), within the limits.
        """
        self._lower, self._upper, self._speed = lower.copy(), upper.copy(), speed.copy()
        self._positions = np.clip(positions, lower, upper)
        self._velocities = np.zeros_like(self._positions)

    @property
    def positions(self) -> FloatArray:
        """Shape (n,), [rad] or [m]; a new array every step."""
        return self._positions

    @property
    def velocities(self) -> FloatArray:
        """Shape (n,), the mean over the last step [rad/s] or [m/s]."""
        return self._velocities

    def step(self, targets: FloatArray, dt: float) -> None:
        """Move towards the targets for a while.

        Args:
            targets: shape (n,), [rad] or [m]; a joint whose target is not finite stays put.
            dt: How long [s]; nothing moves unless it is greater than zero.
        """
        if not dt > 0.0:
            self._velocities = np.zeros_like(self._positions)
            return
        # Asked before clipping, which would turn an infinity into a plausible command.
        wanted = np.where(np.isfinite(targets), targets, self._positions)
        farthest = self._speed * dt
        move = np.clip(wanted - self._positions, -farthest, farthest)
        moved = np.clip(self._positions + move, self._lower, self._upper)
        self._velocities = (moved - self._positions) / dt
        self._positions = moved


def initial_positions(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Where joints stand that were not told: at zero, or midway where zero is out of reach.

    Args:
        lower: shape (n,), -inf where there is none.
        upper: shape (n,), inf where there is none.

    Returns:
        shape (n,), within the limits.
    """
    with np.errstate(invalid="ignore"):  # -inf + inf, where zero is within the limits anyway
        middle = 0.5 * (lower + upper)
    return np.where((lower <= 0.0) & (upper >= 0.0), 0.0, middle)

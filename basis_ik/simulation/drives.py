# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of the simulated arm's engines: drives that follow set points."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray


class Drives(Protocol):
    """The drives of n joints, commanded by positions.

    Attributes:
        stopped: Whether all drives hold their positions, as after an emergency stop.
        blocked: shape (n,), True for a joint that does not move.
    """

    stopped: bool
    blocked: NDArray[np.bool_]

    @property
    def positions(self) -> FloatArray:
        """Measured positions, shape (n,) [rad or m]; a new array every step."""

    @property
    def velocities(self) -> FloatArray:
        """Measured velocities, shape (n,) [rad/s or m/s]."""

    def step(self, targets: FloatArray, dt: float) -> None:
        """Move towards the targets.

        Args:
            targets: shape (n,) [rad or m]; a joint whose target is not finite holds its position.
            dt: Duration [s], above zero.
        """


class Feedback:
    """Delays the measured state."""

    def __init__(self, positions: FloatArray, delay: float) -> None:
        """Start at rest.

        Args:
            positions: shape (n,) [rad or m].
            delay: Age of the reported state [s].
        """
        self._delay = delay
        self._time = 0.0
        self._history = deque([(0.0, positions, np.zeros_like(positions))])

    @property
    def positions(self) -> FloatArray:
        """Reported positions, shape (n,) [rad or m]."""
        return self._history[0][1]

    @property
    def velocities(self) -> FloatArray:
        """Reported velocities, shape (n,) [rad/s or m/s]."""
        return self._history[0][2]

    def add(self, positions: FloatArray, velocities: FloatArray, dt: float) -> None:
        """Store the state after a step of length dt [s]; the arrays are kept."""
        self._time += dt
        self._history.append((self._time, positions, velocities))
        # Half a step, because the sum of the steps is rounded.
        while len(self._history) > 1 and self._history[1][0] <= self._time - self._delay + 0.5 * dt:
            self._history.popleft()


class SetPoints:
    """Positions that move towards targets within the joints' limits of position and speed."""

    def __init__(
        self,
        lower: FloatArray,
        upper: FloatArray,
        speed: FloatArray,
        positions: FloatArray,
        time_constant: float,
    ) -> None:
        """Start at given positions.

        Args:
            lower: Least positions, shape (n,) [rad or m]; -inf for none.
            upper: Largest positions, shape (n,); inf for none.
            speed: Largest speeds, shape (n,) [rad/s or m/s]; inf for none.
            positions: Positions, shape (n,); clipped to the limits.
            time_constant: Time constant of a first-order lag [s]; 0: none.
        """
        self._lower, self._upper, self._speed = lower.copy(), upper.copy(), speed.copy()
        self._time_constant = time_constant
        self.positions = np.clip(positions, lower, upper)

    def step(self, targets: FloatArray, held: NDArray[np.bool_], dt: float) -> FloatArray:
        """Move towards the targets.

        Args:
            targets: shape (n,) [rad or m]; a joint whose target is not finite holds its position.
            held: shape (n,), True for a joint that holds its position.
            dt: Duration [s], above zero.

        Returns:
            The new `positions`, shape (n,), a new array.
        """
        # Checked before clipping, which would turn infinity into a plausible command.
        desired = np.where(np.isfinite(targets) & ~held, targets, self.positions)
        share = -np.expm1(-dt / self._time_constant) if self._time_constant > 0.0 else 1.0
        farthest = self._speed * dt
        # For each cycle; `np.clip` takes longer.
        move = np.minimum(np.maximum(share * (desired - self.positions), -farthest), farthest)
        self.positions = np.minimum(np.maximum(self.positions + move, self._lower), self._upper)
        return self.positions

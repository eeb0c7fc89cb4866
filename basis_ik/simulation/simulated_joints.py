# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The kinematic engine: drives without mass, which follow commands within the joints' limits."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.simulation.drives import Feedback, SetPoints


class SimulatedJoints:
    """Positions and velocities of joints with limits of position and speed.

    A target beyond a limit, or too fast, is not refused: the joint follows it as far and as fast as
    its limits allow, with a tracking error.

    Attributes:
        stopped: Whether all drives hold their positions, as after an emergency stop.
        blocked: shape (n,), True for a joint that does not move.
    """

    def __init__(
        self,
        lower: FloatArray,
        upper: FloatArray,
        speed: FloatArray,
        positions: FloatArray,
        *,
        time_constant: float = 0.0,
        feedback_delay: float = 0.0,
    ) -> None:
        """Start at rest at given positions.

        Args:
            lower: shape (n,), least positions [rad or m]; -inf for none.
            upper: shape (n,), largest positions [rad or m]; inf for none.
            speed: shape (n,), largest speeds [rad/s or m/s]; inf for none.
            positions: shape (n,), within the limits [rad or m].
            time_constant: Time constant of the drives' first-order lag [s]; 0: none.
            feedback_delay: Age of the measured state [s].
        """
        self._set_points = SetPoints(lower, upper, speed, positions, time_constant)
        self._feedback = Feedback(self._set_points.positions, feedback_delay)
        self.stopped = False
        self.blocked = np.zeros(len(positions), dtype=bool)

    @property
    def positions(self) -> FloatArray:
        """Measured positions, shape (n,) [rad or m]; a new array every step."""
        return self._feedback.positions

    @property
    def velocities(self) -> FloatArray:
        """Measured velocities, the mean over a step, shape (n,) [rad/s or m/s]."""
        return self._feedback.velocities

    def step(self, targets: FloatArray, dt: float) -> None:
        """Move towards the targets.

        Args:
            targets: shape (n,) [rad or m]; a joint whose target is not finite holds its position.
            dt: Duration [s], above zero.
        """
        before = self._set_points.positions
        moved = self._set_points.step(targets, self.blocked | self.stopped, dt)
        self._feedback.add(moved, (moved - before) / dt, dt)


def initial_positions(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return default positions: zero, or midway between the limits if zero is outside them.

    Args:
        lower: shape (n,), -inf for none.
        upper: shape (n,), inf for none.

    Returns:
        shape (n,), within the limits.
    """
    with np.errstate(invalid="ignore"):  # -inf + inf is not used: zero is within such limits
        middle = 0.5 * (lower + upper)
    return np.where((lower <= 0.0) & (upper >= 0.0), 0.0, middle)

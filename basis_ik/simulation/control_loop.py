# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller and its drives: read, update and write, as in ros2_control's manager."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from basis_ik.simulation.drives import Drives
from basis_ik.simulation.trajectory_controller import TrajectoryController, Update


class ControlLoop:
    """Moves joints as a controller commands, in cycles of equal length.

    The drives execute each command one cycle later.
    """

    def __init__(
        self,
        joints: Drives,
        columns: NDArray[np.intp],
        controller: TrajectoryController,
        period: float,
    ) -> None:
        """Start with the joints' current positions as the command.

        Args:
            joints: The drives.
            columns: shape (n,), indices of the controller's joints among the drives; other joints
                hold their positions.
            controller: The controller of n joints.
            period: Time from one cycle to the next [s].
        """
        self._joints = joints
        self._columns = columns
        self._controller = controller
        self._period = period
        self._targets = joints.positions.copy()

    def cycle(self, now: float, elapsed: float | None = None) -> Update | None:
        """Run one cycle.

        Args:
            now: Time on the clock of the commands' start times [s].
            elapsed: Time since the last cycle [s], where it was late; None: a period.

        Returns:
            The controller's result; None if it is inactive.
        """
        self._joints.step(self._targets, self._period if elapsed is None else elapsed)
        if not self._controller.active:
            return None
        update = self._controller.update(
            now,
            self._joints.positions[self._columns],
            self._joints.velocities[self._columns],
            elapsed,
        )
        self._targets[self._columns] = update.output.positions
        return update

"""A controller and the drives behind it: read, update, write, as ros2_control's manager does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from basis_ik.motion.simulated_joints import SimulatedJoints
from basis_ik.motion.trajectory_controller import TrajectoryController, Update


class ControlLoop:
    """Moves joints as a controller commands, in cycles of one length.

    Drives execute in a cycle what was commanded in the one before.
    """

    def __init__(
        self,
        joints: SimulatedJoints,
        columns: NDArray[np.intp],
        controller: TrajectoryController,
        period: float,
    ) -> None:
        """Command nothing but where the joints stand.

        Args:
            joints: The drives.
            columns: shape (n,), the places of the controller's joints among them; the others keep
                their positions.
            controller: Of n joints.
            period: From one cycle to the next [s].
        """
        self._joints = joints
        self._columns = columns
        self._controller = controller
        self._period = period
        self._targets = joints.positions.copy()

    def cycle(self, now: float) -> Update | None:
        """Go through one cycle.

        Args:
            now: On the clock of the commands' start times [s].

        Returns:
            What the controller did; None when it is inactive.
        """
        self._joints.step(self._targets, self._period)
        if not self._controller.active:
            return None
        update = self._controller.update(
            now, self._joints.positions[self._columns], self._joints.velocities[self._columns]
        )
        self._targets[self._columns] = update.output.positions
        return update

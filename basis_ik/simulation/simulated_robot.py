# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The movable joints of a robot: driven joints, and those that mimic them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.variables import find_variable, tie_of
from basis_ik.simulation.drives import Drives
from basis_ik.simulation.simulated_joints import SimulatedJoints, initial_positions


class SimulatedRobotError(BasisIkError):
    """A robot cannot be simulated, or joints cannot be controlled.

    Attributes:
        joints: The joints that cannot be controlled.
    """

    def __init__(self, joints: Sequence[str], text: str) -> None:
        super().__init__(text)
        self.joints = tuple(joints)


class SimulatedRobot:
    """The movable joints of a robot.

    Attributes:
        names: All revolute, continuous and prismatic joints without a fault, in the order of the
            model.
        driven: The n joints of `names` that do not mimic another joint.
        continuous: shape (n,), True for continuous driven joints.
        lower: shape (n,), lower limits of the driven joints [rad or m], as in a chain.
        upper: shape (n,), the upper limits.
        speed: shape (n,), largest speeds with which no joint exceeds its own [rad/s or m/s].
        column: For each of `names`, the index in `driven` of the joint that moves it.
        multiplier: For each of `names`, its motion per unit of that joint's.
        offset: For each of `names`, its position when that joint is at zero.
        joints: The driven joints; they start at zero, or midway if zero is outside their limits.
    """

    def __init__(self, model: RobotModel) -> None:
        """Read the movable joints of a model.

        Raises:
            SimulatedRobotError: There are none.
            ChainError: The limits of a mimic joint exclude all positions.
        """
        movable = [joint for joint in model.joints.values() if joint.moves and not joint.fault]
        self.names = tuple(joint.name for joint in movable)
        self.driven = tuple(joint.name for joint in movable if joint.mimic is None)
        if not self.driven:
            raise SimulatedRobotError((), f"robot '{model.name}' has no joint that moves")
        variables = [find_variable(name, model) for name in self.driven]
        self.continuous = np.array([variable.continuous for variable in variables])
        self.lower = np.array([variable.lower for variable in variables])
        self.upper = np.array([variable.upper for variable in variables])
        self.speed = np.array([variable.velocity for variable in variables])
        ties = [tie_of(joint, model.mimics) for joint in movable]
        self.column = np.array([self.driven.index(tie.joint) for tie in ties])
        self.multiplier = np.array([tie.multiplier for tie in ties])
        self.offset = np.array([tie.offset for tie in ties])
        start = initial_positions(self.lower, self.upper)
        self.joints: Drives = SimulatedJoints(self.lower, self.upper, self.speed, start)

    def place(
        self, positions: FloatArray, *, time_constant: float = 0.0, feedback_delay: float = 0.0
    ) -> None:
        """Replace the drives of the driven joints.

        Args:
            positions: Initial positions, shape (n,) [rad or m].
            time_constant: Time constant of the drives' first-order lag [s]; 0: none.
            feedback_delay: Age of the measured state [s].
        """
        self.joints = SimulatedJoints(
            self.lower,
            self.upper,
            self.speed,
            positions,
            time_constant=time_constant,
            feedback_delay=feedback_delay,
        )

    def columns(self, joints: Sequence[str]) -> NDArray[np.intp]:
        """Return the indices of k driven joints among all driven joints, shape (k,).

        Raises:
            SimulatedRobotError: A joint is not driven, or is named twice.
        """
        wrong = [name for name in joints if name not in self.driven or joints.count(name) > 1]
        if wrong:
            raise SimulatedRobotError(
                wrong,
                f"joint {wrong[0]!r} is not one that can be controlled, or is named twice; "
                f"there are {', '.join(self.driven)}",
            )
        return np.array([self.driven.index(name) for name in joints], dtype=np.intp)

    def moved_by(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices in `names` of some driven joints and their mimic joints."""
        return np.flatnonzero(np.isin(self.column, columns))

    def state(self) -> tuple[FloatArray, FloatArray]:
        """Return the measured positions and velocities of the joints in `names`."""
        positions = self.multiplier * self.joints.positions[self.column] + self.offset
        return positions, self.multiplier * self.joints.velocities[self.column]

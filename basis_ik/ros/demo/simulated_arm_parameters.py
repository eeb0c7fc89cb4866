# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the simulated arm, named as in ros2_control where it has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node

from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.parameters.parameters import Declaration, Parameters
from basis_ik.simulation.simulated_robot import SimulatedRobot
from basis_ik.simulation.tolerances import Tolerances

# Limit of initial positions of continuous joints [rad].
UNLIMITED = 1e6

ENGINES = ("kinematic", "mujoco")

DECLARATIONS = (
    Declaration(
        "physics",
        "kinematic",
        "What moves the joints: kinematic or mujoco.",
        read_only=True,
        check=lambda name: (
            None if name in ENGINES else f"must be {' or '.join(ENGINES)}, not {name!r}"
        ),
    ),
    Declaration(
        "robot_description",
        "",
        "URDF text; empty: from the topic robot_description.",
        read_only=True,
    ),
    Declaration("joints", [], "Controlled joints; empty: all that move.", read_only=True),
    Declaration(
        "publish_rate",
        125.0,
        "Rate of the cycles and of joint_states [Hz].",
        10.0,
        1000.0,
        read_only=True,
    ),
    Declaration(
        "state_publish_rate", 50.0, "Rate of controller_state [Hz].", 1.0, 1000.0, read_only=True
    ),
    Declaration(
        "action_monitor_rate", 20.0, "Rate of action feedback [Hz].", 0.1, 1000.0, read_only=True
    ),
    Declaration(
        "publish_uncontrolled_joints",
        True,
        "Whether joint_states has the uncontrolled joints too.",
        read_only=True,
    ),
    Declaration(
        "interpolate_from_desired_state",
        False,
        "Whether new trajectories begin at the last command instead of the measured state.",
        read_only=True,
    ),
    Declaration(
        "allow_trajectory_replacement",
        False,
        "Whether a new trajectory is blended with the running one.",
        read_only=True,
    ),
    Declaration("speed_scaling", 1.0, "Rate of trajectory time.", 0.0, 1.0),
    Declaration(
        "drive_time_constant",
        0.0,
        "Time constant of the drives' first-order lag [s].",
        0.0,
        1.0,
        read_only=True,
    ),
    Declaration("feedback_delay", 0.0, "Age of the measured state [s].", 0.0, 1.0, read_only=True),
    Declaration("allow_partial_joints_goal", False, "Whether a trajectory may omit joints."),
    Declaration(
        "allow_nonzero_velocity_at_trajectory_end",
        False,
        "Whether the last point may have a velocity.",
    ),
    Declaration(
        "constraints.goal_time", 0.0, "Largest delay of the goal [s]; 0: no limit.", 0.0, 1e6
    ),
)


class ArmParameters:
    """The parameters of the simulated arm."""

    def __init__(self, node: Node) -> None:
        """Declare the parameters that do not depend on the robot.

        Raises:
            ConfigError: A parameter does not exist, has the wrong type or is out of range.
        """
        self._parameters = Parameters(node)
        self._parameters.declare(DECLARATIONS)
        self._parameters.refuse_unknown("initial_positions.", "constraints.", "blocked_joint")

    def declare_joints(self, robot: SimulatedRobot, controlled: Sequence[str]) -> FloatArray:
        """Declare the parameters of joints.

        Args:
            robot: The robot; each of its n driven joints gets an initial position.
            controlled: The driven joints that get tolerances.

        Returns:
            The initial positions, shape (n,) [rad or m].

        Raises:
            ConfigError: A parameter belongs to a joint that does not exist, or has a wrong value.
        """
        limits = np.clip([robot.lower, robot.upper], -UNLIMITED, UNLIMITED).T.tolist()
        starts = zip(robot.driven, limits, robot.joints.positions.tolist(), strict=True)
        self._parameters.declare(
            Declaration(
                f"initial_positions.{name}", start, "Initial position [rad, m].", lower, upper, True
            )
            for name, (lower, upper), start in starts
        )
        self._parameters.declare(
            Declaration(
                f"constraints.{name}.{part}",
                0.0,
                f"Largest position error {when} [rad, m]; 0: not checked.",
                0.0,
                1e6,
            )
            for name in controlled
            for part, when in (("trajectory", "on the way"), ("goal", "at the end"))
        )
        known = f"must be empty or one of {', '.join(robot.driven)}"
        blocked = Declaration(
            "blocked_joint",
            "",
            "Joint that does not move; empty: none.",
            check=lambda name: None if name in ("", *robot.driven) else f"{known}, not {name!r}",
        )
        self._parameters.declare([blocked])
        self._parameters.refuse_unknown()
        return np.array([self.number(f"initial_positions.{name}") for name in robot.driven])

    def text(self, name: str) -> str:
        """Return the value of a string parameter."""
        return str(self._parameters[name])

    def number(self, name: str) -> float:
        """Return the value of a floating point parameter."""
        return float(self._parameters[name])

    def flag(self, name: str) -> bool:
        """Return the value of a boolean parameter."""
        return bool(self._parameters[name])

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints to control; empty: all that move."""
        return tuple(self._parameters["joints"])

    def tolerances(self, controlled: Sequence[str]) -> Tolerances:
        """Return the current tolerances; their parameters may change at run time."""
        path, goal = (
            [self.number(f"constraints.{name}.{part}") for name in controlled]
            for part in ("trajectory", "goal")
        )
        return Tolerances(
            path=np.array(path), goal=np.array(goal), goal_time=self.number("constraints.goal_time")
        )

"""The parameters of the simulated arm: declared once, with unit, range and when they may change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from basis_ik.errors import BasisIkError
from basis_ik.motion.simulated_robot import SimulatedRobot
from basis_ik.motion.tolerances import Tolerances

FloatArray = NDArray[np.float64]

# Declared by rclpy itself.
FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")
# Stands for the position limits of a joint that turns without end.
UNLIMITED = 1e6


class ParameterError(BasisIkError):
    """A parameter that does not exist or makes no sense.

    Attributes:
        parameter: Its name.
    """

    def __init__(self, parameter: str, text: str) -> None:
        super().__init__(f"parameter '{parameter}': {text}")
        self.parameter = parameter


class ArmParameters:
    """What the simulated arm was told; the names are those of ros2_control where it has them.

    The node must have been created with `automatically_declare_parameters_from_overrides`: it is
    the only way to learn of given parameters that nobody declares, such as misspelt ones.
    """

    def __init__(self, node: Node) -> None:
        """Declare all that does not depend on the robot.

        Raises:
            ParameterError: A parameter was given that does not exist.
            rclpy.exceptions.ParameterException: A value has the wrong type or is out of range.
        """
        self._node = node
        self._declared: list[str] = []
        self._declare("robot_description", "", "URDF; empty: wait for the topic", read_only=True)
        strings = Parameter.Type.STRING_ARRAY
        self._declare("joints", strings, "Controlled ones; unset: all that move", read_only=True)
        for name, rate, lowest, of in (
            ("publish_rate", 125.0, 10.0, "the motion and joint_states"),
            ("state_publish_rate", 50.0, 1.0, "controller_state"),
            ("action_monitor_rate", 20.0, 0.1, "action feedback"),
        ):
            self._declare(name, rate, f"Of {of} [Hz]", (lowest, 1000.0), read_only=True)
        self._declare("allow_partial_joints_goal", False, "Whether joints may be left out")
        self._declare(
            "allow_nonzero_velocity_at_trajectory_end", False, "Whether the end may be passed"
        )
        stopped = "Speed that counts as stopped [rad/s, m/s]; 0: any"
        self._declare("constraints.stopped_velocity_tolerance", 0.01, stopped, (0.0, 1e6))
        late = "How late the goal may be reached [s]; 0: any time"
        self._declare("constraints.goal_time", 0.0, late, (0.0, 1e6))
        self._refuse_unknown("initial_positions.", "constraints.")

    def declare_joints(self, robot: SimulatedRobot, controlled: Sequence[str]) -> FloatArray:
        """Declare what there is one of per joint.

        Args:
            robot: Its n driven joints have initial positions.
            controlled: Those of them that have tolerances.

        Returns:
            shape (n,), the initial positions.

        Raises:
            ParameterError: A parameter was given for a joint that does not exist.
            rclpy.exceptions.ParameterException: A value has the wrong type or is out of range.
        """
        limits = np.clip([robot.lower, robot.upper], -UNLIMITED, UNLIMITED).T.tolist()
        for name, (lower, upper), default in zip(
            robot.driven, limits, robot.joints.positions.tolist(), strict=True
        ):
            name = f"initial_positions.{name}"
            self._declare(name, default, "At the start [rad, m]", (lower, upper), read_only=True)
        for name in controlled:
            for part, when in (("trajectory", "on the way"), ("goal", "at the end")):
                text = f"Greatest position error {when} [rad, m]; 0: any"
                self._declare(f"constraints.{name}.{part}", 0.0, text, (0.0, 1e6))
        self._refuse_unknown()
        return np.array([self.number(f"initial_positions.{name}") for name in robot.driven])

    def text(self, name: str) -> str:
        """The value of a string parameter."""
        return str(self._node.get_parameter(name).value)

    def number(self, name: str) -> float:
        """The value of a floating point parameter."""
        return float(self._node.get_parameter(name).value)

    def flag(self, name: str) -> bool:
        """The value of a boolean parameter."""
        return bool(self._node.get_parameter(name).value)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints to control; none when the parameter is unset."""
        unset = Parameter("joints", Parameter.Type.STRING_ARRAY, [])
        return tuple(self._node.get_parameter_or("joints", unset).value)

    def tolerances(self, controlled: Sequence[str]) -> Tolerances:
        """The tolerances as they are now; parameters may change while the arm runs."""
        path, goal = (
            [self.number(f"constraints.{name}.{part}") for name in controlled]
            for part in ("trajectory", "goal")
        )
        stopped = self.number("constraints.stopped_velocity_tolerance")
        size = len(controlled)
        return Tolerances(
            path=np.array([path, [0.0] * size]),
            goal=np.array([goal, [stopped] * size]),
            goal_time=self.number("constraints.goal_time"),
        )

    def _declare(
        self,
        name: str,
        default: object,
        description: str,
        limits: tuple[float, float] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        if self._node.has_parameter(name):  # from an override, without description and range
            self._node.undeclare_parameter(name)
        descriptor = ParameterDescriptor(description=description, read_only=read_only)
        if limits is not None:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=limits[0], to_value=limits[1])
            ]
        self._node.declare_parameter(name, default, descriptor)
        self._declared.append(name)

    def _refuse_unknown(self, *known_later: str) -> None:
        for name in self._node.get_parameters_by_prefix(""):
            if name not in self._declared and not name.startswith((*FOREIGN, *known_later)):
                raise ParameterError(name, f"unknown; there are {', '.join(self._declared)}")

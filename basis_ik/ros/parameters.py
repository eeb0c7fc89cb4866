"""The node's parameters, each declared once."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass

from rcl_interfaces.msg import (
    FloatingPointRange,
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from basis_ik.errors import BasisIkError

# Declared by rclpy itself, or read by it before any node exists.
FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class ConfigError(BasisIkError):
    """A parameter that does not exist, or a value that it cannot take."""


@dataclass(frozen=True)
class Declaration:
    """One parameter.

    Attributes:
        name: Its name.
        default: Its default, which also fixes its type.
        description: What it does, with its unit.
        low: Smallest value, for numbers.
        high: Largest value, for numbers.
        read_only: Whether it is fixed at start.
    """

    name: str
    default: str | bool | float
    description: str
    low: float = -math.inf
    high: float = math.inf
    read_only: bool = False

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that ROS tools show."""
        number = isinstance(self.default, float)
        return ParameterDescriptor(
            description=self.description,
            read_only=self.read_only,
            floating_point_range=[FloatingPointRange(from_value=self.low, to_value=self.high)]
            if number
            else [],
        )

    def complaint(self, value: object) -> str | None:
        """Return what is wrong with a value, or None."""
        if type(value) is not type(self.default):
            wanted = {str: "text", bool: "true or false", float: "a number with a decimal point"}
            return f"{self.name} wants {wanted[type(self.default)]}, not {value!r}"
        if isinstance(value, float) and not self.low <= value <= self.high:
            return f"{self.name} must lie in [{self.low:g}, {self.high:g}], not {value:g}"
        return None


IK_NODE = (
    Declaration(
        "robot_description",
        "",
        "URDF text; empty: from the topic robot_description.",
        read_only=True,
    ),
    Declaration("root_link", "", "First link of the chain; empty: inferred.", read_only=True),
    Declaration("tip_link", "", "Last link of the chain; empty: inferred.", read_only=True),
    Declaration(
        "controller",
        "joint_trajectory_controller",
        "Name of the controller whose joint_trajectory topic is published.",
        read_only=True,
    ),
    Declaration("update_rate", 100.0, "Rate of the control loop [Hz].", 1.0, 1000.0, True),
    Declaration("autostart", True, "Configure and activate without being asked.", read_only=True),
    Declaration("position_only_ik", False, "Leave the orientation of the tip free."),
    Declaration(
        "position_threshold", 1e-5, "Position error that counts as reached [m].", 1e-9, 1.0
    ),
    Declaration(
        "orientation_threshold", 1e-5, "Orientation error that counts as reached [rad].", 1e-9, 3.2
    ),
    Declaration(
        "max_velocity_scaling_factor", 1.0, "Fraction of the velocity limits to use.", 1e-3, 1.0
    ),
    Declaration("target_max_age", 2.0, "Oldest target stamp that is accepted [s].", 0.0, 1e4),
    Declaration("target_max_future", 0.1, "How far ahead a stamp may lie [s].", 0.0, 1e4),
    Declaration(
        "transform_timeout", 0.5, "How long a target may wait for its transform [s].", 0.0, 10.0
    ),
    Declaration(
        "joint_state_timeout", 0.5, "Silence of a joint that stops the motion [s].", 0.01, 10.0
    ),
)


def declare(node: Node, declarations: tuple[Declaration, ...]) -> None:
    """Declare a node's parameters and guard their changes.

    The node must have been made with ``automatically_declare_parameters_from_overrides=True``: only
    so does a key that nobody declared show itself.

    Raises:
        ConfigError: A given key does not exist, or a given value does not fit.
    """
    known = {d.name: d for d in declarations}
    given = dict(node.get_parameters_by_prefix(""))
    for name, parameter in given.items():
        if name.startswith(FOREIGN):
            continue
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid: {', '.join(known)}"
            raise ConfigError(f"{node.get_name()}: no parameter is named '{name}'; {hint}")
        complaint = known[name].complaint(parameter.value)
        if complaint:
            raise ConfigError(f"{node.get_name()}: {complaint}")
        node.undeclare_parameter(name)
    for declaration in declarations:
        node.declare_parameter(declaration.name, declaration.default, declaration.descriptor())
    node.add_on_set_parameters_callback(lambda changes: _judge(changes, known))


def _judge(changes: list[Parameter], known: dict[str, Declaration]) -> SetParametersResult:
    for change in changes:
        if change.name not in known or change.type_ == ParameterType.PARAMETER_NOT_SET:
            continue
        complaint = known[change.name].complaint(change.value)
        if complaint:
            return SetParametersResult(successful=False, reason=complaint)
    return SetParametersResult(successful=True)

"""Parameters: each declared once, guarded as a set, and read without asking rclpy every time."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from basis_ik.errors import BasisIkError
from basis_ik.ros.parameter_files import file_of

# Declared by rclpy itself, or read by it before any node exists.
FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")

Value = str | bool | float | list[str] | list[float]
_WANTED = {str: "text", bool: "true or false", float: "a number with a decimal point"}


class ConfigError(BasisIkError):
    """A parameter that does not exist, or a value that it cannot take."""


def _refused(node: Node, key: str, text: str) -> ConfigError:
    """Return the error of a given parameter; it tells the file that the key stands in."""
    file = file_of(key, sys.argv)
    return ConfigError(f"{node.get_name()}: {text}{f' (in {file})' if file else ''}")


@dataclass(frozen=True)
class Declaration:
    """One parameter.

    Attributes:
        name: Its name.
        default: Its default, which also fixes its type.
        description: What it does, with its unit.
        low: Smallest value, for numbers and for each number of an array.
        high: Largest value.
        read_only: Whether it is fixed at start.
        element: Type of an array's elements.
        choices: The texts that it may be; none means any.
    """

    name: str
    default: Value
    description: str
    low: float = -math.inf
    high: float = math.inf
    read_only: bool = False
    element: type = str
    choices: tuple[str, ...] = ()

    @property
    def is_array(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.default, list)

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that ROS tools show."""
        ranges = []
        if isinstance(self.default, float):
            ranges = [FloatingPointRange(from_value=self.low, to_value=self.high)]
        return ParameterDescriptor(
            description=self.description,
            additional_constraints=f"one of {', '.join(self.choices)}" if self.choices else "",
            read_only=self.read_only,
            # An empty list has no type of its own in rclpy; `complaint` checks it instead.
            dynamic_typing=self.is_array,
            floating_point_range=ranges,
        )

    def complaint(self, value: object) -> str | None:
        """Return what is wrong with a value, or None."""
        if not self.is_array:
            return self._item_complaint(value, type(self.default))
        if not isinstance(value, Sequence) or isinstance(value, str):
            return f"{self.name} wants a list of {_WANTED[self.element]}, not {value!r}"
        complaints = (self._item_complaint(item, self.element) for item in value)
        return next(filter(None, complaints), None)

    def _item_complaint(self, value: object, wanted: type) -> str | None:
        if type(value) is not wanted:
            return f"{self.name} wants {_WANTED[wanted]}, not {value!r}"
        if isinstance(value, float) and not self.low <= value <= self.high:
            return f"{self.name} must lie in [{self.low:g}, {self.high:g}], not {value:g}"
        if self.choices and value not in self.choices:
            return f"{self.name} must be one of {', '.join(self.choices)}, not {value!r}"
        return None


class Parameters:
    """The parameters of one node.

    The node must have been made with ``automatically_declare_parameters_from_overrides=True``: only
    so does a key that nobody declared show itself.

    Attributes:
        changes: How often values were set; for those who keep what they have made of them.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: dict[str, Declaration] = {}
        self._values: dict[str, Any] = {}
        self.changes = 0
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._keep)

    def __getitem__(self, name: str) -> Any:
        """Return a value as it is now."""
        return self._values[name]

    def declare(self, declarations: Iterable[Declaration], prefix: str = "") -> None:
        """Declare parameters; given values take the place of defaults.

        Args:
            declarations: What to declare.
            prefix: What goes before each name.

        Raises:
            ConfigError: A given value does not fit.
        """
        for plain in declarations:
            declaration = replace(plain, name=prefix + plain.name)
            name, value = declaration.name, declaration.default
            if self._node.has_parameter(name):  # from an override, without description and range
                value = self._node.get_parameter(name).value
                complaint = declaration.complaint(value)
                if complaint:
                    raise _refused(self._node, name, complaint)
                self._node.undeclare_parameter(name)
            self._known[name] = declaration
            self._node.declare_parameter(name, declaration.default, declaration.descriptor())

    def refuse_unknown(self, *known_later: str) -> None:
        """Refuse given parameters that nobody declared.

        Args:
            known_later: Beginnings of names that are still to be declared.

        Raises:
            ConfigError: There is one; the nearest name is told.
        """
        for name in self._node.get_parameters_by_prefix(""):
            if name in self._known or name.startswith((*FOREIGN, *known_later)):
                continue
            near = difflib.get_close_matches(name, self._known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid: {', '.join(self._known)}"
            raise _refused(self._node, name, f"no parameter is named '{name}'; {hint}")

    def _judge(self, changes: list[Parameter]) -> SetParametersResult:
        """Refuse the whole set if one value in it does not fit."""
        for change in changes:
            declaration = self._known.get(change.name)
            complaint = declaration.complaint(change.value) if declaration else None
            if complaint:
                return SetParametersResult(successful=False, reason=complaint)
        return SetParametersResult(successful=True)

    def _keep(self, changes: list[Parameter]) -> None:
        self.changes += 1
        for change in changes:
            value = change.value
            declaration = self._known.get(change.name)
            self._values[change.name] = (
                list(value) if declaration and declaration.is_array else value
            )

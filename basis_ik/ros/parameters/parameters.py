# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters: declared once, checked when set, and read without rclpy."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from basis_ik.arm.admission import LONGEST_FRAME_ID, admit_frame
from basis_ik.errors import BasisIkError
from basis_ik.robot.elements import listed, shown

# Declared by rclpy, or read by it before a node exists.
FOREIGN_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides.")

Value = str | bool | int | float | list[str] | list[float]
_TYPE_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}

# One part of the name of a topic, service or parameter; and several parts. DDS allows 255
# characters, including the namespace and all suffixes.
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_TOPIC = re.compile(f"(~/|/)?{_NAME.pattern}(/{_NAME.pattern})*")
LONGEST_ROS_NAME = 100
# A name as similar to another as this, as difflib measures it, is taken for a misspelt one.
TYPO_SIMILARITY = 0.75
_LETTERS = "letters, digits and _, no digit first"


class ConfigError(BasisIkError):
    """A parameter that does not exist, or an invalid value."""


def refused(name: str, text: str) -> ConfigError:
    """Return the error for a parameter, with the file that sets it.

    Args:
        name: Name of the parameter, with its prefix.
        text: The fault, and valid values.
    """
    file = file_of(name, sys.argv)
    return ConfigError(f"parameter {shown(name, 160)} {text}{f' (in {file})' if file else ''}")


def check_clock(node: Node) -> None:
    """Refuse a `use_sim_time` that is neither true nor false; rclpy ignores it.

    Raises:
        ConfigError: It has another type.
    """
    given = node.get_parameter("use_sim_time").value
    if not isinstance(given, bool):
        raise refused("use_sim_time", f"must be true or false, not {_shown(given)}")


@contextlib.contextmanager
def given_lists() -> Iterator[None]:
    """Make the error clear when a node is created with an empty list, which rclpy does not support.

    Raises:
        ConfigError: An override is an empty list.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"leave out parameters that are []: {error}") from None


def topic_complaint(name: str) -> str | None:
    """Return why a text cannot begin a topic's name, or None."""
    if len(name) <= LONGEST_ROS_NAME and _TOPIC.fullmatch(name):
        return None
    expected = f"a topic name: {_LETTERS}, joined by /, at most {LONGEST_ROS_NAME} characters"
    return f"is {shown(name)}, which is not {expected}"


def controllers_of(text: str) -> list[str]:
    """Return the names of the controllers that share an arm, from a text that joins them by ','."""
    return [name.strip() for name in text.split(",")]


def controllers_complaint(text: str) -> str | None:
    """Return why a text is not a controller's name, or several joined by commas; or None."""
    names = controllers_of(text)
    for name in names:
        complaint = topic_complaint(name)
        if complaint:
            return complaint
        if [*names, name].count(name) > 2:
            return f"has '{name}' twice; each controller has one part of the arm"
    return None


def names_complaint(names: Sequence[str]) -> str | None:
    """Return why texts are not names for topics and parameters, or None."""
    for name in names:
        if len(name) > LONGEST_ROS_NAME or not _NAME.fullmatch(name):
            expected = f"a name: {_LETTERS}, at most {LONGEST_ROS_NAME} characters"
            return f"has {shown(name)}, which is not {expected}"
        if names.count(name) > 1:
            return f"has '{name}' twice; each must have a name of its own"
    return None


def frame_complaint(frame: str) -> str | None:
    """Return why a text is not the name of a tf frame, or None."""
    if admit_frame(frame) is None and frame == frame.strip():
        return None
    expected = f"not empty, without / at its beginning, at most {LONGEST_FRAME_ID} characters"
    return f"is {shown(frame)}, which is not a frame: {expected}"


def given_frame_complaint(frame: str) -> str | None:
    """Return why a text is neither empty nor the name of a tf frame, or None."""
    return frame_complaint(frame) if frame else None


@dataclass(frozen=True)
class Declaration:
    """One parameter.

    Attributes:
        name: Its name.
        default: Its default, which also determines its type.
        description: Its meaning, with its unit.
        low: Smallest value of a number, or of each number of an array.
        high: Largest value, likewise.
        read_only: Whether it can only be set at start.
        element: Type of an array's elements.
        choices: Allowed texts, and true and false where both kinds are; empty: any.
        check: Returns the fault of a value of that type and range, or None.
    """

    name: str
    default: Value
    description: str
    low: float = -math.inf
    high: float = math.inf
    read_only: bool = False
    element: type = str
    choices: tuple[str | bool, ...] = ()
    check: Callable[[Any], str | None] | None = None

    @property
    def is_array(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.default, list)

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor that ROS tools show."""
        ranges, whole = [], []
        if isinstance(self.default, float):
            ranges = [FloatingPointRange(from_value=self.low, to_value=self.high)]
        elif type(self.default) is int:
            whole = [IntegerRange(from_value=int(self.low), to_value=int(self.high))]
        return ParameterDescriptor(
            description=self.description,
            additional_constraints=f"one of {self.listed_choices()}" if self.choices else "",
            read_only=self.read_only,
            # In rclpy an empty list has no type, and others have one; `complaint` checks it.
            dynamic_typing=self.is_array or True in self.choices,
            floating_point_range=ranges,
            integer_range=whole,
        )

    def listed_choices(self, mark: str = "") -> str:
        """Return the choices as they are written in YAML, each between two marks."""
        words = (each if isinstance(each, str) else json.dumps(each) for each in self.choices)
        return ", ".join(f"{mark}{word}{mark}" for word in words)

    def taken(self, value: Any) -> Any:
        """Return a value as this type: whole numbers are floating point numbers, too."""
        if self.is_array and isinstance(value, Sequence) and not isinstance(value, str):
            return [as_float(item) if self.element is float else item for item in value]
        return as_float(value) if isinstance(self.default, float) else value

    def complaint(self, value: object) -> str | None:
        """Return the fault of a value, to follow the parameter's name, or None."""
        if not self.is_array:
            found = self._item_complaint(value, type(self.default))
        elif not isinstance(value, Sequence) or isinstance(value, str):
            found = f"must be a list of {_TYPE_NAMES[self.element]}, not {_shown(value)}"
        else:
            complaints = (self._item_complaint(item, self.element) for item in value)
            found = next(filter(None, complaints), None)
        return self.check(value) if found is None and self.check is not None else found

    def _item_complaint(self, value: object, expected: type) -> str | None:
        if type(value) is not expected and type(value) not in map(type, self.choices):
            return f"must be {_TYPE_NAMES[expected]}, not {_shown(value)}"
        if isinstance(value, (int, float)) and not self.low <= value <= self.high:
            return f"must lie in [{self.low:g}, {self.high:g}], not {value:g}"
        if self.choices and value not in self.choices:
            return f"must be one of {self.listed_choices()}, not {_shown(value)}"
        return None


def as_float(value: Any) -> Any:
    """Return a whole number as a floating point number, and any other value as it is."""
    return float(value) if type(value) is int else value


def _shown(value: object) -> str:
    """Return a value for a one-line message."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Parameters:
    """The parameters of one node.

    The node must have been created with ``automatically_declare_parameters_from_overrides=True``:
    otherwise unknown keys are not detected.

    Attributes:
        changes: Number of changes so far, for caches of derived values.
        unused: What parameter files have in vain, in one line each.

    Raises:
        ConfigError: `use_sim_time` is neither true nor false.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: dict[str, Declaration] = {}
        self._values: dict[str, Any] = {}
        self._guards: dict[str, Callable[[Any], str | None]] = {}
        self.changes, self.unused = 0, list[str]()
        check_clock(node)
        node.add_pre_set_parameters_callback(self._take)
        node.add_on_set_parameters_callback(self._check_changes)
        node.add_post_set_parameters_callback(self._keep)

    def __getitem__(self, name: str) -> Any:
        """Return the current value."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._values)

    def declare(self, declarations: Iterable[Declaration], prefix: str = "") -> None:
        """Declare parameters; overrides replace defaults.

        Args:
            declarations: Their declarations.
            prefix: Prefix of each name.

        Raises:
            ConfigError: An override is invalid.
        """
        for plain in declarations:
            declaration = replace(plain, name=prefix + plain.name)
            name, value = declaration.name, declaration.default
            if self._node.has_parameter(name):  # an override, without description and range
                value = declaration.taken(self._node.get_parameter(name).value)
                complaint = declaration.complaint(value)
                if complaint:
                    raise refused(name, complaint)
                self._node.undeclare_parameter(name)
            self._known[name] = declaration
            self._node.declare_parameter(name, value, declaration.descriptor(), True)

    def declare_named(self, plain: Declaration, prefix: str = "") -> None:
        """Declare a parameter for each override with a name for the last part.

        Args:
            plain: The declaration; its name ends with `<name>`.
            prefix: Prefix of each name.

        Raises:
            ConfigError: An override is invalid.
        """
        begin = prefix + plain.name.removesuffix("<name>")
        given = [name for name in self._node.get_parameters_by_prefix("") if name.startswith(begin)]
        self.declare(replace(plain, name=name) for name in given)

    def refuse_unknown(self, *known_later: str) -> None:
        """Refuse overrides of parameters that are not declared.

        Args:
            known_later: Prefixes of names that will be declared later.

        Raises:
            ConfigError: There is one that is meant for this node; the message has the nearest name.
        """
        known = tuple(self._known)
        for name in self._node.get_parameters_by_prefix(""):
            if name not in self._known and not name.startswith((*FOREIGN_PARAMETERS, *known_later)):
                self.unused.append(refuse_or_ignore(self._node, name, known, listed(known, 4)))
        self.unused += warn_of_sections(self._node, known)

    def guard(self, name: str, check: Callable[[Any], str | None]) -> None:
        """Set a check of a parameter that exists only at run time.

        Args:
            name: Its name.
            check: Returns the fault of a value that its declaration allows, or None; replaces an
                earlier check.
        """
        self._guards[name] = check

    def _take(self, changes: list[Parameter]) -> list[Parameter]:
        """Return changes with floating point numbers where they are expected."""
        return [self._taken(change) for change in changes]

    def _taken(self, change: Parameter) -> Parameter:
        declaration = self._known.get(change.name)
        value = declaration.taken(change.value) if declaration else change.value
        if change.type_ == Parameter.Type.INTEGER and type(value) is float:
            return Parameter(change.name, Parameter.Type.DOUBLE, value)
        if change.type_ == Parameter.Type.INTEGER_ARRAY and all(type(v) is float for v in value):
            return Parameter(change.name, Parameter.Type.DOUBLE_ARRAY, value)
        return change

    def _check_changes(self, changes: list[Parameter]) -> SetParametersResult:
        """Refuse all changes if one value is invalid."""
        for change in changes:
            declaration = self._known.get(change.name)
            complaint = declaration.complaint(change.value) if declaration else None
            if complaint is None and change.name in self._guards:
                complaint = self._guards[change.name](change.value)
            if complaint:
                reason = f"parameter '{change.name}' {complaint}"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _keep(self, changes: list[Parameter]) -> None:
        self.changes += 1
        for change in changes:
            value = change.value
            declaration = self._known.get(change.name)
            self._values[change.name] = (
                list(value) if declaration and declaration.is_array else value
            )


# Parameter files; rcl merges them, and reports neither which file has a key nor what is left ------


class Section(NamedTuple):
    """The parameters for some nodes in a file.

    Attributes:
        file: The file.
        nodes: Their full name, in which `*` stands for one part and `**` for any number.
        keys: Names of the parameters.
    """

    file: str
    nodes: str
    keys: tuple[str, ...]

    @property
    def is_for_all(self) -> bool:
        """Whether it is for nodes of any name."""
        return self.nodes.endswith("*")

    def is_for(self, node: str) -> bool:
        """Return whether it is for a node, given its full name; by the rule of rcl."""
        return re.fullmatch(self.nodes.replace("/*", r"(/\w+)"), node, re.ASCII) is not None


def refuse_or_ignore(node: Node, name: str, known: Sequence[str], valid: str) -> str:
    """Refuse a parameter that does not exist, or ignore what a section for all nodes has.

    Args:
        node: The node.
        name: Name of the parameter.
        known: Names of those that exist.
        valid: The same for a message.

    Returns:
        What is ignored, as it is logged.

    Raises:
        ConfigError: It is meant for this node, or is nearly the name of one of its parameters.
    """
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"valid: {valid}"
    named = [each for each in sections(sys.argv) if name in each.keys]
    own = [each for each in named if each.is_for(node.get_fully_qualified_name())]
    set_by_word = any(re.fullmatch(f"([^:=]*:)?{re.escape(name)}:=.*", word) for word in sys.argv)
    is_typo = bool(difflib.get_close_matches(name, known, n=1, cutoff=TYPO_SIMILARITY))
    if set_by_word or is_typo or not own or not all(each.is_for_all for each in own):
        raise refused(name, f"does not exist; {hint}")
    where = f"it is below {own[-1].nodes} in {own[-1].file}"
    text = f"parameter {shown(name, 160)} is ignored: this node does not have it; {where}"
    node.get_logger().warning(text)
    node.undeclare_parameter(name)
    return text


def warn_of_sections(node: Node, known: Collection[str]) -> list[str]:
    """Warn of parameter files that have nothing for a node, because its name is another one.

    Returns the warnings.

    Args:
        node: The node.
        known: Names of its parameters.
    """
    name, texts = node.get_fully_qualified_name(), []
    for file, found in itertools.groupby(sections(sys.argv), lambda each: each.file):
        given = list(found)
        own = [each for each in given if each.is_for(name)]
        # Others may share the file. But what is this node's alone must not be lost.
        lost = [
            each for each in given if each not in own and any(key in known for key in each.keys)
        ]
        if not own or (lost and all(each.is_for_all for each in own)):
            nodes = ", ".join(dict.fromkeys(shown(each.nodes) for each in lost or given))
            text = f"no section of {file} is for {name}; it has {nodes}"
            if own:
                text = f"{file} has parameters of this node for {nodes}, not for {name}"
            texts.append(f"{text}: they are not used")
            node.get_logger().warning(texts[-1])
    return texts


def file_of(key: str, arguments: Sequence[str]) -> str | None:
    """Return the last parameter file with a key, or None.

    Args:
        key: A parameter's full name, for example `left.tip_link`.
        arguments: Command-line arguments.
    """
    found = [each.file for each in sections(arguments) if key in each.keys]
    return found[-1] if found else None


def sections(arguments: Sequence[str]) -> list[Section]:
    """Return all sections of the parameter files in command-line arguments, in order."""
    found = []
    for word, file in itertools.pairwise(arguments):
        if word == "--params-file":
            try:
                found += list(_sections(file, "", yaml.safe_load(Path(file).read_text())))
            except Exception:  # PyYAML raises any exception at an invalid tag: `!!timestamp x`
                continue
    return found


def _sections(file: str, nodes: str, content: Any) -> Iterator[Section]:
    if isinstance(content, dict):
        for name, value in content.items():
            if name == "ros__parameters":
                yield Section(file, nodes, tuple(_flat(value)))
            else:
                yield from _sections(file, f"{nodes}/{str(name).lstrip('/')}", value)


def _flat(content: Any) -> list[str]:
    if not isinstance(content, dict):
        return []
    names = []
    for name, value in content.items():
        names += [f"{name}.{below}" for below in _flat(value)] or [str(name)]
    return names

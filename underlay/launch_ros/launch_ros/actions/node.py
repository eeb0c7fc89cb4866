# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The action that starts a node."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from launch import (
    LaunchContext,
    LaunchDescriptionEntity,
    SomeSubstitutionsType,
    Substitution,
    logging,
)
from launch.actions import ExecuteProcess
from launch.utilities import evaluate, normalize_to_list_of_substitutions, perform_substitutions
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name

from ..parameter_descriptions import ParameterFile, evaluate_dict, normalize_dict
from ..substitutions import ExecutableInPackage
from .settings import join_namespaces, scoped

_NAMES = "_launch_ros_node_names"  # of the nodes started so far, in the launch context


class _Quoted(str):
    """A string that is quoted in YAML, so that no reader takes it for a number or a truth value."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def _quoted(value: Any) -> Any:
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    return _Quoted(value) if isinstance(value, str) else value


class Node(ExecuteProcess):
    """Starts the executable of a node.

    Args:
        executable: Its name in the package, or a path if no package is given.
        package: The package.
        name: The name of the node; its own by default.
        namespace: Its namespace, below a pushed one unless absolute.
        exec_name: The name of the process; the executable's by default.
        parameters: Files (a path or ParameterFile) and dicts, later ones first in rank.
        remappings: Pairs of names, from and to.
        ros_arguments: What else follows `--ros-args`.
        arguments: Arguments of the program itself.
        kwargs: See launch.actions.ExecuteProcess.

    Raises:
        TypeError: Something is of a type that upstream refuses, too: a tuple in place of a list, a
            dict of remappings, a number in place of a file.
    """

    UNSPECIFIED_NODE_NAME = "<node_name_unspecified>"
    UNSPECIFIED_NODE_NAMESPACE = "<node_namespace_unspecified>"

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: list[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: list[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        if package is not None:
            executable = ExecutableInPackage(package=package, executable=executable)
        super().__init__(cmd=[executable, *(arguments or [])], name=exec_name, **kwargs)
        for given, what in ((parameters, "parameters"), (ros_arguments, "ros_arguments")):
            if given is not None and not isinstance(given, list):
                raise TypeError(f"{what} must be a list, not {given!r}")
        self.__parameters = [_normalized(each) for each in parameters or []]
        self.__remappings = [_rule(each) for each in remappings or []]
        self.__ros_arguments = ros_arguments or []
        self.__name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__namespace = (
            None if namespace is None else normalize_to_list_of_substitutions(namespace)
        )
        self.__node_name: str | None = None
        self.expanded_node_namespace = self.UNSPECIFIED_NODE_NAMESPACE

    @property
    def node_name(self) -> str:
        """The full name of the node, as far as it is known.

        Raises:
            RuntimeError: The action has not been executed yet.
        """
        if self.__node_name is None:
            raise RuntimeError("cannot access 'node_name' before executing action")
        return f"{self.expanded_node_namespace.rstrip('/')}/{self.__node_name}"

    def is_node_name_fully_specified(self) -> bool:
        """Return whether both the name and the namespace are known."""
        unspecified = (self.UNSPECIFIED_NODE_NAME, self.UNSPECIFIED_NODE_NAMESPACE)
        return not any(part in self.node_name for part in unspecified)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Evaluate names, parameters and remappings; start the process."""
        self._perform_substitutions(context)
        started = super().execute(context)
        if self.is_node_name_fully_specified():
            names = getattr(context, _NAMES, [])
            setattr(context, _NAMES, [*names, self.node_name])
            if (count := names.count(self.node_name) + 1) > 1:
                logging.get_logger(self.name).warning(
                    f"there are now at least {count} nodes with the name {self.node_name} created "
                    "within this launch context"
                )
        return started

    def _perform_substitutions(self, context: LaunchContext) -> None:
        ros_arguments = list(self.__ros_arguments)
        self.__node_name = self.UNSPECIFIED_NODE_NAME
        if self.__name is not None:
            self.__node_name = perform_substitutions(context, self.__name)
            validate_node_name(self.__node_name)
            ros_arguments += ["-r", f"__node:={self.__node_name}"]
        own = self.__namespace and perform_substitutions(context, self.__namespace)
        namespace = join_namespaces(context.launch_configurations.get("ros_namespace"), own)
        if namespace is not None:
            self.expanded_node_namespace = namespace
            validate_namespace(namespace)
            ros_arguments += ["-r", f"__ns:={namespace}"]
        for parameter, value in scoped(context, "global_params"):
            # Not by a file: rcl ranks nodes by first mention, and these are to rank lowest.
            ros_arguments += ["-p", f"{parameter}:={json.dumps(value)}"]
        for parameters in self.__parameters:
            if (file := self.__file(context, parameters)) is not None:
                ros_arguments += ["--params-file", file]
        for old, new in scoped(context, "ros_remaps") + self.__remappings:
            ros_arguments += ["-r", f"{evaluate(context, old)}:={evaluate(context, new)}"]
        self.cmd += map(normalize_to_list_of_substitutions, ["--ros-args", *ros_arguments])

    def __file(self, context: LaunchContext, parameters: Any) -> str | None:
        if isinstance(parameters, Mapping):
            return self.__temporary_file(evaluate_dict(context, parameters))
        path = parameters.evaluate(context)
        if not path.is_file():
            logging.get_logger("launch_ros.actions.node").warning(
                f"Parameter file path is not a file: {path}"
            )
            return None
        return str(path)

    def __temporary_file(self, parameters: dict[str, Any]) -> str:
        node = self.node_name if self.is_node_name_fully_specified() else "/**"
        values = {name: _quoted(value) for name, value in parameters.items()}
        with NamedTemporaryFile("w", prefix="launch_params_", delete=False) as file:
            yaml.dump({node: {"ros__parameters": values}}, file, _Dumper)
        atexit.register(_remove, file.name)
        return file.name


def _normalized(parameters: Any) -> Any:
    if isinstance(parameters, Mapping):
        return normalize_dict(parameters)
    return parameters if isinstance(parameters, ParameterFile) else ParameterFile(parameters)


def _rule(rule: Any) -> tuple[list[Substitution], ...]:
    if not isinstance(rule, tuple) or len(rule) != 2:
        raise TypeError(f"each of the remappings must be a tuple of two names, not {rule!r}")
    return tuple(map(normalize_to_list_of_substitutions, rule))


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)

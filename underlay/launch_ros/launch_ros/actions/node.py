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
from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType, logging
from launch.actions import ExecuteProcess
from launch.utilities import evaluate

from ..parameter_descriptions import ParameterFile, evaluate_dict
from ..substitutions import ExecutableInPackage
from .settings import join_namespaces, scoped


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
        parameters: Iterable[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        if package is not None:
            executable = ExecutableInPackage(package=package, executable=executable)
        super().__init__(cmd=[executable, *(arguments or [])], name=exec_name, **kwargs)
        if isinstance(parameters, (str, Mapping)):
            raise TypeError(f"parameters must be a list of files and dicts, not {parameters!r}")
        self.__parameters = list(parameters or [])
        self.__remappings = list(remappings or [])
        self.__ros_arguments = list(ros_arguments or [])
        self.__name, self.__namespace = name, namespace
        self.__node_name = self.UNSPECIFIED_NODE_NAME
        self.expanded_node_namespace = self.UNSPECIFIED_NODE_NAMESPACE

    @property
    def node_name(self) -> str:
        """The full name of the node, as far as it is known."""
        return f"{self.expanded_node_namespace.rstrip('/')}/{self.__node_name}"

    def is_node_name_fully_specified(self) -> bool:
        """Return whether both the name and the namespace are known."""
        return self.__node_name != self.UNSPECIFIED_NODE_NAME and (
            self.expanded_node_namespace != self.UNSPECIFIED_NODE_NAMESPACE
        )

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Evaluate names, parameters and remappings; start the process."""
        self._perform_substitutions(context)
        return super().execute(context)

    def _perform_substitutions(self, context: LaunchContext) -> None:
        ros_arguments = list(self.__ros_arguments)
        if self.__name is not None:
            self.__node_name = evaluate(context, self.__name)
            ros_arguments += ["-r", f"__node:={self.__node_name}"]
        own = None if self.__namespace is None else evaluate(context, self.__namespace)
        namespace = join_namespaces(context.launch_configurations.get("ros_namespace"), own)
        if namespace is not None:
            self.expanded_node_namespace = namespace
            ros_arguments += ["-r", f"__ns:={namespace}"]
        for parameter, value in scoped(context, "global_params"):
            # Not by a file: rcl ranks nodes by first mention, and these are to rank lowest.
            ros_arguments += ["-p", f"{parameter}:={json.dumps(value)}"]
        for parameters in self.__parameters:
            ros_arguments += ["--params-file", self.__file(context, parameters)]
        for old, new in scoped(context, "ros_remaps") + self.__remappings:
            ros_arguments += ["-r", f"{evaluate(context, old)}:={evaluate(context, new)}"]
        self.cmd += ["--ros-args", *ros_arguments]

    def __file(self, context: LaunchContext, parameters: Any) -> str:
        if isinstance(parameters, Mapping):
            return self.__temporary_file(evaluate_dict(context, parameters))
        if not isinstance(parameters, ParameterFile):
            parameters = ParameterFile(parameters)
        path = parameters.evaluate(context)
        if not path.is_file():
            logging.get_logger("launch_ros.actions.node").warning(
                f"Parameter file path is not a file: {path}"
            )
        return str(path)

    def __temporary_file(self, parameters: dict[str, Any]) -> str:
        node = self.node_name if self.is_node_name_fully_specified() else "/**"
        values = {name: _quoted(value) for name, value in parameters.items()}
        with NamedTemporaryFile("w", prefix="launch_params_", delete=False) as file:
            yaml.dump({node: {"ros__parameters": values}}, file, _Dumper)
        atexit.register(_remove, file.name)
        return file.name


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)

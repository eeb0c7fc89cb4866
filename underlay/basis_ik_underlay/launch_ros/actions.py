# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The action that starts a node."""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from launch import LaunchContext, logging
from launch.actions import ExecuteProcess
from launch.entities import Substitution
from launch.substitutions import evaluate, normalize_to_list_of_substitutions

from .parameter_descriptions import ParameterValue
from .substitutions import ExecutableInPackage


class Node(ExecuteProcess):
    """Starts the executable of a node.

    Args:
        package: The package.
        executable: Its name in the package.
        name: The name of the node; its own by default.
        namespace: Its namespace.
        parameters: Paths of files, and dicts; later ones win.
        remappings: Pairs of names, from and to.
        ros_arguments: Further arguments after `--ros-args`.
        arguments: Arguments of the program itself.
        kwargs: See launch.actions.ExecuteProcess.
    """

    def __init__(
        self,
        *,
        package: str,
        executable: str,
        name: Any = None,
        namespace: Any = None,
        parameters: Iterable[Any] | None = None,
        remappings: Iterable[tuple[Any, Any]] | None = None,
        ros_arguments: Iterable[Any] | None = None,
        arguments: Iterable[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        program = ExecutableInPackage(package=package, executable=executable)
        super().__init__(cmd=[program, *(arguments or [])], **kwargs)
        self._node_name, self._namespace = name, namespace
        self._parameters, self._remappings = list(parameters or []), list(remappings or [])
        self._ros_arguments = list(ros_arguments or [])

    def execute(self, context: LaunchContext) -> None:
        """Evaluate names, parameters and remappings; start the process."""
        ros_arguments, full_name = self._ros_arguments, "/**"
        if self._node_name is not None:
            name = evaluate(context, self._node_name)
            ros_arguments += ["-r", f"__node:={name}"]
        if self._namespace is not None:
            namespace = "/" + evaluate(context, self._namespace).strip("/")
            ros_arguments += ["-r", f"__ns:={namespace}"]
            if self._node_name is not None:
                # rcl ranks entries by their first mention: one in a file must not win.
                full_name = f"{namespace.rstrip('/')}/{name}"
        for parameters in self._parameters:
            if isinstance(parameters, Mapping):
                ros_arguments += ["--params-file", _file(context, full_name, parameters)]
            elif Path(path := evaluate(context, parameters)).is_file():
                ros_arguments += ["--params-file", path]
            else:
                text = f"Parameter file path is not a file: {path}"
                logging.log("launch_ros.actions.node", text, "WARNING")
        for old, new in self._remappings:
            ros_arguments += ["-r", f"{evaluate(context, old)}:={evaluate(context, new)}"]
        self.cmd += map(normalize_to_list_of_substitutions, ["--ros-args", *ros_arguments])
        super().execute(context)


def _file(context: LaunchContext, node: str, parameters: Mapping[str, Any]) -> str:
    """Write parameters to a file that is gone when the launch ends; return its path."""
    lines = [f"{node}:", "  ros__parameters:"]
    for name, value in parameters.items():
        if isinstance(value, ParameterValue):
            value = value.evaluate(context)
        elif isinstance(value, Substitution):
            value = yaml.safe_load(evaluate(context, value))
        # JSON is YAML that quotes every text: none is taken for a number or a truth value.
        lines.append(f"    {evaluate(context, name)}: {json.dumps(value, ensure_ascii=False)}")
    with NamedTemporaryFile("w", prefix="launch_params_", delete=False) as file:
        file.write("\n".join(lines) + "\n")
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name

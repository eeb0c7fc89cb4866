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

"""Texts that are known only at launch time."""

from __future__ import annotations

import importlib
import math
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import logging
from ._base import SomeSubstitutionsType, Substitution
from ._upstream import upstream_names
from .utilities import (
    is_substitution,
    normalize_to_list_of_substitutions,
    parse_bool,
    perform_substitutions,
)

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class SubstitutionFailure(RuntimeError):  # noqa: N818 (upstream's name)
    """A substitution that cannot be performed."""


class TextSubstitution(Substitution):
    """A literal text."""

    def __init__(self, *, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution needs a str, not {type(text).__name__}")
        self.text = text

    def describe(self) -> str:
        """Quote the text."""
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


class _OfTexts(Substitution):
    """A substitution whose arguments are texts, evaluated before it is performed itself."""

    def __init__(self, *arguments: SomeSubstitutionsType) -> None:
        self._arguments = [normalize_to_list_of_substitutions(part) for part in arguments]

    def describe(self) -> str:
        parts = ", ".join(
            " + ".join(sub.describe() for sub in argument) for argument in self._arguments
        )
        return f"{type(self).__name__}({parts})"

    def perform(self, context: LaunchContext) -> str:
        return self._of(context, *[perform_substitutions(context, x) for x in self._arguments])

    def _of(self, context: LaunchContext, *texts: str) -> str:
        raise NotImplementedError


class LaunchConfiguration(_OfTexts):
    """The value of a launch configuration, such as an argument of the launch file."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        super().__init__(variable_name)
        self.__default = None
        if default is not None:
            parts = default if isinstance(default, Iterable) else [default]
            self.__default = normalize_to_list_of_substitutions(
                part if isinstance(part, Substitution) else str(part) for part in parts
            )

    @property
    def variable_name(self) -> list[Substitution]:
        """The name of the configuration."""
        return self._arguments[0]

    def _of(self, context: LaunchContext, *texts: str) -> str:
        (name,) = texts
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self.__default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self.__default)


class EnvironmentVariable(_OfTexts):
    """The value of an environment variable."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        *,
        default_value: SomeSubstitutionsType | None = None,
    ) -> None:
        super().__init__(name)
        self.__default = None
        if default_value is not None:
            self.__default = normalize_to_list_of_substitutions(default_value)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        (name,) = texts
        if name in context.environment:
            return context.environment[name]
        if self.__default is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self.__default)


class PathJoinSubstitution(_OfTexts):
    """Path components joined, each a text or a substitution; Jazzy takes no lists of parts yet."""

    def __init__(self, substitutions: Iterable[str | Substitution]) -> None:
        super().__init__(*normalize_to_list_of_substitutions(substitutions))

    def _of(self, context: LaunchContext, *texts: str) -> str:
        return os.path.join(*texts)


class FindExecutable(_OfTexts):
    """The path of an executable on the PATH."""

    def __init__(self, *, name: SomeSubstitutionsType) -> None:
        super().__init__(name)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        path = shutil.which(texts[0], path=context.environment.get("PATH"))
        if path is None:
            raise SubstitutionFailure(f"executable '{texts[0]}' not found on the PATH")
        return path


class Command(_OfTexts):
    """The standard output of a command; `on_stderr` is fail, warn, ignore or capture."""

    def __init__(
        self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail"
    ) -> None:
        super().__init__(command, on_stderr)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        command, on_stderr = texts
        if on_stderr not in ("fail", "warn", "ignore", "capture"):
            raise SubstitutionFailure(
                "expected 'on_stderr' to be one of: 'fail', 'ignore', 'warn' or 'capture', "
                f"but got '{on_stderr}'"
            )
        stderr = subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE
        try:
            result = subprocess.run(
                shlex.split(command), stdout=subprocess.PIPE, stderr=stderr, text=True, check=False
            )
        except OSError as error:
            raise SubstitutionFailure(f"file not found: {error}. Command: {command}") from error
        complaint = (result.stderr or "").rstrip()
        if result.returncode != 0 or (complaint and on_stderr == "fail"):
            raise SubstitutionFailure(
                f"executed command failed. Command: {command}\n"
                f"Exit code: {result.returncode}. Captured stderr output: {complaint}"
            )
        if complaint and on_stderr == "warn":
            logging.get_logger().warning(f"command '{command}' wrote to stderr: {complaint}")
        return result.stdout


class PythonExpression(_OfTexts):
    """The value of a Python expression in which the named modules are known."""

    def __init__(
        self,
        expression: SomeSubstitutionsType,
        python_modules: SomeSubstitutionsType = ("math",),
    ) -> None:
        super().__init__(expression, *normalize_to_list_of_substitutions(python_modules))

    def _of(self, context: LaunchContext, *texts: str) -> str:
        expression, *modules = texts
        names: dict[str, Any] = {name: importlib.import_module(name) for name in modules}
        if "math" in names:
            names = {**vars(math), **names}
        return str(eval(expression, {}, names))


class ThisLaunchFileDir(Substitution):
    """The directory of the launch file that is being visited."""

    def perform(self, context: LaunchContext) -> str:
        """Ask the include that is being visited."""
        directory: str | None = context.get_locals_as_dict().get("current_launch_file_directory")
        if directory is None:
            raise SubstitutionFailure(
                "ThisLaunchFileDir used outside of a launch file (in a script)"
            )
        return directory


def _truth(value: bool) -> str:
    return "true" if value else "false"


class _Logical(_OfTexts):
    """'true' or 'false', from such texts."""

    def _of(self, context: LaunchContext, *texts: str) -> str:
        try:
            values = [parse_bool(text, self.describe()) for text in texts]
        except ValueError as error:
            raise SubstitutionFailure(str(error)) from error
        return _truth(self._decide(*values))

    def _decide(self, *values: bool) -> bool:
        raise NotImplementedError


class NotSubstitution(_Logical):
    """The negation: 'true' or 'false'."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(value)

    def _decide(self, *values: bool) -> bool:
        return not values[0]


class AndSubstitution(_Logical):
    """Whether both are true: 'true' or 'false'."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(left, right)

    def _decide(self, *values: bool) -> bool:
        return all(values)


class OrSubstitution(_Logical):
    """Whether at least one is true: 'true' or 'false'."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(left, right)

    def _decide(self, *values: bool) -> bool:
        return any(values)


class EqualsSubstitution(_OfTexts):
    """Whether both are the same truth value, number or text: 'true' or 'false'.

    Truth values are true, 1, false and 0; None is the empty text; what is neither a substitution
    nor a list with one is taken as the text that `str` makes of it.
    """

    def __init__(self, left: Any, right: Any) -> None:
        super().__init__(
            *[
                side if is_substitution(side) else "" if side is None else str(side)
                for side in (left, right)
            ]
        )

    def _of(self, context: LaunchContext, *texts: str) -> str:
        left, right = texts
        truths = {"true": True, "1": True, "false": False, "0": False}
        if left.lower() in truths and right.lower() in truths:
            return _truth(truths[left.lower()] == truths[right.lower()])
        try:
            return _truth(math.isclose(float(left), float(right)))
        except ValueError:
            return _truth(left == right)


class NotEqualsSubstitution(EqualsSubstitution):
    """Whether both differ: 'true' or 'false'."""

    def _of(self, context: LaunchContext, *texts: str) -> str:
        return _truth(super()._of(context, *texts) == "false")


__getattr__ = upstream_names(
    __name__,
    "AllSubstitution AnonName AnySubstitution FileContent ForEachVar ForLoopIndex "
    "IfElseSubstitution LaunchLogDir LocalSubstitution PathSubstitution StringJoinSubstitution "
    "StringStripSubstitution ThisLaunchFile",
)

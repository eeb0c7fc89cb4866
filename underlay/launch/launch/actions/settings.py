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

"""Actions that declare and set arguments, launch configurations and environment variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base import Action, SomeSubstitutionsType, Substitution
from ..launch_context import LaunchContext
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions


class DeclareLaunchArgument(Action):
    """Declares an argument of the launch file; its value is a launch configuration.

    Raises:
        RuntimeError: There are no choices, or a default that is a plain text is none of them.
    """

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.name = name
        self.choices = None if choices is None else list(choices)
        if self.choices is not None:
            if not self.choices:
                raise RuntimeError(
                    "Provided choices arg is empty. Use None to ignore the choice list."
                )
            is_known = default_value is not None and not isinstance(
                default_value, (Substitution, list)
            )
            if is_known and default_value not in self.choices:
                raise RuntimeError(
                    f'Provided default_value "{default_value}" is not in provided choices '
                    f'"{self.choices}".'
                )
        if description is None:
            description = f"One of: {choices}" if choices else "no description given"
        elif choices:
            description = f"{description.removesuffix('.')}. Valid choices are: {choices}"
        self.description = description
        self.default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )
        self._conditionally_included = False

    def execute(self, context: LaunchContext) -> None:
        """Set the default where no value is given; check the value."""
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise RuntimeError(
                    f"Required launch argument '{self.name}' (description: '{self.description}') "
                    "was not provided"
                )
            value = perform_substitutions(context, self.default_value)
            context.launch_configurations[self.name] = value
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            raise RuntimeError(
                f'Argument "{self.name}" provided value "{value}" is not valid. Valid options '
                f"are: {self.choices}"
            )


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Evaluate and set it."""
        name = perform_substitutions(context, self.__name)
        context.launch_configurations[name] = perform_substitutions(context, self.__value)


class SetEnvironmentVariable(Action):
    """Sets an environment variable for this process and those that it starts."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    def execute(self, context: LaunchContext) -> None:
        """Evaluate and set it."""
        name = perform_substitutions(context, self.__name)
        context.environment[name] = perform_substitutions(context, self.__value)

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

"""The action that visits another launch file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .._base import Action, Entities, SomeSubstitutionsType
from ..launch_context import LaunchContext
from ..launch_description_sources import AnyLaunchDescriptionSource, LaunchDescriptionSource
from ..utilities import evaluate
from .control import OpaqueFunction
from .settings import SetLaunchConfiguration


class IncludeLaunchDescription(Action):
    """Yields another launch description, with values for its arguments."""

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
        | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self.launch_description_source = launch_description_source
        self.launch_arguments = list(launch_arguments or [])

    def get_sub_entities(self) -> Entities:
        """Return the description, if it can be known before the launch."""
        description = self.launch_description_source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def _names(self, context: LaunchContext) -> set[str]:
        return {evaluate(context, name) for name, _ in self.launch_arguments}

    def execute(self, context: LaunchContext) -> Entities:
        """Load the description, check that its arguments have values, set them, yield it."""
        before = context.get_locals_as_dict()
        description = self.launch_description_source.get_launch_description(context)
        path = (
            os.path.abspath(self.launch_description_source.location)
            if self.launch_description_source.location
            else None
        )
        context.extend_locals(
            {
                "current_launch_file_path": path,
                "current_launch_file_directory": os.path.dirname(path) if path else None,
            }
        )
        given = self._names(context)
        found = description.get_launch_arguments_with_include_launch_description_actions()
        for argument, includes in found:
            if argument._conditionally_included or argument.default_value is not None:
                continue
            # What is set already does not count: a file says itself what it gives to another.
            if argument.name not in given.union(*[include._names(context) for include in includes]):
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: [{', '.join(given)}]"
                )
        setters = [SetLaunchConfiguration(name, value) for name, value in self.launch_arguments]
        file = ("current_launch_file_path", "current_launch_file_directory")
        restored = {name: before.get(name) for name in file}
        restore = OpaqueFunction(function=lambda context: context.extend_locals(restored))
        return [*setters, description, restore]

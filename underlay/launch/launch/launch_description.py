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

"""A list of entities, with the arguments that they declare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import logging
from ._base import Action, Entities, LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument, IncludeLaunchDescription
    from .launch_context import LaunchContext

    DeclaredArgument = tuple[DeclareLaunchArgument, list[IncludeLaunchDescription]]


class LaunchDescription(LaunchDescriptionEntity):
    """What a launch file returns."""

    def __init__(
        self,
        initial_entities: Iterable[LaunchDescriptionEntity] | None = None,
        *,
        deprecated_reason: str | None = None,
    ) -> None:
        self.entities = list(initial_entities or [])
        self.deprecated_reason = deprecated_reason

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Append an entity."""
        self.entities.append(entity)

    def add_action(self, action: Action) -> None:
        """Append an action."""
        self.add_entity(action)

    def visit(self, context: LaunchContext) -> Entities:
        """Yield the entities."""
        if self.deprecated_reason is not None:
            logging.get_logger().warning(
                f"this launch description is deprecated: {self.deprecated_reason}"
            )
        return self.entities

    def describe_sub_entities(self) -> Entities:
        """Return the entities."""
        return self.entities

    def get_launch_arguments(
        self, conditional_inclusion: bool = False
    ) -> list[DeclareLaunchArgument]:
        """Return the declared arguments, those of included files too, each name once."""
        found = self.get_launch_arguments_with_include_launch_description_actions(
            conditional_inclusion
        )
        return [argument for argument, _ in found]

    def get_launch_arguments_with_include_launch_description_actions(
        self, conditional_inclusion: bool = False
    ) -> list[DeclaredArgument]:
        """Return the declared arguments, each with the includes that lead to it."""
        from .actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription

        found: dict[str, DeclaredArgument] = {}

        def search(
            entities: Entities, conditional: bool, includes: list[IncludeLaunchDescription]
        ) -> None:
            for entity in entities:
                if isinstance(entity, DeclareLaunchArgument):
                    entity._conditionally_included = conditional or entity.condition is not None
                    found.setdefault(entity.name, (entity, includes))
                    continue
                if isinstance(entity, GroupAction) and entity._hides_arguments:
                    continue
                path = includes
                if isinstance(entity, IncludeLaunchDescription):
                    path = [*includes, entity]
                search(entity.describe_sub_entities(), conditional, path)
                for _, sub_entities in entity.describe_conditional_sub_entities():
                    search(sub_entities, True, path)

        search(self.entities, conditional_inclusion, [])
        return list(found.values())

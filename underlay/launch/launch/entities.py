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

"""What everything else derives from: entities, actions, events, substitutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument
    from .launch_context import LaunchContext


class Event:
    """Something that happened."""


class Substitution:
    """Something that becomes a text when it is performed within a launch context."""

    def describe(self) -> str:
        """Name it for people, without performing it."""
        raise NotImplementedError

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        raise NotImplementedError


class LaunchDescriptionEntity:
    """Something that is visited when a launch runs."""

    def visit(self, context: LaunchContext) -> Entities | None:
        """Do its work; return the entities to be visited right afterwards."""
        raise NotImplementedError

    def get_launch_arguments(self) -> Iterator[DeclareLaunchArgument]:
        """Yield the arguments that it declares, as far as they are known before the launch."""
        yield from ()


Entities = list[LaunchDescriptionEntity]


class Action(LaunchDescriptionEntity):
    """An entity that does something, perhaps on a condition."""

    def __init__(self, *, condition: Any = None) -> None:
        self.condition = condition

    def visit(self, context: LaunchContext) -> Entities | None:
        """Execute the action if its condition holds."""
        if self.condition is None or self.condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> Entities | None:
        """Do the work; return further entities to be visited."""
        raise NotImplementedError


class LaunchDescription(LaunchDescriptionEntity):
    """What a launch file returns: a list of entities."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] = ()) -> None:
        self.entities = list(initial_entities)

    def visit(self, context: LaunchContext) -> Entities:
        """Return the entities."""
        return self.entities

    def get_launch_arguments(self) -> Iterator[DeclareLaunchArgument]:
        """Yield the declared arguments, those of included files too, each name once."""
        names = set()
        for entity in self.entities:
            for argument in entity.get_launch_arguments():
                if argument.name not in names:
                    names.add(argument.name)
                    yield argument

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

"""What everything else derives from: entities, actions, conditions, substitutions, events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Event:
    """Something that happened; `name` is what logs call it."""

    name = "launch.Event"


class Substitution:
    """Something that becomes a text when it is performed within a launch context."""

    def describe(self) -> str:
        """Name it for people, without performing it."""
        return f"{type(self).__name__}()"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is performed")


class Condition:
    """A question that is answered at launch time."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool] | None = None) -> None:
        self._predicate = predicate

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the condition holds in `context`; without a predicate it does not."""
        return self._predicate is not None and self._predicate(context)


class LaunchDescriptionEntity:
    """Something that is visited when a launch runs and can be asked before what it holds."""

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return what it will certainly yield."""
        return []

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, list[LaunchDescriptionEntity]]]:
        """Return what it may yield, in pairs of the condition in words and the entities."""
        return []

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do its work, by default none; return the entities to be visited right afterwards."""
        return None

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return the future of the work that goes on after the visit, if any."""
        return None


class Action(LaunchDescriptionEntity):
    """An entity that does something, perhaps on a condition."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        self.condition = condition

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return what the action yields when it is executed; for subclasses to override."""
        return []

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the sub-entities, unless the action is conditional."""
        return self.get_sub_entities() if self.condition is None else []

    def describe_conditional_sub_entities(
        self,
    ) -> list[tuple[str, list[LaunchDescriptionEntity]]]:
        """Return the sub-entities of a conditional action."""
        if self.condition is None:
            return []
        return [(f"on the condition of {type(self).__name__}", self.get_sub_entities())]

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Execute the action if its condition holds."""
        if self.condition is None or self.condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do the work, by default none; return further entities to be visited."""
        return None


Entities = list[LaunchDescriptionEntity]
SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]
SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]

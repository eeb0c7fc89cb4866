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

"""The action that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from .._base import Action, Entities, Event, LaunchDescriptionEntity, SomeSubstitutionsType
from ..event_handlers import EventHandler, OnShutdown
from ..events import TimerEvent
from ..launch_context import LaunchContext
from ..utilities import (
    normalize_to_bool,
    normalize_to_list_of_substitutions,
    perform_bool,
    perform_substitutions,
)


class TimerAction(Action):
    """Yields actions after a period [s].

    Raises:
        TypeError: The period is an int, as upstream refuses it, or something else than a float, a
            text or a substitution; `cancel_on_shutdown` is neither a bool nor a substitution.
        ValueError: The period is a text that is no number.
    """

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool | SomeSubstitutionsType = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(period, str):
            period = float(period)
        self.__period = (
            period if isinstance(period, float) else normalize_to_list_of_substitutions(period)
        )
        self.actions = list(actions)
        self.__cancel_on_shutdown = normalize_to_bool(cancel_on_shutdown, "cancel_on_shutdown")
        self.__canceled: asyncio.Event | None = None
        self.__task: asyncio.Future[None] | None = None

    def describe_conditional_sub_entities(self) -> list[tuple[str, Entities]]:
        """Return the actions."""
        return [("After a period", self.actions)]

    def cancel(self) -> None:
        """Keep the actions from being executed, if they have not been already."""
        if self.__canceled is not None:
            self.__canceled.set()

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return the future that is done when the time has come."""
        return self.__task

    def execute(self, context: LaunchContext) -> None:
        """Start the timer."""
        period = self.__period
        if not isinstance(period, float):
            period = float(perform_substitutions(context, period))
        self.__canceled = asyncio.Event()
        if perform_bool(context, self.__cancel_on_shutdown, "cancel_on_shutdown"):
            context.register_event_handler(OnShutdown(on_shutdown=self.__on_shutdown))
        handler = EventHandler(matcher=self.__is_mine, entities=self.actions, handle_once=True)
        context.register_event_handler(handler)
        assert context.asyncio_loop is not None  # entities are visited by a running service
        self.__task = context.asyncio_loop.create_task(self.__wait(context, period))

    def __on_shutdown(self, event: Event, context: LaunchContext) -> None:
        self.cancel()

    def __is_mine(self, event: Event) -> bool:
        return isinstance(event, TimerEvent) and event.timer_action is self

    async def __wait(self, context: LaunchContext, period: float) -> None:
        assert self.__canceled is not None  # see execute
        try:
            await asyncio.wait_for(self.__canceled.wait(), period)
        except asyncio.TimeoutError:
            context.emit_event_sync(TimerEvent(timer_action=self))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What everything else derives from: entities, actions, events, substitutions, and the context."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any


class Event:
    """Something that happened."""


class Substitution:
    """Something whose `perform` returns a text within a launch context; `describe` needs none."""


class LaunchDescriptionEntity:
    """Something whose `visit` does work in a launch and returns what is to be visited next."""

    def get_launch_arguments(self) -> Iterator[Any]:
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


class LaunchDescription(LaunchDescriptionEntity):
    """What a launch file returns: a list of entities."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] = ()) -> None:
        self.entities = list(initial_entities)

    def visit(self, context: LaunchContext) -> Entities:
        """Return the entities."""
        return self.entities

    def get_launch_arguments(self) -> Iterator[Any]:
        """Yield the declared arguments, those of included files too, each name once."""
        found: dict[str, Any] = {}
        for entity in self.entities:
            for argument in entity.get_launch_arguments():
                found.setdefault(argument.name, argument)
        yield from found.values()


class LaunchContext:
    """Launch configurations, event handlers and the queue of events.

    Args:
        noninteractive: Whether a ctrl-c does not reach the processes from a terminal.

    Attributes:
        event: The event that is being handled.
    """

    def __init__(self, *, noninteractive: bool = False) -> None:
        self.noninteractive = noninteractive
        self.launch_configurations: dict[str, str] = {}
        self.is_shutdown = False
        self.event: Event | None = None
        self.asyncio_loop: asyncio.AbstractEventLoop | None = None
        self.event_handlers: list[Any] = []
        self.events: deque[Event] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self.wakeup = asyncio.Event()

    def register_event_handler(self, event_handler: Any) -> None:
        """Add a handler; the newest is asked first."""
        self.event_handlers.insert(0, event_handler)

    def start_task(self, work: asyncio.Task[None]) -> None:
        """Keep the launch from being idle until some work is done."""
        self.tasks.add(work)
        work.add_done_callback(lambda _: self.wakeup.set())

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event; may be called from any thread."""
        self.events.append(event)
        if self.asyncio_loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                self.asyncio_loop.call_soon_threadsafe(self.wakeup.set)

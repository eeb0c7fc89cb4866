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

"""What entities share while a launch runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING

from .entities import Event

if TYPE_CHECKING:
    from .event_handlers import BaseEventHandler


class LaunchContext:
    """Launch configurations, event handlers and the queue of events.

    Args:
        noninteractive: Whether no terminal tells the processes of a ctrl-c.

    Attributes:
        event: The event that is being handled.
    """

    def __init__(self, *, noninteractive: bool = False) -> None:
        self.noninteractive = noninteractive
        self.launch_configurations: dict[str, str] = {}
        self.is_shutdown = False
        self.event: Event | None = None
        self.asyncio_loop: asyncio.AbstractEventLoop | None = None
        self.event_handlers: list[BaseEventHandler] = []
        self.events: deque[Event] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self.wakeup = asyncio.Event()

    def register_event_handler(self, event_handler: BaseEventHandler) -> None:
        """Add a handler; the newest is asked first."""
        self.event_handlers.insert(0, event_handler)

    def start_task(self, work: asyncio.Task[None]) -> None:
        """Keep the launch from being idle until some work is done."""
        self.tasks.add(work)
        work.add_done_callback(lambda _: self.wakeup.set())

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event; may be called from any thread."""
        self.events.append(event)
        loop = self.asyncio_loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(self.wakeup.set)

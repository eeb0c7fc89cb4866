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
import os
from collections import deque
from collections.abc import Iterable, MutableMapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ._base import Event, Substitution

if TYPE_CHECKING:
    from .event_handlers import BaseEventHandler


class LaunchContext:
    """Launch configurations, environment, locals, event handlers and the queue of events."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        self.argv = list(argv or [])
        self.noninteractive = noninteractive
        self.launch_configurations: dict[str, str] = {}
        self.is_shutdown = False
        self.asyncio_loop: asyncio.AbstractEventLoop | None = None
        self._event_handlers: list[BaseEventHandler] = []
        self._events: deque[Event] = deque()
        self._wakeup = asyncio.Event()
        self._completion_futures: list[asyncio.Future[Any]] = []
        self._locals: dict[str, Any] = {}
        self._environment_at_start = dict(os.environ)
        self._scopes: list[tuple[dict[str, str], dict[str, str]]] = []

    @property
    def environment(self) -> MutableMapping[str, str]:
        """The environment of this process; children inherit it."""
        return os.environ

    @property
    def locals(self) -> SimpleNamespace:
        """The variables that enclosing entities have set, `event` among them."""
        return SimpleNamespace(**self._locals)

    def get_locals_as_dict(self) -> dict[str, Any]:
        """Return the locals."""
        return dict(self._locals)

    def extend_locals(self, extension: dict[str, Any]) -> None:
        """Set variables for the entities visited from here on."""
        self._locals.update(extension)

    def _push_scope(self) -> None:
        self._scopes.append((dict(self.launch_configurations), dict(os.environ)))

    def _reset_scope(self) -> None:
        self.launch_configurations.clear()
        os.environ.clear()
        os.environ.update(self._environment_at_start)

    def _pop_scope(self) -> None:
        self.launch_configurations, environment = self._scopes.pop()
        os.environ.clear()
        os.environ.update(environment)

    def perform_substitution(self, sub: Substitution) -> str:
        """Perform `sub` in this context."""
        return sub.perform(self)

    def register_event_handler(self, event_handler: BaseEventHandler, append: bool = False) -> None:
        """Add a handler; the newest is asked first, unless `append` puts it last."""
        self._event_handlers.insert(len(self._event_handlers) if append else 0, event_handler)

    def unregister_event_handler(self, event_handler: BaseEventHandler) -> None:
        """Remove a handler.

        Raises:
            ValueError: It is not registered.
        """
        if event_handler not in self._event_handlers:
            raise ValueError(f"event handler {event_handler.describe()[0]} is not registered")
        self._event_handlers.remove(event_handler)

    def add_completion_future(self, future: asyncio.Future[Any]) -> None:
        """Keep the launch from being idle until `future` is done."""
        self._completion_futures.append(future)
        future.add_done_callback(lambda _: self._wake())

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event; may be called from any thread."""
        self._events.append(event)
        self._wake()

    async def emit_event(self, event: Event) -> None:
        """Queue an event from a coroutine."""
        self.emit_event_sync(event)

    def _wake(self) -> None:
        loop = self.asyncio_loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(self._wakeup.set)

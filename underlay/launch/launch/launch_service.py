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

"""The loop that takes events from the queue and visits what their handlers answer with."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator

from . import logging
from ._base import Event, LaunchDescriptionEntity
from .event_handlers import OnShutdown, _FunctionHandler
from .events import IncludeLaunchDescription, Shutdown
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .utilities import checked_entities


class LaunchService:
    """Runs launch descriptions."""

    def __init__(
        self,
        *,
        argv: Iterable[str] | None = None,
        noninteractive: bool = False,
        debug: bool = False,
    ) -> None:
        logging.launch_config.level = logging.DEBUG if debug else logging.INFO
        self.__logger = logging.get_logger("launch")
        self.__context = LaunchContext(argv=argv, noninteractive=noninteractive)
        include = _FunctionHandler(
            matcher=lambda event: isinstance(event, IncludeLaunchDescription),
            answer=lambda event, _: event.launch_description,
        )
        self.__context.register_event_handler(include)
        self.__context.register_event_handler(OnShutdown(on_shutdown=self.__on_shutdown))
        self.__return_code = 0
        self.__shutdown_requested = False

    @property
    def context(self) -> LaunchContext:
        """The context that all entities of this service share."""
        return self.__context

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop | None:
        """The asyncio loop while the service runs, else None."""
        return self.__context.asyncio_loop

    def emit_event(self, event: Event) -> None:
        """Queue an event; may be called from any thread."""
        self.__context.emit_event_sync(event)

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Queue a launch description to be visited; may be called from any thread."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def shutdown(self) -> None:
        """Ask for shutdown; may be called from any thread."""
        self.__shutdown("LaunchService.shutdown() called")

    def __shutdown(self, reason: str, *, due_to_sigint: bool = False) -> None:
        if not self.__shutdown_requested:
            self.__shutdown_requested = True
            self.emit_event(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    def __on_shutdown(self, event: Event, context: LaunchContext) -> None:
        self.__shutdown_requested = True
        context.is_shutdown = True

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until shutdown.

        Args:
            shutdown_when_idle: Shut down once no event and no work is left.

        Returns:
            0, or 1 when an entity, an event handler or a substitution raised. That a process
            failed does not count; an `on_exit` handler may look at its exit code.
        """
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Run within an asyncio loop; see `run`.

        Raises:
            RuntimeError: Not in the main thread, or running already.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("a LaunchService can only be run in the main thread")
        if self.__context.asyncio_loop is not None:
            raise RuntimeError("the launch service is already running")
        self.__context.asyncio_loop = asyncio.get_running_loop()
        config = logging.launch_config
        self.__logger.info(f"All log files can be found below {config.log_dir}")
        self.__logger.info(
            f"Default logging verbosity is set to {logging.getLevelName(config.level)}"
        )
        try:
            with self.__signals_handled(self.__context.asyncio_loop):
                await self.__loop(shutdown_when_idle)
        finally:
            self.__context.asyncio_loop = None
        return self.__return_code

    @contextlib.contextmanager
    def __signals_handled(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        texts = {
            signal.SIGINT: "user interrupted with ctrl-c (SIGINT)",
            signal.SIGTERM: "asked to terminate (SIGTERM)",
        }
        previous = {number: signal.getsignal(number) for number in texts}
        for number in texts:
            loop.add_signal_handler(number, self.__on_signal, number, texts[number])
        try:
            yield
        finally:
            for number, handler in previous.items():
                loop.remove_signal_handler(number)
                if handler is not None:
                    signal.signal(number, handler)

    def __on_signal(self, number: int, text: str) -> None:
        if self.__shutdown_requested:
            self.__logger.warning(f"{text} again, ignoring...")
            return
        self.__logger.warning(text)
        self.__shutdown(text, due_to_sigint=number == signal.SIGINT)

    async def __loop(self, shutdown_when_idle: bool) -> None:
        context = self.__context
        while True:
            context._wakeup.clear()
            while context._events:
                self.__process(context._events.popleft())
                await asyncio.sleep(0)  # processes and timers get their turn
            self.__forget_completed_futures()
            if not context._events and not context._completion_futures:
                if context.is_shutdown:
                    return
                if shutdown_when_idle:
                    self.__shutdown("idle")
            if not context._events:
                await context._wakeup.wait()

    def __process(self, event: Event) -> None:
        context = self.__context
        self.__logger.debug(f"processing event: {event.name}")
        for handler in list(context._event_handlers):
            before = context.get_locals_as_dict()
            try:
                if handler.matches(event):
                    answer = handler.handle(event, context)
                    if isinstance(answer, LaunchDescriptionEntity):
                        answer = [answer]
                    for entity in checked_entities(answer, type(handler).__name__):
                        self.__visit(entity)
            except Exception as error:
                # The other handlers still get the event: on shutdown they stop the processes.
                self.__on_exception(error)
            finally:
                context._locals = before

    def __visit(self, entity: LaunchDescriptionEntity) -> None:
        sub_entities = entity.visit(self.__context)
        # At once: when a later entity raises, the work begun here must still be waited for.
        if (future := entity.get_asyncio_future()) is not None:
            self.__context.add_completion_future(future)
        for sub_entity in checked_entities(sub_entities, type(entity).__name__):
            self.__visit(sub_entity)

    def __forget_completed_futures(self) -> None:
        futures = self.__context._completion_futures
        for future in [future for future in futures if future.done()]:
            futures.remove(future)
            if not future.cancelled() and (error := future.exception()) is not None:
                self.__on_exception(error)

    def __on_exception(self, error: BaseException) -> None:
        self.__logger.debug("".join(traceback.format_exception(error)))
        self.__logger.error(f"Caught exception in launch (see debug for traceback): {error}")
        self.__return_code = 1
        self.__shutdown(f"Caught exception in launch: {error}")

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The loop that takes events from the queue and visits what their handlers answer with."""

from __future__ import annotations

import asyncio
import signal
import traceback

from . import logging
from .entities import Event, LaunchContext, LaunchDescription, LaunchDescriptionEntity
from .event_handlers import BaseEventHandler, OnShutdown
from .events import Shutdown

_SIGNALS = {
    signal.SIGINT: "user interrupted with ctrl-c (SIGINT)",
    signal.SIGTERM: "asked to terminate (SIGTERM)",
}


class LaunchService:
    """Runs launch descriptions in the main thread."""

    def __init__(self, *, noninteractive: bool = False) -> None:
        self.context = LaunchContext(noninteractive=noninteractive)
        self.context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        self._return_code = 0
        self._shutdown_requested = False

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Let a launch description be visited when the launch runs."""
        start = Event()
        self.context.register_event_handler(
            BaseEventHandler(lambda event: event is start, launch_description)
        )
        self.context.emit_event_sync(start)

    def shutdown(self, *, due_to_sigint: bool = False) -> None:
        """Ask for shutdown; may be called from any thread."""
        if not self._shutdown_requested:
            self._shutdown_requested = True
            self.context.emit_event_sync(Shutdown(due_to_sigint=due_to_sigint))

    def _on_shutdown(self, event: Event, context: LaunchContext) -> None:
        self._shutdown_requested = context.is_shutdown = True

    def run(self) -> int:
        """Run until shutdown, which comes by itself once no event and no process is left.

        Returns:
            0, or 1 when an entity, an event handler or a substitution raised. That a process
            failed does not count; an `on_exit` handler may look at its exit code.
        """
        return asyncio.run(self._run())

    async def _run(self) -> int:
        loop = self.context.asyncio_loop = asyncio.get_running_loop()
        logging.log("launch", f"All log files can be found below {logging.log_dir()}")
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        while not (self.context.is_shutdown and self._is_idle()):
            await self._step()
        return self._return_code

    def _is_idle(self) -> bool:
        return not self.context.events and not self.context.tasks

    async def _step(self) -> None:
        context = self.context
        context.wakeup.clear()
        while context.events:
            self._process(context.events.popleft())
            await asyncio.sleep(0)  # processes get their turn
        for task in [task for task in context.tasks if task.done()]:
            context.tasks.remove(task)
            if error := task.exception():
                self._on_exception(error)
        if self._is_idle():
            self.shutdown()
        elif not context.events:
            await context.wakeup.wait()

    def _on_signal(self, number: signal.Signals) -> None:
        text = _SIGNALS[number]
        if self._shutdown_requested:
            logging.log("launch", f"{text} again, ignoring...", "WARNING")
            return
        logging.log("launch", text, "WARNING")
        self.shutdown(due_to_sigint=number == signal.SIGINT)

    def _process(self, event: Event) -> None:
        self.context.event = event
        for handler in list(self.context.event_handlers):
            try:
                if handler.matches(event):
                    answer = handler.handle(event, self.context)
                    if isinstance(answer, LaunchDescriptionEntity):
                        answer = [answer]
                    for entity in answer or []:
                        self._visit(entity)
            except Exception as error:
                # The other handlers still get the event: on shutdown they stop the processes.
                self._on_exception(error)

    def _visit(self, entity: LaunchDescriptionEntity) -> None:
        for sub_entity in entity.visit(self.context) or []:
            self._visit(sub_entity)

    def _on_exception(self, error: BaseException) -> None:
        text = str(error)
        if not isinstance(error, RuntimeError):  # of a mistake in a launch file, where it is
            place = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
        logging.log("launch", f"Caught exception in launch: {text}", "ERROR")
        self._return_code = 1
        self.shutdown()

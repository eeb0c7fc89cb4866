"""The starts and ends of processes, recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from launch.actions import ExecuteProcess
from launch.events.process import ProcessExited, RunningProcessEvent

from .util import NoMatchingProcessException, resolveProcesses


class ProcInfoHandler:
    """Holds the last event of each process: that it started, or that it exited."""

    def __init__(self) -> None:
        self._events: dict[ExecuteProcess, RunningProcessEvent] = {}

    def append(self, process_info: RunningProcessEvent) -> None:
        """Record an event."""
        self._events[process_info.action] = process_info

    def __iter__(self) -> Iterator[RunningProcessEvent]:
        return iter(list(self._events.values()))

    def processes(self) -> list[ExecuteProcess]:
        """Return the processes."""
        return list(self._events)

    def process_names(self) -> list[str]:
        """Return their names."""
        return [event.process_name for event in self]

    def __getitem__(self, key: ExecuteProcess | str) -> RunningProcessEvent:
        """Return the event of a process, given by action or part of a name."""
        (process,) = resolveProcesses(self, process=key)
        return self._events[process]


class ActiveProcInfoHandler(ProcInfoHandler):
    """Processes that are still running and can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.proc_event = threading.Condition()
        self._closed = False

    def append(self, process_info: RunningProcessEvent) -> None:
        """Record an event and tell those who wait."""
        with self.proc_event:
            super().append(process_info)
            self.proc_event.notify_all()

    def close(self) -> None:
        """Let nobody wait any more: there is nothing to come."""
        with self.proc_event:
            self._closed = True
            self.proc_event.notify_all()

    def assertWaitForStartup(
        self, process: ExecuteProcess | str, cmd_args: Any = None, *, timeout: float = 10
    ) -> None:
        """Wait until a process has started; see launch_testing.util.resolveProcesses.

        Raises:
            AssertionError: It did not start within `timeout` [s].
        """
        self.__wait(process, cmd_args, timeout, lambda event: True, "start up")

    def assertWaitForShutdown(
        self, process: ExecuteProcess | str, cmd_args: Any = None, *, timeout: float = 10
    ) -> None:
        """Wait until a process has ended; see launch_testing.util.resolveProcesses.

        Raises:
            AssertionError: It did not end within `timeout` [s].
        """
        self.__wait(
            process, cmd_args, timeout, lambda event: isinstance(event, ProcessExited), "finish"
        )

    def __wait(
        self,
        process: ExecuteProcess | str,
        cmd_args: Any,
        timeout: float,
        condition: Callable[[RunningProcessEvent], bool],
        what: str,
    ) -> None:
        __tracebackhide__ = True

        def is_so() -> bool:
            try:
                (found,) = resolveProcesses(self, process=process, cmd_args=cmd_args)
            except NoMatchingProcessException:
                return False
            return condition(self._events[found])

        with self.proc_event:
            self.proc_event.wait_for(lambda: self._closed or is_so(), timeout)
            if not is_so():
                name = process if isinstance(process, str) else process.name
                raise AssertionError(
                    f"Timed out after {timeout} s waiting for process '{name}' to {what}; there "
                    f"are: {', '.join(self.process_names()) or 'none'}"
                )

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

"""The starts and ends of processes, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from launch.actions import ExecuteProcess
from launch.events.process import ProcessExited, RunningProcessEvent

from .util import Waiting, resolveProcesses


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
        """Return the event of a process, given by action or part of a name, then the first's.

        Raises:
            KeyError: There is no such process.
        """
        if isinstance(key, ExecuteProcess):
            return self._events[key]
        for event in self:
            if key in event.process_name:
                return event
        raise KeyError(key)


class ActiveProcInfoHandler(Waiting, ProcInfoHandler):
    """Processes that are still running and can be waited for."""

    def assertWaitForStartup(
        self, process: ExecuteProcess | str, cmd_args: Any = None, *, timeout: float = 10
    ) -> None:
        """Wait until a process has started; see launch_testing.util.resolveProcesses.

        Raises:
            AssertionError: It did not start within `timeout` [s].
        """
        __tracebackhide__ = True
        self.__assert(RunningProcessEvent, "start up", process, cmd_args, timeout)

    def assertWaitForShutdown(
        self, process: ExecuteProcess | str, cmd_args: Any = None, *, timeout: float = 10
    ) -> None:
        """Wait until a process has ended; see launch_testing.util.resolveProcesses.

        Raises:
            AssertionError: It did not end within `timeout` [s].
        """
        __tracebackhide__ = True
        self.__assert(ProcessExited, "finish", process, cmd_args, timeout)

    def __assert(self, kind: type, what: str, process: Any, cmd_args: Any, timeout: float) -> None:
        __tracebackhide__ = True

        def is_so() -> bool:
            (found,) = resolveProcesses(self, process=process, cmd_args=cmd_args)
            return isinstance(self._events[found], kind)

        if not self._wait(is_so, timeout):
            name = process if isinstance(process, str) else process.name
            raise AssertionError(
                f"Timed out after {timeout} s waiting for process '{name}' to {what}; there "
                f"are: {', '.join(self.process_names()) or 'none'}"
            )

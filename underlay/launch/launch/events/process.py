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

"""Events about processes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._base import Event
from .._upstream import upstream_names


class RunningProcessEvent(Event):
    """Something that happened to a process."""

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: Any,
        name: str,
        cmd: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str],
        pid: int,
    ) -> None:
        self.action = action
        self.process_name = name
        self.cmd, self.cwd, self.env, self.pid = cmd, cwd, env, pid


class ProcessStarted(RunningProcessEvent):
    """The process has started."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """The process has ended; a negative return code is the number of the signal that did it."""

    name = "launch.events.process.ProcessExited"

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.returncode = returncode


class ProcessIO(RunningProcessEvent):
    """The process has written `text` [bytes] to its file descriptor `fd`."""

    name = "launch.events.process.ProcessIO"

    def __init__(self, *, text: bytes, fd: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.text, self.fd = text, fd
        self.from_stdin, self.from_stdout, self.from_stderr = fd == 0, fd == 1, fd == 2


class ProcessTargetedEvent(Event):
    """A request to the processes whose action `process_matcher` accepts."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Callable[[Any], bool]) -> None:
        self.process_matcher = process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """The process is to end, by SIGINT and, if that does not help, SIGTERM and SIGKILL."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """The process is to receive a signal, given as a signal.Signals or by its name.

    Raises:
        TypeError: It is a mere number.
    """

    name = "launch.events.process.SignalProcess"

    def __init__(
        self, *, signal_number: str | signal.Signals, process_matcher: Callable[[Any], bool]
    ) -> None:
        super().__init__(process_matcher=process_matcher)
        if not isinstance(signal_number, (str, signal.Signals)):
            raise TypeError(f"signal_number must be a signal.Signals, not {signal_number!r}")
        if isinstance(signal_number, str):
            signal_number = signal.Signals[signal_number]
        self.signal = signal_number
        self.signal_name = signal_number.name


__getattr__ = upstream_names(__name__, "ProcessStdin matches_executable matches_name matches_pid")

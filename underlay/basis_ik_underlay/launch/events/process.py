# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Events about processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..entities import Event


class RunningProcessEvent(Event):
    """Something that happened to a process."""

    def __init__(self, *, action: Any, name: str, cmd: Sequence[str], pid: int) -> None:
        self.action, self.process_name, self.cmd, self.pid = action, name, cmd, pid


class ProcessStarted(RunningProcessEvent):
    """The process has started."""


class ProcessExited(RunningProcessEvent):
    """The process has ended; a negative return code is the number of the signal that did it."""

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.returncode = returncode


class ProcessIO(RunningProcessEvent):
    """The process has written `text` [bytes]."""

    def __init__(self, *, text: bytes, fd: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.text, self.from_stdout, self.from_stderr = text, fd == 1, fd == 2

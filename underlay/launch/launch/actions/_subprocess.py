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

"""A child process within an asyncio loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

# The output of a process may come after the news of its end, and never ends when a grandchild
# keeps the pipe open.
_OUTPUT_GRACE = 0.5


class _Pipe(asyncio.Protocol):
    def __init__(self, fd: int, owner: Subprocess) -> None:
        self._fd, self._owner = fd, owner

    def data_received(self, data: bytes) -> None:
        self._owner.pipe_data_received(self._fd, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.pipe_connection_lost(self._fd, exc)


class Subprocess(asyncio.SubprocessProtocol):
    """Starts one process; hands on its output as pieces of bytes and as lines.

    Args:
        on_output: Called with 1 for stdout or 2 for stderr, and the bytes.
        on_line: Called with the same and a decoded line.
    """

    def __init__(
        self, on_output: Callable[[int, bytes], None], on_line: Callable[[int, str], None]
    ) -> None:
        self._on_output, self._on_line = on_output, on_line
        self._rest = {1: b"", 2: b""}
        self._held: list[tuple[int, bytes]] | None = []
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._silent = {fd: asyncio.Event() for fd in (1, 2)}
        self._terminals: list[asyncio.BaseTransport] = []
        self._timers: list[asyncio.TimerHandle] = []
        self._transport: asyncio.SubprocessTransport

    async def start(
        self,
        cmd: Sequence[str],
        *,
        cwd: str | None,
        env: Mapping[str, str],
        shell: bool,
        tty: bool,
    ) -> int:
        """Start the process.

        Returns:
            The process id. Output is held back until `forward_output` is called.

        Raises:
            OSError: There is no such executable, or it cannot be executed.
        """
        options: dict[str, Any] = {"cwd": cwd, "env": env}
        pairs = {fd: pty.openpty() for fd in (1, 2)} if tty else {}
        for fd, (_, slave) in pairs.items():
            options["stdout" if fd == 1 else "stderr"] = slave
        start = self._loop.subprocess_shell if shell else self._loop.subprocess_exec
        try:
            transport, _ = await start(lambda: self, *cmd, **options)
        except OSError:
            for master, _ in pairs.values():
                os.close(master)
            raise
        finally:
            for _, slave in pairs.values():
                os.close(slave)
        self._transport = transport
        for fd, (master, _) in pairs.items():
            pipe = os.fdopen(master, "rb", 0)
            terminal, _ = await self._loop.connect_read_pipe(partial(_Pipe, fd, self), pipe)
            self._terminals.append(terminal)
        return transport.get_pid()

    def forward_output(self) -> None:
        """Let the output flow, beginning with what has been held back."""
        held, self._held = self._held or [], None
        for fd, data in held:
            self.pipe_data_received(fd, data)

    def call_later(self, delay: float, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function after `delay` [s], unless the process has ended by then."""
        self._timers.append(self._loop.call_later(delay, function, *arguments))

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens if the process has just ended."""
        with contextlib.suppress(ProcessLookupError):
            self._transport.send_signal(number)

    async def wait(self) -> int:
        """Wait for the end of the process and of its output; return its exit code."""
        await self._exited
        for timer in self._timers:
            timer.cancel()
        with contextlib.suppress(asyncio.TimeoutError):
            silence = asyncio.gather(*[event.wait() for event in self._silent.values()])
            await asyncio.wait_for(silence, _OUTPUT_GRACE)
        for fd, rest in self._rest.items():
            if rest:
                self._on_line(fd, rest.decode(errors="replace"))
        for transport in (self._transport, *self._terminals):
            transport.close()
        code = self._transport.get_returncode()
        assert code is not None  # it has exited
        return code

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Pass a piece of output on."""
        if self._held is not None:
            self._held.append((fd, data))
            return
        self._on_output(fd, data)
        *lines, self._rest[fd] = (self._rest[fd] + data).split(b"\n")
        for line in lines:
            self._on_line(fd, line.decode(errors="replace").rstrip("\r"))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that no more output comes."""
        if fd in self._silent:
            self._silent[fd].set()

    def process_exited(self) -> None:
        """Note the end of the process."""
        if not self._exited.done():
            self._exited.set_result(None)

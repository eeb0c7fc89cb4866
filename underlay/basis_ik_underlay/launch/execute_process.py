# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The action that starts a process, passes on its output, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Iterable
from typing import Any

from . import logging
from .entities import Action, Event, LaunchContext
from .event_handlers import OnProcessExit, OnShutdown
from .events import Shutdown
from .events.process import ProcessExited, ProcessIO, ProcessStarted
from .substitutions import (
    evaluate,
    normalize_to_list_of_substitutions,
    parse_bool,
    perform_substitutions,
)

_NUMBERS = itertools.count(1)
_ESCALATION = ((5.0, signal.SIGTERM, "SIGINT"), (10.0, signal.SIGKILL, "SIGTERM"))
# How long a process's output may come after its end [s]; a grandchild may keep the pipe open.
_OUTPUT_GRACE = 0.5


class _Child(asyncio.SubprocessProtocol):
    """One run of a process: `on_start` gets its id, `on_output` 1 or 2 and what it writes there."""

    transport: asyncio.SubprocessTransport

    def __init__(
        self, on_start: Callable[[int], None], on_output: Callable[[int, bytes], None]
    ) -> None:
        self._on_start, self._on_output = on_start, on_output
        self.exited = asyncio.Event()
        self._silent = {fd: asyncio.Event() for fd in (1, 2)}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._on_start(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._on_output(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd in self._silent:
            self._silent[fd].set()

    def process_exited(self) -> None:
        self.exited.set()

    async def wait(self) -> int:
        """Wait for the end of the process and of its output; return its exit code."""
        await self.exited.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            silence = asyncio.gather(*[event.wait() for event in self._silent.values()])
            await asyncio.wait_for(silence, _OUTPUT_GRACE)
        self.transport.close()
        code = self.transport.get_returncode()
        assert code is not None  # it has exited
        return code


class ExecuteProcess(Action):
    """Starts a process and follows it until it ends.

    Args:
        cmd: The executable and its arguments, each a text or what makes one.
        output: Where its output goes: 'screen', or 'log', which is launch.log and, for stderr,
            the screen as well.
        on_exit: Entities to visit when it ends, or a function of event and context.
        respawn: Whether to start it again when it ends, a text or what makes one.
        respawn_delay: Before it is started again [s].
        kwargs: See Action.

    Raises:
        ValueError: There is no such output here.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[Any],
        output: str = "log",
        on_exit: Any = None,
        respawn: Any = "false",
        respawn_delay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if output not in ("screen", "log"):
            raise ValueError(f"output must be 'screen' or 'log' here, not '{output}'")
        self.cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self._output, self._on_exit = output, on_exit
        self._respawn, self._respawn_delay = respawn, respawn_delay
        self._child: _Child | None = None
        self._send_sigint = True

    def execute(self, context: LaunchContext) -> None:
        """Evaluate everything; start the process in the background."""
        if context.is_shutdown:
            return
        cmd = [perform_substitutions(context, part) for part in self.cmd]
        self.name = f"{os.path.basename(cmd[0])}-{next(_NUMBERS)}"
        self.process_details: dict[str, Any] = {"name": self.name, "cmd": cmd}
        respawn = parse_bool(evaluate(context, self._respawn), "respawn")
        self._stopping = asyncio.Event()
        context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        if self._on_exit is not None:
            on_exit = OnProcessExit(target_action=self, on_exit=self._on_exit)
            context.register_event_handler(on_exit)
        context.start_task(asyncio.create_task(self._run(context, respawn)))

    async def _run(self, context: LaunchContext, respawn: bool) -> None:
        while await self._run_once(context) and respawn:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._respawn_delay)
            if self._stopping.is_set():
                break

    async def _run_once(self, context: LaunchContext) -> bool:
        details, rests = self.process_details, {1: b"", 2: b""}

        def on_start(pid: int) -> None:
            details["pid"] = pid
            logging.log(self.name, f"process started with pid [{pid}]")
            context.emit_event_sync(ProcessStarted(action=self, **details))

        def on_output(fd: int, data: bytes) -> None:
            context.emit_event_sync(ProcessIO(action=self, text=data, fd=fd, **details))
            *lines, rests[fd] = (rests[fd] + data).split(b"\n")
            for line in lines:
                self._write(fd, line)

        loop = asyncio.get_running_loop()
        try:
            _, child = await loop.subprocess_exec(
                lambda: _Child(on_start, on_output), *details["cmd"]
            )
        except OSError as error:
            text = f"exception occurred while executing process: {error}"
            logging.log(self.name, text, "ERROR")
            return False
        self._child = child
        if self._stopping.is_set():  # asked to stop while it was being started
            self._terminate(child)
        code = await child.wait()
        self._child = None
        for fd, rest in rests.items():
            if rest:
                self._write(fd, rest)
        if code == 0:
            logging.log(self.name, f"process has finished cleanly [pid {details['pid']}]")
        else:
            how = f"[pid {details['pid']}, exit code {code}, cmd '{' '.join(details['cmd'])}']."
            logging.log(self.name, f"process has died {how}", "ERROR")
        context.emit_event_sync(ProcessExited(action=self, returncode=code, **details))
        return True

    def _write(self, fd: int, line: bytes) -> None:
        screen = self._output == "screen" or fd == 2
        text = f"[{self.name}] {line.decode(errors='replace')}"
        logging.write(text, screen=screen, file=self._output == "log")

    def _on_shutdown(self, event: Event, context: LaunchContext) -> None:
        assert isinstance(event, Shutdown)
        if self._stopping.is_set():  # each required process that ends asks again
            return
        # At a terminal, ctrl-c has reached the process too: it is of our process group.
        self._send_sigint = not event.due_to_sigint or context.noninteractive
        self._stopping.set()
        if self._child is not None:
            self._terminate(self._child)

    def _terminate(self, child: _Child) -> None:
        if self._send_sigint:
            self._send(child, signal.SIGINT)
        loop = asyncio.get_running_loop()
        for after, number, last in _ESCALATION:
            loop.call_later(after, self._escalate, child, number, last)

    def _escalate(self, child: _Child, number: signal.Signals, last: str) -> None:
        if not child.exited.is_set():
            failed = f"process[{self.name}] failed to terminate after '{last}'"
            logging.log(self.name, f"{failed}, escalating to '{number.name}'", "ERROR")
            self._send(child, number)

    def _send(self, child: _Child, number: signal.Signals) -> None:
        logging.log(self.name, f"sending signal '{number.name}' to process[{self.name}]")
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            child.transport.send_signal(number)

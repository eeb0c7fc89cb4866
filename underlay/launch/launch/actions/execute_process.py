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

"""The action that starts a process, passes on its output, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shlex
import signal
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import logging
from .._base import Action, Entities, Event, SomeSubstitutionsType, Substitution
from .._upstream import refuse_arguments
from ..conditions import evaluate_condition_expression
from ..event_handlers import BaseEventHandler, OnProcessExit, OnShutdown, _FunctionHandler
from ..events import Shutdown
from ..events.process import (
    ProcessExited,
    ProcessIO,
    ProcessStarted,
    ProcessTargetedEvent,
    ShutdownProcess,
    SignalProcess,
)
from ..launch_context import LaunchContext
from ..substitutions import LaunchConfiguration
from ..utilities import (
    evaluate,
    normalize_to_bool,
    normalize_to_list_of_substitutions,
    perform_bool,
    perform_substitutions,
)
from ._subprocess import Subprocess

_NUMBERS = itertools.count(1)
_SIGTERM_TIMEOUT = LaunchConfiguration("sigterm_timeout", default=5)
_SIGKILL_TIMEOUT = LaunchConfiguration("sigkill_timeout", default=5)


def _normalized(variables: Mapping[Any, Any]) -> list[tuple[list[Substitution], ...]]:
    return [tuple(map(normalize_to_list_of_substitutions, item)) for item in variables.items()]


class ExecuteProcess(Action):
    """Starts a process and follows it until it ends.

    Args:
        cmd: The executable and its arguments, each a text or what makes one.
        name: The name in logs and events, which a number is added to; the executable by default.
        cwd: The working directory.
        env: The whole environment; that of the launch by default.
        additional_env: Variables on top of it.
        shell: Let a shell run the command, joined by blanks.
        sigterm_timeout: From SIGINT to SIGTERM [s].
        sigkill_timeout: From SIGTERM to SIGKILL [s].
        emulate_tty: Give the process terminals instead of pipes for its output; the launch
            configuration `emulate_tty` overrides it.
        output: Where its output goes: 'screen', 'log' or 'both'.
        on_exit: Entities to visit when it ends, or a function of event and context.
        respawn: Start it again when it ends.
        respawn_delay: Before it is started again [s].
        upstream: Arguments that only upstream has; any of them is refused.

    Raises:
        TypeError: Something is of a type that upstream refuses, too: a number in place of a text, a
            text in place of `respawn`.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Mapping[Any, SomeSubstitutionsType] | None = None,
        additional_env: Mapping[Any, SomeSubstitutionsType] | None = None,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType = _SIGTERM_TIMEOUT,
        sigkill_timeout: SomeSubstitutionsType = _SIGKILL_TIMEOUT,
        emulate_tty: bool = False,
        output: SomeSubstitutionsType = "log",
        on_exit: Any = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        condition: Any = None,
        **upstream: Any,
    ) -> None:
        super().__init__(condition=condition)
        refuse_arguments(
            self, upstream, "cached_output log_cmd output_format prefix respawn_max_retries"
        )
        self.cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self.shell, self.output = shell, output
        self.__name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__cwd = None if cwd is None else normalize_to_list_of_substitutions(cwd)
        self.__env = None if env is None else _normalized(env)
        self.__additional_env = _normalized(additional_env or {})
        self.__timeouts = [
            normalize_to_list_of_substitutions(timeout)
            for timeout in (sigterm_timeout, sigkill_timeout)
        ]
        self.__emulate_tty, self.__on_exit = emulate_tty, on_exit
        self.__respawn = normalize_to_bool(respawn, "respawn")
        self.__respawn_delay = respawn_delay
        self.__details: dict[str, Any] | None = None
        self.__subprocess: Subprocess | None = None
        self.__stopping: asyncio.Event | None = None
        self.__send_sigint = True
        self.__task: asyncio.Future[None] | None = None
        self.return_code: int | None = None

    @property
    def name(self) -> str | None:
        """The name with its number, once the process has been prepared."""
        return None if self.__details is None else self.__details["name"]

    @property
    def process_details(self) -> dict[str, Any] | None:
        """Name, cmd, cwd, env and, once it runs, pid; None before the action is executed."""
        return self.__details

    def get_sub_entities(self) -> Entities:
        """Return the entities to visit on exit, as far as they are known."""
        if self.__on_exit is None:
            return []
        return OnProcessExit(on_exit=self.__on_exit).describe()[1]

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return the future that is done when the process has ended for good."""
        return self.__task

    def execute(self, context: LaunchContext) -> Entities | None:
        """Evaluate everything; start the process in the background."""
        if self.__task is not None:
            raise RuntimeError(f"process '{self.name}' cannot be executed more than once")
        if context.is_shutdown:
            return None
        self.__details = self.__prepare(context)
        name = self.__details["name"]
        self.__logger = logging.get_logger(name)
        override = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT")
        output = override or evaluate(context, self.output)
        self.__output_loggers = logging.get_output_loggers(name, output)
        self.__limits = [float(perform_substitutions(context, each)) for each in self.__timeouts]
        respawn = perform_bool(context, self.__respawn, "respawn")
        tty = bool(self.__emulate_tty)
        if "emulate_tty" in context.launch_configurations:
            tty = evaluate_condition_expression(context, LaunchConfiguration("emulate_tty"))
        self.__stopping = asyncio.Event()
        handlers: list[BaseEventHandler] = [
            OnShutdown(on_shutdown=self.__on_shutdown),
            _FunctionHandler(
                matcher=self.__is_asked(ShutdownProcess),
                answer=lambda event, context: self.__stop(True),
            ),
            _FunctionHandler(
                matcher=self.__is_asked(SignalProcess),
                answer=lambda event, context: self.__send(event.signal),
            ),
        ]
        for handler in handlers:
            context.register_event_handler(handler)
        if self.__on_exit is not None:
            on_exit = OnProcessExit(target_action=self, on_exit=self.__on_exit)
            context.register_event_handler(on_exit)
        assert context.asyncio_loop is not None  # entities are visited by a running service
        self.__task = context.asyncio_loop.create_task(self.__run(context, respawn, tty, handlers))
        return None

    def __prepare(self, context: LaunchContext) -> dict[str, Any]:
        if context.launch_configurations.get("launch-prefix"):
            raise NotImplementedError(
                "the launch configuration 'launch-prefix' is part of upstream launch, but not of "
                "this underlay"
            )
        cmd = [perform_substitutions(context, part) for part in self.cmd]
        first = shlex.split(cmd[0])[0] if self.shell else cmd[0]
        name = os.path.basename(first)
        if self.__name is not None:
            name = perform_substitutions(context, self.__name)
        env = dict(context.environment) if self.__env is None else {}
        for key, value in [*(self.__env or []), *self.__additional_env]:
            env[perform_substitutions(context, key)] = perform_substitutions(context, value)
        cwd = None if self.__cwd is None else perform_substitutions(context, self.__cwd)
        return {"name": f"{name}-{next(_NUMBERS)}", "cmd": cmd, "cwd": cwd, "env": env}

    async def __run(
        self, context: LaunchContext, respawn: bool, tty: bool, handlers: list[BaseEventHandler]
    ) -> None:
        assert self.__stopping is not None  # see execute
        try:
            while await self.__run_once(context, tty) and respawn:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.__stopping.wait(), self.__respawn_delay or 0.0)
                if self.__stopping.is_set():
                    break
        finally:
            for handler in handlers:
                context.unregister_event_handler(handler)

    async def __run_once(self, context: LaunchContext, tty: bool) -> bool:
        details, stopping = self.__details, self.__stopping
        assert details is not None  # see execute
        assert stopping is not None
        cmd, command = details["cmd"], " ".join(details["cmd"])

        def on_output(fd: int, data: bytes) -> None:
            context.emit_event_sync(ProcessIO(action=self, text=data, fd=fd, **details))

        process = Subprocess(on_output, self.__write)
        arguments = [command] if self.shell else cmd
        try:
            details["pid"] = await process.start(
                arguments, cwd=details["cwd"], env=details["env"], shell=self.shell, tty=tty
            )
        except OSError as error:
            self.__logger.error(f"exception occurred while executing process: {error}")
            self.__logger.debug(traceback.format_exc())
            return False
        self.__logger.info(f"process started with pid [{details['pid']}]")
        context.emit_event_sync(ProcessStarted(action=self, **details))
        process.forward_output()
        self.__subprocess = process
        if stopping.is_set():  # asked to stop while it was being started
            self.__terminate()
        code = self.return_code = await process.wait()
        self.__subprocess = None
        if code == 0:
            self.__logger.info(f"process has finished cleanly [pid {details['pid']}]")
        else:
            self.__logger.error(
                f"process has died [pid {details['pid']}, exit code {code}, cmd '{command}']."
            )
        context.emit_event_sync(ProcessExited(action=self, returncode=code, **details))
        return True

    def __write(self, fd: int, line: str) -> None:
        self.__output_loggers[fd - 1].info(f"[{self.name}] {line}")

    def __is_asked(self, kind: type[ProcessTargetedEvent]) -> Callable[[Event], bool]:
        return lambda event: isinstance(event, kind) and event.process_matcher(self)

    def __on_shutdown(self, event: Shutdown, context: LaunchContext) -> None:
        # At a terminal, ctrl-c has reached the process too: it is of our process group.
        self.__stop(not event.due_to_sigint or context.noninteractive)

    def __stop(self, send_sigint: bool) -> None:
        assert self.__stopping is not None  # handlers are registered after it is made
        if not self.__stopping.is_set():
            self.__send_sigint = send_sigint
            self.__stopping.set()
            self.__terminate()

    def __terminate(self) -> None:
        if self.__subprocess is None:
            return
        sigterm, sigkill = self.__limits
        self.__subprocess.call_later(sigterm, self.__escalate, signal.SIGTERM, "SIGINT", sigterm)
        self.__subprocess.call_later(
            sigterm + sigkill, self.__escalate, signal.SIGKILL, "SIGTERM", sigkill
        )
        if self.__send_sigint:
            self.__send(signal.SIGINT)

    def __escalate(self, number: signal.Signals, last: str, after: float) -> None:
        self.__logger.error(
            f"process[{self.name}] failed to terminate '{after}' seconds after receiving "
            f"'{last}', escalating to '{number.name}'"
        )
        self.__send(number)

    def __send(self, number: signal.Signals) -> None:
        if self.__subprocess is None:
            self.__logger.warning(f"'{number.name}' not sent to {self.name}: it is not running")
            return
        self.__logger.info(f"sending signal '{number.name}' to process[{self.name}]")
        self.__subprocess.send_signal(number)

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

"""Finding processes and output."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from launch.actions import ExecuteProcess

NO_CMD_ARGS = object()
_ANSI_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class NoMatchingProcessException(Exception):  # noqa: N818 (upstream's name)
    """No process matches."""


class _SeveralProcessesError(Exception):
    """Several processes match where one is meant."""


def KeepAliveProc() -> ExecuteProcess:
    """Return a process that does nothing until it is told to end, which it then does cleanly."""
    script = "trap 'exit 0' INT TERM; read nothing"
    return ExecuteProcess(cmd=["/bin/sh", "-c", script], name="keep_alive")


def resolveProcesses(
    info_obj: Any,
    *,
    process: ExecuteProcess | str | None = None,
    cmd_args: Any = None,
    strict_proc_matching: bool = True,
) -> list[ExecuteProcess]:
    """Return the processes that match.

    Args:
        info_obj: What knows the processes: a handler of their output or their state.
        process: An action, a part of a process name, or None for all.
        cmd_args: Only those by name that have this argument, or all of these; NO_CMD_ARGS: none.
        strict_proc_matching: Whether a name must match only one process.

    Raises:
        NoMatchingProcessException: No process matches.
        _SeveralProcessesError: Several do.
        TypeError: `process` is something else.
    """
    known = info_obj.processes()
    if process is not None and not isinstance(process, (str, ExecuteProcess)):
        raise TypeError(f"process must be an ExecuteProcess or a text, not {process!r}")
    if process is None:
        if known:
            return list(known)
        raise NoMatchingProcessException("no process has been recorded")
    if not isinstance(process, str):
        if process in known:
            return [process]
        raise NoMatchingProcessException(f"nothing has been recorded of process {process.name}")
    found = []
    for candidate in known:
        details = candidate.process_details or {}
        if process in details["name"] and _has(details["cmd"][1:], cmd_args):
            found.append(candidate)
    names = ", ".join(str(candidate.name) for candidate in (found or known)) or "none at all"
    what = f"name '{process}' and arguments {cmd_args}: {names}"
    if not found:
        raise NoMatchingProcessException(f"no process matches {what}")
    if len(found) > 1 and strict_proc_matching:
        raise _SeveralProcessesError(f"several processes match {what}")
    return found


def _has(arguments: list[str], wanted: Any) -> bool:
    if wanted is None or wanted is NO_CMD_ARGS:
        return wanted is None or not arguments
    return all(each in arguments for each in ([wanted] if isinstance(wanted, str) else wanted))


def output_of(
    proc_output: Any,
    stream: str,
    process: ExecuteProcess | str | None = None,
    cmd_args: Any = None,
    *,
    strict_proc_matching: bool = True,
    output_filter: Callable[[str], str] | None = None,
    strip_ansi_escape_sequences: bool = True,
) -> dict[ExecuteProcess, str]:
    """Return what processes have written.

    Args:
        proc_output: The handler of their output.
        stream: 'stdout' or 'stderr'.
        process: Whose output; see `resolveProcesses`.
        cmd_args: See there.
        strict_proc_matching: See there.
        output_filter: A function from the text to what counts of it.
        strip_ansi_escape_sequences: Whether colours are taken out first.
    """
    if stream not in ("stdout", "stderr"):
        raise ValueError(f"stream must be 'stdout' or 'stderr', not {stream!r}")
    if output_filter is not None and not callable(output_filter):
        raise ValueError(f"output_filter must be a function, not {output_filter!r}")
    texts = {}
    for one in resolveProcesses(
        proc_output, process=process, cmd_args=cmd_args, strict_proc_matching=strict_proc_matching
    ):
        pieces = [io.text for io in proc_output[one] if getattr(io, f"from_{stream}")]
        text = b"".join(pieces).decode(errors="replace")
        if strip_ansi_escape_sequences:
            text = _ANSI_ESCAPE.sub("", text)
        texts[one] = text if output_filter is None else output_filter(text)
    return texts


def find(expected: Any, text: str, start: int = 0) -> int:
    """Return where a text, a pattern, or a list of them in order, ends in `text`; -1 if nowhere."""
    if isinstance(expected, (list, tuple)):
        for part in expected:
            start = find(part, text, start)
            if start < 0:
                return -1
        return start
    if isinstance(expected, re.Pattern):
        match = expected.search(text, start)
        return match.end() if match else -1
    at = text.find(expected, start)
    return at + len(expected) if at >= 0 else -1


def show(texts: dict[ExecuteProcess, str], stream: str) -> str:
    """Return the last lines that processes have written, for people."""
    parts = []
    for process, text in texts.items():
        parts.append(f"  {process.name} wrote to {stream}:")
        parts += [f"    {line}" for line in text.splitlines()[-20:] or ["(nothing)"]]
    return "\n".join(parts)


class Waiting:
    """Lets threads wait for what another thread records."""

    def __init__(self) -> None:
        super().__init__()
        self._condition = threading.Condition()
        self._closed = False

    def append(self, item: Any) -> None:
        """Record something and tell those who wait."""
        with self._condition:
            super().append(item)  # type: ignore[misc]  # of the handler that is mixed in
            self._condition.notify_all()

    def close(self) -> None:
        """Let nobody wait any more: there is nothing to come."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _wait(self, predicate: Callable[[], bool], timeout: float) -> bool:
        def is_so() -> bool:
            try:
                return predicate()
            except NoMatchingProcessException:
                return False

        with self._condition:
            self._condition.wait_for(lambda: self._closed or is_so(), timeout)
            return is_so()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What processes write and how they end, and assertions on it."""

from __future__ import annotations

import threading
from typing import Any

from launch.events.process import ProcessExited, ProcessIO, RunningProcessEvent

# The last event of each process, by its action: that it started, or that it exited.
ProcessInfo = dict[Any, RunningProcessEvent]


def describe(event: RunningProcessEvent) -> str:
    """Describe the state of a process."""
    exited = isinstance(event, ProcessExited)
    how = f"exited with code {event.returncode}" if exited else "is still running"
    return f"{event.process_name} {how}; its command was: {' '.join(event.cmd)}"


def show(texts: dict[str, str]) -> str:
    """Return the last lines that processes have written, for a message."""
    lines = [f"  {name}: {line}" for name in texts for line in texts[name].splitlines()[-20:]]
    return "\n".join(lines) or "  (nothing)"


class ProcessOutput:
    """Holds what processes write, in the order of arrival; tests can wait for it."""

    def __init__(self) -> None:
        self._pieces: list[ProcessIO] = []
        self._condition = threading.Condition()
        self._closed = False

    def append(self, piece: ProcessIO) -> None:
        """Record a piece and wake those who wait."""
        with self._condition:
            self._pieces.append(piece)
            self._condition.notify_all()

    def close(self) -> None:
        """End all waiting: no more output will come."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def texts(
        self, stream: str, process: str | None = None, cmd_args: str | None = None
    ) -> dict[str, str]:
        """Return what processes have written, by their names; see `assertWaitFor`."""
        found: dict[str, bytes] = {}
        for piece in list(self._pieces):
            name = piece.process_name
            is_meant = process is None or process in name
            is_meant = is_meant and (cmd_args is None or cmd_args in piece.cmd)
            if is_meant and getattr(piece, f"from_{stream}"):
                found[name] = found.get(name, b"") + piece.text
        return {name: text.decode(errors="replace") for name, text in found.items()}

    def assertWaitFor(
        self,
        expected_output: str,
        process: str | None = None,
        cmd_args: str | None = None,
        *,
        timeout: float = 10.0,
        stream: str = "stderr",
    ) -> None:
        """Wait until a text has been written.

        Args:
            expected_output: The text.
            process: A part of the name of the process that is to write it; any by default.
            cmd_args: Only of a process that has this argument.
            timeout: At most [s].
            stream: 'stdout' or 'stderr', the default, where ROS nodes log.

        Raises:
            AssertionError: It did not come in time; the message shows what came.
        """
        __tracebackhide__ = True

        def has_come() -> bool:
            texts = self.texts(stream, process, cmd_args)
            return any(expected_output in text for text in texts.values())

        with self._condition:
            self._condition.wait_for(lambda: self._closed or has_come(), timeout)
        if not has_come():
            came = show(self.texts(stream))
            raise AssertionError(
                f"{expected_output!r} did not come on {stream} (timeout: {timeout} s). What came:\n"
                f"{came}"
            )


def assertExitCodes(proc_info: ProcessInfo) -> None:
    """Assert that all processes have exited with 0.

    The code of a process that died of a signal is the negative number of the signal.
    """
    __tracebackhide__ = True
    events = proc_info.values()
    assert events, "no process has been started"
    bad = [e for e in events if not (isinstance(e, ProcessExited) and e.returncode == 0)]
    assert not bad, "\n".join(map(describe, bad))


def assertInStdout(
    proc_output: ProcessOutput,
    expected_output: str,
    process: str | None = None,
    cmd_args: str | None = None,
) -> None:
    """Assert that a process has written a text to stdout; see ProcessOutput.assertWaitFor."""
    __tracebackhide__ = True
    texts = proc_output.texts("stdout", process, cmd_args)
    assert any(expected_output in text for text in texts.values()), (
        f"{expected_output!r} is not in what was written to stdout:\n{show(texts)}"
    )

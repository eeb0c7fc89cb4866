"""The output of processes, recorded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from launch.actions import ExecuteProcess
from launch.events.process import ProcessIO

from .util import NoMatchingProcessException, find, last_lines, output_of, resolveProcesses


class IoHandler:
    """Holds output by process, in the order in which it came."""

    def __init__(self) -> None:
        self._pieces: list[ProcessIO] = []

    def append(self, process_io: ProcessIO) -> None:
        """Record a piece."""
        self._pieces.append(process_io)

    def __iter__(self) -> Iterator[ProcessIO]:
        return iter(list(self._pieces))

    def processes(self) -> list[ExecuteProcess]:
        """Return the processes that have written something."""
        return list({piece.action: None for piece in list(self._pieces)})

    def process_names(self) -> list[str]:
        """Return the names of those processes."""
        return list({piece.process_name: None for piece in list(self._pieces)})

    def __getitem__(self, key: ExecuteProcess | str) -> list[ProcessIO]:
        """Return the pieces of a process, given by action or full name."""
        return [piece for piece in list(self._pieces) if key in (piece.action, piece.process_name)]


class ActiveIoHandler(IoHandler):
    """Output that is still coming and can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.io_event = threading.Condition()
        self._closed = False

    def append(self, process_io: ProcessIO) -> None:
        """Record a piece and tell those who wait."""
        with self.io_event:
            super().append(process_io)
            self.io_event.notify_all()

    def close(self) -> None:
        """Let nobody wait any more: there is nothing to come."""
        with self.io_event:
            self._closed = True
            self.io_event.notify_all()

    def waitFor(
        self,
        expected_output: Any,
        process: ExecuteProcess | str | None = None,
        cmd_args: Any = None,
        *,
        strict_proc_matching: bool = True,
        output_filter: Any = None,
        timeout: float = 10,
        strip_ansi_escape_sequences: bool = True,
        stream: str = "stderr",
    ) -> bool:
        """Wait until output is there.

        Args:
            expected_output: A text, a compiled pattern, or a list of them that come in order.
            process: Whose output; see launch_testing.util.resolveProcesses.
            cmd_args: See there.
            strict_proc_matching: See there.
            output_filter: A function from the text so far to the text that is searched.
            timeout: At most [s].
            strip_ansi_escape_sequences: Whether colours are taken out first.
            stream: 'stdout' or 'stderr', the default, where ROS nodes log.

        Returns:
            Whether it came in time.
        """

        def has_come() -> bool:
            try:
                processes = resolveProcesses(
                    self,
                    process=process,
                    cmd_args=cmd_args,
                    strict_proc_matching=strict_proc_matching,
                )
            except NoMatchingProcessException:
                return False
            texts = [
                output_of(
                    self,
                    one,
                    stream,
                    output_filter=output_filter,
                    strip_ansi_escape_sequences=strip_ansi_escape_sequences,
                )
                for one in processes
            ]
            return any(find(expected_output, text) >= 0 for text in texts)

        with self.io_event:
            self.io_event.wait_for(lambda: self._closed or has_come(), timeout)
            return has_come()

    def assertWaitFor(
        self,
        expected_output: Any,
        process: ExecuteProcess | str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Wait until output is there; see `waitFor`.

        Raises:
            AssertionError: It did not come in time; the message shows what came.
        """
        __tracebackhide__ = True
        if self.waitFor(expected_output, process, *args, **kwargs):
            return
        stream = kwargs.get("stream", "stderr")
        came = [
            f"  {stream} of {one.name}:\n{last_lines(output_of(self, one, stream))}"
            for one in self.processes()
            if process is None
            or process is one
            or (isinstance(process, str) and process in str(one.name))
        ]
        raise AssertionError(
            f"Waiting for output timed out: {expected_output!r} was not on {stream} after "
            f"{kwargs.get('timeout', 10)} s. What came:\n" + ("\n".join(came) or "  nothing")
        )

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

"""The output of processes, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from launch.actions import ExecuteProcess
from launch.events.process import ProcessIO

from .util import Waiting, find, output_of, resolveProcesses, show


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
        """Return the pieces of a process, given by action or full name.

        Raises:
            KeyError: Nothing has been recorded of it.
        """
        found = [piece for piece in list(self._pieces) if key in (piece.action, piece.process_name)]
        if not found:
            raise KeyError(key)
        return found


class ActiveIoHandler(Waiting, IoHandler):
    """Output that is still coming and can be waited for."""

    def waitFor(
        self,
        expected_output: Any,
        process: ExecuteProcess | str | None = None,
        cmd_args: Any = None,
        *,
        timeout: float = 10,
        stream: str = "stderr",
        **matching: Any,
    ) -> bool:
        """Wait until output is there.

        Args:
            expected_output: A text, a compiled pattern, or a list of them that come in order.
            process: Whose output; any by default.
            cmd_args: See launch_testing.util.resolveProcesses.
            timeout: At most [s].
            stream: 'stdout' or 'stderr', the default, where ROS nodes log.
            matching: Further arguments of launch_testing.util.output_of.

        Returns:
            Whether it came in time.

        Raises:
            NoMatchingProcessException: It did not, and there is no such process, or it was silent.
        """

        def has_come() -> bool:
            texts = output_of(self, stream, process, cmd_args, **matching)
            return any(find(expected_output, text) >= 0 for text in texts.values())

        if self._wait(has_come, timeout):
            return True
        resolveProcesses(self, process=process, cmd_args=cmd_args, strict_proc_matching=False)
        return False

    def assertWaitFor(self, expected_output: Any, *args: Any, **kwargs: Any) -> None:
        """Wait until output is there; see `waitFor`.

        Raises:
            AssertionError: It did not come in time; the message shows what came.
            NoMatchingProcessException: There is no such process, or it was silent.
        """
        __tracebackhide__ = True
        if not self.waitFor(expected_output, *args, **kwargs):
            stream = kwargs.get("stream", "stderr")
            came = show(output_of(self, stream), stream)
            raise AssertionError(
                f"Waiting for output timed out: {expected_output!r} was not on {stream} after "
                f"{kwargs.get('timeout', 10)} s. What came:\n{came}"
            )

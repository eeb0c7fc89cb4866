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

"""Assertions on the exit codes and the output of processes."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

from launch.events.process import ProcessExited

from .util import (
    NO_CMD_ARGS,
    NoMatchingProcessException,
    find,
    output_of,
    resolveProcesses,
    show,
)

__all__ = [
    "EXIT_OK",
    "EXIT_SIGINT",
    "EXIT_SIGKILL",
    "EXIT_SIGQUIT",
    "EXIT_SIGSEGV",
    "NO_CMD_ARGS",
    "NoMatchingProcessException",
    "assertExitCodes",
    "assertInStderr",
    "assertInStdout",
    "assertInStream",
    "assertSequentialStdout",
]

EXIT_OK = 0
EXIT_SIGINT = 130
EXIT_SIGQUIT = 131
EXIT_SIGKILL = 137
EXIT_SIGSEGV = 139


def assertExitCodes(
    proc_info: Any,
    allowable_exit_codes: Collection[int] = (EXIT_OK,),
    process: Any = None,
    cmd_args: Any = None,
    *,
    strict_proc_matching: bool = True,
) -> None:
    """Assert that processes, all by default, exited with one of some codes.

    The code of a process that died of a signal is the negative number of the signal.

    Raises:
        AssertionError: One did not, or one of the codes is no int.
    """
    __tracebackhide__ = True
    for code in allowable_exit_codes:
        assert isinstance(code, int), f"provided exit code {code!r} is not an int"
    for one in resolveProcesses(
        proc_info, process=process, cmd_args=cmd_args, strict_proc_matching=strict_proc_matching
    ):
        info = proc_info[one]
        if not isinstance(info, ProcessExited):
            raise AssertionError(f"Proc {info.process_name} is still running")
        if info.returncode not in allowable_exit_codes:
            raise AssertionError(
                f"Proc {info.process_name} exited with code {info.returncode}, which is not in "
                f"{allowable_exit_codes}; its command was: {' '.join(info.cmd)}"
            )


def assertInStream(
    proc_output: Any,
    expected_output: Any,
    process: Any,
    cmd_args: Any = None,
    *,
    stream: str = "stderr",
    **matching: Any,
) -> None:
    """Assert that a process has written something; for the arguments see `waitFor`.

    Raises:
        AssertionError: It has not; the message shows what it has written.
    """
    __tracebackhide__ = True
    texts = output_of(proc_output, stream, process, cmd_args, **matching)
    if not any(find(expected_output, text) >= 0 for text in texts.values()):
        raise AssertionError(
            f"Did not find {expected_output!r} in what the processes wrote:\n{show(texts, stream)}"
        )


def assertInStdout(proc_output: Any, expected_output: Any, *args: Any, **kwargs: Any) -> None:
    """Assert that a process has written something to stdout; see `assertInStream`."""
    __tracebackhide__ = True
    assertInStream(proc_output, expected_output, *args, stream="stdout", **kwargs)


def assertInStderr(proc_output: Any, expected_output: Any, *args: Any, **kwargs: Any) -> None:
    """Assert that a process has written something to stderr; see `assertInStream`."""
    __tracebackhide__ = True
    assertInStream(proc_output, expected_output, *args, stream="stderr", **kwargs)


class SequentialTextChecker:
    """Asserts that texts come in an order."""

    def __init__(self, text: str) -> None:
        self._text, self._position = text, 0

    def assertInText(self, msg: str) -> None:
        """Assert that `msg` comes after what has been asserted before.

        Raises:
            AssertionError: It does not.
            TypeError: It is no text; a pattern, for instance.
        """
        __tracebackhide__ = True
        if not isinstance(msg, str):
            raise TypeError(f"a text is needed, not {msg!r}")
        end = find(msg, self._text, self._position)
        if end < 0:
            rest = self._text[self._position :]
            raise AssertionError(f"{msg!r} not found in what follows:\n{rest}")
        self._position = end

    def assertInStdout(self, msg: str) -> None:
        """Assert the same; the text is that of stdout."""
        __tracebackhide__ = True
        self.assertInText(msg)


@contextlib.contextmanager
def assertSequentialStdout(
    proc_output: Any, process: Any, cmd_args: Any = None
) -> Iterator[SequentialTextChecker]:
    """Yield what asserts that texts come in an order on the stdout of one process."""
    (text,) = output_of(proc_output, "stdout", process, cmd_args).values()
    yield SequentialTextChecker(text)

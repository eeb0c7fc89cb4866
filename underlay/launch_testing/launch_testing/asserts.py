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

from launch.events.process import ProcessExited

from .records import ProcessInfo, ProcessOutput, describe, show


def assertExitCodes(proc_info: ProcessInfo) -> None:
    """Assert that all processes have exited with 0.

    The code of a process that died of a signal is the negative number of the signal.
    """
    __tracebackhide__ = True
    events = list(proc_info)
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

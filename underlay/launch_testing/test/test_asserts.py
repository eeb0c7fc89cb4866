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

from __future__ import annotations

import re

import pytest
from launch.actions import ExecuteProcess
from launch.events.process import ProcessExited, ProcessIO, ProcessStarted
from launch_testing import (
    ActiveIoHandler,
    ActiveProcInfoHandler,
    IoHandler,
    ProcInfoHandler,
    parametrize,
)
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import (
    NO_CMD_ARGS,
    NoMatchingProcessException,
    assertExitCodes,
    assertInStderr,
    assertInStdout,
    assertSequentialStdout,
)
from launch_testing.util import _SeveralProcessesError, resolveProcesses


class Process(ExecuteProcess):
    """One that has been started under a name."""

    def __init__(self, name, *arguments):
        super().__init__(cmd=["exe", *arguments])
        cmd = ["exe", *arguments]
        self.details = {"name": name, "cmd": cmd, "cwd": None, "env": {}, "pid": 1}

    @property
    def name(self):
        return self.details["name"]

    @property
    def process_details(self):
        return self.details


A, B = Process("arm-1", "--side", "left"), Process("arm-2")


@pytest.fixture
def output():
    handler = IoHandler()
    for action, fd, text in [
        (A, 1, b"one\ntw"),
        (A, 2, b"\x1b[32mgreen\x1b[0m\n"),
        (A, 1, b"o\nthree\n"),
        (B, 1, b"other\n"),
    ]:
        handler.append(ProcessIO(action=action, text=text, fd=fd, **action.process_details))
    return handler


@pytest.fixture
def info():
    handler = ProcInfoHandler()
    handler.append(ProcessExited(action=A, returncode=0, **A.process_details))
    handler.append(ProcessStarted(action=B, **B.process_details))
    return handler


def test_output_is_found_across_pieces(output):
    assertInStdout(output, "two", A)
    assertInStdout(output, re.compile("t.o$", re.MULTILINE), "arm-1")
    assertInStdout(output, ["one", re.compile("t+"), "three"], A)
    assertInStdout(output, "other", None)
    assertInStderr(output, "green\n", A)
    assertInStderr(output, "\x1b[32mgreen", A, strip_ansi_escape_sequences=False)
    assertInStdout(output, "TWO", A, output_filter=str.upper)
    with pytest.raises(
        AssertionError, match=r"(?s)Did not find 'four' in .*arm-1 wrote to stdout:.*three"
    ):
        assertInStdout(output, "four", A)
    with pytest.raises(AssertionError, match="Did not find"):
        assertInStdout(output, ["two", "one"], A)
    with pytest.raises(AssertionError, match="Did not find 'green' in"):
        assertInStdout(output, "green", A)
    with pytest.raises(AssertionError, match="Did not find 'other'"):
        assertInStdout(output, "other", A)


def test_output_in_sequence(output):
    with assertSequentialStdout(output, A) as sequence:
        sequence.assertInStdout("one")
        sequence.assertInStdout("three")
        with pytest.raises(AssertionError, match="'two' not found"):
            sequence.assertInStdout("two")
        with pytest.raises(TypeError, match=r"a text is needed, not re\.compile"):
            sequence.assertInText(re.compile("one"))


def test_processes_are_found_by_name_and_arguments(output):
    assert resolveProcesses(output) == [A, B]
    assert resolveProcesses(output, process="arm-2") == [B]
    assert resolveProcesses(output, process="arm", cmd_args=["left", "--side"]) == [A]
    assert resolveProcesses(output, process="arm", cmd_args="left") == [A]
    assert resolveProcesses(output, process="arm", cmd_args=NO_CMD_ARGS) == [B]
    assert resolveProcesses(output, process="arm", strict_proc_matching=False) == [A, B]
    with pytest.raises(_SeveralProcessesError, match="several processes match name 'arm'"):
        resolveProcesses(output, process="arm")
    with pytest.raises(_SeveralProcessesError, match="several processes match name ''"):
        resolveProcesses(output, process="")
    with pytest.raises(NoMatchingProcessException, match="no process matches"):
        resolveProcesses(output, process="arm", cmd_args="lef")  # whole arguments count
    with pytest.raises(TypeError, match="must be an ExecuteProcess or a text, not 5"):
        resolveProcesses(output, process=5)
    with pytest.raises(NoMatchingProcessException, match=r"no process matches name 'leg'.*arm-1"):
        resolveProcesses(output, process="leg")
    with pytest.raises(NoMatchingProcessException, match="nothing has been recorded of"):
        resolveProcesses(output, process=Process("leg-3"))
    with pytest.raises(NoMatchingProcessException, match="no process has been recorded"):
        resolveProcesses(IoHandler())


def test_handlers_are_like_dicts(output, info):
    assert [io.text for io in output[B]] == [b"other\n"]
    assert output["arm-2"] == output[B]
    assert output.process_names() == info.process_names() == ["arm-1", "arm-2"]
    assert info[A].returncode == info["arm-1"].returncode == 0
    assert info["arm"].action is A
    for handler, key in [(output, "arm"), (output, Process("leg")), (info, "leg")]:
        with pytest.raises(KeyError):
            handler[key]
    with pytest.raises(KeyError):
        info[Process("leg")]
    assert len(list(output)) == 4
    assert [event.action for event in info] == [A, B]


def test_exit_codes(info):
    assertExitCodes(info, process=A)
    assertExitCodes(info, [0, 1], "arm-1")
    with pytest.raises(AssertionError, match="Proc arm-1 exited with code 0, which is not in"):
        assertExitCodes(info, [1], A)
    with pytest.raises(AssertionError, match="provided exit code '0' is not an int"):
        assertExitCodes(info, ["0"], A)
    with pytest.raises(AssertionError, match="Proc arm-2 is still running"):
        assertExitCodes(info)


def test_waiting_ends_when_there_is_nothing_to_come():
    output, info = ActiveIoHandler(), ActiveProcInfoHandler()
    output.close()
    info.close()
    with pytest.raises(NoMatchingProcessException, match="no process has been recorded"):
        output.waitFor("x", timeout=600)
    output.append(ProcessIO(action=A, text=b"y", fd=2, **A.process_details))
    assert not output.waitFor("x", timeout=600)
    with pytest.raises(NoMatchingProcessException, match="no process matches name 'leg'"):
        output.waitFor("x", "leg", timeout=600)
    for wait in (info.assertWaitForStartup, info.assertWaitForShutdown):
        with pytest.raises(AssertionError, match=r"waiting for process 'x' to .*there are: none"):
            wait("x", timeout=600)


def test_waiting_for_an_unknown_stream_is_an_error():
    output = ActiveIoHandler()
    output.append(ProcessIO(action=A, text=b"x", fd=1, **A.process_details))
    with pytest.raises(ValueError, match="stream must be 'stdout' or 'stderr', not 'out'"):
        output.waitFor("x", stream="out")
    with pytest.raises(ValueError, match="output_filter must be a function, not 5"):
        output.waitFor("x", output_filter=5)
    with pytest.raises(TypeError, match="no_such_option"):
        output.waitFor("x", no_such_option=1)


def test_parameters_that_do_not_fit_their_names():
    with pytest.raises(ValueError, match=r"3 values \(1, 2, 3\) for the names \['a', 'b'\]"):
        parametrize("a, b", [(1, 2), (1, 2, 3)])
    with pytest.raises(ValueError, match=r"1 values \(\[1, 2\],\) for the names \['a', 'b'\]"):
        parametrize("a, b", [[1, 2]])
    with pytest.raises(ValueError, match=r"2 values \(1, 2\) for the names \['a'\]"):
        parametrize("a", [(1, 2)])
    with pytest.raises(TypeError, match="the names must be a text"):
        parametrize(["a", "b"], [(1, 2)])


def test_the_tests_begin_on_no_condition():
    with pytest.raises(TypeError, match="condition"):
        ReadyToTest(condition=None)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("launch_testing", "tools"),
        ("launch_testing.actions", "GTest"),
        ("launch_testing.markers", "retry_on_failure"),
    ],
)
def test_what_only_upstream_has_is_named(module, name):
    message = rf"{module}\.{name} is part of upstream launch_testing, but not of this underlay"
    with pytest.raises(ImportError, match=message):
        exec(f"from {module} import {name}")


def test_keys_are_actions():
    action = ExecuteProcess(cmd=["true"])
    assert {action: 1}[action] == 1

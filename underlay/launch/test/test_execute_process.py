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
import signal
from pathlib import Path

import pytest
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    GroupAction,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events import matches_action
from launch.events.process import ShutdownProcess, SignalProcess
from launch.logging import launch_config
from launch.substitutions import TextSubstitution

STUBBORN = "trap 'echo no' INT TERM; echo ready; while :; do sleep 0.05; done"


def shell(script, **arguments):
    return ExecuteProcess(
        cmd=["/bin/sh", "-c", script], **{"output": "screen", "name": "it", **arguments}
    )


def test_a_clean_process_is_reported_as_users_know_it(run):
    code, out = run(shell("echo out; echo err >&2"))
    assert code == 0
    (pid,) = re.findall(r"\[INFO\] \[it-1\]: process started with pid \[(\d+)\]\n", out)
    assert "\n[it-1] out\n" in out
    assert "\n[it-1] err\n" in out
    assert f"[INFO] [it-1]: process has finished cleanly [pid {pid}]\n" in out


def test_a_failing_process_is_an_error_but_no_failure_of_the_launch(run):
    code, out = run(shell("exit 3"))
    assert code == 0
    expected = (
        r"\[ERROR\] \[it-1\]: process has died \[pid \d+, exit code 3, cmd '/bin/sh -c exit 3'\]\."
    )
    assert re.search(expected, out)


def test_a_missing_executable_is_one_line(run):
    code, out = run(ExecuteProcess(cmd=["no-such-executable"]))
    assert code == 0
    assert "[ERROR] [no-such-executable-1]: exception occurred while executing process:" in out
    assert "Traceback" not in out


def test_a_last_line_without_newline_is_shown(run):
    _, out = run(shell("printf unfinished"))
    assert "[it-1] unfinished\n" in out


@pytest.mark.parametrize(
    ("output", "on_screen", "in_file"),
    [
        ("screen", {"out", "err"}, set()),
        ("log", {"err"}, {"out", "err"}),
        ("both", {"out", "err"}, {"out", "err"}),
    ],
)
def test_output_goes_where_it_is_told(run, monkeypatch, tmp_path, output, on_screen, in_file):
    monkeypatch.setattr(launch_config, "_log_dir", None)
    monkeypatch.setattr(launch_config, "_loggers", {})
    _, out = run(shell("echo out; echo err >&2", output=output))
    assert {text for text in ("out", "err") if f"[it-1] {text}\n" in out} == on_screen
    (log,) = {file.resolve() for file in tmp_path.glob("log/*/launch.log")}
    assert log.parent == (tmp_path / "log" / "latest").resolve()
    assert {text for text in ("out", "err") if f"[it-1] {text}\n" in log.read_text()} == in_file


def test_an_unknown_output_is_refused(run):
    code, out = run(shell("true", output="paper"))
    assert code == 1
    assert 'paper is not a valid standard output config i.e. "screen", "log" or "both"' in out


def test_environment_and_directory(run, tmp_path):
    script = 'echo "[$A][$B][${HOME:+home}]"; pwd'
    _, out = run(
        SetEnvironmentVariable("A", "1"),
        shell(script, additional_env={"B": [TextSubstitution(text="2"), "3"]}, cwd=str(tmp_path)),
        shell(script, env={"B": "4"}, name="bare"),
        GroupAction([SetEnvironmentVariable("A", "5"), shell(script, name="group")]),
        shell(script, name="after"),
    )
    assert "[it-1] [1][23][home]\n" in out
    assert f"[it-1] {tmp_path}\n" in out
    assert "[bare-2] [][4][]\n" in out
    assert "[group-3] [5][][home]\n" in out
    assert "[after-4] [1][][home]\n" in out


def test_shell_joins_the_command(run):
    _, out = run(ExecuteProcess(cmd=["echo $((1 +", "2))"], shell=True, output="screen"))
    assert "[echo-1] 3\n" in out


def test_emulated_terminal(run):
    script = "test -t 1 && test -t 2 && echo terminal; echo err >&2"
    _, out = run(shell(script, emulate_tty=True), shell(script))
    assert "[it-1] terminal\n" in out
    assert "[it-1] err\n" in out
    assert "[it-2] terminal" not in out


def test_respawn_until_shutdown(run, tmp_path):
    script = f"echo x >> {tmp_path}/starts"
    enough = TimerAction(period=0.5, actions=[Shutdown()])
    _, out = run(shell(script, respawn=True, respawn_delay=0.1), enough)
    starts = len(Path(tmp_path, "starts").read_text().split())
    assert starts >= 2
    assert out.count("process started with pid") == starts
    assert "it-2" not in out  # it stays the same process to the user


def test_events_of_a_process_come_in_order_and_carry_its_details(run):
    seen = []
    process = shell("echo text")
    other = shell("sleep 0.1", name="other")
    run(
        RegisterEventHandler(
            OnProcessStart(target_action=process, on_start=lambda e, c: seen.append(e))
        ),
        RegisterEventHandler(OnProcessIO(target_action=process, on_stdout=seen.append)),
        RegisterEventHandler(
            OnProcessExit(target_action=process, on_exit=lambda e, c: seen.append(e))
        ),
        process,
        other,
    )
    started, io, exited = seen
    assert (io.text, io.from_stdout, io.from_stderr) == (b"text\n", True, False)
    assert exited.returncode == process.return_code == 0
    for event in seen:
        assert event.action is process
        assert event.process_name == "it-1" == process.process_details["name"]
        assert event.pid == started.pid == process.process_details["pid"]
        assert event.cmd == ["/bin/sh", "-c", "echo text"]


def test_on_exit_shutdown_ends_the_others(run):
    code, out = run(shell("true", on_exit=Shutdown(reason="done")), shell("exec sleep 60"))
    assert code == 0
    assert "[it-1]: process[it-1] was required: shutting down launched system" in out
    assert "[INFO] [it-2]: sending signal 'SIGINT' to process[it-2]" in out
    assert "exit code -2, cmd '/bin/sh -c exec sleep 60'" in out


def test_on_exit_function_sees_the_exit_code(run):
    seen = []
    run(shell("exit 7", on_exit=lambda event, context: seen.append(event.returncode)))
    assert seen == [7]


def test_escalation_from_sigint_to_sigterm_to_sigkill(run):
    process = shell(STUBBORN, sigterm_timeout="0.3", sigkill_timeout="0.3")
    ready = OnProcessIO(target_action=process, on_stdout=shutdown_when_ready)
    code, out = run(RegisterEventHandler(ready), process)
    assert code == 0
    names = re.findall(r"sending signal '(\w+)' to process\[it-1\]", out)
    assert names == ["SIGINT", "SIGTERM", "SIGKILL"]
    assert "'0.3' seconds after receiving 'SIGINT', escalating to 'SIGTERM'" in out
    assert process.return_code == -signal.SIGKILL


def shutdown_when_ready(event):
    return Shutdown() if b"ready" in event.text else None


def test_timeouts_can_be_launch_configurations(run):
    process = shell(STUBBORN)
    ready = OnProcessIO(target_action=process, on_stdout=shutdown_when_ready)
    configurations = [
        SetLaunchConfiguration(f"{name}_timeout", "0.1") for name in ("sigterm", "sigkill")
    ]
    run(*configurations, RegisterEventHandler(ready), process)
    assert process.return_code == -signal.SIGKILL


def test_one_process_can_be_signalled_and_shut_down(run):
    process = shell("trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done", respawn=True)
    other = shell("sleep 0.5; echo unharmed", name="other")

    def on_output(event):
        if b"ready" in event.text:
            event = SignalProcess(signal_number="SIGUSR1", process_matcher=matches_action(process))
        else:
            event = ShutdownProcess(process_matcher=matches_action(process))
        return EmitEvent(event=event)

    io = OnProcessIO(target_action=process, on_stdout=on_output)
    code, out = run(RegisterEventHandler(io), process, other)
    assert code == 0
    assert "[it-1] usr1\n" in out
    assert process.return_code == -signal.SIGINT
    assert out.count("[it-1]: process started") == 1
    assert "[other-2] unharmed\n" in out


def test_shutdown_while_a_process_is_being_started_still_ends_it(run):
    code, out = run(shell("exec sleep 60"), OpaqueFunction(function=lambda context: [Shutdown()]))
    assert code == 0
    assert "sending signal 'SIGINT' to process[it-1]" in out


def test_output_held_open_by_a_grandchild_does_not_keep_the_launch(run):
    code, out = run(shell("sleep 5 & echo parent"))
    assert code == 0
    assert "[it-1] parent\n" in out


def test_the_same_action_cannot_be_executed_twice(run):
    process = shell("true")
    code, out = run(process, process)
    assert code == 1
    assert "process 'it-1' cannot be executed more than once" in out


def test_arguments_that_only_upstream_has_are_named():
    with pytest.raises(
        NotImplementedError, match=r"ExecuteProcess\(prefix=\.\.\.\) is part of upstream"
    ):
        ExecuteProcess(cmd=["true"], prefix="gdb")
    with pytest.raises(TypeError, match="unexpected keyword argument 'prefx'"):
        ExecuteProcess(cmd=["true"], prefx="gdb")


@pytest.mark.parametrize(("value", "is_terminal"), [("true", True), ("0", False)])
def test_the_launch_configuration_emulate_tty_overrides(run, value, is_terminal):
    _, out = run(
        SetLaunchConfiguration("emulate_tty", value),
        shell("test -t 1 && echo terminal", emulate_tty=not is_terminal),
    )
    assert ("[it-1] terminal" in out) is is_terminal


def test_the_launch_configuration_emulate_tty_must_be_a_truth_value(run):
    code, out = run(SetLaunchConfiguration("emulate_tty", "perhaps"), shell("echo started"))
    assert code == 1
    assert "invalid condition expression" in out
    assert "[it-1] started" not in out


def test_a_prefix_from_outside_is_refused_by_name(run):
    code, out = run(SetLaunchConfiguration("launch-prefix", "gdb"), shell("echo started"))
    assert code == 1
    assert "'launch-prefix' is part of upstream launch, but not of this underlay" in out


@pytest.mark.parametrize(
    "arguments",
    [
        {"cmd": ["sleep", 1]},
        {"name": 1},
        {"cwd": 1},
        {"env": {"A": 1}},
        {"additional_env": {1: "A"}},
        {"sigterm_timeout": 5},
        {"sigkill_timeout": 5},
        {"respawn": "true"},
        {"respawn": 1},
    ],
)
def test_what_upstream_refuses_is_refused_when_it_is_made(arguments):
    with pytest.raises(TypeError):
        ExecuteProcess(**{"cmd": ["true"], **arguments})

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Processes: their output, their events, and how they end."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from launch import execute_process
from launch.actions import ExecuteProcess, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart

WAIT = "trap 'echo told; exit 0' INT; echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done"


END = Shutdown(reason="it is over")


def on_ready(*entities):
    """Visit entities when a process has said that it is ready."""

    def answer(piece):
        return list(entities) if b"ready" in piece.text else None

    return RegisterEventHandler(OnProcessIO(on_stdout=answer, on_stderr=answer))


def test_a_process_is_reported_from_start_to_end(run, shell):
    code, out = run(shell("echo out; printf err >&2"))
    assert code == 0
    (pid,) = re.findall(r"\[INFO\] \[sh-1\]: process started with pid \[(\d+)\]\n", out)
    assert "\n[sh-1] out\n" in out
    assert "\n[sh-1] err\n" in out
    assert f"[INFO] [sh-1]: process has finished cleanly [pid {pid}]\n" in out


def test_a_missing_executable_is_one_line(run):
    code, out = run(ExecuteProcess(cmd=["no-such-executable"]))
    assert code == 0
    assert "[ERROR] [no-such-executable-1]: exception occurred while executing process:" in out


def test_output_to_the_log_shows_errors_too(run, shell, tmp_path):
    _, out = run(shell("echo out; echo err >&2", output="log"))
    (log,) = tmp_path.glob("log/*/launch.log")
    assert {text for text in ("out", "err") if f"[sh-1] {text}\n" in log.read_text()} == {
        "out",
        "err",
    }
    assert "[sh-1] err\n" in out
    assert "[sh-1] out\n" not in out


def test_another_output_is_refused(shell):
    with pytest.raises(ValueError, match="output must be 'screen' or 'log' here, not 'both'"):
        shell("true", output="both")


def test_events_carry_the_details_and_handlers_may_be_of_one_process(run, shell):
    starts, exits, process = [], [], shell("exit 4")
    handlers = (
        OnProcessStart(on_start=lambda event, _: starts.append(event)),
        OnProcessExit(target_action=process, on_exit=lambda event, _: exits.append(event)),
    )
    code, out = run(*map(RegisterEventHandler, handlers), process, shell("sleep 0.1"))
    assert code == 0  # that a process fails is an error, but no failure of the launch
    assert re.search(r"process has died \[pid \d+, exit code 4, cmd '/bin/sh -c exit 4'\]", out)
    assert [event.process_name for event in starts] == ["sh-1", "sh-2"]
    assert [event.returncode for event in exits] == [4]
    for event in (starts[0], *exits):
        assert (event.process_name, event.pid) == ("sh-1", starts[0].pid)
        assert event.cmd == ["/bin/sh", "-c", "exit 4"]


def test_what_is_no_action_is_refused_as_a_target():
    with pytest.raises(TypeError, match="target_action must be an action here, not <function"):
        OnProcessExit(target_action=lambda action: True, on_exit=[])


def test_the_end_of_a_required_process_ends_the_others(run, shell):
    code, out = run(
        shell(WAIT, on_exit=[shell("echo late")]),
        on_ready(shell("true", on_exit=Shutdown(reason="it was needed"))),
    )
    assert code == 0
    assert "late" not in out  # nothing is started after shutdown
    assert "process[sh-2] was required: shutting down launched system" in out
    assert "[sh-1] told\n" in out


def test_a_process_is_told_once_to_end(run, shell):
    """A second SIGINT, such as for the end of each required process, may hit it at its exit."""
    script = "trap 'echo told; sleep 0.5; exit 0' INT; echo ready; while :; do sleep 0.05; done"
    _, out = run(shell(script), on_ready(END, END))
    assert out.count("sending signal 'SIGINT'") == 1


def test_who_does_not_end_is_killed(run, shell, monkeypatch):
    escalation = [(0.1, signal.SIGTERM, "SIGINT"), (0.2, signal.SIGKILL, "SIGTERM")]
    monkeypatch.setattr(execute_process, "_ESCALATION", escalation)
    _, out = run(shell(STUBBORN), on_ready(END))
    for number in ("SIGINT", "SIGTERM", "SIGKILL"):
        assert f"sending signal '{number}' to process[sh-1]" in out
    assert "failed to terminate after 'SIGTERM', escalating to 'SIGKILL'" in out
    assert "exit code -9" in out


def test_a_grandchild_that_keeps_the_output_open_holds_nobody_up(run, shell):
    code, out = run(shell("sleep 30 & echo $!"))
    assert code == 0
    (pid,) = re.findall(r"\[sh-1\] (\d+)\n", out)
    assert "sleep" in Path(f"/proc/{pid}/cmdline").read_text()  # it is still there, and no zombie
    os.kill(int(pid), signal.SIGKILL)


def test_respawn_until_shutdown(run, shell):
    count = []

    def on_exit(event, context):
        count.append(event)
        return END if len(count) == 3 else None

    _, out = run(shell("true", respawn="true", respawn_delay=0.01, on_exit=on_exit))
    assert out.count("[sh-1]: process started with pid") == 3


def test_an_exception_ends_the_launch_and_its_processes(run, shell):
    def fail(context):
        raise RuntimeError("the tour failed")

    code, out = run(shell(WAIT), on_ready(OpaqueFunction(function=fail)))
    assert code == 1
    assert "[ERROR] [launch]: Caught exception in launch: the tour failed\n" in out
    assert "[sh-1] told\n" in out


LAUNCH = f"""
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import ExecuteProcess
service = LaunchService(noninteractive=sys.argv[1] == "True")
process = ExecuteProcess(cmd=["/bin/sh", "-c", {WAIT!r}], output="screen")
service.include_launch_description(LaunchDescription([process]))
sys.exit(service.run())
"""


@pytest.mark.parametrize(
    ("number", "noninteractive", "is_told"),
    [
        (signal.SIGINT, True, True),
        (signal.SIGTERM, False, True),
        (signal.SIGINT, False, False),  # at a terminal, ctrl-c reaches the process by itself
    ],
)
def test_a_signal_ends_the_launch(tmp_path, number, noninteractive, is_told):
    launch = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(noninteractive)], stdout=subprocess.PIPE, text=True
    )
    for line in launch.stdout:
        if "ready" in line:
            break
    for _ in range(3):  # impatience changes nothing
        launch.send_signal(number)
    if not is_told:
        (child,) = Path(f"/proc/{launch.pid}/task/{launch.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGINT)
    out, _ = launch.communicate(timeout=30)
    assert launch.returncode == 0
    assert "[sh-1] told\n" in out
    assert ("sending signal 'SIGINT'" in out) == is_told

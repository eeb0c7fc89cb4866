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

import os
import signal
import threading
import time

import pytest
from launch import LaunchDescription, LaunchService
from launch.actions import (
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnShutdown

SLEEPER = """
    from launch import LaunchDescription
    from launch.actions import ExecuteProcess

    def generate_launch_description():
        script = "echo pid $$; exec sleep 60"
        process = ExecuteProcess(cmd=["/bin/sh", "-c", script], name="it", output="screen")
        return LaunchDescription([process])
"""


def child_pid(launched):
    launched.wait_for("[it-1] pid ")
    return int(launched.output.rpartition("[it-1] pid ")[2].split()[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_launch_and_its_processes(launch_file, assert_ends, number):
    launched = launch_file(SLEEPER)
    pid = child_pid(launched)
    launched.send(number)
    code, out, err = launched.finish()
    assert (code, err) == (0, "")
    assert number.name in out
    assert "sending signal 'SIGINT' to process[it-1]" in out
    assert_ends(pid)


def test_processes_share_the_process_group_so_that_ctrl_c_reaches_them(launch_file):
    launched = launch_file(SLEEPER)
    assert os.getpgid(child_pid(launched)) == os.getpgid(launched.process.pid)


def test_interactively_sigint_is_left_to_the_terminal(capsys):
    process = ExecuteProcess(cmd=["sleep", "60"], sigterm_timeout="0.2")
    interrupt = OpaqueFunction(function=lambda context: os.kill(os.getpid(), signal.SIGINT))
    service = LaunchService(noninteractive=False)
    after_start = TimerAction(period=0.2, actions=[interrupt])
    service.include_launch_description(LaunchDescription([process, after_start]))
    assert service.run() == 0
    out = capsys.readouterr().out
    assert "[WARNING] [launch]: user interrupted with ctrl-c (SIGINT)" in out
    assert "sending signal 'SIGINT'" not in out
    assert process.return_code == -signal.SIGTERM


def test_signal_handlers_are_restored():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    LaunchService().run()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_it_runs_in_the_main_thread_alone():
    refused = []

    def run():
        with pytest.raises(RuntimeError, match="can only be run in the main thread") as error:
            LaunchService().run()
        refused.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert len(refused) == 1


def test_it_is_shut_down_from_another_thread():
    service = LaunchService(noninteractive=True)
    process = ExecuteProcess(cmd=["sleep", "60"])
    other = threading.Thread(target=service.shutdown)
    ready = OpaqueFunction(function=lambda context: other.start())
    service.include_launch_description(LaunchDescription([process, ready]))
    assert service.run() == 0
    assert process.return_code == -signal.SIGINT


def test_without_shutdown_when_idle_it_waits_for_more():
    service = LaunchService(noninteractive=True)
    done = threading.Event()

    def say_more():
        time.sleep(0.5)  # in which an idle service would have ended
        service.include_launch_description(
            LaunchDescription([OpaqueFunction(function=lambda context: done.set())])
        )
        done.wait(10)
        service.shutdown()

    other = threading.Thread(target=say_more)
    other.start()
    assert service.run(shutdown_when_idle=False) == 0
    other.join()
    assert done.is_set()


def test_an_exception_is_one_line_ends_everything_and_fails(run):
    process = ExecuteProcess(cmd=["sleep", "60"])
    code, out = run(process, OpaqueFunction(function=lambda context: 1 / 0), LogInfo(msg="never"))
    assert code == 1
    expected = (
        "[ERROR] [launch]: Caught exception in launch (see debug for traceback): division by zero"
    )
    assert out.count(expected) == 1
    assert "Traceback" not in out
    assert "never" not in out
    assert process.return_code == -signal.SIGINT


def test_the_traceback_is_there_on_debug(capsys):
    service = LaunchService(debug=True)
    service.include_launch_description(
        LaunchDescription([OpaqueFunction(function=lambda context: 1 / 0)])
    )
    assert service.run() == 1
    assert "Traceback" in capsys.readouterr().out


def test_an_exception_on_shutdown_does_not_keep_processes_alive(run):
    def fail(event, context):
        raise RuntimeError("no")

    process = ExecuteProcess(cmd=["sleep", "60"])
    end = TimerAction(period=0.2, actions=[OpaqueFunction(function=lambda context: 1 / 0)])
    code, _ = run(process, RegisterEventHandler(OnShutdown(on_shutdown=fail)), end)
    assert code == 1
    assert process.return_code == -signal.SIGINT


def test_a_shutdown_handler_knows_the_reason(run):
    reasons = []
    handler = OnShutdown(on_shutdown=lambda event, context: reasons.append(event.reason))
    run(RegisterEventHandler(handler))
    assert reasons == ["idle"]


def test_a_bad_choice_is_one_line(launch_file):
    text = """
        from launch import LaunchDescription
        from launch.actions import DeclareLaunchArgument

        def generate_launch_description():
            return LaunchDescription([DeclareLaunchArgument("robot", choices=["ur5e", "panda"])])
    """
    code, out, err = launch_file(text, "robot:=r2d2").finish()
    assert code == 1
    assert err == ""
    assert (
        '[ERROR] [launch]: Caught exception in launch (see debug for traceback): Argument "robot" '
        "provided value \"r2d2\" is not valid. Valid options are: ['ur5e', 'panda']\n" in out
    )
    code, out, _ = launch_file(text).finish()
    assert code == 1
    assert "missing required argument 'robot'" in out

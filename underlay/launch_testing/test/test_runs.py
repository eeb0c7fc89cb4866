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
import re

import pytest

LOOP = "trap 'echo bye; exit 0' INT; echo ready; echo warn >&2; while :; do sleep 0.05; done"


def pids(out):
    return [int(pid) for pid in re.findall(r"started with pid \[(\d+)\]", out)]


@pytest.fixture
def out(capsys):
    """What went to the screen; and, with it, that no process is left."""

    def read():
        text = capsys.readouterr().out
        for pid in pids(text):
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        return text

    return read


def test_active_and_post_shutdown_tests_get_what_they_ask_for(run, out):
    (result,) = run(
        f"""
        def generate_test_description():
            it = sh({LOOP!r})
            return LaunchDescription([it, ReadyToTest()]), dict(it=it, number=7)

        class TestActive(unittest.TestCase):
            @classmethod
            def setUpClass(cls, proc_output):
                proc_output.assertWaitFor("ready", stream="stdout", timeout=5)

            def setUp(self, number):
                self.seven = number

            def test_all(self, launch_service, proc_info, proc_output, it, number, test_args):
                assert (number, self.seven, test_args) == (7, 7, {{}})
                assert launch_service.context.asyncio_loop.is_running()
                proc_info.assertWaitForStartup(it, timeout=5)
                proc_output.assertWaitFor("warn", it, timeout=5)
                assert self.proc_info is proc_info
                assert it.return_code is None

            def test_nothing(self):
                pass

        @launch_testing.post_shutdown_test()
        class TestAfter(unittest.TestCase):
            def test_exit(self, proc_info, proc_output, it):
                assert it.return_code == 0
                assertExitCodes(proc_info)
                assertInStdout(proc_output, "bye", it)
        """
    )
    assert result.wasSuccessful(), result.report()
    assert result.tests_run == 3
    assert "[it-1] bye" not in out()  # output 'log': recorded, not shown


def test_failures_are_reported_test_by_test(run, out):
    (result,) = run(
        f"""
        def generate_test_description():
            return LaunchDescription([sh({LOOP!r}), ReadyToTest()])

        class TestActive(unittest.TestCase):
            def test_good(self):
                pass

            def test_bad(self, proc_output):
                proc_output.assertWaitFor("never", "it", timeout=0.5, stream="stdout")

            def test_worse(self, no_such_argument):
                pass

            def test_skipped(self):
                self.skipTest("not today")

        @launch_testing.post_shutdown_test()
        class TestAfter(unittest.TestCase):
            def test_exit(self, proc_info):
                assertExitCodes(proc_info, [3])
        """
    )
    out()
    assert not result.wasSuccessful()
    report = result.report()
    assert "FAILED f TestActive.test_bad\n" in report
    assert "Waiting for output timed out: 'never' was not on stdout after 0.5 s" in report
    assert "  it-1 wrote to stdout:\n    ready\n" in report
    assert "FAILED f TestActive.test_worse\n" in report
    assert "missing 1 required positional argument: 'no_such_argument'" in report
    assert "FAILED f TestAfter.test_exit\n" in report
    assert "Proc it-1 exited with code 0, which is not in [3]" in report
    assert "test_good" not in report
    assert "test_skipped" not in report


def test_a_process_that_dies_before_ready_is_the_failure(run, out):
    (result,) = run(
        """
        def generate_test_description():
            late = TimerAction(period=60.0, actions=[ReadyToTest()])
            return LaunchDescription([sh("echo no config >&2; exit 4", on_exit=Shutdown()), late])

        class TestActive(unittest.TestCase):
            def test_never(self):
                raise AssertionError("must not run")

        @launch_testing.post_shutdown_test()
        class TestAfter(TestActive):
            pass
        """
    )
    out()
    assert not result.wasSuccessful()
    assert result.tests_run == 0
    assert "Processes under test stopped before tests completed" in result.report()
    assert "it-1 exited with code 4; its command was: /bin/sh -c echo no" in result.report()
    assert "it-1 wrote to stderr:\n    no config" in result.report()


def test_processes_that_end_during_the_tests_end_the_waiting(run, out):
    (result,) = run(
        """
        def generate_test_description():
            return LaunchDescription([sh("sleep 0.3"), ReadyToTest()])

        class TestActive(unittest.TestCase):
            def test_wait(self, proc_output):
                proc_output.assertWaitFor("never", timeout=600)
        """
    )
    out()
    assert "Processes under test stopped before tests completed" in result.report()


@pytest.mark.parametrize(
    "alive", ["@launch_testing.markers.keep_alive", "KEEP = [launch_testing.util.KeepAliveProc()]"]
)
def test_keeping_a_launch_alive_after_its_processes(run, out, alive):
    (result,) = run(
        f"""
        import time
        KEEP = []
        {alive}
        def generate_test_description():
            it = sh("exit 2")
            return LaunchDescription([*KEEP, it, ReadyToTest()]), dict(it=it)

        class TestActive(unittest.TestCase):
            def test_wait(self, proc_info, it):
                proc_info.assertWaitForShutdown(it, timeout=5)
                assertExitCodes(proc_info, [2], it)
                time.sleep(0.3)

        @launch_testing.post_shutdown_test()
        class TestAfter(unittest.TestCase):
            def test_exit(self, proc_info):
                assertExitCodes(proc_info, [0, 2])
        """
    )
    out()
    assert result.wasSuccessful(), result.report()


def test_ready_in_time(run, out):
    (result,) = run(
        """
        @launch_testing.ready_to_test_action_timeout(0.5)
        def generate_test_description():
            late = TimerAction(period=60.0, actions=[ReadyToTest()])
            return LaunchDescription([sh("echo starting; exec sleep 60"), late])

        class TestActive(unittest.TestCase):
            def test_never(self):
                raise AssertionError("must not run")
        """
    )
    out()
    assert "Timed out after 0.5 s waiting for ReadyToTest" in result.report()
    assert "it-1 was still running" in result.report()
    assert "it-1 wrote to stdout:\n    starting" in result.report()


def test_a_launch_error_is_told(run, out):
    (result,) = run(
        """
        def generate_test_description():
            fail = OpaqueFunction(function=lambda context: 1 / 0)
            return LaunchDescription([sh("exec sleep 60"), fail, ReadyToTest()])
        """
    )
    assert not result.wasSuccessful()
    assert "launch failed, see its error above" in result.report()
    assert "[ERROR] [launch]: Caught exception in launch" in out()


def test_an_error_after_the_tests_is_told_too(run, out):
    (result,) = run(
        """
        from launch.event_handlers import OnShutdown

        def generate_test_description():
            fail = RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: 1 / 0))
            return LaunchDescription([sh("exec sleep 60"), fail, ReadyToTest()])
        """
    )
    assert result.report() == "f: launch failed, see its error above"
    assert "division by zero" in out()


def test_parameters_give_a_launch_each(run, out):
    results = run(
        """
        @launch_testing.parametrize("word, code", [("a", 1), ("b", 2)])
        def generate_test_description(word, code):
            it = sh(f"echo {word}; exit {code}")
            keep = launch_testing.util.KeepAliveProc()
            return LaunchDescription([it, keep, ReadyToTest()]), dict(it=it)

        class TestActive(unittest.TestCase):
            def test_word(self, proc_info, proc_output, it, word, code):
                proc_info.assertWaitForShutdown(it, timeout=5)
                assertInStdout(proc_output, word, it)
                assertExitCodes(proc_info, [code], it)
                assert word != "b", "no b please"
        """
    )
    out()
    good, bad = results
    assert good.wasSuccessful(), good.report()
    assert "FAILED f[word='b', code=2] TestActive.test_word" in bad.report()
    assert "no b please" in bad.report()


def test_launch_arguments_reach_the_launch_and_the_tests(run, out):
    (result,) = run(
        """
        def generate_test_description():
            words = ["echo ", LaunchConfiguration("given"), " ", LaunchConfiguration("default")]
            return LaunchDescription([
                DeclareLaunchArgument("given"),
                DeclareLaunchArgument("default", default_value="d"),
                ExecuteProcess(cmd=words, shell=True, name="it"),
                launch_testing.util.KeepAliveProc(),
                ReadyToTest(),
            ])

        class TestActive(unittest.TestCase):
            def test_words(self, proc_output, test_args):
                proc_output.assertWaitFor("g d", stream="stdout", timeout=5)
                assert test_args == {"given": "g", "default": "d"}
        """,
        ("given", "g"),
    )
    out()
    assert result.wasSuccessful(), result.report()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 7", "must return a LaunchDescription, alone or with a dict, not int"),
        ("return LaunchDescription([])", "containing a ReadyToTest action"),
    ],
)
def test_a_bad_description_is_refused(run, body, message):
    with pytest.raises((TypeError, RuntimeError), match=message):
        run(f"def generate_test_description(): {body}")


def test_ready_may_hide_in_groups_timers_and_handlers(run, out):
    (result,) = run(
        """
        from launch.event_handlers import OnProcessExit

        def generate_test_description():
            it = sh("true")
            ready = GroupAction([TimerAction(period=0.1, actions=[ReadyToTest()])])
            handler = RegisterEventHandler(OnProcessExit(target_action=it, on_exit=[ready]))
            return LaunchDescription([launch_testing.util.KeepAliveProc(), it, handler])

        class TestActive(unittest.TestCase):
            def test_ended(self, proc_info):
                assertExitCodes(proc_info, process="it")
        """
    )
    out()
    assert result.wasSuccessful(), result.report()
    assert result.tests_run == 1

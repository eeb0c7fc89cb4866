# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Launch tests as pytest runs them: what passes, and that nothing fails silently."""

import itertools
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import unittest
import launch_testing
from launch import LaunchDescription
from launch.actions import ExecuteProcess, OpaqueFunction
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes, assertInStdout
import pytest

WAIT = "trap 'exit 0' INT; echo ready; echo bad >&2; while :; do sleep 0.05; done"

def sh(script, *arguments):
    return ExecuteProcess(cmd=["/bin/sh", "-c", script, *arguments])

"""
GOOD = """
@pytest.mark.launch_test
@launch_testing.parametrize("word", ["one", "two"])
def generate_test_description(word):
    return LaunchDescription([sh(WAIT + " # " + word), sh(WAIT, "second"), ReadyToTest()])

class TestActive(unittest.TestCase):
    def test_output(self, proc_output, word):
        assert word in ("one", "two")
        proc_output.assertWaitFor("ready", "sh", "second", stream="stdout")
        proc_output.assertWaitFor("bad")
        for fault in ({"process": "bash"}, {"cmd_args": "third"}, {"stream": "stdout"}):
            with self.assertRaisesRegex(AssertionError, "'bad' did not come on std.*0.1 s"):
                proc_output.assertWaitFor("bad", timeout=0.1, **fault)

@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_processes(self, proc_info, proc_output):
        assertExitCodes(proc_info)
        assertInStdout(proc_output, "ready", "sh", "second")
        with self.assertRaisesRegex(AssertionError, "(?s)'steady' is not in .*: ready"):
            assertInStdout(proc_output, "steady")
"""


@pytest.fixture
def run(tmp_path):
    """Run a launch test by pytest; return its exit code and its output."""

    def run_text(text):
        (tmp_path / "test_some.py").write_text(HEAD + textwrap.dedent(text))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-s", "--rootdir", str(tmp_path), str(tmp_path)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run_text


def description(*entities):
    return f"""
@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([{", ".join(entities)}])

class TestActive(unittest.TestCase):
    def test_output(self, proc_output):
        proc_output.assertWaitFor("ready", timeout=30, stream="stdout")

@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_processes(self, proc_info):
        assertExitCodes(proc_info)
"""


def test_a_good_test_passes_once_for_each_parameter(run):
    code, out = run(GOOD)
    assert code == 0, out
    assert out.count("test_output (") == out.count("test_processes (") == 2
    assert "1 passed" in out


def test_a_failing_test_fails_with_its_reason_and_its_parameter(run):
    code, out = run(GOOD.replace('"ready", "sh"', '"read it", "sh"'))
    assert code == 1
    assert "some test cases have failed" in out
    assert "word='two': test_processes" in out
    assert "AssertionError: 'read it' is not in what was written to stdout" in out


@pytest.mark.parametrize(
    ("entities", "reason"),
    [
        (["sh(WAIT.replace('0', '3'))"], "sh-1 exited with code 3; its command"),
        (["sh('echo ready; exec sleep 30')"], "sh-1 exited with code -2"),
        (["sh('echo bad >&2')"], "the processes under test stopped before the tests had ended"),
        (["sh('echo bad >&2')"], "sh-1: bad"),
        (["OpaqueFunction(function=lambda _: 1 / 0)"], "the launch failed, see its error above"),
        (["OpaqueFunction(function=lambda _: 1 / 0)"], "ZeroDivisionError"),
        ([], "no process has been started"),
    ],
    ids=itertools.count(),
)
def test_nothing_fails_silently(run, entities, reason):
    code, out = run(description(*entities, "ReadyToTest()"))
    assert code == 1
    assert reason in out


def test_a_description_that_is_never_ready_is_a_failure(run):
    text = description("sh(WAIT)").replace("class", "import launch_testing.runner\nclass", 1)
    code, out = run(text.replace("class", "launch_testing.runner._READY_TIMEOUT = 0.5\nclass", 1))
    assert code == 1
    assert "there was no ReadyToTest within 0.5 s" in out

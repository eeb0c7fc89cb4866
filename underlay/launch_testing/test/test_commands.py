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

from importlib.metadata import entry_points

import pytest
from launch_testing.launch_test import main

TEXT = '''
    MARK
    def generate_test_description():
        """As a stock installation has it."""
        loop = "trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done"
        return LaunchDescription([
            DeclareLaunchArgument("word", default_value="w", description="what to say"),
            sh(loop), ReadyToTest(),
        ])

    class TestActive(unittest.TestCase):
        def test_ready(self, proc_output):
            proc_output.assertWaitFor("ready", "it", stream="stdout", timeout=5)

        def test_value(self):
            value = 2
            assert value == VALUE

    @launch_testing.post_shutdown_test()
    class TestAfter(unittest.TestCase):
        def test_exit(self, proc_info):
            assertExitCodes(proc_info)
'''

PYTEST = [
    "pytest", "-p", "launch_testing.pytest.hooks", "-p", "no:cacheprovider", "--rootdir=.",
]  # fmt: skip


def text(mark="@pytest.mark.launch_test", value=2):
    return TEXT.replace("MARK", mark).replace("VALUE", str(value))


def test_pytest_runs_a_marked_file(command, launch_file):
    code, out = command(*PYTEST, "-v", "--strict-markers", launch_file(text()))
    assert code == 0, out
    assert "test_some.py::test_some PASSED" in out
    assert "1 passed" in out


def test_pytest_shows_the_failed_tests(command, launch_file):
    code, out = command(*PYTEST, launch_file(text(value=3)))
    assert code == 1
    assert "some test cases have failed:" in out
    assert "FAILED test_some TestActive.test_value" in out
    assert "AssertionError: assert 2 == 3" in out
    assert "test_runner.py" not in out  # the way there is of no interest


def test_pytest_takes_other_files_as_they_are(command, launch_file):
    file = launch_file("# a launch_test is something else\n" + "def test_plain():\n    pass\n")
    code, out = command(*PYTEST, "-v", file)
    assert code == 0
    assert "::test_plain PASSED" in out


def test_marks_of_the_description_hold(command, launch_file):
    marks = "@pytest.mark.skip(reason='not now')\n    @pytest.mark.launch_test"
    code, out = command(*PYTEST, "-rs", launch_file(text(mark=marks)))
    assert code == 0
    assert "1 skipped" in out
    assert "not now" in out


def test_a_broken_file_is_a_collection_error(command, launch_file):
    code, out = command(*PYTEST, launch_file("raise ValueError('launch_test broken')"))
    assert code == 2
    assert "ValueError: launch_test broken" in out


def test_the_command(command, launch_file):
    code, out = command("launch_testing.launch_test", launch_file(text(mark="")), "word:=x")
    assert code == 0, out
    assert "test_ready (test_some.TestActive" in out
    assert "[INFO] [it-1]: process started with pid" in out
    assert "3 tests in 1 launches; 0 launches failed" in out


def test_the_command_fails_with_the_tests(launch_file, capsys):
    assert main([str(launch_file(text(mark="", value=3)))]) == 1
    out = capsys.readouterr().out
    assert "TestActive.test_value" in out
    assert "1 launches failed" in out


def test_the_command_shows_arguments(launch_file, capsys):
    assert main(["--show-args", str(launch_file(text(mark="")))]) == 0
    expected = "    'word':\n        what to say\n        (default: 'w')\n"
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such.py"], "Test file 'no_such.py' does not exist"),
        (["x.py", "word=1"], "'word=1' is not of the form <name>:=<value>"),
        (["x.py"], "Test file 'x.py' has no generate_test_description function"),
    ],
)
def test_the_command_refuses_in_one_line(launch_file, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(launch_file("", name="x.py").parent)
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("launch_test: error: ")
    assert message in error


def test_the_plugin_and_the_command_are_installed():
    (plugin,) = entry_points(group="pytest11", name="launch_testing")
    assert plugin.load().__name__ == "launch_testing.pytest.hooks"
    (script,) = entry_points(group="console_scripts", name="launch_test")
    assert script.value == "launch_testing.launch_test:main"

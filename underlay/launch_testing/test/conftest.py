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

import itertools
import os
import subprocess
import sys
import textwrap
from types import ModuleType

import pytest
from launch.actions import execute_process
from launch_testing.loader import LoadTestsFromPythonModule
from launch_testing.test_runner import LaunchTestRunner

HEAD = """
import os, re, unittest
import launch_testing, launch_testing.actions, launch_testing.markers
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import *
import pytest
from launch import LaunchDescription
from launch.actions import *
from launch.substitutions import LaunchConfiguration

def sh(script, name="it", **arguments):
    return ExecuteProcess(cmd=["/bin/sh", "-c", script], name=name, **arguments)

"""


@pytest.fixture(autouse=True)
def _fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setattr(execute_process, "_NUMBERS", itertools.count(1))


@pytest.fixture
def run():
    """Run the text of a launch test file in this process; return what came of each launch."""

    def run_text(text, *arguments):
        module = ModuleType("some_test")
        exec(HEAD + textwrap.dedent(text), vars(module))
        return LaunchTestRunner(LoadTestsFromPythonModule(module, name="f"), arguments).run()

    return run_text


@pytest.fixture
def launch_file(tmp_path):
    """Write the text of a launch test file."""

    def write(text, name="test_some.py"):
        file = tmp_path / name
        file.write_text(HEAD + textwrap.dedent(text))
        return file

    return write


@pytest.fixture
def command(tmp_path):
    """Run a Python module as a command; return its exit code and its output."""

    def run_command(*arguments):
        result = subprocess.run(
            [sys.executable, "-m", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return result.returncode, result.stdout + result.stderr

    return run_command

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
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from launch import LaunchDescription, LaunchService
from launch.actions import execute_process

RUNNER = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
arguments = [tuple(text.split(":=")) for text in sys.argv[2:]]
service = LaunchService(noninteractive=True)
include = IncludeLaunchDescription(sys.argv[1], launch_arguments=arguments)
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""


@pytest.fixture(autouse=True)
def _fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setattr(execute_process, "_NUMBERS", itertools.count(1))


@pytest.fixture
def run(capsys):
    """Run entities in this process; return the return code and what went to the screen."""

    def run_entities(*entities, **arguments):
        service = LaunchService(noninteractive=True)
        service.include_launch_description(LaunchDescription(entities))
        return service.run(**arguments), capsys.readouterr().out

    return run_entities


class LaunchProcess:
    """A launch file run by a process of its own, as a user would run it."""

    def __init__(self, file: Path, arguments: tuple[str, ...]) -> None:
        command = [sys.executable, "-c", RUNNER, str(file), *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.output = ""

    def wait_for(self, text: str) -> None:
        assert self.process.stdout is not None
        while text not in self.output:
            line = self.process.stdout.readline()
            assert line, f"ended without {text!r}: {self.output}"
            self.output += line

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, self.output + out, err


@pytest.fixture
def launch_file(tmp_path):
    """Write a launch file and start it; nothing of it survives the test."""
    started: list[LaunchProcess] = []

    def start(text: str, *arguments: str) -> LaunchProcess:
        file = tmp_path / "some.launch.py"
        file.write_text(textwrap.dedent(text))
        started.append(LaunchProcess(file, arguments))
        return started[-1]

    yield start
    for launched in started:
        launched.process.kill()
        launched.process.communicate()


def is_running(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def assert_ends():
    """Assert that a process ends, giving the kernel a moment."""

    def check(pid: int) -> None:
        for _ in range(100):
            if not is_running(pid):
                return
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"process {pid} has been left behind")

    return check

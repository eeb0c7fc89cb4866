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
import sys
import textwrap
import threading

import pytest
from launch import LaunchDescription, LaunchService
from launch.actions import execute_process

os.environ.setdefault("ROS_DOMAIN_ID", "42")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


@pytest.fixture(autouse=True)
def _fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setattr(execute_process, "_NUMBERS", itertools.count(1))


@pytest.fixture
def run(capsys):
    """Run entities, at most for a while; return the return code and what went to the screen."""

    def run_entities(*entities):
        service = LaunchService(noninteractive=True)
        service.include_launch_description(LaunchDescription(entities))
        watchdog = threading.Timer(30, service.shutdown)
        watchdog.start()
        try:
            return service.run(), capsys.readouterr().out
        finally:
            watchdog.cancel()

    return run_entities


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make packages with executables in an ament prefix of their own."""
    prefix = tmp_path / "prefix"
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{os.environ['AMENT_PREFIX_PATH']}")

    def make(name, **executables):
        index = prefix / "share" / "ament_index" / "resource_index" / "packages"
        index.mkdir(parents=True, exist_ok=True)
        (index / name).touch()
        (prefix / "share" / name).mkdir(exist_ok=True)
        for executable, text in executables.items():
            file = prefix / "lib" / name / executable
            file.parent.mkdir(parents=True, exist_ok=True)
            first_line = "#!/bin/sh" if text.startswith("echo") else f"#!{sys.executable}"
            file.write_text(first_line + "\n" + textwrap.dedent(text))
            file.chmod(0o755)
        return prefix

    return make

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import itertools

import pytest
from launch import LaunchDescription, LaunchService, execute_process, logging
from launch.actions import ExecuteProcess


@pytest.fixture(autouse=True)
def _fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setattr(execute_process, "_NUMBERS", itertools.count(1))
    logging.log_dir.cache_clear()
    logging._file.cache_clear()


@pytest.fixture
def run(capsys):
    """Run entities in this process; return the return code and what went to the screen."""

    def run_entities(*entities):
        service = LaunchService(noninteractive=True)
        service.include_launch_description(LaunchDescription(entities))
        return service.run(), capsys.readouterr().out

    return run_entities


@pytest.fixture
def shell():
    """Make a process that runs a script; its name is sh and a number."""

    def make(script, **arguments):
        return ExecuteProcess(cmd=["/bin/sh", "-c", script], **{"output": "screen", **arguments})

    return make

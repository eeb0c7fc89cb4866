"""rviz.launch.py with a stand-in for RViz, and without."""

import os
import subprocess
from shutil import which

import pytest


def launch(environment, **more):
    command = ["ros2", "launch", "basis_ik", "rviz.launch.py", "rviz_config:=some.rviz"]
    command += [f"{key}:={value}" for key, value in more.items()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def started(tmp_path):
    """Launch where there is a package `rviz2`, and return what its program was started with."""
    program = tmp_path / "lib" / "rviz2" / "rviz2"
    marker = tmp_path / "share" / "ament_index" / "resource_index" / "packages" / "rviz2"
    for path in (program, marker):
        path.parent.mkdir(parents=True)
    marker.touch()
    program.write_text(f'#!/bin/sh\necho "$*" > {tmp_path}/arguments\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "AMENT_PREFIX_PATH": f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}",
        "PATH": f"{program.parent}:{os.environ['PATH']}",
    }

    def start(**more):
        launch(environment, **more)
        return (tmp_path / "arguments").read_text().split("--ros-args")[0].strip()

    return start


def test_rviz_gets_its_configuration(started):
    assert started() == "-d some.rviz"


def test_rviz_gets_another_fixed_frame(started):
    assert started(fixed_frame="panda_link0") == "-d some.rviz -f panda_link0"


@pytest.mark.skipif(which("rviz2") is not None, reason="RViz is installed here")
def test_without_rviz_it_is_said():
    assert "RViz is not installed here" in launch(os.environ)

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

"""What set-up refuses, in one line, before it touches anything."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = {"setup.sh", "paths.sh", "env.sh"}
ELSEWHERE = {"AMENT_PREFIX_PATH", "BASIS_IK_UNDERLAY", "DISTRO", "ROS_DISTRO"}
# A python3 that runs `-c CODE` as a given version, and makes no environments.
PYTHON = """#!/bin/sh
[ "$1" = -c ] || exit 1
exec {python} -c "import sys; sys.version_info = {version}
$2"
"""


@pytest.fixture
def refusal(tmp_path):
    """Return the error of the set-up of a copy."""
    shutil.copytree(
        ROOT / "underlay", tmp_path / "underlay", ignore=lambda folder, names: set(names) - SCRIPTS
    )

    def run(version=(3, 11), *, first_on_path=(), **environment):
        program = tmp_path / "python3"
        program.write_text(PYTHON.format(python=sys.executable, version=version))
        program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if k not in ELSEWHERE}
        done = subprocess.run(
            ["bash", str(tmp_path / "underlay" / "setup.sh")],
            env=kept
            | {"PATH": os.pathsep.join([*first_on_path, str(tmp_path), os.environ["PATH"]])}
            | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.strip().splitlines()
        return line

    return run


def test_unknown_dependencies_are_refused(refusal):
    line = refusal(DEPENDENCIES="latest")
    assert line.endswith("DEPENDENCIES=latest is unknown. Choose newest, stock or oldest.")


def test_a_sourced_ros_keeps_its_own_dependencies(refusal):
    line = refusal(DEPENDENCIES="stock", ROS_DISTRO="jazzy", AMENT_PREFIX_PATH="/opt/ros/jazzy")
    assert "a ROS 2 jazzy with its own is sourced. Leave it out" in line


def test_stock_needs_a_python_that_its_numba_supports(refusal):
    line = refusal((3, 12), DEPENDENCIES="stock")
    assert "DEPENDENCIES=stock needs Python 3.10 or 3.11" in line


def test_oldest_needs_debian_12(refusal):
    line = refusal((3, 12), DEPENDENCIES="oldest")
    assert "DEPENDENCIES=oldest needs Debian 12" in line
    assert line.endswith("Choose DEPENDENCIES=stock.")


def test_an_outdated_environment_does_not_make_its_successor(refusal, tmp_path):
    own = tmp_path / ".setup" / "jazzy-stock" / "venv" / "bin"
    own.mkdir(parents=True)
    outdated = own / "python3"
    outdated.write_text("#!/bin/sh\nexit 1\n")
    outdated.chmod(0o755)
    line = refusal(
        (3, 12), first_on_path=[str(own)], DEPENDENCIES="stock", BASIS_IK_UNDERLAY="jazzy"
    )
    assert "DEPENDENCIES=stock needs Python 3.10 or 3.11" in line

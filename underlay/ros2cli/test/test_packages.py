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

"""Verbs about what is installed: pkg, interface, run and launch."""

import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """An installation of its own with the package `demo`."""
    for folder in ("share/ament_index/resource_index/packages", "share/demo/launch", "lib/demo"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/demo").touch()
    script = tmp_path / "lib/demo/talk"
    script.write_text('#!/bin/sh\necho "$@"; exit 7\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "lib/demo/readme.txt").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}")
    return tmp_path


def test_pkg(ros2, prefix):
    assert {"demo", "rclpy"} <= set(ros2("pkg", "list").split())
    assert ros2("pkg", "prefix", "demo") == f"{prefix}\n"
    assert ros2("pkg", "prefix", "--share", "demo") == f"{prefix}/share/demo\n"
    assert ros2("pkg", "prefix", "nope", code=1) == "Package not found\n"
    assert ros2("pkg", "executables", "demo") == "demo talk\n"
    assert ros2("pkg", "executables", "--full-path", "demo") == f"{prefix}/lib/demo/talk\n"
    assert "demo talk\n" in ros2("pkg", "executables")


def test_interface_show(ros2):
    out = ros2("interface", "show", "geometry_msgs/msg/PointStamped", "--no-comments")
    assert out == (
        "std_msgs/Header header\n"
        "\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n"
        "\tstring frame_id\nPoint point\n\tfloat64 x\n\tfloat64 y\n\tfloat64 z\n"
    )
    assert "---\n" in ros2("interface", "show", "std_srvs/srv/SetBool")
    assert "Could not find" in ros2("interface", "show", "std_msgs/msg/Nope", code=1)
    assert "Invalid name 'String'" in ros2("interface", "show", "String", code=1)


def test_run_passes_arguments_and_the_status_on(ros2, prefix):
    process = ros2.start("run", "demo", "talk", "-x", "--ros-args", "--help")
    assert process.communicate(timeout=30)[0] == "-x --ros-args --help\n"
    assert process.returncode == 7
    process = ros2.start("run", "--prefix", "echo 'under this:'", "demo", "talk", "a")
    assert process.communicate(timeout=30)[0] == f"under this: {prefix}/lib/demo/talk a\n"
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_run_hands_signals_on(ros2, prefix, number):
    script = (
        '#!/bin/sh\ntrap "echo told; exit 9" INT TERM\necho ready\nwhile :; do sleep 0.1; done\n'
    )
    (prefix / "lib/demo/talk").write_text(script)
    code, out = ros2.until("ready", "run", "demo", "talk", number=number)
    killed = number == signal.SIGKILL
    assert (code, out) == ((-number, "ready\n") if killed else (9, "ready\ntold\n"))


def test_run_of_what_is_not_there(ros2, prefix):
    assert ros2("run", "nope", "talk", code=1) == "Package 'nope' not found\n"
    assert ros2("run", "demo", "nope", code=1) == "No executable found\n"
    assert ros2("run", "demo", "readme.txt", code=1) == "No executable found\n"
    assert "'nope' cannot be run" in ros2("run", "--prefix", "nope", "demo", "talk", code=1)
    (prefix / "lib/demo/more").mkdir()
    (prefix / "lib/demo/talk").rename(prefix / "lib/demo/more/talk")
    (prefix / "lib/demo/talk").symlink_to(prefix / "lib/demo/more/talk")
    assert "Multiple executables found:\n- " in ros2("run", "demo", "talk", code=1)


LAUNCH = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("word", default_value="hello", description="What is said."),
        DeclareLaunchArgument("voice", choices=["low", "high"], description="How"),
        ExecuteProcess(cmd=["echo", LaunchConfiguration("word")], output="screen"),
    ])
"""


def test_launch(ros2, prefix):
    (prefix / "share/demo/launch/say.launch.py").write_text(LAUNCH)
    shown = ros2("launch", "demo", "say.launch.py", "--show-args")
    assert shown == (
        "Arguments (pass arguments as '<name>:=<value>'):\n"
        "\n    'word':\n        What is said.\n        (default: 'hello')\n"
        "\n    'voice':\n        How. Valid choices are: ['low', 'high']\n"
    )
    for place in (["demo", "say.launch.py"], [str(prefix / "share/demo/launch/say.launch.py")]):
        process = ros2.start("launch", *place, "voice:=low", "word:=good bye")
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "good bye" in out
    process = ros2.start("launch", "demo", "say.launch.py", "voice:=loud")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "loud" in out
    assert "Traceback" not in out


def test_launch_of_what_is_not_there(ros2, prefix):
    assert "neither a launch file nor a package" in ros2("launch", "nope", code=1)
    assert ros2("launch", "nope", "x.py", code=1) == "Package 'nope' not found\n"
    assert "No launch file supplied" in ros2("launch", "demo", code=1)
    share = prefix / "share/demo"
    assert ros2("launch", "demo", "x.py", code=1) == (
        "file 'x.py' was not found in the share directory of package 'demo' "
        f"which is at '{share}'\n"
    )
    for file in (share / "x.py", share / "launch/x.py"):
        file.write_text("word = (")
    assert "found more than once" in ros2("launch", "demo", "x.py", code=1)
    assert "malformed" in ros2("launch", str(share / "x.py"), "word", code=1)
    broken = ros2("launch", str(share / "x.py"), "--show-args", code=1)
    assert "x.py' cannot be read: " in broken
    assert broken.count("\n") == 1


def test_the_underlay_is_hidden_from_workspaces_and_built_by_name(tmp_path):
    root = Path(__file__).parents[3]

    def listed(*bases):
        command = ["colcon", "--log-base", str(tmp_path), "list", "--names-only", "--base-paths"]
        found = subprocess.run([*command, *bases], cwd=root, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        return found.stdout.split()

    assert listed(".") == ["basis_ik"]
    assert listed("underlay") == []
    (argument,) = re.findall(
        r"--base-paths (underlay\S*)", (root / "underlay/setup.sh").read_text()
    )
    folders = [str(path.relative_to(root)) for path in root.glob(argument)]
    packages = [path.parent.name for path in root.glob("underlay/*/package.xml")]
    assert sorted(listed(*folders)) == sorted(packages)

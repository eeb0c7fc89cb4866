# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What needs no graph: help, mistakes, packages, launch files, messages from and to YAML."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from geometry_msgs.msg import Pose, PoseStamped, PoseWithCovariance
from ros2cli import COMMANDS
from ros2cli.values import filled, get_type, to_yaml
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Empty, String
from tf2_msgs.msg import TFMessage


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(ros2, command):
    assert re.search(rf"^    {command}\b", ros2("-h"), re.M)
    assert ros2(command, "--help").startswith(f"usage: ros2 {command} ")


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["bag", "info"], "invalid choice: 'bag'"),
        (["topic", "bw", "/x"], "invalid choice: 'bw'"),
        (["topic", "echo", "/x", "--csv"], "unrecognized arguments: --csv"),
        (["topic", "pub", "-w", "2", "/x", "y"], "unrecognized arguments: -w"),
        (["topic", "pub", "-r", "0", "/x", "y"], "argument -r/--rate: 0 is not positive"),
        (["topic", "pub", "-r", "nan", "/x", "y"], "argument -r/--rate: nan is not positive"),
        ([], "required: <command>"),
        (["topic"], "required: <verb>"),
    ],
)
def test_what_is_not_covered_is_named_in_one_line(ros2, argv, name):
    (line,) = ros2(*argv, code=2).splitlines()
    assert name in line
    assert re.search(r"`ros2[ a-z]* -h` lists what there is here$", line)


def test_rclpy_is_imported_only_by_what_needs_it():
    code = "import sys; from ros2cli import main; main(sys.argv[1:]);print('rclpy' in sys.modules)"
    line = [sys.executable, "-c", code, "pkg", "prefix", "rclpy"]
    out = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "False"


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """An installation of its own with the package `demo`."""
    for folder in ("share/ament_index/resource_index/packages", "share/demo/launch", "lib/demo"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/demo").touch()
    script = tmp_path / "lib/demo/talk"
    script.write_text('#!/bin/sh\ntrap "echo told; exit 9" INT\necho "$@"; read it\nexit 7\n')
    script.chmod(0o755)
    (tmp_path / "lib/demo/readme.txt").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}")
    return tmp_path


def test_pkg_prefix(ros2, prefix):
    assert ros2("pkg", "prefix", "demo") == f"{prefix}\n"
    assert ros2("pkg", "prefix", "--share", "demo") == f"{prefix}/share/demo\n"
    assert ros2("pkg", "prefix", "nope", code=1) == "Package 'nope' not found\n"


def test_run_passes_arguments_signals_and_the_status_on(ros2, prefix):
    talk = ("run", "demo", "talk", "-x", "--ros-args", "--help")
    process = ros2.start(*talk, stdin=subprocess.DEVNULL)
    assert process.communicate(timeout=30)[0] == "-x --ros-args --help\n"
    assert process.returncode == 7
    process = ros2.start(*talk, stdin=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "told\n"
    assert process.returncode == 9


def test_run_of_what_is_not_there(ros2, prefix):
    assert ros2("run", "nope", "talk", code=1) == "Package 'nope' not found\n"
    for name in ("nope", "readme.txt"):
        path = f"{prefix}/lib/demo/{name}"
        assert ros2("run", "demo", name, code=1) == f"No executable found: '{path}'\n"


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


@pytest.fixture
def say(prefix):
    (prefix / "share/demo/launch/say.launch.py").write_text(LAUNCH)
    return "demo", "say.launch.py"


def test_launch_shows_the_arguments(ros2, say):
    assert ros2("launch", *say, "--show-args") == (
        "Arguments (pass arguments as '<name>:=<value>'):\n"
        "\n    'word':\n        What is said.\n        (default: 'hello')\n"
        "\n    'voice':\n        How. Valid choices are: ['low', 'high']\n"
    )


@pytest.mark.parametrize(
    ("voice", "code", "said"), [("low", 0, "good:=bye"), ("loud", 1, '"loud" is not valid')]
)
def test_launch(ros2, say, voice, code, said):
    process = ros2.start("launch", *say, f"voice:={voice}", "word:=good:=bye")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert said in out
    assert "Traceback" not in out


def test_launch_of_what_is_not_there(ros2, prefix, say):
    assert ros2("launch", "nope", "x.py", code=1) == "Package 'nope' not found\n"
    assert ros2("launch", "demo", "x.py", code=1) == (
        "file 'x.py' was not found in the share directory of package 'demo' "
        f"which is at '{prefix}/share/demo'\n"
    )
    for text in ("x", ":=1"):
        assert "malformed launch argument" in ros2("launch", *say, text, code=1)


def test_the_underlay_is_hidden_from_workspaces_and_built_by_name(tmp_path):
    root = Path(__file__).parents[4]

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
    assert listed(argument) == ["basis_ik_underlay"]
    packages = root.glob("underlay/*/package.xml")
    assert {ElementTree.parse(path).findtext("version") for path in packages} == {"0.0.0"}


@pytest.mark.parametrize(
    "name", ["std_msgs/msg/Strin", "no_such_msgs/msg/String", "std_msgs/srv/String", "String", ""]
)
def test_a_type_that_does_not_exist_is_named(name):
    assert get_type("std_msgs/msg/String", "msg") is String
    with pytest.raises(ValueError, match=f"^The passed message type is invalid: '{name}'$"):
        get_type(name, "msg")


def test_fields_of_every_kind():
    text = "{header: {frame_id: a, stamp: {sec: 1}}, pose: {position: {x: 1, y: 1e-3, z: -2.5}}}"
    message = filled(PoseStamped(), text)
    assert (message.header.frame_id, message.header.stamp.sec) == ("a", 1)
    p = message.pose.position
    assert (p.x, p.y, p.z) == (1.0, 0.001, -2.5)
    state = filled(JointState(), "{name: [a, b], position: [1, 1e-3]}")
    assert (state.name, list(state.position)) == (["a", "b"], [1.0, 0.001])
    assert filled(Bool(), "data: true").data is True
    assert filled(Empty(), "") == Empty()


@pytest.mark.parametrize(
    ("message", "text", "reason"),
    [
        (Pose(), "{position: {u: 1}}", "no field 'position.u'; there are: x, y, z"),
        (Pose(), "{position: {x: far}}", "'position.x' takes double, not 'far'"),
        (Pose(), "{position: {x: }}", "'position.x' takes double, not None"),
        (Pose(), "{position: 1}", "field 'position': a dictionary is needed, not 1"),
        (Bool(), "{data: 2}", "'data' takes boolean, not 2"),
        (JointState(), "{name: a}", "'name' takes sequence<string>, not 'a'"),
        (JointState(), "{position: [true]}", r"'position' takes sequence<double>, not \[True\]"),
        (PoseWithCovariance(), "{covariance: [1]}", r"'covariance' takes double\[36\], not"),
        (TFMessage(), "{transforms: [{a: 1}]}", "takes sequence<geometry_msgs/TransformStamped>"),
        (String(), "[1]", r"the message: a dictionary is needed, not \[1\]"),
        (String(), "{a: b: c}", "The passed value is not YAML: "),
    ],
)
def test_what_does_not_fit_is_named(message, text, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        filled(message, text)
    assert "\n" not in str(caught.value)


def test_a_message_as_yaml():
    assert to_yaml(JointState(name=["ä", "b"], position=[1.0])) == (
        "header:\n  stamp:\n    sec: 0\n    nanosec: 0\n  frame_id: ''\n"
        "name:\n- ä\n- b\nposition:\n- 1.0\nvelocity: []\neffort: []\n"
    )
    assert to_yaml(String(data="x" * 129)) == f"data: {'x' * 128}...\n"
    long = to_yaml(JointState(position=[0.0] * 129))
    assert long.count("- 0.0\n") == 128
    assert "- '...'\n" in long

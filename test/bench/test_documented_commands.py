# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands of the documentation, and examples: what they name exists, and pages are walked.

Launch files run in `test/launch`, installations in `test/test_install.py` and by `.ci/run`.
"""

import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml
from action_msgs.msg import GoalStatus
from bench import down, miss, running
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from rehearsal import TABLE, Rehearsal, client_of, filled, kind_of, lines_of, send_pose
from virtual_node import ActionGoal
from virtual_program import VirtualProgram
from world import World

from basis_ik.__main__ import _parser
from basis_ik.programs import MODULES
from basis_ik.ros.convert import pose_message
from basis_ik.ros.frames.transform_nodes import TransformNodes
from basis_ik.ros.parameters import ik_parameters
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for way in ("*.md", "[!.]*/*.md", "docs/*/*.md") for page in ROOT.glob(way))
DECLARED = {
    each.name: each for each in (*ik_parameters.NODE_PARAMETERS, *ik_parameters.CHAIN_PARAMETERS)
}
# Of the shell and of others: what it takes is not ours.
ELSEWHERE = ("xacro", "export", "pkill", "cp", "echo", "target=", "for ", "ROS_", "done", "POLICY=")
ELSEWHERE += ("grep", "sed")
VERBS = {"action", "bag", "control", "doctor", "launch", "lifecycle", "node", "param", "run"}
VERBS |= {"security", "service", "topic"}
THEIRS = {"robot_state_publisher", "rmw_zenoh_cpp", "tf2_ros"}


def commands(page, beginning):
    """Return the words that follow in each command of a page that begins like this."""
    lines = lines_of(page)
    found = [line.removeprefix(beginning) for line in lines if line.startswith(beginning)]
    assert found
    return [shlex.split(line, comments=True) for line in found]


def test_the_goal_for_a_head_is_reached():
    ((name, kind, text),) = commands("docs/coming_from.md", "ros2 action send_goal ")
    urdf = (ROOT / "urdf" / "pan_tilt.urdf").read_text()
    with running(urdf=urdf, home=np.zeros(2)) as head:
        request = filled(kind_of(kind).Goal(), text)
        goal = ActionGoal(head.boundary, name.replace("/basis_ik", "~"), request)
        head.wait(lambda: goal.status is not None, "the goal's end")
        assert goal.status == GoalStatus.STATUS_SUCCEEDED
        head.wait(head.rests, "silence")
        point = request.target.point
        assert miss(head.tip(), (point.x, point.y, point.z)) < 1e-6


def test_the_rehearsal_of_a_real_arm(tmp_path):
    """Each command of the page in its order; what the page says of the arm then holds."""
    turned = stopped = arrived = False
    with Rehearsal(tmp_path) as rehearsal:
        for line in lines_of("docs/real_arm.md"):
            before = rehearsal.robot and rehearsal.robot.positions.copy()
            rehearsal.give(line)
            robot = rehearsal.robot
            if " activate" in line:
                robot.wait_status(state="READY")
            elif "joint_jog" in line:
                way = robot.positions - before
                assert np.allclose(way, [0.0, 0.0, 0.0, 0.0, 0.0, 0.06], atol=0.005)
                turned = True
            elif "/basis_ik/stop" in line:
                robot.wait_status(state="STOPPED")
                stopped = True
            elif "target_pose" in line:
                robot.wait_status(state="ARRIVED", verdict="REACHED")
                arrived = True
        assert turned
        assert stopped
        assert arrived
        assert robot.node.get_parameter("joint_limit_margin").value == [0.1]
        assert robot.node.get_parameter("max_linear_speed").value == 0.5


def test_the_readme_from_its_first_command_to_its_last(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    seen = []
    with Rehearsal(tmp_path) as rehearsal:
        for line in lines_of("README.md"):
            rehearsal.give(line)
            robot = rehearsal.robot
            if "ik_node" in line or "basis_ik.launch.py" in line or "targets:=false &" in line:
                robot.wait_status(state="READY")
                seen.append(robot.statuses[-1]["state"])
            elif "target_pose" in line:
                robot.wait_status(state="ARRIVED", verdict="REACHED")
                assert robot.at(TABLE @ down(0.0, 0.1, 0.2))
                seen.append("target")
            elif line.startswith("basis_ik solve"):
                assert "panda_hand_tcp: reached\n" in capsys.readouterr().out
                seen.append("solve")
            elif line.startswith("basis_ik inspect"):
                assert "panda_link0 -> panda_hand_tcp" in capsys.readouterr().out
                seen.append("inspect")
    assert seen == ["READY", "target", "READY", "READY", "READY", "solve", "inspect"]


def test_the_page_of_interfaces_from_its_first_command_to_its_last(tmp_path):
    seen = set()
    with Rehearsal(tmp_path) as rehearsal:
        for line in lines_of("docs/interfaces.md"):
            rehearsal.give(line)
            robot = rehearsal.robot
            if "ik_node" in line or "basis_ik.launch.py" in line:
                robot.wait_status(state="READY")
            if "frame_prefix:=arm1/" in line and "launch" in line:
                robot.send("arm1/base_link", down(0.4, 0.2, 0.3))
                robot.wait_status(state="ARRIVED", verdict="REACHED")
                rehearsal.give("ros2 run basis_ik ik_node")  # all other sections have no prefix
                seen.add("prefix")
            elif "tool_frame gripper_tcp" in line:
                robot.wait_status(tool_frame="gripper_tcp")
                seen.add("tool")
            elif "path straight" in line:
                assert robot.node.get_parameter("path").value == "straight"
                seen.add("path")
    assert seen == {"prefix", "tool", "path"}


def test_the_field_of_a_transform_node_is_set():
    ((name, value),) = commands("docs/interfaces.md", "ros2 param set /transform_nodes ")
    config = str(ROOT / "config" / "transform_nodes.yaml")
    nodes = VirtualProgram(World(), TransformNodes, "--params-file", config)
    given = Parameter(name, value=yaml.safe_load(value))
    assert nodes.node.set_parameters([given])[0].successful
    nodes.end()


def is_there(line):
    """Fail if a command names what does not exist."""
    line, _, others = line.partition(" && ")
    if others:
        is_there(others)
    match [word for word in shlex.split(line, comments=True) if word != "&"]:
        case ["ros2", *words]:
            is_there_for_ros(words, re.findall(r"(\w+):=", line))  # also in the comment
        case ["python", "-m", "basis_ik", *given] | ["basis_ik", *given]:
            if len(given) > 1:
                _parser().parse_args(given)
            assert all(word in _parser().format_help() for word in given[:1])
        case ["python", "-m", module, *_]:
            assert not module.startswith("basis_ik") or importlib.util.find_spec(module)
        case ["python", file, *_]:
            assert (ROOT / file).exists()
        case ["pytest", *given]:
            assert all((ROOT / word).exists() for word in given if "/" in word)
        case ["make", *given]:
            text = (ROOT / "Makefile").read_text()
            for word in given:
                name, equals, _ = word.partition("=")
                assert re.search(rf"\b{name}\b" if equals else rf"^{name}:", text, re.M), word
        case _:
            assert line.startswith(ELSEWHERE)


def is_there_for_ros(words, arguments):
    """Fail if what follows `ros2`, with some `name:=value`, names what does not exist."""
    match words:
        case ["run", "basis_ik", program, *_]:
            assert program in (*MODULES, "warm_up")
        case ["run", package, *_]:
            assert package in THEIRS
        case ["launch", "basis_ik", file, *_]:
            text = (ROOT / "launch" / file).read_text()
            for included in re.findall(r'"(\w+\.launch\.py)"', text):
                text += (ROOT / "launch" / included).read_text()
            assert all(f'"{name}"' in text for name in arguments)
        case ["param", "set", "/basis_ik", name, value]:
            declared, value = DECLARED[name], yaml.safe_load(value)
            assert not declared.read_only
            assert isinstance(value, str) or declared.low <= value <= declared.high
        case ["lifecycle", "set", "/basis_ik", transition]:
            assert transition in ("configure", "activate")
        case [verb, *_]:
            assert verb in VERBS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_the_commands_of_a_page_name_exists(page):
    for line in lines_of(page.relative_to(ROOT)):
        is_there(line)


@pytest.mark.parametrize(
    "line",
    [
        "ros2 topics list",
        "ros2 run basis_ik inverse",
        "ros2 launch basis_ik demo.launch.py robots:=panda",
        "ros2 param set /basis_ik speed_override 1.1",
        "ros2 param set /basis_ik speed 0.1",
        "ros2 lifecycle set /basis_ik start",
        "basis_ik solve --urdf robot.urdf --xzy 1 2 3",
        "python -m basis_ik.walk",
        "python benchmark/bench_none.py",
        "pytest test/none",
        "make clean && make tests",
        "basis_ik answer",
        "make test ARG=x",
    ],
)
def test_a_command_of_what_does_not_exist_is_found(line):
    with pytest.raises((AssertionError, KeyError, SystemExit)):
        is_there(line)


def test_the_client_of_the_examples_waits_until_the_arm_is_there(capsys):
    with running() as robot:
        send_pose(robot)
        assert robot.at(down(0.4, 0.2, 0.4))
        assert capsys.readouterr().out.startswith("ARRIVED, REACHED: ")


def test_what_a_camera_detects_becomes_a_target():
    with running() as robot:
        client = client_of(robot, "camera_target", "CameraTargets")
        base_T_camera = RigidTransform.from_rpy(2.5, 0.0, 0.3, [0.2, 0.4, 1.0])
        base_T_part = down(0.4, 0.2, 0.3)
        robot.place("base_link", "camera", base_T_camera)
        robot.run(0.1)
        for shift in (0.0, 0.001):  # the second time it is where it was
            seen = base_T_camera.inverse() @ base_T_part
            part = PoseStamped(pose=pose_message(seen))
            part.pose.position.x += shift
            part.header.frame_id, part.header.stamp = "camera", robot.stamp()
            client.on_detection(part)
            robot.run(0.1)
        client.destroy_node()
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(down(0.4, 0.2, 0.4))
        assert robot.statuses[-1]["accepted.target_pose"] == "1"

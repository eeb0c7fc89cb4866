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

"""Commands of the documentation, and examples: what they name exists, and pages are walked.

Launch files run in `test/launch`, installations in `test/test_install.py` and by `.ci/run`.
"""

import importlib
import importlib.util
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import yaml
from action_msgs.msg import GoalStatus
from bench import HOME, URDF, Robot, down, miss, running
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from std_msgs.msg import String
from virtual_node import HeadGoal
from virtual_program import Server, VirtualProgram
from world import World

from basis_ik.__main__ import _parser, main
from basis_ik.ros.convert import pose_message
from basis_ik.ros.demo.simulated_arm import SimulatedArm
from basis_ik.ros.frames.transform_nodes import TransformNodes
from basis_ik.ros.parameters import ik_parameters
from basis_ik.ros.programs import MODULES
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for way in ("*.md", "[!.]*/*.md", "docs/*/*.md") for page in ROOT.glob(way))
DECLARED = {each.name: each for each in (*ik_parameters.NODE, *ik_parameters.CHAIN)}
# What commands begin with that name something of this package.
OURS = ("basis_ik", "make", "pytest", "python", "ros2")
# Of the shell and of others: what it takes is not ours.
ELSEWHERE = ("xacro", "export", "pkill", "cp", "echo", "target=", "for ", "ROS_", "done", "POLICY=")
VERBS = {"action", "bag", "control", "doctor", "launch", "lifecycle", "node", "param", "run"}
VERBS |= {"security", "service", "topic"}
THEIRS = {"robot_state_publisher", "rmw_zenoh_cpp", "tf2_ros"}
TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])  # of demo.launch.py


def lines_of(page):
    """Return the commands of a page, in its order, those in its sentences too."""
    text = (ROOT / page).read_text().replace("\\\n", " ")
    lines = []
    pattern = r"^```(\w*)\n(.*?)^```|`([^`\n]+)`"
    for language, block, inline in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
        given = (
            [inline] if " " in inline else block.splitlines() if language in ("", "bash") else []
        )
        ours = [line.strip() for line in given if line.strip().split(" ")[0] in OURS]
        lines += [line.strip() for line in given] if language == "bash" else ours
    return lines


def commands(page, beginning):
    """Return the words that follow in each command of a page that begins like this."""
    lines = lines_of(page)
    found = [line.removeprefix(beginning) for line in lines if line.startswith(beginning)]
    assert found
    return [shlex.split(line, comments=True) for line in found]


def kind_of(name):
    package, room, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.{room}"), kind)


def filled(message, text):
    """Return a message with what is written in YAML; raise for what it does not have."""

    def fill(owner, values):
        for name, value in values.items():
            if isinstance(value, dict):
                fill(getattr(owner, name), value)
            else:
                setattr(owner, name, value)

    fill(message, yaml.safe_load(text))
    return message


def test_the_goal_for_a_head_is_reached():
    ((name, kind, text),) = commands("docs/coming_from.md", "ros2 action send_goal ")
    urdf = (ROOT / "urdf" / "pan_tilt.urdf").read_text()
    with running(urdf=urdf, home=np.zeros(2)) as head:
        request = filled(kind_of(kind).Goal(), text)
        goal = HeadGoal(head.boundary, name.replace("/basis_ik", "~"), request)
        head.wait(lambda: goal.status is not None, "the goal's end")
        assert goal.status == GoalStatus.STATUS_SUCCEEDED
        head.wait(head.rests, "silence")
        point = request.target.point
        assert miss(head.tip(), (point.x, point.y, point.z)) < 1e-6


def kinds(node):
    resolve = node.resolve_service_name
    found = {each.topic_name: each.msg_type for each in (*node.publishers, *node.subscriptions)}
    return found | {resolve(each.srv_name): each.srv_type for each in node.services}


def simulated_arm(words):
    """Return the name of the arm that a page starts, and the types of its topics and services."""
    arm = VirtualProgram(World(), SimulatedArm, *words)
    with mock.patch("basis_ik.ros.demo.simulated_controller.ActionServer", Server):
        arm.receive("/robot_description", String(data=URDF))
        arm.run(0.1)
    found = kinds(arm.node)
    (state,) = arm.sent["/joint_states"][-1:]
    assert np.allclose(state.position, HOME)
    name = arm.node.get_name()
    arm.end()
    return name, found


class Rehearsal:
    """A robot to which the commands of a page are given, one after the other.

    Args:
        folder: Where commands of the shell run.
    """

    def __init__(self, folder):
        self._folder, self.robot = folder, None
        self._arm, self._controller = {}, "joint_trajectory_controller"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.robot:
            self.robot.end()

    @property
    def _there(self):
        return self._arm | (kinds(self.robot.node) if self.robot else {})

    def _start(self, *words, **how):
        """Start the node of the bench, in place of one that runs, and the demo's table."""
        self.__exit__()
        self.robot = Robot(*words, controller=self._controller, **how)
        self.robot.place("base_link", "table", TABLE)

    def _launch(self, given):
        """Start the node as basis_ik.launch.py does."""
        given.pop("launch_rviz", None)
        given.pop("namespace", None)
        file = str(self._folder / given.pop("params_file", ROOT / "config" / "basis_ik.yaml"))
        (section,) = yaml.safe_load(Path(file).read_text()).values()
        node = section["ros__parameters"]
        self._controller = node.get("controller", self._controller)
        words = [word for each in given.items() for word in ("-p", ":=".join(each))]
        self._start("--params-file", file, *words, prefix=given.get("frame_prefix", ""))

    def give(self, line):
        """Run a command, with the node of the bench for the one that it launches."""
        line = line.replace("$(ros2 pkg prefix --share basis_ik)", str(ROOT))
        if line.startswith(("cp ", "echo ")):
            subprocess.run(["bash", "-ec", line], cwd=self._folder, check=True)
            return
        match shlex.split(line.removeprefix("ros2 "), comments=True):
            case ["basis_ik", "solve" | "inspect" as what, *words]:
                assert main([what, *words]) == 0
            case ["run", "basis_ik", "simulated_arm", "--ros-args", *words, "&"]:
                self._controller, self._arm = simulated_arm(words)
            case ["run", "basis_ik", "ik_node", *words]:
                self._start(*words[1:])
            case ["launch", "basis_ik", "basis_ik.launch.py", *given]:
                self._launch(dict(each.split(":=") for each in given))
            case ["launch", "basis_ik", "demo.launch.py", "targets:=false", *_]:
                self._start()
            case ["run", "tf2_ros", "static_transform_publisher", *given]:
                place = dict(zip(given[::2], given[1::2], strict=True))
                x, y, z = (float(place.get(f"--{axis}", 0.0)) for axis in "xyz")
                pose = RigidTransform.from_rpy(0.0, 0.0, float(place["--yaw"]), [x, y, z])
                self.robot.place(place["--frame-id"], place["--child-frame-id"], pose)
            case ["lifecycle", "set", "/basis_ik", transition]:
                assert self.robot.transit(transition)
                sent_to = {each.topic_name for each in self.robot.node.publishers}
                assert f"/{self._controller}/joint_trajectory" in sent_to
            case ["topic", "info" | "hz" | "echo", *words]:
                assert {word for word in words if word[0] == "/"} <= self._there.keys()
            case ["param", "set", "/basis_ik", name, value]:
                assert self.robot.set_parameter(name, yaml.safe_load(value)).successful
            case ["param", "get", "/basis_ik", name]:
                assert self.robot.node.has_parameter(name)
            case ["topic", "pub", *how, name, kind, text]:
                assert self._there[name] is kind_of(kind)
                options = dict(zip(how[::2], how[1::2], strict=False))
                for _ in range(int(options.get("-t", 1))):
                    self.robot.topic(name).publish(filled(kind_of(kind)(), text))
                    self.robot.run(1.0 / float(options.get("-r", 1)))
            case ["service", "call", name, kind, *text]:
                assert self._there[name] is kind_of(kind)
                request = filled(kind_of(kind).Request(), *text or ["{}"])
                if name in kinds(self.robot.node):
                    future = self.robot.loop.spinner.request(name, request)
                    self.robot.wait(future.done, f"an answer of {name}")
                    assert future.result().success


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


def client_of(robot, example, name):
    """Return an example's node beside the robot's: its clock, and what it sends."""
    client = runpy.run_path(ROOT / "examples" / f"{example}.py")[name]()
    now = SimpleNamespace(to_msg=robot.stamp)
    client.get_clock = lambda: SimpleNamespace(now=lambda: now)
    theirs = kinds(robot.node)
    shared = {topic: kind for topic, kind in kinds(client).items() if topic.startswith("/basis_ik")}
    assert shared == {topic: theirs[topic] for topic in shared}
    for each in client.publishers:
        if each.topic_name in shared:
            each.publish = robot.topic(each.topic_name).publish
    return client


def heard(status):
    """Return a status of the bench as the message that it was."""
    values = [KeyValue(key=key, value=value) for key, value in status.items() if key != "level"
              and isinstance(value, str)]  # fmt: skip
    return DiagnosticStatus(message=status["message"], values=values)


def test_the_client_of_the_examples_waits_until_the_arm_is_there(capsys):
    with running() as robot:
        client, told = client_of(robot, "send_pose", "PoseClient"), 0

        def is_done():
            nonlocal told
            for status in robot.statuses[told:]:
                told += 1
                client.on_status(heard(status))
            return client.done

        robot.wait(is_done, "the end of the example")
        client.destroy_node()
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

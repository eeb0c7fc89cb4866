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

"""Commands of the documentation that reach a node: their names, types and contents are right."""

import importlib
import re
import shlex
import subprocess
from pathlib import Path
from unittest import mock

import numpy as np
import yaml
from action_msgs.msg import GoalStatus
from bench import HOME, URDF, Robot, miss, running
from std_msgs.msg import String
from virtual_node import HeadGoal
from virtual_program import Server, VirtualProgram
from world import World

from basis_ik.ros.demo.simulated_arm import SimulatedArm

DOCS = Path(__file__).parents[2] / "docs"


def lines_of(page):
    """Return the commands of a page, in its order."""
    text = (DOCS / page).read_text().replace("\\\n", " ")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


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
    ((name, kind, text),) = commands("coming_from.md", "ros2 action send_goal ")
    urdf = (Path(__file__).parents[2] / "urdf" / "pan_tilt.urdf").read_text()
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

    @property
    def _there(self):
        return self._arm | (kinds(self.robot.node) if self.robot else {})

    def give(self, line):
        """Run a command, with the node of the bench for the one that it launches."""
        if line.startswith(("cp ", "echo ")):
            line = line.replace("$(ros2 pkg prefix --share basis_ik)", str(DOCS.parent))
            subprocess.run(["bash", "-ec", line], cwd=self._folder, check=True)
            return
        text = line.replace("$(ros2 pkg prefix --share basis_ik)", str(DOCS.parent))
        match shlex.split(text.removeprefix("ros2 "), comments=True):
            case ["run", "basis_ik", "simulated_arm", "--ros-args", *words, "&"]:
                self._controller, self._arm = simulated_arm(words)
            case ["launch", "basis_ik", "basis_ik.launch.py", *given]:
                given = dict(each.split(":=") for each in given)
                file = str(self._folder / given.pop("params_file"))
                words = [word for each in given.items() for word in ("-p", ":=".join(each))]
                self.robot = Robot("--params-file", file, *words, controller=self._controller)
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
    rehearsal = Rehearsal(tmp_path)
    turned = stopped = arrived = False
    try:
        for line in lines_of("real_arm.md"):
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
    finally:
        if rehearsal.robot:
            rehearsal.robot.end()

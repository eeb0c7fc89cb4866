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
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import yaml
from action_msgs.msg import GoalStatus
from bench import URDF, miss, running
from std_msgs.msg import String
from virtual_node import HeadGoal
from virtual_program import Server, VirtualProgram
from world import World

from basis_ik.ros.demo.simulated_arm import SimulatedArm

DOCS = Path(__file__).parents[2] / "docs"


def commands(page, beginning):
    """Return the words that follow in each command of a page that begins like this."""
    text = (DOCS / page).read_text().replace("\\\n", " ")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
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


@pytest.fixture(scope="module")
def of_the_arm():
    """The types of the topics and services of a simulated arm, by their names."""
    arm = VirtualProgram(World(), SimulatedArm)
    with mock.patch("basis_ik.ros.demo.simulated_controller.ActionServer", Server):
        arm.receive("/robot_description", String(data=URDF))
        arm.run(0.1)
    found = kinds(arm.node)
    arm.end()
    return found


def kinds(node):
    resolve = node.resolve_service_name
    found = {each.topic_name: each.msg_type for each in (*node.publishers, *node.subscriptions)}
    return found | {resolve(each.srv_name): each.srv_type for each in node.services}


def test_what_is_written_for_a_real_arm_exists_and_is_obeyed(of_the_arm):
    topics = [next(word for word in line if word[0] == "/")
              for verb in ("info", "hz", "echo")
              for line in commands("real_arm.md", f"ros2 topic {verb} ")]  # fmt: skip
    with running() as robot:
        there = of_the_arm | kinds(robot.node)
        assert set(topics) < there.keys()
        for *_, name, kind, text in commands("real_arm.md", "ros2 topic pub "):
            assert there[name] is kind_of(kind)
            count = len(robot.commands)
            robot.topic(name).publish(filled(kind_of(kind)(), text))
            robot.run(2.0)
            assert len(robot.commands) > count, text
        for name, kind, *text in commands("real_arm.md", "ros2 service call "):
            assert there[name] is kind_of(kind)
            request = filled(kind_of(kind).Request(), *text or ["{}"])
            if name in kinds(robot.node):
                future = robot.loop.spinner.request(name, request)
                robot.wait(future.done, f"an answer of {name}")
                assert future.result().success

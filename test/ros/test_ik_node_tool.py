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

"""`tool_frame`, over DDS, with the node in a process of its own: what reaches the targets."""

import time

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import URDF, Robot, down, running, start_node, stop_node
from std_msgs.msg import String

from basis_ik.transforms.rigid import RigidTransform

READY = down(0.40, 0.20, 0.35)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        robot.place("tool0", "gripper", RigidTransform.from_rpy(0.0, 0.4, 0.0, [0.05, 0.0, 0.1]))
        robot.place("gripper", "tcp", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.08]))
        robot.frames["bird"] = lambda: RigidTransform.from_rpy(0, 0, 0, [0.5, 0.0, 0.5])
        yield robot


@pytest.fixture(autouse=True)
def _ready(robot):
    choose_until_accepted(robot, "")
    robot.go(READY)


def choose(robot, frame):
    given = Parameter(name="tool_frame", value=ParameterValue(type=4, string_value=frame))
    return robot.call(SetParameters, "set_parameters", parameters=[given]).results[0]


def choose_until_accepted(robot, frame):
    robot.wait(lambda: choose(robot, frame).successful, "tf knows the tool")
    robot.wait(
        lambda: (
            robot.statuses[-1].get("tool_frame", "") == frame
            and robot.statuses[-1]["state"] in ("READY", "ARRIVED")
        ),
        "the tool is taken",
    )


def tcp(robot, q=None):
    root_T_tip = robot.chain.forward(robot.positions if q is None else q)
    gripper = root_T_tip @ RigidTransform.from_rpy(0.0, 0.4, 0.0, [0.05, 0.0, 0.1])
    return gripper @ RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.08])


def at_tcp(robot, target, tolerance=1e-4):
    return np.allclose(tcp(robot).matrix, target.matrix, atol=tolerance)


def test_poses_move_the_tool_until_it_is_removed(robot):
    choose_until_accepted(robot, "tcp")
    robot.send("base_link", READY)
    robot.wait(lambda: at_tcp(robot, READY), "the tool is there")
    robot.wait_status(state="ARRIVED", tool_frame="tcp")
    assert float(robot.statuses[-1]["position_error"]) < 1e-5
    choose_until_accepted(robot, "")
    robot.reach(READY, "the tip is there")


def test_a_twist_turns_about_the_tools_origin_along_its_axes(robot):
    choose_until_accepted(robot, "tcp")
    start = tcp(robot)

    def turned():
        robot.jog("tcp", angular=(0.0, 0.5, 0.0))
        time.sleep(0.02)
        return (start.inverse() @ tcp(robot)).as_axis_angle()[1] > 0.2

    robot.wait(turned, "the tool turns")
    robot.wait(robot.no_commands, "silence")
    moved = start.inverse() @ tcp(robot)
    assert np.linalg.norm(moved.translation) < 1e-5
    np.testing.assert_allclose(moved.as_axis_angle()[0], [0.0, 1.0, 0.0], atol=1e-4)


@pytest.mark.parametrize(("before", "after"), [("", "tcp"), ("tcp", "")], ids=["up", "down"])
def test_a_change_in_motion_brakes_first(robot, before, after):
    far = down(-0.40, -0.30, 0.40)
    choose_until_accepted(robot, before)
    robot.set_off(far)
    choose_until_accepted(robot, after)
    robot.wait(robot.no_commands, "it rests")
    assert not robot.at(far, 0.05), "its old goal is dropped"
    assert not at_tcp(robot, far, 0.05)
    robot.send("base_link", READY)
    there = at_tcp if after else Robot.at
    robot.wait(lambda: there(robot, READY), "the tip or the tool is there")


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("nobody", "NO_TRANSFORM"),
        ("bird", "moves against"),
        ("forearm_link", "hangs on"),
        ("/tcp", "not a frame"),
    ],
)
def test_a_frame_not_fixed_to_the_tip_is_refused(robot, frame, words):
    answer = choose(robot, frame)
    assert not answer.successful
    assert words in answer.reason
    assert "tool_frame" in answer.reason
    assert robot.no_commands()
    assert "tool_frame" not in robot.statuses[-1]


def test_a_link_that_is_fixed_to_the_tip_is_a_tool_without_tf(robot):
    choose_until_accepted(robot, "wrist_3_link")
    robot.send("base_link", READY)
    wrist = robot.model.chain("base_link", "wrist_3_link")
    robot.wait(
        lambda: np.allclose(wrist.forward(robot.positions).matrix, READY.matrix, atol=1e-4),
        "the wrist is there",
    )


def test_a_tool_given_at_start_is_waited_for(own_domain):
    robot = Robot(own_domain)
    robot.process = start_node(own_domain, "-p", "tool_frame:=tcp")
    robot.description.publish(String(data=URDF))
    try:
        logged = "tool_frame 'tcp': NO_TRANSFORM"
        robot.wait(lambda: any(logged in s["message"] for s in robot.statuses), "it waits")
        robot.place("tool0", "tcp", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.1]))
        robot.wait_status(state="READY", tool_frame="tcp")
    finally:
        stop_node(robot.process)
        robot.close()

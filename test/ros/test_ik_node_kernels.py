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

"""While the control loop runs, no kernel is compiled or loaded, which would delay it."""

import os
import re

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import PositionIKRequest
from moveit_msgs.srv import GetPositionFK, GetPositionIK
from point_head_client import Client
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import HOME, down, running
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform


def first_calls(robot):
    """Return the kernels that the node has called for the first time so far."""
    text = os.pread(robot.process.output.fileno(), 1 << 24, 0).decode()
    return re.findall(r"\[cache\] data (?:loaded from|saved to) .*?([^/]+)\.\d+\.nbc", text)


def shown(pictures):
    """Return all markers that were shown."""
    return [m for each in list(pictures) for m in each.markers if m.action == Marker.ADD]


def everything(robot):
    robot.place("base_link", "table", RigidTransform.from_rpy(0.0, 0.0, 0.3, [0.1, 0.0, 0.0]))
    client, pictures = Client(robot), []
    robot.node.create_subscription(MarkerArray, "basis_ik/markers", pictures.append, 1)
    robot.wait(lambda: pictures, "markers")
    for frame, pose in (
        ("base_link", down(0.4, 0.2, 0.4)),
        ("table", down(0.4, 0.1, 0.4)),
        ("base_link", down(3.0, 0.0, 0.4)),
        ("base_link", down(0.05, 0.0, 0.1)),
        ("base_link", RigidTransform.from_rpy(0.0, -1.5, 0.0, [0.75, 0.2, 0.1])),
    ):
        seen = len(robot.commands)
        robot.send(frame, pose)
        robot.wait(lambda seen=seen: len(robot.commands) > seen, "a command")
    fabrik = Parameter(name="solver", value=ParameterValue(type=4, string_value="fabrik"))
    assert robot.call(SetParameters, "set_parameters", parameters=[fabrik]).results[0].successful
    for pose in (down(0.4, 0.2, 0.4), down(0.05, 0.0, 0.1)):
        pictures.clear()
        robot.send("base_link", pose)
        robot.wait(lambda: any(m.ns == "passes" for m in shown(pictures)), "passes are shown")
    for point in ((0.9, -0.5, 0.7), (0.0, 0.0, 0.0), (-0.9, 0.1, 0.2)):
        robot.look("table", point)
        robot.wait(lambda: not robot.no_commands(0.1), "motion")
    client.run((0.8, 0.3, 0.4), max_velocity=0.5)
    robot.call(Trigger, "home")
    robot.wait(lambda: np.allclose(robot.positions, HOME + 0.1), "the arm is at home")
    for frame in ("base_link", "tool0"):
        robot.jog(frame, (0.05, 0.0, 0.02), (0.1, 0.0, 0.0))
        robot.wait(lambda: not robot.no_commands(0.1), "motion")
    robot.call(Trigger, "stop")
    robot.call(SetBool, "enable", data=True)
    far, near = pose_message(down(2.0, 0.0, 0.0)), pose_message(down(0.4, 0.2, 0.4))
    for pose in (near, far):
        request = PositionIKRequest(pose_stamped=PoseStamped(pose=pose))
        request.timeout.nanosec = 50_000_000
        robot.call(GetPositionIK, "compute_ik", ik_request=request)
        several = [PoseStamped(pose=pose), PoseStamped(pose=near)]
        request = PositionIKRequest(pose_stamped_vector=several)
        request.ik_link_names = ["tool0", "forearm_link"]
        robot.call(GetPositionIK, "compute_ik", ik_request=request)
    robot.call(GetPositionFK, "compute_fk", fk_link_names=["tool0", "forearm_link"])


@pytest.fixture
def talkative(monkeypatch):
    """Let numba log the kernels that it loads, unbuffered."""
    monkeypatch.setenv("NUMBA_DEBUG_CACHE", "1")
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")


def test_all_kernels_are_ready_before_the_node_is(domain, talkative):
    home = "[" + ", ".join(f"{value:.4f}" for value in HOME + 0.1) + "]"
    with running(domain, "-p", f"home:={home}") as robot:
        before = first_calls(robot)
        assert len(before) > 10  # numba does log them
        everything(robot)
        late = first_calls(robot)[len(before) :]
    assert not late, " ".join(late)

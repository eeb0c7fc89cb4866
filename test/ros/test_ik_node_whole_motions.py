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

"""`command_interface: follow_joint_trajectory` over DDS, with the simulated arm and head goals."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from point_head_client import ABORTED, CANCELED, SUCCEEDED, Client, miss
from rclpy.action import ActionServer, GoalResponse
from robot_bench import HOME, PATIENCE, URDF, Robot, down, start_node, stop_node, wait_for_log
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

WHOLE = ("-p", "command_interface:=follow_joint_trajectory")
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
AT_HOME = (*WHOLE, "-p", f"home:={HOME.tolist()}", "-p", "path:=straight")
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


class Watcher(Robot):
    """Moves nothing; reports joint states beyond limits."""

    def __init__(self, domain):
        super().__init__(domain)
        self.publishing, self.received = False, None
        self.node.create_subscription(JointState, "joint_states", self._watch, 1000)

    def _watch(self, message):
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        by_name = dict(zip(message.name, message.position, strict=True))
        here = np.array([by_name[name] for name in self.chain.joint_names])
        if self.received is not None:
            step = self.chain.velocity * (stamp - self.received + 1e-4)
            inside = (here >= self.chain.lower) & (here <= self.chain.upper)
            if not ((np.abs(here - self.positions) <= step) & inside).all():
                self.complaints.append((self.positions, here))
        self.positions, self.received = here, stamp

    def rests(self):
        before = self.positions
        time.sleep(0.3)
        return np.abs(self.positions - before).max() < 1e-6


@contextlib.contextmanager
def driven(domain):
    """Yield a recorder of the node and a simulated arm, both in their own processes."""
    robot = Watcher(domain)
    words = ["-r", "__node:=joint_trajectory_controller"]
    for name, position in zip(robot.chain.joint_names, HOME, strict=True):
        words += ["-p", f"initial_positions.{name}:={float(position)}"]
    arm = subprocess.Popen(
        [sys.executable, "-m", "basis_ik.ros.programs", "simulated_arm", "--ros-args", *words],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
    )
    robot.process = node = start_node(domain, *AT_HOME)
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        yield robot
    finally:
        arm.terminate()
        arm.wait(PATIENCE)
        robot.status, robot.output = stop_node(node)
        robot.close()
        print(robot.output)
    assert robot.status == 0
    assert "Traceback" not in robot.output
    assert robot.complaints == []


@pytest.fixture(scope="module")
def bench(domain):
    with driven(domain) as robot:
        yield robot


@pytest.fixture
def robot(bench):
    bench.call(SetBool, "enable", data=True)
    bench.reach(NEAR, "the arm is ready", 1e-3)
    bench.wait(bench.rests, "rest")
    return bench


def test_a_pose_is_reached(robot):
    robot.reach(FAR, "the arm is there")
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "rest")
    assert robot.at(FAR)
    wait_for_log(robot.process, "path is ignored: straight needs six joints")


def test_the_head_action_sends_whole_motions_with_their_duration(robot):
    client, point = Client(robot), (0.9, -0.5, 0.7)
    begin = time.monotonic()
    assert client.run(point, min_duration=2.0) == SUCCEEDED
    assert time.monotonic() - begin > 2.0
    assert client.feedback[0] > 0.1
    assert miss(robot, point) <= 0.01
    robot.wait(robot.rests, "rest")


def test_a_head_goal_is_canceled_in_motion(robot):
    client = Client(robot)
    handle = client.send((0.9, -0.5, 0.7), min_duration=10.0)
    robot.wait(lambda: client.feedback and not robot.at(NEAR, 1e-2), "the arm is on its way")
    client.cancel(handle)
    assert client.end(handle) == CANCELED
    robot.wait(robot.rests, "rest")
    assert miss(robot, (0.9, -0.5, 0.7)) > 0.05


def test_a_head_goal_aborted_by_the_controller_ends_with_the_reason(own_domain):
    robot = Robot(own_domain)
    robot.process = start_node(own_domain, *WHOLE)
    robot.description.publish(String(data=URDF))
    server = ActionServer(
        robot.node,
        FollowJointTrajectory,
        ACTION,
        execute_callback=lambda _: FollowJointTrajectory.Result(),
        goal_callback=lambda _: GoalResponse.REJECT,
    )
    try:
        robot.wait_status(state="READY")
        assert Client(robot).run((0.9, -0.5, 0.7)) == ABORTED
        wait_for_log(robot.process, "head goal aborted: the controller rejected the motion")
    finally:
        server.destroy()
        status, output = stop_node(robot.process)
        robot.close()
    assert status == 0
    assert "Traceback" not in output

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The program simulated_arm, with a client of joint_trajectory_controller's interface."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

URDF = """<robot name="rig">
<link name="base"/><link name="upper"/><link name="rail"/><link name="hub"/><link name="jaw"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2" effort="1"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="rail"/>
  <axis xyz="1 0 0"/><limit lower="0.1" upper="0.5" velocity="1" effort="1"/></joint>
<joint name="wheel" type="continuous"><parent link="rail"/><child link="hub"/>
  <axis xyz="0 1 0"/><limit velocity="3" effort="1"/></joint>
<joint name="jaw" type="prismatic"><parent link="rail"/><child link="jaw"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="1" velocity="1" effort="1"/>
  <mimic joint="slide" multiplier="-0.5" offset="0.25"/></joint>
</robot>"""
JOINTS = ["turn", "slide", "wheel"]
CONTROLLER = "/joint_trajectory_controller"
PATIENCE = 120.0  # s, for what must happen at all


class Client:
    """A node in the arm's domain, and its received messages; it may be the clock, too."""

    def __init__(self, domain, is_clock):
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.joint_states, self.states, self.feedback, self.time = [], [], [], 100.0
        self.node.create_subscription(JointState, "joint_states", self.joint_states.append, 100)
        self.node.create_subscription(
            JointTrajectoryControllerState, f"{CONTROLLER}/controller_state", self.states.append, 10
        )
        self.topic = self.node.create_publisher(
            JointTrajectory, f"{CONTROLLER}/joint_trajectory", 10
        )
        self.action = ActionClient(
            self.node, FollowJointTrajectory, f"{CONTROLLER}/follow_joint_trajectory"
        )
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.clock = self.node.create_publisher(Clock, "/clock", 10) if is_clock else None

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def until(self, condition, passes=True):
        """Wait for something, while simulated time passes."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            if self.clock is not None and passes:
                self.time += 0.01
                self.clock.publish(Clock(clock=Time(nanoseconds=int(1e9 * self.time)).to_msg()))
            self.executor.spin_once(timeout_sec=0.02)

    def result(self, future):
        self.until(future.done)
        return future.result()

    def is_at(self, *positions):
        return np.allclose(self.joint_states[-1].position[:3], positions, rtol=0.0, atol=1e-9)


def trajectory(seconds, positions):
    point = JointTrajectoryPoint(positions=list(positions))
    point.time_from_start = Duration(sec=seconds)
    return JointTrajectory(joint_names=JOINTS, points=[point])


@contextlib.contextmanager
def running(domain, log, *words):
    """Start the arm; what it prints goes to a file."""
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain)}
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "basis_ik.programs", "simulated_arm", *words],
            stdout=output,
            stderr=output,
            env=environment,
        )
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("number", "is_simulated"),
    [(signal.SIGINT, False), (signal.SIGTERM, True)],
    ids=["SIGINT", "SIGTERM, in simulated time"],
)
def test_an_arm_moves_once_it_is_described_and_ends_on_a_signal(
    tmp_path, own_domain, number, is_simulated
):
    log = tmp_path / "log"
    words = ["--ros-args", "-p", f"use_sim_time:={str(is_simulated).lower()}"]
    client = Client(own_domain, is_simulated)
    with running(own_domain, log, *words) as process, contextlib.closing(client):
        wait = "waiting for a robot description on /robot_description"
        client.until(lambda: wait in log.read_text(), passes=False)
        client.description.publish(String(data=URDF))
        if is_simulated:
            client.until(lambda: "waiting for the time on /clock" in log.read_text(), passes=False)
            assert client.joint_states == []
        client.until(lambda: client.joint_states and client.states)
        assert client.joint_states[-1].name == [*JOINTS, "jaw"]
        client.until(client.topic.get_subscription_count)
        client.topic.publish(trajectory(1, (0.2, 0.4, 0.1)))
        client.until(lambda: client.is_at(0.2, 0.4, 0.1))
        client.until(client.action.server_is_ready)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory(1, (0.0, 0.3, 0.0)))
        handle = client.result(client.action.send_goal_async(goal, client.feedback.append))
        result = client.result(handle.get_result_async())
        assert result.status == GoalStatus.STATUS_SUCCEEDED
        assert result.result.error_string == "Goal successfully reached!"
        client.until(lambda: client.is_at(0.0, 0.3, 0.0))
        assert client.feedback[0].feedback.joint_names == JOINTS
        goal = FollowJointTrajectory.Goal(trajectory=trajectory(30, (1.0, 0.3, 0.0)))
        assert client.result(client.action.send_goal_async(goal)).accepted
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0, log.read_text()
    assert "Traceback" not in log.read_text()


def test_a_misspelt_parameter_is_reported_before_the_description(complaint):
    line = complaint("simulated_arm", "publish_ratee:=100.0")
    assert "did you mean 'publish_rate'?" in line


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        (["robot_description:='<robot'"], "robot_description: line 1"),
        (["joints:=[turn, elbow]"], "joint 'elbow' is not one that can be controlled"),
        (["joints:=[turn, turn]"], "parameter 'joints' does not fit: joint 'turn'"),
        (["joints:=[]"], "leave out parameters that are []"),
        (["use_sim_time:=1"], "parameter 'use_sim_time' must be true or false, not 1"),
        (["joints:=[jaw]"], "there are turn, slide, wheel"),
        (
            ["publish_ratee:=100.0"],
            "parameter 'publish_ratee' does not exist; did you mean 'publish_rate'?",
        ),
        (["publish_rate:=5.0"], "parameter 'publish_rate' must lie in [10, 1000]"),
        (["publish_rate:=.nan"], "parameter 'publish_rate' must lie in [10, 1000]"),
        (["publish_rate:=fast"], "parameter 'publish_rate' must be a number"),
        (["initial_positions.elbow:=1.0"], "parameter 'initial_positions.elbow' does not exist"),
        (["initial_positions.jaw:=0.1"], "parameter 'initial_positions.jaw' does not exist"),
        (["initial_positions.turn:=2.5"], "parameter 'initial_positions.turn' must lie in"),
        (["constraints.elbow.goal:=1.0"], "parameter 'constraints.elbow.goal' does not exist"),
        (["constraints.turn.goal:=-1.0"], "parameter 'constraints.turn.goal' must lie in"),
        (
            ["blocked_joint:=elbow"],
            "'blocked_joint' must be empty or one of turn, slide, wheel, not",
        ),
        (["drive_time_constant:=-0.1"], "parameter 'drive_time_constant' must lie in [0, 1]"),
        (["feedback_delay:=2.0"], "parameter 'feedback_delay' must lie in [0, 1]"),
        (["joints"], "Couldn't parse parameter override rule"),
    ],
    ids=lambda value: value[0].partition(":=")[0] if isinstance(value, list) else "",
)
def test_a_bad_start_is_one_line_and_status_1(complaint, parameters, reported):
    assert reported in complaint("simulated_arm", f"robot_description:={URDF}", *parameters)

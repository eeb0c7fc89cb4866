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

"""The recorder of the node's tests catches what is bad: else its silence would mean nothing."""

import math

import numpy as np
import pytest
from robot_bench import HOME, PERIOD, Robot, logged_too_often
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@pytest.fixture(scope="module")
def robot(domain):
    robot = Robot(domain)
    yield robot
    robot.close()


@pytest.fixture(scope="module")
def send(robot):
    topic = "joint_trajectory_controller/joint_trajectory"
    publisher = robot.node.create_publisher(JointTrajectory, topic, 10)
    robot.wait(lambda: publisher.get_subscription_count() > 0, "the recorder listens")

    def send(names, positions, start=HOME):
        """Command the robot to go from where it is; return what it has to complain of."""
        # The recorder's own thread must not be on its way along the window before.
        robot.wait(lambda: robot.window is None, "the end of the window before")
        robot.recorded = 0.0
        robot.positions, robot.complaints = start.copy(), []
        seen = len(robot.commands)
        message = JointTrajectory(joint_names=names)
        message.header.stamp = robot.node.get_clock().now().to_msg()
        for k, each in enumerate((np.resize(start, len(positions)), positions, positions)):
            point = JointTrajectoryPoint(positions=[float(value) for value in each])
            point.time_from_start.nanosec = round(k * PERIOD * 1e9)
            message.points.append(point)
        publisher.publish(message)
        robot.wait(lambda: len(robot.commands) > seen, "the command")
        return robot.complaints

    return send


def with_elbow(value):
    return [*HOME[:2], value, *HOME[3:]]


def test_a_good_command_is_no_fault(robot, send):
    step = robot.chain.velocity * PERIOD
    assert send(list(robot.chain.joint_names), HOME + step) == []


@pytest.mark.parametrize(
    "positions",
    [
        with_elbow(math.nan),
        with_elbow(math.inf),
        with_elbow(-math.inf),
        with_elbow(HOME[2] + 0.033),  # 3.142 rad/s for 10 ms, and a little more
        with_elbow(HOME[2] - 0.033),
        np.append(HOME, 0.0),
        HOME[:5],
    ],
    ids=["nan", "inf", "-inf", "leap", "leap back", "seven", "five"],
)
def test_bad_numbers_are_a_fault(robot, send, positions):
    assert send(list(robot.chain.joint_names), positions) != []


@pytest.mark.parametrize("joint", range(6))
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_step_over_a_limit_is_a_fault(robot, send, side, joint):
    inside, outside = HOME.copy(), HOME.copy()
    inside[joint] = getattr(robot.chain, side)[joint]
    outside[joint] = inside[joint] + math.copysign(1e-6, inside[joint])
    assert send(list(robot.chain.joint_names), inside, inside) == []
    assert send(list(robot.chain.joint_names), outside, inside) != []


def test_joints_in_another_order_are_a_fault(robot, send):
    assert send(list(robot.chain.joint_names)[::-1], HOME) != []


def log(*lines):
    return "\n".join(f"[WARN] [{time:.9f}] [basis_ik]: {text}" for time, text in lines)


@pytest.mark.parametrize(
    "text", ["target refused: STALE: 2.1 s old", "joint state: NON_FINITE: a", "too far by 0.1 m"]
)
def test_a_reason_logged_twice_within_a_second_is_a_fault(text):
    other = text.replace("1", "2")
    assert logged_too_often(log((10.0, text), (10.5, other))) != []
    assert logged_too_often(log((10.0, text), (11.0, other), (12.0, text))) == []
    assert logged_too_often(log((10.0, text), (10.1, "target refused: NO_FRAME: b"))) == []
    assert logged_too_often(log((10.0, text)).replace("WARN", "INFO") * 2) == []

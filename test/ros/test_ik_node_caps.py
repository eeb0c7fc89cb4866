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

"""Caps on speeds and a margin at limits over DDS, checked on the commanded arm."""

import itertools
import time

import numpy as np
import pytest
from control_msgs.msg import JointJog
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import HOME, LEAD, PERIOD, down, running
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

READY, FAR = down(0.40, 0.20, 0.40), down(0.40, -0.35, 0.25)
CAP = 0.25


@pytest.fixture(scope="module", params=["joint_trajectory", "position"])
def robot(domain, request):
    words = (
        f"max_linear_speed:={CAP}",
        "capped_links:=[forearm_link]",
        f"command_interface:={request.param}",
    )
    with running(domain, *(word for each in words for word in ("-p", each))) as robot:
        robot.pairs = []  # of commands a period apart

        def keep(message):
            # A window's settled points; a node that is late leaves some periods out between two.
            way = [np.array(point.positions) for point in message.points[: 1 + LEAD]]
            times = [point.time_from_start.nanosec * 1e-9 for point in message.points[: 1 + LEAD]]
            whole = np.isclose(np.diff(times), PERIOD, rtol=1e-3)
            robot.pairs += [
                pair for pair, k in zip(itertools.pairwise(way), whole, strict=True) if k
            ]

        def keep_plain(message):
            robot.pairs.append((robot.last, np.array(message.data)))
            robot.last = robot.pairs[-1][1]

        robot.last = HOME
        topic = "joint_trajectory_controller"
        robot.node.create_subscription(JointTrajectory, f"{topic}/joint_trajectory", keep, 1000)
        robot.node.create_subscription(Float64MultiArray, f"{topic}/commands", keep_plain, 1000)
        yield robot


def go(robot, pose):
    robot.reach(pose, "the arm is there")
    robot.wait(robot.no_commands, "silence")


def fastest(robot, since):
    """Return the largest speeds of tip and elbow in the settled parts of windows [m/s]."""
    elbow = robot.model.chain(robot.chain.root, "forearm_link")
    peaks = []
    for chain in (robot.chain, elbow):
        count = len(chain.joint_names)
        speeds = [
            np.linalg.norm(np.diff([chain.forward(q[:count]).translation for q in pair], axis=0))
            for pair in robot.pairs[since:]
        ]
        peaks.append(max(speeds) / PERIOD)
    return peaks


def test_tip_and_elbow_keep_the_cap_and_a_lowered_one(robot):
    go(robot, READY)
    since = len(robot.pairs)
    go(robot, FAR)
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        robot.jog("base_link", linear=(0.0, 0.9, 0.0))
        time.sleep(0.02)
    robot.wait(robot.no_commands, "silence")
    tip, elbow = fastest(robot, since)
    assert 0.95 * CAP < tip <= CAP * (1.0 + 1e-6)
    assert elbow <= CAP * (1.0 + 1e-6)
    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.1)
    robot.call(
        SetParameters,
        "set_parameters",
        parameters=[Parameter(name="max_linear_speed", value=value)],
    )
    since = len(robot.pairs)
    go(robot, READY)
    assert 0.095 < fastest(robot, since)[0] <= 0.1 * (1.0 + 1e-6)
    assert robot.complaints == []


def test_a_margin_limits_the_joint(own_domain):
    margin = "joint_limit_margin:=[0.0, 0.0, 0.0, 0.0, 0.0, 5.5]"
    with running(own_domain, "-p", margin) as robot:
        jogs = robot.node.create_publisher(JointJog, "basis_ik/joint_jog", 1)
        robot.wait(jogs.get_subscription_count, "the node listens")
        bound = robot.chain.upper[5] - 5.5

        def held():
            jogs.publish(JointJog(joint_names=["wrist_3_joint"], velocities=[1.0]))
            time.sleep(0.02)
            return robot.statuses[-1].get("joint") == "wrist_3_joint"

        robot.wait(held, "it is held")
        assert float(robot.statuses[-1]["bound"]) == pytest.approx(bound)
        assert HOME[5] < robot.positions[5] <= bound + 1e-9
        robot.wait(robot.no_commands, "silence")

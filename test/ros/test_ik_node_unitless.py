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

"""`command_in_type: unitless`, over DDS, with the node in its own process."""

import time

import numpy as np
import pytest
from control_msgs.msg import JointJog
from robot_bench import PERIOD, down, running

READY = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot(domain):
    given = ("command_in_type:=unitless", "scale.linear:=0.1", "scale.joint:=0.4")
    words = [word for each in given for word in ("-p", each)]
    with running(domain, *words) as robot:
        robot.jogs = robot.node.create_publisher(JointJog, "basis_ik/joint_jog", 1)
        robot.wait(robot.jogs.get_subscription_count, "the node listens")
        yield robot


@pytest.fixture(autouse=True)
def _ready(robot):
    robot.go(READY)


def keep_sending(robot, send, way, far_enough):
    """Send until the arm has moved far enough; return the distance at each command."""

    def attempt():
        robot.go(READY)
        begun, start = len(robot.commands), way(robot.positions)

        def sent():
            send()
            time.sleep(0.02)
            return way(robot.positions) - start > far_enough

        robot.wait(sent, "the arm moves far enough")
        robot.wait(robot.no_commands, "silence")
        return [way(q) for q in robot.commands[begun:]]

    return np.array(robot.unstalled(attempt))


def test_a_twist_of_one_moves_with_the_scale_which_may_change(robot):
    for scale in (0.1, 0.05):
        assert robot.set_parameter("scale.linear", scale).successful
        heights = keep_sending(
            robot,
            lambda: robot.jog("base_link", linear=(0.0, 0.0, 1.0)),
            lambda q: robot.chain.forward(q).translation[2],
            0.03,
        )
        assert np.diff(heights).max() == pytest.approx(scale * PERIOD, rel=0.02)


def test_a_joint_velocity_of_one_moves_with_the_scale(robot):
    jog = JointJog(joint_names=["shoulder_pan_joint"], velocities=[-1.0])
    turned = keep_sending(robot, lambda: robot.jogs.publish(jog), lambda q: -q[0], 0.15)
    assert np.diff(turned).max() == pytest.approx(0.4 * PERIOD, rel=0.02)


def test_values_beyond_one_are_refused(robot):
    robot.jog("base_link", linear=(0.0, 1.001, 0.0))
    robot.wait(lambda: "OUT_OF_RANGE" in robot.statuses[-1].get("last_refusal", ""), "its refusal")
    assert "at most 1" in robot.statuses[-1]["last_refusal"]
    assert robot.no_commands()

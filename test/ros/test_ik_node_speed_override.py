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

"""`~/speed_override` and its parameter, over DDS, with the node in its own process."""

import math
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from point_head_client import SUCCEEDED, Client
from rcl_interfaces.srv import GetParameters
from robot_bench import down, running
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

from basis_ik.motion.pointing import STALL

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        robot.overrides = robot.node.create_publisher(Float64, "basis_ik/speed_override", 1)
        robot.wait(robot.overrides.get_subscription_count, "the node listens")
        yield robot


@pytest.fixture(autouse=True)
def _ready(robot):
    override(robot, 1.0)
    robot.go(NEAR)


def override(robot, value):
    robot.overrides.publish(Float64(data=value))
    robot.wait(lambda: robot.statuses[-1]["speed_override"] == f"{value:g}", "the override")


def parameter(robot):
    answer = robot.call(GetParameters, "get_parameters", names=["speed_override"])
    return answer.values[0].double_value


def rests(robot, seconds=0.3):
    before = robot.positions
    time.sleep(seconds)
    return np.array_equal(robot.positions, before)


def test_at_zero_the_arm_rests_and_later_continues(robot):
    robot.set_off(FAR)
    override(robot, 0.0)
    robot.wait(lambda: rests(robot), "rest")
    assert not robot.at(FAR, 0.05)
    status = robot.statuses[-1]
    assert status["state"] == "MOVING"
    assert status["level"] == DiagnosticStatus.WARN
    assert "speed override is 0" in status["message"]
    override(robot, 0.3)
    assert "speed override is 0.3" in robot.statuses[-1]["message"]
    robot.wait(lambda: robot.at(FAR), "the arm goes on")
    robot.wait_status(state="ARRIVED", level=DiagnosticStatus.OK)


def test_the_newest_of_topic_and_parameter_counts(robot):
    assert robot.set_parameter("speed_override", 0.5).successful
    robot.wait(lambda: robot.statuses[-1]["speed_override"] == "0.5", "the parameter")
    override(robot, 0.25)
    assert parameter(robot) == 0.25
    assert robot.set_parameter("speed_override", 0.5).successful
    robot.wait(lambda: robot.statuses[-1]["speed_override"] == "0.5", "the parameter")


@pytest.mark.parametrize(
    ("bad", "reason"), [(math.nan, "NON_FINITE"), (1.5, "OUT_OF_RANGE"), (-0.1, "OUT_OF_RANGE")]
)
def test_an_invalid_fraction_is_refused_and_the_last_one_stays(robot, bad, reason):
    override(robot, 0.5)
    count = robot.statuses[-1].get(f"refused.{reason}")
    robot.overrides.publish(Float64(data=bad))
    robot.wait(lambda: robot.statuses[-1].get(f"refused.{reason}") != count, "its refusal")
    assert robot.statuses[-1]["last_refusal"].startswith(reason)
    assert not robot.set_parameter("speed_override", bad).successful
    assert robot.statuses[-1]["speed_override"] == "0.5"
    assert parameter(robot) == 0.5


def test_twists_are_scaled(robot):
    full = 0.25 * 0.2 * 0.01

    def rise():
        override(robot, 1.0)
        robot.go(NEAR)
        override(robot, 0.25)
        begun = len(robot.commands)

        def steps():
            heights = [robot.chain.forward(q).translation[2] for q in robot.commands[begun:]]
            return np.append(0.0, np.diff(heights))

        def at_full_speed():  # which a machine that is late with the twists reaches later
            robot.jog("base_link", linear=(0.0, 0.0, 0.2))
            time.sleep(0.02)
            return np.sum(steps()) > 0.05 and np.max(steps()) > 0.98 * full

        robot.wait(at_full_speed, "the tip rises at full speed")
        robot.wait(robot.no_commands, "silence")
        return np.max(steps())

    assert robot.unstalled(rise) == pytest.approx(full, rel=0.02)


def test_at_zero_a_stop_ends_the_motion(robot):
    robot.set_off(FAR)
    override(robot, 0.0)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    robot.wait(robot.no_commands, "silence")
    override(robot, 1.0)
    assert robot.call(SetBool, "enable", data=True).success
    assert robot.no_commands(0.5)


def test_a_head_goal_waits_while_it_is_zero(robot):
    client = Client(robot)
    override(robot, 0.0)
    handle = client.send((0.8, 0.3, 0.4))
    time.sleep(STALL + 0.5)
    assert rests(robot)
    override(robot, 1.0)
    assert client.end(handle) == SUCCEEDED

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The speed override, by topic and by parameter: when it takes effect, and how exactly."""

import math

import numpy as np
import pytest
from bench import CYCLE, PERIOD, down, running
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
BRAKING = 0.38  # s that this arm needs at full speed, 50 ms of them until it begins


@pytest.fixture(scope="module")
def robot():
    with running() as robot:
        yield robot


@pytest.fixture(autouse=True)
def _near_at_full_speed(robot):
    override(robot, 1.0)
    robot.reach(NEAR, 1e-9)
    robot.wait(robot.rests, "silence")
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


def override(robot, value):
    """Publish an override, which the node reports in its next period."""
    if robot.statuses[-1]["speed_override"] == f"{value:g}":
        return
    begin = robot.time
    robot.overrides.publish(Float64(data=value))
    robot.wait_status(speed_override=f"{value:g}")
    assert robot.statuses[-1]["heard"] - begin <= PERIOD + 1e-9


def parameter(robot):
    answer = robot.call(GetParameters, "get_parameters", names=["speed_override"])
    return answer.values[0].double_value


def speeds(robot, begin):
    """Return the largest fraction of a joint's limit in each cycle since a time [ns]."""
    way = [positions for time, positions in robot.arm.outputs if time >= begin]
    speeds = np.abs(np.diff(way, axis=0)) / (1e-9 * CYCLE)
    return (speeds / robot.arm.limits.velocity).max(axis=1)


def test_at_zero_the_arm_brakes_at_once_and_later_continues(robot):
    robot.set_off(FAR)
    override(robot, 0.0)
    robot.run(BRAKING)
    begin = robot.world.now
    robot.run(1.0)
    assert not speeds(robot, begin).any()
    assert not robot.at(FAR, 0.05)
    status = robot.statuses[-1]
    assert (status["state"], status["level"]) == ("MOVING", DiagnosticStatus.WARN)
    assert status["message"] == "on the way; speed override is 0"
    override(robot, 0.3)
    assert robot.statuses[-1]["message"] == "on the way; speed override is 0.3"
    robot.wait_status(state="ARRIVED", level=DiagnosticStatus.OK)
    assert robot.at(FAR, 1e-9)
    assert speeds(robot, begin).max() == pytest.approx(0.3, rel=1e-3)


def test_the_newest_of_topic_and_parameter_counts(robot):
    assert robot.set_parameter("speed_override", 0.5).successful
    robot.run(PERIOD)
    assert robot.statuses[-1]["speed_override"] == "0.5"
    override(robot, 0.25)
    assert parameter(robot) == 0.25
    assert robot.set_parameter("speed_override", 0.5).successful
    robot.run(PERIOD)
    assert robot.statuses[-1]["speed_override"] == "0.5"


@pytest.mark.parametrize(
    ("bad", "reason"), [(math.nan, "NON_FINITE"), (1.5, "OUT_OF_RANGE"), (-0.1, "OUT_OF_RANGE")]
)
def test_an_invalid_fraction_is_refused_and_the_last_one_stays(robot, bad, reason):
    override(robot, 0.5)
    count = int(robot.statuses[-1].get(f"refused.{reason}", 0))
    robot.overrides.publish(Float64(data=bad))
    robot.run(2 * PERIOD)
    assert robot.statuses[-1][f"refused.{reason}"] == str(count + 1)
    assert robot.statuses[-1]["last_refusal.speed_override"].startswith(reason)
    assert not robot.set_parameter("speed_override", bad).successful
    robot.run(1.0)
    assert robot.statuses[-1]["speed_override"] == "0.5"
    assert parameter(robot) == 0.5


def test_twists_are_scaled(robot):
    override(robot, 0.25)
    first = len(robot.arm.outputs)
    for _ in range(50):
        robot.jog("base_link", linear=(0.0, 0.0, 0.2))
        robot.run(0.02)
    heights = [robot.chain.forward(q).translation[2] for _, q in robot.arm.outputs[first:]]
    upwards = np.diff(heights) / (1e-9 * CYCLE)
    assert np.allclose(upwards[-250:], 0.25 * 0.2, rtol=1e-6, atol=0.0)
    assert max(upwards) == pytest.approx(0.25 * 0.2, rel=1e-3), "while it gets faster"


def test_at_zero_a_stop_ends_the_motion(robot):
    robot.set_off(FAR)
    override(robot, 0.0)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    count = len(robot.commands)
    override(robot, 1.0)
    assert robot.call(SetBool, "enable", data=True).success
    robot.run(1.0)
    assert len(robot.commands) == count

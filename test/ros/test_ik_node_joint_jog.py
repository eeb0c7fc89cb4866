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

"""`~/joint_jog`: joints one by one, over DDS, with the node in its own process."""

import math
import time

import numpy as np
import pytest
from control_msgs.msg import JointJog
from robot_bench import down, running

READY = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        robot.jogs = robot.node.create_publisher(JointJog, "basis_ik/joint_jog", 1)
        robot.wait(robot.jogs.get_subscription_count, "the node listens")
        yield robot


@pytest.fixture(autouse=True)
def _ready(robot):
    robot.go(READY)


def jog(robot, velocities, *, stamped=True, **fields):
    message = JointJog(joint_names=list(velocities), velocities=list(velocities.values()), **fields)
    if stamped:
        message.header.stamp = robot.node.get_clock().now().to_msg()
    robot.jogs.publish(message)


def keep_jogging(robot, velocities, until, what):
    def asked():
        jog(robot, velocities)
        time.sleep(0.02)
        return until()

    robot.wait(asked, what)


def test_joints_move_as_commanded_until_the_timeout(robot):
    start = robot.positions
    velocities = {"elbow_joint": -0.5, "wrist_3_joint": 0.25}
    keep_jogging(robot, velocities, lambda: start[2] - robot.positions[2] > 0.3, "the elbow bends")
    robot.wait(robot.no_commands, "silence when nothing more comes")
    moved = robot.positions - start
    assert moved[2] < -0.3
    assert moved[5] == pytest.approx(-0.5 * moved[2], rel=0.1)
    assert np.array_equal(moved[[0, 1, 3, 4]], np.zeros(4))
    assert robot.complaints == []


def test_the_newest_kind_of_input_is_followed_and_reported(robot):
    start, seen = robot.positions, len(robot.statuses)

    def alternates():
        robot.jog("base_link", linear=(0.0, 0.0, 0.1))
        time.sleep(0.05)
        jog(robot, {"shoulder_pan_joint": 0.6})
        time.sleep(0.05)
        reported = {status.get("input") for status in robot.statuses[seen:]}
        return {"twist", "joint_jog"} <= reported and robot.positions[0] - start[0] > 0.02

    robot.wait(alternates, "both lead in turn")
    robot.wait_status(state="READY")
    assert "input" not in robot.statuses[-1]
    robot.send("base_link", READY)
    robot.wait_status(input="pose")
    assert robot.complaints == []


def test_poses_and_twists_replace_joint_velocities_in_motion(robot):
    start = robot.positions
    far = lambda: abs(robot.positions[0] - start[0]) > 0.2  # noqa: E731
    keep_jogging(robot, {"shoulder_pan_joint": 0.6}, far, "the arm turns")
    robot.reach(READY, "the arm is back")
    keep_jogging(robot, {"shoulder_pan_joint": 0.6}, far, "the arm turns")
    before = robot.tip().translation

    def rises():
        robot.jog("base_link", linear=(0.0, 0.0, 0.2))
        time.sleep(0.02)
        return robot.tip().translation[2] - before[2] > 0.05

    robot.wait(rises, "the tip rises")
    robot.wait(robot.no_commands, "silence")
    assert robot.complaints == []


@pytest.mark.parametrize(
    ("velocities", "fields", "reason"),
    [
        ({"elbow_join": 0.1}, {}, "UNKNOWN_JOINT"),
        ({"elbow_joint": math.nan}, {}, "NON_FINITE"),
        ({"elbow_joint": 1e9}, {}, "OUT_OF_RANGE"),
        ({"elbow_joint": 0.1}, {"displacements": [0.1]}, "UNSUPPORTED"),
    ],
)
def test_invalid_names_and_velocities_are_refused(robot, velocities, fields, reason):
    jog(robot, velocities, **fields)
    robot.wait(lambda: robot.statuses[-1].get("last_refusal", "").startswith(reason), "its refusal")
    assert robot.no_commands()


def test_a_joint_twice_and_too_few_velocities_are_refused(robot):
    for names, reason in ((["elbow_joint"] * 2, "DUPLICATE_JOINT"), ([], "SIZE_MISMATCH")):
        robot.jogs.publish(JointJog(joint_names=names, velocities=[0.1, 0.1]))
        robot.wait(
            lambda reason=reason: robot.statuses[-1].get("last_refusal", "").startswith(reason),
            "its refusal",
        )
    assert robot.no_commands()


def test_stamp_zero_means_now_and_an_old_stamp_is_refused(robot):
    start = robot.positions
    jog(robot, {"wrist_3_joint": 1.5}, stamped=False)
    robot.wait(lambda: robot.positions[5] - start[5] > 0.05, "the wrist turns")
    robot.wait(robot.no_commands, "silence")
    message = JointJog(joint_names=["wrist_3_joint"], velocities=[0.5])
    message.header.stamp.sec = 1
    robot.jogs.publish(message)
    robot.wait(lambda: robot.statuses[-1].get("last_refusal", "").startswith("STALE"), "refusal")
    assert robot.no_commands()

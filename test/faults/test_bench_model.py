# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of the robot description at run time."""

import itertools

import numpy as np
from bench import PERIOD, URDF, Robot
from bench_arm import FAR, NEAR, arrives, brakes, robot_of, stands
from std_msgs.msg import String
from world import MILLISECOND

LATE = 30.0  # s
SLOWER = URDF.replace('name="ur5e"', 'name="slower"', 1).replace('velocity="3.14', 'velocity="1.57')


class Undescribed(Robot):
    """Its description comes when the test says so."""

    def topic(self, name):
        topic = super().topic(name)
        topic.link.loss = float(name == "/robot_description")
        return topic


def large(joints):
    """Return the robot with so many joints: more of them, in rows of ten that hang on its base."""
    parts = []
    for k in range(joints - URDF.count("<joint ")):
        parent = f"more_{k - 1}" if k % 10 else "base_link"
        parts.append(
            f'<link name="more_{k}"/><joint name="joint_of_{k}" type="revolute"><parent '
            f'link="{parent}"/><child link="more_{k}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>\n'
        )
    text = URDF.replace('name="ur5e"', 'name="large"', 1)
    return text.replace("</robot>", "".join(parts) + "</robot>")


def said(robot, words):
    """Return how often words are in the node's log."""
    return "\n".join(robot.log.lines()).count(words)


def describe(robot, text):
    robot.description.publish(String(data=text))


def test_row_39_a_late_description(observed):
    with robot_of(kind=Undescribed, ready=False) as robot:
        robot.run(LATE)
        assert robot.commands == []
        assert robot.state() == "unconfigured"
        waiting = said(robot, "waiting for a robot description")
        assert 1 <= waiting <= LATE / 5.0 + 1
        robot.description.link.loss = 0.0
        for _ in range(2):  # it may be published twice
            describe(robot, URDF)
            robot.wait_status(state="READY")
            assert stands(robot, 1.0)
        assert said(robot, "ready: ") == 1
    observed(f"unconfigured for {LATE:.0f} s, which it says {waiting} times; configured once")


def test_row_43_another_description_at_run_time(robot, observed):
    robot.set_off(FAR, 0.4)
    for text in (URDF, URDF[: len(URDF) // 2], "", "<!DOCTYPE robot><robot name='x'/>"):
        describe(robot, text)
        robot.run(0.05)
    arrives(robot, FAR)
    assert said(robot, "ready: ") == 1
    assert said(robot, "robot description refused") > 0
    observed("the same, a malformed one: the motion goes on")
    robot.reach(NEAR)
    robot.set_off(FAR, 0.4)
    robot.publishing = False
    describe(robot, SLOWER)
    brakes(robot)
    assert said(robot, "ready: slower") == 1
    robot.wait_status(state="WAITING")
    robot.send("base_link", NEAR)
    assert stands(robot), "no command before a joint state"
    robot.publishing = True
    robot.wait_status(state="READY")
    assert stands(robot), "nothing of before is taken up"
    first = len(robot.arm.outputs)
    robot.reach(NEAR)
    steps = np.diff([output for _, output in robot.arm.outputs[first:]], axis=0)
    assert 0.9 < np.abs(steps / 0.002).max() / 1.57 <= 1.003
    observed("another one: HOLD, then its limits hold, and nothing is taken up")


def test_row_93_a_large_description_in_mid_motion(observed):
    """Reading takes 0.1 s here; on what else a thread keeps from a period, the bench is silent.

    With a cap there is a window in each period.
    """
    text = large(990)
    assert len(text) > 190_000
    with robot_of("-p", "tip_link:=tool0") as robot:
        assert robot.set_parameter("max_linear_speed", 0.05).successful
        robot.set_off(FAR, 0.05)
        robot.boundary.solving = 0.1
        count, begin = len(robot.commands), robot.world.now
        describe(robot, text)
        robot.wait(lambda: said(robot, "braking before it is used"), "it is read")
        times = [begin, *(command.time for command in robot.commands[count:])]
        assert len(times) > 0.1 / PERIOD
        assert max(b - a for a, b in itertools.pairwise(times)) <= 10 * MILLISECOND
        robot.boundary.solving = 0.0
        robot.wait(lambda: said(robot, "ready: large"), "it is taken")
        robot.wait_status(state="READY")
        assert stands(robot), "nothing of before is taken up"
        assert robot.set_parameter("max_linear_speed", 0.0).successful
        observed(
            f"{len(text) // 1000} kB: a command in each of the {len(times) - 1} periods meanwhile"
        )

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the node waits for before it moves an arm, and how often it repeats a motion."""

import contextlib

import numpy as np
import pytest
from bench import HOME, PERIOD, Robot, down
from std_msgs.msg import String

from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
AUTOSTART = 0.5  # s between two checks whether another node has the node's name
RETRY_DELAY, RETRIES = 0.3, 2  # s of rest, after which a motion is repeated; and how often


class Undescribed(Robot):
    """Its description comes when the test says so."""

    def topic(self, name):
        topic = super().topic(name)
        topic.link.loss = float(name == "/robot_description")
        return topic

    def describe(self):
        self.description.link.loss = 0.0
        self.description.publish(String(data=self.urdf))


@pytest.fixture
def begin():
    """Start a robot, with a node of its own."""
    with contextlib.ExitStack() as stack:

        def start(*words, kind=Robot):
            robot = kind(*words)
            stack.callback(robot.end)
            return robot

        yield start


def test_shutdown_is_final(begin):
    robot = begin()
    robot.wait_status(state="READY")
    robot.set_off(FAR, 0.05)
    assert robot.transit("shutdown")
    assert robot.state() == "finalized"
    count = len(robot.commands)
    robot.send("base_link", NEAR)
    robot.run(2.0)
    assert len(robot.commands) == count
    outputs = np.array([output for _, output in robot.arm.outputs[-50:]])
    assert (outputs == outputs[0]).all(), "the arm rests"
    assert not robot.at(FAR, 1e-2)


def test_a_node_activates_by_itself_once_the_other_of_its_name_is_gone(begin):
    robot = begin()
    robot.boundary.sources["alike"] = 2
    robot.run(4 * AUTOSTART + 2 * PERIOD)  # it has just checked
    assert robot.commands == robot.statuses == []
    told = [line for line in robot.log.lines() if "cannot activate" in line]
    assert len(told) == 1
    assert "end one of them; then this one activates by itself" in told[0]
    robot.boundary.sources["alike"] = 1
    gone = robot.time
    robot.wait_status(state="READY")
    assert AUTOSTART - 2 * PERIOD < robot.time - gone <= AUTOSTART
    robot.reach(NEAR, 1e-9)


def test_missing_joint_states_are_logged_once(begin):
    robot = begin(kind=Undescribed)
    robot.publishing = False
    robot.run(1.0)
    robot.describe()
    robot.wait_status(state="WAITING")
    robot.send("base_link", NEAR)
    robot.run(1.5)
    assert robot.commands == []
    robot.publishing = True
    begun = robot.time
    robot.wait_status(state="READY")
    assert robot.time - begun <= 2 * PERIOD
    assert robot.rests(), "a target of before is not replayed"
    robot.reach(NEAR, 1e-9)
    log = "\n".join(robot.log.lines())
    assert log.count("waiting: no joint state of shoulder_pan_joint") == 1
    assert log.count("waiting for a robot description") == 1
    assert [text[:26] for level, text in robot.log if level != "info"] == [
        "target refused: NOT_READY:"
    ]


def test_configuring_without_a_description_fails_with_a_reason(begin):
    robot = begin("-p", "autostart:=false", kind=Undescribed)
    assert not robot.transit("configure")
    assert robot.state() == "unconfigured"
    robot.describe()
    assert robot.transit("configure")
    assert robot.state() == "inactive"
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    log = "\n".join(robot.log.lines())
    assert "cannot configure: no robot description received yet" in log
    assert "base_link to tool0; commands go to /joint_trajectory_controller" in log
    assert "joint elbow_joint: -3.142 to 3.142 rad, at most 3.142 rad/s" in log


def test_a_node_that_could_not_be_configured_still_starts_by_itself(begin):
    robot = begin(kind=Undescribed)
    assert not robot.transit("configure")
    robot.describe()
    robot.wait_status(state="READY")


# Motions that the controller has not finished --------------------------------------------------


@pytest.fixture
def short(begin):
    """A robot whose mute controller gets no commands."""
    robot = begin("-p", "tracking_lag:=2.0")
    robot.controller_states.link.loss = 1.0
    robot.boundary.sources["publishers"] = 0
    robot.wait_status(state="READY")
    robot.commanding.loss = 1.0
    robot.send("base_link", FAR)
    return robot


def test_the_motion_of_an_arm_short_of_its_target_is_repeated(short):
    short.wait_status(state="HOLDING")
    ended = short.statuses[-1]["heard"]
    short.commanding.loss = 0.0
    short.wait_status(state="ARRIVED")
    assert short.statuses[-1]["heard"] - ended >= RETRY_DELAY
    first, second = (1e-9 * command.time for command in short.commands)
    assert first < ended
    rests = RETRY_DELAY + 25 * PERIOD  # the last command is repeated first
    assert RETRY_DELAY <= second - ended <= rests + 3 * PERIOD + 1e-9
    short.wait(short.rests, "silence")
    assert short.at(FAR, 1e-9)
    # Less than the distance for which a repeated target restarts the motion.
    short.positions = short.positions + 0.03 * np.eye(6)[5]
    count = len(short.commands)
    short.run(1.5)
    assert len(short.commands) == count, "whoever moves an arm that has been there means it"


def test_the_motion_is_repeated_a_few_times_only(short):
    short.wait_status(state="HOLDING")
    short.run(10.0)
    assert len(short.commands) == 1 + RETRIES
    assert short.statuses[-1]["state"] == "HOLDING"
    short.commanding.loss = 0.0
    short.run(2.0)
    assert len(short.commands) == 1 + RETRIES
    assert np.array_equal(short.positions, HOME)


def test_a_motion_that_the_controller_does_not_begin_is_sent_again_once_it_must_be_lost(begin):
    """While it could still come, a second one could be taken after it, and lead back."""
    robot = begin()
    robot.wait_status(state="READY")
    robot.run(0.1)
    robot.commanding.loss = 1.0
    robot.send("base_link", FAR)
    robot.run(1.9)
    assert len(robot.commands) == 1
    robot.commanding.loss = 0.0
    robot.wait_status(state="ARRIVED")
    assert robot.at(FAR, 1e-9)
    assert len(robot.commands) == 2


def test_a_motion_that_the_controller_never_begins_is_given_up(begin):
    robot = begin()
    robot.wait_status(state="READY")
    robot.run(0.1)
    robot.commanding.loss = 1.0
    robot.send("base_link", FAR)
    robot.run(10.0)
    assert len(robot.commands) == 4, "the last one is refused, and replaces one that waits"
    assert robot.statuses[-1]["state"] == "READY"
    assert "the controller has not taken the motion" in robot.statuses[-1]["message"]
    assert np.array_equal(robot.positions, HOME)


def test_a_line_goes_on_if_the_controller_has_missed_its_windows(begin):
    robot = begin("-p", "max_velocity_scaling_factor:=0.1", "-p", "path:=straight")
    robot.wait_status(state="READY")
    robot.run(0.1)
    target = robot.tip() @ RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, -0.1])
    robot.set_off(target, 0.05)
    robot.commanding.loss = 1.0
    robot.run(1.0)
    assert robot.rests()
    assert not robot.at(target, 1e-2), "it has braked"
    robot.commanding.loss = 0.0
    robot.wait_status(state="ARRIVED")
    assert robot.at(target, 1e-6)

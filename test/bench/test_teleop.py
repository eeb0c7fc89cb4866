# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm that is moved by keys."""

import functools
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from bench import URDF, down, running
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import SetBool
from world import MILLISECOND

from basis_ik.extras import teleop_keyboard
from basis_ik.extras.teleop_keyboard import TeleopKeyboard

READY = down(0.40, 0.20, 0.40)
TURN = 20 * MILLISECOND  # of the program
REPEAT = 0.04  # s between two strokes of a held key
SPEED = 0.1  # m/s, the default
LATER = 0.05  # s by which the reaction is later in motion than at rest


@pytest.fixture(scope="module")
def robot():
    with running() as robot:
        yield robot


@pytest.fixture(scope="module")
def node(robot):
    """A `teleop_keyboard` whose messages and requests reach the robot's node."""
    own = functools.partialmethod(Node.__init__, use_global_arguments=False)
    with mock.patch.object(Node, "__init__", own):
        node = TeleopKeyboard()
    node.sent = []

    def publish(message):
        node.sent.append((robot.time, message))
        message.header.stamp = robot.stamp()
        robot.loop.spinner.receive(node._twists.topic_name, message)

    node._twists.publish = publish
    for client in (node._stop, node._enable):
        name = node.resolve_service_name(client.srv_name)
        client.call_async = lambda request, name=name: robot.loop.spinner.request(name, request)
    node._on_description(String(data=robot.urdf))
    robot.world.every(TURN, node.publish_twist)
    return node


@pytest.fixture(autouse=True)
def _ready(robot, node, monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: robot.time)
    monkeypatch.setattr(teleop_keyboard, "time", clock)
    assert robot.call(SetBool, "enable", data=True).success
    robot.reach(READY, 1e-9)
    robot.wait(robot.rests, "silence")
    node.sent.clear()
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


def hold(robot, node, key):
    """Hold a key for 0.4 s; return when it was pressed first."""
    begin = robot.time
    for _ in range(10):
        node.press(key)
        robot.run(REPEAT)
    return begin


def test_a_held_key_moves_the_tip_and_its_release_stops_it(robot, node):
    begin = hold(robot, node, "r")
    robot.wait(robot.rests, "it stops")
    lasts = 9 * REPEAT + 0.15
    times, speeds = zip(*((time, each.twist.linear.z) for time, each in node.sent), strict=True)
    assert times[0] - begin <= 1e-9 * TURN
    assert lasts <= times[-1] - begin <= lasts + 1e-9 * TURN
    assert np.allclose(np.diff(times), 1e-9 * TURN, rtol=0.0, atol=1e-9)
    assert speeds == (*[SPEED] * (len(speeds) - 1), 0.0)
    assert {each.header.frame_id for _, each in node.sent} == {"base_link"}
    x, y, z = robot.tip().translation - READY.translation
    assert max(abs(x), abs(y)) < 1e-8
    assert z == pytest.approx(SPEED * (times[-1] - times[0] + LATER), abs=1e-3)
    assert robot.statuses[-1]["state"] == "READY"


def test_the_axes_of_the_tip_can_be_selected(robot, node):
    node.press("t")
    assert node.line.startswith("tool0: 0.100 m/s")
    hold(robot, node, "r")
    node.press("t")
    assert node.line.startswith("base_link: 0.100 m/s")
    robot.wait(robot.rests, "it stops")
    x, y, z = robot.tip().translation - READY.translation
    assert max(abs(x), abs(y)) < 1e-8
    assert z < -0.03, "the tool points down"


def test_space_stops_the_arm_until_it_is_enabled(robot, node):
    hold(robot, node, "o")
    assert not robot.at(READY, 1e-2), "the tip turns"
    node.press(" ")
    robot.wait(robot.rests, "it stops")
    assert robot.statuses[-1]["state"] == "STOPPED"
    held = robot.positions
    hold(robot, node, "o")
    node.press("e")
    robot.run(0.5)
    assert robot.statuses[-1]["state"] == "READY"
    assert np.array_equal(robot.positions, held)


def test_two_keys_open_and_close_the_gripper(node):
    sent = []
    node._gripper.publish = lambda message: sent.append(message.data)
    for key in "vcx":
        node.press(key)
    assert sent == [1.0, 0.0]


@pytest.mark.usefixtures("robot")
def test_the_frames_have_the_frame_prefix():
    given = [Parameter("frame_prefix", value="arm1/")]
    own = functools.partialmethod(
        Node.__init__, use_global_arguments=False, parameter_overrides=given
    )
    with mock.patch.object(Node, "__init__", own):
        node = TeleopKeyboard()
    node._on_description(String(data=URDF))
    assert node.line.startswith("arm1/base_link: ")
    node.press("t")
    assert node.line.startswith("arm1/tool0: ")
    node.destroy_node()

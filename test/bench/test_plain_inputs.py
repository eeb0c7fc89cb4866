# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages without a header, a joystick's axes, and turns along other axes than the way."""

import math

import numpy as np
import pytest
from bench import HOME, down, running
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Twist
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger
from world import SECOND

from basis_ik.arm.admission import Refusal
from basis_ik.arm.target_input import FrameStamp
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

READY = down(0.40, 0.20, 0.40)
TILTED = RigidTransform.from_rpy(0.3, -0.5, 0.8)
RATE = 40  # messages a second
GIVEN = {
    "plain_inputs": "[twist, target_pose, device_pose]",
    "joy.axes": "[1, 0, -1, 2, 3, 4]",
    "joy.enable_button": "2",
    "scale.linear": "0.1",
    "scale.rotational": "0.2",
    "home": HOME.tolist(),
}
DEFLECTED = [0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def started():
    words = [word for name, value in GIVEN.items() for word in ("-p", f"{name}:={value}")]
    with running(*words) as robot:
        robot.place("base_link", "tilted", TILTED)
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests; afterwards nothing unsafe may have been commanded."""
    reach(started, READY)
    yield started
    for name in ("plain_frame", "angular_frame"):
        assert started.set_parameter(name, "").successful
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []


def reach(robot, pose):
    robot.topic("target_pose").publish(pose_message(pose))
    robot.wait(lambda: robot.at(pose, 1e-6), "the arm is there")
    robot.wait(robot.rests, "silence")


def twist(x=0.0, z=0.0, *, turn=0.0):
    message = Twist()
    message.linear.x, message.linear.z, message.angular.z = x, z, turn
    return message


def stick(robot, axes, buttons, stamp=None):
    message = Joy(axes=axes, buttons=buttons)
    message.header.frame_id = "joy"
    message.header.stamp = robot.stamp() if stamp is None else stamp
    return message


def send(robot, topic, make, seconds=0.5):
    """Send for a while, then let the arm come to rest."""
    for k in range(round(seconds * RATE)):
        robot.world.at(
            robot.world.now + k * SECOND // RATE, lambda: robot.topic(topic).publish(make())
        )
    robot.run(seconds)
    robot.wait(robot.rests, "silence")
    robot.run(0.6)
    return robot.tip()


def moved(robot, tip):
    """Return by what the tip has moved since READY [m], and turned [rad], along the root's axes."""
    axis, angle = (tip @ READY.inverse()).as_axis_angle()
    return tip.translation - READY.translation, angle * axis


@pytest.mark.parametrize("frame", ["", "tilted", "tool0"])
def test_plain_twists_are_along_the_axes_of_the_plain_frame(robot, frame):
    assert robot.set_parameter("plain_frame", frame).successful
    axes = {"": RigidTransform.identity(), "tilted": TILTED, "tool0": READY}[frame]
    way, turn = moved(robot, send(robot, "twist", lambda: twist(0.1)))
    along = axes.apply_vector((1.0, 0.0, 0.0))
    assert 0.05 < way @ along < 0.07
    assert np.allclose(way - (way @ along) * along, 0.0, atol=1e-6)
    assert np.allclose(turn, 0.0, atol=1e-6)


@pytest.mark.parametrize("frame", ["tilted", "tool0"])
def test_turns_may_be_along_other_axes_than_the_way(robot, frame):
    assert robot.set_parameter("angular_frame", frame).successful
    about = {"tilted": TILTED, "tool0": READY}[frame].apply_vector((0.0, 0.0, 1.0))
    way, turn = moved(robot, send(robot, "twist", lambda: twist(0.1, turn=0.2)))
    assert 0.05 < way[0] < 0.07
    assert np.allclose(way[1:], 0.0, atol=1e-3), "in a turn it brakes joint by joint"
    assert 0.1 < turn @ about < 0.14
    assert np.allclose(turn - (turn @ about) * about, 0.0, atol=1e-3)


def test_turns_in_a_frame_that_tf_lacks_are_refused(robot):
    assert robot.set_parameter("angular_frame", "nowhere").successful
    assert robot.at(send(robot, "twist", lambda: twist(0.1)), 1e-9)
    assert robot.statuses[-1]["last_refusal.twist"].startswith("NO_TRANSFORM")


def test_zeros_of_a_device_that_nobody_touches_end_nothing(robot):
    for topic, make in (
        ("twist", twist), ("joy", lambda: stick(robot, DEFLECTED, [0, 0, 0])),
    ):  # fmt: skip
        robot.topic("target_pose").publish(pose_message(down(0.35, 0.1, 0.45)))
        send(robot, topic, make, seconds=0.2)
        assert robot.at(down(0.35, 0.1, 0.45), 1e-6)
        reach(robot, READY)


def test_a_zero_ends_the_twist_before_it(robot):
    assert robot.set_parameter("incoming_command_timeout", 1.0).successful
    robot.topic("twist").publish(twist(0.1))
    robot.run(0.2)
    robot.topic("twist").publish(twist())
    robot.wait(robot.rests, "silence", 0.8)
    assert robot.set_parameter("incoming_command_timeout", 0.1).successful


def test_a_joystick_moves_the_tip_while_its_button_is_held(robot):
    way, turn = moved(robot, send(robot, "joy", lambda: stick(robot, DEFLECTED, [0, 0, 1])))
    assert 0.05 < way[0] < 0.07, "scale.linear, in the root although its frame is another one"
    assert np.allclose([*way[1:], *turn], 0.0, atol=1e-6)
    reach(robot, READY)
    way, turn = moved(robot, send(robot, "joy", lambda: stick(robot, [0, 0, 0, 0, 1.0], [1, 1, 1])))
    assert 0.1 < turn[2] < 0.14
    reach(robot, READY)
    for buttons in ([1, 1, 0], [], [1, 1]):
        assert robot.at(send(robot, "joy", lambda b=buttons: stick(robot, DEFLECTED, b)), 1e-9)


def test_letting_the_button_go_brakes_at_once(robot):
    assert robot.set_parameter("incoming_command_timeout", 1.0).successful
    robot.topic("joy").publish(stick(robot, DEFLECTED, [0, 0, 1]))
    robot.run(0.2)
    robot.topic("joy").publish(stick(robot, DEFLECTED, [0, 0, 0]))
    robot.wait(robot.rests, "silence", 0.8)
    assert robot.set_parameter("incoming_command_timeout", 0.1).successful


def late(robot):
    seconds, nanoseconds = divmod(robot.boundary.system() - 3 * SECOND, SECOND)
    return stick(robot, DEFLECTED, [0, 0, 1], Time(sec=seconds, nanosec=nanoseconds))


def early(robot):
    seconds, nanoseconds = divmod(robot.boundary.system() + SECOND, SECOND)
    return stick(robot, DEFLECTED, [0, 0, 1], Time(sec=seconds, nanosec=nanoseconds))


NAN = math.nan
BAD = {
    "SIZE_MISMATCH": ("joy", lambda robot: stick(robot, [0.0, 1.0], [0, 0, 1])),
    "OUT_OF_RANGE": ("joy", lambda robot: stick(robot, [0.0, 1.1, 0.0, 0.0, 0.0], [0, 0, 1])),
    "NON_FINITE": ("joy", lambda robot: stick(robot, [0.0, NAN, 0.0, 0.0, 0.0], [0, 0, 1])),
    "STALE": ("joy", late),
    "FUTURE": ("joy", early),
    "NON_FINITE of a twist": ("twist", lambda robot: twist(NAN)),
    "NON_FINITE of a pose": ("target_pose", lambda robot: pose_message(READY)),
    "BAD_QUATERNION": ("target_pose", lambda robot: Pose()),
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_messages_are_refused_and_move_nothing(robot, reason):
    topic, make = BAD[reason]
    message = make(robot)
    if reason == "NON_FINITE of a pose":
        message.position.x = NAN
    elif reason == "BAD_QUATERNION":
        message.orientation.w = 0.0
    robot.topic(topic).publish(message)
    robot.run(0.2)
    name = "twist" if topic == "joy" else topic
    assert robot.statuses[-1][f"last_refusal.{name}"].startswith(reason.split()[0])
    assert robot.at(READY, 1e-6)


def test_a_plain_device_leads_the_tip(robot):
    for held, x in ((False, 0.0), (True, 0.0), (True, 0.03), (True, 0.06)):
        robot.topic("clutch").publish(Bool(data=held))
        away = RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, 2.0, 0.0))
        robot.topic("device_pose").publish(pose_message(away))
        robot.run(0.03)
    assert robot.statuses[-1]["clutch"] == "engaged"
    robot.wait(robot.rests, "silence")
    assert robot.tip().translation[0] - READY.translation[0] > 0.001


def test_a_stopped_arm_takes_no_joystick(robot):
    assert robot.call(Trigger, "stop").success
    assert robot.at(send(robot, "joy", lambda: stick(robot, [1.0], [0, 0, 1])), 1e-9)
    assert robot.statuses[-1]["last_refusal.twist"].startswith("NOT_READY")
    assert robot.call(SetBool, "enable", data=True).success


def test_no_message_is_fatal_while_it_is_not_known_where_the_arm_is(robot):
    assert robot.set_parameter("angular_frame", "tool0").successful
    (controller,) = robot.loop.node._robot.controllers
    robot.topic("clutch").publish(Bool(data=False))
    assert robot.call(Trigger, "stop").success
    assert robot.call(SetBool, "enable", data=True).success
    robot.run(0.1)
    controller.arm.measured.reset()  # as after a jump of the clock
    controller._on_clutch(Bool(data=True))
    controller.arm.take_device_pose(FrameStamp("device", 0, 0), READY, controller._now())
    assert controller.arm.clutch.text == "held"
    controller._on_plain_twist(twist(0.1))
    assert controller.arm.refusals.last["twist"].refused.reason is Refusal.NOT_READY
    robot.run(1.0)
    assert robot.statuses[-1]["state"] == "READY"

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A device leads the tip while its clutch is held."""

import math

import numpy as np
import pytest
from bench import HOME, PERIOD, running
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool, Trigger
from test_joint_target import stream
from world import SECOND

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

AWAY = RigidTransform.from_rpy(0.4, -0.3, 2.0, [1.0, -2.0, 1.5])  # where the device is at first
CAMERA = RigidTransform.from_rpy(-2.0, 0.1, 0.7, [0.3, 0.2, 1.0])
RATE = 50  # poses and clutch messages a second
WAY = np.array([0.05, -0.04, 0.06])
TURN = np.array([0.1, 0.2, -0.15])


def turned(vector):
    return RigidTransform.exp([0.0, 0.0, 0.0, *vector]).rotation


def shifted(pose, way, turn=(0.0, 0.0, 0.0)):
    """Return a pose moved along, and turned about, the axes of its frame, at its own origin."""
    rotation = turned(turn) @ pose.rotation
    return RigidTransform.from_rotation_translation(rotation, pose.translation + way)


class Hand:
    """A tracked device with its clutch, which go on until they are told otherwise.

    Attributes:
        pose: Returns the device's pose after a time [s].
        held: What the clutch says; None: nothing.
        frame: The device's frame.
        tracked: Whether poses come.
    """

    def __init__(self, robot):
        self.robot, self.begin = robot, robot.world.now
        self.held, self.frame, self.tracked, self.at = False, "headset", True, AWAY
        self.poses, self.clutch = robot.topic("device_pose"), robot.topic("clutch")
        robot.world.every(SECOND // RATE, self.send)
        self.on = True

    def send(self):
        if not self.on:
            return
        if self.held is not None:
            self.clutch.publish(Bool(data=self.held))
        if self.tracked:
            message = PoseStamped(pose=pose_message(self.at))
            message.header.frame_id, message.header.stamp = self.frame, self.robot.stamp()
            self.poses.publish(message)

    def go(self, way=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), seconds=0.5):
        """Move by a way and a turn along the axes of the device's frame."""
        start, count = self.at, round(seconds * RATE)
        for k in range(1, count + 1):
            part = 0.5 - 0.5 * math.cos(math.pi * k / count)
            self.at = shifted(start, part * np.array(way), part * np.array(turn))
            self.robot.run(1.0 / RATE)


@pytest.fixture
def robot():
    """A robot that rests at home; afterwards nothing unsafe may have been commanded."""
    with running("-p", f"home:={HOME.tolist()}") as robot:
        robot.place("base_link", "camera", CAMERA)
        robot.ready = robot.tip()
        yield robot


@pytest.fixture
def hand(robot):
    hand = Hand(robot)
    robot.run(0.1)
    return hand


def settled(robot):
    """Wait until the arm rests while the hand does; return the tip."""
    robot.run(0.7)
    before = robot.positions
    robot.run(0.1)
    assert np.allclose(robot.positions, before, rtol=0.0, atol=1e-8)
    return robot.tip()


def near(one, other, tolerance=2e-5):
    return np.allclose(one.matrix, other.matrix, rtol=0.0, atol=tolerance)


def moves_nothing(robot, do):
    before, count = robot.positions, len(robot.commands)
    do()
    robot.run(0.3)
    assert np.array_equal(robot.positions, before)
    return len(robot.commands) == count


def test_without_the_clutch_a_device_moves_nothing(robot, hand):
    assert moves_nothing(robot, lambda: hand.go(WAY, TURN))
    assert "accepted.device_pose" not in robot.statuses[-1]


def test_engaging_moves_nothing(robot, hand):
    def engage():
        hand.held = True

    assert moves_nothing(robot, engage)
    assert robot.statuses[-1]["clutch"] == "engaged"


def test_the_tip_repeats_what_the_device_does_along_the_roots_axes(robot, hand):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY, TURN)
    assert near(settled(robot), shifted(robot.ready, WAY, TURN))
    assert robot.statuses[-1]["input"] == "pose"
    hand.go(-WAY)
    assert near(settled(robot), shifted(robot.ready, np.zeros(3), TURN))


def test_scales_and_axes_of_the_tip_and_of_any_frame(robot, hand):
    for axes, root_T_axes in (("tool0", robot.ready), ("camera", CAMERA)):
        hand.held = False
        robot.run(0.1)
        for name, value in (
            ("axes", axes), ("linear_scale", 0.5), ("rotational_scale", 2.0),
        ):  # fmt: skip
            assert robot.set_parameter(f"device.{name}", value).successful
        hand.held = True
        robot.run(0.1)
        start = robot.tip()
        if axes == "tool0":
            root_T_axes = start
        hand.go(WAY, TURN)
        way, turn = (root_T_axes.apply_vector(each) for each in (0.5 * WAY, 2.0 * TURN))
        assert near(settled(robot), shifted(start, way, turn))


def test_a_frame_that_tf_lacks_engages_nothing_and_is_named(robot, hand):
    assert robot.set_parameter("device.axes", "nowhere").successful
    hand.held = True
    assert moves_nothing(robot, lambda: hand.go(WAY))
    refusal = robot.statuses[-1]["last_refusal.device_pose"]
    assert refusal.startswith("NO_TRANSFORM")
    assert "nowhere" in refusal


@pytest.mark.parametrize("rate", [30, 90])
def test_a_device_is_followed_as_closely_as_poses_are(robot, rate):
    clutch, devices = robot.topic("clutch"), robot.topic("device_pose")

    def way(t):
        return 0.05 * np.array([1.0 - math.cos(2.0 * t), 1.0 - math.cos(3.0 * t), 0.0])

    def send(t):
        clutch.publish(Bool(data=t >= 0.0))
        message = PoseStamped(pose=pose_message(shifted(AWAY, way(max(t, 0.0)))))
        message.header.frame_id, message.header.stamp = "headset", robot.stamp()
        devices.publish(message)

    for lead in (send, lambda t: robot.send("base_link", shifted(robot.ready, way(t)))):
        if lead is send:
            send(-1.0)
            robot.run(0.05)
        times, outputs = stream(robot, 3.0, rate, lead)
        steady = times > 1.0
        tips = np.array([robot.chain.forward(each).translation for each in outputs[steady]])
        wanted = np.array([robot.ready.translation + way(t) for t in times[steady]])
        assert np.abs(tips - wanted).max() < 5e-4
        robot.reach(robot.ready)


def test_more_than_half_a_turn_goes_on(robot, hand):
    assert robot.set_parameter("device.rotational_scale", 0.5).successful
    hand.held = True
    robot.run(0.1)
    hand.go(turn=(0.0, 0.0, 4.0), seconds=3.0)
    assert near(settled(robot), shifted(robot.ready, np.zeros(3), (0.0, 0.0, 2.0)))


def rest_after(robot, hand, do):
    """Let the arm move by the hand, and something end that; return how long it went on [s]."""
    hand.held = True
    robot.run(0.1)
    hand.go(WAY, seconds=0.2)
    assert robot.statuses[-1]["state"] == "MOVING"
    begin = robot.time
    do()
    robot.wait(lambda: robot.statuses[-1]["state"] != "MOVING", "it brakes")
    ended = robot.time - begin
    robot.run(0.5)
    return ended


def test_letting_go_rests_the_arm_in_the_next_period(robot, hand):
    def let_go():
        hand.held = False
        robot.run(1.0 / RATE)

    assert rest_after(robot, hand, let_go) < 1.0 / RATE + 2.0 * PERIOD
    assert robot.statuses[-1]["clutch"] == "released"
    assert moves_nothing(robot, lambda: hand.go(WAY))


def test_a_lost_release_ends_with_the_timeout(robot, hand):
    def lose():
        hand.held = None

    ended = rest_after(robot, hand, lose)
    assert 0.08 - 2.0 * PERIOD < ended < 0.1 + 3.0 * PERIOD
    assert robot.statuses[-1]["clutch"] == "released: the clutch was silent for 0.1 s"
    assert moves_nothing(robot, lambda: hand.go(WAY))


def test_a_pause_of_the_tracker_rests_the_arm_and_what_it_missed_is_no_motion(robot, hand):
    def lose():
        hand.tracked = False

    assert rest_after(robot, hand, lose) < 0.1 + 3.0 * PERIOD
    assert robot.statuses[-1]["clutch"] == "released: no pose of the device for 0.1 s"
    start = settled(robot)
    hand.at = shifted(hand.at, (0.0, 0.3, 0.0))
    hand.tracked = True
    robot.run(0.3)
    assert near(robot.tip(), start)
    hand.go(WAY)
    assert near(settled(robot), shifted(start, WAY))


@pytest.mark.parametrize("what", ["jump", "turn", "frame"])
def test_what_is_not_the_hands_motion_does_not_move_the_tip(robot, hand, what):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY, TURN)
    before = settled(robot)
    if what == "frame":
        hand.frame = "recentred"
    if what in ("jump", "frame"):
        hand.at = shifted(hand.at, (0.0, 0.07 if what == "jump" else 0.01, 0.0))
    else:
        hand.at = shifted(hand.at, np.zeros(3), (0.4, 0.0, 0.0))
    robot.run(0.5)
    assert near(robot.tip(), before, 1e-9)
    hand.go(-WAY)
    assert near(settled(robot), shifted(before, -WAY)), "it goes on from there"


@pytest.mark.parametrize("stray", [(0.0, 0.02, 0.0), (0.0, 0.5, 0.0)], ids=["near", "far"])
def test_a_lone_stray_pose_of_a_tracker_moves_nothing(robot, hand, stray):
    assert robot.set_parameter("filter.device_pose.outliers", True).successful
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    before, there = settled(robot), hand.at
    hand.at = shifted(there, stray)
    robot.run(1.0 / RATE)
    hand.at = there
    robot.run(0.3)
    assert near(robot.tip(), before, 1e-9)
    hand.go(-WAY)
    assert near(settled(robot), robot.ready)


@pytest.mark.parametrize("what", ["way while it is let go", "frame"])
def test_what_was_before_does_not_count_as_a_stray_pose(robot, hand, what):
    assert robot.set_parameter("filter.device_pose.outliers", True).successful
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    before = settled(robot)
    if what == "frame":
        hand.frame = "recentred"
    else:
        hand.held = False
        robot.run(0.1)  # shorter than what ends a stream
        hand.held = True
    hand.at = shifted(hand.at, (0.0, 0.04, 0.0))
    robot.run(0.5)
    assert near(robot.tip(), before, 1e-9)
    hand.go(-WAY)
    assert near(settled(robot), shifted(before, -WAY))


def test_a_smoothed_device_lags_and_its_jump_is_no_motion_either(robot, hand):
    assert robot.set_parameter("filter.device_pose.lag", 0.05).successful
    hand.held = True
    robot.run(0.1)
    hand.at = shifted(hand.at, (0.0, 0.0, 0.02))
    robot.run(1.0 / RATE + 0.01)
    assert robot.tip().translation[2] - robot.ready.translation[2] < 0.02 * 20.0 / 70.0 + 2e-3
    robot.run(1.0)
    assert near(settled(robot), shifted(robot.ready, (0.0, 0.0, 0.02)))
    hand.at = shifted(hand.at, (0.0, 0.3, 0.0))
    robot.run(1.0)
    assert near(robot.tip(), shifted(robot.ready, (0.0, 0.0, 0.02)))


def test_another_scale_applies_from_where_the_tip_is(robot, hand):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    assert robot.set_parameter("device.linear_scale", 0.5).successful
    assert near(settled(robot), shifted(robot.ready, WAY))
    hand.go(WAY)
    assert near(settled(robot), shifted(robot.ready, 1.5 * WAY))


def test_another_target_ends_it_until_the_clutch_is_let_go(robot, hand):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    robot.reach(robot.ready)
    assert robot.statuses[-1]["clutch"] == "blocked: another target has come"
    assert "must be let go first" in robot.statuses[-1]["message"]
    hand.go(WAY)
    assert near(settled(robot), robot.ready)
    hand.held = False
    robot.run(0.1)
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    assert near(settled(robot), shifted(robot.ready, WAY))


def test_engaging_in_motion_takes_over_and_rests(robot, hand):
    far = robot.chain.forward(HOME + np.array([2.5, 0.0, 0.0, 0.0, 0.0, 0.0]))
    robot.set_off(far)
    hand.held = True
    start = settled(robot)
    assert not near(start, far, 0.05)
    hand.go(WAY)
    assert near(settled(robot), shifted(start, WAY), 1e-4)


@pytest.mark.parametrize("how", ["stop", "event", "deactivate", "silence"])
def test_what_ends_all_motion_ends_it_until_the_clutch_is_let_go(robot, hand, how):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY, seconds=0.2)
    if how == "stop":
        assert robot.call(Trigger, "stop").success
        assert robot.call(SetBool, "enable", data=True).success
    elif how == "event":
        robot.topic("trajectory_execution_event").publish(String(data="stop"))
    elif how == "deactivate":
        assert robot.transit("deactivate")
        robot.run(0.5)
        assert robot.transit("activate")
    else:
        robot.publishing = False
        robot.run(1.0)
        robot.publishing = True
    hand.go(seconds=1.5)
    assert robot.statuses[-1]["clutch"].startswith("blocked: ")
    assert moves_nothing(robot, lambda: hand.go(WAY))
    hand.held = False
    robot.run(0.1)
    hand.held = True
    robot.run(0.1)
    start = robot.tip()
    hand.go(WAY)
    assert near(settled(robot), shifted(start, WAY))


def test_a_clutch_that_is_held_from_the_beginning_counts_from_its_release_on():
    with running() as robot:
        hand = Hand(robot)
        hand.held = True
        assert moves_nothing(robot, lambda: hand.go(WAY))
        assert robot.statuses[-1]["clutch"] == "blocked: it was not seen let go"


def test_a_pose_that_is_none_is_refused_and_the_target_stays(robot, hand):
    hand.held = True
    robot.run(0.1)
    hand.go(WAY)
    hand.on = False
    message = PoseStamped()
    message.header.frame_id = "headset"
    message.pose.position.x = math.nan
    hand.poses.publish(message)
    robot.run(0.05)
    hand.on = True
    assert robot.statuses[-1]["last_refusal.device_pose"].startswith("NON_FINITE")
    assert near(settled(robot), shifted(robot.ready, WAY))


def test_whole_motions_do_not_follow_a_device():
    with running("-p", "command_interface:=follow_joint_trajectory") as robot:
        hand = Hand(robot)
        robot.run(0.1)
        hand.held = True
        assert moves_nothing(robot, lambda: hand.go(WAY))
        assert robot.statuses[-1]["last_refusal.device_pose"].startswith("NOT_STREAMED")

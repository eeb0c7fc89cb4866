# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The clutch by itself: where it engages, what it counts as motion, when it ends."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from basis_ik.arm.admission import Refusal, Refusals, Refused, StampRules, admit_pose
from basis_ik.arm.clutch import Clutch
from basis_ik.arm.goals import JointGoal, PoseGoal
from basis_ik.arm.input_filter import NO_FILTER, FilterRules
from basis_ik.arm.settings import DeviceRules
from basis_ik.arm.target_input import Arrival, FrameStamp, TargetInput
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

CHAIN = RobotModel.from_urdf_file(Path(__file__).parents[2] / "urdf" / "ur5e.urdf").chain()
TIP = RigidTransform.from_rpy(0.3, 0.2, 0.1, (0.4, 0.1, 0.5))
STAMPS = StampRules(max_age=2 * 10**9, max_future=10**8)
RULES = DeviceRules(max_linear_speed=2.0, max_angular_speed=10.0)
STEP, LASTS = 0.02, 0.1  # s


def ignore(*_):
    pass


class Device:
    """A tracker whose clutch is held, and the tip that it leads."""

    def __init__(self, how=NO_FILTER, rules=RULES):
        self.told, self.refusals = [], Refusals(lambda: 0.0)
        quiet = SimpleNamespace(warn=ignore, recovered=ignore, info=self.hear)
        frames = SimpleNamespace(parents={}, locate=self.locate)
        self.targets = TargetInput(frames, CHAIN, quiet, self.refusals)
        self.clutch = Clutch(self.targets, lambda: TIP, quiet)
        self.how, self.rules, self.now, self.frame = how, rules, 0.0, "headset"
        self.clutch.press(False, 0.0, LASTS)

    def hear(self, _, __, text):
        self.told.append(text)

    @staticmethod
    def locate(*_):
        return Refused(Refusal.NO_TRANSFORM, "")

    def send(self, x=0.0, turn=0.0, step=STEP, *, stamp=0.0, press=True, pose=None):
        """Send a pose after a time; return where the tip is led, from where it was at first."""
        self.now += step
        if press:
            self.clutch.press(True, self.now, LASTS)
        sec, nanosec = divmod(round(1e9 * stamp), 10**9)
        half = 0.5 * turn
        quaternion = (0.0, 0.0, math.sin(half), math.cos(half))
        pose = pose or admit_pose((x, 0.0, 0.0), quaternion)
        arrival = Arrival(round(1e9 * self.now), self.now, STAMPS)
        self.clutch.move(
            FrameStamp(self.frame, sec, nanosec), pose, arrival, self.rules, self.how,
            position_only=False,
        )  # fmt: skip
        self.targets.locate(steady=self.now, patience=0.5, oldest=0)
        return self.place

    @property
    def place(self):
        """By what the tip is led along x [m], and about z [rad]."""
        goal = self.targets.goal
        if not isinstance(goal, PoseGoal):
            return 0.0, 0.0
        pose = goal.root_T_target
        axis, angle = (pose @ TIP.inverse()).as_axis_angle()
        return pose.translation[0] - TIP.translation[0], angle * axis[2]


def test_with_outliers_left_out_a_stray_pose_is_not_where_it_engages():
    device = Device(FilterRules(outliers=True))
    for x in (0.04, 0.0, 0.0, 0.0, 0.0):
        assert device.send(x) == (0.0, 0.0)
    device.send(0.01)
    assert device.send(0.01)[0] == pytest.approx(0.01)


def test_a_jump_is_no_motion_of_a_smoothed_device_at_any_time():
    device = Device(FilterRules(lag=0.05))
    device.send(0.0)
    for _ in range(30):
        before = device.send(0.02)[0]
    for _ in range(30):
        assert device.send(0.5)[0] == pytest.approx(before, abs=1e-12)


def test_a_smoothed_turn_lags_evenly_beyond_a_whole_one():
    device = Device(FilterRules(lag=0.05))
    turns = 0.04 * np.arange(150)
    found = [device.send(turn=turn)[1] for turn in turns]
    late = turns - np.unwrap(found)
    assert late[-50:] == pytest.approx(np.full(50, 0.04 * 0.05 / STEP), rel=1e-3)


EXACT = 1e-9


@pytest.mark.parametrize(
    ("x", "turn", "step", "counts"),
    [
        (0.0399, 0.0, 0.02, True),
        (0.0401, 0.0, 0.02, False),
        (0.0, 0.199, 0.02, True),
        (0.0, 0.201, 0.02, False),
        (0.0399, 0.0, 0.001, True),
        (0.0, 0.199, 0.001, True),
        (0.0401, 0.0, 0.001, False),
        (0.0799, 0.0, 0.04, True),
        (0.0801, 0.0, 0.04, False),
    ],
)
def test_a_step_counts_up_to_the_speed_of_a_hand(x, turn, step, counts):
    device = Device()
    device.send()
    device.send(0.0)
    assert device.send(x, turn, step) == pytest.approx((x, turn) if counts else (0, 0), abs=EXACT)
    assert device.clutch.text == "engaged"


def test_the_largest_step_is_two_radians_in_whatever_time():
    for turn, counts in ((1.99, True), (2.01, False)):
        device = Device(rules=RULES._replace(max_angular_speed=1e3))
        device.send()
        assert device.send(turn=turn)[1] == pytest.approx(turn if counts else 0.0, abs=EXACT)


def test_what_is_not_motion_goes_on_from_where_both_are():
    device = Device()
    device.send()
    device.send(0.03)
    assert device.send(0.5)[0] == pytest.approx(0.03)
    assert device.send(0.52)[0] == pytest.approx(0.05)
    device.frame = "other"
    assert device.send(0.53)[0] == pytest.approx(0.05)
    assert device.send(0.54)[0] == pytest.approx(0.06)
    device.rules = RULES._replace(linear_scale=0.5)
    assert device.send(0.56)[0] == pytest.approx(0.06)
    assert device.send(0.58)[0] == pytest.approx(0.07)


def test_the_time_of_a_pose_is_its_stamp():
    device = Device()
    device.now = 10.0
    device.send(stamp=10.0)
    assert device.send(0.11, step=0.06, stamp=10.06)[0] == pytest.approx(0.11)
    device = Device()
    device.now = 10.0
    device.send(stamp=10.0)
    assert device.send(0.11, step=0.06, stamp=10.02)[0] == 0.0, "it came late, and is a jump"


def test_both_messages_count_as_long_as_they_were_said_to():
    for now, over in ((0.0199 + LASTS, False), (0.0201 + LASTS, True)):
        device = Device()
        device.send()
        device.clutch.watch(now)
        assert device.clutch.text.startswith("released") is over
    device = Device()
    device.send()
    device.clutch.press(True, 0.1, LASTS)
    device.clutch.watch(0.1199)
    assert device.clutch.text == "engaged"
    device.clutch.watch(0.1201)
    assert device.clutch.text == "released: no pose of the device for 0.1 s"


def test_the_target_expires_with_the_clutch():
    device = Device()
    device.send()
    device.send(0.01)
    assert device.targets.newest.expires == pytest.approx(device.now + LASTS)
    device.send(0.02, press=False)
    assert device.targets.newest.expires == pytest.approx(device.now - STEP + LASTS)


@pytest.mark.parametrize("watched", [True, False])
def test_a_clutch_that_is_silent_leads_nothing_until_it_is_heard_of(watched):
    device = Device()
    device.send()
    for _ in range(4):
        device.send(0.01, press=False)
    if watched:
        device.clutch.watch(device.now + 0.0199)
        assert device.clutch.text == "engaged"
        device.clutch.watch(device.now + 0.0201)
    for x in (0.02, 0.04):
        device.send(x, press=False, step=0.021)
        assert device.targets.newest is None
        assert device.clutch.text == "released: the clutch was silent for 0.1 s"
    device.send(0.04)
    assert device.send(0.05)[0] == pytest.approx(0.01)


def test_without_the_clutch_poses_lead_nothing_and_are_not_judged():
    device = Device()
    device.send(press=False)
    device.send(math.nan, press=False)
    assert device.clutch.text == "released"
    device.clutch.watch(1.0)
    assert device.clutch.text == "released"
    assert not device.refusals.counts


def test_a_release_ends_its_own_target_and_a_blocked_clutch_leads_nothing():
    device = Device()
    device.send()
    device.send(0.01)
    device.clutch.press(False, device.now, LASTS)
    assert device.targets.newest is None
    device.send(0.02)
    device.clutch.block("stopped")
    for x in (0.03, 0.04):
        device.send(x)
        assert device.targets.newest is None
    device.clutch.watch(device.now + 1.0)
    assert device.clutch.hindrance == "", "it is not held"


def test_an_unknown_frame_of_axes_is_refused():
    device = Device(rules=RULES._replace(axes="nowhere"))
    device.send()
    assert device.refusals.counts == {"NO_TRANSFORM": 1}


def test_a_pose_that_is_late_counts_from_when_it_came():
    device = Device()
    device.now = 10.0
    device.send(stamp=9.95)
    device.clutch.press(True, device.now + 0.09, LASTS)
    device.clutch.watch(device.now + 0.0999)
    assert device.clutch.text == "engaged"


@pytest.mark.parametrize("steps", [[0.19] * 24, [0.17] * 7 + [1.99], [0.17] * 7 + [-1.99]])
def test_turns_add_up_beyond_half_a_turn(steps):
    rules = RULES._replace(rotational_scale=0.5, max_angular_speed=100.0)
    device = Device(rules=rules)
    device.send()
    turns = np.cumsum(steps)
    found = np.unwrap([device.send(turn=turn)[1] for turn in turns])
    assert found == pytest.approx(0.5 * turns, abs=EXACT)


def test_small_turns_about_several_axes_are_scaled_as_one():
    device = Device(rules=RULES._replace(rotational_scale=0.5))
    poses = [RigidTransform.exp([0, 0, 0, *way]) for way in ((0, 0, 0), (0.1, 0, 0), (0.1, 0.1, 0))]
    for pose in poses:
        device.send(pose=pose)
    turned = RigidTransform.exp([0, 0, 0, 0.05, 0.05, 0]).rotation @ TIP.rotation
    assert np.allclose(device.targets.goal.root_T_target.rotation, turned, rtol=0.0, atol=EXACT)


def test_a_stray_pose_that_is_left_out_is_no_jump():
    device = Device(FilterRules(outliers=True))
    for x in (0.0, 0.0, 0.0, 0.01, 0.9, 0.01, 0.01):
        device.send(x)
    assert device.told == ["clutch: engaged"]


def test_the_lag_of_a_smoothed_device_is_no_jump():
    device = Device(FilterRules(lag=0.1))
    for k in range(80):
        device.send(0.03 * k)
    assert device.place[0] == pytest.approx(0.03 * 79 - 0.15, abs=1e-6)


def test_a_press_before_the_first_release_says_so_and_another_says_nothing_new():
    device = Device()
    fresh = Clutch(device.targets, lambda: TIP, SimpleNamespace())
    fresh.press(True, 0.0, LASTS)
    assert fresh.text == "blocked: it was not seen let go"
    assert fresh.hindrance == "the clutch must be let go first: it was not seen let go"
    device.send()
    assert device.clutch.hindrance == ""
    device.clutch.block("stopped")
    assert device.clutch.hindrance == "the clutch must be let go first: stopped"
    device.clutch.press(False, device.now, LASTS)
    device.send()
    device.clutch.block(99 * "a")
    assert len(device.clutch.hindrance) == 97, "a reason may be long, and is told elsewhere"
    device.clutch.press(False, device.now, LASTS)
    device.send()
    device.clutch.block("stopped")
    device.clutch.block("again")
    assert device.clutch.text == "blocked: stopped"
    device.clutch.press(False, device.now, LASTS)
    assert device.clutch.hindrance == ""
    device.clutch.block("while released")
    device.send()
    assert device.clutch.text == "engaged"


def test_another_target_is_left_alone_by_a_release_and_ends_it_in_motion():
    device = Device()
    device.send()
    device.send(0.01)
    goal = JointGoal((0.0,) * 6)
    device.targets.put(goal, device.targets.request("home"))
    device.send(0.02)
    assert device.clutch.text == "blocked: another target has come"
    assert device.targets.goal is goal
    device.clutch.press(False, device.now, LASTS)
    assert device.targets.goal is goal
    device.send(0.03)
    assert device.targets.goal is None, "the arm brakes, and is led from there"
    device.send(0.04)
    assert device.place[0] == pytest.approx(0.01)


def test_a_target_that_was_dropped_is_taken_up_from_the_tip():
    device = Device()
    device.send()
    device.send(0.01)
    device.targets.clear()
    device.send(0.02)
    assert device.targets.goal is None
    assert device.send(0.03)[0] == pytest.approx(0.01)


def test_nothing_is_led_before_the_device_has_moved():
    device = Device()
    for _ in range(3):
        device.send()
        assert device.targets.goal is None
    device.send(0.01)
    device.send(0.01)
    assert device.targets.goal is not None


def test_without_a_known_tip_nothing_is_engaged():
    device = Device()
    known, device.clutch._tip = device.clutch._tip, lambda: None
    device.send()
    assert device.clutch.text == "held"
    device.clutch._tip = known
    device.send()
    assert device.clutch.text == "engaged"

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jog commands from held buttons and set sliders."""

import math

import pytest

from basis_ik.extras.web_view.jog_controls import (
    BUTTON_KEYS,
    BUTTON_TWISTS,
    ZERO_TWIST,
    GripperSlider,
    HeldButton,
    JointSliders,
    Steps,
    stepped,
)
from basis_ik.ros.keyboard import KEY_TWISTS as KEYBOARD
from basis_ik.transforms.rigid import RigidTransform

# The numbers themselves: with those of the module no change of them would be seen.
HOLD_TIMEOUT = 0.15
TOLERANCE = 2e-3

HERE = frozenset({1})


def test_there_is_a_button_for_each_direction():
    vectors = [linear + angular for linear, angular in BUTTON_TWISTS.values()]
    assert len(set(vectors)) == 12
    assert all(sum(map(abs, vector)) == 1.0 for vector in vectors)
    assert BUTTON_TWISTS["turn −y"] == ((0.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    for name, (linear, angular) in BUTTON_TWISTS.items():
        verb, (sign, axis) = name.split(" ")
        vector = linear if verb == "move" else angular
        assert vector["xyz".index(axis)] == (1.0 if sign == "+" else -1.0)
    assert sorted(BUTTON_KEYS.values()) == sorted(KEYBOARD)


def test_a_button_moves_the_tip_while_a_browser_reports_it():
    button = HeldButton()
    assert button.twist(0.0, 0.2, 0.5) is None
    button.hold("move −x", 1.0)
    assert button.twist(1.0, 0.2, 0.5) == ((-0.2, 0.0, 0.0), (0.0, 0.0, 0.0))
    button.hold("turn +z", 1.1)
    assert button.twist(1.1 + 0.99 * HOLD_TIMEOUT, 0.2, 0.5) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.5))
    assert button.twist(1.1 + HOLD_TIMEOUT, 0.2, 0.5) == ZERO_TWIST  # once
    assert button.twist(1.1 + HOLD_TIMEOUT, 0.2, 0.5) is None


def test_a_second_browser_does_not_fight_the_first():
    button = HeldButton()
    button.hold("move +x", 1.0, 1)
    button.hold("move −x", 1.1, 2)
    assert button.twist(1.1, 1.0, 1.0) == BUTTON_TWISTS["move +x"]
    assert button.twist(1.0 + HOLD_TIMEOUT, 1.0, 1.0) == ZERO_TWIST
    button.hold("move −x", 1.0 + HOLD_TIMEOUT, 2)  # the first has let go
    assert button.twist(1.0 + HOLD_TIMEOUT, 1.0, 1.0) == BUTTON_TWISTS["move −x"]


def test_a_step_is_along_an_axis_of_root_or_tip():
    tip = RigidTransform.from_rpy(0.0, 0.0, 0.5 * math.pi, (1.0, 2.0, 3.0))
    moved = stepped(tip, "move +x", (0.1, 0.2), of_root=True)
    assert moved.translation == pytest.approx([1.1, 2.0, 3.0])
    assert moved.rotation == pytest.approx(tip.rotation)
    moved = stepped(tip, "move +x", (0.1, 0.2), of_root=False)
    assert moved.translation == pytest.approx([1.0, 2.1, 3.0])
    about_root = stepped(tip, "turn −x", (0.1, 0.2), of_root=True)
    about_tip = stepped(tip, "turn +y", (0.1, 0.2), of_root=False)
    assert about_root.translation == pytest.approx(tip.translation)
    assert about_root.rotation == pytest.approx(about_tip.rotation)  # the tip's y is the root's -x
    expected = RigidTransform.from_rpy(-0.2, 0.0, 0.0).rotation @ tip.rotation
    assert about_root.rotation == pytest.approx(expected)


def test_steps_are_taken_one_at_a_time_and_add_up():
    def at(x):
        return RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, 0.0, 0.0))

    def further(pose):
        return at(pose.translation[0] + 0.1)

    def step(now, measured, held=False, **status):
        goal = steps.next(now, status, at(measured), further, held=held)
        if goal is not None:
            steps.sent(now, f"stamp {now}")
        return None if goal is None else pytest.approx(goal.translation[0])

    steps = Steps()
    assert step(1.0, 0.5) == 0.6
    assert step(1.29, 0.5) is None  # the status may not have it yet
    under_way = {"target_stamp": "stamp 1.0", "state": "MOVING"}
    assert step(2.0, 0.55, **under_way) is None
    assert step(2.0, 0.55, **under_way | {"state": "HOLDING"}) is None
    assert step(1.29, 0.55, held=True, **under_way) is None
    assert step(2.0, 0.599, **under_way | {"state": "ARRIVED"}) == 0.7  # not 0.699
    assert step(3.0, 0.2, target_stamp="another's", state="ARRIVED") == 0.3
    assert step(4.0, 0.2, target_stamp="another's", state="MOVING") == 0.3
    assert step(5.0, 0.25, held=True, target_stamp="stamp 4.0", state="MOVING") == 0.35


@pytest.fixture
def sliders():
    return JointSliders({"a": 2.0, "b": 1.0, "turning": 1.0}, frozenset({"turning"}))


def test_a_joint_goes_to_its_slider_and_stops_there(sliders):
    assert sliders.velocities({"a": 0.0}, HERE, 1.0) is None
    sliders.set("a", 1.0, 1)
    assert sliders.velocities({"a": 0.0}, HERE, 1.0) == {"a": 2.0}
    assert sliders.velocities({"a": 0.0}, HERE, 0.25) == {"a": 0.5}
    assert sliders.velocities({"a": 0.9}, HERE, 1.0) == {"a": pytest.approx(0.2)}
    assert sliders.velocities({"a": 3.0}, HERE, 1.0) == {"a": -2.0}
    near = sliders.velocities({"a": 1.0 - 1.1 * TOLERANCE}, HERE, 1.0)
    assert near == {"a": pytest.approx(2.2 * TOLERANCE)}
    assert sliders.velocities({"a": 1.0 - 0.9 * TOLERANCE}, HERE, 1.0) == {"a": 0.0}
    assert sliders.velocities({"a": 1.0}, HERE, 1.0) is None


def test_several_joints_move_at_once(sliders):
    sliders.set("a", 1.0, 1)
    sliders.set("b", -1.0, 1)
    assert sliders.velocities({"a": 0.0, "b": 0.0}, HERE, 1.0) == {"a": 2.0, "b": -1.0}


def test_a_joint_without_limits_takes_the_shorter_way(sliders):
    sliders.set("turning", 3.0, 1)
    velocities = sliders.velocities({"turning": -3.0}, HERE, 1.0)
    assert velocities == {"turning": pytest.approx(2.0 * (6.0 - 2.0 * math.pi))}
    sliders.set("a", 3.0, 1)
    assert sliders.velocities({"a": -3.0, "turning": 3.0}, HERE, 1.0)["a"] == 2.0


def test_targets_of_a_closed_browser_are_dropped(sliders):
    sliders.set("a", 1.0, 1)
    sliders.set("b", 1.0, 2)
    everybody = frozenset({1, 2})
    assert sliders.velocities({"a": 0.0, "b": 0.0}, everybody, 1.0) == {"a": 2.0, "b": 1.0}
    assert sliders.velocities({"a": 0.0, "b": 0.0}, HERE, 1.0) == {"a": 2.0, "b": 0.0}
    assert sliders.velocities({"a": 0.0, "b": 0.0}, frozenset(), 1.0) == {"a": 0.0}


@pytest.mark.parametrize("measured", [{}, {"a": math.nan}])
def test_a_joint_that_is_not_measured_is_left_alone(sliders, measured):
    sliders.set("a", 1.0, 1)
    assert sliders.velocities(measured, HERE, 1.0) is None


def test_all_targets_can_be_dropped(sliders):
    sliders.set("a", 1.0, 1)
    sliders.velocities({"a": 0.0}, HERE, 1.0)
    sliders.cancel()
    assert sliders.velocities({"a": 0.1}, HERE, 1.0) == {"a": 0.0}
    assert sliders.velocities({"a": 0.1}, HERE, 1.0) is None


ENDS = (-1500.0, 1500.0)  # of a slider in millimetres
MM = 1e3


def test_a_slider_shows_its_joint(sliders):
    assert sliders.to_show("a", 0.30004, 0.0, *ENDS, MM) == 300.0
    assert sliders.to_show("a", 0.0049, 0.0, *ENDS, MM) is None
    assert sliders.to_show("a", 0.00511, 0.0, *ENDS, MM) == 5.1
    assert sliders.to_show("a", -0.0051, 0.0, *ENDS, MM) == -5.1
    assert sliders.to_show("a", math.nan, 0.0, *ENDS, MM) is None
    assert sliders.to_show("a", 2.0, 0.0, *ENDS, MM) == 1500.0
    assert sliders.to_show("a", -2.0, 0.0, *ENDS, MM) == -1500.0
    turned = 2.0 * math.pi + math.radians(30.0)
    assert sliders.to_show("turning", turned, 0.0, -180.0, 180.0, math.degrees(1.0)) == 30.0


def test_a_slider_is_its_users_until_the_joint_is_there(sliders):
    sliders.set("a", 0.5, 1)
    assert sliders.to_show("a", 0.0, 500.0, *ENDS, MM) is None
    sliders.velocities({"a": 0.5}, HERE, 1.0)
    assert sliders.to_show("a", 0.499, 500.0, *ENDS, MM) == 499.0
    assert sliders.to_show("a", 0.499, 500.0, *ENDS, MM) is None  # once


@pytest.mark.parametrize("position", [-1500.0, 500.0, 1500.0])
def test_a_slider_that_may_have_been_crossed_is_sent_again(sliders, position):
    """A GUI sends a value only if it differs from the last one it has had."""
    sliders.set("a", position / MM, 1)
    sliders.velocities({"a": position / MM}, HERE, 1.0)
    sent = sliders.to_show("a", position / MM, position, *ENDS, MM)
    assert sent != position
    assert sent == pytest.approx(position, abs=1e-8)
    assert ENDS[0] <= sent <= ENDS[1]


def test_the_slider_of_a_stopped_joint_goes_back_to_it(sliders):
    sliders.set("a", 0.5, 1)
    sliders.cancel()
    assert sliders.to_show("a", 0.1, 500.0, *ENDS, MM) == 100.0


def test_a_gripper_is_sent_where_its_slider_is_a_few_times_a_second():
    slider = GripperSlider()
    assert slider.next(1.0) is None
    slider.set(0.2, 1.0)
    slider.set(0.3, 1.0)
    assert slider.next(1.0) == 0.3
    assert slider.next(2.0) is None, "once"
    slider.set(0.4, 2.0)
    assert slider.next(2.0) == 0.4
    slider.set(0.5, 2.1)
    assert slider.next(2.19) is None
    slider.set(0.6, 2.19)
    assert slider.next(2.21) == 0.6


def test_a_grippers_slider_shows_what_was_commanded_unless_a_user_has_it():
    slider = GripperSlider()
    assert slider.to_show(math.nan, 0.0, 1.0) is None
    assert slider.to_show(1.0, 0.0, 1.0) == 1.0
    assert slider.to_show(0.501, 0.5, 1.0) is None
    slider.set(0.3, 1.0)
    assert slider.to_show(1.0, 0.3, 1.29) is None
    assert slider.next(1.29) == 0.3
    assert slider.to_show(1.0, 0.3, 1.58) is None, "the status may not have it yet"
    assert slider.to_show(0.3, 0.3, 1.6) is None
    assert slider.to_show(1.0, 0.3, 1.6) == 1.0, "refused, or another input has come"

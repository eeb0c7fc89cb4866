# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jog commands from held buttons and set sliders."""

import math

import pytest

from basis_ik.ros.web_view.jog_controls import DIRECTIONS, ZERO_TWIST, HeldButton, JointSliders

# The numbers themselves: with those of the module no change of them would be seen.
HOLD_TIMEOUT = 0.15
TOLERANCE = 2e-3

HERE = frozenset({1})


def test_there_is_a_button_for_each_direction():
    vectors = [linear + angular for linear, angular in DIRECTIONS.values()]
    assert len(set(vectors)) == 12
    assert all(sum(map(abs, vector)) == 1.0 for vector in vectors)
    assert DIRECTIONS["turn −y"] == ((0.0, 0.0, 0.0), (0.0, -1.0, 0.0))


def test_a_button_moves_the_tip_while_a_browser_reports_it():
    button = HeldButton()
    assert button.twist(0.0, 0.2, 0.5) is None
    button.hold("move −x", 1.0)
    assert button.twist(1.0, 0.2, 0.5) == ((-0.2, 0.0, 0.0), (0.0, 0.0, 0.0))
    button.hold("turn +z", 1.1)
    assert button.twist(1.1 + 0.99 * HOLD_TIMEOUT, 0.2, 0.5) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.5))
    assert button.twist(1.1 + HOLD_TIMEOUT, 0.2, 0.5) == ZERO_TWIST  # once
    assert button.twist(1.1 + HOLD_TIMEOUT, 0.2, 0.5) is None


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


ENDS = (-1.5, 1.5)


def test_a_slider_shows_its_joint(sliders):
    assert sliders.to_show("a", 0.3004, 0.0, *ENDS) == 0.3
    assert sliders.to_show("a", 0.0049, 0.0, *ENDS) is None
    assert sliders.to_show("a", 0.0051, 0.0, *ENDS) == 0.005
    assert sliders.to_show("a", -0.0051, 0.0, *ENDS) == -0.005
    assert sliders.to_show("a", math.nan, 0.0, *ENDS) is None
    assert sliders.to_show("a", 2.0, 0.0, *ENDS) == 1.5
    assert sliders.to_show("a", -2.0, 0.0, *ENDS) == -1.5
    assert sliders.to_show("turning", 2.0 * math.pi + 0.5, 0.0, -math.pi, math.pi) == 0.5


def test_a_slider_is_its_users_until_the_joint_is_there(sliders):
    sliders.set("a", 0.5, 1)
    assert sliders.to_show("a", 0.0, 0.5, *ENDS) is None
    sliders.velocities({"a": 0.5}, HERE, 1.0)
    assert sliders.to_show("a", 0.499, 0.5, *ENDS) == 0.499
    assert sliders.to_show("a", 0.499, 0.5, *ENDS) is None  # once


@pytest.mark.parametrize("position", [-1.5, 0.5, 1.5])
def test_a_slider_that_may_have_been_crossed_is_sent_again(sliders, position):
    """A GUI sends a value only if it differs from the last one it has had."""
    sliders.set("a", position, 1)
    sliders.velocities({"a": position}, HERE, 1.0)
    sent = sliders.to_show("a", position, position, *ENDS)
    assert sent != position
    assert sent == pytest.approx(position, abs=1e-8)
    assert ENDS[0] <= sent <= ENDS[1]


def test_the_slider_of_a_stopped_joint_goes_back_to_it(sliders):
    sliders.set("a", 0.5, 1)
    sliders.cancel()
    assert sliders.to_show("a", 0.1, 0.5, *ENDS) == 0.1

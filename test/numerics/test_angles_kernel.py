# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles up to full turns, compared with all of them within reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from from_python import from_python
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.numerics import angles_kernel
from basis_ik.numerics.angles_kernel import nearest_angle

turned_inside = from_python(angles_kernel.turned_inside)
whole_turns = from_python(angles_kernel.whole_turns)

ANGLES = st.floats(-30.0, 30.0)


def same_angles(angle: float) -> np.ndarray:
    return angle + 2.0 * math.pi * np.arange(-30, 31)


@given(ANGLES)
def test_whole_turns_leave_half_a_turn_at_most(angle: float) -> None:
    turns = whole_turns(angle)
    assert abs(angle - turns) <= math.pi + 1e-14
    assert turns / (2.0 * math.pi) == pytest.approx(round(turns / (2.0 * math.pi)), abs=1e-12)


@given(ANGLES, ANGLES, ANGLES, st.floats(0.0, 20.0))
def test_an_angle_is_turned_inside_where_a_turn_fits(
    angle: float, near: float, lower: float, width: float
) -> None:
    upper, same = lower + width, same_angles(angle)
    turned = turned_inside(angle, near, lower, upper)
    assert np.abs(same - turned).min() < 1e-12
    inside = same[(same >= lower + 1e-9) & (same <= upper - 1e-9)]
    if len(inside):
        assert lower - 1e-9 <= turned <= upper + 1e-9
        assert abs(turned - near) <= np.abs(inside - near).min() + 1e-9


@given(ANGLES, ANGLES, ANGLES, st.floats(0.0, 20.0))
def test_the_nearest_angle_is_nearest_on_the_circle(
    angle: float, near: float, lower: float, width: float
) -> None:
    upper = lower + width
    found = nearest_angle(angle, near, lower, upper)
    assert lower <= found <= upper
    every = np.linspace(lower, upper, 2001)
    way = np.abs(same_angles(angle)[:, None] - every).min(axis=0)
    assert np.abs(same_angles(angle) - found).min() <= way.min() + 1e-9


@pytest.mark.parametrize("near", [0.3, 7.0])
def test_without_bounds_an_angle_is_only_turned(near: float) -> None:
    found = nearest_angle(0.5, near, -math.inf, math.inf)
    assert found == pytest.approx(0.5 + 2.0 * math.pi * round((near - 0.5) / (2.0 * math.pi)))


@pytest.mark.parametrize(
    ("wanted", "present", "lower", "upper", "expected"),
    [
        (0.5, 0.0, -1.0, 1.0, 0.5),
        (0.5, 6.0, -1.0, 10.0, 0.5 + 2 * math.pi),  # of two as good, the nearer to the present
        (0.5, 6.0, -1.0, 1.0, 0.5),
        (0.5, -6.0, -1.0, 1.0, 0.5),
        (2.0, 0.0, -1.0, 1.0, 1.0),
        (-2.0, 0.0, -1.0, 1.0, -1.0),
        (3.0, 0.0, -3.0, -1.0, -3.0),  # nearer round the back
        (math.pi, 0.5, -1.0, 1.0, 1.0),  # as near to both ends: the one nearer to the present
        (math.pi, -0.5, -1.0, 1.0, -1.0),
        (-3.0, 3.0, 2.0, 4.0, 2 * math.pi - 3.0),
    ],
)
def test_nearest_angle(
    wanted: float, present: float, lower: float, upper: float, expected: float
) -> None:
    assert nearest_angle(wanted, present, lower, upper) == pytest.approx(expected)

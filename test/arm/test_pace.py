# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bounds on the motion to one goal."""

import math

import numpy as np
import pytest

from basis_ik.arm.pace import Pace

SPEEDS = np.array([2.0, 4.0])
TURNING = np.array([True, True])


def walk(pace, way, period=0.01):
    """Move a distance at the pace; return the duration and the largest speeds."""
    left, now, fastest = np.array(way), 0.0, np.zeros(2)
    while np.abs(left).max() > 1e-9:
        step = np.clip(left, -SPEEDS * period, SPEEDS * period)
        most = pace.scaling(left, now) * SPEEDS * period
        step *= min(1.0, float(np.min(most / np.maximum(np.abs(step), 1e-12))))
        left -= step
        fastest = np.maximum(fastest, np.abs(step) / period)
        now += period
    return now, fastest


def test_without_bounds_the_joints_own_speeds_are_used():
    pace = Pace(SPEEDS, -1.0, math.inf, TURNING)
    assert pace.scaling(np.ones(2), 0.0) == 1.0


def test_no_revolute_joint_exceeds_the_largest_velocity():
    duration, fastest = walk(Pace(SPEEDS, -1.0, 0.5, TURNING), [1.0, 1.0])
    assert (fastest <= 0.5 + 1e-9).all()
    assert duration > 2.0


def test_a_velocity_above_the_joints_own_changes_nothing():
    assert Pace(SPEEDS, -1.0, 9.0, TURNING).scaling(np.ones(2), 0.0) == 1.0


def test_prismatic_joints_ignore_the_angular_velocity():
    pace = Pace(SPEEDS, -1.0, 0.5, np.array([True, False]))
    assert pace.scaling(np.ones(2), 0.0) == 0.25
    assert Pace(SPEEDS, -1.0, 0.5, np.array([False, False])).scaling(np.ones(2), 0.0) == 1.0


@pytest.mark.parametrize("way", [[0.3, 0.1], [-0.2, 0.0], [1e-3, 1e-3]])
def test_a_motion_takes_the_requested_time(way):
    duration, _ = walk(Pace(SPEEDS, 3.0, math.inf, TURNING), way)
    assert 2.98 <= duration <= 3.03


def test_a_longer_motion_is_not_slowed_down():
    assert Pace(SPEEDS, 3.0, math.inf, TURNING).scaling(np.array([9.0, 0.0]), 0.0) == 1.0


def test_the_fraction_is_never_zero():
    assert Pace(SPEEDS, 3.0, math.inf, TURNING).scaling(np.zeros(2), 0.0) > 0.0

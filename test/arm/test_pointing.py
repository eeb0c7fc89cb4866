# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pointing error of a ray, and its progress."""

import math

import pytest

from basis_ik.arm.goals import Ray
from basis_ik.arm.pointing import Progress, pointing_error
from basis_ik.transforms.rigid import RigidTransform

# The numbers themselves: with those of the module no change of them would be seen.
STALL = 5.0


def test_the_angle_between_ray_and_point():
    root_T_tip = RigidTransform.from_rpy(0.0, 0.0, math.pi / 2, [1.0, 0.0, 0.0])
    ray = Ray((2.0, 0.0, 0.0), (0.0, 0.0, 0.5))  # from (1, 0, 0.5) along the root's y
    assert pointing_error(root_T_tip, ray, (1.0, 3.0, 0.5)) == pytest.approx(0.0, abs=1e-12)
    assert pointing_error(root_T_tip, ray, (2.0, 1.0, 0.5)) == pytest.approx(math.pi / 4)
    assert pointing_error(root_T_tip, ray, (1.0, -3.0, 0.5)) == pytest.approx(math.pi)
    assert pointing_error(root_T_tip, ray, (1.0, 0.0, 0.5)) == math.pi


def test_a_smaller_angle_or_distance_is_progress():
    progress = Progress(since=10.0)
    assert not progress.stalled(10.0 + STALL)
    assert progress.stalled(10.1 + STALL), "nothing has been observed at all"
    progress.observe(1.0, 2.0, 11.0)
    progress.observe(1.1, 1.9, 13.0)
    progress.observe(0.9, 2.5, 15.0)
    assert not progress.stalled(15.0 + STALL)
    progress.observe(0.89995, 1.89995, 16.0)
    progress.observe(1.0, 2.0, 17.0)
    assert progress.stalled(15.1 + STALL)


def test_slow_progress_adds_up():
    progress = Progress(since=0.0)
    for k in range(1000):
        progress.observe(1.0 - 3e-5 * k, 1.0, 0.05 * k)
        assert not progress.stalled(0.05 * k)


def test_before_the_motion_may_end_no_progress_is_expected():
    progress = Progress(since=100.0)
    progress.observe(1.0, 1.0, 0.0)
    assert not progress.stalled(100.0 + STALL)
    assert progress.stalled(100.1 + STALL)


def test_a_waiting_arm_needs_no_progress():
    progress = Progress(since=0.0)
    progress.observe(1.0, 1.0, 1.0)
    progress.wait(20.0)
    assert not progress.stalled(20.0 + STALL)
    assert progress.stalled(20.1 + STALL)
    progress.wait(19.0)
    assert progress.stalled(20.1 + STALL)

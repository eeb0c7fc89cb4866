# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.simulation.simulated_joints import SimulatedJoints, initial_positions

LOWER = np.array([-2.0, 0.5, -math.inf])
UPPER = np.array([2.0, 1.5, math.inf])
SPEED = np.array([1.0, 3.0, math.inf])
WIDE = (np.array([-math.inf]), np.array([math.inf]), np.array([math.inf]))

# Finite ones as large as a fast polynomial may overshoot; beyond 1e9 a command is refused anyway.
any_target = st.lists(
    st.floats(-1e30, 1e30) | st.sampled_from([math.nan, math.inf, -math.inf]),
    min_size=3,
    max_size=3,
)
steps = st.lists(st.tuples(any_target, st.floats(1e-6, 0.5)), min_size=1, max_size=20)


def joints() -> SimulatedJoints:
    return SimulatedJoints(LOWER, UPPER, SPEED, np.array([0.0, 1.0, 0.0]))


@given(steps)
def test_no_target_violates_a_limit(sequence):
    arm = joints()
    for target, dt in sequence:
        before = arm.positions
        arm.step(np.array(target), dt)
        assert np.all(np.isfinite(arm.positions))
        assert np.all((arm.positions >= LOWER) & (arm.positions <= UPPER))
        assert np.all(np.abs(arm.positions - before) <= SPEED * dt + 1e-9)
        np.testing.assert_allclose(arm.velocities * dt, arm.positions - before, atol=1e-12)


@given(st.floats(-2.0, 2.0), st.floats(0.5, 1.5), st.floats(-1e3, 1e3), st.floats(0.001, 0.1))
def test_a_reachable_target_is_reached_exactly_and_without_detour(a, b, c, dt):
    target = np.array([a, b, c])
    arm = joints()
    for _ in range(math.ceil(2.0 / dt) + 1):
        missing = np.abs(target - arm.positions)
        arm.step(target, dt)
        assert np.all(np.abs(target - arm.positions) <= missing)
    np.testing.assert_array_equal(arm.positions, target)


def test_a_target_beyond_the_limit_is_followed_to_the_limit():
    arm = joints()
    for _ in range(100):
        arm.step(np.array([9.0, -9.0, 9.0]), 0.1)
    np.testing.assert_array_equal(arm.positions, [2.0, 0.5, 9.0])
    np.testing.assert_array_equal(arm.velocities, [0.0, 0.0, 0.0])


def test_a_target_too_fast_is_followed_at_the_largest_speed():
    arm = joints()
    arm.step(np.array([1.0, 1.5, 0.0]), 0.1)
    np.testing.assert_allclose(arm.positions, [0.1, 1.3, 0.0], atol=1e-15)
    np.testing.assert_allclose(arm.velocities, [1.0, 3.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_joint_whose_target_is_not_finite_stays_put_while_the_others_move(bad):
    arm = joints()
    arm.step(np.array([bad, 1.2, bad]), 0.1)
    np.testing.assert_allclose(arm.positions, [0.0, 1.2, 0.0])


def at_target(arm):
    arm.step(np.array([0.1, 1.1, 0.1]), 0.1)
    return arm


def test_a_lagging_drive_covers_the_same_share_of_its_way_in_equal_times():
    arm = SimulatedJoints(*WIDE, np.zeros(1), time_constant=0.03)
    for _ in range(15):
        arm.step(np.ones(1), 0.002)
    assert arm.positions[0] == pytest.approx(1.0 - math.exp(-1.0))
    coarse = SimulatedJoints(*WIDE, np.zeros(1), time_constant=0.03)
    coarse.step(np.ones(1), 0.03)
    assert coarse.positions[0] == pytest.approx(arm.positions[0])


def test_a_lagging_drive_keeps_the_largest_speed():
    arm = SimulatedJoints(LOWER, UPPER, SPEED, np.array([0.0, 1.0, 0.0]), time_constant=0.03)
    arm.step(np.array([9.0, 9.0, 0.0]), 0.1)
    np.testing.assert_allclose(arm.velocities[:2], [1.0, 3.0])


def test_a_measured_state_is_as_old_as_the_delay():
    arm = SimulatedJoints(*WIDE, np.zeros(1), feedback_delay=0.05)
    measured = []
    for target in range(1, 11):
        arm.step(np.array([float(target)]), 0.01)
        measured.append((arm.positions[0], arm.velocities[0]))
    assert [position for position, _ in measured] == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose([velocity for _, velocity in measured], [0.0] * 5 + [100.0] * 5)


def test_stopped_drives_rest_until_they_are_released():
    arm = at_target(joints())
    arm.stopped = True
    arm.step(np.array([0.0, 1.0, 0.0]), 0.1)
    np.testing.assert_array_equal(arm.positions, [0.1, 1.1, 0.1])
    np.testing.assert_array_equal(arm.velocities, np.zeros(3))
    arm.stopped = False
    arm.step(np.array([0.0, 1.0, 0.0]), 0.1)
    np.testing.assert_allclose(arm.positions, [0.0, 1.0, 0.0], atol=1e-15)


def test_a_blocked_joint_rests_while_the_others_move():
    arm = at_target(joints())
    arm.blocked = np.array([False, True, False])
    arm.step(np.array([0.0, 1.0, 0.0]), 0.1)
    np.testing.assert_allclose(arm.positions, [0.0, 1.1, 0.0], atol=1e-15)


def test_returned_positions_do_not_change():
    arm = joints()
    before = arm.positions
    arm.step(np.array([1.0, 1.2, 1.0]), 0.1)
    np.testing.assert_array_equal(before, [0.0, 1.0, 0.0])


def test_joints_placed_beyond_a_limit_rest_at_it():
    arm = SimulatedJoints(LOWER, UPPER, SPEED, np.array([2.1, 0.4, 7.0]))
    np.testing.assert_array_equal(arm.positions, [2.0, 0.5, 7.0])


def test_joints_begin_at_zero_or_midway():
    lower = np.array([-1.0, 0.0, 0.5, -3.0, -math.inf])
    upper = np.array([2.0, 1.0, 1.5, -1.0, math.inf])
    np.testing.assert_array_equal(initial_positions(lower, upper), [0.0, 0.0, 1.0, -2.0, 0.0])

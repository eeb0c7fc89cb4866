# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.simulation.trajectory import (
    Entry,
    Running,
    Trajectory,
    TrajectorySample,
    blend_trajectory,
    plan_trajectory,
)
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint

EMPTY = np.zeros(0)
KINDS = ("linear", "cubic", "quintic")

values = st.floats(-10.0, 10.0)


@st.composite
def knots(draw, kinds=KINDS):
    """Waypoints of any kinds, mixed: times, then positions, velocities, accelerations (m, 2)."""
    count = draw(st.integers(2, 6))
    gaps = draw(st.lists(st.floats(1e-3, 10.0), min_size=count, max_size=count))
    rows = st.lists(st.lists(values, min_size=2, max_size=2), min_size=count, max_size=count)
    states = np.array([draw(rows) for _ in range(3)])
    for row in range(count):
        kind = draw(st.sampled_from(kinds))
        if kind == "linear":
            states[1, row] = np.nan
        if kind != "quintic":
            states[2, row] = np.nan
    return np.cumsum(gaps), states


@given(knots())
def test_every_waypoint_is_passed_as_commanded(case):
    times, states = case
    trajectory = Trajectory(times, *states)
    for row, time in enumerate(times):
        sample = trajectory.sample(time)
        np.testing.assert_allclose(sample.positions, states[0, row], atol=1e-9)
        if not np.isnan(states[1, row:]).any():  # the piece that begins here is at least cubic
            np.testing.assert_allclose(sample.velocities, states[1, row], atol=1e-6)
        if not np.isnan(states[1:, row:]).any():
            np.testing.assert_allclose(sample.accelerations, states[2, row], atol=1e-3)


@given(knots())
def test_positions_are_continuous_and_pass_the_end_without_a_jump(case):
    times, states = case
    trajectory = Trajectory(times, *states)
    for time in times[1:]:
        before = trajectory.sample(np.nextafter(time, 0.0)).positions
        np.testing.assert_allclose(before, trajectory.sample(time).positions, atol=1e-6)


@given(knots(["cubic", "quintic"]))
def test_velocities_are_continuous_where_they_are_stated(case):
    times, states = case
    trajectory = Trajectory(times, *states)
    for time in times[1:]:
        before = trajectory.sample(np.nextafter(time, 0.0)).velocities
        np.testing.assert_allclose(before, trajectory.sample(time).velocities, atol=1e-3)


@given(knots(["quintic"]))
def test_accelerations_are_continuous_where_they_are_stated(case):
    times, states = case
    trajectory = Trajectory(times, *states)
    for time, gap in zip(times[1:], np.diff(times), strict=True):
        before = trajectory.sample(np.nextafter(time, 0.0)).accelerations
        tolerance = 1e-6 / gap**3 + 1e-6  # one rounding of the time, times the jerk
        np.testing.assert_allclose(before, trajectory.sample(time).accelerations, atol=tolerance)


@given(knots(["linear"]), st.floats(0.0, 1.0))
def test_between_positions_only_the_path_is_linear(case, s):
    times, states = case
    trajectory = Trajectory(times, *states)
    for row in range(len(times) - 1):
        sample = trajectory.sample((1 - s) * times[row] + s * times[row + 1])
        if sample.finished:
            continue
        straight = (1 - s) * states[0, row] + s * states[0, row + 1]
        np.testing.assert_allclose(sample.positions, straight, atol=1e-6)


@pytest.mark.parametrize("degree", [3, 5])
def test_a_polynomial_through_its_own_waypoints_is_reproduced(degree):
    polynomial = np.polynomial.Polynomial([0.3, -1.0, 0.7, 0.2, -0.4, 0.1][: degree + 1])
    times = np.array([0.0, 0.4, 1.0, 2.5])
    states = np.array([polynomial.deriv(k)(times)[:, None] for k in range(3)])
    if degree == 3:
        states[2] = np.nan
    trajectory = Trajectory(times, *states)
    for time in np.linspace(0.0, 2.49, 50):
        sample = trajectory.sample(time)
        assert sample.positions[0] == pytest.approx(polynomial(time), abs=1e-12)
        assert sample.velocities[0] == pytest.approx(polynomial.deriv(1)(time), abs=1e-12)
        assert sample.accelerations[0] == pytest.approx(polynomial.deriv(2)(time), abs=1e-11)


@given(knots(), st.floats(0.05, 0.95))
def test_velocities_and_accelerations_are_the_derivatives(case, s):
    times, states = case
    trajectory = Trajectory(times, *states)
    for start, gap in zip(times, np.diff(times), strict=False):
        h = 1e-4 * gap
        before, here, after = (trajectory.sample(start + s * gap + x) for x in (-h, 0.0, h))
        slope = (after.positions - before.positions) / (2 * h)
        scale = 1.0 + np.abs(states[0]).max() / gap
        np.testing.assert_allclose(here.velocities, slope, atol=1e-5 * scale, rtol=1e-5)
        slope = (after.velocities - before.velocities) / (2 * h)
        np.testing.assert_allclose(here.accelerations, slope, atol=1e-4 * scale / gap, rtol=1e-4)


def test_a_segment_of_a_nanosecond_is_still_exact():
    times = np.array([100.0, 100.0 + 1e-9, 101.0])
    states = np.zeros((3, 3, 1))
    states[0, :, 0] = [0.0, 1e-9, 1.0]
    trajectory = Trajectory(times, *states)
    assert trajectory.sample(times[1]).positions[0] == pytest.approx(1e-9)
    assert np.all(np.isfinite(trajectory.sample(100.0 + 5e-10).positions))


def test_before_and_after_its_waypoints_it_rests():
    states = np.array([[[1.0], [7.0], [2.0]], [[0.0]] * 3, [[np.nan]] * 3])
    trajectory = Trajectory(np.array([5.0, 5.5, 6.0]), *states)
    assert trajectory.sample(4.0).positions[0] == 1.0
    assert not trajectory.sample(5.999).finished
    last = trajectory.sample(1e9)
    assert last.finished
    assert (last.positions[0], last.velocities[0], last.accelerations[0]) == (2.0, 0.0, 0.0)


def point(time, positions, velocities=(), accelerations=()):
    arrays = (np.array(x, float) for x in (positions, velocities, accelerations))
    return Waypoint(time, *arrays, EMPTY)


def plan(*points, names=("a", "b"), continuous=(False, False), now=10.0, start=10.0, **state):
    zero = (0.0, 0.0)
    values = [np.array(state.get(x, zero)) for x in ("positions", "velocities", "accelerations")]
    present = TrajectorySample(*values, finished=False)
    return plan_trajectory(
        TrajectoryCommand(tuple(names), points, start),
        ("a", "b"),
        np.array(continuous),
        Entry(now, state.get("since", now), present, np.array(state.get("held", zero))),
    )


def test_it_leads_from_the_present_state_to_the_first_waypoint():
    trajectory = plan(point(2.0, (1.0, -2.0)), positions=(0.5, 0.0), velocities=(3.0, 3.0))
    np.testing.assert_allclose(trajectory.sample(10.0).positions, [0.5, 0.0])
    np.testing.assert_allclose(trajectory.sample(11.0).positions, [0.75, -1.0])
    np.testing.assert_allclose(trajectory.sample(11.0).velocities, [0.25, -1.0])
    np.testing.assert_allclose(trajectory.sample(12.0).positions, [1.0, -2.0])


def test_the_present_velocity_is_kept_if_the_first_waypoint_has_one():
    trajectory = plan(point(2.0, (1.0, 0.0), (0.0, 0.0)), velocities=(0.5, -0.5))
    np.testing.assert_allclose(trajectory.sample(10.0).velocities, [0.5, -0.5])


def test_the_present_acceleration_is_kept_if_the_first_waypoint_has_one():
    trajectory = plan(point(2.0, (1.0, 0.0), (0.0, 0.0), (0.0, 0.0)), accelerations=(0.4, -0.4))
    np.testing.assert_allclose(trajectory.sample(10.0).accelerations, [0.4, -0.4])


def test_it_begins_at_the_time_of_the_state():
    trajectory = plan(point(1.0, (1.0, 0.0)), since=9.0)
    np.testing.assert_allclose(trajectory.sample(10.0).positions, [0.5, 0.0])


def test_without_a_start_time_a_trajectory_starts_now():
    trajectory = plan(point(0.0, (0.0, 0.0)), point(1.0, (1.0, 0.0)), now=7.0, start=None)
    np.testing.assert_allclose(trajectory.sample(7.5).positions, [0.5, 0.0])


def test_a_constant_trajectory_is_always_at_its_end():
    state = TrajectorySample(np.array([0.3]), np.array([0.1]), np.array([0.0]), finished=True)
    trajectory = Trajectory.constant(state)
    for time in (-1e9, 0.0, 1e9):
        assert trajectory.sample(time) == state


def test_a_first_waypoint_that_is_due_at_once_is_desired_at_once():
    trajectory = plan(point(0.0, (1.0, 1.0)), point(1.0, (2.0, 1.0)))
    np.testing.assert_allclose(trajectory.sample(10.0).positions, [1.0, 1.0])
    np.testing.assert_allclose(trajectory.sample(10.5).positions, [1.5, 1.0])


def test_a_trajectory_from_the_past_is_entered_at_its_present_time():
    points = [point(x, (x, 0.0)) for x in (1.0, 2.0, 3.0, 4.5, 6.0)]
    trajectory = plan(*points, start=5.5, positions=(-9.0, 9.0))
    for now in (10.0, 10.2, 11.0, 11.4):
        np.testing.assert_allclose(trajectory.sample(now).positions, [now - 5.5, 0.0])


def test_a_late_continuous_joint_joins_the_present_turn():
    points = [point(x, (4.0 * x, 0.0)) for x in (1.0, 2.0, 3.0)]
    trajectory = plan(
        *points, start=7.5, positions=(12.0 - 2 * math.tau, 0), continuous=(True, False)
    )
    assert trajectory.sample(10.5).positions[0] == pytest.approx(12.0 - 2 * math.tau)


def test_values_are_sorted_into_the_order_of_the_joints():
    trajectory = plan(point(1.0, (1.0, 2.0), (0.0, 0.0)), names=("b", "a"))
    np.testing.assert_allclose(trajectory.sample(11.0).positions, [2.0, 1.0])


def test_joints_that_are_left_out_hold_their_position():
    trajectory = plan(
        point(1.0, (1.0,), (0.4,), (0.0,)),
        point(2.0, (2.0,), (0.0,)),
        names=("b",),
        positions=(0.6, 0),
        held=(0.7, 0),
        now=11.5,
    )
    for time in np.linspace(11.5, 12.5, 9):
        assert trajectory.sample(time).positions[0] == pytest.approx(0.7)


@given(st.floats(-50.0, 50.0), st.floats(-50.0, 50.0), st.floats(-50.0, 50.0))
def test_a_continuous_joint_takes_the_shortest_way_and_then_turns_as_commanded(at, first, second):
    trajectory = plan(
        point(1.0, (first, first)),
        point(2.0, (second, second)),
        continuous=(True, False),
        positions=(at, at),
    )
    turned, plain = trajectory.sample(11.0).positions
    assert abs(turned - at) <= math.pi + 1e-9
    assert math.remainder(turned - first, math.tau) == pytest.approx(0.0, abs=1e-9)
    assert plain == pytest.approx(first)
    assert trajectory.sample(12.0).positions[0] - turned == pytest.approx(second - first)


@pytest.mark.parametrize("scaling", [1.0, 0.3])
def test_what_is_blended_has_one_waypoint_at_the_time_of_the_hand_off(scaling):
    """Upstream counts that time in whole nanoseconds before it compares it."""
    running = Trajectory(np.array([0.0, 9.0]), *np.zeros((3, 2, 1)))
    state, points = TrajectorySample.at_rest(np.zeros(1)), (point(0.0, (0.1,)), point(1.0, (0.2,)))
    for cycle, later in itertools.product(range(40, 60), range(1, 20)):
        now, start = round(1.0 + 0.002 * cycle, 9), round(1.0 + 0.002 * (cycle + later), 9)
        blended = blend_trajectory(
            TrajectoryCommand(("a",), points, start),
            ("a",),
            np.array([False]),
            Entry(now, now, state, np.zeros(1)),
            Running(running, now - 0.002, scaling),
        )
        begin = now + scaling * 0.002 * later
        np.testing.assert_allclose(blended.times, [now, begin, begin + 1.0], atol=1e-9)

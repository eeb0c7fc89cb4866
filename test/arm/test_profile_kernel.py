# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Profiles of one joint: within every limit, exactly at the goal, as quick as ruckig's."""

from itertools import pairwise

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.arm import profile_kernel as kernels
from basis_ik.arm.profile_kernel import SEGMENTS

plan = from_python(kernels.plan)
extent = from_python(kernels.position_range)
after = from_python(kernels.after)

MOVES = sample(3000)


def states(row, v, a):
    """Return position, velocity and acceleration at every joint between segments, from x = 0."""
    found = [(0.0, v, a)]
    for i in range(SEGMENTS):
        x, v, a = found[-1]
        a = 0.0 if i == kernels.CRUISE_SEGMENT and row[i] > 0 else a
        found.append(after(x, v, a, row[SEGMENTS + i], row[i]))
    return np.array(found)


def moves(seed, count, beyond=1.0):
    """Yield distance, v, a, top speed, acceleration and jerk of moves of every kind."""
    rng = np.random.default_rng(seed)
    while count:
        speed, top, jerk = 10 ** rng.uniform(-1, 1, 3) * [1.0, 3.0, 10.0]
        v, a = (
            beyond * rng.uniform(-1, 1, 2) * [speed, top] * rng.choice([0.0, 1.0], 2, p=[0.2, 0.8])
        )
        if beyond > 1.0 or abs(v + a * abs(a) / (2 * jerk)) <= speed:
            yield rng.normal() * 10 ** rng.uniform(-4, 1), v, a, speed, top, jerk
            count -= 1


def quickest(ruckig, distance, v, a, speed, top, jerk):
    """Return ruckig's time-optimal duration."""
    wanted, found = ruckig.InputParameter(1), ruckig.Trajectory(1)
    wanted.current_position, wanted.target_position = [0.0], [distance]
    wanted.current_velocity, wanted.current_acceleration = [v], [a]
    wanted.max_velocity, wanted.max_acceleration, wanted.max_jerk = [speed], [top], [jerk]
    assert ruckig.Ruckig(1).calculate(wanted, found) == ruckig.Result.Working
    return found.duration


def test_a_move_from_rest_in_closed_form():
    row = np.full(kernels.ROW, np.nan)
    # Two ramps of 1 s each way reach 1 at 0.5 mean, and stop: the rest is cruise.
    plan(5.0, 0.0, 0.0, (-1.0, 1.0, 1.0, 1.0), row)
    assert row[:SEGMENTS].tolist() == pytest.approx([0, 0, 0, 1, 0, 1, 3, 1, 0, 1])
    assert row[SEGMENTS:].tolist() == [0, 0, 0, 1, 0, -1, 0, -1, 0, 1]
    # Too short for that: four ramps of (d/2J)^(1/3).
    plan(-2 * 0.2**3, 0.0, 0.0, (-1.0, 1.0, 1.0, 1.0), row)
    assert kernels.duration(row) == pytest.approx(0.8)


def test_every_profile_ends_at_rest_at_its_goal_within_the_limits():
    row = np.empty(kernels.ROW)
    for distance, v, a, speed, top, jerk in moves(0, MOVES):
        plan(distance, v, a, (-speed, speed, top, jerk), row)
        found = states(row, v, a)
        assert (row[:SEGMENTS] >= 0).all()
        assert np.abs(row[SEGMENTS:]).max() <= jerk
        assert np.abs(found[:, 2]).max() <= top * (1 + 1e-9)
        # The velocity has its extremes where the acceleration is zero: nowhere within a segment
        # without changing its sign there.
        for (_, u, b), (_, w, c) in pairwise(found):
            peak = u + b * abs(b) / (2 * jerk) if b * c < 0 else w
            assert max(abs(peak), abs(w)) <= speed * (1 + 1e-9)
        assert found[-1] == pytest.approx([distance, 0, 0], rel=1e-9, abs=1e-7)
        assert found[-1, 0] == pytest.approx(distance, rel=1e-11, abs=1e-12)


def test_profiles_are_as_quick_as_ruckigs(ruckig):
    row = np.empty(kernels.ROW)
    for move in moves(1, MOVES):
        distance, v, a, speed, top, jerk = move
        plan(distance, v, a, (-speed, speed, top, jerk), row)
        assert kernels.duration(row) == pytest.approx(quickest(ruckig, *move), rel=1e-6), move


def test_a_state_beyond_the_limits_returns_as_fast_as_the_jerk_allows():
    row = np.empty(kernels.ROW)
    slow = 0
    for distance, v, a, speed, top, jerk in moves(2, MOVES, beyond=3.0):
        plan(distance, v, a, (-speed, speed, top, jerk), row)
        found = states(row, v, a)
        way = np.abs(found[:, 0]).max()
        assert found[-1, 0] == pytest.approx(distance, abs=1e-10 * way + 1e-13)
        first = np.abs(found[1, 2])
        assert first <= top * (1 + 1e-12) or abs(a) <= top
        if abs(a) > top:
            assert row[0] == pytest.approx((abs(a) - top) / jerk)
        # What then leads beyond a velocity limit, even with the acceleration taken back, is undone
        # before anything else, and never comes again.
        reach = found[:, 1] + found[:, 2] * np.abs(found[:, 2]) / (2 * jerk)
        assert np.abs(reach[3:]).max() <= speed * (1 + 1e-9)
        slow += bool(row[1] > 0)
    assert slow > MOVES / 10


def test_velocity_limits_may_differ_by_direction():
    row = np.empty(kernels.ROW)
    for distance, fastest in ((9.0, 0.5), (-9.0, -2.0)):
        plan(distance, 0.0, 0.0, (-2.0, 0.5, 4.0, 40.0), row)
        v = states(row, 0.0, 0.0)[:, 1]
        assert v[np.argmax(np.abs(v))] == pytest.approx(fastest)


def test_stopping_is_the_quickest_way_to_rest(ruckig):
    row = np.empty(kernels.ROW)
    o, wanted, found = ruckig.Ruckig(1), ruckig.InputParameter(1), ruckig.Trajectory(1)
    wanted.control_interface = ruckig.ControlInterface.Velocity
    for _, v, a, _, top, jerk in moves(3, MOVES):
        wanted.current_position, wanted.current_velocity = [0.0], [v]
        wanted.current_acceleration = [a]
        wanted.max_acceleration, wanted.max_jerk = [top], [jerk]
        assert o.calculate(wanted, found) == ruckig.Result.Working
        kernels.plan_stop(v, a, top, jerk, row)
        assert kernels.duration(row) == pytest.approx(found.duration, rel=1e-9, abs=1e-9)
        end = kernels.sample(row, 0.0, v, a, np.inf)
        assert end[0] == pytest.approx(found.at_time(found.duration)[0][0], abs=1e-9)
        assert end[1:] == (0.0, 0.0, True)


def test_the_extent_of_a_profile_is_that_of_its_samples():
    row = np.empty(kernels.ROW)
    turned = 0
    for distance, v, a, speed, top, jerk in moves(4, sample(300)):
        plan(distance, v, a, (-speed, speed, top, jerk), row)
        total = kernels.duration(row)
        times = np.linspace(0, total, 400)
        sampled = [kernels.sample(row, 0.0, v, a, t)[0] for t in times]
        least, largest = extent(row, 0.0, v, a)
        near = top * (total / 399) ** 2 + 1e-12
        assert min(sampled) - near <= least <= min(sampled) + 1e-12
        assert max(sampled) - 1e-12 <= largest <= max(sampled) + near
        turned += least < min(0.0, distance) - 1e-9 or largest > max(0.0, distance) + 1e-9
    assert turned > sample(300) / 10


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", range(3))
def test_non_finite_input_gives_nan(bad, place):
    row, given = np.empty(kernels.ROW), [1.0, 0.1, 0.1]
    given[place] = bad
    plan(*given, (-1.0, 1.0, 1.0, 1.0), row)
    assert not np.isfinite(kernels.sample(row, 0.0, given[1], given[2], 0.01)[0])

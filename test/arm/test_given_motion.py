# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions that are given whole: their check, and how an arm keeps to one whatever its pace."""

import numpy as np
import pytest

from basis_ik.arm.given_motion import (
    GIVEN_TUNING,
    Along,
    MotionRefusedError,
    at_times,
    given_motion,
    keep_limits,
    paced,
)
from basis_ik.arm.limiter import WIDEST_SPACING, Motion, plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path

NAMES = ("a", "b")
PERIOD = 0.01
LIMITS = MotionLimits(
    *(np.array(each) for each in ([-2.0, -3.0], [2.0, 3.0], [1.0, 2.0], [4.0, 6.0], [80.0, 90.0]))
)
BOUNDS = LIMITS.scaled(1.0, 1.0, 1.0)
ROWS = np.array([[0.0, 0.0], [0.5, -1.0], [1.5, -0.2], [1.9, 0.5]])
TIMES = np.array([0.0, 1.0, 2.0])
STILL = np.zeros((3, 2))
WAY = np.array([[0.0, 0.0], [0.1, 0.2], [0.2, 0.4]])
SPEEDS = np.array([[0.0, 0.0], [0.15, 0.3], [0.0, 0.0]])


@pytest.fixture(scope="module")
def motion():
    return keep_limits(time_path(ROWS, BOUNDS), LIMITS, NAMES)


def uncapped(*_):
    return 1.0


def off(motion, positions):
    """Return how far positions (k, n) are from the way of a motion, at most."""
    way = at_times(motion, np.linspace(0.0, motion.times[-1], 20_000))[0]
    return max(float(np.abs(way - each).max(axis=1).min()) for each in positions)


def walk(along, pace, most=5000):
    """Return states (k, n, 3) until the end; `pace` is that of each period."""
    found, last = [], at_times(along._motion, along._motion.times[-1:])[0, 0]
    for k in range(most):
        found.append(along.step(PERIOD, pace(k)))
        if (found[-1][:, 0] == last).all():
            return np.array(found)
    raise AssertionError("it does not end")


# What may be given ---------------------------------------------------------------------------


@pytest.mark.parametrize("field", [0, 1, 2, 3])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_are_finite(field, wrong):
    given = [TIMES.copy(), WAY.copy(), SPEEDS.copy(), STILL.copy()]
    given[field][1] = wrong
    with pytest.raises(MotionRefusedError, match=r"points\[1\] is not finite"):
        given_motion(*given)


@pytest.mark.parametrize("times", [(0.0, 1.0, 1.0), (0.0, 2.0, 1.0), (-0.1, 1.0, 2.0)])
def test_times_increase_and_are_not_before_the_start(times):
    with pytest.raises(MotionRefusedError, match="is not after the one before"):
        given_motion(np.array(times), WAY, SPEEDS)


def test_a_motion_may_not_last_for_ever():
    with pytest.raises(MotionRefusedError, match=r"it takes 601 s"):
        given_motion(np.array([0.0, 1.0, 601.0]), WAY, SPEEDS)


@pytest.mark.parametrize(("k", "words"), [(0, "begins in motion"), (2, "ends in motion")])
def test_it_begins_and_ends_at_rest(k, words):
    speeds = SPEEDS.copy()
    speeds[k, 1] = 0.01
    with pytest.raises(MotionRefusedError, match=words):
        given_motion(TIMES, WAY, speeds)


def test_without_accelerations_it_goes_through_the_samples_with_their_velocities():
    motion = given_motion(TIMES, WAY, SPEEDS)
    found = at_times(motion, TIMES + WIDEST_SPACING)
    assert np.allclose(found[0], WAY, rtol=0.0, atol=1e-15)
    assert np.allclose(found[1], SPEEDS, rtol=0.0, atol=1e-15)
    # The cubics of this way turn from one to the other without a step.
    assert np.allclose(found[2, 1], 0.5 * (-0.3 + -0.3 + 0.6), rtol=0.0, atol=1e-12)


def test_where_it_begins_or_ends_with_an_acceleration_it_rests_before_and_after():
    accelerations = np.array([[0.3, 0.6], [0.0, 0.0], [-0.3, -0.6]])
    motion = given_motion(TIMES, WAY, SPEEDS, accelerations)
    assert np.allclose(
        motion.times,
        [0.0, WIDEST_SPACING, 1.0 + WIDEST_SPACING, 2.0 + WIDEST_SPACING, 2.0 + 2 * WIDEST_SPACING],
    )
    for k in (0, -1):
        assert not motion.velocities[k].any()
        assert not motion.accelerations[k].any()
    assert np.array_equal(motion.accelerations[1:-1], accelerations)


def test_all_times_at_once_are_those_of_each(motion):
    times = np.linspace(0.0, motion.times[-1] - 1e-6, 137)
    expected = np.stack([motion.at(time) for time in times]).transpose(2, 0, 1)
    assert np.allclose(at_times(motion, times), expected, rtol=1e-9, atol=1e-9)
    end = at_times(motion, np.array([motion.times[-1], 99.0]))
    assert (end[0] == motion.positions[-1]).all(), "to the bit"
    assert not end[1:].any()


# Limits --------------------------------------------------------------------------------------


def between(field, value):
    """Return a motion that exceeds something only between two samples 0.2 s apart."""
    rest = np.zeros((2, 2))
    positions = rest.copy()
    positions[1, 0] = value
    return Motion(np.array([0.0, field]), positions, rest, rest)


def test_a_motion_within_the_limits_stays_as_it_is(motion):
    assert keep_limits(motion, LIMITS, NAMES) is motion


def test_speeds_are_compared_between_samples():
    # The quintic from rest to rest is 1.875 times as fast as its mean.
    with pytest.raises(MotionRefusedError, match=r"a would have 1.1.* of speed at 0.9\d\d s"):
        keep_limits(between(1.9, 1.2), LIMITS, NAMES)
    keep_limits(between(2.3, 1.2), LIMITS, NAMES)


def test_accelerations_are_compared_between_samples():
    # And its acceleration is 5.7735 times the way by the time's square.
    with pytest.raises(MotionRefusedError, match=r"a would have .* of acceleration"):
        keep_limits(between(0.5, 0.18), LIMITS, NAMES)
    keep_limits(between(0.5, 0.17), LIMITS, NAMES)


def test_positions_are_compared_between_samples():
    times, rest = np.array([0.0, 2.0, 4.0]), np.zeros((3, 2))
    positions, speeds = rest.copy(), rest.copy()
    positions[1] = [1.95, 0.0]
    positions[2] = [1.95, 0.0]
    accelerations = rest.copy()
    keep_limits(Motion(times * 2, positions, speeds, accelerations), LIMITS, NAMES)
    speeds[1, 0] = 0.3
    with pytest.raises(MotionRefusedError, match=r"a would be at 2\.\d+ .* limits are \[-2, 2\]"):
        keep_limits(Motion(times * 2, positions, speeds, accelerations), LIMITS, NAMES)


def test_the_arm_must_be_able_to_stop_before_a_limit():
    """The motion itself turns in time, with more jerk than the arm has."""
    limits = MotionLimits(LIMITS.lower, LIMITS.upper, LIMITS.velocity, LIMITS.acceleration,
                          np.array([4.0, 4.0]))  # fmt: skip
    fast = time_path(np.array([[0.0, 0.0], [1.999, 0.0]]), BOUNDS)
    with pytest.raises(MotionRefusedError, match=r"a could not be stopped before its limits"):
        keep_limits(fast, limits, NAMES)


def test_what_exceeds_a_limit_by_rounding_is_made_slower(motion):
    slower = keep_limits(
        paced(motion, 1.0 + 0.5 * (GIVEN_TUNING.largest_excess - 1.0)), LIMITS, NAMES
    )
    v, a = at_times(slower, np.linspace(0.0, slower.times[-1], 50_000))[1:]
    assert (np.abs(v) <= LIMITS.velocity * (1.0 + 1e-9)).all()
    assert (np.abs(a) <= LIMITS.acceleration * (1.0 + 1e-9)).all()


def test_a_joint_that_begins_outside_its_limits_may_come_inwards_only():
    inwards = time_path(np.array([[2.01, 0.0], [1.0, 0.0]]), BOUNDS)
    keep_limits(inwards, LIMITS, NAMES)
    outwards = time_path(np.array([[2.01, 0.0], [2.02, 0.0]]), BOUNDS)
    with pytest.raises(MotionRefusedError, match=r"a would be at 2\.02"):
        keep_limits(outwards, LIMITS, NAMES)


# On the way ----------------------------------------------------------------------------------


PACES = {
    "even": lambda k: 1.0,
    "slow": lambda k: 0.3,
    "steps": lambda k: (1.0, 0.2, 0.7, 0.0, 1.0)[(k // 30) % 5],
    "pauses": lambda k: float((k // 50) % 2 == 0),
    "nervous": lambda k: float((k // 3) % 2),
}


@pytest.mark.parametrize(
    ("period", "most"), [(0.002, 1.03), (0.004, 1.02), (0.01, 1.02), (0.02, 1.02)]
)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_a_pace_that_changes_at_any_time_keeps_the_jerk(period, most, share):
    """Of motions that need all of it themselves."""
    bounds = LIMITS.scaled(share, share, 1.0)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        motion = plan_motion(bounds, np.zeros(2), rng.uniform(-1.8, 1.8, 2), 0.002)
        along, states, pace = Along(motion, LIMITS, uncapped), [np.zeros((2, 3))], 1.0
        along.begin(np.zeros(2))
        while (left := along.rest(1.0)) is None or left.times[-1] > 0.0:
            if rng.random() < period / 0.3:
                pace = rng.choice([0.0, 0.2, 0.5, 0.8, 0.97, 1.0])
            ends = len(states) * period > 10.0
            states.append(along.step(period, 1.0 if ends else pace))
        jerk = np.abs(np.diff(np.array(states)[:, :, 2], axis=0)) / period / LIMITS.jerk
        assert jerk.max() <= most
        rows = np.ascontiguousarray(np.array(states).transpose(2, 0, 1))
        way = Motion(np.arange(len(states)) * period, *rows)
        between = at_times(way, np.arange(0.0, way.times[-1], 5e-4))[2]
        assert (np.abs(between) / LIMITS.acceleration).max() <= 1.03, "as a controller has them"


def test_a_slow_motion_comes_to_rest_sooner_than_a_fast_one():
    ends = []
    for share in (1.0, 0.1):
        bounds = LIMITS.scaled(share, share, 1.0)
        motion = plan_motion(bounds, np.zeros(2), np.array([1.8, -1.2]), 0.002)
        along = Along(motion, LIMITS, uncapped)
        along.begin(np.zeros(2))
        for _ in range(int(0.5 * motion.times[-1] / PERIOD)):
            along.step(PERIOD, 1.0)
        count = 0
        while along.step(PERIOD, 0.0)[:, 1].any():
            count += 1
        ends.append(count * PERIOD)
    assert ends[1] < 0.25 * ends[0]


@pytest.mark.parametrize("pace", PACES)
def test_the_joints_stay_on_the_way_within_the_limits_whatever_the_pace(motion, pace):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0])
    states = walk(along, PACES[pace])
    assert off(motion, states[..., 0]) < 1e-3
    assert (np.abs(states[..., 1]) <= LIMITS.velocity * (1.0 + 1e-9)).all()
    assert (np.abs(states[..., 2]) <= LIMITS.acceleration * 1.03).all()
    second = np.diff(states[..., 0], 2, axis=0) / PERIOD**2
    assert (np.abs(second) <= LIMITS.acceleration * 1.03).all(), "as the states tell"


def test_an_even_pace_takes_the_time_that_was_given(motion):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0])
    assert len(walk(along, lambda _: 0.5)) == np.ceil(2.0 * motion.times[-1] / PERIOD - 1e-9)


def test_caps_slow_all_of_it(motion):
    along = Along(motion, LIMITS, lambda *_: 0.5)
    along.begin(ROWS[0])
    assert len(walk(along, lambda _: 0.5)) == np.ceil(4.0 * motion.times[-1] / PERIOD - 1e-9)


def test_caps_are_asked_for_once_until_they_change(motion):
    caps = [1.0]
    along = Along(motion, LIMITS, lambda *_: caps[0])
    along.begin(ROWS[0])
    along.step(PERIOD, 1.0)
    caps[0] = 0.1
    assert np.abs(walk(along, lambda _: 1.0)[..., 1]).max() > 0.9 * LIMITS.velocity.min()
    along = Along(motion, LIMITS, lambda *_: caps[0])
    caps[0] = 1.0
    along.begin(ROWS[0])
    for _ in range(100):
        along.step(PERIOD, 1.0)
    caps[0] = 0.1
    along.renew_caps()
    states = walk(along, lambda _: 1.0)
    assert (np.abs(states[200:, :, 1]) <= 0.1 * LIMITS.velocity * (1 + 1e-9)).all()


@pytest.mark.parametrize("beside", [1e-8, 1e-3, 0.9 * GIVEN_TUNING.largest_lead])
def test_an_arm_beside_the_begin_moves_there_first(motion, beside):
    along = Along(motion, LIMITS, uncapped)
    start = ROWS[0] + [beside, -0.5 * beside]
    along.begin(start)
    states = walk(along, lambda _: 1.0)
    moves = np.vstack([start, states[..., 0]])
    assert (np.abs(np.diff(moves, axis=0)) <= LIMITS.velocity * PERIOD * (1 + 1e-9)).all()
    rates = np.diff(np.vstack([start, moves]), 2, axis=0) / PERIOD**2
    assert (np.abs(rates) <= LIMITS.acceleration * 1.03).all()
    assert np.abs(moves - ROWS[0]).max(axis=1).min() < 1e-3


def test_an_arm_too_far_from_the_begin_is_lost(motion):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0] + [1.1 * GIVEN_TUNING.largest_lead, 0.0])
    assert along.lost


def there_and_back():
    """Return a motion that goes the same way three times, and where its second leg begins."""
    out, back = np.array([0.0, 0.0]), np.array([1.5, -0.5])
    leg = time_path(np.array([out, back]), BOUNDS)
    rows = time_path(np.array([out, back, out, back]), BOUNDS)
    return rows, leg.times[-1]


@pytest.mark.parametrize("done", [0.2, 0.8, 1.2, 1.8, 2.2, 2.8])
def test_a_place_is_found_again_on_a_way_that_comes_back(done):
    motion, leg = there_and_back()
    along = Along(motion, LIMITS, uncapped)
    along.begin(motion.positions[0])
    for _ in range(round(done * leg / PERIOD)):
        along.step(PERIOD, 0.8)
    ahead = at_times(motion, np.array([along._place.time + 0.05]))[:, 0].T
    ahead = ahead * 0.8 ** np.array([0.0, 1.0, 2.0])
    time = along._place.time
    along.go_on(ahead)
    assert not along.lost
    assert along._place.time == pytest.approx(time + 0.05, abs=1e-7)
    assert along._place.rate == pytest.approx(0.8, abs=1e-5)


def test_the_way_back_is_told_from_the_way_there_by_its_velocity():
    motion, leg = there_and_back()
    along = Along(motion, LIMITS, uncapped)
    along.whole(np.zeros((2, 3)), 1.0, 0.0)  # it is not known how far the controller is
    time = leg + 0.3 * leg
    along.go_on(motion.at(time))
    assert not along.lost
    assert along._place.time == pytest.approx(time, abs=1e-7)


def test_a_pause_begins_at_once_where_the_joints_speed_up_with_all_they_have(motion):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0])
    for _ in range(12):
        states = along.step(PERIOD, 1.0)
    assert (np.abs(states[:, 2]) / LIMITS.acceleration).max() > 0.9
    for _ in range(8):
        along.step(PERIOD, 0.0)
    assert along._place.rate < 0.95


def test_joints_that_move_beside_the_way_are_lost_and_go_on_from_rest(motion):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0])
    states = [along.step(PERIOD, 1.0) for _ in range(60)][-1]
    beside = states.copy()
    beside[0, 0] += 0.01
    along.go_on(beside)
    assert along.lost
    beside[:, 1:] = 0.0
    along.go_on(beside)
    assert not along.lost
    rest = walk(along, lambda _: 1.0)
    moves = np.vstack([[beside[:, 0]], rest[..., 0]])
    assert (np.abs(np.diff(moves, axis=0)) <= LIMITS.velocity * PERIOD * (1 + 1e-9)).all()
    assert off(motion, rest[20:, :, 0]) < 1e-3


def test_what_is_left_is_known_while_the_pace_is_even(motion):
    along = Along(motion, LIMITS, uncapped)
    along.begin(ROWS[0])
    assert np.array_equal(along.rest(1.0).positions[-1], ROWS[-1])
    for _ in range(50):
        state = along.step(PERIOD, 0.5)
    left = along.rest(0.5)
    assert np.allclose(left.at(0.0), state, rtol=0.0, atol=1e-12)
    assert left.times[-1] == pytest.approx(2.0 * (motion.times[-1] - 0.25), abs=1e-9)
    assert along.rest(0.4) is None
    assert along.rest(0.0) is None


def test_a_whole_motion_is_the_given_one_at_its_pace(motion):
    along = Along(motion, LIMITS, uncapped)
    states = np.zeros((2, 3))
    whole = along.whole(states, 1.0, 0.0)
    assert all(np.allclose(a, b) for a, b in zip(whole, motion, strict=True))
    coarse = Along(motion, LIMITS, uncapped).whole(states, 0.5, 0.02)
    assert np.diff(coarse.times).min() >= 0.02
    assert coarse.times[-1] == pytest.approx(2.0 * motion.times[-1])


@pytest.mark.parametrize("pace", [0.3, 0.0])
def test_a_whole_motion_in_mid_motion_changes_its_pace_on_the_way(motion, pace):
    along = Along(motion, LIMITS, uncapped)
    along.whole(np.zeros((2, 3)), 1.0, 0.0)
    present = motion.at(1.0)
    whole = along.whole(present, pace, 0.0)
    assert np.allclose(whole.at(0.0), present, rtol=0.0, atol=1e-9)
    q, v, a = at_times(whole, np.linspace(0.0, whole.times[-1], 2000))
    assert off(motion, q) < 1e-3
    assert (np.abs(v) <= LIMITS.velocity * 1.001).all()
    assert (np.abs(a) <= LIMITS.acceleration * 1.05).all()
    end = ROWS[-1] if pace else whole.positions[-1]
    assert np.array_equal(whole.positions[-1], end)
    assert not whole.velocities[-1].any()
    assert pace or (np.abs(end - ROWS[-1]) > 0.05).any(), "it rests before"

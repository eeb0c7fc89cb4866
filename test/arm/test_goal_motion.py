# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimated motion of goals, while they move and after they stop."""

import numpy as np
import pytest

from basis_ik.arm import goal_motion
from basis_ik.arm.goal_motion import PREDICTION_TUNING, GoalMotion

# The numbers themselves: with those of the module no change of them would be seen.
LONGEST = 0.25
SHORTEST = 1e-3

PERIOD = 0.005
SPEEDS = np.array([1.0, 2.0])
V = np.array([0.3, -0.7])


def wave(t):
    return np.array([0.2 * np.sin(3.0 * t), 0.1 * np.cos(3.0 * t)])


@pytest.fixture
def motion():
    return GoalMotion(SPEEDS)


def run(motion, place, times, arrivals=None, *, until=None, timed=True):
    """Observe goals with times; return the times of all periods, and the estimates."""
    arrivals = times if arrivals is None else arrivals
    until, seen, k = times[-1] if until is None else until, [], 0
    moments = np.arange(arrivals[0], until + 1e-9, PERIOD)
    for now in moments:
        k = max(k, int(np.searchsorted(arrivals, now + 1e-9, side="right")))
        time = times[k - 1] if timed else None
        seen.append(motion.observe(place(times[k - 1]), now, time))
    return moments, np.array(seen)


@pytest.mark.parametrize("interval", [0.005, 0.01, 0.035, 0.075])
def test_even_motion_is_estimated_and_extrapolated(motion, interval):
    moments, seen = run(motion, lambda t: V * t, np.arange(0.0, 1.0, interval))
    late = moments > 0.5
    np.testing.assert_allclose(seen[late, 1], np.tile(V, (late.sum(), 1)), atol=1e-9)
    np.testing.assert_allclose(seen[late, 0], np.outer(moments[late], V), atol=1e-9)
    np.testing.assert_allclose(seen[late, 2], 0.0, atol=1e-6)


def test_two_goals_are_a_motion(motion):
    motion.observe(np.zeros(2), 0.0)
    place, velocity, _ = motion.observe(0.02 * V, 0.02)
    np.testing.assert_allclose(velocity, V)
    np.testing.assert_allclose(place, 0.02 * V)


def test_two_distant_goals_are_no_motion_but_three_are(motion):
    motion.observe(np.zeros(2), 0.0)
    assert not motion.observe(0.2 * V, 0.2)[1].any()
    np.testing.assert_allclose(motion.observe(0.4 * V, 0.4)[1], V)


@pytest.mark.parametrize(("interval", "most"), [(0.01, 3e-5), (0.02, 6e-5), (0.05, 3e-4)])
def test_curved_motion_is_predicted(motion, interval, most):
    """A cubic fitted over T misses T⁴ x⁗ / 1680 at its end; T is 0.2 s, and x⁗ 16 rad/s⁴."""
    moments, seen = run(motion, wave, np.arange(0.0, 3.0, interval))
    off = seen[:, 0] - np.array([wave(t) for t in moments])
    assert np.abs(off[moments > 1.0]).max() < most


def test_the_times_of_goals_count_not_their_arrival(motion):
    rng = np.random.default_rng(1)
    times = np.arange(0.0, 3.0, 0.02)
    arrivals = np.maximum.accumulate(times + 0.03 + np.abs(0.004 * rng.normal(size=len(times))))
    moments, seen = run(motion, wave, times, arrivals)
    off = seen[:, 0] - np.array([wave(t) for t in moments])
    assert np.abs(off[moments > 1.0]).max() < 3e-4


def test_late_goals_of_an_even_motion_are_evened_out(motion, monkeypatch):
    rng = np.random.default_rng(2)
    times = np.arange(0.0, 4.0, 0.04)
    late = np.abs(0.004 * rng.normal(size=len(times)))
    arrivals, errors = times + late, []

    def reported(t):
        return wave(times[np.argmin(np.abs(arrivals - t))])

    for kinds in (
        goal_motion.MOTION_KINDS,
        tuple(k for k in goal_motion.MOTION_KINDS if not k.even),
    ):
        monkeypatch.setattr(goal_motion, "MOTION_KINDS", kinds)
        moments, seen = run(GoalMotion(SPEEDS), reported, arrivals)
        known = moments > 1.5
        off = seen[known, 0] - np.array([wave(t - late.mean()) for t in moments[known]])
        errors.append(np.sqrt(np.mean(off**2)))
    assert errors[0] < 0.5 * errors[1]


def test_a_goal_repeated_with_its_time_rests(motion):
    _, seen = run(motion, lambda _: V, np.arange(0.0, 1.0, 0.02))
    assert not seen[:, 1:].any()
    assert (seen[:, 0] == V).all()


def test_the_first_goal_rests(motion):
    place, velocity, acceleration = motion.observe(np.ones(2), 0.0)
    assert place.tolist() == [1.0, 1.0]
    assert not velocity.any()
    assert not acceleration.any()


@pytest.mark.parametrize("interval", [0.01, 0.05])
def test_an_overdue_goal_rests_at_its_last_position(motion, interval):
    times = np.arange(0.0, 1.0, interval)
    moments, seen = run(motion, lambda t: V * t, times, until=times[-1] + 0.3)
    since = moments - times[-1]
    moving = seen[:, 1].any(axis=1)
    assert moving[(since > -0.1) & (since < 1.4 * interval)].all()
    assert not moving[since > 1.5 * interval + 1.5 * PERIOD].any()
    assert np.array_equal(seen[-1, 0], V * times[-1])


def test_a_stream_with_losses_is_expected_to_continue(motion):
    times = np.arange(0.0, 1.0, 0.02)
    lossy = np.delete(times, [len(times) - 9, len(times) - 8])
    moments, seen = run(motion, lambda t: V * t, lossy, until=lossy[-1] + 0.3)
    moving = seen[:, 1].any(axis=1)
    assert moving[np.searchsorted(moments, lossy[-1] + 0.06)]
    assert not moving[-1]


def test_an_old_loss_has_no_effect(motion):
    times = 0.02 * np.arange(80)
    lossy = np.delete(
        times,
        [80 - PREDICTION_TUNING.most_intervals - 4, 80 - PREDICTION_TUNING.most_intervals - 3],
    )
    moments, seen = run(motion, lambda t: V * t, lossy, until=lossy[-1] + 0.3)
    assert not seen[np.searchsorted(moments, lossy[-1] + 0.045), 1].any()


def test_a_jump_is_no_motion(motion):
    run(motion, lambda t: V * t, np.arange(0.0, 1.0, PERIOD))
    there = V + np.array([1.1 * SPEEDS[0] * PERIOD, 0.0])
    place, velocity, _ = motion.observe(there, 1.0, 1.0)
    assert not velocity.any()
    assert np.array_equal(place, there)


def test_a_step_in_a_stream_is_no_motion(motion):
    step = np.array([0.01, 0.0])
    _, seen = run(motion, lambda t: step * (t > 0.5), np.arange(0.0, 1.0, 0.02))
    assert np.abs(seen[:, 0, 0]).max() == step[0]
    assert not seen[:, 1].any()


def test_rare_goals_are_single_goals(motion):
    _, seen = run(motion, lambda t: V * t, np.arange(0.0, 3.0, LONGEST + 2 * PERIOD))
    assert not seen[:, 1].any()


def test_goals_with_equal_times_do_not_disturb(motion):
    times = np.repeat(np.arange(0.0, 0.5, 0.02), 2)
    times[1::2] += 0.5 * SHORTEST
    arrivals = times.copy()
    arrivals[1::2] += PERIOD
    _, seen = run(motion, lambda t: V * t, times, arrivals)
    assert np.isfinite(seen).all()
    assert np.abs(seen[-1, 1] - V).max() < 0.01


def test_a_time_that_goes_back_restarts_the_estimate(motion):
    run(motion, lambda t: V * t, np.arange(0.0, 0.5, 0.02))
    assert not motion.observe(V, 0.5, 0.3)[1].any()


def test_noise_is_smoothed(motion):
    rng = np.random.default_rng(0)
    noise = {t: 1e-4 * rng.normal(size=2) for t in PERIOD * np.arange(2000)}
    moments, seen = run(motion, lambda t: V * t + noise[t], np.array(list(noise)))
    raw = 1e-4 * np.sqrt(2) / PERIOD
    assert np.std((seen[:, 1] - V)[moments > 1.0]) < 0.3 * raw


def test_after_a_reset_the_goal_has_no_velocity(motion):
    run(motion, lambda t: V * t, np.arange(0.0, 1.0, PERIOD))
    motion.reset()
    assert not motion.observe(V, 1.0, 1.0)[1].any()

"""The velocity of goals: of moving ones only, and not for longer than they move."""

import numpy as np
import pytest

from basis_ik.motion.goal_motion import LONGEST, OVERDUE, SMOOTHING, GoalMotion

PERIOD = 0.005
SPEEDS = np.array([1.0, 2.0])
V = np.array([0.3, -0.7])


@pytest.fixture
def motion():
    return GoalMotion(SPEEDS, PERIOD)


def run(motion, every, cycles, velocity=V):
    """Tell a goal in even motion each `every` periods; return what is seen each period."""
    return [motion.observe(velocity * PERIOD * (k // every * every)) for k in range(cycles)]


@pytest.mark.parametrize("every", [1, 2, 7, 15])
def test_even_motion_is_found_and_carried_on_between_two_goals(motion, every):
    cycles = round(20 * SMOOTHING / PERIOD)
    seen = run(motion, every, cycles)
    for k in range(cycles - 20, cycles):
        np.testing.assert_allclose(seen[k][1], V, rtol=1e-6)
        np.testing.assert_allclose(seen[k][0], V * PERIOD * k, atol=1e-6)


def test_the_first_goal_rests(motion):
    goal, velocity = motion.observe(np.ones(2))
    assert goal.tolist() == [1.0, 1.0]
    assert not velocity.any()


@pytest.mark.parametrize("every", [1, 3])
def test_a_goal_that_is_overdue_rests_where_it_was_told(motion, every):
    run(motion, every, 400)
    last = np.array([5.0, 5.0])
    motion.observe(V * PERIOD * 400)
    told = V * PERIOD * (400 + every)
    for _ in range(every - 1):
        motion.observe(V * PERIOD * 400)
    for k in range(20):
        last, velocity = motion.observe(told)
        assert velocity.any() == (k <= OVERDUE * every)
    assert np.array_equal(last, told)


def test_a_goal_is_overdue_after_one_and_a_half_intervals(motion):
    run(motion, 4, 400)
    # The last was told 3 periods before the end; after 6 it is due, but for rounding.
    moves = [motion.observe(V * PERIOD * 396)[1].any() for _ in range(4, 11)]
    assert moves[:2] == [True, True]
    assert not any(moves[3:])


def test_a_jump_is_no_motion(motion):
    run(motion, 1, 100)
    goal, velocity = motion.observe(V * PERIOD * 99 + [1.01 * SPEEDS[0] * PERIOD, 0.0])
    assert not velocity.any()
    assert goal[0] == V[0] * PERIOD * 99 + 1.01 * SPEEDS[0] * PERIOD


def test_rare_goals_are_single_goals(motion):
    seen = run(motion, round(LONGEST / PERIOD) + 1, 200)
    assert not any(velocity.any() for _, velocity in seen)


def test_noise_is_smoothed(motion):
    rng = np.random.default_rng(0)
    noise = 1e-4 * rng.normal(size=(2000, 2))
    seen = np.array([motion.observe(V * PERIOD * k + noise[k])[1] for k in range(2000)])[400:]
    raw = 1e-4 * np.sqrt(2) / PERIOD
    assert np.std(seen - V) < 0.3 * raw


def test_what_is_forgotten_has_no_velocity(motion):
    run(motion, 1, 100)
    motion.reset()
    assert not motion.observe(V * PERIOD * 100)[1].any()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands keep every limit on every tick, arrive exactly, and are as quick as ruckig's."""

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of

from basis_ik.arm import joints_kernel as kernels
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.limiter import BRAKE_TUNING, Limiter, plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.simulation.trajectory import Trajectory
from basis_ik.transforms.checks import NotFiniteError

PERIOD = 0.004
TURNS = np.array([1e3])  # rad: so far that no stop is too long
ONE = MotionLimits(*(np.array([x]) for x in (-1.0, 1.0, 1.0, 4.0, 80.0)))


def random_limits(rng, n=5):
    velocity = 10 ** rng.uniform(-1, 0.7, n)
    acceleration = velocity / 10 ** rng.uniform(-1.3, 0.3, n)
    jerk = acceleration / 10 ** rng.uniform(-2, 0, n)
    lower, upper = -(10 ** rng.uniform(-1, 0.7, n)), 10 ** rng.uniform(-1, 0.7, n)
    return MotionLimits(lower, upper, velocity, acceleration, jerk)


def somewhere(rng, limits):
    """Positions within the limits, now and then exactly at one of them."""
    inside = rng.uniform(limits.lower, limits.upper)
    at_limit = np.where(rng.random(len(inside)) < 0.5, limits.lower, limits.upper)
    return np.where(rng.random(len(inside)) < 0.3, at_limit, inside)


def assert_kept(limits, commands, period):
    """Differences of the commands keep the limits; what rounding adds is allowed."""
    commands = np.vstack([[commands[0]] * 3, commands])  # from rest
    assert (commands >= limits.lower).all()
    assert (commands <= limits.upper).all()
    rounding = 8 * np.finfo(float).eps * np.abs(commands).max() + 1e-14
    for order, most in enumerate((limits.velocity, limits.acceleration, limits.jerk), 1):
        rate = np.abs(np.diff(commands, order, axis=0)).max(0)
        assert (rate <= most * period**order * (1 + 1e-9) + 2**order * rounding).all(), order


def settle(limiter, goal, cycles=200_000):
    for _ in range(cycles):
        command = limiter.step(goal)
        if limiter.at_rest:
            return command
    raise AssertionError("never at rest")


def jumping(rng, limiter, limits, goal):
    """Goals that jump at random ticks."""
    while True:
        if rng.random() < 0.02:
            goal = somewhere(rng, limits)
        yield limiter.step(goal)


def jumping_more_often_than_it_can_move(rng, limiter, limits, goal):
    while True:
        yield limiter.step(somewhere(rng, limits))


def trembling(rng, limiter, limits, goal):
    while True:
        if rng.random() < 0.01:
            goal = somewhere(rng, limits)
        yield limiter.step(goal + 0.01 * rng.normal(size=len(goal)))


def braking_now_and_then(rng, limiter, limits, goal):
    while True:
        if rng.random() < 0.02:
            goal = somewhere(rng, limits)
        brake = rng.random() < 0.05
        for _ in range(rng.integers(1, 40)):
            yield limiter.brake() if brake else limiter.step(goal)


def moving(rng, limiter, limits, goal):
    """Goals that move on, also at more than the joints' speed, and into the limits."""
    velocity, acceleration = np.zeros((2, len(goal)))
    while True:
        if rng.random() < 0.01:
            goal = somewhere(rng, limits)
        if rng.random() < 0.05:
            velocity = rng.normal(size=len(goal)) * limits.velocity * rng.choice([0.0, 0.3, 1.0])
            acceleration = rng.normal(size=len(goal)) * limits.acceleration * rng.choice([0.0, 0.5])
        goal = np.clip(goal + velocity * limiter.period, limits.lower, limits.upper)
        yield limiter.step(goal, velocity, acceleration)


@pytest.mark.parametrize(
    "stream",
    [jumping, jumping_more_often_than_it_can_move, trembling, braking_now_and_then, moving],
)
def test_random_streams_keep_all_limits(stream):
    rng = np.random.default_rng(0)
    for _ in range(20):
        limits, period = random_limits(rng), 10 ** rng.uniform(-3, -1.5)
        goal = somewhere(rng, limits)
        limiter = Limiter(limits, period, somewhere(rng, limits))
        commands = [limiter.position]
        walk = stream(rng, limiter, limits, goal)
        commands += [next(walk) for _ in range(3000)]
        assert_kept(limits, np.array(commands), period)
        goal = somewhere(rng, limits)
        assert np.array_equal(settle(limiter, goal), goal)
        assert np.array_equal(limiter.step(goal), goal)


def test_a_goal_beyond_a_limit_is_clamped():
    limiter = Limiter(ONE, PERIOD, np.zeros(1))
    assert settle(limiter, np.array([1.5])).tolist() == [1.0]
    assert settle(limiter, np.array([-np.inf])).tolist() == [-1.0]


def test_a_nan_goal_gives_a_nan_command():
    limiter = Limiter(ONE, PERIOD, np.zeros(1))
    assert np.isnan(limiter.step(np.array([np.nan]))).all()
    assert np.isnan(Limiter(ONE, PERIOD, np.zeros(1)).step(np.zeros(1), np.array([np.nan]))).all()
    with pytest.raises(NotFiniteError):
        limiter.reset(np.array([np.nan]))
    limiter.reset(np.array([0.5]))
    assert limiter.step(np.array([0.5])).tolist() == [0.5]


def test_a_joint_measured_outside_only_moves_inward():
    for start, side in ((1.3, 1), (-1.3, -1)):
        for goal in (0.0, float(side)):
            limiter = Limiter(ONE, PERIOD, np.array([start]))
            commands = [limiter.position]
            for k in range(700):
                commands.append(limiter.brake() if 20 < k < 60 else limiter.step(np.array([goal])))
            assert (side * np.diff(np.ravel(commands)) <= 0).all()
            assert commands[-1] == goal


def test_single_moves_are_straight_for_equal_limits():
    rng = np.random.default_rng(3)
    velocity = rng.uniform(0.5, 3.0, 6)
    limits = MotionLimits(
        np.full(6, -3.0), np.full(6, 3.0), velocity, velocity / 0.25, velocity / 0.0125
    )
    for _ in range(50):
        start, goal = somewhere(rng, limits), somewhere(rng, limits)
        motion = plan_motion(limits.scaled(1, 1, 1), start, goal, 0.01)
        along = (motion.positions - start) @ (goal - start) / ((goal - start) @ (goal - start))
        np.testing.assert_allclose(
            motion.positions, start + along[:, None] * (goal - start), rtol=0, atol=1e-9
        )
        assert (np.diff(along) >= 0).all()


def test_a_planned_motion_equals_the_commands():
    rng = np.random.default_rng(4)
    limits = random_limits(rng)
    start, goal = somewhere(rng, limits), somewhere(rng, limits)
    motion = plan_motion(limits.scaled(1, 1, 1), start, goal, PERIOD)
    limiter = Limiter(limits, PERIOD, start)
    commands = [start] + [limiter.step(goal) for _ in motion.times[1:]]
    np.testing.assert_allclose(motion.positions, commands, rtol=0, atol=1e-12)
    assert np.array_equal(motion.positions[-1], goal)
    assert not motion.velocities[[0, -1]].any()
    rates = np.gradient(motion.positions[:-1], PERIOD, axis=0)[1:-1]
    np.testing.assert_allclose(rates, motion.velocities[1:-2], atol=limits.jerk.max() * PERIOD**2)
    assert plan_motion(limits.scaled(1, 1, 1), goal, goal, PERIOD).times.tolist() == [0.0]


@pytest.mark.parametrize("braking", [False, True])
def test_a_plan_from_motion_equals_the_commands(braking):
    rng = np.random.default_rng(5)
    for _ in range(20):
        limits = random_limits(rng)
        limiter = Limiter(limits, PERIOD, somewhere(rng, limits))
        first, goal = somewhere(rng, limits), somewhere(rng, limits)
        for _ in range(rng.integers(1, 100)):
            limiter.step(first)
        motion = limiter.plan(None if braking else goal, 100_000)
        start = limiter.position
        steps = [limiter.brake() if braking else limiter.step(goal) for _ in motion.times[1:]]
        np.testing.assert_allclose(motion.positions, [start, *steps], rtol=0, atol=1e-12)
        np.testing.assert_allclose(limiter.velocity, 0.0, atol=1e-12)
        assert not motion.velocities[-1].any()
        assert not motion.accelerations[-1].any()


def test_a_plan_keeps_the_maximum_number_of_samples():
    limiter = Limiter(ONE, PERIOD, np.zeros(1))
    motion = limiter.plan(np.ones(1), 20)
    assert len(motion.times) == 21
    assert np.array_equal(motion.positions[-1], np.ones(1))


def test_rounding_moves_no_joint_past_its_limit():
    rng = np.random.default_rng(8)
    for _ in range(100):
        upper, short = rng.uniform(0.5, 3.0, 1), 10 ** rng.uniform(-13, -9)
        limits = MotionLimits(-upper, upper, ONE.velocity, ONE.acceleration, ONE.jerk)
        period = 1e-6 * (short / 1e-12) ** (1 / 3)
        motion = plan_motion(limits.scaled(1, 1, 1), upper - short, upper, period)
        assert (motion.positions <= upper).all()


def quickest(ruckig, limits, state, goal, synchronization):
    n = len(goal)
    wanted, found = ruckig.InputParameter(n), ruckig.Trajectory(n)
    wanted.synchronization = getattr(ruckig.Synchronization, synchronization)
    wanted.current_position, wanted.current_velocity = state[0].tolist(), state[1].tolist()
    wanted.current_acceleration, wanted.target_position = state[2].tolist(), goal.tolist()
    wanted.max_velocity, wanted.max_acceleration = (
        limits.velocity.tolist(),
        limits.acceleration.tolist(),
    )
    wanted.max_jerk = limits.jerk.tolist()
    assert ruckig.Ruckig(n).calculate(wanted, found) == ruckig.Result.Working
    return found.duration


def own_duration(limits, state, goal):
    memory = np.zeros((len(goal), kernels.JOINT_COLUMNS))
    memory[:, :3], memory[:, kernels.GOAL] = state.T, goal
    return kernels.plan_joints(memory, limits.scaled(1, 1, 1))


@pytest.mark.parametrize("synchronization", ["Time", "No"])
def test_single_moves_are_as_quick_as_ruckigs(ruckig, synchronization):
    rng = np.random.default_rng(5)
    shares = []
    for _ in range(3000):
        limits, state = random_limits(rng), np.zeros((3, 5))
        state[0], goal = somewhere(rng, limits), somewhere(rng, limits)
        own = own_duration(limits, state, goal)
        shares.append(own / quickest(ruckig, limits, state, goal, synchronization))
    assert max(shares) <= kernels.STRAIGHT_FACTOR + 1e-6
    assert min(shares) >= 1 - 1e-6


def test_moves_from_any_state_are_as_quick_as_ruckigs(ruckig):
    rng = np.random.default_rng(6)
    shares = []
    while len(shares) < 3000:
        limits, state = random_limits(rng), np.empty((3, 5))
        state[0], goal = somewhere(rng, limits), somewhere(rng, limits)
        # ruckig finds nothing for some states at the very edge.
        most = 0.99 * np.minimum(limits.acceleration, np.sqrt(limits.jerk * limits.velocity))
        state[2] = rng.uniform(-1, 1, 5) * most
        room = 0.99 * limits.velocity - state[2] ** 2 / (2 * limits.jerk)
        state[1] = rng.uniform(-1, 1, 5) * room
        own = own_duration(limits, state, goal)
        shares.append(own / quickest(ruckig, limits, state, goal, "No"))
    assert max(shares) <= 1 + 1e-6
    assert min(shares) >= 1 - 1e-6


def test_an_evenly_moving_goal_is_followed_without_lag():
    limiter, speed = Limiter(ONE, PERIOD, np.array([-0.5])), np.array([0.3])
    goal, late = np.array([-0.9]), []
    for _ in range(500):
        command = limiter.step(goal, speed)
        goal = goal + speed * PERIOD
        late.append(abs(command - goal)[0])
    assert max(late[300:]) < 1e-12
    assert limiter.velocity[0] == pytest.approx(0.3, abs=1e-12)


def test_a_moving_goal_moves_no_joint_past_its_limit():
    limiter = Limiter(ONE, PERIOD, np.array([0.0]))
    commands = [limiter.position]
    for k in range(600):
        goal = np.minimum(0.8 * PERIOD * k, 1.0)
        commands.append(limiter.step(np.array([goal]), np.array([0.8])))
    assert_kept(ONE, np.array(commands), PERIOD)
    assert commands[-1] == 1.0
    assert (np.diff(np.ravel(commands)) >= -1e-15).all()


def test_lowered_limits_are_kept_as_soon_as_the_jerk_allows():
    rng = np.random.default_rng(7)
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for _ in range(60):
        limiter.step(np.array([1.0]))
    assert limiter.velocity[0] == pytest.approx(0.86)
    limiter.scale(0.2)
    commands = [limiter.step(np.array([1.0])) for _ in range(150)]
    # At 4/s² and 80/s³: 0.05 s to take a back, at 0.96; from there to 0.2 it takes 0.76/4 + 0.05 s.
    speeds = np.diff(np.ravel(commands)) / PERIOD
    assert (speeds[round(0.29 / PERIOD) :] <= 0.2 + 1e-9).all()
    for _ in range(50):  # the position limits hold for any lowered limits
        limiter.scale(1.0)
        goal = somewhere(rng, ONE)
        commands = [limiter.step(goal) for _ in range(rng.integers(1, 200))]
        limiter.scale(*rng.uniform(0.01, 1.0, 3))
        commands += [limiter.step(goal) for _ in range(200)]
        assert_kept(ONE, np.array(commands)[:1].repeat(2, 0), PERIOD)
        assert np.abs(commands).max() <= 1.0
        assert np.abs(np.diff(np.ravel(commands), 3)).max() <= 80 * PERIOD**3 * (1 + 1e-6)
        limiter.scale(1.0)
        assert settle(limiter, goal) == goal


def braking_time(before, after):
    """Return how long a joint brakes [s] whose scaling changes at full speed, and what it was."""
    limits = MotionLimits(-TURNS, TURNS, ONE.velocity, ONE.acceleration, ONE.jerk)
    limiter = Limiter(limits, PERIOD, np.array([-1.0]))
    limiter.scale(1.0, before, before)
    while limiter.velocity[0] < 1.0 - 1e-9:
        limiter.step(TURNS, ONE.velocity)
    limiter.scale(1.0, after, after)
    limiter.step(TURNS, ONE.velocity)
    ticks = 0
    while not limiter.at_rest:
        limiter.brake()
        limiter.scale(1.0, after, after)
        ticks += 1
    return ticks * PERIOD


@pytest.mark.parametrize(
    ("before", "after", "used"),
    [
        (1.0, 1.0, 1.0),
        (1.0, 0.4, 0.4),  # 1.0 / 1.6 + 1.6 / 32 = 0.675 s: less than a second
        (1.0, 0.25, 1.0),  # 1.05 s
        (1.0, 0.01, 1.0),
        (0.8, 0.01, 0.8),
        (0.8, 1.0, 1.0),
    ],
)
def test_a_reduced_acceleration_is_used_once_the_joints_can_stop_in_a_second(before, after, used):
    expected = 1.0 / (4 * used) + 4 / 80  # the time to change the acceleration is the same
    assert braking_time(before, after) == pytest.approx(expected, abs=2 * PERIOD)


def test_an_acceleration_that_changes_while_joints_brake_only_shortens_that():
    ticks = {}
    for changed in (0.01, 0.7, 1.0):
        limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
        limiter.to_rest = True
        limiter.scale(1.0, 0.7, 0.7)
        for _ in range(60):
            limiter.step(np.array([1.0]))
        limiter.scale(1.0, changed, changed)
        ticks[changed] = 0
        while not limiter.at_rest:
            limiter.brake()
            ticks[changed] += 1
    assert ticks[0.01] == ticks[0.7]
    assert ticks[1.0] < 0.8 * ticks[0.7]


def test_braking_is_as_quick_as_the_limits_allow():
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for _ in range(100):
        limiter.step(np.array([1.0]))
    assert limiter.velocity[0] == pytest.approx(1.0)
    ticks = 0
    while not limiter.at_rest:
        last, ticks = limiter.brake(), ticks + 1
    assert ticks == pytest.approx((1.0 / 4 + 4 / 80) / PERIOD, abs=1)
    assert np.array_equal(limiter.brake(), last)


def taker(x=0.0, v=0.0, a=0.0):
    """A limiter of one joint in a state; its limits are `ONE`."""
    limiter = Limiter(ONE, PERIOD, np.array([x]))
    limiter._memory[0, :3] = x, v, a
    return limiter


def after(x, v, a, jerk, time=PERIOD):
    x, v, a = x + v * time + a * time**2 / 2 + jerk * time**3 / 6, v + a * time, a + jerk * time
    return np.array([[x, v + jerk * time**2 / 2, a]])


@pytest.mark.parametrize(
    ("state", "jerk"),
    [
        ((0.0, 0.0, 0.0), 80.0),
        ((0.0, 0.98, 1.0), 80.0),
        ((0.0, -0.5, 3.68), 80.0),
        ((0.87, 0.6, -4.0), 0.0),
        ((1.001, 0.0, 0.0), -80.0),  # beyond a limit: inward
    ],
)
def test_states_within_all_limits_are_accepted(state, jerk):
    limiter, states = taker(*state), after(*state, jerk)
    assert limiter.take(states)
    assert limiter.position == states[0, 0]
    assert limiter.velocity == states[0, 1]
    assert (limiter.step(states[:, 0]) != states[0, 0]).any(), "it goes on with its velocity"


@pytest.mark.parametrize(
    ("state", "jerk", "limit"),
    [
        ((0.0, 0.0, 0.0), 81.0, "jerk"),
        ((0.0, 0.999, 1.0), 0.0, "velocity"),
        ((0.0, -0.5, 3.69), 80.0, "acceleration"),
        ((0.94, 0.8, -4.0), 0.0, "position: it could no longer stop"),
        ((1.0, 0.0, 0.0), 80.0, "position"),
        ((-1.001, 0.0, 0.0), -80.0, "position, from beyond"),
    ],
)
def test_states_beyond_a_limit_are_refused(state, jerk, limit):
    limiter = taker(*state)
    assert not limiter.take(after(*state, jerk)), limit
    assert limiter.position == state[0]
    assert limiter.velocity == state[1]


@pytest.mark.parametrize("column", range(3))
def test_states_that_are_not_finite_or_jump_are_refused(column):
    for bad in (np.nan, np.inf, -np.inf):
        states = np.zeros((1, 3))
        states[0, column] = bad
        assert not taker().take(states)


def test_states_at_the_largest_jerk_are_accepted():
    for first, second in ((80.0, -80.0), (-80.0, 80.0), (80.0, 0.0)):
        middle = after(0.0, 0.2, 1.0, first, 0.3 * PERIOD)
        states = after(*middle[0], second, 0.7 * PERIOD)
        assert taker(0.0, 0.2, 1.0).take(states)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_unreachable_position_is_refused(sign):
    states = after(0.0, 0.2, 1.0, 0.0)
    states[0, 0] += sign * 0.03 * 80.0 * PERIOD**3  # 1/32 of it is the most
    assert taker(0.0, 0.2, 1.0).take(states)
    states[0, 0] += sign * 0.002 * 80.0 * PERIOD**3
    assert not taker(0.0, 0.2, 1.0).take(states)


@pytest.mark.parametrize("column", range(3))
def test_states_beyond_the_jerk_limit_are_refused(column):
    states = after(0.0, 0.5, 1.0, 79.0)
    assert taker(0.0, 0.5, 1.0).take(states)
    states[0, column] += 80.0 * PERIOD ** (3 - column) / 10.0
    assert not taker(0.0, 0.5, 1.0).take(states)


def test_a_speed_that_will_exceed_its_limit_is_refused():
    fading = 0.5 * 1.0**2 / 80.0  # what the velocity gains meanwhile
    for spare, taken in ((1e-6, True), (-1e-6, False)):
        limiter = taker(0.0, 1.0 - fading - 1.0 * PERIOD - spare, 1.0)
        assert limiter.take(after(0.0, 1.0 - fading - 1.0 * PERIOD - spare, 1.0, 0.0)) == taken


@pytest.mark.parametrize("seed", range(8))
def test_tails_begin_at_the_last_command_keep_the_limits_and_end_at_rest(seed):
    rng = np.random.default_rng(seed)
    limits = random_limits(rng)
    limiter = Limiter(limits, PERIOD, somewhere(rng, limits))
    commands = jumping(rng, limiter, limits, somewhere(rng, limits))
    next(commands)
    for _ in range(300):
        next(commands)
        tail = limiter.tail()
        assert tail.times[0] == 0.0
        assert (np.diff(tail.times) > 0.0).all()
        np.testing.assert_array_equal(np.stack(tail[1:], axis=2)[0], limiter.state)
        assert not tail.velocities[-1].any()
        assert not tail.accelerations[-1].any()
        edge = 1e-9 + 1e-6 * np.abs(tail.positions).max()
        assert (tail.positions >= limits.lower - edge).all()
        assert (tail.positions <= limits.upper + edge).all()
        assert (np.abs(tail.velocities) <= limits.velocity * (1 + 1e-9)).all()


def test_a_controllers_interpolation_of_a_tail_keeps_the_limits():
    rng, n = np.random.default_rng(0), 6
    high, speed = np.full(n, 6.3), np.full(n, np.pi)
    limits = MotionLimits(-high, high, speed, speed / 0.25, speed / 0.0125)
    for _ in range(150):
        limiter = Limiter(limits, 0.01, np.zeros(n))
        for count in range(int(rng.integers(3, 60))):
            if count == 0 or rng.random() < 0.1:
                goal = rng.uniform(-1.0, 1.0, n) * rng.choice([0.05, 0.3, 2.0], n)
            limiter.step(goal)
        tail = limiter.tail()
        drawn = Trajectory(*tail)
        samples = [drawn.sample(time) for time in np.arange(0.0, tail.times[-1], 0.002)]
        speeds, rates = (np.abs([sample[kind] for sample in samples]).max() for kind in (1, 2))
        assert speeds <= 1.01 * speed[0]
        assert rates <= 1.04 * speed[0] / 0.25


def test_in_a_tail_the_joints_stop_together():
    rng, wide = np.random.default_rng(1), np.full(4, 9.0)
    limits = MotionLimits(-wide, wide, np.full(4, 1.0), np.full(4, 4.0), np.full(4, 80.0))
    for _ in range(50):
        limiter = Limiter(limits, PERIOD, np.zeros(4))
        for _ in range(100):
            limiter.step(rng.permutation([4.0, 0.05, -0.2, 4.0]))
        longest = 0.0
        for velocity, acceleration in limiter.state[:, 1:]:
            alone = taker(0.0, velocity, acceleration)
            longest = max(longest, alone.tail().times[-1])
        tail = limiter.tail()
        assert len(tail.times) == 1 + BRAKE_TUNING.pieces
        assert tail.times[-1] == pytest.approx(longest, abs=1e-12)
        assert (tail.velocities[-2] != 0.0).all()


def test_a_tail_of_one_joint_is_its_quickest_stop():
    limiter = Limiter(ONE, PERIOD, np.array([-0.5]))
    for _ in range(100):
        limiter.step(np.array([0.5]))
    tail, ticks = limiter.tail(), 0
    while not limiter.at_rest:
        limiter.brake()
        ticks += 1
    np.testing.assert_allclose(tail.positions[-1], limiter.position, rtol=0, atol=1e-12)
    assert -1e-9 <= ticks * PERIOD - tail.times[-1] <= PERIOD + 1e-9


def test_a_tail_has_no_more_samples_than_it_needs():
    limiter = Limiter(ONE, 0.01, np.array([0.2]))
    assert [each.tolist() for each in limiter.tail()] == [[0.0], [[0.2]], [[0.0]], [[0.0]]]
    assert len(taker(0.0, 1e-4).tail().times) == 2, "it takes 4 ms"
    assert len(taker(0.0, 1e-3).tail().times) == 1 + BRAKE_TUNING.pieces, (
        "it takes 7 ms, and a period 4 ms"
    )


def test_a_tail_brakes_before_a_position_limit():
    limiter = Limiter(ONE, 0.1, np.array([0.0]))
    for goal in np.linspace(0.1, 1.0, 20):  # a goal that moves: no profile tells what comes
        limiter.step(np.array([goal]), np.array([0.9]))
        assert limiter.tail().positions.max() <= 1.0 + 1e-9


def test_a_tail_keeps_the_velocity_limit():
    limiter = Limiter(ONE, 0.01, np.array([-1.0]))
    for goal in np.linspace(-0.7, 0.5, 60):
        limiter.step(np.array([goal]), np.array([0.2]))
        assert np.abs(limiter.tail().velocities).max() <= 1.0 + 1e-9


def test_a_tail_changes_nothing():
    limiter, other = (Limiter(ONE, PERIOD, np.array([0.0])) for _ in range(2))
    for k in range(300):
        limiter.tail()
        commands = [
            each.brake() if 30 < k < 50 else each.step(ONE.upper) for each in (limiter, other)
        ]
        assert commands[0] == commands[1]


def from_rest(rng, limiter, limits):
    """Do nothing before."""


def in_motion(rng, limiter, limits):
    """Move somewhere else before."""
    goal = somewhere(rng, limits)
    for _ in range(rng.integers(1, 100)):
        limiter.step(goal)


def after_goals(rng, limiter, limits):
    """Move to goals that have changed before."""
    for _ in range(3):
        in_motion(rng, limiter, limits)


def after_a_moving_goal(rng, limiter, limits):
    """Follow a moving goal before."""
    goal, velocity = somewhere(rng, limits), 0.3 * limits.velocity
    for _ in range(rng.integers(1, 100)):
        limiter.step(goal, velocity)


def assert_on(motion, limiter, goal):
    """The commands to a goal, or of braking if that is None, are on a motion to its end."""
    assert motion.times[0] == 0.0
    np.testing.assert_array_equal(np.stack(motion[1:], axis=2)[0], limiter.state)
    assert (np.diff(motion.times) > BRAKE_TUNING.shortest_segment).all()
    for tick in range(1, int(motion.times[-1] / limiter.period) + 3):
        command = limiter.brake() if goal is None else limiter.step(goal)
        assert np.abs(motion.at(tick * limiter.period)[:, 0] - command).max() <= 1e-9
    assert limiter.at_rest
    np.testing.assert_allclose(motion.positions[-1], command, rtol=0, atol=1e-12)


@pytest.mark.parametrize("before", [from_rest, in_motion, after_goals, after_a_moving_goal])
@pytest.mark.parametrize("override", [1.0, 0.5])
@pytest.mark.parametrize("braking", [False, True])
@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_all_commands_are_on_the_remainder(before, override, braking, count):
    rng = np.random.default_rng(11)
    for _ in range(count):
        limits = random_limits(rng)
        limiter = Limiter(limits, PERIOD, somewhere(rng, limits))
        before(rng, limiter, limits)
        limiter.slow_down(override)
        goal = somewhere(rng, limits)
        for ticks in (0, 1, 7):  # also of profiles that have been planned
            for _ in range(ticks):
                limiter.brake() if braking else limiter.step(goal)
            motion = limiter.remainder(None if braking else goal)
            assert not motion.velocities[-1].any()
            assert not motion.accelerations[-1].any()
            assert len(motion.times) <= 1 + 7 * len(goal)
        assert_on(motion, limiter, None if braking else goal)
        assert braking or np.array_equal(motion.positions[-1], goal)


def test_a_remainder_with_changed_limits_is_that_of_the_commands():
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for scaling in (1.0, 0.3, 0.8):
        limiter.scale(scaling)
        motion = limiter.remainder(np.array([1.0]))
        for tick in range(1, 60):
            assert motion.at(tick * PERIOD)[0, 0] == pytest.approx(
                limiter.step(ONE.upper)[0], abs=1e-9
            )


def test_with_caps_only_braking_has_a_remainder():
    chain, home = chain_of("ur5e"), HOMES["ur5e"]
    caps = SpeedCaps(chain, [])
    limiter = Limiter(MotionLimits.of_chain(chain), 0.01, home, caps)
    for cap, known in ((0.25, False), (0.0, True)):
        caps.set(cap, 0.0)
        for _ in range(20):
            limiter.step(home + 0.5)
        assert (limiter.remainder(home + 0.5) is not None) == known
        assert limiter.remainder(None) is not None
        assert len(limiter.tail().times) == 1 + BRAKE_TUNING.pieces


def test_a_remainder_at_no_speed_brakes():
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for _ in range(60):
        limiter.step(np.array([1.0]))
    limiter.slow_down(0.0)
    assert_on(limiter.remainder(np.array([1.0])), limiter, np.array([1.0]))


def test_a_remainder_goes_to_a_clamped_goal():
    limiter = Limiter(ONE, PERIOD, np.array([0.5]))
    assert limiter.remainder(np.array([3.0])).positions[-1] == 1.0


@pytest.mark.parametrize("braking", [False, True])
def test_every_remainder_ends_at_rest(braking):
    """Also one of which less than `shortest_segment` is left."""
    rng = np.random.default_rng(12)
    for _ in range(100):
        limiter = Limiter(ONE, PERIOD, rng.uniform(-1.0, 1.0, 1).round(2))
        goal = rng.uniform(-1.0, 1.0, 1).round(2)
        for _ in range(20):
            limiter.step(goal)
        for _ in range(800):
            motion = limiter.remainder(None if braking else goal)
            assert not motion.velocities[-1].any()
            assert not motion.accelerations[-1].any()
            if limiter.at_rest:
                break
            limiter.brake() if braking else limiter.step(goal)
        assert len(motion.times) == 1


def test_a_remainder_changes_nothing():
    limiter, other = (Limiter(ONE, PERIOD, np.array([0.0])) for _ in range(2))
    for k in range(300):
        braking = 30 < k < 50
        limiter.remainder(None if braking else ONE.upper)
        commands = [each.brake() if braking else each.step(ONE.upper) for each in (limiter, other)]
        assert commands[0] == commands[1]


@pytest.mark.parametrize("before", [from_rest, in_motion, after_goals, after_a_moving_goal])
def test_the_time_of_a_place_on_a_motion_is_found(before):
    rng = np.random.default_rng(13)
    for _ in range(30):
        limits = random_limits(rng)
        limiter = Limiter(limits, PERIOD, somewhere(rng, limits))
        before(rng, limiter, limits)
        motion = limiter.remainder(somewhere(rng, limits))
        for time in rng.uniform(0.0, 1.0, 10) * motion.times[-1]:
            states = motion.at(time)
            inexact = 1e-9 + 1e-14 / np.abs(states[:, 1]).max()
            assert motion.time_of(states[:, 0]) == pytest.approx(time, abs=inexact)
        assert motion.time_of(motion.positions[0]) == pytest.approx(0.0, abs=1e-4)
        assert motion.time_of(motion.positions[-1]) == pytest.approx(motion.times[-1], abs=1e-4)


def test_the_time_of_a_place_that_is_passed_twice_is_the_first_not_too_early():
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for _ in range(60):
        limiter.step(ONE.upper)
    motion = limiter.remainder(ONE.lower)  # beyond, and back
    there = motion.at(0.02)[:, 0]
    assert motion.time_of(there) == pytest.approx(0.02, abs=1e-9)
    back = motion.time_of(there, 0.1)
    assert back > 0.2
    assert motion.at(back)[:, 0] == pytest.approx(there, abs=1e-9)


def test_the_time_of_a_place_near_a_reversal_is_found():
    limiter = Limiter(ONE, PERIOD, np.array([-1.0]))
    for _ in range(60):
        limiter.step(ONE.upper)
    motion = limiter.remainder(ONE.lower)
    farthest = max(np.arange(0.0, motion.times[-1], 1e-3), key=lambda time: motion.at(time)[0, 0])
    for time in (farthest - 0.1, farthest, farthest + 0.1):
        there = motion.at(time)[:, 0]
        assert motion.at(motion.time_of(there))[:, 0] == pytest.approx(there, abs=1e-9)


def test_the_time_of_a_place_off_the_way_is_that_of_one_near_it():
    motion = Limiter(ONE, PERIOD, np.array([-0.5])).remainder(np.array([0.5]))
    for off, near in ((-0.7, -0.5), (0.7, 0.5)):
        assert motion.at(motion.time_of(np.array([off])))[0, 0] == pytest.approx(near, abs=2e-3)


def test_a_restart_in_motion_continues_and_a_command_can_be_undone():
    limiter, other = (Limiter(ONE, PERIOD, np.array([0.0])) for _ in range(2))
    for _ in range(30):
        limiter.step(np.array([1.0]))
    other.go_on(limiter.state)
    assert other.brake() == pytest.approx(limiter.brake())
    limiter.undo()
    other.undo()
    assert limiter.step(np.array([1.0])) == pytest.approx(other.step(np.array([1.0])))


@pytest.mark.parametrize("time", [-1.0, 0.0, 0.05, 0.31, 0.8, 1e3])
def test_a_motion_is_found_between_its_samples(time):
    limits = ONE.scaled(1.0, 1.0, 1.0)
    coarse = plan_motion(limits, np.array([-0.5]), np.array([0.5]), 0.01)
    fine = plan_motion(limits, np.array([-0.5]), np.array([0.5]), 0.0001)
    position, velocity, _ = coarse.at(time)[0]
    k = min(np.searchsorted(fine.times, time), len(fine.times) - 1)
    assert position == pytest.approx(fine.positions[k, 0], abs=3e-4)
    if 0.0 < time < coarse.times[-1]:
        assert velocity == pytest.approx(fine.velocities[k, 0], abs=3e-2)
    else:
        assert velocity == 0.0


def test_states_that_are_led_to_are_the_next_command_and_can_be_undone():
    limiter = Limiter(ONE, PERIOD, np.zeros(1))
    before = limiter.state
    states = np.array([[1e-3, 2e-3, 3e-3]])
    assert np.array_equal(limiter.lead(states), states[:, 0])
    assert np.array_equal(limiter.state, states)
    limiter.undo()
    assert np.array_equal(limiter.state, before)

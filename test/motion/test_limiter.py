# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Commands keep every limit on every tick, arrive exactly, and are as quick as ruckig's."""

import numpy as np
import pytest

from basis_ik.motion import joints_kernel as kernels
from basis_ik.motion.limiter import AHEAD, LEAD, Limiter, plan_motion
from basis_ik.motion.limits import MotionLimits
from basis_ik.motion.trajectory import Trajectory
from basis_ik.transforms.checks import NotFiniteError

PERIOD = 0.004
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
    memory = np.zeros((len(goal), kernels.COLUMNS))
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
    assert max(shares) <= kernels.STRAIGHT + 1e-6
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
def test_windows_join_keep_the_limits_and_end_at_rest(seed):
    rng = np.random.default_rng(seed)
    limits = random_limits(rng)
    limiter = Limiter(limits, PERIOD, somewhere(rng, limits))
    commands = jumping(rng, limiter, limits, somewhere(rng, limits))
    before = None
    next(commands)
    for _ in range(300):
        command = next(commands)
        window = limiter.window()
        assert window.times[0] == 0.0
        assert (np.diff(window.times) > 0.0).all()
        np.testing.assert_array_equal(window.positions[LEAD], command)
        assert not window.velocities[-1].any()
        assert not window.accelerations[-1].any()
        if before is not None:  # each begins where the one before it is by then
            for count in range(LEAD):
                here, then = window.at(count * PERIOD), before.at((count + 1) * PERIOD)
                np.testing.assert_allclose(here, then, rtol=0, atol=1e-12)
        edge = 1e-9 + 1e-6 * np.abs(window.positions).max()
        assert (window.positions >= limits.lower - edge).all()
        assert (window.positions <= limits.upper + edge).all()
        assert (np.abs(window.velocities) <= limits.velocity * (1 + 1e-9)).all()
        before = window


@pytest.mark.parametrize("stride", [1, 2, 3, 5, 10])
def test_windows_with_spaced_commands_join(stride):
    """A window's first two pieces are the last two of the window a stride earlier."""
    limiter, before = Limiter(ONE, 0.002, np.array([-0.5])), None
    for _ in range(40):
        for _ in range(stride):
            command = limiter.step(np.array([0.5]))
        window = limiter.window(stride)
        spacing = 0.002 * stride
        np.testing.assert_allclose(window.times[: 1 + LEAD], spacing * np.arange(1 + LEAD))
        np.testing.assert_array_equal(window.positions[LEAD], command)
        if before is not None:
            for kind in ("positions", "velocities", "accelerations"):
                here, then = getattr(window, kind), getattr(before, kind)
                np.testing.assert_array_equal(here[:LEAD], then[1 : 1 + LEAD])
            assert before.times[1 + LEAD] >= (LEAD + 1) * spacing - 1e-9, "if the next one is lost"
        before = window


def test_a_window_begins_with_the_rest_before_the_motion():
    limiter = Limiter(ONE, PERIOD, np.array([-0.5]))
    command = limiter.step(np.array([0.5]))
    assert limiter.window().positions[: 1 + LEAD, 0].tolist() == [-0.5, -0.5, *command]
    limiter.go_on(np.array([[0.1, 0.2, 0.0]]))
    command = limiter.step(np.array([0.5]))
    np.testing.assert_array_equal(limiter.window().positions[:2, 0], [0.1, *command])


def test_a_controllers_interpolation_of_a_window_keeps_the_limits():
    rng, n = np.random.default_rng(0), 6
    high, speed = np.full(n, 6.3), np.full(n, np.pi)
    limits = MotionLimits(-high, high, speed, speed / 0.25, speed / 0.0125)
    for _ in range(150):
        limiter = Limiter(limits, 0.01, np.zeros(n))
        for count in range(int(rng.integers(3, 60))):
            if count == 0 or rng.random() < 0.1:
                goal = rng.uniform(-1.0, 1.0, n) * rng.choice([0.05, 0.3, 2.0], n)
            limiter.step(goal)
        window = limiter.window()
        drawn = Trajectory(*window)
        samples = [drawn.sample(time) for time in np.arange(0.0, window.times[-1], 0.002)]
        speeds, rates = (np.abs([sample[kind] for sample in samples]).max() for kind in (1, 2))
        assert speeds <= 1.01 * speed[0]
        assert rates <= 1.1 * speed[0] / 0.25


def test_a_window_predicts_the_commands_and_then_brakes():
    limiter = Limiter(ONE, PERIOD, np.array([-0.5]))
    commands = [limiter.step(np.array([0.5])) for _ in range(100)]
    window = limiter.window()
    ahead = [limiter.step(np.array([0.5]))[0] for _ in range(AHEAD)]
    settled = [*np.ravel(commands[-1 - LEAD :]), ahead[-1]]
    np.testing.assert_allclose(window.positions[: 2 + LEAD, 0], settled)
    limiter.brake()
    while not limiter.at_rest:
        limiter.brake()
    np.testing.assert_allclose(window.positions[-1], limiter.position, rtol=0, atol=1e-12)


def test_a_window_brakes_at_once_before_a_position_limit():
    limiter = Limiter(ONE, 0.1, np.array([0.0]))
    for goal in np.linspace(0.1, 1.0, 20):  # a goal that moves: no profile tells what comes
        limiter.step(np.array([goal]), np.array([0.9]))
        assert limiter.window().positions.max() <= 1.0 + 1e-9


def test_a_window_brakes_at_once_before_a_velocity_limit():
    limiter = Limiter(ONE, 0.01, np.array([-1.0]))
    for goal in np.linspace(-0.7, 0.5, 60):
        limiter.step(np.array([goal]), np.array([0.2]))
        assert np.abs(limiter.window().velocities).max() <= 1.0 + 1e-9


@pytest.mark.parametrize("period", [0.1, 0.1 - 1e-11, 0.01, 0.002])
def test_a_window_at_rest_is_half_a_second_long(period):
    """A controller that is late refuses what is over: it would not take a hold."""
    limiter = Limiter(ONE, period, np.array([0.2]))
    for _ in range(LEAD):
        limiter.step(np.array([0.2]))
    window = limiter.window()
    assert window.times[-1] >= 0.5
    assert (np.diff(np.rint(1e9 * window.times)) > 0).all(), "or the controller refuses it"
    assert (window.positions == 0.2).all()


@pytest.mark.parametrize("override", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("period", [0.01, 0.002])
def test_a_window_in_motion_is_half_a_second_long(period, override):
    """A controller that is late refuses what is over: the arm would stand still."""
    limiter = Limiter(ONE, period, np.array([-0.5]))
    limiter.scale(override)
    for _ in range(round(0.3 / period)):
        limiter.step(np.array([0.5]))
    window = limiter.window()
    for _ in range(AHEAD):
        limiter.step(np.array([0.5]))
    while not limiter.at_rest:
        limiter.brake()
    rests = np.flatnonzero(np.abs(window.positions[:, 0] - limiter.position) < 1e-12)
    assert window.times[-1] >= 0.5
    assert (np.diff(window.times) > 0.0).all()
    assert rests[-1] == len(window.times) - 1
    assert (window.velocities[rests] == 0.0).all()
    assert (window.accelerations[rests] == 0.0).all()
    assert window.times[rests[0]] < (LEAD + AHEAD + 1) * period + 0.25 * override + 0.05


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
        assert coarse.nearest(coarse.at(time)[:, 0], 0.0) == pytest.approx(time, abs=2e-3)
        assert coarse.nearest(coarse.at(time)[:, 0], time + 0.01) == time + 0.01
    else:
        assert velocity == 0.0

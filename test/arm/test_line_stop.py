# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tip stops on its line nearly as soon as its slowest joint could, within all limits."""

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of, worst

from basis_ik.arm.goals import TwistGoal
from basis_ik.arm.jog import Jog
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Phase, Pipeline

PERIOD = 0.005
COUNT = 60


@pytest.fixture(scope="module")
def chains():
    return {robot: chain_of(robot) for robot in HOMES}


def optimum(v, a, top, jerk):
    """Time and distance of a joint's quickest stop, by bisection for its peak acceleration."""

    def left(peak):  # velocity, without a hold
        return v + 0.5 * (a + peak) * abs(peak - a) / jerk + 0.5 * peak * abs(peak) / jerk

    low, high = -top, top
    for _ in range(60):
        peak = 0.5 * (low + high)
        low, high = (low, peak) if left(peak) > 0.0 else (peak, high)
    hold = max(-left(peak) / peak, 0.0) if abs(peak) > 0.999999 * top else 0.0
    way = total = 0.0
    ramps = (peak - a, 0.0, -peak)
    for time, j in zip((abs(peak - a) / jerk, hold, abs(peak) / jerk), np.sign(ramps), strict=True):
        way += v * time + a * time**2 / 2.0 + j * jerk * time**3 / 6.0
        v, a = v + a * time + j * jerk * time**2 / 2.0, a + j * jerk * time
        total += time
    assert v == pytest.approx(0.0, abs=1e-5)
    return total, abs(way)


class Stop:
    """A stop from a random jogging motion, and each joint's independent stop."""

    def __init__(self, chain, home, rng, *, turned, period=PERIOD):
        self.limits = limits = MotionLimits.of_chain(chain)
        start = np.clip(home + rng.uniform(-0.6, 0.6, len(home)), chain.lower, chain.upper)
        limiter = Limiter(limits, period, start)
        jog = Jog(chain, limiter)
        self.commands = [start] * 3
        for _ in range(1 + turned):
            linear = rng.normal(size=3) * rng.choice([0.05, 0.1, 0.3])
            angular = rng.normal(size=3) * rng.choice([0.0, 0.2, 0.5])
            goal = TwistGoal(tuple(linear), tuple(angular), in_tip=bool(rng.random() < 0.3))
            for _ in range(max(1, round(rng.uniform(0.03, 0.6) / period))):
                self.commands.append(jog.step(goal))
        bests = [
            optimum(v, a, *most)
            for (_, v, a), most in zip(
                limiter.state, zip(limits.acceleration, limits.jerk, strict=True), strict=True
            )
        ]
        slowest = int(np.argmax([time for time, _ in bests]))
        self.moves = jog.moving and bests[slowest][0] > 4 * period
        self.best, self.best_way = bests[slowest]
        began, before = len(self.commands), chain.forward(self.commands[-1])
        self.kept = True
        while not limiter.at_rest:
            self.commands.append(jog.step(None))
            self.kept = self.kept and (jog.moving or limiter.at_rest)
        self.time = (len(self.commands) - began) * period
        self.way = abs(self.commands[-1] - self.commands[began - 1])[slowest]
        self.commands += [self.commands[-1]] * 3
        self.period = period
        after = chain.forward(self.commands[-1])
        travel = after.translation - before.translation
        axis = before.apply_vector(goal.linear) if goal.in_tip else np.array(goal.linear)
        axis /= np.linalg.norm(axis)
        self.aside = float(np.linalg.norm(travel - (travel @ axis) * axis))
        self.curved = goal.in_tip and any(goal.angular)

    def worst(self):
        """Largest velocity, acceleration or jerk, relative to its limit."""
        return worst(self.commands, self.limits, self.period).max()


def stops(chain, home, *, turned, seed):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < COUNT:
        stop = Stop(chain, home, rng, turned=turned)
        if stop.moves:
            found.append(stop)
    return found


@pytest.mark.parametrize("robot", HOMES)
def test_a_stop_on_the_line_takes_little_longer_than_the_slowest_joint(chains, robot):
    found = stops(chains[robot], HOMES[robot], turned=False, seed=3)
    assert np.median([stop.time / stop.best for stop in found]) <= 1.1
    assert np.median([stop.way / stop.best_way for stop in found]) <= 1.1
    for stop in found:
        assert stop.time <= 1.3 * stop.best + stop.period
        assert stop.worst() <= 1.0 + 1e-6
        assert stop.kept
        assert stop.curved or stop.aside < 1e-6


@pytest.mark.parametrize("robot", HOMES)
def test_a_stop_from_a_turn_takes_little_longer_than_the_slowest_joint(chains, robot):
    found = stops(chains[robot], HOMES[robot], turned=True, seed=4)
    assert np.median([stop.time / stop.best for stop in found]) <= 1.1
    assert np.median([stop.way / stop.best_way for stop in found]) <= 1.1
    for stop in found:
        assert stop.time <= 1.3 * stop.best + stop.period
        assert stop.worst() <= 1.0 + 1e-6
    assert not all(stop.kept for stop in found), "where that is much quicker the joints brake alone"


def test_it_stops_from_an_acceleration_beyond_a_limit_that_was_lowered(chains):
    limits = MotionLimits.of_chain(chains["ur5e"])
    limiter = Limiter(limits, PERIOD, HOMES["ur5e"])
    jog = Jog(chains["ur5e"], limiter)
    goal = TwistGoal((0.2, 0.1, 0.0), (0.0, 0.0, 0.0))
    for _ in range(7):
        jog.step(goal)
    limiter.scale(1.0, 0.1)
    for _ in range(1000):
        jog.step(None)
        if limiter.at_rest:
            return
    raise AssertionError("never at rest")


@pytest.mark.parametrize("on_line_first", [False, True])
def test_a_quickest_stop_stops_each_joint_independently(chains, on_line_first):
    limits, home = MotionLimits.of_chain(chains["ur5e"]), HOMES["ur5e"]
    pipe = Pipeline(chains["ur5e"], period=PERIOD)
    goal = TwistGoal((0.2, 0.1, 0.0), (0.0, 0.0, 0.5))
    for _ in range(30):
        pipe.set_goal(goal, home)
        pipe.step(home)
    if on_line_first:
        pipe.brake()
        pipe.step(home)
    state = pipe.state
    pipe.brake(quickest=True)
    pipe.brake()  # what comes later does not make it slower
    commands = []
    while pipe.phase is Phase.BRAKING:
        commands.append(pipe.step(home))
    for i, (x, v, a) in enumerate(state):
        time, way = optimum(v, a, limits.acceleration[i], limits.jerk[i])
        assert abs(commands[-2][i] - x) == pytest.approx(way, abs=1e-6)
        after = commands[int(np.ceil(time / PERIOD + 1e-6)) - 1][i]
        assert after == pytest.approx(commands[-2][i], abs=1e-9)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A jogged tip stays on its line, within every limit, and reports why it is held."""

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of, worst

from basis_ik.arm import jog as jog_module
from basis_ik.arm.goals import TwistGoal
from basis_ik.arm.jog import Jog, fastest_before, warm_up
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits
from basis_ik.verdict import Verdict

PERIOD = 0.01
STILL = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def chains():
    found = {robot: chain_of(robot) for robot in HOMES}
    for chain in found.values():
        warm_up(chain, MotionLimits.of_chain(chain))
    return found


class Bench:
    """A jog with its limiter, and all commands from the rest before them."""

    def __init__(self, chain, q, period=PERIOD):
        self.chain, self.limits, self.period = chain, MotionLimits.of_chain(chain), period
        self.limiter = Limiter(self.limits, period, q)
        self.jog = Jog(chain, self.limiter)
        self.commands = [q] * 3
        self.left = 0  # how often the line was left in mid-motion, but in braking out of a turn

    def step(self, goal):
        moved = self.jog.moving
        self.commands.append(self.jog.step(goal))
        left = moved and not self.jog.moving and not self.limiter.at_rest
        self.left += left and goal is not None

    def brake(self):
        for _ in range(1000):
            self.step(None)
            if self.limiter.at_rest:
                return
        raise AssertionError("never at rest")

    def worst(self):
        """Largest velocity, acceleration or jerk, relative to its limit."""
        return worst(self.commands, self.limits, self.period).max()

    def line(self, goal):
        """Start of the tip, and its direction there (3,)."""
        start = self.chain.forward(self.commands[0])
        line = np.array(goal.linear) / np.linalg.norm(goal.linear)
        return start, start.apply_vector(line) if goal.in_tip else line

    def along(self, goal):
        """Progress of the tip along its line [m]."""
        start, line = self.line(goal)
        return (self.chain.forward(self.commands[-1]).translation - start.translation) @ line

    def off_line(self, goal):
        """Largest deviation of the tip from its line [m], its rotation, and its progress [m]."""
        start, line = self.line(goal)
        poses = [self.chain.forward(q) for q in self.commands]
        travels = np.array([pose.translation - start.translation for pose in poses])
        aside = travels - np.outer(travels @ line, line)
        turned = max(np.abs(pose.rotation - start.rotation).max() for pose in poses)
        return np.linalg.norm(aside, axis=1).max(), turned, travels[-1] @ line


@pytest.mark.parametrize("period", [0.01, 0.002])
@pytest.mark.parametrize("robot", HOMES)
def test_speeding_up_and_braking_keep_the_line(chains, robot, period):
    goal = TwistGoal((0.1, 0.05, -0.1), STILL)
    bench = Bench(chains[robot], HOMES[robot], period)
    for cycles in (0.5, 0.03, 0.2):
        for _ in range(round(cycles / period)):
            bench.step(goal)
        bench.brake()
    aside, turned, along = bench.off_line(goal)
    assert along > 0.05
    assert aside < 1e-6
    assert turned < 1e-6
    assert bench.worst() <= 1.0 + 1e-6


def test_a_speed_beyond_the_joints_limits_is_scaled_on_the_line(chains):
    goal = TwistGoal((0.0, 3.0, 0.0), STILL, in_tip=True)
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    for _ in range(30):
        bench.step(goal)
    bench.brake()
    aside, turned, along = bench.off_line(goal)
    assert abs(along) > 0.1
    assert aside < 1e-4 * abs(along)
    assert turned < 1e-4
    assert bench.worst() <= 1.0 + 1e-6


def test_a_turn_that_is_too_fast_is_scaled_down(chains):
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    for _ in range(60):
        bench.step(TwistGoal(STILL, (0.0, 0.0, 30.0), in_tip=True))
    speeds = np.diff(bench.commands, axis=0)[-1] / PERIOD
    np.testing.assert_allclose(speeds, [0, 0, 0, 0, 0, 0.9 * np.pi], atol=1e-6)


def test_scaled_limits_are_kept(chains):
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    bench.limiter.scale(0.05, 0.3)
    for _ in range(100):
        bench.step(TwistGoal((0.0, 0.3, 0.0), STILL))
    bench.brake()
    speed, acceleration, _ = worst(bench.commands, bench.limits, bench.period)
    assert 0.04 < speed <= 0.05 * (1 + 1e-6)
    assert acceleration <= 0.3 * (1 + 1e-6)
    assert bench.off_line(TwistGoal((0.0, 0.3, 0.0), STILL))[0] < 1e-6


@pytest.mark.parametrize("robot", HOMES)
def test_twists_that_change_on_the_way_keep_all_limits(chains, robot):
    rng = np.random.default_rng(1)
    moved = 0.0
    for _ in range(8):
        bench = Bench(chains[robot], HOMES[robot] + rng.uniform(-0.3, 0.3, len(HOMES[robot])))
        for _ in range(4):
            linear = rng.normal(size=3) * rng.choice([0.02, 0.1, 0.3])
            angular = rng.normal(size=3) * rng.choice([0.0, 0.2, 0.5])
            goal = TwistGoal(tuple(linear), tuple(angular), in_tip=bool(rng.random() < 0.3))
            for _ in range(rng.choice([3, 20, 100])):
                bench.step(goal)
            if rng.random() < 0.5:
                bench.brake()
        bench.brake()
        assert bench.left == 0
        assert bench.worst() <= 1.0 + 1e-6
        moved += np.abs(np.diff(bench.commands, axis=0)).sum()
    assert moved > 10.0


def test_a_noisy_joystick_does_not_prevent_acceleration(chains):
    rng = np.random.default_rng(2)
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    for _ in range(50):
        goal = TwistGoal(tuple(np.array([0.0, 0.2, 0.0]) + rng.uniform(-0.01, 0.01, 3)), STILL)
        bench.step(goal)
        bench.step(goal)
    ends = [bench.chain.forward(q).translation for q in bench.commands[-21:]]
    assert (ends[-1] - ends[0])[1] == pytest.approx(20 * PERIOD * 0.2, rel=0.03)
    assert bench.worst() <= 1.0 + 1e-6


def test_a_limit_is_approached_on_the_line_and_reported(chains):
    chain = chains["panda"]
    goal, back = (TwistGoal((x, 0.0, 0.0), STILL) for x in (-0.2, 0.2))
    bench = Bench(chain, HOMES["panda"])
    for _ in range(1000):
        bench.step(goal)
        if bench.jog.held is not None and bench.limiter.at_rest:
            break
    assert bench.jog.held.verdict is Verdict.LIMIT
    joint = chain.joint_names.index(bench.jog.held.joint)
    last = bench.commands[-1]
    gap = min(last[joint] - chain.lower[joint], chain.upper[joint] - last[joint])
    assert 0.0 <= gap < 1e-4
    assert bench.jog.held.bound in (chain.lower[joint], chain.upper[joint])
    assert bench.off_line(goal)[0] < 1e-5
    assert bench.left == 0
    assert bench.worst() <= 1.0 + 1e-6
    bench.step(back)
    assert bench.jog.held is None
    assert not np.array_equal(bench.commands[-1], last)


def test_a_resting_joint_at_its_limit_does_not_hold_the_tip(chains):
    chain, goal = chains["ur5e"], TwistGoal((0.05, 0.0, 0.1), STILL)
    for bound in (chain.lower[5], chain.upper[5]):
        bench = Bench(chain, np.append(HOMES["ur5e"][:5], bound))
        for _ in range(50):
            bench.step(goal)
        assert bench.jog.held is None
        assert bench.left == 0
        assert bench.commands[-1][5] == pytest.approx(bound, abs=1e-6)
        assert bench.off_line(goal)[0] < 1e-6
        assert bench.off_line(goal)[2] > 0.04


def test_a_joint_beyond_its_limit_moves_inward_only(chains):
    chain = chains["ur5e"]
    q = HOMES["ur5e"].copy()
    q[5] = chain.upper[5] + 1e-3
    out, back = (TwistGoal(STILL, (0.0, 0.0, w), in_tip=True) for w in (0.5, -0.5))
    bench = Bench(chain, q)
    for _ in range(20):
        bench.step(out)
    assert bench.jog.held.joint == "wrist_3_joint"
    assert np.array_equal(bench.commands[-1], q)
    for _ in range(50):
        bench.step(back)
    assert bench.commands[-1][5] < chain.upper[5] - 0.1
    assert (np.diff(bench.commands, axis=0)[:, 5] <= 0.0).all()


STRAIGHT = np.array([0.0, -1.0, 0.0, -1.2, -1.0, 0.0])  # no joint speeds move the tip outward


def test_an_impossible_direction_holds_the_tip_and_is_reported(chains):
    bench = Bench(chains["ur5e"], STRAIGHT)
    for _ in range(20):
        bench.step(TwistGoal((0.1, 0.0, 0.1), STILL))
    assert bench.jog.held.verdict is Verdict.SINGULAR
    assert "singular" in str(bench.jog.held)
    assert np.array_equal(bench.commands[-1], STRAIGHT)
    for _ in range(20):
        bench.step(TwistGoal(STILL, (0.0, 0.0, 0.5), in_tip=True))
    assert bench.jog.held is None
    assert not np.allclose(bench.commands[-1], STRAIGHT, atol=1e-2)


# A step is straight for the joints: at zero, where three axes fail at once, not for the tip.
@pytest.mark.parametrize(
    ("start", "inward", "largest"),
    [(STRAIGHT, (-0.1, 0.0, -0.1), 1e-4), (np.zeros(6), (0.0, -0.1, 0.0), 1e-2)],
)
@pytest.mark.parametrize("in_tip", [False, True])
def test_the_tip_leaves_a_singularity_by_a_step(chains, start, inward, largest, in_tip):
    chain = chains["ur5e"]
    axes = chain.forward(start).rotation if in_tip else np.eye(3)
    goal = TwistGoal(tuple(axes.T @ inward), STILL, in_tip)
    bench = Bench(chain, start)
    for _ in range(800):
        bench.step(goal)
        aside, turned, along = bench.off_line(goal)
        if along > 0.05:
            break
    assert along > 0.05
    assert aside < largest
    assert turned < 2e-2
    assert bench.worst() <= 1.0 + 1e-6


def test_a_step_off_a_singularity_can_be_braked(chains):
    bench = Bench(chains["ur5e"], STRAIGHT)
    for _ in range(4):
        bench.step(TwistGoal((-0.1, 0.0, -0.1), STILL))
    beyond = bench.jog._step_target
    bench.brake()
    assert not bench.jog.moving
    assert not np.allclose(bench.commands[-1], beyond, atol=1e-3)
    assert bench.worst() <= 1.0 + 1e-6


def test_a_missing_step_is_searched_for_once_and_never_at_a_limit(chains, monkeypatch):
    calls = []
    track = jog_module.track
    monkeypatch.setattr(jog_module, "track", lambda *a, **k: calls.append(1) or track(*a, **k))
    bench = Bench(chains["ur5e"], STRAIGHT)
    for _ in range(20):
        bench.step(TwistGoal((0.1, 0.0, 0.1), STILL))
    assert len(calls) == 1
    bench = Bench(chains["ur5e"], np.append(HOMES["ur5e"][:5], chains["ur5e"].upper[5]))
    bench.step(TwistGoal(STILL, (0.0, 0.0, 0.5), in_tip=True))
    assert bench.jog.held.verdict is Verdict.LIMIT
    assert len(calls) == 1


@pytest.mark.parametrize("speed", [1.0, 0.1])
def test_a_stretched_arm_stops_on_its_line_and_returns(chains, speed):
    goal, back = (TwistGoal((0.5 * s, 0.0, 0.3 * s), STILL) for s in (speed, -speed))
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    for _ in range(800):
        bench.step(goal)
        if bench.jog.held is not None and bench.limiter.at_rest:
            break
    assert bench.jog.held.verdict is Verdict.SINGULAR
    farthest = bench.off_line(goal)[2]
    assert farthest > 0.24
    for _ in range(800):
        bench.step(back)
        if bench.along(goal) < farthest - 0.1:
            break
    aside, turned, along = bench.off_line(goal)
    assert along < farthest - 0.1
    assert aside < 1e-5
    assert turned < 1e-5
    assert bench.left == 0
    assert bench.worst() <= 1.0 + 1e-6


def test_two_joints_move_as_near_as_possible(chains):
    chain = chain_of("pan_tilt")
    bench = Bench(chain, np.array([0.1, 0.2]))
    for _ in range(50):
        bench.step(TwistGoal(STILL, (0.0, 0.0, 0.5)))
    assert bench.jog.held is None
    assert bench.commands[-1][0] > 0.2


def test_a_step_refused_by_the_limiter_brakes(chains, monkeypatch):
    bench = Bench(chains["ur5e"], HOMES["ur5e"])
    goal = TwistGoal((0.2, 0.0, 0.0), STILL)
    for _ in range(20):
        bench.step(goal)
    monkeypatch.setattr(bench.limiter, "take", lambda _: False)
    bench.step(goal)
    assert not bench.jog.moving
    monkeypatch.undo()
    count = len(bench.commands)
    while not bench.limiter.at_rest:
        bench.step(goal)
    assert len(bench.commands) > count + 2, "it brakes to the end before it goes on"


@pytest.mark.parametrize(("top", "jerk"), [(1.0, 1e9), (1e9, 10.0), (2.0, 20.0)])
def test_the_fastest_speed_stops_exactly_at_the_gap(top, jerk):
    for gap in (1e-6, 1e-3, 0.1, 3.0):
        speed = fastest_before(gap, top, jerk)
        ramp = min(top / jerk, np.sqrt(speed / jerk))
        time = 2.0 * ramp if jerk * ramp < top * (1 - 1e-9) else speed / top + top / jerk
        assert 0.5 * speed * time == pytest.approx(gap, rel=1e-6)
    assert fastest_before(-1.0, top, jerk) == 0.0

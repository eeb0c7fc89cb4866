# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links keep the caps on their speeds in every motion, by independent kinematics."""

import itertools

import numpy as np
import pytest
from shipped_arms import HOMES, Kinematics, chain_of, urdf_of, worst

from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.given_motion import keep_limits
from basis_ik.arm.goals import JointGoal, JointVelocityGoal, MotionGoal, PoseGoal, TwistGoal
from basis_ik.arm.joints_kernel import (
    ACCELERATION,
    JOINT_COLUMNS,
    JOINT_RATE,
    JOINT_SPEED,
    advance,
    plan_brake_together,
)
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path
from basis_ik.arm.pipeline import Pipeline
from basis_ik.transforms.rigid import RigidTransform

PERIOD = 0.01
ELBOWS = {"ur5e": "forearm_link", "panda": "panda_link4"}


class Arm:
    """A pipeline with caps, an arm that executes commands exactly, and all commands."""

    def __init__(self, robot, linear, angular=0.0, *, elbow=True, period=PERIOD, q=None):
        self.chain = chain = chain_of(robot)
        links = [ELBOWS[robot]] * elbow
        self.kinematics = [Kinematics(urdf_of(robot), link) for link in (chain.tip, *links)]
        self.caps = SpeedCaps(chain, [chain_of(robot, link) for link in links])
        self.caps.set(linear, angular)
        self.linear, self.angular, self.period = linear, angular, period
        self.limits = MotionLimits.of_chain(chain)
        self.pipe = Pipeline(chain, period=period, caps=self.caps)
        self.commands = [HOMES[robot] if q is None else q] * 3

    @property
    def q(self):
        return self.commands[-1]

    def go(self, goal, periods=5000):
        """Step towards a goal a number of times, or until the commands end; return which."""
        self.pipe.set_goal(goal, self.q)
        return self.step(periods)

    def step(self, periods=5000):
        for _ in range(periods):
            command = self.pipe.step(self.q)
            if command is None:
                return True
            self.commands.append(command)
        return False

    def speeds(self, since=0):
        """Return linear and angular speeds (links, k) between the commands."""
        poses = [each(np.array(self.commands[since:])) for each in self.kinematics]
        ways = [np.linalg.norm(np.diff(pose[:, :3, 3], axis=0), axis=1) for pose in poses]
        turns = []
        for pose in poses:
            off = np.linalg.norm(np.diff(pose[:, :3, :3], axis=0), axis=(1, 2))
            turns.append(2.0 * np.arcsin(off / np.sqrt(8.0)))
        return np.array(ways) / self.period, np.array(turns) / self.period

    def check(self, since=0):
        """Check the caps since a command, and the joints' limits."""
        linear, angular = self.speeds(since)
        if self.linear:
            assert linear.max() <= self.linear * (1.0 + 1e-6)
        if self.angular:
            assert angular.max() <= self.angular * (1.0 + 1e-6)
        assert worst(self.commands, self.limits, self.period).max() <= 1.0 + 1e-6


def anywhere(rng, chain, home, size):
    return np.clip(home + rng.uniform(-size, size, len(home)), chain.lower, chain.upper)


@pytest.mark.parametrize("robot", HOMES)
def test_long_joint_motions_run_at_the_cap(robot):
    rng, shares = np.random.default_rng(0), []
    for _ in range(6):
        arm = Arm(robot, 0.25, elbow=False)
        goal = anywhere(rng, arm.chain, HOMES[robot], 1.2)
        start = arm.q
        assert arm.go(JointGoal(tuple(goal)))
        assert np.array_equal(arm.q, goal)
        arm.check()
        speeds = arm.speeds()[0][0]
        way = np.array(arm.commands) - start
        along = goal - start
        off = way - np.outer(way @ along / (along @ along), along)
        assert np.abs(off).max() < 1e-9, "a straight line in joint space"
        moving = speeds[speeds > 0.0]
        shares.append((moving > 0.9 * 0.25).mean())
        print(f"mean speed / cap {moving.mean() / 0.25:.3f}, above 90 %: {shares[-1]:.3f} of time")
    assert np.mean(shares) > 0.8


def something(rng, arm):
    """Return a goal of any kind, and for how many periods."""
    chain, n, kind = arm.chain, len(arm.q), rng.integers(4)
    if kind == 0:
        return JointGoal(tuple(anywhere(rng, chain, arm.q, 1.0)))
    if kind == 1:
        return PoseGoal(chain.forward(anywhere(rng, chain, arm.q, 0.6)))
    if kind == 2:
        way, spin = rng.uniform(-0.6, 0.6, 3), rng.uniform(-1.5, 1.5, 3)
        return TwistGoal(tuple(way), tuple(spin * (rng.random() < 0.5)))
    return JointVelocityGoal(tuple(rng.uniform(-2.0, 2.0, n) * (rng.random(n) < 0.6)))


@pytest.mark.parametrize("path", ["joint", "straight_or_joint"])
@pytest.mark.parametrize("robot", HOMES)
def test_goals_that_change_in_motion_keep_the_cap(robot, path):
    rng = np.random.default_rng(1)
    for angular in (0.0, 0.5):
        arm = Arm(robot, 0.25, angular)
        arm.pipe.path = path
        for _ in range(40):
            arm.go(something(rng, arm), rng.integers(1, 80))
            if rng.random() < 0.3:
                arm.pipe.brake()
                arm.step(rng.integers(1, 60))
        arm.pipe.brake()
        arm.step()
        arm.check()
        assert arm.speeds()[0].max() > 0.9 * 0.25


@pytest.mark.parametrize("robot", HOMES)
def test_streams_of_poses_keep_the_cap(robot):
    arm = Arm(robot, 0.2)
    centre = arm.chain.forward(arm.q)
    for pace in (0.5, 2.0, 4.0):  # 0.05, 0.2, 0.4 m/s on a circle of 0.1 m
        for k in range(150):
            angle = pace * 0.02 * k
            way = 0.1 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
            target = RigidTransform.from_rotation_translation(
                centre.rotation, centre.translation + way
            )
            arm.go(PoseGoal(target), 2)
    arm.check()
    assert arm.speeds()[0].max() > 0.9 * 0.2


@pytest.mark.parametrize("robot", HOMES)
def test_a_twist_and_a_line_are_scaled_to_the_cap(robot):
    arm = Arm(robot, 0.1, elbow=False)
    arm.go(TwistGoal((0.0, 0.6, 0.0), (0.0, 0.0, 0.0)), 150)
    moved = arm.chain.forward(arm.q).translation - arm.chain.forward(arm.commands[0]).translation
    assert np.linalg.norm(moved[[0, 2]]) < 1e-4, "on its line"
    assert arm.speeds(100)[0].min() > 0.97 * 0.1
    arm.pipe.brake()
    arm.step()
    arm.pipe.path, since = "straight", len(arm.commands)
    target = arm.chain.forward(arm.q)
    arm.go(
        PoseGoal(
            RigidTransform.from_rotation_translation(
                target.rotation, target.translation - [0.0, 0.25, 0.05]
            )
        )
    )
    assert arm.pipe.solution.success
    assert np.median(arm.speeds(since)[0]) > 0.9 * 0.1
    arm.check()


def test_a_jogged_joint_is_scaled_to_the_cap():
    arm = Arm("ur5e", 0.2)
    arm.go(JointVelocityGoal((2.0, 0.0, 0.0, 0.0, 0.0, 1.0)), 200)
    assert arm.speeds(100)[0][0].min() > 0.9 * 0.2
    v = np.diff(arm.commands, axis=0)[-1]
    assert v[5] == pytest.approx(0.5 * v[0])
    arm.check()


@pytest.mark.parametrize("robot", HOMES)
def test_a_cap_lowered_in_motion_is_soon_kept(robot):
    rng = np.random.default_rng(3)
    for _ in range(5):
        arm = Arm(robot, 0.5)
        arm.go(JointGoal(tuple(anywhere(rng, arm.chain, arm.q, 1.2))), 40)
        arm.caps.set(0.05, 0.0)
        arm.linear = 0.05
        arm.step(40)
        since = len(arm.commands)
        arm.step()
        arm.check(since)


@pytest.mark.parametrize("robot", HOMES)
def test_whole_motions_keep_the_cap(robot):
    rng = np.random.default_rng(4)
    for _ in range(10):
        arm = Arm(robot, 0.25)
        goal = anywhere(rng, arm.chain, arm.q, 1.2)
        arm.pipe.set_goal(JointGoal(tuple(goal)), arm.q)
        start = np.zeros((len(goal), 3))
        start[:, 0] = arm.q
        motion = arm.pipe.plan(start, braking=False)
        arm.commands = [motion.at(t)[:, 0] for t in np.arange(0.0, motion.times[-1] + 0.02, 0.01)]
        assert np.array_equal(arm.q, goal)
        assert 0.98 * 0.25 < arm.speeds()[0].max() <= 0.25


def test_without_caps_the_commands_are_unchanged():
    free, none = Arm("ur5e", 0.0), Pipeline(Arm("ur5e", 0.0).chain, period=PERIOD)
    goal = JointGoal(tuple(HOMES["ur5e"] + 0.7))
    free.go(goal)
    none.set_goal(goal, HOMES["ur5e"])
    for before, command in itertools.pairwise(free.commands[2:]):
        assert np.array_equal(none.step(before), command)


def test_braking_joints_end_together():
    """Independently, some joints would stop early, and no longer compensate the others' motion."""
    peaks = {}
    for cap in (0.25, 0.0):
        arm = Arm("ur5e", cap)
        arm.go(TwistGoal((0.0, 0.0, 0.245), (0.0, 0.0, 0.0)), 60)
        arm.pipe.go_on(arm.pipe.state)  # off its line
        since = len(arm.commands) - 1
        arm.pipe.brake()
        assert arm.step()
        peaks[cap] = arm.speeds(since)[0].max()
    assert peaks[0.25] <= 0.25 * (1.0 + 1e-6)
    assert peaks[0.0] > 0.25


def test_braking_together_keeps_the_velocity_limits():
    """A joint about to reach its largest speed must reduce its acceleration quickly."""
    rng, speed, top, jerk = np.random.default_rng(1), 1.0, 4.0, 80.0
    limits = np.array([[-9.0] * 2, [9.0] * 2, [speed] * 2, [0.5 * top, top], [0.5 * jerk, jerk]])
    for _ in range(200):
        a = rng.uniform(-top, top)
        fading = 0.5 * a * abs(a) / jerk
        v = rng.uniform(max(-speed, -speed - fading), min(speed, speed - fading))
        memory = np.zeros((2, JOINT_COLUMNS))
        # The first takes longer to stop.
        memory[:, JOINT_SPEED], memory[1, JOINT_RATE] = (speed, v), a
        for time in np.linspace(0.0, plan_brake_together(memory, limits), 100):
            advance(memory, limits, time)
            assert (np.abs(memory[:, JOINT_SPEED]) <= speed + 1e-9).all()
            assert (np.abs(memory[:, JOINT_RATE]) <= limits[ACCELERATION] + 1e-9).all()


def test_at_the_cap_the_acceleration_does_not_chatter():
    arm = Arm("ur5e", 0.25, elbow=False)
    arm.go(JointGoal(tuple(HOMES["ur5e"] + [1.5, 0.5, -0.7, 0.4, 0.3, 0.5])))
    cruise = np.flatnonzero(arm.speeds()[0][0] > 0.998 * 0.25)[5:-5]
    assert len(cruise) > 300
    accelerations = np.diff(arm.commands, 2, axis=0)[cruise] / PERIOD**2
    jumps = np.abs(np.diff(accelerations, axis=0)) / arm.limits.acceleration
    print(f"largest jump {jumps.max():.2g}, median {np.median(jumps):.2g} of the limit")
    assert jumps.max() < 0.02


@pytest.mark.parametrize("robot", HOMES)
@pytest.mark.parametrize("beside", [0.0, 0.02])
def test_a_given_motion_keeps_the_caps_from_its_begin(robot, beside):
    arm = Arm(robot, 0.1, 0.3, q=HOMES[robot] + beside)
    rng = np.random.default_rng(3)
    rows = np.array([HOMES[robot], *(anywhere(rng, arm.chain, HOMES[robot], 0.6) for _ in "ab")])
    motion = time_path(rows, arm.limits.scaled(1.0, 1.0, 1.0))
    motion = keep_limits(motion, arm.limits, arm.chain.joint_names)
    assert arm.go(MotionGoal(motion))
    assert np.array_equal(arm.q, rows[-1])
    linear, angular = arm.speeds()
    assert linear.max() <= 0.1 * (1.0 + 1e-6)
    assert angular.max() <= 0.3 * (1.0 + 1e-6)
    assert max(linear.max() / 0.1, angular.max() / 0.3) > 0.95


def test_caps_that_are_lowered_on_a_given_motion_are_kept():
    arm = Arm("ur5e", 0.0, elbow=False)
    rows = np.array([HOMES["ur5e"], HOMES["ur5e"] + [4.0, 0.5, 0.5, 0.0, 0.0, 0.0]])
    motion = time_path(rows, arm.limits.scaled(1.0, 1.0, 1.0))
    assert not arm.go(MotionGoal(motion), 60)
    arm.caps.set(0.2, 0.0)
    arm.pipe.renew_caps()
    assert arm.step()
    linear, _ = arm.speeds()
    assert linear[0, :60].max() > 0.5
    assert linear[0, 160:].max() <= 0.2 * (1.0 + 1e-6)

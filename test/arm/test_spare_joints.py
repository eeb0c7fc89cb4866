# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints to spare: whatever twist the limits allow is made, at a limit and near it."""

import numpy as np
import pytest
from from_python import IS_PLAIN
from hard_arms import ARMS
from robot_descriptions import urdf
from shipped_arms import HOMES, chain_of
from test_jog import PERIOD, STILL, Bench

from basis_ik.arm.goals import PoseGoal, TwistGoal
from basis_ik.arm.jog import JOG_TUNING, fastest_before
from basis_ik.arm.joints_kernel import ACCELERATION, JERK, VELOCITY
from basis_ik.arm.pipeline import Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

NAMES = ["panda", "iiwa", "gen3", "xarm7"]
UP = TwistGoal((0.0, 0.0, 0.1), STILL)
TURNED = 2.8973  # the upper limit of the Panda's first joint [rad]
AT_LIMIT = np.array([TURNED, -0.8, -0.5, -2.4, 0.0, 1.6, 0.8])  # of least norm, UP turns it outward


@pytest.fixture(name="named", scope="module")
def _named(arm, robot):
    def named(name):
        if name == "xarm7":
            return RobotModel.from_urdf(urdf("example-robot-data", name)).chain()
        return (
            {"panda": chain_of, "iiwa": robot}[name](name) if name != "gen3" else arm(*ARMS[name])
        )

    return named


def allowed(bench, q):
    """Least and largest speeds (2, n) from which every joint can stop before its limits."""
    bounds = bench.limiter.bounds
    speeds = []
    for gaps in (q - bench.chain.lower, bench.chain.upper - q):
        stops = zip(gaps, *JOG_TUNING.stop * bounds[[ACCELERATION, JERK]], strict=True)
        stop = [fastest_before(*each) for each in stops]
        speeds.append(
            np.minimum(
                np.minimum(stop, gaps / (JOG_TUNING.brake_delay * PERIOD)),
                JOG_TUNING.velocity * bounds[VELOCITY],
            )
        )
    return np.array([-speeds[0], speeds[1]])


def possible(jacobian, twist, low, high):
    """Whether speeds between bounds make a twist exactly; for one joint to spare.

    All speeds that make it are on a line, along the Jacobian's null space, of which each bound
    leaves a part. Nothing is shared with the kernel.
    """
    rows, sizes, columns = np.linalg.svd(jacobian)
    assert sizes[-1] > 1e-6
    speeds, free = columns[:6].T @ (rows.T @ twist / sizes), columns[6]
    ends = np.sort((np.array([low, high]) - speeds) / free, axis=0)
    return ends[0].max() < ends[1].min()


def made(bench, q, twist, low, high):
    """Whether the speeds for a twist, from rest, make it and are between bounds."""
    bench.jog._weigh(q, twist)
    speeds = bench.jog._speeds(q, twist)
    missed = np.linalg.norm(bench.chain.jacobian(q) @ speeds - twist) / np.linalg.norm(twist)
    slack = 1e-6 * np.abs(speeds).max()
    return missed < 1e-3 and (speeds >= low - slack).all() and (speeds <= high + slack).all()


# Shares before: 0.57 and 0.62 at the limits for the smaller and the larger twists of the Panda.
@pytest.mark.parametrize("size", [0.1, 0.5])
@pytest.mark.parametrize("gap", [0.0, 1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("name", NAMES)
def test_what_the_limits_allow_is_made_at_every_limit(named, name, gap, size):
    chain, rng, outcomes = named(name), np.random.default_rng(1), []
    reach = np.array([chain.reach] * 3 + [1.0] * 3)
    ends = np.array([chain.lower + gap, chain.upper - gap])
    for side, k in zip(*np.nonzero(np.isfinite(ends)), strict=True):
        for _ in range(2 if IS_PLAIN else 20):
            q = rng.uniform(np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi))
            q[k] = ends[side, k]
            twist = rng.normal(size=6)
            twist *= size * reach / np.linalg.norm(twist)
            bench = Bench(chain, q)
            low, high = allowed(bench, q)
            if possible(chain.jacobian(q), twist, low, high):
                outcomes.append(made(bench, q, twist, low, high))
    assert len(outcomes) > (5 if IS_PLAIN else 50)
    assert np.mean(outcomes) >= 0.99


# Of least norm, it turns outward by 0.09 rad.
@pytest.mark.parametrize(("off", "most"), [(0.0, -0.03), (1e-3, -0.03), (0.1, -0.01), (0.3, 0.06)])
def test_a_joint_that_others_replace_leaves_its_limit_and_does_not_hold_the_tip(off, most):
    bench = Bench(chain_of("panda"), AT_LIMIT - np.eye(7)[0] * off)
    for _ in range(200):
        bench.step(UP)
        assert bench.jog.held is None
    aside, turned, along = bench.off_line(UP)
    assert along > 0.19
    assert max(aside, turned) < 1e-6
    assert bench.commands[-1][0] - TURNED + off < most
    assert bench.left == 0
    assert bench.worst() <= 1.0 + 1e-6


def test_a_joint_on_its_way_to_its_limit_is_replaced_in_mid_motion():
    bench = Bench(chain_of("panda"), AT_LIMIT - np.eye(7)[0] * 0.3)
    for _ in range(400):
        bench.step(TwistGoal((0.0, 0.0, -0.1), STILL))
        assert bench.jog.held is None
    assert bench.commands[-1][0] < TURNED - 0.05
    assert bench.left == 0
    assert bench.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize("speed", [0.5, 3.0, 30.0])
def test_a_twist_that_is_too_fast_is_made_as_fast_as_the_limits_allow(speed):
    bench, goal = Bench(chain_of("panda"), AT_LIMIT), TwistGoal((0.0, 0.0, speed), STILL)
    for _ in range(50):
        bench.step(goal)
        assert bench.jog.held is None
    assert bench.along(goal) > 0.1
    assert bench.worst() <= 1.0 + 1e-6


def test_a_line_is_not_held_by_a_joint_that_others_replace():
    chain, q = chain_of("panda"), AT_LIMIT
    start, pipe = chain.forward(q), Pipeline(chain, period=PERIOD)
    end = RigidTransform.from_rotation_translation(
        start.rotation, start.translation + np.array([0.0, 0.0, 0.1])
    )
    pipe.path = "straight"
    pipe.set_goal(PoseGoal(end), q)
    for _ in range(400):
        command = pipe.step(q)
        q = q if command is None else command
        off = chain.forward(q).translation - start.translation
        assert np.abs(off[:2]).max() < 1e-6
    assert pipe.line_held is None
    assert chain.forward(q).translation == pytest.approx(end.translation, abs=1e-5)


def test_twists_that_change_at_limits_keep_all_limits():
    """Of least norm, 737 steps are held and 7 motions left; the joints move by 24 rad in all."""
    rng, left, held, travel = np.random.default_rng(5), 0, 0, 0.0
    chain = chain_of("panda")
    for _ in range(12):
        q = rng.uniform(chain.lower, chain.upper)
        q[rng.integers(7)] = np.inf
        bench = Bench(chain, np.minimum(q, chain.upper))
        for _ in range(4):
            linear, angular = rng.uniform(-0.2, 0.2, (2, 3))
            for _ in range(50):
                bench.step(TwistGoal(tuple(linear), tuple(angular)))
                held += bench.jog.held is not None
        bench.brake()
        left += bench.left
        travel += np.abs(np.diff(bench.commands, axis=0)).sum()
        assert bench.worst() <= 1.0 + 1e-6
    assert held < 350
    assert left <= 9
    assert travel > 30.0


def test_six_joints_have_none_to_spare():
    chain = chain_of("ur5e")
    q = HOMES["ur5e"].copy()
    q[4] = chain.upper[4]
    bench = Bench(chain, q)
    for goal in (UP, TwistGoal(STILL, (0.0, 0.3, 0.0))):
        for _ in range(20):
            bench.step(goal)
    np.testing.assert_array_equal(bench.jog._weights, [[1.0] * 6 + [0.0], [0.0] * 7])

"""Following moving targets by bounded steps."""

from __future__ import annotations

from itertools import pairwise
from math import pi

import numpy as np
import pytest

from basis_ik.solvers.arguments import SolveArgumentError
from basis_ik.solvers.track import track
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.rigid import RigidTransform


def test_a_smooth_motion_is_followed_on_its_branch(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    for i in range(300):
        wanted = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1]) + 0.3 * np.sin(i / 60)
        solution = track(chain, chain.forward(wanted), q, 0.02)
        assert solution.success
        assert np.abs(solution.positions - q).max() <= 0.02
        q = solution.positions


@pytest.mark.parametrize("name", ["panda", "ur5", "gantry", "jaco"])
def test_no_step_is_longer_than_allowed_and_far_targets_are_reached_in_the_end(robot, name):
    chain = robot(name)
    rng = np.random.default_rng(1)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    bound = np.linspace(0.01, 0.05, len(low))
    reached = 0
    for _ in range(10):
        q = rng.uniform(low, high)
        target = chain.forward(np.clip(q + rng.uniform(-0.5, 0.5, len(q)), low, high))
        for _ in range(400):
            solution = track(chain, target, q, bound)
            step = np.abs(solution.positions - q)
            assert (step <= bound * (1 + 1e-12)).all()
            assert (solution.positions >= chain.lower).all()
            assert (solution.positions <= chain.upper).all()
            q = solution.positions
            if solution.verdict is not Verdict.STEP_BOUND:
                break
        reached += solution.success
    assert reached >= 8


def test_targets_out_of_reach_pull_the_arm_straight_and_hold_it_still(robot):
    chain = robot("panda")
    target = RigidTransform.from_rpy(0, 0, 0, (3.0, 0.5, 0.4))
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    tips = []
    for _ in range(400):
        solution = track(chain, target, q, 0.02, position_only=True)
        q = solution.positions
        tips.append(chain.forward(q).translation)
    assert solution.verdict is Verdict.TOO_FAR
    assert np.linalg.norm(np.diff(tips[-50:], axis=0), axis=1).max() < 1e-4


def test_a_limit_that_holds_the_arm_is_named(robot):
    chain = robot("scara")
    q = np.array([2.0, 0.5, -0.1, 0.0])
    target = chain.forward([2.0, 0.5, -0.1, 0.0]) @ RigidTransform.from_rpy(0, 0, 0, (0, 0, 0.3))
    for _ in range(100):
        solution = track(chain, target, q, 0.05)
        q = solution.positions
    assert solution.verdict is Verdict.LIMIT
    assert solution.reason.joint == "j3"
    assert solution.reason.bound == 0.0


def test_positions_outside_the_limits_are_led_inwards(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.2, 0.3, 0.2, 0.2, 1.4, 0.1])  # the elbow is 0.27 rad beyond its limit
    target = chain.forward([0.1, 0.2, 0.3, -0.8, 0.2, 1.4, 0.1])
    outside = [0.2]
    for _ in range(60):
        q = track(chain, target, q, 0.05).positions
        outside.append(q[3])
    assert outside[-1] <= chain.upper[3]
    assert all(b <= a for a, b in pairwise(outside[:6]))


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, [0.1] * 6 + [0.0]])
def test_bad_bounds_are_refused(robot, bound):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), [0, 0, 0, -1, 0, 1, 0], bound)
    assert caught.value.argument == "max_step"


@pytest.mark.parametrize("current", [[np.nan] * 7, [0.0] * 3])
def test_bad_positions_are_refused(robot, current):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), current, 0.1)
    assert caught.value.argument == "current"

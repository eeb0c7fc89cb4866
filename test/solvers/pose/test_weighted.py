# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Best efforts where it is stated what each error counts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

WEIGHTS = [
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    (9.0, 1.0, 1.0, 0.5, 0.5, 0.5),
    (1.0, 9.0, 1.0, 5.0, 1.0, 1.0),
    (100.0, 100.0, 100.0, 0.3, 3.0, 30.0),
]


def errors(tip, target):
    """Return what is left (k, 6) along and about the target's axes, of frames (k, 4, 4)."""
    off = np.linalg.inv(target.matrix) @ tip
    r = off[:, :3, :3]
    skew = np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], 1)
    half = np.sqrt(np.maximum(1e-18, 1.0 + np.trace(r, axis1=1, axis2=2)))  # 2 cos(θ/2)
    return np.concatenate((off[:, :3, 3], skew / half[:, None]), axis=1)


def cost(chain, weights, target, q):
    return float(np.sum((errors(chain.forward(q).matrix[None], target) * weights) ** 2))


def brute_force(weights, target, bound):
    """Return the least cost of two unit links in the plane, by a grid refined about its best."""
    middle, half, best = np.zeros(2), bound, np.inf
    for _ in range(6):
        a, b = (np.linspace(m - half, m + half, 81).clip(-bound, bound) for m in middle)
        a, b = (x.ravel() for x in np.meshgrid(a, b))
        frames = np.zeros((len(a), 4, 4))
        c, s = np.cos(a + b), np.sin(a + b)
        frames[:, 0, 0], frames[:, 0, 1], frames[:, 1, 0], frames[:, 1, 1] = c, -s, s, c
        frames[:, 0, 3], frames[:, 1, 3] = np.cos(a) + c, np.sin(a) + s
        frames[:, 2, 2] = frames[:, 3, 3] = 1.0
        costs = np.sum((errors(frames, target) * weights) ** 2, axis=1)
        k = int(np.argmin(costs))
        middle, half, best = np.array([a[k], b[k]]), half / 10.0, min(best, costs[k])
    return best


@pytest.fixture
def two_links(arm):
    def make(bound):
        rows = [("revolute", x, "0 0 0", "0 0 1", -bound, bound) for x in ("0 0 0", "1 0 0")]
        return arm(rows, "1 0 0")

    return make


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("bound", [3.1, 1.0])
def test_the_weighted_error_is_as_small_as_brute_force_finds(two_links, weights, bound):
    chain, rng = two_links(bound), np.random.default_rng(5)
    for _ in range(10):
        target = RigidTransform.from_rpy(
            *rng.uniform((-0.5, -0.5, -2), (0.5, 0.5, 2)), rng.uniform(-1.5, 1.5, 3)
        )
        seed = rng.uniform(-bound, bound, 2)
        solution = solve(chain, target, seed, constraint=PoseConstraint(weights=weights))
        assert not solution.success
        assert (np.abs(solution.positions) <= bound).all()
        found = cost(chain, weights, target, solution.positions)
        assert found <= brute_force(weights, target, bound) * (1 + 1e-6)
        off = target.inverse() @ chain.forward(solution.positions)
        assert solution.position_error == pytest.approx(np.linalg.norm(off.translation), abs=1e-9)
        assert solution.orientation_error == pytest.approx(np.linalg.norm(off.log()[3:]), abs=1e-7)


def test_weights_decide_what_is_given_up(robot):
    chain = robot("ur5")
    q = np.array([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    far = RigidTransform.from_rpy(0, 0, 0, (0.9, 0, 0)) @ chain.forward(q)
    left = {}
    for name, weights in {
        "height": (1, 1, 100, 0.1, 0.1, 0.1),
        "sides": (100, 100, 1, 0.1, 0.1, 0.1),
        "turn": (1, 1, 1, 100, 100, 100),
    }.items():
        world = RigidTransform.from_rotation_translation(np.eye(3), far.translation)
        solution = solve(chain, world, q, constraint=PoseConstraint(weights=weights))
        assert solution.verdict is Verdict.TOO_FAR
        left[name] = errors(chain.forward(solution.positions).matrix[None], world)[0]
    assert abs(left["height"][2]) < 0.01 < abs(left["sides"][2])
    assert np.linalg.norm(left["turn"][3:]) < 1e-2


def test_weights_follow_the_targets_axes_beside_a_free_axis(two_links):
    chain = two_links(3.1)
    target = RigidTransform.from_rpy(0, 0, 0, (2.0, 1.0, 0.0))
    for axis in [(0, 0, 1), (0, 1, 0)]:
        along_x = PoseConstraint(free_axis=axis, weights=(100, 1, 1, 1e-4, 1e-4, 1e-4))
        along_y = PoseConstraint(free_axis=axis, weights=(1, 100, 1, 1e-4, 1e-4, 1e-4))
        tips = [
            chain.forward(
                solve(chain, target, [0.3, 0.2], constraint=constraint).positions
            ).translation
            for constraint in (along_x, along_y)
        ]
        assert abs(tips[0][0] - 2.0) < 1e-2
        assert abs(tips[1][1] - 1.0) < 1e-2
        assert abs(tips[0][1] - 1.0) > 0.1
        assert abs(tips[1][0] - 2.0) > 0.1


def test_what_can_be_reached_is_reached_whatever_the_weights(robot):
    chain, rng = robot("panda"), np.random.default_rng(1)
    for truth, seed in rng.uniform(chain.lower, chain.upper, (20, 2, 7)):
        target = chain.forward(truth)
        weighted = solve(chain, target, seed, constraint=PoseConstraint(weights=(1, 2, 3, 4, 5, 6)))
        assert np.array_equal(weighted.positions, solve(chain, target, seed).positions)


def test_weights_count_in_a_batch_and_within_a_bound_on_the_move(two_links):
    chain, weights = two_links(3.1), (1.0, 9.0, 1.0, 5.0, 1.0, 0.1)
    targets = [RigidTransform.from_rpy(0.2, 0, 0.7, (x, 0.8, 0.1)) for x in (1.0, 1.5, 2.5)]
    batch = solve_batch(chain, targets, [0.3, 0.3], constraint=PoseConstraint(weights=weights))
    for target, q in zip(targets, batch.positions, strict=True):
        assert cost(chain, weights, target, q) <= brute_force(weights, target, 3.1) * (1 + 1e-6)
    held = solve(
        chain, targets[2], [1.3, 0.3], constraint=PoseConstraint(weights=weights), max_move=0.2
    )
    assert (np.abs(held.positions - [1.3, 0.3]) <= 0.2).all()


def test_the_budget_holds_with_weights(two_links):
    solve_it = partial(
        solve, two_links(3.1), RigidTransform.from_rpy(0.2, 0, 0.7, (1.5, 0.8, 0.1)), [0.3, 0.3],
        constraint=PoseConstraint(weights=WEIGHTS[2]),
    )  # fmt: skip
    for budget in (1, 10, 100, 1000):
        solution = solve_it(max_iterations=budget)
        assert solution.iterations <= budget
        assert np.isfinite(solution.positions).all()
        again = solve_it(max_iterations=budget)
        assert np.array_equal(solution.positions, again.positions)


@pytest.mark.parametrize(
    "weights", [(1.0,) * 5, (1.0,) * 5 + (0.0,), (1.0,) * 5 + (np.nan,), (np.inf,) + (1.0,) * 5]
)
def test_bad_weights_are_refused(weights):
    with pytest.raises(SolveArgumentError) as caught:
        PoseConstraint(weights=weights)
    assert caught.value.argument == "weights"
    with pytest.raises(SolveArgumentError) as caught:
        PoseConstraint(weights=(1.0,) * 6, free_axis=(1.0, 1.0, 0.0))
    assert caught.value.argument == "free_axis"

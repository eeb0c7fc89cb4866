# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solving for poses: rates, limits, proofs, determinism, refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from math import pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik.errors import SolveArgumentError
from basis_ik.solvers.pose.solve import Solution, solve, warm_up
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

if os.environ.get("BASIS_IK_PLAIN_NUMBA") == "1":  # which compiles for two minutes
    pytestmark = pytest.mark.long


def spread(chain, rng, count):
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    return rng.uniform(low, high, (count, len(low)))


def errors(chain, q, target):
    """Return distance and angle by the model's own kinematics and scalar arithmetic."""
    off = chain.forward(q).inverse() @ target
    angle = 2 * np.arcsin(min(1.0, np.linalg.norm(off.rotation - np.eye(3)) / np.sqrt(8)))
    return np.linalg.norm(off.translation), angle


def assert_valid(chain, target, solution):
    """Check a solution with any verdict: finite, within the limits, errors as measured."""
    q = solution.positions
    assert np.isfinite(q).all()
    assert (q >= chain.lower).all()
    assert (q <= chain.upper).all()
    away, turned = errors(chain, q, target)
    assert away == pytest.approx(solution.position_error, abs=1e-9)
    assert turned == pytest.approx(solution.orientation_error, abs=1e-6)


def test_every_reachable_pose_is_reached(chain):
    rng = np.random.default_rng(7)
    for truth, seed in zip(spread(chain, rng, 300), spread(chain, rng, 300), strict=True):
        target = chain.forward(truth)
        solution = solve(chain, target, seed)
        assert solution.success, solution
        assert solution.position_error <= 1e-6
        assert solution.orientation_error <= 1e-6
        assert_valid(chain, target, solution)


@pytest.mark.parametrize("limit", [3.0, 999999.0, 1e10])
def test_placeholders_for_limits_cost_no_target(arm, limit):
    """A base that turns and drives, and six joints, as in some robot descriptions."""
    turn = ("revolute", -limit, limit)
    chain = arm(
        [
            (kind, xyz, "0 0 0", axis, low, high)
            for (kind, low, high), xyz, axis in (
                (turn, "0 0 0", "0 0 1"),
                (("prismatic", -limit, limit), "0 0 0", "1 0 0"),
                (turn, "0 0 0.1", "0 0 1"),
                (turn, "0.1 0 0.1", "0 1 0"),
                (turn, "0.4 0 0", "0 1 0"),
                (turn, "0.35 0 0", "1 0 0"),
                (turn, "0.1 0 0", "0 1 0"),
                (turn, "0.1 0 0", "1 0 0"),
            )
        ],
        "0.1 0 0",
    )
    warm_up(chain)
    rng = np.random.default_rng(13)
    for truth, seed in zip(*rng.uniform(-3.0, 3.0, (2, 500, 8)), strict=True):
        target = chain.forward(truth)
        solution = solve(chain, target, seed)
        assert solution.success, solution
        assert_valid(chain, target, solution)


def test_every_reachable_position_is_reached(chain):
    rng = np.random.default_rng(8)
    for truth, seed in zip(spread(chain, rng, 100), spread(chain, rng, 100), strict=True):
        target = chain.forward(truth) @ RigidTransform.from_rpy(0.3, 1.0, -2.0, (0, 0, 0))
        solution = solve(chain, target, seed, position_only=True)
        assert solution.success, solution
        assert_valid(chain, target, solution)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_tolerances_are_met(robot, tolerance):
    chain = robot("panda")
    rng = np.random.default_rng(9)
    for truth in spread(chain, rng, 50):
        solution = solve(
            chain,
            chain.forward(truth),
            position_tolerance=tolerance,
            orientation_tolerance=tolerance,
        )
        assert solution.success
        away, turned = errors(chain, solution.positions, chain.forward(truth))
        assert away <= tolerance * 1.001 + 1e-12
        assert turned <= tolerance * 1.001 + 1e-12


def test_a_seed_at_the_target_is_left_alone(chain):
    for q in spread(chain, np.random.default_rng(10), 20):
        solution = solve(chain, chain.forward(q), q)
        assert solution.success
        assert np.abs(solution.positions - q).max() < 1e-9


@settings(max_examples=150)
@given(
    position=st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    rpy=st.tuples(*[st.floats(-3.2, 3.2)] * 3),
    seed=st.lists(st.floats(-20.0, 20.0), min_size=7, max_size=7),
    position_only=st.booleans(),
)
def test_any_target_and_any_seed_give_a_valid_result(robot, position, rpy, seed, position_only):
    chain = robot("panda")
    target = RigidTransform.from_rpy(*rpy, position)
    solution = solve(chain, target, seed, position_only=position_only, max_iterations=3000)
    assert isinstance(solution, Solution)
    assert_valid(chain, target, solution)
    assert str(solution.reason)
    assert solution.reason.verdict is solution.verdict


def test_continuous_joints_take_the_shortest_turn(robot):
    chain = robot("jaco")
    rng = np.random.default_rng(11)
    free = ~np.isfinite(chain.upper)
    for q in spread(chain, rng, 50):
        turns = 2 * pi * rng.integers(-5, 6, len(q)) * free
        solution = solve(chain, chain.forward(q), q + turns + 0.05)
        assert solution.success
        moved = np.abs(solution.positions - (q + turns + 0.05))
        assert moved[free].max() <= pi + 1e-9


def test_wide_limits_cause_no_full_turns(robot):
    chain = robot("ur5")
    q = np.array([pi - 0.01, -1.0, 1.2, 0.4, 0.9, -pi + 0.01])
    target = chain.forward(q + np.array([0.05, 0, 0, 0, 0, -0.05]))
    solution = solve(chain, target, q)
    assert solution.success
    assert np.abs(solution.positions - q).max() < 0.1


def test_a_seed_outside_the_limits_is_taken_inside(robot):
    chain = robot("panda")
    target = chain.forward([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    solution = solve(chain, target, [9.0, -9.0, 9.0, 9.0, -9.0, 9.0, 0.0])
    assert solution.success
    assert_valid(chain, target, solution)


def test_without_a_seed_the_middle_of_the_limits_is_the_seed(robot):
    chain = robot("panda")
    target = chain.forward([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    middle = (chain.lower + chain.upper) / 2
    assert np.array_equal(solve(chain, target).positions, solve(chain, target, middle).positions)


SCRIPT = """
import sys; sys.path[:0] = sys.argv[1:]
import numpy as np, conftest
from basis_ik.solvers.pose.solve import solve
chain = conftest.robot("panda")
rng = np.random.default_rng(5)
for _ in range(50):
    target = chain.forward(rng.uniform(chain.lower, chain.upper))
    shifted = target @ type(target).from_rpy(0, 0, 0, (0.0, 0.0, rng.uniform(0, 0.4)))
    print(solve(chain, shifted, rng.uniform(chain.lower, chain.upper)).positions.tobytes().hex())
"""


def test_the_same_input_gives_the_same_bits_in_every_process():
    tests = Path(__file__).parents[2]
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, tests, tests / "numerics"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert runs[0].count("\n") == 50
    assert runs[0] == runs[1]


def test_any_dtype_and_layout_of_the_seed_gives_the_same_bits(robot):
    chain = robot("panda")
    target = chain.forward([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    plain = solve(chain, target, [0, 0, 0, -1, 0, 1, 0]).positions
    strided = np.zeros((7, 3), np.float32)
    strided[:, 1] = [0, 0, 0, -1, 0, 1, 0]
    for seed in (np.array([0, 0, 0, -1, 0, 1, 0]), strided[:, 1], (0, 0, 0, -1.0, 0, 1, 0)):
        assert np.array_equal(solve(chain, target, seed).positions, plain)


def test_nothing_compiles_after_the_warm_up(robot):
    from basis_ik.descent.pose_search_kernel import solve_pose
    from basis_ik.solvers.pose.newton_kernel import minimise_each

    chain = robot("panda")
    warm_up(chain)
    before = len(solve_pose.signatures), len(minimise_each.signatures)
    far = RigidTransform.from_rpy(0, 0, 0, (5.0, 0, 0))
    near = chain.forward([0, 0, 0, -1, 0, 1, 0])
    for target in (far, near):
        for seed in (None, [0] * 7, np.zeros(7, np.float32)):
            solve(chain, target, seed)
            for position_only in (True, np.True_, 1):
                solve(chain, target, seed, position_only=position_only)
    behind = RigidTransform.from_rpy(0, 0, 0, (0.0, 0, 0.3))  # within reach, but for the limits
    assert solve(chain, behind).verdict is Verdict.LIMIT
    assert (len(solve_pose.signatures), len(minimise_each.signatures)) == before


@pytest.mark.parametrize(
    "seed",
    [
        [np.nan, 0, 0, -1, 0, 1, 0],
        [np.inf, 0, 0, -1, 0, 1, 0],
        [1e9, 0, 0, -1, 0, 1, 0],
        [0.0] * 6,
        [[0.0] * 7],
        0.0,
        ["a"] * 7,
        [None] * 7,
        [0.0, 0.0, 0.0, -1.0, 0.0, 1.0, None],
        [True] * 7,
        [1j] * 7,
        [[0.0], [0.0, 1.0]],
    ],
)
def test_bad_seeds_are_refused_by_name(robot, seed):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), seed)
    assert caught.value.argument == "seed"


@pytest.mark.parametrize(
    "setting",
    [
        {"position_tolerance": 0.0},
        {"position_tolerance": -1.0},
        {"position_tolerance": np.nan},
        {"orientation_tolerance": 0.0},
        {"orientation_tolerance": np.nan},
        {"max_iterations": 0},
        {"max_iterations": -5},
        {"max_restarts": -1},
        {"position_tolerance": "x"},
        {"position_tolerance": True},
        {"position_tolerance": 9e-16},
        {"orientation_tolerance": 1e-17},
        {"orientation_tolerance": 1e-3 + 0j},
        {"max_iterations": True},
        {"max_iterations": 1.5},
        {"max_restarts": 1.5},
    ],
)
def test_bad_settings_are_refused_by_name(robot, setting):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), **setting)
    assert caught.value.argument == next(iter(setting))


def test_a_target_that_is_no_transform_or_too_far_is_refused(robot):
    chain = robot("panda")
    far = RigidTransform.from_rpy(0, 0, 0, (1e200, 0, 0))
    for target in (np.eye(3), None, 1j * np.eye(4), np.eye(4, dtype=bool), far):
        with pytest.raises(SolveArgumentError) as caught:
            solve(chain, target)
        assert caught.value.argument == "target"
        assert "\n" not in str(caught.value)


def test_max_iterations_is_a_bound(robot):
    chain = robot("panda")
    target = chain.forward([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    for budget in (1, 2, 3, 10, 1000):
        for goal in (target, RigidTransform.from_rpy(1, 1, 1, (0.6, 0.6, 0.1))):
            solution = solve(chain, goal, [2, 1, 2, -3, 2, 0, 2], max_iterations=budget)
            assert solution.iterations <= budget
            assert_valid(chain, goal, solution)
    spent = solve(chain, target, [2, 1, 2, -3, 2, 0, 2], max_iterations=2)
    assert spent.verdict is Verdict.BUDGET_SPENT

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reasons must be true: constructed cases, and brute force."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np
import pytest

from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

WIDE = pi


def turning(xyz, rpy, lower, upper):
    return ("revolute", xyz, rpy, "0 0 1", lower, upper)


def at(x, y, z=0.0, yaw=0.0):
    return RigidTransform.from_rpy(0.0, 0.0, yaw, (x, y, z))


@pytest.fixture(scope="module")
def planar(arm):
    """Two links of 0.5 m and 0.3 m in the plane: reach from 0.2 m to 0.8 m."""
    rows = [turning("0 0 0", "0 0 0", -WIDE, WIDE), turning("0.5 0 0", "0 0 0", -WIDE, WIDE)]
    return arm(rows, "0.3 0 0")


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 7))
@pytest.mark.parametrize("radius", [0.8001, 0.9, 5.0])
def test_too_far_states_the_exact_distance(planar, radius, angle):
    x, y = radius * cos(angle), radius * sin(angle)
    solution = solve(planar, at(x, y), [0.4, 0.5], position_only=True)
    assert solution.verdict is Verdict.TOO_FAR
    assert solution.reason.missing == pytest.approx(radius - 0.8, abs=1e-6)
    assert solution.position_error == solution.reason.missing
    assert np.allclose(
        planar.forward(solution.positions).translation,
        np.array([x, y, 0]) * 0.8 / radius,
        atol=1e-4,
    )


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 7))
@pytest.mark.parametrize("radius", [0.1999, 0.1, 0.01])
def test_too_near_states_the_exact_distance(planar, radius, angle):
    x, y = radius * cos(angle), radius * sin(angle)
    solution = solve(planar, at(x, y), [0.4, 0.5], position_only=True)
    assert solution.verdict is Verdict.TOO_NEAR
    assert solution.reason.missing == pytest.approx(0.2 - radius, abs=1e-6)


def test_the_root_itself_is_too_near_from_every_side(planar):
    solution = solve(planar, at(0.0, 0.0), [0.4, 0.5], position_only=True)
    assert solution.verdict is Verdict.TOO_NEAR
    assert solution.reason.missing == pytest.approx(0.2, abs=1e-6)


def test_a_target_off_the_plane_is_not_reached(planar):
    solution = solve(planar, at(0.4, 0.2, 0.1), [0.4, 0.5], position_only=True)
    assert solution.verdict in (Verdict.TOO_FAR, Verdict.TOO_NEAR)
    assert solution.reason.missing == pytest.approx(0.1, abs=1e-6)


def test_an_arm_with_few_joints_reaches_the_position_and_states_the_angle_left(planar):
    truth = [0.3, 0.9]
    target = planar.forward(truth) @ RigidTransform.from_rpy(0, 0, 0.4, (0, 0, 0))
    solution = solve(planar, target, [0.1, 0.5])
    assert solution.verdict is Verdict.ORIENTATION_NOT_FOUND
    assert solution.position_error <= 1e-6
    # The two postures leave 0.4 rad, or what the other elbow leaves.
    other = solve(planar, target, [0.8, -0.9], position_only=True).orientation_error
    assert solution.orientation_error == pytest.approx(min(0.4, other), abs=1e-4)
    assert solution.reason.turn == solution.orientation_error


def test_the_limit_that_prevents_a_solution_is_named(arm):
    rows = [turning("0 0 0", "0 0 0", -0.5, 0.7), turning("0.5 0 0", "0 0 0", -2.0, 2.0)]
    chain = arm(rows, "0.3 0 0")
    x, y = 0.8 * cos(1.3), 0.8 * sin(1.3)  # straight at 1.3 rad: only j1 forbids it
    solution = solve(chain, at(x, y), [0.0, 0.2], position_only=True)
    assert solution.verdict is Verdict.LIMIT
    assert solution.reason.joint == "j1"
    assert solution.reason.bound == 0.7
    assert solution.positions[0] == 0.7
    assert "j1" in str(solution.reason)


def test_a_slide_at_its_end_is_named(arm):
    rows = [
        ("prismatic", "0 0 0", "0 0 0", "1 0 0", 0.0, 0.5),
        turning("0 0 0", "0 0 0", -3.0, 3.0),
    ]
    chain = arm(rows, "0.2 0 0")
    solution = solve(chain, at(0.9, 0.1), [0.1, 0.2], position_only=True)
    assert solution.verdict is Verdict.LIMIT
    assert solution.reason.joint == "j1"
    assert solution.reason.bound == 0.5


@pytest.mark.parametrize("name", ["panda", "puma560", "jaco", "lift_arm"])
def test_the_nearest_position_is_as_near_as_brute_force_finds(robot, name):
    chain = robot(name)
    rng = np.random.default_rng(3)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    cloud = rng.uniform(low, high, (4000, len(low)))
    places = np.array([chain.forward(q).translation for q in cloud])
    for _ in range(25):
        goal = rng.normal(size=3)
        goal *= rng.uniform(0.0, 1.4) * chain.reach / np.linalg.norm(goal)
        solution = solve(chain, RigidTransform.from_rpy(0, 0, 0, goal), position_only=True)
        nearest = np.linalg.norm(places - goal, axis=1).min()
        assert solution.position_error <= nearest + 1e-6, (goal, solution)
        if not solution.success:
            assert solution.position_error > 1e-6


def test_unreachable_orientations_are_as_near_as_brute_force_finds(arm):
    """Three joints in a plane and a roll reach a position and a pointing direction."""
    rows = [
        turning("0 0 0", "0 0 0", -3, 3),
        turning("0.4 0 0", "0 0 0", -2.5, 2.5),
        turning("0.3 0 0", "0 0 0", -2.5, 2.5),
    ]
    chain = arm(rows, "0.2 0 0")
    target = RigidTransform.from_rpy(0.5, 0.0, 0.8, (0.5, 0.3, 0.0))
    solution = solve(chain, target, [0.1, 0.2, 0.3])
    assert solution.verdict is Verdict.ORIENTATION_UNREACHABLE
    assert solution.position_error <= 1e-6
    # A roll of 0.5 rad about the tip's x axis cannot be had in the plane; all else can.
    assert solution.orientation_error == pytest.approx(0.5, abs=1e-3)


def test_limit_means_that_the_target_is_reached_without_limits(robot):
    chain = robot("puma560")
    rng = np.random.default_rng(5)
    seen = 0
    wide = type(chain.arrays)(*chain.arrays)._replace(lower=np.full(6, -pi), upper=np.full(6, pi))
    from basis_ik.descent.descent_kernel import DESCENT_REACHED
    from basis_ik.search.prepare import prepare

    free = prepare(wide)
    for _ in range(60):
        q = rng.uniform(-pi, pi, 6)
        target = chain.forward(q)
        solution = solve(chain, target, [0.0] * 6)
        if solution.verdict is Verdict.LIMIT:
            seen += 1
            k = chain.joint_names.index(solution.reason.joint)
            assert solution.reason.bound in (chain.lower[k], chain.upper[k])
            status = free.search(
                free.weights, np.array(target.matrix), np.zeros(6), np.empty(6), (1e-6, 1e-6),
                20000, last=500,
            )[0]  # fmt: skip
            assert status == DESCENT_REACHED
        else:
            assert solution.success
    assert seen > 10


def test_the_best_effort_moves_without_jumps(robot):
    chain = robot("ur5")
    q = np.array([0.1, -1.0, 1.0, 0.0, 0.3, 0.0])
    for position_only in (True, False):
        previous = None
        for s in np.linspace(0.0, 0.5, 26):
            target = RigidTransform.from_rpy(0.0, 0.0, 0.0, (1.3 * cos(s), 1.3 * sin(s), 0.3))
            solution = solve(chain, target, q, position_only=position_only)
            assert solution.verdict is Verdict.TOO_FAR
            q = solution.positions
            tip = chain.forward(q).translation
            if previous is not None:
                assert np.linalg.norm(tip - previous) < 0.03
            previous = tip


def test_the_best_effort_for_a_resting_target_rests(robot):
    chain = robot("panda")
    target = RigidTransform.from_rpy(1.0, 0.5, 0.2, (0.9, 0.7, 0.5))
    q = solve(chain, target).positions
    for _ in range(4):  # it may still improve
        better = solve(chain, target, q).positions
        assert np.abs(better - q).max() < 0.05
        q = better
    for _ in range(3):
        again = solve(chain, target, q).positions
        assert np.array_equal(again, q)
    assert hypot(*chain.forward(q).translation[:2]) > 0.5


def places(ranges, lengths, steps):
    """Return positions (k, 2) of the tip of a planar arm, its joints on a grid."""
    turns = np.meshgrid(*[np.linspace(*r, steps) for r in ranges], indexing="ij")
    total, x, y = 0.0, 0.0, 0.0
    for turn, length in zip(turns, lengths, strict=True):
        total = total + turn
        x, y = x + length * np.cos(total), y + length * np.sin(total)
    return np.stack([x, y], -1).reshape(-1, 2)


@pytest.mark.parametrize("lengths", [(0.4, 0.3, 0.2), (0.5, 0.15, 0.1)])
def test_reasons_within_narrow_limits_agree_with_brute_force(arm, lengths):
    """The distance is exact, and lifting only the named limit reduces it."""
    ranges = [(-0.5, 0.9), (-1.2, 0.3), (-0.6, 1.0)]

    def make(ranges):
        ends = ["0 0 0", *[f"{length} 0 0" for length in lengths]]
        rows = [turning(xyz, "0 0 0", *r) for xyz, r in zip(ends, ranges, strict=False)]
        return arm(rows, ends[-1])

    chain, cloud = make(ranges), places(ranges, lengths, 81)
    lifted = []
    for k in range(3):
        wide = [(-pi, pi) if i == k else r for i, r in enumerate(ranges)]
        lifted.append(places(wide, lengths, 81))
    rng, seen = np.random.default_rng(0), set()
    for _ in range(30):
        goal = rng.uniform(-0.9, 0.9, 2)
        solution = solve(chain, at(*goal), [0.1, 0.1, 0.1], position_only=True)
        nearest = np.hypot(*(cloud - goal).T).min()
        missing, verdict = solution.reason.missing, solution.verdict
        seen.add(verdict)
        assert missing - 1e-6 <= nearest <= missing + 0.04
        if verdict is Verdict.TOO_FAR:
            assert hypot(*goal) > sum(lengths)
        elif verdict is Verdict.TOO_NEAR:
            assert hypot(*goal) < 2 * max(lengths) - sum(lengths)
        elif verdict is Verdict.LIMIT:
            k = chain.joint_names.index(solution.reason.joint)
            assert solution.reason.bound in ranges[k]
            if missing > 0.1:  # more than the grid hides
                assert np.hypot(*(lifted[k] - goal).T).min() < missing - 0.02
        else:
            assert solution.success
    assert Verdict.LIMIT in seen


def test_lifting_the_named_limit_of_a_robot_helps(arm, robot):
    """The same target and seed of a six-joint arm, with only that limit lifted."""
    chain = robot("puma560")
    xyz = ["0 0 0.672", "0 0.2435 0", "0.4318 -0.0934 0", "-0.0203 0 0.4331", "0 0 0", "0 0 0"]
    axes = ["0 0 1", "0 1 0", "0 1 0", "0 0 1", "0 1 0", "0 0 1"]
    ranges = list(zip(chain.lower, chain.upper, strict=True))

    def make(k):
        wide = [(-2 * pi, 2 * pi) if i == k else r for i, r in enumerate(ranges)]
        rows = [("revolute", o, "0 0 0", a, *r) for o, a, r in zip(xyz, axes, wide, strict=True)]
        return arm(rows, "0 0 0.0563")

    freed = [make(k) for k in range(6)]
    rng, seen = np.random.default_rng(5), 0
    for _ in range(40):
        target = chain.forward(rng.uniform(-pi, pi, 6))
        solution = solve(chain, target, [0.0] * 6)
        if solution.verdict is Verdict.LIMIT:
            seen += 1
            k = chain.joint_names.index(solution.reason.joint)
            better = solve(freed[k], target, [0.0] * 6)
            nearer = better.position_error < solution.position_error - 1e-4
            turned = better.orientation_error < solution.orientation_error - 1e-3
            assert better.success or nearer or turned, (solution, better)
    assert seen > 5


def test_few_steps_or_starts_give_budget_spent(planar):
    """The target is out of reach, but not by the chain's length."""
    void = at(0.05, 0.1)
    for budget in ({"max_iterations": 3}, {"max_restarts": 2}):
        solution = solve(planar, void, [0.4, 0.5], position_only=True, **budget)
        assert solution.verdict is Verdict.BUDGET_SPENT
        assert solution.reason.missing == solution.position_error


@pytest.mark.parametrize("max_move", [0.9, 1.0, 2.0])
def test_max_move_equal_to_another_joints_limit_is_no_limit(arm, max_move):
    link = ("revolute", "0.5 0 0", "0 0 0", "0 0 1")
    chain = arm([(*link, -3.0, 3.0), (*link, -max_move, max_move)], tip="0.5 0 0")
    target = chain.forward([max_move + 0.8, 0.1])
    solution = solve(chain, target, [0.0, 0.0], max_move=max_move, position_only=True)
    assert (solution.verdict, solution.reason.joint) == (Verdict.MOVE_BOUND, "j1")
    limited = arm([(*link, -max_move, max_move), (*link, -9.0, 9.0)], tip="0.5 0 0")
    solution = solve(limited, target, [0.0, 0.0], max_move=max_move, position_only=True)
    assert (solution.verdict, solution.reason.joint) == (Verdict.LIMIT, "j1")

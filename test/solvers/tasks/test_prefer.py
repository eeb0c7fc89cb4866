# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A preferred posture, and an elbow near a pole."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.joint_path import ChainError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.tasks.prefer import solve_pole, solve_posture
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

POSITION = PoseConstraint(orientation=False)


def drawn(chain, count, seed=1):
    rng = np.random.default_rng(seed)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    return rng.uniform(low, high, (2, count, len(low)))


def proven(chain, solution, target):
    assert solution.success
    assert (solution.positions >= chain.lower).all()
    assert (solution.positions <= chain.upper).all()
    off = chain.forward(solution.positions).inverse() @ target
    assert np.linalg.norm(off.translation) <= 1.001e-6
    assert np.linalg.norm(off.log()[3:]) <= 1.1e-6


@pytest.mark.parametrize("name", ["panda", "iiwa", "lift_arm"])
def test_no_sample_of_the_null_space_is_nearer_to_the_posture(robot, name):
    chain = robot(name)
    for truth, posture in zip(*drawn(chain, 5), strict=True):
        target = chain.forward(truth)
        solution = solve_posture(chain, target, posture, starts=200)
        proven(chain, solution, target)
        samples = solve_all(chain, target, posture, starts=300, distinct=0.05)
        nearest = min(np.linalg.norm(s.positions - posture) for s in samples)
        assert np.linalg.norm(solution.positions - posture) <= nearest + 1e-6


def three_links(arm, lower=-3.1, upper=3.1):
    rows = [("revolute", "0 0 0", "0 0 0", "0 0 1", lower, upper)]
    rows += [("revolute", "1 0 0", "0 0 0", "0 0 1", lower, upper)] * 2
    return arm(rows, "1 0 0")


def all_ways(x, y, lower, upper):
    """Return every way (k, 3) for three unit links to (x, y), by the angle of the first."""
    first = np.linspace(lower, upper, 40_001)
    to_x, to_y = x - np.cos(first), y - np.sin(first)
    cosine = (to_x**2 + to_y**2 - 2.0) / 2.0
    ways = []
    for sign in (1, -1):
        third = sign * np.arccos(np.where(np.abs(cosine) <= 1.0, cosine, np.nan))
        second = np.arctan2(to_y, to_x) - np.arctan2(np.sin(third), 1 + np.cos(third)) - first
        for turns in (-1, 0, 1):
            ways.append(np.stack([first, second + 2 * pi * turns, third], axis=1))
    ways = np.concatenate(ways)
    return ways[((ways >= lower) & (ways <= upper)).all(axis=1)]


@pytest.mark.parametrize("bound", [3.1, 1.2])
def test_the_posture_is_as_near_as_brute_force_finds(arm, bound):
    chain = three_links(arm, -bound, bound)
    for truth, posture in zip(*drawn(chain, 25), strict=True):
        target = chain.forward(truth)
        solution = solve_posture(chain, target, posture, constraint=POSITION)
        assert solution.success
        ways = all_ways(*target.translation[:2], -bound, bound)
        best = np.linalg.norm(ways - posture, axis=1).min()
        assert np.linalg.norm(solution.positions - posture) <= best + 1e-4
        assert (np.abs(solution.positions) <= bound).all()


@pytest.mark.parametrize("bound", [3.1, 1.2])
def test_the_elbow_is_as_near_the_pole_as_brute_force_finds(arm, bound):
    chain = three_links(arm, -bound, bound)
    rng = np.random.default_rng(2)
    for truth, seed in zip(*drawn(chain, 25), strict=True):
        target, pole = chain.forward(truth), np.array([*rng.uniform(-2, 2, 2), 0.3])
        solution = solve_pole(chain, target, "l3", pole, seed, constraint=POSITION)
        assert solution.success
        assert (np.abs(solution.positions) <= bound).all()
        ways = all_ways(*target.translation[:2], -bound, bound)
        a, b = ways[:, 0], ways[:, 0] + ways[:, 1]
        elbows = np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b), 0 * a], axis=1)
        best = np.linalg.norm(elbows - pole, axis=1).min()
        elbow = chain.link_poses(solution.positions)["l3"].translation
        assert np.linalg.norm(elbow - pole) <= best + 1e-5


def test_an_elbow_goes_into_the_half_plane_of_the_pole(robot):
    chain = robot("iiwa")  # shoulder, elbow and wrist without offsets: the elbow runs on a circle
    q = np.array([0.2, 0.6, -0.3, 1.4, 0.2, -0.8, 0.4])
    target = chain.forward(q)
    shoulder = chain.link_poses(q)["l2"].translation
    wrist = chain.link_poses(q)["l6"].translation
    line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    for pole in [(0.0, 1.5, 0.6), (0.0, -1.5, 0.6), (1.0, 0.5, 2.0)]:
        solution = solve_pole(chain, target, "l4", pole, q)
        proven(chain, solution, target)
        off = [
            point - shoulder - ((point - shoulder) @ line) * line
            for point in (np.array(pole), chain.link_poses(solution.positions)["l4"].translation)
        ]
        cosine = off[0] @ off[1] / np.linalg.norm(off[0]) / np.linalg.norm(off[1])
        assert cosine > 0.999999


def test_an_arm_without_freedom_takes_the_nearest_of_its_solutions(robot):
    chain = robot("ur5")
    truth = np.array([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    target = chain.forward(truth)
    every = solve_all(chain, target, truth, starts=300)
    for pole in [(0.3, 0.2, 2.0), (0.3, 0.2, -2.0)]:
        solution = solve_pole(chain, target, "l3", pole, starts=300)
        proven(chain, solution, target)
        gaps = [
            np.linalg.norm(chain.link_poses(s.positions)["l3"].translation - pole)
            for s in (solution, *every)
        ]
        assert gaps[0] <= min(gaps) + 1e-6
    for other in every:
        near = solve_posture(chain, target, other.positions + 0.02, starts=300)
        assert np.allclose(near.positions, other.positions, atol=1e-5)


def test_a_free_axis_is_freedom_too(robot):
    chain = robot("ur5")
    truth = np.array([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    posture = truth + np.array([0.1, -0.1, 0.1, 0.1, -0.1, 0.4])
    constraint = PoseConstraint(free_axis=(0, 0, 1))
    target = chain.forward(truth)
    solution = solve_posture(chain, target, posture, constraint=constraint)
    samples = solve_all(chain, target, posture, starts=400, distinct=0.05, constraint=constraint)
    assert len(samples) > 20
    nearest = min(np.linalg.norm(s.positions - posture) for s in samples)
    assert solution.success
    assert np.linalg.norm(solution.positions - posture) <= nearest + 1e-6
    off = chain.forward(solution.positions).inverse() @ target
    assert np.linalg.norm(off.translation) <= 1.001e-6
    assert np.linalg.norm(off.rotation[:, 2] - [0, 0, 1]) <= 1.1e-6


def test_joints_without_limits_take_the_turn_nearest_to_the_posture(robot):
    chain = robot("jaco")
    truth = np.array([0.4, 0.3, 1.2, -0.8, 0.6, 2.0])
    posture = truth + np.array([4 * pi, 0.0, 0.0, -2 * pi, 0.0, 2 * pi])
    solution = solve_posture(chain, chain.forward(truth), posture)
    assert np.allclose(solution.positions, posture, atol=1e-5)


def test_one_start_stays_on_the_branch_of_the_seed(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.4, 0.3, -1.8, 0.2, 1.4, 0.1])
    posture = q.copy()
    for step in range(60):
        target = chain.forward(q) @ RigidTransform.from_rpy(
            0.0, 0.004 * (step % 5), 0, (0, 0.004, 0)
        )
        solution = solve_posture(chain, target, posture, q, starts=1)
        proven(chain, solution, target)
        assert np.abs(solution.positions - q).max() < 0.1
        q = solution.positions


def test_out_of_reach_is_answered_as_by_solve(robot):
    chain = robot("panda")
    far, seed = RigidTransform.from_rpy(0, 0, 0, (2.0, 0, 0.3)), np.full(7, 0.1)
    expected = solve(chain, far, seed)
    assert expected.verdict is Verdict.TOO_FAR
    for solution in (
        solve_posture(chain, far, seed),
        solve_pole(chain, far, "l4", (0, 0, 1), seed),
    ):
        assert solution.reason == expected.reason
        assert np.array_equal(solution.positions, expected.positions)


def test_the_same_question_has_the_same_answer(robot):
    chain = robot("panda")
    target = chain.forward([0.1, 0.4, 0.3, -1.8, 0.2, 1.4, 0.1])
    one, two = (solve_pole(chain, target, "l4", (0, 1, 0.5)) for _ in range(2))
    assert np.array_equal(one.positions, two.positions)
    assert one.iterations == two.iterations


@given(data=st.data())
def test_limits_and_target_hold_whatever_is_preferred(robot, data):
    chain = robot("panda")
    angles = st.floats(-4.0, 4.0)
    truth = np.clip(data.draw(st.tuples(*[angles] * 7)), chain.lower, chain.upper)
    posture = np.array(data.draw(st.tuples(*[angles] * 7)))
    target = chain.forward(truth)
    solution = solve_posture(chain, target, posture, starts=10)
    assert np.isfinite(solution.positions).all()
    if solution.success:
        proven(chain, solution, target)


@pytest.mark.parametrize("bad", [[0.0] * 6, [np.nan] * 7, [np.inf] * 7, "x", [1e9] * 7])
def test_a_bad_posture_is_refused(robot, bad):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve_posture(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), bad)
    assert caught.value.argument == "posture"


def test_a_bad_pole_is_refused(robot):
    chain = robot("panda")
    target = chain.forward([0, 0, 0, -1, 0, 1, 0])
    for pole in ([0, 0], [0, np.nan, 0], [np.inf] * 3, "x"):
        with pytest.raises(SolveArgumentError) as caught:
            solve_pole(chain, target, "l4", pole)
        assert caught.value.argument == "pole"
    with pytest.raises(SolveArgumentError, match="that a joint of the chain moves"):
        solve_pole(chain, target, "l0", (0, 0, 0))
    with pytest.raises(ChainError, match="'elbow' is not on the chain"):
        solve_pole(chain, target, "elbow", (0, 0, 0))
    for keywords in ({"starts": 0}, {"position_tolerance": 0.0}, {"orientation_tolerance": np.nan}):
        with pytest.raises(SolveArgumentError) as caught:
            solve_pole(chain, target, "l4", (0, 0, 0), **keywords)
        assert caught.value.argument in keywords


def test_one_start_keeps_the_branch_of_an_arm_with_a_closed_form(robot):
    chain = robot("ur5")
    seed = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
    other = seed * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    target = chain.forward(seed + 0.05)
    for branch in (
        solve_posture(chain, target, other, seed, starts=1),
        solve_pole(chain, target, "l3", (0.0, 0.0, -1.0), seed, starts=1),
    ):
        proven(chain, branch, target)
        assert np.abs(branch.positions - seed).max() < 0.1
    assert solve_posture(chain, target, other, seed).positions[2] < 0.0

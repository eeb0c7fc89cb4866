# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""All solutions of a pose, their order, and bounds on the move."""

from __future__ import annotations

from itertools import pairwise
from math import pi

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import Preference, solve_all
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def test_the_eight_postures_of_a_six_joint_arm_are_found_once_each(robot):
    chain = robot("ur5")
    target = chain.forward([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    found = solve_all(chain, target, np.zeros(6), starts=300)
    assert len(found) == 8
    for solution in found:
        assert np.linalg.norm((chain.forward(solution.positions).inverse() @ target).log()) < 3e-6
    apart = [
        np.abs((a.positions - b.positions + pi) % (2 * pi) - pi).max()
        for i, a in enumerate(found)
        for b in found[:i]
    ]
    assert min(apart) > 0.05


@pytest.mark.parametrize("prefer", Preference)
def test_the_preferred_solution_comes_first(robot, prefer):
    chain = robot("panda")
    seed = np.array([0.2, 0.1, 0.3, -1.4, 0.2, 1.5, 0.3])
    found = solve_all(
        chain, chain.forward([0.1, 0.4, 0.3, -1.8, 0.2, 1.4, 0.1]), seed, prefer=prefer
    )
    assert len(found) > 5

    def worth(q):
        if prefer is Preference.NEAREST:
            return -np.linalg.norm(q - seed)
        if prefer is Preference.MANIPULABLE:
            return np.prod(np.linalg.svd(chain.jacobian(q))[1])
        gap = np.minimum(q - chain.lower, chain.upper - q) / (chain.upper - chain.lower)
        return gap.min()

    values = [worth(solution.positions) for solution in found]
    assert all(a >= b - 1e-9 for a, b in pairwise(values))
    assert values[0] > values[-1]


def test_a_target_out_of_reach_has_no_solutions(robot):
    far = RigidTransform.from_rpy(0, 0, 0, (9.0, 0, 0))
    assert solve_all(robot("panda"), far) == ()


@pytest.mark.parametrize(
    "constraint", [PoseConstraint(orientation=False), PoseConstraint(free_axis=(0.6, 0.0, 0.8))]
)
def test_manipulability_is_that_of_the_part_that_counts(arm, constraint):
    rows = [
        ("revolute", "0 0 0.3", "0 0 0", axis, -2.9, 2.9)
        for axis in ("0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1")
    ]
    chain = arm(rows, tip="0.2 0 0.3")
    target = chain.forward([0.3, 0.4, 0.5, 0.2, 0.1])
    found = solve_all(
        chain, target, constraint=constraint, prefer=Preference.MANIPULABLE, starts=60
    )
    assert len(found) > 1
    values = []
    for solution in found:
        jacobian = chain.jacobian(solution.positions)
        wanted_rows = jacobian[:3]
        if constraint.orientation:  # the turn about the axis is free
            across = np.linalg.svd([target.rotation @ [0.6, 0.0, 0.8]])[2][1:]
            wanted_rows = np.vstack([wanted_rows, across @ jacobian[3:]])
        values.append(np.prod(np.linalg.svd(wanted_rows)[1]))
    assert all(a >= b - 1e-5 for a, b in pairwise(values))


def test_a_locked_joint_does_not_count_as_centred(arm):
    rows = [
        ("revolute", "0 0 0.3", "0 0 0", axis, *((0.5, 0.5) if i == 3 else (-2.9, 2.9)))
        for i, axis in enumerate(["0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1", "1 0 0", "0 1 0"])
    ]
    chain = arm(rows, tip="0.2 0 0")
    target = chain.forward([0.3, 0.4, 0.5, 0.5, 0.1, 0.2, 0.3])
    with np.errstate(invalid="raise"):  # 0 / 0 is no share of a range
        found = solve_all(chain, target, prefer=Preference.CENTRED, starts=60)
    room = [2.9 - np.abs(np.delete(solution.positions, 3)).max() for solution in found]
    assert len(room) > 1
    assert all(a >= b for a, b in pairwise(room))


@pytest.mark.parametrize(
    "keywords",
    [
        {"starts": 0}, {"starts": 1.5}, {"distinct": 0.0}, {"distinct": np.nan},
        {"position_tolerance": np.nan}, {"position_tolerance": -1.0},
        {"orientation_tolerance": 0.0}, {"orientation_tolerance": "x"},
    ],
)  # fmt: skip
def test_bad_settings_are_refused(robot, keywords):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError):
        solve_all(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), **keywords)


def test_no_solution_exceeds_max_move(robot):
    chain = robot("ur5")
    rng = np.random.default_rng(1)
    verdicts = set()
    for _ in range(60):
        seed = rng.uniform(-pi, pi, 6)
        truth = np.clip(seed + rng.uniform(-0.8, 0.8, 6), -pi, pi)
        bound = rng.uniform(0.2, 1.0)
        solution = solve(chain, chain.forward(truth), seed, max_move=bound)
        assert np.abs(solution.positions - seed).max() <= bound + 1e-12
        verdicts.add(solution.verdict)
        if np.abs(truth - seed).max() < bound:
            assert solution.success
    assert {Verdict.REACHED, Verdict.MOVE_BOUND} <= verdicts


def test_move_bound_names_the_joint(arm):
    rows = [("revolute", "0 0 0", "0 0 0", "0 0 1", -3.0, 3.0)]
    chain = arm(rows, "0.5 0 0")
    solution = solve(chain, chain.forward([1.0]), [0.0], max_move=0.4)
    assert solution.verdict is Verdict.MOVE_BOUND
    assert solution.reason.joint == "j1"
    assert solution.positions[0] == 0.4
    assert "j1" in str(solution.reason)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, [0.1] * 3, "x"])
def test_bad_moves_are_refused(robot, bound):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), max_move=bound)
    assert caught.value.argument == "max_move"

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Partial goals: position or orientation alone, a free axis, a box."""

from __future__ import annotations

from math import asin, inf, pi

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def some(chain, count, seed=1):
    rng = np.random.default_rng(seed)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    return rng.uniform(low, high, (2, count, len(low)))


@pytest.mark.parametrize("name", ["panda", "ur5", "jaco", "lift_arm"])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0.3, -2.0, 0.5)])
def test_the_axis_is_met_whatever_the_turn_about_it(robot, name, axis):
    chain = robot(name)
    unit = np.array(axis) / np.linalg.norm(axis)
    for turn, (truth, seed) in enumerate(zip(*some(chain, 40), strict=True)):
        spun = RigidTransform.from_axis_angle(axis, 0.3 * turn)
        target = chain.forward(truth) @ spun
        solution = solve(chain, target, seed, constraint=PoseConstraint(free_axis=axis))
        assert solution.success
        tip = chain.forward(solution.positions)
        assert np.linalg.norm(tip.translation - target.translation) <= 1.001e-6
        apart = np.linalg.norm(tip.rotation @ unit - target.rotation @ unit)
        between = 2.0 * asin(0.5 * apart)
        assert between <= 1.001e-6
        assert solution.orientation_error == pytest.approx(between, abs=1e-14)


def test_five_joints_can_do_what_a_free_axis_asks(arm):
    rows = [("revolute", "0 0 0.3", "0 0 0", "0 0 1", -3.0, 3.0)]
    rows += [("revolute", "0 0 0.2", "0 0 0", "0 1 0", -2.0, 2.0)] * 3
    rows += [("revolute", "0 0 0.1", "0 0 0", "1 0 0", -2.0, 2.0)]
    chain = arm(rows, "0 0 0.1")
    for turn, (truth, seed) in enumerate(zip(*some(chain, 40), strict=True)):
        target = chain.forward(truth) @ RigidTransform.from_axis_angle((0, 0, 1), 0.3 * turn + 0.1)
        assert solve(chain, target, seed, constraint=PoseConstraint(free_axis=(0, 0, 1))).success
        assert not solve(chain, target, seed).success


def test_orientation_alone_leaves_the_position_free(robot):
    chain = robot("panda")
    for truth, seed in zip(*some(chain, 40), strict=True):
        target = RigidTransform.from_rotation_translation(
            chain.forward(truth).rotation, (50.0, 0.0, 0.0)
        )
        solution = solve(chain, target, seed, constraint=PoseConstraint(position=False))
        assert solution.success
        off = chain.forward(solution.positions).inverse() @ target
        assert np.linalg.norm(off.log()[3:]) <= 1.1e-6
        assert solution.position_error > 40.0


@pytest.mark.parametrize(
    "box", [(0.05, 0.0, 0.0), (0.0, 0.02, 0.1), (inf, 0.0, 0.0), (inf, inf, 0.0)]
)
def test_the_box_lies_along_the_target_and_is_kept(robot, box):
    chain = robot("panda")
    rng = np.random.default_rng(4)
    for truth, seed in zip(*some(chain, 40), strict=True):
        shift = rng.uniform(-1, 1, 3) * np.minimum(box, 0.3)
        target = chain.forward(truth) @ RigidTransform.from_rpy(0, 0, 0, shift)
        solution = solve(chain, target, seed, constraint=PoseConstraint(box=box))
        assert solution.success
        off = target.inverse() @ chain.forward(solution.positions)
        assert (np.abs(off.translation) <= np.array(box) + 1.1e-6).all()
        assert np.linalg.norm(off.log()[3:]) <= 1.1e-6


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, -2, 0), (3, 0, 0)])
@pytest.mark.parametrize("long", [0, 1, 2])
def test_the_box_lies_along_the_target_beside_a_free_axis_too(robot, axis, long):
    chain = robot("panda")
    box = np.full(3, 0.01)
    box[long] = 0.1
    constraint = PoseConstraint(free_axis=axis, box=tuple(box))
    for turn, (truth, seed) in enumerate(zip(*some(chain, 20), strict=True)):
        spun = RigidTransform.from_axis_angle(axis, 0.5 * turn)
        aside = RigidTransform.from_rpy(0, 0, 0, 0.99 * box)
        target = chain.forward(truth) @ spun @ aside
        solution = solve(chain, target, seed, constraint=constraint)
        assert solution.success
        off = target.inverse() @ chain.forward(solution.positions)
        assert (np.abs(off.translation) <= box + 1.1e-6).all()
        unit = np.array(axis) / np.linalg.norm(axis)
        assert np.linalg.norm(off.rotation @ unit - unit) <= 1.1e-6


EVERYTHING = [
    PoseConstraint(position=False),
    PoseConstraint(orientation=False),
    PoseConstraint(free_axis=(0, 1, 0)),
    PoseConstraint(free_axis=(1, 1, 0)),
    PoseConstraint(box=(0.05, 0.0, inf)),
    PoseConstraint(free_axis=(1, 0, 0), box=(0.05, 0.02, 0.0)),
]


@pytest.mark.parametrize("constraint", EVERYTHING)
def test_a_batch_wants_what_a_single_solve_wants(robot, constraint):
    chain = robot("panda")
    truths, seeds = some(chain, 20)
    away = RigidTransform.from_rpy(0.3, 0.1, -0.2, (0.04, 0.01, 0.0))
    targets = [chain.forward(truth) @ away for truth in truths]
    batch = solve_batch(chain, targets, seeds, constraint=constraint)
    assert batch.reached.any()
    for i in np.flatnonzero(batch.reached):
        single = solve(chain, targets[i], seeds[i], constraint=constraint)
        assert np.array_equal(batch.positions[i], single.positions)
        assert batch.orientation_errors[i] == single.orientation_error
        assert batch.position_errors[i] == single.position_error


@pytest.mark.parametrize("constraint", EVERYTHING)
def test_all_solutions_satisfy_what_is_wanted(robot, constraint):
    chain = robot("ur5")
    seed = np.array([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    target = chain.forward(seed + 0.1)
    found = solve_all(chain, target, seed, starts=40, constraint=constraint)
    assert len(found) > 3
    for solution in found:
        again = solve(chain, target, solution.positions, constraint=constraint)
        assert again.success
        assert again.restarts == 0
        assert np.allclose(again.positions, solution.positions, atol=1e-9)


def test_the_distance_missing_is_that_to_the_box(arm):
    rows = [("revolute", "0 0 0", "0 0 0", "0 0 1", -3.0, 3.0)] * 1
    rows += [("revolute", "0.5 0 0", "0 0 0", "0 0 1", -3.0, 3.0)]
    chain = arm(rows, "0.5 0 0")
    target = RigidTransform.from_rpy(0, 0, 0, (1.5, 0.0, 0.0))
    constraint = PoseConstraint(orientation=False, box=(0.2, 0.0, 0.0))
    solution = solve(chain, target, [0.3, 0.3], constraint=constraint)
    assert solution.verdict is Verdict.TOO_FAR
    assert solution.reason.missing == pytest.approx(0.3, abs=1e-6)
    assert solve(
        chain, target, [0.3, 0.3], constraint=PoseConstraint(orientation=False, box=(0.6, 0, 0))
    ).success


@pytest.mark.parametrize(
    ("argument", "keywords"),
    [
        ("orientation", {"position": False, "orientation": False}),
        ("box", {"box": (0.1, -0.1, 0.0)}),
        ("box", {"box": (0.1, np.nan, 0.0)}),
        ("box", {"box": (0.1, 0.0)}),
        ("free_axis", {"free_axis": (0.0, 0.0, 0.0)}),
        ("free_axis", {"free_axis": (0.0, np.nan, 0.0)}),
        ("free_axis", {"free_axis": (0.0, 1.0)}),
        ("free_axis", {"free_axis": (0.0, 1.0, 1.0), "box": (0.1, 0.0, 0.0)}),
        ("free_axis", {"free_axis": (0.0, 0.0, 1.0), "orientation": False}),
    ],
)
def test_nonsense_is_refused_by_name(argument, keywords):
    with pytest.raises(SolveArgumentError) as caught:
        PoseConstraint(**keywords)
    assert caught.value.argument == argument


@pytest.mark.parametrize("form", [list, np.array])
def test_lists_and_arrays_are_as_good_as_tuples(robot, form):
    chain = robot("panda")
    target = chain.forward([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    as_given = {"box": (0.1, 0.0, 0.0), "rotation_box": (0.0, 0.1, 0.0), "weights": (1.0,) * 6}
    constraint = PoseConstraint(**{name: form(value) for name, value in as_given.items()})
    assert constraint == PoseConstraint(**as_given)
    assert PoseConstraint(free_axis=form([0.0, 0.0, 1.0])) == PoseConstraint(
        free_axis=(0.0, 0.0, 1.0)
    )
    assert solve(chain, target, constraint=constraint).success


@pytest.mark.parametrize("name", ["box", "rotation_box", "weights", "free_axis"])
@pytest.mark.parametrize("value", [0.1, "abc", [None] * 3])
def test_what_are_no_numbers_are_refused_by_name(name, value):
    with pytest.raises(SolveArgumentError, match=name):
        PoseConstraint(**{name: value})


@pytest.mark.parametrize("box", [(0.0, 0.0, 0.0), (0.05, 0.0, 0.1)])
@pytest.mark.parametrize("far", [1.0, 2.0])
def test_position_only_is_short_for_a_constraint_whose_orientation_is_free(robot, box, far):
    chain = robot("panda")
    pose = chain.forward([0.3, 0.2, -0.1, -1.5, 0.2, 1.4, 0.5])
    target = RigidTransform.from_rotation_translation(pose.rotation, far * pose.translation)
    short = solve(chain, target, position_only=True, constraint=PoseConstraint(box=box))
    long = solve(chain, target, constraint=PoseConstraint(box=box, orientation=False))
    assert short.success == (far == 1.0)
    assert (short.positions == long.positions).all()
    assert short._replace(positions=None) == long._replace(positions=None)


def test_position_only_frees_all_of_the_orientation_a_constraint_asks_for(robot):
    chain = robot("panda")
    target, seed = chain.forward([0.3, 0.2, -0.1, -1.5, 0.2, 1.4, 0.5]), chain.neutral
    plain = solve(chain, target, seed, position_only=True)
    for constraint in (
        PoseConstraint(free_axis=(0.0, 0.0, 1.0)),
        PoseConstraint(rotation_box=(0.1, 0.2, 0.3)),
        PoseConstraint(orientation=False),
    ):
        short = solve(chain, target, seed, position_only=True, constraint=constraint)
        assert (short.positions == plain.positions).all()
        batch = solve_batch(chain, [target], seed, position_only=True, constraint=constraint)
        assert (batch.positions[0] == plain.positions).all()
        step = track(chain, target, seed, 0.1, position_only=True, constraint=constraint)
        alone = track(chain, target, seed, 0.1, position_only=True)
        assert (step.positions == alone.positions).all()


def test_position_only_of_a_free_position_is_refused(robot):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError, match="orientation"):
        solve(
            chain, chain.forward(chain.neutral), position_only=True,
            constraint=PoseConstraint(position=False),
        )  # fmt: skip

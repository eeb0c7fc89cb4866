# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tolerances of the orientation about each of the target's axes."""

from __future__ import annotations

from math import atan2, inf, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.path.cartesian_path import follow
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.pose.track import track
from basis_ik.solvers.tasks.prefer import solve_posture
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

BOXES = [(0.1, 0.1, inf), (0.3, 0.0, 0.0), (0.0, 0.5, 1.5), (inf, 0.02, inf)]
SLACK = 1.1e-6  # the tolerance, and rounding


def turned(vector, shift=(0.0, 0.0, 0.0)):
    """Return a transform by its rotation vector."""
    spin = RigidTransform.exp(np.concatenate((np.zeros(3), vector)))
    return RigidTransform.from_rotation_translation(spin.rotation, shift)


def rotation_left(chain, target, q):
    return (target.inverse() @ chain.forward(q)).log()[3:]


def tilt_left(chain, target, q, axis):
    """Return the vector of the shortest rotation that takes the target's axis to the tip's."""
    tip = (target.inverse() @ chain.forward(q)).rotation @ np.array(axis)
    across = np.cross(axis, tip)
    size = np.linalg.norm(across)
    return across * (atan2(size, float(tip @ axis)) / size if size else 1.0)


def assert_kept(chain, target, q, box):
    off = target.inverse() @ chain.forward(q)
    assert np.linalg.norm(off.translation) <= SLACK
    assert (np.abs(off.log()[3:]) <= np.array(box) + SLACK).all()
    assert (q >= chain.lower).all()
    assert (q <= chain.upper).all()


@settings(max_examples=150)
@given(
    name=st.sampled_from(["panda", "ur5", "jaco", "lift_arm"]),
    box=st.tuples(*[st.sampled_from([0.0, 0.01, 0.2, 1.0, inf])] * 3),
    part=st.tuples(*[st.floats(-0.999, 0.999)] * 3),
    seed=st.integers(0, 2**31),
)
def test_what_lies_within_the_tolerances_is_reached_and_kept(robot, name, box, part, seed):
    chain, rng = robot(name), np.random.default_rng(seed)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    truth, start = rng.uniform(low, high, (2, len(low)))
    vector = np.array(part) * np.minimum(box, 1.5)
    target = chain.forward(truth) @ turned(vector).inverse()
    solution = solve(chain, target, start, constraint=PoseConstraint(rotation_box=box))
    assert solution.success, solution
    assert_kept(chain, target, solution.positions, box)
    assert solution.orientation_error <= 1e-6


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_beside_a_free_axis_the_tilt_is_bounded_about_the_other_two(robot, axis):
    chain, rng = robot("panda"), np.random.default_rng(3)
    box = np.where(axis, 0.0, [0.05, 0.2, 0.1])
    for infinite in (False, True):
        given_box = np.where(axis, inf if infinite else 0.0, box)
        constraint = PoseConstraint(free_axis=axis, rotation_box=tuple(given_box))
        for truth, seed in rng.uniform(chain.lower, chain.upper, (20, 2, 7)):
            spin = turned(rng.uniform(-3, 3) * np.array(axis, float))
            target = chain.forward(truth) @ spin @ turned(rng.uniform(-1, 1, 3) * box).inverse()
            solution = solve(chain, target, seed, constraint=constraint)
            assert solution.success
            tilt = tilt_left(chain, target, solution.positions, axis)
            assert (np.abs(tilt) <= box + SLACK).all()


def test_some_targets_are_reached_only_thanks_to_the_tolerance(arm):
    """Three joints in the plane cannot roll; with 0.3 rad of roll for nothing they need not."""
    rows = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -3.0, 3.0) for x in (0.0, 0.4, 0.3)]
    chain = arm(rows, "0.2 0 0")
    target = RigidTransform.from_rpy(0.25, 0.0, 0.8, (0.5, 0.3, 0.0))
    seed = [0.1, 0.2, 0.3]
    assert solve(chain, target, seed).verdict is Verdict.ORIENTATION_UNREACHABLE
    reached = solve(chain, target, seed, constraint=PoseConstraint(rotation_box=(0.3, 0.0, 0.0)))
    assert reached.success
    assert_kept(chain, target, reached.positions, (0.3, 0.0, 0.0))
    short = solve(chain, target, seed, constraint=PoseConstraint(rotation_box=(0.2, 0.0, 0.0)))
    assert short.verdict is Verdict.ORIENTATION_UNREACHABLE
    assert short.reason.turn == pytest.approx(0.05, abs=1e-4)  # what is beyond the tolerance
    assert short.position_error <= 1e-6


def cases(chain, count, box, seed=1):
    rng = np.random.default_rng(seed)
    for truth, start in rng.uniform(chain.lower, chain.upper, (count, 2, len(chain.lower))):
        yield chain.forward(truth) @ turned(0.9 * np.minimum(box, 1.0)).inverse(), start


@pytest.mark.parametrize("box", BOXES)
def test_a_batch_and_all_solutions_keep_the_tolerances(robot, box):
    chain, constraint = robot("panda"), PoseConstraint(rotation_box=box)
    targets, seeds = zip(*cases(chain, 20, box), strict=True)
    batch = solve_batch(chain, targets, np.array(seeds), constraint=constraint)
    assert batch.reached.all()
    for target, seed, q in zip(targets, seeds, batch.positions, strict=True):
        assert_kept(chain, target, q, box)
        assert np.array_equal(q, solve(chain, target, seed, constraint=constraint).positions)
    found = solve_all(chain, targets[0], seeds[0], constraint=constraint, starts=30)
    assert len(found) > 3
    for solution in found:
        assert_kept(chain, targets[0], solution.positions, box)


@pytest.mark.parametrize("box", BOXES)
def test_a_tracker_and_a_path_keep_the_tolerances(robot, box):
    chain, constraint = robot("panda"), PoseConstraint(rotation_box=box)
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.5])
    start = chain.forward(q)
    poses = [start @ turned((0.02 * k, 0.01 * k, 0.03 * k), (0, 0, 0.002 * k)) for k in range(25)]
    for pose in poses:
        solution = track(chain, pose, q, 0.3, constraint=constraint)
        assert solution.success
        assert np.abs(solution.positions - q).max() <= 0.3
        q = solution.positions
        assert_kept(chain, pose, q, box)
    path = follow(chain, poses, q, constraint=constraint)
    assert path.success
    for pose, row in zip(poses, path.positions, strict=True):
        assert_kept(chain, pose, row, box)


def test_a_joint_at_its_limit_is_not_to_blame_for_what_a_tolerance_allows(arm):
    rows = [
        ("prismatic", "0 0 0", "0 0 0", "1 0 0", -1.0, 0.5),
        ("revolute", "0 0 0", "0 0 0", "0 0 1", -0.3, 0.3),
    ]
    chain, target = arm(rows), RigidTransform.from_rpy(0.0, 0.0, 0.8, (0.52, 0.0, 0.0))
    for yaw, joint in ((1.0, "j1"), (0.0, "j2")):  # 0.5 rad for nothing, or the greater evil
        constraint = PoseConstraint(rotation_box=(0.0, 0.0, yaw))
        held = track(chain, target, [0.5, 0.3], 0.1, constraint=constraint)
        assert held.verdict is Verdict.LIMIT
        assert held.reason.joint == joint


def test_the_hand_stays_as_it_is_within_its_tolerance(robot):
    """What is within already moves nothing: an arm that is asked for less does less."""
    chain = robot("panda")
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.5])
    target = chain.forward(q) @ turned((0.05, -0.05, 2.0))
    for constraint in (
        PoseConstraint(rotation_box=(0.2, 0.2, inf)),
        PoseConstraint(free_axis=(0, 0, 1), rotation_box=(0.2, 0.2, 0.0)),
    ):
        assert np.array_equal(solve(chain, target, q, constraint=constraint).positions, q)
        assert np.array_equal(track(chain, target, q, 0.1, constraint=constraint).positions, q)


def test_a_posture_uses_the_freedom_that_a_tolerance_gives(robot):
    chain = robot("ur5")
    q = np.array([0.3, -1.2, 1.4, 0.4, 0.8, 0.2])
    target, posture = chain.forward(q), q + np.array([0.3, 0.2, -0.3, 0.4, -0.3, 0.5])
    distances = []
    for box in ((0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.2, 0.2, 0.3)):
        found = solve_posture(
            chain, target, posture, q, constraint=PoseConstraint(rotation_box=box)
        )
        assert_kept(chain, target, found.positions, box)
        distances.append(np.linalg.norm(found.positions - posture))
    assert distances[0] > distances[1] + 0.01 > distances[2] + 0.02


def test_weights_count_only_what_is_beyond_the_tolerance(arm):
    """Two unit links, the target beyond both: 0.2 rad of yaw cost nothing."""
    rows = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -3.1, 3.1) for x in (0.0, 1.0)]
    chain = arm(rows, "1 0 0")
    target = RigidTransform.from_rpy(0.0, 0.0, 0.3, (3.0, 0.0, 0.0))
    weights = (1.0, 1.0, 1.0, 100.0, 100.0, 100.0)
    constraint = PoseConstraint(weights=weights, rotation_box=(0.0, 0.0, 0.2))
    solution = solve(chain, target, [0.3, 0.3], constraint=constraint)
    yaw = float(np.sum(solution.positions))
    assert yaw == pytest.approx(0.1, abs=1e-3)  # heavy beyond 0.2 rad from 0.3, free within
    assert solution.verdict is Verdict.TOO_FAR


def test_half_a_turn_away_it_finds_the_way(robot):
    chain = robot("panda")
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.5])
    for vector in ((pi - 1e-3, 0, 0), (0, pi, 0), (0.5, 0.5, 3.0)):
        target = chain.forward(q) @ turned(np.array(vector))
        box = (0.05, 0.05, 0.5)
        solution = solve(chain, target, q, constraint=PoseConstraint(rotation_box=box))
        assert solution.success
        off = np.abs(rotation_left(chain, target, solution.positions)) - box
        left = np.linalg.norm(np.maximum(off, 0.0))
        assert solution.orientation_error == pytest.approx(left, abs=1e-8)


@pytest.mark.parametrize(
    ("argument", "keywords"),
    [
        ("rotation_box", {"rotation_box": (0.1, -0.1, 0.0)}),
        ("rotation_box", {"rotation_box": (0.1, np.nan, 0.0)}),
        ("rotation_box", {"rotation_box": (0.1, 0.0)}),
        ("rotation_box", {"rotation_box": (0.1, 0.0, 0.0), "orientation": False}),
        ("rotation_box", {"rotation_box": (0.1, 0.0, 0.1), "free_axis": (0, 0, 1)}),
        ("free_axis", {"rotation_box": (0.1, 0.0, 0.0), "free_axis": (0, 1, 1)}),
    ],
)
def test_nonsense_is_refused_by_name(argument, keywords):
    with pytest.raises(SolveArgumentError) as caught:
        PoseConstraint(**keywords)
    assert caught.value.argument == argument

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on trees: end effectors, sub-bases, loops, free roots, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.fabrik.ball_limits import BallLimit
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.fabrik.fabrik_tree import solve_tree
from basis_ik.fabrik.result import NoBonesError, OutOfRangeError, ToleranceError
from basis_ik.fabrik.skeleton import TreeError
from basis_ik.transforms.checks import NotFiniteError, ShapeError
from basis_ik.verdict import Verdict

SEEDS = st.integers(0, 10**6)

# A trunk of two bones, two arms of three, and a tail of two that nothing is asked of.
PARENTS = (-1, 0, 1, 2, 3, 4, 2, 6, 7, 1, 9)
LEFT, RIGHT, TAIL = 5, 8, 10
POSE = np.array(
    [
        [0, 0, 0], [0, 0, 1], [0, 0, 2],
        [1, 0, 2], [2, 0, 2], [3, 0, 2],
        [-1, 0, 2], [-2, 0, 2], [-3, 0, 2],
        [0, 1, 1], [0, 2, 1],
    ],
    float,
)  # fmt: skip


def lengths(p, parents=PARENTS):
    return np.linalg.norm(p[1:] - p[list(parents[1:])], axis=1)


def random_pose(seed, size=1.0):
    rng = np.random.default_rng(seed)
    p = np.zeros((len(PARENTS), 3))
    for joint, parent in enumerate(PARENTS[1:], 1):
        v = rng.normal(size=3)
        p[joint] = p[parent] + size * v / np.linalg.norm(v)
    return p


@given(SEEDS, st.booleans(), st.booleans())
def test_targets_that_a_pose_proves_reachable_are_reached_and_bones_keep_their_lengths(
    seed, limited, free_root
):
    goal = random_pose(seed)
    limits = {bone: BallLimit.cone(math.pi) for bone in range(8)} if limited else None
    if free_root:
        goal += np.array([3.0, -2.0, 7.0])
    targets = {LEFT: goal[LEFT], RIGHT: goal[RIGHT]}
    result = solve_tree(POSE, PARENTS, targets, limits=limits, free_root=free_root, tolerance=1e-5)
    assert result.success
    for joint, target in targets.items():
        assert np.linalg.norm(result.positions[joint] - target) <= 1e-5
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)
    if not free_root:
        np.testing.assert_array_equal(result.positions[0], 0.0)
    misses = [np.linalg.norm(result.positions[j] - t) for j, t in targets.items()]
    assert result.residual == pytest.approx(max(misses), abs=1e-12)


@given(SEEDS)
def test_trees_of_any_form_and_bones_of_any_length_are_solved(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 12))
    parents = [-1] + [int(rng.integers(0, joint)) for joint in range(1, m + 1)]
    long = np.exp(rng.normal(size=m))
    poses = []
    for _ in range(2):
        p = np.zeros((m + 1, 3))
        for joint in range(1, m + 1):
            v = rng.normal(size=3)
            p[joint] = p[parents[joint]] + long[joint - 1] * v / np.linalg.norm(v)
        poses.append(p)
    leaves = [joint for joint in range(1, m + 1) if joint not in parents]
    targets = {joint: poses[1][joint] for joint in leaves}
    result = solve_tree(poses[0], parents, targets, tolerance=1e-6, max_iterations=5000)
    assert result.success
    np.testing.assert_allclose(lengths(result.positions, parents), long, rtol=1e-12)


def test_an_inner_joint_may_be_an_end_effector():
    targets = {2: (0.5, 0.5, 1.5), LEFT: (2.0, 1.0, 1.0)}
    for limits in (None, {0: BallLimit.cone(2.0)}):
        result = solve_tree(POSE, PARENTS, targets, limits=limits)
        assert result.success
        np.testing.assert_allclose(result.positions[2], targets[2], atol=1e-6)
        np.testing.assert_allclose(result.positions[LEFT], targets[LEFT], atol=1e-6)


def test_what_nothing_is_asked_of_comes_along():
    result = solve_tree(POSE, PARENTS, {LEFT: (2, 1, 3), RIGHT: (-1, 2, 2)})
    assert result.success
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)
    moved = np.linalg.norm(result.positions - POSE, axis=1)
    assert moved[TAIL] <= moved[1] + 1e-9


def test_what_fits_already_is_left_alone():
    targets = {LEFT: POSE[LEFT], RIGHT: POSE[RIGHT]}
    result = solve_tree(POSE, PARENTS, targets)
    assert (result.success, result.iterations) == (True, 0)
    np.testing.assert_array_equal(result.positions, POSE)


@pytest.mark.parametrize("limits", [None, {0: BallLimit.cone(3.0)}])
def test_targets_too_far_from_the_root_or_from_each_other(limits):
    far = solve_tree(POSE, PARENTS, {LEFT: (0, 0, 9), RIGHT: (-1, 0, 2)}, limits=limits)
    assert far.verdict is Verdict.TOO_FAR
    assert far.residual >= 4.0 - 1e-9
    apart = solve_tree(POSE, PARENTS, {LEFT: (4.5, 0, 0), RIGHT: (-4.5, 0, 0)}, limits=limits)
    assert apart.verdict is Verdict.TOO_FAR
    assert apart.residual == pytest.approx(1.5, abs=0.2)  # half of what 9 m exceed the arms' 6 m
    np.testing.assert_allclose(lengths(apart.positions), 1.0, rtol=1e-12)


def test_targets_too_near_to_each_other():
    parents = (-1, 0, 1, 1)
    pose = np.array([[0, 0, 0], [0, 0, 1], [3, 0, 1], [-1, 0, 1]], float)
    result = solve_tree(pose, parents, {2: (1, 0, 1), 3: (0.5, 0, 1)})
    assert result.verdict is Verdict.TOO_NEAR  # 3 m and 1 m cannot end half a metre apart
    assert result.residual >= 0.75 - 1e-9


def test_targets_that_only_together_are_out_of_reach():
    """Each pair fits, and still the trunk cannot be where both arms need it."""
    result = solve_tree(POSE, PARENTS, {LEFT: (3.0, 0, 4.0), RIGHT: (-3.0, 0, 4.0)})
    assert result.verdict is Verdict.BUDGET_SPENT
    assert result.residual > 1e-2
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)


def test_a_loop_is_closed_and_kept_closed():
    result = solve_tree(POSE, PARENTS, {LEFT: (0.5, 1.0, 3.0)}, loops=[(LEFT, RIGHT)])
    assert result.success
    np.testing.assert_allclose(result.positions[RIGHT], result.positions[LEFT], atol=1e-6)
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)
    free = solve_tree(POSE, PARENTS, {}, loops=[(LEFT, RIGHT)])
    assert free.success


def test_a_ring_is_pulled_by_one_joint():
    angles = np.linspace(0.0, 2.0 * math.pi, 9)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(9)])
    parents = range(-1, 8)
    result = solve_tree(ring, parents, {4: (-0.2, 0.3, 0.4)}, loops=[(0, 8)])
    assert result.success
    np.testing.assert_allclose(result.positions[8], ring[0], atol=1e-6)
    torn = solve_tree(ring, parents, {4: (-3.0, 0.0, 0.0)}, loops=[(0, 8)])
    assert not torn.success
    assert torn.residual > 0.5


def test_a_loop_within_limits():
    limits = {bone: BallLimit.cone(1.2, (-0.5, 0.5)) for bone in range(8)}
    result = solve_tree(
        POSE, PARENTS, {LEFT: (0.5, 1.0, 3.0)}, loops=[(LEFT, RIGHT)], limits=limits
    )
    assert result.success


def test_several_orientations_at_once():
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    orientations = {LEFT - 1: quarter, RIGHT - 1: quarter.T}
    targets = {LEFT: (1.5, 0.5, 2.0), RIGHT: (-1.5, 0.5, 2.0)}
    result = solve_tree(POSE, PARENTS, targets, orientations=orientations)
    assert result.success
    for bone, rotation in orientations.items():
        np.testing.assert_allclose(result.rotations[bone], rotation, atol=1e-5)
    only = solve_tree(POSE, PARENTS, {}, orientations=orientations)
    assert only.success
    impossible = solve_tree(
        POSE, PARENTS, {LEFT: (5.0, 0.0, 0.0)}, orientations={LEFT - 1: quarter}
    )
    assert impossible.verdict is Verdict.ORIENTATION_NOT_FOUND


def test_long_limbs_cost_no_more_sweeps():
    counts = []
    for n in (3, 300):
        points, parents, ends = [np.zeros(3)], [-1], []
        for way in ([0, 0, 1], [1, 0, 0], [-1, 0, 0]):
            last = 0 if not ends else n
            for _ in range(n):
                points.append(points[last] + np.array(way, float))
                parents.append(last)
                last = len(points) - 1
            ends.append(last)
        targets = {ends[1]: (0.9 * n, 0.5 * n, 0), ends[2]: (-0.4 * n, 0, n)}
        result = solve_tree(np.array(points), parents, targets, tolerance=1e-6 * n)
        assert result.success
        counts.append(result.iterations)
    assert counts[0] == counts[1]


def test_a_chain_is_a_tree():
    chain = POSE[:6]
    as_tree = solve_tree(chain, PARENTS[:6], {5: (2, 1, 1)}, tolerance=1e-9)
    as_chain = solve_chain(chain, (2, 1, 1), tolerance=1e-9)
    np.testing.assert_allclose(as_tree.positions, as_chain.positions, atol=1e-9)


def test_a_free_chain_is_dragged():
    result = solve_chain(POSE[:6], (50.0, 0.0, 2.0), free_root=True)
    assert result.success
    assert result.positions[0, 0] > 40.0
    near = solve_chain(POSE[:6], (3.2, 0.0, 2.0), free_root=True)
    np.testing.assert_array_equal(near.positions[0], 0.0)  # it was in reach: the root had no need


@pytest.mark.parametrize("limits", [None, {0: BallLimit.cone(1.0)}])
def test_a_free_root_may_be_an_end_effector(limits):
    result = solve_tree(POSE, PARENTS, {0: (1, 2, 3)}, free_root=True, limits=limits)
    assert result.success
    np.testing.assert_allclose(result.positions[0], (1, 2, 3), atol=1e-6)
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)


def test_bones_without_length():
    pose = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 1], [-1, 0, 1]], float)
    parents = (-1, 0, 1, 2, 3, 3)
    for limits in (None, {1: BallLimit.cone(3.0)}):
        result = solve_tree(pose, parents, {4: (0.5, 0.5, 1.2), 5: (-0.5, 0.2, 1.0)}, limits=limits)
        assert result.success
        np.testing.assert_allclose(lengths(result.positions, parents), [0, 1, 0, 1, 1], atol=1e-12)


def test_a_record_tells_the_way():
    targets = {LEFT: (2, 1, 3), RIGHT: (-1, 2, 2.5)}
    for limits in (None, {0: BallLimit.cone(0.5)}):
        result = solve_tree(POSE, PARENTS, targets, limits=limits, record=True)
        assert 1 < len(result.record) <= result.iterations + 1
        assert result.record[-1] == result.residual


SOME = {LEFT: (1.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("parents", "targets", "keywords", "text"),
    [
        ((-1, 0), SOME, {}, "11 joints need as many parents, got 2"),
        ((0, *PARENTS[1:]), SOME, {}, "its parent must be -1, got 0"),
        ((-1, 1, *PARENTS[2:]), SOME, {}, "parent of joint 1 must be an earlier joint, got 1"),
        ((-1, 0.0, *PARENTS[2:]), SOME, {}, "parent of joint 1 must be an earlier joint"),
        (PARENTS, {11: (1, 1, 1)}, {}, "targets must be between 0 and 10, got 11"),
        (PARENTS, {-1: (1, 1, 1)}, {}, "targets must be between 0 and 10, got -1"),
        (PARENTS, {"tip": (1, 1, 1)}, {}, "targets are keyed by whole numbers"),
        (PARENTS, {0: (1, 1, 1)}, {}, "the root is fixed"),
        (PARENTS, {}, {}, "nothing is asked"),
        (PARENTS, SOME, {"orientations": {10: np.eye(3)}}, "orientations must be between 0 and 9"),
        (PARENTS, SOME, {"loops": [(5, 11)]}, "loops must be between 0 and 10, got 11"),
        (PARENTS, SOME, {"loops": [(5, 8, 9)]}, "a loop is a pair of joints"),
        (PARENTS, SOME, {"loops": [(5, 5)]}, "a loop needs two joints, got 5 twice"),
    ],
)
def test_trees_that_do_not_fit_together_are_refused(parents, targets, keywords, text):
    with pytest.raises(TreeError, match=text):
        solve_tree(POSE, parents, targets, **keywords)


@pytest.mark.parametrize(
    ("pose", "targets", "keywords", "error"),
    [
        (POSE * math.nan, SOME, {}, NotFiniteError),
        (POSE * 1e90, SOME, {}, OutOfRangeError),
        (POSE[:, :2], SOME, {}, ShapeError),
        (POSE, {LEFT: (1, 1)}, {}, ShapeError),
        (POSE, {LEFT: (1, 1, math.inf)}, {}, NotFiniteError),
        (POSE, SOME, {"tolerance": -1}, ToleranceError),
        (POSE, SOME, {"turn_tolerance": math.nan}, ToleranceError),
    ],
)
def test_bad_numbers_are_refused(pose, targets, keywords, error):
    with pytest.raises(error):
        solve_tree(pose, PARENTS, targets, **keywords)


def test_a_root_alone_is_refused():
    with pytest.raises(NoBonesError):
        solve_tree([[0, 0, 0]], [-1], {0: (0, 0, 0)}, free_root=True)


def test_a_rest_pose_of_wrong_shape_is_refused_by_its_own_name():
    with pytest.raises(ShapeError, match="rest must be"):
        solve_tree(POSE, PARENTS, {LEFT: POSE[LEFT]}, rest=POSE[:, :2])

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps and descents of trees with limits, and sweeps of whole limbs."""

import math

import numpy as np
import pytest
from from_python import from_python
from hypothesis import example, given
from hypothesis import strategies as st

from basis_ik.fabrik import fabrik_descent_kernel as fabrik_descent
from basis_ik.fabrik.fabrik_descent_kernel import descend_tree
from basis_ik.fabrik.fabrik_tree_kernel import reach_backward, reach_forward, sweep_tree
from basis_ik.fabrik.freedom_kernel import freedoms, held, scatter, turn_joints
from basis_ik.fabrik.limbs_kernel import LimbArrays, sweep_limbs
from basis_ik.fabrik.skeleton_kernel import (
    Goals,
    Skeleton,
    errors,
    fit_rotations,
    load,
    place_bones,
)
from basis_ik.fabrik.swing_twist_kernel import (
    BALL_JOINT,
    FREE_JOINT,
    HINGE_JOINT,
    clamp_joint,
    conjugate,
    multiply,
    rotate,
)

_fill_residual = from_python(fabrik_descent._fill_residual)
_step = from_python(fabrik_descent._step)
_jacobian = from_python(fabrik_descent._jacobian)

(
    turn_joints,
    freedoms,
    clamp_joint,
    conjugate,
    multiply,
    rotate,
    load,
    reach_backward,
    reach_forward,
) = map(
    from_python,
    (
        turn_joints,
        freedoms,
        clamp_joint,
        conjugate,
        multiply,
        rotate,
        load,
        reach_backward,
        reach_forward,
    ),
)

SEEDS = st.integers(0, 10**6)
NOTHING = np.empty(0)
# A trunk of two bones, an arm of three and an arm of two.
STARTS = np.array([0, 1, 2, 3, 4, 2, 6])
TIPS = (5, 7)


def skeleton(seed, kinds, free_root=False):
    """The tree above with random bones, frames, axes and bounds."""
    rng = np.random.default_rng(seed)
    m = len(STARTS)
    children, siblings = np.full(m, -1), np.full(m, -1)
    for bone, start in enumerate(STARTS):
        if start:
            siblings[bone], children[start - 1] = children[start - 1], bone
    axes, frames = rng.normal(size=(m, 3)), rng.normal(size=(m, 4))
    bounds = rng.uniform(0.2, 1.5, (m, 6))
    bounds[:, 4] *= -1.0
    return Skeleton(
        STARTS,
        children,
        siblings,
        rng.uniform(0.5, 1.5, (m, 1)) * unit_rows(rng.normal(size=(m, 3))),
        np.array(kinds),
        bounds,
        unit_rows(axes),
        unit_rows(frames),
        np.array([int(free_root)]),
    )


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


MIXED = [BALL_JOINT, HINGE_JOINT, BALL_JOINT, BALL_JOINT, HINGE_JOINT, FREE_JOINT, BALL_JOINT]
FREES = [FREE_JOINT] * 7


def goals(points, turned=(), turns=(), loops=()):
    return Goals(
        np.array(TIPS),
        np.array(points, float),
        np.array(turned, np.int64),
        np.array(turns, float).reshape(-1, 4),
        np.array(loops, np.int64).reshape(-1, 2),
        np.ones(len(STARTS), np.int64),
    )


def pose(s, seed):
    """Rotations within limits and the positions that go with them."""
    q, p = np.empty((len(STARTS), 4)), np.zeros((len(STARTS) + 1, 3))
    scatter(s, np.random.default_rng(seed).random(3 * len(STARTS)), q)
    place_bones(s, q, p)
    return q, p


def joint_is_allowed(s, q, bone):
    turn = multiply(conjugate(load(q, STARTS[bone] - 1)), load(q, bone))
    allowed = clamp_joint(turn, s.kinds[bone], s.bounds[bone], s.axes[bone], load(s.frames, bone))
    return abs(abs(np.dot(turn, allowed)) - 1.0) < 1e-12


def lengths(s, p):
    return np.linalg.norm(p[1:] - p[s.starts], axis=1)


def scratch():
    return np.empty((len(STARTS) + 1, 3)), np.empty(len(STARTS) + 1, np.int64)


@given(SEEDS)
def test_limits_hold_after_the_backward_pass_and_after_the_forward_pass(seed):
    s = skeleton(seed, MIXED)
    q, p = pose(s, seed)
    g = goals(np.random.default_rng(seed).normal(size=(2, 3)))
    reach_backward(s, g, q, p, *scratch())
    # The sub-base's two children cannot both have their way with the trunk; the last one asked has.
    only_child = [bone for bone in range(1, 7) if bone not in (2, 5)]
    assert all(joint_is_allowed(s, q, bone) for bone in only_child)
    assert joint_is_allowed(s, q, 2)
    reach_forward(s, g, q, p)
    assert all(joint_is_allowed(s, q, bone) for bone in range(7))
    np.testing.assert_allclose(lengths(s, p), np.linalg.norm(s.bones, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(p[0], 0.0)


@given(SEEDS)
def test_a_sub_base_goes_to_the_centroid_of_what_its_branches_propose(seed):
    s = skeleton(seed, FREES)
    q, p = pose(s, seed)
    before = p.copy()
    targets = np.random.default_rng(seed).normal(size=(2, 3))
    reach_backward(s, goals(targets), q, p, *scratch())
    long = np.linalg.norm(s.bones, axis=1)

    def towards(anchor, joint, bone):
        line = joint - anchor
        return anchor + long[bone] * line / np.linalg.norm(line)

    four = towards(targets[0], before[4], 4)
    three = towards(four, before[3], 3)
    six = towards(targets[1], before[6], 6)
    centroid = 0.5 * (towards(three, before[2], 2) + towards(six, before[2], 5))
    np.testing.assert_allclose(p[2], centroid, atol=1e-12)
    np.testing.assert_array_equal(p[0], before[0])


def test_the_ends_of_a_loop_go_to_the_point_between_them():
    s = skeleton(1, FREES)
    q, p = pose(s, 1)
    g = goals(np.zeros((2, 3)), loops=[TIPS])._replace(joints=np.empty(0, np.int64))
    middle = 0.5 * (p[5] + p[7])
    reach_backward(s, g, q, p, *scratch())
    np.testing.assert_allclose(p[[5, 7]], [middle, middle], atol=1e-14)


def test_a_free_root_follows():
    s = skeleton(2, FREES, free_root=True)
    q, p = pose(s, 2)
    target = np.array([[9.0, 0.0, 0.0], [9.0, 1.0, 0.0]])
    reach_backward(s, goals(target), q, p, *scratch())
    assert p[0, 0] > 1.0


@given(SEEDS)
def test_follow_finds_rotations_that_explain_the_positions(seed):
    s = skeleton(seed, FREES)
    _, p = pose(s, seed)
    q = np.empty((7, 4))
    fit_rotations(s, p, q)
    for bone in range(7):
        np.testing.assert_allclose(
            rotate(load(q, bone), *s.bones[bone]), p[bone + 1] - p[STARTS[bone]], atol=1e-12
        )


@given(SEEDS, st.booleans())
def test_the_jacobian_is_the_derivative_of_what_is_missing(seed, free_root):
    s = skeleton(seed, MIXED, free_root)
    q, p = pose(s, seed)
    goal = unit_rows(np.random.default_rng(seed).normal(size=(1, 4)))
    g = goals(np.zeros((2, 3)), [3], goal, [(4, 6)])
    table, jac = np.empty((21, 6)), np.empty((12, 24))
    freedoms(s, q, table)
    table[:, 5] = np.where(table[:, 5] == 2.0, 2.0, 0.0)
    _jacobian(s, g, table, p, 0.7, jac)
    other, moved = np.empty_like(q), p.copy()
    # The rotation's row is exact at the goal only: measure there.
    g = g._replace(turns=q[3:4].copy())
    above, below = np.empty(12), np.empty(12)
    for c in range(24):
        column = []
        for out, h in ((above, 1e-6), (below, -1e-6)):
            step = np.zeros(24)
            step[c] = h
            turn_joints(s, q, table, step, other)
            moved[0] = p[0] + step[21:] * free_root
            place_bones(s, other, moved)
            _fill_residual(g, other, moved, 0.7, out)
            column.append(out.copy())
        if c < 21 and (table[c, 5] == 2.0 or touches(s, q, c // 3)):
            continue
        np.testing.assert_allclose((column[1] - column[0]) / 2e-6, jac[:, c], atol=1e-6)


def touches(s, q, bone):
    marks = np.empty(len(STARTS), np.int64)
    held(s, q, np.empty((3 * len(STARTS), 6)), marks)
    return marks[bone] == 1


@given(SEEDS)
def test_a_step_runs_against_no_limit(seed):
    s = skeleton(seed, MIXED)
    q, p = pose(s, seed)
    # From far outside every joint is brought onto its bounds.
    table = np.empty((21, 6))
    freedoms(s, q, table)
    pushed = np.empty_like(q)
    turn_joints(s, q, table, np.full(24, 9.0), pushed)
    place_bones(s, pushed, p)
    assert all(joint_is_allowed(s, pushed, bone) for bone in range(7))
    freedoms(s, pushed, table)
    assert np.count_nonzero(np.abs(table[:, 5]) == 1.0) >= 4
    jac, miss, step = np.empty((6, 24)), np.empty(6), np.empty(24)
    g = goals(3.0 * np.random.default_rng(seed).normal(size=(2, 3)))
    _fill_residual(g, pushed, p, 1.0, miss)
    _jacobian(s, g, table, p, 1.0, jac)
    _step(jac, table, miss, 1e-3, step)
    assert np.all(step[:21] * table[:, 5] <= 0.0)
    assert np.abs(step).max() <= 0.6 + 1e-12


@given(SEEDS)
def test_sweeps_and_descents_stay_within_limits_and_never_end_worse_than_they_began(seed):
    s = skeleton(seed, MIXED)
    q, p = pose(s, seed)
    _, reachable = pose(s, seed + 1)
    g = goals(reachable[list(TIPS)])
    error = errors(g, q, p)[0]
    for move in (sweep_tree, descend_tree):
        record = np.full(40, np.nan)
        used = move(s, g, q, p, (1e-9, 1e-9, 1.0), 30, record)
        assert used <= 30
        assert np.isfinite(record[:used]).all()
        assert np.isnan(record[used:]).all()
        # Sweeps go by the largest miss, descents by the sum of squares of the two.
        assert errors(g, q, p)[0] <= math.sqrt(2.0) * error + 1e-12
        assert all(joint_is_allowed(s, q, bone) for bone in range(7))
        np.testing.assert_allclose(lengths(s, p), np.linalg.norm(s.bones, axis=1), rtol=1e-13)
        error = errors(g, q, p)[0]


def test_a_descent_ends_when_nothing_more_is_won():
    s = skeleton(3, MIXED)
    q, p = pose(s, 3)
    g = goals(np.array([[50.0, 0.0, 0.0], [50.0, 1.0, 0.0]]))
    assert descend_tree(s, g, q, p, (1e-9, 1e-9, 1.0), 10**6, NOTHING) < 3000


@given(SEEDS)
def test_scattered_poses_obey_the_limits(seed):
    s = skeleton(seed, MIXED)
    q, _ = pose(s, seed + 7)
    assert all(joint_is_allowed(s, q, bone) for bone in range(7))


# --- limbs


def limb_problem(seed):
    rng = np.random.default_rng(seed)
    parents = np.array([0, 0, 1, 1])
    bounds = np.array([[0.0, 0.0], [0.0, 2.0], [0.5, 3.0], [0.0, 2.0]])
    places = rng.normal(size=(4, 3))
    return parents, bounds, places, rng


@given(SEEDS)
@example(165992)  # the residual falls by a twentieth in each of the first twenty sweeps
@example(20181)  # and by less than a twentieth in ten
def test_limbs_end_within_their_bounds_and_at_reachable_targets(seed):
    parents, bounds, places, rng = limb_problem(seed)
    base = 1.5 * unit_rows(rng.normal(size=(1, 3)))[0] * rng.random()
    goal = np.zeros((4, 3))
    goal[2] = places[0] + base + rng.uniform(0.5, 2.9) * unit_rows(rng.normal(size=(1, 3)))[0]
    goal[3] = places[0] + base + rng.uniform(0.0, 1.9) * unit_rows(rng.normal(size=(1, 3)))[0]
    asked, root = np.array([0, 0, 1, 1]), places[0].copy()
    residual, _ = sweep_limbs(
        LimbArrays(parents, bounds, goal, asked, 0), 1e-6, 5000, places, NOTHING
    )
    np.testing.assert_array_equal(places[0], root)
    apart = np.linalg.norm(places[1:] - places[parents[1:]], axis=1)
    assert np.all(apart >= bounds[1:, 0] - 1e-12)
    assert np.all(apart <= bounds[1:, 1] + 1e-12)
    assert residual <= 1e-6
    exact = np.linalg.norm((places - goal)[2:], axis=1).max()
    assert residual == pytest.approx(exact, rel=1e-6, abs=1e-15)


def test_limbs_that_fit_already_are_left_alone():
    parents, bounds, _, _ = limb_problem(0)
    places = np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 1], [-1, 0, 1.0]])
    before = places.copy()
    goal, asked = places.copy(), np.array([0, 0, 1, 1])
    assert sweep_limbs(LimbArrays(parents, bounds, goal, asked, 0), 1e-9, 9, places, NOTHING) == (
        0.0,
        0,
    )
    np.testing.assert_array_equal(places, before)


def test_limbs_stop_when_nothing_more_is_won_and_keep_the_best():
    parents, bounds, places, _ = limb_problem(1)
    places[0] = 0.0
    goal, asked = np.zeros((4, 3)), np.array([0, 0, 1, 1])
    goal[2], goal[3] = [9.0, 0.0, 0.0], [-9.0, 0.0, 0.0]
    record = np.full(10**4, np.nan)
    residual, used = sweep_limbs(
        LimbArrays(parents, bounds, goal, asked, 0), 1e-9, 10**4, places, record
    )
    assert used < 2000
    assert residual <= np.nanmin(record)
    assert residual == pytest.approx(6.5, abs=0.05)  # half of what 18 m exceed the 5 m between

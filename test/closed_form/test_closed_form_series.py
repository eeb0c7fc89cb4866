# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms whose neighbouring axes intersect only in pairs: all branches, proofs, solutions."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import closed_arms
import numpy as np
import pytest
from closed_arms import MEETING, OFFSET_WRISTS, apart, chain_of
from from_python import IS_PLAIN, sample

from basis_ik import warm_up
from basis_ik.closed_form.closed_form import _pack
from basis_ik.closed_form.closed_form_axes import Free, arm_of, meeting_candidates
from basis_ik.closed_form.closed_form_kernel import FORM_KIND, KIND_NAME
from basis_ik.closed_form.closed_form_loop_kernel import MEET_5_6 as MEETING_KIND
from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.pose_search_kernel import solve_pose
from basis_ik.numerics import jit
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import pose_problem
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

ALL = (*OFFSET_WRISTS, *MEETING)
CLEAR = 1e-5  # a margin that ten times the tolerances do not reach


@pytest.fixture(scope="module")
def named():
    """Return a function from names to chains, each built once."""
    made = {}

    def get(name):
        if name not in made:
            drawn = name in MEETING and closed_arms.random_arm(name, np.random.default_rng(0), 2.5)
            made[name] = chain_of(*(drawn or OFFSET_WRISTS[name]))
        return made[name]

    return get


def branches_of(chain, target, seed):
    """Return all joint positions (k, 6) of a pose, without regard to limits, and the margin."""
    ready = prepared(chain)
    free = ready.variables.copy()
    free[:, 0], free[:, 1] = -np.inf, np.inf
    found = ready.closed.starts(free, np.array(target), np.array(seed))
    return found.positions, found.margin


@pytest.mark.parametrize("name", ALL)
def test_all_branches_reach_the_pose_and_include_its_positions(named, name):
    chain, rng, clear = named(name), np.random.default_rng(1), 0
    assert prepared(chain).closed.rows[FORM_KIND, KIND_NAME] == MEETING_KIND
    count = sample(200)
    for _ in range(count):
        q, seed = rng.uniform(-pi, pi, (2, 6))
        target = closed_arms.place(chain, q)
        branches, margin = branches_of(chain, target, seed)
        assert (np.diff(np.linalg.norm(branches - seed, axis=1)) >= 0.0).all()
        assert (np.abs(branches - seed) <= pi + 1e-12).all()
        for branch in branches:
            assert np.abs(closed_arms.place(chain, branch) - target).max() < 1e-7
        if margin > CLEAR:
            clear += 1
            assert apart(branches, q).min() < 1e-6
            for k in range(len(branches)):
                assert (apart(branches[:k], branches[k]) > 1e-6).all()
    assert clear > 0.75 * count


@pytest.mark.parametrize("name", ALL)
def test_brute_force_finds_no_other_solutions_and_none_is_found_twice(named, name, monkeypatch):
    chain, rng = named(name), np.random.default_rng(2)
    for _ in range(sample(15)):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 6))
        target = chain.forward(q)
        found = [s.positions for s in solve_all(chain, target, seed)]
        for each in found:
            assert np.abs(closed_arms.place(chain, each) - target.matrix).max() < 3e-6
            assert (each >= chain.lower).all()
            assert (each <= chain.upper).all()
        assert all(apart(a, b) > 1e-3 for i, a in enumerate(found) for b in found[:i])
        with monkeypatch.context() as patch:
            blind = replace(prepared(chain), closed=None)
            patch.setattr(pose_problem, "prepared", lambda _, blind=blind: blind)
            brute = solve_all(chain, target, seed, starts=sample(300))
        for each in (q, *(s.positions for s in brute)):
            assert apart(found, each).min() < 0.05


@pytest.mark.parametrize("name", ALL)
def test_hard_poses_are_reached_and_never_proven_to_be_out_of_reach(named, name):
    chain, rng = named(name), np.random.default_rng(3)
    for _ in range(sample(200)):
        q = rng.uniform(chain.lower, chain.upper)
        ends = np.where(rng.random(6) < 0.5, chain.lower, chain.upper)
        quarters = np.clip(rng.integers(-2, 3, 6) * pi / 2, chain.lower, chain.upper)
        which = rng.integers(0, 4, 6)
        q = np.where(which == 0, ends, np.where(which == 1, quarters, q))
        solution = solve(chain, chain.forward(q), rng.uniform(chain.lower, chain.upper))
        assert solution.success or not solution.reason.proven, (q, solution)
        assert solution.success, (q, solution)


@pytest.mark.parametrize("name", OFFSET_WRISTS)
def test_many_starts_do_not_disprove_a_proof(named, name):
    chain, rng = named(name), np.random.default_rng(4)
    blind, seen = replace(prepared(chain), closed=None), 0
    q, work = np.empty(6), prepared(chain).new_work()
    for _ in range(60):
        shift = RigidTransform.from_rpy(*rng.uniform(-2, 2, 3), rng.uniform(-0.3, 0.3, 3))
        target = chain.forward(rng.uniform(chain.lower, chain.upper)) @ shift
        reason = solve(chain, target).reason
        if reason.proven and reason.verdict is not Verdict.TOO_FAR:
            seen += 1
            goal = blind.weights, target.matrix.copy(), 1e-6, 1e-6
            effort, starts = (10**7, 1, False), (0, sample(1000), 0.4)
            status = solve_pose(blind.fields, goal, blind.middle, q, work, effort, starts)[0]
            assert status != ARRIVED
    assert seen > 1


@pytest.mark.parametrize("name", ALL)
def test_errors_of_branches_stay_within_their_bounds(named, name):
    """Within the margin the number of branches does not change either."""
    chain, rng, seen = named(name), np.random.default_rng(16), 0
    size, count = prepared(chain).size, sample(100)
    for _ in range(count):
        q, seed = rng.uniform(-pi, pi, (2, 6))
        target = chain.forward(q)
        branches, margin = branches_of(chain, target.matrix, seed)
        step = 0.3 * margin / np.sqrt(3.0)
        if step < 1e-7:
            continue
        for _ in range(3):
            shift, turn = step * rng.uniform(-1, 1, (2, 3))
            moved = target @ RigidTransform.from_rpy(*turn, size * shift)
            others, known = branches_of(chain, moved.matrix, seed)
            if known > 0.0:  # else there may be more
                seen += 1
                assert len(others) == len(branches)
                assert all(apart(others, each).min() < 0.5 for each in branches)
    assert seen > 2 * count


@pytest.mark.parametrize("name", ALL)
def test_a_margin_above_zero_means_all_branches_are_found(named, name):
    """For any choice of the pair of axes, also if the product is 0, infinite or only rounding."""
    chain, rng, clear = named(name), np.random.default_rng(17), 0
    ready = prepared(chain)
    free = ready.variables.copy()
    free[:, 0], free[:, 1] = -np.inf, np.inf
    given = arm_of(ready.exact, free, Free.NOTHING)
    for backward in (False, True):
        arm = given.from_tip() if backward else given
        for candidate in meeting_candidates(arm):
            if not np.allclose(candidate.points, _on_lines(candidate, arm), atol=1e-9):
                continue  # these axes do not meet
            rows = _pack(arm, candidate, given, backward, (0.0, 0.0, ready.size))
            form = ready.closed._replace(rows=rows)
            for q in rng.uniform(-pi, pi, (sample(60), 6)):
                found = form.starts(free, closed_arms.place(chain, q), q)
                if found.margin > CLEAR:
                    clear += 1
                    assert apart(found.positions, q).min() < 1e-4
    assert clear > sample(60) // 2


def _on_lines(candidate, arm):
    """Return the points of a candidate, moved to the nearest ones on the axes of an arm."""
    along = ((candidate.points - arm.points) * arm.axes).sum(axis=1, keepdims=True)
    return arm.points + along * arm.axes


def test_every_pose_is_reached_and_the_nearest_solution_comes_first(named):
    chain, rng = named("xarm6"), np.random.default_rng(7)
    for _ in range(sample(100)):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 6))
        target = chain.forward(q)
        solution, every = solve(chain, target, seed), solve_all(chain, target, seed)
        assert solution.success
        away = [np.linalg.norm(each.positions - seed) for each in (solution, *every)]
        assert away[1] <= min(away) + 1e-3


def test_close_zeros_of_two_elbows_are_two_branches(named):
    chain = named("xarm6")
    q = [-0.0529, -1.2806, -2.06361, -5.32013, 1.88567, 6.21714]
    other = [-0.3005, -2.0832, -0.6997, 1.1275, 1.6175, -0.5645]
    branches, margin = branches_of(chain, chain.forward(q).matrix, q)
    assert margin > CLEAR
    assert apart(branches, q).min() < 1e-6
    assert apart(branches, other).min() < 1e-3


def test_a_batch_equals_single_solves(named):
    chain, rng = named("fanuc_crx10ia"), np.random.default_rng(8)
    truths, seeds = rng.uniform(chain.lower, chain.upper, (2, sample(60), 6))
    targets = [chain.forward(q) for q in truths]
    batch = solve_batch(chain, targets, seeds)
    assert batch.reached.all()
    for i, (target, seed) in enumerate(zip(targets, seeds, strict=True)):
        single = solve(chain, target, seed)
        assert np.array_equal(single.positions, batch.positions[i])
        assert (single.iterations, single.restarts) == (batch.iterations[i], batch.restarts[i])


def test_an_arm_without_a_spherical_wrist_has_more_than_eight_branches(named):
    chain, rng, most = named("fanuc_crx10ia"), np.random.default_rng(1), 0
    for q in rng.uniform(-pi, pi, (sample(300), 6)):
        branches, margin = branches_of(chain, closed_arms.place(chain, q), q)
        if margin > CLEAR:
            most = max(most, len(branches))
    assert 8 < most <= 16 or IS_PLAIN


def test_near_a_singularity_further_starts_find_the_branches_that_the_form_leaves_open(named):
    chain = named("fanuc_crx10ia")
    truth = np.array([-3.274415, 2.899934, 4.690693, 3.078412, 3.095464, -2.982625])
    target = closed_arms.place(chain, truth)  # three solutions within 0.003 rad of joint 1
    branches, margin = branches_of(chain, target, truth)
    assert len(branches) < 16
    assert not margin > CLEAR
    found = np.array([s.positions for s in solve_all(chain, RigidTransform.from_matrix(target))])
    assert len(found) == 16
    assert apart(found, truth).min() < 1e-6


def test_a_slightly_different_arm_uses_its_form_and_proofs_allow_for_that():
    rng = np.random.default_rng(9)
    chain = chain_of(*closed_arms.random_arm("meet_5_6", rng, 2.0, 1e-3))
    form = prepared(chain).closed
    assert form.rows[FORM_KIND, KIND_NAME] == MEETING_KIND
    assert 1e-4 < form.misfit < 0.1
    blind = replace(prepared(chain), closed=None)
    for q, seed in rng.uniform(-2.0, 2.0, (sample(60), 2, 6)):
        assert solve(chain, chain.forward(q), seed).success
        outside = chain.forward(rng.uniform(-pi, pi, 6))
        if solve(chain, outside, seed).reason.proven:
            status = blind.search(
                blind.weights, outside.matrix.copy(), blind.middle, np.empty(6), (1e-6, 1e-6),
                10**7, last=sample(300),
            )[0]  # fmt: skip
            assert status != ARRIVED


def test_warm_up_compiles_the_kernels_of_the_series(named):
    chain = chain_of(*OFFSET_WRISTS["xarm6"])
    warm_up.prepare(chain)
    before = [(kernel, len(kernel.overloads)) for kernel in jit._kernels]
    for q in np.random.default_rng(10).uniform(-1.0, 1.0, (20, 6)):
        for aside in (0.0, 0.1):
            solve(chain, chain.forward(q) @ RigidTransform.from_rpy(aside, 0.0, 0.0))
    assert [kernel.py_func.__name__ for kernel, n in before if len(kernel.overloads) != n] == []

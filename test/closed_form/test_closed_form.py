# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed forms: completeness of the branches, proofs, arms with a misfit, arms without a form."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import closed_arms
import numpy as np
import pytest
from closed_arms import apart, chain_of

from basis_ik.closed_form.closed_form import LOOP_KERNELS
from basis_ik.closed_form.closed_form_kernel import FORM_MISFIT, MAX_FORM_BRANCHES, MISFIT_ANGLE
from basis_ik.closed_form.closed_form_search_kernel import UPPER_ROW, take_nearest_branch
from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint, narrow
from basis_ik.search.prepare import prepared
from basis_ik.solvers.look.look_at import with_ray
from basis_ik.solvers.pose import pose_problem
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

REAL = (*closed_arms.ROWS, "ur5", "puma560")
ALL = (*REAL, *closed_arms.BOTH_WAYS)


@pytest.fixture(scope="module")
def named(robot):
    """Return a function from names to chains, each built once."""
    made = {}

    def get(name):
        if name not in made:
            if name in closed_arms.ROWS:
                made[name] = chain_of(*closed_arms.ROWS[name])
            elif name in closed_arms.BOTH_WAYS:
                made[name] = chain_of(*closed_arms.random_arm(name, np.random.default_rng(0), 2.5))
            else:
                made[name] = robot(name)
        return made[name]

    return get


def branches_of(chain, target, seed):
    """Return all joint positions (k, 6) of a pose, without regard to limits, and the margin."""
    ready = prepared(chain)
    free = ready.variables.copy()
    free[:, 0], free[:, 1] = -np.inf, np.inf
    found = ready.closed.starts(free, np.array(target), np.array(seed))
    return found.positions, found.margin


def hard(chain, rng):
    """Return positions, some at limits and some at multiples of a quarter turn."""
    q = rng.uniform(chain.lower, chain.upper)
    ends = np.where(rng.random(6) < 0.5, chain.lower, chain.upper)
    quarters = np.clip(rng.integers(-2, 3, 6) * pi / 2, chain.lower, chain.upper)
    which = rng.integers(0, 4, 6)
    return np.where(which == 0, ends, np.where(which == 1, quarters, q))


@pytest.mark.parametrize("name", ALL)
def test_all_branches_reach_the_pose_and_include_its_positions(named, name):
    chain, rng = named(name), np.random.default_rng(1)
    for _ in range(300):
        q, seed = rng.uniform(-pi, pi, (2, 6))
        target = closed_arms.place(chain, q)
        branches, margin = branches_of(chain, target, seed)
        assert margin > 0.0
        assert (np.diff(np.linalg.norm(branches - seed, axis=1)) >= 0.0).all()
        for branch in branches:
            assert np.abs(closed_arms.place(chain, branch) - target).max() < 1e-11
        assert (np.abs(branches - seed) <= pi + 1e-12).all()
        assert apart(branches, q).min() < 1e-6
        for k in range(len(branches)):
            assert (apart(branches[:k], branches[k]) > 1e-6).all()


@pytest.mark.parametrize("name", ALL)
def test_brute_force_finds_no_other_solutions_and_none_is_found_twice(named, name, monkeypatch):
    chain, rng = named(name), np.random.default_rng(2)
    for _ in range(15):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 6))
        target = chain.forward(q)
        found = [s.positions for s in solve_all(chain, target, seed, starts=1)]
        for each in found:
            assert np.abs(closed_arms.place(chain, each) - target.matrix).max() < 3e-6
            assert (each >= chain.lower).all()
            assert (each <= chain.upper).all()
        assert all(apart(a, b) > 1e-3 for i, a in enumerate(found) for b in found[:i])
        with monkeypatch.context() as patch:
            blind = replace(prepared(chain), closed=None)
            patch.setattr(pose_problem, "prepared", lambda _, blind=blind: blind)
            brute = solve_all(chain, target, seed, starts=200)
        for each in (q, *(s.positions for s in brute)):
            assert apart(found, each).min() < 0.05


@pytest.mark.parametrize("name", ALL)
def test_hard_poses_are_reached_and_never_proven_to_be_out_of_reach(named, name):
    chain, rng = named(name), np.random.default_rng(3)
    for _ in range(300):
        q = hard(chain, rng)
        solution = solve(chain, chain.forward(q), rng.uniform(chain.lower, chain.upper))
        assert solution.success, (q, solution)


@pytest.mark.parametrize("name", REAL)
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
            status = blind.search(
                blind.weights, target.matrix.copy(), blind.middle, q, (1e-6, 1e-6), 10**7,
                last=1000, work=work,
            )[0]  # fmt: skip
            assert status != ARRIVED
    assert seen > 3


def test_without_any_branch_the_orientation_is_unreachable(named):
    chain, rng, seen = named("ur5"), np.random.default_rng(5), 0
    for _ in range(100):
        shift = RigidTransform.from_rpy(*rng.uniform(-2, 2, 3), (0.0, 0.0, 0.0))
        solution = solve(chain, chain.forward(rng.uniform(-pi, pi, 6)) @ shift)
        if not solution.success:
            seen += 1
            assert solution.verdict is Verdict.ORIENTATION_UNREACHABLE
            assert (solution.reason.proven, solution.restarts) == (True, 0)
            assert "given up" not in str(solution.reason)
    assert seen > 5


def test_branches_name_the_limit_that_prevents_a_solution(named):
    chain, rng, seen = named("abb_irb120"), np.random.default_rng(6), 0
    for _ in range(200):
        target = chain.forward(rng.uniform(-pi, pi, 6))
        solution = solve(chain, target)
        if solution.verdict is Verdict.LIMIT and solution.reason.proven:
            seen += 1
            k = chain.joint_names.index(solution.reason.joint)
            assert solution.reason.bound in (chain.lower[k], chain.upper[k])
            branches, _ = branches_of(chain, target.matrix, prepared(chain).middle)
            outside = (branches < chain.lower) | (branches > chain.upper)
            assert outside[:, k].any()
            assert outside.any(axis=1).all()
            at = np.minimum(solution.positions - chain.lower, chain.upper - solution.positions)
            if (outside[outside.sum(axis=1) == 1].any(axis=0) & (at < 1e-5)).any():
                assert (outside.sum(axis=1) == 1)[outside[:, k]].any()  # lifted alone, it would do
    assert seen > 20


@pytest.mark.parametrize("name", ["ur10", "staubli_tx90"])
def test_the_solution_is_the_nearest_one(named, name):
    chain, rng, seen = named(name), np.random.default_rng(7), 0
    for _ in range(100):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 6))
        target = chain.forward(q)
        solution, every = solve(chain, target, seed), solve_all(chain, target, seed)
        ready = prepared(chain)
        margin = ready.closed.starts(ready.variables, target.matrix.copy(), seed).margin
        if margin > ready.closed.proof_margin(1e-6, 1e-6):
            seen += 1
            assert np.abs(solution.positions - every[0].positions).max() < 1e-5
            assert solution.restarts == 0
    assert seen > 75


def test_a_batch_equals_single_solves(named):
    chain, rng = named("kuka_kr6_r900"), np.random.default_rng(8)
    truths, seeds = rng.uniform(chain.lower, chain.upper, (2, 300, 6))
    targets = [chain.forward(q) for q in truths]
    batch = solve_batch(chain, targets, seeds)
    assert batch.reached.all()
    for i, (target, seed) in enumerate(zip(targets, seeds, strict=True)):
        single = solve(chain, target, seed)
        assert np.array_equal(single.positions, batch.positions[i])
        assert (single.iterations, single.restarts) == (batch.iterations[i], batch.restarts[i])


def test_a_time_limit_does_not_disable_the_closed_form(named):
    chain, rng, seen = named("abb_irb120"), np.random.default_rng(15), set()
    for q, seed in rng.uniform(-pi, pi, (60, 2, 6)):
        target = chain.forward(q)
        free, hasty = solve(chain, target, seed), solve(chain, target, seed, time_limit=1e-9)
        if free.success or free.reason.proven:
            assert np.array_equal(free.positions, hasty.positions)
            assert free.reason == hasty.reason
            seen.add(free.verdict)
    assert {Verdict.REACHED, Verdict.LIMIT} <= seen


@pytest.mark.parametrize("kind", closed_arms.BOTH_WAYS)
@pytest.mark.parametrize("noise", [1e-5, 1e-3])
@pytest.mark.parametrize("count", [30, pytest.param(60, marks=pytest.mark.long)])
def test_a_slightly_different_arm_uses_its_form_and_proofs_allow_for_that(kind, noise, count):
    rng = np.random.default_rng(9)
    chain = chain_of(*closed_arms.random_arm(kind, rng, 2.0, noise))
    form = prepared(chain).closed
    assert 0.1 * noise < form.misfit < 100 * noise
    blind, reached, missed, proven = replace(prepared(chain), closed=None), 0, 0, 0
    for q, seed in rng.uniform(-2.0, 2.0, (count, 2, 6)):
        target = chain.forward(q)
        found = [each.positions for each in solve_all(chain, target, seed)]
        missed += apart(found, q).min() >= 0.05
        assert solve(chain, target, seed).success
        outside = chain.forward(rng.uniform(-pi, pi, 6))
        if solve(chain, outside, seed).reason.proven:
            proven += 1
            status = blind.search(
                blind.weights, outside.matrix.copy(), blind.middle, np.empty(6), (1e-6, 1e-6),
                10**7, last=300,
            )[0]  # fmt: skip
            assert status != ARRIVED
        branches, _ = branches_of(chain, target.matrix, seed)
        reached += len(branches) > 0 and apart(branches, q).min() < 0.1
    assert reached > 2 * count // 3
    assert proven > count // 6
    assert missed <= (noise == 1e-3)  # near a singularity a millimetre leads far


def test_an_arm_a_millimetre_off_its_form_is_solved_from_the_branches():
    rows, tip = closed_arms.ROWS["ur10"]
    rng = np.random.default_rng(10)

    def shaken(words):
        return " ".join(str(float(x) + rng.normal(scale=1e-3)) for x in words.split())

    off = [(kind, shaken(xyz), shaken(rpy), *rest) for kind, xyz, rpy, *rest in rows]
    chain = chain_of(off, tip)
    assert 1e-4 < prepared(chain).closed.misfit < 1e-2
    truths, seeds = rng.uniform(-pi, pi, (2, 300, 6))
    restarts = [
        solve(chain, chain.forward(q), seed).restarts for q, seed in zip(truths, seeds, strict=True)
    ]
    assert max(restarts) <= MAX_FORM_BRANCHES
    assert sum(restarts) < 150


def test_a_chain_from_tip_to_base_has_the_form():
    chain = chain_of(*closed_arms.ROWS["abb_irb120"], ("tip", "l0"))
    assert (chain.arrays.multipliers == -1.0).all()
    rng = np.random.default_rng(11)
    for q, seed in rng.uniform(chain.lower, chain.upper, (50, 2, 6)):
        found = solve_all(chain, chain.forward(q), seed, starts=1)
        assert apart([each.positions for each in found], q).min() < 0.05


def test_a_huge_seed_is_refused(named):
    chain = named("ur10")
    with pytest.raises(SolveArgumentError, match="seed"):
        solve(chain, chain.forward(np.full(6, 0.5)), np.full(6, 2e5))


@pytest.mark.parametrize("name", ["panda", "gantry", "lift_arm", "iiwa"])
def test_other_arms_have_no_form(robot, name):
    assert prepared(robot(name)).closed is None


def test_arms_with_arbitrary_or_degenerate_axes_have_no_form():
    rng = np.random.default_rng(12)
    rows, tip = closed_arms.random_arm("meet_1_2", rng, noise=0.2)
    assert prepared(chain_of(rows, tip)).closed is None
    # A wrist whose centre joint 3 does not move: the triangle has no side.
    rows, tip = closed_arms.ROWS["abb_irb120"]
    straight = [*rows]
    straight[3] = closed_arms.turning("0 0 0", "0 0 0", -2.0, 2.0, "1 0 0")
    straight[4] = closed_arms.turning("0 0 0", "0 0 0", -2.0, 2.0, "0 1 0")
    assert prepared(chain_of(straight, tip)).closed is None


def test_parts_of_a_pose_of_six_joints_have_no_form(named):
    ready = prepared(named("ur10"))
    assert narrow(ready, PoseConstraint()).closed is ready.closed
    for part in (
        PoseConstraint(orientation=False), PoseConstraint(position=False),
        PoseConstraint(free_axis=(0, 0, 1)),
        PoseConstraint(box=(0.1, 0, 0)), PoseConstraint(rotation_box=(0, 0.1, 0)),
    ):  # fmt: skip
        assert narrow(ready, part).closed is None
    assert with_ray(ready, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)).closed is None


def test_max_move_selects_among_the_branches(named):
    chain, rng = named("ur10"), np.random.default_rng(13)
    verdicts = set()
    for q, seed in rng.uniform(-pi, pi, (200, 2, 6)):
        solution = solve(chain, chain.forward(q), seed, max_move=2.0)
        verdicts.add(solution.verdict)
        assert (np.abs(solution.positions - seed) <= 2.0 + 1e-12).all()
        within = [
            each
            for each in solve_all(chain, chain.forward(q), seed)
            if (np.abs(each.positions - seed) <= 2.0).all()
        ]
        assert solution.success == bool(within)
    assert {Verdict.REACHED, Verdict.MOVE_BOUND} <= verdicts


def test_a_proof_allows_for_tolerances_and_misfit(named):
    ready = prepared(named("ur10"))
    form = ready.closed._replace(rows=ready.closed.rows.copy())
    form.rows[FORM_MISFIT] = 0.0
    assert form.proof_margin(1e-9, 1e-6) == pytest.approx(1e-5)
    assert form.proof_margin(1e-6 * ready.size, 1e-9) == pytest.approx(1e-5)
    form.rows[FORM_MISFIT, MISFIT_ANGLE] = 3e-6
    assert form.proof_margin(1e-9, 1e-6) == pytest.approx(4e-5)
    form.rows[FORM_MISFIT] = 3e-6 * ready.size, 0.0, 0.0
    assert form.proof_margin(1e-6 * ready.size, 1e-9) == pytest.approx(4e-5)


@pytest.mark.parametrize("name", [*REAL, *closed_arms.KINDS])
def test_errors_of_branches_stay_within_their_bounds(named, name):
    """Within the margin the number of branches does not change either."""
    chain, rng, seen = named(name), np.random.default_rng(16), 0
    size = prepared(chain).size
    for _ in range(100):
        q, seed = rng.uniform(-pi, pi, (2, 6))
        target = chain.forward(q)
        branches, margin = branches_of(chain, target.matrix, seed)
        step = 0.3 * margin / np.sqrt(3.0)
        if step < 1e-7:
            continue
        seen += 1
        for _ in range(5):
            shift, turn = step * rng.uniform(-1, 1, (2, 3))
            moved = target @ RigidTransform.from_rpy(*turn, size * shift)
            others, _ = branches_of(chain, moved.matrix, seed)
            assert len(others) == len(branches)
            assert all(apart(others, each).min() < 0.5 for each in branches)
    assert seen > 50


def test_a_branch_slightly_outside_the_limits_is_no_proof(named):
    chain = named("abb_irb120")
    ready = prepared(chain)
    q = np.array([0.3, 0.2, 0.1, 0.4, 0.7, 0.5])
    margins = []
    for outside in (0.011, 0.1):
        held = ready.variables.copy()
        held[:, :2] = q[:, None] + [-9.0, 9.0]
        held[0, :2] = q[0] + outside, q[0] + 2.0
        found = ready.closed.starts(held, chain.forward(q).matrix.copy(), q)
        margins.append(found.margin)
    _, free = branches_of(chain, chain.forward(q).matrix, q)
    assert margins[0] < margins[1] <= free
    assert margins[0] < 0.011


def test_a_singular_wrist_keeps_joint_4_at_the_seed(named):
    chain = named("abb_irb120")
    target = closed_arms.place(chain, [0.3, 0.2, 0.1, 0.4, 0.0, 0.5])
    seed = np.array([0.1, 0.1, 0.1, -1.1, 0.1, 0.1])
    branches, margin = branches_of(chain, target, seed)
    assert margin < 1e-9
    near = branches[apart(branches[:, :3], [0.3, 0.2, 0.1]) < 1e-6]
    assert len(near)
    assert np.abs(near[:, 3] + 1.1).max() < 1e-6
    assert np.abs(closed_arms.place(chain, near[0]) - target).max() < 1e-7


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("bent", [1e-7, 1e-5, -1e-3])
def test_a_nearly_singular_wrist_has_its_branch(named, name, bent):
    chain, rng = named(name), np.random.default_rng(14)
    for _ in range(20):
        q, seed = rng.uniform(-2.0, 2.0, (2, 6))
        q[4] = bent
        branches, _ = branches_of(chain, closed_arms.place(chain, q), seed)
        assert apart(branches, q).min() < 1e-4 + 1e-9 / abs(bent)


def test_axes_parallel_only_at_zero_make_no_form():
    """Axis 6 is parallel to axis 1 with all joints at 0, but not at other targets."""
    rows, tip = closed_arms.random_arm("meet_2_3_4", np.random.default_rng(0), 2.5)
    last = list(rows[5])
    last[3] = rows[0][3]
    chain, rng = chain_of([*rows[:5], tuple(last)], tip), np.random.default_rng(17)
    for q, seed in rng.uniform(-pi, pi, (20, 2, 6)):
        branches, _ = branches_of(chain, closed_arms.place(chain, q), seed)
        assert apart(branches, q).min() < 1e-6


def test_an_exact_form_of_a_later_family_replaces_an_approximate_one():
    rows, tip = closed_arms.random_arm("parallel_1_2_3", np.random.default_rng(0), 2.5)
    rng = np.random.default_rng(18)
    rows, points = [list(row) for row in rows], np.zeros(3)
    for k in range(3, 6):  # its last three axes pass within millimetres of a point
        rows[k][1] = " ".join(map(repr, (points + 1e-3 * rng.normal(size=3)).tolist()))
    form = prepared(chain_of([tuple(row) for row in rows], tip)).closed
    assert form.misfit < 1e-9
    assert form.kernels is LOOP_KERNELS


EVERY_WAY = [
    lambda pose: pose.matrix,
    lambda pose: np.asfortranarray(pose.matrix),
    lambda pose: pose.matrix.tolist(),
    lambda pose: read_only(pose.matrix.copy()),
    lambda pose: np.repeat(pose.matrix, 2, axis=1)[:, ::2],
    lambda pose: pose.matrix + np.vstack([1e-9 * np.ones((3, 3)), np.zeros(3)]) @ np.eye(3, 4),
]


@pytest.mark.parametrize("name", ["ur10", "puma560", "abb_irb120", "panda"])
def test_all_types_of_target_and_seed_give_the_same_bits(named, robot, name):
    chain = robot(name) if name == "panda" else named(name)
    rng = np.random.default_rng(21)
    for q, seed in rng.uniform(chain.lower, chain.upper, (20, 2, len(chain.joint_names))):
        pose = chain.forward(q)
        expected = solve(chain, pose, seed)
        batch = solve_batch(chain, pose.matrix[None], seed[None])
        assert (batch.positions[0] == expected.positions).all()
        for way in EVERY_WAY:
            found = solve(chain, way(pose), seed)
            same = found.positions == expected.positions
            close = np.abs(found.positions - expected.positions).max() < 1e-6
            assert close if way is EVERY_WAY[-1] else same.all()
        wide = np.repeat(seed, 2)[::2]
        for each in (seed.tolist(), read_only(seed.copy()), wide):
            assert (solve(chain, pose.matrix, each).positions == expected.positions).all()
        assert (seed == wide).all()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("position_tolerance", 0.0),
        ("position_tolerance", -1.0),
        ("position_tolerance", np.nan),
        ("orientation_tolerance", 1e7),
        ("max_iterations", 0),
        ("seed", np.full(6, np.nan)),
        ("seed", np.full(6, 2e5)),
        ("target", np.full((4, 4), np.nan)),
        ("target", np.diag([1.0, 1.0, -1.0, 1.0])),
        ("target", np.eye(4) + np.eye(4, k=-3)),
        ("target", np.eye(4) + 1e7 * np.eye(4, k=3)),
    ],
)
def test_the_fast_path_refuses_bad_arguments_by_name(named, argument, value):
    chain = named("ur10")
    arguments = {"target": chain.forward(np.full(6, 0.5)).matrix, "seed": np.full(6, 0.4)}
    assert solve(chain, **arguments).success
    with pytest.raises(SolveArgumentError, match=argument):
        solve(chain, **arguments | {argument: value})


def test_the_fast_path_checks_the_limits_as_given(named):
    ready, q = prepared(named("ur10")), np.full(6, 0.4)
    target, table = named("ur10").forward(np.full(6, 0.5)).matrix.copy(), ready.exact_form.copy()
    assert take_nearest_branch(table, target, q.copy(), 1e-6, 1e-6)[0] == ARRIVED
    table[UPPER_ROW, 2] = 0.45
    assert take_nearest_branch(table, target, q.copy(), 1e-6, 1e-6)[0] != ARRIVED


def test_an_arm_with_a_misfit_polishes_its_branches():
    off = chain_of(*closed_arms.random_arm("meet_1_2", np.random.default_rng(9), 2.0, 1e-5))
    assert prepared(off).closed is not None
    assert prepared(off).exact_form is None

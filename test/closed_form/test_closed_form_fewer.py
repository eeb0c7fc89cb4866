# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Closed forms for fewer joints, locked or coupled joints, and parts of a pose."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import closed_arms
import numpy as np
import pytest
from closed_arms import FEWER, apart, chain_of

from basis_ik import warm_up
from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.numerics import jit
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint, narrow
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import pose_problem
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

POSITIONAL = ("anthropomorphic_3r", "oblique_3r")
AXIAL = ("youbot", "parallel_5r", "open_manipulator")


@pytest.fixture(scope="module")
def named():
    """Return a function from names to chains, each built once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = chain_of(*FEWER[name])
        return made[name]

    return get


def without_form(chain, constraint):
    """Return the prepared chain without its closed form."""
    blind = replace(prepared(chain), closed=None, closed_position=None)
    if constraint is not None:
        variant = narrow(prepared(chain), constraint)
        blind.narrowed[constraint] = replace(variant, closed=None, closed_position=None)
    return blind


def compared(chain, target, seed, monkeypatch, constraint=None):
    """Return all solutions in closed form, and those of brute force."""
    found = solve_all(chain, target, seed, constraint=constraint, starts=1)
    blind = without_form(chain, constraint)
    with monkeypatch.context() as patch:
        patch.setattr(pose_problem, "prepared", lambda _: blind)
        brute = solve_all(chain, target, seed, constraint=constraint, starts=200)
    return [each.positions for each in found], [each.positions for each in brute]


def check_complete(chain, rng, monkeypatch, count, constraint=None):
    for _ in range(count):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, len(chain.lower)))
        target = chain.forward(q)
        found, brute = compared(chain, target, seed, monkeypatch, constraint)
        for each in found:
            assert (each >= chain.lower).all()
            assert (each <= chain.upper).all()
        assert all(apart(a, b) > 1e-3 for i, a in enumerate(found) for b in found[:i])
        for each in (q, *brute):
            assert apart(found, each).min() < 0.05


@pytest.mark.parametrize("name", FEWER)
def test_brute_force_finds_no_other_solutions_and_none_is_found_twice(named, name, monkeypatch):
    chain = named(name)
    assert prepared(chain).closed is not None
    check_complete(chain, np.random.default_rng(1), monkeypatch, 15)


@pytest.mark.parametrize("name", POSITIONAL)
def test_three_joints_find_all_solutions_of_a_position(named, name, monkeypatch):
    chain, wanted = named(name), PoseConstraint(orientation=False)
    assert narrow(prepared(chain), wanted).closed_position is not None
    check_complete(chain, np.random.default_rng(2), monkeypatch, 15, wanted)


@pytest.mark.parametrize("name", AXIAL)
def test_five_joints_find_all_solutions_of_a_free_axis(named, name, monkeypatch):
    chain, wanted = named(name), PoseConstraint(free_axis=(0.3, 0.2, 1.0))
    assert narrow(prepared(chain), wanted).closed is not None
    check_complete(chain, np.random.default_rng(3), monkeypatch, 15, wanted)


@pytest.mark.parametrize("name", FEWER)
def test_hard_poses_are_reached_and_never_proven_to_be_out_of_reach(named, name):
    chain, rng, n = named(name), np.random.default_rng(4), len(FEWER[name][0])
    for _ in range(200):
        q = rng.uniform(chain.lower, chain.upper)
        ends = np.where(rng.random(n) < 0.5, chain.lower, chain.upper)
        quarters = np.clip(rng.integers(-2, 3, n) * pi / 2, chain.lower, chain.upper)
        which = rng.integers(0, 4, n)
        q = np.where(which == 0, ends, np.where(which == 1, quarters, q))
        solution = solve(chain, chain.forward(q), rng.uniform(chain.lower, chain.upper))
        assert solution.success, (q, solution)


@pytest.mark.parametrize("name", FEWER)
def test_a_pose_off_the_reachable_set_is_proven_unreachable(named, name):
    chain, rng, proven = named(name), np.random.default_rng(5), 0
    blind, work = replace(without_form(chain, None), reach=np.inf), prepared(chain).new_work()
    q = np.empty(len(chain.lower))
    for _ in range(40):
        shift = RigidTransform.from_rpy(*rng.uniform(-0.2, 0.2, 3), rng.uniform(-0.05, 0.05, 3))
        target = chain.forward(rng.uniform(chain.lower, chain.upper)) @ shift
        solution = solve(chain, target)
        assert not solution.success
        if solution.reason.proven:
            proven += 1
            status = blind.search(
                blind.weights, target.matrix.copy(), blind.middle, q, (1e-6, 1e-6), 10**6,
                last=200, work=work,
            )[0]  # fmt: skip
            assert status != ARRIVED
    assert proven > 15


@pytest.mark.parametrize("name", POSITIONAL)
def test_an_unreachable_position_is_proven(named, name):
    chain, rng, verdicts = named(name), np.random.default_rng(6), []
    for shift in rng.uniform(-0.1, 0.1, (60, 3)):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 3))
        place = chain.forward(q).translation + shift
        target = RigidTransform.from_rpy(*rng.uniform(-3, 3, 3), place)
        solution = solve(chain, target, seed, position_only=True)
        assert solution.success or solution.reason.proven
        verdicts.append(solution.success)
        every = solve_all(chain, target, seed, constraint=PoseConstraint(orientation=False))
        assert bool(every) == solution.success
        if every and solution.iterations == 0:
            assert np.abs(every[0].positions - solution.positions).max() < 1e-5
    assert 5 < sum(verdicts) < 55


def test_a_batch_of_positions_equals_single_solves(named):
    chain, rng = named("anthropomorphic_3r"), np.random.default_rng(7)
    truths, seeds = rng.uniform(chain.lower, chain.upper, (2, 50, 3))
    targets = [chain.forward(q) for q in truths]
    batch = solve_batch(chain, targets, seeds, position_only=True)
    assert batch.reached.all()
    for i, (target, seed) in enumerate(zip(targets, seeds, strict=True)):
        single = solve(chain, target, seed, position_only=True)
        assert np.array_equal(single.positions, batch.positions[i])


@pytest.mark.parametrize("locked", [0, 2, 5, 6])
def test_a_locked_joint_of_seven_leaves_six(robot, locked, monkeypatch):
    chain, rng = robot("iiwa"), np.random.default_rng(8)
    lower, upper = chain.lower.copy(), chain.upper.copy()
    lower[locked] = upper[locked] = 0.4
    held = chain.within(lower, upper)
    form = prepared(held).closed
    assert form is not None
    assert form.misfit < 1e-9
    check_complete(held, rng, monkeypatch, 10)


def coupled_arm(multiplier):
    """Return an arm whose fourth joint follows the third."""
    rows, _ = closed_arms.ROWS["abb_irb120"]
    text = "<robot name='arm'><link name='l0'/>"
    for i, (kind, xyz, rpy, axis, lower, upper) in enumerate(rows, 1):
        mimic = f"<mimic joint='j3' multiplier='{multiplier}' offset='0.1'/>" if i == 4 else ""
        text += f"<link name='l{i}'/><joint name='j{i}' type='{kind}'><parent link='l{i - 1}'/>"
        text += f"<child link='l{i}'/><origin xyz='{xyz}' rpy='{rpy}'/><axis xyz='{axis}'/>{mimic}"
        text += f"<limit lower='{lower}' upper='{upper}' velocity='2' effort='9'/></joint>"
    return RobotModel.from_urdf(text + "</robot>").chain()


@pytest.mark.parametrize("multiplier", [-1, 2])
def test_a_coupled_joint_constrains_the_solutions(multiplier, monkeypatch):
    chain = coupled_arm(multiplier)
    assert len(chain.lower) == 5
    assert prepared(chain).closed is not None
    check_complete(chain, np.random.default_rng(9), monkeypatch, 15)


def test_a_fractional_mimic_joint_has_no_form():
    assert prepared(coupled_arm(0.5)).closed is None


def test_two_joints_or_more_than_six_axes_have_no_form(named):
    rows, tip = FEWER["youbot"]
    assert prepared(chain_of(rows[:2], tip)).closed is None
    ready = prepared(named("youbot"))
    assert ready.closed_position is None
    for part in (
        PoseConstraint(box=(0.1, 0, 0)), PoseConstraint(position=False),
        PoseConstraint(free_axis=(0, 0, 1), rotation_box=(0.1, 0, 0)),
        PoseConstraint(free_axis=(0, 0, 1), box=(0.1, 0, 0)),
    ):  # fmt: skip
        assert narrow(ready, part).closed is None
    three = prepared(named("anthropomorphic_3r"))
    assert narrow(three, PoseConstraint(orientation=False)).closed_position is not None
    for part in (
        PoseConstraint(box=(0.1, 0, 0), orientation=False),
        PoseConstraint(position=False),
    ):
        assert narrow(three, part).closed_position is None


def test_a_form_allows_one_slide_along_parallel_axes():
    rows, tip = FEWER["scara"]
    slide = rows[2]
    assert slide[0] == "prismatic"
    assert prepared(chain_of(rows, tip)).closed is not None
    assert prepared(chain_of(rows, tip)).closed_position is None
    leaning = slide[0], slide[1], "0.01 0 0", *slide[3:]
    upright = rows[3][0], rows[3][1], "-0.01 0 0", *rows[3][3:]
    assert prepared(chain_of([*rows[:2], leaning, upright], tip)).closed is None
    assert prepared(chain_of([*rows[:3], slide, rows[3]], tip)).closed is None
    locked = *slide[:4], 0.1, 0.1
    assert prepared(chain_of([*rows[:2], locked, upright], tip)).closed is not None


def test_the_limit_of_a_short_slide_is_named(named):
    chain = named("scara")
    down = RigidTransform.from_rpy(0, 0, 0, (0, 0, -0.1))
    reason = solve(chain, down @ chain.forward([0.5, 0.6, 0.15, 0.3])).reason
    assert (reason.verdict, reason.proven) == (Verdict.LIMIT, True)
    assert (reason.joint, reason.bound) == ("j3", 0.15)


@pytest.mark.parametrize("name", ["oblique_4r", "oblique_3r", "parallel_5r"])
def test_warm_up_compiles_the_kernels_of_a_rare_arm(name):
    chain = chain_of(*FEWER[name])
    warm_up.prepare(chain)
    before = [(kernel, len(kernel.overloads)) for kernel in jit._kernels]
    for q in np.random.default_rng(10).uniform(-1.0, 1.0, (20, len(chain.lower))):
        target = chain.forward(q)
        for aside in (0.0, 0.1):
            moved = target @ RigidTransform.from_rpy(aside, 0.0, 0.0)
            solve(chain, moved)
            solve(chain, moved, position_only=True)
            solve(chain, moved, constraint=PoseConstraint(free_axis=(0.3, 0.2, 1.0)))
    assert [kernel.py_func.__name__ for kernel, n in before if len(kernel.overloads) != n] == []

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Proofs that a pose cannot be reached: never of one that can be, and of most others."""

from __future__ import annotations

from math import pi

import closed_arms
import numpy as np
import pytest
import transforms3d
from closed_arms import FEWER, OFFSET_WRISTS, ROWS, chain_of, place, random_arm, turning
from numpy.linalg import norm

from basis_ik.closed_form import closed_form
from basis_ik.closed_form.closed_form_pair_proof_kernel import excludes_pair
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.solve import solve

ROUND = {
    name: chain_of(*given) for name, given in (ROWS | FEWER | OFFSET_WRISTS).items()
    if "scara" not in name or name == "scara_with_wrist"
}  # fmt: skip
NAMES = (*ROUND, *closed_arms.BOTH_WAYS, *closed_arms.MEETING)


def arm_named(name):
    if name in ROUND:
        return ROUND[name]
    return chain_of(*random_arm(name, np.random.default_rng(0), 2.5))


def shaken(given, rng, scale):
    """Return an arm whose origins are off by a normal distribution [m] and [rad]."""
    rows, tip = given

    def off(words):
        return " ".join(repr(float(x) + rng.normal(scale=scale)) for x in words.split())

    return chain_of([(kind, off(xyz), off(rpy), *rest) for kind, xyz, rpy, *rest in rows], tip)


def extreme(chain, rng):
    """Return positions, some at limits and some at or close to multiples of a quarter turn."""
    n = len(chain.lower)
    ends = np.where(rng.random(n) < 0.5, chain.lower, chain.upper)
    near = rng.normal(size=n) * 10.0 ** rng.uniform(-9, -2)
    quarters = np.clip(rng.integers(-2, 3, n) * pi / 2 + near, chain.lower, chain.upper)
    which = rng.integers(0, 4, n)
    q = rng.uniform(chain.lower, chain.upper)
    return np.where(which == 0, ends, np.where(which == 1, quarters, q))


def at_the_edge(chain, q, tolerances, rng):
    """Return a pose (4, 4) whose distance and angle from that at q are those of the tolerances."""
    target = place(chain, q)
    away, axis = rng.normal(size=(2, 3))
    target[:3, 3] += 0.999 * tolerances[0] * away / norm(away)
    turn = transforms3d.axangles.axangle2mat(axis, 0.999 * tolerances[1])
    target[:3, :3] = turn @ target[:3, :3]
    return target


def excluded(chain, target, tolerances=(1e-6, 1e-6)):
    ready = prepared(chain)
    return ready.closed.excludes(ready.variables, np.array(target), tolerances)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_within_the_tolerances_is_not_excluded(name):
    chain, rng = arm_named(name), np.random.default_rng(1)
    for _ in range(60):
        q, tolerances = extreme(chain, rng), 10.0 ** rng.uniform(-9, -1.5, 2)
        assert not excluded(chain, at_the_edge(chain, q, tolerances, rng), tolerances), q


@pytest.mark.parametrize(
    "name", ["ur10", "abb_irb120", "rolling_shoulder", "staubli_tx90", "xarm6"]
)
@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-3])
def test_what_an_arm_off_its_form_reaches_is_not_excluded(name, scale):
    rng = np.random.default_rng(2)
    chain = shaken((ROWS | FEWER | OFFSET_WRISTS)[name], rng, scale)
    assert prepared(chain).closed.misfit > 0.1 * scale
    for _ in range(60):
        q = extreme(chain, rng)
        assert not excluded(chain, at_the_edge(chain, q, (1e-9, 1e-9), rng), (1e-9, 1e-9)), q


@pytest.mark.parametrize("name", NAMES)
def test_most_of_what_cannot_be_reached_is_excluded(name):
    """Of poses whose solution is at 0.01 rad beyond a limit."""
    chain, rng, seen = arm_named(name), np.random.default_rng(3), 0
    ready = prepared(chain)
    for _ in range(20):
        q = rng.uniform(chain.lower, chain.upper)
        target = place(chain, q)
        held = ready.variables.copy()
        k = rng.integers(len(q))
        held[:, :2] = q[:, None] + [-0.05, 0.05]
        held[k, 0], held[k, 1] = q[k] + 0.01, q[k] + 0.1
        seen += ready.closed.excludes(held, target, (1e-6, 1e-6))
        held[k, 0] = q[k] - 1e-3
        assert not ready.closed.excludes(held, target, (1e-6, 1e-6))
    assert seen > 14


def test_a_form_of_joint_1_proves_most_of_an_arm_near_it(monkeypatch):
    """The exact form of an arm off by 0.1 mm is of three joints, and takes long."""
    chain = shaken(ROWS["ur10"], np.random.default_rng(8), 1e-4)
    ready, rng, asked = prepared(chain), np.random.default_rng(3), []
    form = ready.closed
    assert form.misfit < 0.1 * form.rough.misfit

    def counted(*given):
        asked.append(given[0] is form.rows)
        return excludes_pair(*given)

    monkeypatch.setattr(closed_form, "excludes_pair", counted)
    for _ in range(20):
        q, held = rng.uniform(chain.lower, chain.upper), ready.variables.copy()
        held[:, :2] = q[:, None] + [-0.5, 0.5]
        held[0, 0] = q[0] + 0.1
        form.excludes(held, place(chain, q), (1e-6, 1e-6))
    assert all(asked)
    assert len(asked) < 4


@pytest.mark.parametrize("column", [0, 1])
def test_a_tolerance_counts_as_it_is(column):
    """A target farther than an arm stretched out, and one turned out of its plane."""
    rows = [turning(f"{x} 0 0", "0 0 0", -2.0, 2.0) for x in (0.0, 0.4, 0.3)]
    chain = chain_of(rows, "0.2 0 0")
    for factor, answer in ((0.99, False), (20.0, True)):
        target = place(chain, np.zeros(3) if column == 0 else np.array([0.3, 0.9, 0.7]))
        tolerances = [1e-9, 1e-9]
        tolerances[column] = 1e-3
        if column == 0:
            target[0, 3] += factor * 1e-3
        else:
            turn = transforms3d.axangles.axangle2mat((1.0, 0.0, 0.0), factor * 1e-3)
            target[:3, :3] = turn @ target[:3, :3]
        assert excluded(chain, target, tuple(tolerances)) == answer


def test_the_deviation_bounds_that_of_every_position():
    rng, tight = np.random.default_rng(4), []
    for name in ("ur10", "abb_irb120", "staubli_tx90", "rolling_shoulder", "xarm6"):
        for scale in (1e-6, 1e-3):
            chain = shaken((ROWS | FEWER | OFFSET_WRISTS)[name], rng, scale)
            form = prepared(chain).closed
            sampled = form.rows[26, :2]
            assert (sampled <= form.deviation).all()
            tight.append(max(np.array(form.deviation)[sampled > 0.0] / sampled[sampled > 0.0]))
    assert max(tight) < 30.0
    assert max(prepared(ROUND["ur10"]).closed.deviation) < 1e-12


def test_a_slide_beyond_its_limits_is_excluded():
    chain = chain_of(*FEWER["scara"])
    q = np.array([0.3, 0.4, 0.15, 0.2])
    target = chain.forward(q).matrix.copy()
    assert not excluded(chain, target)
    target[2, 3] -= 0.9e-6
    assert not excluded(chain, target)
    target[2, 3] -= 9e-6
    assert excluded(chain, target)


WITHIN_TOLERANCES = [
    (
        [
            -1.4927782327437689,
            1.557816424482044,
            1.4932889026104255,
            2.3094749190130472,
            0.5362997430532913,
        ],
        [
            [-0.26555068494918366, -0.2602826632530217, 0.9282972416919777, 0.021005359706443537],
            [-0.033844975464785786, -0.9597568802430563, -0.2787853089061622, -0.42339593612828214],
            [0.9635026473024391, -0.10544982710289436, 0.24605483658152738, 0.36173604563717926],
        ],
        (0.0166007824410581, 2.002617994516401e-06),
        [
            -1.2140855333074103,
            -0.15679239000571976,
            -2.4369659158131096,
            1.1434733599064657,
            -0.020217729772962212,
        ],
    ),
    (
        [
            1.0053567749208279,
            -0.6835924334101483,
            -0.6157180282360626,
            2.4240486581798955,
            0.7666959918738927,
        ],
        [
            [-0.5476964654522176, -0.034335959883478276, 0.835972262452546, -0.01568106177414176],
            [0.23554057834280806, 0.9524196642950297, 0.19343582661461395, 0.4736552558898798],
            [-0.8028382263476768, 0.3028495087052704, -0.5135493719126654, 0.3375940092837301],
        ],
        (0.025160037351613155, 0.0011996801983029494),
        [
            -1.859582657692506,
            1.812838179138812,
            -1.5605284717078498,
            0.07428026221626993,
            -2.4788858359352046,
        ],
    ),
]
"""Positions of rolling_5r; a target whose distance and angle from there are just within the
tolerances; a seed. To first order these targets were out of reach."""


@pytest.mark.parametrize(("q", "rows", "tolerances", "seed"), WITHIN_TOLERANCES)
def test_what_large_tolerances_reach_is_never_proven_to_be_out_of_reach(q, rows, tolerances, seed):
    chain, target = ROUND["rolling_5r"], np.array([*rows, [0.0, 0.0, 0.0, 1.0]])
    off = np.linalg.inv(place(chain, np.array(q))) @ target
    assert norm(off[:3, 3]) <= tolerances[0]
    assert abs(transforms3d.axangles.mat2axangle(off[:3, :3])[1]) <= tolerances[1]
    assert (np.array(q) >= chain.lower).all()
    assert (np.array(q) <= chain.upper).all()
    assert not excluded(chain, target, tolerances)
    solution = solve(
        chain, target, seed, position_tolerance=tolerances[0], orientation_tolerance=tolerances[1]
    )
    assert solution.success or not solution.reason.proven

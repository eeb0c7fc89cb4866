# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What pulls the self-motion of tracking, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from closed_arms import chain_of
from from_python import from_python
from hard_arms import ARMS

from basis_ik.descent.pose_search_kernel import relate_to_target
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    CENTRING,
    SCALE,
    STEP,
    PackedChain,
)
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import null_space_kernel as kernel

STEPS = 1e-6
fill_scaled_columns, fill_least, product, project, pull_off_limits, pull_to_slow_joints, relate = (
    from_python(function)
    for function in (
        kernel.fill_scaled_columns, kernel.fill_least, kernel.product, kernel.project,
        kernel.pull_off_limits, kernel.pull_to_slow_joints, relate_to_target,
    )
)  # fmt: skip


def slope(function, q):
    ahead, behind = (
        np.array([function(q + side * row) for row in STEPS * np.eye(len(q))]) for side in (1, -1)
    )
    return (ahead - behind) / (2.0 * STEPS)


class Case:
    """An arm at a random place, with its scaled and weighted Jacobian in the kernels' table."""

    def __init__(self, chain, number):
        self.chain, ready = chain, prepared(chain)
        self.packed = PackedChain(
            ready.exact, ready.joints, ready.variables, ready.ends, ready.reach
        )
        self.weights, self.scale = ready.weights, ready.variables[:, SCALE].copy()
        rng = np.random.default_rng(number)
        low, high = (np.clip(limit, -np.pi, np.pi) for limit in (chain.lower, chain.upper))
        self.q, self.rates = rng.uniform(low, high), rng.normal(size=len(low))
        self.n = len(self.q)
        self.work = ready.new_work()
        relate(
            ready.ends[0], chain.forward(self.q + 0.1).matrix, self.work, self.n + len(ready.joints)
        )
        self.tip = fill_scaled_columns(self.packed, self.weights, self.q, self.work)
        self.work[: self.n, BOUND_LOWER], self.work[: self.n, BOUND_UPPER] = -np.inf, np.inf

    def jacobian(self, q):
        return self.weights[:6, np.newaxis] * self.chain.jacobian(q) * self.scale


@pytest.fixture(params=["panda", "lift_arm", "gen3", "tiago"])
def case(request, robot):
    name = request.param
    return Case(chain_of(*ARMS[name]) if name in ARMS else robot(name), 3)


def test_joints_are_pulled_to_where_the_tip_needs_less_of_their_speed(case):
    twist = case.jacobian(case.q) @ case.rates

    def log_speed(q):
        return np.log(np.linalg.norm(np.linalg.pinv(case.jacobian(q)) @ twist))

    case.work[: case.n, CENTRING] = case.rates
    z = fill_least(case.work, case.n, product(case.work, case.n, CENTRING))
    assert np.linalg.norm(case.work[: case.n, STEP]) == pytest.approx(
        np.exp(log_speed(case.q)), rel=1e-4
    )
    case.work[: case.n, CENTRING] = 0.0
    pull_to_slow_joints(case.packed, case.weights, case.work, case.tip, z)
    wanted = -kernel.SLOWNESS * slope(log_speed, case.q) * case.scale
    assert case.work[: case.n, CENTRING] == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def test_joints_are_pulled_off_their_limits(case):
    def log_room(q):
        room = np.concatenate([q - case.chain.lower, case.chain.upper - q]) / np.tile(case.scale, 2)
        room = room[np.isfinite(room)]
        return np.log(room / (room + kernel.LIMIT_RANGE)).sum()

    pull_off_limits(case.packed.variables, case.q, case.work)
    wanted = slope(log_room, case.q) * case.scale
    assert case.work[: case.n, CENTRING] == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_the_pull_at_a_limit_is_finite_and_inward(case):
    for limit, sign in ((case.chain.lower, 1.0), (case.chain.upper, -1.0)):
        limited = np.isfinite(limit)
        pull_off_limits(case.packed.variables, np.where(limited, limit, 0.0), case.work)
        pull = case.work[: case.n, CENTRING]
        assert np.isfinite(pull).all()
        assert (sign * pull[limited] > 0.0).all()


def test_self_motion_does_not_move_the_tip(case):
    case.work[: case.n, CENTRING] = case.rates
    largest = project(case.q, case.work)
    free = case.work[: case.n, CENTRING] - case.work[: case.n, STEP]
    assert largest == np.abs(free).max() > 1e-3
    assert case.jacobian(case.q) @ free == pytest.approx(np.zeros(6), abs=1e-5)


def test_what_a_joint_at_its_bound_may_not_do_the_others_do_without():
    """An arm of eight joints has more than one self-motion."""
    case = Case(chain_of(*ARMS["tiago"]), 5)
    case.work[:8, CENTRING] = case.rates
    project(case.q, case.work)
    outward = case.work[:8, CENTRING] - case.work[:8, STEP]
    first = int(np.argmax(np.abs(outward)))
    case = Case(chain_of(*ARMS["tiago"]), 5)
    case.work[:8, CENTRING] = case.rates
    case.work[first, BOUND_UPPER if outward[first] > 0.0 else BOUND_LOWER] = case.q[first]
    assert project(case.q, case.work) > 1e-3
    free = case.work[:8, CENTRING] - case.work[:8, STEP]
    assert free[first] == 0.0
    assert case.jacobian(case.q) @ free == pytest.approx(np.zeros(6), abs=1e-5)

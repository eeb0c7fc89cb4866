# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reported solutions are within the chain's limits, whatever bounds a search had.

No argument leads outside. Variants of a chain without limits simulate a bug of the search.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from basis_ik.descent.tables_kernel import LOWER, UPPER
from basis_ik.search.pose_constraint import PoseConstraint, narrow
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import OutsideLimitsError
from basis_ik.solvers.look import look_at as look_at_module
from basis_ik.solvers.look.look_at import look_at, with_ray
from basis_ik.solvers.pose import solve as solve_module
from basis_ik.solvers.pose.solve import solve

CONSTRAINT = PoseConstraint(free_axis=(0.6, 0.0, 0.8))
FAR = np.full(6, 20.0)  # three turns from the limits


def unlimited(ready):
    variables = ready.variables.copy()
    variables[:, LOWER], variables[:, UPPER] = -np.inf, np.inf
    return replace(ready, variables=variables)


@pytest.fixture
def poses(robot):
    chain = robot("ur5")
    rng = np.random.default_rng(0)
    return [chain.forward(q) for q in rng.uniform(chain.lower, chain.upper, (40, 6))]


@pytest.fixture
def spoiled(robot, monkeypatch):
    """Return a chain whose cache holds variants without limits."""
    chain = robot("ur5")
    ready = prepared(chain)
    monkeypatch.setitem(ready.narrowed, CONSTRAINT, unlimited(narrow(ready, CONSTRAINT)))
    ray = ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    monkeypatch.setitem(ready.narrowed, ray, unlimited(with_ray(ready, *ray)))
    return chain


def test_variants_do_not_share_their_caches(robot):
    ready = prepared(robot("ur5"))
    before = dict(ready.narrowed)
    narrow(unlimited(ready), PoseConstraint(free_axis=(0.8, 0.0, 0.6)))
    with_ray(unlimited(ready), (0.1, 0.2, 0.3), (0.0, 0.0, 0.0))
    assert ready.narrowed == before


@pytest.mark.parametrize("time_limit", [None, 10.0])
def test_solve_raises_instead_of_reporting_reached(spoiled, poses, time_limit):
    with pytest.raises(OutsideLimitsError, match="outside the joint limits") as caught:
        solve(spoiled, poses[0], FAR, constraint=CONSTRAINT, time_limit=time_limit)
    assert (caught.value.positions > spoiled.upper).any()


def test_an_explanation_raises_for_a_solution_outside_the_limits(spoiled, poses, monkeypatch):
    monkeypatch.setattr(solve_module, "FEWEST_STARTS", 0)
    none = solve_module.DEFAULT_BUDGET._replace(first_restarts=0)
    monkeypatch.setattr(solve_module, "DEFAULT_BUDGET", none)
    for pose in poses:
        try:
            assert not solve(spoiled, pose, FAR, constraint=CONSTRAINT, max_move=6.0).success
        except OutsideLimitsError:
            continue


def test_look_at_raises(spoiled, poses):
    with pytest.raises(OutsideLimitsError):
        look_at(spoiled, poses[0].translation + 0.3, FAR, axis=(0.0, 0.0, 1.0))


def test_the_explanation_of_a_look_raises(spoiled, poses, monkeypatch):
    kernel = look_at_module.solve_look
    monkeypatch.setattr(look_at_module, "solve_look", lambda *a: (-1, *kernel(*a)[1:]))
    with pytest.raises(OutsideLimitsError):
        look_at(spoiled, poses[0].translation + 0.3, FAR, axis=(0.0, 0.0, 1.0))

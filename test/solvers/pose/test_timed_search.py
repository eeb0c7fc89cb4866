# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solving with a time limit."""

from __future__ import annotations

import time

import numpy as np
import pytest

from basis_ik.descent.pose_search_kernel import solve_pose
from basis_ik.errors import SolveArgumentError
from basis_ik.search import prepared_chain
from basis_ik.solvers.pose import timed_search
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def test_the_target_is_reached_in_ample_time(robot):
    chain = robot("panda")
    rng = np.random.default_rng(1)
    for q in rng.uniform(chain.lower, chain.upper, (50, 7)):
        assert solve(chain, chain.forward(q), time_limit=60.0).success


@pytest.mark.parametrize("cost", [1.0, 0.3, 0.01, 1e-4])
@pytest.mark.parametrize("erratic", [1.0, 30.0])
def test_the_time_limit_ends_a_search_within_one_step(robot, monkeypatch, cost, erratic):
    chain = robot("panda")
    slices = []  # of steps, and the time after it

    def clock():
        return slices[-1][1] if slices else 0.0

    def slow(*arguments):
        found = solve_pose(*arguments)
        each = cost * (erratic if len(slices) % 3 == 2 else 1.0)
        slices.append((found[1], clock() + each * found[1], each))
        return found

    monkeypatch.setattr(timed_search.time, "perf_counter", clock)
    monkeypatch.setattr(prepared_chain, "solve_pose", slow)
    target = RigidTransform.from_rpy(1.0, 1.0, 1.0, (0.75, 0.5, 0.2))
    solution = solve(chain, target, time_limit=1.05)
    assert solution.verdict is Verdict.BUDGET_SPENT
    assert solution.iterations == sum(steps for steps, _, _ in slices)
    assert clock() >= 1.05
    assert clock() - slices[-1][2] < 1.05  # without its last step the last slice was in time
    if (cost, erratic) == (1e-4, 1.0):
        assert len(slices) < 0.2 * solution.iterations  # far from the end the clock is read rarely
        assert solution.restarts > 20
    assert (solution.positions >= chain.lower).all()
    assert (solution.positions <= chain.upper).all()
    off = chain.forward(solution.positions).inverse() @ target
    assert solution.position_error == pytest.approx(np.linalg.norm(off.translation), abs=1e-9)


def test_steps_and_restarts_bound_a_timed_search(robot):
    chain = robot("panda")
    target = RigidTransform.from_rpy(1.0, 1.0, 1.0, (0.75, 0.5, 0.2))
    assert solve(chain, target, time_limit=60.0, max_iterations=77).iterations == 77
    assert solve(chain, target, time_limit=60.0, max_restarts=5).restarts == 5


def test_a_short_time_is_a_short_time(robot):
    chain = robot("panda")
    target = RigidTransform.from_rpy(1.0, 1.0, 1.0, (0.75, 0.5, 0.2))
    solve(chain, target, time_limit=1e-6)
    start = time.perf_counter()
    solve(chain, target, time_limit=1e-6)
    assert time.perf_counter() - start < 5.0  # it ends; how fast is for the benchmark to say


@pytest.mark.parametrize("limit", [0.0, -1.0, np.nan, "x"])
def test_bad_limits_are_refused(robot, limit):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), time_limit=limit)
    assert caught.value.argument == "time_limit"

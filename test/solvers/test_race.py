"""Solving against the clock."""

from __future__ import annotations

import time

import numpy as np
import pytest

from basis_ik.solvers import race
from basis_ik.solvers.arguments import SolveArgumentError
from basis_ik.solvers.solve import solve
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.rigid import RigidTransform


def test_with_time_enough_the_target_is_reached(robot):
    chain = robot("panda")
    rng = np.random.default_rng(1)
    for q in rng.uniform(chain.lower, chain.upper, (50, 7)):
        assert solve(chain, chain.forward(q), time_limit=60.0).success


def test_the_clock_ends_a_hopeless_search(robot, monkeypatch):
    chain = robot("panda")
    asked = []

    def clock():
        asked.append(1)
        return 0.1 * len(asked)

    monkeypatch.setattr(race.time, "perf_counter", clock)
    target = RigidTransform.from_rpy(1.0, 1.0, 1.0, (0.75, 0.5, 0.2))
    solution = solve(chain, target, time_limit=0.55)
    assert solution.verdict is Verdict.BUDGET_SPENT
    assert len(asked) <= 8
    assert solution.restarts <= 6
    assert (solution.positions >= chain.lower).all()
    assert (solution.positions <= chain.upper).all()
    off = chain.forward(solution.positions).inverse() @ target
    assert solution.position_error == pytest.approx(np.linalg.norm(off.translation), abs=1e-9)


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

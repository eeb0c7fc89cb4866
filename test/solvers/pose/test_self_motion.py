# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the grid over the spare joints finds, and what it spares."""

from __future__ import annotations

import numpy as np
import pytest
from closed_arms import chain_of
from hard_arms import ARMS

from basis_ik.closed_form.self_motion import GRID
from basis_ik.solvers.pose.diagnosis import DIAGNOSIS, FEWEST_STARTS, Diagnosis
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Reason, Verdict

# Poses that neither the first starts nor the scouts lead to, and seeds.
HARD = [
    ("gen3", [1.5708, 2.41, -1.5708, 2.66, -1.5708, -0.6053, 0.0],
     [2.58, -0.7, 0.36, 2.47, -1.83, 2.14, 0.67]),
    ("gen3", [-0.0458, 2.41, -1.1685, 2.66, 1.3863, 0.8875, 3.1416],
     [-1.91, -0.12, -0.57, -0.46, -0.82, 0.89, -1.17]),
    ("baxter", [1.70168, -0.2882, 3.05418, -0.05, 3.059, 2.094, -3.059],
     [1.48, -2.07, 0.78, 0.1, -0.91, 1.6, 2.21]),
    ("baxter", [0.0, -1.7577, -3.05418, -0.05, -3.059, 2.094, -3.059],
     [-0.56, 1.04, -0.56, 2.41, -1.47, 0.83, 0.45]),
    ("tiago", [0.35, 2.7489, 1.0908, 1.5708, -0.3927, 0.9971, 1.4137, 1.3659],
     [0.01, 0.11, -1.44, 1.11, 1.93, -1.85, -0.24, 1.34]),
    ("tiago", [0.0, 0.0, 1.0908, -3.5343, 1.8279, -0.262, 0.0959, 2.0944],
     [0.19, 1.42, -1.04, 0.71, -0.28, -0.96, -0.81, 1.43]),
    ("panda", [2.8973, 1.1391, -0.1678, -3.0718, -2.8973, 3.6261, 0.7459],
     [-1.96, -0.71, -1.67, -2.29, 0.52, 0.12, 2.64]),
    ("panda", [2.8973, 1.7628, -0.1184, -3.0718, 0.0, -0.0175, 2.7062],
     [1.04, -1.54, -2.55, -2.96, 1.37, 2.36, -1.15]),
]  # fmt: skip
# Only the grid leads to it.
MISSED = (
    [0.0, 0.5823, 1.0908, -3.1416, 1.5708, 0.0, 1.4137, 2.0944],
    [0.23, 1.43, 0.12, -0.68, 0.16, -0.4, 0.75, 0.23],
)
BEHIND = RigidTransform.from_rpy(1.0, 2.0, 0.5, (0.02, 0.03, 0.25))  # out of a Panda's reach
# Limits a fifth as wide as the arm's.
NARROW = (
    [-1.21, -2.28, -1.73, 1.59, -1.22, 0.72, 1.19],
    [0.05, -1.32, -0.47, 2.65, 0.03, 1.61, 2.45],
)
IN_THEM = [0.05, -1.32, -1.73, 1.59, 0.03, 0.9756, 1.19]


@pytest.fixture(scope="module")
def named(robot):
    made = {name: chain_of(*given) for name, given in ARMS.items()}
    return lambda name: made[name] if name in made else robot(name)


def without(monkeypatch, *searches):
    for search in searches:
        monkeypatch.setattr(Diagnosis, search, lambda self, *given: None)


def settled(self):
    return self._minimise(self.seed[None], self.ready.weights[None])[0]


@pytest.mark.parametrize(("name", "truth", "seed"), HARD)
def test_what_the_first_starts_miss_is_found_on_the_grid(monkeypatch, named, name, truth, seed):
    chain = named(name)
    without(monkeypatch, "persist", "corners")
    solution = solve(chain, chain.forward(truth), seed)
    assert solution.success
    off = (chain.forward(truth).inverse() @ chain.forward(solution.positions)).log()
    assert np.abs(off).max() <= 2e-6
    without(monkeypatch, "sample_self_motion")
    monkeypatch.setattr(Diagnosis, "best_effort", settled)  # which finds some of them, too
    assert not solve(chain, chain.forward(truth), seed).success


def test_so_it_is_within_narrow_limits(monkeypatch, named):
    chain = named("gen3").within(*NARROW)
    seed = [-0.89, -1.76, -1.69, 1.88, -0.85, 1.11, 2.29]
    without(monkeypatch, "persist", "corners")
    assert solve(chain, chain.forward(IN_THEM), seed).success
    without(monkeypatch, "sample_self_motion")
    monkeypatch.setattr(Diagnosis, "best_effort", settled)  # which finds it, too
    assert not solve(chain, chain.forward(IN_THEM), seed).success


def test_what_no_other_start_leads_to_is_found(monkeypatch, named):
    chain, (truth, seed) = named("tiago"), MISSED
    assert solve(chain, chain.forward(truth), seed).success
    without(monkeypatch, "sample_self_motion")
    monkeypatch.setattr(Diagnosis, "best_effort", settled)  # which finds it, too
    assert not solve(chain, chain.forward(truth), seed).success


def test_answers_that_other_starts_find_stay_the_same(monkeypatch, named):
    found = [solve(named(n), named(n).forward(q), seed) for n, q, seed in HARD]
    without(monkeypatch, "sample_self_motion")
    for (name, truth, seed), solution in zip(HARD, found, strict=True):
        before = solve(named(name), named(name).forward(truth), seed)
        if before.success:
            assert np.array_equal(solution.positions, before.positions)


def test_where_no_position_is_near_the_limits_the_search_ends(monkeypatch, robot):
    chain = robot("panda")
    solution = solve(chain, BEHIND)
    assert not solution.success
    assert solution.restarts == FEWEST_STARTS
    assert solution.reason.grid > GRID.values[1][0]
    values = f"all positions at {solution.reason.grid} values of the spare joints"
    assert str(solution.reason).endswith(f"; given up after {values} and 21 starts")
    without(monkeypatch, "sample_self_motion")
    longer = solve(chain, BEHIND)
    assert longer.restarts > FEWEST_STARTS
    assert (longer.verdict, longer.reason.joint) == (solution.verdict, solution.reason.joint)
    assert str(longer.reason).endswith(f"; given up after {longer.reason.starts} starts")


def test_what_is_given_up_so_early_is_not_found_by_more_starts(robot):
    chain, rng, early = robot("panda"), np.random.default_rng(5), 0
    for _ in range(100):
        place = rng.uniform([-0.2, -0.2, 0.1], [0.2, 0.2, 0.5])
        target = RigidTransform.from_rpy(*rng.uniform(-3, 3, 3), place)
        seed = rng.uniform(chain.lower, chain.upper)
        solution = solve(chain, target, seed)
        if not solution.success and solution.restarts == FEWEST_STARTS:
            early += 1
            assert not solve(chain, target, seed, max_restarts=1000).success
    assert early > 20


def test_starts_that_are_asked_for_are_made_whatever_the_grid_says(robot):
    solution = solve(robot("panda"), BEHIND, max_restarts=300)
    assert solution.restarts == 300
    assert solution.reason.grid > 0


def test_few_iterations_leave_no_room_for_a_grid(robot):
    chain = robot("panda")
    some = solve(chain, BEHIND, max_iterations=DIAGNOSIS.steps_per_point * GRID.values[1][0])
    assert not some.success
    assert some.reason.grid == 0


def test_an_arm_without_such_a_form_is_searched_as_before(named):
    chain = named("tiago_pro")
    target = RigidTransform.from_rpy(1.0, 2.0, 0.5, (0.0, 0.0, 1.7))
    solution = solve(chain, target)
    assert solution.verdict is not Verdict.REACHED
    assert solution.reason.grid == 0


def test_the_words_of_a_reason():
    assert str(Reason(Verdict.TOO_NEAR, 0.01, starts=21, grid=128)).endswith(
        "given up after all positions at 128 values of the spare joints and 21 starts"
    )
    assert "spare" not in str(Reason(Verdict.TOO_NEAR, 0.01, starts=0, proven=True, grid=128))


def test_there_is_no_grid_where_the_pose_is_not_reached_without_limits_either(robot):
    target = RigidTransform.from_rpy(0.3, 1.2, 0.4, (0.3, 0.2, 1.16))
    reason = solve(robot("panda"), target).reason
    assert (reason.verdict, reason.proven) == (Verdict.TOO_FAR, False)
    assert (reason.grid, reason.starts) == (0, FEWEST_STARTS + 1)

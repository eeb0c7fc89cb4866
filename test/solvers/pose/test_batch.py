# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many targets at once."""

from __future__ import annotations

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform


@pytest.fixture(scope="module")
def case(robot):
    chain = robot("panda")
    rng = np.random.default_rng(2)
    truths, seeds = rng.uniform(chain.lower, chain.upper, (2, 1500, 7))
    return chain, [chain.forward(q) for q in truths], seeds


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_result_equals_a_single_solve_bit_for_bit(case, threads):
    chain, targets, seeds = case
    batch = solve_batch(chain, targets, seeds, threads=threads)
    assert batch.reached.all()
    for i in range(0, 1500, 50):
        single = solve(chain, targets[i], seeds[i])
        assert np.array_equal(batch.positions[i], single.positions)
        assert batch.position_errors[i] == single.position_error
        assert batch.iterations[i] == single.iterations


@pytest.mark.parametrize(
    "constraint",
    [None, PoseConstraint(free_axis=(0.6, 0, 0.8)), PoseConstraint(weights=(1, 2, 3, 4, 5, 6))],
)
def test_failures_equal_those_of_single_solves(case, constraint):
    chain, targets, seeds = case
    shift = RigidTransform.from_rpy(1.0, 0.5, 0.2, (0.3, 0.2, 0.1))
    beyond = [target @ shift for target in targets[:40]]
    batch = solve_batch(chain, beyond, seeds[:40], constraint=constraint)
    assert 3 < batch.reached.sum() < 37
    for i, (target, seed) in enumerate(zip(beyond, seeds, strict=False)):
        single = solve(chain, target, seed, constraint=constraint)
        assert np.array_equal(batch.positions[i], single.positions)
        assert batch.reached[i] == single.success
        assert batch.iterations[i] == single.iterations
        assert batch.restarts[i] == single.restarts
        assert batch.position_errors[i] == single.position_error
        assert batch.orientation_errors[i] == single.orientation_error


def test_arrays_and_transforms_give_the_same_result(case):
    chain, targets, seeds = case
    array = np.array([target.matrix for target in targets[:40]])
    one = solve_batch(chain, array, seeds[0])
    two = solve_batch(chain, targets[:40], np.tile(seeds[0], (40, 1)))
    assert np.array_equal(one.positions, two.positions)


def test_an_empty_batch_gives_an_empty_result(case):
    chain, _, _ = case
    assert solve_batch(chain, []).positions.shape == (0, 7)


def test_the_progress_bar_ends_full(case, capsys):
    chain, targets, seeds = case
    solve_batch(chain, targets, seeds, progress=True)
    assert capsys.readouterr().err.rstrip().endswith("] 1500/1500")


def test_a_bad_target_or_seed_is_named(case):
    chain, targets, seeds = case
    array = np.array([target.matrix for target in targets[:5]])
    array[3, 0, 0] += 0.1
    with pytest.raises(SolveArgumentError, match=r"targets\[3\]"):
        solve_batch(chain, array)
    array[3] = np.nan
    with pytest.raises(SolveArgumentError, match=r"targets\[3\]"):
        solve_batch(chain, array)
    bad = seeds[:5].copy()
    bad[2, 1] = np.nan
    with pytest.raises(SolveArgumentError, match=r"seeds\[2\]"):
        solve_batch(chain, targets[:5], bad)
    with pytest.raises(SolveArgumentError, match="seeds"):
        solve_batch(chain, targets[:5], seeds[:4])


@pytest.mark.parametrize(
    "keywords",
    [
        {"max_iterations": 0}, {"max_iterations": 1.5}, {"max_restarts": -1},
        {"max_restarts": 1.5}, {"threads": 0}, {"threads": 1.5}, {"position_tolerance": "x"},
        {"position_tolerance": np.nan}, {"orientation_tolerance": 0.0},
    ],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(case, keywords):
    chain, targets, _ = case
    with pytest.raises(SolveArgumentError) as caught:
        solve_batch(chain, targets[:5], **keywords)
    assert caught.value.argument == next(iter(keywords))

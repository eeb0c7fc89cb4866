# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The kernel of FABRIK's passes, in one call and in slices."""

from __future__ import annotations

import numpy as np
import pytest

from basis_ik.descent.descent_kernel import DESCENT_REACHED, DESCENT_SPENT
from basis_ik.descent.pose_search_kernel import BAD_SEED, BAD_TARGET, GO_ON, OUT_OF_REACH
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import START_LOWER, START_UPPER
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.fabrik_passes_kernel import solve_by_passes
from basis_ik.warm_up import sample_chain

TOLERANCES = (1e-5, 1e-5)
FAR = np.eye(4)
FAR[0, 3] = 50.0


@pytest.fixture(name="ready", scope="module")
def _ready():
    return prepared(sample_chain())


def run(ready, target, seed, work, halves, first=0, restarts=100):
    q = np.empty(len(seed))
    found = solve_by_passes(
        ready.fields, (ready.weights, target, *TOLERANCES), seed, q, work, (halves, first, restarts)
    )  # fmt: skip
    return found, q


def targets(ready, count):
    rng = np.random.default_rng(3)
    low, high = ready.variables[:, START_LOWER], ready.variables[:, START_UPPER]
    for truth, seed in rng.uniform(low, high, (count, 2, len(low))):
        target = np.eye(4)
        place_exactly(ready.exact, truth, target[:3])
        yield target, seed


def test_reached_targets_are_proven(ready):
    work = ready.new_work()
    for target, seed in targets(ready, 5):
        (status, halves, _, away, turned), q = run(ready, target, seed, work, 1200)
        assert status == DESCENT_REACHED
        assert halves % 2 == 0
        frame = np.empty((3, 4))
        place_exactly(ready.exact, q, frame)
        assert np.linalg.norm(frame[:, 3] - target[:3, 3]) == pytest.approx(away, abs=1e-12)
        assert max(away, turned) <= 1e-5


@pytest.mark.parametrize("size", [1, 3])
def test_slices_ignore_the_initial_content_of_work(ready, size):
    for target, seed in targets(ready, 3):
        whole, q = run(ready, target, seed, np.full_like(ready.new_work(), np.nan), 1200)
        work, first, total = ready.new_work(), 0, 0
        work[:] = 1e300
        for _ in range(1200):
            part, other = run(ready, target, seed, work, size, first)
            first, total = GO_ON, total + part[1]
            if part[0] == DESCENT_REACHED:
                break
            assert part[0] == DESCENT_SPENT
        assert (part[0], total, *part[2:]) == whole
        assert other.tobytes() == q.tobytes()


def test_bad_seeds_and_targets_have_a_status(ready):
    target, seed = next(targets(ready, 1))
    work = ready.new_work()
    assert run(ready, target, np.full_like(seed, np.nan), work, 9)[0][:2] == (BAD_SEED, 0)
    assert run(ready, target, np.full_like(seed, 1e6), work, 9)[0][:2] == (BAD_SEED, 0)
    assert run(ready, np.full((4, 4), np.nan), seed, work, 9)[0][:2] == (BAD_TARGET, 0)
    found, q = run(ready, FAR, seed, work, 9)
    assert found[:2] == (OUT_OF_REACH, 0)
    assert np.isfinite(q).all()
    assert found[3] > 45.0

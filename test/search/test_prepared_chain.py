# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The precomputed data of a chain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from basis_ik.descent.pose_search_kernel import COLUMNS
from basis_ik.search import precomputed_starts
from basis_ik.search.precomputed_starts import OWN_STARTS
from basis_ik.search.prepare import prepare
from basis_ik.solvers.pose.solve import solve


@pytest.mark.parametrize(
    ("joints", "kept"),
    [(OWN_STARTS.most_variables, OWN_STARTS.kept), (OWN_STARTS.most_variables + 1, 0)],
)
def test_only_chains_of_moderate_length_have_own_starts(arm, joints, kept):
    axes = ("0 0 1", "0 1 0", "1 0 0")
    rows = [("revolute", "0 0 0.1", "0 0 0", axes[i % 3], -1.5, 1.5) for i in range(joints)]
    chain = arm(rows)
    assert prepare(chain.arrays).variables.shape == (joints, COLUMNS + kept)
    rng = np.random.default_rng(0)
    for q in rng.uniform(-1.5, 1.5, (5, joints)):
        assert solve(chain, chain.forward(q)).success


def test_own_starts_are_looked_for_once_for_all_chains_that_are_equal(arm, monkeypatch):
    tried, try_starts = [], precomputed_starts._try_starts
    monkeypatch.setattr(precomputed_starts, "_remembered", precomputed_starts.OrderedDict())
    monkeypatch.setattr(
        precomputed_starts, "OWN_STARTS", precomputed_starts.OWN_STARTS._replace(remembered=2)
    )
    monkeypatch.setattr(
        precomputed_starts, "_try_starts", lambda ready: tried.append(ready) or try_starts(ready)
    )

    def ready(upper=1.5, length=0.1, tip=0.0):
        row = ("revolute", f"0 0 {length}", "0 0 0", "0 1 0", -1.5, upper)
        return prepare(arm([row, row, row], f"0 0 {tip}").arrays)

    first, again = ready(), ready()
    assert len(tried) == 1
    assert (first.variables == again.variables).all()
    assert not np.shares_memory(first.variables, again.variables)
    for number, other in enumerate(({"upper": 1.4}, {"length": 0.2}, {"tip": 0.3}), 2):
        ready(**other)
        assert len(tried) == number
    ready()  # only so many are remembered
    assert len(tried) == 5
    weights = 2.0 * first.weights
    precomputed_starts.with_own_starts(replace(tried[0], weights=weights))
    assert len(tried) == 6

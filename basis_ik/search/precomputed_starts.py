# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Precomputed starts of a chain, found once when it is prepared.

From some configurations a descent reaches most targets, from others few, and where one fails
another succeeds. Starts in a good order save the solver a quarter of its restarts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import write_start
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.prepared_chain import PreparedChain


class OwnStartsTuning(NamedTuple):
    """Tuning of the choice of a chain's own starts."""

    candidates: int = 64
    targets: int = 128
    most_variables: int = 30  # of a longer chain trials cost more, and few starts are needed
    first_target: int = 10_000  # in the sequence of starts, far from the candidates
    trial_steps: int = 60
    tolerance: float = 1e-6
    kept: int = 12
    overhead: float = 3.0  # [steps], cost of a start besides its steps
    reached_weight: float = 0.2  # factor on the weight of a target that a chosen start reaches
    remembered: int = 32  # chains; a description that is read again costs nothing


OWN_STARTS = OwnStartsTuning()

_remembered: OrderedDict[tuple[bytes, ...], FloatArray] = OrderedDict()  # the oldest first


def with_own_starts(ready: PreparedChain) -> FloatArray:
    """Return the variables (n, 8 + 12) of a chain, with its own starts behind them.

    A chain with very many variables gets none. Among candidates spread over the limits, the next
    start is the one that reaches, for its cost, most of the targets that the starts before it do
    not reach.
    """
    if len(ready.variables) > OWN_STARTS.most_variables:
        return ready.variables
    key = tuple(each.tobytes() for each in (*ready.fields[:4], ready.weights))
    starts = _remembered.get(key)
    if starts is None:
        starts = _remembered[key] = _choose_starts(ready)
        if len(_remembered) > OWN_STARTS.remembered:
            _remembered.popitem(last=False)
    return np.ascontiguousarray(np.hstack([ready.variables, starts.T]))


def _choose_starts(ready: PreparedChain) -> FloatArray:
    """Return the own starts (12, n) of a chain, the first one first."""
    steps = _try_starts(ready)
    reached = steps > 0.0
    cost = np.abs(steps) + OWN_STARTS.overhead
    # the seed fails where most candidates fail
    count = 1.0 - reached.mean(axis=0) + 0.5 / OWN_STARTS.candidates
    starts = np.empty((OWN_STARTS.kept, len(ready.variables)))
    left = np.ones(OWN_STARTS.candidates, np.bool_)
    for start in starts:
        worth = (reached * count).sum(axis=1) / (cost * count).sum(axis=1)
        best = int(np.argmax(np.where(left, worth, -1.0)))
        left[best] = False
        write_start(ready.variables, best + 1, start)
        count = np.where(reached[best], OWN_STARTS.reached_weight * count, count)
    return starts


def _try_starts(ready: PreparedChain) -> FloatArray:
    """Return the steps (candidates, targets) that each start took, negative if it failed."""
    steps, unbounded = (
        np.empty((OWN_STARTS.candidates, OWN_STARTS.targets)),
        replace(ready, reach=np.inf),
    )
    truth, q, target = np.empty(len(ready.variables)), np.empty(len(ready.variables)), np.eye(4)
    for j in range(OWN_STARTS.targets):
        write_start(ready.variables, OWN_STARTS.first_target + j, truth)
        place_exactly(ready.exact, truth, target[:3])
        for i in range(OWN_STARTS.candidates):
            status, taken, *_ = unbounded.search(
                ready.weights, target, truth, q, (OWN_STARTS.tolerance, OWN_STARTS.tolerance),
                OWN_STARTS.trial_steps, first=i + 1, last=i + 1, near=0.0,
            )  # fmt: skip
            steps[i, j] = taken if status == DESCENT_REACHED else -taken
    return steps

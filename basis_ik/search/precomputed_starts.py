# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Precomputed starts of a chain, found once when it is prepared.

From some configurations a descent reaches most targets, from others few, and where one fails
another succeeds. Starts in a good order save the solver a quarter of its restarts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from basis_ik.descent.descent_kernel import REACHED
from basis_ik.descent.pose_search_kernel import write_start
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.prepared_chain import PreparedChain

CANDIDATES = 64
TARGETS = 128
MOST_VARIABLES = 30  # longer chains have no own starts: trials cost more, and few are needed
FIRST_TARGET = 10_000  # in the sequence of starts: far from the candidates
STEPS = 60  # allowed for a trial
TOLERANCE = 1e-6
KEPT = 12
OVERHEAD = 3.0  # cost of a start besides its steps, in steps
RESERVE = 0.2  # factor on the weight of a target that a chosen start reaches
REMEMBERED = 32  # chains: a description that is read again costs nothing

_remembered: OrderedDict[tuple[bytes, ...], FloatArray] = OrderedDict()  # the oldest first


def with_own_starts(ready: PreparedChain) -> FloatArray:
    """Return the variables (n, 8 + 12) of a chain, with its own starts behind them.

    A chain with very many variables gets none. Among candidates spread over the limits, the next
    start is the one that reaches, for its cost, most of the targets that the starts before it do
    not reach.
    """
    if len(ready.variables) > MOST_VARIABLES:
        return ready.variables
    key = tuple(each.tobytes() for each in (*ready.fields[:4], ready.weights))
    starts = _remembered.get(key)
    if starts is None:
        starts = _remembered[key] = _choose_starts(ready)
        if len(_remembered) > REMEMBERED:
            _remembered.popitem(last=False)
    return np.ascontiguousarray(np.hstack([ready.variables, starts.T]))


def _choose_starts(ready: PreparedChain) -> FloatArray:
    """Return the own starts (12, n) of a chain, the first one first."""
    steps = _try_starts(ready)
    reached = steps > 0.0
    cost = np.abs(steps) + OVERHEAD
    count = (
        1.0 - reached.mean(axis=0) + 0.5 / CANDIDATES
    )  # the seed fails where most candidates fail
    starts = np.empty((KEPT, len(ready.variables)))
    left = np.ones(CANDIDATES, np.bool_)
    for start in starts:
        worth = (reached * count).sum(axis=1) / (cost * count).sum(axis=1)
        best = int(np.argmax(np.where(left, worth, -1.0)))
        left[best] = False
        write_start(ready.variables, best + 1, start)
        count = np.where(reached[best], RESERVE * count, count)
    return starts


def _try_starts(ready: PreparedChain) -> FloatArray:
    """Return the steps (candidates, targets) that each start took, negative if it failed."""
    steps, unbounded = np.empty((CANDIDATES, TARGETS)), replace(ready, reach=np.inf)
    truth, q, target = np.empty(len(ready.variables)), np.empty(len(ready.variables)), np.eye(4)
    for j in range(TARGETS):
        write_start(ready.variables, FIRST_TARGET + j, truth)
        place_exactly(ready.exact, truth, target[:3])
        for i in range(CANDIDATES):
            status, taken, *_ = unbounded.search(
                ready.weights, target, truth, q, (TOLERANCE, TOLERANCE), STEPS,
                first=i + 1, last=i + 1, near=0.0,
            )  # fmt: skip
            steps[i, j] = taken if status == REACHED else -taken
    return steps

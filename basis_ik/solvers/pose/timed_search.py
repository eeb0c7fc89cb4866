# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The search of `solve` with a time limit."""

from __future__ import annotations

import time

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_SPENT
from basis_ik.descent.pose_search_kernel import GO_ON, Found
from basis_ik.numerics.arrays import FloatArray
from basis_ik.solvers.pose.pose_problem import PoseProblem, SearchBudget

# Slices have several steps only if this many of the slowest steps so far would fit.
SLICE_MARGIN = 100.0
LONGEST_SLICE = 256  # steps of a slice at most


def search_until(
    deadline: float, problem: PoseProblem, budget: SearchBudget
) -> tuple[FloatArray, Found]:
    """Search until a start arrives, or the budget or the time is used up.

    The search runs in slices, because compiled code does not read the clock. Near the deadline the
    clock is read after every step.

    Args:
        deadline: Time of `time.perf_counter` [s].
        problem: The problem.
        budget: Budget besides the time.

    Returns:
        Positions (n,) [rad or m], and the result of the search, see `PreparedChain.search`.
    """
    ready = problem.ready
    work, q = ready.new_work(), np.empty_like(problem.start)
    first, steps, slowest, now = 0, 0, 0.0, time.perf_counter()
    while True:
        fitting = (deadline - now) / (SLICE_MARGIN * slowest) if slowest > 0.0 else 1.0
        slice_ = min(max(1, int(min(fitting, LONGEST_SLICE))), budget.iterations - steps)
        status, taken, last, position_error, orientation_error = ready.search(
            ready.weights, problem.goal, problem.start, q, problem.tolerances, slice_,
            first=first, last=budget.restarts, work=work,
        )  # fmt: skip
        before, now = now, time.perf_counter()
        first, steps = GO_ON, steps + taken
        slowest = max(slowest, (now - before) / max(1, taken))
        if status != DESCENT_SPENT or steps >= budget.iterations or now >= deadline:
            return q, (status, steps, last, position_error, orientation_error)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The best effort where it is stated what an error along each axis counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.ranked_tasks import Ranked, RankedTask
from basis_ik.search.starts import search_starts
from basis_ik.solvers.pose.pose_problem import PoseProblem

if TYPE_CHECKING:
    from collections.abc import Sequence


WEIGHTED_STARTS = 20  # fresh starts that get a chance to leave less than the seed's


def least_error(
    problem: PoseProblem, weights: FloatArray, starts: Sequence[FloatArray], budget: int
) -> tuple[FloatArray, float, float, int]:
    """Find the positions that leave the least weighted error.

    Of about equal ones those downhill from the first start are taken.

    Args:
        problem: What to reach.
        weights: (12,) by `pose_constraint.weigh`.
        starts: Each (n,), the seed first; some fresh ones follow them.
        budget: Steps allowed.

    Returns:
        Positions (n,), the distance [m] and angle [rad] that they leave, and steps taken.
    """
    exact, goal = problem.ready.exact, problem.goal
    task = RankedTask(POSE_RESIDUAL, exact, weights, goal, 0, problem.tolerances)
    ranked = Ranked([task], problem.ready.variables)
    seed, *more = starts
    first, *fresh = (ranked.start(number, seed) for number in range(WEIGHTED_STARTS + 1))
    best, steps, _ = search_starts(
        (first, *more, *fresh), ranked.in_order, ranked.is_better,
        budget=budget, best=ranked.standing(first),
    )  # fmt: skip
    return best.q, *task.miss(best.q), steps

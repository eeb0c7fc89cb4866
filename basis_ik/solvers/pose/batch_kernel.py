# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many targets in one compiled loop that does not hold the GIL."""

from __future__ import annotations

from basis_ik.descent.pose_search_kernel import Starts, search, write_figures
from basis_ik.descent.tables_kernel import Effort, PackedChain, PoseGoal, PoseGoals
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import jit


@jit
def solve_poses(
    chain: PackedChain, goals: PoseGoals, q: FloatArray, figures: FloatArray, work: FloatArray,
    effort: tuple[int, int, int, float],
) -> None:  # fmt: skip
    """Solve for k targets, each by `search`.

    Args:
        chain: The chain.
        goals: Targets and seeds.
        q: (k, n) result [rad or m].
        figures: (k, 5) result: reached or not, steps, last start, distance [m], angle [rad].
        work: (n + 2 m + 3, 12) workspace.
        effort: Steps allowed for each target, number of the last start, patience, and near.
    """
    iterations, last, patience, near = effort
    steady, starts = Effort(iterations, patience, last < 0), Starts(0 * last, last, near)
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        found = search(chain, goal, goals.seeds[i], q[i], work, steady, starts)
        write_figures(found, figures[i])

# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Many targets in one compiled loop that does not hold the GIL."""

from __future__ import annotations

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import jit
from basis_ik.search.pose_search_kernel import Starts, search, write_figures
from basis_ik.search.tables_kernel import Effort, PackedChain, PoseGoal, PoseGoals


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

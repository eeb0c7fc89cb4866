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

"""Many targets in one compiled loop, without the GIL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import jit
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_search_kernel import Starts, search
from basis_ik.search.tables_kernel import (
    ANGLE,
    DISTANCE,
    IS_REACHED,
    LAST_START,
    STEPS,
    Effort,
    PackedChain,
    PoseGoal,
)

FloatArray = NDArray[np.float64]


class PoseGoals(NamedTuple):
    """What the searches of a batch are to reach.

    Attributes:
        weights: (12,).
        targets: (k, 4, 4) root_T_target.
        position_tolerance: [m].
        rotation_tolerance: [rad].
    """

    weights: FloatArray
    targets: FloatArray
    position_tolerance: float
    rotation_tolerance: float


@jit
def solve_poses(
    chain: PackedChain, goals: PoseGoals, seeds: FloatArray, q: FloatArray, figures: FloatArray,
    work: FloatArray, effort: tuple[int, int, int, float],
) -> None:  # fmt: skip
    """Solve for targets (k, 4, 4) from seeds (k, n) into q (k, n), each as `search` does.

    Args:
        chain: The chain.
        goals: What to reach.
        seeds: (k, n).
        q: (k, n) result.
        figures: (k, 5) result: whether reached, steps, last start, distance [m], angle [rad].
        work: (n + 2 m + 3, 12).
        effort: Steps allowed for each target, number of the last start, patience, and near.
    """
    iterations, last, patience, near = effort
    steady, starts = Effort(iterations, patience, last < 0), Starts(0 * last, last, near)
    for i in range(goals.targets.shape[0]):
        goal = PoseGoal(
            goals.weights, goals.targets[i], goals.position_tolerance, goals.rotation_tolerance
        )
        found = search(chain, goal, seeds[i], q[i], work, steady, starts)
        figures[i, IS_REACHED] = 1.0 if found[0] == REACHED else 0.0
        figures[i, STEPS], figures[i, LAST_START] = found[1], found[2]
        figures[i, DISTANCE], figures[i, ANGLE] = found[3], found[4]

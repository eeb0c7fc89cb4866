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

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import jit
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_search_kernel import solve_pose
from basis_ik.search.tables_kernel import ANGLE, DISTANCE, IS_REACHED, LAST_START, STEPS

FloatArray = NDArray[np.float64]


@jit
def solve_poses(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    reach: float,
    weights: FloatArray,
    targets: FloatArray,
    seeds: FloatArray,
    q: FloatArray,
    figures: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    iterations: int,
    restarts: int,
    patience: int,
    near: float,
) -> None:
    """Solve for targets (k, 4, 4) from seeds (k, n) into q (k, n); see `pose_solve.solve_pose`.

    Row i of `figures` (k, 5) gets: reached, steps, last start, distance [m], angle [rad].
    """
    seed_first, careful = 0 * restarts, restarts < 0  # constants would be types of their own
    for i in range(targets.shape[0]):
        status, steps, last, away, turned = solve_pose(
            exact, joints, variables, ends, reach, weights, targets[i], seeds[i], q[i], work,
            position_tolerance, rotation_tolerance, iterations, seed_first, restarts, patience,
            careful, near,
        )  # fmt: skip
        figures[i, IS_REACHED] = 1.0 if status == REACHED else 0.0
        figures[i, STEPS], figures[i, LAST_START] = steps, last
        figures[i, DISTANCE], figures[i, ANGLE] = away, turned

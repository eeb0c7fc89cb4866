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

"""Some poses of a path one after the other, straight on or aside by self-motion."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.pose.track_kernel import (
    Pace,
    approach,
    begin_ahead,
    bound_step,
    fill_scaled_columns,
    keep_clear,
    project,
)
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_search_kernel import (
    go_back_to_best,
    keep_best,
    measure,
    meets,
    relate_to_target,
    squared_arrival,
)
from basis_ik.search.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    CENTRING,
    SCALE,
    START,
    STEP,
    PackedChain,
    PoseGoal,
)

ONWARD, ASIDE, CLEAR = 0, 1, 2
"""How joints to spare move: on as they came; as far to one side as they may; to where the arm is
free, see `keep_clear`."""

ITERATIONS = 30  # of one descent; from one pose to the next it takes one to four
FARTHEST = 0.3  # [rad] aside from one pose to the next, or reaches for a slide
LEAST_FREE = 1e-3  # of a direction: what is left of it across the null space is noise below


@helper
def step_aside(
    chain: PackedChain, weights: FloatArray, q: FloatArray, aside: FloatArray, work: FloatArray
) -> bool:
    """Move q along the self-motion nearest to a direction, as far as a bound allows.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,), changed.
        aside: (n,) a direction of the scaled variables; becomes that of the self-motion.
        work: With the bounds.

    Returns:
        Whether there is such a self-motion.
    """
    n, amount = q.shape[0], FARTHEST
    fill_scaled_columns(chain, weights, q, work)
    for k in range(n):
        work[k, CENTRING] = aside[k]
    largest = project(q, work)
    if not largest > LEAST_FREE:
        return False
    for k in range(n):
        aside[k] = (work[k, CENTRING] - work[k, STEP]) / largest
        work[k, STEP] = chain.variables[k, SCALE] * aside[k]
        room = (work[k, BOUND_UPPER] if work[k, STEP] > 0.0 else work[k, BOUND_LOWER]) - q[k]
        if work[k, STEP] != 0.0:
            amount = min(amount, room / work[k, STEP])
    for k in range(n):
        moved = q[k] + amount * work[k, STEP]
        q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    return True


@jit
def go_along(
    exact: FloatArray, joints: FloatArray, variables: FloatArray, ends: FloatArray,
    weights: FloatArray, goals: FloatArray, previous: FloatArray, begin: FloatArray,
    bound: FloatArray,
    manner: int, aside: FloatArray, rows: FloatArray, work: FloatArray,
    position_tolerance: float, rotation_tolerance: float,
) -> int:  # fmt: skip
    """Reach poses one after the other, each joint moving by no more than its bound in between.

    The arm goes on as it came, so that it passes through singularities; where that does not lead to
    the next pose, the nearest positions may.

    Args:
        exact: As of `PackedChain`, with the next three.
        joints: Likewise.
        variables: Likewise.
        ends: Likewise.
        weights: (12,).
        goals: (k, 4, 4) root_T_target.
        previous: (n,) positions two poses before.
        begin: (n,) positions at the pose before.
        bound: (n,) largest change, above 0, maybe infinite.
        manner: ONWARD, ASIDE or CLEAR.
        aside: (n,) direction of the scaled variables, for ASIDE; it is changed.
        rows: (k, n) result.
        work: (n + 2 m + 3, 12).
        position_tolerance: [m].
        rotation_tolerance: [rad].

    Returns:
        How many poses were reached.
    """
    chain = PackedChain(exact, joints, variables, ends, np.inf)
    n, before, here = begin.shape[0], previous, begin
    for i in range(goals.shape[0]):
        q, goal = rows[i], PoseGoal(weights, goals[i], position_tolerance, rotation_tolerance)
        arrival = squared_arrival(goal)
        bound_step(variables, here, bound, work)
        relate_to_target(ends[0], goals[i], work, n + joints.shape[0])
        if manner == ONWARD:
            for k in range(n):
                ahead = work[k, START] + here[k] - before[k]
                q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], ahead))
        else:
            begin_ahead(chain, weights, Pace(here, before, bound, ITERATIONS), q, work)
        status, _, _ = approach(chain, weights, q, work, arrival, ITERATIONS)
        if status != REACHED:
            for k in range(n):
                q[k] = work[k, START]
            status, _, _ = approach(chain, weights, q, work, arrival, ITERATIONS)
        if status != REACHED:
            return i
        keep_best(q, work)
        moved = manner == CLEAR and keep_clear(chain, weights, q, work)
        moved = moved or (manner == ASIDE and step_aside(chain, weights, q, aside, work))
        if moved:
            settled, _, _ = approach(chain, weights, q, work, arrival, ITERATIONS)
            if settled != REACHED:
                go_back_to_best(q, work)
        away, turned = measure(chain, goal, q, work)
        if not meets(goal, away, turned):
            return i
        before, here = here, q
    count: int = goals.shape[0]
    return count

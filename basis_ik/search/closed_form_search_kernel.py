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

"""The branches of an arm that has a closed form, as starts of the search."""

from __future__ import annotations

from math import floor, pi

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper, jit
from basis_ik.search.closed_form_kernel import MOST, find_branches
from basis_ik.search.descent_kernel import REACHED, SPENT, STALLED
from basis_ik.search.pose_search_kernel import COLUMNS, solve_pose, take_shortest_turns

FloatArray = NDArray[np.float64]

OUTSIDE = 1e-2  # [rad] beyond a limit at which a branch is still tried: it is polished inside
NOWHERE = -5  # proven: no branch lies within the limits, nor nearly so


@jit
def branch_starts(
    form: FloatArray,
    exact: FloatArray,
    variables: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    starts: FloatArray,
) -> tuple[int, int, float]:
    """Write variables with the branches of a pose as the chain's own starts, the nearest first.

    Args:
        form: See `closed_form.find_branches`.
        exact: Likewise.
        variables: (6, 8 or more), see `pose_solve.solve_pose`.
        target: (4, 4) root_T_target.
        seed: (6,) near which the branches are turned, within the limits where that is possible.
        starts: (6, 16) result.

    Returns:
        How many branches lie within the limits, or so little outside that they have been brought
        inside; how many there are, those farther outside behind; and by how much the target may be
        off, [rad] and [sizes], before there are fewer or more, or one of the latter comes inside.
    """
    found, ways = np.empty((MOST, 7)), np.empty(MOST)
    count, margin = find_branches(form, exact, target, seed, found)
    for i in range(6):
        for c in range(COLUMNS):
            starts[i, c] = variables[i, c]
    inside = 0
    for k in range(count):
        outside, ways[k] = order_branch(variables, seed, found[k])
        if outside > OUTSIDE:
            margin = min(margin, outside / found[k, 6])
        else:
            inside += 1
    for rank in range(count):
        best = 0
        for k in range(1, count):
            if ways[k] < ways[best] or not ways[best] >= 0.0:
                best = k
        ways[best] = np.nan
        for i in range(6):
            starts[i, COLUMNS + rank] = found[best, i]
    return inside, count, margin


@helper
def order_branch(
    variables: FloatArray, seed: FloatArray, branch: FloatArray
) -> tuple[float, float]:
    """Turn a branch to near the seed, within the limits.

    Returns:
        By how much some joint is outside [rad]; and how far it is from the seed, squared, but
        infinitely far where it is outside by more than polishing could mend.
    """
    take_shortest_turns(variables, seed, branch)
    way, outside = 0.0, 0.0
    for k in range(seed.shape[0]):
        lower, upper = variables[k, 0], variables[k, 1]
        if not lower <= branch[k] <= upper:  # by how much depends on the turn: the least counts
            turns = (0.5 * (lower + upper) - branch[k]) / (2.0 * pi)
            branch[k] += 2.0 * pi * floor(turns + 0.5)
            outside = max(outside, lower - branch[k], branch[k] - upper)
        way += (branch[k] - seed[k]) ** 2
    if outside > OUTSIDE:
        return outside, np.inf
    for k in range(seed.shape[0]):
        branch[k] = min(variables[k, 1], max(variables[k, 0], branch[k]))
    return outside, way


@jit
def solve_closed_poses(
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
    patience: int,
    near: float,
    form: FloatArray,
) -> None:
    """Solve for many targets from the seeds and then the branches; see `pose_batch.solve_poses`."""
    starts, last, careful = np.empty((6, COLUMNS + MOST)), 0 * iterations, iterations < 0
    first, far = last + 1, np.inf + 0.0 * near  # constants would be types of their own
    for i in range(targets.shape[0]):
        status, steps, fresh, away, turned = solve_pose(
            exact, joints, variables, ends, reach, weights, targets[i], seeds[i], q[i], work,
            position_tolerance, rotation_tolerance, iterations, last, last, patience, careful, near,
        )  # fmt: skip
        if STALLED <= status <= SPENT:
            inside, _, _ = branch_starts(form, exact, variables, targets[i], seeds[i], starts)
            if inside > 0:
                status, taken, fresh, away, turned = solve_pose(
                    exact, joints, starts, ends, reach, weights, targets[i], seeds[i], q[i], work,
                    position_tolerance, rotation_tolerance, iterations - steps, first, inside,
                    patience, careful, far,
                )  # fmt: skip
                steps += taken
        figures[i, 0] = 1.0 if status == REACHED else 0.0
        figures[i, 1], figures[i, 2], figures[i, 3], figures[i, 4] = steps, fresh, away, turned

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion of an arm over some poses of a path, straight on or aside by self-motion."""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import (
    go_back_to_best,
    keep_best,
    measure,
    meets,
    relate_to_target,
    squared_arrival,
)
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    CENTRING,
    SCALE,
    START,
    STEP,
    ChainFields,
    PackedChain,
    PoseGoal,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.solvers.pose.null_space_kernel import (
    Pace,
    approach,
    bound_step,
    fill_scaled_columns,
    keep_clear,
    project,
)
from basis_ik.solvers.pose.track_kernel import begin_ahead

LANE_ONWARD, LANE_ASIDE, LANE_CLEAR = 0, 1, 2
"""How joints to spare move: on as they came; as far to one side as they may; to where the arm is
free, see `keep_clear`."""

LANE_ITERATIONS = 30  # of one descent; from one pose to the next it takes one to four
FARTHEST_ASIDE = 0.3  # [rad] aside from one pose to the next, or reaches for a slide
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
    n, amount = q.shape[0], FARTHEST_ASIDE
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


WaypointFields = tuple[FloatArray, FloatArray, float, float]
LaneFields = tuple[FloatArray, FloatArray, FloatArray]


class Waypoints(NamedTuple):
    """The poses to reach one after the other."""

    weights: FloatArray
    """(12,)."""
    targets: FloatArray
    """(k, 4, 4) root_T_target."""
    position_tolerance: float
    """[m]."""
    rotation_tolerance: float
    """[rad]."""


class Lane(NamedTuple):
    """Where the arm comes from, and how far it may move from pose to pose."""

    before: FloatArray
    """(n,) positions two poses before the next one."""
    here: FloatArray
    """(n,) positions at the pose before the next one."""
    bound: FloatArray
    """(n,) largest change, above 0, maybe infinite."""


@jit
def go_along(
    chain: ChainFields, waypoints: WaypointFields, lane: LaneFields, manner: int, aside: FloatArray,
    rows: FloatArray, work: FloatArray,
) -> int:  # fmt: skip
    """Run `follow_lane` from Python, with the fields of its named tuples."""
    return follow_lane(
        PackedChain(*chain), Waypoints(*waypoints), Lane(*lane), manner, aside, rows, work
    )


@helper
def follow_lane(
    chain: PackedChain, waypoints: Waypoints, lane: Lane, manner: int, aside: FloatArray,
    rows: FloatArray, work: FloatArray,
) -> int:  # fmt: skip
    """Reach poses one after the other, each joint moving by no more than its bound in between.

    The arm goes on as it came, so that it passes through singularities. Where that does not lead to
    the next pose, the nearest positions may.

    Args:
        chain: The chain.
        waypoints: The k poses.
        lane: Where it begins.
        manner: LANE_ONWARD, LANE_ASIDE or LANE_CLEAR.
        aside: (n,) direction of the scaled variables, for LANE_ASIDE; it is changed.
        rows: (k, n) result.
        work: (n + 2 m + 3, 12).

    Returns:
        How many poses were reached.
    """
    before, here, bound = lane
    n, m, weights = here.shape[0], chain.joints.shape[0], waypoints.weights
    for i in range(waypoints.targets.shape[0]):
        q, target = rows[i], waypoints.targets[i]
        goal = PoseGoal(weights, target, waypoints.position_tolerance, waypoints.rotation_tolerance)
        arrival = squared_arrival(goal)
        bound_step(chain.variables, here, bound, work)
        relate_to_target(chain.ends[0], target, work, n + m)
        if manner == LANE_ONWARD:
            for k in range(n):
                ahead = work[k, START] + here[k] - before[k]
                q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], ahead))
        else:
            begin_ahead(chain, weights, Pace(here, before, bound, LANE_ITERATIONS), q, work)
        status, _, _ = approach(chain, weights, q, work, arrival, LANE_ITERATIONS)
        if status != DESCENT_REACHED:
            for k in range(n):
                q[k] = work[k, START]
            status, _, _ = approach(chain, weights, q, work, arrival, LANE_ITERATIONS)
        if status != DESCENT_REACHED:
            return i
        keep_best(q, work)
        moved = manner == LANE_CLEAR and keep_clear(chain, weights, q, work)
        moved = moved or (manner == LANE_ASIDE and step_aside(chain, weights, q, aside, work))
        if moved:
            again, _, _ = approach(chain, weights, q, work, arrival, LANE_ITERATIONS)
            if again != DESCENT_REACHED:
                go_back_to_best(q, work)
        away, turned = measure(chain, goal, q, work)
        if not meets(goal, away, turned):
            return i
        before, here = here, q
    count: int = waypoints.targets.shape[0]
    return count

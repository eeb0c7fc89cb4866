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

"""One step of a control loop: as near to the target as the joints may go in a tick.

The bound on the step is not laid on a step that was found without it: it joins the limits, and the
descent runs inside the box that both leave. A joint that stands at its bound hands over to the
others, and what comes out is the best that the tick allows.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.bounded_step_kernel import moved_inside
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.descent_kernel import (
    REACHED,
    SPENT,
    STALLED,
    begin,
    descend,
    fill_columns,
    fill_jacobian,
    fill_step,
    place,
)
from basis_ik.search.pose_error_kernel import is_eased, pose_residual
from basis_ik.search.pose_search_kernel import (
    BAD_SEED,
    check_start,
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
    JRX,
    JRY,
    JRZ,
    JX,
    JY,
    JZ,
    LOWER,
    P0,
    P1,
    P2,
    SCALE,
    START,
    STEP,
    UPPER,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Effort,
    PackedChain,
    PoseGoal,
)

FloatArray = NDArray[np.float64]

FREE, AT_LIMIT, AT_STEP = 0, 1, 2
"""What holds an arm back: nothing, a limit of a joint, the bound on the step."""

SHARE = 4.0  # of self-motion for each radian that the target makes the arm move, at the limits
STEEP = 4  # even power by which joints are pulled less that are farther from their limits
FADING = 1e-8  # damping of self-motion: what moves the tip by less than 1e-4 of a turn is free
KICK = 0.05  # [rad], or reaches for a slide: largest kick off a singularity
BETTER = 1.0 - 1e-9  # of the squared error: what a kick gains is of the bound's second order
PULL = 1e-4  # of the error, per radian, that a joint must take off to be what holds the arm back


@helper
def bound_step(
    variables: FloatArray, current: FloatArray, bound: FloatArray, work: FloatArray
) -> None:
    """Write between what bounds the step may move each variable, and where it starts, into `work`.

    From outside the limits the step leads inwards, as far as the bound allows.
    """
    for k in range(variables.shape[0]):
        low, high = current[k] - bound[k], current[k] + bound[k]
        start = min(variables[k, UPPER], max(variables[k, LOWER], current[k]))
        start = min(high, max(low, start))
        work[k, BOUND_LOWER] = min(start, max(variables[k, LOWER], low))
        work[k, BOUND_UPPER] = max(start, min(variables[k, UPPER], high))
        work[k, START] = start


@helper
def approach(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float], iterations: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Descend from q by steps that each come nearer; see `descent_kernel.descend`."""
    begin(work)
    careful = iterations >= 0  # a constant would be a type of its own
    return descend(chain, weights, q, work, arrival, Effort(iterations, iterations, careful))


@helper
def rows_of(weights: FloatArray) -> int:
    """Return how many components of the pose are wanted."""
    rows = 0
    for c in range(6):
        rows += weights[c] > 0.0
    return rows


@helper
def off_middle(variables: FloatArray, q: FloatArray, k: int) -> float:
    """Return where a joint stands between its limits, from -1 to 1; 0 where it has none."""
    half = 0.5 * (variables[k, UPPER] - variables[k, LOWER])
    return (q[k] - variables[k, LOWER]) / half - 1.0 if 0.0 < half < np.inf else 0.0


@helper
def begin_ahead(current: FloatArray, previous: FloatArray, q: FloatArray, work: FloatArray) -> None:
    """Write where q would be if the arm went on as it came.

    At a singularity two ways part, and what is nearest is to turn back. An arm that comes with a
    velocity passes instead.
    """
    for k in range(q.shape[0]):
        ahead = work[k, START] + (current[k] - previous[k])
        q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], ahead))


@helper
def centre(chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray) -> bool:
    """Move q by self-motion away from the limits, where there are joints to spare.

    Liégeois 1977: a pull to the middle, projected into the null space of the Jacobian. The joint
    nearest to its limits is pulled as if it were alone: the mean of all would rather lead it into
    its limit. The pull goes with what the target made the arm move in this step, so that an arm at
    rest stays at rest.
    """
    joints, variables = chain.joints, chain.variables
    n, travel = variables.shape[0], 0.0
    if n <= rows_of(weights):
        return False
    worst = 0.0
    for k in range(n):
        worst = max(worst, abs(off_middle(variables, q, k)))
    tip = place(joints, chain.ends[1], q, work, n)
    w3, w4, w5 = weights[WRX], weights[WRY], weights[WRZ]
    factors = (weights[WX], weights[WY], weights[WZ], w3, w4, w5)
    fill_columns(joints, work, n, (tip[P0], tip[P1], tip[P2]), factors)
    e0, e1, e2, e3, e4, e5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        scale, pull = variables[k, SCALE], -off_middle(variables, q, k)
        travel = max(travel, abs(q[k] - work[k, START]) / scale)
        if worst > 0.0:
            pull *= (pull / worst) ** STEEP
        work[k, CENTRING] = pull
        e0 -= scale * pull * work[k, JX]
        e1 -= scale * pull * work[k, JY]
        e2 -= scale * pull * work[k, JZ]
        e3 -= scale * pull * work[k, JRX]
        e4 -= scale * pull * work[k, JRY]
        e5 -= scale * pull * work[k, JRZ]
    fill_step(variables, q, work, FADING, (e0, e1, e2, e3, e4, e5))
    for k in range(n):
        moved = q[k] + SHARE * travel * variables[k, SCALE] * (work[k, CENTRING] + work[k, STEP])
        q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    return travel > 0.0


@helper
def what_holds(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray
) -> tuple[int, int]:
    """Return what keeps the arm from coming nearer, and the joint that would give most.

    While a joint stands at the bound of its step, time will tell about the limits.
    """
    joints, variables, n, boxed = chain.joints, chain.variables, q.shape[0], is_eased(weights)
    frame = place(joints, chain.ends[1], q, work, n)
    residual = pose_residual(weights, boxed, work, n + joints.shape[0] + 1, frame)
    e0, e1, e2, e3, e4, e5 = residual
    fill_jacobian(joints, weights, boxed, work, n, frame)
    size = sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5)
    holds, joint, most = FREE, -1, 0.0
    for k in range(n):
        linear = work[k, JX] * e0 + work[k, JY] * e1 + work[k, JZ] * e2
        pull = linear + work[k, JRX] * e3 + work[k, JRY] * e4 + work[k, JRZ] * e5
        pull *= variables[k, SCALE]
        low = q[k] <= work[k, BOUND_LOWER] and pull < -PULL * size
        if low or (q[k] >= work[k, BOUND_UPPER] and pull > PULL * size):
            by = AT_LIMIT if q[k] == variables[k, LOWER if pull < 0.0 else UPPER] else AT_STEP
            if by > holds or (by == holds and abs(pull) > most):
                holds, joint, most = by, k, abs(pull)
    return holds, joint


@helper
def begin_kicked(variables: FloatArray, q: FloatArray, work: FloatArray, number: int) -> None:
    """Write the start with one joint kicked aside: joint number // 2, to and fro.

    At a singularity the way to the target may have no slope at the start: a straight arm does not
    come nearer by any small motion, and goes either way round once its elbow is bent a little.
    """
    k = number // 2
    for i in range(q.shape[0]):
        q[i] = work[i, START]
    kick = min(KICK * variables[k, SCALE], 0.5 * (work[k, BOUND_UPPER] - work[k, BOUND_LOWER]))
    moved = q[k] + kick if number % 2 == 0 else q[k] - kick
    q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], moved))


class Pace(NamedTuple):
    """Where an arm is, and how far it may go.

    Attributes:
        current: (n,) where the arm is.
        previous: (n,) where it was one step ago; `current` where that is not known.
        bound: (n,) largest change of each joint, above 0, maybe infinite.
        iterations: Steps allowed to each descent.
    """

    current: FloatArray
    previous: FloatArray
    bound: FloatArray
    iterations: int


@jit
def step_towards(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    weights: FloatArray,
    target: FloatArray,
    current: FloatArray,
    previous: FloatArray,
    bound: FloatArray,
    q: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    iterations: int,
) -> tuple[int, int, float, float, int, int]:
    """Run `step` from Python, on the fields of its arguments one by one."""
    chain = PackedChain(exact, joints, variables, ends, np.inf)
    goal = PoseGoal(weights, target, position_tolerance, rotation_tolerance)
    return step(chain, goal, Pace(current, previous, bound, iterations), q, work)


@helper
def step(
    chain: PackedChain, goal: PoseGoal, pace: Pace, q: FloatArray, work: FloatArray
) -> tuple[int, int, float, float, int, int]:
    """Move towards a target, each joint by no more than its bound, and say what held the arm back.

    Args:
        chain: The chain.
        goal: What to reach.
        pace: Where the arm is, and how far it may go.
        q: (n,) result.
        work: (n + 2 m + 3, 12).

    Returns:
        REACHED, STALLED or SPENT, or BAD_SEED or BAD_TARGET before any work; steps; distance [m]
        and angle [rad] left at q; FREE, AT_LIMIT or AT_STEP, and the joint that holds most.
    """
    refused = check_start(pace.previous, goal.target)
    if refused != BAD_SEED:
        refused = check_start(pace.current, goal.target)
    if refused != 0:
        return refused, 0, np.inf, np.inf, FREE, -1
    weights, arrival = goal.weights, squared_arrival(goal)
    bound_step(chain.variables, pace.current, pace.bound, work)
    relate_to_target(chain.ends[0], goal.target, work, q.shape[0] + chain.joints.shape[0])
    status, steps, least = first_approach(chain, weights, pace, q, work, arrival)
    keep_best(q, work)
    if status == REACHED and centre(chain, weights, q, work):
        settled, taken, _ = approach(chain, weights, q, work, arrival, pace.iterations)
        steps += taken
        if settled != REACHED:
            go_back_to_best(q, work)
    holds, joint = FREE, -1
    if status != REACHED:
        holds, joint = what_holds(chain, weights, q, work)
    if status != REACHED and holds == FREE:
        status, taken = kick_off(chain, weights, q, work, arrival, (status, least, pace.iterations))
        steps += taken
        holds, joint = what_holds(chain, weights, q, work)
    away, turned = measure(chain, goal, q, work)
    if meets(goal, away, turned):
        return REACHED, steps, away, turned, FREE, -1
    return (SPENT if status == SPENT else STALLED), steps, away, turned, holds, joint


@helper
def first_approach(
    chain: PackedChain, weights: FloatArray, pace: Pace, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float],
) -> tuple[int, int, float]:  # fmt: skip
    """Descend from where the arm is; if it moves, first see whether it may stay or go on so.

    Joints to spare shall not go on in self-motion.
    """
    comes = False
    for k in range(q.shape[0]):
        comes = comes or pace.current[k] != pace.previous[k]
    passing = comes and q.shape[0] <= rows_of(weights)
    status, steps, least = STALLED, 0, np.inf
    for attempt in range(3):  # to stay, to go on as the arm came, to come nearer
        if not passing and attempt < 2:
            continue
        for k in range(q.shape[0]):
            q[k] = work[k, START]
        if attempt == 1:
            begin_ahead(pace.current, pace.previous, q, work)
        allowed = 0 if attempt == 0 else pace.iterations
        status, taken, least = approach(chain, weights, q, work, arrival, allowed)
        steps += taken
        if status == REACHED:
            break
    return status, steps, least


@helper
def kick_off(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float], stands: tuple[int, float, int],
) -> tuple[int, int]:  # fmt: skip
    """Kick each joint to and fro off a singularity, and take the best descent from there.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) result.
        work: With the best so far.
        arrival: See `descend`.
        stands: How the descent without a kick ended, its weighted squared error, and the steps
            allowed to each descent.

    Returns:
        How the best descent ended; steps taken.
    """
    (status, least, iterations), steps = stands, 0
    for number in range(2 * q.shape[0]):
        begin_kicked(chain.variables, q, work, number)
        freed, taken, error = approach(chain, weights, q, work, arrival, iterations)
        steps += taken
        if error < BETTER * least:
            status, least = freed, error
            keep_best(q, work)
        if freed == REACHED:
            break
    go_back_to_best(q, work)
    return status, steps

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
    ease_columns,
    fill_columns,
    fill_step,
    place,
)
from basis_ik.search.pose_error_kernel import (
    axis_error,
    beyond,
    is_eased,
    rotation_beyond,
    rotation_error,
)
from basis_ik.search.pose_search_kernel import (
    BAD_SEED,
    BAD_TARGET,
    LARGEST_ANGLE,
    MARGIN,
    is_sound,
    relate_to_target,
)
from basis_ik.search.proof_kernel import distance_and_angle, place_exactly
from basis_ik.search.tables_kernel import (
    BEST,
    BOUND_LOWER,
    BOUND_UPPER,
    BOX_X,
    BOX_Y,
    BOX_Z,
    CENTRING,
    JRX,
    JRY,
    JRZ,
    JX,
    JY,
    JZ,
    LOWER,
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
    joints: FloatArray, variables: FloatArray, tip: FloatArray, weights: FloatArray, q: FloatArray,
    work: FloatArray, aim_p: float, aim_r: float, iterations: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Descend from q by steps that each come nearer; see `descent.descend`."""
    begin(work)
    patience, careful = iterations, iterations >= 0  # constants would be types of their own
    return descend(
        joints, variables, tip, weights, q, work, aim_p, aim_r, iterations, patience, careful
    )


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
def centre(
    joints: FloatArray, variables: FloatArray, tip: FloatArray,
    weights: FloatArray, q: FloatArray, work: FloatArray,
) -> bool:  # fmt: skip
    """Move q by self-motion away from the limits, where there are joints to spare.

    Liégeois 1977: a pull to the middle, projected into the null space of the Jacobian. The joint
    nearest to its limits is pulled as if it were alone: the mean of all would rather lead it into
    its limit. The pull goes with what the target made the arm move in this step, so that an arm at
    rest stays at rest.
    """
    n, travel = variables.shape[0], 0.0
    if n <= rows_of(weights):
        return False
    worst = 0.0
    for k in range(n):
        worst = max(worst, abs(off_middle(variables, q, k)))
    w0, w1, w2 = weights[WX], weights[WY], weights[WZ]
    w3, w4, w5 = weights[WRX], weights[WRY], weights[WRZ]
    _, _, _, p0, _, _, _, p1, _, _, _, p2 = place(joints, tip, q, work, n)
    fill_columns(joints, work, n, p0, p1, p2, w0, w1, w2, w3, w4, w5)
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
    fill_step(variables, q, work, FADING, e0, e1, e2, e3, e4, e5)
    for k in range(n):
        moved = q[k] + SHARE * travel * variables[k, SCALE] * (work[k, CENTRING] + work[k, STEP])
        q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])
    return travel > 0.0


@helper
def what_holds(
    joints: FloatArray, variables: FloatArray, tip: FloatArray,
    weights: FloatArray, q: FloatArray, work: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Return what keeps the arm from coming nearer, and the joint that would give most.

    While a joint stands at the bound of its step, time will tell about the limits.
    """
    n = variables.shape[0]
    w0, w1, w2 = weights[WX], weights[WY], weights[WZ]
    w3, w4, w5 = weights[WRX], weights[WRY], weights[WRZ]
    r00, r01, r02, p0, r10, r11, r12, p1, r20, r21, r22, p2 = place(joints, tip, q, work, n)
    e0 = -w0 * beyond(p0, weights[BOX_X])
    e1 = -w1 * beyond(p1, weights[BOX_Y])
    e2 = -w2 * beyond(p2, weights[BOX_Z])
    if is_eased(weights):
        slopes = n + joints.shape[0] + 1
        e3, e4, e5 = rotation_beyond(
            weights, work, slopes, r00, r01, r02, r10, r11, r12, r20, r21, r22
        )
        fill_columns(joints, work, n, p0, p1, p2, w0, w1, w2, 1.0, 1.0, 1.0)
        ease_columns(work, n, slopes)
    else:
        if w5 == 0.0 and w3 > 0.0:
            e3, e4, e5 = axis_error(r02, r12, r22)
        else:
            e3, e4, e5 = rotation_error(r00, r01, r02, r10, r11, r12, r20, r21, r22)
        e3, e4, e5 = w3 * e3, w4 * e4, w5 * e5
        fill_columns(joints, work, n, p0, p1, p2, w0, w1, w2, w3, w4, w5)
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
    """Move towards a target, each joint by no more than its bound, and say what held the arm back.

    Args:
        exact: See `pose_solve.solve_pose`, as for all that is not named here.
        joints: Likewise.
        variables: Likewise.
        ends: Likewise.
        weights: Likewise.
        target: (4, 4) root_T_target.
        current: (n,) where the arm is.
        previous: (n,) where it was one step ago; `current` where that is not known.
        bound: (n,) largest change of each joint, above 0, maybe infinite.
        q: (n,) result.
        work: (n + 2 m + 3, 12).
        position_tolerance: [m].
        rotation_tolerance: [rad].
        iterations: Steps allowed to each descent.

    Returns:
        REACHED, STALLED or SPENT, or BAD_SEED or BAD_TARGET before any work; steps; distance [m]
        and angle [rad] left at q; FREE, AT_LIMIT or AT_STEP, and the joint that holds most.
    """
    n, last = variables.shape[0], variables.shape[0] + joints.shape[0]
    comes = False
    for k in range(n):
        if not (abs(current[k]) <= LARGEST_ANGLE and abs(previous[k]) <= LARGEST_ANGLE):
            return BAD_SEED, 0, np.inf, np.inf, FREE, -1
        comes = comes or current[k] != previous[k]
    if not is_sound(target):
        return BAD_TARGET, 0, np.inf, np.inf, FREE, -1
    tip, frame = ends[1], work[last + 1].reshape((3, 4))
    aim_p = (MARGIN * position_tolerance * max(weights[WX], max(weights[WY], weights[WZ]))) ** 2
    aim_r = (MARGIN * rotation_tolerance * max(weights[WRX], max(weights[WRY], weights[WRZ]))) ** 2
    bound_step(variables, current, bound, work)
    relate_to_target(ends[0], target, work, last)
    status, steps, least = STALLED, 0, np.inf
    passing = comes and n <= rows_of(weights)  # joints to spare shall not go on in self-motion
    for attempt in range(3):  # to stay, to go on as the arm came, to come nearer
        if not passing and attempt < 2:
            continue
        for k in range(n):
            q[k] = work[k, START]
        if attempt == 1:
            begin_ahead(current, previous, q, work)
        allowed = 0 if attempt == 0 else iterations
        status, taken, least = approach(
            joints, variables, tip, weights, q, work, aim_p, aim_r, allowed
        )
        steps += taken
        if status == REACHED:
            break
    for k in range(n):
        work[k, BEST] = q[k]
    if status == REACHED and centre(joints, variables, tip, weights, q, work):
        settled, taken, _ = approach(
            joints, variables, tip, weights, q, work, aim_p, aim_r, iterations
        )
        steps += taken
        if settled != REACHED:
            for k in range(n):
                q[k] = work[k, BEST]
    holds, joint = FREE, -1
    if status != REACHED:
        holds, joint = what_holds(joints, variables, tip, weights, q, work)
    if status != REACHED and holds == FREE:
        for number in range(2 * n):
            begin_kicked(variables, q, work, number)
            freed, taken, error = approach(
                joints, variables, tip, weights, q, work, aim_p, aim_r, iterations
            )
            steps += taken
            if error < BETTER * least:
                status, least = freed, error
                for k in range(n):
                    work[k, BEST] = q[k]
            if freed == REACHED:
                break
        for k in range(n):
            q[k] = work[k, BEST]
        holds, joint = what_holds(joints, variables, tip, weights, q, work)
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    near_enough = weights[WX] == 0.0 or away <= position_tolerance
    if near_enough and (weights[WRX] == 0.0 or turned <= rotation_tolerance):
        return REACHED, steps, away, turned, FREE, -1
    return (SPENT if status == SPENT else STALLED), steps, away, turned, holds, joint

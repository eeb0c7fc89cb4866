# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One step of a control loop: as near to the target as the joints may go in a tick.

The bound on the step is not laid on a step that was found without it: it joins the limits, and the
descent runs inside the box that both leave. A joint that stands at its bound hands over to the
others, and what comes out is the best that the tick allows.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from basis_ik.descent.descent_kernel import (
    DESCENT_REACHED,
    DESCENT_SPENT,
    DESCENT_STALLED,
    fill_jacobian,
    place,
)
from basis_ik.descent.pose_error_kernel import has_deadband, pose_residual
from basis_ik.descent.pose_search_kernel import (
    BAD_SEED,
    check_start,
    go_back_to_best,
    is_out_of_reach,
    keep_best,
    measure,
    meets,
    relate_to_target,
    squared_arrival,
)
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
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
    ChainFields,
    GoalFields,
    PackedChain,
    PoseGoal,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import leaves
from basis_ik.numerics.jit import helper, jit
from basis_ik.solvers.pose.detour_kernel import make_detour
from basis_ik.solvers.pose.null_space_kernel import (
    Pace,
    approach,
    bound_step,
    fill_least,
    fill_scaled_columns,
    keep_clear,
    product,
    rows_of,
)

HELD_BY_NOTHING, HELD_BY_LIMIT, HELD_BY_STEP = 0, 1, 2
"""What holds an arm back: nothing, a limit of a joint, the bound on the step."""

LARGEST_KICK = 0.05  # [rad], or reaches for a slide: largest kick off a singularity
KICK_GAIN = 1.0 - 1e-9  # of the squared error: what a kick gains is of the bound's second order
# Of the error, per radian, that a joint must take off to be what holds the arm back.
HOLDING_PULL = 1e-4


@helper
def begin_ahead(
    chain: PackedChain, weights: FloatArray, pace: Pace, q: FloatArray, work: FloatArray
) -> None:
    """Write where q would be if the arm went on as it came, but for self-motion.

    At a singularity two ways part, and what is nearest is to turn back. An arm that comes with a
    velocity passes instead.
    """
    variables, n = chain.variables, q.shape[0]
    for k in range(n):
        q[k], work[k, STEP] = work[k, START], pace.current[k] - pace.previous[k]
    if n > rows_of(weights):
        fill_scaled_columns(chain, weights, q, work)
        for k in range(n):
            work[k, STEP] /= variables[k, SCALE]
        fill_least(work, n, product(work, n, STEP))
        for k in range(n):
            work[k, STEP] *= variables[k, SCALE]
    for k in range(n):
        ahead = work[k, START] + work[k, STEP]
        q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], ahead))


@helper
def what_holds(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray
) -> tuple[int, int]:
    """Return what keeps the arm from coming nearer, and the joint that would give most.

    While a joint stands at the bound of its step, time will tell about the limits.
    """
    joints, variables, n, boxed = chain.joints, chain.variables, q.shape[0], has_deadband(weights)
    frame = place(joints, chain.ends[1], q, work, n)
    residual = pose_residual(weights, boxed, work, n + joints.shape[0] + 1, frame)
    e0, e1, e2, e3, e4, e5 = residual
    fill_jacobian(joints, weights, boxed, work, n, frame)
    size = sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5)
    holds, joint, most = HELD_BY_NOTHING, -1, 0.0
    for k in range(n):
        linear = work[k, JX] * e0 + work[k, JY] * e1 + work[k, JZ] * e2
        pull = linear + work[k, JRX] * e3 + work[k, JRY] * e4 + work[k, JRZ] * e5
        pull *= variables[k, SCALE]
        if leaves(q[k], work[k, BOUND_LOWER], work[k, BOUND_UPPER], pull, HOLDING_PULL * size):
            by = (
                HELD_BY_LIMIT
                if q[k] == variables[k, LOWER if pull < 0.0 else UPPER]
                else HELD_BY_STEP
            )
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
    kick = min(
        LARGEST_KICK * variables[k, SCALE], 0.5 * (work[k, BOUND_UPPER] - work[k, BOUND_LOWER])
    )
    moved = q[k] + kick if number % 2 == 0 else q[k] - kick
    q[k] = min(work[k, BOUND_UPPER], max(work[k, BOUND_LOWER], moved))


@jit
def step_towards(
    chain_fields: ChainFields, goal_fields: GoalFields,
    pace_fields: tuple[FloatArray, FloatArray, FloatArray, int], motion: FloatArray, q: FloatArray,
    work: FloatArray,
) -> tuple[int, int, float, float, int, int]:  # fmt: skip
    """Run `step` from Python, on the fields of its named tuples."""
    chain, goal, pace = PackedChain(*chain_fields), PoseGoal(*goal_fields), Pace(*pace_fields)
    return step(chain, goal, pace, motion, q, work)


@helper
def step(
    chain: PackedChain, goal: PoseGoal, pace: Pace, motion: FloatArray, q: FloatArray,
    work: FloatArray,
) -> tuple[int, int, float, float, int, int]:  # fmt: skip
    """Move towards a target, each joint by no more than its bound, and say what held the arm back.

    Args:
        chain: The chain.
        goal: What to reach.
        pace: Where the arm is, and how far it may go.
        motion: (6,) the target's twist in the last step; zero where it is not known.
        q: (n,) result.
        work: (n + 2 m + 3, 12).

    Returns:
        DESCENT_REACHED, DESCENT_STALLED or DESCENT_SPENT, or BAD_SEED or BAD_TARGET before any
        work; steps; distance [m] and angle [rad] left at q; HELD_BY_NOTHING, HELD_BY_LIMIT or
        HELD_BY_STEP, and the joint that holds most.
    """
    refused = check_start(pace.previous, goal.target)
    if refused != BAD_SEED:
        refused = check_start(pace.current, goal.target)
    if refused != 0:
        return refused, 0, np.inf, np.inf, HELD_BY_NOTHING, -1
    weights, arrival = goal.weights, squared_arrival(goal)
    bound_step(chain.variables, pace.current, pace.bound, work)
    relate_to_target(chain.ends[0], goal.target, work, q.shape[0] + chain.joints.shape[0])
    status, steps, least = first_approach(chain, weights, pace, q, work, arrival)
    keep_best(q, work)
    if status == DESCENT_REACHED and keep_clear(chain, weights, q, work):
        again, taken, _ = approach(chain, weights, q, work, arrival, pace.iterations)
        steps += taken
        if again != DESCENT_REACHED:
            go_back_to_best(q, work)
    holds, joint = HELD_BY_NOTHING, -1
    if status != DESCENT_REACHED:
        holds, joint = what_holds(chain, weights, q, work)
    if status != DESCENT_REACHED and holds == HELD_BY_NOTHING:
        status, taken = kick_off(chain, weights, q, work, arrival, (status, least, pace.iterations))
        steps += taken
        holds, joint = what_holds(chain, weights, q, work)
    if (
        status != DESCENT_REACHED
        and q.shape[0] > rows_of(weights)
        and not is_out_of_reach(chain, goal)
    ):
        slowest = make_detour(chain, goal, pace, motion, q, work, arrival)
        if slowest >= 0:
            holds, joint = HELD_BY_STEP, slowest
    away, turned = measure(chain, goal, q, work)
    if meets(goal, away, turned):
        return DESCENT_REACHED, steps, away, turned, HELD_BY_NOTHING, -1
    return (
        (DESCENT_SPENT if status == DESCENT_SPENT else DESCENT_STALLED),
        steps,
        away,
        turned,
        holds,
        joint,
    )


@helper
def first_approach(
    chain: PackedChain, weights: FloatArray, pace: Pace, q: FloatArray, work: FloatArray,
    arrival: tuple[float, float],
) -> tuple[int, int, float]:  # fmt: skip
    """Descend from where the arm is; if it moves, first see whether it may stay or go on so."""
    passing = False
    for k in range(q.shape[0]):
        passing = passing or pace.current[k] != pace.previous[k]
    status, steps, least = DESCENT_STALLED, 0, np.inf
    for attempt in range(3):  # to stay, to go on as the arm came, to come nearer
        if not passing and attempt < 2:
            continue
        for k in range(q.shape[0]):
            q[k] = work[k, START]
        if attempt == 1:
            begin_ahead(chain, weights, pace, q, work)
        allowed = 0 if attempt == 0 else pace.iterations
        status, taken, least = approach(chain, weights, q, work, arrival, allowed)
        steps += taken
        if status == DESCENT_REACHED:
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
        if error < KICK_GAIN * least:
            status, least = freed, error
            keep_best(q, work)
        if freed == DESCENT_REACHED:
            break
    go_back_to_best(q, work)
    return status, steps

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Self-motion of tracking: away from limits, and from where joints would have to be fast."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import (
    begin_descent,
    descend,
    fill_columns,
    place,
    twist_by,
)
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    CENTRING,
    DRIVER,
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
    SLIDE,
    START,
    STEP,
    TURN,
    UPPER,
    WRX,
    WRY,
    WRZ,
    WX,
    WY,
    WZ,
    Effort,
    PackedChain,
    Six,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import leaves, moved_inside
from basis_ik.numerics.jit import helper
from basis_ik.numerics.normal_equations_kernel import (
    diagonal_6,
    solve_symmetric_6,
    with_column_6,
)

# Of self-motion, by joints to spare, per radian that the target moves the arm.
SELF_MOTION_SHARE = 20.0
SELF_MOTION_SOFTNESS = 0.5  # pull [1/rad] at which self-motion has half of that speed
MOST_SELF_MOTION = 0.3  # [rad] in a step, or reaches for a slide: beyond it the tip is lost
LIMIT_RANGE = 2.5  # [rad], or reaches for a slide: about where a limit begins to pull
LEAST_ROOM = 1e-3 * LIMIT_RANGE  # keeps the pull finite at a limit
SLOWNESS = 3.0  # weight of the logarithm of the joints' speed, beside that of their room
# Damping of self-motion: what moves the tip by less than 1e-4 of a turn is free.
SELF_MOTION_DAMPING = 1e-8


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
    begin_descent(work)
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
def fill_scaled_columns(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray
) -> Triple:
    """Write the Jacobian at q, its rows weighted, by scaled variables; return where the tip is."""
    n = q.shape[0]
    frame = place(chain.joints, chain.ends[1], q, work, n)
    tip = (frame[P0], frame[P1], frame[P2])
    w3, w4, w5 = weights[WRX], weights[WRY], weights[WRZ]
    fill_columns(chain.joints, work, n, tip, (weights[WX], weights[WY], weights[WZ], w3, w4, w5))
    for k in range(n):
        for c in range(6):
            work[k, c] *= chain.variables[k, SCALE]
    return tip


@helper
def product(work: FloatArray, n: int, column: int) -> Six:
    """Return what the Jacobian in `work` makes of a column: a twist, its rows weighted."""
    e0, e1, e2, e3, e4, e5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        rate = work[k, column]
        e0 += rate * work[k, JX]
        e1 += rate * work[k, JY]
        e2 += rate * work[k, JZ]
        e3 += rate * work[k, JRX]
        e4 += rate * work[k, JRY]
        e5 += rate * work[k, JRZ]
    return e0, e1, e2, e3, e4, e5


@helper
def fill_least(work: FloatArray, n: int, twist: Six) -> Six:
    """Write the least rates that make a twist as STEP: Jᵀ z; return z = (J Jᵀ)⁻¹ twist."""
    gram = diagonal_6(SELF_MOTION_DAMPING)
    for k in range(n):
        j0, j1, j2 = work[k, JX], work[k, JY], work[k, JZ]
        gram = with_column_6(gram, (j0, j1, j2, work[k, JRX], work[k, JRY], work[k, JRZ]))
    z0, z1, z2, z3, z4, z5 = solve_symmetric_6(gram, twist)
    for k in range(n):
        rate = work[k, JX] * z0 + work[k, JY] * z1 + work[k, JZ] * z2
        work[k, STEP] = rate + work[k, JRX] * z3 + work[k, JRY] * z4 + work[k, JRZ] * z5
    return z0, z1, z2, z3, z4, z5


@helper
def pull_off_limits(variables: FloatArray, q: FloatArray, work: FloatArray) -> None:
    """Write the gradient of the joints' room to their limits.

    The room is the product of a / (a + LIMIT_RANGE) over all distances a. It counts near limits
    alone.
    """
    for k in range(q.shape[0]):
        scale = variables[k, SCALE]
        low = max(LEAST_ROOM, (q[k] - variables[k, LOWER]) / scale)
        high = max(LEAST_ROOM, (variables[k, UPPER] - q[k]) / scale)
        work[k, CENTRING] = LIMIT_RANGE / (low * (low + LIMIT_RANGE)) - LIMIT_RANGE / (
            high * (high + LIMIT_RANGE)
        )


@helper
def pull_to_slow_joints(
    chain: PackedChain, weights: FloatArray, work: FloatArray, tip: Triple, z: Six
) -> None:
    """Add the gradient by which the joints need less speed for the tip's present motion.

    With the least rates r = Jᵀ z for a twist, d |r|² = -2 z · dJ r: what counts is how that twist
    changes, at constant rates, with each joint. Of its position with joint k that is
    w_k × (sum of v_i from k on) + (sum of w_i before k) × v_k, of its rotation
    w_k × (sum of w_i from k on), with the motions v_i and w_i of the tip by each joint's rate.

    Args:
        chain: The chain.
        weights: (12,).
        work: With the rates as STEP, and the places of the axes.
        tip: Where the tip is, in the axes' frame.
        z: As `fill_least` returned it.
    """
    joints, variables = chain.joints, chain.variables
    n, m, speed = variables.shape[0], joints.shape[0], 0.0
    for k in range(n):
        speed += work[k, STEP] ** 2
    if not speed > 0.0:
        return
    a0, a1, a2 = weights[WX] * z[0], weights[WY] * z[1], weights[WZ] * z[2]
    b0, b1, b2 = weights[WRX] * z[3], weights[WRY] * z[4], weights[WRZ] * z[5]
    v0, v1, v2, w0, w1, w2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # of the joints from i on
    u0, u1, u2 = 0.0, 0.0, 0.0  # the turning of those before
    for i in range(2 * m):
        j = i if i < m else i - m
        row, k = n + j, int(joints[j, DRIVER])
        scale, rate = variables[k, SCALE], work[k, STEP]
        turn, slide = scale * joints[j, TURN], scale * joints[j, SLIDE]
        c0, c1, c2, x, y, d = twist_by(turn, slide, work, row, tip)
        if i < m:  # first their sums over all joints
            v0, v1, v2 = v0 + rate * c0, v1 + rate * c1, v2 + rate * c2
            w0, w1, w2 = w0 + rate * x, w1 + rate * y, w2 + rate * d
            continue
        change = x * (v1 * a2 - v2 * a1 + w1 * b2 - w2 * b1)
        change += y * (v2 * a0 - v0 * a2 + w2 * b0 - w0 * b2)
        change += d * (v0 * a1 - v1 * a0 + w0 * b1 - w1 * b0)
        change += c0 * (a1 * u2 - a2 * u1) + c1 * (a2 * u0 - a0 * u2) + c2 * (a0 * u1 - a1 * u0)
        work[k, CENTRING] += SLOWNESS / speed * change
        v0, v1, v2 = v0 - rate * c0, v1 - rate * c1, v2 - rate * c2
        w0, w1, w2 = w0 - rate * x, w1 - rate * y, w2 - rate * d
        u0, u1, u2 = u0 + rate * x, u1 + rate * y, u2 + rate * d


@helper
def project(q: FloatArray, work: FloatArray) -> float:
    """Write as STEP what the pull has across the null space; return the largest entry of the rest.

    A joint that stands at its bound and would leave it is taken out, and the others go on.
    """
    n, largest, leaving = q.shape[0], 0.0, True
    while leaving:
        fill_least(work, n, product(work, n, CENTRING))
        largest, leaving = 0.0, False
        for k in range(n):
            free = work[k, CENTRING] - work[k, STEP]
            if leaves(q[k], work[k, BOUND_LOWER], work[k, BOUND_UPPER], free, 0.0):
                leaving, work[k, CENTRING] = True, 0.0
                for c in range(6):
                    work[k, c] = 0.0
            largest = max(largest, abs(free))
    return largest


@helper
def fill_self_motion(
    chain: PackedChain, weights: FloatArray, q: FloatArray, tip: Triple, twist: Six,
    work: FloatArray,
) -> float:  # fmt: skip
    """Write as STEP what the pulls at q have along the self-motion; return the largest entry.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) where the arm is.
        tip: As `fill_scaled_columns` returned it.
        twist: (6,) how the target makes the tip move, its rows weighted.
        work: With the Jacobian at q.
    """
    z = fill_least(work, q.shape[0], twist)
    pull_off_limits(chain.variables, q, work)
    pull_to_slow_joints(chain, weights, work, tip, z)
    largest = project(q, work)
    for k in range(q.shape[0]):
        work[k, STEP] = work[k, CENTRING] - work[k, STEP]
    return largest


@helper
def move_along(
    variables: FloatArray, here: FloatArray, free: FloatArray, amount: float, q: FloatArray,
    work: FloatArray,
) -> None:  # fmt: skip
    """Write to q where an amount of the scaled motion `free` leads from `here`."""
    for k in range(q.shape[0]):
        moved = here[k] + amount * variables[k, SCALE] * free[k]
        q[k] = moved_inside(here[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@helper
def overshoot(
    chain: PackedChain, weights: FloatArray, q: FloatArray, free: FloatArray, twist: Six,
    work: FloatArray,
) -> float:  # fmt: skip
    """Return how many times too long a self-motion to q is that began with the pull `free`, or 1.

    It is too long if the pull has changed by more than itself. One joint to spare leaves one
    direction, and the pull then points back; where the secant meets zero it would have vanished.
    """
    tip = fill_scaled_columns(chain, weights, q, work)
    fill_self_motion(chain, weights, q, tip, twist, work)
    pull, change = 0.0, 0.0
    for k in range(q.shape[0]):
        pull += free[k] * free[k]
        change += (free[k] - work[k, STEP]) ** 2
    return sqrt(change / pull) if change > pull > 0.0 else 1.0


@helper
def keep_clear(chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray) -> bool:
    """Move q by self-motion away from what will stop the arm, where there are joints to spare.

    Liégeois 1977: the gradient of what is good for the arm, projected into the null space of the
    Jacobian: room to the limits, and slow joints, which a singularity ahead makes fast. It goes
    with what the target made the arm move in this step, so that an arm at rest stays at rest, and
    no farther than to where it vanishes, so that no arm shakes.
    """
    variables, n, travel = chain.variables, q.shape[0], 0.0
    spare = n - rows_of(weights)
    if spare <= 0:
        return False
    for k in range(n):
        work[k, CENTRING] = (q[k] - work[k, START]) / variables[k, SCALE]
        travel = max(travel, abs(work[k, CENTRING]))
    if travel == 0.0:
        return False
    tip = fill_scaled_columns(chain, weights, q, work)
    twist = product(work, n, CENTRING)
    largest = fill_self_motion(chain, weights, q, tip, twist, work)
    if not largest > 0.0:
        return False
    amount = min(
        SELF_MOTION_SHARE / spare * travel / (largest + SELF_MOTION_SOFTNESS),
        MOST_SELF_MOTION / largest,
    )
    here, free = q.copy(), np.empty(n)
    for k in range(n):
        free[k] = work[k, STEP]
        room = (work[k, BOUND_UPPER] if free[k] > 0.0 else work[k, BOUND_LOWER]) - q[k]
        if free[k] != 0.0:
            amount = min(amount, room / (variables[k, SCALE] * free[k]))
    move_along(variables, here, free, amount, q, work)
    too_long = overshoot(chain, weights, q, free, twist, work)
    if too_long > 1.0:
        move_along(variables, here, free, amount / too_long, q, work)
    return True

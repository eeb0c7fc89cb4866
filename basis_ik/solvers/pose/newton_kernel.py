# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method to the pose that is nearest to a target out of reach.

A descent by least squares (`descent_kernel.descend`) is quick where nothing is left in the end, and
creeps where something is. Here the squared error itself is minimised, with its exact second
derivatives: with z_i the axes and v_j the motion of the tip they are z_i × v_j for its position,
and as simple for the trace of its rotation. Some ten steps converge to all digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from basis_ik.descent.descent_kernel import LARGEST_DESCENT_STEP, apply_step, place, twist_by
from basis_ik.descent.pose_error_kernel import (
    excess,
    has_deadband,
    residual_rate,
    rotation_excess,
)
from basis_ik.descent.pose_search_kernel import (
    LIMITS,
    begin_inside,
    measure,
    relate_to_target,
    set_bounds,
    squared_arrival,
    take_shortest_turns,
)
from basis_ik.descent.tables_kernel import (
    BEFORE,
    BOUND_LOWER,
    BOUND_UPPER,
    BOX_X,
    BOX_Y,
    BOX_Z,
    DRIVER,
    GRADIENT,
    HELD,
    MOTION_X,
    MOTION_Y,
    MOTION_Z,
    P0,
    P1,
    P2,
    RATE_X,
    RATE_Y,
    RATE_Z,
    SCALE,
    SLIDE,
    SPIN_X,
    SPIN_Y,
    SPIN_Z,
    STEP,
    TURN,
    WRX,
    WRZ,
    WX,
    WY,
    WZ,
    ChainFields,
    Frame,
    GoalFields,
    PackedChain,
    PoseGoal,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import leaves, moved_inside
from basis_ik.numerics.jit import helper, inlined, jit

FIRST_DAMPING = 0.1  # of the Hessian's diagonal, which is of the order of 1
ROTATION_DAMPING = 3.0  # ... or of what a rotation of one radian weighs, if that is less
LEAST_DAMPING = 1e-9  # holds the directions that change nothing
MOST_DAMPING = 1e6  # there is no way down, not even by the gradient
LEAST_DAMPING_RISE = 3.0  # least factor on the damping after a step that fails
# Share of what a step promised above which the damping is divided by:
FAIR_SHARE, GOOD_SHARE = 0.5, 0.8
FAIR_DIVISOR, GOOD_DIVISOR = 4.0, 30.0
DISTANCE_LEFT, ANGLE_LEFT = 0, 1  # columns of the figures
LEAST_NEWTON_GAIN = 1e-10  # see `Ends.least_gain`
# [rad or sizes] largest entry of a step that is corrected: else it is too curved
CORRECTED_STEP = 0.6
# in HELD, where 1 is a variable that stays at its bound: one that comes to it
STOPPED_AT_BOUND = 2.0


@helper
def squared_errors(
    weights: FloatArray, work: FloatArray, row: int, frame: Frame
) -> tuple[float, float]:
    """Return the weighted squared errors of position and rotation of a frame target_T_tip."""
    r00, _, _, p0, _, r11, _, p1, _, _, r22, p2 = frame
    d0, d1, d2 = (
        excess(p0, weights[BOX_X]),
        excess(p1, weights[BOX_Y]),
        excess(p2, weights[BOX_Z]),
    )
    away = (weights[WX] * d0) ** 2 + (weights[WY] * d1) ** 2 + (weights[WZ] * d2) ** 2
    if has_deadband(weights):
        e3, e4, e5 = rotation_excess(weights, work, row, frame)
        return away, e3 * e3 + e4 * e4 + e5 * e5
    turned = 2.0 * (1.0 - r22)
    if weights[WRZ] > 0.0:
        turned += 1.0 - r00 + r22 - r11
    return away, weights[WRX] ** 2 * turned


class Slopes(NamedTuple):
    """How half the squared error of a pose changes with motions of its tip."""

    force: Triple
    """By what it grows with a motion of the tip, along the target's axes."""
    stiffness: Triple
    """By what the force grows with such a motion; 0 within a deadband."""
    c: float
    """The rotation counts as c (1 - r00) + c (1 - r11) + c2 (1 - r22)."""
    c2: float
    boxed: bool
    """Whether the rotation has a deadband: then it counts by its first derivatives alone."""
    residual: Triple
    """What is left of such a rotation."""


@helper
def slopes_of(weights: FloatArray, work: FloatArray, row: int, frame: Frame) -> Slopes:
    """Return how half the squared error changes with motions; see `rotation_excess` for the row."""
    g0, g1, g2 = weights[WX] ** 2, weights[WY] ** 2, weights[WZ] ** 2
    d0, d1 = (
        excess(frame[P0], weights[BOX_X]),
        excess(frame[P1], weights[BOX_Y]),
    )
    d2 = excess(frame[P2], weights[BOX_Z])
    force = (g0 * d0, g1 * d1, g2 * d2)
    g0 = g0 if weights[BOX_X] == 0.0 or d0 != 0.0 else 0.0
    g1 = g1 if weights[BOX_Y] == 0.0 or d1 != 0.0 else 0.0
    g2 = g2 if weights[BOX_Z] == 0.0 or d2 != 0.0 else 0.0
    boxed, c = has_deadband(weights), 0.5 * weights[WRX] ** 2
    if boxed:
        residual = rotation_excess(weights, work, row, frame)
        return Slopes(force, (g0, g1, g2), 0.0, 0.0, boxed, residual)
    residual = (0.0, 0.0, 0.0)
    if weights[WRZ] == 0.0:
        return Slopes(force, (g0, g1, g2), 0.0, 2.0 * c, boxed, residual)
    return Slopes(force, (g0, g1, g2), c, c, boxed, residual)


@inlined
def fill_motion(
    joints: FloatArray, work: FloatArray, n: int, j: int, scale: float, frame: Frame
) -> None:
    """Write how a joint moves the tip and turns it, by its scaled variable."""
    row, turn, slide = n + j, scale * joints[j, TURN], scale * joints[j, SLIDE]
    twist = twist_by(turn, slide, work, row, (frame[P0], frame[P1], frame[P2]))
    work[row, MOTION_X], work[row, MOTION_Y], work[row, MOTION_Z] = twist[0], twist[1], twist[2]
    work[row, SPIN_X], work[row, SPIN_Y], work[row, SPIN_Z] = twist[3], twist[4], twist[5]


@inlined
def gradient_by(slopes: Slopes, frame: Frame, work: FloatArray, row: int, rates: int) -> float:
    """Return the gradient by a joint; write how it changes the residual of a rotation, if boxed."""
    _, r01, r02, _, r10, _, r12, _, r20, r21, _, _ = frame
    (e0, e1, e2), (e3, e4, e5), c, c2 = slopes.force, slopes.residual, slopes.c, slopes.c2
    x, y, z = work[row, SPIN_X], work[row, SPIN_Y], work[row, SPIN_Z]
    pull = e0 * work[row, MOTION_X] + e1 * work[row, MOTION_Y] + e2 * work[row, MOTION_Z]
    pull -= c * (y * r20 - z * r10 + z * r01 - x * r21) + c2 * (x * r12 - y * r02)
    if slopes.boxed:
        a, b, d = residual_rate(work, rates, x, y, z)
        work[row, RATE_X], work[row, RATE_Y], work[row, RATE_Z] = a, b, d
        pull -= e3 * a + e4 * b + e5 * d
    return pull  # type: ignore[no-any-return]


@inlined
def torque_change(slopes: Slopes, frame: Frame, work: FloatArray, row: int) -> Triple:
    """Return by what a joint changes the gradient by turns of the joints before it."""
    r00, r01, r02, _, r10, r11, r12, _, r20, r21, r22, _ = frame
    (e0, e1, e2), c, c2 = slopes.force, slopes.c, slopes.c2
    v0, v1, v2 = work[row, MOTION_X], work[row, MOTION_Y], work[row, MOTION_Z]
    x, y, z = work[row, SPIN_X], work[row, SPIN_Y], work[row, SPIN_Z]
    s = c * (r00 + r11) + c2 * r22
    return (
        v1 * e2 - v2 * e1 + s * x - c * (x * r00 + y * r01) - c2 * z * r02,
        v2 * e0 - v0 * e2 + s * y - c * (x * r10 + y * r11) - c2 * z * r12,
        v0 * e1 - v1 * e0 + s * z - c * (x * r20 + y * r21) - c2 * z * r22,
    )


@helper
def gradient_and_hessian(
    chain: PackedChain, weights: FloatArray, work: FloatArray, hessian: FloatArray, frame: Frame
) -> None:
    """Write half the squared error's gradient into column 0 of `work`, and its Hessian (n, n).

    Args:
        chain: The chain; the derivatives are by its scaled variables.
        weights: (12,).
        work: As `descent_kernel.place` left it.
        hessian: (n, n) result, the lower triangle.
        frame: target_T_tip, as `descent_kernel.place` returned it.
    """
    joints, variables, n = chain.joints, chain.variables, chain.variables.shape[0]
    rates = n + joints.shape[0] + 1
    slopes = slopes_of(weights, work, rates, frame)
    for k in range(n):
        work[k, GRADIENT] = 0.0
        for i in range(k + 1):
            hessian[k, i] = 0.0
    for j in range(joints.shape[0]):
        row, k = n + j, int(joints[j, DRIVER])
        fill_motion(joints, work, n, j, variables[k, SCALE], frame)
        work[k, GRADIENT] += gradient_by(slopes, frame, work, row, rates)
        (g0, g1, g2), (b0, b1, b2) = slopes.stiffness, torque_change(slopes, frame, work, row)
        v0, v1 = g0 * work[row, MOTION_X], g1 * work[row, MOTION_Y]
        v2 = g2 * work[row, MOTION_Z]
        a, b, d = work[row, RATE_X], work[row, RATE_Y], work[row, RATE_Z]
        for i in range(j + 1):
            row, h = n + i, int(joints[i, DRIVER])
            bend = v0 * work[row, MOTION_X] + v1 * work[row, MOTION_Y] + v2 * work[row, MOTION_Z]
            bend += b0 * work[row, SPIN_X] + b1 * work[row, SPIN_Y] + b2 * work[row, SPIN_Z]
            if slopes.boxed:
                bend += a * work[row, RATE_X] + b * work[row, RATE_Y] + d * work[row, RATE_Z]
            hessian[max(k, h), min(k, h)] += 2.0 * bend if i != j and h == k else bend


@helper
def factor(hessian: FloatArray, work: FloatArray, damping: float, factors: FloatArray) -> bool:
    """Factor the damped Hessian without held variables as L D Lᵀ, if it is positive definite.

    A third of them are not. Each column is taken from all that follow at once: these operations do
    not wait for each other (Golub and Van Loan 2013, section 4.1.3).

    Args:
        hessian: (n, n), of which the lower triangle counts.
        work: Says which variables are held.
        damping: Added to the diagonal.
        factors: (n, n) result: Lᵀ above the diagonal, the inverse of D on it, L D below.

    Returns:
        Whether it is.
    """
    n = hessian.shape[0]
    for k in range(n):
        held = work[k, HELD] != 0.0
        for i in range(k):
            factors[k, i] = 0.0 if held or work[i, HELD] != 0.0 else hessian[k, i]
        factors[k, k] = 1.0 + damping if held else hessian[k, k] + damping
    for p in range(n):
        pivot = factors[p, p]
        if not pivot > 0.1 * damping:
            return False
        inverse = 1.0 / pivot
        factors[p, p] = inverse
        for k in range(p + 1, n):
            share = factors[k, p] * inverse
            factors[p, k] = share
            for i in range(p + 1, k + 1):
                factors[k, i] -= share * factors[i, p]
    return True


@helper
def solve_factored(factors: FloatArray, x: FloatArray) -> float:
    """Replace x (n,) by A⁻¹ x, with the factors of A by `factor`; return xᵀ A⁻¹ x."""
    n, square = x.shape[0], 0.0
    for p in range(n):
        for k in range(p + 1, n):
            x[k] -= factors[p, k] * x[p]
    for p in range(n):
        share = factors[p, p] * x[p]
        square += share * x[p]
        x[p] = share
    for p in range(n - 1, 0, -1):
        for k in range(p):
            x[k] -= factors[k, p] * x[p]
    return square


@helper
def newton_step(factors: FloatArray, work: FloatArray, step: FloatArray) -> tuple[float, float]:
    """Write the step (n,), also into `work`; return its largest entry, and its promised gain."""
    n, largest = step.shape[0], 0.0
    for k in range(n):
        step[k] = 0.0 if work[k, HELD] != 0.0 else -work[k, GRADIENT]
    gain = 0.5 * solve_factored(factors, step)
    for k in range(n):
        work[k, STEP] = step[k]
        largest = max(largest, abs(step[k]))
    return largest, gain


@helper
def stop_at_bounds(variables: FloatArray, q: FloatArray, work: FloatArray, largest: float) -> bool:
    """Let the steps of free variables that would pass a bound end there; return whether some do.

    Args:
        variables: Of the chain.
        q: (n,).
        work: Has the step and the bounds.
        largest: Largest entry of the step, see `descent_kernel.apply_step`.
    """
    stopped, share = (
        False,
        1.0 if largest <= LARGEST_DESCENT_STEP else LARGEST_DESCENT_STEP / largest,
    )
    for k in range(q.shape[0]):
        if work[k, HELD] == 0.0:
            scale, low, high = variables[k, SCALE], work[k, BOUND_LOWER], work[k, BOUND_UPPER]
            moved = q[k] + share * scale * work[k, STEP]
            if not low <= moved <= high:
                work[k, HELD], work[k, STEP] = (
                    STOPPED_AT_BOUND,
                    (min(high, max(low, moved)) - q[k]) / scale,
                )
                stopped = True
    return stopped


@helper
def step_beside(
    hessian: FloatArray, work: FloatArray, factors: FloatArray, damping: float, step: FloatArray
) -> tuple[float, float]:
    """Write the step (n,) of the free variables beside that of those which stop at a bound.

    Args:
        hessian: (n, n).
        work: Has the gradient, and the steps of those that stop.
        factors: (n, n) of the damped Hessian of the free ones.
        damping: In it.
        step: Result, also in `work`.

    Returns:
        Its largest entry, and its promised gain.
    """
    n, largest, gain = step.shape[0], 0.0, 0.0
    for k in range(n):
        step[k] = 0.0 if work[k, HELD] != 0.0 else -work[k, GRADIENT]
        for i in range(n):
            if work[k, HELD] == 0.0 and work[i, HELD] == STOPPED_AT_BOUND:
                step[k] -= hessian[max(k, i), min(k, i)] * work[i, STEP]
    solve_factored(factors, step)
    for k in range(n):
        if work[k, HELD] == STOPPED_AT_BOUND:
            step[k] = work[k, STEP]
        work[k, STEP] = step[k]
        largest = max(largest, abs(step[k]))
    for k in range(n):
        bend = damping * step[k]
        for i in range(n):
            bend += hessian[max(k, i), min(k, i)] * step[i]
        gain -= step[k] * (work[k, GRADIENT] + 0.5 * bend)
    return largest, gain


@helper
def step_inside(
    variables: FloatArray, q: FloatArray, work: FloatArray, square: FloatArray, damping: float,
    step: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Write the step (n,) within the bounds; return its largest entry, and its promised gain.

    A step that is only cut at a bound leaves the valley that the position's weight makes: the other
    variables compensate for a motion that is not made. So they are solved for again.

    Args:
        variables: Of the chain.
        q: (n,).
        work: Has the gradient, the bounds, and which variables are held; more of them afterwards.
        square: (2, n, n) Hessian, and the factors of the damped one.
        damping: In it.
        step: Result, also in `work`.
    """
    hessian, factors = square[0], square[1]
    largest, gain = newton_step(factors, work, step)
    for _ in range(q.shape[0]):
        if not stop_at_bounds(variables, q, work, largest):
            break
        factor(hessian, work, damping, factors)  # there is one, as of all free variables
        largest, gain = step_beside(hessian, work, factors, damping, step)
    return largest, gain


@helper
def hold_at_bounds(q: FloatArray, work: FloatArray) -> None:
    """Hold the variables that stand at a bound and are pulled outward."""
    for k in range(q.shape[0]):
        low, high = work[k, BOUND_LOWER], work[k, BOUND_UPPER]
        work[k, HELD] = 1.0 if leaves(q[k], low, high, -work[k, GRADIENT], 0.0) else 0.0


class Ends(NamedTuple):
    """What ends a descent that has not arrived."""

    iterations: int
    """Steps allowed."""
    least_gain: float
    """Share of the squared error, or of that of one radian if it is less, that a step has to
    promise to be worth taking."""


@helper
def first_damping(weights: FloatArray) -> float:
    """Return the damping of the first step: less where the rotation has little weight."""
    if weights[WX] > 0.0 and weights[WRX] > 0.0:
        return min(FIRST_DAMPING, ROTATION_DAMPING * weights[WRX] ** 2)  # type: ignore[no-any-return]
    return FIRST_DAMPING


@helper
def is_converged(weights: FloatArray, least: float, gain: float, ends: Ends) -> bool:
    """Tell whether a step promises too little.

    A rotation of little weight beside a large distance has its own measure.
    """
    unit = min(least, weights[WRX] ** 2) if weights[WRX] > 0.0 else least
    return not gain > ends.least_gain * unit


@helper
def correct(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, factors: FloatArray,
    frames: tuple[Frame, Frame], step: FloatArray,
) -> None:  # fmt: skip
    """Move q (n,), where a step has ended, so that the position changes as the step's model says.

    The valley that the position's weight makes is curved, and a straight step leaves it: the
    second-order correction (Nocedal and Wright 2006, section 15.6).

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) end of the step, and result.
        work: With where it began, how the joints moved the tip there, and the bounds.
        factors: (n, n) of the damped Hessian there.
        frames: target_T_tip there, and at q.
        step: (n,) to work in.
    """
    joints, variables, n, (begin, end) = chain.joints, chain.variables, q.shape[0], frames
    x, y, z = end[P0] - begin[P0], end[P1] - begin[P1], end[P2] - begin[P2]
    for j in range(joints.shape[0]):
        k, row = int(joints[j, DRIVER]), n + j
        moved = (q[k] - work[k, BEFORE]) / variables[k, SCALE]
        x -= moved * work[row, MOTION_X]
        y -= moved * work[row, MOTION_Y]
        z -= moved * work[row, MOTION_Z]
    g0, g1, g2 = slopes_of(weights, work, n + joints.shape[0] + 1, begin).stiffness
    x, y, z = g0 * x, g1 * y, g2 * z
    for k in range(n):
        step[k] = 0.0
    for j in range(joints.shape[0]):
        k, row = int(joints[j, DRIVER]), n + j
        if work[k, HELD] == 0.0:
            step[k] -= x * work[row, MOTION_X] + y * work[row, MOTION_Y] + z * work[row, MOTION_Z]
    solve_factored(factors, step)
    for k in range(n):
        moved = q[k] + variables[k, SCALE] * step[k]
        q[k] = moved_inside(q[k], moved, work[k, BOUND_LOWER], work[k, BOUND_UPPER])


@inlined
def take_step(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, factors: FloatArray,
    way: tuple[Frame, float, float], step: FloatArray,
) -> tuple[Frame, float, float]:  # fmt: skip
    """Move q (n,) by the step in `work`, corrected where that leads uphill.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) start, and result.
        work: With the step, and what `correct` needs.
        factors: (n, n) of the damped Hessian.
        way: target_T_tip at the start, and its squared error; largest entry of the step.
        step: (n,) to work in.

    Returns:
        target_T_tip at the end; its squared errors of position and rotation.
    """
    n, tip, (begin, error, largest) = q.shape[0], chain.ends[1], way
    rates = n + chain.joints.shape[0] + 1
    for k in range(n):
        work[k, BEFORE] = q[k]
    apply_step(chain.variables, q, work, largest)
    frame = place(chain.joints, tip, q, work, n)
    away, turned = squared_errors(weights, work, rates, frame)
    if away + turned < error or largest > CORRECTED_STEP:
        return frame, away, turned
    correct(chain, weights, q, work, factors, (begin, frame), step)
    frame = place(chain.joints, tip, q, work, n)
    away, turned = squared_errors(weights, work, rates, frame)
    return frame, away, turned


@helper
def take_back(q: FloatArray, work: FloatArray, gain: float) -> float:
    """Take a step back; return the damping with which the next one is about half as long.

    Args:
        q: (n,) end of the step; its start as result.
        work: With both.
        gain: Promised by the step.
    """
    square = 0.0
    for k in range(q.shape[0]):
        square += work[k, STEP] ** 2
        q[k] = work[k, BEFORE]
    return gain / square


@helper
def minimise(
    chain: PackedChain, weights: FloatArray, q: FloatArray, work: FloatArray, square: FloatArray,
    arrival: tuple[float, float], ends: Ends,
) -> int:  # fmt: skip
    """Walk q (n,) downhill, inside the bounds, until it converges or arrives; return steps taken.

    Args:
        chain: The chain.
        weights: (12,).
        q: (n,) start, and result.
        work: With target_T_first_joint in its row n + m, and the bounds.
        square: (2, n, n) to work in.
        arrival: See `descent_kernel.descend`.
        ends: What else ends it.
    """
    n, hessian, factors = q.shape[0], square[0], square[1]
    frame = place(chain.joints, chain.ends[1], q, work, n)
    away, turned = squared_errors(weights, work, n + chain.joints.shape[0] + 1, frame)
    step, least, damping, taken = np.empty(n), away + turned, first_damping(weights), 0
    fresh = True
    while taken < ends.iterations and not (away <= arrival[0] and turned <= arrival[1]):
        if fresh:
            gradient_and_hessian(chain, weights, work, hessian, frame)
        hold_at_bounds(q, work)
        while damping < MOST_DAMPING and not factor(hessian, work, damping, factors):
            damping *= LEAST_DAMPING_RISE
        if not damping < MOST_DAMPING:
            break
        largest, gain = step_inside(chain.variables, q, work, square, damping, step)
        if gain < 0.0:  # the motions to the bounds are uphill: shorter ones
            fresh, damping = False, damping * LEAST_DAMPING_RISE
            continue
        if is_converged(weights, least, gain, ends):
            break
        way = frame, least, largest
        end, a, t = take_step(chain, weights, q, work, factors, way, step)
        taken, fresh = taken + 1, a + t < least
        if fresh:
            # Half the squared error falls by `gain` where the model holds.
            share = (least - (a + t)) / (2.0 * gain)
            frame, least, away, turned = end, a + t, a, t
            by = GOOD_DIVISOR if share > GOOD_SHARE else FAIR_DIVISOR if share > FAIR_SHARE else 1.0
            damping = max(LEAST_DAMPING, damping / by)
        else:
            damping = max(LEAST_DAMPING_RISE * damping, take_back(q, work, gain))
    return taken


@jit
def minimise_each(
    chain: ChainFields, goal: GoalFields, weights: FloatArray, starts: FloatArray,
    results: tuple[FloatArray, FloatArray], memory: tuple[FloatArray, FloatArray],
    allowed: tuple[int, int],
) -> int:  # fmt: skip
    """Minimise from each start, by one row of weights after another; return steps taken in all.

    Args:
        chain: The fields of the chain.
        goal: The fields of the goal: by its weights the results are measured.
        weights: (w, 12): each next row goes on where the one before it ended.
        starts: (k, n).
        results: (k, n) the positions; (k, 2) distance [m] and angle [rad] left there.
        memory: (n + 2 m + 3, 12) `work`, and (2, n, n) to work in.
        allowed: Steps allowed to each row of weights from each start; steps allowed in all.
    """
    packed, wanted, (q, figures) = PackedChain(*chain), PoseGoal(*goal), results
    variables, target, (work, square), taken = packed.variables, wanted.target, memory, 0
    set_bounds(variables, LIMITS, work)
    relate_to_target(packed.ends[0], target, work, variables.shape[0] + packed.joints.shape[0])
    for i in range(starts.shape[0]):
        begin_inside(variables, starts[i], q[i])
        for row in range(weights.shape[0]):
            w, most = weights[row], min(allowed[0], allowed[1] - taken)
            stage = PoseGoal(w, target, wanted.position_tolerance, wanted.rotation_tolerance)
            ends = Ends(most, LEAST_NEWTON_GAIN)
            taken += minimise(packed, w, q[i], work, square, squared_arrival(stage), ends)
        take_shortest_turns(variables, starts[i], q[i])
        figures[i, DISTANCE_LEFT], figures[i, ANGLE_LEFT] = measure(packed, wanted, q[i], work)
    return taken

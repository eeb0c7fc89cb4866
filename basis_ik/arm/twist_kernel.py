# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Velocities and accelerations of joints whose tip moves with a twist.

A twist is the velocity of the tip's origin [m/s] and the tip's angular velocity [rad/s], along the
axes of the root or of the tip itself.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from basis_ik.arm.joints_kernel import LOWER_BOUND, UPPER_BOUND, VELOCITY
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.numerics.normal_equations_kernel import (
    Six,
    diagonal_6,
    solve_symmetric_6,
    with_column_6,
)
from basis_ik.search.limb_kernel import fill_twists, place_limb

TWIST_DAMPING = 1e-9  # squared [m or rad]: joints with a smaller effect on the tip are not used
HALF_INTERVAL = 1e-4  # [s], half of the finite difference
FRAME_ROW, DESIRED_ROW = 0, 1  # of `work`
# Rows of `moves`, (5, n): the joints' positions and speeds; the roots of their weights in the norm
# of the speeds; the self-motion away from limits; all 1.
Q, SPEEDS, ROOTS, AWAY, ONES = 0, 1, 2, 3, 4
LEAST_WEIGHT = 1e-4  # of a joint that moves out at its limit
SELF_MOTION_SPEED = 0.1  # of self-motion away from limits, relative to the speed of the joints
GENTLE_SPEED = 0.1  # relative speed of the joints above which self-motion is proportional to it
NEWTON_ROUNDS = 30  # of Newton's method for the bounds; most often it takes two or three
NEWTON_HALVINGS = 12  # of its steps
TWIST_TOLERANCE = 1e-9  # fraction of a twist within which the bounded speeds make it
LEAST_ROOT = 0.03  # root of the least weight in a step that the line search shortens
LEAST_DECREASE = 1e-4  # share of the expected gain with which a step is accepted
LARGEST_TWIST_LOSS = 1e-4  # fraction of a twist that the bounds may lose
TWIST_REDUCTION = 0.8  # factor on a twist that the bounds do not allow
MOST_REDUCTIONS = 12  # by this factor
# The bounds may allow at most so many times what the least norm allows, with 7 joints.
LARGEST_SPARE_FACTOR = 3.0


class Line(NamedTuple):
    """The motion of a chain's tip."""

    exact: FloatArray
    """(m + 1, 16), see `proof_kernel.place_exactly`."""
    twist: FloatArray
    """(6,) twist of the tip, linear first."""
    rate: FloatArray
    """(6,) its derivative."""
    in_tip: bool
    """Whether both are along the tip's axes, and turn with it; otherwise along the root's."""


class Scratch(NamedTuple):
    """Work arrays of this file's kernels."""

    axes: FloatArray
    """(m, 6)."""
    twists: FloatArray
    """(n, 6): the columns of the Jacobian."""
    work: FloatArray
    """(2, 12)."""


class Limits(NamedTuple):
    """The limits of the joints."""

    bounds: FloatArray
    """(5, n) as in `joints_kernel`."""
    near: FloatArray
    """(n,) distances at which position limits begin to count."""


@helper
def _solved(twists: FloatArray, roots: FloatArray, wanted: Six) -> Six:
    """Return (J W Jᵀ)⁻¹ V, damped, for the roots (n,) of the weights W."""
    gram = diagonal_6(TWIST_DAMPING)
    for k in range(twists.shape[0]):
        root = roots[k]
        column = (
            root * twists[k, 0], root * twists[k, 1], root * twists[k, 2],
            root * twists[k, 3], root * twists[k, 4], root * twists[k, 5],
        )  # fmt: skip
        gram = with_column_6(gram, column)
    return solve_symmetric_6(gram, wanted)


@helper
def _along(twists: FloatArray, k: int, x: Six) -> float:
    """Return the product of a column of the Jacobian and a vector."""
    dot: float = twists[k, 0] * x[0] + twists[k, 1] * x[1] + twists[k, 2] * x[2]
    dot += twists[k, 3] * x[3] + twists[k, 4] * x[4] + twists[k, 5] * x[5]
    return dot


@helper
def _made(twists: FloatArray, speeds: FloatArray) -> Six:
    """Return J q̇."""
    x0, x1, x2, x3, x4, x5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(speeds.shape[0]):
        x0 += twists[k, 0] * speeds[k]
        x1 += twists[k, 1] * speeds[k]
        x2 += twists[k, 2] * speeds[k]
        x3 += twists[k, 3] * speeds[k]
        x4 += twists[k, 4] * speeds[k]
        x5 += twists[k, 5] * speeds[k]
    return x0, x1, x2, x3, x4, x5


@helper
def _fill_desired(line: Line, time: float, tip: FloatArray, b: FloatArray) -> None:
    """Write twist + time rate (6,) along the root's axes."""
    twist, rate, in_tip = line.twist, line.rate, line.in_tip
    for half in (0, 3):
        x = twist[half] + time * rate[half]
        y = twist[half + 1] + time * rate[half + 1]
        z = twist[half + 2] + time * rate[half + 2]
        for r in range(3):
            if in_tip:
                b[half + r] = tip[r, 0] * x + tip[r, 1] * y + tip[r, 2] * z
        if not in_tip:
            b[half], b[half + 1], b[half + 2] = x, y, z


@helper
def _lost(twists: FloatArray, speeds: FloatArray, wanted: Six) -> float:
    """Return the fraction of a twist that speeds (n,) do not make."""
    d0, d1, d2, d3, d4, d5 = wanted
    m0, m1, m2, m3, m4, m5 = _made(twists, speeds)
    lost = (d0 - m0) ** 2 + (d1 - m1) ** 2 + (d2 - m2) ** 2
    lost += (d3 - m3) ** 2 + (d4 - m4) ** 2 + (d5 - m5) ** 2
    desired = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5
    return sqrt(lost / desired) if desired > 0.0 else 0.0


@helper
def _openness(limits: Limits, k: int, q: float) -> tuple[float, float]:
    """Return how open a joint is, in [0, 1], and the direction of its nearer limit."""
    below, above = q - limits.bounds[LOWER_BOUND, k], limits.bounds[UPPER_BOUND, k] - q
    room, near = max(min(below, above), 0.0), limits.near[k]
    part = room / near if room < near else 1.0
    return part * part * (3.0 - 2.0 * part), -1.0 if below < above else 1.0


@helper
def _keep_away(twists: FloatArray, limits: Limits, moves: FloatArray) -> None:
    """Write the self-motion away from limits (n,) beside the speeds for a twist.

    It is proportional to them, but to their squares while they are low: a motion that turns back
    would otherwise have a jump of the accelerations.
    """
    speeds, away, square, close = moves[SPEEDS], moves[AWAY], 0.0, False
    for k in range(away.shape[0]):
        most = limits.bounds[VELOCITY, k]
        openness, outward = _openness(limits, k, moves[Q, k])
        close = close or openness < 1.0
        away[k], moves[ONES, k] = -outward * (1.0 - openness) * most, 1.0
        square += (speeds[k] / most) ** 2
    if not close:
        return
    amount = SELF_MOTION_SPEED * square / sqrt(square + GENTLE_SPEED * GENTLE_SPEED)
    x = _solved(twists, moves[ONES], _made(twists, away))
    for k in range(away.shape[0]):
        away[k] = amount * (away[k] - _along(twists, k, x))


@helper
def _place(line: Line, time: float, scratch: Scratch, q: FloatArray) -> Six:
    """Write the Jacobian at q; return the twist at a time."""
    axes, twists, work = scratch
    tip, b = work[FRAME_ROW].reshape((3, 4)), work[DESIRED_ROW]
    place_limb(line.exact, q, axes, tip)
    fill_twists(line.exact, axes, tip, twists)
    _fill_desired(line, time, tip, b)
    return b[0], b[1], b[2], b[3], b[4], b[5]


@helper
def _speeds(
    line: Line, time: float, scratch: Scratch, limits: Limits, weights: FloatArray,
    moves: FloatArray,
) -> float:  # fmt: skip
    """Write the joints' speeds (n,) at q for a twist; return the twist's lost fraction."""
    twists, roots, speeds = scratch.twists, moves[ROOTS], moves[SPEEDS]
    wanted = _place(line, time, scratch, moves[Q])
    for k in range(roots.shape[0]):
        roots[k] = weights[0, k] + time * weights[1, k]
    x = _solved(twists, roots, wanted)
    for k in range(roots.shape[0]):
        speeds[k] = roots[k] * roots[k] * _along(twists, k, x)
    if roots.shape[0] > 6:
        _keep_away(twists, limits, moves)
        share = weights[0, roots.shape[0]] + time * weights[1, roots.shape[0]]
        for k in range(roots.shape[0]):
            speeds[k] += share * moves[AWAY, k]
    return _lost(twists, speeds, wanted)


@helper
def _plus(x: Six, share: float, d: Six) -> Six:
    """Return x + share d."""
    x0, x1, x2, x3, x4, x5 = x
    d0, d1, d2, d3, d4, d5 = d
    return (
        x0 + share * d0, x1 + share * d1, x2 + share * d2,
        x3 + share * d3, x4 + share * d4, x5 + share * d5,
    )  # fmt: skip


@helper
def _inner_product(x: Six, y: Six) -> float:
    """Return x · y."""
    total = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    return total + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@helper
def _respond(
    twists: FloatArray, wanted: Six, limits: Limits, caps: FloatArray, x: Six, moves: FloatArray
) -> float:  # fmt: skip
    """Write the speeds between bounds (n,) for the multipliers x, and the roots of their slopes.

    Returns:
        The dual function, whose gradient is J q̇ + TWIST_DAMPING x less the twist.
    """
    speeds, roots = moves[SPEEDS], moves[ROOTS]
    value = 0.5 * TWIST_DAMPING * _inner_product(x, x) - _inner_product(x, wanted)
    for k in range(speeds.shape[0]):
        openness, outward = _openness(limits, k, moves[Q, k])
        pull, weight = _along(twists, k, x), 1.0
        if outward * pull > 0.0:
            weight = openness + LEAST_WEIGHT * (1.0 - openness)
        speeds[k] = min(caps[1, k], max(caps[0, k], weight * pull))
        roots[k] = sqrt(weight) if speeds[k] == weight * pull else 0.0
        value += speeds[k] * (pull - 0.5 * speeds[k] / weight)
    return value


@helper
def _bound(
    twists: FloatArray, wanted: Six, limits: Limits, caps: FloatArray, x: Six, moves: FloatArray
) -> Six:
    """Write the least speeds (n,) between bounds for a twist, or those that lose least of it.

    Newton's method with a line search for the dual function, which is convex and piecewise
    quadratic: a joint goes where Jᵀ x points, less so if that is towards a limit close by, and not
    beyond its bounds. The joints at their bounds are the active set.

    Args:
        twists: (n, 6).
        wanted: The twist.
        limits: The limits of the joints.
        caps: (2, n) least and largest speeds.
        x: The multipliers to begin with.
        moves: See `weights_on_line`.

    Returns:
        The multipliers.
    """
    roots, value = moves[ROOTS], _respond(twists, wanted, limits, caps, x, moves)
    for _ in range(NEWTON_ROUNDS):
        rest = _plus(_plus(wanted, -1.0, _made(twists, moves[SPEEDS])), -TWIST_DAMPING, x)
        if _inner_product(rest, rest) <= TWIST_TOLERANCE * TWIST_TOLERANCE * _inner_product(
            wanted, wanted
        ):
            break
        start, share = x, 1.0
        for _ in range(NEWTON_HALVINGS):
            way = _solved(twists, roots, rest)
            x = _plus(start, share, way)
            there = _respond(twists, wanted, limits, caps, x, moves)
            if there <= value - LEAST_DECREASE * share * _inner_product(rest, way):
                break
            # With too few joints left the step is huge: those at bounds take part, slightly.
            _respond(twists, wanted, limits, caps, start, moves)
            for k in range(roots.shape[0]):
                roots[k] = max(roots[k], LEAST_ROOT)
            share *= 0.5
        value = there
    return x


@helper
def _push_within(speeds: FloatArray, away: FloatArray, caps: FloatArray) -> float:
    """Return the share of a self-motion that bounds allow beside speeds."""
    share = 1.0
    for k in range(speeds.shape[0]):
        room = caps[1, k] - speeds[k] if away[k] > 0.0 else speeds[k] - caps[0, k]
        if share * abs(away[k]) > room:
            share = max(room, 0.0) / abs(away[k])
    return share


@jit
def weights_on_line(
    line: tuple[FloatArray, FloatArray, FloatArray, bool],
    scratch: tuple[FloatArray, FloatArray, FloatArray], limits: tuple[FloatArray, FloatArray],
    caps: FloatArray, moves: FloatArray, weights: FloatArray,
) -> None:  # fmt: skip
    """Write the weights of joints (n,) with which they make a twist between bounds.

    With these weights the least-norm solution is the solution of bounded least squares. If the
    bounds do not allow the twist, the weights are those for a smaller one.

    Args:
        line: The fields of a `Line`.
        scratch: The fields of `Scratch`.
        limits: The fields of `Limits`.
        caps: (2, n) least speeds, 0 or below, and largest, 0 or above.
        moves: (5, n) scratch, whose first row are the positions.
        weights: (n + 1,) result, in [0, 1], see `states_on_line`; 1 and at last 0 if the bounds
            allow no part of the twist.
    """
    motion, memory, kept = Line(*line), Scratch(*scratch), Limits(*limits)
    twists, speeds = memory.twists, moves[SPEEDS]
    whole = _place(motion, 0.0, memory, moves[Q])
    for k in range(speeds.shape[0]):
        weights[k] = 1.0
    first, part = _solved(twists, weights, whole), 0.0
    for k in range(speeds.shape[0]):
        speeds[k] = _along(twists, k, first)
        part = max(part, abs(speeds[k]) / kept.bounds[VELOCITY, k])
    weights[speeds.shape[0]] = 0.0
    least, size = (
        _lost(twists, speeds, whole),
        min(1.0, LARGEST_SPARE_FACTOR / part) if part > 0.0 else 1.0,
    )
    for _ in range(MOST_REDUCTIONS):
        wanted = _plus(whole, size - 1.0, whole)
        x = _bound(twists, wanted, kept, caps, first, moves)
        if _lost(twists, speeds, wanted) <= least + LARGEST_TWIST_LOSS:
            for k in range(speeds.shape[0]):
                free = _along(twists, k, x)
                weights[k] = sqrt(speeds[k] / free) if free != 0.0 else 1.0
            _keep_away(twists, kept, moves)
            weights[speeds.shape[0]] = _push_within(speeds, moves[AWAY], caps)
            break
        size *= TWIST_REDUCTION


@jit
def states_on_line(
    line: tuple[FloatArray, FloatArray, FloatArray, bool],
    scratch: tuple[FloatArray, FloatArray, FloatArray], limits: tuple[FloatArray, FloatArray],
    weights: FloatArray, moves: FloatArray, states: FloatArray,
) -> float:  # fmt: skip
    """Write velocities and accelerations of joints whose tip moves with a twist.

    The velocities are the least-norm least-squares solution for the twist, and joints to spare move
    away from their limits. The accelerations are the derivative along the motion, by central
    differences: exact up to HALF_INTERVAL squared.

    Args:
        line: The fields of a `Line`.
        scratch: The fields of `Scratch`.
        limits: The fields of `Limits`.
        weights: (2, n + 1) of the joints in the norm, and at last the share of the self-motion that
            is made, each in [0, 1]; and their rates.
        moves: (5, n) scratch.
        states: (n, 3) positions, input; velocities and accelerations, output.

    Returns:
        The fraction of the twist that no joint velocities achieve, in [0, 1].
    """
    motion, memory, kept = Line(*line), Scratch(*scratch), Limits(*limits)
    q, speeds, lost = moves[Q], moves[SPEEDS], 0.0
    for side in (0.0, 1.0, -1.0):  # here, ahead, behind
        time = HALF_INTERVAL * side
        for k in range(q.shape[0]):
            q[k] = states[k, 0] + time * states[k, 1]
        missed = _speeds(motion, time, memory, kept, weights, moves)
        for k in range(q.shape[0]):
            if side == 0.0:
                lost, states[k, 1], states[k, 2] = missed, speeds[k], 0.0
            else:
                states[k, 2] += speeds[k] / (2.0 * time)
    return lost

"""From a target pose and a seed to joint positions that are proven by forward kinematics.

One call does everything and allocates nothing: descents from a row of starts until one arrives, the
shortest turns, the proof. Which starts, and in which order, depends on the inputs alone.
"""

from __future__ import annotations

from math import floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.descent import REACHED, STALLED, descend
from basis_ik.kernels.fabrik_sweep import ORIENTATION_MOMENT, sweep
from basis_ik.kernels.jit import jit
from basis_ik.kernels.proof import distance_and_angle, place_exactly

FloatArray = NDArray[np.float64]

BAD_SEED, BAD_TARGET, OUT_OF_REACH = -2, -3, -4
LARGEST_ANGLE = 1e5  # [rad]: beyond it a double no longer resolves 1e-11 rad
LARGEST_LENGTH = 1e6  # [m]: beyond it a double no longer resolves 1e-10 m
MARGIN = 0.1  # the descent aims at a tenth of the tolerance: one more step, and the proof holds


@jit
def relate_to_target(base: FloatArray, target: FloatArray, work: FloatArray, row: int) -> None:
    """Write target_T_first_joint (3, 4) into a row of `work`, by rows."""
    for r in range(3):
        for c in range(4):
            dot = target[0, r] * base[0, c] + target[1, r] * base[1, c] + target[2, r] * base[2, c]
            if c == 3:
                dot -= target[0, r] * target[0, 3]
                dot -= target[1, r] * target[1, 3] + target[2, r] * target[2, 3]
            work[row, 4 * r + c] = dot


@jit
def take_shortest_turns(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Move every q that may turn fully to the turn nearest its seed that lies inside the limits."""
    for k in range(variables.shape[0]):
        if variables[k, 5] != 0.0:
            near = q[k] + 2.0 * pi * floor((seed[k] - q[k]) / (2.0 * pi) + 0.5)
            if near > variables[k, 1]:
                near -= 2.0 * pi * np.ceil((near - variables[k, 1]) / (2.0 * pi))
            if near < variables[k, 0]:
                near += 2.0 * pi * np.ceil((variables[k, 0] - near) / (2.0 * pi))
            if variables[k, 0] <= near <= variables[k, 1]:
                q[k] = near


@jit
def begin_inside(variables: FloatArray, seed: FloatArray, q: FloatArray) -> None:
    """Copy the seed, by full turns where that helps and else to the limit, into the limits."""
    for k in range(variables.shape[0]):
        q[k] = seed[k]
    take_shortest_turns(variables, seed, q)
    for k in range(variables.shape[0]):
        q[k] = min(variables[k, 1], max(variables[k, 0], q[k]))


@jit
def begin_anew(variables: FloatArray, start: int, q: FloatArray) -> None:
    """Write the start-th point of an additive recurrence, spread evenly over the limits.

    Roberts' generalised golden ratio sequence: deterministic, and without a state to keep.
    """
    for k in range(variables.shape[0]):
        u = 0.5 + start * variables[k, 6]
        u -= floor(u)
        q[k] = variables[k, 3] + u * (variables[k, 4] - variables[k, 3])


@jit
def solve_pose(
    exact: FloatArray,
    joints: FloatArray,
    variables: FloatArray,
    ends: FloatArray,
    reach: float,
    weights: FloatArray,
    target: FloatArray,
    seed: FloatArray,
    q: FloatArray,
    work: FloatArray,
    position_tolerance: float,
    rotation_tolerance: float,
    iterations: int,
    first: int,
    restarts: int,
    patience: int,
    careful: bool,
    near: float,
) -> tuple[int, int, int, float, float]:
    """Descend from the seed, then from fresh starts, until a descent arrives and is proven.

    Args:
        exact: (m + 1, 16), see `proof.place_exactly`.
        joints: (m, 12), see `descent.place`.
        variables: (n, 8): lower, upper, scale, lower and upper of fresh starts, whether a full turn
            changes nothing, step of the recurrence.
        ends: (2, 3, 4): root_T_first_joint, last_joint_T_tip.
        reach: No tip is farther than this from the first joint [m].
        weights: (9,), see `descent.descend`.
        target: (4, 4) root_T_target.
        seed: (n,).
        q: (n,) result: what reached the target, else the best of all descents.
        work: (n + 2 m + 2, 12).
        position_tolerance: [m].
        rotation_tolerance: [rad].
        iterations: Steps allowed, all descents together.
        first: Number of the first start: 0 is the seed, all others are fresh ones.
        restarts: Number of the last start.
        patience: See `descent.descend`.
        careful: See `descent.descend`.
        near: Starts with a smaller weighted squared error are not swept; infinite: no sweeps.

    Returns:
        REACHED; else OUT_OF_REACH, or how the last descent ended (SPENT, STALLED); BAD_SEED or
        BAD_TARGET before any work. Steps; number of the last start; distance [m] and angle [rad]
        left at q.
    """
    n, last = variables.shape[0], variables.shape[0] + joints.shape[0]
    for k in range(n):
        if not abs(seed[k]) <= LARGEST_ANGLE:
            return BAD_SEED, 0, 0, np.inf, np.inf
    for r in range(3):
        if not abs(target[r, 3]) <= LARGEST_LENGTH:
            return BAD_TARGET, 0, 0, np.inf, np.inf
    frame = work[last + 1].reshape((3, 4))
    tip = ends[1]
    aim_p = (MARGIN * position_tolerance * max(weights[0], max(weights[1], weights[2]))) ** 2
    aim_r = (MARGIN * rotation_tolerance * max(weights[3], max(weights[4], weights[5]))) ** 2
    free_p, free_r = weights[0] == 0.0, weights[3] == 0.0
    swept = near < np.inf and not free_p and (free_r or weights[5] > 0.0)
    far = 0.0
    for r in range(3):
        far += (target[r, 3] - ends[0, r, 3]) ** 2
    out_of_reach = sqrt(far) > reach + position_tolerance
    if first == 0:
        begin_inside(variables, seed, q)
    else:
        begin_anew(variables, first, q)
    relate_to_target(ends[0], target, work, last)
    least, steps, fresh = np.inf, 0, first
    moment = 0.0
    if swept and not free_r:
        moment = ORIENTATION_MOMENT / weights[0] ** 2
    while True:
        if swept:
            sweep(joints, variables, tip, q, work, weights, moment, near if fresh == 0 else 0.0)
        status, taken, error = descend(
            joints, variables, tip, weights, q, work, aim_p, aim_r,
            iterations - steps, patience, careful,
        )  # fmt: skip
        steps += taken
        if error < least:
            take_shortest_turns(variables, seed, q)
            if status == REACHED:
                place_exactly(exact, q, frame)
                away, turned = distance_and_angle(frame, target, weights)
                near_enough = free_p or away <= position_tolerance
                if near_enough and (free_r or turned <= rotation_tolerance):
                    return REACHED, steps, fresh, away, turned
                status = STALLED
            least = error
            for k in range(n):
                work[k, 8] = q[k]
        if out_of_reach or fresh >= restarts or steps >= iterations:
            break
        fresh += 1
        begin_anew(variables, fresh, q)
    for k in range(n):
        q[k] = work[k, 8]
    place_exactly(exact, q, frame)
    away, turned = distance_and_angle(frame, target, weights)
    return (OUT_OF_REACH if out_of_reach else status), steps, fresh, away, turned

"""The search for an arm that has a closed form: its branches take the place of further starts."""

from __future__ import annotations

from math import floor, pi

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.closed_form import MOST, find_branches
from basis_ik.kernels.descent import REACHED, SPENT, STALLED
from basis_ik.kernels.jit import jit
from basis_ik.kernels.pose_solve import solve_pose, take_shortest_turns

FloatArray = NDArray[np.float64]

NOWHERE = -5  # proven: no branch lies within the limits, nor nearly so
OUTSIDE = 1e-2  # [rad] beyond a limit at which a branch is still tried: it is polished inside


@jit
def solve_closed(
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
    patience: int,
    near: float,
    form: FloatArray,
    clear: float,
) -> tuple[int, int, int, float, float]:
    """Descend from the seed, and if that does not arrive, from the branches, the nearest first.

    Args:
        exact: See `pose_solve.solve_pose`, as for all that is not named here.
        joints: Likewise.
        variables: Likewise.
        ends: Likewise.
        reach: Likewise.
        weights: Likewise; the whole pose is wanted.
        target: Likewise.
        seed: Likewise.
        q: (6,) result: what reached the target, else where the descent from the seed ended.
        work: Likewise.
        position_tolerance: Likewise.
        rotation_tolerance: Likewise.
        iterations: Likewise.
        patience: Likewise.
        near: Likewise.
        form: (17, 3), see `closed_form.find_branches`.
        clear: How far the equations must be from another number of answers for a proof.

    Returns:
        As `solve_pose`, with the number of branches that were tried for that of the last start; or
        NOWHERE.
    """
    seed_alone, careful = 0 * iterations, iterations < 0  # constants would be types of their own
    status, steps, _, away, turned = solve_pose(
        exact, joints, variables, ends, reach, weights, target, seed, q, work,
        position_tolerance, rotation_tolerance, iterations, seed_alone, seed_alone, patience,
        careful, near,
    )  # fmt: skip
    if not STALLED <= status <= SPENT:
        return status, steps, seed_alone, away, turned
    found, ways, trial = np.empty((MOST, 6)), np.empty(MOST), np.empty(6)
    count, margin = find_branches(form, exact, target, seed, found)
    tried = seed_alone
    for k in range(count):
        ways[k] = order_branch(variables, seed, found[k])
    for _ in range(count):
        best = 0
        for k in range(1, count):
            if ways[k] < ways[best]:
                best = k
        if not ways[best] < np.inf:
            break
        ways[best] = np.inf
        tried += 1
        ended, taken, _, left, off = solve_pose(
            exact, joints, variables, ends, reach, weights, target, found[best], trial, work,
            position_tolerance, rotation_tolerance, iterations - steps, seed_alone, seed_alone,
            patience, careful, np.inf + 0.0 * near,
        )  # fmt: skip
        steps += taken
        if ended == REACHED:
            for i in range(6):
                q[i] = trial[i]
            return ended, steps, tried, left, off
    if tried == 0 and margin > clear:
        status = NOWHERE + seed_alone
    return status, steps, tried, away, turned


@jit
def order_branch(variables: FloatArray, seed: FloatArray, branch: FloatArray) -> float:
    """Turn a branch to near the seed, within the limits; return how far that is, squared.

    Infinitely far where some joint is outside by more than polishing could mend.
    """
    take_shortest_turns(variables, seed, branch)
    way = 0.0
    for k in range(branch.shape[0]):
        lower, upper = variables[k, 0], variables[k, 1]
        if not lower <= branch[k] <= upper:  # by how much depends on the turn: the least counts
            turns = (0.5 * (lower + upper) - branch[k]) / (2.0 * pi)
            branch[k] += 2.0 * pi * floor(turns + 0.5)
        if not max(lower - branch[k], branch[k] - upper) <= OUTSIDE:
            way = np.inf
        way += (branch[k] - seed[k]) ** 2
    return way


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
    restarts: int,
    patience: int,
    near: float,
    form: FloatArray,
    clear: float,
) -> None:
    """Solve for many targets, as `pose_batch.solve_poses` does for arms without a closed form."""
    fresh, careful = 0 * restarts + 1, restarts < 0
    for i in range(targets.shape[0]):
        status, steps, last, away, turned = solve_closed(
            exact, joints, variables, ends, reach, weights, targets[i], seeds[i], q[i], work,
            position_tolerance, rotation_tolerance, iterations, patience, near, form, clear,
        )  # fmt: skip
        if STALLED <= status <= SPENT and restarts > 0 and steps < iterations:
            status, taken, last, away, turned = solve_pose(
                exact, joints, variables, ends, reach, weights, targets[i], seeds[i], q[i], work,
                position_tolerance, rotation_tolerance, iterations - steps, fresh, restarts,
                patience, careful, near,
            )  # fmt: skip
            steps += taken
        figures[i, 0] = 1.0 if status == REACHED else 0.0
        figures[i, 1], figures[i, 2], figures[i, 3], figures[i, 4] = steps, last, away, turned

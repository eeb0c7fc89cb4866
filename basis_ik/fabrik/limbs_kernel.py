# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on a tree whose bones are whole limbs, each as long as it needs to be.

A limb of free bones can hold its ends at any distance from its inner void to its full reach. So a
tree without limits is swept limb by limb: only root, sub-bases and end effectors move, each to the
nearest place at an allowed distance. Once they stand, every limb is a chain of its own, solved by
`free_reach_kernel`. The cost of a sweep does not depend on the number of bones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from basis_ik.fabrik.skeleton_kernel import IntArray, copy
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

# Sweeps in a row that must bring the residual below this part of itself. It may hardly fall for
# dozens of sweeps, while a limb slides along its inner bound, and then vanish.
_STALLED_LIMB_SWEEPS = 10
_LIMB_PROGRESS = 0.99


@helper
def _pulled(p: FloatArray, i: int, anchor: int, least: float, most: float, out: FloatArray) -> None:
    """Write the place nearest to joint i whose distance from another lies within bounds.

    Args:
        p: Places of the limbs' ends [m], shape (k, 3).
        i: The joint that moves.
        anchor: The joint that stays.
        least: Least distance [m].
        most: Greatest distance [m].
        out: Filled, shape (3,). Coincident joints part along +x.
    """
    x, y, z = p[i, 0] - p[anchor, 0], p[i, 1] - p[anchor, 1], p[i, 2] - p[anchor, 2]
    apart = math.sqrt(x * x + y * y + z * z)
    wanted = min(max(apart, least), most)
    if wanted == apart:
        out[0], out[1], out[2] = p[i, 0], p[i, 1], p[i, 2]
    elif apart > 0.0:
        scale = wanted / apart
        out[0] = p[anchor, 0] + scale * x
        out[1] = p[anchor, 1] + scale * y
        out[2] = p[anchor, 2] + scale * z
    else:
        out[0], out[1], out[2] = p[anchor, 0] + wanted, p[anchor, 1], p[anchor, 2]


class LimbArrays(NamedTuple):
    """The limbs of a tree, and where their ends are to be."""

    parents: IntArray
    """(k,) where each limb starts; parents[k] < k, and limb 0 is none: the root."""
    bounds: FloatArray
    """(k, 2) least and greatest distance of each limb's ends [m]."""
    goals: FloatArray
    """(k, 3) targets [m]."""
    asked: IntArray
    """(k,) 1 for end effectors."""
    free_root: int
    """1 if the root may move."""


@helper
def _pull_to_root(limbs: LimbArrays, p: FloatArray, place: FloatArray) -> None:
    """Pull each limb's end to where its start allows, from the root on."""
    for k in range(1, p.shape[0]):
        _pulled(p, k, limbs.parents[k], limbs.bounds[k, 0], limbs.bounds[k, 1], place)
        for c in range(3):
            p[k, c] = place[c]


@helper
def _residual(limbs: LimbArrays, p: FloatArray) -> float:
    """Return the largest distance of an end effector from its target [m]."""
    residual = 0.0
    for k in range(p.shape[0]):
        if limbs.asked[k] == 1:
            square = 0.0
            for c in range(3):
                square += (p[k, c] - limbs.goals[k, c]) ** 2
            residual = max(residual, math.sqrt(square))
    return residual


@helper
def _pull_to_targets(
    limbs: LimbArrays, p: FloatArray, place: FloatArray, sums: FloatArray, votes: IntArray
) -> None:
    """Put the end effectors on their targets, and pull each limb's start to where its end allows.

    Where several limbs start, their mean is taken.
    """
    n, asked = p.shape[0], limbs.asked
    for k in range(n):
        sums[k, 0], sums[k, 1], sums[k, 2], votes[k] = 0.0, 0.0, 0.0, 0
    for k in range(n - 1, -1, -1):
        for c in range(3):
            if asked[k] == 1:
                p[k, c] = limbs.goals[k, c]
            elif votes[k] > 0:
                p[k, c] = sums[k, c] / votes[k]
        if k > 0:
            a = limbs.parents[k]
            _pulled(p, a, k, limbs.bounds[k, 0], limbs.bounds[k, 1], place)
            votes[a] += 1
            for c in range(3):
                sums[a, c] += place[c]


@jit
def sweep_limbs(
    limbs: LimbArrays, tolerance: float, budget: int, p: FloatArray, record: FloatArray
) -> tuple[float, int]:
    """Move the ends of limbs until every end effector is at its target, or progress ends.

    Args:
        limbs: The limbs.
        tolerance: Distance from the targets to stop at [m].
        budget: Largest number of sweeps.
        p: Places of the limbs' ends [m], shape (k, 3); overwritten with the best that were found
            with every limb within its bounds.
        record: Filled with the residual [m] after each sweep, as far as it goes.

    Returns:
        Largest distance of an end effector from its target [m] and the sweeps used.
    """
    n = p.shape[0]
    x, y, z = p[0, 0], p[0, 1], p[0, 2]
    place, best = np.empty(3), np.empty_like(p)
    copy(p, best)
    sums, votes = np.empty((n, 3)), np.empty(n, np.int64)
    least, milestone, used = math.inf, math.inf, 0
    while True:
        _pull_to_root(limbs, p, place)
        residual = _residual(limbs, p)
        if 0 < used <= record.shape[0]:
            record[used - 1] = residual
        if residual < least:
            least = residual
            copy(p, best)
        if used % _STALLED_LIMB_SWEEPS == 0:
            if least > _LIMB_PROGRESS * milestone:
                break
            milestone = least
        if least <= tolerance or used >= budget:
            break
        used += 1
        _pull_to_targets(limbs, p, place, sums, votes)
        if limbs.free_root == 0:
            p[0, 0], p[0, 1], p[0, 2] = x, y, z
    copy(best, p)
    return least, used

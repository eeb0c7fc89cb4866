# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trees without limits, solved for the ends of their limbs and then limb by limb as free chains."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from basis_ik.fabrik.attempts import Found, out_of_reach, search_within_limits, starting_poses
from basis_ik.fabrik.ball_chain_kernel import pull
from basis_ik.fabrik.free_reach_kernel import reach_chain
from basis_ik.fabrik.limbs_kernel import LimbArrays, sweep_limbs
from basis_ik.fabrik.result import FabrikResult
from basis_ik.fabrik.skeleton import make_goals, make_skeleton
from basis_ik.fabrik.skeleton_kernel import Goals, IntArray, Skeleton, fit_rotations
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.directions_kernel import perpendicular
from basis_ik.verdict import Verdict

# How well limbs meet their ends, as part of their reach: as well as sums allow.
_LIMB_TOLERANCE = 1e-15
NO_TRACE = np.empty(0)


class Limbs(NamedTuple):
    """A tree as limbs; limb 0 has no bones, its end is the root.

    Attributes:
        joints: The joints of each limb from its start to its end.
        parents: The limb at whose end each starts, shape (k,).
        bounds: Least and greatest distance of its ends [m], shape (k, 2).
        asked: 1 for limbs that end in an end effector, shape (k,).
        goals: Where those should be [m], shape (k, 3).
    """

    joints: list[list[int]]
    parents: IntArray
    bounds: FloatArray
    asked: IntArray
    goals: FloatArray


def solve_limbs(
    s: Skeleton, g: Goals, p: FloatArray, tolerance: float, budget: int, record: bool
) -> FabrikResult:
    """Sweep the limbs, then lay every limb between its ends.

    If the sweeps fail, each limb is replaced by an arm of two bones, whose ends can be at the same
    distances. These arms are solved by sweeps and descents from many starts.

    Args:
        s: The tree; its limits do not count.
        g: The goals; only its targets count.
        p: Joint positions to start from [m], shape (m + 1, 3).
        tolerance: Distance at which the targets count as reached [m].
        budget: Largest number of sweeps and steps.
        record: Whether to record the residuals.

    Returns:
        The pose.
    """
    limbs = _limbs(s, g)
    places = p[[limb[-1] for limb in limbs.joints]]
    trace, free = np.full(budget if record else 0, np.nan), int(s.free_root[0])
    arrays = LimbArrays(limbs.parents, limbs.bounds, limbs.goals, limbs.asked, free)
    residual, used = sweep_limbs(arrays, 0.1 * tolerance, budget, places, trace)
    history, doubt = trace[:used], None
    if residual > tolerance:
        doubt = out_of_reach(s, g, p[0], tolerance)
        if doubt is None and used < budget:
            found = _as_arms(limbs, places, free, tolerance, budget - used, record)
            used, history = used + found.used, np.append(history, found.record)
            if found.distance < residual:
                places = found.p[::2]
    out = p.copy()
    out[0] = places[0]
    for limb, place in zip(limbs.joints[1:], places[1:], strict=True):
        _lay(limb, place, p, out)
    for bone in np.flatnonzero(g.active == 0):  # what nothing is asked of comes along
        length = math.sqrt(float(s.bones[bone] @ s.bones[bone]))
        pull(out, int(s.starts[bone]), int(bone) + 1, length)
    misses = out[g.joints] - g.points
    residual = float(np.sqrt((misses**2).sum(axis=1)).max())
    verdict = Verdict.REACHED if residual <= tolerance else doubt or Verdict.BUDGET_SPENT
    out.setflags(write=False)
    return FabrikResult(
        out, verdict, residual, used, record=np.append(history, residual) if record else None
    )


def _limbs(s: Skeleton, g: Goals) -> Limbs:
    """Cut the tree at end effectors and where branches that lead to some meet."""
    wanted = {int(joint): point for joint, point in zip(g.joints, g.points, strict=True)}
    forks = np.bincount(s.starts[g.active == 1], minlength=len(s.starts) + 1)
    ends = [joint for joint in range(1, len(forks)) if forks[joint] > 1 or joint in wanted]
    rows = {0: 0} | {end: row for row, end in enumerate(ends, 1)}
    joints, parents, bounds = [[0]], [0], [(0.0, 0.0)]
    for end in ends:
        limb = [end]
        while limb[-1] not in rows or limb[-1] == end:
            limb.append(int(s.starts[limb[-1] - 1]))
        lengths = np.sqrt((s.bones[np.array(limb[:-1]) - 1] ** 2).sum(axis=1))
        joints.append(limb[::-1])
        parents.append(rows[limb[-1]])
        bounds.append((max(0.0, 2.0 * float(lengths.max()) - lengths.sum()), lengths.sum()))
    asked = np.array([int(limb[-1] in wanted) for limb in joints])
    goals = np.array([wanted.get(limb[-1], np.zeros(3)) for limb in joints])
    return Limbs(joints, np.array(parents, np.int64), np.array(bounds), asked, goals)


def _as_arms(
    limbs: Limbs, places: FloatArray, free_root: int, tolerance: float, budget: int, record: bool
) -> Found:
    """Search for the limbs' ends with an elbow in each limb: joints 1, 3, 5 … of what is found.

    A chain whose ends can be `least` to `most` apart is an arm of two bones (most ± least)/2.
    """
    count = len(places)
    starts, p = np.empty(2 * (count - 1), np.int64), np.empty((2 * count - 1, 3))
    p[0], side = places[0], np.empty(3)
    for k in range(1, count):
        a = 2 * int(limbs.parents[k])
        starts[2 * k - 2], starts[2 * k - 1] = a, 2 * k - 1
        least, most = limbs.bounds[k]
        upper, lower = 0.5 * (most + least), 0.5 * (most - least)
        line = places[k] - p[a]
        apart = math.sqrt(float(line @ line))
        axis = line / apart if apart > 0.0 else np.array([1.0, 0.0, 0.0])
        along = 0.5 * (apart + (upper * upper - lower * lower) / apart) if apart > 0.0 else 0.0
        perpendicular(axis, side)
        across = math.sqrt(max(0.0, upper * upper - along * along))
        p[2 * k - 1] = p[a] + along * axis + across * side
        p[2 * k] = places[k]
    s = make_skeleton(starts, p, {}, bool(free_root))
    targets = {2 * k: limbs.goals[k] for k in range(count) if limbs.asked[k]}
    g = make_goals(starts, targets, {}, (), bool(free_root))
    q = np.empty((len(starts), 4))
    fit_rotations(s, p, q)
    poses = starting_poses(s, q, p, None)
    return search_within_limits(s, g, poses, 0.1 * tolerance, math.inf, budget, record)


def _lay(limb: list[int], place: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """Move a limb as a free chain to where its ends are to be."""
    chain = p[limb]
    chain += out[limb[0]] - chain[0]
    reach = float(np.sqrt((np.diff(chain, axis=0) ** 2).sum(axis=1)).sum())
    reach_chain(chain, place, _LIMB_TOLERANCE * reach + np.finfo(float).tiny, NO_TRACE)
    out[limb[1:]] = chain[1:]

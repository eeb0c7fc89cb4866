# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The search over starts within limits, and the verdict when all attempts fail."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from basis_ik.fabrik.fabrik_descent_kernel import descend_tree
from basis_ik.fabrik.fabrik_tree_kernel import sweep_tree
from basis_ik.fabrik.freedom_kernel import held, scatter
from basis_ik.fabrik.result import FabrikResult
from basis_ik.fabrik.skeleton import path
from basis_ik.fabrik.skeleton_kernel import (
    Accuracy,
    Goals,
    Skeleton,
    errors,
    fit_rotations,
    place_bones,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.starts import search_starts
from basis_ik.verdict import Verdict

# What a radian counts for against metres, as part of the longest way from the root.
_RADIAN_WEIGHT = 0.3
# The same when the position has to come first.
_SECOND_RADIAN_WEIGHT = 1e-3
# Bounds by lengths alone are trusted beyond this part of the lengths.
_LENGTH_ROUNDING = 1e-12


class Found(NamedTuple):
    """The best pose of a search, within all limits.

    Attributes:
        q: Rotations, shape (m, 4).
        p: Joint positions [m], shape (m + 1, 3).
        distance: Largest distance from a target [m].
        angle: Largest angle to an orientation [rad].
        used: Sweeps and steps.
        starts: Starts tried.
        record: Largest distance after each sweep and step, if asked for [m].
    """

    q: FloatArray
    p: FloatArray
    distance: float
    angle: float
    used: int
    starts: int
    record: FloatArray


class Pose(NamedTuple):
    """The end of an attempt; see `Found`.

    Attributes:
        q: Shape (m, 4).
        p: Shape (m + 1, 3).
        distance: [m].
        angle: [rad].
        steps: Sweeps and steps of the attempt.
    """

    q: FloatArray
    p: FloatArray
    distance: float
    angle: float
    steps: int


class Start(NamedTuple):
    """A pose to start from.

    Attributes:
        q: Rotations, shape (m, 4).
        p: Joint positions [m], shape (m + 1, 3).
        used: Sweeps and steps that it took to find it.
    """

    q: FloatArray
    p: FloatArray
    used: int


def starting_poses(
    s: Skeleton,
    given: FloatArray,
    positions: FloatArray,
    solve_freely: Callable[[], FabrikResult] | None,
) -> Iterator[Start]:
    """Yield poses to start from: the given one, the solution without limits, then any.

    Args:
        s: The tree.
        given: Rotations to start from, shape (m, 4).
        positions: Joint positions to start from [m], shape (m + 1, 3).
        solve_freely: Returns the solution without limits; called where the given pose leads
            nowhere. None where there is no such solution.

    Yields:
        A pose in fresh arrays.
    """
    yield Start(given.copy(), positions.copy(), 0)
    q, p = np.empty_like(given), positions.copy()
    if solve_freely is not None:
        free = solve_freely()
        guess = free.positions.copy()  # results are read-only, which kernels are not compiled for
        fit_rotations(s, guess, q)
        yield Start(q.copy(), guess, free.iterations)
    generator = np.random.Generator(np.random.PCG64(0))  # the same starts in every call
    while True:
        scatter(s, generator.random(3 * len(q)), q)
        place_bones(s, q, p)
        yield Start(q.copy(), p.copy(), 0)


def search_within_limits(
    s: Skeleton,
    g: Goals,
    starts: Iterator[Start],
    tolerance: float,
    turn_tolerance: float,
    budget: int,
    record: bool,
) -> Found:
    """Attempt one start after the other until the goals are met or the budget is spent.

    Args:
        s: The tree.
        g: The goals.
        starts: Poses to start from.
        tolerance: Distance at which the targets count as reached [m].
        turn_tolerance: Angle at which the orientations count as reached [rad].
        budget: Sweeps and steps of all attempts together; the start itself is always measured.
        record: Whether to record the residuals.

    Returns:
        The best pose found; of poses that are as good, the one from the earliest start.
    """
    scale = radian(s, g)
    accuracy = tolerance, turn_tolerance, scale
    history: list[FloatArray] = []

    def descend(start: Start, left: int) -> Pose:
        before = min(start.used, left)
        trace = np.full(left - before if record else 0, np.nan)
        spent = attempt(s, g, start.q, start.p, accuracy, left - before, trace)
        history.append(trace[:spent])
        return Pose(start.q, start.p, *errors(g, start.q, start.p), before + spent)

    best, used, tried = search_starts(
        starts,
        descend,
        lambda one, other: one.distance + scale * one.angle < other.distance + scale * other.angle,
        lambda end: end.distance <= tolerance and end.angle <= turn_tolerance,
        budget=budget,
    )
    return Found(*best[:4], used, tried, np.concatenate(history))


def attempt(
    s: Skeleton, g: Goals, q: FloatArray, p: FloatArray, accuracy: Accuracy, budget: int,
    record: FloatArray,
) -> int:  # fmt: skip
    """Sweep from one start for as long as it pays, then descend from the best pose seen.

    Args:
        s: The tree.
        g: The goals.
        q: Rotations of the start, shape (m, 4); overwritten with the best found, within limits.
        p: Joint positions of the start [m], shape (m + 1, 3); likewise.
        accuracy: Where to stop, and how angles count.
        budget: Largest number of sweeps and steps together.
        record: Filled with the distance from the goals [m] after each, as far as it goes.

    Returns:
        The sweeps and steps used.
    """
    used = sweep_tree(s, g, q, p, accuracy, budget, record)
    rest, left = record[used:], budget - used
    return used + descend_tree(s, g, q, p, accuracy, left, rest)


def radian(s: Skeleton, g: Goals) -> float:
    """Return the weight of a radian in metres [m]: a part of the longest chain's reach."""
    lengths = np.sqrt((s.bones**2).sum(axis=1))
    ends = [*g.joints, *(g.turned + 1), *g.loops.ravel()]
    reaches = [lengths[path(s.starts, int(end), 0)].sum() for end in ends]
    return _RADIAN_WEIGHT * float(max(reaches)) or 1.0


def position_first(s: Skeleton, g: Goals, found: Found, tolerance: float, budget: int) -> Found:
    """Find a pose that meets the targets, and the orientations only as far as that allows.

    Args:
        s: The tree.
        g: The goals.
        found: Where to start.
        tolerance: Distance at which the targets count as reached [m].
        budget: Largest number of sweeps and steps.

    Returns:
        The pose; its `angle` is measured against the orientations all the same.
    """
    positions = g._replace(turned=g.turned[:0], turns=g.turns[:0])
    none = np.empty(0)
    q, p = found.q.copy(), found.p.copy()
    scale = _SECOND_RADIAN_WEIGHT * radian(s, g)
    used = attempt(s, g, q, p, (tolerance, 0.0, scale), budget, none)
    used += attempt(s, positions, q, p, (tolerance, math.inf, scale), budget - used, none)
    distance, angle = errors(g, q, p)
    return Found(q, p, distance, angle, found.used + used, found.starts, found.record)


def out_of_reach(s: Skeleton, g: Goals, root: FloatArray, tolerance: float) -> Verdict | None:
    """Judge by the bones' lengths alone whether the targets can be met.

    Args:
        s: The tree.
        g: The goals.
        root: Where the root is [m], shape (3,).
        tolerance: Distance at which the targets count as reached [m].

    Returns:
        TOO_FAR or TOO_NEAR when a target and the fixed root, or two targets, are further apart or
        closer together than the bones between them allow; else None.
    """
    lengths = np.sqrt((s.bones**2).sum(axis=1))
    ends = [(int(joint), point, tolerance) for joint, point in zip(g.joints, g.points, strict=True)]
    if s.free_root[0] == 0:
        ends.append((0, root, 0.0))
    for i, (a, p, slack) in enumerate(ends):
        for b, q, other in ends[:i]:
            between = lengths[path(s.starts, a, b)]
            most = float(between.sum())
            least = max(0.0, 2.0 * float(between.max(initial=0.0)) - most)
            distance = math.dist(p, q)
            margin = slack + other + _LENGTH_ROUNDING * (most + distance)
            if distance > most + margin:
                return Verdict.TOO_FAR
            if distance < least - margin:
                return Verdict.TOO_NEAR
    return None


def touched(s: Skeleton, q: FloatArray) -> tuple[int, ...]:
    """Return the bones whose limit a pose touches."""
    m = len(q)
    marks = np.empty(m, np.int64)
    held(s, q, np.empty((3 * m, 6)), marks)
    return tuple(int(bone) for bone in np.flatnonzero(marks))

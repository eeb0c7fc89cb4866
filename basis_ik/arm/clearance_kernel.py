# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whether pairs of links and objects keep their distances while joints follow their profiles.

A pair is measured at instants. Until the next one its bodies cannot come nearer by more than the
joints move times the bodies' levers. So far pairs are hardly measured, and none is missed.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.joints_kernel import PROFILE, START_STATE
from basis_ik.arm.profile_kernel import SEGMENTS, after, duration, sample
from basis_ik.collision.distance_kernel import (
    GAP_COLUMNS,
    GAP_DISTANCE,
    CoverFields,
    WorkFields,
    measure_pairs,
    measure_row,
    place_balls,
)
from basis_ik.collision.separation_kernel import ShapeFields, separate_links
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.robot.chain_kernel import ChainArrays, ChainFields, forward_frames

IntArray = NDArray[np.int64]
SceneFields = tuple[ChainFields, CoverFields, ShapeFields, IntArray, WorkFields]
"""The chain, the tables of `distance_kernel` and `separation_kernel`, the bodies of each pair
(p, 4), and the workspace."""
PairFields = tuple[FloatArray, FloatArray, FloatArray]
"""levers (p, n): by how much the two of a pair come nearer at most, by the variables [m/rad or 1];
floors (p,): the distances that they keep [m]; and their distances now (p,) [m]."""

# [m]: a pair may move by so much from one instant to the next, however near it is. Between them a
# body that passes an edge at a distance d comes nearer by at most a square of this over 8 d.
LEAST_STRIDE = 2e-3
SHORTEST_STRIDE = 1e-4  # [s], from one instant to the next
# [m], above its padding by the covers: the shapes of a nearer pair are compared.
SHAPES_BELOW = 0.05
DISTANCE_ROUNDING = 1e-6  # [m], rounding allowance of a distance
# [m]: a pair that is at its floor may use so much of it as the unit of its part.
FLOOR_ALLOWANCE = 1e-5


@jit
def way_left(row: FloatArray, x: float, v: float, a: float, begin: float) -> float:
    """Return at most how far a joint moves on its profile from a time on, both ways."""
    way, time = 0.0, 0.0
    for i in range(SEGMENTS):
        jerk, last = row[SEGMENTS + i], time + row[i]
        if last > begin:
            skipped = max(begin - time, 0.0)
            y, u, b = after(x, v, a, jerk, skipped)
            rest = row[i] - skipped
            _, w, _ = after(y, u, b, jerk, rest)
            most = max(abs(u), abs(w))
            if jerk != 0.0 and 0.0 < -b / jerk < rest:
                most = max(most, abs(u - 0.5 * b * b / jerk))
            way += rest * most
        x, v, a = after(x, v, a, jerk, row[i])
        time = last
    return way


@jit
def state_at(
    memory: FloatArray, before: FloatArray, period: float, time: float, states: FloatArray
) -> None:
    """Write positions, velocities and accelerations (n, 3) at a time.

    Args:
        memory: (n, 27) with profiles.
        before: (n,) where the joints are a period before the profiles begin.
        period: That period; 0: the profiles are all [s].
        time: Since the profiles' begin; below zero the joints come straight from `before` [s].
        states: Result.
    """
    for i in range(memory.shape[0]):
        x = memory[i, START_STATE]
        if time < 0.0:
            states[i, 1] = (x - before[i]) / period
            states[i, 0], states[i, 2] = x + time * states[i, 1], 0.0
        else:
            v, a = memory[i, START_STATE + 1], memory[i, START_STATE + 2]
            states[i, 0], states[i, 1], states[i, 2], _ = sample(memory[i, PROFILE:], x, v, a, time)


@helper
def span_of(levers: FloatArray, states: FloatArray, jerks: FloatArray, room: float) -> float:
    """Return a time in which a pair cannot come nearer by more than a room [s].

    Args:
        levers: (n,) of the pair.
        states: (n, 3) now.
        jerks: (n,) largest ones from now on.
        room: Positive [m].
    """
    speed = 0.0
    for i in range(levers.shape[0]):
        speed += levers[i] * abs(states[i, 1])
    time = room / speed if speed > 0.0 else 1.0
    for _ in range(40):
        nearer = 0.0
        for i in range(levers.shape[0]):
            push = 0.5 * abs(states[i, 2]) + time * jerks[i] / 6.0
            nearer += levers[i] * time * (abs(states[i, 1]) + time * push)
        if nearer <= room:
            return time
        time *= max(0.5, room / nearer)
    return time


@helper
def distance_of(
    scene: SceneFields, number: int, need: float, row: FloatArray, scratch: FloatArray
) -> float:
    """Return a lower bound on the distance of a placed pair; by the shapes where that may help.

    Args:
        scene: See `SceneFields`; the workspace holds the frames and the balls.
        number: The pair.
        need: A distance that suffices [m].
        row: (12,) workspace.
        scratch: (n,) workspace.
    """
    fields, cover, shapes, ranges, (frames, _, world) = scene
    row[GAP_DISTANCE] = need
    measure_row(cover, world, number, row)
    if row[GAP_DISTANCE] < need and row[GAP_DISTANCE] < SHAPES_BELOW:
        separate_links(fields, shapes, ranges[number], frames, row, scratch, cover[-1][number])
    return float(row[GAP_DISTANCE])


@jit
def measure_near(
    q: FloatArray, within: float, scene: SceneFields, rows: FloatArray, gradients: FloatArray
) -> None:  # fmt: skip
    """Write the distances of all pairs and their gradients, by the shapes where they are near.

    Args:
        q: (n,) [rad or m].
        within: Farther pairs get this distance only [m].
        scene: The scene; its workspace is overwritten.
        rows: (p, 12) result, see `distance_kernel`.
        gradients: (p, n) result [m/rad or 1].
    """
    fields, cover, shapes, ranges, work = scene
    measure_pairs(fields, cover, q, work, rows, gradients, within)
    for k in range(rows.shape[0]):
        if rows[k, GAP_DISTANCE] < SHAPES_BELOW:
            separate_links(fields, shapes, ranges[k], work[0], rows[k], gradients[k], cover[-1][k])


@jit
def part_of_room(
    memory: FloatArray, before: FloatArray, period: float, begin: float,
    scene: SceneFields, pairs: PairFields,
) -> tuple[float, int, float]:  # fmt: skip
    """Return which fraction of its room a pair uses at most, on the way to rest.

    The room of a pair is from its distance now to its floor.

    Args:
        memory: (n, 27) with profiles to rest.
        before: (n,) positions a period before the profiles begin.
        period: That period; 0: the joints are on the profiles [s].
        begin: Time since the profiles' begin at which to begin, if the period is 0 [s].
        scene: The scene; its workspace is overwritten.
        pairs: Levers, floors and present distances.

    Returns:
        The fraction, above 1 if a pair falls below its floor; that pair, -1 if none is near; and
        the time at which it first does, since the profiles' begin [s].
    """
    fields, cover, _, _, (frames, tip, world) = scene
    levers, floors, now = pairs
    n, count = memory.shape[0], floors.shape[0]
    states, jerks, ways, total = np.empty((n, 3)), np.empty(n), np.empty(n), begin
    for i in range(n):
        row = memory[i, PROFILE:]
        total = max(total, duration(row))
        jerks[i] = 0.0
        for k in range(SEGMENTS):
            jerks[i] = max(jerks[i], abs(row[SEGMENTS + k]))
        x, v, a = memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2]
        ways[i] = way_left(row, x, v, a, begin)
        if period > 0.0:
            ways[i] += abs(x - before[i])
    time = -period if period > 0.0 else begin
    due = np.full(count, time)
    first, scratch, measured = np.empty(GAP_COLUMNS), np.empty(n), np.empty(n)
    part, worst, chain = 0.0, -1, ChainArrays(*fields)
    # A pair below its padding may leave, but not come back.
    kept, lowest = floors.copy(), now.copy()
    for k in range(count):
        reach = 0.0
        for i in range(n):
            reach += levers[k, i] * ways[i]
        if now[k] - reach >= floors[k]:
            due[k] = inf
    while True:
        time = inf
        for k in range(count):
            time = min(time, due[k])
        if time == inf:
            return part, worst, inf
        ends = time >= total
        time = min(time, total)
        state_at(memory, before, period, time, states)
        for i in range(n):
            measured[i] = states[i, 0]
        forward_frames(chain, measured, frames, tip)
        place_balls(frames, cover[0], world)
        for k in range(count):
            if due[k] > time:
                continue
            reach = 0.0
            for i in range(n):
                reach += levers[k, i] * ways[i]
            need = floors[k] + reach
            distance = distance_of(scene, k, need, first, scratch)
            if distance > lowest[k] + DISTANCE_ROUNDING:
                kept[k] = max(kept[k], min(distance, 0.0))
            lowest[k] = min(lowest[k], distance)
            used = (now[k] + FLOOR_ALLOWANCE - distance) / (
                now[k] + FLOOR_ALLOWANCE - floors[k] + DISTANCE_ROUNDING
            )
            if used > part:
                part, worst = used, k
            if not distance >= kept[k] - DISTANCE_ROUNDING:  # nor is NaN
                state_at(memory, before, period, total, states)
                for i in range(n):
                    measured[i] = states[i, 0]
                forward_frames(chain, measured, frames, tip)
                place_balls(frames, cover[0], world)
                distance = distance_of(scene, k, need, first, scratch)
                used = (now[k] + FLOOR_ALLOWANCE - distance) / (
                    now[k] + FLOOR_ALLOWANCE - floors[k] + DISTANCE_ROUNDING
                )
                return max(used if used > part else part, 1.0 + FLOOR_ALLOWANCE), k, time
            if ends or distance >= need:
                due[k] = inf
            else:
                room = max(distance - kept[k], LEAST_STRIDE)
                span = max(span_of(levers[k], states, jerks, room), SHORTEST_STRIDE)
                # The profiles' velocities are not those of the way to their begin.
                due[k] = min(time + span, 0.0) if time < 0.0 else min(time + span, total)


@jit
def first_on_line(
    start: FloatArray, way: FloatArray, scene: SceneFields, pairs: PairFields
) -> tuple[int, float]:
    """Return the first pair that comes too near on a straight way of the joints.

    Args:
        start: (n,) its begin, where the pairs are now.
        way: (n,) its end less its begin.
        scene: The scene; its workspace is overwritten.
        pairs: Levers, floors and present distances.

    Returns:
        The pair, -1 for none, and a share of the way at which it is too near.
    """
    fields, cover, _, _, (frames, tip, world) = scene
    levers, floors, now = pairs
    n, count, chain = start.shape[0], floors.shape[0], ChainArrays(*fields)
    due, reaches = np.zeros(count), np.zeros(count)
    row, scratch, q = np.empty(GAP_COLUMNS), np.empty(n), np.empty(n)
    # A pair below its padding may leave, but not come back.
    kept, lowest = floors.copy(), now.copy()
    for k in range(count):
        for i in range(n):
            reaches[k] += levers[k, i] * abs(way[i])
        if now[k] - reaches[k] >= floors[k]:
            due[k] = inf
    while True:
        share = inf
        for k in range(count):
            share = min(share, due[k])
        if share == inf:
            return -1, 1.0
        for i in range(n):
            q[i] = start[i] + share * way[i]
        forward_frames(chain, q, frames, tip)
        place_balls(frames, cover[0], world)
        for k in range(count):
            if due[k] > share:
                continue
            need = floors[k] + (1.0 - share) * reaches[k]
            distance = distance_of(scene, k, need, row, scratch)
            if distance > lowest[k] + DISTANCE_ROUNDING:
                kept[k] = max(kept[k], min(distance, 0.0))
            lowest[k] = min(lowest[k], distance)
            if not distance >= kept[k] - DISTANCE_ROUNDING:  # nor is NaN
                return k, share
            if share >= 1.0 or distance >= need or reaches[k] == 0.0:
                due[k] = inf
            else:
                due[k] = min(share + max(distance - kept[k], LEAST_STRIDE) / reaches[k], 1.0)


@jit
def distance_at(q: FloatArray, number: int, need: float, scene: SceneFields) -> float:
    """Return a lower bound on the distance of a pair, at most `need`; see `distance_of`.

    Args:
        q: (n,) [rad or m].
        number: The pair.
        need: A distance that suffices [m].
        scene: The scene; its workspace is overwritten.
    """
    frames, tip, world = scene[4]
    forward_frames(ChainArrays(*scene[0]), q, frames, tip)
    place_balls(frames, scene[1][0], world)
    return distance_of(scene, number, need, np.empty(GAP_COLUMNS), np.empty(q.shape[0]))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distances that an arm's links keep from each other and from objects, while it moves.

A command is accepted only if no pair comes nearer than its floor on the way to it and while braking
after it. The floor is the padding of the scene. That of a pair that is nearer, because an object
has appeared or the arm began there, is its largest distance since then: it may leave, but not come
back, nor do so while it brakes. Where braking cannot prevent that, its floor is where that ends.
All distances here are less the padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from basis_ik.arm import clearance_kernel as kernels
from basis_ik.arm.joints_kernel import (
    ACCELERATION,
    GOAL,
    JERK,
    JOINT_COLUMNS,
    START_STATE,
    plan_joints,
)
from basis_ik.arm.limits import fastest_before
from basis_ik.collision.collision_scene import Gap, Scene, sample_scene, tables_of
from basis_ik.collision.distance_kernel import GAP_DISTANCE
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.reach import lengths_of


class ClearanceTuning(NamedTuple):
    """Tuning of the distances that an arm keeps."""

    horizon: float = 0.3  # [m], up to which distances are measured
    # A jog holds a pair that it brings nearer at this height above its floor: what curves may use.
    reserve: float = 1e-3  # [m]
    reserve_rate: float = 0.1  # [1/s], fraction of the rest they may use: rounding stops nothing
    bisections: int = 30  # of the way, in search of where a pair is at its floor
    samples: int = 50  # along a way, of which one is the farthest from what is left
    last_rounding: float = 1e-5  # [m], allowance of the last check
    # [m], below its floor: no accepted command leads there.
    sunk: float = 2.0 * kernels.DISTANCE_ROUNDING
    longest_lever: float = 1e3  # [m], stands for none, of what slides without end


CLEARANCE_TUNING = ClearanceTuning()


P = ParamSpec("P")
R = TypeVar("R")


def _timed(
    method: Callable[Concatenate[Clearance, P], R],
) -> Callable[Concatenate[Clearance, P], R]:
    """Return a method whose duration counts as time of checks; it must not call another."""

    @wraps(method)
    def measured(self: Clearance, /, *words: P.args, **options: P.kwargs) -> R:
        began = self.stopwatch()
        result = method(self, *words, **options)
        self.seconds += self.stopwatch() - began
        return result

    return measured


class Approach(NamedTuple):
    """A pair that comes nearer too quickly to stop before its floor."""

    gradient: FloatArray
    """(n,) derivative of its distance by the variables [m/rad or 1]."""
    rate: float
    """How quickly it comes nearer [m/s]."""
    allowed: float
    """How quickly it may [m/s]."""
    gap: Gap
    """The pair."""


class Clearance:
    """Keeps the pairs of a scene apart.

    Args:
        scene: The robot and the objects, which may change between two calls. All pairs keep its
            padding.
        stopwatch: Returns a time by which the checks are measured [s].

    Attributes:
        scene: The scene.
        revision: Counts changes of the scene.
        seconds: How long all checks took, until somebody sets it back [s].
    """

    def __init__(self, scene: Scene, stopwatch: Callable[[], float] = float) -> None:
        self.scene, self.revision = scene, 0
        self.stopwatch, self.seconds = stopwatch, 0.0
        self._prepare()

    def _prepare(self) -> None:
        tables = tables_of(self.scene)
        self._memory, count = tables.take(), len(tables.members)
        self._now, self._floors = np.full(count, math.inf), np.full(count, -math.inf)
        self._measure_levers = _Levers(self.scene)
        self._heed_moves()

    def _heed_moves(self) -> None:
        """Take the present places of links and objects, and the present points."""
        self._tables = tables = tables_of(self.scene)
        work = self._memory.work
        self._scene = (tables.chain, tables.cover, tables.shapes, tables.ranges, work)
        self._changes, self.revision = self.scene.changes, self.revision + 1
        self._levers = self._measure_levers()
        self.reset()

    def reset(self) -> None:
        """Forget how far apart the pairs were."""
        self._floors[:] = -math.inf

    @_timed
    def observe(self, q: FloatArray, *, at_rest: bool = False) -> None:
        """Measure all pairs, and set their floors.

        Args:
            q: Positions of the joints (n,) [rad or m].
            at_rest: Whether they rest there: what braking could not prevent, where something had
                appeared in their way, may then be left.
        """
        # Of points that have come nothing but these is new.
        if tables_of(self.scene).slots is not self._tables.slots:
            self._prepare()
        elif self.scene.changes != self._changes:
            self._heed_moves()
        _, rows, gradients, _ = self._memory
        kernels.measure_near(q, CLEARANCE_TUNING.horizon, self._scene, rows, gradients)
        self._now[:] = rows[:, GAP_DISTANCE]
        np.maximum(self._floors, self._now, out=self._floors)
        if at_rest:
            sunk = self._now < self._floors - CLEARANCE_TUNING.sunk
            self._floors[sunk] = self._now[sunk]
        np.minimum(self._floors, 0.0, out=self._floors)

    @_timed
    def part(self, out: FloatArray, before: FloatArray, period: float) -> tuple[float, int]:
        """Return which fraction of its room a pair uses at most, and that pair; -1: none is near.

        Above 1 it would come too near.

        Args:
            out: (n, 27) after the period, with profiles to rest; see `arm.joints_kernel`.
            before: Positions (n,) before the period, as observed.
            period: [s].
        """
        part, pair, _ = kernels.part_of_room(out, before, period, 0.0, *self._fields)
        return float(part), int(pair)

    @_timed
    def part_at_rest(self, out: FloatArray, pair: int) -> float:
        """Return which fraction of its room one pair uses where the joints come to rest.

        Args:
            out: As for `part`.
            pair: The pair.
        """
        room = (
            self._now[pair]
            + kernels.FLOOR_ALLOWANCE
            - self._floors[pair]
            + kernels.DISTANCE_ROUNDING
        )
        there = self._distance(np.ascontiguousarray(out[:, GOAL]), pair)
        return float((self._now[pair] + kernels.FLOOR_ALLOWANCE - there) / room)

    def _distance(self, q: FloatArray, pair: int) -> float:
        return float(kernels.distance_at(q, pair, CLEARANCE_TUNING.horizon, self._scene))

    @_timed
    def pair_in_way(self, memory: FloatArray) -> tuple[int, float]:
        """Return which pair comes too near on the joints' profiles first, and when [s].

        Args:
            memory: (n, 27) with profiles to rest, which begin where the pairs were observed.

        Returns:
            The pair, -1 for none, and the time since the profiles' begin.
        """
        before = np.ascontiguousarray(memory[:, START_STATE])
        _, pair, time = kernels.part_of_room(memory, before, 0.0, 0.0, *self._fields)
        return (int(pair) if time < math.inf else -1), float(time)

    @_timed
    def pair_on_line(self, start: FloatArray, goal: FloatArray) -> int:
        """Return the first pair that comes too near on a straight way of the joints; -1: none.

        Args:
            start: Where it begins, as observed, shape (n,) [rad or m].
            goal: Where it ends (n,).
        """
        return int(kernels.first_on_line(start, goal - start, *self._fields)[0])

    @_timed
    def free_share(self, start: FloatArray, goal: FloatArray) -> tuple[float, int]:
        """Return how much of a straight way of the joints keeps the distances.

        Args:
            start: Where it begins, as observed, shape (n,) [rad or m].
            goal: Where it ends (n,).

        Returns:
            The share of the way, in [0, 1], and the pair in its way; -1: none.
        """
        way = goal - start
        number, share = kernels.first_on_line(start, way, *self._fields)
        pair, low, high = int(number), 0.0, float(share)
        if pair < 0:
            return 1.0, -1
        if self._distance(start + high * way, pair) >= self._floors[pair]:
            return self._leaving(start, high * way, pair) * high, pair
        for _ in range(CLEARANCE_TUNING.bisections):
            middle = 0.5 * (low + high)
            if self._distance(start + middle * way, pair) >= self._floors[pair]:
                low = middle
            else:
                high = middle
        return low, pair

    def _leaving(self, start: FloatArray, way: FloatArray, pair: int) -> float:
        """Return the share of a straight way on which a pair that is too near only leaves."""
        low, high = 0.0, 1.0
        for _ in range(2):
            shares = np.linspace(low, high, CLEARANCE_TUNING.samples)
            k = int(np.argmax([self._distance(start + share * way, pair) for share in shares]))
            low, high = (
                float(shares[max(k - 1, 0)]),
                float(shares[min(k + 1, CLEARANCE_TUNING.samples - 1)]),
            )
        return low

    @_timed
    def nearer(self, before: FloatArray, place: FloatArray) -> Gap | None:
        """Return a pair that is too near at a place, and nearer than before; None if there is none.

        Args:
            before: Positions (n,) [rad or m].
            place: Other ones (n,).
        """
        if self.scene.is_free(place):
            return None
        had = {gap.names: gap.distance for gap in self.scene.gaps(before, 0.0)}
        for gap in self.scene.gaps(place, 0.0):
            if gap.distance < had.get(gap.names, 0.0) - CLEARANCE_TUNING.last_rounding:
                return gap
        return None

    @property
    def _fields(self) -> tuple[kernels.SceneFields, kernels.PairFields]:
        return self._scene, (self._levers, self._floors, self._now)

    def gap(self, number: int) -> Gap | None:
        """Return a pair as observed; None for -1."""
        return None if number < 0 else self._tables.gap(number, self._memory)

    @property
    def nearest(self) -> Gap | None:
        """The pair with the least room, as observed; None if none is within the horizon."""
        room = self._now - self._floors
        if not len(room) or self._now.min() >= CLEARANCE_TUNING.horizon:
            return None
        return self.gap(int(np.argmin(room)))

    def approaches(
        self, wanted: FloatArray, v: FloatArray, bounds: FloatArray, late: float
    ) -> list[Approach]:
        """Return the pairs that joints bring nearer too quickly, the one that allows least first.

        Args:
            wanted: Wanted velocities (n,) [rad/s or m/s].
            v: Present velocities (n,).
            bounds: Limits (5, n), see `arm.joints_kernel`, with the acceleration and jerk that may
                be used to stop.
            late: Time until braking takes effect [s].
        """
        gradients = self._memory.gradients
        rates = -(gradients @ wanted)
        near = np.flatnonzero((self._now < CLEARANCE_TUNING.horizon) & (rates > 0.0))
        if not len(near):
            return []
        moves, rates = wanted != 0.0, rates[near]
        top, jerk = (bounds[[ACCELERATION, JERK]][:, moves] / np.abs(wanted[moves])).min(axis=1)
        room = np.maximum(self._now - self._floors - CLEARANCE_TUNING.reserve, 0.0)[near] / rates
        left = room - late * np.maximum(-(gradients[near] @ v), 0.0) / rates
        found = []
        for k, rate, time, rest in zip(near, rates.tolist(), room, left, strict=True):
            factor = min(fastest_before(float(rest), float(top), float(jerk)), float(time) / late)
            allowed = max(
                factor * rate, CLEARANCE_TUNING.reserve_rate * float(self._now[k] - self._floors[k])
            )
            if allowed < rate:
                gap = self.gap(int(k))
                assert gap is not None
                found.append(Approach(gradients[k].copy(), rate, allowed, gap))
        return sorted(found, key=lambda each: each.allowed / each.rate)


class _Levers:
    """By how much the variables bring the pairs of a scene nearer, at most.

    Args:
        scene: The scene; its objects may move.
    """

    def __init__(self, scene: Scene) -> None:
        arrays, tables = scene.chain.arrays, tables_of(scene)
        lengths = lengths_of(arrays)
        between, self._slides = np.cumsum(lengths), arrays.prismatic != 0
        pairs = [sorted(pair, key=lambda each: each.joint) for pair in tables.members]
        joint = np.array([[each.joint for each in two] for two in pairs], int).reshape(-1, 2)
        first, last = joint.T
        joints = np.arange(len(lengths))
        self._moved = (joints > first[:, np.newaxis]) & (joints <= last[:, np.newaxis])
        self._away = between[last][:, np.newaxis] - between
        self._variables = np.zeros((len(lengths), len(scene.chain.joint_names)))
        self._variables[joints, arrays.variables] = np.abs(arrays.multipliers)
        self._balls = [tables.slots[two[1].name].balls for two in pairs]
        self._table = tables.cover[0]

    def __call__(self) -> FloatArray:
        """Return them (p, n) for where all is now [m/rad or 1]."""
        ends = np.linalg.norm(self._table[:, :6].reshape(-1, 2, 3), axis=2).max(axis=1)
        reach = ends + self._table[:, 6]
        own = np.array([reach[balls].max() for balls in self._balls])
        levers = np.where(
            self._slides,
            1.0,
            np.minimum(own[:, np.newaxis] + self._away, CLEARANCE_TUNING.longest_lever),
        )
        return np.ascontiguousarray(np.where(self._moved, levers, 0.0) @ self._variables)


def warm_up() -> None:
    """Compile everything that distances in motion may call, before a control loop starts."""
    clearance, here = Clearance(sample_scene()), np.zeros(1)
    clearance.observe(here)
    clearance.nearer(here, here)
    memory = np.zeros((1, JOINT_COLUMNS))
    plan_joints(memory, np.ones((5, 1)))
    clearance.part(memory, here, 0.01)
    clearance.part_at_rest(memory, 0)
    clearance.pair_on_line(here, here)

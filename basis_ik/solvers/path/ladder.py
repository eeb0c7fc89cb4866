# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The search for joint positions along a whole path, where the nearest choice ends early.

The search is a ladder. A rung is a set of joint positions that reach one pose. Positions of
neighbouring rungs are linked by ways on which no joint moves farther than allowed from pose to
pose. The nearest positions may run into a limit later, so of all lanes up the ladder one that gets
farthest is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.tables_kernel import LOWER_UPPER, PERIODIC, ROTATION
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.arguments import hold_near
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.prepare import prepared
from basis_ik.solvers.path.lane_kernel import LANE_ASIDE, LANE_CLEAR, LANE_ONWARD, go_along
from basis_ik.solvers.pose.solve_all import STEPS_PER_DESCENT, solve_all
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain

IntArray = npt.NDArray[np.intp]


class LadderTuning(NamedTuple):
    """Tuning of the search along a path."""

    ways: int = 5  # at most, from one position to the next rung; the first one goes straight on
    starts: int = 3  # of these, at most, from another start; with joints to spare, one
    most_descents: int = 1_000_000  # of a search; on longer paths there are fewer lanes
    stride: float = 0.3  # [rad or m] of a joint from rung to rung, where there are joints to spare
    first_starts: int = 200  # from which the first pose is solved
    apart: float = 0.25  # of the allowed move; lanes nearer to each other are one
    closer: float = 0.1  # the same in the last climbs
    same: float = 1e-3  # the same at the first pose, where lanes that begin side by side may part


LADDER = LadderTuning()
CLIMBS = (
    (32, LADDER.apart, False),
    (128, LADDER.apart, False),
    (128, LADDER.apart, False),
    (128, LADDER.apart, True),
    (128, LADDER.closer, False),
    (128, LADDER.closer, True),
)
"""Lanes side by side, how far apart, and whether from all solutions of the first pose; where they
end early the next, by other random numbers. Where few lanes pass, more do if they are closer
together."""


@dataclass(frozen=True, eq=False)
class _Rung:
    """Joint positions (b, n) that reach one pose, and figures of the lanes that lead to them."""

    way: FloatArray  # (b, s, n) from the rung below, without that
    before: FloatArray  # (b, n) at the pose before
    first: FloatArray  # (b, n) where each lane began
    low: FloatArray  # (b, n) least and greatest of each joint on the way
    high: FloatArray
    travel: FloatArray  # (b,) sum of the moves' norms
    parents: IntArray  # (b,) in the rung below

    def only(self, chosen: IntArray) -> _Rung:
        return _Rung(
            self.way[chosen], self.before[chosen], self.first[chosen], self.low[chosen],
            self.high[chosen], self.travel[chosen], self.parents[chosen],
        )  # fmt: skip

    @property
    def q(self) -> FloatArray:
        ends: FloatArray = self.way[:, -1]
        return ends


class Ladder:
    """The state of a search along one path.

    Joints with room for full turns are followed without their limits, because a lane shifted by
    full turns reaches the same poses. A lane is kept while some turn brings all of it inside.

    Args:
        chain: What to move.
        poses: root_T_target, at least one.
        seed: (n,) near which to begin; None: the middle of the limits.
        max_move: Largest change of each joint between neighbours, as `hold_near` takes it.
        constraint: Which part of each pose counts.
        tolerances: Of position [m] and orientation [rad].
        fixed: Whether all lanes begin at the position that is given to `climb`, which is the seed.
        scene: What no position may collide with; None: nothing.
    """

    def __init__(
        self,
        chain: Chain,
        poses: Sequence[RigidTransform],
        seed: npt.ArrayLike | None,
        max_move: npt.ArrayLike,
        constraint: PoseConstraint | None,
        tolerances: tuple[float, float],
        *,
        fixed: bool = False,
        scene: Scene | None = None,
    ) -> None:
        self._scene = scene
        self._fixed = fixed
        self._chain, self._poses, self._constraint = chain, poses, constraint
        self._tolerances = float(tolerances[0]), float(tolerances[1])
        targets = np.array([pose._m for pose in poses])
        ready, self._weights, self._goals = constrain(prepared(chain), constraint, targets)
        self._seed = ready.middle if seed is None else np.array(seed, np.float64)
        variables = ready.variables.copy()
        self._turns = (variables[:, PERIODIC] != 0.0) & (chain.upper - chain.lower >= 2.0 * np.pi)
        self._endless = self._turns & np.isinf(chain.upper - chain.lower)
        if fixed:  # a lane must not be shifted by a turn
            self._turns = self._endless
        variables[self._turns, LOWER_UPPER] = -np.inf, np.inf
        self._ready = replace(ready, variables=variables)
        n = len(self._seed)
        self._max_move = np.array(np.broadcast_to(np.asarray(max_move, np.float64), n))
        self._spare = np.count_nonzero(self._weights[: ROTATION.stop] > 0.0) < n
        stride = LADDER.stride / self._max_move.max() if self._spare else 1.0
        self._stride = max(1, int(stride))
        self._unit = self._stride * np.where(np.isfinite(self._max_move), self._max_move, 1.0)
        self._most = max(1, LADDER.most_descents // (LADDER.ways * len(poses)))
        self._random, self._work = np.random.default_rng(0), ready.new_work()

    def climb(self, first: FloatArray) -> FloatArray:
        """Return the rows (k, n) of a lane that gets farthest.

        Of several that get as far it is the one that begins nearest to the seed, and of these the
        one whose joints travel least.

        Args:
            first: (n,) that reach the first pose, to begin with among others.
        """
        farthest, alone = first[np.newaxis], self._only(first[np.newaxis])
        if not self._spare:
            width = min(CLIMBS[0][0], self._most)
            return self._climb(
                alone if self._fixed else self._begin(first, width), width, LADDER.apart
            )
        for most, apart, from_all in CLIMBS:  # the lanes of all would leave few to the first one
            width = min(most, self._most)
            begin = self._begin(first, width) if from_all and not self._fixed else alone
            farthest = max(farthest, self._climb(begin, width, apart), key=len)
            if len(farthest) == len(self._goals):
                break
        return farthest

    def _climb(self, begin: _Rung, width: int, apart: float) -> FloatArray:
        """Return the rows (k, n) of a lane from the first rung that gets farthest."""
        rungs, reached = [begin], 1
        while reached < len(self._goals):
            goals = self._goals[reached : reached + self._stride]
            rung = self._next(rungs[-1], goals, len(rungs) - 1, (width, apart))
            if rung is None:
                break
            rungs.append(rung)
            reached += rung.way.shape[1]
            if rung.way.shape[1] < len(goals):
                break
        last = rungs[-1]
        turns = self._shift(last)[0]
        begins = np.linalg.norm(last.first + turns - self._seed, axis=1)
        lane = int(np.lexsort((last.travel, begins))[0])
        shift, ways = turns[lane], []
        for rung in reversed(rungs):
            ways.append(rung.way[lane])
            lane = int(rung.parents[lane])
        rows = np.concatenate(ways[::-1]) + shift
        inside: FloatArray = np.clip(rows, self._chain.lower, self._chain.upper)
        return inside

    def _begin(self, first: FloatArray, width: int) -> _Rung:
        found = solve_all(
            self._chain, self._poses[0], self._seed,
            constraint=self._constraint, starts=LADDER.first_starts,
            position_tolerance=self._tolerances[0], orientation_tolerance=self._tolerances[1],
            scene=self._scene,
        )  # fmt: skip
        q = np.array([first, *(solution.positions for solution in found)])
        return self._only(q).only(self._spread(q, np.arange(len(q)) == 0, width, LADDER.same))

    def _only(self, q: FloatArray) -> _Rung:
        """Return the first rung, of positions (b, n)."""
        none = np.zeros(len(q), np.intp)
        return _Rung(q[:, np.newaxis], q, q, q, q, np.zeros(len(q)), none)

    def _next(
        self, rung: _Rung, goals: FloatArray, number: int, lanes: tuple[int, float]
    ) -> _Rung | None:
        """Return the rung that most of the goals lead to, or None where no lane goes on."""
        width, apart = lanes
        crowded = len(rung.q) >= width
        found: list[FloatArray] = []
        parents: list[int] = []
        for parent, (before, q) in enumerate(zip(rung.before, rung.q, strict=True)):
            ways = [self._go_along(before, q, goals)]
            if self._spare:
                aside = self._random.normal(size=len(q))
                ways += [
                    self._go_along(before, q, goals, LANE_ASIDE, side) for side in (aside, -aside)
                ]
                ways.append(self._go_along(before, q, goals, LANE_CLEAR))
            else:  # the nearest, too, which may turn back at a singularity
                ways.append(self._go_along(q, q, goals))
            if not (crowded and any(map(len, ways))):
                for branch in range(1 if self._spare else LADDER.starts):
                    start = self._descend(q, goals[0], 2 + number * LADDER.starts + branch)
                    if start is not None:
                        ways.append(np.vstack([start, self._go_along(q, start, goals[1:])]))
            found += ways
            parents += [parent] * len(ways)
        most = max(map(len, found))
        if most == 0:
            return None
        chosen = [i for i, way in enumerate(found) if len(way) == most]
        rows, below = np.array([found[i] for i in chosen]), np.array(parents)[chosen]
        whole = np.concatenate([rung.q[below][:, np.newaxis], rows], axis=1)
        moves = np.diff(whole, axis=1)
        above = _Rung(
            rows, whole[:, -2], rung.first[below],
            np.minimum(rung.low[below], rows.min(axis=1)),
            np.maximum(rung.high[below], rows.max(axis=1)),
            rung.travel[below] + np.linalg.norm(moves, axis=2).sum(axis=1), below,
        )  # fmt: skip
        above = above.only(np.flatnonzero(self._shift(above)[1]))
        if not len(above.q):
            return None
        first = np.diff(above.parents, prepend=-1) != 0  # answer from each position
        if self._spare:
            first = np.arange(len(above.q)) == 0
        return above.only(self._spread(above.q, first, width, apart))

    def _go_along(
        self, before: FloatArray, begin: FloatArray, goals: FloatArray,
        manner: int = LANE_ONWARD, aside: FloatArray | None = None,
    ) -> FloatArray:  # fmt: skip
        """Return the rows (k, n) of a way from a position over the goals that it reaches."""
        rows = np.empty((len(goals), len(begin)))
        side = np.zeros(len(begin)) if aside is None else aside.copy()
        reached = go_along(
            self._ready.fields, (self._weights, goals, *self._tolerances),
            (np.array(before), np.array(begin), self._max_move), manner, side, rows, self._work,
        )  # fmt: skip
        if self._scene is not None:
            struck = (k for k in range(reached) if not self._scene.is_free(rows[k]))
            reached = next(struck, reached)
        return rows[:reached]

    def _descend(self, q: FloatArray, goal: FloatArray, start: int) -> FloatArray | None:
        near = hold_near(self._ready, q, self._max_move)
        answer = np.empty_like(q)
        status, *_ = near.search(
            self._weights, goal, q, answer, self._tolerances, STEPS_PER_DESCENT,
            first=start, last=start, near=np.inf,
        )  # fmt: skip
        if status != DESCENT_REACHED:
            return None
        return answer if self._scene is None or self._scene.is_free(answer) else None

    def _shift(self, rung: _Rung) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the full turns (b, n) [rad] to add to each lane, and whether they bring it inside.

        Of several such turns, they are those that let it begin nearest to the seed.
        """
        least = np.ceil((self._chain.lower - rung.low) / (2.0 * np.pi))
        most = np.floor((self._chain.upper - rung.high) / (2.0 * np.pi))
        nearest = np.round((self._seed - rung.first) / (2.0 * np.pi))
        turns = np.where(self._turns, np.minimum(np.maximum(nearest, least), most), 0.0)
        return 2.0 * np.pi * turns, ((least <= most) | ~self._turns).all(axis=1)

    def _spread(
        self, q: FloatArray, straight: npt.NDArray[np.bool_], width: int, apart: float
    ) -> IntArray:
        """Choose lanes, at most the width: those that go straight on, then those farthest apart.

        They keep their order, with those first that began nearest to the seed. Full turns of joints
        without limits do not count, because the lanes would be the same from there on.
        """
        gap = np.full(len(q), np.inf)
        chosen: list[int] = []
        for pool in (np.flatnonzero(straight), np.flatnonzero(~straight)):
            while len(pool) and len(chosen) < width:
                best = int(pool[0] if straight[pool[0]] else pool[np.argmax(gap[pool])])
                if gap[best] > apart:
                    chosen.append(best)
                    away = q - q[best]
                    turns = np.round(away[:, self._endless] / (2.0 * np.pi))
                    away[:, self._endless] -= 2.0 * np.pi * turns
                    gap = np.minimum(gap, np.abs(away / self._unit).max(axis=1))
                pool = pool[gap[pool] > apart]
        return np.sort(np.array(chosen))


def warm_up(chain: Chain) -> None:
    """Compile what a search along a path calls."""
    q = prepared(chain).middle
    pose = chain.forward(q)
    Ladder(chain, [pose, pose], q, 0.1, None, (1e-6, 1e-6)).climb(q)

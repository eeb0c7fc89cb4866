# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The search for joint positions along a whole path, where the nearest choice ends early.

A ladder: each pose is a rung of joint positions that reach it, and positions of neighbouring rungs
are linked where no joint moves farther than allowed. What is nearest now may run into a limit
later; of all the lanes up the ladder, one that gets farthest is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.pose.solve_all import STEPS_PER_START, solve_all
from basis_ik.search.arguments import hold_near
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.prepare import prepared
from basis_ik.search.tables_kernel import LOWER_UPPER, PERIODIC
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

WIDTH = 32  # lanes kept side by side: an arm of six joints has at most 16, a redundant one samples
BRANCHES = 4  # descents from one position to the next pose; the first one goes straight on
MOST_DESCENTS = 100_000  # of a search; on longer paths there are fewer lanes
FIRST_STARTS = 200  # from which the first pose is solved
APART = 0.25  # of the allowed move: lanes nearer to each other than this are one
SAME = 1e-3  # likewise at the first pose, where lanes that begin side by side may part


@dataclass(frozen=True, eq=False)
class _Rung:
    """The joint positions (b, n) that reach one pose, and what is known of the lanes to them."""

    q: FloatArray
    first: FloatArray  # (b, n) where each lane began
    low: FloatArray  # (b, n) least and greatest of each joint on the way
    high: FloatArray
    travel: FloatArray  # (b,) sum of the moves' norms
    parents: IntArray  # (b,) in the rung below

    def only(self, chosen: IntArray) -> _Rung:
        return _Rung(
            self.q[chosen], self.first[chosen], self.low[chosen], self.high[chosen],
            self.travel[chosen], self.parents[chosen],
        )  # fmt: skip


class Ladder:
    """All that a search along one path knows.

    Joints with room for full turns are followed without their limits: shifted by full turns a lane
    reaches the same poses. It is kept as long as some turn brings the whole of it inside.

    Args:
        chain: What to move.
        poses: root_T_target, at least one.
        seed: (n,) near which to begin; None: the middle of the limits.
        max_move: Largest change of each joint between neighbours, as `hold_near` takes it.
        constraint: Which part of each pose counts.
        tolerances: Of position [m] and orientation [rad].
    """

    def __init__(
        self,
        chain: Chain,
        poses: Sequence[RigidTransform],
        seed: npt.ArrayLike | None,
        max_move: npt.ArrayLike,
        constraint: PoseConstraint | None,
        tolerances: tuple[float, float],
    ) -> None:
        self._chain, self._poses, self._constraint = chain, poses, constraint
        self._tolerances = float(tolerances[0]), float(tolerances[1])
        ready, self._weights, _ = constrain(prepared(chain), constraint, poses[0]._m)
        self._seed = ready.middle if seed is None else np.array(seed, np.float64)
        variables = ready.variables.copy()
        self._turns = (variables[:, PERIODIC] != 0.0) & (chain.upper - chain.lower >= 2.0 * np.pi)
        variables[self._turns, LOWER_UPPER] = -np.inf, np.inf
        self._ready = replace(ready, variables=variables)
        self._max_move = max_move
        move = np.broadcast_to(np.asarray(max_move, np.float64), self._seed.shape)
        self._unit = np.where(np.isfinite(move), move, 1.0)
        self._width = min(WIDTH, max(1, MOST_DESCENTS // (BRANCHES * len(poses))))

    def climb(self, first: FloatArray) -> FloatArray:
        """Return the rows (k, n) of a lane that gets farthest.

        Of several that get as far, the one that begins nearest to the seed; of these, the one
        whose joints travel least.

        Args:
            first: (n,) that reach the first pose, to begin with among others.
        """
        rungs = [self._begin(first)]
        for number, pose in enumerate(self._poses[1:]):
            rung = self._next(rungs[-1], pose, number)
            if rung is None:
                break
            rungs.append(rung)
        last = rungs[-1]
        turns = self._shift(last)[0]
        begins = np.linalg.norm(last.first + turns - self._seed, axis=1)
        lane = int(np.lexsort((last.travel, begins))[0])
        shift, rows = turns[lane], []
        for rung in reversed(rungs):
            rows.append(rung.q[lane] + shift)
            lane = int(rung.parents[lane])
        inside: FloatArray = np.clip(rows[::-1], self._chain.lower, self._chain.upper)
        return inside

    def _begin(self, first: FloatArray) -> _Rung:
        found = solve_all(
            self._chain, self._poses[0], self._seed,
            constraint=self._constraint, starts=FIRST_STARTS,
            position_tolerance=self._tolerances[0], orientation_tolerance=self._tolerances[1],
        )  # fmt: skip
        q = np.array([first, *(solution.positions for solution in found)])
        none = np.zeros(len(q), np.intp)
        rung = _Rung(q, q, q, q, np.zeros(len(q)), none)
        return rung.only(self._spread(q, np.arange(len(q)) == 0, SAME))

    def _next(self, rung: _Rung, pose: RigidTransform, number: int) -> _Rung | None:
        """Return the rung above, or None where no lane goes on."""
        goal = constrain(prepared(self._chain), self._constraint, pose._m)[2]
        crowded = len(rung.q) >= self._width
        found: list[FloatArray] = []
        parents: list[int] = []
        for parent, q in enumerate(rung.q):
            before = len(found)
            for branch in range(BRANCHES):
                start = 0 if branch == 0 else 1 + number * (BRANCHES - 1) + branch
                answer = self._descend(q, goal, start)
                if answer is not None:
                    found.append(answer)
                    parents.append(parent)
                if crowded and len(found) > before:
                    break
        if not found:
            return None
        q, below = np.array(found), np.array(parents)
        above = _Rung(
            q, rung.first[below], np.minimum(rung.low[below], q), np.maximum(rung.high[below], q),
            rung.travel[below] + np.linalg.norm(q - rung.q[below], axis=1), below,
        )  # fmt: skip
        above = above.only(np.flatnonzero(self._shift(above)[1]))
        if not len(above.q):
            return None
        straight = np.diff(above.parents, prepend=-1) != 0  # the first answer from each position
        return above.only(self._spread(above.q, straight))

    def _descend(self, q: FloatArray, goal: FloatArray, start: int) -> FloatArray | None:
        near = hold_near(self._ready, q, self._max_move)
        answer = np.empty_like(q)
        status, *_ = near.search(
            self._weights, goal, q, answer, self._tolerances, STEPS_PER_START,
            first=start, last=start, near=np.inf,
        )  # fmt: skip
        return answer if status == REACHED else None

    def _shift(self, rung: _Rung) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the full turns (b, n) [rad] to add to each lane, and whether they bring it inside.

        Of several such, those by which it begins nearest to the seed.
        """
        least = np.ceil((self._chain.lower - rung.low) / (2.0 * np.pi))
        most = np.floor((self._chain.upper - rung.high) / (2.0 * np.pi))
        nearest = np.round((self._seed - rung.first) / (2.0 * np.pi))
        turns = np.where(self._turns, np.minimum(np.maximum(nearest, least), most), 0.0)
        return 2.0 * np.pi * turns, ((least <= most) | ~self._turns).all(axis=1)

    def _spread(
        self, q: FloatArray, straight: npt.NDArray[np.bool_], apart: float = APART
    ) -> IntArray:
        """Choose at most the width: lanes that go straight on, then such as are farthest apart.

        The order stays, in which those come first that began nearest to the seed.
        """
        z, gap = q / self._unit, np.full(len(q), np.inf)
        chosen: list[int] = []
        for pool in (np.flatnonzero(straight), np.flatnonzero(~straight)):
            while len(pool) and len(chosen) < self._width:
                best = int(pool[0] if straight[pool[0]] else pool[np.argmax(gap[pool])])
                if gap[best] > apart:
                    chosen.append(best)
                    gap = np.minimum(gap, np.abs(z - z[best]).max(axis=1))
                pool = pool[gap[pool] > apart]
        return np.sort(np.array(chosen))

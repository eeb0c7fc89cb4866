# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Other solutions of a pose, for when the nearest one collides.

An arm with a closed form has few, which are all asked. Any other arm leaves its solution along its
self-motion, and is solved from further starts; the best of what is found goes back towards the seed
as far as it stays free.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from basis_ik.collision.collision_scene import Gap, Scene
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.pose_problem import PoseProblem
from basis_ik.robot.chain import Chain
from basis_ik.search.descent_kernel import REACHED as ARRIVED
from basis_ik.search.pose_search_kernel import take_shortest_turns
from basis_ik.search.tables_kernel import BOX_X, LOWER_UPPER

STARTS = 200  # default
ENOUGH = 12  # free solutions, of which the nearest is taken
STEPS_PER_START = 100
STRIDES = 24
STRIDE = 0.15  # [rad or m] of the joint that moves most
MOST_WALKS = 3  # spare joints that are followed
PULLS = 8
RANK = 1e-6  # of the largest singular value


class FreeSearch(NamedTuple):
    """What a search for a solution without collisions came to.

    Attributes:
        found: The free solution nearest to the seed, its distance [m] and angle [rad]; or None.
        asked: How many solutions were asked.
        starts: From how many starts.
        proven: Whether these were all solutions, and it is certain that each collides.
    """

    found: tuple[FloatArray, float, float] | None
    asked: int
    starts: int
    proven: bool


class _Free(NamedTuple):
    cost: float
    q: FloatArray
    errors: tuple[float, float]


def collisions_of(chain: Chain, scene: Scene, q: FloatArray) -> tuple[Gap, ...]:
    """Return what collides at positions q (n,) of a chain.

    Raises:
        SolveArgumentError: The scene is none, or of other joints.
    """
    if not isinstance(scene, Scene):
        raise SolveArgumentError("scene", type(scene), "a Scene, or None")
    own, theirs = chain.arrays, scene.chain.arrays
    if chain is not scene.chain and not np.array_equal(own.origins, theirs.origins):
        raise SolveArgumentError("scene", scene, f"of the same joints as {chain!r}")
    return scene.collisions(q)


def find_free(
    problem: PoseProblem, scene: Scene, first: FloatArray, starts: int, deadline: float
) -> FreeSearch:
    """Search for the solution nearest to the seed that does not collide.

    Args:
        problem: The problem.
        scene: The scene.
        first: (n,) a solution that collides [rad or m].
        starts: Starts allowed.
        deadline: Of `time.perf_counter`, for the starts.
    """
    search = _Search(problem, scene)
    complete = search.try_branches()
    if complete:
        best = min(search.free, key=_cost, default=None)
        proven = best is None and search.certain and search.asked > 0
        return FreeSearch(_of(best), search.asked, 0, proven)
    search.walk(first)
    made = 0
    for number in range(1, starts + 1):
        if len(search.free) >= ENOUGH or time.perf_counter() > deadline:
            break
        made = number
        search.descend(problem.start, number, 0.0)
    best = min(search.free, key=_cost, default=None)
    if best is not None:
        best = search.pull(best)
    return FreeSearch(_of(best), search.asked, made, False)


def _is_certain(gap: Gap) -> bool:
    """Return whether a collision is one of the shapes, and not only of their covers."""
    return gap.certain


def _cost(free: _Free) -> float:
    return free.cost


def _of(best: _Free | None) -> tuple[FloatArray, float, float] | None:
    return None if best is None else (best.q, *best.errors)


class _Search:
    """Collects free solutions.

    Attributes:
        free: Those found.
        asked: How many solutions were asked.
        certain: Whether it is certain of all the others that they collide.
    """

    def __init__(self, problem: PoseProblem, scene: Scene) -> None:
        self._problem, self._scene = problem, scene
        self.free: list[_Free] = []
        self.asked, self.certain = 0, True
        self._last = problem.start

    def try_branches(self) -> bool:
        """Ask the branches of a closed form; return whether these are all solutions."""
        problem, form = self._problem, self._problem.ready.closed
        if form is None:
            return False
        branches = form.starts(problem.ready.variables, problem.goal, problem.start)
        inside = branches.positions[: branches.inside]
        arrived = [self.descend(q.copy(), 0, np.inf) is not None for q in inside]
        return all(arrived) and branches.margin > form.proof_margin(*problem.tolerances)

    def descend(self, start: FloatArray, number: int, near: float) -> tuple[Gap, ...] | None:
        """Ask the solution that a descent from a start arrives at.

        Returns:
            Its collisions; None if the descent does not arrive.
        """
        problem, ready = self._problem, self._problem.ready
        q = np.empty_like(start)
        status, _, _, distance, angle = ready.search(
            ready.weights, problem.goal, start, q, problem.tolerances, STEPS_PER_START,
            first=number, last=number, near=near,
        )  # fmt: skip
        if status != ARRIVED:
            return None
        take_shortest_turns(ready.variables, problem.start, q)
        self.asked += 1
        self._last = q
        collisions = self._scene.collisions(q)
        if collisions:
            self.certain &= any(map(_is_certain, collisions))
        else:
            cost = float(np.linalg.norm(q - problem.start))
            self.free.append(_Free(cost, q, (distance, angle)))
        return collisions

    def walk(self, first: FloatArray) -> None:
        """Follow the self-motion from a solution that collides, both ways, until it is free."""
        for axis in self._spare(first).T[:MOST_WALKS]:
            for way in (axis, -axis):
                q, along = first, way
                for _ in range(STRIDES):
                    spare = self._spare(q)
                    stride = (along @ spare) @ spare.T
                    size = float(np.abs(stride).max(initial=0.0))
                    if not size > RANK:
                        break
                    there = self._inside(q + STRIDE / size * stride)
                    if not self.descend(there, 0, np.inf):  # free, or lost
                        break
                    along, q = self._last - q, self._last

    def _inside(self, q: FloatArray) -> FloatArray:
        return np.clip(q, *self._problem.ready.variables[:, LOWER_UPPER].T)

    def pull(self, best: _Free) -> _Free:
        """Go back along the self-motion towards the seed while that is free."""
        share = 1.0
        for _ in range(PULLS):
            spare = self._spare(best.q)
            back = ((self._problem.start - best.q) @ spare) @ spare.T
            if not float(back @ back) > RANK:
                break
            known = len(self.free)
            self.descend(best.q + share * back, 0, np.inf)
            nearer = [each for each in self.free[known:] if each.cost < best.cost]
            if nearer:
                best = nearer[0]
            else:
                share *= 0.5
        return best

    def _spare(self, q: FloatArray) -> FloatArray:
        """Return an orthonormal basis (n, d) of the moves that keep what counts of the pose."""
        problem = self._problem
        twist = problem.chain.jacobian(q).reshape(2, 3, -1)
        along = (problem.goal[:3, :3].T @ twist).reshape(6, -1)
        rows = along[problem.ready.weights[:BOX_X] > 0.0]
        _, sizes, axes = np.linalg.svd(rows)
        rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
        return np.asarray(axes[rank:].T)

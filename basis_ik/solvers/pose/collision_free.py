# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Other solutions of a pose or a ray, for when the nearest one collides.

An arm with a closed form has few, which are all asked. Any other arm leaves its solution along its
self-motion, and is solved from further starts; the best of what is found goes back towards the seed
as far as it stays free. What has solutions is an `Alternatives`: `PoseAlternatives` for poses,
`look.look_alternatives.RayAlternatives` for rays.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from basis_ik.collision.collision_scene import Gap, Scene, tables_of
from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.pose_search_kernel import take_shortest_turns
from basis_ik.descent.tables_kernel import BOX_X, LOWER_UPPER
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.pose.pose_problem import PoseProblem


class FreeSearchTuning(NamedTuple):
    """Tuning of the search for solutions that do not collide."""

    starts: int = 200  # by default
    solutions: int = 12  # free ones, of which the nearest is taken
    steps_per_start: int = 100
    strides: int = 24
    stride: float = 0.15  # [rad or m] of the joint that moves most
    most_walks: int = 3  # spare joints that are followed
    pulls: int = 8
    halvings: int = 12  # of a step that is too long
    same_depth: float = 1e-9  # [m] of rounding
    rank: float = 1e-6  # of the largest singular value


FREE_SEARCH = FreeSearchTuning()


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


Arrived = tuple[FloatArray, float, float]
"""A solution (n,), and the distance [m] and angle [rad] that it leaves."""


class Alternatives(Protocol):
    """A problem that has several solutions."""

    @property
    def ready(self) -> PreparedChain:
        """The chain, with the limits that hold."""

    @property
    def start(self) -> FloatArray:
        """The seed (n,) [rad or m]."""

    def branches(self) -> tuple[list[FloatArray], bool] | None:
        """Return the solutions of a closed form, and whether there are no others; None: no form."""

    def arrive(self, start: FloatArray, number: int) -> Arrived | None:
        """Return the solution that a descent from a start leads to, or None.

        Args:
            start: (n,) [rad or m].
            number: 0: descend from there; otherwise from the fresh start of this number.
        """

    def rows(self, q: FloatArray) -> FloatArray:
        """Return the derivative (r, n) of all that counts, at a solution."""


class PoseAlternatives:
    """The solutions of a pose.

    Args:
        problem: The pose.
    """

    def __init__(self, problem: PoseProblem) -> None:
        self._problem, self.ready, self.start = problem, problem.ready, problem.start

    def branches(self) -> tuple[list[FloatArray], bool] | None:
        """See `Alternatives.branches`."""
        problem, form = self._problem, self.ready.closed
        if form is None:
            return None
        found = form.starts(self.ready.variables, problem.goal, self.start)
        whole = found.margin > form.proof_margin(*problem.tolerances)
        return [q.copy() for q in found.positions[: found.inside]], whole

    def arrive(self, start: FloatArray, number: int) -> Arrived | None:
        """See `Alternatives.arrive`."""
        problem, q = self._problem, np.empty_like(start)
        status, _, _, distance, angle = self.ready.search(
            self.ready.weights, problem.goal, start, q, problem.tolerances,
            FREE_SEARCH.steps_per_start, first=number, last=number, near=0.0 if number else np.inf,
        )  # fmt: skip
        return (q, distance, angle) if status == ARRIVED else None

    def rows(self, q: FloatArray) -> FloatArray:
        """See `Alternatives.rows`."""
        twist = self._problem.chain.jacobian(q).reshape(2, 3, -1)
        along = (self._problem.goal[:3, :3].T @ twist).reshape(6, -1)
        return np.asarray(along[self.ready.weights[:BOX_X] > 0.0])


class _Free(NamedTuple):
    cost: float
    q: FloatArray
    errors: tuple[float, float]


def scene_of(chain: Chain, scene: Scene) -> Scene:
    """Return a scene, which several threads may ask from now on while nobody changes it.

    Raises:
        SolveArgumentError: It is none, or of other joints than the chain.
    """
    if not isinstance(scene, Scene):
        raise SolveArgumentError("scene", type(scene), "a Scene, or None")
    own, theirs = chain.arrays, scene.chain.arrays
    if chain is not scene.chain and not np.array_equal(own.origins, theirs.origins):
        raise SolveArgumentError("scene", scene, f"of the same joints as {chain!r}")
    tables_of(scene)
    return scene


def collisions_of(chain: Chain, scene: Scene, q: FloatArray) -> tuple[Gap, ...]:
    """Return what collides at positions q (n,) of a chain.

    Raises:
        SolveArgumentError: The scene is none, or of other joints.
    """
    return scene_of(chain, scene).collisions(q)


def go_freely(scene: Scene, start: FloatArray, q: FloatArray) -> Gap | None:
    """Shorten a step until nothing collides at its end, nor gets deeper that does at its start.

    Args:
        scene: The scene.
        start: (n,) where the step begins [rad or m].
        q: (n,) where it ends, which is overwritten.

    Returns:
        What collides most at the end, or would farther on; None if nothing does.
    """
    beyond = scene.collisions(q)
    if not beyond:
        return None
    most = {gap.names: -gap.distance + FREE_SEARCH.same_depth for gap in scene.collisions(start)}

    def deepens(gaps: tuple[Gap, ...]) -> bool:
        return any(-gap.distance > most.get(gap.names, 0.0) for gap in gaps)

    if not deepens(beyond):
        return beyond[0]
    whole, share, held = q - start, 0.0, beyond[0]
    for halvings in range(1, FREE_SEARCH.halvings + 1):
        more = share + 0.5**halvings
        gaps = scene.collisions(start + more * whole)
        if deepens(gaps):
            held = gaps[0]
        else:
            share = more
    q[:] = start + share * whole
    inside = scene.collisions(q)
    # What is apart there has no depth.
    return inside[0] if inside else replace(held, distance=0.0)


def find_free(
    problem: Alternatives, scene: Scene, first: FloatArray, starts: int, deadline: float
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
        if len(search.free) >= FREE_SEARCH.solutions or time.perf_counter() > deadline:
            break
        made = number
        search.descend(problem.start, number)
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

    def __init__(self, problem: Alternatives, scene: Scene) -> None:
        self._problem, self._scene = problem, scene
        self.free: list[_Free] = []
        self.asked, self.certain = 0, True
        self._last = problem.start

    def try_branches(self) -> bool:
        """Ask the branches of a closed form; return whether these are all solutions."""
        found = self._problem.branches()
        if found is None:
            return False
        branches, whole = found
        arrived = [self.descend(q, 0) is not None for q in branches]
        return all(arrived) and whole

    def descend(self, start: FloatArray, number: int) -> tuple[Gap, ...] | None:
        """Ask the solution that a descent from a start arrives at.

        Returns:
            Its collisions; None if the descent does not arrive.
        """
        problem = self._problem
        arrived = problem.arrive(start, number)
        if arrived is None:
            return None
        q, distance, angle = arrived
        take_shortest_turns(problem.ready.variables, problem.start, q)
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
        for axis in self._spare(first).T[: FREE_SEARCH.most_walks]:
            for way in (axis, -axis):
                q, along = first, way
                for _ in range(FREE_SEARCH.strides):
                    spare = self._spare(q)
                    stride = (along @ spare) @ spare.T
                    size = float(np.abs(stride).max(initial=0.0))
                    if not size > FREE_SEARCH.rank:
                        break
                    there = self._inside(q + FREE_SEARCH.stride / size * stride)
                    if not self.descend(there, 0):  # free, or lost
                        break
                    along, q = self._last - q, self._last

    def _inside(self, q: FloatArray) -> FloatArray:
        return np.clip(q, *self._problem.ready.variables[:, LOWER_UPPER].T)

    def pull(self, best: _Free) -> _Free:
        """Go back along the self-motion towards the seed while that is free."""
        share = 1.0
        for _ in range(FREE_SEARCH.pulls):
            spare = self._spare(best.q)
            back = ((self._problem.start - best.q) @ spare) @ spare.T
            if not float(back @ back) > FREE_SEARCH.rank:
                break
            known = len(self.free)
            self.descend(best.q + share * back, 0)
            nearer = [each for each in self.free[known:] if each.cost < best.cost]
            if nearer:
                best = nearer[0]
            else:
                share *= 0.5
        return best

    def _spare(self, q: FloatArray) -> FloatArray:
        """Return an orthonormal basis (n, d) of the moves that keep all that counts."""
        rows = self._problem.rows(q)
        _, sizes, axes = np.linalg.svd(rows)
        rank = int((sizes > FREE_SEARCH.rank * sizes.max(initial=0.0)).sum())
        return np.asarray(axes[rank:].T)

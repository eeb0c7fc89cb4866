# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many targets on all cores."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from basis_ik.closed_form.closed_form_search_kernel import FormArrays
from basis_ik.descent.pose_search_kernel import (
    DESCENT_PATIENCE,
    LARGEST_ANGLE,
    LARGEST_LENGTH,
    NEAR_SEED,
)
from basis_ik.descent.tables_kernel import (
    ANGLE,
    COLUMNS,
    DISTANCE,
    IS_REACHED,
    LAST_START,
    STEPS,
    PoseGoals,
)
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import ByValue, FloatArray
from basis_ik.search.arguments import (
    Positions,
    Target,
    as_positions,
    as_target,
    bad_target,
    count,
    positive,
)
from basis_ik.search.pose_constraint import PoseConstraint, aim_each, constrain, position_of
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.pose.batch_kernel import solve_poses
from basis_ik.solvers.pose.pose_problem import SearchBudget
from basis_ik.solvers.pose.solve import Solution, search_budget, solve
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform, trusted
from basis_ik.verdict import Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain


CHUNK = 512  # targets per task: a few milliseconds, so that all threads end together


@dataclass(frozen=True, eq=False)
class BatchSolution(ByValue):
    """The solutions of k targets, in the order of the targets; arrays are read-only.

    It is true only if all targets were reached.
    """

    positions: FloatArray
    """(k, n) solution, or else the best effort; always within the limits [rad or m]."""
    reached: npt.NDArray[np.bool_]
    """(k,) whether the target was reached."""
    position_errors: FloatArray
    """(k,) see `Solution.position_error` [m]."""
    orientation_errors: FloatArray
    """(k,) see `Solution.orientation_error` [rad]."""
    iterations: npt.NDArray[np.int64]
    """(k,) steps."""
    restarts: npt.NDArray[np.int64]
    """(k,) starts after the seed's."""
    collides: npt.NDArray[np.bool_]
    """(k,) whether the target is not reached because the positions, which do reach it, collide;
    false without a scene."""

    @property
    def success(self) -> bool:
        """Whether all targets were reached."""
        return bool(self.reached.all())

    def __bool__(self) -> bool:
        return self.success


def solve_batch(
    chain: Chain,
    targets: Sequence[Target] | npt.NDArray[Any],
    seeds: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    threads: int | None = None,
    progress: bool = False,
    scene: Scene | None = None,
) -> BatchSolution:
    """Solve for many targets, each as `solve` does, bit for bit, but without reasons.

    The result does not depend on the number of threads.

    Args:
        chain: The chain.
        targets: k root_T_target, also as matrices (k, 4, 4); or positions alone (k, 3) [m].
        seeds: (k, n); or for all targets (n,) or by joint name [rad or m]. None is `chain.neutral`.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: The part of the poses that counts; None: all of it.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        max_iterations: Steps allowed for each target, see `solve`.
        max_restarts: Starts for each target after the seed's, see `solve`.
        threads: Number of threads; None is one per core.
        progress: Draw a progress bar on standard error.
        scene: What the solutions must not collide with, see `solve`. None: nothing is checked.

    Returns:
        The solutions.

    Raises:
        SolveArgumentError: An argument has a wrong type, shape or range, or is not finite; the
            scene is of other joints.
    """
    matrices, constraint = _as_matrices(targets, constraint)
    if position_only:
        constraint = position_of(constraint)
    ready, weights, goals = constrain(prepared(chain), constraint, matrices)
    n = len(ready.middle)
    if isinstance(seeds, Mapping):
        seeds = as_positions("seeds", seeds, chain.joint_names)
    starts = _as_seeds(ready.middle if seeds is None else seeds, len(goals), n)
    position_tolerance = positive("position_tolerance", position_tolerance, "m")
    orientation_tolerance = positive("orientation_tolerance", orientation_tolerance, "rad")
    budget = search_budget(max_iterations, max_restarts, timed=False)
    workers = os.cpu_count() or 1 if threads is None else count("threads", threads, 1)
    pose_goals = PoseGoals(weights, goals, starts, position_tolerance, orientation_tolerance)
    positions, figures = np.empty((len(goals), n)), np.empty((len(goals), 5))
    collides = np.zeros(len(goals), np.bool_)
    if scene is not None:
        from basis_ik.solvers.pose.collision_free import scene_of

        scene = scene_of(chain, scene)
    alone = partial(
        solve, chain, constraint=constraint,
        position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance,
        max_iterations=max_iterations, max_restarts=max_restarts, scene=scene,
    )  # fmt: skip

    def work_on(begin: int) -> int:
        rows = slice(begin, begin + CHUNK)
        _solve_rows(ready, pose_goals, rows, positions[rows], figures[rows], budget)
        left = figures[rows, IS_REACHED] == 0.0
        if scene is not None:
            left |= [not scene.is_free(q) for q in positions[rows]]
        for i in begin + np.flatnonzero(left):
            single = alone(RigidTransform.from_matrix(matrices[i]), starts[i])
            positions[i], figures[i] = single.positions, _figures_of(single)
            collides[i] = single.verdict is Verdict.COLLISION
        return len(goals[rows])

    with ThreadPoolExecutor(workers) as pool:
        pieces = [pool.submit(work_on, begin) for begin in range(0, len(goals), CHUNK)]
        _wait(pieces, len(goals) if progress else 0)
    return _as_batch(positions, figures, collides)


def _solve_rows(
    ready: PreparedChain, goals: PoseGoals, rows: slice, positions: FloatArray,
    figures: FloatArray, budget: SearchBudget,
) -> None:  # fmt: skip
    """Solve for some of the targets by the first search of `solve`.

    Args:
        ready: The chain.
        goals: Targets and seeds.
        rows: Which of them.
        positions: (k, n) result [rad or m].
        figures: (k, 5) result, see `tables_kernel`.
        budget: Budget for each target.
    """
    goals, form = goals._replace(targets=goals.targets[rows], seeds=goals.seeds[rows]), ready.closed
    if form is None:
        solve_poses(
            ready.packed, goals, positions, figures, ready.new_work(),
            (budget.iterations, budget.first_restarts, DESCENT_PATIENCE, NEAR_SEED),
        )  # fmt: skip
        return
    arrays = FormArrays(form.rows, np.empty((len(ready.middle), COLUMNS + form.kernels.most)))
    form.kernels.solve_poses(
        ready.packed, goals, arrays, positions, figures, ready.new_work(), budget.iterations
    )


def _figures_of(solution: Solution) -> tuple[float, ...]:
    """Return the row of figures (5,) of a solution."""
    return (
        solution.success, solution.iterations, solution.restarts, solution.position_error,
        solution.orientation_error,
    )  # fmt: skip


def _as_batch(
    positions: FloatArray, figures: FloatArray, collides: npt.NDArray[np.bool_]
) -> BatchSolution:
    return BatchSolution(
        read_only(positions),
        read_only(figures[:, IS_REACHED] > 0.0),
        read_only(figures[:, DISTANCE].copy()),
        read_only(figures[:, ANGLE].copy()),
        read_only(figures[:, STEPS].astype(np.int64)),
        read_only(figures[:, LAST_START].astype(np.int64)),
        read_only(collides),
    )


def _as_matrices(
    targets: Sequence[Target] | npt.NDArray[Any], constraint: PoseConstraint | None
) -> tuple[FloatArray, PoseConstraint | None]:
    """Return targets as matrices (k, 4, 4), and the part of them that counts."""
    if isinstance(targets, np.ndarray) and targets.dtype != object and targets.shape[1:] != (3,):
        if targets.shape[1:] != (4, 4):
            raise SolveArgumentError("targets", targets.shape, "of shape (k, 4, 4) or (k, 3)")
        goals = np.array(targets, np.float64, order="C")  # a layout is a type of its own
        for i in np.flatnonzero(~_are_rigid(goals)):
            goals[i] = as_target(f"targets[{i}]", goals[i])._m
    else:
        rigid, constraint = aim_each("targets", targets, constraint)
        goals = np.array([target._m for target in rigid]).reshape(-1, 4, 4)
    sound = np.isfinite(goals).all(axis=(1, 2))
    sound &= (np.abs(goals[:, :3, 3]) <= LARGEST_LENGTH).all(axis=1)
    if not sound.all():
        first = int(np.argmin(sound))
        raise bad_target(f"targets[{first}]", trusted(goals[first]))
    return goals, constraint


def _are_rigid(goals: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which matrices (k, 4, 4) `RigidTransform.from_matrix` would take bit for bit."""
    r = goals[:, :3, :3]
    with np.errstate(all="ignore"):  # numbers that are not finite
        skew = np.abs(np.swapaxes(r, 1, 2) @ r - np.eye(3)).max(axis=(1, 2), initial=0.0)
        rigid: npt.NDArray[np.bool_] = (skew <= 1e-12) & (np.linalg.det(r) > 0.0)
    rigid &= (goals[:, 3] == [0.0, 0.0, 0.0, 1.0]).all(axis=1)
    return rigid


def _as_seeds(seeds: npt.ArrayLike, k: int, n: int) -> FloatArray:
    try:
        starts = np.array(np.broadcast_to(np.asarray(seeds, np.float64), (k, n)), order="C")
    except (TypeError, ValueError):
        raise SolveArgumentError("seeds", seeds, f"of shape ({k}, {n}) or ({n},)") from None
    sound = (np.abs(starts) <= LARGEST_ANGLE).all(axis=1)
    if not sound.all():
        first = int(np.argmin(sound))
        required = f"finite and within ±{LARGEST_ANGLE:g}"
        raise SolveArgumentError(f"seeds[{first}]", starts[first].tolist(), required)
    return starts


def _wait(pieces: Iterable[Future[int]], total: int) -> None:
    """Wait for all tasks; if total is above 0, draw progress at most ten times a second."""
    done, drawn = 0, 0.0
    for piece in as_completed(pieces):
        done += piece.result()
        now = time.monotonic()
        if total and (now - drawn > 0.1 or done == total):
            drawn = now
            filled = 40 * done // total
            bar = "#" * filled + "." * (40 - filled)
            print(f"\r[{bar}] {done}/{total}", end="", file=sys.stderr, flush=True)
    if total:
        print(file=sys.stderr)

"""Many targets at once, on all cores."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.closed_solve import solve_closed_poses
from basis_ik.kernels.pose_batch import solve_poses
from basis_ik.kernels.pose_solve import LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.solvers.arguments import SolveArgumentError, count, positive
from basis_ik.solvers.inquiry import FEWEST_STARTS
from basis_ik.solvers.prepared import NEAR, prepared
from basis_ik.solvers.solve import PATIENCE, budget, solve
from basis_ik.solvers.wanted import Wanted, aim
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.model.chain import Chain

FloatArray = npt.NDArray[np.float64]

CHUNK = 512  # targets per piece of work: a few milliseconds, so that threads end together


@dataclass(frozen=True)
class BatchSolution:
    """The answers to k targets, one row each, in the order of the targets."""

    positions: FloatArray
    """(k, n): what reached the target, else the best effort; always within the limits."""
    reached: npt.NDArray[np.bool_]
    """(k,)"""
    position_errors: FloatArray
    """(k,) [m]"""
    orientation_errors: FloatArray
    """(k,) [rad]"""
    iterations: npt.NDArray[np.int64]
    """(k,)"""
    restarts: npt.NDArray[np.int64]
    """(k,)"""


def solve_batch(
    chain: Chain,
    targets: Sequence[RigidTransform] | FloatArray,
    seeds: npt.ArrayLike | None = None,
    *,
    position_only: bool = False,
    wanted: Wanted | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> BatchSolution:
    """Solve for many targets; each as `solve` does, bit for bit, but without the reasons.

    The answers do not depend on the number of threads.

    Args:
        chain: What to move.
        targets: k of root_T_target, or an array (k, 4, 4) of them.
        seeds: (k, n), or (n,) for all alike; None is the middle of the limits.
        position_only: Leave the orientation free.
        wanted: Which part of the poses counts, where it is less than all of it.
        position_tolerance: [m], above 0.
        orientation_tolerance: [rad], above 0.
        max_iterations: Steps allowed for each target, as for `solve`.
        max_restarts: Starts to make for each target after the seed's, as for `solve`.
        threads: How many; None is one for each core.
        progress: Draw a progress bar on standard error.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
    """
    matrices = _as_matrices(targets)
    ready, weights, goals = aim(prepared(chain), wanted, matrices)
    if position_only:
        weights = ready.position
    n = len(ready.middle)
    starts = _as_seeds(ready.middle if seeds is None else seeds, len(goals), n)
    position_tolerance = positive("position_tolerance", position_tolerance, "m")
    orientation_tolerance = positive("orientation_tolerance", orientation_tolerance, "rad")
    iterations, restarts = budget(max_iterations, max_restarts, timed=False)
    workers = os.cpu_count() or 1 if threads is None else count("threads", threads, 1)
    positions, figures = np.empty((len(goals), n)), np.empty((len(goals), 5))
    solve_rows: Callable[..., None] = solve_poses
    limit: tuple[int, ...] = (min(restarts, FEWEST_STARTS),)
    form: tuple[FloatArray, ...] = ()
    closed = None if position_only else ready.closed
    if closed is not None:
        solve_rows, limit, form = solve_closed_poses, (), (closed.rows,)

    def work_on(begin: int) -> int:
        rows = slice(begin, begin + CHUNK)
        solve_rows(
            ready.exact, ready.joints, ready.variables, ready.ends, ready.reach,
            weights, goals[rows], starts[rows],
            positions[rows], figures[rows], ready.new_work(),
            position_tolerance, orientation_tolerance, iterations, *limit, PATIENCE, NEAR, *form,
        )  # fmt: skip
        for i in begin + np.flatnonzero(figures[rows, 0] == 0.0):
            single = solve(
                chain, RigidTransform.from_matrix(matrices[i]), starts[i],
                position_only=position_only, wanted=wanted, position_tolerance=position_tolerance,
                orientation_tolerance=orientation_tolerance, max_iterations=max_iterations,
                max_restarts=max_restarts,
            )  # fmt: skip
            positions[i] = single.positions
            figures[i] = (
                single.success, single.iterations, single.restarts, single.position_error,
                single.orientation_error,
            )  # fmt: skip
        return len(goals[rows])

    with ThreadPoolExecutor(workers) as pool:
        pieces = [pool.submit(work_on, begin) for begin in range(0, len(goals), CHUNK)]
        _wait(pieces, len(goals) if progress else 0)
    return BatchSolution(
        positions,
        figures[:, 0] > 0.0,
        figures[:, 3].copy(),
        figures[:, 4].copy(),
        figures[:, 1].astype(np.int64),
        figures[:, 2].astype(np.int64),
    )


def _as_matrices(targets: Sequence[RigidTransform] | FloatArray) -> FloatArray:
    if isinstance(targets, np.ndarray):
        goals = np.array(targets, np.float64)
        if goals.ndim != 3 or goals.shape[1:] != (4, 4):
            raise SolveArgumentError("targets", targets.shape, "of shape (k, 4, 4)")
        goals[~np.isfinite(goals).all(axis=(1, 2))] = 0.0  # refused below, without warnings
        r = goals[:, :3, :3]
        skew = np.abs(np.swapaxes(r, 1, 2) @ r - np.eye(3)).max(axis=(1, 2), initial=0.0)
        sound = (skew <= 1e-9) & (np.linalg.det(r) > 0.0)
        sound &= (goals[:, 3] == [0.0, 0.0, 0.0, 1.0]).all(axis=1)
    else:
        for target in targets:
            if type(target) is not RigidTransform:
                raise SolveArgumentError("targets", target, "RigidTransforms")
        goals = np.array([target.matrix for target in targets]).reshape(-1, 4, 4)
        sound = np.isfinite(goals).all(axis=(1, 2))
    sound &= (np.abs(goals[:, :3, 3]) <= LARGEST_LENGTH).all(axis=1)
    if not sound.all():
        first = int(np.argmin(sound))
        raise SolveArgumentError(f"targets[{first}]", goals[first].tolist(), "a rigid transform")
    return goals


def _as_seeds(seeds: npt.ArrayLike, k: int, n: int) -> FloatArray:
    try:
        starts = np.array(np.broadcast_to(np.asarray(seeds, np.float64), (k, n)))
    except (TypeError, ValueError):
        raise SolveArgumentError("seeds", seeds, f"of shape ({k}, {n}) or ({n},)") from None
    sound = (np.abs(starts) <= LARGEST_ANGLE).all(axis=1)
    if not sound.all():
        first = int(np.argmin(sound))
        wanted = f"finite and within ±{LARGEST_ANGLE:g}"
        raise SolveArgumentError(f"seeds[{first}]", starts[first].tolist(), wanted)
    return starts


def _wait(pieces: Iterable[Future[int]], total: int) -> None:
    """Wait for all; with a total above 0, show how far it has come at most ten times a second."""
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

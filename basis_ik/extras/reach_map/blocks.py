# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Computes a map of reach in blocks of voxels, in processes of this machine or of a cluster.

A block's result depends only on the block, so the map does not depend on the processes.
"""

from __future__ import annotations

import multiprocessing
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from basis_ik.collision.collision_scene import Scene
from basis_ik.errors import BasisIkError
from basis_ik.extras.reach_map.map_files import ReachMap
from basis_ik.extras.reach_map.voxels import Grid, IntArray, orientations
from basis_ik.numerics.arrays import FloatArray
from basis_ik.process import follow_parent
from basis_ik.robot.chain import Chain
from basis_ik.solvers.pose.batch import solve_batch

Result = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32], npt.NDArray[np.uint16]]
Width = Callable[[], int]

BLOCK_SOLVES = 4096  # of a block, unless a voxel has more: some tenths of a second
# Restarts for each pose. Of 1376 poses that the Panda reaches, 4 need more. With 20 or more the
# solver also determines the reason of each failure, which takes ten times as long.
MAP_RESTARTS = 15
SAVE_EVERY = 10.0  # s: least time between two versions of the file
SAVE_SHARE = 0.05  # largest fraction of the time for saving
# [s] for a scheduler to respond, for its first worker, and for a replacement.
SCHEDULER_TIMEOUT = 10.0


class WorkerError(BasisIkError):
    """There are no worker processes, or they have ended."""


@dataclass(frozen=True)
class Job:
    """The problem that all blocks of a map share.

    Attributes:
        arm: The pickled chain and scene; a process caches them by these bytes.
        orientations: Number of orientations in each voxel.
        position_only: Whether the orientation is free; then each voxel needs one solve.
    """

    arm: bytes
    orientations: int
    position_only: bool

    @staticmethod
    def of(chain: Chain, orientations: int, position_only: bool, scene: Scene | None = None) -> Job:
        """Return the job for a chain, and what it must not collide with."""
        return Job(pickle.dumps((chain, scene), protocol=5), orientations, position_only)

    @property
    def voxels(self) -> int:
        """Number of voxels of a block."""
        return max(1, BLOCK_SOLVES // self.orientations)


class Work:
    """The voxels of a map to solve, in blocks.

    Attributes:
        job: The problem of all blocks.
        grid: The grid of the voxels.
        voxels: Flat indices (k,) of the voxels to solve.
        blocks: Number of blocks.
    """

    def __init__(self, job: Job, grid: Grid, voxels: IntArray) -> None:
        self.job, self.grid, self.voxels = job, grid, voxels
        self.blocks = -(-len(voxels) // job.voxels)

    def of(self, block: int) -> IntArray:
        """Return the flat indices (k,) of a block's voxels."""
        return self.voxels[block * self.job.voxels : (block + 1) * self.job.voxels]

    def centres(self, block: int) -> FloatArray:
        """Return the centres (k, 3) of a block's voxels in the root frame [m]."""
        return self.grid.centres(self.of(block))


def fill(
    work: Work,
    map_: ReachMap,
    pool: Executor,
    width: Width,
    save: Callable[[], None],
    show: Callable[[int], None],
) -> None:
    """Solve the unsolved blocks; save at intervals, and at the end, even after an error.

    Args:
        work: All blocks.
        map_: The map so far; the results are written into it.
        pool: The worker processes.
        width: Returns the largest number of blocks in the pool at a time.
        save: Saves the map.
        show: Called with the number of each solved block.

    Raises:
        WorkerError: The worker processes have ended. Exceptions of a block propagate.
    """
    missing = np.flatnonzero(~map_.done).tolist()
    todo = ((block, work.centres(block)) for block in missing)
    reached, best = map_.reached.reshape(-1), map_.manipulability.reshape(-1)
    collides = map_.collides.reshape(-1)
    next_save = time.monotonic() + SAVE_EVERY
    try:
        for block, result in solve_blocks(work.job, todo, pool, width):
            of = work.of(block)
            reached[of], best[of], collides[of] = result
            map_.done[block] = True
            show(block)
            began = time.monotonic()
            if began >= next_save:
                save()
                ended = time.monotonic()
                next_save = ended + max(SAVE_EVERY, (ended - began) / SAVE_SHARE)
    finally:
        save()


@lru_cache(maxsize=2)
def _arm(pickled: bytes) -> tuple[Chain, Scene | None]:
    arm: tuple[Chain, Scene | None] = pickle.loads(pickled)
    return arm


def solve_block(job: Job, centres: FloatArray) -> Result:
    """Solve for all orientations in each voxel of a block.

    Args:
        job: The problem.
        centres: The voxels' centres (k, 3) in the root frame [m].

    Returns:
        Number of reached orientations (k,); largest manipulability (k,) of the positions found for
        them, 0 if none is reached; and number of those that only colliding positions reach (k,).
    """
    chain, scene = _arm(job.arm)
    rotations = orientations(job.orientations)
    targets = np.zeros((len(centres), job.orientations, 4, 4))
    targets[..., :3, :3], targets[..., 3, 3] = rotations, 1.0
    targets[..., :3, 3] = centres[:, None]
    found = solve_batch(
        chain, targets.reshape(-1, 4, 4), position_only=job.position_only,
        max_restarts=MAP_RESTARTS, threads=1, scene=scene,
    )  # fmt: skip
    rows = 3 if job.position_only else 6
    measures = np.zeros(len(found.reached))
    for i in np.flatnonzero(found.reached):
        measures[i] = manipulability(chain.jacobian(found.positions[i])[:rows])
    reached = found.reached.reshape(len(centres), -1)
    best = measures.reshape(len(centres), -1).max(axis=1)
    collides = found.collides.reshape(len(centres), -1).sum(axis=1, dtype=np.uint16)
    return reached.sum(axis=1, dtype=np.uint16), best.astype(np.float32), collides


def manipulability(jacobian: FloatArray) -> float:
    """Return the product of the singular values of a Jacobian (m, n).

    With n >= m this is sqrt(det(J Jᵀ)), the measure of T. Yoshikawa, "Manipulability of Robotic
    Mechanisms", IJRR 4(2), 1985, equation 8; otherwise it is sqrt(det(Jᵀ J)), for the arm's
    possible motions.
    """
    rows, columns = jacobian.shape
    gram = jacobian @ jacobian.T if rows <= columns else jacobian.T @ jacobian
    return float(np.sqrt(max(np.linalg.det(gram), 0.0)))


def solve_blocks(
    job: Job,
    blocks: Iterator[tuple[int, FloatArray]],
    pool: Executor,
    width: Width,
) -> Iterator[tuple[int, Result]]:
    """Yield the results of blocks, in the order of their completion.

    Args:
        job: The problem.
        blocks: Number and centres (k, 3) of each block; consumed lazily.
        pool: The worker processes.
        width: Returns the largest number of blocks in the pool at a time; 0: no workers.

    Raises:
        WorkerError: The pool is broken or empty. Exceptions of a block propagate.
    """
    open_: dict[Future[Result], int] = {}
    more = True
    while more or open_:
        for _ in range(max(width(), 1) - len(open_)):
            block = next(blocks, None)
            if block is None:
                more = False
                break
            open_[pool.submit(solve_block, job, block[1])] = block[0]
        done, _ = wait(open_, SCHEDULER_TIMEOUT, FIRST_COMPLETED)
        if open_ and not done and width() == 0:
            raise WorkerError("no workers are left")
        for future in done:
            number = open_.pop(future)
            try:
                result = future.result()
            except (BrokenExecutor, CancelledError) as error:
                raise WorkerError(f"worker processes have ended ({error})") from None
            yield number, result


@contextmanager
def local_pool(processes: int) -> Iterator[tuple[Executor, Width]]:
    """Provide processes of this machine, and the number of blocks that they may hold."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, follow_parent)
    try:
        yield pool, lambda: 2 * processes
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, Width]]:
    """Provide the workers of a Dask cluster; another worker takes a killed one's block.

    Args:
        address: Address of the scheduler, for example tcp://host:8786.

    Raises:
        WorkerError: There is no scheduler, it has no workers, or one of them lacks basis_ik.
    """
    from distributed import Client
    from distributed.scheduler import KilledWorker

    try:
        client = Client(address, timeout=SCHEDULER_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkerError(
            f"no scheduler responds at {address!r} ({error}): start one by `dask scheduler`, and "
            "give the address that it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SCHEDULER_TIMEOUT)
        except TimeoutError:
            raise WorkerError(
                f"the scheduler at {address!r} has no workers: start one by `dask worker {address}`"
            ) from None
        # A worker without it would end silently at the first block.
        for worker, spec in client.run(find_spec, "basis_ik").items():
            if spec is None:
                raise WorkerError(
                    f"the worker {worker} lacks basis_ik: install the same version for its Python"
                )
        pool = client.get_executor(pure=False)
        try:
            yield pool, lambda: 2 * sum(client.nthreads().values())
        except KilledWorker as error:
            raise WorkerError(f"workers were killed too often: {error}") from None
        finally:
            pool.shutdown(wait=False)

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

"""The work of a map of reach, in blocks of voxels, by processes of this machine or of a cluster.

A block's result depends on the block alone, so the map is the same whoever solves it, and when.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
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

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.batch import solve_batch
from basis_ik.reach_map.map_files import ReachMap
from basis_ik.reach_map.voxels import Grid, IntArray, orientations
from basis_ik.robot.chain import Chain

Result = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]
Width = Callable[[], int]

SOLVES = 4096  # of a block, if a voxel has no more: some tenths of a second
# Starts after the first for each pose. Of 1376 poses that the Panda reaches, 4 need more. From 20
# on the solver also looks for the reason of each failure, and takes ten times as long.
RESTARTS = 15
SAVE_EVERY = 10.0  # s between two versions of the file at least
SAVE_SHARE = 0.05  # of the time that may go into saving
PATIENCE = 10.0  # s, for a scheduler to answer, for its first worker, and for another one


class WorkerError(BasisIkError):
    """Processes that solve are gone, or were never there."""


@dataclass(frozen=True)
class Job:
    """What is the same for all blocks of a map.

    Attributes:
        chain: The pickled arm: equal bytes mean that a process has it already.
        orientations: How many are tried in each voxel.
        position_only: Whether any orientation will do; then one solve is made in each voxel.
    """

    chain: bytes
    orientations: int
    position_only: bool

    @staticmethod
    def of(chain: Chain, orientations: int, position_only: bool) -> Job:
        """Return the job for a chain."""
        return Job(pickle.dumps(chain, protocol=5), orientations, position_only)

    @property
    def voxels(self) -> int:
        """Number of voxels of a block."""
        return max(1, SOLVES // self.orientations)


class Work:
    """The voxels of a map that are to be solved, cut into blocks.

    Attributes:
        job: What is the same for all.
        grid: Where voxels are.
        voxels: Flat indices (k,) of those to be solved.
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
    """Solve the blocks that are not done; save now and then, and at the end, whatever it is.

    Args:
        work: All blocks.
        map_: What is known; gets the rest.
        pool: Who solves.
        width: Tells how many blocks may be in the pool at a time.
        save: Saves the map.
        show: Is told the number of each block that is done.

    Raises:
        WorkerError: Processes that solve are gone. What a block raises comes through.
    """
    missing = np.flatnonzero(~map_.done).tolist()
    todo = ((block, work.centres(block)) for block in missing)
    reached, best = map_.reached.reshape(-1), map_.manipulability.reshape(-1)
    next_save = time.monotonic() + SAVE_EVERY
    try:
        for block, result in solve_blocks(work.job, todo, pool, width):
            reached[work.of(block)], best[work.of(block)] = result
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
def _chain(pickled: bytes) -> Chain:
    chain: Chain = pickle.loads(pickled)
    return chain


def solve_block(job: Job, centres: FloatArray) -> Result:
    """Solve for all orientations in each voxel of a block.

    Args:
        job: What is to be solved.
        centres: The voxels' centres (k, 3) in the root frame [m].

    Returns:
        How many orientations are reached (k,), and the largest manipulability (k,) of the positions
        found for these, 0 where none is reached.
    """
    chain = _chain(job.chain)
    rotations = orientations(job.orientations)
    targets = np.zeros((len(centres), job.orientations, 4, 4))
    targets[..., :3, :3], targets[..., 3, 3] = rotations, 1.0
    targets[..., :3, 3] = centres[:, None]
    found = solve_batch(
        chain, targets.reshape(-1, 4, 4), position_only=job.position_only,
        max_restarts=RESTARTS, threads=1,
    )  # fmt: skip
    rows = 3 if job.position_only else 6
    measures = np.zeros(len(found.reached))
    for i in np.flatnonzero(found.reached):
        measures[i] = manipulability(chain.jacobian(found.positions[i])[:rows])
    reached = found.reached.reshape(len(centres), -1)
    best = measures.reshape(len(centres), -1).max(axis=1)
    return reached.sum(axis=1, dtype=np.uint16), best.astype(np.float32)


def manipulability(jacobian: FloatArray) -> float:
    """Return the product of the singular values of a Jacobian (m, n).

    With n >= m that is sqrt(det(J Jᵀ)), the measure of T. Yoshikawa, "Manipulability of Robotic
    Mechanisms", IJRR 4(2), 1985, equation 8; else it is sqrt(det(Jᵀ J)), for the motions that the
    arm can make at all.
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
    """Give the blocks' results as they come.

    Args:
        job: What is to be solved.
        blocks: Number and centres (k, 3) of each block; taken one by one, when its turn comes.
        pool: Who solves.
        width: Tells how many blocks may be in the pool at a time; 0: nobody is there to solve.

    Raises:
        WorkerError: The pool is broken, or empty. What a block raises comes through.
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
        done, _ = wait(open_, PATIENCE, FIRST_COMPLETED)
        if open_ and not done and width() == 0:
            raise WorkerError("no workers are left")
        for future in done:
            number = open_.pop(future)
            try:
                result = future.result()
            except (BrokenExecutor, CancelledError) as error:
                raise WorkerError(f"processes that solve are gone ({error})") from None
            yield number, result


@contextmanager
def local_pool(processes: int) -> Iterator[tuple[Executor, Width]]:
    """Provide processes of this machine; how many blocks they may hold."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, _begin)
    try:
        yield pool, lambda: 2 * processes
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Make a new process ready: the parent hears Ctrl-C, and its end is the end of all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, Width]]:
    """Provide the workers of a Dask cluster; a block of one that is killed goes to another.

    Args:
        address: Of the scheduler, such as tcp://host:8786.

    Raises:
        WorkerError: There is no scheduler, it has no workers, or one of them lacks basis_ik.
    """
    from distributed import Client
    from distributed.scheduler import KilledWorker

    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkerError(
            f"no scheduler answers at {address!r} ({error}): start one by `dask scheduler`, and "
            "give the address that it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise WorkerError(
                f"the scheduler at {address!r} has no workers: start one by `dask worker {address}`"
            ) from None
        # A worker without it would end at the first block, without a word.
        for worker, spec in client.run(find_spec, "basis_ik").items():
            if spec is None:
                raise WorkerError(
                    f"the worker {worker} has no basis_ik: install the same version for its Python"
                )
        pool = client.get_executor(pure=False)
        try:
            yield pool, lambda: 2 * sum(client.nthreads().values())
        except KilledWorker as error:
            raise WorkerError(f"workers were killed too often: {error}") from None
        finally:
            pool.shutdown(wait=False)

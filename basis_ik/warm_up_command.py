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

"""The warm-up as a command: compile for an installation, in several processes, and show it."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from typing import TextIO

from basis_ik.errors import BasisIkError
from basis_ik.numerics.jit import count_ready, ready_kernels, when_compiling
from basis_ik.warm_up import Step, WarmUp, all_steps

BAR = 30  # characters
MOST_WORKERS = 4  # more of them would mostly compile what others compile, too
# What takes longest begins first, and what shares few kernels stands side by side.
LARGEST = (
    "poses", "trees with limits", "several tips", "points to look at", "FABRIK", "limits of motion",
)  # fmt: skip


class WorkerError(BasisIkError):
    """A process that compiled has been ended by somebody else."""

    def __init__(self) -> None:
        super().__init__(
            "a process that compiled was killed; if memory is short, let the first start compile"
        )


def run(out: TextIO) -> None:
    """Compile whatever the nodes and the library may call, and keep it on disk.

    Args:
        out: Where to show how far it is: by a bar on a terminal, else by a line for each step.

    Raises:
        WorkerError: If a process was killed.
    """
    steps = all_steps()
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    if workers == 1:
        compile_here(steps, out)
    elif is_cached(steps):
        _Display(out).end(steps, compiled=False)
    else:
        compile_in_processes(all_steps, workers, out)


class _Display:
    """Shows how far it is."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._on_terminal = out, out.isatty()
        self._began, self._told = time.monotonic(), set[str]()

    def show(self, ready: int, all_: int, step: str) -> None:
        if self._on_terminal:
            bar = "#" * (BAR * ready // all_)
            seconds = time.monotonic() - self._began
            line = f"[{bar:{BAR}}] {ready} of {all_} kernels, {seconds:.0f} s, {step}"
            print(f"\r{line[:79]:79}", end="", file=self._out, flush=True)
        elif step not in self._told:
            self._told.add(step)
            print(f"compiling, {ready} of {all_} kernels: {step}", file=self._out, flush=True)

    def end(self, steps: Sequence[Step], *, compiled: bool) -> None:
        if not compiled:
            text = "nothing to compile: all kernels are in the cache"
            print(text, file=self._out, flush=True)
            return
        if self._on_terminal:
            print(f"\r{'':79}\r", end="", file=self._out)
        seconds = time.monotonic() - self._began
        names = ", ".join(step.name for step in steps)
        print(f"compiled in {seconds:.1f} s: {names}", file=self._out, flush=True)


def compile_here(steps: Sequence[Step], out: TextIO) -> None:
    """Do all steps in this process, and show how far it is."""
    display, warm_up = _Display(out), WarmUp(steps, alone=True)
    while not warm_up.wait(0.1):
        if warm_up.compiling:
            display.show(*count_ready(), warm_up.step)
    display.end(steps, compiled=warm_up.compiling)


class _NotCachedError(Exception):
    """A kernel would have to be compiled."""


def is_cached(steps: Sequence[Step]) -> bool:
    """Fetch what steps need from the cache; stop at the first kernel that is not there."""

    def stop() -> None:
        raise _NotCachedError

    when_compiling(stop)
    try:
        for step in steps:
            step.run()
    except _NotCachedError:
        return False
    return True


# Several processes ------------------------------------------------------------------------------


def compile_in_processes(make: Callable[[], Sequence[Step]], workers: int, out: TextIO) -> None:
    """Do all steps in processes that take them one by one, and show how far it is.

    Each step runs in one process, which fetches from the cache what others have put there.

    Args:
        make: Gives the steps; a function of a module, which is called in each process.
        workers: Number of processes.
        out: Where to show it.

    Raises:
        WorkerError: If a process was killed. What a step raises comes through.
    """
    display, steps, ready = _Display(out), make(), set[str]()
    context = multiprocessing.get_context("spawn")
    news: SimpleQueue[tuple[str, set[str], int]] = context.SimpleQueue()
    heard: queue.SimpleQueue[tuple[str, set[str], int]] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(news, heard), daemon=True).start()
    pool = ProcessPoolExecutor(workers, context, _begin, (news,))
    open_ = {pool.submit(_do, make, index) for index in _largest_first(steps)}
    begun = len(multiprocessing.active_children())
    try:
        while open_:
            done, open_ = wait(open_, 0.1, FIRST_COMPLETED)
            # The pool does not notice the end of a process that began while it looked for ends.
            if len(multiprocessing.active_children()) < begun:
                raise BrokenProcessPool
            for future in done:
                future.result()
            while not heard.empty():
                step, names, all_ = heard.get()
                ready |= names
                display.show(len(ready), all_, step)
    except BaseException as error:
        for process in multiprocessing.active_children():
            process.kill()  # the compiler does not let itself be asked
        if isinstance(error, BrokenProcessPool):
            raise WorkerError from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    display.end(steps, compiled=True)


def _hear(
    news: SimpleQueue[tuple[str, set[str], int]],
    heard: queue.SimpleQueue[tuple[str, set[str], int]],
) -> None:
    """Pass on what processes tell; one that is killed in mid-sentence leaves this waiting."""
    while True:
        heard.put(news.get())


def _largest_first(steps: Sequence[Step]) -> list[int]:
    def rank(index: int) -> int:
        name = steps[index].name
        return LARGEST.index(name) if name in LARGEST else len(LARGEST)

    return sorted(range(len(steps)), key=rank)


_news: SimpleQueue[tuple[str, set[str], int]]  # of a process that compiles


def _begin(news: SimpleQueue[tuple[str, set[str], int]]) -> None:
    """Make a new process ready to take steps."""
    global _news
    _news = news
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent has heard it, too
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(make: Callable[[], Sequence[Step]], index: int) -> None:
    warm_up = WarmUp([make()[index]], alone=True)
    finished = False
    while not finished:
        finished = warm_up.wait(0.2)
        _news.put((warm_up.step, ready_kernels(), count_ready()[1]))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The warm-up command: compile for an installation in several processes, and show progress."""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue
from typing import TextIO

from basis_ik.errors import BasisIkError
from basis_ik.numerics.jit import count_ready, ready_kernels, when_compiling
from basis_ik.process import follow_parent
from basis_ik.warm_up import Step, WarmUp, all_steps, node_steps

WARM_UP_BAR = 30  # characters
MOST_WORKERS = 4  # more would mostly compile the same kernels twice
# The longest steps come first; neighbours share few kernels.
LONGEST_STEPS = (
    "poses", "trees with limits", "several tips", "points to look at", "FABRIK", "limits of motion",
)  # fmt: skip


class KilledError(BasisIkError):
    """A compiling process was killed."""

    def __init__(self) -> None:
        super().__init__(
            "a process that compiled was killed; if memory is short, let the first start compile"
        )


def run(out: TextIO, *, node: bool = False) -> None:
    """Compile kernels into the cache.

    On two processors, a second process saves a quarter of the time for the node's kernels and takes
    half more of the processor. Set-up has other work for it, so with `node` half of the processors
    are used.

    Args:
        out: Receives the progress: a bar on a terminal, otherwise a line for each step.
        node: Compile those of ik_node, which are what the demo needs; otherwise all kernels of the
            nodes and the library.

    Raises:
        KilledError: A process was killed.
    """
    make = node_steps if node else all_steps
    steps = make()
    workers = min((os.cpu_count() or 1) // (2 if node else 1), MOST_WORKERS)
    if workers <= 1:
        compile_here(steps, out)
    elif is_cached(steps):
        _Display(out).end(steps, compiled=False)
    else:
        compile_in_processes(make, workers, out)


class _Display:
    """Shows the progress."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._on_terminal = out, out.isatty()
        self._began, self._shown = time.monotonic(), set[str]()

    def show(self, ready: int, all_: int, step: str) -> None:
        if self._on_terminal:
            bar = "#" * (WARM_UP_BAR * ready // all_)
            seconds = time.monotonic() - self._began
            line = f"[{bar:{WARM_UP_BAR}}] {ready} of {all_} kernels, {seconds:.0f} s, {step}"
            print(f"\r{line[:79]:79}", end="", file=self._out, flush=True)
        elif step not in self._shown:
            self._shown.add(step)
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
    """Run all steps in this process, and show the progress."""
    display, warm_up = _Display(out), WarmUp(steps, alone=True)
    while not warm_up.wait(0.1):
        if warm_up.compiling:
            display.show(*count_ready(), warm_up.step)
    display.end(steps, compiled=warm_up.compiling)


class _NotCachedError(Exception):
    """A kernel is not in the cache."""


def is_cached(steps: Sequence[Step]) -> bool:
    """Load the kernels of steps from the cache; return whether all are there."""

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
    """Run steps in several processes, and show the progress.

    Each step runs in one process, which loads the kernels that others have compiled from the cache.

    Args:
        make: Returns the steps; a function of a module, called in each process.
        workers: Number of processes.
        out: Receives the progress.

    Raises:
        KilledError: A process was killed. Exceptions of a step are passed on.
    """
    display, steps, ready = _Display(out), make(), set[str]()
    context = multiprocessing.get_context("spawn")
    news: SimpleQueue[tuple[str, set[str], int]] = context.SimpleQueue()
    received: queue.SimpleQueue[tuple[str, set[str], int]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(news, received), daemon=True).start()
    pool = ProcessPoolExecutor(workers, context, _begin, (news,))
    open_ = {pool.submit(_do, make, index) for index in _largest_first(steps)}
    begun = len(multiprocessing.active_children())
    try:
        while open_:
            done, open_ = wait(open_, 0.1, FIRST_COMPLETED)
            # The pool misses the end of a process that starts while it checks for ended ones.
            if len(multiprocessing.active_children()) < begun:
                raise BrokenProcessPool
            for future in done:
                future.result()
            while not received.empty():
                step, names, all_ = received.get()
                ready |= names
                display.show(len(ready), all_, step)
    except BaseException as error:
        for process in multiprocessing.active_children():
            process.kill()  # the compiler cannot be interrupted
        if isinstance(error, BrokenProcessPool):
            raise KilledError from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    display.end(steps, compiled=True)


def _receive(
    news: SimpleQueue[tuple[str, set[str], int]],
    received: queue.SimpleQueue[tuple[str, set[str], int]],
) -> None:
    """Forward reports of processes; it blocks for ever if a process is killed while it writes."""
    while True:
        received.put(news.get())


def _largest_first(steps: Sequence[Step]) -> list[int]:
    def rank(index: int) -> int:
        name = steps[index].name
        return LONGEST_STEPS.index(name) if name in LONGEST_STEPS else len(LONGEST_STEPS)

    return sorted(range(len(steps)), key=rank)


_news: SimpleQueue[tuple[str, set[str], int]]  # of a compiling process


def _begin(news: SimpleQueue[tuple[str, set[str], int]]) -> None:
    """Set up a new process."""
    global _news
    _news = news
    follow_parent()


def _do(make: Callable[[], Sequence[Step]], index: int) -> None:
    warm_up = WarmUp([make()[index]], alone=True)
    finished = False
    while not finished:
        finished = warm_up.wait(0.2)
        _news.put((warm_up.step, ready_kernels(), count_ready()[1]))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The switches of the whole process, which belong to no caller: they have one owner, this module.

They are Python's garbage collector, the interval at which threads hand over the GIL, and the exit.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

YIELDING_INTERVAL = 1e-5  # [s]
COMPILER_THREAD = "kernels"
"""Name of the thread that compiles for a program."""


class _Request(NamedTuple):
    """What a caller asks of the process.

    Attributes:
        interval: Longest switch interval of the GIL [s].
        collects: Whether garbage may be collected.
        threshold: New objects before a garbage collection, at least.
    """

    interval: float
    collects: bool
    threshold: int


_lock = threading.Lock()
_requests: list[_Request] = []  # with what held before the first of them at the beginning


@contextlib.contextmanager
def switched(
    *, interval: float = float("inf"), collects: bool = True, threshold: int = 0
) -> Iterator[None]:
    """Change switches for a while. All that is asked for at once holds, and afterwards what did.

    Threads may begin and end in any order, so nobody restores what he has found.

    Args:
        interval: Longest time that a thread keeps the GIL while another waits for it [s].
        collects: Whether garbage may be collected.
        threshold: Number of new objects before a garbage collection, at least.
    """
    request = _Request(interval, collects, threshold)
    with _lock:
        if not _requests:
            before = _Request(sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()[0])
            _requests.append(before)
        _requests.append(request)
        _apply()
    try:
        yield
    finally:
        with _lock:
            del _requests[_last_of(request)]
            _apply()
            if len(_requests) == 1:
                _requests.clear()


def _last_of(request: _Request) -> int:
    return len(_requests) - 1 - _requests[::-1].index(request)


def _apply() -> None:
    sys.setswitchinterval(min(each.interval for each in _requests))
    gc.set_threshold(max(each.threshold for each in _requests), *gc.get_threshold()[1:])
    if all(each.collects for each in _requests):
        gc.enable()
    else:
        gc.disable()


def giving_way() -> contextlib.AbstractContextManager[None]:
    """Let a thread work without delaying a control loop.

    The control loop takes the GIL a dozen times per period. The many new objects would start a
    garbage collection, which takes several periods.
    """
    return switched(interval=YIELDING_INTERVAL, collects=False)


def freeze() -> None:
    """Exempt all present objects from garbage collection: numba's would take many periods."""
    gc.freeze()


# The exit ---------------------------------------------------------------------------------------


def still_compiling() -> bool:
    """Return whether a thread compiles for a program; no clean exit is possible meanwhile."""
    return any(thread.name == COMPILER_THREAD for thread in threading.enumerate())


def leave(status: int) -> int:
    """Return the exit status; if the compiler is at work, which a clean exit would crash, end."""
    if still_compiling():
        sys.stdout.flush()
        end_now(status)
    return status


def end_now(status: int) -> NoReturn:
    """End the process at once, whatever its threads do."""
    os._exit(status)


def follow_parent() -> None:
    """Let a process that works for another one end with that; only the parent handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    end_now(1)

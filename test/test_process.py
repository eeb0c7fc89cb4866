# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The switches of the process: whatever is asked for at once, and what held before."""

import gc
import itertools
import os
import subprocess
import sys
import threading

import pytest

from basis_ik import process


def state():
    return sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()[0]


@pytest.fixture(params=[True, False], ids=["collecting", "not collecting"])
def before(request):
    """What held before, which a test must leave as it was."""
    ours = state()
    (gc.enable if request.param else gc.disable)()
    try:
        yield state()
    finally:
        gc.enable()
    assert state() == ours


ASKED = (
    {"interval": 1e-5, "collects": False},
    {"interval": 5e-4},
    {"threshold": 50_000},
    {"interval": 1e-5, "collects": False},
)


@pytest.mark.parametrize("order", itertools.permutations(range(4)))
def test_requests_end_in_any_order(before, order):
    open_ = {k: process.switched(**asked) for k, asked in enumerate(ASKED)}
    for request in open_.values():
        request.__enter__()
    for k in order:
        asked = [ASKED[each] for each in open_]
        expected = (
            min(before[0], *(each.get("interval", 1.0) for each in asked)),
            before[1] and all(each.get("collects", True) for each in asked),
            max(before[2], *(each.get("threshold", 0) for each in asked)),
        )
        assert state() == pytest.approx(expected, rel=1e-9)
        open_.pop(k).__exit__(None, None, None)
    assert state() == pytest.approx(before, rel=1e-9)


def test_two_arms_change_tools_at_once(before):
    """The first to begin is the first to end, as threads that take turns are."""
    second_began, first_ended = threading.Event(), threading.Event()

    def second():
        with process.giving_way():
            second_began.set()
            first_ended.wait(60.0)
            seen.append(state())

    seen = []
    thread = threading.Thread(target=second)
    with process.giving_way():
        thread.start()
        assert second_began.wait(60.0)
    first_ended.set()
    thread.join()
    assert seen == [pytest.approx((process.YIELDING_INTERVAL, False, before[2]), rel=1e-9)]
    assert state() == pytest.approx(before, rel=1e-9)


def test_an_exception_ends_a_request(before):
    with pytest.raises(ZeroDivisionError), process.giving_way():
        _ = 1 // 0
    assert state() == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize(("name", "ends"), [(process.COMPILER_THREAD, True), ("other", False)])
def test_a_process_ends_at_once_while_the_compiler_is_at_work(name, ends):
    code = f"""
import atexit, threading, time
from basis_ik import process
atexit.register(print, "clean")
threading.Thread(target=time.sleep, args=(3600.0,), name="{name}", daemon=True).start()
print("said")
raise SystemExit(process.leave(3))
"""
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env=buffered, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert done.stdout.split() == ([b"said"] if ends else [b"said", b"clean"])

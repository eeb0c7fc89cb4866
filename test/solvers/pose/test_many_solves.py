# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Requirements of a long-running program: memory, threads, and no compilation on the way."""

from __future__ import annotations

import resource
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from basis_ik.descent.pose_search_kernel import solve_pose
from basis_ik.solvers.pose.solve import solve, warm_up
from basis_ik.solvers.pose.track import track
from basis_ik.solvers.pose.track import warm_up as warm_up_tracking
from basis_ik.solvers.pose.track_kernel import step_towards

MANY = 20_000
HOME = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])


@pytest.fixture(name="panda", scope="module")
def _panda(robot):
    chain = robot("panda")
    warm_up(chain)
    warm_up_tracking(chain)
    return chain


def calls(chain):
    """Return both solvers as calls without arguments, for a reachable target and another."""
    near, far = chain.forward(HOME + 0.1), chain.forward(HOME)
    far = type(far).from_rotation_translation(far.rotation, (5.0, 0.0, 0.0))
    return {
        "solve": lambda: solve(chain, near, HOME),
        "track": lambda: track(chain, near, HOME, 0.01),
        "beyond reach": lambda: track(chain, far, HOME, 0.01),
    }


@pytest.mark.parametrize("name", ["solve", "track", "beyond reach"])
def test_memory_does_not_grow_with_the_number_of_solves(panda, name):
    call = calls(panda)[name]
    count = MANY if name == "solve" else MANY // 10
    for _ in range(count // 10):
        call()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        call()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < 20 * count  # a single array kept from each call would be some hundred bytes

    tracemalloc.start()
    for _ in range(200):
        call()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(200):
        call()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 200 * 16


@pytest.mark.parametrize("name", ["solve", "track", "beyond reach"])
def test_threads_do_not_affect_each_other(panda, name):
    rng = np.random.default_rng(1)
    truths = HOME + rng.uniform(-0.3, 0.3, (400, 7))
    seeds = HOME + rng.uniform(-0.3, 0.3, (400, 7))
    goals = [panda.forward(q) for q in truths]
    if name == "beyond reach":
        goals = [type(g).from_rotation_translation(g.rotation, 9 * g.translation) for g in goals]

    def answer(i):
        if name == "solve":
            return solve(panda, goals[i], seeds[i]).positions
        return track(panda, goals[i], seeds[i], 0.01).positions

    alone = [answer(i) for i in range(len(goals))]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, range(len(goals))))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_kernels_release_the_gil():
    for kernel in (solve_pose, step_towards):
        assert getattr(kernel, "targetoptions", {"nogil": True})["nogil"]


def test_no_dtype_or_layout_recompiles_a_kernel(panda):
    kernels = [k for k in (solve_pose, step_towards) if hasattr(k, "signatures")]
    before = [len(kernel.signatures) for kernel in kernels]
    target = panda.forward(HOME)
    plain = HOME.round(1)
    forms = [
        plain,
        plain.tolist(),
        tuple(plain),
        plain.astype(np.float32),
        plain.astype(">f8"),
        np.asfortranarray(np.array([plain, plain]))[0],
        np.array([plain, plain]).T[:, 0],
        np.arange(7) * 0,
        np.zeros(7, np.int8),
        [np.float32(x) for x in plain],
    ]
    read_only = plain.copy()
    read_only.setflags(write=False)
    for form in (*forms, read_only):
        for tolerance in (1e-6, np.float32(1e-6), 1):
            solve(panda, target, form, position_tolerance=tolerance, max_iterations=np.int16(100))
            solve(panda, target, form, position_only=np.bool_(True), max_restarts=np.int64(3))
            track(panda, target, form, 0.1, position_tolerance=tolerance)
            track(panda, target, form, np.float32(0.1), max_iterations=np.uint8(9))
    assert [len(kernel.signatures) for kernel in kernels] == before

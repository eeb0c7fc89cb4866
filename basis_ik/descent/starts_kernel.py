# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The loop over the starts of a search, for searches that are compiled as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.tables_kernel import BEST
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper

Problem = TypeVar("Problem")
Attempt = Callable[
    [Problem, FloatArray, FloatArray, int, int], tuple[int, int, float, float, float]
]
"""From a problem, q, `work`, number of a start and steps left to the status; steps taken; error at
q; distance [m] and angle [rad] left where it is proven.

The status is DESCENT_REACHED, if that is proven, or DESCENT_SPENT or DESCENT_STALLED.
"""
Search = Callable[
    [Problem, FloatArray, FloatArray, tuple[int, int], int, float],
    tuple[int, int, int, float, float, float],
]
"""See `over_starts`."""


@helper
def keep_best(q: FloatArray, work: FloatArray) -> None:
    """Save q as the best so far."""
    for k in range(q.shape[0]):
        work[k, BEST] = q[k]


@helper
def go_back_to_best(q: FloatArray, work: FloatArray) -> None:
    """Restore the best so far into q."""
    for k in range(q.shape[0]):
        q[k] = work[k, BEST]


def over_starts(attempt: Attempt[Problem]) -> Search[Problem]:
    """Return the kernel that attempts one start after another until one is proven.

    An attempt is no argument of the kernel: numba 0.56 keeps no such call on disk.
    """

    @helper
    def attempt_each(
        problem: Problem, q: FloatArray, work: FloatArray, starts: tuple[int, int],
        iterations: int, least: float,
    ) -> tuple[int, int, int, float, float, float]:  # fmt: skip
        """Attempt one start after another until one is proven to reach the goal.

        Args:
            problem: What the attempt takes.
            q: (n,) result: the solution, or else the best so far.
            work: Workspace; its column BEST has the best so far.
            starts: Number of the first start, and of the last.
            iterations: Steps allowed, all attempts together.
            least: Least error so far.

        Returns:
            How the last attempt ended; steps; number of the last start; least error so far;
            distance [m] and angle [rad] left where a solution is proven.
        """
        (number, last), steps = starts, 0
        while True:
            left = iterations - steps
            status, taken, error, distance, angle = attempt(problem, q, work, number, left)
            steps += taken
            if status == DESCENT_REACHED:
                return status, steps, number, least, distance, angle
            if error < least:
                least = error
                keep_best(q, work)
            if number >= last or steps >= iterations:
                break
            number += 1
        go_back_to_best(q, work)
        return status, steps, number, least, distance, angle

    return attempt_each

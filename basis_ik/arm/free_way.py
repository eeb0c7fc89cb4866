# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solutions of a pose to which the joints can move straight, without a collision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from basis_ik.arm.clearance import Clearance
from basis_ik.arm.limits import MotionLimits
from basis_ik.collision.collision_scene import Scene
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.solvers.pose.solve import Solution


class WayTuning(NamedTuple):
    """When an arm goes to another solution, because the way to the nearest one is blocked."""

    # Least distance of its pose from the one before.
    leap: float = 0.1  # [m]
    turn: float = 0.3  # [rad]
    most: int = 64  # ways that are looked at


WAY_TUNING = WayTuning()


class Ways:
    """The joints' straight ways from where an arm rests.

    Args:
        chain: The chain.
        limits: Its limits.
        scene: What is to be kept apart; used by this object alone.
        start: Where the arm rests (n,) [rad or m].
    """

    def __init__(self, chain: Chain, limits: MotionLimits, scene: Scene, start: FloatArray) -> None:
        self._chain, self._limits, self._start = chain, limits, start
        self._clearance = Clearance(scene)
        self._clearance.observe(start, at_rest=True)

    def is_free(self, goal: FloatArray) -> bool:
        """Return whether nothing is in the way to a goal (n,) [rad or m]."""
        return self._clearance.pair_on_line(self._start, goal) < 0

    def first_free(self, solutions: Iterable[Solution]) -> Solution | None:
        """Return the quickest one to reach among solutions with a free way; None if none has one.

        Args:
            solutions: The solutions, of which each joint may also be a whole turn elsewhere.
        """
        found = [turned for each in solutions for turned in self._turned(each)]
        found.sort(key=lambda each: self._duration(each.positions))
        return next(
            (each for each in found[: WAY_TUNING.most] if self.is_free(each.positions)), None
        )

    def _duration(self, goal: FloatArray) -> float:
        return float((np.abs(goal - self._start) / self._limits.velocity).max())

    def _turned(self, solution: Solution) -> Iterator[Solution]:
        """Yield a solution, and those in which a joint of it is turned once more within limits."""
        yield solution
        lower, upper = self._chain.lower, self._chain.upper
        for joint in np.flatnonzero(~self._chain.prismatic):
            for turn in (-2.0 * np.pi, 2.0 * np.pi):
                q = solution.positions.copy()
                q[joint] += turn
                if lower[joint] <= q[joint] <= upper[joint]:
                    yield solution._replace(positions=q)

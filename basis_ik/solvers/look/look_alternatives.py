# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The solutions of a ray, for when the nearest one collides."""

from __future__ import annotations

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import take_shortest_turns, write_start
from basis_ik.descent.tables_kernel import LOWER_UPPER, R22
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.look.look_kernel import solve_look
from basis_ik.solvers.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.solvers.pose.collision_free import FREE_SEARCH, Arrived

INSIDE = 1e-9  # [rad] beyond a limit that counts as inside, as in the search


class RayAlternatives:
    """The solutions of a ray; see `Alternatives`.

    Args:
        chain: The chain.
        ready: The same with its ray as the tip, and the limits that hold.
        point: (3,) in the root frame [m].
        seed: (n,) [rad or m].
        tolerance: [rad].
    """

    def __init__(
        self, chain: Chain, ready: PreparedChain, point: FloatArray, seed: FloatArray,
        tolerance: float,
    ) -> None:  # fmt: skip
        self.ready, self.start = ready, seed
        self._chain, self._point, self._tolerance = chain, point, tolerance

    def branches(self) -> tuple[list[FloatArray], bool] | None:
        """Return those of a pan-tilt head, which are all if the form is exact; else None."""
        exact, variables = self.ready.exact, self.ready.variables
        if not admits_pan_tilt(exact, len(self.start)):
            return None
        found = np.empty((4, 2))
        count, _ = pan_tilt(exact, self._point, self.start, found)
        low, high = variables[:, LOWER_UPPER].T
        for q in found[:count]:
            take_shortest_turns(variables, self.start, q)
        inside = [
            np.clip(q, low, high) for q in found[:count]
            if (low - INSIDE <= q).all() and (q <= high + INSIDE).all()
        ]  # fmt: skip
        return inside, abs(float(exact[2, R22])) <= self._tolerance

    def arrive(self, start: FloatArray, number: int) -> Arrived | None:
        """Return where a descent from a start, or from a fresh one, arrives; see `Alternatives`."""
        begin, q, work = start, np.empty_like(start), self.ready.take_work()
        if number:
            begin = np.empty_like(start)
            write_start(self.ready.variables, number, begin)
        status, _, _, angle = solve_look(
            self.ready.fields,
            self._point,
            begin,
            q,
            work,
            (self._tolerance, FREE_SEARCH.steps_per_start, 0),
        )
        self.ready.spare.append(work)
        return (q, 0.0, float(angle)) if status == DESCENT_REACHED else None

    def rows(self, q: FloatArray) -> FloatArray:
        """Return how what is at the point moves across the ray (2, n)."""
        twist, tip = self._chain.jacobian(q), self._chain.forward(q).translation
        lever = self._point - tip
        moved = twist[:3] + np.cross(twist[3:], lever, axis=0)
        way = self._point - self.ready.tip_position(q)
        across = np.linalg.svd(way[np.newaxis])[2][1:]
        return np.asarray(across @ moved)

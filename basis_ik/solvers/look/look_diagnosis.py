# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A failed search for a point, questioned further: the least angle, and what wider limits allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import begin_inside, take_shortest_turns
from basis_ik.descent.tables_kernel import R22, WRX
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.look_residual_kernel import LOOK_RESIDUAL
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.ranked_tasks import Ranked, RankedTask
from basis_ik.search.starts import search_starts
from basis_ik.solvers.look.look_kernel import solve_look
from basis_ik.solvers.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.solvers.look.ray_kernel import NO_RAY_LENGTH
from basis_ik.solvers.pose.diagnosis import DIAGNOSIS, FEWEST_STARTS
from basis_ik.solvers.pose.explain import Attempt, Relaxation
from basis_ik.verdict import Reason, Verdict

LOOK_STARTS = 2  # fresh starts beside the seed and what the search left, which is the best of many
BETTER_LOOK = 1e-3  # [rad] by which another answer has to be better to be preferred to the seed's
RAY_WEIGHTS = np.where(np.arange(12) == WRX, 1.0, 0.0)  # of the residual of a ray


class _Ended(NamedTuple):
    """The end of a descent."""

    attempt: Attempt
    steps: int


@dataclass
class LookDiagnosis:
    """One failed search, questioned further on what is left of its budget; see `FailedSearch`.

    Attributes:
        ready: The chain, with its ray, and its own limits.
        held: The same with the limits that were held.
        point: (3,) in the root frame [m].
        seed: (n,).
        found: (n,) what the search left.
        tolerance: [rad].
        budget: Steps that are left.
        starts: How many starts the search has made.
        inside: What meets the point within the limits after all, found while they were wider.
    """

    ready: PreparedChain
    held: PreparedChain
    point: FloatArray
    seed: FloatArray
    found: FloatArray
    tolerance: float
    budget: int
    starts: int
    inside: Attempt | None = None

    def meets(self, attempt: Attempt) -> bool:
        """Return whether an attempt met the point."""
        return attempt.reached

    def best_effort(self) -> Attempt:
        """Return the least angle, downhill from the seed unless another start is clearly better."""
        ranked = Ranked([self._task], self.held.variables)
        fresh = [ranked.start(number, self.seed) for number in range(LOOK_STARTS + 1)]
        margin = BETTER_LOOK + self.tolerance
        best, steps, _ = search_starts(
            (fresh[0], self.found, *fresh[1:]),
            lambda start, left: self._minimise(ranked, start, left),
            lambda one, other: one.attempt.angle < other.attempt.angle - margin,
            lambda end: end.attempt.reached,
            budget=self.budget,
        )
        self.budget -= steps
        return best.attempt

    def rest(self, answer: Attempt) -> Attempt:
        """Return the seed where there is no direction to the point, else the answer."""
        return answer if self._has_direction(answer) else self._inside(self.seed)

    def relaxations(self, answer: Attempt) -> tuple[Relaxation, ...]:
        """Return the limits of `max_move` with those of the chain, then these with none."""
        if not self._has_direction(answer):
            return ()
        own = self.ready
        none = Relaxation(own, own.unbounded)
        return (none,) if self.held is own else (Relaxation(self.held, own), none)

    def relax(self, relaxation: Relaxation, which: npt.NDArray[np.bool_]) -> Attempt:
        """Search with wider limits of some variables, (n,)."""
        wider, q = relaxation.relaxed(which), np.empty_like(self.seed)
        status, taken, _, angle = solve_look(
            wider.fields, self.point, self.seed, q, wider.new_work(),
            (self.tolerance, max(0, self.budget), DIAGNOSIS.lifted_starts),
        )  # fmt: skip
        self.budget -= taken
        free = Attempt(q, 0.0, angle, status == DESCENT_REACHED)
        if free.reached and self.inside is None:
            back = self._inside(free.q)
            self.inside = back if back.reached else None
        return free

    def better_without(self, k: int, relaxation: Relaxation, answer: Attempt) -> bool:
        """Return whether the angle gets less with wider limits of one variable."""
        wider = relaxation.relaxed(np.arange(len(self.seed)) == k)
        ranked = Ranked([self._task], wider.variables)
        other, steps = self._minimise(ranked, answer.q, self.budget)
        self.budget -= steps
        return other.angle < answer.angle - BETTER_LOOK - self.tolerance

    def is_inconclusive(self, answer: Attempt) -> bool:
        """Return whether there were few steps or starts, and no closed form instead of these."""
        few_starts = self.starts <= FEWEST_STARTS and not self._is_closed
        return (self.budget <= 0 or few_starts) and self._has_direction(answer)

    def reason(self, verdict: Verdict | None, answer: Attempt) -> Reason:
        """Return the reason with a verdict; None: with the one if no limit stands in the way."""
        if not self._has_direction(answer):
            return Reason(Verdict.DEGENERATE, 0.0, answer.angle)
        missing, proven = 0.0, self._is_exact and verdict is not Verdict.BUDGET_SPENT
        if verdict is None:
            missing = self._too_near()
            verdict = Verdict.TOO_NEAR if missing > 0.0 else Verdict.ORIENTATION_NOT_FOUND
            proven = proven and missing > 0.0
        starts = 0 if proven else self.starts
        return Reason(verdict, missing, answer.angle, starts=starts, proven=proven)

    @property
    def _is_closed(self) -> bool:
        """Whether the chain has a closed form, which makes starts needless."""
        return bool(admits_pan_tilt(self.ready.exact, len(self.seed)))

    @property
    def _is_exact(self) -> bool:
        """Whether that form is exact: the ray leaves its plane by less than the tolerance."""
        return self._is_closed and abs(float(self.ready.exact[2, R22])) <= self.tolerance

    def _has_direction(self, attempt: Attempt) -> bool:
        """Return whether the point is not the ray's own origin."""
        way = self.ready.tip_position(attempt.q) - self.point
        return float(np.linalg.norm(way)) > NO_RAY_LENGTH

    def _too_near(self) -> float:
        """Return by how much the point is too near to an axis of a pan-tilt head [m], or 0."""
        if not self._is_closed:
            return 0.0
        found, missing = pan_tilt(self.ready.exact, self.point, self.seed, np.empty((4, 2)))
        return float(missing) if found == 0 else 0.0

    @cached_property
    def _task(self) -> RankedTask:
        goal = np.eye(4)
        goal[:3, 3] = self.point
        tolerances = 1.0, self.tolerance
        return RankedTask(LOOK_RESIDUAL, self.ready.exact, RAY_WEIGHTS, goal, 0, tolerances)

    def _minimise(self, ranked: Ranked, start: FloatArray, left: int) -> _Ended:
        """Descend to the least angle, with at most so many steps."""
        end = ranked.in_order(start, left)
        take_shortest_turns(ranked.variables, self.seed, end.q)
        return _Ended(self._attempt(end.q), end.steps)

    def _inside(self, q: FloatArray) -> Attempt:
        """Return positions, brought inside the limits that were held."""
        inside = np.empty_like(q)
        begin_inside(self.held.variables, q, inside)
        return self._attempt(inside)

    def _attempt(self, q: FloatArray) -> Attempt:
        distance, angle = self._task.miss(q)
        return Attempt(q, distance, angle, angle <= self.tolerance)

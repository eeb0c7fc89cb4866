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

"""What to answer, and what to say, when a ray could not be brought onto a point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from basis_ik.look.look_kernel import solve_look
from basis_ik.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.look.ray_kernel import NO_LENGTH
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.diagnosis import FEWEST_STARTS, LIFTED_STARTS, STARTS
from basis_ik.search.descent_kernel import REACHED as ARRIVED
from basis_ik.search.pose_search_kernel import begin_anew, begin_inside
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.tables_kernel import (
    LOWER,
    R22,
    SCALE,
    UPPER,
)
from basis_ik.verdict import REACHED, Reason, Verdict

SETTLING = 250  # steps after which a careful descent has settled or never will
SCOUTING = 60  # steps after which two starts can be compared
BETTER_BY = 1e-3  # [rad] by which another answer has to be better to be preferred to the seed's
AT_BOUND = 1e-9


@dataclass(frozen=True)
class Attempt:
    """Positions, the angle left [rad], and how far the point is from the ray's origin [m]."""

    q: FloatArray
    angle: float
    away: float
    reached: bool


@dataclass
class LookDiagnosis:
    """One failed search, questioned further on what is left of its budget.

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

    def least_angle(self) -> Attempt:
        """Return the least angle, downhill from the seed unless another start is clearly better."""
        best = self._settle(self.seed, SETTLING)
        for number in range(STARTS + 1):
            if best.reached or self.budget <= 0:
                break
            start = self.found
            if number > 0:
                start = np.empty_like(self.seed)
                begin_anew(self.held.variables, number, start)
            scout = self._settle(start, SCOUTING)
            if scout.reached or scout.angle < best.angle - BETTER_BY - self.tolerance:
                best = self._settle(scout.q, SETTLING)
        return best

    def within(self, wider: PreparedChain) -> Attempt:
        """Search within other limits."""
        free = self._run(wider, self.seed, self.budget, LIFTED_STARTS, careful=False)
        if free.reached and self.inside is None:
            back = self._settle(free.q, 0)
            self.inside = back if back.reached else None
        return free

    def at_seed(self) -> FloatArray:
        """Return the seed, inside the limits that were held."""
        q = np.empty_like(self.seed)
        begin_inside(self.held.variables, self.seed, q)
        return q

    @property
    def closed(self) -> bool:
        """Whether the chain has a closed form, which makes starts needless."""
        return bool(admits_pan_tilt(self.ready.exact, len(self.seed)))

    @property
    def proves(self) -> bool:
        """Whether that form is exact: the ray leaves its plane by less than the tolerance."""
        return self.closed and abs(float(self.ready.exact[2, R22])) <= self.tolerance

    def too_near(self) -> float:
        """Return by how much the point is too near to an axis of a pan-tilt head [m], or 0."""
        if not self.closed:
            return 0.0
        found, missing = pan_tilt(self.ready.exact, self.point, self.seed, np.empty((4, 2)))
        return float(missing) if found == 0 else 0.0

    def _settle(self, start: FloatArray, steps: int) -> Attempt:
        return self._run(self.held, start, steps, 0, careful=True)

    def _run(
        self, ready: PreparedChain, start: FloatArray, steps: int, last: int, *, careful: bool
    ) -> Attempt:
        q = np.empty_like(start)
        status, taken, _, angle, away = solve_look(
            ready.fields, self.point, start, q, ready.new_work(),
            (self.tolerance, max(0, min(steps, self.budget)), last, careful),
        )  # fmt: skip
        self.budget -= taken
        return Attempt(q, angle, away, status == ARRIVED)


def explain_look(diagnosis: LookDiagnosis, names: tuple[str, ...]) -> tuple[Attempt, Reason]:
    """Find the best effort, and the reason why there is nothing better.

    Args:
        diagnosis: The failed search.
        names: (n,) of the joints.

    Returns:
        The best effort and the reason, which is REACHED where the point was met by the way.
    """
    answer = diagnosis.least_angle()
    if answer.reached:
        return answer, REACHED
    if answer.away <= NO_LENGTH:
        stay = Attempt(diagnosis.at_seed(), answer.angle, answer.away, reached=False)
        return stay, Reason(Verdict.DEGENERATE, 0.0, answer.angle)
    reason = _obstacle(diagnosis, answer, names)
    if diagnosis.inside is not None:
        return diagnosis.inside, REACHED
    few_starts = diagnosis.starts <= FEWEST_STARTS and not diagnosis.closed
    if diagnosis.budget <= 0 or few_starts:
        reason = Reason(Verdict.BUDGET_SPENT, 0.0, answer.angle, starts=diagnosis.starts)
    return answer, reason


def _obstacle(diagnosis: LookDiagnosis, answer: Attempt, names: tuple[str, ...]) -> Reason:
    """Say what has to give way for the point to be met."""
    own, proven = diagnosis.ready, diagnosis.proves
    starts = 0 if proven else diagnosis.starts
    steps = [(Verdict.LIMIT, own, own.without_limits(np.full(len(names), True)))]
    if diagnosis.held is not own:
        steps.insert(0, (Verdict.MOVE_BOUND, diagnosis.held, own))
    for verdict, held, wider in steps:
        free = diagnosis.within(wider)
        if free.reached:
            k = _limiting(diagnosis, answer.q, free.q, held, wider)
            bound = held.bound_near(k, answer.q)
            return Reason(verdict, 0.0, answer.angle, names[k], bound, starts, proven)
    missing = diagnosis.too_near()
    if missing > 0.0:
        return Reason(Verdict.TOO_NEAR, missing, answer.angle, starts=starts, proven=proven)
    return Reason(Verdict.ORIENTATION_NOT_FOUND, 0.0, answer.angle, starts=diagnosis.starts)


def _limiting(
    diagnosis: LookDiagnosis, q: FloatArray, free: FloatArray, held: PreparedChain,
    wider: PreparedChain,
) -> int:  # fmt: skip
    """Return the variable whose bound, widened alone, lets the ray meet the point.

    Where it takes several: of those that stand at their bounds, the one that would go farthest.
    """
    low, high = held.variables[:, LOWER], held.variables[:, UPPER]
    stands = held.bounded() & (np.minimum(q - low, high - q) <= AT_BOUND)
    for k in np.flatnonzero(stands):
        variables = held.variables.copy()
        variables[k] = wider.variables[k]
        if diagnosis.within(replace(held, variables=variables)).reached:
            return int(k)
    beyond = np.maximum(low - free, free - high) / held.variables[:, SCALE]
    return int(np.argmax(np.where(stands | ~stands.any(), beyond, -np.inf)))

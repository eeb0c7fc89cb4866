"""What to answer, and what to say, when a target was not reached.

The answer is lexicographic: the nearest position first, and there the nearest orientation. A
weighted sum of both would give up millimetres for degrees. Among answers of about equal worth the
one downhill from the seed is taken, so that the answer moves without jumps when the target does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.descent import REACHED
from basis_ik.kernels.pose_solve import COLUMNS, begin_anew, solve_pose
from basis_ik.solvers.prepared import NEAR, PATIENCE, PreparedChain
from basis_ik.solvers.verdict import Reason, Verdict

FloatArray = npt.NDArray[np.float64]

SETTLING = 250  # steps after which a careful descent has settled or never will
SCOUTING = 60  # steps after which two starts can be compared
STARTS = 8  # fresh starts that get a chance to find a nearer answer than the seed's
LIFTED_STARTS = 80  # fresh starts for the question whether it would go without limits
REFINED = 3  # starts that promise a better orientation and are followed to the end
SCOUT_WEIGHT = 0.1  # of the orientation's weight, while starts are compared
TIGHTENING = (1.0, 0.1, 0.01, 0.001)  # of the orientation's weight: each holds the position closer
BETTER_BY = 1e-5  # [reach] by which another position has to be nearer to be preferred
AT_LIMIT = 1e-5  # [rad or m] from its limit at which a joint stands there: descents creep up to it
BETTER_TURN = 1e-3  # [rad] the same for another orientation


class Attempt(NamedTuple):
    """Positions, and the distance [m] and angle [rad] that they leave."""

    q: FloatArray
    away: float
    turned: float
    reached: bool


@dataclass
class Inquiry:
    """One failed search, questioned further on what is left of its budget.

    Attributes:
        ready: The chain.
        target: (4, 4) root_T_target.
        seed: (n,).
        found: (n,) what the search left.
        tolerances: Of position [m] and orientation [rad].
        budget: Steps that are left.
        starts: Number of the last start that was made to reach the target.
    """

    ready: PreparedChain
    target: FloatArray
    seed: FloatArray
    found: FloatArray
    tolerances: tuple[float, float]
    budget: int
    starts: int
    _work: FloatArray = field(init=False)
    _free: Attempt | None = None

    def __post_init__(self) -> None:
        self._work = self.ready.new_work()

    def nearest_position(self) -> Attempt:
        """Return the nearest position, the seed's unless another is clearly nearer."""
        margin = BETTER_BY * self.ready.size + self.tolerances[0]
        best = self._settle(self.seed, self.ready.position, SETTLING)
        for start in self._other_starts():
            if best.reached or self.budget <= 0:
                break
            scout = self._settle(start, self.ready.position, SCOUTING)
            if scout.away < best.away - margin:
                best = self._settle(scout.q, self.ready.position, SETTLING)
                margin = self.tolerances[0]  # the seed's is out: of the others the best is taken
        return best

    def nearest_orientation(self, held: Attempt) -> Attempt:
        """Return the nearest orientation at the nearest position."""
        best = self._turn_in_place(held.q)
        if best.away > held.away + self.tolerances[0]:
            best = held
        weights = self.ready.full.copy()
        weights[3:6] *= SCOUT_WEIGHT
        scouts = [
            self._settle(start, weights, SCOUTING) for start in (self.seed, *self._other_starts())
        ]
        scouts.sort(key=lambda scout: (scout.away / self.ready.size) ** 2 + scout.turned**2)
        for scout in scouts[:REFINED]:
            if self.budget <= 0:
                break
            if scout.turned < best.turned - BETTER_TURN - self.tolerances[1]:
                other = self._turn_in_place(scout.q)
                better = other.turned < best.turned - BETTER_TURN
                if better and other.away <= held.away + self.tolerances[0]:
                    best = other
        return best

    def rest(self, answer: Attempt, *, position_only: bool) -> Attempt:
        """Return the seed itself where the answer is no better: an arm at its best stands still."""
        still = self._settle(self.seed, self.ready.position, 0)
        as_near = still.away <= answer.away + BETTER_BY * self.ready.size
        as_turned = position_only or still.turned <= answer.turned + BETTER_TURN
        return still if as_near and as_turned and not answer.reached else answer

    def persist(self, weights: FloatArray, last: int) -> Attempt | None:
        """Go on with the search up to start number `last`, unless the limits are not to blame.

        What is not even reached without limits is not reached with them either.
        """
        free = self.without_any_limits(weights)
        if free is None:
            last = min(last, self.starts + LIFTED_STARTS)
        elif not free.reached:
            return None
        first, self.starts = self.starts + 1, last
        return self._descend(self.seed, weights, self.ready.variables, self.budget, first, last)

    def without_any_limits(self, weights: FloatArray) -> Attempt | None:
        """Search with all limits lifted, once; None where there are none that matter."""
        if self._free is None and self.bounded().any():
            self._free = self.without_limits(self.bounded(), weights)
        return self._free

    def bounded(self) -> npt.NDArray[np.bool_]:
        """Return which variables (n,) have limits that matter: those without room for a turn."""
        variables = self.ready.variables
        matters = (variables[:, 5] == 0.0) | (variables[:, 1] - variables[:, 0] < 2.0 * np.pi)
        matters &= np.isfinite(variables[:, 0]) | np.isfinite(variables[:, 1])
        return np.asarray(matters)

    def without_limits(self, lifted: npt.NDArray[np.bool_], weights: FloatArray) -> Attempt:
        """Search with some of the limits lifted, (n,)."""
        variables = self._lifted(lifted)
        return self._descend(self.seed, weights, variables, self.budget, 0, LIFTED_STARTS)

    def better_without(self, k: int, answer: Attempt, *, position_only: bool) -> bool:
        """Return whether the answer gets better when the limits of one variable are lifted."""
        lifted = self._lifted(np.arange(len(self.seed)) == k)
        eased = replace(self, ready=replace(self.ready, variables=lifted))
        other = eased._settle(answer.q, self.ready.position, SETTLING)
        nearer = other.away < answer.away - BETTER_BY * self.ready.size - self.tolerances[0]
        if not (nearer or position_only):
            other = eased._turn_in_place(answer.q)
            nearer = other.turned < answer.turned - BETTER_TURN - self.tolerances[1]
        self.budget = eased.budget
        return nearer

    def _lifted(self, lifted: npt.NDArray[np.bool_]) -> FloatArray:
        variables = self.ready.variables[:, :COLUMNS].copy()  # own starts suit the limits
        middle = self.ready.middle
        half = np.where(variables[:, 5] != 0.0, np.pi, 2.0 * variables[:, 2])
        variables[lifted, 0], variables[lifted, 1] = -np.inf, np.inf
        variables[lifted, 3] = (middle - half)[lifted]
        variables[lifted, 4] = (middle + half)[lifted]
        return variables

    def _settle(self, start: FloatArray, weights: FloatArray, steps: int) -> Attempt:
        return self._descend(start, weights, self.ready.variables, steps, 0, 0, careful=True)

    def _turn_in_place(self, start: FloatArray) -> Attempt:
        weights = self.ready.full.copy()
        q = start
        for factor in TIGHTENING:
            weights[3:6] = factor * self.ready.full[3:6]
            q = self._settle(q, weights, SETTLING).q
        return self._settle(q, self.ready.position, SETTLING)

    def _other_starts(self) -> Iterator[FloatArray]:
        yield self.found
        spread = self.ready.variables[:, :COLUMNS].copy()
        for number in range(1, STARTS + 1):
            start = np.empty_like(self.seed)
            begin_anew(spread, number, start)
            yield start

    def _descend(
        self,
        start: FloatArray,
        weights: FloatArray,
        variables: FloatArray,
        steps: int,
        first: int,
        last: int,
        *,
        careful: bool = False,
    ) -> Attempt:
        ready = self.ready
        q = np.empty_like(start)
        status, taken, _, away, turned = solve_pose(
            ready.exact, ready.joints, variables, ready.ends, np.inf, weights, self.target, start,
            q, self._work, *self.tolerances,
            max(0, min(steps, self.budget)), first, last, PATIENCE, careful,
            np.inf if careful else NEAR,
        )  # fmt: skip
        self.budget -= taken
        return Attempt(q, away, turned, status == REACHED)


def explain(
    inquiry: Inquiry, held: Attempt, names: tuple[str, ...], *, position_only: bool
) -> tuple[Attempt, Reason]:
    """Find the best effort and the reason why there is nothing better.

    Args:
        inquiry: The failed search.
        held: The nearest position.
        names: (n,) of the joints.
        position_only: Whether the orientation is free.
    """
    answer = held if position_only else inquiry.nearest_orientation(held)
    answer = inquiry.rest(answer, position_only=position_only)
    weights = inquiry.ready.position if position_only else inquiry.ready.full
    index = _limiting(inquiry, answer, weights, position_only=position_only)
    missing, turn = answer.away, 0.0 if position_only else answer.turned
    if inquiry.budget <= 0:
        return answer, Reason(Verdict.BUDGET_SPENT, missing, turn)
    if index is not None:
        lower, upper = inquiry.ready.variables[index, :2]
        bound = lower if abs(answer.q[index] - lower) < abs(answer.q[index] - upper) else upper
        return answer, Reason(Verdict.LIMIT, missing, turn, names[index], float(bound), STARTS)
    if held.reached:
        return answer, Reason(Verdict.ORIENTATION_UNREACHABLE, missing, turn, starts=STARTS)
    return answer, Reason(_far_or_near(inquiry, answer), missing, turn, starts=STARTS)


def _limiting(
    inquiry: Inquiry, answer: Attempt, weights: FloatArray, *, position_only: bool
) -> int | None:
    """Return the variable whose limit, lifted, lets the chain reach the target, or come nearer."""
    variables, matters = inquiry.ready.variables, inquiry.bounded()
    free = inquiry.without_any_limits(weights)
    if free is None or not free.reached:
        return None
    gap = np.minimum(answer.q - variables[:, 0], variables[:, 1] - answer.q)
    for k in np.flatnonzero(matters & (gap <= AT_LIMIT)):
        if inquiry.without_limits(np.arange(len(gap)) == k, weights).reached:
            return int(k)
    beyond = np.maximum(variables[:, 0] - free.q, free.q - variables[:, 1]) / variables[:, 2]
    candidates = sorted(np.flatnonzero(matters), key=lambda k: -float(beyond[k]))
    for k in candidates:
        if gap[k] <= AT_LIMIT and inquiry.better_without(
            int(k), answer, position_only=position_only
        ):
            return int(k)
    return int(candidates[0])


def _far_or_near(inquiry: Inquiry, answer: Attempt) -> Verdict:
    """Say which is farther from the first joint, the target or the nearest position."""
    centre = inquiry.ready.ends[0, :, 3]
    wanted = float(np.linalg.norm(inquiry.target[:3, 3] - centre))
    got = float(np.linalg.norm(inquiry.ready.tip_position(answer.q) - centre))
    return Verdict.TOO_FAR if wanted > got else Verdict.TOO_NEAR

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What to answer, and what to say, when a target was not reached: a pose, or a point to look at.

The answer is the best effort: for a pose the nearest position first, and there the nearest
orientation, for a ray the least angle. The reason names a limit if the target is reached without
it. What a failed search can be asked is a `FailedSearch`: `pose.diagnosis.Diagnosis` for poses,
`look.look_diagnosis.LookDiagnosis` for rays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from basis_ik.descent.tables_kernel import COLUMNS, LOWER, SCALE, UPPER
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

# [rad or m] from its limit at which a joint stands there: descents creep up to it.
STANDS_AT_LIMIT = 1e-5


class Attempt(NamedTuple):
    """Positions, and the distance [m] and angle [rad] that they leave; 0 m if none is wanted."""

    q: FloatArray
    distance: float
    angle: float
    reached: bool


class Relaxation(NamedTuple):
    """The limits that a search kept, and wider ones that may be tried."""

    kept: PreparedChain
    wider: PreparedChain

    def relaxed(self, which: npt.NDArray[np.bool_]) -> PreparedChain:
        """Return the chain with the wider limits of some variables (n,), and no own starts."""
        variables = self.kept.variables[:, :COLUMNS].copy()  # own starts were found for the limits
        variables[which] = self.wider.variables[which, :COLUMNS]
        return replace(self.kept, variables=variables, reach=self.wider.reach)


class FailedSearch(Protocol):
    """A failed search, which goes on, on what is left of its budget, to answer questions."""

    budget: int
    """Steps that are left."""
    inside: Attempt | None
    """What reaches the target within the limits after all, found while they were relaxed."""

    def meets(self, attempt: Attempt) -> bool:
        """Return whether an attempt got all that is wanted."""

    def best_effort(self) -> Attempt:
        """Return what leaves least within the limits, close to the seed."""

    def rest(self, answer: Attempt) -> Attempt:
        """Return the seed itself where the answer is no better, else the answer."""

    def relaxations(self, answer: Attempt) -> Iterable[Relaxation]:
        """Yield limits to be relaxed, the most temporary first; none where that cannot help."""

    def relax(self, relaxation: Relaxation, which: npt.NDArray[np.bool_]) -> Attempt:
        """Search with the limits of some variables (n,) relaxed."""

    def better_without(self, k: int, relaxation: Relaxation, answer: Attempt) -> bool:
        """Return whether the answer gets better when the limits of variable k are relaxed."""

    def is_inconclusive(self, answer: Attempt) -> bool:
        """Return whether too little was searched to say anything about the target."""

    def reason(self, verdict: Verdict | None, answer: Attempt) -> Reason:
        """Return the reason with a verdict; None: with the one if no limit stands in the way."""


def explain(search: FailedSearch, names: tuple[str, ...]) -> tuple[Attempt, Reason]:
    """Find the best effort and the reason why there is nothing better.

    Args:
        search: The failed search.
        names: (n,) of the joints.

    Returns:
        The best effort and the reason, which is REACHED where all that is wanted was found by the
        way.
    """
    answer = search.best_effort()
    if search.meets(answer):
        return answer, REASON_REACHED
    answer = search.rest(answer)
    limit = _limit_in_the_way(search, answer)
    if search.inside is not None:
        return search.inside, REASON_REACHED
    if search.is_inconclusive(answer):
        return answer, search.reason(Verdict.BUDGET_SPENT, answer)
    if limit is None:
        return answer, search.reason(None, answer)
    verdict, k, bound = limit
    return answer, replace(search.reason(verdict, answer), joint=names[k], bound=bound)


def _limit_in_the_way(search: FailedSearch, answer: Attempt) -> tuple[Verdict, int, float] | None:
    """Return LIMIT or MOVE_BOUND, the variable, and its limit that prevents a solution."""
    for relaxation in search.relaxations(answer):
        kept = relaxation.kept
        bounded = kept.bounded
        free = search.relax(relaxation, bounded) if bounded.any() else None
        if free is not None and free.reached:
            k, q = _limiting(search, relaxation, answer, free)
            bound = kept.bound_near(k, q)
            is_own = bound in (kept.limits[0][k], kept.limits[1][k])
            return Verdict.LIMIT if is_own else Verdict.MOVE_BOUND, k, bound
    return None


def _limiting(
    search: FailedSearch, relaxation: Relaxation, answer: Attempt, free: Attempt
) -> tuple[int, FloatArray]:
    """Return the variable whose limit, relaxed alone, lets the chain reach the target.

    Where it takes several, it is one that stands at its limit and that lets the chain come nearer;
    else the one that goes farthest beyond its limits. A joint may also stand at a limit that the
    relaxation keeps, its own beside those of `max_move`; then its other one is meant.

    Args:
        search: The failed search.
        relaxation: Limits without which the target is reached.
        answer: The best effort.
        free: What reaches the target without the limits.

    Returns:
        The variable, and positions (n,) that are nearer to this limit than to its other one.
    """
    kept, wider = relaxation.kept, relaxation.wider.variables
    bounded, low, high = kept.bounded, kept.variables[:, LOWER], kept.variables[:, UPPER]
    at_low, at_high = answer.q - low <= STANDS_AT_LIMIT, high - answer.q <= STANDS_AT_LIMIT
    stands = (at_low & (wider[:, LOWER] < low)) | (at_high & (wider[:, UPPER] > high))
    for k in np.flatnonzero(bounded & (at_low | at_high)):
        alone = search.relax(relaxation, np.arange(len(low)) == k)
        if alone.reached:
            return int(k), answer.q if stands[k] else alone.q
    beyond = np.maximum(low - free.q, free.q - high) / kept.variables[:, SCALE]
    candidates = sorted(np.flatnonzero(bounded), key=lambda k: -float(beyond[k]))
    for k in candidates:
        if stands[k] and search.better_without(int(k), relaxation, answer):
            return int(k), answer.q
    k = candidates[0]
    return int(k), answer.q if stands[k] else free.q

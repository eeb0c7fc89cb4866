# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A failed search, questioned further: what would be nearest, and would it go without limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.closed_form.closed_form import Branches, ClosedForm
from basis_ik.closed_form.self_motion import sample_starts
from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import DESCENT_PATIENCE, NEAR_SEED, write_start
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    LOWER,
    ROTATION,
    START_LOWER,
    START_UPPER,
    UPPER,
    WRX,
    WX,
    GoalFields,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.pose.best_effort_kernel import BEST_RESULT, OWN_RESULT, find_best_effort
from basis_ik.solvers.pose.explain import Attempt, Relaxation
from basis_ik.solvers.pose.newton_kernel import minimise_each
from basis_ik.verdict import Reason, Verdict


class DiagnosisTuning(NamedTuple):
    """Tuning of a diagnosis; errors are weighted."""

    newton_steps: int = 60  # after which Newton's method has converged, or never will
    scout_steps: int = 40  # after which two starts can be compared
    starts: int = 8  # fresh ones that may find a nearer answer than the seed's
    # Over the best scout's error, it is the number of starts that are worth making.
    starts_by_error: float = 0.5
    lifted_starts: int = 40  # at least, where no limits are in force
    most_lifted_starts: int = 250  # there; at least so many where only limits stand in the way
    slow_error: float = 1e-3  # of what may be on a slow way to where the arm is singular
    slow_steps: int = 300  # more for it
    steps_per_point: int = 15  # that must be left for a point of the grid over the spare joints
    grid_starts: int = 4  # from this grid that are worth Newton's method
    slow_patience: int = 100  # [steps] of the descent after these, whose progress is slow, too
    corner_error: float = 0.1  # up to which corners are tried where the position is not reached
    # Starts beyond the limits, over the best scout's error or its square.
    corners_by_error: float = 4.0
    corners_by_square: float = 0.2
    most_corners: int = 2000
    beyond_limits: float = 0.6  # [range] of these starts; half of the joints then stand at a limit
    corner_patience: int = 4  # [steps]
    at_hand: float = 0.5  # [rad] within which all joints are there from the seed
    better_distance: float = 1e-5  # [reach] by which another position must be nearer
    better_angle: float = 1e-3  # [rad] by which another orientation must be nearer
    # Another answer must also be better by this times the joints' farther way there. So no arm
    # swings to its other shoulder for some degrees while a target out of reach is dragged about.
    better_by_way: float = 0.06


DIAGNOSIS = DiagnosisTuning()
FEWEST_STARTS = 20  # below it, nothing is claimed about a target
TIGHTENING = np.array((0.3, 0.1, 0.01, 1e-3, 1e-4))  # of the orientation's weight, in a best effort


@dataclass
class Diagnosis:
    """One failed search, questioned further on what is left of its budget.

    Attributes:
        ready: The chain.
        target: (4, 4) root_T_target.
        seed: (n,).
        found: (n,) what the search left.
        tolerances: Of position [m] and orientation [rad].
        budget: Steps that are left.
        starts: Number of the last start that was made to reach the target.
        proven: Whether it is proven that there is no solution.
        closed: The closed form that has proven it, if one has; it also knows what lies beyond the
            limits.
        cannot_turn: Whether it is proven that no positions have the orientation, limits aside.
        inside: What reaches the target within the limits after all, found while they were lifted.
        grid: At how many points of a grid over the spare joints all positions were calculated.
        promising: Whether some of these were near the limits, or there are none.
    """

    ready: PreparedChain
    target: FloatArray
    seed: FloatArray
    found: FloatArray
    tolerances: tuple[float, float]
    budget: int
    starts: int
    proven: bool = False
    closed: ClosedForm | None = None
    cannot_turn: bool = False
    inside: Attempt | None = None
    grid: int = 0
    promising: bool = True
    _work: FloatArray = field(init=False)
    _square: FloatArray = field(init=False)
    _scouts: list[Attempt] = field(default_factory=list)
    _free: Attempt | None = None
    _nearest: Attempt | None = None
    _found: tuple[Attempt, Attempt] | None = None
    _branches: Branches | None = None

    def __post_init__(self) -> None:
        n = len(self.seed)
        self._work, self._square = self.ready.new_work(), np.empty((2, n, n))

    @property
    def position_only(self) -> bool:
        """Whether the orientation is free."""
        return bool(self.ready.weights[WRX] == 0.0)

    @property
    def is_simple(self) -> bool:
        """Whether lengths or directions, and no closed form, have proven that there is none."""
        return self.proven and self.closed is None

    def meets(self, attempt: Attempt) -> bool:
        """Return whether an attempt got all that is wanted."""
        return attempt.reached and (self.position_only or attempt.angle <= self.tolerances[1])

    def nearest_position(self) -> Attempt:
        """Return the nearest position: the seed's if it reaches, else the best effort's."""
        if self._nearest is None and self.is_simple:
            self._nearest = self.best_effort()
        elif self._nearest is None:
            held = self._minimise(self.seed[None], self.ready.position_weights[None])[0]
            self._nearest = held if held.reached else self.best_effort()
        return self._nearest

    def best_effort(self) -> Attempt:
        """Return the nearest position, and there the nearest orientation.

        Where the seed leads to one at hand, another is preferred only if it is clearly better, and
        worth the way.
        """
        own, best = self._efforts()
        if self._way(own) > DIAGNOSIS.at_hand or self.meets(best):
            return best
        nearer = (
            best.distance
            < own.distance - DIAGNOSIS.better_distance * self.ready.size - self.tolerances[0]
        )
        nearer = nearer or (best.reached and not own.reached)
        farther = max(self._way(best) - self._way(own), 0.0)
        enough = own.angle - DIAGNOSIS.better_angle - DIAGNOSIS.better_by_way * farther
        better_turned = not self.position_only and best.angle < enough
        return best if nearer or better_turned else own

    def _efforts(self) -> tuple[Attempt, Attempt]:
        """Return what the seed leads to, and the best of all starts; they are searched once."""
        if self._found is None:
            starts, n = np.array([self.seed, self.found]), len(self.seed)
            q, figures = np.empty((2, n)), np.empty((2, 2))
            self.budget -= find_best_effort(
                self.ready.fields, self._goal, self._held_ever_closer(), starts, (q, figures),
                (self._work, self._square), (DIAGNOSIS.newton_steps, self.budget),
            )  # fmt: skip
            self._found = (
                self._attempt(q[OWN_RESULT], figures[OWN_RESULT]),
                self._attempt(q[BEST_RESULT], figures[BEST_RESULT]),
            )
        return self._found

    def _held_ever_closer(self) -> FloatArray:
        """Return rows of weights for `find_best_effort`."""
        if self.position_only:
            return self.ready.position_weights[None]
        weights = np.empty((len(TIGHTENING) + 1, len(self.ready.weights)))
        weights[0], weights[1:] = self.ready.position_weights, self.ready.weights
        weights[1:, ROTATION] *= TIGHTENING[:, None]
        return weights

    def scout(self) -> Attempt | None:
        """Minimise all that is left from every start; return an attempt that got it all."""
        starts = np.empty((DIAGNOSIS.starts + 2, len(self.seed)))
        starts[0], starts[1] = self.seed, self.found
        spread = self.ready.variables[:, :COLUMNS].copy()
        for number in range(1, DIAGNOSIS.starts + 1):
            write_start(spread, number, starts[number + 1])
        self._scouts = self._minimise(starts, self.ready.weights[None], DIAGNOSIS.scout_steps)
        self._scouts.sort(key=self._error)
        best = self._scouts[0]
        return best if self.meets(best) else None

    def least_error(self) -> float:
        """Return the weighted error that the best scout leaves."""
        return self._error(self._scouts[0])

    def go_on(self, held: Attempt, last: int, *, asked: bool) -> Attempt | None:
        """Search further for all that is wanted; return an attempt that got it, or None.

        Args:
            held: The nearest position.
            last: Number of the last start.
            asked: Whether so many starts were asked for; else they end where more are not
                worthwhile.
        """
        if self.proven:
            return None
        if self.position_only:
            return self.search(last) if asked else None
        if not asked and self.is_hopeless(held):
            return None
        found = self.scout()
        found = self.finish() if found is None else found
        if found is not None:
            return found
        sampled = self.sample_self_motion()
        if asked:
            found = self.search(last)
        elif self.promising:
            if held.reached:
                found = self.persist(last)
            if found is None and (held.reached or self.least_error() <= DIAGNOSIS.corner_error):
                found = self.corners()
        return sampled if found is None else found

    def is_hopeless(self, held: Attempt) -> bool:
        """Return whether even the nearest position is off, and so is the pose without limits."""
        if self.ready.weights[WX] * held.distance <= DIAGNOSIS.slow_error:
            return False
        free = self.without_any_limits()
        return free is not None and not free.reached

    def _way(self, attempt: Attempt) -> float:
        """Return the longest way of a joint from the seed [rad or m]."""
        return float(np.abs(attempt.q - self.seed).max())

    def rest(self, answer: Attempt) -> Attempt:
        """Return the seed itself where the answer is no better: an arm at its best stands still."""
        still = self._minimise(self.seed[None], np.empty((0, len(self.ready.weights))))[0]
        as_near = still.distance <= answer.distance + DIAGNOSIS.better_distance * self.ready.size
        as_well_turned = self.position_only or still.angle <= answer.angle + DIAGNOSIS.better_angle
        return still if as_near and as_well_turned and not answer.reached else answer

    def persist(self, last: int) -> Attempt | None:
        """Go on with the search, up to start number `last`, while it is worthwhile.

        What can be reached is nearly reached by some scout, and what is not even reached without
        limits is not reached with them either, as a rule.
        """
        free, error = self.without_any_limits(), self.least_error()
        if self.inside is not None:
            return self.inside
        worth = (
            int(DIAGNOSIS.starts_by_error / error)
            if error * last > DIAGNOSIS.starts_by_error
            else last
        )
        if free is not None and not free.reached:
            worth = worth if error <= DIAGNOSIS.slow_error else 0
        elif free is None:
            worth = min(max(worth, DIAGNOSIS.lifted_starts), DIAGNOSIS.most_lifted_starts)
        else:
            worth = max(worth, DIAGNOSIS.most_lifted_starts)
        return self.search(min(last, worth))

    def search(self, last: int) -> Attempt | None:
        """Go on with the search for all that is wanted, up to start number `last`."""
        ready, first = self.ready, self.starts + 1
        if last < first:
            return None
        found, self.starts = self._descend(ready, ready.weights, first, last)
        return found if found.reached else None

    def finish(self) -> Attempt | None:
        """Go on from scouts that have nearly arrived: at singularities the way is slow."""
        for scout in self._scouts:
            if not self._error(scout) <= DIAGNOSIS.slow_error:
                break
            end = self._finish_from(scout.q)
            if self.meets(end):
                return end
        if not self.least_error() <= DIAGNOSIS.slow_error:
            return None
        end = self._finish_from(self.best_effort().q)
        return end if self.meets(end) else None

    def _finish_from(self, q: FloatArray) -> Attempt:
        end = self._minimise(q[None], self.ready.weights[None], DIAGNOSIS.slow_steps)[0]
        if not self.meets(end):
            end, _ = self._descend(
                self.ready,
                self.ready.weights,
                0,
                0,
                seed=end.q,
                patience=DIAGNOSIS.slow_patience,
                near=math.inf,
            )
        return end

    def sample_self_motion(self) -> Attempt | None:
        """Calculate all positions with the spare joints on a grid, and descend from the best.

        This is worth it where only limits stand in the way. Where no position is near them, the
        search is not promising any more.
        """
        form, variables, weights = self.ready.redundant, self.ready.variables, self.ready.weights
        if form is None:
            return None
        free = self.without_any_limits()
        if self.inside is not None:
            return self.inside
        if free is not None and not free.reached and self.least_error() > DIAGNOSIS.slow_error:
            return None
        most = self.budget // DIAGNOSIS.steps_per_point
        for starts, points in sample_starts(form, variables, self.target, self.seed, most):
            self.grid += points
            if not len(starts):
                self.promising = False
                break
            with_starts = np.hstack([variables[:, :COLUMNS], starts.T])
            found, _ = self._descend(
                replace(self.ready, variables=with_starts), weights, 1, len(starts),
                patience=DIAGNOSIS.corner_patience, near=math.inf,
            )  # fmt: skip
            ends = [found]
            if self.grid == points and not found.reached:  # of the first grid
                ends += self._minimise(starts[: DIAGNOSIS.grid_starts], weights[None])
            for end in ends:
                if self.meets(end):
                    return end
        return None

    def corners(self) -> Attempt | None:
        """Search from starts beyond the limits, which descents begin at: in corners of them.

        Few other starts lead to what is reached with many joints at their limits.
        """
        ready = self.ready
        free = self.without_any_limits()
        if free is None or not free.reached or self.inside is not None:
            return self.inside
        variables, bounded = ready.variables[:, :COLUMNS].copy(), ready.bounded
        span = DIAGNOSIS.beyond_limits * (variables[:, START_UPPER] - variables[:, START_LOWER])
        variables[bounded, START_LOWER] -= span[bounded]
        variables[bounded, START_UPPER] += span[bounded]
        error = self.least_error()
        worth = int(
            min(
                max(DIAGNOSIS.corners_by_error / error, DIAGNOSIS.corners_by_square / error**2),
                DIAGNOSIS.most_corners,
            )
        )
        wider = replace(ready, variables=variables)
        found, made = self._descend(
            wider, ready.weights, 1, worth, patience=DIAGNOSIS.corner_patience
        )
        self.starts += made
        return found if found.reached else None

    def without_any_limits(self) -> Attempt | None:
        """Search with all limits lifted, once; None where there are none that matter."""
        bounded = self.ready.bounded
        if self._free is None and bounded.any():
            for relaxation in self.relaxations():
                self._free = self._search_relaxed(relaxation, bounded)
        return self._free

    def relaxations(self, answer: Attempt | None = None) -> tuple[Relaxation, ...]:
        """Return all limits to be lifted, also those of `max_move`; none if none can help."""
        wider = self.ready.unbounded
        as_short = self.is_simple and wider.reach == self.ready.reach
        return () if as_short or self.cannot_turn else (Relaxation(self.ready, wider),)

    def relax(self, relaxation: Relaxation, which: npt.NDArray[np.bool_]) -> Attempt:
        """Search with some of the limits lifted, (n,); with all of them once."""
        free = self.without_any_limits() if (which == self.ready.bounded).all() else None
        return self._search_relaxed(relaxation, which) if free is None else free

    def _search_relaxed(self, relaxation: Relaxation, which: npt.NDArray[np.bool_]) -> Attempt:
        if self.closed is not None:
            branch, lifted = self._branch(self.closed, which), relaxation.relaxed(which).variables
            if branch.reached or self.closed.excludes(lifted, self.target, self.tolerances):
                return branch
        weights = self.ready.weights
        free = self._descend(relaxation.relaxed(which), weights, 0, DIAGNOSIS.lifted_starts)[0]
        if free.reached and self.inside is None:
            back = self._minimise(free.q[None], np.empty((0, len(weights))))[0]
            self.inside = back if self.meets(back) else None
        return free

    def _branch(self, form: ClosedForm, lifted: npt.NDArray[np.bool_]) -> Attempt:
        """Return the branch nearest to the seed that keeps the limits which are not lifted."""
        if self._branches is None:
            self._branches = form.starts(self.ready.variables, self.target, self.seed)
        lower, upper = self.ready.variables[:, LOWER], self.ready.variables[:, UPPER]
        for q in self._branches.positions:
            if (lifted | ((lower <= q) & (q <= upper))).all():
                return Attempt(q.copy(), 0.0, 0.0, reached=True)
        return Attempt(self.seed, math.inf, math.inf, reached=False)

    def is_inconclusive(self, answer: Attempt) -> bool:
        """Return whether the budget was spent before the reason was found."""
        return self.budget <= 0

    def reason(self, verdict: Verdict | None, answer: Attempt) -> Reason:
        """Return the reason with a verdict; None: with the one if no limit stands in the way."""
        if verdict is None and self.nearest_position().reached:
            proven = self.proven
            verdict = Verdict.ORIENTATION_UNREACHABLE if proven else Verdict.ORIENTATION_NOT_FOUND
        verdict = self._far_or_near(answer) if verdict is None else verdict
        turn = 0.0 if self.position_only else answer.angle
        starts = 0 if self.proven else self.starts + 1
        return Reason(
            verdict, answer.distance, turn, starts=starts, proven=self.proven, grid=self.grid
        )

    def _far_or_near(self, answer: Attempt) -> Verdict:
        """Say which is farther from the first joint, the target or the nearest position."""
        centre = self.ready.ends[0, :, 3]
        wanted = math.dist(self.target[:3, 3], centre)
        got = math.dist(self.ready.tip_position(answer.q), centre)
        return Verdict.TOO_FAR if wanted > got else Verdict.TOO_NEAR

    def better_without(self, k: int, relaxation: Relaxation, answer: Attempt) -> bool:
        """Return whether the answer gets better when the limits of one variable are lifted."""
        wider = replace(self, ready=relaxation.relaxed(np.arange(len(self.seed)) == k))
        other = wider._minimise(answer.q[None], self.ready.position_weights[None])[0]
        nearer = (
            other.distance
            < answer.distance - DIAGNOSIS.better_distance * self.ready.size - self.tolerances[0]
        )
        if not (nearer or self.position_only):
            closest_first = np.ascontiguousarray(self._held_ever_closer()[::-1])
            other = wider._minimise(answer.q[None], closest_first)[0]
            nearer = other.angle < answer.angle - DIAGNOSIS.better_angle - self.tolerances[1]
        self.budget = wider.budget
        return nearer

    def _error(self, attempt: Attempt) -> float:
        position, rotation = self.ready.weights[[WX, WRX]].tolist()
        return math.hypot(position * attempt.distance, rotation * attempt.angle)

    def _minimise(
        self, starts: FloatArray, weights: FloatArray, steps: int = DIAGNOSIS.newton_steps
    ) -> list[Attempt]:
        q, figures = np.empty_like(starts), np.empty((len(starts), 2))
        self.budget -= minimise_each(
            self.ready.fields, self._goal, weights, starts, (q, figures),
            (self._work, self._square), (steps, self.budget),
        )  # fmt: skip
        return [self._attempt(*each) for each in zip(q, figures, strict=True)]

    def _attempt(self, q: FloatArray, figures: FloatArray) -> Attempt:
        """Return positions with the distance [m] and angle [rad] that they leave."""
        (distance, angle), free = figures.tolist(), self.ready.position_weights[WX] == 0.0
        reached = free or distance <= self.tolerances[0]
        return Attempt(q, 0.0 if free else distance, angle, reached)

    @property
    def _goal(self) -> GoalFields:
        return self.ready.weights, self.target, *self.tolerances

    def _descend(
        self, ready: PreparedChain, weights: FloatArray, first: int, last: int,
        *, seed: FloatArray | None = None, patience: int = DESCENT_PATIENCE,
        near: float = NEAR_SEED,
    ) -> tuple[Attempt, int]:  # fmt: skip
        q = np.empty_like(self.seed)
        status, taken, fresh, distance, angle = ready.search(
            weights, self.target, self.seed if seed is None else seed, q, self.tolerances,
            max(0, self.budget), first=first, last=last, patience=patience, near=near,
        )  # fmt: skip
        self.budget -= taken
        return Attempt(q, distance, angle, status == DESCENT_REACHED), fresh

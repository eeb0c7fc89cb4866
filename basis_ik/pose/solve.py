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

"""Inverse kinematics of one chain: a target pose and a seed to joint positions and a verdict."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.diagnosis import FEWEST_STARTS, Attempt, Diagnosis
from basis_ik.pose.explain import explain
from basis_ik.pose.fabrik_passes import Passes, run_passes
from basis_ik.pose.pose_problem import Allowed, PoseProblem, read_problem
from basis_ik.pose.timed_search import search_until
from basis_ik.pose.weighted import least_error
from basis_ik.search.arguments import (
    Positions,
    Target,
    as_positions,
    as_target,
    count,
    hold_near,
    positive,
    refuse,
)
from basis_ik.search.closed_form_search_kernel import NOWHERE, take_nearest_branch
from basis_ik.search.descent_kernel import REACHED as ARRIVED
from basis_ik.search.descent_kernel import SPENT, STALLED
from basis_ik.search.pose_constraint import PoseConstraint, narrow, weigh
from basis_ik.search.pose_search_kernel import (
    NEAR,
    OUT_OF_REACH,
    PATIENCE,
    Found,
    solve_pose,
    take_shortest_turns,
)
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.self_motion import sample_starts
from basis_ik.search.tables_kernel import WRX, WX, GoalFields
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain


MAX_ITERATIONS = 100_000  # unless more starts are asked for
MAX_RESTARTS = 2500  # of a search that may give up before, when it judges that there is no hope
STEPS_PER_START = MAX_ITERATIONS // MAX_RESTARTS
DEFAULT = Allowed(MAX_ITERATIONS, FEWEST_STARTS, MAX_RESTARTS, asked=False)
ENDLESS = 2**62

# Looked up once: each of these costs as much as a tuple.
_REACHED, _FLOAT = Verdict.REACHED, np.dtype(np.float64)
_new_solution = tuple.__new__  # in half the time of the class


class Solution(NamedTuple):
    """Joint positions, always finite and always within the limits, and what they are worth."""

    positions: FloatArray
    """(n,) in [rad] or [m], in the order of `chain.joint_names`; read-only."""
    verdict: Verdict
    position_error: float
    """Distance from the tip to the target, or to the box around it [m], by forward kinematics."""
    orientation_error: float
    """Angle from the tip to the target [rad], by forward kinematics; that between the axes where
    one is free; reported, but without weight in the verdict, where orientation is not wanted."""
    iterations: int
    """Steps of all descents together; FABRIK's passes are counted in `passes`."""
    restarts: int
    """Starts after the seed's."""
    reason: Reason
    """What stood in the way, as data and, by `str`, as a line of text."""
    passes: Passes | None = None
    """What FABRIK's passes alone had reached, where they were asked for."""

    @property
    def success(self) -> bool:
        """Whether the target was reached within both tolerances and all limits."""
        return self.verdict is Verdict.REACHED


def solve(
    chain: Chain,
    target: Target,
    seed: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    max_move: npt.ArrayLike | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    time_limit: float | None = None,
    solver: Literal["descent", "fabrik"] = "descent",
    trace: bool = False,
) -> Solution:
    """Find joint positions that bring the chain's tip to a target.

    Where the arm has a closed form (docs/algorithms.md) that takes no longer than a search, the
    answer is the nearest of all. Else the solver starts at the seed, and restarts elsewhere only if
    that fails. FABRIK runs backward and forward passes over the joints instead, and leaves the rest
    to a descent only if they do not converge. The same arguments give the same bits, in every
    process and thread.

    Args:
        chain: What to move.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix.
        seed: (n,) or by joint name, where to start, best the present positions [rad or m].
            Positions outside the limits are taken a full turn or else to the limit. None is
            `chain.neutral`.
        position_only: Leave the orientation free.
        constraint: Which part of the pose counts; None: all of it.
        max_move: How far each joint may be from the seed, (n,) or one for all [rad or m], above 0.
            Held like a limit: where only a longer move would reach, the verdict is MOVE_BOUND.
        position_tolerance: [m], above 0.
        orientation_tolerance: [rad], above 0.
        max_iterations: Steps allowed, of about 0.2 µs each; the explanation of a failure included,
            and FABRIK's passes; not the points of a grid over spare joints (`Reason.grid`), at most
            one for every 15 steps that are left. None: 100,000, or 40 for each start of
            `max_restarts` where that is more; any number with a time limit.
        max_restarts: Starts to make after the seed's before giving up, all of them as long as there
            are steps and time. With fewer than 20 nothing is said about the target; the verdict is
            then BUDGET_SPENT. None: 20 and then, up to 4500, as many as there is hope; any number
            with a time limit.
        time_limit: Wall-clock time allowed [s], above 0; overrun by no more than one step, and used
            up where nothing else ends the search. What is found then depends on the machine, and a
            failure is not explained. None: no limit. Not together with weights. What a closed form
            tells in some microseconds is answered, and explained, without regard to it.
        solver: "descent" is damped least squares. "fabrik" needs a position as target, with the
            whole orientation, or free about an axis, or free; no boxes, no weights, no time limit.
        trace: Whether the solution's `passes` are to tell where the joints were after each pass.

    Returns:
        The solution, or with another verdict than REACHED the best effort: the nearest position,
        and there the nearest orientation, close to the seed so that it moves without jumps when
        the target does. With weights it is what leaves the least weighted error; the reason still
        tells of the nearest position. Only where `reason.proven` is set, the target is known to be
        out of reach; else the search gave up after `reason.starts` starts.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite; a chain
            without joints; what the solver does not do.
        OutsideLimitsError: What was found is outside the limits: an error in basis_ik.
    """
    allowed, plain = DEFAULT, solver == "descent" and not trace and time_limit is None
    if not (max_iterations is max_restarts is time_limit is None):
        allowed = budget(max_iterations, max_restarts, timed=time_limit is not None)
    elif plain and constraint is None and max_move is None and not position_only:
        nearest = _nearest_of_all(chain, target, seed, position_tolerance, orientation_tolerance)
        if nearest is not None:
            return nearest
    ready, target, wanted, start = read_problem(
        chain, target, seed, position_tolerance, orientation_tolerance, constraint, position_only
    )
    if max_move is not None:
        ready = hold_near(ready, start, max_move)
    if not plain:
        _check_solver(solver, constraint, time_limit, trace=trace)
        problem = PoseProblem(chain, ready, target, wanted, start)
        if time_limit is None:
            return _search_after_passes(problem, allowed, trace=trace)
        return _search_in_time(problem, allowed, positive("time_limit", time_limit, "s"))
    q, work = np.empty(len(start)), ready.take_work()
    found = _search(ready, wanted, start, q, work, allowed)
    ready.spare.append(work)
    if found[0] == ARRIVED:
        return _reached(ready, q, found)
    problem = PoseProblem(chain, ready, target, wanted, start)
    solution = _explained(problem, found, q, allowed)
    if constraint is None or constraint.weights is None or solution.success:
        return solution
    weights = weigh(prepared(chain), constraint, position_only=position_only)
    return _with_least_error(problem, weights, allowed, solution)


def _nearest_of_all(
    chain: Chain, target: Target, seed: Positions | None, length: float, angle: float
) -> Solution | None:
    """Return the nearest of all positions where an exact closed form tells it; else None.

    `solve` would find the same in twice the time, half of which is for arguments.
    """
    ready = prepared(chain)
    form = ready.exact_form
    if form is None or not type(length) is type(angle) is float:
        return None
    goal = target if _is_matrix(target) else as_target("target", target)._m
    q = ready.middle.copy() if seed is None else as_positions("seed", seed, chain.joint_names)
    status, away, turned = take_nearest_branch(form, goal, q, length, angle)
    if status != ARRIVED:
        return None
    q.setflags(write=False)
    return _new_solution(Solution, (q, _REACHED, away, turned, 0, 0, REACHED, None))


def _is_matrix(target: Target) -> TypeGuard[FloatArray]:
    """Tell whether a target is an array as kernels take it; they check its numbers."""
    return (
        type(target) is np.ndarray
        and target.shape == (4, 4)
        and target.dtype is _FLOAT
        and bool(target.flags.carray)
    )


def _search(
    ready: PreparedChain, wanted: GoalFields, start: FloatArray, q: FloatArray, work: FloatArray,
    allowed: Allowed,
) -> Found:  # fmt: skip
    """Search from the closed form's branches or the start, then from the first further starts.

    Args:
        ready: The chain.
        wanted: What to reach.
        start: (n,).
        q: (n,) result: what reached the target, else the best of all descents.
        work: See `PreparedChain.new_work`.
        allowed: How long to go on.

    Returns:
        See `PreparedChain.search`; or NOWHERE, see `closed_form_search_kernel`.
    """
    form, steps, first = ready.closed, 0, 0
    if form is not None:
        found = form.kernels.solve_pose(
            ready.fields, wanted, start, q, work, allowed.iterations, form.rows
        )
        if found[0] == ARRIVED or not _goes_on(found, allowed):
            return found
        steps, first = found[1], 1
    effort = allowed.iterations - steps, PATIENCE, False
    starts = first, allowed.first_restarts, NEAR
    status, taken, last, away, turned = solve_pose(
        ready.fields, wanted, start, q, work, effort, starts
    )
    return status, steps + taken, last, away, turned


def _goes_on(found: Found, allowed: Allowed) -> bool:
    """Tell whether a search from the branches has proven nothing, and other starts may."""
    undecided = found[0] in (STALLED, SPENT)
    return undecided and allowed.restarts > 0 and found[1] < allowed.iterations


def _reached(
    ready: PreparedChain, q: FloatArray, found: Found, passes: Passes | None = None
) -> Solution:
    """Return the solution of a search that has reached the target at q (n,)."""
    ready.prove_inside(q)
    q.setflags(write=False)
    _, steps, last, away, turned = found
    return Solution(q, _REACHED, away, turned, steps, last, REACHED, passes)


def _search_after_passes(problem: PoseProblem, allowed: Allowed, *, trace: bool) -> Solution:
    """Make FABRIK's passes; where they do not reach the target, search from where they end."""
    ready = problem.ready
    status, passes = run_passes(problem, allowed.iterations, allowed.restarts, trace=trace)
    q = passes.positions.copy()
    if status == ARRIVED:
        found = status, 0, passes.restarts, passes.position_error, passes.orientation_error
        return _reached(ready, q, found, passes)
    refuse(status, "seed", problem.start.tolist(), problem.target)
    allowed = allowed._replace(iterations=allowed.iterations - passes.count)
    begin, work = q.copy(), ready.take_work()
    found = _search(ready, problem.wanted, begin, q, work, allowed)
    ready.spare.append(work)
    if found[0] != ARRIVED:
        return _explained(problem, found, q, allowed)._replace(passes=passes)
    take_shortest_turns(ready.variables, problem.start, q)  # passes may have gone round
    return _reached(ready, q, found, passes)


def _search_in_time(problem: PoseProblem, allowed: Allowed, time_limit: float) -> Solution:
    """Search until a deadline; a failure is explained only where a closed form does it at once."""
    deadline, ready = time.perf_counter() + time_limit, problem.ready
    if ready.closed is not None:
        q, work = np.empty(len(problem.start)), ready.take_work()
        branches = allowed._replace(restarts=0)
        found = _search(ready, problem.wanted, problem.start, q, work, branches)
        ready.spare.append(work)
        if found[0] == ARRIVED:
            return _reached(ready, q, found)
        if not _goes_on(found, allowed):
            return _explained(problem, found, q, allowed)
    q, found = search_until(deadline, problem, allowed)
    status, steps, last, away, turned = found
    refuse(status, "seed", problem.start.tolist(), problem.target)
    if status == ARRIVED:
        return _reached(ready, q, found)
    turn = 0.0 if ready.full[WRX] == 0.0 else turned
    reason = Reason(Verdict.BUDGET_SPENT, away, turn, starts=last + 1)
    if status == OUT_OF_REACH:
        reason = Reason(Verdict.TOO_FAR, away, turn, proven=True)
    return Solution(read_only(q), reason.verdict, away, turned, steps, last, reason)


def _with_least_error(
    problem: PoseProblem, weights: FloatArray, allowed: Allowed, plain: Solution
) -> Solution:
    """Return what leaves the least weighted error, for the reasons of a best effort without."""
    starts, left = (problem.start, plain.positions.copy()), allowed.iterations - plain.iterations
    q, away, turned, steps = least_error(problem, weights, starts, left)
    return plain._replace(
        positions=read_only(q), position_error=away, orientation_error=turned,
        iterations=plain.iterations + steps,
    )  # fmt: skip


def _explained(problem: PoseProblem, found: Found, q: FloatArray, allowed: Allowed) -> Solution:
    """Return the best effort of a search that has failed, and why; or what it finds by the way.

    Args:
        problem: What was to be reached.
        found: How the search ended.
        q: (n,) what it left.
        allowed: What it was allowed.
    """
    ready, (status, steps, last, away, turned) = problem.ready, found
    refuse(status, "seed", problem.start.tolist(), problem.target)
    position_only = ready.full[WRX] == 0.0
    proven = status in (OUT_OF_REACH, NOWHERE)  # by the chain's lengths, or in closed form
    if steps >= allowed.iterations or not (proven or last >= FEWEST_STARTS):
        turn = 0.0 if position_only else turned
        reason = Reason(Verdict.BUDGET_SPENT, away, turn, starts=last + 1)
        return Solution(read_only(q), reason.verdict, away, turned, steps, last, reason)
    diagnosis = Diagnosis(
        ready, problem.goal, problem.start, q, problem.tolerances, allowed.iterations - steps,
        last, proven, ready.closed if status == NOWHERE else None,
    )  # fmt: skip
    best, reason = _diagnose(diagnosis, problem.chain, allowed)
    away, steps = best.away, allowed.iterations - diagnosis.budget
    if ready.full[WX] == 0.0:
        away = float(np.linalg.norm(ready.tip_position(best.q) - problem.goal[:3, 3]))
    return Solution(
        read_only(best.q), reason.verdict, away, best.turned, steps, diagnosis.starts, reason
    )


def _diagnose(diagnosis: Diagnosis, chain: Chain, allowed: Allowed) -> tuple[Attempt, Reason]:
    """Go on with a search that has failed, and explain it if that fails too.

    Args:
        diagnosis: The search.
        chain: As it was given: its limits are no bounds on the move.
        allowed: How many starts, and whether they were asked for.
    """
    # Before a long search, a short question that most hopeless targets fail.
    best, reason = diagnosis.nearest_position(), REACHED
    if not diagnosis.meets(best):
        found = diagnosis.go_on(best, allowed.restarts, asked=allowed.asked)
        if found is not None:
            best = found
        else:
            names = chain.joint_names
            best, reason = explain(diagnosis, best, names)
            limits = {*zip(names, chain.lower, strict=True), *zip(names, chain.upper, strict=True)}
            if reason.verdict is Verdict.LIMIT and (reason.joint, reason.bound) not in limits:
                reason = replace(reason, verdict=Verdict.MOVE_BOUND)
    if reason is REACHED:
        diagnosis.ready.prove_inside(best.q)
    return best, reason


def budget(max_iterations: int | None, max_restarts: int | None, *, timed: bool) -> Allowed:
    """Return how many steps and starts there may be.

    Args:
        max_iterations: As for `solve`.
        max_restarts: As for `solve`.
        timed: Whether there is a time limit.

    Raises:
        SolveArgumentError: A number that is none.
    """
    iterations, restarts = (ENDLESS, ENDLESS) if timed else (MAX_ITERATIONS, MAX_RESTARTS)
    if max_restarts is not None:
        restarts = count("max_restarts", max_restarts, 0)
        iterations = max(iterations, STEPS_PER_START * restarts)
    if max_iterations is not None:
        iterations = count("max_iterations", max_iterations, 1)
    iterations, restarts = min(iterations, ENDLESS), min(restarts, ENDLESS)
    return Allowed(iterations, min(restarts, FEWEST_STARTS), restarts, max_restarts is not None)


def _check_solver(
    solver: str, constraint: PoseConstraint | None, time_limit: float | None, *, trace: bool
) -> None:
    """Refuse a solver that there is not, and what FABRIK and a search in time do not do."""
    weighted = constraint is not None and constraint.weights is not None
    if solver not in ("descent", "fabrik"):
        raise SolveArgumentError("solver", solver, "'descent' or 'fabrik'")
    if solver == "descent":
        if trace:
            raise SolveArgumentError("trace", trace, "False unless the solver is 'fabrik'")
        if weighted:
            raise SolveArgumentError("time_limit", time_limit, "None where errors have weights")
    elif weighted:
        raise SolveArgumentError("solver", solver, "'descent' where errors have weights")
    elif time_limit is not None:
        raise SolveArgumentError("time_limit", time_limit, "None where the solver is 'fabrik'")


def warm_up(chain: Chain) -> None:
    """Prepare a chain and compile all that `solve` may call, before a control loop starts.

    All but FABRIK's passes, which `warm_up_fabrik` compiles.
    """
    ready = prepared(chain)
    out_of_reach = np.eye(4)
    out_of_reach[0, 3] = 1e3 * (1.0 + ready.size)
    far = RigidTransform.from_matrix(out_of_reach)
    near = chain.forward(ready.middle)
    solve(chain, far, max_iterations=50)
    solve(chain, near)
    if ready.redundant is not None:  # of two targets none may need it
        next(sample_starts(ready.redundant, ready.variables, near._m, ready.middle, MAX_ITERATIONS))
    # A part of a pose may have a closed form of its own, whose kernel few chains need.
    if ready.closed_position is not None:
        solve(chain, near, position_only=True)
    for axis in ((0.0, 0.0, 1.0), (0.3, 0.2, 1.0)):
        constraint = PoseConstraint(free_axis=axis)
        if narrow(ready, constraint).closed is not None:
            solve(chain, near, constraint=constraint)


def warm_up_fabrik(chain: Chain) -> None:
    """Compile what `solve` calls besides where the solver is FABRIK."""
    solve(chain, chain.forward(prepared(chain).middle), solver="fabrik")

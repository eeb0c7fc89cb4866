# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of one chain: from a target pose and a seed to positions and a verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from basis_ik.closed_form.closed_form_search_kernel import take_nearest_branch
from basis_ik.closed_form.self_motion import sample_starts
from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.descent_kernel import DESCENT_SPENT, DESCENT_STALLED
from basis_ik.descent.pose_search_kernel import (
    DESCENT_PATIENCE,
    NEAR_SEED,
    OUT_OF_REACH,
    Found,
    solve_pose,
    take_shortest_turns,
)
from basis_ik.descent.tables_kernel import WRX, WX, GoalFields
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, is_same
from basis_ik.search.arguments import (
    FLOAT64,
    SMALLEST_TOLERANCE,
    Positions,
    Target,
    as_positions,
    as_target,
    count,
    hold_near,
    positive,
    refuse,
)
from basis_ik.search.pose_constraint import PoseConstraint, aim, narrow, position_of, weigh
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.starts import ENDLESS
from basis_ik.solvers.pose.diagnosis import FEWEST_STARTS, Diagnosis
from basis_ik.solvers.pose.explain import Attempt, explain
from basis_ik.solvers.pose.fabrik_passes import Passes, run_passes
from basis_ik.solvers.pose.pose_problem import PoseProblem, SearchBudget, read_problem
from basis_ik.solvers.pose.timed_search import search_until
from basis_ik.solvers.pose.weighted import least_error
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Gap, Scene
    from basis_ik.robot.chain import Chain
    from basis_ik.solvers.pose.collision_free import Alternatives


MAX_ITERATIONS = 100_000  # default; more if more restarts are requested
MAX_RESTARTS = 2500  # default; the search stops earlier if more starts are not worthwhile
STEPS_PER_START = MAX_ITERATIONS // MAX_RESTARTS
DEFAULT_BUDGET = SearchBudget(MAX_ITERATIONS, FEWEST_STARTS, MAX_RESTARTS, asked=False)
EXCLUDED = -5  # status of a search: a closed form proves that there is no solution

# This look-up costs as much as a tuple.
_REACHED = Verdict.REACHED
_new_solution = tuple.__new__  # takes half the time of the class


class Solution(NamedTuple):
    """Joint positions, always finite and within the limits, and their errors.

    It is true only if the target was reached, as every result is.
    """

    positions: FloatArray
    """(n,) [rad or m], in the order of `chain.joint_names`; read-only."""
    verdict: Verdict
    """REACHED, or what these positions are short of."""
    position_error: float
    """Distance from the tip to the target, or to the box around it [m], by forward kinematics."""
    orientation_error: float
    """Angle from the tip to the target [rad], by forward kinematics; with a free axis, that between
    the axes. It does not affect the verdict if the orientation is free."""
    iterations: int
    """Steps of all descents together; `passes` counts FABRIK's passes."""
    restarts: int
    """Starts after the seed's."""
    reason: Reason
    """Why the target was not reached, as data; `str` makes one line of text."""
    passes: Passes | None = None
    """Result of FABRIK's passes alone, if they were requested."""

    @property
    def success(self) -> bool:
        """Whether the target was reached within both tolerances and all limits."""
        return self.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and is_same(tuple(self), tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other


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
    scene: Scene | None = None,
) -> Solution:
    """Find joint positions that bring the chain's tip to a target.

    If the arm has a closed form (docs/algorithms.md) that takes no longer than a search, the result
    is the solution nearest to the seed. Otherwise the solver descends from the seed, and restarts
    elsewhere if that fails. FABRIK makes backward and forward passes over the joints instead; a
    descent follows only if they do not converge. The same arguments yield the same bits in every
    process and thread. A stream of targets belongs to `track` or `follow`, which bound each move;
    between two near targets this function may change to another branch.

    Args:
        chain: The chain.
        target: root_T_target, also as a (4, 4) matrix; or a position (3,) alone [m].
        seed: (n,) or by joint name, preferably the present positions [rad or m]. Positions outside
            the limits are turned or clamped into them. None is `chain.neutral`.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: The part of the pose that counts; None: all of it.
        max_move: Largest distance of each joint from the seed, (n,) or one for all [rad or m],
            above 0. It bounds the joints as limits do. If only a longer move reaches, the verdict
            is MOVE_BOUND.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        max_iterations: Steps allowed, each about 0.2 µs, including FABRIK's passes and the
            explanation of a failure. Points of a grid over redundant joints (`Reason.grid`) are not
            counted; there is at most one for every 15 remaining steps. None: 100,000, or 40 for
            each start of `max_restarts` if that is more; no limit with a time limit.
        max_restarts: Starts to make after the seed's before giving up, as long as steps and time
            last. Fewer than 20 allow no statement about the target, and the verdict is
            BUDGET_SPENT. None: 20, then up to 4500 while more starts are worthwhile; no limit with
            a time limit.
        time_limit: Wall-clock time allowed [s], above 0; exceeded by one step at most, and used up
            unless the search ends otherwise. The result then depends on the machine, and a failure
            is not explained. A closed form takes some microseconds, and is used and explained
            regardless. None: no limit. Not available with weights.
        solver: "descent" is damped least squares. "fabrik" needs the target's position, with the
            whole orientation, a free axis or a free orientation; no boxes, weights or time limit.
        trace: Whether the solution's `passes` have the joints after each pass.
        scene: What must not collide. If the solution does, other branches and other positions of
            spare joints are asked, and the result is the nearest one found that does not, else
            COLLISION: the positions reach the target, but must not be sent. Only what reaches the
            target is kept free; of other results `reason.pair` says what collides. None: nothing
            is checked.

    Returns:
        The solution. With any verdict but REACHED it is the best effort: the nearest position, and
        there the nearest orientation, close to the seed so that it moves continuously with the
        target. With weights it has the least weighted error, and the reason is about the nearest
        position. The target is known to be out of reach only if `reason.proven` is set; otherwise
        the search gave up after `reason.starts` starts.

    Raises:
        SolveArgumentError: An argument has a wrong type, shape or range, or is not finite; the
            chain has no joints; the solver does not support the request; the scene is of other
            joints.
        OutsideLimitsError: The result is outside the limits, which is a bug in basis_ik.
    """
    if scene is not None:
        chosen = solve(
            chain, target, seed, position_only=position_only, constraint=constraint,
            max_move=max_move, position_tolerance=position_tolerance,
            orientation_tolerance=orientation_tolerance, max_iterations=max_iterations,
            max_restarts=max_restarts, time_limit=time_limit, solver=solver, trace=trace,
        )  # fmt: skip
        from basis_ik.solvers.pose.collision_free import (
            FREE_SEARCH,
            PoseAlternatives,
            collisions_of,
        )

        collisions = collisions_of(chain, scene, chosen.positions)
        if not collisions:
            return chosen
        target, constraint = aim("target", target, constraint)
        if position_only:
            constraint = position_of(constraint)
        tolerances = float(position_tolerance), float(orientation_tolerance)
        problem = PoseProblem(chain, *read_problem(chain, target, seed, *tolerances, constraint))
        ways = [PoseAlternatives(problem)]
        if max_move is not None:
            held = hold_near(problem.ready, problem.start, max_move)
            ways.insert(0, PoseAlternatives(problem._replace(ready=held)))
        effort = (
            FREE_SEARCH.starts if max_restarts is None else max_restarts,
            math.inf if time_limit is None else time.perf_counter() + time_limit,
        )
        return free_one(ways, scene, (chosen, collisions[0]), effort)
    if type(target) is not RigidTransform and getattr(target, "shape", None) != (4, 4):
        target, constraint = aim("target", target, constraint)
    if position_only:
        constraint = position_of(constraint)
    budget, plain = DEFAULT_BUDGET, solver == "descent" and not trace and time_limit is None
    if not (max_iterations is max_restarts is time_limit is None):
        budget = search_budget(max_iterations, max_restarts, timed=time_limit is not None)
    elif plain and constraint is None and max_move is None:
        nearest = _nearest_solution(chain, target, seed, position_tolerance, orientation_tolerance)
        if nearest is not None:
            return nearest
    ready, target, goal_fields, start = read_problem(
        chain, target, seed, position_tolerance, orientation_tolerance, constraint
    )
    if max_move is not None:
        ready = hold_near(ready, start, max_move)
    if not plain:
        _check_solver(solver, constraint, time_limit, trace=trace)
        problem = PoseProblem(chain, ready, target, goal_fields, start)
        if time_limit is None:
            return _search_after_passes(problem, budget, trace=trace)
        return _search_in_time(problem, budget, positive("time_limit", time_limit, "s"))
    q, work = np.empty(len(start)), ready.take_work()
    found = _search(ready, goal_fields, start, q, work, budget)
    ready.spare.append(work)
    if found[0] == ARRIVED:
        return _reached(ready, q, found)
    problem = PoseProblem(chain, ready, target, goal_fields, start)
    solution = _explained(problem, found, q, budget)
    if constraint is None or constraint.weights is None or solution.success:
        return solution
    weights = weigh(prepared(chain), constraint)
    return _with_least_error(problem, weights, budget, solution)


def free_one(
    ways: Sequence[Alternatives], scene: Scene, nearest: tuple[Solution, Gap],
    effort: tuple[int, float],
) -> Solution:  # fmt: skip
    """Return a solution that does not collide, or the nearest one with the reason.

    Args:
        ways: The problem; if the move is bounded, then also without this bound.
        scene: The scene.
        nearest: The nearest solution, and its deepest collision.
        effort: Starts allowed, and the time at which they end.
    """
    from basis_ik.solvers.pose.collision_free import find_free

    solution, deepest = nearest
    reason = replace(solution.reason, pair=deepest.names, depth=-deepest.distance)
    if not solution.success:
        return solution._replace(reason=reason)
    search = find_free(ways[0], scene, solution.positions, *effort)
    if search.found is None:
        wider = (find_free(each, scene, solution.positions, *effort) for each in ways[1:])
        reason = replace(
            reason, verdict=Verdict.COLLISION, starts=search.starts, proven=search.proven,
            elsewhere=any(each.found is not None for each in wider),
        )  # fmt: skip
        return solution._replace(verdict=Verdict.COLLISION, reason=reason)
    q, position_error, orientation_error = search.found
    ways[0].ready.prove_inside(q)
    return Solution(
        read_only(q), _REACHED, position_error, orientation_error,
        solution.iterations, search.starts, REASON_REACHED,
    )  # fmt: skip


def _nearest_solution(
    chain: Chain, target: Target, seed: Positions | None, length: float, angle: float
) -> Solution | None:
    """Return the solution nearest to the seed if an exact closed form yields it, else None.

    `solve` would return the same in twice the time, half of which is for its arguments.
    """
    ready = prepared(chain)
    form = ready.exact_form
    if form is None or not type(length) is type(angle) is float:
        return None
    if not (length >= SMALLEST_TOLERANCE and angle >= SMALLEST_TOLERANCE):
        return None
    goal = target if _is_matrix(target) else as_target("target", target)._m
    q = ready.middle.copy() if seed is None else as_positions("seed", seed, chain.joint_names)
    status, position_error, orientation_error = take_nearest_branch(form, goal, q, length, angle)
    if status != ARRIVED:
        return None
    q.setflags(write=False)
    return _new_solution(
        Solution, (q, _REACHED, position_error, orientation_error, 0, 0, REASON_REACHED, None)
    )


def _is_matrix(target: Target) -> TypeGuard[FloatArray]:
    """Return whether a target is an array as kernels take it; they check its values."""
    return (
        type(target) is np.ndarray
        and target.shape == (4, 4)
        and target.dtype is FLOAT64
        and bool(target.flags.carray)
    )


def _search(
    ready: PreparedChain, goal_fields: GoalFields, start: FloatArray, q: FloatArray,
    work: FloatArray, budget: SearchBudget,
) -> Found:  # fmt: skip
    """Search from the closed form's branches or the seed, then from the first further starts.

    Args:
        ready: The chain.
        goal_fields: The goal.
        start: (n,) seed [rad or m].
        q: (n,) result: the solution, or else the best of all descents [rad or m].
        work: Workspace, see `PreparedChain.new_work`.
        budget: Budget.

    Returns:
        See `PreparedChain.search`; the status may also be EXCLUDED.
    """
    form, steps, first = ready.closed, 0, 0
    if form is not None:
        found = form.kernels.solve_pose(
            ready.fields, goal_fields, start, q, work, budget.iterations, form.rows
        )
        if found[0] in (DESCENT_STALLED, DESCENT_SPENT) and form.excludes(
            ready.variables, goal_fields[1], goal_fields[2:]
        ):
            return EXCLUDED, *found[1:]
        if not _may_restart(found, budget):
            return found
        steps, first = found[1], 1
    effort = budget.iterations - steps, DESCENT_PATIENCE, False
    starts = first, budget.first_restarts, NEAR_SEED
    status, taken, last, position_error, orientation_error = solve_pose(
        ready.fields, goal_fields, start, q, work, effort, starts
    )
    return status, steps + taken, last, position_error, orientation_error


def _may_restart(found: Found, budget: SearchBudget) -> bool:
    """Return whether the search from the branches left the target open, and starts are left."""
    undecided = found[0] in (DESCENT_STALLED, DESCENT_SPENT)
    return undecided and budget.restarts > 0 and found[1] < budget.iterations


def _reached(
    ready: PreparedChain, q: FloatArray, found: Found, passes: Passes | None = None
) -> Solution:
    """Return the solution of a search that reached the target at q (n,)."""
    ready.prove_inside(q)
    q.setflags(write=False)
    _, steps, last, position_error, orientation_error = found
    return Solution(
        q, _REACHED, position_error, orientation_error, steps, last, REASON_REACHED, passes
    )


def _search_after_passes(problem: PoseProblem, budget: SearchBudget, *, trace: bool) -> Solution:
    """Make FABRIK's passes; if they fail, search from where they end."""
    ready = problem.ready
    status, passes = run_passes(problem, budget.iterations, budget.restarts, trace=trace)
    q = passes.positions.copy()
    if status == ARRIVED:
        found = status, 0, passes.restarts, passes.position_error, passes.orientation_error
        return _reached(ready, q, found, passes)
    refuse(status, "seed", problem.start.tolist(), problem.target)
    budget = budget._replace(iterations=budget.iterations - passes.count)
    begin, work = q.copy(), ready.take_work()
    found = _search(ready, problem.goal_fields, begin, q, work, budget)
    ready.spare.append(work)
    if found[0] != ARRIVED:
        return _explained(problem, found, q, budget)._replace(passes=passes)
    take_shortest_turns(ready.variables, problem.start, q)  # passes may have made full turns
    return _reached(ready, q, found, passes)


def _search_in_time(problem: PoseProblem, budget: SearchBudget, time_limit: float) -> Solution:
    """Search until a deadline; only a closed form explains a failure."""
    deadline, ready = time.perf_counter() + time_limit, problem.ready
    if ready.closed is not None:
        q, work = np.empty(len(problem.start)), ready.take_work()
        branches = budget._replace(restarts=0)
        found = _search(ready, problem.goal_fields, problem.start, q, work, branches)
        ready.spare.append(work)
        if found[0] == ARRIVED:
            return _reached(ready, q, found)
        if not _may_restart(found, budget):
            return _explained(problem, found, q, budget)
    q, found = search_until(deadline, problem, budget)
    status, steps, last, position_error, orientation_error = found
    refuse(status, "seed", problem.start.tolist(), problem.target)
    if status == ARRIVED:
        return _reached(ready, q, found)
    turn = 0.0 if ready.weights[WRX] == 0.0 else orientation_error
    reason = Reason(Verdict.BUDGET_SPENT, position_error, turn, starts=last + 1)
    if status == OUT_OF_REACH:
        reason = Reason(Verdict.TOO_FAR, position_error, turn, proven=True)
    return Solution(
        read_only(q), reason.verdict, position_error, orientation_error, steps, last, reason
    )


def _with_least_error(
    problem: PoseProblem, weights: FloatArray, budget: SearchBudget, plain: Solution
) -> Solution:
    """Return a best effort with the positions of the least weighted error."""
    starts, left = (problem.start, plain.positions.copy()), budget.iterations - plain.iterations
    q, position_error, orientation_error, steps = least_error(problem, weights, starts, left)
    return plain._replace(
        positions=read_only(q), position_error=position_error, orientation_error=orientation_error,
        iterations=plain.iterations + steps,
    )  # fmt: skip


def _explained(problem: PoseProblem, found: Found, q: FloatArray, budget: SearchBudget) -> Solution:
    """Explain a failed search; return its best effort, or a solution found on the way.

    Args:
        problem: The problem.
        found: Result of the search.
        q: (n,) its positions [rad or m].
        budget: Budget of search and explanation together.
    """
    ready, (status, steps, last, position_error, orientation_error) = problem.ready, found
    refuse(status, "seed", problem.start.tolist(), problem.target)
    position_only = ready.weights[WRX] == 0.0
    cannot_turn = ready.cannot_turn_to(problem.goal, orientation_error, problem.tolerances[1])
    proven = cannot_turn or status in (OUT_OF_REACH, EXCLUDED)  # by lengths or in closed form
    if steps >= budget.iterations or not (proven or last >= FEWEST_STARTS):
        turn = 0.0 if position_only else orientation_error
        reason = Reason(Verdict.BUDGET_SPENT, position_error, turn, starts=last + 1)
        return Solution(
            read_only(q), reason.verdict, position_error, orientation_error, steps, last, reason
        )
    diagnosis = Diagnosis(
        ready, problem.goal, problem.start, q, problem.tolerances, budget.iterations - steps,
        last, proven, ready.closed if status == EXCLUDED else None, cannot_turn=cannot_turn,
    )  # fmt: skip
    best, reason = _diagnose(diagnosis, problem.chain, budget)
    position_error, steps = best.distance, budget.iterations - diagnosis.budget
    if ready.weights[WX] == 0.0:
        position_error = float(np.linalg.norm(ready.tip_position(best.q) - problem.goal[:3, 3]))
    return Solution(
        read_only(best.q),
        reason.verdict,
        position_error,
        best.angle,
        steps,
        diagnosis.starts,
        reason,
    )


def _diagnose(diagnosis: Diagnosis, chain: Chain, budget: SearchBudget) -> tuple[Attempt, Reason]:
    """Continue a failed search, and explain it if that fails too.

    Args:
        diagnosis: The search.
        chain: The chain.
        budget: Number of starts, and whether the caller has set it.
    """
    # A quick test comes before a long search; most unreachable targets fail it.
    best, reason = diagnosis.nearest_position(), REASON_REACHED
    if not diagnosis.meets(best):
        found = diagnosis.go_on(best, budget.restarts, asked=budget.asked)
        if found is not None:
            best = found
        else:
            best, reason = explain(diagnosis, chain.joint_names)
    if reason is REASON_REACHED:
        diagnosis.ready.prove_inside(best.q)
    return best, reason


def search_budget(
    max_iterations: int | None, max_restarts: int | None, *, timed: bool
) -> SearchBudget:
    """Return the steps and starts allowed.

    Args:
        max_iterations: See `solve`.
        max_restarts: See `solve`.
        timed: Whether there is a time limit.

    Raises:
        SolveArgumentError: A value is not a number in its range.
    """
    iterations, restarts = (ENDLESS, ENDLESS) if timed else (MAX_ITERATIONS, MAX_RESTARTS)
    if max_restarts is not None:
        restarts = count("max_restarts", max_restarts, 0)
        iterations = max(iterations, STEPS_PER_START * restarts)
    if max_iterations is not None:
        iterations = count("max_iterations", max_iterations, 1)
    iterations, restarts = min(iterations, ENDLESS), min(restarts, ENDLESS)
    return SearchBudget(
        iterations, min(restarts, FEWEST_STARTS), restarts, max_restarts is not None
    )


def _check_solver(
    solver: str, constraint: PoseConstraint | None, time_limit: float | None, *, trace: bool
) -> None:
    """Refuse an unknown solver, and requests that FABRIK or a timed search do not support."""
    weighted = constraint is not None and constraint.weights is not None
    if solver not in ("descent", "fabrik"):
        raise SolveArgumentError("solver", solver, "'descent' or 'fabrik'")
    if solver == "descent":
        if trace:
            raise SolveArgumentError("trace", trace, "False unless the solver is 'fabrik'")
        if weighted:
            raise SolveArgumentError("time_limit", time_limit, "None if errors have weights")
    elif weighted:
        raise SolveArgumentError("solver", solver, "'descent' if errors have weights")
    elif time_limit is not None:
        raise SolveArgumentError("time_limit", time_limit, "None if the solver is 'fabrik'")


def warm_up(chain: Chain) -> None:
    """Prepare a chain and compile all kernels that `solve` may call, before a control loop starts.

    `warm_up_fabrik` compiles FABRIK's.
    """
    ready = prepared(chain)
    out_of_reach = np.eye(4)
    out_of_reach[0, 3] = 1e3 * (1.0 + ready.size)
    far = RigidTransform.from_matrix(out_of_reach)
    near = chain.forward(ready.middle)
    solve(chain, far, max_iterations=50)
    solve(chain, near)
    if ready.redundant is not None:  # the two targets may not need it
        next(sample_starts(ready.redundant, ready.variables, near._m, ready.middle, MAX_ITERATIONS))
    if ready.closed is not None:  # neither target may need a proof
        ready.closed.excludes(ready.variables, near.matrix.copy(), (1e-6, 1e-6))
        ready.closed.proof_margin(1e-6, 1e-6)
    # A part of a pose may have its own closed form, whose kernel few chains need.
    if ready.closed_position is not None:
        solve(chain, near, position_only=True)
    for axis in ((0.0, 0.0, 1.0), (0.3, 0.2, 1.0)):
        constraint = PoseConstraint(free_axis=axis)
        if narrow(ready, constraint).closed is not None:
            solve(chain, near, constraint=constraint)


def warm_up_fabrik(chain: Chain) -> None:
    """Compile the additional kernels of `solve` with solver="fabrik"."""
    solve(chain, chain.forward(prepared(chain).middle), solver="fabrik")

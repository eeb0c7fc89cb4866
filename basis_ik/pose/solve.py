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
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.errors import SolveArgumentError
from basis_ik.pose.diagnosis import FEWEST_STARTS, Attempt, Diagnosis
from basis_ik.pose.explain import explain
from basis_ik.pose.fabrik_passes import Passes, run_passes
from basis_ik.pose.timed_search import Finish, Race
from basis_ik.pose.weighted import least_error
from basis_ik.search.arguments import (
    LARGEST_TOLERANCE,
    Positions,
    Target,
    as_positions,
    as_target,
    count,
    hold_near,
    positive,
    refuse,
)
from basis_ik.search.closed_form_search_kernel import NOWHERE
from basis_ik.search.descent_kernel import REACHED as ARRIVED
from basis_ik.search.descent_kernel import SPENT, STALLED
from basis_ik.search.pose_constraint import PoseConstraint, constrain, narrow, weigh
from basis_ik.search.pose_search_kernel import OUT_OF_REACH, take_shortest_turns
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.tables_kernel import WX
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain

FloatArray = npt.NDArray[np.float64]

MAX_ITERATIONS = 100_000  # unless more starts are asked for
MAX_RESTARTS = 2500  # of a search that may give up before, when it judges that there is no hope
STEPS_PER_START = MAX_ITERATIONS // MAX_RESTARTS
ENDLESS = 2**62

_REACHED = Verdict.REACHED  # looking up an enum member costs as much as a tuple


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

    Where the arm has a closed form (docs/algorithms.md), the answer is the nearest of all. Else the
    solver starts at the seed, and restarts elsewhere only if that fails. FABRIK runs backward
    and forward passes over the joints instead, and leaves the rest to a descent only if they do
    not converge. The same arguments give the same bits, in every process and thread.

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
            and FABRIK's passes. None: 100,000, or 40 for each start of `max_restarts` where that is
            more; any number with a time limit.
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
    ready = prepared(chain)
    target = as_target("target", target)
    if not (
        type(position_tolerance) is type(orientation_tolerance) is float
        and 0.0 < position_tolerance < LARGEST_TOLERANCE
        and 0.0 < orientation_tolerance < LARGEST_TOLERANCE
    ):  # one type each, or the kernel would be compiled anew
        position_tolerance = positive("position_tolerance", position_tolerance, "m")
        orientation_tolerance = positive("orientation_tolerance", orientation_tolerance, "rad")
    iterations, restarts = MAX_ITERATIONS, MAX_RESTARTS
    if not (max_iterations is max_restarts is time_limit is None):
        iterations, restarts = budget(max_iterations, max_restarts, timed=time_limit is not None)
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    goal = target._m
    if constraint is not None:
        ready, _, goal = constrain(ready, constraint, goal)
        position_only = position_only or not constraint.orientation
    if max_move is not None:
        ready = hold_near(ready, start, max_move)
    passes, begin = None, start
    if solver != "descent" or trace:
        _check_solver(solver, constraint, time_limit, trace=trace)
        weights = ready.position if position_only else ready.full
        status, passes = run_passes(
            ready, weights, goal, start, (position_tolerance, orientation_tolerance),
            iterations, restarts, trace=trace,
        )  # fmt: skip
        refuse(status, "seed", seed, target)
        q, away, turned = passes.positions, passes.position_error, passes.orientation_error
        begin = q.copy()
        if status == ARRIVED:
            ready.prove_inside(begin)
            return Solution(q, _REACHED, away, turned, 0, passes.restarts, REACHED, passes)
        iterations -= passes.count
    if constraint is not None and constraint.weights is not None:
        if time_limit is not None:
            raise SolveArgumentError("time_limit", time_limit, "None where errors have weights")
        plain = solve(
            chain, target, seed, position_only=position_only,
            constraint=replace(constraint, weights=None), max_move=max_move,
            position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance,
            max_iterations=max_iterations, max_restarts=max_restarts,
        )  # fmt: skip
        if plain.success:
            return plain
        weights = weigh(prepared(chain), constraint, position_only=position_only)
        tolerances = position_tolerance, orientation_tolerance
        return _with_least_error(ready, weights, goal, start, tolerances, iterations, plain)
    deadline = 0.0
    if time_limit is not None:
        deadline = time.perf_counter() + positive("time_limit", time_limit, "s")
    positions = np.empty(len(start))
    spare = ready.spare
    try:
        work = spare.pop()
    except IndexError:  # another thread has the last one
        work = ready.new_work()
    steps, first, status = 0, 0, STALLED
    closed = ready.closed_position if position_only else ready.closed
    if closed is not None:
        status, steps, fresh, away, turned = closed.kernels.solve_pose(
            ready.exact, ready.joints, ready.variables, ready.ends, ready.reach,
            ready.position if position_only else ready.full, goal, begin, positions, work,
            position_tolerance, orientation_tolerance, iterations, closed.rows,
            closed.clear(position_tolerance, orientation_tolerance),
        )  # fmt: skip
        first = 1
    left = status in (STALLED, SPENT) and first <= restarts and steps < iterations
    if time_limit is not None and (closed is None or left):
        spare.append(work)
        race = Race(ready, ready.position if position_only else ready.full, goal, start)
        end = race.run((position_tolerance, orientation_tolerance), iterations, restarts, deadline)
        refuse(end.status, "seed", seed, target)
        return _timed(ready, end, position_only=position_only)
    if closed is None or left:
        status, taken, fresh, away, turned = ready.search(
            ready.position if position_only else ready.full, goal, begin, positions,
            (position_tolerance, orientation_tolerance), iterations - steps,
            first=first, last=min(restarts, FEWEST_STARTS), work=work,
        )  # fmt: skip
        steps += taken
    spare.append(work)
    if status == ARRIVED:
        if passes is not None:  # which may have gone round the other way
            take_shortest_turns(ready.variables, start, positions)
        ready.prove_inside(positions)
        positions.setflags(write=False)
        return Solution(positions, _REACHED, away, turned, steps, fresh, REACHED, passes)
    refuse(status, "seed", seed, target)
    proven = status in (OUT_OF_REACH, NOWHERE)  # by the chain's lengths, or in closed form
    if steps >= iterations or not (proven or fresh >= FEWEST_STARTS):
        turn = 0.0 if position_only else turned
        reason = Reason(Verdict.BUDGET_SPENT, away, turn, starts=fresh + 1)
        return Solution(
            read_only(positions), reason.verdict, away, turned, steps, fresh, reason, passes
        )
    diagnosis = Diagnosis(
        ready, goal, start, positions, (position_tolerance, orientation_tolerance),
        iterations - steps, fresh, position_only, proven, closed if status == NOWHERE else None,
    )  # fmt: skip
    answer, reason = _diagnose(diagnosis, chain, restarts, asked=max_restarts is not None)
    away, steps = answer.away, iterations - diagnosis.budget
    if ready.full[WX] == 0.0:
        away = float(np.linalg.norm(ready.tip_position(answer.q) - goal[:3, 3]))
    return Solution(
        read_only(answer.q), reason.verdict, away, answer.turned,
        steps, diagnosis.starts, reason, passes,
    )  # fmt: skip


def _with_least_error(
    ready: PreparedChain, weights: FloatArray, goal: FloatArray, start: FloatArray,
    tolerances: tuple[float, float], iterations: int, plain: Solution,
) -> Solution:  # fmt: skip
    """Return what leaves the least weighted error, for the reasons of a best effort without."""
    q, away, turned, steps = least_error(
        ready, weights, goal, (start, plain.positions.copy()), tolerances,
        iterations - plain.iterations,
    )  # fmt: skip
    return Solution(
        read_only(q), plain.verdict, away, turned,
        plain.iterations + steps, plain.restarts, plain.reason,
    )  # fmt: skip


def _diagnose(
    diagnosis: Diagnosis, chain: Chain, restarts: int, *, asked: bool
) -> tuple[Attempt, Reason]:
    """Go on with a search that has failed, and explain it if that fails too.

    Args:
        diagnosis: The search.
        chain: As it was given: its limits are no bounds on the move.
        restarts: Number of the last start.
        asked: Whether so many starts were asked for.
    """
    # Before a long search, a short question that most hopeless targets fail.
    answer, reason = diagnosis.nearest_position(), REACHED
    if not diagnosis.meets(answer):
        found = diagnosis.go_on(answer, restarts, asked=asked)
        if found is not None:
            answer = found
        else:
            names = chain.joint_names
            answer, reason = explain(diagnosis, answer, names)
            limits = {*zip(names, chain.lower, strict=True), *zip(names, chain.upper, strict=True)}
            if reason.verdict is Verdict.LIMIT and (reason.joint, reason.bound) not in limits:
                reason = replace(reason, verdict=Verdict.MOVE_BOUND)
    if reason is REACHED:
        diagnosis.ready.prove_inside(answer.q)
    return answer, reason


def _timed(ready: PreparedChain, end: Finish, *, position_only: bool) -> Solution:
    """Return what a search against the clock has come to, which is not explained."""
    reason, turn = REACHED, 0.0 if position_only else end.turned
    if end.status == ARRIVED:
        ready.prove_inside(end.q)
    elif end.status == OUT_OF_REACH:
        reason = Reason(Verdict.TOO_FAR, end.away, turn, proven=True)
    else:
        reason = Reason(Verdict.BUDGET_SPENT, end.away, turn, starts=end.starts + 1)
    return Solution(
        read_only(end.q), reason.verdict, end.away, end.turned, end.steps, end.starts, reason
    )


def budget(max_iterations: int | None, max_restarts: int | None, *, timed: bool) -> tuple[int, int]:
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
    return min(iterations, ENDLESS), min(restarts, ENDLESS)


def _check_solver(
    solver: str, constraint: PoseConstraint | None, time_limit: float | None, *, trace: bool
) -> None:
    """Refuse a solver that there is not, and what FABRIK does not do."""
    if solver not in ("descent", "fabrik"):
        raise SolveArgumentError("solver", solver, "'descent' or 'fabrik'")
    if solver == "descent":
        raise SolveArgumentError("trace", trace, "False unless the solver is 'fabrik'")
    if constraint is not None and constraint.weights is not None:
        raise SolveArgumentError("solver", solver, "'descent' where errors have weights")
    if time_limit is not None:
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

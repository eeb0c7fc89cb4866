# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tasks for several tips of one robot at once, by priority: both hands, or a hand and the gaze."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.descent.pose_search_kernel import take_shortest_turns
from basis_ik.descent.tables_kernel import WRX, WX
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.robot import RobotModel
from basis_ik.search.arguments import count, positive
from basis_ik.search.ranked_tasks import Descent, Ranked
from basis_ik.search.starts import search_starts
from basis_ik.solvers.tasks.task_problem import PoseTask, Problem, Task
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

MAX_TASK_RESTARTS = 200
ORDERED_STARTS = 12  # starts of the search by importance, where not all can be had


class Outcome(NamedTuple):
    """The outcome of one task; true only if it is met."""

    verdict: Verdict
    """REACHED, OTHER_TASKS, or why the task cannot be met even alone."""
    position_error: float
    """Distance left [m], by forward kinematics; 0 where a point is looked at."""
    orientation_error: float
    """Angle left [rad], by forward kinematics."""
    reason: Reason
    """What stood in the way: OTHER_TASKS if the task alone could be met, else why it cannot."""

    @property
    def success(self) -> bool:
        """Whether the task is met."""
        return self.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success


class TasksSolution(NamedTuple):
    """Joint positions, always finite and within the limits, and the outcome of each task.

    It is true only if all tasks are met.
    """

    positions: dict[str, float]
    """By the name of each joint that moves on its own on the way to one of the tips [rad or m]."""
    outcomes: tuple[Outcome, ...]
    """In the order of the tasks."""
    iterations: int
    """Steps of all descents together."""
    restarts: int
    """Starts after the seed's."""

    @property
    def success(self) -> bool:
        """Whether all tasks are met."""
        return all(self.outcomes)

    def __bool__(self) -> bool:
        return self.success


def solve_tasks(
    model: RobotModel,
    tasks: Sequence[Task],
    seed: Mapping[str, float] | None = None,
    *,
    root: str | None = None,
    posture: Mapping[str, float] | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_restarts: int | None = None,
) -> TasksSolution:
    """Find joint positions for several tips of one robot.

    If all tasks can be met, they are. If not, priorities are strict: a task of lower priority never
    increases the error of one above it, beyond the tolerance. The same arguments give the same
    bits.

    Args:
        model: The robot.
        tasks: What is wanted, in any order.
        seed: Where to start, by joint [rad or m], best the present positions. Joints that are not
            named start in the middle of their limits; joints that no task moves are passed over.
        root: Link in whose frame targets and points are given; None: the model's root.
        posture: What joints are to be near, where the tasks leave them free; the joints not named
            do not count.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        max_restarts: Starts allowed after the seed's in the search for positions that meet all.
            None: 200.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite; no tasks.
        ChainError: A link that is not there, or that no joint moves.
    """
    tolerances = (
        positive("position_tolerance", position_tolerance, "m"),
        positive("orientation_tolerance", orientation_tolerance, "rad"),
    )
    restarts = MAX_TASK_RESTARTS if max_restarts is None else count("max_restarts", max_restarts, 0)
    if not isinstance(model, RobotModel):
        raise SolveArgumentError("model", model, "a RobotModel")
    if not isinstance(tasks, Iterable):
        raise SolveArgumentError("tasks", tasks, "tasks, one after the other")
    problem = Problem(model, tuple(tasks), root or model.root, tolerances)
    start = problem.positions("seed", seed, problem.middle)
    wish = problem.positions("posture", posture, start)
    if seed is None:
        start = wish
    pull = np.array([float(posture is not None and name in posture) for name in problem.names])
    ranked = Ranked(problem.ranked, problem.variables, wish, pull)
    best, steps, number = ranked.search(start, 0 if problem.is_out_of_reach() else restarts)
    if not ranked.all_met(best.q) or pull.any():
        best, more = _in_order(ranked, start, wish, best.q)
        steps += more
    q = best.q
    take_shortest_turns(problem.variables, wish, q)
    outcomes = tuple(_outcome(problem, index, q, number) for index in range(len(problem.tasks)))
    positions = dict(zip(problem.names, q.tolist(), strict=True))
    return TasksSolution(positions, outcomes, steps, number)


def warm_up(model: RobotModel, tip: str) -> None:
    """Compile all that `solve_tasks` may call for poses, before a control loop starts.

    Args:
        model: The robot.
        tip: A link that its joints move.
    """
    far = RigidTransform.from_rpy(0.0, 0.0, 0.0, [1e3, 0.0, 0.0])
    solve_tasks(model, [PoseTask(tip, far)], max_restarts=0)


def _in_order(
    ranked: Ranked, seed: FloatArray, wish: FloatArray, found: FloatArray
) -> tuple[Descent, int]:
    """Descend by priority from the positions found and, if a task is not met, from other starts."""
    starts = [found]
    if not ranked.all_met(found):
        starts += [ranked.start(number, seed) for number in range(ORDERED_STARTS)]
    for start in starts:
        take_shortest_turns(ranked.variables, wish, start)
    return search_starts(starts, ranked.in_order, ranked.is_better)[:2]


def _outcome(problem: Problem, index: int, q: FloatArray, starts: int) -> Outcome:
    """Return the outcome of a task at q, with the reason if it is not met."""
    task = problem.ranked[index]
    distance, angle = task.miss(q)
    if task.is_met(q):
        return Outcome(Verdict.REACHED, distance, angle, REASON_REACHED)
    reason = problem.alone(index, q)
    if reason.verdict is Verdict.REACHED:
        turn = angle if task.weights[WRX] > 0.0 else 0.0
        missing = distance if task.weights[WX] > 0.0 else 0.0
        reason = Reason(Verdict.OTHER_TASKS, missing, turn, starts=starts + 1)
    return Outcome(reason.verdict, distance, angle, reason)

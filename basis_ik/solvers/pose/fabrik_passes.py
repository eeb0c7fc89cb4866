# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK's passes over the joints of a chain, ahead of any descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import GO_ON, begin_inside, write_start
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import BOX_X, WX
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import ByValue, FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.pose_constraint import POSITION_ONLY
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.pose.fabrik_passes_kernel import BACKWARD_ROTATION, PLACE_NOW, solve_by_passes
from basis_ik.solvers.pose.pose_problem import PoseProblem, read_problem
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform

MAX_PASSES = 600  # of 2 to 3 µs


@dataclass(frozen=True, eq=False)
class Stage(ByValue):
    """Joint positions at one stage of FABRIK; arrays are read-only.

    Attributes:
        name: "start", or the pass that has just ended: "backward" or "forward".
        start: Number of the start; 0 is the seed.
        points: (m + 1, 3) positions of the joints and the tip, root first, in the root frame [m].
            After a backward pass the tip is on the target and the root has left its place; after a
            forward pass and its extrapolation, the root is in its place and the tip is not.
        positions: (n,) joint positions [rad or m].
    """

    name: str
    start: int
    points: FloatArray
    positions: FloatArray


@dataclass(frozen=True, eq=False)
class Passes(ByValue):
    """Result of FABRIK's passes alone; arrays are read-only.

    Attributes:
        seed: (n,) positions that the passes started from [rad or m].
        count: Number of passes; a backward and a forward pass count as one.
        restarts: Number of starts after the seed's.
        polished: Whether a descent had to continue, because the passes did not reach the target.
        positions: (n,) solution, or else the nearest positions [rad or m].
        position_error: Distance from the tip to the target there [m], by forward kinematics.
        orientation_error: Angle from the tip to the target there [rad], by forward kinematics; with
            a free axis, that between the axes.
        stages: The joints after each pass, if requested.
    """

    seed: FloatArray
    count: int
    restarts: int
    polished: bool
    positions: FloatArray
    position_error: float
    orientation_error: float
    stages: tuple[Stage, ...] = ()


def run_passes(
    problem: PoseProblem, most: int, restarts: int, *, trace: bool
) -> tuple[int, Passes]:
    """Pass backward and forward until a start reaches the target.

    Args:
        problem: Chain and goal.
        most: Passes allowed, and at most `MAX_PASSES`.
        restarts: Starts allowed after the seed's.
        trace: Whether to store the joints after each pass.

    Returns:
        Status, see `pose.fabrik_passes_kernel.search_by_passes`; the result.

    Raises:
        SolveArgumentError: The position is free, or something has a deadband.
    """
    ready, seed, weights = problem.ready, problem.start, problem.ready.weights
    if weights[WX] == 0.0 or weights[BOX_X:].any():
        required = "'descent' if the position is free or has a box: FABRIK needs a point to reach"
        raise SolveArgumentError("solver", "fabrik", required)
    half_passes = 2 * min(most, MAX_PASSES)
    work = ready.take_work()
    q, taken, first = np.empty(len(seed)), 0, 0
    stages: list[Stage] = []
    while True:
        status, more, number, position_error, orientation_error = solve_by_passes(
            ready.fields, problem.goal_fields, seed, q, work,
            (min(1, half_passes - taken) if trace else half_passes, first, restarts),
        )  # fmt: skip
        taken, first = taken + more, GO_ON
        if trace and more > 0:
            if not stages or stages[-1].start != number:
                stages.append(_started(ready, seed, number))
            stages.append(_passed(ready, work, problem.goal, number, backward=taken % 2 == 1))
        if not trace or more == 0 or status == DESCENT_REACHED:
            break
    ready.spare.append(work)
    passes = Passes(
        read_only(seed.copy()),
        (taken + 1) // 2,
        number,
        status != DESCENT_REACHED,
        read_only(q.copy()),
        position_error,
        orientation_error,
        tuple(stages),
    )
    return status, passes


def trace_passes(
    chain: Chain,
    target: RigidTransform,
    seed: FloatArray,
    *,
    position_only: bool,
    tolerances: tuple[float, float],
    most: int,
) -> tuple[Stage, ...]:
    """Repeat FABRIK's first passes, and return the joints after each.

    Args:
        chain: The chain.
        target: root_T_target, as passed to `solve`.
        seed: (n,) `Passes.seed` [rad or m].
        position_only: Whether the orientation is free.
        tolerances: Of position [m] and orientation [rad], at which the passes end.
        most: Number of passes at most.

    Returns:
        The start, then two stages for each pass; the same again for each further start.
    """
    constraint = POSITION_ONLY if position_only else None
    fields = read_problem(chain, target, seed, *tolerances, constraint)
    problem = PoseProblem(chain, *fields)
    return run_passes(problem, most, most, trace=True)[1].stages  # a start makes at least one pass


def _started(ready: PreparedChain, seed: FloatArray, start: int) -> Stage:
    q = np.empty(len(seed))
    if start == 0:
        begin_inside(ready.variables, seed, q)
    else:
        write_start(ready.variables, start, q)
    return Stage("start", start, read_only(_points(ready, q)[0]), read_only(q))


def _passed(
    ready: PreparedChain, work: FloatArray, goal: FloatArray, start: int, *, backward: bool
) -> Stage:
    n = len(ready.variables)
    memory = n + len(ready.joints) + 2
    q = work[memory : memory + n, PLACE_NOW].copy()
    points, tip = _points(ready, q)
    if backward:
        rotation = np.eye(4)
        first = BACKWARD_ROTATION
        rotation[:3, :3] = work[memory, first : first + 9].reshape(3, 3)
        motion = goal @ rotation @ RigidTransform.from_matrix(tip).inverse().matrix
        points = points @ motion[:3, :3].T + motion[:3, 3]
    return Stage("backward" if backward else "forward", start, read_only(points), read_only(q))


def _points(ready: PreparedChain, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the positions (m + 1, 3) of joints and tip, and root_T_tip (4, 4), at q (n,)."""
    tip, points = np.eye(4), np.empty((len(ready.exact), 3))
    for row, point in enumerate(points, 1):  # each joint is the tip of a shorter chain
        place_exactly(ready.exact[:row], q, tip)
        point[:] = tip[:3, 3]
    return points, tip

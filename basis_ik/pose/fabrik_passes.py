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

"""FABRIK's passes over the joints of a chain, before anything else is tried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.fabrik_passes_kernel import NOW, TURNED, solve_by_passes
from basis_ik.pose.pose_problem import PoseProblem, read_problem
from basis_ik.robot.chain import Chain
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_search_kernel import GO_ON, begin_anew, begin_inside
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.proof_kernel import place_exactly
from basis_ik.search.tables_kernel import BOX_X, WX
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform

MAX_PASSES = 600  # of 2 to 3 µs


@dataclass(frozen=True, eq=False)
class Stage:
    """Where the joints were at one moment of FABRIK; arrays read-only.

    Attributes:
        name: "start", "backward" or "forward": which pass has just ended.
        start: Number of the start: 0 is the seed's.
        points: (m + 1, 3) positions of the joints and of the tip, root first, in the root frame
            [m]. After a backward pass the tip is on the target, and the root is not in its place;
            after a forward pass, and the extrapolation that follows it, the other way round.
        positions: (n,) of the joints then [rad or m].
    """

    name: str
    start: int
    points: FloatArray
    positions: FloatArray


@dataclass(frozen=True, eq=False)
class Passes:
    """What FABRIK's passes alone have reached; arrays read-only.

    Attributes:
        seed: (n,) that they were given [rad or m].
        count: How many passes there were, backward and forward together being one.
        restarts: From how many starts besides the seed.
        polished: Whether the passes did not reach the target, so that a descent had to go on.
        positions: (n,) where they ended: what reached the target, else the nearest [rad or m].
        position_error: Distance from the tip to the target there [m], by forward kinematics.
        orientation_error: Angle from the tip to the target there [rad], likewise; that between the
            axes where one is free.
        stages: Where the joints were after each pass, if that was asked for.
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
        problem: What to reach.
        most: Passes allowed; no more than `MAX_PASSES` are made.
        restarts: Starts allowed after the seed's.
        trace: Whether to note where the joints are after each pass.

    Returns:
        How it ended, see `pose.fabrik_passes_kernel.solve_by_passes`; what was reached.

    Raises:
        SolveArgumentError: The position is not wanted, or something has a tolerance of its own.
    """
    ready, seed, weights = problem.ready, problem.start, problem.ready.full
    if weights[WX] == 0.0 or weights[BOX_X:].any():
        wanted = "'descent' where the position is free or may be off: FABRIK needs a place to go to"
        raise SolveArgumentError("solver", "fabrik", wanted)
    halves = 2 * min(most, MAX_PASSES)
    work = ready.take_work()
    q, taken, first = np.empty(len(seed)), 0, 0
    stages: list[Stage] = []
    while True:
        status, more, fresh, away, turned = solve_by_passes(
            ready.fields, problem.wanted, seed, q, work,
            (min(1, halves - taken) if trace else halves, first, restarts),
        )  # fmt: skip
        taken, first = taken + more, GO_ON
        if trace and more > 0:
            if not stages or stages[-1].start != fresh:
                stages.append(_started(ready, seed, fresh))
            stages.append(_passed(ready, work, problem.goal, fresh, backward=taken % 2 == 1))
        if not trace or more == 0 or status == REACHED:
            break
    ready.spare.append(work)
    passes = Passes(
        read_only(seed.copy()),
        (taken + 1) // 2,
        fresh,
        status != REACHED,
        read_only(q.copy()),
        away,
        turned,
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
    """Make FABRIK's first passes again, and tell where the joints were after each.

    Args:
        chain: What to move.
        target: root_T_target, that `solve` reaches or has tried to reach.
        seed: (n,) `Passes.seed`.
        position_only: Whether the orientation is free.
        tolerances: Of position [m] and orientation [rad], at which the passes end.
        most: How many passes are told at most.

    Returns:
        The start, then two stages for each pass; again for each further start.
    """
    fields = read_problem(chain, target, seed, *tolerances, position_only=position_only)
    problem = PoseProblem(chain, *fields)
    return run_passes(problem, most, most, trace=True)[1].stages  # each start makes a pass at least


def _started(ready: PreparedChain, seed: FloatArray, start: int) -> Stage:
    q = np.empty(len(seed))
    if start == 0:
        begin_inside(ready.variables, seed, q)
    else:
        begin_anew(ready.variables, start, q)
    return Stage("start", start, read_only(_points(ready, q)[0]), read_only(q))


def _passed(
    ready: PreparedChain, work: FloatArray, goal: FloatArray, start: int, *, backward: bool
) -> Stage:
    n = len(ready.variables)
    memory = n + len(ready.joints) + 2
    q = work[memory : memory + n, NOW].copy()
    points, tip = _points(ready, q)
    if backward:
        turned = np.eye(4)
        turned[:3, :3] = work[memory, TURNED : TURNED + 9].reshape(3, 3)
        away = goal @ turned @ RigidTransform.from_matrix(tip).inverse().matrix
        points = points @ away[:3, :3].T + away[:3, 3]
    return Stage("backward" if backward else "forward", start, read_only(points), read_only(q))


def _points(ready: PreparedChain, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the positions (m + 1, 3) of joints and tip, and root_T_tip (4, 4), at q (n,)."""
    tip, points = np.eye(4), np.empty((len(ready.exact), 3))
    for row, point in enumerate(points, 1):  # each joint as the tip of what leads to it
        place_exactly(ready.exact[:row], q, tip)
        point[:] = tip[:3, 3]
    return points, tip

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

"""All the ways an arm can reach a target, and choosing among them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.errors import SolveArgumentError
from basis_ik.pose.solve import Solution
from basis_ik.search.arguments import (
    Positions,
    Target,
    as_positions,
    as_target,
    count,
    positive,
    refuse,
)
from basis_ik.search.descent_kernel import REACHED as ARRIVED
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.pose_search_kernel import take_shortest_turns
from basis_ik.search.prepare import prepared
from basis_ik.search.tables_kernel import BOX_X
from basis_ik.transforms.checks import read_only
from basis_ik.verdict import REACHED, Verdict

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain

FloatArray = npt.NDArray[np.float64]

STEPS_PER_START = 100  # a descent that needs more has lost its way


class Preference(enum.Enum):
    """What makes one solution better than another."""

    NEAREST = "nearest to the seed"
    MANIPULABLE = "most manipulable"
    CENTRED = "farthest from the limits"


def solve_all(
    chain: Chain,
    target: Target,
    seed: Positions | None = None,
    *,
    constraint: PoseConstraint | None = None,
    prefer: Preference = Preference.NEAREST,
    starts: int = 100,
    distinct: float = 0.05,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
) -> tuple[Solution, ...]:
    """Find distinct solutions from many starts, the preferred one first.

    Where the arm has a closed form (docs/algorithms.md) they are all there are, of each the turn
    nearest to the seed, and no starts are made. Any other arm of six joints has at most 16 postures
    for a pose, all of which a few hundred starts find as a rule; a redundant arm has a continuum,
    of which these are samples. If none is found, `solve` says why.

    Args:
        chain: What to move.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix.
        seed: (n,) or by joint name, near which solutions are preferred and turned; None is
            `chain.neutral`.
        constraint: Which part of the pose counts; None: all of it.
        prefer: The order of the solutions.
        starts: How many starts, the seed's included, where no closed form tells all; each costs a
            few microseconds.
        distinct: Solutions count as different if a joint differs by more [rad or m].
        position_tolerance: [m], above 0.
        orientation_tolerance: [rad], above 0.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
    """
    target = as_target("target", target)
    ready, weights, goal = constrain(prepared(chain), constraint, target._m)
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    starts = count("starts", starts, 1)
    tolerances = (
        positive("position_tolerance", position_tolerance, "m"),
        positive("orientation_tolerance", orientation_tolerance, "rad"),
    )
    if not distinct > 0.0:
        raise SolveArgumentError("distinct", distinct, "above 0")
    found: list[Solution] = []
    q = np.empty_like(start)

    def descend(begin: FloatArray, number: int, near: float) -> bool:
        """Descend from a start and keep where that arrives; return whether it does."""
        status, steps, _, away, turned = ready.search(
            weights, goal, begin, q, tolerances, STEPS_PER_START,
            first=number, last=number, near=near,
        )  # fmt: skip
        refuse(status, "seed", seed, target)
        if status == ARRIVED and _is_new(q, found, ready.variables, distinct):
            found.append(
                Solution(read_only(q.copy()), Verdict.REACHED, away, turned, steps, number, REACHED)
            )
        return bool(status == ARRIVED)

    descend(start, 0, np.inf)
    complete = False
    oriented = constraint is None or constraint.orientation
    closed = ready.closed if oriented else ready.closed_position
    if closed is not None:
        branches = closed.starts(ready.variables, goal, start)
        every = branches.positions[: branches.inside]
        arrived = [descend(q.copy(), 0, np.inf) for q in every]
        complete = all(arrived) and branches.margin > closed.clear(*tolerances)
    for number in range(1, 1 if complete else starts):
        descend(start, number, 0.0)
    if prefer is Preference.MANIPULABLE:
        found.sort(key=lambda solution: -_manipulability(chain, solution.positions, weights, goal))
    elif prefer is Preference.CENTRED:
        found.sort(key=lambda solution: -_room(chain, solution.positions))
    else:
        found.sort(key=lambda solution: float(np.linalg.norm(solution.positions - start)))
    return tuple(found)


def _is_new(q: FloatArray, found: list[Solution], variables: FloatArray, distinct: float) -> bool:
    for solution in found:
        turned = q.copy()
        take_shortest_turns(variables, solution.positions.copy(), turned)
        if np.abs(turned - solution.positions).max() <= distinct:
            return False
    return True


def _manipulability(chain: Chain, q: FloatArray, weights: FloatArray, goal: FloatArray) -> float:
    """Return √det(J Jᵀ) of what is wanted (Yoshikawa 1985, Eq. 10), for few joints √det(Jᵀ J)."""
    along = goal[:3, :3].T @ chain.jacobian(q).reshape(2, 3, -1)  # the goal's axes
    rows = along.reshape(6, -1)[weights[:BOX_X] > 0.0]
    return float(np.prod(np.linalg.svd(rows, compute_uv=False)))


def _room(chain: Chain, q: FloatArray) -> float:
    """Return the least share of its range that a joint has left to a limit."""
    span = chain.upper - chain.lower
    counts = np.isfinite(span) & (span > 0.0)  # a locked joint has no room anywhere
    gap = np.minimum(q - chain.lower, chain.upper - q)[counts]
    return float((gap / span[counts]).min(initial=1.0))

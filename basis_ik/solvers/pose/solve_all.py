# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""All solutions of a pose, and their order of preference."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.pose_search_kernel import take_shortest_turns
from basis_ik.descent.tables_kernel import BOX_X
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_number
from basis_ik.search.arguments import Positions, Target, count, refuse
from basis_ik.search.pose_constraint import PoseConstraint, aim, position_of
from basis_ik.solvers.pose.pose_problem import PoseProblem, read_problem
from basis_ik.solvers.pose.solve import Solution
from basis_ik.transforms.checks import read_only
from basis_ik.verdict import REASON_REACHED, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain


STEPS_PER_DESCENT = 100  # a descent that needs more is given up


class Preference(enum.Enum):
    """The order of solutions."""

    NEAREST = "nearest to the seed"
    MANIPULABLE = "most manipulable"
    CENTRED = "farthest from the limits"


def solve_all(
    chain: Chain,
    target: Target,
    seed: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    prefer: Preference = Preference.NEAREST,
    starts: int = 300,
    distinct: float = 0.05,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    scene: Scene | None = None,
) -> tuple[Solution, ...]:
    """Find all distinct solutions of a pose, the preferred one first.

    For an arm with a closed form (docs/algorithms.md) these are all solutions, each with the turns
    nearest to the seed. Any other arm, and any near a singularity, is solved from many starts. With
    six joints it has at most 16 solutions, which a few hundred starts usually find; a redundant arm
    has a continuum, and these are samples of it. If there are none, `solve` explains why.

    Args:
        chain: The chain.
        target: root_T_target, also as a (4, 4) matrix; or a position (3,) alone [m].
        seed: (n,) or by joint name, reference of NEAREST and of full turns [rad or m]; None is
            `chain.neutral`.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: The part of the pose that counts; None: all of it.
        prefer: Order of the solutions.
        starts: Number of starts, including the seed, if no closed form finds all solutions; each
            takes a few microseconds.
        distinct: Two solutions are different if a joint differs by more than this [rad or m].
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        scene: Solutions that collide there are left out, see `solve`. None: nothing is checked.

    Returns:
        The solutions; empty if none was found.

    Raises:
        SolveArgumentError: An argument has a wrong type, shape or range, or is not finite; the
            scene is of other joints.
    """
    target, constraint = aim("target", target, constraint)
    if position_only:
        constraint = position_of(constraint)
    problem = PoseProblem(
        chain,
        *read_problem(chain, target, seed, position_tolerance, orientation_tolerance, constraint),
    )
    starts = count("starts", starts, 1)
    if not isinstance(prefer, Preference):
        raise SolveArgumentError("prefer", prefer, "a Preference")
    if not as_number("distinct", distinct, "above 0") > 0.0:
        raise SolveArgumentError("distinct", distinct, "above 0")
    found = _Solutions(problem, distinct)
    found.descend(problem.start, 0, np.inf)
    if not found.add_branches():
        for number in range(1, starts):
            found.descend(problem.start, number, 0.0)
    solutions = found.solutions
    if scene is not None:
        from basis_ik.solvers.pose.collision_free import scene_of

        scene = scene_of(chain, scene)
        solutions = [each for each in solutions if scene.is_free(each.positions)]
    return tuple(sorted(solutions, key=_cost(prefer, problem)))


@dataclass
class _Solutions:
    """Collects distinct solutions of a problem.

    Attributes:
        problem: The problem.
        distinct: Least difference of a joint between two solutions [rad or m].
        solutions: The solutions in the order in which they were found.
    """

    problem: PoseProblem
    distinct: float
    solutions: list[Solution] = field(default_factory=list)

    def descend(self, start: FloatArray, number: int, near: float) -> bool:
        """Descend from a start, see `PreparedChain.search`; store a new solution.

        Returns:
            Whether the descent arrived.
        """
        problem, ready = self.problem, self.problem.ready
        q = np.empty_like(start)
        status, steps, _, position_error, orientation_error = ready.search(
            ready.weights, problem.goal, start, q, problem.tolerances, STEPS_PER_DESCENT,
            first=number, last=number, near=near,
        )  # fmt: skip
        refuse(status, "seed", problem.start.tolist(), problem.target)
        if status == ARRIVED and self._is_new(q):
            reached = Verdict.REACHED
            self.solutions.append(
                Solution(
                    read_only(q),
                    reached,
                    position_error,
                    orientation_error,
                    steps,
                    number,
                    REASON_REACHED,
                )
            )
        return status == ARRIVED

    def add_branches(self) -> bool:
        """Descend from the closed form's branches; return whether these are all solutions."""
        ready, form = self.problem.ready, self.problem.ready.closed
        if form is None:
            return False
        branches = form.starts(ready.variables, self.problem.goal, self.problem.start)
        inside = branches.positions[: branches.inside]
        arrived = [self.descend(q.copy(), 0, np.inf) for q in inside]
        return all(arrived) and branches.margin > form.proof_margin(*self.problem.tolerances)

    def _is_new(self, q: FloatArray) -> bool:
        for solution in self.solutions:
            nearest = q.copy()
            take_shortest_turns(self.problem.ready.variables, solution.positions.copy(), nearest)
            if np.abs(nearest - solution.positions).max() <= self.distinct:
                return False
        return True


def _cost(prefer: Preference, problem: PoseProblem) -> Callable[[Solution], float]:
    """Return the function by which solutions are sorted."""
    if prefer is Preference.MANIPULABLE:
        return lambda solution: -_manipulability(problem, solution.positions)
    if prefer is Preference.CENTRED:
        return lambda solution: -_distance_to_limits(problem.chain, solution.positions)
    return lambda solution: float(np.linalg.norm(solution.positions - problem.start))


def _manipulability(problem: PoseProblem, q: FloatArray) -> float:
    """Return the manipulability √det(J Jᵀ) of the part that counts (Yoshikawa 1985, Eq. 10).

    With fewer joints than rows it is √det(Jᵀ J).
    """
    along = problem.goal[:3, :3].T @ problem.chain.jacobian(q).reshape(2, 3, -1)  # the goal's axes
    rows = along.reshape(6, -1)[problem.ready.weights[:BOX_X] > 0.0]
    return float(np.prod(np.linalg.svd(rows, compute_uv=False)))


def _distance_to_limits(chain: Chain, q: FloatArray) -> float:
    """Return the least distance of a joint from its limits, as a share of its range."""
    span = chain.upper - chain.lower
    counts = np.isfinite(span) & (span > 0.0)  # a locked joint has no range
    gap = np.minimum(q - chain.lower, chain.upper - q)[counts]
    return float((gap / span[counts]).min(initial=1.0))

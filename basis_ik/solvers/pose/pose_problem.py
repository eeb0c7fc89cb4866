# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A pose problem: one chain, one target, checked and packed for the searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from basis_ik.descent.pose_search_kernel import LARGEST_TOLERANCE
from basis_ik.descent.tables_kernel import GoalFields
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.arguments import (
    SMALLEST_TOLERANCE,
    Positions,
    Target,
    as_positions,
    as_target,
    positive,
)
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain


class PoseProblem(NamedTuple):
    """A chain, its target and its seed."""

    chain: Chain
    ready: PreparedChain
    """The chain, prepared for the part of the pose that counts and for the limits of this call."""
    target: RigidTransform
    """root_T_target, as given."""
    goal_fields: GoalFields
    """The goal as kernels take it."""
    start: FloatArray
    """(n,) seed [rad or m]."""

    @property
    def goal(self) -> FloatArray:
        """(4, 4) root_T_goal: the target, or a frame there with the free axis as z."""
        return self.goal_fields[1]

    @property
    def tolerances(self) -> tuple[float, float]:
        """Tolerances of position [m] and orientation [rad]."""
        return self.goal_fields[2:]


class SearchBudget(NamedTuple):
    """Limits on the effort of a search."""

    iterations: int
    """Steps of all descents together."""
    first_restarts: int
    """Starts after the seed's, before the search judges whether more are worthwhile."""
    restarts: int
    """Starts after the seed's in all."""
    asked: bool
    """Whether the caller has set this number."""


def read_problem(
    chain: Chain, target: Target, seed: Positions | None, length: float, angle: float,
    constraint: PoseConstraint | None = None,
) -> tuple[PreparedChain, RigidTransform, GoalFields, FloatArray]:  # fmt: skip
    """Check the arguments that `solve` and related functions share.

    Args:
        chain: See `solve`.
        target: root_T_target, see `solve`.
        seed: (n,) or by joint name; None: the chain's neutral positions.
        length: Tolerance of the position [m].
        angle: Tolerance of the orientation [rad].
        constraint: The part of the pose that counts.

    Returns:
        The fields of a `PoseProblem` after the chain, as a plain tuple: a named one costs as much
        as a step of the search.

    Raises:
        SolveArgumentError: An argument has a wrong type or shape, or a tolerance is out of range.
            Kernels refuse numbers that are not finite or too large, see `arguments.refuse`.
    """
    ready, target = prepared(chain), as_target("target", target)
    if not (
        type(length) is type(angle) is float
        and SMALLEST_TOLERANCE <= length < LARGEST_TOLERANCE
        and SMALLEST_TOLERANCE <= angle < LARGEST_TOLERANCE
    ):  # another type would compile the kernels again
        length = positive("position_tolerance", length, "m")
        angle = positive("orientation_tolerance", angle, "rad")
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    goal = target._m
    if constraint is not None:
        ready, _, goal = constrain(ready, constraint, goal)
    return ready, target, (ready.weights, goal, length, angle), start

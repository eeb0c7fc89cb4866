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

"""One target of one chain, checked and in the form that the searches take."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.arguments import (
    Positions,
    Target,
    as_positions,
    as_target,
    positive,
)
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.pose_search_kernel import LARGEST_TOLERANCE
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.tables_kernel import GoalFields
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain


class PoseProblem(NamedTuple):
    """What a chain is to reach, and from where."""

    chain: Chain
    ready: PreparedChain
    """The chain, prepared for the part of the pose that counts, within the limits that hold."""
    target: RigidTransform
    """root_T_target, as it was given."""
    wanted: GoalFields
    """What kernels are to reach."""
    start: FloatArray
    """(n,) [rad or m]: the seed."""

    @property
    def goal(self) -> FloatArray:
        """(4, 4) root_T_goal: the target, or a frame there with the free axis as z."""
        return self.wanted[1]

    @property
    def tolerances(self) -> tuple[float, float]:
        """Of position [m] and orientation [rad]."""
        return self.wanted[2:]


class Allowed(NamedTuple):
    """How long a search may go on."""

    iterations: int
    """Steps of all descents together."""
    first_restarts: int
    """Starts after the seed's, before the question whether there is hope."""
    restarts: int
    """Starts after the seed's, where there is."""
    asked: bool
    """Whether so many starts were asked for."""


def read_problem(
    chain: Chain, target: Target, seed: Positions | None, length: float, angle: float,
    constraint: PoseConstraint | None = None, position_only: bool = False,
) -> tuple[PreparedChain, RigidTransform, GoalFields, FloatArray]:  # fmt: skip
    """Check the arguments that `solve` and its like share.

    Args:
        chain: As for `solve`, as are all but the tolerances.
        target: root_T_target.
        seed: (n,) or by joint name; None: the chain's neutral positions.
        length: The tolerance of the position [m].
        angle: The tolerance of the orientation [rad].
        constraint: Which part of the pose counts.
        position_only: Whether only the position does.

    Returns:
        The fields of a `PoseProblem` but the chain: naming them costs as much as a step.

    Raises:
        SolveArgumentError: An argument of wrong kind or shape; a tolerance out of range. What is
            not finite, or too large, the kernels refuse: see `arguments.refuse`.
    """
    ready, target = prepared(chain), as_target("target", target)
    if not (
        type(length) is type(angle) is float
        and 0.0 < length < LARGEST_TOLERANCE
        and 0.0 < angle < LARGEST_TOLERANCE
    ):  # one type each, or the kernels would be compiled anew
        length = positive("position_tolerance", length, "m")
        angle = positive("orientation_tolerance", angle, "rad")
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    goal = target._m
    if position_only or constraint is not None:
        ready, _, goal = constrain(ready, constraint, goal, position_only=position_only)
    return ready, target, (ready.full, goal, length, angle), start

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constraints on the bones of a transform tree: points-at and FABRIK, each within limits.

Animation systems constrain bones like this (change_of_basis, 2 and 3): "the left calf points at the
right ankle", "the right foot stands here". `basis_ik.bones.meet` meets several constraints at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from basis_ik.bones.bone_limits import Limit
from basis_ik.bones.bone_tree import reach_as_tree
from basis_ik.bones.bones import BoneChainError, bones_in_object, bones_in_world, chain_positions
from basis_ik.bones.joint import JOINT_ORIGIN, express, express_direction
from basis_ik.bones.points_at import pointing_miss, points_at, points_at_in_world
from basis_ik.bones.scaled_chain import reach_scaled
from basis_ik.errors import BasisIkError
from basis_ik.fabrik.fabrik import solve_chain, sweep_chain
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.directions import length
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict

MET_TOLERANCE = 1e-8
"""Angle [rad] or distance [m] up to which a constraint counts as met."""
MET_SHARE = 1e-6
"""Part of a chain's reach up to which it counts as met, if that is less than `MET_TOLERANCE`."""

Method = Literal["fabrik", "shared"]
Option = Literal[1, 2]
"""How rotations are computed: all in world coordinates (1), or in each bone's own (2)."""

_FABRIK_SHARE = 0.1  # part of the distance that counts as met at which FABRIK stops


class WorldLimitError(BasisIkError, ValueError):
    """A constraint has limits, which are told in a bone's own coordinates, and option 1."""

    def __init__(self) -> None:
        super().__init__("option 1 works in world coordinates and keeps no limits; take option 2")


class ScaledLimitError(BasisIkError, ValueError):
    """A chain has limits, or shares bones with another, and a frame of it is scaled."""

    def __init__(self, chain: Sequence[str]) -> None:
        super().__init__(
            f"{' → '.join(chain)}: a frame of it is scaled; limits and shared bones need lengths "
            "that stay"
        )
        self.chain = tuple(chain)


@dataclass(frozen=True)
class Applied:
    """The result of a constraint; true only if it is met.

    Attributes:
        verdict: REACHED, or the obstacle; OTHER_TASKS if it is another constraint.
        miss: Remaining error: an angle [rad] for `Point`, in the bone's own coordinates; a distance
            [m] for `Reach`, in the root frame, scale included.
        conflicts: Names of the constraints in conflict with it: each turns or moves what the other
            needs.
    """

    verdict: Verdict
    miss: float
    conflicts: tuple[str, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the constraint is met."""
        return self.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success


@dataclass(frozen=True)
class Point:
    """A bone points at a frame.

    Attributes:
        bone: Frame that turns about its origin; a transform node about its centre.
        tail: Frame below it; the bone's line runs to its origin.
        target: Frame to point at.
        limit: Limit of the bone's joint; None for none.
        option: 1 to turn it in the root's coordinates, without a limit and below no scale.

    Raises:
        WorldLimitError: It has a limit, and option 1.
    """

    bone: str
    tail: str
    target: str
    limit: Limit | None = None
    option: Option = 2

    def __post_init__(self) -> None:
        if self.option == 1 and self.limit is not None:
            raise WorldLimitError

    @property
    def chain(self) -> tuple[str, ...]:
        """The frames that move, from the bone to its tail."""
        return (self.bone, self.tail)

    def apply(self, tree: TransformTree) -> Applied:
        """Turn the bone."""
        above = tree.parent(self.bone)
        if self.option == 1 and above is not None:
            turned = points_at_in_world(tree, self.bone, self.tail, self.target)
            turned = turned @ tree.lookup(tree.root, self.bone)
            tree.move(self.bone, tree.lookup(above, tree.root) @ turned)
            miss = self.miss(tree)
            return Applied(Verdict.REACHED if miss <= MET_TOLERANCE else Verdict.DEGENERATE, miss)
        found = points_at(tree, self.bone, self.tail, self.target, limit=self.limit)
        tree.move(self.bone, found.parent_T_bone)
        return Applied(found.verdict, found.miss)

    def miss(self, tree: TransformTree) -> float:
        """Return the current angle between bone and target [rad]; NaN without a direction."""
        return pointing_miss(tree, self.bone, self.tail, self.target)

    def size(self, tree: TransformTree) -> float:
        """Return the miss that weighs as much as a radian."""
        return 1.0

    def bound(self, tree: TransformTree) -> float:
        """Return the largest miss that counts as met [rad]."""
        return MET_TOLERANCE


@dataclass(frozen=True)
class Reach:
    """The tip of a chain of bones is at a frame's origin, by FABRIK.

    Attributes:
        chain: Frames of the chain, first bone to tip.
        target: Frame to reach.
        method: `fabrik` for the published iteration, and `solve_chain` from where its sweeps end
            short of the target, as near full reach; `shared` for `solve_chain` alone, which
            distributes the motion over all bones. Only for a single chain without limits.
        limits: Limits of the bones' joints, by bone.
        option: 1 to turn the bones of a single chain from root to top in the coordinates of the
            frame that it hangs in, without limits and below no scale.

    Raises:
        WorldLimitError: It has limits, and option 1.
    """

    chain: tuple[str, ...]
    target: str
    method: Method = "fabrik"
    limits: Mapping[str, Limit] = field(default_factory=dict)
    option: Option = 2

    def __post_init__(self) -> None:
        if self.option == 1 and self.limits:
            raise WorldLimitError

    def apply(self, tree: TransformTree) -> Applied:
        """Turn the bones; without limits each by the smallest rotation.

        FABRIK runs in the chain's parent frame, where the bones keep their lengths regardless of
        scale above. If a frame of the chain is scaled, they do not, and lengths prove nothing: the
        verdict for a goal that is not reached is then BUDGET_SPENT.
        """
        return apply_together(tree, (self,))[0]

    def miss(self, tree: TransformTree) -> float:
        """Return the distance of the tip from the target in the root frame [m]."""
        target = express(tree, tree.root, self.target, JOINT_ORIGIN)
        return length(target - express(tree, tree.root, self.chain[-1], JOINT_ORIGIN))

    def size(self, tree: TransformTree) -> float:
        """Return the miss that weighs as much as a radian: the chain's reach [m]."""
        return self._reach(tree, tree.root)

    def bound(self, tree: TransformTree, common: str | None = None) -> float:
        """Return the largest distance that counts as met [m], in `common`; None: the root frame."""
        return min(MET_TOLERANCE, MET_SHARE * self._reach(tree, common or tree.root))

    def _reach(self, tree: TransformTree, common: str) -> float:
        p = chain_positions(tree, self.chain, common)
        return float(np.linalg.norm(np.diff(p, axis=0), axis=1).sum()) or 1.0


Constraint = Point | Reach


def apply_together(tree: TransformTree, reaches: Sequence[Reach]) -> list[Applied]:
    """Move chains that share bones, as one tree; or a single chain.

    Args:
        tree: The tree; the chains' bones are turned.
        reaches: The constraints. Several chains share bones.

    Returns:
        The result of each constraint.

    Raises:
        BoneChainError: Frames are not a chain, start at the root, or move their target.
        ScaledLimitError: A frame of a chain that has limits or shares bones is scaled.
        ScaledFrameError: A frame of a chain with option 1 is scaled.
        UnknownFrameError: A frame is not in the tree.
        LimitError: A limit does not fit its bone.
    """
    topmost = min(reaches, key=lambda each: tree.depth(each.chain[0]))
    common = tree.parent(topmost.chain[0])
    if common is None:
        raise BoneChainError(topmost.chain, "the root of the tree cannot turn")
    for each in reaches:
        _check(tree, each)
    goals = [express(tree, common, each.target, JOINT_ORIGIN) for each in reaches]
    bounds = [each.bound(tree, common) for each in reaches]
    tolerance = _FABRIK_SHARE * min(bounds)
    scaled = [each for each in reaches if not tree.is_rigid(common, each.chain[-1])]
    if len(reaches) > 1 or reaches[0].limits:
        if scaled:
            raise ScaledLimitError(scaled[0].chain)
        chains = [each.chain for each in reaches]
        limits = {bone: limit for each in reaches for bone, limit in each.limits.items()}
        verdict = reach_as_tree(tree, chains, goals, limits, common, tolerance)
    elif scaled and reaches[0].option == 2:
        reach_scaled(tree, scaled[0].chain, goals[0], common, tolerance)
        verdict = Verdict.BUDGET_SPENT
    else:
        verdict = _reach_alone(tree, reaches[0], goals[0], common, tolerance)
    # Bones too short, or too far away, for their digits miss what their solved joints reach.
    missed = Verdict.DEGENERATE if verdict is Verdict.REACHED else verdict
    applied = []
    for each, goal, bound in zip(reaches, goals, bounds, strict=True):
        left = goal - express(tree, common, each.chain[-1], JOINT_ORIGIN)
        miss = length(express_direction(tree, tree.root, common, left))
        applied.append(Applied(Verdict.REACHED if length(left) <= bound else missed, miss))
    return applied


def _reach_alone(
    tree: TransformTree, reach: Reach, goal: FloatArray, common: str, tolerance: float
) -> Verdict:
    """Move a rigid chain without limits, each bone by the smallest rotation."""
    start = chain_positions(tree, reach.chain, common)
    if reach.method == "shared":
        solved = solve_chain(start, goal, tolerance=tolerance)
    else:
        solved = sweep_chain(start, goal, tolerance=tolerance)
        if solved.verdict is Verdict.BUDGET_SPENT:  # no number of sweeps will do near full reach
            solved = solve_chain(solved.positions, goal, tolerance=tolerance)
    in_common = bones_in_world if reach.option == 1 else bones_in_object
    for bone, basis in in_common(tree, reach.chain, solved.positions, common).items():
        tree.move(bone, basis)
    return solved.verdict


def _check(tree: TransformTree, reach: Reach) -> None:
    for above, below in pairwise(reach.chain):
        if above == below or tree.common_ancestor(above, below) != above:
            raise BoneChainError(reach.chain, f"{below!r} is not below {above!r}")
    if tree.common_ancestor(reach.chain[0], reach.target) == reach.chain[0]:
        raise BoneChainError(reach.chain, f"moves its target {reach.target!r}")

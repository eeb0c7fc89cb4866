"""Constraints on the bones of a transform tree, applied one after another.

This is what an animation system does with its bones (change_of_basis, 2 and 3): "the left calf
points at the right ankle", "the right foot stands here". A later constraint sees what the ones
before it have moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from basis_ik.solvers.bones import BoneChainError, bones_in_object, chain_positions
from basis_ik.solvers.fabrik import solve_chain
from basis_ik.solvers.joint import express, express_direction
from basis_ik.solvers.points_at import points_at
from basis_ik.solvers.scaled_chain import reach_scaled
from basis_ik.solvers.turn import length
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.tree import TransformTree

TOLERANCE = 1e-9  # m

_ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Applied:
    """How well a constraint is met.

    Attributes:
        verdict: REACHED, or what stood in the way.
        miss: What is left: an angle [rad] for `Point`, in the bone's own coordinates; a distance
            [m] for `Reach`, as seen from the root, where scale is seen.
    """

    verdict: Verdict
    miss: float


@dataclass(frozen=True)
class Point:
    """A bone points at a frame.

    Attributes:
        bone: Frame that turns about its origin, or as a transform node about its centre.
        tail: Frame below it that its line runs to.
        target: Frame to point at.
    """

    bone: str
    tail: str
    target: str

    @property
    def chain(self) -> tuple[str, ...]:
        """The frames whose places change, from the bone to its tail."""
        return (self.bone, self.tail)

    def apply(self, tree: TransformTree) -> Applied:
        """Turn the bone."""
        answer = points_at(tree, self.bone, self.tail, self.target)
        tree.move(self.bone, answer.parent_T_bone)
        return Applied(answer.verdict, answer.miss)


@dataclass(frozen=True)
class Reach:
    """The tip of a chain of bones is at a frame's origin, by FABRIK.

    Attributes:
        chain: Frames of the chain, first bone to tip.
        target: Frame to reach.
    """

    chain: tuple[str, ...]
    target: str

    def apply(self, tree: TransformTree) -> Applied:
        """Turn the bones, each by the smallest rotation.

        FABRIK runs in the frame that the chain hangs in: there the bones keep their lengths however
        all of it is scaled from above. Where a frame of the chain is scaled itself they do not, and
        lengths prove nothing: a goal that is not reached is then BUDGET_SPENT.
        """
        common, tip = tree.parent(self.chain[0]), self.chain[-1]
        if common is None:
            raise BoneChainError(self.chain, "the root of the tree cannot turn")
        goal = express(tree, common, self.target, _ORIGIN)
        if tree.is_rigid(common, tip):
            positions = chain_positions(tree, self.chain, common)
            solved = solve_chain(positions, goal, tolerance=TOLERANCE)
            for bone, basis in bones_in_object(tree, self.chain, solved.positions, common).items():
                tree.move(bone, basis)
            left, verdict = goal - solved.positions[-1], solved.verdict
        else:
            reach_scaled(tree, self.chain, goal, common, TOLERANCE)
            left = goal - express(tree, common, tip, _ORIGIN)
            reached = float(np.linalg.norm(left)) <= TOLERANCE
            verdict = Verdict.REACHED if reached else Verdict.BUDGET_SPENT
        return Applied(verdict, length(express_direction(tree, tree.root, common, left)))


Constraint = Point | Reach

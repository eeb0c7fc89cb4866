"""Constraints on the bones of a transform tree, applied one after another.

This is what an animation system does with its bones (change_of_basis, 2 and 3): "the left calf
points at the right ankle", "the right foot stands here". A later constraint sees what the ones
before it have moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from basis_ik.solvers.bones import bones_in_object, chain_positions
from basis_ik.solvers.fabrik import solve_chain
from basis_ik.solvers.points_at import points_at
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.tree import TransformTree

TOLERANCE = 1e-9  # m


@dataclass(frozen=True)
class Applied:
    """How well a constraint is met.

    Attributes:
        verdict: REACHED, or what stood in the way.
        miss: What is left: an angle [rad] for `Point`, a distance [m] for `Reach`.
    """

    verdict: Verdict
    miss: float


@dataclass(frozen=True)
class Point:
    """A bone points at a frame.

    Attributes:
        bone: Frame that turns about its origin.
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
        """Turn the bones, each by the smallest rotation."""
        world = tree.root
        goal = tree.lookup(world, self.target).translation
        positions = chain_positions(tree, self.chain, world)
        solved = solve_chain(positions, goal, tolerance=TOLERANCE)
        turned = bones_in_object(tree, self.chain, solved.positions, world)
        for bone, parent_T_bone in turned.items():
            tree.move(bone, parent_T_bone)
        return Applied(solved.verdict, solved.residual)


Constraint = Point | Reach

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bones of a transform tree as FABRIK's tree of bones, with limits and shared bones.

A FABRIK bone has one joint at each end, but a frame may have several joints below it, for example a
chest with two shoulders. Such a frame becomes a bone to the first of them, and fixed bones (hinges
without play) from there to the others, so that they turn as one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from basis_ik.bones.bone_limits import Cone, Hinge, Limit, SwingTwist
from basis_ik.bones.joint import JOINT_ORIGIN, centre, express, turn_basis
from basis_ik.fabrik.ball_limits import BallLimit, HingeLimit
from basis_ik.fabrik.fabrik_tree import solve_tree
from basis_ik.fabrik.rotations import bone_rotations
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import unit_vector
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict

_TREE_BUDGET = 400  # sweeps and steps; an unreachable goal uses all of them
_SAME_JOINT = 1e-12  # [m] within which two joints of a bone coincide


def reach_as_tree(
    tree: TransformTree,
    chains: Sequence[Sequence[str]],
    goals: Sequence[FloatArray],
    limits: Mapping[str, Limit],
    common: str,
    tolerance: float,
) -> Verdict:
    """Turn the bones of chains within their limits, so that all tips reach their goals.

    Args:
        tree: The tree; the bones are turned.
        chains: Frames of each chain, first bone to tip. Several chains share bones.
        goals: Goal of each tip in `common`, shape (3,) [m].
        limits: Limits of the bones' joints, by bone.
        common: The parent frame of the topmost bone; no frame below it is scaled.
        tolerance: Distance at which a goal counts as reached [m].

    Returns:
        REACHED if all goals are reached; otherwise the common reason why not.

    Raises:
        LimitError: A limit does not fit its bone.
    """
    bones = _Bones(tree, chains, common, limits)
    solved = solve_tree(
        bones.place(bones.now),
        bones.parents,
        {bones.joints[chain[-1]]: goal for chain, goal in zip(chains, goals, strict=True)},
        limits=bones.limits(limits),
        rest=bones.place(bones.rest),
        rotations=bones.turns(),
        tolerance=tolerance,
        max_iterations=_TREE_BUDGET,
    )
    turns = solved.rotations
    if turns is None:  # without limits, the rotations follow from the positions
        turns = bone_rotations(bones.place(bones.rest), solved.positions, bones.parents)
    bones.turn(turns)
    if solved.verdict is Verdict.LIMIT and not limits:
        return Verdict.BUDGET_SPENT  # fixed bones are not limits
    return solved.verdict


class _Bones:
    """The bones of chains, topmost first, and the joints between them.

    Attributes:
        joints: Number of a bone's joint, or of a tip, by frame.
        parents: Parent of each joint, −1 for the first.
        now: Current rotation of each bone in the common frame, shape (3, 3), by bone.
        rest: Rotation of each bone with all bones at rest; a bone without limit rests as it is.
    """

    def __init__(
        self,
        tree: TransformTree,
        chains: Sequence[Sequence[str]],
        common: str,
        limits: Mapping[str, Limit],
    ) -> None:
        self._tree, self._common = tree, common
        frames = list(dict.fromkeys(frame for chain in chains for frame in chain))
        turning = {bone for chain in chains for bone in chain[:-1]}
        self._bones = sorted((f for f in frames if f in turning), key=tree.depth)
        self._root = express(tree, common, self._bones[0], centre(tree.basis(self._bones[0])))
        self.now = {bone: tree.lookup(common, bone).rotation for bone in self._bones}
        self.rest: dict[str, FloatArray] = {}
        self._above: dict[str, str | None] = {}
        for bone in self._bones:
            self._above[bone] = self._bone_above(bone)
            rest = limits[bone].rest if bone in limits else tree.basis(bone)
            self.rest[bone] = self._hung(self.rest, bone) @ rest.rotation
        # Each FABRIK bone: its bone, and the vector from its start to its end there.
        self._parts: list[tuple[str, FloatArray]] = []
        self.joints, self.parents = {self._bones[0]: 0}, [-1]
        below: dict[str, list[str]] = {bone: [] for bone in self._bones}
        for frame in frames:
            above = self._bone_above(frame)
            if above is not None:
                below[above].append(frame)
        for bone in self._bones:
            self._add(bone, below[bone])

    def _bone_above(self, frame: str) -> str | None:
        parent = self._tree.parent(frame)
        while parent is not None and parent not in self._bones:
            parent = self._tree.parent(parent)
        return parent

    def _hung(self, turned: Mapping[str, FloatArray], bone: str) -> FloatArray:
        """Return the rotation of a bone's parent frame, given the bones' rotations."""
        parent, above = self._tree.parent(bone), self._above[bone]
        assert parent is not None  # the topmost bone's is the common frame
        if above is None:
            return np.eye(3)
        hung: FloatArray = turned[above] @ self._tree.lookup(above, parent).rotation
        return hung

    def _add(self, bone: str, frames: Sequence[str]) -> None:
        """Add a bone: one FABRIK bone to each distinct joint below it."""
        start, at = self.joints[bone], centre(self._tree.basis(bone))
        ends: list[tuple[FloatArray, int]] = []
        for frame in frames:
            own = centre(self._tree.basis(frame)) if frame in self._bones else JOINT_ORIGIN
            place = express(self._tree, bone, frame, own)
            same = [joint for end, joint in ends if np.abs(end - place).max() <= _SAME_JOINT]
            if not same:
                if ends:
                    at, start = ends[0]
                self._parts.append((bone, place - at))
                self.parents.append(start)
                ends.append((place, len(self.parents) - 1))
            self.joints[frame] = same[0] if same else ends[-1][1]

    def place(self, turned: Mapping[str, FloatArray]) -> FloatArray:
        """Return the joints in the common frame [m], given the bones' rotations there."""
        p = [self._root]
        for parent, (bone, way) in zip(self.parents[1:], self._parts, strict=True):
            p.append(p[parent] + turned[bone] @ way)
        return np.array(p)

    def turns(self) -> FloatArray:
        """Return the rotation of each FABRIK bone relative to rest, shape (m, 3, 3)."""
        return np.array([self.now[bone] @ self.rest[bone].T for bone, _ in self._parts])

    def limits(self, limits: Mapping[str, Limit]) -> dict[int, BallLimit | HingeLimit]:
        """Return the limits by FABRIK bone, in the common frame at rest."""
        found: dict[int, BallLimit | HingeLimit] = {}
        seen: set[str] = set()
        for number, (bone, _) in enumerate(self._parts):
            if bone in seen:
                found[number] = HingeLimit((1.0, 0.0, 0.0), 0.0, 0.0)
            elif bone in limits:
                found[number] = _limit(limits[bone], self.rest[bone])
            seen.add(bone)
        return found

    def turn(self, turns: FloatArray) -> None:
        """Turn the tree's bones to a solution's rotations relative to rest, shape (m, 3, 3)."""
        turned_to: dict[str, FloatArray] = {}
        for (bone, _), turn in zip(self._parts, turns, strict=True):
            turned_to.setdefault(bone, turn @ self.rest[bone])
        for bone in self._bones:
            basis = self._tree.basis(bone)
            desired = self._hung(turned_to, bone).T @ turned_to[bone]
            self._tree.move(bone, turn_basis(basis, basis.rotation.T @ desired))


def _limit(limit: Limit, rest: FloatArray) -> BallLimit | HingeLimit:
    """Return a bone's limit in the common frame, where its space is rotated by `rest`."""
    if isinstance(limit, Hinge):
        return HingeLimit(rest @ unit_vector("axis", limit.axis), *_range(limit.lower, limit.upper))
    if isinstance(limit, SwingTwist):
        return BallLimit.cone(limit.half_angle, _range(limit.lower, limit.upper))
    assert isinstance(limit, Cone)
    return BallLimit.cone(limit.half_angle)


def _range(lower: float, upper: float) -> tuple[float, float]:
    """Return finite bounds [rad]; half-infinite ones become a full circle."""
    return (lower, upper) if math.isfinite(upper - lower) else (-math.pi, math.pi)

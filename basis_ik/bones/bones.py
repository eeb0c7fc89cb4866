# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between rotations and positions, before and after FABRIK (change_of_basis, 3).

FABRIK moves points in one basis; a transform tree has rotations, each in its parent's basis. A
chain consists of frames from the first bone to the tip. Each frame but the last is a bone; its tail
is the joint of the next: its origin, or the centre of a transform node. The tip is the last frame's
origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from basis_ik.bones.joint import JOINT_ORIGIN, centre, express, from_joint, turn_basis
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.about_point import rotation_about_point
from basis_ik.transforms.checks import finite_array
from basis_ik.transforms.directions import SHORTEST_DIRECTION, perpendicular_to, turn_between
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import Basis, TransformTree

LENGTH_TOLERANCE = 1e-6
"""Largest difference of solved segments from the bones, as a fraction of the chain's length."""


class BoneChainError(BasisIkError, ValueError):
    """Frames do not form a chain of bones, each below the one before."""

    def __init__(self, frames: Sequence[str], problem: str) -> None:
        super().__init__(f"{' → '.join(frames) or 'no frames'}: {problem}")
        self.frames = tuple(frames)
        self.problem = problem


class SolvedPositionsError(BasisIkError, ValueError):
    """Solved positions do not fit the bones: a length or the first joint differs."""

    def __init__(self, frame: str, expected: float, actual: float) -> None:
        super().__init__(
            f"at {frame!r} solved positions are {actual:.6g} m apart, bones {expected:.6g} m"
        )
        self.frame = frame
        self.expected = expected
        self.actual = actual


def chain_positions(tree: TransformTree, frames: Sequence[str], common: str) -> FloatArray:
    """Return the joints and the tip of a chain in one basis, where FABRIK starts.

    Args:
        tree: The tree.
        frames: The chain, first bone to tip.
        common: The reference frame: the world, or any other, including the bones.

    Returns:
        Positions [m], shape (len(frames), 3).

    Raises:
        BoneChainError: The frames are not a chain.
        UnknownFrameError: A frame is not in the tree.
    """
    _check_chain(tree, frames)
    return np.array(
        [express(tree, common, frame, _joint(tree, frames, i)) for i, frame in enumerate(frames)]
    )


def bones_in_object(
    tree: TransformTree, frames: Sequence[str], positions: npt.ArrayLike, common: str
) -> dict[str, Basis]:
    """Convert solved positions to bone rotations, each in its bone's own coordinates (option 2).

    Below a scaled bone, a bone's length depends on its rotation: it then has the right direction,
    but the next joint may not be at the solved position.

    Args:
        tree: The tree; it is not changed, see `TransformTree.move`.
        frames: The chain, first bone to tip.
        positions: Solved joints and tip [m], in `common`, shape (len(frames), 3).
        common: The frame of the positions, at its current pose.

    Returns:
        The new parent_T_bone of each bone; each bone turns by the smallest rotation.

    Raises:
        BoneChainError: The frames are not a chain.
        SolvedPositionsError: The positions have other lengths than the bones, or another root.
        UnknownFrameError: A frame is not in the tree.
    """
    p = _checked_positions(tree, frames, positions, common)
    chain = express(tree, frames[0], common, p)  # step 1: into the first bone's coordinates
    moved: dict[str, Basis] = {}
    for i, (bone, tail) in enumerate(pairwise(frames)):
        _parent(tree, bone)
        basis = tree.basis(bone)
        # Steps 2 and 4: point the bone, from the joint of its own coordinates.
        tail_in_bone = express(tree, bone, tail, _joint(tree, frames, i + 1))
        tail_now, desired = from_joint(basis, tail_in_bone), from_joint(basis, chain[i + 1])
        rotation = turn_between(tail_now, desired, perpendicular_to(tail_now))
        moved[bone] = turn_basis(basis, rotation)
        # Steps 3 and 5: the rest of the chain, into the next bone's coordinates.
        chain = moved[bone].inverse().apply(basis.apply(chain))
        chain = express(tree, tail, bone, chain)
    return moved


def bones_in_world(
    tree: TransformTree, frames: Sequence[str], positions: npt.ArrayLike, common: str
) -> dict[str, RigidTransform]:
    """Convert solved positions to bone rotations from root to top in one basis (option 1).

    Each bone's correction, conjugated to turn about its joint, is applied on the left of that bone
    and all following ones, before the next bone.

    Args:
        tree: The tree; it is not changed, see `TransformTree.move`.
        frames: The chain, first bone to tip.
        positions: Solved joints and tip [m], in `common`, shape (len(frames), 3).
        common: The frame of the positions, at its current pose.

    Returns:
        The new parent_T_bone of each bone, equal to that of `bones_in_object`.

    Raises:
        BoneChainError: The frames are not a chain.
        SolvedPositionsError: The positions have other lengths than the bones, or another root.
        UnknownFrameError: A frame is not in the tree.
        ScaledFrameError: A frame of the chain, or above it, is scaled.
    """
    p = _checked_positions(tree, frames, positions, common)
    correction = RigidTransform.identity()  # of all bones so far, in the common basis
    moved = {}
    for i, (bone, tail) in enumerate(pairwise(frames)):
        common_T_parent = correction @ tree.lookup(common, _parent(tree, bone))
        common_T_bone = correction @ tree.lookup(common, bone)
        joint = common_T_bone.apply(_joint(tree, frames, i))
        bone_tail = from_joint(
            tree.basis(bone), tree.lookup(bone, tail).apply(_joint(tree, frames, i + 1))
        )
        rotation = turn_between(
            common_T_bone.apply_vector(bone_tail),
            p[i + 1] - joint,
            common_T_bone.apply_vector(perpendicular_to(bone_tail)),
        )
        about_joint = rotation_about_point(rotation, joint)
        moved[bone] = common_T_parent.inverse() @ about_joint @ common_T_bone
        correction = about_joint @ correction
    return moved


def _joint(tree: TransformTree, frames: Sequence[str], i: int) -> FloatArray:
    """Return the joint of frame i of a chain, in its own coordinates [m], shape (3,)."""
    return centre(tree.basis(frames[i])) if i < len(frames) - 1 else JOINT_ORIGIN


def _parent(tree: TransformTree, bone: str) -> str:
    parent = tree.parent(bone)
    if parent is None:
        raise BoneChainError((bone,), "the root of the tree cannot turn")
    return parent


def _check_chain(tree: TransformTree, frames: Sequence[str]) -> None:
    if len(frames) < 2:
        raise BoneChainError(frames, "a chain has at least one bone and a tip")
    for above, below in pairwise(frames):
        if above == below or tree.common_ancestor(above, below) != above:
            raise BoneChainError(frames, f"{below!r} is not below {above!r}")


def _checked_positions(
    tree: TransformTree, frames: Sequence[str], positions: npt.ArrayLike, common: str
) -> FloatArray:
    """Return the solved positions as an array, after checking that they fit the bones."""
    now = chain_positions(tree, frames, common)
    p = finite_array("positions", positions, len(frames), 3)
    lengths = np.linalg.norm(np.diff(now, axis=0), axis=1)
    solved = np.linalg.norm(np.diff(p, axis=0), axis=1)
    tolerance = LENGTH_TOLERANCE * float(lengths.sum()) + SHORTEST_DIRECTION
    off_root = float(np.linalg.norm(p[0] - now[0]))
    if off_root > tolerance:
        raise SolvedPositionsError(frames[0], 0.0, off_root)
    for frame, length, found in zip(frames[1:], lengths.tolist(), solved.tolist(), strict=True):
        if abs(found - length) > tolerance:
            raise SolvedPositionsError(frame, length, found)
    return p

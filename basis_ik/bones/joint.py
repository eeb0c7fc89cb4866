# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joint of a bone, and points relative to it, for bases with centre and scale, too.

A rigid basis turns about its origin. A transform node turns about its centre, after its stretch:
P' = R·U·(P − C) + C + T. R acts on U·(P − C), so directions are compared there. Lines stay straight
through any scale, so a bone that points at its target there does so in all frames.
"""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import Basis, TransformTree

JOINT_ORIGIN = np.zeros(3)


def centre(basis: Basis) -> FloatArray:
    """Return the joint of a basis, in its own coordinates [m], shape (3,)."""
    return basis.center if isinstance(basis, TransformNode) else JOINT_ORIGIN


def from_joint(basis: Basis, points: FloatArray) -> FloatArray:
    """Return points relative to the joint, stretched but not rotated.

    Args:
        basis: The bone's basis.
        points: Points in the bone's own coordinates [m], shape (3,) or (N, 3).
    """
    if isinstance(basis, TransformNode):
        seen: FloatArray = (points - basis.center) @ basis.stretch  # symmetric
        return seen
    return points


def turn_basis(basis: Basis, rotation: FloatArray) -> Basis:
    """Return a basis turned about its joint, by a rotation in the coordinates of `from_joint`."""
    if isinstance(basis, TransformNode):
        return basis.with_rotation(basis.rotation @ rotation)
    return basis @ RigidTransform.from_rotation_translation(rotation, JOINT_ORIGIN)


def express(tree: TransformTree, target: str, source: str, points: FloatArray) -> FloatArray:
    """Map points [m], shape (3,) or (N, 3), from one frame to another, also through scale.

    Raises:
        UnknownFrameError: A frame is not in the tree.
    """
    return _between(tree, target, source).apply(points)


def express_direction(
    tree: TransformTree, target: str, source: str, direction: FloatArray
) -> FloatArray:
    """Map a direction, shape (3,), from one frame to another; scale changes its length.

    Raises:
        UnknownFrameError: A frame is not in the tree.
    """
    between = _between(tree, target, source)
    if isinstance(between, TransformNode):
        return between.linear @ direction
    return between.apply_vector(direction)


def _between(tree: TransformTree, target: str, source: str) -> Basis:
    if tree.is_rigid(target, source):
        return tree.lookup(target, source)
    return tree.lookup_node(target, source)

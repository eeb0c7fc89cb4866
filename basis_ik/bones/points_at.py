# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at: turn a bone of a transform tree until it points at a target (change_of_basis, 2).

A bone is a frame: its joint is the frame's origin, or the centre of a transform node; its tail is
a point that moves with it. The text has two methods for the same pose. In the world, the correction
is conjugated to turn about the joint and applied on the left of world_T_bone. In the bone's own
coordinates it is a rotation on the right, and common ancestors of bone and target cancel out.

Below a scaled frame only the second method works: a rotation of the world is not a rotation of the
bone there, but a line to the target in the bone's coordinates is a line to it in all frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from basis_ik.bones.bone_limits import Allowed, BoneLimit
from basis_ik.bones.joint import (
    JOINT_ORIGIN,
    centre,
    express,
    express_direction,
    from_joint,
    turn_basis,
)
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.about_point import rotation_about_point
from basis_ik.transforms.checks import finite_array, unit_vector
from basis_ik.transforms.directions import (
    SHORTEST_DIRECTION,
    Lean,
    length,
    perpendicular_to,
    turn_between,
)
from basis_ik.transforms.directions_kernel import roll_towards
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.rigid_kernel import rotation_vector
from basis_ik.transforms.tree import Basis, TransformTree
from basis_ik.verdict import Verdict

Place = str | tuple[str, npt.ArrayLike]
"""A frame's origin, by its name; or a point [m], shape (3,), in a named frame."""

_POINTING_TOLERANCE = 1e-9  # angle [rad] below which a bone points at its target


class BoneError(BasisIkError, ValueError):
    """A bone cannot be pointed: it is the root, or its tail or target does not fit it."""

    def __init__(self, bone: str, problem: str) -> None:
        super().__init__(f"bone {bone!r} {problem}")
        self.bone = bone
        self.problem = problem


@dataclass(frozen=True)
class Up:
    """The roll of a pointing bone: an axis of the bone leans towards a direction.

    Attributes:
        axis: Direction in the bone's own coordinates, shape (3,).
        frame: The frame of `direction`.
        direction: The direction that the axis leans towards, shape (3,).
    """

    axis: npt.ArrayLike
    frame: str
    direction: npt.ArrayLike


@dataclass(frozen=True)
class PointsAt:
    """A bone's new basis, and its errors; true only if the bone points at the target.

    Attributes:
        parent_T_bone: The bone's new basis in its parent, for `TransformTree.move`; only the
            rotation of a transform node changes.
        angle: Without a limit, the angle by which the bone turns; with one, the limit's angle:
            swing from rest, or the hinge's angle [rad].
        twist: Twist about the bone with a swing-twist limit; otherwise 0 [rad].
        miss: Remaining angle between bone and target [rad], in the bone's own coordinates; NaN
            without a direction.
        roll_miss: Remaining angle between the axis and `up`, along the bone; 0 without `up` [rad].
        verdict: REACHED; LIMIT: as near as the limit allows; DEGENERATE: tail or target are at the
            joint, and the bone is not turned.
    """

    parent_T_bone: Basis
    angle: float
    twist: float
    miss: float
    roll_miss: float
    verdict: Verdict

    @property
    def success(self) -> bool:
        """Whether the bone points at the target."""
        return self.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success


def points_at_in_world(
    tree: TransformTree,
    bone: str,
    tail: Place,
    target: Place,
    *,
    up: Up | None = None,
    world: str | None = None,
) -> RigidTransform:
    """Return the correction C for world_T_bone ← C @ world_T_bone (option 1).

    Args:
        tree: The tree; it is not changed.
        bone: Frame to turn about its joint.
        tail: End of the bone; moves with the bone.
        target: Target to point at; does not move with the bone.
        up: Roll of the bone; None: the correction is the smallest rotation.
        world: Any frame that does not move with the bone; None: the tree's root.

    Returns:
        Conjugated rotation translate(joint) · R · translate(−joint), in `world` coordinates; the
        identity if tail or target are at the joint.

    Raises:
        BoneError: Tail or target do not fit the bone.
        UnknownFrameError: A frame is not in the tree.
        ScaledFrameError: A frame between the world and a given frame is scaled.
    """
    world = tree.root if world is None else world
    _check(tree, bone, tail, target, up)
    if tree.common_ancestor(bone, world) == bone:
        raise BoneError(bone, f"moves {world!r}, which cannot be its world")
    world_T_bone = tree.lookup(world, bone)
    world_target = tree.lookup(world, _frame(target)).apply(_offset(target))  # step 1
    basis = tree.basis(bone)
    world_joint = world_T_bone.apply(centre(basis))  # step 2
    desired = world_target - world_joint  # step 3
    bone_tail = _point(tree, bone, tail)
    world_tail = world_T_bone.apply(bone_tail)  # step 4
    current = world_tail - world_joint  # step 5
    lean = None
    if up is not None:
        axis = world_T_bone.apply_vector(unit_vector("up axis", up.axis))
        lean = axis, tree.lookup(world, up.frame).apply_vector(unit_vector("up", up.direction))
    fallback = world_T_bone.apply_vector(perpendicular_to(from_joint(basis, bone_tail)))
    rotation = turn_between(current, desired, fallback, lean)  # step 6
    return rotation_about_point(rotation, world_joint)  # step 7


def points_at_in_object(
    tree: TransformTree, bone: str, tail: Place, target: Place, *, up: Up | None = None
) -> RigidTransform:
    """Return the correction R for parent_T_bone ← parent_T_bone @ R (option 2).

    For a transform node it corrects the field: rotation ← rotation @ R.

    Args:
        tree: The tree; it is not changed.
        bone: Frame to turn about its joint.
        tail: End of the bone; moves with the bone.
        target: Target to point at; does not move with the bone.
        up: Roll of the bone; None: the correction is the smallest rotation.

    Returns:
        A rotation in the bone's own coordinates; the identity if tail or target are at the joint.

    Raises:
        BoneError: Tail or target do not fit the bone.
        UnknownFrameError: A frame is not in the tree.
    """
    _check(tree, bone, tail, target, up)
    # Steps 1 and 2: up to the common ancestor and down again, not beyond. Steps 3 and 4: the joint
    # is the origin of these coordinates, so there is nothing to subtract.
    desired = _seen(tree, bone, target)
    current = _seen(tree, bone, tail)
    lean = _lean(tree, bone, up)
    rotation = turn_between(current, desired, perpendicular_to(current), lean)  # step 5
    return RigidTransform.from_rotation_translation(rotation, JOINT_ORIGIN)  # step 6


def points_at(
    tree: TransformTree,
    bone: str,
    tail: Place,
    target: Place,
    *,
    up: Up | None = None,
    limit: BoneLimit | None = None,
) -> PointsAt:
    """Point a bone at a target as well as its limit allows.

    Args:
        tree: The tree; it is not changed, see `TransformTree.move`.
        bone: Frame to turn about its joint.
        tail: End of the bone; moves with the bone.
        target: Target to point at; does not move with the bone.
        up: Roll of the bone; None: the bone turns by the smallest rotation.
        limit: Limit of the joint; None for none.

    Returns:
        The bone's new basis, its angle and its remaining error.

    Raises:
        BoneError: Tail or target do not fit the bone, or it is the root.
        UnknownFrameError: A frame is not in the tree.
    """
    if tree.parent(bone) is None:
        raise BoneError(bone, "is the root of the tree and cannot turn")
    _check(tree, bone, tail, target, up)
    parent_T_bone = tree.basis(bone)
    desired, current = _seen(tree, bone, target), _seen(tree, bone, tail)
    if length(current) <= SHORTEST_DIRECTION or length(desired) <= SHORTEST_DIRECTION:
        return PointsAt(parent_T_bone, 0.0, 0.0, math.nan, 0.0, Verdict.DEGENERATE)
    desired, current = desired / length(desired), current / length(current)
    lean = _lean(tree, bone, up)
    if limit is None:
        rotation = turn_between(current, desired, perpendicular_to(current), lean)
        angle, twist = _angle(rotation), 0.0
    else:
        now = limit.rest.rotation.T @ parent_T_bone.rotation
        joint, angle, twist = _within(limit, now, current, desired, lean)
        rotation = now.T @ joint
    pointing = rotation @ current
    miss = math.atan2(length(np.cross(pointing, desired)), pointing @ desired)
    roll_miss = 0.0 if lean is None else _roll_left(pointing, lean, rotation)
    reached = miss <= _POINTING_TOLERANCE and roll_miss <= _POINTING_TOLERANCE
    verdict = Verdict.REACHED if reached else Verdict.LIMIT
    return PointsAt(turn_basis(parent_T_bone, rotation), angle, twist, miss, roll_miss, verdict)


def pointing_miss(tree: TransformTree, bone: str, tail: Place, target: Place) -> float:
    """Return the angle between a bone and its target, in the bone's own coordinates [rad].

    Args:
        tree: The tree.
        bone: The frame that points.
        tail: End of the bone.
        target: Target to point at.

    Returns:
        The angle; NaN if tail or target are at the joint.

    Raises:
        UnknownFrameError: A frame is not in the tree.
    """
    current, desired = _seen(tree, bone, tail), _seen(tree, bone, target)
    if length(current) <= SHORTEST_DIRECTION or length(desired) <= SHORTEST_DIRECTION:
        return math.nan
    return math.atan2(length(np.cross(current, desired)), float(current @ desired))


def _within(
    limit: BoneLimit, now: FloatArray, current: FloatArray, desired: FloatArray, lean: Lean | None
) -> Allowed:
    """Return the best rotation that a limit allows; directions in the bone's coordinates."""

    def turn(direction: FloatArray) -> FloatArray:
        there = now.T @ direction
        return now @ turn_between(current, there, perpendicular_to(current), lean)

    return limit.allow(now, current, now @ desired, turn)


def _angle(rotation: FloatArray) -> float:
    return rotation_vector(rotation, np.empty(3))


def _roll_left(pointing: FloatArray, lean: Lean, rotation: FloatArray) -> float:
    """Return the remaining roll of the bone [rad]; 0 if no roll is better."""
    rolled = rotation.copy()
    roll_towards(pointing, *lean, rolled)
    return _angle(rotation.T @ rolled)


def _check(tree: TransformTree, bone: str, tail: Place, target: Place, up: Up | None) -> None:
    if tree.common_ancestor(bone, _frame(tail)) != bone:
        raise BoneError(bone, f"does not move its tail {_frame(tail)!r}")
    if tree.common_ancestor(bone, _frame(target)) == bone:
        raise BoneError(bone, f"moves its target {_frame(target)!r}")
    if up is not None and tree.common_ancestor(bone, up.frame) == bone:
        raise BoneError(bone, f"moves the frame {up.frame!r} of its up direction")


def _frame(place: Place) -> str:
    return place if isinstance(place, str) else place[0]


def _offset(place: Place) -> FloatArray:
    return JOINT_ORIGIN if isinstance(place, str) else finite_array("point", place[1], 3)


def _point(tree: TransformTree, frame: str, place: Place) -> FloatArray:
    """Return a place in the coordinates of `frame` [m], shape (3,)."""
    return express(tree, frame, _frame(place), _offset(place))


def _seen(tree: TransformTree, bone: str, place: Place) -> FloatArray:
    """Return a place relative to the bone's joint [m], shape (3,)."""
    return from_joint(tree.basis(bone), _point(tree, bone, place))


def _lean(tree: TransformTree, bone: str, up: Up | None) -> Lean | None:
    """Return the axis and the direction that it should lean towards, at the bone's joint."""
    if up is None:
        return None
    axis = unit_vector("up axis", up.axis)
    towards = express_direction(tree, bone, up.frame, unit_vector("up", up.direction))
    basis = tree.basis(bone)
    if isinstance(basis, TransformNode):
        axis, towards = basis.stretch @ axis, basis.stretch @ towards
    return unit_vector("up axis", axis), unit_vector("up", towards)

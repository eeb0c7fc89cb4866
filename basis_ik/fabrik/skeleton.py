# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The arrays that FABRIK kernels take, from joints, parents, limits and targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik.ball_limits import Limit
from basis_ik.fabrik.result import FabrikError, check_points, fresh_point
from basis_ik.fabrik.skeleton_kernel import Goals, IntArray, Skeleton
from basis_ik.fabrik.swing_twist_kernel import FREE_JOINT
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.quaternion import wxyz_from_matrix
from basis_ik.transforms.rigid import RigidTransform


class TreeError(FabrikError):
    """Parents, targets, limits or loops that do not fit the joints."""


def starts_of(parents: Sequence[int] | npt.NDArray[np.integer], joints: int) -> IntArray:
    """Return where each bone starts, from each joint's parent.

    Args:
        parents: −1 for joint 0, the root; an earlier joint for every other.
        joints: How many joints there are.

    Returns:
        Starting joint of bone j, which ends at joint j + 1, shape (joints − 1,).

    Raises:
        TreeError: Not such a list.
    """
    known = list(parents)
    if len(known) != joints:
        raise TreeError(f"{joints} joints need as many parents, got {len(known)}")
    if known[0] != -1:
        raise TreeError(f"joint 0 is the root, its parent must be -1, got {known[0]}")
    for joint, parent in enumerate(known[1:], 1):
        if not isinstance(parent, (int, np.integer)) or not 0 <= parent < joint:
            raise TreeError(f"parent of joint {joint} must be an earlier joint, got {parent}")
    return np.array(known[1:], np.int64)


def make_skeleton(
    starts: IntArray, rest: FloatArray, limits: Mapping[int, Limit], free_root: bool
) -> Skeleton:
    """Build the tree of bones.

    Args:
        starts: Starting joint of each bone, shape (m,).
        rest: Joint positions at rest [m], shape (m + 1, 3).
        limits: Limits by bone.
        free_root: Whether the root may move.

    Returns:
        The tree.

    Raises:
        TreeError: A limit for a bone that is not there.
        LimitError: A limit does not fit its bone.
    """
    m = len(starts)
    children, siblings = np.full(m, -1, np.int64), np.full(m, -1, np.int64)
    for bone, start in enumerate(starts):
        if start > 0:
            siblings[bone] = children[start - 1]
            children[start - 1] = bone
    bones = np.ascontiguousarray(rest[1:] - rest[starts])
    frames = np.zeros((m, 4))
    frames[:, 0] = 1.0
    kinds = np.full(m, FREE_JOINT, np.int64)
    s = Skeleton(
        starts, children, siblings, bones, kinds, np.zeros((m, 6)), np.zeros((m, 3)), frames,
        np.array([int(free_root)], np.int64),
    )  # fmt: skip
    for bone, limit in limits.items():
        check_index("limits", bone, m)
        kinds[bone] = limit.write(bone, bones[bone], s.bounds[bone], s.axes[bone], frames[bone])
    return s


def make_goals(
    starts: IntArray,
    targets: Mapping[int, npt.ArrayLike],
    orientations: Mapping[int, npt.ArrayLike],
    loops: Iterable[tuple[int, int]],
    free_root: bool,
) -> Goals:
    """Collect the goals of a tree.

    Args:
        starts: Starting joint of each bone, shape (m,).
        targets: Places [m] by joint, shape (3,) each.
        orientations: Rotations against rest by bone, shape (3, 3) each.
        loops: Pairs of joints that should coincide.
        free_root: Whether the root may move.

    Returns:
        The goals.

    Raises:
        TreeError: An index is not in the tree, the fixed root has a target, or nothing is asked.
        ShapeError, NotFiniteError, OutOfRangeError, NotARotationError: A bad value.
    """
    m = len(starts)
    active = np.zeros(m, np.int64)
    points = np.empty((len(targets), 3))
    for row, (joint, target) in enumerate(targets.items()):
        check_index("targets", joint, m + 1)
        if joint == 0 and not free_root:
            raise TreeError("the root is fixed and cannot have a target")
        points[row] = fresh_point(f"target of joint {joint}", target)
        check_points(f"target of joint {joint}", points[row])
    turns = np.empty((len(orientations), 4))
    for row, (bone, rotation) in enumerate(orientations.items()):
        check_index("orientations", bone, m)
        turns[row] = checked_quaternion(rotation)
    pairs = _pairs(loops, m + 1)
    joints, turned = np.array(list(targets), np.int64), np.array(list(orientations), np.int64)
    for joint in (*joints, *(turned + 1), *pairs.ravel()):
        while joint > 0:
            active[joint - 1] = 1
            joint = starts[joint - 1]
    if not len(joints) + len(turned) + len(pairs):
        raise TreeError("nothing is asked: no target, orientation or loop")
    return Goals(joints, points, turned, turns, pairs, active)


def checked_quaternion(rotation: npt.ArrayLike) -> FloatArray:
    """Return a rotation, shape (3, 3), as a unit quaternion (w, x, y, z).

    Raises:
        ShapeError, NotFiniteError, NotARotationError: It is none.
    """
    return wxyz_from_matrix(
        RigidTransform.from_rotation_translation(rotation, np.zeros(3)).rotation
    )


def _pairs(loops: Iterable[tuple[int, int]], joints: int) -> IntArray:
    """Return loops as rows, shape (l, 2), or raise TreeError."""
    pairs = [tuple(pair) for pair in loops]
    for pair in pairs:
        if len(pair) != 2:
            raise TreeError(f"a loop is a pair of joints, got {pair}")
        check_index("loops", pair[0], joints)
        check_index("loops", pair[1], joints)
        if pair[0] == pair[1]:
            raise TreeError(f"a loop needs two joints, got {pair[0]} twice")
    return np.array(pairs, np.int64).reshape(-1, 2)


def check_index(name: str, index: int, count: int) -> None:
    """Raise TreeError unless an index is a whole number in 0 … count − 1."""
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise TreeError(f"{name} are keyed by whole numbers, got {index!r}")
    if not 0 <= index < count:
        raise TreeError(f"{name} must be between 0 and {count - 1}, got {index}")


def path(starts: IntArray, a: int, b: int) -> list[int]:
    """Return the bones between two joints, in no particular order."""
    ways: list[set[int]] = []
    for joint in (a, b):
        way: set[int] = set()
        while joint > 0:
            way.add(joint - 1)
            joint = int(starts[joint - 1])
        ways.append(way)
    return sorted(ways[0] ^ ways[1])

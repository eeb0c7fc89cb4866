# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Converts the joints on a path to arrays for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.robot.elements import shown
from basis_ik.robot.joint_path import ChainError, Step, path_between, refuse_unusable_joints
from basis_ik.robot.link_tree import Tree
from basis_ik.robot.urdf import Joint
from basis_ik.robot.variables import Variable, find_variable, tie_of
from basis_ik.transforms.rigid import RigidTransform


class _Moving(NamedTuple):
    """A moving joint of `ChainArrays`."""

    origin: RigidTransform
    prismatic: int
    variable: int
    multiplier: float
    offset: float


class Fold(NamedTuple):
    """A path whose fixed joints are merged into their neighbours.

    Attributes:
        steps: The joints on the path, including fixed ones.
        arrays: The arrays for kernels.
        variables: The independent joints, in the order of q.
        links: Each link on the path: its name, the moving joint it is fixed to (-1: the root link),
            and the constant transform from that joint's moved frame.
    """

    steps: tuple[Step, ...]
    arrays: ChainArrays
    variables: tuple[Variable, ...]
    links: tuple[tuple[str, int, RigidTransform], ...]


def fold(model: Tree, root: str, tip: str) -> Fold:
    """Convert the path between two links to arrays.

    Raises:
        ChainError: No joint moves between the two, or a joint is not supported.
    """
    steps = path_between(root, tip, model.joints)
    refuse_unusable_joints(steps)
    names: list[str] = []
    moving: list[_Moving] = []
    carry = RigidTransform.identity()  # from the last moving joint's moved frame to the link
    links = [(root, -1, carry)]
    for joint, upwards in steps:
        tie = tie_of(joint, model.mimics)
        if not joint.moves or tie.multiplier == 0.0:
            still = joint.origin @ motion(joint, tie.offset) if joint.moves else joint.origin
            carry = carry @ (still.inverse() if upwards else still)
        else:
            if tie.joint not in names:
                names.append(tie.joint)
            turn = turn_to_axis(joint.axis)
            before, after = joint.origin @ turn, turn.inverse()
            sign = 1.0
            if upwards:  # (O A M(v) Aᵀ)⁻¹ = A M(-v) (O A)⁻¹
                before, after, sign = turn, before.inverse(), -1.0
            moving.append(
                _Moving(
                    carry @ before,
                    int(joint.kind == "prismatic"),
                    names.index(tie.joint),
                    sign * tie.multiplier,
                    sign * tie.offset,
                )
            )
            carry = after
        links.append((joint.parent if upwards else joint.child, len(moving) - 1, carry))
    if not moving:
        raise ChainError(
            f"no joint moves between {shown(root)} and {shown(tip)}; choose another root or tip"
        )
    variables = tuple(find_variable(name, model) for name in names)
    return Fold(tuple(steps), _arrays(moving, carry, variables), variables, tuple(links))


def _arrays(
    moving: list[_Moving],
    tip: RigidTransform,
    variables: tuple[Variable, ...],
) -> ChainArrays:
    return ChainArrays(
        origins=np.array([joint.origin.matrix[:3] for joint in moving]),
        prismatic=np.array([joint.prismatic for joint in moving], np.int64),
        variables=np.array([joint.variable for joint in moving], np.int64),
        multipliers=np.array([joint.multiplier for joint in moving]),
        offsets=np.array([joint.offset for joint in moving]),
        tip=np.array(tip.matrix[:3]),
        lower=np.array([variable.lower for variable in variables]),
        upper=np.array([variable.upper for variable in variables]),
        continuous=np.array([variable.continuous for variable in variables], np.int64),
    )


def turn_to_axis(axis: FloatArray) -> RigidTransform:
    """Return the smallest rotation from +z to a unit axis, shape (3,).

    It is exact for the six coordinate directions. For axes with negative z it is a rotation to the
    opposite axis and half a turn about x, so that the divisor stays away from zero.
    """
    x, y, z = axis.tolist()
    if z < 0.0:
        flip = np.diag((1.0, -1.0, -1.0))
        return RigidTransform.from_rotation_translation(
            turn_to_axis(-axis).rotation @ flip, np.zeros(3)
        )
    # Rodrigues with v = z × axis = (-y, x, 0): I + [v] + [v]² / (1 + z).
    k = 1.0 / (1.0 + z)
    rotation = np.array(
        (
            (1.0 - x * x * k, -x * y * k, x),
            (-x * y * k, 1.0 - y * y * k, y),
            (-x, -y, z),
        )
    )
    return RigidTransform.from_rotation_translation(rotation, np.zeros(3))


def motion(joint: Joint, value: float) -> RigidTransform:
    """Return the motion of a joint at a constant value."""
    if joint.kind == "prismatic":
        return RigidTransform.from_rotation_translation(np.eye(3), joint.axis * value)
    return RigidTransform.from_axis_angle(joint.axis, value)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pose of any link of a robot, on a chain or not."""

from __future__ import annotations

from collections.abc import Mapping

from basis_ik.errors import BasisIkError
from basis_ik.robot.build import motion
from basis_ik.robot.elements import listed, shown
from basis_ik.robot.joint_path import check_link, path_between, refuse_unusable_joints
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.variables import tie_of
from basis_ik.transforms.rigid import RigidTransform


class UnknownPositionError(BasisIkError, ValueError):
    """A link cannot be placed, because joints on the path to it have no known position.

    Attributes:
        link: The link.
        joints: Those joints.
    """

    def __init__(self, link: str, joints: tuple[str, ...]) -> None:
        super().__init__(f"{shown(link)} hangs on {listed(joints)}, whose position is not known")
        self.link = link
        self.joints = joints


def place_link(
    model: RobotModel, reference: str, link: str, positions: Mapping[str, float]
) -> RigidTransform:
    """Return reference_T_link.

    Args:
        model: The robot.
        reference: The reference link.
        link: The link to place; it need not be below the reference.
        positions: Positions of the independent joints by name [rad or m], finite. Only joints on
            the path matter; mimic joints follow their masters.

    Raises:
        ChainError: A link does not exist, or a joint on the path is floating, planar or faulty.
        UnknownPositionError: The position of a joint on the path is missing.
    """
    for name in (reference, link):
        check_link(name, model.links, model.joints)
    steps = path_between(reference, link, model.joints)
    refuse_unusable_joints(steps)
    ties = {joint.name: tie_of(joint, model.mimics) for joint, _ in steps if joint.moves}
    # A mimic joint with multiplier zero does not move.
    needed = dict.fromkeys(tie.joint for tie in ties.values() if tie.multiplier != 0.0)
    missing = tuple(name for name in needed if name not in positions)
    if missing:
        raise UnknownPositionError(link, missing)
    pose = RigidTransform.identity()
    for joint, upwards in steps:
        step = joint.origin
        if joint.moves:
            tie = ties[joint.name]
            moved = tie.multiplier * positions[tie.joint] if tie.multiplier else 0.0
            step = step @ motion(joint, moved + tie.offset)
        pose = pose @ (step.inverse() if upwards else step)
    return pose

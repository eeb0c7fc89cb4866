# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot's links as a transform tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from basis_ik.errors import BasisIkError
from basis_ik.robot.link_tree import position_of
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import Joint
from basis_ik.transforms.tree import TransformTree


class PoseError(BasisIkError, ValueError):
    """A position was given for something other than an independent joint."""

    def __init__(self, joint: str, joints: tuple[str, ...]) -> None:
        super().__init__(f"no joint {joint!r} to position; there are {', '.join(joints) or 'none'}")
        self.joint = joint
        self.joints = joints


def scene(model: RobotModel, positions: Mapping[str, float]) -> TransformTree:
    """Return a robot's links as frames, at given joint positions.

    Args:
        model: The robot.
        positions: Positions of independent joints by name [rad or m]; others are at 0. Limits are
            not checked.

    Returns:
        A tree from the root link down. Floating and planar joints are at their origin; links below
        a faulty joint are omitted.

    Raises:
        PoseError: A name is not that of an independent joint.
        NotFiniteError: A value is NaN or infinite.
    """
    sound = [joint for joint in model.joints.values() if not joint.fault]
    movable = tuple(joint.name for joint in sound if joint.moves and joint.mimic is None)
    for name in positions:
        if name not in movable:
            raise PoseError(name, movable)
    below: dict[str, list[Joint]] = defaultdict(list)
    for joint in sound:
        below[joint.parent].append(joint)
    tree, waiting = TransformTree(model.root), [model.root]
    while waiting:
        for joint in below[waiting.pop()]:
            place = joint.at(position_of(model, joint, positions))
            tree.add(joint.child, joint.parent, place)
            waiting.append(joint.child)
    return tree

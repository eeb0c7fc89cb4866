# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Assumed masses for links without stated ones, from their lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.build import turn_to_axis
from basis_ik.robot.dynamics import Inertial
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import Joint
from basis_ik.transforms.rigid import RigidTransform


class AssumedLink(NamedTuple):
    """The cylinder that a link without a stated mass is taken for."""

    density: float = 1000.0  # [kg/m³], mean of a link; arms are hollow metal with drives inside
    slenderness: float = 8.0  # length of a link, in radii
    least_length: float = 0.1  # fraction of the longest link's; two joints often coincide
    only_length: float = 0.1  # [m], of all links if none has one


ASSUMED_LINK = AssumedLink()


def assume_inertials(model: RobotModel, stated: Mapping[str, Inertial]) -> dict[str, Inertial]:
    """Return masses for moving links without a stated mass, on them or on links fixed to them.

    Each is a solid cylinder from the link's joint to the farthest joint or frame that is fixed to
    it.

    Args:
        model: The robot.
        stated: The stated masses by link.

    Returns:
        The assumed masses by link, in the order of the joints.
    """
    tips, bare = {}, []
    for joint in model.joints.values():
        if is_moving(joint):
            group = dict(rigid_group(model, joint.child))
            tips[joint.child] = _farthest(model, group)
            if not stated.keys() & group.keys():
                bare.append(joint.child)
    longest = max((float(np.linalg.norm(tip)) for tip in tips.values()), default=0.0)
    shortest = ASSUMED_LINK.least_length * longest or ASSUMED_LINK.only_length
    return {link: _cylinder(tips[link], shortest) for link in bare}


def is_moving(joint: Joint) -> bool:
    """Return whether the simulation moves a joint; all others are rigid."""
    return joint.moves and not joint.fault


def rigid_group(model: RobotModel, link: str) -> Iterator[tuple[str, RigidTransform]]:
    """Yield a link and all links fixed to it below, with link_T_each."""
    waiting = [(link, RigidTransform.identity())]
    while waiting:
        name, place = waiting.pop()
        yield name, place
        waiting += [
            (joint.child, place @ joint.origin)
            for joint in model.joints.values()
            if joint.parent == name and not is_moving(joint)
        ]


def _farthest(model: RobotModel, group: Mapping[str, RigidTransform]) -> FloatArray:
    """Return the farthest origin of the frames and next joints of a rigid group, (3,) [m]."""
    places = [place.translation for place in group.values()]
    places += [
        group[joint.parent].apply(joint.origin.translation)
        for joint in model.joints.values()
        if joint.parent in group
    ]
    return max(places, key=lambda place: float(np.linalg.norm(place)))


def _cylinder(tip: FloatArray, shortest: float) -> Inertial:
    """Return a solid cylinder from the origin towards a point; along z if that is the origin."""
    length = float(np.linalg.norm(tip))
    axis = tip / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    length = max(length, shortest)
    radius = length / ASSUMED_LINK.slenderness
    mass = ASSUMED_LINK.density * np.pi * radius**2 * length
    along = 0.5 * mass * radius**2
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    turn = turn_to_axis(axis)
    place = RigidTransform.from_rotation_translation(turn.rotation, 0.5 * length * axis)
    return Inertial(mass, place, np.diag([across, across, along]))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The dynamics of a robot from its URDF: masses, inertias, friction and collision shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import Element, UrdfError, read_xml
from basis_ik.robot.grammar import number, origin_of
from basis_ik.robot.urdf_version import Version, version_of
from basis_ik.robot.visuals import Visual, read_visuals
from basis_ik.transforms.rigid import RigidTransform


@dataclass(frozen=True, eq=False)
class Inertial:
    """The mass of a link.

    Attributes:
        mass: Mass [kg], above zero.
        link_T_mass: Pose of the centre of mass and of the inertia's axes.
        inertia: Inertia about the centre of mass, shape (3, 3) [kg m²], positive definite.
    """

    mass: float
    link_T_mass: RigidTransform
    inertia: FloatArray


@dataclass(frozen=True)
class JointFriction:
    """The friction of a joint.

    Attributes:
        damping: Effort per unit of velocity [Nm s/rad or N s/m].
        friction: Effort of dry friction [Nm or N].
    """

    damping: float
    friction: float


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The masses, frictions and shapes of a robot; missing and invalid ones are omitted.

    Attributes:
        inertials: Inertials by link.
        frictions: Frictions by joint.
        collisions: Collision shapes.
        notes: What was omitted of these, one line each.
    """

    inertials: Mapping[str, Inertial]
    frictions: Mapping[str, JointFriction]
    collisions: tuple[Visual, ...]
    notes: tuple[str, ...] = ()


def read_dynamics(text: str) -> Dynamics:
    """Read the dynamics of a URDF text that `RobotModel.from_urdf` accepts.

    Raises:
        UrdfError: See `basis_ik.robot.elements.read_xml`.
    """
    robot = read_xml(text)
    version, _ = version_of(robot)
    inertials, frictions = {}, {}
    for link in robot.all("link"):
        inertial = _inertial(link, version)
        if inertial is not None:
            inertials[link.attributes.get("name", "")] = inertial
    for joint in robot.all("joint"):
        friction = _friction(joint)
        if friction is not None:
            frictions[joint.attributes.get("name", "")] = friction
    collisions, unreadable = read_visuals(robot, "collision", version)
    return Dynamics(inertials, frictions, collisions, unreadable)


def _inertial(link: Element, version: Version) -> Inertial | None:
    try:
        element = link.only("inertial")
        mass = element.only("mass") if element is not None else None
        inertia = element.only("inertia") if element is not None else None
        if element is None or mass is None or inertia is None:
            return None
        where = "inertial"
        kilograms = number(mass, "value", 0.0, where)
        xx, yy, zz, xy, xz, yz = (
            number(inertia, name, 0.0, where) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        )
        place = origin_of(element, where, version)
    except UrdfError:
        return None
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not (kilograms > 0.0 and np.all(np.linalg.eigvalsh(matrix) > 0.0)):
        return None
    return Inertial(kilograms, place, matrix)


def _friction(joint: Element) -> JointFriction | None:
    try:
        element = joint.only("dynamics")
        if element is None:
            return None
        damping = number(element, "damping", 0.0, "dynamics")
        friction = number(element, "friction", 0.0, "dynamics")
    except UrdfError:
        return None
    return JointFriction(max(damping, 0.0), max(friction, 0.0))

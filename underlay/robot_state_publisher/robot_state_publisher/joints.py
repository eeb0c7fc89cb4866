# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A URDF's joints, as far as the frames of its links need them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

from urdf_parser_py.urdf import URDF

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
MOVING = ("revolute", "continuous", "prismatic")


class DescriptionError(ValueError):
    """A robot description that describes no tree of links; the message is one line."""


@dataclass(frozen=True)
class Joint:
    """One joint; lengths in metres, angles in radians, quaternions in the order x, y, z, w.

    `mimic` holds (master, multiplier, offset): the joint's value is multiplier * master + offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    xyz: Vector
    quaternion: Quaternion
    axis: Vector
    mimic: tuple[str, float, float] | None

    def transform(self, value: float = 0.0) -> tuple[Vector, Quaternion]:
        """Return where the child stands in the parent when the joint stands at `value`."""
        if self.kind == "prismatic":
            along = _rotated(self.quaternion, self.axis)
            x, y, z = (p + value * a for p, a in zip(self.xyz, along, strict=True))
            return (x, y, z), self.quaternion
        sine, cosine = math.sin(value / 2), math.cos(value / 2)
        x, y, z = self.axis
        return self.xyz, _product(self.quaternion, (x * sine, y * sine, z * sine, cosine))


def read_joints(text: str) -> list[Joint]:
    """Return the joints of a URDF.

    Raises:
        DescriptionError: it is not a URDF, or its links and joints do not form one tree.
    """
    try:
        root = ElementTree.fromstring(text)
        for element in list(root):
            # Simulators and controllers put their own elements beside these; they are none of ours.
            if element.tag not in ("link", "joint", "material"):
                root.remove(element)
        robot = URDF.from_xml_string(ElementTree.tostring(root))
        joints = [_joint(joint) for joint in robot.joints]
    except DescriptionError:
        raise
    except Exception as error:  # the parser raises whatever Python raises on the way
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DescriptionError(f"the robot description is not a valid URDF: {reason}") from error
    _check_tree([link.name for link in robot.links], joints)
    return joints


def _joint(joint) -> Joint:
    roll, pitch, yaw = joint.origin.rpy if joint.origin and joint.origin.rpy else (0, 0, 0)
    xyz = tuple(joint.origin.xyz) if joint.origin and joint.origin.xyz else (0.0, 0.0, 0.0)
    axis = tuple(joint.axis) if joint.axis else (1.0, 0.0, 0.0)
    length = math.hypot(*axis)
    mimic = None
    if joint.mimic:
        multiplier, offset = joint.mimic.multiplier, joint.mimic.offset
        mimic = (joint.mimic.joint, 1.0 if multiplier is None else multiplier, offset or 0.0)
    if not all(map(math.isfinite, (*xyz, roll, pitch, yaw, *axis, *(mimic[1:] if mimic else ())))):
        raise DescriptionError(f"joint '{joint.name}' holds a number that is not finite")
    if joint.type in MOVING and not length > 0:
        raise DescriptionError(f"joint '{joint.name}' has an axis of length zero")
    quaternion = (0.0, 0.0, 0.0, 1.0)
    for turn, about in ((yaw, (0, 0, 1)), (pitch, (0, 1, 0)), (roll, (1, 0, 0))):
        sine = math.sin(turn / 2)
        quaternion = _product(quaternion, (*(sine * a for a in about), math.cos(turn / 2)))
    axis = tuple(a / length for a in axis) if length else axis
    return Joint(joint.name, joint.type, joint.parent, joint.child, xyz, quaternion, axis, mimic)


def _check_tree(links: list[str], joints: list[Joint]) -> None:
    for kind, names in (("link", links), ("joint", [joint.name for joint in joints])):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise DescriptionError(f"the URDF names a {kind} twice: {', '.join(twice)}")
    parents: dict[str, str] = {}
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in links:
                raise DescriptionError(f"joint '{joint.name}' names an unknown link '{link}'")
        if joint.child in parents:
            raise DescriptionError(f"link '{joint.child}' is the child of two joints")
        parents[joint.child] = joint.parent
    roots = [link for link in links if link not in parents]
    if len(roots) != 1:
        found = ", ".join(roots) or "none, the joints form a loop"
        raise DescriptionError(f"the URDF must have one root link, and has {found}")
    for link in links:
        seen = {link}
        while link in parents:
            link = parents[link]
            if link in seen:
                raise DescriptionError(f"the joints form a loop through link '{link}'")
            seen.add(link)


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _rotated(q: Quaternion, v: Vector) -> Vector:
    x, y, z, _ = _product(_product(q, (*v, 0.0)), (-q[0], -q[1], -q[2], q[3]))
    return x, y, z

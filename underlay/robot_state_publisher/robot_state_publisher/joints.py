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

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
MOVING = ("revolute", "continuous", "prismatic")


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
        ValueError: it is none; the message is one line.
    """
    try:
        return [_joint(element) for element in ElementTree.fromstring(text).findall("joint")]
    except (
        ElementTree.ParseError,
        AttributeError,
        KeyError,
        ValueError,
        ZeroDivisionError,
    ) as error:
        raise ValueError(f"robot_description is not a valid URDF: {error}") from error


def _joint(joint: ElementTree.Element) -> Joint:
    name, kind = joint.attrib["name"], joint.attrib["type"]
    roll, pitch, yaw = _vector(joint.find("origin"), "rpy", (0.0, 0.0, 0.0))
    quaternion = (0.0, 0.0, 0.0, 1.0)
    for turn, about in ((yaw, (0, 0, 1)), (pitch, (0, 1, 0)), (roll, (1, 0, 0))):
        sine = math.sin(turn / 2)
        quaternion = _product(quaternion, (*(sine * a for a in about), math.cos(turn / 2)))
    x, y, z = _vector(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z) if kind in MOVING else 1.0
    mimic = joint.find("mimic")
    return Joint(
        name,
        kind,
        joint.find("parent").attrib["link"],
        joint.find("child").attrib["link"],
        _vector(joint.find("origin"), "xyz", (0.0, 0.0, 0.0)),
        quaternion,
        (x / length, y / length, z / length),
        None
        if mimic is None
        else (
            mimic.attrib["joint"],
            float(mimic.get("multiplier", 1.0)),
            float(mimic.get("offset", 0.0)),
        ),
    )


def _vector(element: ElementTree.Element | None, name: str, default: Vector) -> Vector:
    text = None if element is None else element.get(name)
    if text is None:
        return default
    x, y, z = map(float, text.split())
    return x, y, z


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

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
from dataclasses import dataclass
from xml.etree import ElementTree

from tf2_ros.history import IDENTITY, Pose, Vector, compose, placed, turned

MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Joint:
    """One joint; lengths in metres, angles in radians.

    `mimic` holds (master, multiplier, offset): the joint's value is multiplier * master + offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Vector
    mimic: tuple[str, float, float] | None

    def pose(self, value: float = 0.0) -> Pose:
        """Return where the child stands in the parent when the joint stands at `value`."""
        if self.kind == "prismatic":
            x, y, z = self.axis
            return compose(self.origin, ((value * x, value * y, value * z), IDENTITY[1]))
        return compose(self.origin, turned(self.axis, value))


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
    xyz, rpy = (_vector(joint.find("origin"), part, (0.0, 0.0, 0.0)) for part in ("xyz", "rpy"))
    x, y, z = _vector(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z) if kind in MOVING else 1.0
    mimic = None
    if (found := joint.find("mimic")) is not None:
        multiplier, offset = float(found.get("multiplier", 1.0)), float(found.get("offset", 0.0))
        mimic = (found.attrib["joint"], multiplier, offset)
    parent, child = (joint.find(end).attrib["link"] for end in ("parent", "child"))
    axis = (x / length, y / length, z / length)
    return Joint(name, kind, parent, child, placed(xyz, rpy), axis, mimic)


def _vector(element: ElementTree.Element | None, name: str, default: Vector) -> Vector:
    text = None if element is None else element.get(name)
    if text is None:
        return default
    x, y, z = map(float, text.split())
    return x, y, z

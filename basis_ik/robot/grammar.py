# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads names and numbers in a robot description, by a strict grammar."""

from __future__ import annotations

import re

from basis_ik.robot.elements import XACRO_HINT, Element, UrdfError, shown
from basis_ik.robot.urdf_version import QUATERNIONS, Version, spelled
from basis_ik.transforms.checks import QuaternionError
from basis_ik.transforms.rigid import RigidTransform

LARGEST_NUMBER = 1e100
"""Largest number; the difference of two numbers must also be finite."""

MAX_OFFSET = 1e6
"""Largest coordinate of an origin [m], and largest mimic multiplier and offset."""

LONGEST_URDF_NAME = 255

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def name_in(element: Element, attribute: str = "name") -> str:
    """Return a visible name that a tf frame may have.

    Raises:
        UrdfError: It is missing, blank, an xacro expression, too long, or has control characters.
    """
    value = element.attributes.get(attribute, "")
    if not value.strip():
        raise UrdfError(f"<{element.tag}> lacks its {attribute}", line=element.line)
    check_name(value, element)
    if "${" in value or "$(" in value:
        raise UrdfError(f"{attribute} {shown(value)}: {XACRO_HINT}", line=element.line)
    return value


def check_name(value: str, element: Element) -> None:
    """Refuse a name that is not suitable for log lines and messages.

    Raises:
        UrdfError: It is longer than `LONGEST_URDF_NAME`, or has control characters.
    """
    if len(value) > LONGEST_URDF_NAME or not value.isprintable():
        raise UrdfError(
            f"<{element.tag}> is named {shown(value)}: give it at most {LONGEST_URDF_NAME}"
            " printable characters",
            line=element.line,
        )


def numbers(
    element: Element, attribute: str, count: int, where: str, largest: float = LARGEST_NUMBER
) -> list[float]:
    """Return an attribute's finite numbers in decimal notation.

    `float` would accept nan, inf, 1_000, and digits of other scripts. Numbers are separated by
    blanks, or by a comma and blanks.

    Args:
        element: The element that has the attribute.
        attribute: Its name.
        count: Required number of numbers.
        where: Name of the place in errors.
        largest: Largest allowed number.

    Raises:
        UrdfError: The count differs, or a word is not a finite number.
    """
    value = element.attributes[attribute]
    words = re.split(r",?\s+", value.strip())
    place = f"{where}: <{element.tag} {attribute}={shown(value)}>"
    if "${" in value or "$(" in value:
        raise UrdfError(f"{place}: {XACRO_HINT}", line=element.line)
    if len(words) != count:
        raise UrdfError(f"{place} needs {count} numbers, has {len(words)}", line=element.line)
    for word in words:
        if not _DECIMAL.fullmatch(word) or not abs(float(word)) <= largest:
            raise UrdfError(f"{place}: {shown(word)} is no finite number", line=element.line)
    return [float(word) for word in words]


def number(
    element: Element, attribute: str, default: float, where: str, largest: float = LARGEST_NUMBER
) -> float:
    """Return an attribute's single number; the default if it is missing.

    Raises:
        UrdfError: As `numbers`.
    """
    if attribute not in element.attributes:
        return default
    return numbers(element, attribute, 1, where, largest)[0]


def origin_of(element: Element, where: str, version: Version) -> RigidTransform:
    """Return an element's <origin>; the identity if it has none.

    Raises:
        UrdfError: As `numbers`; its distance exceeds `MAX_OFFSET`; or it has a quaternion that is
            not of unit length, stands beside `rpy`, or is none in this version.
    """
    origin = element.only("origin")
    if origin is None:
        return RigidTransform.identity()
    xyz = numbers(origin, "xyz", 3, where) if "xyz" in origin.attributes else [0.0] * 3
    if not max(abs(value) for value in xyz) <= MAX_OFFSET:
        raise UrdfError(f"{where}: its origin is beyond {MAX_OFFSET:g} m", line=origin.line)
    if "quat_xyzw" in origin.attributes:
        return _turned(origin, xyz, where, version)
    rpy = numbers(origin, "rpy", 3, where) if "rpy" in origin.attributes else [0.0] * 3
    return RigidTransform.from_rpy(rpy[0], rpy[1], rpy[2], xyz)


def _turned(origin: Element, xyz: list[float], where: str, version: Version) -> RigidTransform:
    """Return an <origin> with a quaternion.

    urdfdom 6 ignores the quaternion in a description of 1.0, and normalises any; here both are
    faults, because the arm would go to wrong places.
    """
    if version.number < QUATERNIONS:
        raise UrdfError(
            f"{where}: quat_xyzw of <origin> needs version {spelled(QUATERNIONS)}, and this is"
            f" {version}; state the version in <robot>, or use rpy",
            line=origin.line,
        )
    if "rpy" in origin.attributes:
        raise UrdfError(f"{where}: <origin> has both rpy and quat_xyzw; keep one", line=origin.line)
    quaternion = numbers(origin, "quat_xyzw", 4, where)
    try:
        return RigidTransform.from_quaternion_xyzw(quaternion, xyz)
    except QuaternionError as error:
        text = f"{where}: quat_xyzw of <origin> has length {error.norm:.6g}; it must be 1"
        raise UrdfError(text, line=origin.line) from None

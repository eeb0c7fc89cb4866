# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The version of the format that a robot description states."""

from __future__ import annotations

import re
from typing import NamedTuple

from basis_ik.robot.elements import Element, shown

Number = tuple[int, int]

KNOWN_VERSIONS: tuple[Number, ...] = ((1, 0), (1, 1), (1, 2))
QUATERNIONS: Number = (1, 1)
"""First version with quaternions in origins; a description of 1.0 means none by `quat_xyzw`."""
MOTION_LIMITS: Number = (1, 2)
"""First version with limits of acceleration and jerk, and with strict position limits."""

_STATED = re.compile(r"\s*([0-9]{1,6})(?:\.([0-9]{1,6}))?", re.ASCII)


class Version(NamedTuple):
    """The version that a description is read by.

    Attributes:
        number: One of `KNOWN_VERSIONS`.
        known: Whether the description states that version, or none, which means 1.0.
    """

    number: Number
    known: bool = True

    def __str__(self) -> str:
        return spelled(self.number)


def spelled(number: Number) -> str:
    """Return a version as the attribute of <robot>."""
    return f"{number[0]}.{number[1]}"


def version_of(robot: Element) -> tuple[Version, tuple[str, ...]]:
    """Return the version that a description is read by, and a note if it states another.

    urdfdom 6 refuses other versions. Here the nearest known one is used: not newer than the stated
    one if there is such a one, otherwise the oldest.

    Args:
        robot: The <robot>.
    """
    stated = robot.attributes.get("version", "1.0")
    whole = _STATED.match(stated)
    number = (int(whole[1]), int(whole[2] or 0)) if whole else KNOWN_VERSIONS[0]
    nearest = max((each for each in KNOWN_VERSIONS if each <= number), default=KNOWN_VERSIONS[0])
    known = bool(whole and whole[2] and whole.end() == len(stated.rstrip()) and nearest == number)
    note = (
        f"line {robot.line}: version {shown(stated)} is not one of"
        f" {', '.join(map(spelled, KNOWN_VERSIONS))}: read as {spelled(nearest)}"
    )
    return Version(nearest, known), () if known else (note,)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The elements and attributes of the format, and what a description has besides them.

Whatever is not understood is listed. In a joint it is refused if it could change the motion: a
misspelt `rpy`, or an attribute of a later version of the format, moves an arm to wrong places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple

from basis_ik.robot.elements import Element, UrdfError, shown
from basis_ik.robot.urdf_version import (
    MOTION_LIMITS,
    QUATERNIONS,
    Number,
    Version,
    spelled,
)

MOST_NOT_UNDERSTOOD = 12
"""Largest number of lines about what is not understood."""

_BODY = ("origin", "geometry", "material")

# Tag: its attributes, and the elements in it. A tag means the same everywhere.
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("name", "version"), ("link", "joint", "material")),
    "link": (
        ("name", "type"),  # the type is of the PR2's description
        ("inertial", "visual", "collision"),
    ),
    "inertial": ((), ("origin", "mass", "inertia")),
    "mass": (("value",), ()),
    "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
    "visual": (("name",), _BODY),
    "collision": (("name",), _BODY),
    "geometry": ((), ("box", "cylinder", "sphere", "capsule", "mesh")),
    "box": (("size",), ()),
    "cylinder": (("radius", "length"), ()),
    "sphere": (("radius",), ()),
    "capsule": (("radius", "length"), ()),
    "mesh": (("filename", "scale"), ()),
    "material": (("name",), ("color", "texture")),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
    "joint": (
        ("name", "type"),
        (
            *("origin", "parent", "child", "axis", "limit", "mimic"),
            *("dynamics", "calibration", "safety_controller"),
        ),
    ),
    "origin": (("xyz", "rpy", "quat_xyzw"), ()),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "axis": (("xyz",), ()),
    "limit": (
        ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
        (),
    ),
    "mimic": (("joint", "multiplier", "offset"), ()),
    "dynamics": (("damping", "friction"), ()),
    "calibration": (("rising", "falling", "reference_position"), ()),
    "safety_controller": (
        ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
        (),
    ),
}

FOREIGN_ELEMENTS = frozenset(
    (
        *("gazebo", "transmission", "ros2_control", "sensor", "mujoco", "bullet", "contact"),
        *("verbose", "self_collision_checking", "collision_checking"),
    )
)
"""Elements for other programs, which are not read and not listed."""

_SINCE: dict[tuple[str, str], Number] = {
    ("origin", "quat_xyzw"): QUATERNIONS,
    ("limit", "acceleration"): MOTION_LIMITS,
    ("limit", "deceleration"): MOTION_LIMITS,
    ("limit", "jerk"): MOTION_LIMITS,
}

_GEOMETRY = ("origin", "parent", "child")
_MOTION = ("axis", "limit", "mimic")

# Attributes in published descriptions that do not change the motion, and the only value with which
# they do not, if there is one.
_HARMLESS = {
    ("joint", "dont_collapse"): None,
    ("axis", "rpy"): "0 0 0",
    ("limit", "k_velocity"): None,
    ("limit", "command_effort"): None,
    ("limit", "current"): None,
    ("limit", "gear_velocity"): None,
}


class _Foreign(NamedTuple):
    """Something that is not understood; `since` is the version that has it, if one has."""

    text: str
    since: Number | None = None


def foreign_notes(robot: Element, version: Version) -> tuple[str, ...]:
    """Return notes about all that is not understood, one line for each kind of thing.

    Args:
        robot: The <robot>.
        version: That it is read by.
    """
    counts: Counter[_Foreign] = Counter()
    lines: dict[_Foreign, int] = {}
    for found, line in _foreign(robot, version):
        counts[found] += 1
        lines.setdefault(found, line)
    notes = []
    for found, count in list(counts.items())[:MOST_NOT_UNDERSTOOD]:
        reason = "is not understood"
        if found.since is not None:
            reason = f"needs version {spelled(found.since)}, and this is {version}"
        times = f"line {lines[found]}"
        if count > 1:
            times = f"{count} times, first in {times}"
        notes.append(f"{found.text} {reason}: ignored ({times})")
    if len(counts) > MOST_NOT_UNDERSTOOD:
        notes.append(f"{len(counts) - MOST_NOT_UNDERSTOOD} more kinds of things are not understood")
    return tuple(notes)


def _foreign(robot: Element, version: Version) -> Iterator[tuple[_Foreign, int]]:
    waiting = [robot]
    while waiting:
        element = waiting.pop()
        attributes, children = WORDS[element.tag]
        tag = element.tag
        for name in element.attributes:
            since = _SINCE.get((tag, name), version.number)
            if name not in attributes and not name.startswith(("xmlns", "xsi:")):
                yield _Foreign(f"attribute {shown(name)} of <{tag}>"), element.line
            elif since > version.number:
                yield _Foreign(f"attribute {shown(name)} of <{tag}>", since), element.line
        for child in element.children:
            # What xacro left in <robot> has a note of its own.
            left = tag == "robot" and child.tag.startswith("xacro:")
            if child.tag not in children and child.tag not in FOREIGN_ELEMENTS and not left:
                yield _Foreign(f"<{shown(child.tag)[1:-1]}> in <{tag}>"), child.line
        waiting += [child for child in reversed(element.children) if child.tag in children]


def refuse_foreign(joint: Element, moves: bool, version: Version, where: str) -> None:
    """Refuse a joint with something that is not understood and could change its motion.

    Names with a prefix, like `drake:acceleration`, are for other programs.

    Args:
        joint: The <joint>.
        moves: Whether it has one degree of freedom.
        version: That the description is read by.
        where: Its name in errors.

    Raises:
        UrdfError: It has an attribute that is not understood, or such an element: any, if the
            version is not known; otherwise one that is named like an element of the motion.
    """
    words = (*_GEOMETRY, *(_MOTION if moves else ()))
    for element in (joint, *(child for child in joint.children if child.tag in words)):
        for name, value in element.attributes.items():
            if name in WORDS[element.tag][0] or ":" in name:
                continue
            harmless = _HARMLESS.get((element.tag, name), "")
            if harmless is None or harmless == value.strip():
                continue
            raise UrdfError(
                f"{where}: attribute {shown(name)} of <{element.tag}> is not understood, and could"
                " change its motion; remove or correct it",
                line=element.line,
            )
    for child in joint.children:
        if child.tag in WORDS["joint"][1] or child.tag in FOREIGN_ELEMENTS or ":" in child.tag:
            continue
        similar = get_close_matches(child.tag.lower(), words, 1, 0.75)
        if similar or not version.known:
            remedy = f"is it <{similar[0]}>?" if similar else "remove it"
            raise UrdfError(
                f"{where}: <{shown(child.tag)[1:-1]}> is not understood, and could change its"
                f" motion; {remedy}",
                line=child.line,
            )

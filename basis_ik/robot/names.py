# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the names of links and joints say, in any spelling.

`tool0`, `arm1/tool0`, `arm1-Tool0` and `arm1.tool0` are one name with and without a prefix: each
name is split into words before a rule looks at it.
"""

from __future__ import annotations

import re

from basis_ik.robot.urdf import Joint

_BREAK = re.compile(
    r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Za-z])"
)
_DIGIT = re.compile(r"fi?nge?r|thumb|knuckle")
_WRIST = r"yaw|pitch|roll(?!er)|rotat|twist|swivel|wrist"
_JAW = rf"{_DIGIT.pattern}|jaw|claw|gripper\w*mov(e|ing)|mov(e|ing)\w*gripper"
_FINGER_JOINT = re.compile(  # a gripper's yaw is a wrist joint
    rf"{_DIGIT.pattern}|(gripper|jaw|claw)(?!\w*({_WRIST}))"
)
_FINGER_LINK = re.compile(rf"^(?!\w*(fixed|static|base|body|palm|mount|tip))\w*({_JAW})")
_WRIST_JOINT = re.compile(_WRIST)
_WHEEL = re.compile(r"wheel|caster|castor")

_BASES = (r"(^|_)base_link$", r"(^|_)base$", r"(^|_)link_?0$")
_WORLD = re.compile(r"(^|_)(world|map|odom|base_footprint)$")
_TIPS = (
    r"(^|_)tcp$|tool_?center_?point",
    r"(^|_)tool_?0?$|tool_frame$|tool_link$",
    r"(^|_)(ee|eef|end_?effector)(_link|_frame)?$",
    r"grasp|pinch|gripper_frame(_link)?$",
    r"(^|_)(hand|palm|gripper)(_link|_base)?$",
    r"(^|_)flange(_link|_frame)?$",
)
_EYES = (r"optical_frame$", r"camera(_link|_frame)?$")
_SHAPE = re.compile(r"_(sc|collisions?|visuals?|inertial?|com|mesh)$")
_Z_AHEAD = re.compile(r"(^|_)(optical|tool0$|tcp$)")


def words(name: str) -> str:
    """Return a name as lower-case words with `_` between them, whatever separates them in it."""
    return _BREAK.sub("_", name).lower()


def forward_axis(link: str) -> tuple[float, float, float]:
    """Return the forward axis of a link by its name, (3,) in the link's coordinates.

    It is z for optical frames (REP-103) and tools (`tool0` of ROS-Industrial, and `tcp`), and x
    for all others.
    """
    return (0.0, 0.0, 1.0) if _Z_AHEAD.search(words(link)) else (1.0, 0.0, 0.0)


def is_finger(joint: Joint) -> bool:
    """Return whether a joint is named like a finger's or a jaw's, or the link that it moves is."""
    name = words(joint.name)
    if _FINGER_JOINT.search(name):
        return True
    return not _WRIST_JOINT.search(name) and _FINGER_LINK.search(words(joint.child)) is not None


def is_digit(joint: Joint) -> bool:
    """Return whether a joint is a hand's finger or thumb, by its name or its link's name."""
    return _DIGIT.search(words(f"{joint.name} {joint.child}")) is not None


def is_wheel(joint: Joint) -> bool:
    """Return whether a joint turns a wheel or a caster, by its name or its link's name."""
    return _WHEEL.search(words(f"{joint.name} {joint.child}")) is not None


def is_shape(link: str) -> bool:
    """Return whether a link only holds another link's shape or mass, by its name."""
    return _SHAPE.search(words(link)) is not None


def is_eye(link: str) -> bool:
    """Return whether a link is a camera, by its name."""
    return _best([link], _EYES) is not None


def is_world(link: str) -> bool:
    """Return whether a link is named like a frame that a robot stands in."""
    return _WORLD.search(words(link)) is not None


def tip_named(links: list[str], *, holds: bool) -> str | None:
    """Return the link with the best name for a tip, or None.

    Args:
        links: The links of one rigid body, parents first.
        holds: Whether a gripper or hand is on it; the eye beside a hand is not the tip.
    """
    return _best(links[::-1], _TIPS if holds else (*_TIPS, *_EYES))


def root_named(links: list[str]) -> str | None:
    """Return the link with the best name for a root, or None."""
    return _best(links, _BASES)


def _best(links: list[str], patterns: tuple[str, ...]) -> str | None:
    for pattern in patterns:
        for link in links:
            if re.search(pattern, words(link)):
                return link
    return None

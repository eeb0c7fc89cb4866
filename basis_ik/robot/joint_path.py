# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The path from one link to another through the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from basis_ik.errors import BasisIkError
from basis_ik.robot.elements import listed, shown
from basis_ik.robot.urdf import Joint


class ChainError(BasisIkError, ValueError):
    """A robot does not have a requested chain.

    Attributes:
        link: The requested link that does not exist, if that is the fault.
        joint: The faulty joint, if a joint is the fault.
        candidates: Possible links instead of `link`, or tips to choose from.
    """

    def __init__(
        self,
        text: str,
        *,
        link: str | None = None,
        joint: str | None = None,
        candidates: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text)
        self.link = link
        self.joint = joint
        self.candidates = candidates


class Step(NamedTuple):
    """A joint on the path, from parent to child unless `upwards`."""

    joint: Joint
    upwards: bool


def parent_joints(joints: Mapping[str, Joint]) -> dict[str, Joint]:
    """Return the joint above each link, except the root."""
    return {joint.child: joint for joint in joints.values()}


def ends(links: Sequence[str], joints: Mapping[str, Joint]) -> tuple[str, ...]:
    """Return the links without child joints."""
    parents = {joint.parent for joint in joints.values()}
    return tuple(link for link in links if link not in parents)


def check_link(link: str, links: Sequence[str], joints: Mapping[str, Joint]) -> None:
    """Refuse a link that does not exist.

    Raises:
        ChainError: `candidates` has similar names, otherwise the links at the ends of the tree.
    """
    if link in links:
        return
    close = tuple(get_close_matches(str(link), links, n=5, cutoff=0.5))
    if close:
        remedy = f"did you mean {listed(close, 4)}?"
    else:
        close = ends(links, joints)
        remedy = f"the tree ends at {listed(close, 4)}"
    text = f"there is no link {shown(str(link), 40)}; {remedy}"
    raise ChainError(text, link=link, candidates=close)


def path_between(root: str, tip: str, joints: Mapping[str, Joint]) -> list[Step]:
    """Return the joints from one link to another: up to their common ancestor, then down."""
    above = parent_joints(joints)
    up = _to_root(root, above)
    down = _to_root(tip, above)
    while up and down and up[-1] is down[-1]:  # remove joints above the common ancestor
        up.pop()
        down.pop()
    return [Step(joint, True) for joint in up] + [Step(joint, False) for joint in reversed(down)]


def refuse_unusable_joints(steps: Sequence[Step]) -> None:
    """Refuse joints on a path that are faulty, floating or planar.

    Raises:
        ChainError: There is one; `candidates` has the link below it.
    """
    for joint, _ in steps:
        elsewhere = f"start the chain at {shown(joint.child)}"
        if joint.fault:
            text = f"{joint.fault}; the chain needs this joint: correct it, or {elsewhere}"
        elif joint.kind in ("floating", "planar"):
            text = (
                f"joint {shown(joint.name)} on the chain is {joint.kind}, which has no single value"
                f" to solve for; {elsewhere}"
            )
        else:
            continue
        raise ChainError(text, joint=joint.name, candidates=(joint.child,))


def _to_root(link: str, above: Mapping[str, Joint]) -> list[Joint]:
    """Return the joints from a link upwards."""
    joints = []
    while link in above:
        joints.append(above[link])
        link = above[link].parent
    return joints

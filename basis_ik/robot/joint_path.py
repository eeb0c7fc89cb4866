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

"""The way from one link to another through the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from basis_ik.errors import BasisIkError
from basis_ik.robot.elements import listed, shown
from basis_ik.robot.urdf import Joint


class ChainError(BasisIkError):
    """A chain that cannot be made from a robot.

    Attributes:
        link: The link asked for that does not exist, if that is the fault.
        joint: The joint at fault, if it is one.
        candidates: Links that would do in place of `link`, or tips to choose from.
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
    """One joint on the way, walked from parent to child unless `upwards`."""

    joint: Joint
    upwards: bool


def parent_joints(joints: Mapping[str, Joint]) -> dict[str, Joint]:
    """Return for every link but the root the joint above it."""
    return {joint.child: joint for joint in joints.values()}


def ends(links: Sequence[str], joints: Mapping[str, Joint]) -> tuple[str, ...]:
    """Return the links that no joint leaves."""
    parents = {joint.parent for joint in joints.values()}
    return tuple(link for link in links if link not in parents)


def check_link(link: str, links: Sequence[str], joints: Mapping[str, Joint]) -> None:
    """Refuse a link that does not exist, with those that are spelled like it.

    Raises:
        ChainError: `candidates` holds close names, or else the links at the ends of the tree.
    """
    if link in links:
        return
    close = tuple(get_close_matches(str(link), links, n=5, cutoff=0.5))
    if close:
        remedy = f"did you mean {listed(close, 4)}?"
    else:
        close = ends(links, joints)
        remedy = f"the tree ends at {listed(close, 4)}"
    said = f"there is no link {shown(str(link), 40)}; {remedy}"
    raise ChainError(said, link=link, candidates=close)


def path_between(root: str, tip: str, joints: Mapping[str, Joint]) -> list[Step]:
    """Return the joints from one link to another: up to their common ancestor, then down."""
    above = parent_joints(joints)
    up = _to_root(root, above)
    down = _to_root(tip, above)
    while up and down and up[-1] is down[-1]:  # what both share lies above the common ancestor
        up.pop()
        down.pop()
    return [Step(joint, True) for joint in up] + [Step(joint, False) for joint in reversed(down)]


def refuse_unusable_joints(steps: Sequence[Step]) -> None:
    """Refuse joints on a path that have a fault, or are floating or planar: no one value to solve.

    Raises:
        ChainError: There is one; `candidates` holds the link below it.
    """
    for joint, _ in steps:
        elsewhere = f"start the chain at {shown(joint.child)}"
        if joint.fault:
            said = f"{joint.fault}; the chain needs this joint: mend it, or {elsewhere}"
        elif joint.kind in ("floating", "planar"):
            said = (
                f"joint {shown(joint.name)} on the chain is {joint.kind}, which has no single value"
                f" to solve for; {elsewhere}"
            )
        else:
            continue
        raise ChainError(said, joint=joint.name, candidates=(joint.child,))


def _to_root(link: str, above: Mapping[str, Joint]) -> list[Joint]:
    """Return the joints from a link upwards."""
    joints = []
    while link in above:
        joints.append(above[link])
        link = above[link].parent
    return joints

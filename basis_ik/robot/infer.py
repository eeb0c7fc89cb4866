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

"""Infers root and tip of a robot's one obvious arm.

The tree is followed from its root. At a branch, wheels, heads and grippers are excluded, and the
search continues along the arm. If two branches could both be the arm, the caller must choose. All
assumptions are noted for the start-up report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from basis_ik.robot.elements import shown
from basis_ik.robot.joint_path import ChainError, check_link, path_between
from basis_ik.robot.link_tree import Tree
from basis_ik.robot.urdf import Joint

_DIGIT = re.compile(r"finger|thumb|knuckle", re.IGNORECASE)
_FINGER = re.compile(  # a gripper's yaw is a wrist joint
    rf"{_DIGIT.pattern}|(gripper|jaw|claw)(?!\w*(yaw|pitch|roll(?!er)|rotat|twist|swivel|wrist))",
    re.IGNORECASE,
)
_FINGER_JOINTS = 2
"""A branch with more joints than this is not a finger, whatever its name."""
_OBVIOUS = 2
"""A branch is the obvious arm if it has at least this many times the joints of any other."""

_BASES = (r"(^|_)base_link$", r"(^|_)base$", r"(^|_)link_?0$")
_WORLDS = re.compile(r"^(world|map|odom|base_footprint)$")
_TIPS = (
    r"(^|_)tcp$|tool_?center_?point",
    r"(^|_)tool_?0?$|tool_frame$|tool_link$",
    r"(^|_)(ee|eef|end_?effector)(_link|_frame)?$",
    r"grasp|pinch|gripper_frame(_link)?$",
    r"(^|_)(hand|palm|gripper)(_link|_base)?$",
    r"(^|_)flange(_link|_frame)?$",
    r"optical_frame$",
    r"camera(_link|_frame)?$",
)
_Z_AHEAD = re.compile(r"_optical|(^|_)tool0$|(^|_)tcp$")


def forward_axis(link: str) -> tuple[float, float, float]:
    """Return the forward axis of a link by its name, (3,) in the link's coordinates.

    It is z for optical frames (REP-103) and tools (`tool0` of ROS-Industrial, and `tcp`), and x
    for all others.
    """
    return (0.0, 0.0, 1.0) if _Z_AHEAD.search(link) else (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Arm:
    """A path down the tree, so far."""

    body: str  # the topmost link of the rigid body that the last joint moves
    joints: tuple[Joint, ...] = ()
    notes: tuple[str, ...] = ()

    def along(self, joint: Joint) -> _Arm:
        """Extend the path by a joint; a floating or planar joint begins a new chain."""
        if not joint.moves:
            text = f"the chain begins below {joint.kind} joint {joint.name}"
            return _Arm(joint.child, (), (*self.notes, text))
        return replace(self, body=joint.child, joints=(*self.joints, joint))

    def noted(self, text: str) -> _Arm:
        """Add a note about an assumption."""
        return replace(self, notes=(*self.notes, text))


def infer_ends(model: Tree, root: str | None, tip: str | None) -> tuple[str, str, tuple[str, ...]]:
    """Choose the ends of a chain that the caller has not given.

    Args:
        model: The robot.
        root: Root link, or None to choose it.
        tip: Tip link, or None to choose it.

    Returns:
        Root link, tip link, and a note with the reason for each choice.

    Raises:
        ChainError: A given link does not exist, or no arm is obvious; `candidates` lists tips.
    """
    for link in (root, tip):
        if link is not None:
            check_link(link, model.links, model.joints)
    tree = _Branches(model)
    notes: tuple[str, ...] = ()
    if tip is None:
        arm = _obvious_arm(tree, model.root if root is None else root)
        tip, why = _choose_tip(tree, arm)
        notes = (*arm.notes, f"tip {tip}: {why}")
    if root is None:
        root, why = _choose_root(model, tip)
        notes = (f"root {root}: {why}", *notes)
    return root, tip, notes


class _Branches:
    """The joints below each link, and the largest number of joints in each branch."""

    def __init__(self, model: Tree) -> None:
        self.model = model
        self._below: dict[str, list[Joint]] = {link: [] for link in model.links}
        for joint in model.joints.values():
            self._below[joint.parent].append(joint)
        order, waiting = [], [model.root]
        while waiting:
            link = waiting.pop()
            order.append(link)
            waiting += [joint.child for joint in self._below[link]]
        self._depth_below: dict[str, int] = {}
        for link in reversed(order):
            self._depth_below[link] = max((self.depth(j) for j in self._below[link]), default=0)

    def depth(self, joint: Joint) -> int:
        """Return the largest number of independent joints on a path down, including this one."""
        own = int(joint.moves and joint.mimic is None)
        return own + self._depth_below[joint.child]

    def body(self, link: str) -> list[str]:
        """Return a link and all links fixed to it below, parents first."""
        links = [link]
        for known in links:
            links += [joint.child for joint in self._below[known] if joint.kind == "fixed"]
        return links

    def leaving(self, link: str) -> list[Joint]:
        """Return the joints that move something relative to a link's rigid body."""
        return [j for known in self.body(link) for j in self._below[known] if j.kind != "fixed"]


def _obvious_arm(tree: _Branches, root: str) -> _Arm:
    """Follow the one obvious arm from a link to its end.

    Raises:
        ChainError: There is none, or several.
    """
    waiting, found = [_Arm(root)], []
    while waiting:
        arm, ways = _follow(tree, waiting.pop(0))
        waiting += ways
        if not ways:
            found.append(arm)
    if len(found) == 1:
        end = found[0]
        if not end.joints:
            raise ChainError(f"no joint moves below {shown(root)}; there is no arm")
        return end
    found.sort(key=lambda arm: len(arm.joints), reverse=True)
    tips = tuple(_choose_tip(tree, arm)[0] for arm in found)
    choices = [f"{shown(tip)} ({_count(arm.joints)})" for tip, arm in zip(tips, found, strict=True)]
    more = f" and {len(choices) - 8} more" if len(choices) > 8 else ""
    raise ChainError(
        f"no single obvious arm below {shown(root)}; name the tip: {', '.join(choices[:8])}{more}",
        candidates=tips,
    )


def _follow(tree: _Branches, arm: _Arm) -> tuple[_Arm, list[_Arm]]:
    """Return the arm so far, and its continuations: none at its hand, several if undecided."""
    branches = tree.leaving(arm.body)
    live = [joint for joint in branches if tree.depth(joint) > 0]
    if not live:
        only = len(branches) == 1 and branches[0].moves and not _FINGER.search(branches[0].name)
        return arm, [arm.along(branches[0])] if only else []
    fingers = [joint for joint in live if _is_finger(tree, arm, joint, branches)]
    live = [joint for joint in live if joint not in fingers]
    if fingers:
        arm = arm.noted(f"excluded as a gripper: {_names(fingers)}")
    if not live:
        return arm, []
    live.sort(key=tree.depth, reverse=True)
    best, second = tree.depth(live[0]), tree.depth(live[1]) if len(live) > 1 else 0
    if _is_digit(live[0]) and (second or fingers):  # a longer finger beside others is not an arm
        if any(not _is_digit(joint) for joint in arm.joints):
            return arm.noted(f"excluded as a hand: {_names(live)}"), []
        return arm, [arm.along(joint) for joint in (*live, *fingers)]
    if best >= _OBVIOUS * second:
        if second:
            arm = arm.noted(f"excluded, shorter than the arm: {_names(live[1:])}")
        return arm, [arm.along(live[0])]
    if best <= len(arm.joints):
        return arm.noted(f"excluded as a hand: {_names(live)}"), []
    return arm, [arm.along(joint) for joint in live if _OBVIOUS * tree.depth(joint) > best]


def _is_finger(tree: _Branches, arm: _Arm, joint: Joint, branches: Sequence[Joint]) -> bool:
    """Return whether a joint is a finger, by its name or because a joint beside it mimics it.

    This only applies below an arm: if all joints have such names, the robot is a finger or a hand.
    """
    if tree.depth(joint) > _FINGER_JOINTS or all(_FINGER.search(j.name) for j in arm.joints):
        return False
    mimics = tree.model.mimics
    followed = any(
        beside.name in mimics and mimics[beside.name].joint == joint.name for beside in branches
    )
    return followed or _FINGER.search(joint.name) is not None


def _is_digit(joint: Joint) -> bool:
    """Return whether a joint is a hand's finger or thumb, by its name or its link's name."""
    return _DIGIT.search(f"{joint.name} {joint.child}") is not None


def _count(joints: Sequence[Joint]) -> str:
    return f"{len(joints)} joint{'s' * (len(joints) != 1)}"


def _names(joints: Iterable[Joint], limit: int = 8) -> str:
    names = [joint.name for joint in joints]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _choose_tip(tree: _Branches, arm: _Arm) -> tuple[str, str]:
    """Choose among the links fixed to an arm's last moving link; return link and reason."""
    links = tree.body(arm.body)
    among = f"among the links fixed to {arm.body}"
    for pattern in _TIPS:
        named = [link for link in links if re.search(pattern, link, re.IGNORECASE)]
        if named:
            return named[-1], f"by its name {among}" if len(links) > 1 else "the last link"
    fixed = {joint.parent for joint in tree.model.joints.values() if joint.kind == "fixed"}
    ends = [link for link in links if link not in fixed]
    if len(ends) == 1:
        return ends[0], "the last link" if len(links) == 1 else f"the end {among}"
    return arm.body, "the link that the last joint moves; none fixed to it has a tip's name"


def _choose_root(model: Tree, tip: str) -> tuple[str, str]:
    """Choose among the links above the first moving joint on the way to the tip."""
    links = [model.root]
    for step in path_between(model.root, tip, model.joints):
        if step.joint.moves:
            break
        links = [step.joint.child] if step.joint.kind != "fixed" else [*links, step.joint.child]
    for pattern in _BASES:
        for link in links:
            if re.search(pattern, link, re.IGNORECASE):
                return link, "by its name among the links that do not move"
    for link in links:
        if not _WORLDS.search(link):
            return link, "the first link that does not move"
    return links[-1], "the last link that does not move"

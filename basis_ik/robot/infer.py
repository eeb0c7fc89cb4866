# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Infers root and tip of a robot's one obvious arm.

The tree is followed from its root. At a branch, wheels, heads and grippers are excluded, and the
search continues along the arm. If two branches could both be the arm, the caller must choose. All
assumptions are noted for the start-up report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import shown
from basis_ik.robot.joint_path import ChainError, check_link, path_between
from basis_ik.robot.link_tree import Tree
from basis_ik.robot.names import (
    is_digit,
    is_eye,
    is_finger,
    is_shape,
    is_wheel,
    is_world,
    root_named,
    tip_named,
)
from basis_ik.robot.urdf import Joint

_MOST_FINGER_JOINTS = 2
"""A branch with more joints than this is not a finger, whatever its name."""
_OBVIOUS_RATIO = 2
"""A branch is the obvious arm if it has at least this many times the joints of any other."""


@dataclass(frozen=True)
class _Arm:
    """A path down the tree, so far."""

    body: str  # the topmost link of the rigid body that the last joint moves
    joints: tuple[Joint, ...] = ()
    notes: tuple[str, ...] = ()
    holds: bool = False  # whether a gripper or hand is on that body
    rolls: bool = False  # whether wheels are below its first link

    def along(self, joint: Joint) -> _Arm:
        """Extend the path by a joint; a floating or planar joint begins a new chain."""
        if not joint.moves:
            text = f"the chain begins below {joint.kind} joint {joint.name}"
            return _Arm(joint.child, (), (*self.notes, text))
        return replace(self, body=joint.child, joints=(*self.joints, joint), holds=False)

    def noted(self, text: str) -> _Arm:
        """Add a note about an assumption."""
        return replace(self, notes=(*self.notes, text))

    def holding(self, kind: str, joints: Iterable[Joint]) -> _Arm:
        """Note joints that are excluded as a gripper or hand."""
        return replace(self.noted(f"excluded as a {kind}: {_names(joints)}"), holds=True)


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
        self._above = {joint.child: joint for joint in model.joints.values()}
        order, waiting = [], [model.root]
        while waiting:
            link = waiting.pop()
            order.append(link)
            waiting += [joint.child for joint in self._below[link]]
        self._depth_below: dict[str, int] = {}
        self._besides_wheels: dict[str, float] = {}
        for link in reversed(order):
            below = self._below[link]
            self._besides_wheels[link] = sum(map(self.besides_wheels, below))
            self._depth_below[link] = max(map(self.depth, below), default=0)

    def depth(self, joint: Joint) -> int:
        """Return the largest number of independent joints on a path down, including this one."""
        own = int(joint.moves and joint.mimic is None)
        return own + self._depth_below[joint.child]

    def besides_wheels(self, joint: Joint) -> float:
        """Return the number of a branch's joints that turn no wheel; inf if one is the last."""
        below = self._besides_wheels[joint.child]
        if not joint.moves or joint.mimic is not None or is_wheel(joint):
            return below
        return below + 1 if self._depth_below[joint.child] else math.inf

    def moving(self, joint: Joint) -> list[Joint]:
        """Return the independent joints of a branch, its first included."""
        found, waiting = [], [joint]
        while waiting:
            known = waiting.pop()
            waiting += self._below[known.child]
            if known.moves and known.mimic is None:
                found.append(known)
        return found

    def direction(self, joint: Joint) -> FloatArray:
        """Return a joint's axis in the coordinates of the rigid body that it leaves, (3,)."""
        axis = joint.origin.apply_vector(joint.axis)
        above = self._above.get(joint.parent)
        while above is not None and above.kind == "fixed":
            axis = above.origin.apply_vector(axis)
            above = self._above.get(above.parent)
        return axis

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
    if not any(arm.joints for arm in found):
        only = "only wheels move" if found[0].rolls else "no joint moves"
        raise ChainError(f"{only} below {shown(root)}; there is no arm")
    bare = found[0].rolls and not found[0].holds
    if len(found) == 1 and not (bare and len(found[0].joints) == 1):
        return found[0]  # one joint on wheels without a hand may be a lidar's, or a lift
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
    above_wheels = 0 if arm.joints else 1  # on a base, one that steers them or is their suspension
    wheels = [joint for joint in live if tree.besides_wheels(joint) <= above_wheels]
    live = [joint for joint in live if joint not in wheels]
    if wheels:
        arm = replace(
            arm.noted(f"excluded as wheels: {_names(wheels)}"), rolls=arm.rolls or not arm.joints
        )
    if not live:
        only = len(branches) == 1 and branches[0].moves and not is_finger(branches[0])
        return arm, [arm.along(branches[0])] if only and not wheels else []
    fingers = [joint for joint in live if _is_finger(tree, arm, joint, branches)]
    live = [joint for joint in live if joint not in fingers]
    if fingers:
        arm = arm.holding("gripper", fingers)
    if not live:
        return arm, []
    live.sort(key=tree.depth, reverse=True)
    best, second = tree.depth(live[0]), tree.depth(live[1]) if len(live) > 1 else 0
    if is_digit(live[0]) and (second or fingers):  # a longer finger beside others is not an arm
        if any(not is_digit(joint) for joint in arm.joints):
            return arm.holding("hand", live), []
        return arm, [arm.along(joint) for joint in (*live, *fingers)]
    if best >= _OBVIOUS_RATIO * second:
        if second:
            arm = arm.noted(f"excluded, shorter than the arm: {_names(live[1:])}")
        return arm, [arm.along(live[0])]
    if best <= len(arm.joints):
        return arm.holding("hand", live), []
    return arm, [arm.along(joint) for joint in live if _OBVIOUS_RATIO * tree.depth(joint) > best]


def _is_finger(tree: _Branches, arm: _Arm, joint: Joint, branches: Sequence[Joint]) -> bool:
    """Return whether a branch is a finger, by its names or because one beside it mirrors it.

    This only applies below an arm: if all joints have such names, the robot is a finger or a hand.
    """
    if tree.depth(joint) > _MOST_FINGER_JOINTS or all(is_finger(j) for j in arm.joints):
        return False
    return is_finger(joint) or _is_mirrored(tree, joint, branches)


def _is_mirrored(tree: _Branches, joint: Joint, branches: Sequence[Joint]) -> bool:
    """Return whether a branch beside mimics all of a branch, in the opposite direction.

    So do the jaws of a gripper. The rod of a parallelogram turns with its arm, and a cylinder only
    mimics the first joint of its arm.
    """
    mimics = tree.model.mimics
    followed = {mimic.joint for mimic in mimics.values()}
    if any(each.name not in followed for each in tree.moving(joint)):
        return False
    own = tree.direction(joint)
    return any(
        mimics[beside.name].multiplier * float(own @ tree.direction(beside)) < 0.0
        for beside in branches
        if beside.name in mimics and mimics[beside.name].joint == joint.name
    )


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
    named = tip_named(links, holds=arm.holds)
    if named is not None:
        return named, f"by its name {among}" if len(links) > 1 else "the last link"
    fixed = {joint.parent for joint in tree.model.joints.values() if joint.kind == "fixed"}
    ends = [
        link
        for link in links
        if not (link in fixed or is_shape(link) or (arm.holds and is_eye(link)))
    ]
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
    named = root_named(links)
    if named is not None:
        return named, "by its name among the links that do not move"
    for link in links:
        if not is_world(link):
            return link, "the first link that does not move"
    return links[-1], "the last link that does not move"

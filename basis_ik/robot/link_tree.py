# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks that links and joints form one tree, and resolves mimic joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from basis_ik.robot.elements import UrdfError, listed, shown
from basis_ik.robot.urdf import Joint, Mimic


@dataclass(frozen=True, eq=False)
class Tree:
    """Links and the joints between them, in one tree.

    Attributes:
        links: Link names in document order.
        joints: Joints by name in document order.
        root: The one link without a parent.
        mimics: For each mimic joint without a fault, the independent joint that drives it, with
            chains of mimics composed.
        notes: Assumptions about the tree, one line each.
        mimic_limits: Whether limits of mimic joints also bind the joints that they mimic.
    """

    links: tuple[str, ...]
    joints: Mapping[str, Joint]
    root: str
    mimics: Mapping[str, Mimic]
    notes: tuple[str, ...]
    mimic_limits: bool


def find_links(
    declared: Sequence[str], joints: Sequence[Joint]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the links that joints connect, and the assumptions about them, one line each.

    Only the names of links matter: an undeclared link is added, and an unconnected one is ignored.

    Raises:
        UrdfError: No links.
    """
    if not declared:
        raise UrdfError("the robot has no <link>; is it the expanded description of a robot?")
    named = dict.fromkeys(link for joint in joints for link in (joint.parent, joint.child))
    missing = tuple(link for link in named if link not in declared)
    lone = tuple(link for link in declared if link not in named) if joints else ()
    links = (*(link for link in declared if link not in lone), *missing)
    notes = []
    if missing:
        notes.append(f"assumed to be links, because joints name them: {listed(missing)}")
    if lone:
        notes.append(f"ignored, because no joint names them: links {listed(lone)}")
    return links, tuple(notes)


def find_root(links: Sequence[str], joints: Sequence[Joint]) -> str:
    """Check that links and joints form one tree, and return its root link.

    Args:
        links: At least one, including all that joints name.
        joints: The joints.

    Raises:
        UrdfError: Duplicate names, a link with two parents, a loop, or several roots; `names` has
            the names.
    """
    _refuse_if(_duplicates(links), "duplicate link names {}; links need names of their own")
    _refuse_if(
        _duplicates(joint.name for joint in joints),
        "duplicate joint names {}; joints need names of their own",
    )
    twice = _duplicates(joint.child for joint in joints)
    _refuse_if(twice, "links with two parent joints: {}; a URDF is a tree")
    children = {joint.child for joint in joints}
    roots = tuple(link for link in links if link not in children)
    if len(roots) > 1:
        raise UrdfError(
            f"{len(roots)} root links: {listed(roots)}; join them with fixed joints", names=roots
        )
    reachable = _reachable(roots, joints)
    loop = tuple(link for link in links if link not in reachable)
    _refuse_if(loop, "the links {} form a loop; a URDF is a tree")
    return roots[0]


def _refuse_if(names: tuple[str, ...], text: str) -> None:
    if names:
        raise UrdfError(text.format(listed(names)), names=names)


def _duplicates(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name, count in Counter(names).items() if count > 1)


def _reachable(roots: Iterable[str], joints: Sequence[Joint]) -> set[str]:
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        link = waiting.pop()
        seen.add(link)
        waiting += children.get(link, [])
    return seen


def resolve_mimics(joints: Mapping[str, Joint]) -> tuple[dict[str, Joint], dict[str, Mimic]]:
    """Resolve each mimic joint to an independent joint, through chains of mimics.

    Returns:
        The joints, and the composed mimic relation of each mimic joint to its independent master.
        Joints whose master is missing, faulty or immovable, or whose mimics form a loop, are
        faulty and have no relation.
    """
    known, mimics = dict(joints), {}
    for joint in joints.values():
        if joint.mimic is None:
            continue
        try:
            mimics[joint.name] = _resolve(joint.name, joint.mimic, joints)
        except UrdfError as error:
            known[joint.name] = replace(joint, fault=str(error))
    return known, mimics


def _resolve(name: str, tie: Mimic, joints: Mapping[str, Joint]) -> Mimic:
    trail = [name]
    while True:
        master = joints.get(tie.joint)
        where = f"joint {shown(trail[-1])} mimics {shown(tie.joint)}"
        if master is None:
            raise UrdfError(f"{where}, which does not exist; name the joint that drives it")
        if master.fault:
            raise UrdfError(f"{where}, which cannot drive it: {master.fault}")
        if not master.moves:
            raise UrdfError(
                f"{where}, which is {master.kind} and cannot drive it; name a joint that moves"
            )
        if master.name in trail:
            raise UrdfError(
                f"mimic joints form a loop: {listed(tuple(trail))}; one must be independent"
            )
        if master.mimic is None:
            return tie
        trail.append(master.name)
        tie = Mimic(
            master.mimic.joint,
            tie.multiplier * master.mimic.multiplier,
            tie.multiplier * master.mimic.offset + tie.offset,
        )


def position_of(tree: Tree, joint: Joint, positions: Mapping[str, float]) -> float:
    """Return the position of one of its joints [rad or m], which may mimic another one.

    Args:
        tree: The joints.
        joint: One of them.
        positions: Positions of independent joints by name [rad or m]; others are at 0.
    """
    mimic = tree.mimics.get(joint.name)
    if mimic is None:
        return positions.get(joint.name, 0.0)
    return mimic.multiplier * positions.get(mimic.joint, 0.0) + mimic.offset

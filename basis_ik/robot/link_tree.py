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

"""What makes links and joints a robot: one tree, and mimic joints that follow one that moves."""

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
        mimics: For each mimic joint the joint that really drives it, mimic chains composed; without
            faulty joints.
        notes: What was assumed of the tree, one line each.
    """

    links: tuple[str, ...]
    joints: Mapping[str, Joint]
    root: str
    mimics: Mapping[str, Mimic]
    notes: tuple[str, ...]


def find_links(
    declared: Sequence[str], joints: Sequence[Joint]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the links that joints connect, and what was assumed of them, one line each.

    A link is no more than a name here: one that is not declared may be added, and one that hangs on
    nothing may be left out.

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
        notes.append(f"taken for links, since joints name them: {listed(missing)}")
    if lone:
        notes.append(f"left out, since no joint names them: links {listed(lone)}")
    return links, tuple(notes)


def find_root(links: Sequence[str], joints: Sequence[Joint]) -> str:
    """Check that links and joints form one tree, and return its root link.

    Args:
        links: At least one, and all that joints name.
        joints: The joints.

    Raises:
        UrdfError: Duplicate names, a link with two parents, a loop, or several roots; the names are
            listed and in `names`.
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
    """Tie every mimic joint to the joint that really moves, through chains of mimics.

    Returns:
        The joints, those faulty whose master is missing, faulty itself, or cannot move, or whose
        mimics form a loop; and for each other mimic joint its master, which mimics nothing, and the
        composed relation.
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
            raise UrdfError(f"{where}, which does not exist; name the joint that leads it")
        if master.fault:
            raise UrdfError(f"{where}, which cannot lead: {master.fault}")
        if not master.moves:
            raise UrdfError(
                f"{where}, which is {master.kind} and cannot lead; name a joint that moves"
            )
        if master.name in trail:
            raise UrdfError(
                f"mimic joints form a loop: {listed(tuple(trail))}; one of them must lead"
            )
        if master.mimic is None:
            return tie
        trail.append(master.name)
        tie = Mimic(
            master.mimic.joint,
            tie.multiplier * master.mimic.multiplier,
            tie.multiplier * master.mimic.offset + tie.offset,
        )

"""What makes links and joints a robot: one tree, and mimic joints that lead somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from basis_ik.model.elements import UrdfError, listed, shown
from basis_ik.model.urdf import Joint, Mimic


def find_root(links: Sequence[str], joints: Sequence[Joint]) -> str:
    """Check that links and joints form one tree, and return its root link.

    Raises:
        UrdfError: No links, duplicate names, a joint to a link that is not there, a link with two
            parents, a loop, or several roots; the names are listed and in `names`.
    """
    if not links:
        raise UrdfError("the robot has no <link>")
    _refuse_if(_duplicates(links), "duplicate link names {}; links need names of their own")
    _refuse_if(
        _duplicates(joint.name for joint in joints),
        "duplicate joint names {}; joints need names of their own",
    )
    known = set(links)
    for joint in joints:
        for word, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise UrdfError(
                    f"joint {shown(joint.name)}: its {word} link {shown(link)} does not exist",
                    joint=joint.name,
                    names=(link,),
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


def resolve_mimics(joints: Mapping[str, Joint]) -> dict[str, Mimic]:
    """Tie every mimic joint to the joint that really moves, through chains of mimics.

    Returns:
        For each mimic joint its master, which itself mimics nothing, and the composed relation.

    Raises:
        UrdfError: A master is missing or cannot move, or mimics form a loop; names listed.
    """
    return {
        joint.name: _resolve(joint.name, joint.mimic, joints)
        for joint in joints.values()
        if joint.mimic is not None
    }


def _resolve(name: str, tie: Mimic, joints: Mapping[str, Joint]) -> Mimic:
    trail = [name]
    while True:
        master = joints.get(tie.joint)
        where = f"joint {shown(trail[-1])} mimics {shown(tie.joint)}"
        if master is None:
            raise UrdfError(f"{where}, which does not exist", joint=name, names=(tie.joint,))
        if not master.moves:
            raise UrdfError(
                f"{where}, which is {master.kind} and cannot lead", joint=name, names=(tie.joint,)
            )
        if master.name in trail:
            raise UrdfError(
                f"mimic joints form a loop: {listed(tuple(trail))}", joint=name, names=tuple(trail)
            )
        if master.mimic is None:
            return tie
        trail.append(master.name)
        tie = Mimic(
            master.mimic.joint,
            tie.multiplier * master.mimic.multiplier,
            tie.multiplier * master.mimic.offset + tie.offset,
        )

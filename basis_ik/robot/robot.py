# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot from its URDF: links and joints in one tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.chain import Chain, build_chain
from basis_ik.robot.elements import UrdfError, listed, read_file, shown
from basis_ik.robot.infer import infer_ends
from basis_ik.robot.link_tree import Tree, find_links, find_root, position_of, resolve_mimics
from basis_ik.robot.urdf import Joint, read_urdf
from basis_ik.robot.visuals import Visual

PRINTED_JOINTS = 21  # of joints: with the other three a screen of 24
LINE_LENGTH = 80


@dataclass(frozen=True, eq=False, repr=False)
class RobotModel(Tree):
    """A tree of links and joints with a name and chains.

    It can be pickled and copied; a copy is another one, and `==` asks whether two are one. `print`
    shows its joints on one screen.

    Attributes:
        name: The robot's name; empty if the URDF states none.
        visuals: The visual bodies of its links; unreadable ones are omitted.
        collisions: Their collision shapes, likewise.
        frame_prefix: Prefix of the links' names, which the URDF does not have.
        described: The robot with the names of the URDF; None if there is no prefix.
    """

    name: str
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Visual, ...] = ()
    frame_prefix: str = ""
    described: RobotModel | None = None

    @staticmethod
    def from_urdf(text: str, *, mimic_limits: bool = False, frame_prefix: str = "") -> RobotModel:
        """Read a robot from URDF text (xacro expanded), for example a `robot_description`.

        An unusable joint gets a `fault`; only a chain that needs it is refused.

        Args:
            text: The URDF.
            mimic_limits: Whether limits of mimic joints also bind the joints that they mimic. As in
                joint_state_publisher, MoveIt and pinocchio they do not by default, but a note of
                the chain says where they are narrower.
            frame_prefix: What to put before the names of all links, as robot_state_publisher's
                parameter of that name does in tf; joints keep their names.

        Raises:
            UrdfError: The text is not a URDF of one well-formed robot; with line, joint or names.
            SolveArgumentError: The prefix is no text.
        """
        if not isinstance(frame_prefix, str):
            raise SolveArgumentError("frame_prefix", frame_prefix, "text")
        name, declared, joints, passed, visuals, collisions = read_urdf(text)
        links, notes = find_links(declared, joints)
        root = find_root(links, joints)
        by_name, mimics = resolve_mimics({joint.name: joint for joint in joints})
        model = RobotModel(
            name=name,
            links=links,
            joints=MappingProxyType(by_name),
            root=root,
            mimics=MappingProxyType(mimics),
            notes=(*passed, *notes),
            mimic_limits=mimic_limits,
            visuals=visuals,
            collisions=collisions,
        )
        return _prefixed(model, frame_prefix) if frame_prefix else model

    @staticmethod
    def from_urdf_file(path: str | os.PathLike[str], *, mimic_limits: bool = False) -> RobotModel:
        """Read a robot from a URDF file (xacro expanded), see `from_urdf`.

        Raises:
            UrdfError: The file cannot be read, or is not a URDF of one well-formed robot.
        """
        return RobotModel.from_urdf(read_file(path), mimic_limits=mimic_limits)

    @staticmethod
    def example(name: str) -> RobotModel:
        """Read a robot that comes with this package, such as "ur5e" or "panda".

        Raises:
            UrdfError: There is no robot of this name, the message lists those that there are; or
                the package was installed without its robots.
        """
        files = {path.stem: path for path in _examples().glob("*.urdf")}
        if name not in files:
            there = f"the names are {', '.join(sorted(files))}" if files else "none is installed"
            raise UrdfError(f"there is no example {shown(str(name))}; {there}")
        return RobotModel.from_urdf_file(files[name])

    def __repr__(self) -> str:
        counts = f"{len(self.links)} links, {len(self.joints)} joints"
        return f"RobotModel({shown(self.name)}: {counts}, root {shown(self.root)})"

    def __str__(self) -> str:
        moving = [joint for joint in self.joints.values() if joint.kind != "fixed"]
        lines = [repr(self), *(f"  {_line(joint)}" for joint in moving[:PRINTED_JOINTS])]
        rest = [(len(moving) - PRINTED_JOINTS, "more"), (len(self.joints) - len(moving), "fixed")]
        lines += [f"  and {count} {kind}" for count, kind in rest if count > 0]
        return "\n".join(
            line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 3]}..." for line in lines
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle takes, which refuses views of dictionaries."""
        return self.__dict__ | {"joints": dict(self.joints), "mimics": dict(self.mimics)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        views = {name: MappingProxyType(state[name]) for name in ("joints", "mimics")}
        self.__dict__.update(state | views)

    @overload
    def chain(self, tip: str | None, /, *, root: str | None = None) -> Chain: ...
    @overload
    def chain(self, root: str | None, tip: str | None, /) -> Chain: ...
    @overload
    def chain(self, root: str | None, /, *, tip: str | None) -> Chain: ...
    @overload
    def chain(self, *, root: str | None = None, tip: str | None = None) -> Chain: ...
    def chain(self, *links: str | None, **ends: str | None) -> Chain:
        """Return the chain of joints from one link to another.

        `chain(tip)` is the chain to a tip, from the root that is found for it; `chain(root, tip)`
        names both, as keywords do. The two may be any links. If the tip is not below the root, the
        chain leads through their common ancestor, with the joints up to it reversed. Both may be
        named with or without the `frame_prefix`.

        Args:
            *links: The tip; or root and tip. The root is the link whose frame is the reference of
                targets; None to infer it. The tip is the link that should reach them; None to infer
                it, if the tree has one obvious arm.
            **ends: The same by name, `root` and `tip`.

        Raises:
            ChainError: An unknown link, no obvious arm (the candidates are listed), no moving joint
                between the two, a floating or planar joint, or one with a fault.
            TypeError: More than two links, a link given twice, or another keyword.
        """
        names = ("tip",) if len(links) == 1 and "tip" not in ends else ("root", "tip")
        if len(links) > 2 or not ends.keys() <= {"root", "tip"} - {*names[: len(links)]}:
            raise TypeError("chain takes a tip, or a root and a tip, each once")
        given = {**dict(zip(names, links, strict=False)), **ends}
        pair = self._bare(given.get("root")), self._bare(given.get("tip"))
        root, tip, inferences = infer_ends(self.described or self, *pair)
        return build_chain(self, self.link(root), self.link(tip), inferences)

    def link(self, name: str) -> str:
        """Return a link's name with the `frame_prefix`; any other name as it is."""
        known = self.described is not None and name in self.described.links
        return self.frame_prefix + name if known else name

    def _bare(self, name: str | None) -> str | None:
        """Return a link's name without the `frame_prefix`; any other name as it is."""
        if name is None or self.described is None or name in self.described.links:
            return name
        return name.removeprefix(self.frame_prefix)

    def visuals_of(
        self, chain: Chain, beside: Mapping[str, float] | None = None
    ) -> tuple[Visual, ...]:
        """Return the visuals of a chain's links and of all links that these carry.

        Args:
            chain: A chain of this robot.
            beside: Positions of independent joints beside the chain by name [rad or m], as of a
                gripper's fingers; others are at 0. None: links that joints move are left out.

        Returns:
            The visuals; `link` is a link of the chain.

        Raises:
            SolveArgumentError: It is no chain, or the positions are no mapping.
        """
        if not isinstance(chain, Chain):
            raise SolveArgumentError("chain", chain, "a Chain")
        if beside is not None and not isinstance(beside, Mapping):
            raise SolveArgumentError("beside", beside, "positions by the names of joints")
        above = {
            joint.child: joint
            for joint in self.joints.values()
            if (joint.kind == "fixed" or beside is not None) and not joint.fault
        }
        found = []
        for visual in self.visuals:
            link, place = visual.link, visual.link_T_body
            while link not in chain.links and link in above:
                joint = above[link]
                place = joint.at(position_of(self, joint, beside or {})) @ place
                link = joint.parent
            if link in chain.links:
                found.append(replace(visual, link=link, link_T_body=place))
        return tuple(found)


def _line(joint: Joint) -> str:
    """Return a joint's name, kind, limits and links in one line."""
    is_sound = joint.moves and not joint.fault
    limits = f" {joint.lower:.4g} .. {joint.upper:.4g} {joint.unit}" if is_sound else ""
    name, parent, child = (shown(each, 24) for each in (joint.name, joint.parent, joint.child))
    return f"{name}: {joint.kind}{limits}, {parent} -> {child}"


def _examples() -> Path:
    """Return the folder of the robots of this package: the sources', or that of a prefix."""
    sources, *above = Path(__file__).parents[2:]
    if (sources / "package.xml").exists():
        return sources / "urdf"
    shared = (each / "share" / "basis_ik" / "urdf" for each in (sources, *above))
    return next((each for each in shared if each.is_dir()), sources / "urdf")


def _prefixed(model: RobotModel, prefix: str) -> RobotModel:
    """Return a robot whose links have a prefix.

    Raises:
        UrdfError: A name would be that of two links, one with and one without it.
    """
    both = tuple(prefix + link for link in model.links if prefix + link in model.links)
    if both:
        text = f"frame_prefix {shown(prefix)}: the URDF already has {listed(both)}"
        raise UrdfError(f"{text}; choose another prefix", names=both)
    joints = {
        name: replace(joint, parent=prefix + joint.parent, child=prefix + joint.child)
        for name, joint in model.joints.items()
    }
    return replace(
        model,
        links=tuple(prefix + link for link in model.links),
        joints=MappingProxyType(joints),
        root=prefix + model.root,
        visuals=tuple(replace(each, link=prefix + each.link) for each in model.visuals),
        collisions=tuple(replace(each, link=prefix + each.link) for each in model.collisions),
        frame_prefix=prefix,
        described=model,
    )

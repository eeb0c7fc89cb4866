# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The links of a robot that have collision shapes, covered, and what joint each moves with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from basis_ik.collision.cover import cover_of, distances_to_axis
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.numerics.arrays import FloatArray, as_number
from basis_ik.robot.chain import Chain
from basis_ik.robot.elements import listed, shown
from basis_ik.robot.joint_path import ChainError, parent_joints
from basis_ik.robot.placement import place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import Joint
from basis_ik.transforms.rigid import RigidTransform


class Body(NamedTuple):
    """A shape, placed."""

    shape: Shape
    place: RigidTransform
    """joint_T_shape; root_T_shape of what stands still."""


@dataclass(eq=False)
class CoveredLink:
    """A link, or an object, with its cover.

    Attributes:
        name: Its name.
        joint: The moving joint of the chain that it is fixed to; -1: the root.
        own: Its shapes, each with its pose in the frame of the link or object.
        cover: (k, 7) capsules in that frame; none of an object that is compared as it is.
        surplus: Largest distance of a point of the cover from the shapes [m].
        bodies: Its shapes, placed by `put`.
        capsules: (k, 7) the cover in the joint's moved frame, placed by `put`.
        cloud: The points that it is instead, of an object that stands free.
        place: Its pose in the joint's moved frame, by `put`.
    """

    name: str
    joint: int
    own: tuple[Body, ...]
    cover: FloatArray
    surplus: float
    bodies: tuple[Body, ...] = ()
    capsules: FloatArray = field(default_factory=lambda: np.empty((0, 7)))
    cloud: PointCloud | None = None
    place: RigidTransform = field(default_factory=RigidTransform.identity)

    def put(self, place: RigidTransform) -> CoveredLink:
        """Place it, by its pose in the joint's moved frame, and return it."""
        self.place = place
        self.bodies = tuple(Body(shape, place @ own) for shape, own in self.own)
        self.capsules = self.cover.copy()
        self.capsules[:, :6] = place.apply(self.cover[:, :6].reshape(-1, 3)).reshape(-1, 6)
        return self


def covered(name: str, joint: int, own: tuple[Body, ...]) -> CoveredLink:
    """Return a link with the covers of its shapes, without capsules that others contain."""
    found, surplus = [], 0.0
    for body in own:
        cover = cover_of(body.shape)
        surplus = max(surplus, cover.surplus)
        for row in cover.capsules:
            ends = body.place.apply(row[:6].reshape(2, 3))
            found.append(np.append(ends.reshape(6), row[6]))
    kept: list[FloatArray] = []
    for row in sorted(found, key=lambda row: -float(row[6])):
        if not any(_contains(other, row) for other in kept):
            kept.append(row)
    return CoveredLink(name, joint, own, np.array(kept), surplus)


def _contains(outer: FloatArray, inner: FloatArray) -> bool:
    return bool(distances_to_axis(outer, inner[:6].reshape(2, 3)).max() + inner[6] <= outer[6])


def cover_links(
    model: RobotModel, chain: Chain, positions: Mapping[str, float]
) -> tuple[tuple[CoveredLink, ...], tuple[str, ...]]:
    """Return the links with collision shapes, in document order, and notes about them.

    Args:
        model: The robot.
        chain: One of its chains.
        positions: Positions of joints off the chain [rad or m]; others are at 0, or at the limit
            nearest to it.

    Raises:
        SceneError: A shape is refused, or a position of what is no independent joint off the chain.
    """
    links: dict[str, list[Body]] = {}
    held = held_at(model, chain, positions)
    shapes: dict[tuple[str, ...], tuple[Shape, ...]] = {}
    lost, notes, anchors, driven = [], [], {}, _driven(model, chain)
    for visual in model.collisions:
        try:
            anchors[visual.link] = anchored(model, chain, held, visual.link)
        except ChainError:
            lost.append(visual.link)
            continue
        if visual.link in driven:
            continue
        key = (visual.kind, *map(str, visual.size), visual.file)
        if key not in shapes:
            shapes[key] = Shape.of_link(visual)
            if note := shapes[key][0].note:
                notes.append(f"{shown(visual.link)}: {note}")
        own = [Body(shape, visual.link_T_body) for shape in shapes[key]]
        links.setdefault(visual.link, []).extend(own)
    if lost:
        notes.append(f"left out, below joints that cannot be used: {listed(lost)}")
    if driven:
        notes.append(f"left out, below joints that mimic the chain's: {listed(driven)}")
    found = []
    for link, bodies in links.items():
        joint, place = anchors[link]
        found.append(covered(link, joint, tuple(bodies)).put(place))
    return tuple(found), tuple(notes)


def joints_off(model: RobotModel, chain: Chain) -> dict[str, Joint]:
    """Return the independent joints that a chain does not move, by name."""
    return {
        joint.name: joint
        for joint in model.joints.values()
        if joint.moves and joint.mimic is None and not joint.fault
        and joint.name not in chain.joint_names
    }  # fmt: skip


def held_at(model: RobotModel, chain: Chain, positions: Mapping[str, float]) -> dict[str, float]:
    """Return positions of all independent joints, those that are not given at rest.

    Raises:
        SceneError: A position is given for another joint, or is not finite.
    """
    off = joints_off(model, chain)
    for name, value in positions.items():
        if name not in off:
            text = f"no joint to hold; off the chain there are {listed(tuple(off)) or 'none'}"
            raise SceneError(str(name), text)
        if not np.isfinite(as_number(name, value, "a position")):
            raise SceneError(name, f"its position must be finite, got {value!r}")
    rest = {name: min(max(0.0, joint.lower), joint.upper) for name, joint in off.items()}
    # Those of the chain do not matter.
    return {**dict.fromkeys(chain.joint_names, 0.0), **rest, **positions}


def _driven(model: RobotModel, chain: Chain) -> tuple[str, ...]:
    """Return the links with shapes below joints off the chain that mimic its joints.

    Nothing here tells where they are.
    """
    own, above = {joint.name for joint in chain.joints}, parent_joints(model.joints)
    found: dict[str, None] = {}
    for link in (visual.link for visual in model.collisions):
        below = link
        while below not in chain.links and below in above:
            joint = above[below]
            mimic = model.mimics.get(joint.name)
            if mimic is not None and mimic.joint in chain.joint_names and joint.name not in own:
                found[link] = None
            below = joint.parent
    return tuple(found)


def anchored(
    model: RobotModel, chain: Chain, held: Mapping[str, float], link: str
) -> tuple[int, RigidTransform]:
    """Return the joint that a link moves with, and its pose in that joint's moved frame.

    Raises:
        ChainError: A joint between the link and the chain cannot be used.
    """
    above = parent_joints(model.joints)
    anchor = link
    while anchor not in chain.links and anchor in above:
        anchor = above[anchor].parent
    if anchor not in chain.links:  # on a branch that leaves above the whole chain
        anchor = next(
            each for each in chain.links
            if each in model.links
            and (each not in above or above[each].parent not in chain.links)
        )  # fmt: skip
    joint, constant = chain.joint_T_link(anchor)
    to_anchor = RigidTransform.from_matrix(np.vstack([constant, [0.0, 0.0, 0.0, 1.0]]))
    return joint, to_anchor @ place_link(model, anchor, link, held)

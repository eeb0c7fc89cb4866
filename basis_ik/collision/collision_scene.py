# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot among objects: how far its links are from each other and from these."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from basis_ik.collision import exact as engine
from basis_ik.collision import point_cloud
from basis_ik.collision.cover import cover_of
from basis_ik.collision.covered_links import (
    Body,
    CoveredLink,
    anchored,
    cover_links,
    covered,
    held_at,
    joints_off,
)
from basis_ik.collision.distance_kernel import (
    CLOUD_COLUMNS,
    FAR_AWAY,
    GAP_COLUMNS,
    GAP_DISTANCE,
    NORMAL,
    POINT_A,
    SOLID_COLUMNS,
    CoverFields,
    WorkFields,
    measure_pairs,
)
from basis_ik.collision.exact import ExactDistances
from basis_ik.collision.pairs import ANY_ROOM, PAIRING, Pair, pairs_by_sampling, pairs_by_srdf
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.separation_kernel import ShapeFields, first_collision, separate_links
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_number
from basis_ik.robot.chain import Chain
from basis_ik.robot.chain_kernel import ChainFields
from basis_ik.robot.configurations import uniform
from basis_ik.robot.elements import shown
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.reach import lengths_of
from basis_ik.robot.robot import LINE_LENGTH, RobotModel
from basis_ik.transforms.checks import TransformError, finite_array, read_only
from basis_ik.transforms.rigid import RigidTransform

LARGEST_PADDING = 1.0  # [m]
PRINTED_SCENE_LINES = 24  # a screen
# What is known of a distance: by the covers; that the shapes overlap; that of the shapes.
BY_COVERS, BY_OVERLAP, BY_SHAPES = 0, 1, 2
# Objects of these kinds are compared as they are, unless they are attached.
SOLID_KINDS = ("box", "cylinder")
SAMPLED_PLACEMENTS = 50  # of the joints off the chain, among the samples


@dataclass(frozen=True, eq=False)
class Gap:
    """How far two bodies are apart.

    Attributes:
        names: Of the links or objects.
        distance: Distance less the padding [m]; below zero they overlap. It is at most the true
            one; infinite if there is no pair at all.
        points: (2, 3) the nearest points, one on each, in the root frame [m].
        gradient: (n,) derivative of the distance by the variables [m/rad or 1]; of a depth, that of
            the covers.
        padding: What was subtracted [m].
        exact: Whether it is the distance of the shapes themselves, and not of their covers.
        certain: Of a collision, whether it is known that the shapes themselves overlap.
    """

    names: tuple[str, str]
    distance: float
    points: FloatArray
    gradient: FloatArray
    padding: float = 0.0
    exact: bool = False
    certain: bool = False

    def __str__(self) -> str:
        size = f"{1e3 * abs(self.distance):.1f} mm"
        how = "overlap by" if self.distance < 0.0 else "are apart by"
        sure = "" if self.exact else " by their covers"
        return f"{self.names[0]} and {self.names[1]} {how} {size}{sure}"


class Scene:
    """A robot's links and the objects around it, for questions about collisions.

    Links and objects are covered by capsules that contain them: a lower bound that is quick. Where
    it does not decide, the shapes themselves are compared. How deep a collision is, the package
    coal says, if it is installed; otherwise it is the depth of the covers, which is larger. Without
    it, answers have the same bits in every process.

    A scene must not be changed while another thread asks it.

    Args:
        model: The robot.
        chain: The chain that moves; None: its obvious one, as of `model.chain()`.
        srdf: File or text of an SRDF, whose `disable_collisions` say which pairs are left out.
            None: adjacent links, and what touches in most samples or in none.
        positions: Positions of joints off the chain by name [rad or m], which stay there; others
            are at 0, or at their limit nearest to it.
        padding: Distance that is kept, subtracted from every distance [m], from 0 to 1. Of two
            links that never are twice as far apart, half of the largest distance in samples;
            from those that are near by design, half of the least.
        exact: Whether coal measures the depths of collisions. None: if it is installed.

    Attributes:
        chain: The chain.
        padding: The padding [m].
        changes: How often something has changed or was placed anew, as of the last question.
        left_out: Why each pair of links that is left out is, by their names.
        surplus: Largest distance of a point of each link's cover from its shapes [m].
        notes: Assumptions and omissions, one line each.

    Raises:
        SceneError: The robot has no collision shapes; or a shape or the SRDF is refused.
        SolveArgumentError: The model, chain or padding is none.
        UrdfError: The SRDF cannot be read.
        ChainError: The model has no obvious chain, or the chain is of another robot.
        ExtraError: A mesh needs trimesh, or `exact` coal, which is not installed.
    """

    def __init__(
        self,
        model: RobotModel,
        chain: Chain | None = None,
        *,
        srdf: str | os.PathLike[str] | None = None,
        positions: Mapping[str, float] | None = None,
        padding: float = 0.0,
        exact: bool | None = None,
    ) -> None:
        if not isinstance(model, RobotModel):
            raise SolveArgumentError("model", type(model), "a RobotModel")
        chain = model.chain() if chain is None else chain
        if not isinstance(chain, Chain):
            raise SolveArgumentError("chain", type(chain), "a Chain, or None")
        if foreign := [each.name for each in chain.joints if each.name not in model.joints]:
            raise ChainError(f"the chain is of another robot: {foreign[0]!r} is not in this one")
        padding = _padding(padding)
        self.chain, self.padding, self._model, self.changes = chain, padding, model, 0
        wanted = engine.is_available() if exact is None else exact
        self._exact = ExactDistances() if wanted else None
        self._held = held_at(model, chain, positions or {})
        self._links, notes = cover_links(model, chain, positions or {})
        if not self._links:
            text = "no link has a <collision> that can be used; give the URDF some"
            raise SceneError(model.name, text)
        self._objects: dict[str, CoveredLink] = {}
        self._riders: dict[str, _Rider] = {}
        self._pads: dict[str, float] = {}
        self._tables: _Tables | None = None
        self._allowed: set[frozenset[str]] = set()
        if srdf is None:
            found = pairs_by_sampling(model, chain, self._links, self._samples)
            self._own, self.left_out, more = found
        else:
            chosen, self.left_out, more = pairs_by_srdf(model, self._links, srdf)
            self._own = dict.fromkeys(chosen, ANY_ROOM)
        self.notes = (*notes, *more)
        self._movers = [i for i, link in enumerate(self._links) if link.joint >= 0]
        self.surplus = {link.name: link.surplus for link in self._links}

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of links and objects that are compared."""
        return tuple((one.name, other.name) for one, other in self._ready().members)

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the objects, in the order in which they were added."""
        return tuple(self._objects)

    def add(
        self,
        name: str,
        shape: Shape | Sequence[Shape],
        pose: RigidTransform | npt.ArrayLike,
        places: Sequence[RigidTransform | npt.ArrayLike] | None = None,
    ) -> None:
        """Add an object that stands still, until it is moved.

        Args:
            name: Its name, of no other object or link.
            shape: Its shape, or the shapes that it consists of.
            pose: root_T_object in the frame of the chain's root, also as a (4, 4) matrix.
            places: object_T_shape of each of several shapes; None: the identity.

        Raises:
            SceneError: The name is taken or empty; or there is no shape, or not a place for each.
            SolveArgumentError: A shape or a pose is none.
        """
        self._check_new(name)
        shapes = (shape,) if isinstance(shape, Shape) else tuple(shape)
        for each in shapes:
            if not isinstance(each, Shape):
                raise SolveArgumentError("shape", type(each), "a Shape, as of Shape.box")
        if places is None:
            places = [RigidTransform.identity()] * len(shapes)
        if not shapes or len(places) != len(shapes):
            text = f"it has {len(shapes)} shapes and {len(places)} places; give each shape its own"
            raise SceneError(name, text)
        own = tuple(
            Body(each, _pose("places", place)) for each, place in zip(shapes, places, strict=True)
        )
        self._objects[name] = _standing(name, own).put(_pose("pose", pose))
        self._tables = None

    def add_points(
        self,
        name: str,
        points: PointCloud | npt.ArrayLike,
        pose: RigidTransform | npt.ArrayLike | None = None,
        *,
        resolution: float = 0.02,
    ) -> None:
        """Add points, as of a depth camera, as one object; or replace its points, which is quick.

        Each voxel that has points is covered by a sphere around them. Between the spheres there is
        nothing. Links are compared by their covers, whose distance is a lower bound.

        Args:
            name: The object's name, of no other object or link, unless that is points, too.
            points: (n, 3) in the object's frame [m]; rows with NaN or infinity are dropped, and
                none is left is fine.
            pose: root_T_object, also as a (4, 4) matrix; None: the points are in the frame of the
                chain's root.
            resolution: Edge of a voxel [m], from 0.002 to 0.5.

        Raises:
            SceneError: The name is taken or empty, or the points are refused; see `PointCloud.of`.
            SolveArgumentError: The pose or the resolution is none.
        """
        known = self._objects.get(name)
        if known is None or known.cloud is None:
            self._check_new(name)
        place = RigidTransform.identity() if pose is None else _pose("pose", pose)
        cloud = points
        if not isinstance(cloud, PointCloud):
            cloud = PointCloud.of(cloud, resolution, name)
        if known is None:
            self._objects[name] = CoveredLink(
                name, -1, (), np.empty((0, 7)), cloud.surplus, cloud=cloud
            ).put(place)
            self._tables = None
            return
        known.cloud, known.surplus = cloud, cloud.surplus
        known.put(place)
        self.changes += 1
        if self._tables is not None:
            self._tables = self._tables.with_points()

    def move(self, name: str, pose: RigidTransform | npt.ArrayLike) -> None:
        """Place an object anew, which is quick: only its own numbers change.

        Args:
            name: Its name.
            pose: root_T_object; of an attached one, link_T_object.

        Raises:
            SceneError: There is none of this name.
            SolveArgumentError: The pose is none.
        """
        thing, place = self._object(name, "move"), _pose("pose", pose)
        if name in self._riders:
            rider = self._riders[name] = self._riders[name]._replace(pose=place)
            place = anchored(self._model, self.chain, self._held, rider.link)[1] @ place
        self._put(thing, place)

    def remove(self, name: str) -> None:
        """Remove an object, with its padding and what it may touch.

        Raises:
            SceneError: There is none of this name.
        """
        self._object(name, "remove")
        del self._objects[name]
        self._riders.pop(name, None)
        self._pads.pop(name, None)
        self._allowed = {pair for pair in self._allowed if name not in pair}
        self._tables = None

    def attach(
        self,
        name: str,
        link: str,
        pose: RigidTransform | npt.ArrayLike,
        touch: Collection[str] = (),
    ) -> None:
        """Let an object ride on a link.

        From then on it is compared with the other objects and with all links but that one, those
        that it may touch, and those that the same joint moves.

        Args:
            name: The object's name; it may be attached already.
            link: Any link of the robot.
            pose: link_T_object, also as a (4, 4) matrix.
            touch: Links that it may touch.

        Raises:
            SceneError: There is no such object or link.
            SolveArgumentError: The pose is none.
        """
        thing, place = self._object(name, "attach"), _pose("pose", pose)
        if thing.cloud is not None:
            raise SceneError(name, "points cannot be attached; attach a shape around them")
        for each in (link, *touch):
            if each not in self._model.links:
                raise SceneError(str(each), f"the robot has no such link for {name!r} to be at")
        try:
            joint, joint_T_link = anchored(self._model, self.chain, self._held, link)
        except ChainError as error:
            raise SceneError(link, f"{name!r} cannot be attached: {error}") from None
        self._riders[name] = _Rider(link, place, frozenset(touch))
        self._objects[name] = covered(name, joint, thing.own).put(joint_T_link @ place)
        self._tables = None

    def detach(self, name: str, pose: RigidTransform | npt.ArrayLike) -> None:
        """Put an attached object down, where it stands still.

        Args:
            name: Its name.
            pose: root_T_object, also as a (4, 4) matrix.

        Raises:
            SceneError: There is none of this name, or it is not attached.
            SolveArgumentError: The pose is none.
        """
        thing, place = self._object(name, "detach"), _pose("pose", pose)
        if name not in self._riders:
            raise SceneError(name, "it is not attached to a link; move it instead")
        del self._riders[name]
        self._objects[name] = _standing(name, thing.own).put(place)
        self._tables = None

    def hold(self, positions: Mapping[str, float]) -> None:
        """Place the links that other joints move, which is quick.

        Args:
            positions: Positions of joints off the chain by name [rad or m], which stay there;
                others are at 0, or at their limit nearest to it.

        Raises:
            SceneError: There is no such joint off the chain, or a position is not finite.
        """
        held = held_at(self._model, self.chain, positions)
        if held == self._held:
            return
        self._held = held
        for link in self._links:
            self._put(link, anchored(self._model, self.chain, self._held, link.name)[1])
        for name, rider in self._riders.items():
            _, joint_T_link = anchored(self._model, self.chain, self._held, rider.link)
            self._put(self._objects[name], joint_T_link @ rider.pose)

    def pad(self, name: str, padding: float) -> None:
        """Keep a further distance from a link or an object: it is subtracted from each of its own.

        Args:
            name: Of a link with a shape, or of an object.
            padding: The distance [m], from 0 to 1, in place of an earlier one.

        Raises:
            SceneError: There is no such link or object.
            SolveArgumentError: The padding is no such number.
        """
        self._known(name)
        self._pads[name] = _padding(padding)
        self._tables = None

    def allow(self, one: str, other: str) -> None:
        """Let two links or objects touch: they are not compared any more.

        Raises:
            SceneError: There is no link with a shape and no object of this name.
        """
        for name in (one, other):
            self._known(name)
        self._allowed.add(frozenset((one, other)))
        self._tables = None

    def forbid(self, one: str, other: str) -> None:
        """Compare two again that were allowed to touch.

        Raises:
            SceneError: There is no link with a shape and no object of this name.
        """
        for name in (one, other):
            self._known(name)
        self._allowed.discard(frozenset((one, other)))
        self._tables = None

    def copy(self, padding: float | None = None) -> Scene:
        """Return a scene with the same content, quickly; the two may be changed by two threads.

        Args:
            padding: That of the copy [m]; None: the same.

        Raises:
            SolveArgumentError: The padding is not from 0 to 1.
        """
        twin = copy.copy(self)
        twin.padding = self.padding if padding is None else _padding(padding)
        twin._links = tuple(map(copy.copy, self._links))
        twin._objects = {name: copy.copy(each) for name, each in self._objects.items()}
        twin._riders, twin._pads = dict(self._riders), dict(self._pads)
        twin._allowed, twin._tables = set(self._allowed), None
        return twin

    def distance(self, q: npt.ArrayLike) -> Gap:
        """Return the least distance of all pairs at positions q (n,) [rad or m].

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
        """
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        ready.measure(values, memory, FAR_AWAY)
        least, found = math.inf, -1
        for k in np.argsort(memory.rows[:, GAP_DISTANCE], kind="stable"):
            if memory.rows[k, GAP_DISTANCE] >= least:  # so are all others, by their covers
                break
            ready.refine(int(k), memory)
            if memory.rows[k, GAP_DISTANCE] < least:
                least, found = memory.rows[k, GAP_DISTANCE], int(k)
        if found < 0:
            points, gradient = read_only(np.zeros((2, 3))), read_only(np.zeros(len(values)))
            gap = Gap(("", ""), math.inf, points, gradient)
        else:
            gap = ready.gap(found, memory)
        ready.spare.append(memory)
        return gap

    def gaps(self, q: npt.ArrayLike, within: float = math.inf) -> tuple[Gap, ...]:
        """Return the distances of all pairs that are less than a distance, the least first.

        Of pairs that overlap these are the depths of the covers.

        Args:
            q: (n,) positions [rad or m].
            within: The distance [m].

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
            SolveArgumentError: The distance is no number.
        """
        within = as_number("within", within, "a distance")
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        within = min(within, FAR_AWAY)
        ready.measure(values, memory, within)
        for k in np.flatnonzero(memory.rows[:, GAP_DISTANCE] < within):
            ready.refine(int(k), memory)
        found = ready.gaps_within(within, memory)
        ready.spare.append(memory)
        return found

    def collisions(self, q: npt.ArrayLike) -> tuple[Gap, ...]:
        """Return the pairs that collide at positions q (n,) [rad or m], the deepest first.

        A pair whose covers overlap is left out if a direction proves that its shapes are apart.
        Without coal the depths are those of the covers, which are too large.

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
        """
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        if not ready.collides(values, memory):
            ready.spare.append(memory)
            return ()
        ready.measure(values, memory, 0.0)
        found = []
        for k in np.flatnonzero(memory.rows[:, GAP_DISTANCE] < 0.0):
            gap = self._collision(int(k), ready, memory)
            if gap is not None:
                found.append(gap)
        ready.spare.append(memory)
        return tuple(sorted(found, key=lambda gap: gap.distance))

    def _collision(self, k: int, ready: _Tables, memory: _Memory) -> Gap | None:
        """Return a pair whose covers overlap, unless its shapes do not."""
        if ready.refine(k, memory) or self._exact is None or ready.members[k][1].cloud is not None:
            gap = ready.gap(k, memory)
            return gap if gap.distance < 0.0 else None
        distance, points = self._exact.between(*ready.members[k], memory.work[0])
        gap = replace(ready.gap(k, memory), points=read_only(points), exact=True, certain=True)
        return replace(gap, distance=min(distance - gap.padding, 0.0))

    def is_free(self, q: npt.ArrayLike) -> bool:
        """Return whether nothing collides at positions q (n,) [rad or m]; see `collisions`."""
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        collides = ready.collides(values, memory)
        ready.spare.append(memory)
        return not collides

    def robot_at(self, q: npt.ArrayLike) -> FloatArray:
        """Return the covers of the links, and of what is attached, at positions q (n,).

        Returns:
            (k, 7) both ends of each axis, in the frame of the chain's root, and the radius [m].
        """
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        ready.measure(values, memory, 0.0)
        own = [*(link.name for link in self._links), *self._riders]
        rows = np.concatenate([np.arange(len(memory.work[2]))[ready.slots[n].balls] for n in own])
        world, radii = memory.work[2][rows], ready.cover[0][rows, 6]
        ready.spare.append(memory)
        return np.column_stack([world[:, :3], world[:, :3] + world[:, 3:6], radii])

    def reach(self) -> FloatArray:
        """Return centre and radius (4,) of a ball that has all that the chain moves, always [m]."""
        lengths, balls = lengths_of(self.chain.arrays), self._ready().cover[0]
        lengths[0] -= np.linalg.norm(centre := self.chain.arrays.origins[0, :, 3])
        moved = balls[balls[:, 7] >= 0.0]
        ends = np.linalg.norm(moved[:, :6].reshape(-1, 2, 3), axis=2).max(axis=1) + moved[:, 6]
        far = np.cumsum(lengths)[moved[:, 7].astype(int)] + ends
        return np.append(centre, far.max(initial=0.0))

    def __repr__(self) -> str:
        return (
            f"Scene({len(self._links)} links, {len(self._objects)} objects,"
            f" {len(self.pairs)} pairs{'' if self._exact else ', depths by covers'})"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        for link in self._links:
            count, surplus = len(link.capsules), 1e3 * link.surplus
            lines.append(f"  {shown(link.name, 40)}: {count} capsules, {surplus:.0f} mm too large")
        for name, each in self._objects.items():
            shapes = f"{each.bodies[0].shape}" if len(each.bodies) == 1 else (
                f"{len(each.bodies)} shapes"
            )  # fmt: skip
            if each.cloud is not None:
                shapes = f"points in {each.cloud.count} voxels"
            where = f", at {self._riders[name].link}" if name in self._riders else ""
            lines.append(f"  {shown(name, 40)}: {shapes}{where}")
        lines += [f"  {note}" for note in self.notes]
        if len(lines) > PRINTED_SCENE_LINES:
            lines[PRINTED_SCENE_LINES - 1 :] = [
                f"  and {len(lines) - PRINTED_SCENE_LINES + 1} more lines"
            ]
        return "\n".join(
            line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 3]}..." for line in lines
        )

    def _values(self, q: npt.ArrayLike) -> FloatArray:
        return finite_array("q", q, len(self.chain.joint_names))

    def _object(self, name: str, what: str) -> CoveredLink:
        """Return an object; raise an error if there is none."""
        if name not in self._objects:
            known = ", ".join(self._objects) or "none"
            raise SceneError(str(name), f"there is no such object to {what}; there are {known}")
        return self._objects[name]

    def _check_new(self, name: str) -> None:
        """Raise an error if a name is not free for an object."""
        if not isinstance(name, str) or not name:
            raise SceneError(str(name), "an object's name is text that is not empty")
        if name in self._objects or name in self.surplus:
            kind = "an object" if name in self._objects else "a link"
            raise SceneError(name, f"there is {kind} of this name; choose another, or remove it")

    def _known(self, name: str) -> None:
        """Raise an error if there is neither such an object nor such a link with a shape."""
        if name not in self.surplus and name not in self._objects:
            raise SceneError(str(name), "there is no such link with a shape, and no object")

    def _put(self, thing: CoveredLink, place: RigidTransform) -> None:
        thing.put(place)
        self.changes += 1
        if self._tables is not None:
            self._tables.put(thing)

    def _samples(self, pairs: Sequence[Pair], q: FloatArray) -> FloatArray:
        """Return distances (s, p) of pairs of links at positions q (s, n), without padding.

        Joints off the chain are at random positions, too, so that pairs need not be chosen anew
        where they move.
        """
        self._tables = tables = _tables(self.chain, self._links, pairs, [0.0] * len(pairs))
        off, held, rng = joints_off(self._model, self.chain), self._held, np.random.default_rng(1)
        bounds = np.array([(each.lower, each.upper) for each in off.values()]).reshape(-1, 2)
        every = len(q) // SAMPLED_PLACEMENTS if off else len(q)
        found = np.empty((len(q), len(pairs)))
        memory = tables.take()
        for k, (distances, values) in enumerate(zip(found, q, strict=True)):
            if k and k % every == 0:
                placed = uniform(bounds[:, 0], bounds[:, 1], rng).tolist()
                self.hold(dict(zip(off, placed, strict=True)))
            tables.measure(values, memory, FAR_AWAY)
            for number in np.flatnonzero(memory.rows[:, GAP_DISTANCE] < PAIRING.never_within):
                tables.refine(int(number), memory)
            distances[:] = memory.rows[:, GAP_DISTANCE]
        self.hold({name: held[name] for name in off})
        self._tables = None
        return found

    def _ready(self) -> _Tables:
        if self._tables is None:
            self.changes += 1
            things = (*self._links, *self._objects.values())
            pairs, movers = [*self._own], [*self._movers]
            for j in range(len(self._links), len(things)):
                thing = things[j]
                # What one joint moves, or none, is where it is.
                before = range(j) if thing.joint >= 0 else movers
                pairs += [(i, j) for i in before if things[i].joint != thing.joint]
                movers += [j] if thing.joint >= 0 else []
            wanted = [
                (i, j) for i, j in pairs if not self._may_touch(things[i].name, things[j].name)
            ]  # fmt: skip
            rooms = [self._own.get(pair, ANY_ROOM) for pair in wanted]
            paddings = [room.padding(self.padding) for room in rooms]
            self._tables = _tables(self.chain, things, wanted, paddings, self._pads)
        return self._tables

    def _may_touch(self, one: str, other: str) -> bool:
        for name, link in ((one, other), (other, one)):
            rider = self._riders.get(name)
            if rider is not None and (link == rider.link or link in rider.touch):
                return True
        return bool(self._allowed) and frozenset((one, other)) in self._allowed


class _Rider(NamedTuple):
    """How an object is attached."""

    link: str
    pose: RigidTransform
    """link_T_object."""
    touch: frozenset[str]
    """Links that it may touch."""


class _Memory(NamedTuple):
    """What a call works in."""

    work: WorkFields
    rows: FloatArray
    """(p, 12) of all pairs."""
    gradients: FloatArray
    """(p, n) theirs."""
    known: NDArray[np.int64]
    """(p,) COVERED, OVERLAP or EXACT."""


class _Tables(NamedTuple):
    """A scene as kernels take it."""

    chain: ChainFields
    cover: CoverFields
    shapes: ShapeFields
    """Points and bodies, see `separation_kernel`."""
    ranges: NDArray[np.int64]
    """(p, 4) the bodies of both of each row."""
    members: tuple[tuple[CoveredLink, CoveredLink], ...]
    """The two of each row."""
    spare: list[_Memory]
    """Memories not in use; taking one is atomic, so threads share them."""
    pads: FloatArray
    """(p, 2) how much thicker both of each row are [m]."""
    slots: Mapping[str, _Slots]
    """Where each thing's numbers are."""
    clouds: tuple[CoveredLink, ...]
    """Those that are points."""

    def with_points(self) -> _Tables:
        """Return these tables with the points that clouds have now."""
        clouds = [each.cloud for each in self.clouds if each.cloud is not None]
        rows, trees = self.cover[5].copy(), [each.tree for each in clouds]
        for k, each in enumerate(clouds):
            rows[k, 13:] = sum(map(len, trees[:k])), each.count, each.depth
        # One tree is not copied: it is large.
        tree = trees[0] if len(trees) == 1 else np.concatenate([np.empty((0, 4)), *trees])
        balls, links, pairs, solids, targets, _, beside, _, paddings = self.cover
        cover = (balls, links, pairs, solids, targets, rows, beside, tree, paddings)
        tables = self._replace(cover=cover)
        for thing in self.clouds:
            tables.put(thing)
        return tables

    def put(self, thing: CoveredLink) -> None:
        """Write where a thing is placed now."""
        balls, bodies, solids, cloud = self.slots[thing.name]
        if cloud >= 0:
            self.cover[5][cloud, :12] = thing.place.inverse().matrix[:3].ravel()
            return
        self.cover[0][balls, :6] = thing.capsules[:, :6]
        places = np.array([body.place.matrix for body in thing.bodies])
        self.shapes[1][bodies, :12] = places[:, :3].reshape(-1, 12)
        if solids.stop > solids.start:
            rows, turned = self.cover[3][solids], places[:, :3, :3].transpose(0, 2, 1)
            into = rows[:, :12].reshape(-1, 3, 4)
            into[:, :, :3] = turned
            into[:, :, 3] = -np.einsum("sij,sj->si", turned, places[:, :3, 3])
            rows[:, 16:19] = places[:, :3, 3]

    def take(self) -> _Memory:
        """Return a memory not in use; append it to `spare` afterwards."""
        try:
            return self.spare.pop()
        except IndexError:
            joints, variables, count = len(self.chain[0]), len(self.chain[6]), len(self.members)
            return _Memory(
                (np.empty((joints, 3, 4)), np.empty((3, 4)), np.empty((len(self.cover[0]), 10))),
                np.zeros((count, GAP_COLUMNS)),
                np.zeros((count, variables)),
                np.zeros(count, np.int64),
            )

    def collides(self, q: FloatArray, memory: _Memory) -> bool:
        """Return whether a pair is not proven to be apart."""
        number = first_collision(self.chain, self.cover, self.shapes, self.ranges, q, memory.work)
        return number >= 0

    def measure(self, q: FloatArray, memory: _Memory, within: float) -> None:
        """Measure all pairs within a distance."""
        measure_pairs(self.chain, self.cover, q, memory.work, memory.rows, memory.gradients, within)

    def refine(self, number: int, memory: _Memory) -> bool:
        """Replace a measured row by the distance of the shapes, where these are apart.

        Returns:
            Whether they are, with or without the padding.
        """
        row, gradient = memory.rows[number], memory.gradients[number]
        padding = self.cover[-1][number]
        lower, upper = separate_links(
            self.chain, self.shapes, self.ranges[number], memory.work[0], row, gradient, padding
        )
        one, other = self.members[number]
        apart = bool(lower + padding > 0.0)
        is_exact = apart or one.surplus == other.surplus == 0.0
        memory.known[number] = BY_SHAPES if is_exact else BY_OVERLAP if upper <= 0.0 else BY_COVERS
        return apart

    def gap(self, number: int, memory: _Memory) -> Gap:
        """Return a row as a `Gap`."""
        one, other = self.members[number]
        row, known = memory.rows[number], memory.known[number]
        points = row[POINT_A : POINT_A + 6].reshape(2, 3).copy()
        # From the padding to what it is around.
        points[0] += self.pads[number, 0] * row[NORMAL : NORMAL + 3]
        points[1] -= self.pads[number, 1] * row[NORMAL : NORMAL + 3]
        return Gap(
            (one.name, other.name),
            float(row[GAP_DISTANCE]),
            read_only(points),
            read_only(memory.gradients[number].copy()),
            float(self.cover[-1][number] + self.pads[number].sum()),
            exact=bool(known == BY_SHAPES),
            certain=bool(known > BY_COVERS and row[GAP_DISTANCE] < 0.0),
        )

    def gaps_within(self, within: float, memory: _Memory) -> tuple[Gap, ...]:
        """Return all rows less than a distance, the least first."""
        distances = memory.rows[:, GAP_DISTANCE]
        order = np.argsort(distances, kind="stable")
        return tuple(self.gap(int(k), memory) for k in order if distances[k] < within)


def tables_of(scene: Scene) -> _Tables:
    """Return a scene as kernels take it; another object after each change."""
    return scene._ready()


class _Slots(NamedTuple):
    """Rows of a thing in the tables of balls, bodies, solids and clouds."""

    balls: slice
    bodies: slice
    solids: slice
    cloud: int
    """-1: it is none."""


def _tables(
    chain: Chain,
    things: Sequence[CoveredLink],
    pairs: Sequence[Pair],
    paddings: Sequence[float],
    pads: Mapping[str, float] | None = None,
) -> _Tables:
    """Pack pairs of links and objects for the kernels, by what the objects are."""
    own = [(pads or {}).get(each.name, 0.0) for each in things]
    clouds = [i for i, each in enumerate(things) if each.cloud is not None]
    solids = [i for i, each in enumerate(things) if len(each.own) and not len(each.cover)]
    counts = [len(things[i].own) for i in solids]
    first = dict(zip(solids, np.cumsum([0, *counts]).tolist(), strict=False))
    cloud = {i: k for k, i in enumerate(clouds)}
    turned = [(j, i) if i in first or i in cloud else (i, j) for i, j in pairs]
    kept = dict(zip(turned, paddings, strict=True))
    round_ = [pair for pair in kept if pair[1] not in first and pair[1] not in cloud]
    targets = [pair for pair in kept if pair[1] in first]
    beside = [pair for pair in kept if pair[1] in cloud]
    both = [*round_, *targets, *beside]
    spans = _spans(len(each.own) for each in things)
    balls_of = _spans(len(each.cover) for each in things)
    balls = np.concatenate([np.column_stack([
        each.capsules, np.full(len(each.capsules), float(each.joint)),
    ]) for each in things])  # fmt: skip
    balls[:, 6] += np.repeat(own, [len(each.cover) for each in things])
    slots = {
        each.name: _Slots(
            slice(*balls_of[i]), slice(*spans[i]),
            slice(first[i], first[i] + len(each.own)) if i in first else slice(0, 0),
            cloud.get(i, -1),
        )
        for i, each in enumerate(things)
    }  # fmt: skip
    tables = _Tables(
        chain.arrays[:],
        (
            np.ascontiguousarray(balls),
            np.ascontiguousarray(balls_of),
            np.array(round_, np.int64).reshape(-1, 2),
            np.array(
                [row for i in solids for row in _solids(things[i], own[i])], np.float64
            ).reshape(-1, SOLID_COLUMNS),
            np.array([(i, first[j]) for i, j in targets], np.int64).reshape(-1, 2),
            np.array([[*[0.0] * 12, own[i], 0.0, 0.0, 0.0] for i in clouds]).reshape(
                -1, CLOUD_COLUMNS
            ),
            np.array([(i, cloud[j]) for i, j in beside], np.int64).reshape(-1, 2),
            np.empty((0, 4)),
            np.array([kept[pair] for pair in both], np.float64),
        ),
        _bodies(things, own),
        np.array([(*spans[i], *spans[j]) for i, j in both], np.int64).reshape(-1, 4),
        tuple((things[i], things[j]) for i, j in both),
        [],
        np.array([(own[i], own[j]) for i, j in both]).reshape(-1, 2),
        slots,
        tuple(things[i] for i in clouds),
    )  # fmt: skip
    for i in solids:
        tables.put(things[i])
    return tables.with_points()


def _spans(counts: Iterable[int]) -> NDArray[np.int64]:
    """Return the first row of each thing and the first after it (t, 2)."""
    ends = np.cumsum([0, *counts])
    return np.stack([ends[:-1], ends[1:]], axis=1)


def _bodies(things: Sequence[CoveredLink], pads: Sequence[float]) -> ShapeFields:
    """Return the points and the bodies of links and objects."""
    points, rows, first = [], [], 0
    for thing, pad in zip(things, pads, strict=True):
        for shape, place in thing.bodies:
            own, disc, ball = shape.core
            ends = first, first + len(own)
            rows.append([*place.matrix[:3].ravel(), thing.joint, *ends, disc, ball + pad])
            points.append(own)
            first += len(own)
    return np.concatenate(points), np.array(rows)


def _solids(thing: CoveredLink, pad: float) -> Iterator[list[float]]:
    """Yield the rows of an object that is compared as it is; `_Tables.put` places them."""
    for k, (shape, _) in enumerate(thing.own):
        half = [0.5 * each for each in shape.size]
        around = math.hypot(*half) if shape.kind == "box" else math.hypot(half[0], half[2])
        is_cylinder = float(shape.kind == "cylinder")
        more = len(thing.own) - 1 - k
        yield [*[0.0] * 12, *half, is_cylinder, *[0.0] * 3, around, more, pad]


def _standing(name: str, own: tuple[Body, ...]) -> CoveredLink:
    """Return an object that stands still."""
    if all(body.shape.kind in SOLID_KINDS for body in own):
        return CoveredLink(name, -1, own, np.empty((0, 7)), 0.0)
    return covered(name, -1, own)


def _pose(name: str, pose: RigidTransform | npt.ArrayLike) -> RigidTransform:
    """Return a pose; raise an error if it is none."""
    if isinstance(pose, RigidTransform):
        return pose
    try:
        return RigidTransform.from_matrix(np.asarray(pose, np.float64))
    except (TransformError, TypeError, ValueError) as error:
        wanted = f"a RigidTransform or the (4, 4) matrix of one ({error})"
        raise SolveArgumentError(name, pose, wanted) from None


def _padding(padding: float) -> float:
    """Return a padding [m]; raise an error if it is none."""
    required = "from 0 to 1 m"
    padding = as_number("padding", padding, required)
    if not 0.0 <= padding <= LARGEST_PADDING:
        raise SolveArgumentError("padding", padding, required)
    return padding


def sample_scene() -> Scene:
    """Return a scene of two links and one joint."""
    ball = "<collision><geometry><sphere radius='1'/></geometry></collision>"
    model = RobotModel.from_urdf(
        f"<robot name='r'><link name='a'>{ball}</link><link name='b'>{ball}</link>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>"
    )
    return Scene(model, model.chain("a", "b"), srdf="<robot/>", exact=False)


def warm_up() -> None:
    """Compile the kernels of distances, of points, of hulls and of covers."""
    point_cloud.warm_up()
    box = Shape.box(1.0, 1.0, 1.0)
    cover_of(box)
    Shape.pieces_of(box.hull.triangles)
    sample_scene().collisions([0.0])  # compiles all of them

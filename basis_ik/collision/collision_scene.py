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

"""A robot among objects: how far its links are from each other and from these."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from basis_ik.collision import exact as engine
from basis_ik.collision.covered_links import Body, CoveredLink, cover_links, covered
from basis_ik.collision.distance_kernel import (
    COLUMNS,
    DISTANCE,
    FAR,
    POINT_A,
    CoverFields,
    WorkFields,
    measure_pairs,
)
from basis_ik.collision.exact import ExactDistances
from basis_ik.collision.pairs import NEVER, Pair, pairs_by_sampling, pairs_by_srdf
from basis_ik.collision.separation_kernel import ShapeFields, first_collision, separate_links
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_number
from basis_ik.robot.chain import Chain
from basis_ik.robot.chain_kernel import ChainFields
from basis_ik.robot.elements import shown
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import LINE_LENGTH, RobotModel
from basis_ik.transforms.checks import TransformError, finite_array, read_only
from basis_ik.transforms.rigid import RigidTransform

LARGEST_PADDING = 1.0  # [m]
MOST_LINES = 24  # of a print: a screen
# What is known of a distance: by the covers; that the shapes overlap; that of the shapes.
COVERED, OVERLAP, EXACT = 0, 1, 2
SOLID = ("box", "cylinder")  # objects that are compared as they are


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
        exact: Whether it is the distance of the shapes themselves, and not of their covers.
        certain: Of a collision, whether it is known that the shapes themselves overlap.
    """

    names: tuple[str, str]
    distance: float
    points: FloatArray
    gradient: FloatArray
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
            None: adjacent links, and what always or never touches in samples.
        positions: Positions of joints off the chain by name [rad or m], which stay there; others
            are at 0, or at their limit nearest to it.
        padding: Distance that is kept, subtracted from every distance [m], from 0 to 1.
        exact: Whether coal measures the depths of collisions. None: if it is installed.

    Attributes:
        chain: The chain.
        padding: The padding [m].
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
        required = "from 0 to 1 m"
        padding = as_number("padding", padding, required)
        if not 0.0 <= padding <= LARGEST_PADDING:
            raise SolveArgumentError("padding", padding, required)
        self.chain, self.padding = chain, padding
        wanted = engine.is_available() if exact is None else exact
        self._exact = ExactDistances() if wanted else None
        self._links, notes = cover_links(model, chain, positions or {})
        if not self._links:
            text = "no link has a <collision> that can be used; give the URDF some"
            raise SceneError(model.name, text)
        self._objects: dict[str, CoveredLink] = {}
        self._tables: _Tables | None = None
        self._allowed: set[frozenset[str]] = set()
        if srdf is None:
            self._own, self.left_out = pairs_by_sampling(model, chain, self._links, self._samples)
        else:
            self._own, self.left_out, more = pairs_by_srdf(model, self._links, srdf)
            notes = (*notes, *more)
        self.notes = notes
        self.surplus = {link.name: link.surplus for link in self._links}

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of links and objects that are compared."""
        return tuple((one.name, other.name) for one, other in self._ready().members)

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the objects, in the order in which they were added."""
        return tuple(self._objects)

    def add(self, name: str, shape: Shape, pose: RigidTransform | npt.ArrayLike) -> None:
        """Add an object that stands still.

        Args:
            name: Its name, of no other object or link.
            shape: Its shape.
            pose: root_T_object in the frame of the chain's root, also as a (4, 4) matrix.

        Raises:
            SceneError: The name is taken or empty.
            SolveArgumentError: The shape or the pose is none.
        """
        if not isinstance(name, str) or not name:
            raise SceneError(str(name), "an object's name is text that is not empty")
        if name in self._objects or name in self.surplus:
            kind = "an object" if name in self._objects else "a link"
            raise SceneError(name, f"there is {kind} of this name; choose another, or remove it")
        if not isinstance(shape, Shape):
            raise SolveArgumentError("shape", type(shape), "a Shape, as of Shape.box")
        try:
            place = RigidTransform.from_matrix(np.asarray(pose, np.float64))
        except (TransformError, TypeError, ValueError) as error:
            wanted = f"a RigidTransform or the (4, 4) matrix of one ({error})"
            raise SolveArgumentError("pose", pose, wanted) from None
        bodies = (Body(shape, place),)
        if shape.kind in SOLID:
            self._objects[name] = CoveredLink(name, -1, bodies, np.empty((0, 7)), 0.0)
        else:
            self._objects[name] = covered(name, -1, bodies)
        self._tables = None

    def remove(self, name: str) -> None:
        """Remove an object.

        Raises:
            SceneError: There is none of this name.
        """
        if name not in self._objects:
            known = ", ".join(self._objects) or "none"
            raise SceneError(str(name), f"there is no such object to remove; there are {known}")
        del self._objects[name]
        self._tables = None

    def allow(self, one: str, other: str) -> None:
        """Let two links or objects touch: they are not compared any more.

        Raises:
            SceneError: There is no link with a shape and no object of this name.
        """
        for name in (one, other):
            if name not in self.surplus and name not in self._objects:
                raise SceneError(str(name), "there is no such link with a shape, and no object")
        self._allowed.add(frozenset((one, other)))
        self._tables = None

    def distance(self, q: npt.ArrayLike) -> Gap:
        """Return the least distance of all pairs at positions q (n,) [rad or m].

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
        """
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        ready.measure(values, memory, FAR)
        least, found = math.inf, -1
        for k in np.argsort(memory.rows[:, DISTANCE], kind="stable"):
            if memory.rows[k, DISTANCE] >= least:  # so are all others, by their covers
                break
            ready.refine(int(k), memory)
            if memory.rows[k, DISTANCE] < least:
                least, found = memory.rows[k, DISTANCE], int(k)
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
        within = min(within, FAR)
        ready.measure(values, memory, within)
        for k in np.flatnonzero(memory.rows[:, DISTANCE] < within):
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
        for k in np.flatnonzero(memory.rows[:, DISTANCE] < 0.0):
            gap = self._collision(int(k), ready, memory)
            if gap is not None:
                found.append(gap)
        ready.spare.append(memory)
        return tuple(sorted(found, key=lambda gap: gap.distance))

    def _collision(self, k: int, ready: _Tables, memory: _Memory) -> Gap | None:
        """Return a pair whose covers overlap, unless its shapes do not."""
        if ready.refine(k, memory) or self._exact is None:
            gap = ready.gap(k, memory)
            return gap if gap.distance < 0.0 else None
        distance, points = self._exact.between(*ready.members[k], memory.work[0])
        gap = replace(ready.gap(k, memory), points=read_only(points), exact=True, certain=True)
        return replace(gap, distance=min(distance - self.padding, 0.0))

    def is_free(self, q: npt.ArrayLike) -> bool:
        """Return whether nothing collides at positions q (n,) [rad or m]; see `collisions`."""
        values, ready = self._values(q), self._ready()
        memory = ready.take()
        collides = ready.collides(values, memory)
        ready.spare.append(memory)
        return not collides

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
            lines.append(f"  {shown(name, 40)}: {each.bodies[0].shape}")
        lines += [f"  {note}" for note in self.notes]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES - 1 :] = [f"  and {len(lines) - MOST_LINES + 1} more lines"]
        return "\n".join(
            line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 3]}..." for line in lines
        )

    def _values(self, q: npt.ArrayLike) -> FloatArray:
        return finite_array("q", q, len(self.chain.joint_names))

    def _samples(self, pairs: Sequence[Pair], q: FloatArray) -> FloatArray:
        """Return distances (s, p) of pairs of links at positions q (s, n), without padding."""
        tables = _tables(self.chain, self._links, pairs, 0.0)
        found = np.empty((len(q), len(pairs)))
        memory = tables.take()
        for distances, values in zip(found, q, strict=True):
            tables.measure(values, memory, FAR)
            for k in np.flatnonzero(memory.rows[:, DISTANCE] < NEVER):
                tables.refine(int(k), memory)
            distances[:] = memory.rows[:, DISTANCE]
        return found

    def _ready(self) -> _Tables:
        if self._tables is None:
            things = (*self._links, *self._objects.values())
            # What the chain does not move is where it is, objects or not.
            pairs = [
                (i, len(self._links) + k)
                for k in range(len(self._objects))
                for i, link in enumerate(self._links)
                if link.joint >= 0
            ]
            wanted = [
                (i, j) for i, j in (*self._own, *pairs)
                if frozenset((things[i].name, things[j].name)) not in self._allowed
            ]  # fmt: skip
            self._tables = _tables(self.chain, things, wanted, self.padding)
        return self._tables


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

    def take(self) -> _Memory:
        """Return a memory not in use; append it to `spare` afterwards."""
        try:
            return self.spare.pop()
        except IndexError:
            joints, variables, count = len(self.chain[0]), len(self.chain[6]), len(self.members)
            return _Memory(
                (np.empty((joints, 3, 4)), np.empty((3, 4)), np.empty((len(self.cover[0]), 10))),
                np.zeros((count, COLUMNS)), np.zeros((count, variables)), np.zeros(count, np.int64),
            )  # fmt: skip

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
            Whether it was replaced.
        """
        row, gradient = memory.rows[number], memory.gradients[number]
        lower, upper = separate_links(
            self.chain, self.shapes, self.ranges[number], memory.work[0], row, gradient,
            self.cover[-1],
        )  # fmt: skip
        one, other = self.members[number]
        is_exact = lower > 0.0 or one.surplus == other.surplus == 0.0
        memory.known[number] = EXACT if is_exact else OVERLAP if upper <= 0.0 else COVERED
        return lower > 0.0

    def gap(self, number: int, memory: _Memory) -> Gap:
        """Return a row as a `Gap`."""
        one, other = self.members[number]
        row, known = memory.rows[number], memory.known[number]
        return Gap(
            (one.name, other.name),
            float(row[DISTANCE]),
            read_only(row[POINT_A : POINT_A + 6].reshape(2, 3).copy()),
            read_only(memory.gradients[number].copy()),
            exact=known == EXACT,
            certain=known > COVERED and row[DISTANCE] < 0.0,
        )

    def gaps_within(self, within: float, memory: _Memory) -> tuple[Gap, ...]:
        """Return all rows less than a distance, the least first."""
        distances = memory.rows[:, DISTANCE]
        order = np.argsort(distances, kind="stable")
        return tuple(self.gap(int(k), memory) for k in order if distances[k] < within)


def tables_of(scene: Scene) -> _Tables:
    """Return a scene as kernels take it; another object after each change."""
    return scene._ready()


def _tables(
    chain: Chain, things: Sequence[CoveredLink], pairs: Sequence[Pair], padding: float
) -> _Tables:
    """Pack pairs of links and objects for the kernels; those with a box or a cylinder are last."""
    solids = [i for i, each in enumerate(things) if not len(each.capsules)]
    round_ = [pair for pair in pairs if pair[1] not in solids]
    targets = [(i, solids.index(j)) for i, j in pairs if j in solids]
    both = [*round_, *((i, solids[k]) for i, k in targets)]
    counts = np.cumsum([0, *(len(each.bodies) for each in things)])
    spans = np.stack([counts[:-1], counts[1:]], axis=1)
    ends = np.cumsum([0, *(len(each.capsules) for each in things)])
    balls = [
        np.column_stack([each.capsules, np.full(len(each.capsules), each.joint)]) for each in things
    ]
    return _Tables(
        chain.arrays[:],
        (
            np.ascontiguousarray(np.concatenate(balls)),
            np.ascontiguousarray(np.stack([ends[:-1], ends[1:]], axis=1)),
            np.array(round_, np.int64).reshape(-1, 2),
            np.array([_solid(things[i]) for i in solids]).reshape(-1, 20),
            np.array(targets, np.int64).reshape(-1, 2),
            padding,
        ),
        _bodies(things),
        np.array([(*spans[i], *spans[j]) for i, j in both], np.int64).reshape(-1, 4),
        tuple((things[i], things[j]) for i, j in both),
        [],
    )


def _bodies(things: Sequence[CoveredLink]) -> ShapeFields:
    """Return the points and the bodies of links and objects."""
    points, rows, first = [], [], 0
    for thing in things:
        for shape, place in thing.bodies:
            own, disc, ball = shape.core
            ends = first, first + len(own)
            rows.append([*place.matrix[:3].ravel(), thing.joint, *ends, disc, ball])
            points.append(own)
            first += len(own)
    return np.concatenate(points), np.array(rows)


def _solid(thing: CoveredLink) -> FloatArray:
    (body,) = thing.bodies
    into = body.place.inverse().matrix[:3].reshape(12)
    half = [0.5 * each for each in body.shape.size]
    around = math.hypot(*half) if body.shape.kind == "box" else math.hypot(half[0], half[2])
    is_cylinder = float(body.shape.kind == "cylinder")
    return np.array([*into, *half, is_cylinder, *body.place.translation, around])


def sample_scene() -> Scene:
    """Return a scene of two links and one joint."""
    ball = "<collision><geometry><sphere radius='1'/></geometry></collision>"
    model = RobotModel.from_urdf(
        f"<robot name='r'><link name='a'>{ball}</link><link name='b'>{ball}</link>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>"
    )
    return Scene(model, model.chain("a", "b"), srdf="<robot/>", exact=False)


def warm_up() -> None:
    """Compile the kernels of distances."""
    sample_scene().collisions([0.0])  # compiles all of them

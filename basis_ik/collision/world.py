# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The world around a robot: objects by id in frames of any kind, attached ones, what may touch.

A `World` has no clock and knows no transforms. Its state is immutable: a change makes a new one,
and either all of it or nothing. So any thread may read it while another one changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from basis_ik.collision.collision_scene import LARGEST_PADDING, Scene
from basis_ik.collision.covered_links import Body
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.shape import SceneError
from basis_ik.numerics.arrays import as_number
from basis_ik.robot.chain import top_link
from basis_ik.robot.elements import listed, shown
from basis_ik.transforms.rigid import RigidTransform

MOST_OBJECTS = 1000
MOST_SHAPES = 100  # of an object
MOST_SHAPES_IN_ALL = 5000
MOST_ENTRIES = 100_000  # pairs in the matrix of what may touch: of some 450 names
LONGEST_ID = 200  # of an id or a frame

Lookup = Callable[[str], RigidTransform | None]
"""Returns reference_T_frame of a frame; None if it is not known, or too old."""
Color = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class WorldObject:
    """An object of one or more shapes.

    Attributes:
        id: Its name.
        frame: The frame that it stands in; of an attached one, the link.
        pose: frame_T_object.
        parts: Its shapes, each with object_T_shape.
        padding: Distance that is kept from it [m].
        attached: Whether it is attached to a link.
        touch: Links that an attached one may touch.
        kind: Key and database of its type, which only others use.
    """

    id: str
    frame: str
    pose: RigidTransform
    parts: tuple[Body, ...]
    padding: float = 0.0
    attached: bool = False
    touch: frozenset[str] = frozenset()
    kind: tuple[str, str] = ("", "")


class Sight(NamedTuple):
    """Points that a sensor has seen."""

    cloud: PointCloud
    """In the frame `frame`."""
    frame: str
    """Where the points stand: a frame that does not move with the sensor."""
    time: int
    """When they were seen, by the clock of whoever asks [ns]."""
    source: str = ""
    """The sensor's frame."""
    padding: float = 0.0
    """Distance that is kept from the points [m]."""


class Placed(NamedTuple):
    """Where the objects are that stand free."""

    poses: dict[str, RigidTransform]
    """reference_T_object by id."""
    missing: dict[str, str]
    """The frames that are not known, by the ids of what stands in them."""


@dataclass(frozen=True, eq=False)
class WorldState:
    """What a world holds at one time; it never changes.

    Attributes:
        revision: Number of changes so far.
        objects: By id, in the order in which they came.
        entries: Whether two of a pair of names may touch.
        defaults: The same for a name and all that have no entry with it.
        padding: Distance that is kept from links, by name [m].
        colors: Red, green, blue and opacity by id; for displays alone.
        name: Of the scene, which only others use.
        sights: What sensors see, by name; this does not count as a change.
    """

    revision: int = 0
    objects: Mapping[str, WorldObject] = field(default_factory=dict)
    entries: Mapping[frozenset[str], bool] = field(default_factory=dict)
    defaults: Mapping[str, bool] = field(default_factory=dict)
    padding: Mapping[str, float] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    name: str = ""
    sights: Mapping[str, Sight] = field(default_factory=dict)

    @property
    def free(self) -> Iterator[WorldObject]:
        """The objects that are not attached."""
        return (each for each in self.objects.values() if not each.attached)

    @property
    def attached(self) -> Iterator[WorldObject]:
        """The objects that are attached."""
        return (each for each in self.objects.values() if each.attached)

    def may_touch(self, one: str, other: str) -> bool:
        """Return whether the matrix lets two touch; of two defaults both must."""
        entry = self.entries.get(frozenset((one, other)))
        if entry is not None:
            return entry
        given = [self.defaults[name] for name in (one, other) if name in self.defaults]
        return bool(given) and all(given)

    def placed(self, lookup: Lookup) -> Placed:
        """Return where the objects are that stand free, and which frames are missing.

        Args:
            lookup: Returns the poses of frames; it is asked once for each.
        """
        frames = {name: lookup(name) for name in {each.frame for each in self.free}}
        found = Placed({}, {})
        for each in self.free:
            reference_T_frame = frames[each.frame]
            if reference_T_frame is None:
                found.missing[each.id] = each.frame
            else:
                found.poses[each.id] = reference_T_frame @ each.pose
        return found

    def around(self, point: RigidTransform, lookup: Lookup) -> list[str]:
        """Return the ids of free objects that contain the origin of a frame of the reference."""
        return [
            name for name, pose in self.placed(lookup).poses.items()
            if any(
                part.shape.contains(((pose @ part.place).inverse() @ point).translation)
                for part in self.objects[name].parts
            )
        ]  # fmt: skip


class World:
    """The objects around a robot, and in its hands.

    One thread at a time changes it; any thread may read `state`.

    Args:
        links: The names of the robot's links.

    Attributes:
        state: What it holds.
    """

    def __init__(self, links: Collection[str] = ()) -> None:
        self.state, self._links = WorldState(), frozenset(links)

    @property
    def revision(self) -> int:
        """Number of changes so far."""
        return self.state.revision

    @contextmanager
    def change(self, knows: Callable[[str], bool] | None = None) -> Iterator[WorldDraft]:
        """Yield a draft; what is done to it holds at the end of the context, all or nothing.

        Args:
            knows: Returns whether a frame is known; None: all are.

        Raises:
            SceneError: There is too much of something; what was done is forgotten.
        """
        draft = WorldDraft(self.state, self._links, knows or (lambda frame: True))
        yield draft
        self.state = draft.finished()

    def see(self, name: str, sight: Sight) -> None:
        """Take what a sensor sees now, in place of what it saw before.

        Args:
            name: Its name, of no object and no link.
            sight: The points.

        Raises:
            SceneError: The name is taken.
        """
        if name in self.state.objects or name in self._links:
            raise SceneError(name, "an object or a link has this name; give it another one")
        before = self.state.sights.get(name)
        if before is not None and before.cloud.is_equal(sight.cloud):
            sight = sight._replace(cloud=before.cloud)  # then scenes do not change
        self.state = replace(self.state, sights={**self.state.sights, name: sight})

    def fit(self, links: Collection[str]) -> tuple[str, ...]:
        """Take another robot; return the ids that had to go: at no link, or named as one.

        What sensors have seen is forgotten.

        Args:
            links: The names of its links.
        """
        self._links = frozenset(links)
        self.state = replace(self.state, sights={})
        lost = tuple(
            each.id for each in self.state.objects.values()
            if each.id in links or (each.attached and not {each.frame, *each.touch} <= {*links})
        )  # fmt: skip
        padding = {name: value for name, value in self.state.padding.items() if name in links}
        if lost or len(padding) < len(self.state.padding):
            kept = {name: each for name, each in self.state.objects.items() if name not in lost}
            revision = self.revision + 1
            self.state = replace(self.state, revision=revision, objects=kept, padding=padding)
        return lost


class WorldDraft:
    """A world that is being changed; `World.change` makes it.

    Its methods raise a SceneError that names the id and the field, and then nothing of the whole
    change holds.

    Args:
        state: What holds now.
        links: The names of the robot's links.
        knows: Returns whether a frame is known.
    """

    def __init__(
        self, state: WorldState, links: frozenset[str], knows: Callable[[str], bool]
    ) -> None:
        self._before, self._links, self._knows = state, links, knows
        self.objects = dict(state.objects)
        self.entries, self.defaults = dict(state.entries), dict(state.defaults)
        self.padding, self.colors = dict(state.padding), dict(state.colors)
        self.name = state.name

    def finished(self) -> WorldState:
        """Return the new state.

        Raises:
            SceneError: There are too many objects, shapes or entries.
        """
        shapes = sum(len(each.parts) for each in self.objects.values())
        for count, most, what in (
            (len(self.objects), MOST_OBJECTS, "objects"),
            (shapes, MOST_SHAPES_IN_ALL, "shapes"),
            (len(self.entries) + len(self.defaults), MOST_ENTRIES, "allowed collisions"),
            (len(self.colors), 2 * MOST_OBJECTS, "colors"),
        ):
            if count > most:
                last = next(reversed(self.objects), "world")
                raise SceneError(last, f"{count} {what} are more than {most}; remove some first")
        revision = self._before.revision + 1
        return WorldState(
            revision, self.objects, self.entries, self.defaults, self.padding, self.colors,
            self.name, self._before.sights,
        )  # fmt: skip

    # Objects ---------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        frame: str,
        pose: RigidTransform,
        parts: Sequence[Body],
        *,
        padding: float = 0.0,
        kind: tuple[str, str] = ("", ""),
    ) -> None:
        """Add an object, in place of one of this id.

        Args:
            name: Its id.
            frame: The frame that it stands in.
            pose: frame_T_object.
            parts: Its shapes, each with object_T_shape.
            padding: Distance that is kept from it [m].
            kind: Key and database of its type.
        """
        self._check_id(name)
        self._check_free(name, "detach it first, or take another id")
        self._check_frame(name, frame)
        self._check_parts(name, parts)
        padding = _checked_padding(name, padding)
        self.objects[name] = WorldObject(name, frame, pose, tuple(parts), padding, kind=kind)

    def append(self, name: str, parts: Sequence[Body]) -> None:
        """Add shapes to an object.

        Args:
            name: Its id.
            parts: The shapes, each with object_T_shape.
        """
        each = self._known(name, "append to")
        self._check_parts(name, parts)
        parts = (*each.parts, *parts)
        self._check_parts(name, parts)
        self.objects[name] = replace(each, parts=parts)

    def move(
        self,
        name: str,
        frame: str,
        pose: RigidTransform,
        places: Sequence[RigidTransform] = (),
    ) -> None:
        """Move an object that stands free.

        Args:
            name: Its id.
            frame: The frame that it stands in from now on.
            pose: frame_T_object.
            places: object_T_shape of all its shapes; none: as they are.
        """
        each = self._known(name, "move")
        self._check_free(name, "it moves with its link; detach it first")
        self._check_frame(name, frame)
        parts = each.parts
        if places:
            if len(places) != len(parts):
                text = f"poses of shapes: {len(places)} are given, and it has {len(parts)} shapes"
                raise SceneError(name, f"{text}; give one for each, or none")
            parts = tuple(
                Body(part.shape, place) for part, place in zip(parts, places, strict=True)
            )
        self.objects[name] = replace(each, frame=frame, pose=pose, parts=parts)

    def remove(self, name: str) -> None:
        """Remove an object that stands free, and what the matrix says of it.

        Args:
            name: Its id; empty: all that stand free.
        """
        if name:
            self._known(name, "remove")
            self._check_free(name, "detach it first")
        for each in [name] if name else [each.id for each in self._free()]:
            self._forget(each)

    def attach(
        self,
        name: str,
        link: str,
        pose: RigidTransform,
        touch: Iterable[str] = (),
        parts: Sequence[Body] | None = None,
        *,
        kind: tuple[str, str] = ("", ""),
    ) -> None:
        """Attach an object to a link.

        Args:
            name: Its id.
            link: The link.
            pose: link_T_object.
            touch: Links that it may touch.
            parts: Its shapes, each with object_T_shape; None: those of the object of this id.
            kind: Key and database of its type.
        """
        self._check_id(name)
        self._check_links(name, "link_name", [link])
        self._check_links(name, "touch_links", touch)
        before = self.objects.get(name)
        if parts is None:
            before = self._known(name, "attach")
            parts = before.parts
        self._check_parts(name, parts)
        padding = before.padding if before else 0.0
        kind = before.kind if before and kind == ("", "") else kind
        self.objects.pop(name, None)
        self.objects[name] = WorldObject(
            name, link, pose, tuple(parts), padding, True, frozenset(touch), kind
        )

    def detach(self, name: str, frame: str, pose: RigidTransform, link: str = "") -> None:
        """Put an attached object down.

        Args:
            name: Its id.
            frame: The frame that it stands in from now on.
            pose: frame_T_object.
            link: The link that it is said to be at; empty: any.
        """
        each = self._known(name, "detach")
        if not each.attached:
            raise SceneError(name, "it is not attached to a link, so there is nothing to detach")
        if link not in ("", each.frame):
            text = f"link_name: it is at {shown(each.frame)}, not at {shown(link)}"
            raise SceneError(name, f"{text}; name that link, or none")
        self._check_frame(name, frame)
        self.objects[name] = replace(
            each, frame=frame, pose=pose, attached=False, touch=frozenset()
        )

    def clear(self, *, attached: bool) -> None:
        """Remove all objects that stand free, or all that are attached."""
        for each in [each for each in self.objects.values() if each.attached == attached]:
            del self.objects[each.id]

    # Settings --------------------------------------------------------------------------------

    def allow(self, one: str, other: str, may_touch: bool = True) -> None:
        """Say whether two names, known or not, may touch."""
        self.entries[frozenset((one, other))] = may_touch

    def allow_default(self, name: str, may_touch: bool) -> None:
        """Say whether a name may touch all that have no entry with it."""
        self.defaults[name] = may_touch

    def clear_settings(self) -> None:
        """Forget the matrix, the padding of links and the colors."""
        self.clear_matrix()
        self.padding.clear()
        self.colors.clear()

    def clear_matrix(self) -> None:
        """Forget the matrix."""
        self.entries.clear()
        self.defaults.clear()

    def pad(self, name: str, padding: float) -> None:
        """Keep a distance [m] from a link or an object."""
        padding = _checked_padding(name, padding)
        if name in self.objects:
            self.objects[name] = replace(self.objects[name], padding=padding)
        else:
            self._check_links(name, "link_padding", [name])
            self.padding[name] = padding

    def color(self, name: str, color: Color) -> None:
        """Give an object a color; each number is from 0 to 1."""
        if not all(0.0 <= each <= 1.0 for each in color):
            raise SceneError(name, f"object_colors: numbers are from 0 to 1, got {color}")
        self.colors[name] = color

    # Checks ----------------------------------------------------------------------------------

    def _free(self) -> Iterator[WorldObject]:
        return (each for each in self.objects.values() if not each.attached)

    def _forget(self, name: str) -> None:
        del self.objects[name]
        self.colors.pop(name, None)
        self.defaults.pop(name, None)
        self.entries = {pair: each for pair, each in self.entries.items() if name not in pair}

    def _known(self, name: str, what: str) -> WorldObject:
        if name not in self.objects:
            known = listed(tuple(self.objects)) or "none"
            raise SceneError(name, f"id: there is no such object to {what}; there are {known}")
        return self.objects[name]

    def _check_free(self, name: str, remedy: str) -> None:
        each = self.objects.get(name)
        if each is not None and each.attached:
            raise SceneError(name, f"id: this object is attached to {shown(each.frame)}; {remedy}")

    def _check_id(self, name: str) -> None:
        if not name or len(name) > LONGEST_ID or not name.isprintable():
            text = f"id: it is text of 1 to {LONGEST_ID} printable characters"
            raise SceneError(name, f"{text}; give the object another one")
        if name in self._links:
            raise SceneError(name, "id: a link has this name; give the object another one")
        if name in self._before.sights:
            raise SceneError(name, "id: a cloud of points has this name; give the object another")

    def _check_frame(self, name: str, frame: str) -> None:
        if not frame or len(frame) > LONGEST_ID or not frame.isprintable():
            text = f"header.frame_id: it is text of 1 to {LONGEST_ID} printable characters"
            raise SceneError(name, f"{text}; name the frame that the pose is given in")
        if not self._knows(frame):
            text = f"header.frame_id: there is no transform of {shown(frame)}"
            raise SceneError(name, f"{text}; publish it first, or use a frame that is known")

    def _check_parts(self, name: str, parts: Sequence[Body]) -> None:
        if not 1 <= len(parts) <= MOST_SHAPES:
            text = f"shapes: an object has 1 to {MOST_SHAPES}, and this one {len(parts)}"
            raise SceneError(name, f"{text}; give it some, or make several objects of it")

    def _check_links(self, name: str, what: str, links: Iterable[str]) -> None:
        unknown = [link for link in links if link not in self._links]
        if unknown:
            text = f"{what}: the robot has no link {listed(tuple(unknown), 3)}"
            raise SceneError(name, f"{text}; it has {listed(tuple(sorted(self._links)), 12)}")


def _checked_padding(name: str, padding: float) -> float:
    value = as_number("padding", padding, "a distance")
    if not 0.0 <= value <= LARGEST_PADDING:
        text = f"padding: it is from 0 to {LARGEST_PADDING:g} m, got {padding}"
        raise SceneError(name, f"{text}; give a distance in metres")
    return value


class WorldScene:
    """A scene that follows a world: its objects, padding and allowed collisions.

    One thread at a time uses it. Whatever came between two calls of `update` is one change of the
    scene.

    Args:
        scene: The scene, which nobody else changes, without objects.

    Attributes:
        scene: The scene.
        reference: The link in whose frame the world stands still: the chain's root, or the link
            at the top of a chain whose joints move its root, as of one between two hands.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, top = scene, top_link(scene.chain)
        self._top = top if scene.chain.joint_T_link(top)[0] >= 0 else None
        self.reference = self._top or scene.chain.root
        self._seen: WorldState | None = None
        self._held: dict[str, WorldObject] = {}
        self._poses: dict[str, RigidTransform] = {}
        self._allowed: set[tuple[str, str]] = set()
        self._padded: dict[str, float] = {}
        self._sights: dict[str, Sight] = {}
        self._places: dict[str, RigidTransform] = {}

    def update(self, state: WorldState, lookup: Lookup) -> dict[str, str]:
        """Make the scene equal to a world.

        Args:
            state: What the world holds.
            lookup: Returns the pose of a frame in that of the reference.

        Returns:
            The frames that are not known, by the ids of what stands in them: these objects are not
            in the scene.

        Raises:
            SceneError: Points, and the chain's joints move its root.
        """
        placed = state.placed(lookup)
        wanted = {name: each for name, each in state.objects.items() if name not in placed.missing}
        # Each change has its own objects, and what is seen is none.
        changed = self._seen is None or state.objects is not self._seen.objects
        changed |= wanted.keys() != self._held.keys() or state.sights.keys() != self._sights.keys()
        if changed:
            self._replace(wanted, placed.poses)
        for name, pose in placed.poses.items():
            if pose != self._poses[name]:
                self.scene.move(name, pose)
        placed.missing.update(self._look(state, lookup))
        self._poses, self._seen = placed.poses, state
        if changed:
            self._pad(state, wanted)
            self._allow(state)
        return placed.missing

    def _look(self, state: WorldState, lookup: Lookup) -> dict[str, str]:
        """Take what sensors see; return the frames that are not known, by the names."""
        missing: dict[str, str] = {}
        for name in self._sights.keys() - state.sights.keys():
            self.scene.remove(name)
            del self._sights[name]
            self._padded.pop(name, None)
            self._allowed = {pair for pair in self._allowed if name not in pair}
        for name, sight in state.sights.items():
            if self._top is not None:
                text = (
                    f"a chain whose joints move its root, {self.scene.chain.root}, is not compared"
                )
                raise SceneError(name, f"{text} with points; unset point_cloud_topic")
            pose = lookup(sight.frame)
            if pose is None:
                missing[name] = sight.frame
                continue
            before = self._sights.get(name)
            if before is None or sight.cloud is not before.cloud:
                self.scene.add_points(name, sight.cloud, pose)
            elif pose != self._places[name]:
                self.scene.move(name, pose)
            self._sights[name], self._places[name] = sight, pose
        return missing

    def _replace(self, wanted: Mapping[str, WorldObject], poses: dict[str, RigidTransform]) -> None:
        """Remove what is no longer there, and add what is new."""
        for name, before in self._held.items():
            after = wanted.get(name)
            if after is None or not _is_like(before, after):
                if name in self.scene.objects:
                    self.scene.remove(name)
                self._padded.pop(name, None)
                self._allowed = {pair for pair in self._allowed if name not in pair}
        present = set(self.scene.objects)
        for name, each in wanted.items():
            if name in present:
                self._poses[name] = self._poses.get(name, each.pose)
                continue
            shapes, places = zip(*each.parts, strict=True)
            pose = each.pose if each.attached else poses[name]
            self.scene.add(name, shapes, pose, places)
            link = each.frame if each.attached else self._top
            if link is not None:
                try:
                    self.scene.attach(name, link, pose, each.touch)
                except SceneError:
                    self.scene.remove(name)  # so that it is tried again
                    raise
            self._poses[name] = pose
        self._held = dict(wanted)

    def _pad(self, state: WorldState, wanted: Mapping[str, WorldObject]) -> None:
        padded = {name: pad for name, pad in state.padding.items() if name in self.scene.surplus}
        padded |= {each.id: each.padding for each in wanted.values() if each.padding > 0.0}
        padded |= {name: sight.padding for name, sight in self._sights.items()}
        for name in self._padded.keys() | padded.keys():
            if padded.get(name, 0.0) != self._padded.get(name, 0.0):
                self.scene.pad(name, padded.get(name, 0.0))
        self._padded = padded

    def _allow(self, state: WorldState) -> None:
        known = {*self.scene.surplus, *self.scene.objects}
        pairs = {tuple(sorted(pair)) for pair, entry in state.entries.items() if entry}
        for name, entry in state.defaults.items():
            if entry and name in known:
                pairs |= {tuple(sorted((name, other))) for other in known - {name}}
        allowed = {
            (pair[0], pair[1]) for pair in pairs
            if len(pair) == 2 and known.issuperset(pair) and state.may_touch(*pair)
        }  # fmt: skip
        for pair in allowed - self._allowed:
            self.scene.allow(*pair)
        for pair in self._allowed - allowed:
            self.scene.forbid(*pair)
        self._allowed = allowed


def _is_like(one: WorldObject, other: WorldObject) -> bool:
    """Return whether two states of an object differ by a pose of what stands free at most."""
    if one is other:
        return True
    same = one.parts is other.parts and one.attached == other.attached
    return same and (not one.attached or (one.frame, one.touch, one.pose) == (
        other.frame, other.touch, other.pose
    ))  # fmt: skip

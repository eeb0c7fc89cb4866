# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The world as the control loop sees it, which recordings have."""

from __future__ import annotations

from typing import Any

from basis_ik.collision.covered_links import Body
from basis_ik.collision.hull import Hull
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.shape import Shape
from basis_ik.collision.world import Sight, World, WorldObject, WorldState
from basis_ik.ros.action_forms import array_of
from basis_ik.ros.boundary import Boundary, Form
from basis_ik.transforms.rigid import RigidTransform, trusted

EMPTY_WORLD = WorldState()


class SeenWorld:
    """A world whose state changes only when the control loop looks.

    Another thread changes the world at any time. The loop looks once a period, through the node's
    boundary, so that a replay sees the same in the same period.

    Args:
        world: The world.
        boundary: The node's boundary.

    Attributes:
        state: What it held when the loop last looked.
    """

    def __init__(self, world: World, boundary: Boundary) -> None:
        self._world, self._boundary = world, boundary
        self._form = Form(self._pack, self._unpack)
        self._recorded = EMPTY_WORLD
        self.state = world.state

    def look(self) -> None:
        """Take what the world holds now."""
        self.state = self._boundary.take("world", lambda: self._world.state, self._form)

    def _pack(self, state: WorldState) -> Any:
        before, self._recorded = self._recorded, state
        return None if state is before else pack(state, before)

    def _unpack(self, change: Any) -> WorldState:
        if change is not None:
            # Whoever else asks the world in a replay is answered by this, too.
            self._world.state = self._recorded = unpack(change, self._recorded)
        return self._recorded


def pack(state: WorldState, before: WorldState) -> dict[str, Any]:
    """Return a state as JSON has it, apart from arrays, without what is as before.

    The thread that writes a recording makes text of the arrays, by `array_text`.

    Args:
        state: The state.
        before: The one that `unpack` has before.
    """
    return {
        "revision": state.revision,
        "objects": {
            name: None if each is before.objects.get(name) else _packed_object(each, before)
            for name, each in state.objects.items()
        },
        "entries": [[*sorted(pair), entry] for pair, entry in state.entries.items()],
        "defaults": dict(state.defaults),
        "padding": dict(state.padding),
        "colors": {name: list(color) for name, color in state.colors.items()},
        "name": state.name,
        "sights": {
            name: [_packed_cloud(name, each, before), *each[1:]]
            for name, each in state.sights.items()
        },
    }


def unpack(change: dict[str, Any], before: WorldState) -> WorldState:
    """Return the state of `pack`, equal to the bit.

    Args:
        change: Its result.
        before: As given to it.
    """
    return WorldState(
        change["revision"],
        {
            name: before.objects[name] if each is None else _object(name, each, before)
            for name, each in change["objects"].items()
        },
        {frozenset((one, other)): entry for one, other, entry in change["entries"]},
        change["defaults"],
        change["padding"],
        {name: (r, g, b, a) for name, (r, g, b, a) in change["colors"].items()},
        change["name"],
        {
            name: Sight(_cloud(name, cloud, before), *rest)
            for name, (cloud, *rest) in change["sights"].items()
        },
    )


def _packed_object(each: WorldObject, before: WorldState) -> list[Any]:
    known = before.objects.get(each.id)
    parts = None
    if known is None or known.parts is not each.parts:
        parts = [[_packed_shape(part.shape), part.place._m] for part in each.parts]
    touch, kind = sorted(each.touch), list(each.kind)
    return [each.frame, each.pose._m, parts, each.padding, each.attached, touch, kind]


def _object(name: str, packed: list[Any], before: WorldState) -> WorldObject:
    frame, pose, rows, padding, attached, touch, kind = packed
    if rows is None:
        parts = before.objects[name].parts
    else:
        parts = tuple(Body(_shape(shape), _place(place)) for shape, place in rows)
    return WorldObject(
        name, frame, _place(pose), parts, padding, attached, frozenset(touch), (kind[0], kind[1])
    )


def _packed_shape(shape: Shape) -> list[Any]:
    hull = None
    if shape.kind == "mesh":
        hull = [*shape.hull]
    return [shape.kind, list(shape.size), shape.hull_ratio, hull]


def _shape(packed: list[Any]) -> Shape:
    kind, (x, y, z), ratio, rows = packed
    hull = None
    if rows is not None:
        vertices, faces, normals, offsets = map(array_of, rows[:-1])
        hull = Hull(vertices, faces, normals, offsets, rows[-1])
    return Shape(kind, (x, y, z), ratio, hull)


def _packed_cloud(name: str, sight: Sight, before: WorldState) -> list[Any] | None:
    known = before.sights.get(name)
    if known is not None and known.cloud is sight.cloud:
        return None
    return [sight.cloud.count, sight.cloud.depth, sight.cloud.tree]


def _cloud(name: str, packed: list[Any] | None, before: WorldState) -> PointCloud:
    if packed is None:
        return before.sights[name].cloud
    count, depth, tree = packed
    return PointCloud(count, depth, array_of(tree))


def _place(packed: list[Any]) -> RigidTransform:
    return trusted(array_of(packed))

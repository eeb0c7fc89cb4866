# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Writes a world as MoveIt's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    LinkPadding,
    LinkScale,
    ObjectColor,
    PlanningScene,
    PlanningSceneComponents,
)
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import ColorRGBA

from basis_ik.collision.shape import Shape
from basis_ik.collision.world import Lookup, WorldObject, WorldState
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message, transform_message
from basis_ik.ros.kinematics.robot_state import state_message

BITS = PlanningSceneComponents
EVERYTHING = (
    BITS.SCENE_SETTINGS | BITS.ROBOT_STATE | BITS.ROBOT_STATE_ATTACHED_OBJECTS
    | BITS.WORLD_OBJECT_NAMES | BITS.WORLD_OBJECT_GEOMETRY | BITS.OCTOMAP | BITS.TRANSFORMS
    | BITS.ALLOWED_COLLISION_MATRIX | BITS.LINK_PADDING_AND_SCALING | BITS.OBJECT_COLORS
)  # fmt: skip


class SceneWriter:
    """Writes what a world holds, for one robot.

    Args:
        model: The robot.
        left_out: Returns the pairs of links that are not compared.
    """

    def __init__(self, model: RobotModel, left_out: Callable[[], Iterable[frozenset[str]]]) -> None:
        self._model, self._left_out = model, left_out
        self._shaped = tuple(dict.fromkeys(each.link for each in model.collisions))
        self._written: dict[str, tuple[WorldObject, CollisionObject]] = {}

    def scene(
        self,
        state: WorldState,
        positions: Mapping[str, float],
        lookup: Lookup,
        stamp: Time,
        components: int = 0,
    ) -> PlanningScene:
        """Return a scene, not as a difference.

        Args:
            state: What the world holds.
            positions: Positions of the robot's joints by name [rad or m].
            lookup: Returns root_T_frame in the frame of the robot's root.
            stamp: The time.
            components: Bits of PlanningSceneComponents; 0: all.
        """
        wanted, message = components or EVERYTHING, PlanningScene()
        if wanted & BITS.SCENE_SETTINGS:
            message.name, message.robot_model_name = state.name, self._model.name
        if wanted & (BITS.ROBOT_STATE | BITS.ROBOT_STATE_ATTACHED_OBJECTS):
            message.robot_state = state_message(positions, self._model, stamp)
        if wanted & BITS.ROBOT_STATE_ATTACHED_OBJECTS:
            message.robot_state.attached_collision_objects = [
                AttachedCollisionObject(
                    link_name=each.frame, object=self._object(each), touch_links=sorted(each.touch)
                )
                for each in state.attached
            ]
        if wanted & BITS.WORLD_OBJECT_GEOMETRY:
            message.world.collision_objects = [self._object(each) for each in state.free]
        elif wanted & BITS.WORLD_OBJECT_NAMES:
            message.world.collision_objects = [_named(each) for each in state.free]
        if wanted & BITS.TRANSFORMS:
            frames = dict.fromkeys(each.frame for each in state.free)
            found = ((frame, lookup(frame)) for frame in frames if frame not in self._model.links)
            message.fixed_frame_transforms = [
                transform_message(self._model.root, frame, pose, stamp)
                for frame, pose in found if pose is not None
            ]  # fmt: skip
        if wanted & BITS.ALLOWED_COLLISION_MATRIX:
            message.allowed_collision_matrix = self._matrix(state)
        if wanted & BITS.LINK_PADDING_AND_SCALING:
            links = dict.fromkeys((*self._shaped, *state.padding))
            message.link_padding = [
                LinkPadding(link_name=link, padding=state.padding.get(link, 0.0)) for link in links
            ]
            message.link_scale = [LinkScale(link_name=link, scale=1.0) for link in links]
        if wanted & BITS.OBJECT_COLORS:
            message.object_colors = [
                ObjectColor(id=name, color=ColorRGBA(**dict(zip("rgba", color, strict=True))))
                for name, color in state.colors.items()
            ]
        if len(self._written) > len(state.objects):
            self._written = {
                name: each for name, each in self._written.items() if name in state.objects
            }
        return message

    def _object(self, each: WorldObject) -> CollisionObject:
        """Return an object; one that did not change is written once."""
        before, message = self._written.get(each.id, (None, None))
        if before is not each or message is None:
            message = _named(each)
            message.header.frame_id, message.pose = each.frame, pose_message(each.pose)
            for part in each.parts:
                field, shape = _shape(part.shape)
                getattr(message, field).append(shape)
                getattr(message, SHAPE_POSES[field]).append(pose_message(part.place))
            self._written[each.id] = each, message
        return message

    def _matrix(self, state: WorldState) -> AllowedCollisionMatrix:
        """Return which names may touch: those that a message has named, and all links."""
        named = [name for pair in state.entries for name in sorted(pair)]
        names = list(dict.fromkeys((*self._shaped, *named)))
        number = {name: k for k, name in enumerate(names)}
        enabled = np.zeros((len(names), len(names)), bool)
        given = (pair for pair, may_touch in state.entries.items() if may_touch)
        for pair in (*self._left_out(), *given):
            one, *other = (number[name] for name in pair)
            if other:
                enabled[one, other] = enabled[other, one] = True
        return AllowedCollisionMatrix(
            entry_names=names,
            entry_values=[AllowedCollisionEntry(enabled=row) for row in enabled.tolist()],
            default_entry_names=list(state.defaults),
            default_entry_values=list(state.defaults.values()),
        )


SHAPE_POSES = {"primitives": "primitive_poses", "meshes": "mesh_poses"}


def _named(each: WorldObject) -> CollisionObject:
    message = CollisionObject(id=each.id)
    message.type.key, message.type.db = each.kind
    return message


def _shape(shape: Shape) -> tuple[str, Any]:
    """Return the field of a shape and its message; meshes and cones are their hulls."""
    x, y, z = shape.size
    primitive = SolidPrimitive
    if shape.kind == "box":
        return "primitives", primitive(type=primitive.BOX, dimensions=[x, y, z])
    if shape.kind == "sphere":
        return "primitives", primitive(type=primitive.SPHERE, dimensions=[0.5 * x])
    if shape.kind == "cylinder":
        return "primitives", primitive(type=primitive.CYLINDER, dimensions=[z, 0.5 * x])
    corners: Sequence[Any] = shape.hull.vertices.tolist()
    faces = shape.hull.faces.astype(np.uint32)
    return "meshes", Mesh(
        triangles=[MeshTriangle(vertex_indices=each) for each in faces],
        vertices=[Point(x=x, y=y, z=z) for x, y, z in corners],
    )

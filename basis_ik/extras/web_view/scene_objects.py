# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objects of a planning scene as triangles, as RViz shows them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import trimesh
from moveit_msgs.msg import CollisionObject, PlanningScene
from shape_msgs.msg import Mesh, SolidPrimitive
from visualization_msgs.msg import MarkerArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.convert import pose_value
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import AROUND, Color, Faces

IN_HAND: Color = (0.60, 0.40, 0.75, 1.0)  # of what a link holds
SECTIONS = 24  # of a circle
MOST_SHOWN_TRIANGLES = 20_000  # of a mesh: one of more is shown as its box, or the page would stand
UNTIL_REPLACED = 1e9  # [s] that objects are shown, which are only published when they change
SIZES = {
    SolidPrimitive.BOX: 3,
    SolidPrimitive.SPHERE: 1,
    SolidPrimitive.CYLINDER: 2,
    SolidPrimitive.CONE: 2,
}
"""How many sizes each primitive has."""


class SceneObjects:
    """The objects of successive planning scenes as markers."""

    def __init__(self) -> None:
        self._drawing, self._faces = Drawing(UNTIL_REPLACED), list[Faces]()

    def markers(self, message: PlanningScene) -> MarkerArray:
        """Return the markers of a scene; of a difference to the one before, those before.

        ik_node publishes whole scenes only.
        """
        if not message.is_diff:
            self._faces = scene_faces(message)
        return self._drawing.message(self._faces)


def scene_faces(message: PlanningScene) -> list[Faces]:
    """Return the objects of a whole scene, in their frames.

    Planes have no end and are left out, as are shapes with faults: anybody may publish scenes.

    Args:
        message: The scene. Its colours count.
    """
    painted = {each.id: each.color for each in message.object_colors}
    attached = message.robot_state.attached_collision_objects
    things = [(each, AROUND) for each in message.world.collision_objects]
    things += [(each.object, IN_HAND) for each in attached]
    faces = []
    for thing, usual in things:
        color = painted.get(thing.id)
        shown = usual if color is None else (color.r, color.g, color.b, color.a)
        for number, (pose, corners) in enumerate(_shapes(thing)):
            frame = thing.header.frame_id
            faces.append(
                Faces(
                    name=f"object {thing.id}", number=number, frame=frame, color=shown,
                    pose=pose, corners=corners,
                )
            )  # fmt: skip
    return faces


def _shapes(thing: CollisionObject) -> Iterator[tuple[RigidTransform, FloatArray]]:
    """Yield frame_T_shape and the corners of each triangle in turn (3 k, 3) [m]."""
    frame_T_object = pose_value(thing.pose)
    shapes = [
        *zip(map(_of_primitive, thing.primitives), thing.primitive_poses, strict=False),
        *zip(map(_of_mesh, thing.meshes), thing.mesh_poses, strict=False),
    ]
    for corners, pose in shapes:
        object_T_shape = pose_value(pose)
        if isinstance(frame_T_object, RigidTransform) and isinstance(
            object_T_shape, RigidTransform
        ):
            yield frame_T_object @ object_T_shape, corners


def _of_primitive(primitive: SolidPrimitive) -> FloatArray:
    kind, sizes = primitive.type, list(primitive.dimensions)
    if len(sizes) != SIZES.get(kind) or not all(0.0 < each < np.inf for each in sizes):
        return np.zeros((0, 3))
    if kind == SolidPrimitive.BOX:
        mesh = trimesh.creation.box(sizes)
    elif kind == SolidPrimitive.SPHERE:
        mesh = trimesh.creation.icosphere(subdivisions=2, radius=sizes[0])
    elif kind == SolidPrimitive.CYLINDER:
        mesh = trimesh.creation.cylinder(sizes[1], sizes[0], sections=SECTIONS)
    else:
        mesh = trimesh.creation.cone(sizes[1], sizes[0], sections=SECTIONS)
        mesh.apply_translation((0.0, 0.0, -0.5 * sizes[0]))
    return np.asarray(mesh.triangles, float).reshape(-1, 3)


def _of_mesh(mesh: Mesh) -> FloatArray:
    vertices = np.array([(p.x, p.y, p.z) for p in mesh.vertices]).reshape(-1, 3)
    if not len(vertices) or not np.isfinite(vertices).all():
        return np.zeros((0, 3))
    if len(mesh.triangles) > MOST_SHOWN_TRIANGLES:
        box = trimesh.creation.box(bounds=[vertices.min(axis=0), vertices.max(axis=0)])
        return np.asarray(box.triangles, float).reshape(-1, 3)
    corners = np.array([each.vertex_indices for each in mesh.triangles], int).reshape(-1)
    if (corners >= len(vertices)).any():
        return np.zeros((0, 3))
    return vertices[corners]

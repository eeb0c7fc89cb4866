# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads MoveIt's messages about objects into the draft of a world.

What is not supported is refused by the name of its field; what a message repeats of what the node
measures itself is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import Pose
from moveit_msgs.msg import (
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    PlanningScene,
    PlanningSceneWorld,
)
from shape_msgs.msg import Mesh, SolidPrimitive

from basis_ik.arm.admission import Refused
from basis_ik.collision.covered_links import Body
from basis_ik.collision.shape import MOST_TRIANGLES, PRISM_SIDES, SceneError, Shape
from basis_ik.collision.world import WorldDraft
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_value
from basis_ik.ros.world.robot_frames import RobotFrames
from basis_ik.transforms.rigid import IDENTITY, RigidTransform

OCTOMAP = "<octomap>"  # MoveIt's name of its octomap
DIMENSIONS = {
    SolidPrimitive.BOX: 3,
    SolidPrimitive.SPHERE: 1,
    SolidPrimitive.CYLINDER: 2,
    SolidPrimitive.CONE: 2,
}
UNDEFINED = "octomap: octomaps are not supported; describe the surroundings by shapes"


class Form(NamedTuple):
    """What an object is, by a message."""

    pose: RigidTransform
    """frame_T_object."""
    parts: tuple[Body, ...]


class WorldReader:
    """Reads messages about the world around a robot.

    Args:
        model: The robot.
        frames: Its frames.

    Attributes:
        notes: Remarks on what was read, one line each; whoever logs them clears them.
    """

    def __init__(self, model: RobotModel, frames: RobotFrames) -> None:
        self._model, self._frames = model, frames
        self.notes: list[str] = []

    # Scenes ----------------------------------------------------------------------------------

    def scene(self, draft: WorldDraft, message: PlanningScene) -> None:
        """Read a whole scene, or with `is_diff` its changes.

        Raises:
            SceneError: Something in it is refused.
        """
        state = message.robot_state
        attached = state.attached_collision_objects
        self._note_state(message)
        if not message.is_diff:
            draft.clear(attached=False)
            draft.clear_settings()
        # As in MoveIt, also where a client forgets that it only means a difference.
        given = bool(attached or state.joint_state.name or state.multi_dof_joint_state.joint_names)
        if not state.is_diff and (given or not message.is_diff):
            draft.clear(attached=True)
        if message.name or not message.is_diff:
            draft.name = message.name[:200]
        for each in attached:
            self.attached(draft, each)
        matrix = message.allowed_collision_matrix
        if not message.is_diff or matrix.entry_names or matrix.default_entry_names:
            draft.clear_matrix()
            _read_matrix(draft, matrix)
        for padding in message.link_padding:
            draft.pad(padding.link_name, padding.padding)
        for scale in message.link_scale:
            if scale.scale != 1.0:
                text = f"link_scale: {scale.scale} is not supported; set it to 1, and use padding"
                raise SceneError(scale.link_name, text)
        # A client that attaches an object may remove it from the world in the same message.
        taken = {
            each.object.id for each in attached if each.object.operation == CollisionObject.ADD
        }
        for each in message.world.collision_objects:
            if each.operation != CollisionObject.REMOVE or each.id not in taken:
                self.object(draft, each)
        for color in message.object_colors:
            c = color.color
            draft.color(color.id, (c.r, c.g, c.b, c.a))
        _refuse_octomap(message.world)

    def world(self, draft: WorldDraft, message: PlanningSceneWorld) -> None:
        """Read all objects that stand free, in place of those before.

        Raises:
            SceneError: Something in it is refused.
        """
        draft.clear(attached=False)
        for each in message.collision_objects:
            self.object(draft, each)
        _refuse_octomap(message)

    def _note_state(self, message: PlanningScene) -> None:
        """Note what the node knows better."""
        name = message.robot_model_name
        if name not in ("", self._model.name):
            self.notes.append(f"robot_model_name: the robot here is '{self._model.name}'")
        state = message.robot_state
        if state.joint_state.name or state.multi_dof_joint_state.joint_names:
            self.notes.append("robot_state: joints are where they are measured")
        if message.fixed_frame_transforms:
            self.notes.append("fixed_frame_transforms: frames are where tf says")

    # Objects ---------------------------------------------------------------------------------

    def object(self, draft: WorldDraft, message: CollisionObject) -> None:
        """Read an operation on an object that stands free.

        Raises:
            SceneError: It is refused.
        """
        name, operation = message.id, message.operation
        _refuse_fields(message)
        if operation == CollisionObject.REMOVE:
            draft.remove(name)
        elif operation == CollisionObject.MOVE:
            self._move(draft, message)
        elif operation == CollisionObject.APPEND and name in draft.objects:
            self._append(draft, message)
        elif operation in (CollisionObject.ADD, CollisionObject.APPEND):
            form = self._form(message)
            frame, pose = self._stand(name, message.header.frame_id, form.pose)
            draft.add(name, frame, pose, form.parts, kind=_kind(message))
        else:
            raise SceneError(name, f"operation: {operation!r} is none of ADD, REMOVE, APPEND, MOVE")

    def _move(self, draft: WorldDraft, message: CollisionObject) -> None:
        name = message.id
        for field in ("primitives", "meshes"):
            if getattr(message, field):
                text = f"{field}: MOVE takes no shapes; leave them out, or use ADD"
                raise SceneError(name, text)
        pose = _pose(name, "pose", message.pose)
        frame, pose = self._stand(name, message.header.frame_id, pose)
        places = [
            _pose(name, f"{field}[{k}]", each)
            for field in ("primitive_poses", "mesh_poses")
            for k, each in enumerate(getattr(message, field))
        ]
        draft.move(name, frame, pose, places)

    def _append(self, draft: WorldDraft, message: CollisionObject) -> None:
        """Append shapes, which are placed in the object's own frame, as in MoveIt."""
        each, pose = draft.objects[message.id], _pose(message.id, "pose", message.pose)
        if not (pose == IDENTITY or pose.is_close(each.pose)):
            text = "pose: APPEND places shapes in the object's own frame; leave it at the identity"
            raise SceneError(message.id, text)
        draft.append(message.id, _parts(message))

    def attached(self, draft: WorldDraft, message: AttachedCollisionObject) -> None:
        """Read an operation on an object at a link.

        Raises:
            SceneError: It is refused.
        """
        name, operation = message.object.id, message.object.operation
        _refuse_fields(message.object)
        for field, is_given, remedy in (
            ("detach_posture", message.detach_posture != type(message.detach_posture)(), "empty"),
            ("weight", message.weight != 0.0, "0: masses are not used"),
        ):
            if is_given:
                raise SceneError(name, f"{field}: it is not supported; leave it {remedy}")
        if operation == CollisionObject.REMOVE:
            self._detach(draft, message)
        elif operation not in (CollisionObject.ADD, CollisionObject.APPEND):
            text = f"operation: {operation!r} is none of ADD, APPEND, REMOVE for what is attached"
            raise SceneError(name, text)
        elif operation == CollisionObject.APPEND and name in draft.objects:
            if not draft.objects[name].attached:
                raise SceneError(name, "operation: APPEND, and it is not attached; use ADD first")
            self._append(draft, message.object)
        else:
            self._attach(draft, message)

    def _attach(self, draft: WorldDraft, message: AttachedCollisionObject) -> None:
        name, link = message.object.id, self._model.link(message.link_name)
        if link not in self._model.links:
            text = f"link_name: the robot has no link '{link}'; name the one that carries it"
            raise SceneError(name, text)
        parts: Sequence[Body] | None = None
        known = draft.objects.get(name)
        if message.object.primitives or message.object.meshes or known is None:
            form = self._form(message.object)
            frame, pose, parts = message.object.header.frame_id, form.pose, form.parts
        else:  # what is known of it
            frame, pose = known.frame, known.pose
        frame = frame.removeprefix("/")
        link_T_frame = self._frames.lookup(link)(frame) if frame else None
        if link_T_frame is None:
            text = f"header.frame_id: there is no transform of '{frame}' to '{link}'"
            raise SceneError(name, f"{text}; publish it first, or use a frame that is known")
        touch = [self._model.link(each) for each in message.touch_links]
        draft.attach(name, link, link_T_frame @ pose, touch, parts, kind=_kind(message.object))

    def _detach(self, draft: WorldDraft, message: AttachedCollisionObject) -> None:
        name, link = message.object.id, message.link_name and self._model.link(message.link_name)
        names = [name]
        if not name:
            names = [
                each.id for each in draft.objects.values()
                if each.attached and link in ("", each.frame)
            ]  # fmt: skip
        root = self._model.root
        for each in names:
            known = draft.objects.get(each)
            pose = IDENTITY
            if known is not None and known.attached:
                _, pose = self._stand(each, known.frame, known.pose, stands=True)
            draft.detach(each, root, pose, link)

    # Frames ----------------------------------------------------------------------------------

    def _stand(
        self, name: str, frame: str, pose: RigidTransform, *, stands: bool = False
    ) -> tuple[str, RigidTransform]:
        """Return the frame in which an object stands, and its pose there.

        A frame that the robot's joints move is where it is now: the object stays there, as in
        MoveIt. With others it moves.

        Args:
            name: Its id.
            frame: The frame of a message, or a link.
            pose: frame_T_object.
            stands: Whether it is to stand in the frame of the robot's root in any case.
        """
        frame, root = frame.removeprefix("/"), self._model.root
        if not (stands or self._frames.is_carried(frame)):
            return frame, pose
        root_T_frame = self._frames.lookup(root)(frame)
        if root_T_frame is None:
            text = f"header.frame_id: it is not known where '{frame}' is"
            raise SceneError(name, f"{text}; wait until joint states have come")
        return root, root_T_frame @ pose

    def _form(self, message: CollisionObject) -> Form:
        """Return pose and shapes of a message.

        As in MoveIt, the pose of a single shape is the object's where that has none.
        """
        pose, parts = _pose(message.id, "pose", message.pose), _parts(message)
        if len(parts) == 1 and pose == IDENTITY:
            return Form(parts[0].place, (Body(parts[0].shape, IDENTITY),))
        return Form(pose, parts)


def _kind(message: CollisionObject) -> tuple[str, str]:
    return message.type.key, message.type.db


def _refuse_octomap(message: PlanningSceneWorld) -> None:
    if len(message.octomap.octomap.data):
        raise SceneError(OCTOMAP, UNDEFINED)


def _refuse_fields(message: CollisionObject) -> None:
    """Refuse what is not supported."""
    if message.id == OCTOMAP:
        raise SceneError(OCTOMAP, UNDEFINED)
    for fields, text in (
        (("planes", "plane_poses"), "planes are not supported; use a box that is thin and large"),
        (("subframe_names", "subframe_poses"), "subframes are not supported; publish them in tf"),
    ):
        for field in fields:
            if getattr(message, field):
                raise SceneError(message.id, f"{field}: {text}")


def _pose(name: str, field: str, pose: Pose) -> RigidTransform:
    found = pose_value(pose)
    if isinstance(found, Refused):
        raise SceneError(name, f"{field}: {found}; give a position in metres and a unit quaternion")
    return found


def _parts(message: CollisionObject) -> tuple[Body, ...]:
    """Return the shapes of a message with their poses, the identity where none is given."""
    name, parts = message.id, []
    for field, poses, make in (
        ("primitives", "primitive_poses", _primitive),
        ("meshes", "mesh_poses", _mesh),
    ):
        shapes, given = getattr(message, field), getattr(message, poses)
        if len(given) > len(shapes):
            text = f"{poses}: there are {len(given)}, and {len(shapes)} {field}"
            raise SceneError(name, f"{text}; give one for each")
        for k, shape in enumerate(shapes):
            place = _pose(name, f"{poses}[{k}]", given[k]) if k < len(given) else IDENTITY
            try:
                parts.append(Body(make(shape), place))
            except SceneError as error:
                raise SceneError(name, f"{field}[{k}]: {error}") from None
    return tuple(parts)


def _primitive(message: SolidPrimitive) -> Shape:
    kind, sizes = message.type, [float(each) for each in message.dimensions]
    if kind not in DIMENSIONS:
        text = f"{kind} is not supported; box, sphere, cylinder and cone are, and meshes"
        raise SceneError("type", text)
    if message.polygon.points:
        raise SceneError("polygon", "it belongs to a prism, which is not supported; use a mesh")
    if len(sizes) != DIMENSIONS[kind]:
        text = f"this type has {DIMENSIONS[kind]}, got {len(sizes)}"
        raise SceneError("dimensions", text)
    if kind == SolidPrimitive.BOX:
        return Shape.box(*sizes)
    if kind == SolidPrimitive.SPHERE:
        return Shape.sphere(*sizes)
    height, radius = sizes
    solid = Shape.cylinder(radius, height)
    if kind == SolidPrimitive.CYLINDER:
        return solid
    angles = np.arange(PRISM_SIDES) * (2.0 * np.pi / PRISM_SIDES)
    out = radius / np.cos(np.pi / PRISM_SIDES)  # around the cone, which is therefore inside
    rim = [(out * np.cos(a), out * np.sin(a), -0.5 * height) for a in angles]
    return Shape.hull_of([*rim, (0.0, 0.0, 0.5 * height)], "cone")


def _mesh(message: Mesh) -> Shape:
    if len(message.triangles) > MOST_TRIANGLES:
        text = f"{len(message.triangles)} are more than {MOST_TRIANGLES}; use a coarser mesh"
        raise SceneError("triangles", text)
    numbers = np.array([each.vertex_indices for each in message.triangles], np.int64)
    corners = np.array([(each.x, each.y, each.z) for each in message.vertices], np.float64)
    if not len(numbers) or not len(corners) or numbers.max() >= len(corners):
        text = f"{len(numbers)} triangles of {len(corners)} vertices are no mesh; send all of them"
        raise SceneError("triangles", text)
    return _hull(corners[numbers].tobytes())


@lru_cache(maxsize=16)
def _hull(triangles: bytes) -> Shape:
    """Return the hull of triangles; publishers repeat theirs, and it takes long."""
    array: FloatArray = np.frombuffer(triangles).reshape(-1, 3, 3)
    return Shape.of_triangles(array)


def _read_matrix(draft: WorldDraft, matrix: AllowedCollisionMatrix) -> None:
    """Read which names may touch; as in MoveIt, by the entries of a name with those after it."""
    names = matrix.entry_names
    if len(set(names)) < len(names):
        text = "entry_names: a name is there twice; send each once"
        raise SceneError("allowed_collision_matrix", text)
    if any(len(each.enabled) != len(names) for each in matrix.entry_values) or len(
        matrix.entry_values
    ) != len(names):
        text = f"entry_values: it is not {len(names)} rows of {len(names)}, one for each name"
        raise SceneError("allowed_collision_matrix", text)
    if len(matrix.default_entry_names) != len(matrix.default_entry_values):
        text = "default_entry_values: there is not one for each of default_entry_names"
        raise SceneError("allowed_collision_matrix", text)
    for i, row in enumerate(matrix.entry_values):
        for j in range(i + 1, len(names)):
            draft.allow(names[i], names[j], bool(row.enabled[j]))
    for name, value in zip(matrix.default_entry_names, matrix.default_entry_values, strict=True):
        draft.allow_default(name, bool(value))

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's topics and services of planning scenes, without MoveIt.

They move nothing. They run in a thread of their own: the hull of a mesh takes many periods of the
control loop.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    PlanningScene,
    PlanningSceneWorld,
)
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import PointCloud2

from basis_ik.arm.admission import printable
from basis_ik.arm.arm import UNWANTED, Arm
from basis_ik.collision.shape import SceneError
from basis_ik.collision.world import World, WorldDraft, WorldState
from basis_ik.process import giving_way
from basis_ik.robot.elements import listed
from basis_ik.ros.kinematics.scenes import CLOUD_NAME, Scenes
from basis_ik.ros.kinematics.side_thread import SideThread
from basis_ik.ros.parameters.ik_parameters import IGNORE, SERVE
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.publishers import incompatible_qos
from basis_ik.ros.qos import LATCHED, NEWEST
from basis_ik.ros.world.cloud_messages import CloudReader
from basis_ik.ros.world.robot_frames import measured_positions
from basis_ik.ros.world.scene_messages import BITS, EVERYTHING, SceneWriter
from basis_ik.ros.world.world_messages import WorldReader
from basis_ik.transforms.rigid import RigidTransform

WORLD_QUEUE = 1000  # messages of a topic: a program may publish all its objects at once
MOST_SCENE_BYTES = 2_500_000
"""Of a message of a topic: a mesh of 100,000 triangles. No thread runs while it is read."""
MOST_CLOUD_BYTES = 40_000_000
READING_PAUSE = 1e-3
"""After each message of a topic [s]: in a flood of them the control loop gets its processor."""
SCENE_PERIOD = 0.25  # [s] between two scenes, as move_group does it

Read = Callable[[WorldDraft, Any], None]


class WorldServer:
    """Keeps a world by messages, and tells what it holds.

    Args:
        node: The main node.
        arms: The robot's arms.
        world: The world, which only this changes.
        scenes: The robot's scenes, and its frames.
        parameters: The node's. `planning_scene`: `serve`; `listen`, without services, and without
            publishing, beside a move_group; `ignore`, without objects.

    Attributes:
        node: Its own node, which has the topics and services.
    """

    def __init__(
        self,
        node: Node,
        arms: Sequence[Arm],
        world: World,
        scenes: Scenes,
        parameters: Parameters,
    ) -> None:
        self._main, self._arms, self._world, self._frames = node, arms, world, scenes.frames
        self._model = arms[0].model
        self._reader = WorldReader(self._model, scenes.frames)
        self._writer = SceneWriter(
            self._model, lambda: scenes.left_out([arm.chain for arm in arms])
        )
        self._published: tuple[object, ...] | None = None
        if lost := world.fit(self._model.links):
            text = f"these objects do not fit the new robot and are gone: {listed(lost)}"
            node.get_logger().warning(text)
        self._side = SideThread(node, "world")
        self.node = self._side.node
        how, topic = parameters["planning_scene"], parameters["point_cloud_topic"]
        reader = self._reader
        topics = (
            (CollisionObject, "collision_object", reader.object),
            (AttachedCollisionObject, "attached_collision_object", reader.attached),
            (PlanningScene, "planning_scene", reader.scene),
            (PlanningSceneWorld, "planning_scene_world", reader.world),
        )
        for kind, name, read in topics if how != IGNORE else ():
            self._subscribe(kind, name, self._taking(kind, name, read), WORLD_QUEUE)
        if topic:
            self._clouds = CloudReader(arms, scenes, parameters)
            self._subscribe(PointCloud2, topic, self._taking_points(topic), NEWEST)
        if how == SERVE:
            topic = node.resolve_topic_name("monitored_planning_scene")
            self._publisher = self.node.create_publisher(PlanningScene, topic, LATCHED)
            for kind, name, serve in (
                (GetPlanningScene, "get_planning_scene", self._get),
                (ApplyPlanningScene, "apply_planning_scene", self._apply),
            ):
                self.node.create_service(kind, node.resolve_service_name(name), serve)
            self.node.create_timer(SCENE_PERIOD, self.publish_if_new)

    def _subscribe(
        self, kind: type[Any], name: str, take: Callable[[bytes], None], qos: QoSProfile | int
    ) -> None:
        node = self._main
        self.node.create_subscription(
            kind, node.resolve_topic_name(name), take, qos,
            event_callbacks=incompatible_qos(node, name), raw=True,
        )  # fmt: skip

    def destroy(self) -> None:
        """Destroy topics and services."""
        self._side.destroy()

    # Changes ---------------------------------------------------------------------------------

    def _taking(self, kind: type[Any], topic: str, read: Read) -> Callable[[bytes], None]:
        """Return the callback of a topic's messages, which come as bytes."""

        def take(data: bytes) -> None:
            if len(data) > MOST_SCENE_BYTES:
                text = f"{len(data)} bytes are more than {MOST_SCENE_BYTES}"
                self._refuse(topic, f"{text}; use a coarser mesh for collisions")
                return
            with giving_way():
                if reason := self._change(read, deserialize_message(data, kind)):
                    self._refuse(topic, reason)
            time.sleep(READING_PAUSE)

        return take

    def _taking_points(self, topic: str) -> Callable[[bytes], None]:
        """Return the callback of clouds of points, which come as bytes; of a flood the newest."""

        def see(data: bytes) -> None:
            message, before = deserialize_message(data, PointCloud2), self._world.state.sights
            self._world.see(CLOUD_NAME, self._clouds.read(message, before.get(CLOUD_NAME)))

        def take(data: bytes) -> None:
            if len(data) > MOST_CLOUD_BYTES:
                text = f"{len(data)} bytes are more than {MOST_CLOUD_BYTES}; publish fewer points"
                self._refuse(topic, text)
                return
            with giving_way():
                if reason := self._tried(lambda: see(data)):
                    self._refuse(topic, reason)
            time.sleep(READING_PAUSE)

        return take

    def _apply(self, request: Any, response: Any) -> Any:
        with giving_way():
            reason = self._change(self._reader.scene, request.scene)
        if reason:
            self._main.get_logger().warning(f"apply_planning_scene: refused: {reason}")
        response.success = not reason
        return response

    def _change(self, read: Read, message: Any) -> str:
        """Read a message into the world; return why it is refused, or nothing."""
        root, before = self._model.root, self._world.state
        self._reader.notes.clear()
        lookup = self._frames.lookup(root)

        def change() -> None:
            with self._world.change(lambda frame: lookup(frame) is not None) as draft:
                read(draft, message)

        if reason := self._tried(change):
            return reason
        for note in (*self._reader.notes, *self._remarks(before, self._world.state)):
            text = f"planning scene: {printable(note, 400)}"
            self._main.get_logger().warning(text, throttle_duration_sec=1.0)
        return ""

    def _tried(self, do: Callable[[], None]) -> str:
        """Do something to the world; return why it is refused, or nothing."""
        try:
            do()
        except SceneError as error:
            return printable(str(error), 400)
        except Exception:  # a bad message must not end the control of the arm
            self._main.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
            return "internal error"
        return ""

    def _refuse(self, topic: str, reason: str) -> None:
        text = f"{topic}: refused: {reason}"
        self._main.get_logger().warning(text, throttle_duration_sec=1.0)

    def _remarks(self, before: WorldState, after: WorldState) -> list[str]:
        """Return remarks on new objects: hulls too large, swallowed bases, arms not judged."""
        new = {
            name: each for name, each in after.objects.items()
            if before.objects.get(name) is not each
        }  # fmt: skip
        found = [
            f"'{name}': {part.shape.note}"
            for name, each in new.items() for part in each.parts if part.shape.note
        ]  # fmt: skip
        if new:
            named = listed(tuple(new))
            found += [
                f"{arm.name or 'the arm'} does not stop before {named}: {arm.unchecked}"
                for arm in self._arms if arm.unchecked not in ("", UNWANTED)
            ]  # fmt: skip
        if any(not each.attached for each in new.values()):
            state, origin = WorldState(objects=new), RigidTransform.identity()
            for root in dict.fromkeys(arm.chain.root for arm in self._arms):
                found += [
                    f"'{name}': the origin of '{root}' is inside of it; is its place right?"
                    for name in state.around(origin, self._frames.lookup(root))
                ]
        return found

    # Answers ---------------------------------------------------------------------------------

    def _get(self, request: Any, response: Any) -> Any:
        try:
            with giving_way():
                response.scene = self._scene(request.components.components)
        except Exception:
            self._main.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
        return response

    def _scene(self, components: int = 0) -> PlanningScene:
        positions = measured_positions(self._arms)
        lookup = self._frames.lookup(self._model.root, positions)
        stamp = self._main.get_clock().now().to_msg()
        return self._writer.scene(self._world.state, positions, lookup, stamp, components)

    def publish_if_new(self) -> None:
        """Publish the scene, if the world has changed; for subscribers also if the arm has moved.

        What came since the last time is one message.
        """
        state = self._world.state
        key: tuple[object, ...] = (state.revision,)
        if self._publisher.get_subscription_count() and state.objects:
            positions = measured_positions(self._arms)
            lookup = self._frames.lookup(self._model.root, positions)
            frames = dict.fromkeys(each.frame for each in state.free)
            key = (state.revision, positions, *map(lookup, frames))
        if key != self._published and (self._published is None or self._is_newer(key)):
            self._published = key
            # Before there is an object nobody needs the matrix, which takes a second or two.
            wanted = EVERYTHING if state.revision else EVERYTHING & ~BITS.ALLOWED_COLLISION_MATRIX
            with giving_way():
                self._publisher.publish(self._scene(wanted))

    def _is_newer(self, key: tuple[object, ...]) -> bool:
        """Return whether a key has more than that its subscribers are gone."""
        assert self._published is not None
        return key[0] != self._published[0] or len(key) > 1

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

"""What the page shows: whatever robots, markers, handles and arms there are in the ROS graph."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import TransformListener
from viser import ViserServer
from visualization_msgs.msg import MarkerArray

from basis_ik.errors import BasisIkError
from basis_ik.motion.admission import printable
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.web_view.arm_panel import ArmPanel, Company, Joint
from basis_ik.ros.web_view.frame_nodes import FrameNodes
from basis_ik.ros.web_view.gizmos import Gizmos
from basis_ik.ros.web_view.marker_nodes import MarkerNodes
from basis_ik.ros.web_view.mesh_reader import MeshReader
from basis_ik.ros.web_view.reach_layer import ReachLayer
from basis_ik.ros.web_view.robot_body import RobotBody

LOOK = 1.0  # s between two looks at what there is in the graph
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
VIEW = np.array([1.0, -1.3, 0.9])  # from where one looks, in extents


class Part(Protocol):
    """Something that is shown, or heard, as long as a topic is published."""

    def update(self, now: float) -> None:
        """Show what is due at a time [s]."""

    def destroy(self) -> None:
        """Give it up."""


class Page:
    """Everything on the page, from the first browser that opens it to the last that leaves.

    Args:
        node: Subscribes and publishes.
        server: Of viser.
        meshes: Reads files; they outlast the page.
        fixed_frame: What the scene is drawn in; empty: the root of the first robot's frames.
    """

    def __init__(
        self, node: Node, server: ViserServer, meshes: MeshReader, fixed_frame: str = ""
    ) -> None:
        self._node, self._server, self._meshes, self._given = node, server, meshes, fixed_frame
        self._buffer = FrameBuffer()
        self._listener = TransformListener(self._buffer, node)
        self._frames = FrameNodes(server.scene, self._buffer)
        self._actions: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._parts: dict[str, Part] = {}
        self._joints: dict[str, Joint] = {}
        self._commanded: dict[str, Joint] = {}
        self._company = Company(
            self._joints,
            self._commanded,
            lambda: frozenset(server.get_clients()),
            self._actions.put,
        )
        self._looked, self._aimed = -math.inf, ""
        self._diagnostics = node.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, 10
        )
        server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        server.gui.set_panel_label("basis_ik")
        server.gui.main_panel.dock_right()
        server.scene.configure_default_lights(cast_shadow=False)
        server.scene.add_grid(
            "/grid", 4.0, 4.0, cell_color=(70, 70, 70), section_color=(90, 90, 90)
        )
        with server.gui.add_folder("all arms"):
            everything = server.gui.add_button("stop all arms", color="red")
        everything.on_click(self._on_stop_all)
        self._hint = server.gui.add_html(
            "<p style='margin: 0 1em 0.5em'>no robot_description yet</p>"
        )

    def destroy(self) -> None:
        """Give everything up."""
        for part in self._parts.values():
            part.destroy()
        self._listener.unregister()
        self._node.destroy_subscription(self._diagnostics)
        self._server.gui.reset()
        self._server.scene.reset()

    def update(self) -> None:
        """Do what users have asked for, look at what there is, and show it."""
        now = time.monotonic()
        while not self._actions.empty():
            self._actions.get()()
        if now - self._looked >= LOOK:
            self._looked = now
            self._look()
        self._frames.update()
        self._aim()
        for part in self._parts.values():
            part.update(now)

    async def _on_stop_all(self, _: Any) -> None:
        def stop() -> None:
            for part in self._parts.values():
                if isinstance(part, ArmPanel):
                    part.stop()

        self._actions.put(stop)

    # What there is -------------------------------------------------------------------------------

    def _look(self) -> None:
        """Begin to show what is new in the graph, and give up what is gone."""
        topics = dict(self._node.get_topic_names_and_types())
        there = {
            topic: factory
            for topic, types in topics.items()
            if (factory := self._factory(topic, types, topics))
            and self._node.count_publishers(topic)
        }
        for topic in self._parts.keys() - there.keys():
            self._parts.pop(topic).destroy()
        for topic, factory in there.items():
            if topic not in self._parts:
                self._parts[topic] = factory(topic)
        self._choose_fixed_frame()
        for part in self._parts.values():
            if isinstance(part, ArmPanel):
                self._acquaint(part)

    def _factory(
        self, topic: str, types: list[str], topics: dict[str, list[str]]
    ) -> Callable[[str], Part] | None:
        """Return what makes the part of a topic; None of one that is not shown."""
        name, kind = topic.rpartition("/")[2], types[0]
        if kind == "std_msgs/msg/String" and name == "robot_description":
            return self._new_robot
        if kind == "visualization_msgs/msg/MarkerArray" and name == "markers":
            return self._new_markers
        if kind == "sensor_msgs/msg/PointCloud2" and topic.endswith("reach_map/points"):
            return self._new_cloud
        if kind == "visualization_msgs/msg/InteractiveMarkerUpdate":
            return self._new_gizmos
        if kind == "diagnostic_msgs/msg/DiagnosticStatus" and name == "status":
            takes = topics.get(f"{topic.rpartition('/')[0]}/twist", [])
            return self._new_panel if "geometry_msgs/msg/TwistStamped" in takes else None
        if kind == "sensor_msgs/msg/JointState" and name == "joint_states":
            return lambda each: _Heard(self._node, JointState, each, self._on_joints)
        if kind == "control_msgs/msg/JointTrajectoryControllerState":
            return lambda each: _Heard(
                self._node, JointTrajectoryControllerState, each, self._on_controller
            )
        return None

    def _new_robot(self, topic: str) -> Part:
        return _Robot(self._node, self._server, self._frames, self._meshes, topic)

    def _new_markers(self, topic: str) -> Part:
        nodes = MarkerNodes(self._server.scene, self._frames, self._meshes, topic)
        return _Markers(self._node, topic, nodes)

    def _new_cloud(self, topic: str) -> Part:
        return ReachLayer(self._node, self._server, self._frames, topic)

    def _new_gizmos(self, topic: str) -> Part:
        namespace = topic.rpartition("/")[0]
        return Gizmos(self._node, self._server.scene, self._frames, namespace, self._actions.put)

    def _new_panel(self, topic: str) -> Part:
        prefix = topic.rpartition("/")[0]
        return ArmPanel(self._node, self._server.gui, prefix, self._company)

    def _robots(self) -> dict[str, RobotModel]:
        """Return the robots that are known, by the namespaces of their descriptions."""
        return {
            topic.rpartition("/")[0]: part.model
            for topic, part in self._parts.items()
            if isinstance(part, _Robot) and part.model is not None
        }

    def _choose_fixed_frame(self) -> None:
        robots = list(self._robots().values())
        self._hint.visible = not robots
        if self._given:
            self._frames.fixed = self._given
        elif robots:
            self._frames.fixed = self._frames.root_of(robots[0].root)

    def _acquaint(self, panel: ArmPanel) -> None:
        """Tell a panel its robot: the one whose namespace is nearest above it."""
        robots = self._robots()
        above = [space for space in robots if panel.prefix.startswith(f"{space}/")]
        markers = self._parts.get(f"{panel.prefix}/markers")
        handle = self._parts.get(f"{panel.prefix}/target/update")
        if above and isinstance(markers, _Markers):
            gizmos = handle if isinstance(handle, Gizmos) else None
            panel.know(robots[max(above, key=len)], markers.nodes.root, gizmos)

    def _aim(self) -> None:
        """Look at the robots, when there are others than before."""
        robots = sorted(model.name for model in self._robots().values())
        key = ", ".join(robots)
        if not robots or key == self._aimed:
            return
        links = [link for model in self._robots().values() for link in model.links]
        places = [place.position for link in links if (place := self._frames.place(link))]
        if len(places) < len(links) or not np.isfinite(places).all():
            return  # not yet all of them; or never: then the view stays
        self._aimed = key
        low, high = np.min(places, axis=0), np.max(places, axis=0)
        middle, extent = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 0.3)
        browsers = [client.camera for client in self._server.get_clients().values()]
        for camera in (self._server.initial_camera, *browsers):
            # In this order: who is moved takes along what it looks at.
            camera.position = middle + extent * VIEW
            camera.look_at = middle

    # What is heard -------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        velocities = message.velocity or [math.nan] * len(message.name)
        for name, position, velocity in zip(
            message.name, message.position, velocities, strict=False
        ):
            self._joints[name] = Joint(position, velocity)

    def _on_controller(self, message: JointTrajectoryControllerState) -> None:
        reference = message.reference
        velocities = reference.velocities or [math.nan] * len(message.joint_names)
        for name, position, velocity in zip(
            message.joint_names, reference.positions, velocities, strict=False
        ):
            self._commanded[name] = Joint(position, velocity)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for part in self._parts.values():
            if isinstance(part, ArmPanel):
                for status in message.status:
                    part.on_diagnostics(status)


class _Heard:
    """A topic that is only listened to."""

    def __init__(self, node: Node, kind: Any, topic: str, take: Callable[[Any], None]) -> None:
        self._node = node
        self._subscription = node.create_subscription(kind, topic, take, NEWEST)

    def update(self, now: float) -> None:
        """Show nothing."""

    def destroy(self) -> None:
        """Give it up."""
        self._node.destroy_subscription(self._subscription)


class _Markers:
    """The markers of a topic."""

    def __init__(self, node: Node, topic: str, nodes: MarkerNodes) -> None:
        self._node, self.nodes = node, nodes
        self._subscription = node.create_subscription(
            MarkerArray, topic, lambda message: nodes.show(message, time.monotonic()), 1
        )

    def update(self, now: float) -> None:
        """Remove them when they are too old."""
        self.nodes.expire(now)

    def destroy(self) -> None:
        """Remove them."""
        self.nodes.clear()
        self._node.destroy_subscription(self._subscription)


class _Robot:
    """The robot of a topic."""

    def __init__(
        self, node: Node, server: ViserServer, frames: FrameNodes, meshes: MeshReader, topic: str
    ) -> None:
        self._node, self._server, self._frames, self._meshes = node, server, frames, meshes
        self._topic, self._text = topic, ""
        self._body: RobotBody | None = None
        self._subscription = node.create_subscription(String, topic, self._on_description, LATCHED)

    @property
    def model(self) -> RobotModel | None:
        """The robot; None while there is none."""
        return None if self._body is None else self._body.model

    def destroy(self) -> None:
        """Remove it."""
        if self._body is not None:
            self._body.destroy()
        self._node.destroy_subscription(self._subscription)

    def update(self, now: float) -> None:
        """Show what is due."""
        if self._body is not None:
            self._body.update()

    def _on_description(self, message: String) -> None:
        """Take in a robot; one that is malformed leaves the one that is there."""
        if message.data == self._text:
            return
        self._text = message.data
        try:
            model = RobotModel.from_urdf(message.data)
        except BasisIkError as error:
            self._node.get_logger().error(f"{self._topic}: {printable(str(error), 240)}")
            return
        if self._body is not None:
            self._body.destroy()
        name = self._topic.strip("/").replace("/", "_")
        self._body = RobotBody(self._server.scene, self._frames, self._meshes, model, name)

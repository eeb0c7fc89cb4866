# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The content of the page: all robots, markers, handles and arms in the ROS graph."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from moveit_msgs.msg import PlanningScene
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import TransformListener
from viser import ViserServer
from visualization_msgs.msg import MarkerArray

from basis_ik.arm.admission import printable
from basis_ik.errors import BasisIkError
from basis_ik.extras.web_view.arm_panel import (
    TWISTS,
    ArmPanel,
    Joint,
    PanelContext,
    PanelPlaces,
)
from basis_ik.extras.web_view.cameras import Cameras
from basis_ik.extras.web_view.frame_nodes import LAYERS, FrameNodes
from basis_ik.extras.web_view.gizmos import Gizmos
from basis_ik.extras.web_view.hand_rules import CAMERA_T_VIEW
from basis_ik.extras.web_view.looks import STOPS, STYLE, statuses_html
from basis_ik.extras.web_view.marker_nodes import MarkerNodes
from basis_ik.extras.web_view.mesh_reader import MeshReader
from basis_ik.extras.web_view.reach_layer import ReachLayer
from basis_ik.extras.web_view.robot_body import RobotBody, extents_of
from basis_ik.extras.web_view.scene_objects import SceneObjects
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.publishers import GRAPH_QUERY_PERIOD
from basis_ik.ros.qos import LATCHED, NEWEST
from basis_ik.transforms.rigid import RigidTransform

GRID_HEIGHT = 0.05  # [m] below the fixed frame; only what is lower moves the grid down


class Part(Protocol):
    """The page's content for one topic, as long as it is published."""

    def update(self, now: float) -> None:
        """Update it at a time [s]."""

    def destroy(self) -> None:
        """Remove it."""


class Page:
    """The content of the page; it exists while a browser is connected.

    Args:
        node: Owns the subscriptions and publishers.
        server: viser's server.
        meshes: Reads mesh files; kept when the page is destroyed.
        fixed_frame: Frame in which the scene is drawn; empty: the first robot's topmost frame, or
            without a robot that of most frames shown.
        own_page: Path of the page whose pad moves an arm.
    """

    def __init__(
        self,
        node: Node,
        server: ViserServer,
        meshes: MeshReader,
        fixed_frame: str,
        own_page: str,
    ) -> None:
        self._node, self._server, self._meshes = node, server, meshes
        self._given_frame = fixed_frame
        self._buffer = FrameBuffer()
        self._listener = TransformListener(self._buffer, node)
        self._frames = FrameNodes(server.scene, self._buffer)
        self._actions: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._parts: dict[str, Part] = {}
        self._joints: dict[str, Joint] = {}
        self._commanded: dict[str, Joint] = {}
        self._context = PanelContext(
            self._joints,
            self._commanded,
            lambda: frozenset(server.get_clients()),
            self._actions.put,
            self._frames.between,
            self._take_keys,
            own_page,
        )
        self._named = set[int]()
        self._scanned_at, self._cameras = -math.inf, Cameras(server)
        self._diagnostics = node.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, 10
        )
        server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        server.gui.set_panel_label("basis_ik")
        server.gui.main_panel.dock_right()
        server.scene.configure_default_lights(cast_shadow=False)
        self._grid = server.scene.add_grid(
            "/grid", 4.0, 4.0, cell_color=(70, 70, 70), section_color=(90, 90, 90)
        )
        server.gui.add_html(STYLE, order=-3.0)
        with server.gui.add_folder("layers", order=1e3, expand_by_default=False):
            self._layers = {
                name: server.gui.add_checkbox(name, name not in self._frames.hidden)
                for name in LAYERS
            }
        self._places: PanelPlaces | None = None
        self._stop: Any = None
        self._hint = server.gui.add_html(
            "<p style='margin: 0 1em 0.5em'>no robot_description yet</p>"
        )

    def destroy(self) -> None:
        """Remove everything."""
        for part in self._parts.values():
            part.destroy()
        self._listener.unregister()
        self._node.destroy_subscription(self._diagnostics)
        self._server.gui.reset()
        self._server.scene.reset()

    def update(self) -> None:
        """Run the users' actions, follow the graph, and update all parts."""
        now = time.monotonic()
        while not self._actions.empty():
            self._actions.get()()
        if now - self._scanned_at >= GRAPH_QUERY_PERIOD:
            self._scanned_at = now
            self._scan_graph()
        self._frames.hidden = frozenset(
            name for name, layer in self._layers.items() if not layer.value
        )
        self._frames.faded = any(
            part.nodes.has_bones for part in self._parts.values() if isinstance(part, _Markers)
        )
        self._frames.update()
        self._place_cameras()
        self._name_browsers()
        for part in self._parts.values():
            part.update(now)

    def _name_browsers(self) -> None:
        """Tell each browser its number, for the pad in it."""
        for browser, client in self._server.get_clients().items():
            if browser not in self._named:
                self._named.add(browser)
                client.gui.add_html(
                    f"<div class='ik-browser' data-browser='{browser}'></div>", order=-3.0
                )

    def views(self) -> dict[tuple[str, int], RigidTransform]:
        """Return root_T_view by the prefixes of arms and the browsers that look at them."""
        views, none = {}, np.zeros(3)
        for panel in self._panels():
            root_T_fixed = panel.root and self._frames.between(panel.root, self._frames.fixed)
            if not root_T_fixed:
                continue
            for browser, client in self._server.get_clients().items():
                xyzw = np.roll(client.camera.wxyz, -1)
                fixed_T_camera = RigidTransform.from_quaternion_xyzw(xyzw, none)
                view = root_T_fixed @ fixed_T_camera @ CAMERA_T_VIEW
                views[panel.prefix, browser] = RigidTransform.from_rotation_translation(
                    view.rotation, none
                )
        return views

    async def _on_stop_all(self, _: Any) -> None:
        def stop() -> None:
            for panel in self._panels():
                panel.stop()

        self._actions.put(stop)

    def _take_keys(self, taker: ArmPanel) -> None:
        for panel in self._panels():
            if panel is not taker:
                panel.release_keys()

    # Parts ---------------------------------------------------------------------------------------

    def _scan_graph(self) -> None:
        """Create parts for new topics, and destroy those of topics that are gone."""
        topics = dict(self._node.get_topic_names_and_types())
        there = {
            topic: factory
            for topic, types in topics.items()
            if (factory := self._factory(topic, types, topics))
            and self._node.count_publishers(topic)
        }
        for topic in self._parts.keys() - there.keys():
            part = self._parts[topic]
            if isinstance(part, ArmPanel):
                part.on_gone()
            else:
                self._parts.pop(topic).destroy()
        for topic, factory in there.items():
            if isinstance(self._parts.get(topic), _Statuses) and factory == self._new_panel:
                self._parts.pop(topic).destroy()  # its twist has come
            if topic not in self._parts:
                self._parts[topic] = factory(topic)
        self._choose_fixed_frame()
        self._name_stops()
        for panel in self._panels():
            self._set_robot(panel)

    def _factory(
        self, topic: str, types: list[str], topics: dict[str, list[str]]
    ) -> Callable[[str], Part] | None:
        """Return the function that creates a topic's part; None if it is not shown."""
        name, kind = topic.rpartition("/")[2], types[0]
        if kind == "std_msgs/msg/String" and name == "robot_description":
            return self._new_robot
        if kind == "visualization_msgs/msg/MarkerArray" and name == "markers":
            return self._new_markers
        if kind == "moveit_msgs/msg/PlanningScene" and name == "monitored_planning_scene":
            return self._new_objects
        if kind == "sensor_msgs/msg/PointCloud2" and topic.endswith("reach_map/points"):
            return self._new_cloud
        if kind == "visualization_msgs/msg/InteractiveMarkerUpdate":
            return self._new_gizmos
        if kind == "diagnostic_msgs/msg/DiagnosticStatus" and name == "status":
            takes = topics.get(f"{topic.rpartition('/')[0]}/twist", [])
            return self._new_panel if not TWISTS.isdisjoint(takes) else self._new_status
        if kind == "sensor_msgs/msg/JointState" and name == "joint_states":
            return lambda each: _Listener(self._node, JointState, each, self._on_joints)
        if kind == "control_msgs/msg/JointTrajectoryControllerState":
            return lambda each: _Listener(
                self._node, JointTrajectoryControllerState, each, self._on_controller
            )
        return None

    def _new_robot(self, topic: str) -> Part:
        return _Robot(self._node, self._server, self._frames, self._meshes, topic)

    def _new_markers(self, topic: str) -> Part:
        nodes = MarkerNodes(self._server.scene, self._frames, self._meshes, topic)
        return _Markers(self._node, MarkerArray, topic, nodes, lambda message: message, 1)

    def _new_objects(self, topic: str) -> Part:
        nodes = MarkerNodes(self._server.scene, self._frames, self._meshes, topic)
        objects = SceneObjects()
        return _Markers(self._node, PlanningScene, topic, nodes, objects.markers, LATCHED)

    def _new_cloud(self, topic: str) -> Part:
        return ReachLayer(self._node, self._server.scene, self._frames, topic)

    def _new_gizmos(self, topic: str) -> Part:
        namespace = topic.rpartition("/")[0]
        post, browsers = self._context.post, self._context.browsers
        return Gizmos(self._node, self._server.scene, self._frames, namespace, post, browsers)

    def _new_status(self, topic: str) -> Part:
        return _Statuses(self._node, self._server, topic)

    def _new_panel(self, topic: str) -> Part:
        gui, prefix = self._server.gui, topic.rpartition("/")[0]
        if self._places is None:
            # Above all else, so that nothing that comes or goes moves them.
            self._places = PanelPlaces(
                gui.add_folder("stop", order=-2.0), gui.add_tab_group(order=-1.0)
            )
            with self._places.stops:
                gui.add_html(STOPS)
                self._stop = gui.add_button("stop", color="red")
                self._stop.on_click(self._on_stop_all)
        return ArmPanel(self._node, gui, self._places, prefix, self._context)

    def _name_stops(self) -> None:
        """Name the stops: one arm has one; of several, each has its own beside that of all."""
        panels = self._panels()
        if len(panels) > 1:
            self._stop.label = "stop all arms"
            for panel, name in zip(panels, short_names([p.prefix for p in panels]), strict=True):
                panel.show_stop(name)

    def _panels(self) -> list[ArmPanel]:
        return [part for part in self._parts.values() if isinstance(part, ArmPanel)]

    def _robots(self) -> dict[str, RobotModel]:
        """Return the robots by the namespaces of their descriptions."""
        return {
            topic.rpartition("/")[0]: part.model
            for topic, part in self._parts.items()
            if isinstance(part, _Robot) and part.model is not None
        }

    def _choose_fixed_frame(self) -> None:
        robots = list(self._robots().values())
        frames = self._frames.names()
        self._hint.visible = not robots and (self._places is not None or not frames)
        if self._given_frame:
            self._frames.fixed = self._given_frame
        elif robots:
            self._frames.fixed = self._frames.root_of(robots[0].root)
        elif frames:
            (root, _), *_ = Counter(map(self._frames.root_of, frames)).most_common(1)
            self._frames.fixed = root

    def _set_robot(self, panel: ArmPanel) -> None:
        """Set a panel's robot: the one with the longest namespace that contains the panel."""
        robots = self._robots()
        above = [space for space in robots if panel.prefix.startswith(f"{space}/")]
        markers = self._parts.get(f"{panel.prefix}/markers")
        handle = self._parts.get(f"{panel.prefix}/target/update")
        if above and isinstance(markers, _Markers):
            gizmos = handle if isinstance(handle, Gizmos) else None
            panel.set_robot(robots[max(above, key=len)], markers.nodes.root, gizmos)

    def _place_cameras(self) -> None:
        """Point cameras at the robots; without one, at all frames.

        As long as one of them has no transform the view stays.
        """
        robots = self._robots().values()
        links = [link for model in robots for link in model.links] or self._frames.names()
        key = ", ".join(sorted(model.name for model in robots) or sorted(links))
        extents = [extent for model in robots for extent in extents_of(model)]
        if not robots:
            markers = [part.nodes for part in self._parts.values() if isinstance(part, _Markers)]
            extents = [extent for nodes in markers for extent in nodes.extents()]
        extents += [(link, np.zeros((1, 3))) for link in links]
        points = [self._frames.points(frame, within) for frame, within in extents]
        known = [each for each in points if each is not None]
        if links and len(known) == len(points) and self._cameras.look(key, np.vstack(known)):
            # What stands, stands on the grid.
            low = min(float(np.vstack(known)[:, 2].min()), 0.0)
            self._grid.position = (0.0, 0.0, low if low < -GRID_HEIGHT else 0.0)
        self._cameras.update()

    # Messages ------------------------------------------------------------------------------------

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
        for panel in self._panels():
            for status in message.status:
                panel.on_diagnostics(status)


def short_names(prefixes: Sequence[str]) -> list[str]:
    """Return the prefixes of several arms without what all begin and end with."""
    parts = [prefix.strip("/").split("/") for prefix in prefixes]
    for end in (0, -1):
        while all(len(each) > 1 for each in parts) and len({each[end] for each in parts}) == 1:
            for each in parts:
                del each[end]
    return ["/".join(each) for each in parts]


class _Listener:
    """A topic whose messages update other parts, or a part made of it."""

    def __init__(
        self,
        node: Node,
        kind: Any,
        topic: str,
        take: Callable[[Any], None],
        qos: QoSProfile | int = NEWEST,
    ) -> None:
        self._node = node
        self._subscription = node.create_subscription(kind, topic, take, qos)

    def update(self, now: float) -> None:
        """Do nothing."""

    def destroy(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)


class _Statuses(_Listener):
    """The newest statuses of a topic by their names; of a node without an arm."""

    def __init__(self, node: Node, server: ViserServer, topic: str) -> None:
        self._html, self._newest = server.gui.add_html(""), dict[str, DiagnosticStatus]()
        super().__init__(node, DiagnosticStatus, topic, self._take, 10)

    def _take(self, message: DiagnosticStatus) -> None:
        self._newest[message.name] = message
        self._html.content = statuses_html(list(self._newest.values()))

    def destroy(self) -> None:
        """Remove it."""
        self._html.remove()
        super().destroy()


class _Markers(_Listener):
    """The markers of a topic, or of what a topic tells.

    Args:
        node: Owns the subscription.
        kind: Type of the messages.
        topic: The topic.
        nodes: Shows the markers.
        markers: Returns the markers of a message.
        qos: As of the subscription.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        topic: str,
        nodes: MarkerNodes,
        markers: Callable[[Any], MarkerArray],
        qos: QoSProfile | int,
    ) -> None:
        self.nodes = nodes
        super().__init__(
            node, kind, topic, lambda each: nodes.show(markers(each), time.monotonic()), qos
        )

    def update(self, now: float) -> None:
        """Update them."""
        self.nodes.update(now)

    def destroy(self) -> None:
        """Remove them."""
        self.nodes.clear()
        super().destroy()


class _Robot:
    """The robot of a description's topic.

    The topic's publisher is asked for its `frame_prefix`; until it answers, there is none.
    """

    def __init__(
        self, node: Node, server: ViserServer, frames: FrameNodes, meshes: MeshReader, topic: str
    ) -> None:
        self._node, self._server, self._frames, self._meshes = node, server, frames, meshes
        self._topic, self._text, self._prefix = topic, "", ""
        self._body: RobotBody | None = None
        self._subscription = node.create_subscription(String, topic, self._on_description, LATCHED)
        self._asked, self._clients = (
            False,
            [
                node.create_client(
                    GetParameters,
                    f"{each.node_namespace.rstrip('/')}/{each.node_name}/get_parameters",
                )
                for each in node.get_publishers_info_by_topic(topic)[:1]
            ],
        )

    @property
    def model(self) -> RobotModel | None:
        """The robot; None before a valid description."""
        return None if self._body is None else self._body.model

    def destroy(self) -> None:
        """Remove it."""
        if self._body is not None:
            self._body.destroy()
        self._body, self._text = None, ""  # an answer that comes later shows nothing
        self._node.destroy_subscription(self._subscription)
        for client in self._clients:
            self._node.destroy_client(client)

    def update(self, now: float) -> None:
        """Update its body."""
        for client in self._clients:
            if not self._asked and client.service_is_ready():
                self._asked = True
                request = GetParameters.Request(names=["frame_prefix"])
                client.call_async(request).add_done_callback(self._on_parameters)
        if self._body is not None:
            self._body.update()

    def _on_parameters(self, future: Future) -> None:
        response = future.result()
        if response is not None and response.values and response.values[0].string_value:
            self._prefix = response.values[0].string_value
            self._show()

    def _on_description(self, message: String) -> None:
        if message.data != self._text:
            self._text = message.data
            self._show()

    def _show(self) -> None:
        """Show a new robot; an invalid description is logged, and the old robot stays."""
        if not self._text:
            return
        try:
            model = RobotModel.from_urdf(self._text, frame_prefix=self._prefix)
        except BasisIkError as error:
            self._node.get_logger().error(f"{self._topic}: {printable(str(error), 240)}")
            return
        if self._body is not None:
            self._body.destroy()
        name = self._topic.strip("/").replace("/", "_")
        self._body = RobotBody(self._server.scene, self._frames, self._meshes, model, name)

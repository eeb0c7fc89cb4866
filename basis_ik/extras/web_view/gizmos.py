# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Interactive markers in a browser: the handles that nodes show in RViz, as viser's gizmos.

https://wiki.ros.org/rviz/Tutorials/Interactive%20Markers%3A%20Getting%20Started describes the
protocol: a service that returns all markers, a topic of numbered updates, a topic of feedback.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from geometry_msgs.msg import Pose
from rclpy.node import Node
from rclpy.task import Future
from viser import SceneApi
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerUpdate,
)
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.extras.web_view.frame_nodes import FrameNodes

GIZMO_CLIENT = "web_view"
REQUEST_TIMEOUT = 3.0  # [s]; a server that has not discovered the client yet answers in vain
MOVE_MODES = (
    InteractiveMarkerControl.MOVE_AXIS,
    InteractiveMarkerControl.MOVE_3D,
    InteractiveMarkerControl.MOVE_ROTATE_3D,
)
TURN_MODES = (
    InteractiveMarkerControl.ROTATE_AXIS,
    InteractiveMarkerControl.ROTATE_3D,
    InteractiveMarkerControl.MOVE_ROTATE_3D,
    InteractiveMarkerControl.MOVE_ROTATE,
)


class _Gizmo(NamedTuple):
    marker: InteractiveMarker
    handle: Any


class _Held(NamedTuple):
    name: str
    browser: int | None


class Gizmos:
    """The interactive markers of one server.

    While a browser drags a gizmo, others do not move it.

    Args:
        node: Owns the subscription, client and publisher.
        scene: viser's scene.
        frames: The nodes of the frames.
        namespace: Namespace of the server: `/basis_ik/target`.
        post: Queues a function for the node's thread.
        browsers: Returns the ids of the connected browsers.

    Attributes:
        menu: The entries of all markers' menus: titles, and functions that select them.
        menu_version: Number of times that the menu has changed.
    """

    def __init__(
        self,
        node: Node,
        scene: SceneApi,
        frames: FrameNodes,
        namespace: str,
        post: Callable[[Callable[[], None]], None],
        browsers: Callable[[], frozenset[int]],
    ) -> None:
        self._node, self._scene, self._frames, self._post = node, scene, frames, post
        self._browsers = browsers
        self._gizmos: dict[str, _Gizmo] = {}
        self._held: _Held | None = None
        self._moved: Feedback | None = None
        self._sequence: int | None = None  # number of the last update shown; None: all needed
        self._response: Future | None = None
        self._requested_at = -math.inf
        self.menu: dict[str, Callable[[], None]] = {}
        self.menu_version = 0
        self._updates = node.create_subscription(
            InteractiveMarkerUpdate, f"{namespace}/update", self._on_update, 100
        )
        self._feedback = node.create_publisher(Feedback, f"{namespace}/feedback", 10)
        self._client = node.create_client(
            GetInteractiveMarkers, f"{namespace}/get_interactive_markers"
        )

    def destroy(self) -> None:
        """Remove the gizmos, topics and client."""
        for name in list(self._gizmos):
            self._erase(name)
        self._node.destroy_subscription(self._updates)
        self._node.destroy_publisher(self._feedback)
        self._node.destroy_client(self._client)

    def update(self, now: float) -> None:
        """Send the dragged gizmo's newest pose; request all markers if updates were missed."""
        if self._held is not None and self._held.browser not in self._browsers():
            self._held = None  # it went away in mid-drag
        if self._moved is not None:
            self._feedback.publish(self._moved)
            self._moved = None
        if self._response is not None and now - self._requested_at > REQUEST_TIMEOUT:
            self._client.remove_pending_request(self._response)
            self._response = None
        if self._sequence is None and self._response is None and self._client.service_is_ready():
            self._requested_at = now
            self._response = self._client.call_async(GetInteractiveMarkers.Request())
            self._response.add_done_callback(self._on_all)

    def _on_all(self, future: Future) -> None:
        self._response = None
        response = future.result()
        if response is None:
            return
        self._sequence = response.sequence_number
        for name in self._gizmos.keys() - {marker.name for marker in response.markers}:
            self._erase(name)
        for marker in response.markers:
            self._show(marker)

    def _on_update(self, message: InteractiveMarkerUpdate) -> None:
        if message.type == InteractiveMarkerUpdate.UPDATE and self._sequence is not None:
            if message.seq_num == self._sequence + 1:
                self._sequence = message.seq_num
            elif message.seq_num > self._sequence + 1 or message.seq_num == 1:
                self._sequence = None  # updates were missed, or the server was restarted
        for marker in message.markers:
            self._show(marker)
        for name in message.erases:
            self._erase(name)
        for moved in message.poses:
            gizmo = self._gizmos.get(moved.name)
            if gizmo is None or self._is_held(moved.name):
                continue
            if moved.header.frame_id != gizmo.marker.header.frame_id:
                self._sequence = None
                continue
            gizmo.handle.position, gizmo.handle.wxyz = _values(moved.pose)

    def _erase(self, name: str) -> None:
        gizmo = self._gizmos.pop(name, None)
        if gizmo is not None:
            gizmo.handle.remove()
            self._update_menu()
        if self._is_held(name):
            self._held = None

    def _is_held(self, name: str) -> bool:
        return self._held is not None and self._held.name == name

    def _show(self, marker: InteractiveMarker) -> None:
        """Show a marker; keep its gizmo if only pose or menu have changed."""
        before = self._gizmos.get(marker.name)
        if before is not None and _appearance(before.marker) == _appearance(marker):
            self._gizmos[marker.name] = before._replace(marker=marker)
            if not self._is_held(marker.name):
                before.handle.position, before.handle.wxyz = _values(marker.pose)
        else:
            if before is not None:
                before.handle.remove()
            self._gizmos[marker.name] = _Gizmo(marker, self._add(marker))
        self._update_menu()

    def _add(self, marker: InteractiveMarker) -> Any:
        modes = {control.interaction_mode for control in marker.controls}
        position, wxyz = _values(marker.pose)
        path = f"{self._frames.path(marker.header.frame_id)}/{marker.name}"
        handle = self._scene.add_transform_controls(
            path, scale=marker.scale, position=position, wxyz=wxyz, depth_test=False,
            disable_axes=modes.isdisjoint(MOVE_MODES), disable_sliders=modes.isdisjoint(MOVE_MODES),
            disable_rotations=modes.isdisjoint(TURN_MODES),
        )  # fmt: skip
        name = marker.name

        async def on_update(event: Any) -> None:
            position, wxyz = tuple(event.target.position), tuple(event.target.wxyz)
            phase, held = event.phase, _Held(name, event.client_id)
            self._post(lambda: self._drag(held, phase, position, wxyz))

        handle.on_update(on_update)
        return handle

    def _drag(self, by: _Held, phase: str, position: Any, wxyz: Any) -> None:
        """Send feedback of a user's drag; updates are sent by `update`."""
        gizmo = self._gizmos.get(by.name)
        if gizmo is None or (self._is_held(by.name) and self._held != by):
            return
        feedback = Feedback(client_id=GIZMO_CLIENT, marker_name=by.name)
        feedback.header.frame_id = gizmo.marker.header.frame_id
        p, q = feedback.pose.position, feedback.pose.orientation
        p.x, p.y, p.z = map(float, position)
        q.w, q.x, q.y, q.z = map(float, wxyz)
        if phase == "update":
            feedback.event_type = Feedback.POSE_UPDATE
            self._moved = feedback
            return
        self._held = by if phase == "start" else None
        feedback.event_type = Feedback.MOUSE_DOWN if phase == "start" else Feedback.MOUSE_UP
        self._moved = None
        self._feedback.publish(feedback)

    def _update_menu(self) -> None:
        entries = {
            entry.title: (name, entry.id)
            for name, gizmo in self._gizmos.items()
            for entry in gizmo.marker.menu_entries
            if entry.id not in {each.parent_id for each in gizmo.marker.menu_entries} - {0}
        }
        if list(entries) != list(self.menu):
            self.menu_version += 1
        self.menu = {
            title: lambda chosen=chosen: self._select(*chosen)  # type: ignore[misc]
            for title, chosen in entries.items()
        }

    def _select(self, name: str, entry: int) -> None:
        feedback = Feedback(client_id=GIZMO_CLIENT, marker_name=name, menu_entry_id=entry)
        feedback.event_type = Feedback.MENU_SELECT
        gizmo = self._gizmos.get(name)
        if gizmo is not None:
            feedback.header.frame_id = gizmo.marker.header.frame_id
            feedback.pose = gizmo.marker.pose
            self._feedback.publish(feedback)


def _appearance(marker: InteractiveMarker) -> tuple[object, ...]:
    """Return the properties of a marker that its gizmo depends on."""
    modes = sorted(control.interaction_mode for control in marker.controls)
    return marker.header.frame_id, marker.scale, modes


def _values(pose: Pose) -> tuple[tuple[float, ...], tuple[float, ...]]:
    p, q = pose.position, pose.orientation
    return (p.x, p.y, p.z), (q.w, q.x, q.y, q.z)

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

"""The server, which owns markers, tells clients of changes and hears what users do; and menus."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time as RclpyTime
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
    MenuEntry,
)
from visualization_msgs.srv import GetInteractiveMarkers

Callback = Callable[[InteractiveMarkerFeedback], None]

_SOLE_USE = Duration(seconds=1.0)  # that a marker belongs to the client that moved it last


@dataclass
class _Handlers:
    """Whom to call: by type of feedback, the server's DEFAULT_FEEDBACK_CALLBACK for the rest.

    From its creation to its first feedback a marker belongs to nobody: to the client "".
    """

    by_type: dict[int, Callback] = field(default_factory=dict)
    client: str = ""
    heard: RclpyTime | None = None


class InteractiveMarkerServer:
    """A server of interactive markers to any number of clients, such as RViz.

    Changes are gathered and take effect with `applyChanges`; only callbacks change at once.
    """

    DEFAULT_FEEDBACK_CALLBACK = 255

    def __init__(self, node: Node, namespace: str) -> None:
        """Make the topics `update` and `feedback` and a service below `namespace`."""
        self.node = node
        self.seq_num = 0
        self.mutex = Lock()
        self._markers: dict[str, InteractiveMarker] = {}
        self._handlers: dict[str, _Handlers] = {}
        # What the next applyChanges does: set a marker, move one, or (None) erase it.
        self._pending: dict[str, InteractiveMarker | InteractiveMarkerPose | None] = {}
        self.get_interactive_markers_srv = node.create_service(
            GetInteractiveMarkers,
            f"{namespace}/get_interactive_markers",
            self.getInteractiveMarkersCallback,
        )
        self.update_pub = node.create_publisher(InteractiveMarkerUpdate, f"{namespace}/update", 100)
        self.feedback_sub = node.create_subscription(
            InteractiveMarkerFeedback,
            f"{namespace}/feedback",
            self.processFeedback,
            1,
        )

    def shutdown(self) -> None:
        """Erase all markers and destroy the topics and the service, while the node is there."""
        if self.node.context.ok():
            self._pending = dict.fromkeys(self._markers)
            self.applyChanges()
        self.node.destroy_service(self.get_interactive_markers_srv)
        self.node.destroy_publisher(self.update_pub)
        self.node.destroy_subscription(self.feedback_sub)

    def insert(
        self,
        marker: InteractiveMarker,
        *,
        feedback_callback: Callback | None = None,
        feedback_type: int = DEFAULT_FEEDBACK_CALLBACK,
    ) -> None:
        """Add a marker, or replace the one of its name."""
        with self.mutex:
            self._pending[marker.name] = marker
            if feedback_callback is not None:
                self._handlers_of(marker.name).by_type[feedback_type] = feedback_callback

    def setPose(self, name: str, pose: Pose) -> None:
        """Move a marker, unless there is none, or it is only about to be inserted."""
        with self.mutex:
            is_new = isinstance(self._pending.get(name), InteractiveMarker)
            if name in self._markers and not is_new:
                self._set_pose(name, pose, self._markers[name].header)

    def _set_pose(self, name: str, pose: Pose, header: Any) -> None:
        """Move a marker, or what is to take its place."""
        pending = self._pending.get(name)
        if isinstance(pending, InteractiveMarker):
            pending.pose, pending.header = pose, header
        else:
            self._pending[name] = InteractiveMarkerPose(header=header, pose=pose, name=name)

    def erase(self, name: str) -> None:
        """Take a marker away."""
        with self.mutex:
            self._pending[name] = None

    def applyChanges(self) -> None:
        """Do what was asked for since the last call, and tell the clients."""
        with self.mutex:
            if not self._pending:
                return
            update = InteractiveMarkerUpdate(type=InteractiveMarkerUpdate.UPDATE)
            for name, change in self._pending.items():
                self._apply(name, change, update)
            self._pending = {}
            self.seq_num += 1
            update.seq_num = self.seq_num
            self.update_pub.publish(update)

    def _apply(
        self,
        name: str,
        change: InteractiveMarker | InteractiveMarkerPose | None,
        update: InteractiveMarkerUpdate,
    ) -> None:
        if change is None:
            self._handlers.pop(name, None)
            if self._markers.pop(name, None) is not None:
                update.erases.append(name)
        elif isinstance(change, InteractiveMarker):
            if name not in self._markers:
                self._handlers_of(name).heard = self.node.get_clock().now()
            self._markers[name] = change
            update.markers.append(change)
        else:
            self._markers[name].header, self._markers[name].pose = change.header, change.pose
            update.poses.append(change)

    def get(self, name: str) -> InteractiveMarker | None:
        """Return a marker, pending changes included; None if there is none."""
        with self.mutex:
            change = self._pending.get(name, self._markers.get(name))
            if isinstance(change, InteractiveMarkerPose):
                marker = self._markers[name]
                marker.pose = change.pose
                return marker
            return change

    def processFeedback(self, feedback: InteractiveMarkerFeedback) -> None:
        """Take in what a user did: the marker moves, whoever wants to know is called.

        Then all changes are applied, those that others asked for included.
        """
        with self.mutex:
            name = feedback.marker_name
            if name not in self._markers:
                return
            handlers = self._handlers[name]
            assert handlers.heard is not None  # at the latest when the marker was made
            now = self.node.get_clock().now()
            if feedback.client_id != handlers.client and now - handlers.heard < _SOLE_USE:
                self.node.get_logger().debug(
                    f"Rejecting feedback for '{name}': conflicting feedback from separate clients"
                )
                return
            handlers.client, handlers.heard = feedback.client_id, now
            if feedback.event_type == InteractiveMarkerFeedback.POSE_UPDATE:
                # A marker without stamp stays in its frame.
                header = self._markers[name].header
                self._set_pose(
                    name, feedback.pose, header if header.stamp == Time() else feedback.header
                )
            default = handlers.by_type.get(self.DEFAULT_FEEDBACK_CALLBACK)
            callback = handlers.by_type.get(feedback.event_type, default)
        if callback is not None:
            callback(feedback)
        self.applyChanges()

    def _handlers_of(self, name: str) -> _Handlers:
        return self._handlers.setdefault(name, _Handlers())

    def getInteractiveMarkersCallback(
        self, request: GetInteractiveMarkers.Request, response: GetInteractiveMarkers.Response
    ) -> GetInteractiveMarkers.Response:
        """Answer a client that has just come."""
        with self.mutex:
            response.sequence_number = self.seq_num
            response.markers = list(self._markers.values())
        return response


@dataclass
class _Entry:
    title: str
    callback: Callback
    visible: bool = True
    check_state: int = 0


class MenuHandler:
    """A menu that can be given to markers; an entry is known by the handle that `insert` returns.

    Changes show when the menu is applied again and the server applies its changes.
    """

    NO_CHECKBOX = 0
    CHECKED = 1
    UNCHECKED = 2

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._markers: set[str] = set()

    def insert(self, title: str, *, callback: Callback) -> int:
        """Add an entry and return its handle."""
        handle = len(self._entries) + 1
        self._entries[handle] = _Entry(title, callback)
        return handle

    def setVisible(self, handle: int, visible: bool) -> None:
        """Show an entry or hide it."""
        self._entries[handle].visible = visible

    def setCheckState(self, handle: int, check_state: int) -> None:
        """Give an entry a box, checked or not, or none."""
        self._entries[handle].check_state = check_state

    def apply(self, server: InteractiveMarkerServer, marker_name: str) -> None:
        """Give the menu as it is now to a marker; forget a marker that is gone from the server.

        Raises:
            KeyError: As upstream: there is no such marker, and the menu was never applied to it.
        """
        marker = server.get(marker_name)
        if marker is None:
            self._markers.remove(marker_name)
            return
        boxes = {self.CHECKED: "[x] ", self.UNCHECKED: "[ ] "}
        marker.menu_entries = [
            MenuEntry(
                id=handle,
                title=boxes.get(entry.check_state, "") + entry.title,
                command_type=MenuEntry.FEEDBACK,
            )
            for handle, entry in self._entries.items()
            if entry.visible
        ]
        server.insert(
            marker,
            feedback_callback=self._on_select,
            feedback_type=InteractiveMarkerFeedback.MENU_SELECT,
        )
        self._markers.add(marker_name)

    def reApply(self, server: InteractiveMarkerServer) -> None:
        """Give it again to every marker that has it."""
        for name in tuple(self._markers):
            self.apply(server, name)

    def _on_select(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.menu_entry_id in self._entries:
            self._entries[feedback.menu_entry_id].callback(feedback)

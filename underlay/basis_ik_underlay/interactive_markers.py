# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Interactive markers: a server, which owns them and tells clients such as RViz, and menus."""

from collections.abc import Callable
from dataclasses import dataclass, field

from geometry_msgs.msg import Pose
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
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
    """Callbacks by type of feedback, the server's DEFAULT_FEEDBACK_CALLBACK for the rest.

    `client` moved the marker last; until its first feedback it belongs to nobody, the client "".
    """

    heard: Time
    client: str = ""
    by_type: dict[int, Callback] = field(default_factory=dict)


class InteractiveMarkerServer:
    """A server of interactive markers to any number of clients, such as RViz.

    Changes are gathered and take effect with `applyChanges`; only callbacks change at once. All
    calls must come from the thread that spins the node.
    """

    DEFAULT_FEEDBACK_CALLBACK = 255

    def __init__(self, node: Node, namespace: str) -> None:
        """Make the topics `update` and `feedback` and a service below `namespace`."""
        self._node = node
        self._sequence = 0
        self._markers: dict[str, InteractiveMarker] = {}
        self._handlers: dict[str, _Handlers] = {}
        # What the next applyChanges does: set a marker, move one, or (None) erase it.
        self._pending: dict[str, InteractiveMarker | InteractiveMarkerPose | None] = {}
        self._service = node.create_service(
            GetInteractiveMarkers, f"{namespace}/get_interactive_markers", self._on_request
        )
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f"{namespace}/update", 100)
        self._feedback = node.create_subscription(
            InteractiveMarkerFeedback, f"{namespace}/feedback", self._on_feedback, 1
        )

    def shutdown(self) -> None:
        """Erase all markers and destroy the topics and the service, while the node is there."""
        if self._node.context.ok():
            self._pending = dict.fromkeys(self._markers)
            self.applyChanges()
        self._node.destroy_service(self._service)
        self._node.destroy_publisher(self._updates)
        self._node.destroy_subscription(self._feedback)

    def insert(
        self,
        marker: InteractiveMarker,
        *,
        feedback_callback: Callback,
        feedback_type: int = DEFAULT_FEEDBACK_CALLBACK,
    ) -> None:
        """Add a marker, or replace the one of its name."""
        name = marker.name
        self._pending[name] = marker
        if name not in self._handlers:
            self._handlers[name] = _Handlers(self._node.get_clock().now())
        self._handlers[name].by_type[feedback_type] = feedback_callback

    def setPose(self, name: str, pose: Pose) -> None:
        """Move a marker, if there is one."""
        if name in self._markers:
            header = self._markers[name].header
            self._pending[name] = InteractiveMarkerPose(header=header, pose=pose, name=name)

    def erase(self, name: str) -> None:
        """Take a marker away."""
        self._pending[name] = None

    def applyChanges(self) -> None:
        """Do what was asked for since the last call, and tell the clients."""
        if not self._pending:
            return
        update = InteractiveMarkerUpdate(type=InteractiveMarkerUpdate.UPDATE)
        for name, change in self._pending.items():
            if isinstance(change, InteractiveMarker):
                self._markers[name] = change
                update.markers.append(change)
            elif isinstance(change, InteractiveMarkerPose):
                self._markers[name].pose = change.pose
                update.poses.append(change)
            elif name in self._markers:
                del self._markers[name], self._handlers[name]
                update.erases.append(name)
        self._pending = {}
        self._sequence += 1
        update.seq_num = self._sequence
        self._updates.publish(update)

    def get(self, name: str) -> InteractiveMarker | None:
        """Return a marker, one that is about to be inserted included; None if there is none."""
        change = self._pending.get(name)
        return change if isinstance(change, InteractiveMarker) else self._markers.get(name)

    def _on_feedback(self, feedback: InteractiveMarkerFeedback) -> None:
        """Move the marker as a user did, call its callback, and apply all pending changes."""
        name = feedback.marker_name
        if name not in self._markers:
            return
        handlers, now = self._handlers[name], self._node.get_clock().now()
        if feedback.client_id != handlers.client and now - handlers.heard < _SOLE_USE:
            return
        handlers.client, handlers.heard = feedback.client_id, now
        if feedback.event_type == InteractiveMarkerFeedback.POSE_UPDATE:
            self.setPose(name, feedback.pose)
        default = handlers.by_type[self.DEFAULT_FEEDBACK_CALLBACK]
        handlers.by_type.get(feedback.event_type, default)(feedback)
        self.applyChanges()

    def _on_request(
        self, request: GetInteractiveMarkers.Request, response: GetInteractiveMarkers.Response
    ) -> GetInteractiveMarkers.Response:
        """Answer a client that has just come."""
        response.sequence_number = self._sequence
        response.markers = list(self._markers.values())
        return response


@dataclass
class _Entry:
    title: str
    parent: int
    callback: Callback
    visible: bool = True
    box: str = ""


class MenuHandler:
    """A menu that can be given to markers; an entry is known by the handle that `insert` returns.

    Changes show when the menu is applied again and the server applies its changes.
    """

    CHECKED = 1
    UNCHECKED = 2

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._markers: set[str] = set()

    def insert(self, title: str, *, parent: int | None = None, callback: Callback) -> int:
        """Add an entry, below another one or to the menu itself, and return its handle."""
        handle = len(self._entries) + 1
        self._entries[handle] = _Entry(title, parent or 0, callback)
        return handle

    def setVisible(self, handle: int, visible: bool) -> None:
        """Show an entry or hide it, with those below it."""
        self._entries[handle].visible = visible

    def setCheckState(self, handle: int, check_state: int) -> None:
        """Give an entry a box, checked or not."""
        self._entries[handle].box = "[x] " if check_state == self.CHECKED else "[ ] "

    def apply(self, server: InteractiveMarkerServer, marker_name: str) -> None:
        """Give the menu as it is now to a marker.

        Raises:
            KeyError: There is no such marker.
        """
        marker = server.get(marker_name)
        if marker is None:
            raise KeyError(marker_name)
        marker.menu_entries = [
            MenuEntry(
                id=handle,
                parent_id=entry.parent,
                title=entry.box + entry.title,
                command_type=MenuEntry.FEEDBACK,
            )
            for handle, entry in self._entries.items()
            if entry.visible and (not entry.parent or self._entries[entry.parent].visible)
        ]
        server.insert(
            marker,
            feedback_callback=self._on_select,
            feedback_type=InteractiveMarkerFeedback.MENU_SELECT,
        )
        self._markers.add(marker_name)

    def reApply(self, server: InteractiveMarkerServer) -> None:
        """Give it again to every marker that has it."""
        for name in self._markers:
            self.apply(server, name)

    def _on_select(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.menu_entry_id in self._entries:
            self._entries[feedback.menu_entry_id].callback(feedback)

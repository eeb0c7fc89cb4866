"""The server: it owns the markers, tells every client of changes, and hears what users do."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock

from geometry_msgs.msg import Pose
from rclpy.node import Node
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

Callback = Callable[[InteractiveMarkerFeedback], None]

_SOLE_USE = 1.0  # s that a marker belongs to the client that moved it last


@dataclass
class _Handlers:
    """Whom to call: by type of feedback, the server's DEFAULT_FEEDBACK_CALLBACK for the rest."""

    by_type: dict[int, Callback] = field(default_factory=dict)
    client: str = ""
    heard: float = -_SOLE_USE


class InteractiveMarkerServer:
    """A server of interactive markers to any number of clients, such as RViz.

    Changes are gathered and take effect with `applyChanges`; only callbacks change at once.
    """

    DEFAULT_FEEDBACK_CALLBACK = 255

    def __init__(self, node: Node, topic_ns: str, q_size: int = 100) -> None:
        """Make the topics `update` and `feedback` and a service below `topic_ns`."""
        self.node = node
        self.topic_ns = topic_ns
        self.seq_num = 0
        self.mutex = RLock()
        self._markers: dict[str, InteractiveMarker] = {}
        self._handlers: dict[str, _Handlers] = {}
        # What the next applyChanges does: set a marker, move one, or (None) erase it.
        self._pending: dict[str, InteractiveMarker | InteractiveMarkerPose | None] = {}
        self.get_interactive_markers_srv = node.create_service(
            GetInteractiveMarkers,
            f"{topic_ns}/get_interactive_markers",
            self.getInteractiveMarkersCallback,
        )
        self.update_pub = node.create_publisher(
            InteractiveMarkerUpdate, f"{topic_ns}/update", q_size
        )
        self.feedback_sub = node.create_subscription(
            InteractiveMarkerFeedback, f"{topic_ns}/feedback", self.processFeedback, q_size
        )

    def shutdown(self) -> None:
        """Erase all markers and let go of the topics; their entities stay the node's."""
        self.clear()
        self.applyChanges()
        self.get_interactive_markers_srv = self.update_pub = self.feedback_sub = None

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
                self.setCallback(marker.name, feedback_callback, feedback_type)

    def setPose(self, name: str, pose: Pose, header: Header | None = None) -> bool:
        """Move a marker; False if there is none, or if it is only about to be inserted.

        A header without frame_id leaves the marker in the frame that it is in.
        """
        with self.mutex:
            if name not in self._markers or isinstance(self._pending.get(name), InteractiveMarker):
                return False
            if header is None or not header.frame_id:
                header = self._markers[name].header
            self._pending[name] = InteractiveMarkerPose(header=header, pose=pose, name=name)
            return True

    def erase(self, name: str) -> bool:
        """Take a marker away; False if there is none."""
        with self.mutex:
            if name not in self._markers and name not in self._pending:
                return False
            self._pending[name] = None
            return True

    def clear(self) -> None:
        """Take all markers away."""
        with self.mutex:
            self._pending = dict.fromkeys(self._markers)

    def setCallback(
        self,
        name: str,
        feedback_callback: Callback | None,
        feedback_type: int = DEFAULT_FEEDBACK_CALLBACK,
    ) -> bool:
        """Set, replace or (None) remove whom to call for a type of feedback, or for all the rest.

        Takes effect at once. False if there is no such marker.
        """
        with self.mutex:
            if name not in self._markers and name not in self._pending:
                return False
            by_type = self._handlers.setdefault(name, _Handlers()).by_type
            if feedback_callback is None:
                by_type.pop(feedback_type, None)
            else:
                by_type[feedback_type] = feedback_callback
            return True

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
        """Take in what a user did: the marker moves, and whoever wants to know is called."""
        with self.mutex:
            if feedback.marker_name not in self._markers:
                return
            handlers = self._handlers.setdefault(feedback.marker_name, _Handlers())
            now = time.monotonic()
            if feedback.client_id != handlers.client and now - handlers.heard < _SOLE_USE:
                return  # two users pull at the same marker: it is the first one's
            handlers.client, handlers.heard = feedback.client_id, now
            if feedback.event_type == InteractiveMarkerFeedback.POSE_UPDATE:
                self.setPose(feedback.marker_name, feedback.pose, feedback.header)
            by_type = handlers.by_type
            default = by_type.get(self.DEFAULT_FEEDBACK_CALLBACK)
            callback = by_type.get(feedback.event_type, default)
        if callback is not None:
            callback(feedback)

    def getInteractiveMarkersCallback(
        self, request: GetInteractiveMarkers.Request, response: GetInteractiveMarkers.Response
    ) -> GetInteractiveMarkers.Response:
        """Answer a client that has just come."""
        with self.mutex:
            response.sequence_number = self.seq_num
            response.markers = list(self._markers.values())
        return response

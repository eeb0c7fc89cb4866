# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Interactive markers that rotate transform nodes about their centers, and move them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interactive_markers import InteractiveMarkerServer
from rclpy.node import Node
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.arm.admission import Refused, printable
from basis_ik.ros.convert import pose_message, pose_value
from basis_ik.ros.rviz.drag_marker import (
    BALL_CONTROL,
    MOVE_CONTROL,
    TO_AXIS,
    TURN_CONTROL,
    VIEWER_ROUNDING,
    HeldControl,
    Mode,
    drag_marker,
)
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.trackball import drag
from basis_ik.transforms.tree import TransformTree

# Fields of the node that each control moves; a viewer without controls sends an empty name.
MOVED_FIELDS: dict[str, tuple[str, ...]] = {
    "": ("rotation", "translation"),
    BALL_CONTROL: ("translation",),
    **{f"{MOVE_CONTROL}{axis}": ("translation",) for axis in TO_AXIS},
    **{f"{TURN_CONTROL}{axis}": ("rotation",) for axis in TO_AXIS},
}
HANDLE_SHRINKAGE = 0.75  # size of a handle relative to the one before
LEAST_HANDLE = 0.4  # size of a handle relative to the first

Fields = dict[str, list[float]]


def place_of(tree: TransformTree, name: str) -> RigidTransform:
    """Return root_T_handle of a node: at its center, with its rotation.

    Raises:
        TransformError: Its ancestors cannot be looked up.
    """
    outer, node = _outer_and_node(tree, name)
    return RigidTransform.from_rotation_translation(
        outer.rotation @ node.rotation, outer.apply(node.center + node.translation)
    )


def dragged(tree: TransformTree, name: str, place: RigidTransform) -> Fields:
    """Return rotation and translation of a node after its handle was dragged.

    Both are in the parent's coordinates. The parent may be rotated and scaled. Its rotation is
    undone, and for the translation also its scale, as for a trackball (transform_nodes, example 1).

    Args:
        tree: The nodes before the drag.
        name: The node.
        place: root_T_handle after the drag.

    Raises:
        TransformError: The node's ancestors cannot be looked up or inverted.
    """
    outer, node = _outer_and_node(tree, name)
    seen = place.translation - place_of(tree, name).translation
    moved = node.translation + drag(outer, seen)
    turned = node.with_rotation(outer.rotation.T @ place.rotation)
    return {"rotation": turned.as_fields()["rotation"], "translation": moved.tolist()}


def node_at(tree: TransformTree, name: str) -> TransformNode:
    """Return a node of a tree that has no rigid frames."""
    node = tree.basis(name)
    assert isinstance(node, TransformNode)
    return node


def _outer_and_node(tree: TransformTree, name: str) -> tuple[TransformNode, TransformNode]:
    parent = tree.parent(name)
    assert parent is not None  # every node is below another frame
    return tree.lookup_node(tree.root, parent), node_at(tree, name)


class NodeHandles:
    """The interactive markers `~/handles`, one for each transform node, with its name.

    Args:
        node: The ROS node that serves them.
        size: Diameter of the first one's rings [m]; the next ones are smaller, so that one in
            another can be picked.
        on_drag: Called with the name of a node, the pose of its handle, and the changed fields.
    """

    def __init__(
        self,
        node: Node,
        size: float,
        on_drag: Callable[[str, RigidTransform, tuple[str, ...]], object],
    ) -> None:
        self._server = InteractiveMarkerServer(node, "~/handles")
        self._size, self._on_drag, self._log = size, on_drag, node.get_logger()
        self._control = HeldControl()
        self._root = ""
        self._places: dict[str, RigidTransform] = {}

    def show(self, root: str, places: dict[str, RigidTransform]) -> None:
        """Move the handles to the nodes' current poses.

        Args:
            root: Their frame.
            places: root_T_handle by node; other nodes have no handle.
        """
        self._root = root
        for name in self._places.keys() - places.keys():
            self._server.erase(name)
        for number, (name, place) in enumerate(places.items()):
            if name in self._places:
                self._server.setPose(name, pose_message(place))
            else:
                size = self._size * max(HANDLE_SHRINKAGE**number, LEAST_HANDLE)
                marker = drag_marker(name, root, place, size, Mode.POSE)
                marker.description = name
                self._server.insert(marker, feedback_callback=self._on_feedback)
        self._server.applyChanges()
        self._places = places

    def _on_feedback(self, feedback: Any) -> None:
        name, control = feedback.marker_name, feedback.control_name
        moves = feedback.event_type in (Feedback.POSE_UPDATE, Feedback.MOUSE_UP)
        if self._control.is_stray(feedback) or not moves:
            return
        place, now = pose_value(feedback.pose), self._places.get(name)
        if now is None:
            return
        fields, reason = MOVED_FIELDS.get(control), ""
        if isinstance(place, Refused):
            reason = str(place)
        elif feedback.header.frame_id != self._root:
            reason = "it is in another frame than the handle"
        elif fields is None:
            reason = (
                f"it has no control '{printable(control)}', "
                f"but {', '.join(filter(None, MOVED_FIELDS))}"
            )
        if isinstance(place, Refused) or fields is None or reason:
            self._log.warning(f"handle of '{name}' is not moved: {reason}")
            self.show(self._root, self._places)  # return to the last pose
            return
        # The server's queue has length one: the drag's last POSE_UPDATE may have been lost.
        if feedback.event_type == Feedback.MOUSE_UP and place.is_close(now, VIEWER_ROUNDING):
            return  # it was not lost, or this was only a click
        self._on_drag(name, place, fields)

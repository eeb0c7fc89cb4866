"""A handle in RViz by which an arm's target is dragged, with a menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, Pose, PoseStamped
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.node import Node
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.drag_marker import Mode, drag_marker
from basis_ik.transforms.rigid import RigidTransform

NAME = "target"
SIZE = 0.25  # of the handles, in reaches of the arm
PATIENCE = 0.2  # s between two looks whether it is known where the arm is
FEWEST = 3  # joints of a chain whose pose is dragged; with fewer it is a head, that looks


class Drag:
    """The interactive marker `~/target` of one arm.

    It appears where the tip is. Dragged, it gives targets without stamp in the frame that it is in,
    which go the way of all targets.

    Args:
        node: The node that serves it.
        arm: The arm that it drags.
    """

    def __init__(self, node: Node, arm: ChainController) -> None:
        self._node, self._arm = node, arm
        self._mode = Mode.POSE if len(arm.chain.joint_names) >= FEWEST else Mode.POINT
        self._server = InteractiveMarkerServer(node, arm.resolve("target"))
        self._menu = MenuHandler()
        self._modes = {mode: self._entry(mode.value, partial(self._show, mode)) for mode in Mode}
        self._entry("bring it back to the tip", self._bring_back)
        self._entry("home", arm.go_home)
        self._entry("stop", arm.stop)
        self._entry("go on", arm.enable)
        self._timer = node.create_timer(PATIENCE, self._appear)

    def destroy(self) -> None:
        """Take the marker away, and give up topics, service and timer."""
        self._server.shutdown()
        self._node.destroy_timer(self._timer)

    def _entry(self, title: str, action: Callable[[], object]) -> int:
        return int(self._menu.insert(title, callback=lambda _: action()))

    def _appear(self) -> None:
        """Show the marker as soon as it is known where the arm is; then look no more."""
        if np.isfinite(self._arm.measured.positions()).all():
            self._node.destroy_timer(self._timer)
            self._show(self._mode)

    def _bring_back(self) -> None:
        self._show(self._mode)

    def _show(self, mode: Mode) -> None:
        """Put the marker where the arm is, as one of its kind."""
        arm = self._arm
        root_T_tip = arm.chain.forward(arm.measured.positions())
        place = root_T_tip if mode is Mode.POSE else self._ahead(root_T_tip)
        marker = drag_marker(NAME, arm.chain.root, place, SIZE * arm.chain.reach, mode)
        self._mode = mode
        self._server.insert(marker, feedback_callback=self._on_feedback)
        for each, entry in self._modes.items():
            checked = each is mode
            self._menu.setCheckState(entry, self._menu.CHECKED if checked else self._menu.UNCHECKED)
        self._menu.apply(self._server, NAME)
        self._server.applyChanges()

    def _ahead(self, root_T_tip: RigidTransform) -> RigidTransform:
        """Return a place on the arm's ray, as far ahead as the arm is long."""
        ray = self._arm.ray
        axis = np.array(ray.axis) / np.linalg.norm(ray.axis)
        point = root_T_tip.apply(np.array(ray.origin) + self._arm.chain.reach * axis)
        return RigidTransform.from_rotation_translation(np.eye(3), point)

    def _on_feedback(self, feedback: Any) -> None:
        if feedback.event_type == Feedback.MOUSE_UP:
            # The server's queue is one long: the drag's last POSE_UPDATE may have been lost.
            if _near(feedback.pose, self._server.get(NAME).pose):
                return  # it was not, or this was a mere click
            self._server.setPose(NAME, feedback.pose)
        elif feedback.event_type != Feedback.POSE_UPDATE:
            return
        header = Header(frame_id=feedback.header.frame_id)  # without stamp: here, now
        if self._mode is Mode.POSE:
            self._arm.take_pose(PoseStamped(header=header, pose=feedback.pose))
        else:
            self._arm.take_point(PointStamped(header=header, point=feedback.pose.position))


def _near(pose: Pose, other: Pose) -> bool:
    """Return whether two poses differ by no more than a viewer's single precision."""
    one, two = (
        (p.x, p.y, p.z, q.x, q.y, q.z, q.w)
        for p, q in ((each.position, each.orientation) for each in (pose, other))
    )
    return np.allclose(one, two, rtol=0.0, atol=1e-5)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An interactive marker with a menu, which drags an arm's target."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import PointStamped, Pose, PoseStamped
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from std_msgs.msg import Header
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.arm.admission import printable
from basis_ik.arm.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.robot.chain import Chain
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.convert import pose_message
from basis_ik.ros.parameters.ik_parameters import FOLLOW_DRAG
from basis_ik.ros.rviz.drag_marker import VIEWER_ROUNDING, HeldControl, Mode, drag_marker
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm_scene import FEWEST_REACHING_JOINTS, extent
from basis_ik.view.shapes import at

HANDLE_NAME = "target"
GRIPS = {"open the gripper": 1.0, "close the gripper": 0.0}


class HandleTuning(NamedTuple):
    """Size, places and times of the handle."""

    update_period: float = 0.1  # [s] between two updates of the handle's position
    size: float = 0.25  # diameter of the rings, as a fraction of the arm's extent
    point_distance: float = 0.4  # first distance of a point to look at, in reaches; at least [m]
    farthest_pose: float = 1.5  # [reaches] from the root, up to which the handle follows a pose
    farthest_point: float = 3.0  # the same for a point; at least [m]
    hold_timeout: float = 1.0  # [s] after its last feedback for which the handle counts as held
    release_time: float = 0.3  # [s] after the release until the target is accepted or refused
    rest_distance: float = 1e-3  # [m] and relative; an arm that moves less is at rest


HANDLE = HandleTuning()


class _ServerNode:
    """The node with a recorded clock, for the marker server.

    The server locks the handle for a second after it was shown or was used by another client.
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def get_clock(self) -> _ServerNode:
        """Return the clock."""
        return self

    def now(self) -> Time:
        """Return the node's recorded time."""
        clock = self._node.get_clock()
        now = boundary_of(self._node).clock(clock)
        return Time(nanoseconds=now, clock_type=clock.clock_type)


class Drag:
    """The interactive marker `~/target` of one arm.

    It appears at the tip. When dragged, it sends targets without stamp in its own frame, which are
    handled like all others. While no user holds it, it is at the current target, or at the tip.

    Args:
        node: The node that serves it.
        controller: Of the arm that it drags.

    Attributes:
        controller: As given.
        touched: Time of its last use, on a steady clock [s].
    """

    def __init__(self, node: Node, controller: ChainController) -> None:
        arm = controller.arm
        self._node, self._boundary = node, boundary_of(node)
        self.controller, self._arm = controller, arm
        self.touched = self._held_until = -math.inf
        self._control = HeldControl()
        self._controls: set[str] = set()  # that are shown
        self._mode = (
            Mode.POSE if len(arm.chain.joint_names) >= FEWEST_REACHING_JOINTS else Mode.POINT
        )
        self._server = InteractiveMarkerServer(_ServerNode(node), controller.resolve("target"))
        self._menu = MenuHandler()
        self._modes = {mode: self._entry(mode.value, partial(self._show, mode)) for mode in Mode}
        # Each with a function that returns whether it would have an effect.
        self._actions: dict[int, Callable[[], object]] = {
            self._entry("bring it back to the tip", self._bring_back): lambda: (
                not arm.state.why_not
            ),
            self._entry("home", arm.go_home): lambda: (
                "home" in arm.postures and not arm.state.why_not
            ),
            self._entry("stop", arm.stop): lambda: arm.state.latch is None,
            self._entry("enable", arm.enable): lambda: arm.state.latch is not None,
            self._entry("go", controller.go): lambda: arm.targets.preview is not None,
            self._entry("leave it", arm.leave): lambda: arm.targets.preview is not None,
        }
        gripper = controller.gripper
        if gripper is not None:
            for title, opening in GRIPS.items():
                entry = self._entry(title, partial(gripper.move, opening))
                self._actions[entry] = lambda: arm.state.latch is None
        below = self._menu.insert("follow the handle", callback=lambda _: None)
        self._following = {
            each: self._entry(f"follow: {each}", partial(self._follow, each), below)
            for each in FOLLOW_DRAG
        }
        postures = [name for name, found in arm.postures.items() if not isinstance(found, str)]
        if postures:
            below = self._menu.insert("postures", callback=lambda _: None)
            self._actions[below] = lambda: not arm.state.why_not
            for name in postures:
                self._entry(f"go to {printable(name)}", partial(arm.go_to_posture, name), below)
        self._menu_shows: tuple[object, ...] = ()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(HANDLE.update_period, self._update, clock=steady)

    def destroy(self) -> None:
        """Remove the marker, its topics, service and timer."""
        self._server.shutdown()
        self._node.destroy_timer(self._timer)

    def _entry(self, title: str, action: Callable[[], object], below: int | None = None) -> int:
        def on_select(_: object) -> None:
            self.touched = self._boundary.steady()
            refused = action()
            if refused:
                self.controller.journal.error(f"{title}: {refused}")

        return int(self._menu.insert(title, parent=below, callback=on_select))

    def _update(self) -> None:
        """Show the handle once the arm's position is known, and move it."""
        arm, shown = self._arm, self._server.get(HANDLE_NAME)
        measured = arm.measured.positions()
        if shown is None:
            if np.isfinite(measured).all():
                self._show(self._mode)
            return
        held = self._boundary.steady() < self._held_until
        if not held and self._update_menu():  # a new marker is not held
            self._menu.reApply(self._server)
            self._server.applyChanges()
        if held:
            return
        place, moved = self._place(), VIEWER_ROUNDING
        if place is None and np.isfinite(measured).all():
            place, moved = self._at_arm(), HANDLE.rest_distance
        if place is not None and not _near(pose_message(place), shown.pose, moved):
            self._server.setPose(HANDLE_NAME, pose_message(place))
            self._server.applyChanges()

    def _place(self) -> RigidTransform | None:
        """Return the pose of the current target; None if there is none, or it is far away."""
        goal, reach = self._arm.shown[0], self._arm.chain.reach
        if self._mode is Mode.POSE and isinstance(goal, PoseGoal):
            place, farthest = goal.root_T_target, HANDLE.farthest_pose * reach
        elif self._mode is Mode.POINT and isinstance(goal, PointGoal):
            place, farthest = at(np.array(goal.root_point)), HANDLE.farthest_point * max(reach, 1.0)
        else:
            return None
        return place if np.linalg.norm(place.translation) <= farthest else None

    def _bring_back(self) -> None:
        """Set the target to the arm's current pose."""
        self._offer(pose_message(self._at_arm()), self._arm.chain.root, held=False)

    def _at_arm(self) -> RigidTransform:
        """Return the pose of the tip, or of a point in front of it."""
        measured = self._arm.measured.positions()
        if self._mode is Mode.POSE:
            return self._arm.tool.chain.forward(measured)
        return ahead(self._arm.chain.forward(measured), self._arm.ray, self._arm.chain.reach)

    def _show(self, mode: Mode) -> None:
        """Show the handle of a mode."""
        arm, self._mode = self._arm, mode
        place = self._place() or self._at_arm()
        size = handle_size(arm.chain, arm.pipeline.goal)
        marker = drag_marker(HANDLE_NAME, arm.chain.root, place, size, mode)
        self._controls = {each.name for each in marker.controls}
        self._server.insert(marker, feedback_callback=self._on_feedback)
        for each, entry in self._modes.items():
            self._check(entry, checked=each is mode)
        self._update_menu()
        self._menu.apply(self._server, HANDLE_NAME)
        self._server.applyChanges()

    def _update_menu(self) -> bool:
        """Show the entries that have an effect, and what is set; return whether that is new."""
        available = {entry: bool(has_effect()) for entry, has_effect in self._actions.items()}
        chosen = self._following[self._arm.settings.follow_drag]
        for entry, visible in available.items():
            self._menu.setVisible(entry, visible)
        for entry in self._following.values():
            self._check(entry, checked=entry == chosen)
        before, self._menu_shows = self._menu_shows, (*available.values(), chosen)
        return self._menu_shows != before

    def _check(self, entry: int, *, checked: bool) -> None:
        state = self._menu.CHECKED if checked else self._menu.UNCHECKED
        self._menu.setCheckState(entry, state)

    def _follow(self, mode: str) -> str:
        """Set when the arm follows the handle; return why it is refused, or nothing."""
        name = f"{self._arm.name}.follow_drag" if self._arm.name else "follow_drag"
        (result,) = self._node.set_parameters([Parameter(name, value=mode)])
        return str(result.reason)

    def _on_feedback(self, feedback: Any) -> None:
        control = feedback.control_name
        if control and control not in self._controls:  # a viewer without controls sends no name
            text = (
                f"it has no control '{printable(control)}', but {', '.join(sorted(self._controls))}"
            )
            self.controller.journal.error(f"the handle is not moved: {text}")
            return  # `_update` returns it to its place
        self.touched = self._boundary.steady()
        if self._control.is_stray(feedback):
            return
        self._held_until = self.touched + HANDLE.hold_timeout
        if feedback.event_type == Feedback.MOUSE_UP:
            self._held_until = self.touched + HANDLE.release_time
            # The server's queue has length one: the drag's last POSE_UPDATE may have been lost.
            if _near(feedback.pose, self._server.get(HANDLE_NAME).pose, VIEWER_ROUNDING):
                waits = self._arm.settings.follow_drag == "release" and self._arm.targets.previews
                if not waits or self.controller.go() is None:
                    return  # it was not lost, or the user only clicked
            self._server.setPose(HANDLE_NAME, feedback.pose)
        elif feedback.event_type != Feedback.POSE_UPDATE:
            return
        held = feedback.event_type == Feedback.POSE_UPDATE
        self._offer(feedback.pose, feedback.header.frame_id, held=held)

    def _offer(self, pose: Pose, frame: str, *, held: bool) -> None:
        header = Header(frame_id=frame)  # without stamp: here, now
        if self._mode is Mode.POSE:
            message = PoseStamped(header=header, pose=pose)
            self.controller.take_pose(message, straight=True, held=held)
        else:
            point = PointStamped(header=header, point=pose.position)
            self.controller.take_point(point, held=held)


class ClickedPoint:
    """Points on `~/target_point` of a node with several arms: targets of the arm dragged last.

    Args:
        node: The node that subscribes.
        drags: The handles of its arms; the first is the default.
    """

    def __init__(self, node: Node, drags: Sequence[Drag]) -> None:
        self._node, self._drags = node, drags
        self._subscription = node.create_subscription(
            PointStamped, "~/target_point", self._on_point, 1
        )

    def destroy(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _on_point(self, message: PointStamped) -> None:
        max(self._drags, key=lambda drag: drag.touched).controller.take_point(message)


def handle_size(chain: Chain, goal: Goal | None) -> float:
    """Return the diameter of a handle's rings [m]."""
    return HANDLE.size * extent(chain, goal)


def ahead(root_T_tip: RigidTransform, ray: Ray, reach: float) -> RigidTransform:
    """Return a point ahead on a ray; not below the root's plane unless the ray starts below it."""
    axis = np.array(ray.axis) / np.linalg.norm(ray.axis)
    point = root_T_tip.apply(np.array(ray.origin) + HANDLE.point_distance * max(reach, 1.0) * axis)
    point[2] = max(point[2], min(root_T_tip.translation[2], 0.0))
    return at(point)


def _near(pose: Pose, other: Pose, tolerance: float) -> bool:
    """Return whether two poses differ by no more than a tolerance [m and relative]."""
    one, two = (
        (p.x, p.y, p.z, q.x, q.y, q.z, q.w)
        for p, q in ((each.position, each.orientation) for each in (pose, other))
    )
    return np.allclose(one, two, rtol=0.0, atol=tolerance)

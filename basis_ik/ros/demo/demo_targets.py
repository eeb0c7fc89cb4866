# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves an arm to each target of a list, and measures its errors through tf.

Markers show the objects and name the targets; at the end one invites to drag the handle.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np
import yaml
from geometry_msgs.msg import PoseStamped, Vector3
from moveit_msgs.msg import CollisionObject, PlanningScene
from moveit_msgs.srv import ApplyPlanningScene
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.task import Future
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.arm.admission import printable
from basis_ik.errors import BasisIkError
from basis_ik.ros.convert import pose_message
from basis_ik.ros.demo.checker import Checker
from basis_ik.ros.parameters.parameters import Declaration, frame_complaint, refused
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import AROUND, GREY, YELLOW, Color, Text, at

TARGETS_PARAMETERS = (
    Declaration(
        "root_frame",
        "base_link",
        "Frame that replaces `root` in the list of targets.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration("tip_frame", "tool0", "Measured frame.", read_only=True, check=frame_complaint),
    Declaration("targets_file", "", "Path of the list of targets.", read_only=True),
    Declaration(
        "launched_at",
        0.0,
        "Time at which the launch began [s since the epoch]; 0: not reported.",
        0.0,
        1e12,
        read_only=True,
    ),
)
TARGET_KINDS = ("pose", "position", "follow", "unreachable", "blocked")
OBJECT_SHAPES = {"box": SolidPrimitive.BOX, "cylinder": SolidPrimitive.CYLINDER}
ACCEPTING_STATES = ("READY", "MOVING", "HOLDING", "ARRIVED")  # states in which targets are accepted


class TourTuning(NamedTuple):
    """Tuning of a tour: bounds of what counts as good, times, and places of texts."""

    position_error: float = 1e-3  # [m], largest of a good target
    orientation_error: float = math.radians(0.1)  # [rad], the same
    target_timeout: float = 20.0  # [s]
    rest_timeout: float = 10.0  # [s]
    answer_timeout: float = 5.0  # [s], for setting a parameter
    scene_timeout: float = 30.0  # [s], for placing the objects
    follow_time: float = 6.0  # [s]
    moved: float = 1e-3  # [m], beyond which the tip has moved
    carousel_speed: float = 0.15  # [rad/s]
    marker_period: float = 0.5  # [s] between two messages with markers
    name_height: float = 0.05  # [m]
    name_offset: float = 0.08  # [m], of a name above its target
    invitation_offset: float = -0.22  # [m], of the invitation below the hand
    invitation_time: float = 60.0  # [s] that the handle's invitation is shown


TOUR = TourTuning()
Entry = TypeVar("Entry")
# What a faulty entry raises where it is read; a message asserts the types of its fields.
ENTRY_ERRORS = AssertionError, AttributeError, BasisIkError, OverflowError, TypeError, ValueError


@dataclass(frozen=True)
class Target:
    """One entry of the list; `config/demo_targets.yaml` explains the fields."""

    name: str
    frame: str
    frame_T_target: RigidTransform
    kind: str


def read_targets(path: Path, root_frame: str) -> list[Target]:
    """Read the list of targets.

    Raises:
        BasisIkError: The file is not such a list; the message names the faulty entry.
    """
    entries = _read(path, "targets", required=True)
    if not entries:
        raise _listless(path, "targets", ValueError("'targets' is []"))
    return [
        _entry(f"{path}: target {number}", _target, entry, root_frame)
        for number, entry in enumerate(entries, start=1)
    ]


def read_objects(path: Path, root_frame: str) -> list[CollisionObject]:
    """Read what stands around the arm, if there is a list of it.

    Raises:
        BasisIkError: It is no such list; the message names the faulty entry.
    """
    return [
        _entry(f"{path}: object {number}", _object, entry, root_frame)
        for number, entry in enumerate(_read(path, "objects", required=False), start=1)
    ]


def _read(path: Path, name: str, *, required: bool) -> list[Any]:
    """Return a list of a file by its name; without it, unless it is required, an empty one."""
    try:
        lists = yaml.safe_load(path.read_text(encoding="utf-8"))
        entries = lists[name] if required else lists.get(name, [])
        if not isinstance(entries, list):
            raise ValueError(f"'{name}' is {entries!r}")
    except Exception as error:  # PyYAML raises any exception at a tag with an invalid text
        raise _listless(path, name, error) from None
    return entries


def _listless(path: Path, name: str, error: Exception) -> BasisIkError:
    return refused("targets_file", f"is {path}, which has no list of {name}: {_line(error)}")


def _entry(where: str, read: Callable[[Any, str], Entry], entry: Any, root_frame: str) -> Entry:
    """Return an entry as it is read; an error has its place.

    Raises:
        BasisIkError: It lacks a field, or has a wrong one.
    """
    try:
        return read(entry, root_frame)
    except KeyError as error:
        raise BasisIkError(f"{where} lacks {error}") from None
    except ENTRY_ERRORS as error:
        raise BasisIkError(f"{where}: {_line(error)}") from None


def _place(entry: Any, root_frame: str) -> tuple[str, RigidTransform]:
    """Return the frame of an entry, and its pose there."""
    roll, pitch, yaw = (math.radians(angle) for angle in entry["rpy"])
    pose = RigidTransform.from_rpy(roll, pitch, yaw, entry["xyz"])
    frame = root_frame if entry["frame"] == "root" else str(entry["frame"])
    if complaint := frame_complaint(frame):
        raise ValueError(f"its frame {complaint}")
    return frame, pose


def _target(entry: Any, root_frame: str) -> Target:
    frame, pose = _place(entry, root_frame)
    kind = entry.get("kind", "pose")
    if kind not in TARGET_KINDS:
        raise ValueError(f"kind '{kind}' is not one of {', '.join(TARGET_KINDS)}")
    return Target(str(entry["name"]), frame, pose, kind)


def _object(entry: Any, root_frame: str) -> CollisionObject:
    frame, pose = _place(entry, root_frame)
    shapes = [
        SolidPrimitive(type=kind, dimensions=[float(size) for size in entry[name]])
        for name, kind in OBJECT_SHAPES.items()
        if name in entry
    ]
    if len(shapes) != 1:
        raise ValueError(f"its shape is not one of {', '.join(OBJECT_SHAPES)}")
    found = CollisionObject(
        id=str(entry["name"]), operation=CollisionObject.ADD, pose=pose_message(pose),
        primitives=shapes, primitive_poses=[pose_message(RigidTransform.identity())],
    )  # fmt: skip
    found.header.frame_id = frame
    return found


def object_markers(objects: list[CollisionObject]) -> list[Marker]:
    """Return a marker for each object of one box or cylinder; it stays.

    RViz shows no planning scene by itself. The page in the browser does, and no such markers.
    """
    red, green, blue, opacity = AROUND
    markers = []
    for number, thing in enumerate(objects):
        (primitive,) = thing.primitives
        size = primitive.dimensions
        shown = Marker(
            ns="objects", id=number, frame_locked=True, pose=thing.pose,
            color=ColorRGBA(r=red, g=green, b=blue, a=opacity),
        )  # fmt: skip
        shown.header.frame_id = thing.header.frame_id
        if primitive.type == SolidPrimitive.BOX:
            shown.type, shown.scale = Marker.CUBE, Vector3(x=size[0], y=size[1], z=size[2])
        else:
            across = 2.0 * size[SolidPrimitive.CYLINDER_RADIUS]
            height = size[SolidPrimitive.CYLINDER_HEIGHT]
            shown.type, shown.scale = Marker.CYLINDER, Vector3(x=across, y=across, z=height)
        markers.append(shown)
    return markers


def _name(
    number: int, frame: str, place: RigidTransform, height: float, name: str, color: Color
) -> Text:
    pose = at(place.translation + np.array([0.0, 0.0, height]))
    return Text(
        name="targets", number=number, frame=frame, color=color, pose=pose, text=name,
        height=TOUR.name_height,
    )  # fmt: skip


def _line(error: Exception) -> str:
    """Return the text of an error about a file in one short line."""
    return printable(" ".join(str(error).split()))


class DemoTargets(Checker):
    """Node `demo_targets`: sends the targets, moves the frame `carousel`, prints a table."""

    def __init__(self, stop: Event) -> None:
        super().__init__("demo_targets", stop, TARGETS_PARAMETERS)
        self._root, self._tip = self.settings["root_frame"], self.settings["tip_frame"]
        file = self.settings["targets_file"]
        if not file:
            raise refused("targets_file", "is empty; it is the path of a list of targets")
        self.targets = read_targets(Path(file), self._root)
        self._objects = read_objects(Path(file), self._root)
        self._scene = self.create_client(ApplyPlanningScene, "apply_planning_scene")
        self._publisher = self.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self._node_parameters = AsyncParameterClient(self, "basis_ik")
        self._launched_at: float = self.settings["launched_at"]
        self._angle, self._turning, self._turned_at = 0.0, False, time.monotonic()
        self._markers = self.create_publisher(MarkerArray, "~/markers", 1)
        self._drawing, self._current = Drawing(TOUR.marker_period), -1
        self.create_timer(TOUR.marker_period, self._name_targets)
        if any(target.frame == "carousel" for target in self.targets):
            self.create_timer(0.01, self._broadcast_carousel)

    def _broadcast_carousel(self) -> None:
        now = time.monotonic()
        if self._turning:
            self._angle += TOUR.carousel_speed * (now - self._turned_at)
        self._turned_at = now
        root_T_carousel = RigidTransform.from_rpy(0.0, 0.0, self._angle, [0.35, -0.20, 0.15])
        self.broadcast(self._root, "carousel", root_T_carousel)

    def _name_targets(self) -> None:
        """Show the objects, and the names of targets: the present one yellow, and those to come."""
        names = []
        for number, target in enumerate(self.targets, start=1):
            if number >= self._current:
                place, color = target.frame_T_target, YELLOW if number == self._current else GREY
                names.append(
                    _name(number, target.frame, place, TOUR.name_offset, target.name, color)
                )
        named = self._drawing.message(names).markers
        # The last tells the page how long these may stay.
        self._markers.publish(MarkerArray(markers=[*object_markers(self._objects), *named]))

    def _invite(self) -> None:
        """Show where the handle is, for a while that does not end with this program."""
        place = self.measure(self._root)
        if place is not None:
            shown = _name(0, self._root, place, TOUR.invitation_offset, "drag me", YELLOW)
            self._markers.publish(Drawing(TOUR.invitation_time).message([shown]))
            self._markers.wait_for_all_acked(Duration(seconds=1.0))

    def _is_ready(self) -> bool:
        listening = self.status.get("state") in ACCEPTING_STATES
        listening = listening and self._publisher.get_subscription_count() > 0
        listening = listening and self._node_parameters.services_are_ready()
        return listening and self.measure(self._root) is not None

    def measure(self, frame: str) -> RigidTransform | None:
        """Return frame_T_tip of tf, or None."""
        return self.look_up(frame, self._tip)

    def errors(self, target: Target) -> tuple[float, float]:
        """Return the tip's position error [m] and orientation error [rad], through tf."""
        frame_T_tip = self.measure(target.frame)
        if frame_T_tip is None:
            return math.inf, math.inf
        difference = target.frame_T_target.inverse() @ frame_T_tip
        return float(np.linalg.norm(difference.translation)), float(difference.as_axis_angle()[1])

    def go(self, target: Target) -> tuple[bool, str]:
        """Send a target, wait for the arm, and measure.

        Returns:
            Whether the motion was as expected, and a line of the table.
        """
        self.wait_until(self._is_ready, self._root, self._tip)
        self._set_position_only(target.kind == "position")
        worst = None
        if self._arrives(target):
            worst = self._turn_carousel(target) if target.kind == "follow" else None
            self._wait_for_rest(target)
        return self._check(target, worst)

    def _set_position_only(self, value: bool) -> None:
        parameter = Parameter("position_only_ik", value=value)
        self._await(self._node_parameters.set_parameters([parameter]), TOUR.answer_timeout)

    def _place_objects(self) -> None:
        """Let the arm know what stands around it.

        Raises:
            BasisIkError: It does not take that.
        """
        if not self._objects:
            return
        end = time.monotonic() + TOUR.scene_timeout
        while not self._scene.service_is_ready():
            if time.monotonic() > end:
                raise BasisIkError(
                    "there is no service apply_planning_scene: set basis_ik's parameter "
                    "planning_scene to serve, or leave out the objects of the tour"
                )
            self.spin(0.1)
        scene = PlanningScene(is_diff=True)
        scene.world.collision_objects = self._objects
        answer = self._scene.call_async(ApplyPlanningScene.Request(scene=scene))
        self._await(answer, TOUR.scene_timeout)
        if not (answer.done() and answer.result().success):
            raise BasisIkError("the objects of the tour were not taken; basis_ik says why")

    def _await(self, answer: Future, timeout: float) -> None:
        """Handle messages until there is an answer, or for some seconds."""
        end = time.monotonic() + timeout
        while not answer.done() and time.monotonic() < end:
            self.spin(0.02)

    def _send(self, target: Target) -> tuple[str, str]:
        """Publish a target; return its frame and stamp as in the status."""
        message = PoseStamped(pose=pose_message(target.frame_T_target))
        message.header.frame_id = target.frame
        if target.kind != "follow":  # a stamp of zero means "here, now" on every cycle
            message.header.stamp = self.get_clock().now().to_msg()
        if target.frame == "carousel":
            self._broadcast_carousel()
        self._publisher.publish(message)
        return target.frame, f"{message.header.stamp.sec}.{message.header.stamp.nanosec:09}"

    def _arrives(self, target: Target) -> bool:
        """Send a target, once, and wait; return whether its arrival is reported."""
        begin, self.status = self.measure(self._root), {}
        sent, end, pursued = self._send(target), time.monotonic() + TOUR.target_timeout, False
        while time.monotonic() < end:
            self.spin(0.02)
            self._print_first_motion(begin)
            reported = self.status.get("target_frame"), self.status.get("target_stamp")
            if reported == sent:
                pursued = True
                if self.status.get("state") == "ARRIVED" or (
                    target.kind == "blocked" and self._is_held()
                ):
                    return True
            if pursued and (reported != sent or self.status.get("verdict") == "REFUSED"):
                break  # it was dropped
        return False

    def _is_held(self) -> bool:
        """Return whether an object holds the arm before a target that cannot be reached."""
        held = self.status.get("message", "").startswith("held by ")
        return held and self.status.get("verdict") == "COLLISION"

    def _print_first_motion(self, begin: RigidTransform | None) -> None:
        """Print the time from the launch to the arm's first motion, once there is one."""
        now = None if self._launched_at == 0.0 else self.measure(self._root)
        if begin is None or now is None:
            return
        if np.linalg.norm(now.translation - begin.translation) > TOUR.moved:
            print(f"first motion after {time.time() - self._launched_at:.1f} s", flush=True)
            self._launched_at = 0.0

    def _turn_carousel(self, target: Target) -> tuple[float, float]:
        """Turn the carousel; return the largest errors [m], [rad] after the first second."""
        self._turning, start, worst = True, time.monotonic(), (0.0, 0.0)
        while time.monotonic() - start < TOUR.follow_time:
            self.spin(0.02)
            if time.monotonic() - start > 1.0:
                now = self.errors(target)
                worst = max(worst[0], now[0]), max(worst[1], now[1])
        self._turning = False
        return worst

    def _wait_for_rest(self, target: Target) -> None:
        """Wait until the arm rests at the target: the arm lags behind the last command."""
        before, end = (math.inf, math.inf), time.monotonic() + TOUR.rest_timeout
        while time.monotonic() < end:
            self.spin(0.2)
            now = self.errors(target)
            rests = abs(now[0] - before[0]) < 1e-6 and abs(now[1] - before[1]) < 1e-6
            if rests and (target.kind in ("unreachable", "blocked") or self._is_good(target, now)):
                return
            before = now

    def _is_good(self, target: Target, errors: tuple[float, float]) -> bool:
        distance, angle = errors
        turned = target.kind != "position" and angle > TOUR.orientation_error
        return distance <= TOUR.position_error and not turned

    def _check(self, target: Target, worst: tuple[float, float] | None) -> tuple[bool, str]:
        distance, angle = errors = self.errors(target)
        verdict = self.status.get("verdict", "NO STATUS")
        degrees = "     -" if target.kind == "position" else f"{math.degrees(angle):6.3f}"
        line = f"{target.name:18} {target.frame:12} {verdict:12} {distance * 1e3:9.3f} {degrees}"
        if target.kind == "unreachable":
            missing = float(self.status.get("missing_distance", "nan"))
            good = verdict == "TOO_FAR" and abs(missing - distance) <= TOUR.position_error
            return good, f"{line}  {self.status.get('message', '')}"
        if target.kind == "blocked":
            good = self._is_held() and distance > TOUR.position_error
            return good, f"{line}  {self.status.get('message', '')}"
        good = verdict == "REACHED" and self._is_good(target, errors)
        if worst is not None:
            behind = f"{worst[0] * 1e3:.2f} mm, {math.degrees(worst[1]):.2f} deg"
            line += f"  while moving: at most {behind} behind"
        return good, line if good else f"{line}  {self.status.get('message', '')}"

    def tour(self) -> bool:
        """Visit every target; print the table in one piece, also of a tour that is stopped.

        Returns:
            Whether all motions were as expected.
        """
        self.wait_until(self._is_ready, self._root, self._tip)
        self._place_objects()
        count, good = len(self.targets), 0
        table = [f"{'target':18} {'frame':12} {'verdict':12} {'error/mm':>9} {'error/deg':>6}"]
        try:
            for number, target in enumerate(self.targets, start=1):
                self.get_logger().info(f"target {number} of {count}: {target.name}")
                self._current = number
                self._name_targets()
                passed, line = self.go(target)
                good += passed
                table.append(f"{line}{'' if passed else '   <-- FAILED'}")
            self._invite()
        finally:
            table.append(f"{good} of {count} targets as expected (errors measured through tf)")
            # Other programs' log lines get between separate writes.
            print("".join(f"{line}\n" for line in table), end="", flush=True)
        return good == count


def main(stop: Event) -> int:
    """Run the tour; exit status 0 if all motions were as expected."""
    return 0 if DemoTargets(stop).tour() else 1

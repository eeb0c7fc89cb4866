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

"""Constraints on tf frames, without a URDF; corrected frames are broadcast under new names."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from threading import Event

import yaml
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformBroadcaster, TransformException, TransformListener
from visualization_msgs.msg import MarkerArray

from basis_ik.bones.constraints import Applied, Constraint, Point
from basis_ik.bones.meet import meet, needs
from basis_ik.errors import BasisIkError
from basis_ik.motion.admission import Refused
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.ros.frames.frame_parameters import read_constraints
from basis_ik.ros.parameters.parameters import given_lists, refused
from basis_ik.ros.programs import spin
from basis_ik.ros.readiness import ColdStart
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.ros.sim_clock import ClockWatch
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict
from basis_ik.view.frames import frames_scene, status_text
from basis_ik.warm_up import WarmUp, frames_steps

STATUS_PERIOD = 0.5  # s
SHOW_PERIOD = 0.05  # s: least time between two messages with markers
LINGER = 1.0  # s that markers stay after the next ones are due
STRUCTURE_PERIOD = 1.0  # s between two queries of the frames' parents


class FrameError(BasisIkError):
    """A constraint's frame is not in tf, or not yet."""


class FramesNode(Node):
    """Node `frames_node`; docs/interfaces.md describes its parameters."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__("frames_node", automatically_declare_parameters_from_overrides=True)
        self._clock_watch = ClockWatch(self)
        rate, self._prefix, self._constraints = read_constraints(self)
        if not self._constraints:
            raise refused("constraints", "is empty")
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._broadcaster = TransformBroadcaster(self)
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._markers = self.create_publisher(MarkerArray, "~/markers", 1)
        self._drawing = Drawing(SHOW_PERIOD + LINGER)
        self._parents: dict[str, str] = {}
        self._structure_time = self._status_time = self._shown_time = -STRUCTURE_PERIOD
        self._error = ""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / rate, self._on_timer, clock=steady)
        self._cold_start: ColdStart | None = None
        self._kernels = WarmUp(frames_steps(needs(self._constraints.values())))

    def _on_timer(self) -> None:
        if self._kernels.ready:
            if self._cold_start is not None:
                self._cold_start.destroy()
                self._cold_start = None
                self.get_logger().info("the kernels are compiled")
            self._apply()
        elif self._cold_start is None and self._kernels.compiling:
            self._cold_start = ColdStart(self, self._kernels)

    def _apply(self) -> None:
        try:
            tree, when = self._read_tree()
            applied = meet(tree, self._constraints)
        except BasisIkError as error:
            if str(error) != self._error:
                self.get_logger().warning(f"waiting: {error}")
            self._error, self._structure_time = str(error), -STRUCTURE_PERIOD
            return
        if self._error:
            self._error = ""
            self.get_logger().info("all frames are available")
        self._broadcast(tree, when)
        self._report(applied)
        self._show(tree, applied)

    def _read_tree(self) -> tuple[TransformTree, Time]:
        """Return the constraints' frames at a common time, and that time (zero: all static)."""
        now = time.monotonic()
        if now - self._structure_time >= STRUCTURE_PERIOD:
            frames = yaml.safe_load(self._buffer.all_frames_as_yaml()) or {}
            self._parents = {name: str(frame["parent"]) for name, frame in frames.items()}
            self._structure_time = now
        edges = edges_of(self._constraints.values(), self._parents)
        try:
            times = [self._buffer.get_latest_common_time(*edge) for edge in edges]
            dynamic = [time for time in times if time.nanoseconds]
            when = min(dynamic, key=lambda time: time.nanoseconds) if dynamic else Time()
            found = [self._buffer.lookup_transform(*edge, when) for edge in edges]
        except TransformException as error:
            raise FrameError(str(error)) from None
        tree = TransformTree(edges[0][0])
        for (parent, frame), message in zip(edges, found, strict=True):
            value = transform_value(message.transform)
            if isinstance(value, Refused):
                raise FrameError(f"tf from '{parent}' to '{frame}': {value}")
            tree.add(frame, parent, value)
        return tree, when

    def _broadcast(self, tree: TransformTree, when: Time) -> None:
        """Broadcast the corrected frames under their new names, with the input's time as stamp."""
        stamp = (when if when.nanoseconds else self.get_clock().now()).to_msg()
        sent = corrected_frames(tree, self._constraints.values())
        messages = []
        for frame in sent:
            parent = tree.parent(frame)
            above = parent
            while above is not None and above not in sent:
                above = tree.parent(above)
            named = parent if above is None else self._prefix + above
            assert parent is not None  # the root is never corrected
            assert named is not None
            frame_now = tree.lookup(above or parent, frame)
            messages.append(transform_message(named, self._prefix + frame, frame_now, stamp))
        self._broadcaster.sendTransform(messages)

    def _report(self, applied: dict[str, Applied]) -> None:
        now = time.monotonic()
        if now - self._status_time < STATUS_PERIOD:
            return
        self._status_time = now
        for name, result in applied.items():
            self._status.publish(status_of(self.get_name(), name, self._constraints[name], result))

    def _show(self, tree: TransformTree, applied: dict[str, Applied]) -> None:
        now = time.monotonic()
        if now - self._shown_time < SHOW_PERIOD or not self._markers.get_subscription_count():
            return
        self._shown_time = now
        scene = frames_scene(tree, self._constraints, applied)
        self._markers.publish(self._drawing.message(scene))


def edges_of(
    constraints: Iterable[Constraint], parents: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return parent and name of all frames that constraints depend on, parents first.

    Args:
        constraints: At least one.
        parents: The parent of each frame in tf, except the topmost.

    Returns:
        The frames and their ancestors, up to the topmost frame of the first.

    Raises:
        FrameError: A chain's first frame has no parent, or tf does not connect the frames.
    """
    edges: dict[str, str] = {}
    root = ""
    for constraint in constraints:
        if constraint.chain[0] not in parents:
            raise FrameError(f"tf has no parent of '{constraint.chain[0]}' to rotate it in")
        for frame in (*constraint.chain, constraint.target):
            way = [frame]
            while (parent := parents.get(way[-1])) is not None and parent not in way:
                way.append(parent)
            root = root or way[-1]
            if way[-1] != root:
                raise FrameError(f"tf does not connect '{frame}' with '{root}'")
            for above, below in pairwise(reversed(way)):
                edges.setdefault(below, above)
    return [(parent, frame) for frame, parent in edges.items()]


def corrected_frames(tree: TransformTree, constraints: Collection[Constraint]) -> list[str]:
    """Return the frames to broadcast, parents first: chains, and targets that they move."""
    bones = {bone for each in constraints for bone in each.chain[:-1]}
    frames = {frame for each in constraints for frame in each.chain}
    for each in constraints:
        if any(tree.common_ancestor(bone, each.target) == bone for bone in bones):
            frames.add(each.target)
    return sorted(frames, key=tree.depth)


def status_of(node: str, name: str, constraint: Constraint, result: Applied) -> DiagnosticStatus:
    """Return the status of a constraint: whether it is met, and its error."""
    reached = result.verdict is Verdict.REACHED
    unit = "rad" if isinstance(constraint, Point) else "m"
    return DiagnosticStatus(
        level=DiagnosticStatus.OK if reached else DiagnosticStatus.WARN,
        name=f"{node}: {name}",
        message=status_text(constraint, result),
        values=[
            KeyValue(key="verdict", value=result.verdict.name),
            KeyValue(key=f"miss_{unit}", value=f"{result.miss:.9g}"),
            KeyValue(key="conflicts", value=", ".join(result.conflicts)),
        ],
    )


def main(stop: Event) -> int:
    """Run the node until `stop` is set; return the exit status."""
    spin(FramesNode(), stop)
    return 0

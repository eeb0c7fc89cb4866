"""Constraints on tf frames, without a URDF: frames in, corrected frames out under other names."""

from __future__ import annotations

import time
from itertools import pairwise
from threading import Event

import yaml
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformBroadcaster, TransformException, TransformListener

from basis_ik.errors import BasisIkError
from basis_ik.motion.admission import Refused
from basis_ik.ros.cold_start import ColdStart
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.ros.frame_parameters import read_constraints
from basis_ik.ros.parameters import given_lists, refused
from basis_ik.ros.programs import spin
from basis_ik.ros.sim_clock import ClockWatch
from basis_ik.solvers.constraints import Applied, Constraint, Point
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.tree import TransformTree
from basis_ik.warm_up import WarmUp, frames_steps

STATUS_PERIOD = 0.5  # s
STRUCTURE_PERIOD = 1.0  # s between two looks at who is whose parent


class FrameError(BasisIkError):
    """tf does not, or not yet, have what a constraint needs."""


class FramesNode(Node):
    """Node `frames_node`; docs/interfaces.md describes its parameters."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__("frames_node", automatically_declare_parameters_from_overrides=True)
        self._clock_watch = ClockWatch(self)
        rate, self._prefix, self._constraints = read_constraints(self)
        if not self._constraints:
            raise refused("constraints", "names none")
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._broadcaster = TransformBroadcaster(self)
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._parents: dict[str, str] = {}
        self._structure_time = self._status_time = -STRUCTURE_PERIOD
        self._trouble = ""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / rate, self._on_timer, clock=steady)
        self._cold_start: ColdStart | None = None
        self._kernels = WarmUp(frames_steps())

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
            applied = {name: c.apply(tree) for name, c in self._constraints.items()}
        except BasisIkError as error:
            if str(error) != self._trouble:
                self.get_logger().warning(f"waiting: {error}")
            self._trouble, self._structure_time = str(error), -STRUCTURE_PERIOD
            return
        if self._trouble:
            self._trouble = ""
            self.get_logger().info("all frames are there")
        self._broadcast(tree, when)
        self._report(applied)

    def _read_tree(self) -> tuple[TransformTree, Time]:
        """Return the frames that matter, all as of one time, and that time (zero: all static)."""
        edges = self._edges()
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

    def _edges(self) -> list[tuple[str, str]]:
        """Return parent and name of every frame that matters, parents first.

        All hang below one root, the topmost frame of tf. Between a chain's frames tf may have
        others; they move along.
        """
        now = time.monotonic()
        if now - self._structure_time >= STRUCTURE_PERIOD:
            frames = yaml.safe_load(self._buffer.all_frames_as_yaml()) or {}
            self._parents = {name: str(frame["parent"]) for name, frame in frames.items()}
            self._structure_time = now
        root = self._top(next(iter(self._constraints.values())).chain[0])
        parents: dict[str, str] = {}
        for constraint in self._constraints.values():
            first = constraint.chain[0]
            if first not in parents:
                parent = self._parents.get(first)
                if parent is None:
                    raise FrameError(f"tf has no frame above '{first}' that it could turn in")
                if parent != root:
                    parents.setdefault(parent, root)
                parents[first] = parent
            for above, below in pairwise(constraint.chain):
                parents.setdefault(below, above)
        for constraint in self._constraints.values():
            if constraint.target != root:
                parents.setdefault(constraint.target, root)
        return [(parent, frame) for frame, parent in parents.items()]

    def _top(self, frame: str) -> str:
        seen = {frame}
        while (parent := self._parents.get(frame)) is not None and parent not in seen:
            seen.add(parent)
            frame = parent
        return frame

    def _broadcast(self, tree: TransformTree, when: Time) -> None:
        """Send every frame of every chain under its new name, with the time that it is of."""
        corrected = {frame for c in self._constraints.values() for frame in c.chain}
        stamp = (when if when.nanoseconds else self.get_clock().now()).to_msg()
        messages: dict[str, TransformStamped] = {}
        for constraint in self._constraints.values():
            for frame in constraint.chain:
                parent = tree.parent(frame)
                assert parent is not None  # each was added below another
                named = self._prefix + parent if parent in corrected else parent
                messages[frame] = transform_message(
                    named, self._prefix + frame, tree.lookup(parent, frame), stamp
                )
        self._broadcaster.sendTransform(list(messages.values()))

    def _report(self, applied: dict[str, Applied]) -> None:
        now = time.monotonic()
        if now - self._status_time < STATUS_PERIOD:
            return
        self._status_time = now
        for name, result in applied.items():
            self._status.publish(_status(self.get_name(), name, self._constraints[name], result))


def _status(node: str, name: str, constraint: Constraint, result: Applied) -> DiagnosticStatus:
    reached = result.verdict is Verdict.REACHED
    unit = "rad" if isinstance(constraint, Point) else "m"
    text = "met" if reached else f"{result.verdict.value}; {result.miss:.4g} {unit} are left"
    return DiagnosticStatus(
        level=DiagnosticStatus.OK if reached else DiagnosticStatus.WARN,
        name=f"{node}: {name}",
        message=text,
        values=[
            KeyValue(key="verdict", value=result.verdict.name),
            KeyValue(key=f"miss_{unit}", value=f"{result.miss:.9g}"),
        ],
    )


def main(stop: Event) -> int:
    """Run the node until it is told to stop; the exit status."""
    spin(FramesNode(), stop)
    return 0

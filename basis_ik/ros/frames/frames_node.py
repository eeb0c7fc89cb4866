# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constraints on tf frames, without a URDF; corrected frames are broadcast under new names."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformBroadcaster, TransformException, TransformListener
from visualization_msgs.msg import MarkerArray

from basis_ik.arm.admission import Refused
from basis_ik.bones.bones import chain_positions
from basis_ik.bones.constraints import Applied, Constraint, Reach
from basis_ik.bones.joint import express
from basis_ik.bones.meet import meet, needs
from basis_ik.errors import BasisIkError
from basis_ik.fabrik.fabrik import chain_passes
from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.ros.frames.frame_parameters import (
    check_target,
    moves_its_target,
    read_constraints,
    upwards,
)
from basis_ik.ros.frames.met_constraints import LeftOut, met_apart, status_of, turns_of
from basis_ik.ros.journal import Journal
from basis_ik.ros.parameters.parameters import given_lists, refused
from basis_ik.ros.periodic_spinner import spin
from basis_ik.ros.readiness import ColdStart
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.ros.sim_clock import ClockWatch
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.view.frames import frames_scene
from basis_ik.warm_up import WarmUp, frames_steps


class FramesTuning(NamedTuple):
    """Periods of the node, and what it shows of FABRIK's passes."""

    status_period: float = 0.5  # [s]
    marker_period: float = 0.05  # [s], least time between two messages with markers
    structure_period: float = 1.0  # [s] between two queries of the frames' parents
    missing_period: float = 0.2  # [s], the same while a frame is missing
    pass_tolerance: float = 1e-3  # [m], after which no more passes are shown
    most_passes: int = 8  # shown
    last_pass_time: int = 3  # passes' times for which the last one stays


FRAMES = FramesTuning()


Edge = tuple[str, str]
"""Parent and name of a frame."""


class _Newest(NamedTuple):
    """Stamp of a frame's newest transform, 0 if it is static, and when it came [ns]."""

    stamp: int
    since: int

    def age(self, now: int) -> float:
        """Return the time since it came [s]; 0 if it is static."""
        return 1e-9 * (now - self.since) if self.stamp else 0.0


class FrameError(BasisIkError):
    """A constraint's frame is not in tf, or not yet."""


class FramesNode(Node):
    """Node `frames_node`; docs/interfaces.md describes its parameters."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__("frames_node", automatically_declare_parameters_from_overrides=True)
        self._clock_watch = ClockWatch(self)
        rate, self._prefix, self._max_age, self._pass_time, self._constraints = read_constraints(
            self
        )
        if not self._constraints:
            raise refused("constraints", "is empty")
        for name, constraint in self._constraints.items():
            check_target(name, constraint, self._prefix, {})
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._broadcaster = TransformBroadcaster(self)
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._markers = self.create_publisher(MarkerArray, "~/markers", 1)
        self._drawing = Drawing(FRAMES.marker_period)
        self._parents: dict[str, str] = {}
        self._structure_time = self._status_time = self._shown_time = -FRAMES.structure_period
        self._journal = Journal(self)
        self._newest: dict[Edge, _Newest] = {}
        self._ages: dict[str, float] = {}  # s, of each constraint's oldest frame
        self._left_out: dict[str, LeftOut] = {}  # constraints that this cycle does not apply
        self._had_left_out = False
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
        """Meet the constraints whose frames are available, and report on all."""
        self._left_out, self._ages = {}, {}
        edges = self._available_edges()
        found = self._look_up(edges)
        applied = None if found is None else self._meet(*found, edges)
        for name in self._constraints:
            if name in self._left_out:
                why = self._left_out[name]
                reason = "fault" if why.fault else "waiting"
                self._journal.warn(name, reason, f"{name}: {why}", lasting=why.fault)
            else:
                self._journal.recovered(name, f"{name}: all frames are available")
        if applied is not None:
            tree, when, results = applied
            self._broadcast(tree, when, [self._constraints[name] for name in results])
            assert found is not None
            self._show(tree, results, found[0])
        if found is None or applied is None:
            self._report({}, {}, None)
        else:
            before = {frame: place for (_, frame), place in found[0].items()}
            self._report(applied[2], before, applied[0])

    def _available_edges(self) -> dict[str, list[Edge]]:
        """Return parents and names of the frames of each constraint that tf has, up to date."""
        self._read_parents()
        now = self.get_clock().now().nanoseconds
        newest: dict[Edge, _Newest] = {}
        found: dict[str, list[Edge]] = {}
        for name, constraint in self._constraints.items():
            if moves_its_target(constraint, self._prefix, self._parents):
                why = f"it moves its own target '{constraint.target}'"
                self._left_out[name] = LeftOut(why, fault=True)
                continue
            try:
                edges = edges_of([constraint], self._parents)
                root = next(iter(found.values()), edges)[0][0]
                if edges[0][0] != root:
                    raise FrameError(f"tf does not connect '{constraint.chain[0]}' with '{root}'")
                for edge in edges:
                    newest[edge] = newest.get(edge) or self._newest_of(edge, now)
            except FrameError as error:
                self._left_out[name] = LeftOut(str(error))
                continue
            oldest = max(edges, key=lambda edge: newest[edge].age(now))
            self._ages[name] = newest[oldest].age(now)
            if self._ages[name] > self._max_age:
                ago = f"'{oldest[1]}' has no new transform for {self._ages[name]:.1f} s"
                why = f"{ago}, frame_max_age is {self._max_age:g} s"
                self._left_out[name] = LeftOut(why)
            else:
                found[name] = edges
        self._newest = newest
        return found

    def _read_parents(self) -> None:
        now = time.monotonic()
        period = FRAMES.missing_period if self._had_left_out else FRAMES.structure_period
        if now - self._structure_time >= period:
            frames = yaml.safe_load(self._buffer.all_frames_as_yaml()) or {}
            self._parents = {name: str(frame["parent"]) for name, frame in frames.items()}
            self._structure_time = now

    def _newest_of(self, edge: Edge, now: int) -> _Newest:
        """Return when the newest transform of a frame came.

        Raises:
            FrameError: There is none.
        """
        try:
            stamp = self._buffer.get_latest_common_time(*edge).nanoseconds
        except TransformException as error:
            raise FrameError(str(error)) from None
        before = self._newest.get(edge)
        return before if before is not None and before.stamp == stamp else _Newest(stamp, now)

    def _look_up(
        self, edges: dict[str, list[Edge]]
    ) -> tuple[dict[Edge, RigidTransform], Time] | None:
        """Return the transforms of all frames at a common time (zero: all static), or None.

        Constraints without a transform at that time are removed.
        """
        while edges:
            needed = list(dict.fromkeys(edge for each in edges.values() for edge in each))
            dynamic = [self._newest[edge].stamp for edge in needed if self._newest[edge].stamp]
            when = Time(nanoseconds=min(dynamic, default=0))
            found, missing = {}, {}
            for parent, frame in needed:
                try:
                    message = self._buffer.lookup_transform(parent, frame, when)
                except TransformException as error:
                    missing[parent, frame] = str(error)
                    continue
                value = transform_value(message.transform)
                if isinstance(value, Refused):
                    missing[parent, frame] = f"tf from '{parent}' to '{frame}': {value}"
                else:
                    found[parent, frame] = value
            if not missing:
                return found, when
            for name in list(edges):
                texts = [missing[edge] for edge in edges[name] if edge in missing]
                if texts:
                    self._left_out[name] = LeftOut(texts[0])
                    del edges[name]
        return None

    def _meet(
        self, found: dict[Edge, RigidTransform], when: Time, edges: dict[str, list[Edge]]
    ) -> tuple[TransformTree, Time, dict[str, Applied]] | None:
        """Meet constraints together; those that do not fit their frames are left out.

        Returns:
            The corrected frames, their time, and the result of each constraint; None without one.
        """
        ready = {name: self._constraints[name] for name in edges}
        met, faults = met_apart(lambda some: self._met(found, some), ready)
        self._left_out |= faults
        return None if met is None else (met[0], when, met[1])

    def _met(
        self, found: dict[Edge, RigidTransform], constraints: Mapping[str, Constraint]
    ) -> tuple[TransformTree, dict[str, Applied]]:
        needed = edges_of(constraints.values(), self._parents)
        tree = TransformTree(needed[0][0])
        for parent, frame in needed:
            tree.add(frame, parent, found[parent, frame])
        return tree, meet(tree, constraints)

    def _broadcast(
        self, tree: TransformTree, when: Time, constraints: Collection[Constraint]
    ) -> None:
        """Broadcast the corrected frames under their new names, with the input's time as stamp."""
        stamp = (when if when.nanoseconds else self.get_clock().now()).to_msg()
        sent = corrected_frames(tree, constraints)
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

    def _report(
        self,
        applied: Mapping[str, Applied],
        before: Mapping[str, RigidTransform],
        tree: TransformTree | None,
    ) -> None:
        self._had_left_out = bool(self._left_out)
        now = time.monotonic()
        if now - self._status_time < FRAMES.status_period:
            return
        self._status_time = now
        for name, constraint in self._constraints.items():
            result = applied[name] if name in applied else self._left_out[name]
            status = status_of(self.get_name(), name, constraint, result)
            more = {"age": f"{self._ages[name]:.3f}"} if name in self._ages else {}
            if tree is not None and name in applied:
                more |= turns_of(before, tree, constraint.chain[:-1])
            values = [KeyValue(key=key, value=value) for key, value in more.items()]
            status.values = [*status.values, *values]
            self._status.publish(status)

    def _show(
        self,
        tree: TransformTree,
        applied: dict[str, Applied],
        before: Mapping[Edge, RigidTransform],
    ) -> None:
        now = time.monotonic()
        if (
            now - self._shown_time < FRAMES.marker_period
            or not self._markers.get_subscription_count()
        ):
            return
        self._shown_time = now
        passes = {}
        if self._pass_time:
            count = int(now / self._pass_time)
            for name in applied:
                if isinstance(chain := self._constraints[name], Reach):
                    stages = passes_of(chain, tree, before)
                    passes[name] = stages[: 1 + count % (len(stages) + FRAMES.last_pass_time)]
        scene = frames_scene(tree, self._constraints, applied, passes)
        self._markers.publish(self._drawing.message(scene))


def passes_of(
    reach: Reach, tree: TransformTree, before: Mapping[Edge, RigidTransform]
) -> list[tuple[str, FloatArray]]:
    """Return the passes of FABRIK, as published, that bring a chain to its target.

    Args:
        reach: The chain.
        tree: The corrected frames.
        before: Parents and names of the frames, parents first, with their transforms before.

    Returns:
        Those of `chain_passes`, in the frame of the tree's root.
    """
    start = TransformTree(tree.root)
    for (parent, frame), place in before.items():
        start.add(frame, parent, place if frame in reach.chain[:-1] else tree.basis(frame))
    joints = chain_positions(start, reach.chain, tree.root)
    target = express(tree, tree.root, reach.target, np.zeros(3))
    return chain_passes(
        joints, target, tolerance=FRAMES.pass_tolerance, max_iterations=FRAMES.most_passes
    )


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
            way = upwards(frame, parents)
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


def main(stop: Event) -> int:
    """Run the node until `stop` is set; return the exit status."""
    spin(FramesNode(), stop)
    return 0

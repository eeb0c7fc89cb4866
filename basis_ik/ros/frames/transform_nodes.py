# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tree of transform nodes: its frames in tf, its scale as markers, its fields as parameters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from threading import Event

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from tf2_ros import TransformBroadcaster
from visualization_msgs.msg import MarkerArray

from basis_ik.bones.constraints import Applied, Constraint
from basis_ik.bones.meet import meet
from basis_ik.ros.convert import transform_message
from basis_ik.ros.frames.met_constraints import LeftOut, met_apart, status_of
from basis_ik.ros.frames.node_handles import NodeHandles, dragged, node_at, place_of
from basis_ik.ros.frames.transform_node_parameters import declare, node_of
from basis_ik.ros.journal import Journal
from basis_ik.ros.parameters.parameters import Parameters, given_lists
from basis_ik.ros.periodic_spinner import spin
from basis_ik.ros.readiness import ColdStart
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.ros.sim_clock import ClockWatch
from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.combine import Combination, NotOneNodeError, combine
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.view.frames import frames_scene
from basis_ik.view.nodes import NodeView, filled_boxes, nodes_scene
from basis_ik.view.shapes import Shape
from basis_ik.warm_up import WarmUp, transform_nodes_steps

NODES_STATUS_PERIOD = 0.5  # [s]
FORMULA = "P\N{PRIME} = R SR S SR\N{SUPERSCRIPT MINUS}\N{SUPERSCRIPT ONE} (P - C) + C + T"
HANDLE_DIAMETER = 1.4  # of a handle's rings, in edges of the boxes


class TransformNodes(Node):
    """Node `transform_nodes`; docs/interfaces.md describes its parameters."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__(
                "transform_nodes", automatically_declare_parameters_from_overrides=True
            )
        self._clock_watch = ClockWatch(self)
        self._settings = Parameters(self)
        self._layout = declare(self._settings)
        self._size: float = self._settings["box_size"]
        self._journal = Journal(self)
        self._broadcaster = TransformBroadcaster(self)
        self._markers = self.create_publisher(MarkerArray, "~/markers", 1)
        self._filled = self.create_publisher(MarkerArray, "~/filled/markers", 1)
        self._drawing, self._filling = (Drawing(1.0 / self._layout.rate) for _ in range(2))
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._handles = NodeHandles(self, HANDLE_DIAMETER * self._size, self._on_drag)
        self._changes = -1
        self._tree = TransformTree(self._layout.root)
        self._applied: dict[str, Applied] = {}  # constraints that fit their frames
        self._left_out: dict[str, LeftOut] = {}  # the others
        self._combined: dict[str, Combination | NotOneNodeError] = {}
        self._frames: dict[str, RigidTransform] = {}  # in the frame of the parent
        self._scene, self._boxes = list[Shape](), list[Shape]()
        self._lost: dict[str, TransformError] = {}
        self._logged: dict[str, str] = {}
        self._status_time = -NODES_STATUS_PERIOD
        self._cold_start: ColdStart | None = None
        self._kernels = WarmUp(transform_nodes_steps(self._layout.constraints.values()))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / self._layout.rate, self._on_timer, clock=steady)

    def _on_timer(self) -> None:
        if self._kernels.ready:
            if self._cold_start is not None:
                self._cold_start.destroy()
                self._cold_start = None
                self.get_logger().info("the kernels are compiled")
            self._refresh()
            self._send()
        elif self._cold_start is None and self._kernels.compiling:
            self._cold_start = ColdStart(self, self._kernels)

    def _refresh(self) -> None:
        """Apply changed parameters."""
        if self._changes == self._settings.changes:
            return
        self._changes = self._settings.changes
        layout = self._layout
        met, self._left_out = met_apart(self._met, layout.constraints)
        tree, self._applied = met or self._met({})
        self._combined = {}
        for name, chain in layout.chains.items():
            try:
                combined = combine(chain, [node_at(tree, each) for each in chain])
            except NotOneNodeError as error:
                self._combined[name] = error
                continue
            self._combined[name] = combined
            tree.add(name, layout.parents[chain[0]], combined.node)
        self._tree = tree
        self._place()

    def _met(
        self, constraints: Mapping[str, Constraint]
    ) -> tuple[TransformTree, dict[str, Applied]]:
        """Return the nodes as their parameters have them, turned to meet constraints."""
        tree = TransformTree(self._layout.root)
        for name, parent in self._layout.parents.items():
            tree.add(name, parent, node_of(self._settings, name))
        return tree, meet(tree, constraints)

    def _place(self) -> None:
        """Compute the frames to broadcast, and the markers."""
        tree = self._tree
        root_T = {tree.root: RigidTransform.identity()}
        handles, views = {}, []
        self._frames, self._lost = {}, {}
        for name in tree.frames[1:]:
            parent = tree.parent(name)
            if parent not in root_T:
                continue
            try:
                seen = tree.lookup_node(tree.root, name)
                if name in self._layout.parents:
                    handles[name] = place_of(tree, name)
            except TransformError as error:
                self._lost[name] = error
                continue
            root_T[name] = RigidTransform.from_rotation_translation(seen.rotation, seen.translation)
            self._frames[name] = root_T[parent].inverse() @ root_T[name]
            chain = self._layout.chains.get(name, ())
            views.append(NodeView(name, seen, node_at(tree, name).center, tuple(chain)))
        self._handles.show(tree.root, handles)
        self._scene = nodes_scene(views, self._size) + self._constraints_scene()
        self._boxes = filled_boxes(views, self._size)

    def _constraints_scene(self) -> list[Shape]:
        """Return the shapes of constraints whose frames are shown, under names of no node."""
        there = {self._tree.root, *self._frames}
        constraints = self._layout.constraints
        shown = {
            name: result
            for name, result in self._applied.items()
            if there.issuperset((*constraints[name].chain, constraints[name].target))
        }
        shapes = frames_scene(self._tree, constraints, shown) if shown else []
        return [replace(shape, name=f"constraint {shape.name}") for shape in shapes]

    def _send(self) -> None:
        stamp, tree = self.get_clock().now().to_msg(), self._tree
        messages: list[TransformStamped] = []
        for name, transform in self._frames.items():
            parent = tree.parent(name)
            assert parent is not None  # every node is below another frame
            messages.append(transform_message(parent, name, transform, stamp))
        self._broadcaster.sendTransform(messages)
        if self._markers.get_subscription_count():
            self._markers.publish(self._drawing.message(self._scene))
        if self._filled.get_subscription_count():
            self._filled.publish(self._filling.message(self._boxes))
        now = time.monotonic()
        if now - self._status_time >= NODES_STATUS_PERIOD:
            self._status_time = now
            self._report()

    def _report(self) -> None:
        for name, constraint in self._layout.constraints.items():
            if name in self._applied:
                result: Applied | LeftOut = self._applied[name]
                self._journal.recovered(name, f"'{name}' fits its nodes")
            else:
                result = self._left_out[name]
                self._journal.warn(name, "fault", f"'{name}': {result}", lasting=True)
            self._status.publish(status_of(self.get_name(), name, constraint, result))
        for name, error in self._lost.items():
            self._journal.warn(name, type(error).__name__, f"'{name}': {error}", lasting=True)
            self._publish(name, DiagnosticStatus.ERROR, str(error), {})
        for name, found in self._combined.items():
            if isinstance(found, NotOneNodeError):
                self._journal.warn(name, "not one", f"'{name}': {found}", lasting=True)
                values = {"residual": repr(found.residual), "scale_ratio": repr(found.ratio)}
                self._publish(name, DiagnosticStatus.ERROR, str(found), values)
                continue
            fields = _written(found.node)
            text = f"{' → '.join(self._layout.chains[name])} in one node"
            shown = ", ".join(f'{field}="{value}"' for field, value in fields.items())
            if self._logged.get(name) != shown:
                self.get_logger().info(
                    f"'{name}' is {text}: {shown}; off the product of matrices by "
                    f"{found.residual:.2g}, shear {found.shear:.3g}"
                )
            self._logged[name] = shown
            values = {
                "residual": repr(found.residual),
                "shear": repr(found.shear),
                "formula": FORMULA,
            }
            self._publish(name, DiagnosticStatus.OK, text, fields | values)

    def _publish(self, name: str, level: bytes, text: str, values: dict[str, str]) -> None:
        self._status.publish(
            DiagnosticStatus(
                level=level,
                name=f"{self.get_name()}: {name}",
                message=text,
                values=[KeyValue(key=key, value=value) for key, value in values.items()],
            )
        )

    def _on_drag(self, name: str, place: RigidTransform, fields: tuple[str, ...]) -> None:
        """Set the parameters of a node whose handle was dragged."""
        self._refresh()
        changed = dragged(self._tree, name, place)
        result = self.set_parameters_atomically(
            [
                Parameter(f"{name}.{field}", Parameter.Type.DOUBLE_ARRAY, changed[field])
                for field in fields
            ]
        )
        if not result.successful:
            self._journal.error(f"handle of '{name}': {result.reason}")
            self._place()  # the handle returns to the node


def _written(node: TransformNode) -> dict[str, str]:
    """Return a node's fields as texts, as in a file, with all digits."""
    return {
        field: " ".join(repr(number) for number in numbers)
        for field, numbers in node.as_fields().items()
    }


def main(stop: Event) -> int:
    """Run the node until `stop` is set; return the exit status."""
    spin(TransformNodes(), stop)
    return 0

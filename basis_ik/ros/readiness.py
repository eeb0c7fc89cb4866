# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Status and diagnostics of a node before it has a robot and compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from basis_ik.arm.admission import Refusal, Refusals, Refused, Request
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.journal import Journal
from basis_ik.ros.sim_clock import CLOCK_MISSING, clock_missing
from basis_ik.ros.status import refusal_values
from basis_ik.warm_up import WarmUp

UNREADY_PERIOD = 1.0  # [s]
COMPILING_PERIOD = 0.4  # [s]
PERIODS_PER_LINE = 12  # times `COMPILING_PERIOD` between two lines of the log


class Unready(NamedTuple):
    """Why there is no robot.

    Attributes:
        level: A DiagnosticStatus level: OK if no robot was requested yet, WARN while the node waits
            for one, ERROR if something must be fixed.
        text: The message, in one line.
    """

    level: bytes
    text: str


class Readiness:
    """Publishes `/diagnostics`, and `~/status` on errors, while there is no robot.

    Args:
        node: The node that publishes.
        chains: Names of its chains; one empty name for a single chain.
        unready: Returns why there is no robot, or None.
    """

    def __init__(
        self, node: Node, chains: Sequence[str], unready: Callable[[], Unready | None]
    ) -> None:
        self._node, self._unready = node, unready
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        topics = [f"~/{chain}/status" if chain else "~/status" for chain in chains]
        self._statuses = [node.create_publisher(DiagnosticStatus, topic, 10) for topic in topics]
        # A steady clock, because there may be no simulated time.
        node.create_timer(
            UNREADY_PERIOD, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _on_timer(self) -> None:
        unready = self._unready()
        if unready is None:
            return
        level, text = unready
        if clock_missing(self._node):
            level, text = max(level, DiagnosticStatus.WARN), f"{text}; {CLOCK_MISSING}"
        status = DiagnosticStatus(
            level=level,
            name=f"{self._node.get_fully_qualified_name().lstrip('/')}: start",
            message=text,
            values=[KeyValue(key="state", value="UNCONFIGURED")],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(message)
        if level == DiagnosticStatus.ERROR:
            for publisher in self._statuses:
                boundary_of(self._node).publish(publisher, status)


class ColdStart:
    """Publishes `~/status` and `/diagnostics` during the compilation, and refuses targets.

    Args:
        node: The node.
        kernels: The compilation.
        chains: Names of the chains; one empty name for a single chain.
        targets: Returns types and names of a chain's target topics.
    """

    def __init__(
        self,
        node: Node,
        kernels: WarmUp,
        chains: Sequence[str] = ("",),
        targets: Callable[[str], Sequence[tuple[Any, str]]] = lambda _: (),
    ) -> None:
        self._node, self._kernels, self._journal = node, kernels, Journal(node)
        self._boundary = boundary_of(node)
        self._refusals = {name: Refusals(self._boundary.steady) for name in chains}
        below = {name: f"~/{name}/" if name else "~/" for name in chains}
        self._publishers = {
            name: node.create_publisher(DiagnosticStatus, f"{below[name]}status", 10)
            for name in chains
        }
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._subscriptions = [
            node.create_subscription(
                kind, below[name] + topic, partial(self._refuse, name, topic), 1
            )
            for name in chains
            for kind, topic in targets(name)
        ]
        self._turns = 0
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(COMPILING_PERIOD, self._report, clock=steady)
        self._report()

    def destroy(self) -> None:
        """Destroy its publishers, subscriptions and timer."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in (self._diagnostics, *self._publishers.values()):
            self._node.destroy_publisher(publisher)

    def _progress(self) -> str:
        return self._boundary.read("progress", lambda: str(self._kernels))

    def _refuse(self, chain: str, topic: str, _: Any) -> None:
        refused = Refused(Refusal.NOT_READY, self._progress())
        self._refusals[chain].add(refused, Request(topic))
        self._journal.warn("target", refused.reason.name, f"target refused: {refused}")
        self._publish(chain, str(refused))

    def _report(self) -> None:
        text = self._progress()
        if self._turns % PERIODS_PER_LINE == 0:
            self._node.get_logger().info(text)
        self._turns += 1
        for chain in self._publishers:
            self._publish(chain, text)
        # The same name as in the node's later diagnostics.
        loop = self._status("control loop", text)
        message = DiagnosticArray(status=[loop])
        loop.name = loop.name.lstrip("/")
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(message)

    def _publish(self, chain: str, text: str) -> None:
        status = self._status(chain or "kernels", text)
        values = {"state": "COMPILING", **refusal_values(self._refusals[chain])}
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        self._boundary.publish(self._publishers[chain], status)

    def _status(self, subject: str, text: str) -> DiagnosticStatus:
        name = f"{self._node.get_fully_qualified_name()}: {subject}"
        return DiagnosticStatus(level=DiagnosticStatus.WARN, name=name, message=text)

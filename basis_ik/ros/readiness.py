"""What a node says of itself as long as it has no robot to move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from basis_ik.ros.sim_clock import CLOCK_MISSING, clock_missing

PERIOD = 1.0  # s


class Unready(NamedTuple):
    """Why there is no robot to move.

    Attributes:
        level: Of a DiagnosticStatus: OK if nobody asked for one yet, WARN if it is waited for,
            ERROR if something must be mended.
        text: One line for people.
    """

    level: bytes
    text: str


class Readiness:
    """Publishes `/diagnostics`, and on an error `~/status`, in place of the robot that is missing.

    Args:
        node: The node that publishes.
        chains: Names of its chains; one empty name for one chain without.
        unready: Returns why there is no robot, or None.
    """

    def __init__(
        self, node: Node, chains: Sequence[str], unready: Callable[[], Unready | None]
    ) -> None:
        self._node, self._unready = node, unready
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        topics = [f"~/{chain}/status" if chain else "~/status" for chain in chains]
        self._statuses = [node.create_publisher(DiagnosticStatus, topic, 10) for topic in topics]
        # A steady clock: simulated time may be what is missing.
        node.create_timer(PERIOD, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))

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
                publisher.publish(status)

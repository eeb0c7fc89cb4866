"""Simulated time that is wanted and does not come."""

from __future__ import annotations

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

PATIENCE = 2.0  # s; a simulation may be starting at the same time
CLOCK_MISSING = (
    "use_sim_time is true, and no time has come on /clock: start the simulation, or leave it out"
)


def clock_missing(node: Node) -> bool:
    """Tell whether a node goes by simulated time, and has not been told any."""
    return bool(node.get_parameter("use_sim_time").value) and not node.get_clock().now().nanoseconds


class ClockWatch:
    """Says once that simulated time is missing, and once that it has come.

    Args:
        node: The node that goes by it, or not.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._told = False
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PATIENCE, self.look, clock=steady)

    def look(self) -> None:
        """Say what is new."""
        missing, log = clock_missing(self._node), self._node.get_logger()
        if missing and not self._told:
            log.warning(CLOCK_MISSING)
        if self._told and not missing:
            log.info("the time has come on /clock")
        self._told = missing

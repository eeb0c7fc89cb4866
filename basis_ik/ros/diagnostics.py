"""`/diagnostics`: once a second, how the node and its arms do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from resource import getpagesize

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformException

from basis_ik.motion.statistics import LoopMeter, Window
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.diagnostic_array import ArmReport, LoopReport, diagnostic_array
from basis_ik.ros.sim_clock import clock_missing, loop_time

PERIOD = 1.0  # s


class Diagnostics:
    """Publishes `/diagnostics` for a node.

    Args:
        node: The node.
        arms: Its arms.
        loop: What watches its control loop.
        buffer: Its transforms; asked with zero timeout.
    """

    def __init__(
        self,
        node: Node,
        arms: Sequence[ChainController],
        loop: LoopMeter,
        buffer: Buffer,
    ) -> None:
        self._node, self._arms, self._loop = node, arms, loop
        self._buffer = buffer
        self._missed = loop.missed
        self._refused = {arm.name: arm.refusals.counts.total() for arm in arms}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self._on_timer, clock=steady)

    def destroy(self) -> None:
        """Give up timer and publisher."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _on_timer(self) -> None:
        now = time.monotonic()
        self._publisher.publish(
            diagnostic_array(
                self._node.get_clock().now().to_msg(),
                self._node.get_fully_qualified_name(),
                self._arms[0].model.name,
                self._loop_report(now),
                {arm.name: self._arm_report(arm, now) for arm in self._arms},
            )
        )

    def _loop_report(self, now: float) -> LoopReport:
        loop = self._loop
        newly_missed, self._missed = loop.missed - self._missed, loop.missed
        return LoopReport(
            wanted_rate=1.0 / loop.period,
            rate=loop.turns.since_asked(now),
            missed=loop.missed,
            newly_missed=newly_missed,
            work=_spread(loop.work),
            memory=resident_memory(),
            clock_missing=clock_missing(self._node),
        )

    def _arm_report(self, arm: ChainController, now: float) -> ArmReport:
        meter, refusals = arm.meter, arm.refusals.counts
        newly_refused = refusals.total() - self._refused[arm.name]
        self._refused[arm.name] = refusals.total()
        return ArmReport(
            tip=arm.tip,
            state=arm.state.state.name,
            barred=arm.state.barred,
            joint_state_rate=meter.joint_states.since_asked(now),
            target_rate=meter.targets.since_asked(now),
            command_rate=meter.commands.since_asked(now),
            joint_state_age=arm.measured.age(loop_time(self._node)),
            target_age=arm.targets.age(loop_time(self._node)),
            tf_age=self._tf_age(arm),
            solves=meter.solve_time.count,
            solve_time=_spread(meter.solve_time),
            verdicts=meter.verdicts,
            refusals=refusals,
            newly_refused=newly_refused,
        )

    def _tf_age(self, arm: ChainController) -> float | None:
        """Return the age of the newest transform to the target's frame [s]; None if it is fixed."""
        target = arm.targets.target
        if target is None or target.frame_id == arm.chain.root:
            return None
        try:
            found = self._buffer.lookup_transform(arm.chain.root, target.frame_id, Time())
        except TransformException:
            return None
        stamp = Time.from_msg(found.header.stamp).nanoseconds
        return 1e-9 * (self._node.get_clock().now().nanoseconds - stamp) if stamp else None


def _spread(window: Window) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum."""
    p50, p99, greatest = window.quantiles(0.5, 0.99, 1.0)
    return p50, p99, greatest


def resident_memory() -> int | None:
    """Return the memory that this process holds [bytes]; None where Linux does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * getpagesize()

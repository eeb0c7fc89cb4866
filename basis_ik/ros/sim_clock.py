# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The time of the control loop, steady or simulated, and its jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rclpy.clock import Clock, ClockChange, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

from basis_ik.ros.boundary import boundary_of


class ClockTuning(NamedTuple):
    """Tuning of what counts as a fault of simulated time."""

    start_time: float = 2.0  # [s] before missing time is told; the simulation may be starting
    jump: float = 1.0  # [s]; a larger step of a clock is a jump
    most_periods: int = 10  # of the loop at once; the rest of a larger step is skipped
    standstill: float = 1.0  # [s] of real time, after which simulated time stands still


SIM_CLOCK = ClockTuning()
CLOCK_MISSING = (
    "use_sim_time is true, and no time has come on /clock: start the simulation, or leave it out"
)


def clock_missing(node: Node) -> bool:
    """Return whether a node uses simulated time and has not received it."""
    return bool(node.get_parameter("use_sim_time").value) and not node.get_clock().now().nanoseconds


def loop_time(node: Node) -> float:
    """Return the time of ages and time limits [s].

    With use_sim_time it is simulated time: in a simulation at a fifth of real time, everything may
    take five times as long, and in a paused one it may take forever. Otherwise it is a steady
    clock, because the system's time may be set.
    """
    return boundary_of(node).moment(node.get_clock()).loop


class LoopClock:
    """Counts the periods of a loop, and detects jumps of the clock.

    A clock jumps when it starts, goes back, advances by more than a second at once, or is replaced.
    Smaller steps of the system's time are not detected; ages do not depend on it.

    Args:
        node: The node that owns the clock.
        period: Period of the loop [s].
        on_jump: Called after a jump with its length [s]; 0 if the clock was replaced.
    """

    def __init__(self, node: Node, period: float, on_jump: Callable[[float], None]) -> None:
        self._clock, self._period, self._on_jump = node.get_clock(), round(1e9 * period), on_jump
        self._boundary = boundary_of(node)
        self._reached = self._boundary.clock(self._clock)
        self._offset: int | None = None
        self._simulated = False
        self._newest, self._advanced = 0, self._boundary.steady()
        threshold = JumpThreshold(
            min_forward=Duration(nanoseconds=round(1e9 * SIM_CLOCK.jump)),
            min_backward=Duration(nanoseconds=-1),
        )
        self._handle = self._clock.create_jump_callback(threshold, post_callback=self._jumped)

    def periods(self, now: int) -> int:
        """Return the number of periods that have begun since the last call.

        Call it once per period of a steady clock. Without simulated time the result is 1.

        Args:
            now: The node's clock [ns].
        """
        self._simulated = self._clock.ros_time_is_active
        if not self._simulated:
            self._compare(now)
            return 1
        if now != self._newest:
            begins = not self._newest
            self._newest, self._advanced = now, self._boundary.steady()
            if begins:  # steps below a second have no callback
                self._on_jump(1e-9 * now)
        due = max(0, (now - self._reached) // self._period)
        self._reached += due * self._period
        return min(due, SIM_CLOCK.most_periods)

    def standstill(self) -> str | None:
        """Return why simulated time stands still, or None; short gaps of /clock do not count.

        Call it after `periods`.
        """
        if not self._simulated:
            return None
        if not self._newest:
            return CLOCK_MISSING
        if self._boundary.steady() - self._advanced < SIM_CLOCK.standstill:
            return None
        return f"/clock stands still at {1e-9 * self._newest:.3f} s: so does everything else"

    def _compare(self, now: int) -> None:
        """Detect that the system's time was set, for which there is no callback."""
        offset = now - self._boundary.steady_ns()
        before = offset if self._offset is None else self._offset
        self._offset = offset
        if abs(offset - before) > 1e9 * SIM_CLOCK.jump:
            self._on_jump(1e-9 * (offset - before))

    def _jumped(self, jump: TimeJump) -> None:
        self._reached = self._newest = self._boundary.clock(self._clock)
        self._advanced, self._offset = self._boundary.steady(), None
        exchanged = jump.clock_change in (
            ClockChange.ROS_TIME_ACTIVATED,
            ClockChange.ROS_TIME_DEACTIVATED,
        )
        self._on_jump(0.0 if exchanged else 1e-9 * jump.delta.nanoseconds)


def jump_text(seconds: float) -> str:
    """Return what has happened to a clock that has jumped [s]; 0: it was replaced."""
    if seconds == 0.0:
        return "the clock was replaced"
    return f"the clock has jumped by {seconds:{'.3f' if abs(seconds) >= 1.0 else '.3g'}} s"


class ClockWatch:
    """Logs once that simulated time is missing, and once that it is received.

    Args:
        node: The node, with or without simulated time.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._logged = False
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(SIM_CLOCK.start_time, self.check, clock=steady)

    def check(self) -> None:
        """Log a change."""
        missing, log = clock_missing(self._node), self._node.get_logger()
        if missing and not self._logged:
            log.warning(CLOCK_MISSING)
        if self._logged and not missing:
            simulated = self._node.get_clock().ros_time_is_active
            log.info(f"receiving the time on {'/clock' if simulated else 'the system clock'}")
        self._logged = missing

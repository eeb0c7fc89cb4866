"""The time of the control loop: a steady clock's, or the simulation's; and its jumps."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockChange, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

from basis_ik.ros.boundary import boundary_of

PATIENCE = 2.0  # s; a simulation may be starting at the same time
LEAP = 1.0  # s; a clock that goes on by more has jumped
MOST_PERIODS = 10  # of the loop at once; a simulation that leaves out more has stood still
STANDSTILL = 1.0  # s of real time after which simulated time is said to stand still
CLOCK_MISSING = (
    "use_sim_time is true, and no time has come on /clock: start the simulation, or leave it out"
)


def clock_missing(node: Node) -> bool:
    """Tell whether a node goes by simulated time, and has not been told any."""
    return bool(node.get_parameter("use_sim_time").value) and not node.get_clock().now().nanoseconds


def loop_time(node: Node) -> float:
    """Return the time that ages and time limits are counted in [s].

    With use_sim_time it is the simulation's: a simulation at a fifth of real time has five times as
    long for everything, and one that is paused has for ever. Otherwise it is a steady clock's, for
    the system's time may be set.
    """
    return boundary_of(node).moment(node.get_clock()).loop


class LoopClock:
    """Tells a loop how many periods have gone by, and that the clock has jumped.

    A clock jumps when it begins, goes back, goes on by more than a second at once, or is exchanged.
    Steps of the system's time below a second are not seen; ages do not depend on it.

    Args:
        node: The node whose clock it is.
        period: Of the loop [s].
        on_jump: Called after a jump with its length [s], 0 for another clock.
    """

    def __init__(self, node: Node, period: float, on_jump: Callable[[float], None]) -> None:
        self._clock, self._period, self._on_jump = node.get_clock(), round(1e9 * period), on_jump
        self._boundary = boundary_of(node)
        self._reached = self._boundary.clock(self._clock)
        self._offset: int | None = None
        self._simulated = False
        self._newest, self._advanced = 0, self._boundary.steady()
        threshold = JumpThreshold(
            min_forward=Duration(nanoseconds=round(1e9 * LEAP)),
            min_backward=Duration(nanoseconds=-1),
        )
        self._handle = self._clock.create_jump_callback(threshold, post_callback=self._jumped)

    def periods(self, now: int) -> int:
        """Return how many periods have begun since this was asked last.

        To be asked once in every period of a steady clock. Without simulated time it is one.

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
            if begins:  # below a second no callback tells
                self._on_jump(1e-9 * now)
        due = max(0, (now - self._reached) // self._period)
        self._reached += due * self._period
        return min(due, MOST_PERIODS)

    def standstill(self) -> str | None:
        """Return why no period begins, or None; a moment without time is no standstill.

        To be asked after `periods`.
        """
        if not self._simulated:
            return None
        if not self._newest:
            return CLOCK_MISSING
        if self._boundary.steady() - self._advanced < STANDSTILL:
            return None
        return f"/clock stands still at {1e-9 * self._newest:.3f} s: so does everything else"

    def _compare(self, now: int) -> None:
        """Notice that the system's time was set: no callback tells."""
        offset = now - self._boundary.steady_ns()
        before = offset if self._offset is None else self._offset
        self._offset = offset
        if abs(offset - before) > 1e9 * LEAP:
            self._on_jump(1e-9 * (offset - before))

    def _jumped(self, jump: TimeJump) -> None:
        self._reached = self._newest = self._boundary.clock(self._clock)
        self._advanced, self._offset = self._boundary.steady(), None
        exchanged = jump.clock_change in (
            ClockChange.ROS_TIME_ACTIVATED,
            ClockChange.ROS_TIME_DEACTIVATED,
        )
        self._on_jump(0.0 if exchanged else 1e-9 * jump.delta.nanoseconds)


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
            log.info("receiving the time on /clock")
        self._told = missing

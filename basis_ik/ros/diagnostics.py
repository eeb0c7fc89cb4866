# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`/diagnostics`: the state of the node and its arms, once a second."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from resource import getpagesize

from builtin_interfaces.msg import Time as Stamp
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformException

from basis_ik.arm.arm import Arm
from basis_ik.arm.statistics import LoopMeter, Window
from basis_ik.numerics.jit import WHY_PLAIN
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.sim_clock import CLOCK_MISSING, clock_missing, loop_time

DIAGNOSTICS_PERIOD = 1.0  # [s]
SLOW_LOOP = 0.95  # fraction of the desired rate below which a loop is too slow

_LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


class Diagnostics:
    """Publishes `/diagnostics` for a node.

    Args:
        node: The node.
        arms: Its arms.
        loop: Measures its control loop.
        buffer: Its transforms; queried with zero timeout.
        parameters: Its parameters.
    """

    def __init__(
        self,
        node: Node,
        arms: Sequence[Arm],
        loop: LoopMeter,
        buffer: Buffer,
        parameters: Parameters,
    ) -> None:
        self._parameters = parameters
        self._node, self._arms, self._loop = node, arms, loop
        self._buffer = buffer
        self._missed = loop.missed
        self._refused = {arm.name: arm.refusals.counts.total() for arm in arms}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(DIAGNOSTICS_PERIOD, self._on_timer, clock=steady)

    def destroy(self) -> None:
        """Destroy timer and publisher."""
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
            desired_rate=1.0 / loop.period,
            rate=loop.turns.since_last_call(now),
            missed=loop.missed,
            newly_missed=newly_missed,
            work=_spread(loop.work),
            memory=resident_memory(),
            clock_missing=clock_missing(self._node),
            plain_numba=WHY_PLAIN,
            unused_parameters="; ".join(self._parameters.unused),
        )

    def _arm_report(self, arm: Arm, now: float) -> ArmReport:
        meter, refusals = arm.meter, arm.refusals.counts
        newly_refused = refusals.total() - self._refused[arm.name]
        self._refused[arm.name] = refusals.total()
        return ArmReport(
            tip=arm.chain.tip,
            state=arm.state.state.name,
            why_not=arm.state.why_not,
            joint_state_rate=meter.joint_states.since_last_call(now),
            target_rate=meter.targets.since_last_call(now),
            command_rate=meter.commands.since_last_call(now),
            joint_state_age=arm.measured.age(loop_time(self._node)),
            target_age=arm.targets.age(loop_time(self._node)),
            tf_age=self._tf_age(arm),
            solves=meter.solve_time.count,
            solve_time=_spread(meter.solve_time),
            verdicts=meter.verdicts,
            refusals=refusals,
            newly_refused=newly_refused,
            collisions=_collision_report(arm),
            unchecked=arm.unchecked,
        )

    def _tf_age(self, arm: Arm) -> float | None:
        """Return the age of the newest transform of the target's frame [s]; None if static."""
        target = arm.targets.target
        if target is None or target.frame_id == arm.chain.root:
            return None
        try:
            found = self._buffer.lookup_transform(arm.chain.root, target.frame_id, Time())
        except TransformException:
            return None
        # A `Time` refuses those before 1970.
        stamp = 10**9 * found.header.stamp.sec + found.header.stamp.nanosec
        return 1e-9 * (self._node.get_clock().now().nanoseconds - stamp) if stamp else None


def _spread(window: Window) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum."""
    p50, p99, greatest = window.quantiles(0.5, 0.99, 1.0)
    return p50, p99, greatest


def _collision_report(arm: Arm) -> CollisionReport | None:
    """Return the report on what an arm keeps clear of; None if it does not check."""
    scene, nearest, times = arm.pipeline.scene, arm.nearest, arm.meter.check_time.values()
    if scene is None:
        return None
    return CollisionReport(
        check_time=(float(times.mean()), float(times.max())) if len(times) else (math.nan,) * 2,
        objects=len(scene.objects),
        pairs=len(scene.pairs),
        distance=None if nearest is None else nearest.distance + nearest.padding,
        nearest=("", "") if nearest is None else nearest.names,
    )


def resident_memory() -> int | None:
    """Return the resident memory of this process [bytes]; None if Linux does not report it."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * getpagesize()


# Reports -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoopReport:
    """Report on the control loop. Rates are since the last report [1/s], NaN at first.

    Attributes:
        desired_rate: Desired rate of the loop.
        rate: Actual rate.
        missed: Number of periods without a cycle.
        newly_missed: Number of them since the last report.
        work: Median, 99th percentile and maximum of a cycle's duration [s].
        memory: Resident memory [bytes]; None if unknown.
        clock_missing: Whether the node uses simulated time and has not received it.
        plain_numba: Why numba compiles the kernels by itself; empty if it does not.
        unused_parameters: What parameter files have in vain; empty if there is nothing.
    """

    desired_rate: float
    rate: float
    missed: int
    newly_missed: int
    work: tuple[float, float, float]
    memory: int | None = None
    clock_missing: bool = False
    plain_numba: str = ""
    unused_parameters: str = ""


@dataclass(frozen=True)
class CollisionReport:
    """Report on what an arm keeps clear of.

    Attributes:
        check_time: Mean and maximum duration of a period's checks [s].
        objects: Number of objects.
        pairs: Number of pairs of links and objects that are compared.
        distance: The least distance of the measured arm [m]; infinite without pairs, None if the
            arm is not measured.
        nearest: The two of which it is.
    """

    check_time: tuple[float, float]
    objects: int
    pairs: int
    distance: float | None
    nearest: tuple[str, str]


@dataclass(frozen=True)
class ArmReport:
    """Report on an arm. Ages [s] are infinite before the first message, None if not applicable.

    Attributes:
        tip: Its tip link.
        state: Its state, as in its status.
        why_not: Why it may not move; empty if it may.
        joint_state_rate: Rate of received joint states.
        target_rate: Rate of received targets.
        command_rate: Rate of sent commands.
        joint_state_age: Age of the oldest joint position.
        target_age: Time since the current target was admitted.
        tf_age: Age of the transform of its frame.
        solves: Number of solves.
        solve_time: Median, 99th percentile and maximum duration of a solve [s].
        verdicts: Number of solves by verdict.
        refusals: Number of refused inputs by reason.
        newly_refused: Number of them since the last report.
        collisions: What it keeps clear of; None if it does not check.
        unchecked: Why it does not check; empty if it does.
    """

    tip: str
    state: str
    why_not: str
    joint_state_rate: float
    target_rate: float
    command_rate: float
    joint_state_age: float
    target_age: float | None = None
    tf_age: float | None = None
    solves: int = 0
    solve_time: tuple[float, float, float] = (math.nan,) * 3
    verdicts: Mapping[str, int] = field(default_factory=dict)
    refusals: Mapping[str, int] = field(default_factory=dict)
    newly_refused: int = 0
    collisions: CollisionReport | None = None
    unchecked: str = ""


def diagnostic_array(
    stamp: Stamp, node_name: str, robot: str, loop: LoopReport, arms: Mapping[str, ArmReport]
) -> DiagnosticArray:
    """Return the message: one status for the loop, one for each arm.

    Args:
        stamp: The current time.
        node_name: Fully qualified name of the node.
        robot: Name of the robot.
        loop: The control loop's report.
        arms: The arms' reports by name; a single arm's name may be empty.
    """
    statuses = [_loop_status(loop)]
    statuses += [_arm_status(name or arm.tip, arm) for name, arm in arms.items()]
    for status in statuses:
        status.name = f"{node_name.lstrip('/')}: {status.name}"
        status.hardware_id = robot
    message = DiagnosticArray(status=statuses)
    message.header.stamp = stamp
    return message


def _loop_status(loop: LoopReport) -> DiagnosticStatus:
    level, text = 0, "in time"
    if loop.unused_parameters:
        level, text = 1, loop.unused_parameters
    if loop.newly_missed:
        level, text = 1, f"{loop.newly_missed} periods missed"
    if loop.rate < SLOW_LOOP * loop.desired_rate:
        level, text = 1, f"only {loop.rate:.4g} of {loop.desired_rate:.4g} turns in a second"
    if loop.clock_missing:
        level, text = 1, CLOCK_MISSING
    values = {
        "desired_rate": _number(loop.desired_rate),
        "rate": _number(loop.rate),
        "missed_periods": str(loop.missed),
        **_milliseconds("turn", loop.work),
    }
    if loop.plain_numba:
        values["plain_numba"] = loop.plain_numba
    if loop.unused_parameters:
        values["unused_parameters"] = loop.unused_parameters
    if loop.memory is not None:
        values["memory_mb"] = _number(loop.memory / 1e6)
    return _status("control loop", level, text, values)


def _arm_status(name: str, arm: ArmReport) -> DiagnosticStatus:
    level, text = 0, arm.state
    if arm.state in ("TRACKING_LOST", "UNSAFE"):
        level, text = 2, arm.why_not
    elif arm.state in ("WAITING", "STOPPED"):
        level, text = 1, arm.why_not
    elif arm.newly_refused:
        level, text = 1, f"{arm.newly_refused} inputs refused"
    values = {
        "state": arm.state,
        "joint_state_rate": _number(arm.joint_state_rate),
        "target_rate": _number(arm.target_rate),
        "command_rate": _number(arm.command_rate),
        "joint_state_age": _number(arm.joint_state_age),
        "target_age": _number(arm.target_age),
        "tf_age": _number(arm.tf_age),
        "solves": str(arm.solves),
        **_milliseconds("solve", arm.solve_time),
        **{f"verdict.{key}": str(count) for key, count in sorted(arm.verdicts.items())},
        **{f"refused.{key}": str(count) for key, count in sorted(arm.refusals.items())},
    }
    if (found := arm.collisions) is not None:
        values |= {
            "collision_check_ms_mean": _number(1e3 * found.check_time[0]),
            "collision_check_ms_max": _number(1e3 * found.check_time[1]),
            "objects": str(found.objects),
            "compared_pairs": str(found.pairs),
            "smallest_distance": _number(found.distance),
            "nearest_pair": " and ".join(filter(None, found.nearest)),
        }
    if arm.unchecked:
        values["collisions_unchecked"] = arm.unchecked
    return _status(name, level, text, values)


def _status(name: str, level: int, text: str, values: dict[str, str]) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return DiagnosticStatus(level=_LEVELS[level], name=name, message=text, values=pairs)


def _milliseconds(name: str, seconds: tuple[float, float, float]) -> dict[str, str]:
    keys = (f"{name}_ms_p50", f"{name}_ms_p99", f"{name}_ms_max")
    return {key: _number(1e3 * value) for key, value in zip(keys, seconds, strict=True)}


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4g}"

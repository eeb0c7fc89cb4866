"""The verdict of every solve, as a DiagnosticStatus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from rclpy.node import Node

from basis_ik.pipeline import State
from basis_ik.ros.journal import Journal
from basis_ik.ros.target_input import TargetInput
from basis_ik.solvers.solve import Solution
from basis_ik.solvers.verdict import Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.ros.arm import Arm

PERIOD = 0.5  # s between repetitions of an unchanged status


class StatusReport:
    """Publishes a chain's status when it has changed, and now and then when it has not.

    Args:
        node: The node that publishes.
        arm: The chain that it is about.
        journal: Where changes are told, too.
    """

    def __init__(self, node: Node, arm: Arm, journal: Journal) -> None:
        self._node, self._journal = node, journal
        self._name = f"{node.get_fully_qualified_name()}: {arm.tip}"
        self._publisher = node.create_publisher(DiagnosticStatus, arm.resolve("status"), 10)
        self._key: tuple[object, ...] = ()
        self._time = 0.0

    def tell_silent(self, arm: Arm, joints: Sequence[str], *, expected: bool) -> None:
        """Say which joints are not heard; it is a trouble only if they once were."""
        text = f"no joint state of {', '.join(joints)}"
        if arm.measured.refused is not None:
            text += f" to be believed: {arm.measured.refused}"
        if expected:
            self._journal.trouble("silence", "NO_STATE", text)
        self._publish(arm, DiagnosticStatus.WARN, "NO_STATE", text)

    def tell_standstill(self, arm: Arm, text: str) -> None:
        """Say why simulated time does not go on."""
        self._publish(arm, DiagnosticStatus.WARN, "NO_CLOCK", text)

    def tell_motion(self, arm: Arm) -> None:
        """Say what is done about the target."""
        self._journal.fine("silence", "joint states come again")
        state, solution = arm.pipeline.state, arm.pipeline.solution
        refused = arm.refusals.last
        if state is State.UNSAFE:
            self._journal.trouble("motion", state.name, state.value)
            self._publish(arm, DiagnosticStatus.ERROR, state.name, state.value)
        elif not arm.enabled and arm.resting:
            self._publish(arm, DiagnosticStatus.WARN, "STOPPED", "stopped; ~/enable lets it go on")
        elif arm.trouble is not None:
            self._publish(arm, DiagnosticStatus.WARN, state.name, arm.trouble)
        elif solution is None:
            level = DiagnosticStatus.OK if refused is None else DiagnosticStatus.WARN
            self._publish(arm, level, state.name, state.value if refused is None else str(refused))
        elif solution.success:
            self._journal.fine("motion", state.value)
            self._publish(arm, DiagnosticStatus.OK, state.name, str(solution.reason))
        else:
            text = str(solution.reason)
            self._journal.trouble("motion", solution.verdict.name, text)
            self._publish(arm, DiagnosticStatus.WARN, state.name, text)

    def destroy(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)

    def _publish(self, arm: Arm, level: bytes, state: str, text: str) -> None:
        """Publish, unless the same was published just now."""
        now = time.monotonic()
        text = f"{arm.name}: {text}" if arm.name else text
        solution, targets, refusals = arm.pipeline.solution, arm.targets, arm.refusals
        key = (level, state, text, id(solution), id(targets.target), refusals.counts.total())
        if key == self._key and now - self._time < PERIOD:
            return
        self._key, self._time = key, now
        values = {"state": state, **_target_values(targets), **_solution_values(solution)}
        if refusals.last is not None:
            values["last_refusal"] = str(refusals.last)
        counts = sorted(refusals.counts.items())
        values.update({f"refused.{reason}": str(count) for reason, count in counts})
        self._publisher.publish(
            DiagnosticStatus(
                level=level,
                name=self._name,
                message=text,
                hardware_id=arm.model.name,
                values=[KeyValue(key=key, value=value) for key, value in values.items()],
            )
        )


def _target_values(targets: TargetInput) -> dict[str, str]:
    if targets.target is None:
        return {}
    seconds, nanoseconds = divmod(targets.target.stamp, 1_000_000_000)
    return {
        "target_frame": targets.target.frame_id,
        "target_stamp": f"{seconds}.{nanoseconds:09}",
    }


def _solution_values(solution: Solution | None) -> dict[str, str]:
    if solution is None:
        return {}
    return {
        "verdict": solution.verdict.name,
        "position_error": f"{solution.position_error:.9g}",
        "orientation_error": f"{solution.orientation_error:.9g}",
        "iterations": str(solution.iterations),
        **_reason_values(solution.reason),
    }


def _reason_values(reason: Reason) -> dict[str, str]:
    """Return what stood in the way, for a target that was not reached."""
    if reason.verdict is Verdict.REACHED:
        return {}
    values = {"missing_distance": f"{reason.missing:.9g}"}
    if reason.joint is not None:
        values["joint"] = reason.joint
    if reason.bound is not None:
        values["bound"] = f"{reason.bound:.9g}"
    return values

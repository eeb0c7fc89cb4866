"""The verdict of every solve, as a DiagnosticStatus."""

from __future__ import annotations

from collections import Counter

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from basis_ik.motion.admission import PoseTarget, Refused
from basis_ik.solvers.solve import Solution
from basis_ik.solvers.verdict import Reason, Verdict


def status_message(
    *,
    name: str,
    hardware_id: str,
    level: bytes,
    state: str,
    text: str,
    solution: Solution | None,
    target: PoseTarget | None,
    refusals: Counter[str],
    last_refusal: Refused | None,
) -> DiagnosticStatus:
    """Return the message; docs/interfaces.md describes its keys."""
    values = {"state": state}
    if target is not None:
        values["target_frame"] = target.frame_id
        seconds, nanoseconds = divmod(target.stamp, 1_000_000_000)
        values["target_stamp"] = f"{seconds}.{nanoseconds:09}"
    if solution is not None:
        values["verdict"] = solution.verdict.name
        values["position_error"] = f"{solution.position_error:.9g}"
        values["orientation_error"] = f"{solution.orientation_error:.9g}"
        values["iterations"] = str(solution.iterations)
        values.update(_reason_values(solution.reason))
    if last_refusal is not None:
        values["last_refusal"] = str(last_refusal)
    values.update({f"refused.{reason}": str(count) for reason, count in sorted(refusals.items())})
    return DiagnosticStatus(
        level=level,
        name=name,
        message=text,
        hardware_id=hardware_id,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


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

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The status of a chain: its state and the verdict of its last solve, as a DiagnosticStatus."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from rclpy.node import Node

from basis_ik.arm.admission import Refusals
from basis_ik.arm.arm import Arm
from basis_ik.arm.chain_state import LATCHES, State
from basis_ik.arm.goals import (
    ChunkGoal,
    JointGoal,
    JointVelocityGoal,
    MotionGoal,
    PointGoal,
    PoseGoal,
    TwistGoal,
)
from basis_ik.arm.target_input import Placed, TargetInput
from basis_ik.arm.targets import Target
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.journal import Journal
from basis_ik.solvers.pose.solve import Solution
from basis_ik.verdict import Reason, Verdict
from basis_ik.view.words import phase

STATUS_PERIOD = 0.5  # [s] between repetitions of an unchanged status
# Least time [s] between two statuses that differ only in target or solution. A stream of targets
# would otherwise cause hundreds of them per second.
STATUS_REFRESH = 0.05
LONGEST_STATUS = 400  # characters of the message; the values have each of its parts
INPUT_NAMES = {  # the active input
    PoseGoal: "pose",
    PointGoal: "point",
    TwistGoal: "twist",
    JointVelocityGoal: "joint_jog",
    JointGoal: "joint_positions",
    MotionGoal: "trajectory",
    ChunkGoal: "chunk",
}


class BesideGripper(Protocol):
    """The gripper beside an arm."""

    state: str
    """What it does, in one word; empty before the first command."""
    text: str
    """The same in words."""
    opening: float
    """What was commanded last, from 0, closed, to 1, open; NaN before that."""

    def move(self, opening: float) -> None:
        """Send it to a part of its way, unless that is refused: 0 closed, 1 open."""

    def watch(self) -> None:
        """Follow what becomes of it; called each period."""


class ReportedChain(Protocol):
    """What the status reports; implemented by `ChainController`."""

    journal: Journal
    gripper: BesideGripper | None

    @property
    def arm(self) -> Arm:
        """The arm."""

    @property
    def unheard(self) -> str:
        """Publishers whose messages do not arrive, and why; empty if there is none."""

    def resolve(self, name: str) -> str:
        """Return a private topic or service name of this chain."""


class StatusReport:
    """Publishes a chain's status when it changes, and at intervals.

    A new state, problem or refusal is published at once; a new target, solution or opening of the
    gripper within 0.05 s.

    Args:
        node: The node that publishes.
        chain: The chain.
    """

    def __init__(self, node: Node, chain: ReportedChain) -> None:
        self._node, self._chain, self._boundary = node, chain, boundary_of(node)
        self._journal = chain.journal
        self._name = f"{node.get_fully_qualified_name()}: {chain.arm.chain.tip}"
        self._publisher = node.create_publisher(DiagnosticStatus, chain.resolve("status"), 10)
        self._key: tuple[object, ...] = ()
        self._target: Target | None = None
        self._solution: Solution | None = None
        self._shown: tuple[str, Placed | None, float] = "", None, math.nan
        self._time = 0.0

    def publish(self) -> None:
        """Publish the chain's status, if it is due."""
        arm, unheard, gripper = self._chain.arm, self._chain.unheard, self._chain.gripper
        override = arm.settings.speed_override
        state, solution, refusal = arm.state, arm.pipeline.solution, arm.targets.refusal
        refusals, leads = arm.refusals.counts.total(), type(arm.pipeline.goal)
        problem = (
            state.why_not,
            arm.problem,
            arm.hindrance,
            arm.other_commander,
            refusals,
            unheard,
            arm.clutch.text,
            "" if gripper is None else gripper.state,
        )
        notice = _notice(arm)
        key = (state.state, *problem, override, arm.tool.frame, leads, notice)
        if not self._is_due(key):
            return
        if notice is None:
            self._journal.recovered("singularity", "the singularity is passed")
        level, text = DiagnosticStatus.OK, phase(state.state, arm.pipeline.goal)
        if state.state is State.WAITING:
            level = DiagnosticStatus.ERROR if arm.other_commander else DiagnosticStatus.WARN
            text = state.unmet
        elif state.state in LATCHES.values():
            stopped = state.state is State.STOPPED
            level = DiagnosticStatus.WARN if stopped else DiagnosticStatus.ERROR
            text = state.why_not
        elif arm.problem:
            level, text = DiagnosticStatus.WARN, arm.problem
        elif arm.hindrance:
            level, text = DiagnosticStatus.WARN, arm.hindrance
        elif notice is not None:
            level, text = DiagnosticStatus.WARN, str(notice)
            self._journal.warn("singularity", text.split(":")[0], text)
        elif arm.displaced:
            level, text = DiagnosticStatus.WARN, arm.displaced
        elif solution is not None and solution.success:
            text = f"{text}{solution.reason.allowed}"
            self._journal.recovered("motion", text)
        elif solution is not None:
            level, text = DiagnosticStatus.WARN, str(solution.reason)
            self._journal.warn("motion", solution.verdict.name, text)
        if override < 1.0:
            text = f"{text}; speed override is {override:.2g}"
        if override == 0.0:
            level = max(level, DiagnosticStatus.WARN)
        if arm.preview_text:
            text = f"{text}; {arm.preview_text}"
            if arm.rehearsal is not None and not arm.rehearsal.reached:
                level = max(level, DiagnosticStatus.WARN)
        if refusal is not None and not state.why_not:
            level = max(level, DiagnosticStatus.WARN)
            ago = f"{arm.refusals.age(refusal):.1f} s ago"
            text = f"{text}; the newest target was refused {ago}: {refusal.refused}"
        if gripper is not None and gripper.state == "FAILED":
            level, text = max(level, DiagnosticStatus.WARN), f"{text}; the gripper: {gripper.text}"
        if unheard:
            level, text = max(level, DiagnosticStatus.WARN), f"{text}; {unheard}"
        self._publish(level, state.state.name, text)

    def report_standstill(self, text: str) -> None:
        """Publish why simulated time stands still."""
        if self._is_due((text,)):
            self._publish(DiagnosticStatus.WARN, State.WAITING.name, text)

    def destroy(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)

    def _is_due(self, key: tuple[object, ...]) -> bool:
        """Return whether to publish a status with this key now; if so, store the key."""
        arm = self._chain.arm
        now, target, solution = self._boundary.steady(), arm.targets.target, arm.pipeline.solution
        gripper = self._chain.gripper
        opening = math.nan if gripper is None else gripper.opening
        shown = arm.preview_text, arm.targets.preview, opening
        same = target is self._target and solution is self._solution and shown == self._shown
        if key == self._key and now - self._time < (STATUS_PERIOD if same else STATUS_REFRESH):
            return False
        self._key, self._time, self._target, self._solution = key, now, target, solution
        self._shown = shown
        return True

    def _publish(self, level: bytes, state: str, text: str) -> None:
        arm, gripper = self._chain.arm, self._chain.gripper
        text = f"{arm.name}: {text}" if arm.name else text
        text = text if len(text) <= LONGEST_STATUS else f"{text[: LONGEST_STATUS - 3]}..."
        targets, refusals = arm.targets, arm.refusals
        values = {
            "state": state,
            "since": arm.state.why,
            "root_link": arm.chain.root,
            "tip_link": arm.chain.tip,
            "speed_override": f"{arm.settings.speed_override:g}",
            **_target_values(targets),
            **_solution_values(arm.pipeline.solution),
            **_distances(arm),
            **_preview_values(arm),
        }
        if targets.answer is not None:
            values["verdict"] = "REFUSED"
        if arm.tool.frame:
            values["tool_frame"] = arm.tool.frame
        if arm.pipeline.goal is not None:
            values["input"] = INPUT_NAMES[type(arm.pipeline.goal)]
        if arm.clutch.text:
            values["clutch"] = arm.clutch.text
        if gripper is not None:
            values |= {"gripper": gripper.state, "gripper_text": gripper.text}
            values["gripper_opening"] = f"{gripper.opening:g}"
        values |= refusal_values(refusals)
        message = DiagnosticStatus(
            level=level,
            name=self._name,
            message=text,
            hardware_id=arm.model.name,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        self._boundary.publish(self._publisher, message)


def _notice(arm: Arm) -> Reason | None:
    """Return the notice about a singularity, unless there is a more serious problem."""
    solution = arm.pipeline.solution
    moves = arm.state.state is State.MOVING and (solution is None or solution.success)
    return arm.pipeline.notice if moves else None


def refusal_values(refusals: Refusals) -> dict[str, str]:
    """Return what was accepted and refused, by input, as values of a status."""
    values = {f"accepted.{name}": str(count) for name, count in sorted(refusals.accepted.items())}
    for name, stamp in sorted(refusals.stamps.items()):
        values[f"last_accepted_stamp.{name}"] = _shown_stamp(stamp)
    for counts in (refusals.refused, refusals.counts):
        values |= {f"refused.{name}": str(count) for name, count in sorted(counts.items())}
    for name, refusal in sorted(refusals.last.items()):
        values[f"last_refusal.{name}"] = str(refusal.refused)
        values[f"last_refusal_age.{name}"] = f"{refusals.age(refusal):.3f}"
        if refusal.request.number:  # a target
            values[f"last_refusal_stamp.{name}"] = _shown_stamp(refusal.request.stamp)
    return values


def _target_values(targets: TargetInput) -> dict[str, str]:
    target = targets.target
    if target is not None:
        return {"target_frame": target.frame_id, "target_stamp": _shown_stamp(target.stamp)}
    return {"target_stamp": _shown_stamp(targets.stamp)} if targets.stamp else {}


def _shown_stamp(stamp: int) -> str:
    seconds, nanoseconds = divmod(stamp, 1_000_000_000)
    return f"{seconds}.{nanoseconds:09}"


def _solution_values(solution: Solution | None) -> dict[str, str]:
    if solution is None:
        return {}
    values = {
        "verdict": solution.verdict.name,
        "position_error": f"{solution.position_error:.9g}",
        "orientation_error": f"{solution.orientation_error:.9g}",
        "iterations": str(solution.iterations),
    }
    if solution.passes is not None:
        values["passes"] = str(solution.passes.count)
    return values | _reason_values(solution.reason)


def _preview_values(arm: Arm) -> dict[str, str]:
    waiting, found = arm.targets.preview, arm.rehearsal
    if waiting is None:
        return {}
    values = {"preview": arm.preview_text}
    if waiting.target is not None:
        values["preview_stamp"] = _shown_stamp(waiting.target.stamp)
    if found is not None and arm.preview.ready is waiting:
        verdict = Verdict.REACHED if found.solution is None else found.solution.verdict
        values["preview_verdict"] = verdict.name
        values["preview_duration"] = f"{found.duration:.2f}"
    return values


def _distances(arm: Arm) -> dict[str, str]:
    """Return the largest distance of a joint's command, and of a joint, from the goal."""
    if not arm.state.has_target:
        return {}
    pipeline, measured = arm.pipeline, arm.measured.positions()
    command = measured if pipeline.command is None else pipeline.command
    return {
        "command_distance": f"{np.abs(pipeline.missing(command)).max():.6g}",
        "arm_distance": f"{np.abs(pipeline.missing(measured)).max():.6g}",
    }


def _reason_values(reason: Reason) -> dict[str, str]:
    """Return the values that explain why a target was not reached."""
    if reason.verdict is Verdict.REACHED:
        return {}
    values = {"missing_distance": f"{reason.missing:.9g}", "proven": str(reason.proven).lower()}
    if reason.starts:
        values["starts"] = str(reason.starts)
    if reason.grid:
        values["grid"] = str(reason.grid)
    if reason.joint is not None:
        values["joint"] = reason.joint
    if reason.bound is not None:
        values["bound"] = f"{reason.bound:.9g}"
    return values

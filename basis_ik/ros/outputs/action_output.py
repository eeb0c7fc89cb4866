# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Output by the action FollowJointTrajectory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from basis_ik.arm.execution.goal_execution import GoalExecution
from basis_ik.arm.execution.messages import (
    CancelRequest,
    GoalFeedback,
    GoalOutcome,
    GoalRequest,
    GoalResult,
    Outgoing,
    StatusRequest,
)
from basis_ik.ros.action_forms import GOAL_END, GOAL_FEEDBACK, GOAL_RESPONSE
from basis_ik.ros.boundary import Form
from basis_ik.ros.convert import time_message
from basis_ik.ros.outputs.output import Output
from basis_ik.ros.outputs.trajectory_messages import to_point

OUTCOMES = {
    GoalStatus.STATUS_SUCCEEDED: GoalOutcome.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: GoalOutcome.ABORTED,
    GoalStatus.STATUS_CANCELED: GoalOutcome.CANCELED,
    GoalStatus.STATUS_UNKNOWN: GoalOutcome.UNKNOWN,
}


class ActionOutput(Output):
    """Sends goals to a joint_trajectory_controller, and tells its answers.

    Args:
        node: The node that owns the client.
        controller: Name of the controller.
        joint_names: The joints.

    Attributes:
        execution: Takes the answers; assigned before the first goal.
        flush: Sends what the execution then wants to send; assigned like it.
    """

    execution: GoalExecution
    flush: Callable[[], None]

    def __init__(self, node: Node, controller: str, joint_names: Sequence[str]) -> None:
        super().__init__(node)
        self._joint_names, self._clock = joint_names, node.get_clock()
        topic = f"{controller}/follow_joint_trajectory"
        self._client = ActionClient(node, FollowJointTrajectory, topic)
        self.name = node.resolve_service_name(topic)
        self._handles: dict[int, ClientGoalHandle] = {}  # by number, from the goal accepted last

    def complaint(self) -> str:
        """Return that the action's server is not there, or nothing; see `Output.complaint`."""
        ready = self._boundary.read(f"ready {self.name}", self._client.server_is_ready)
        return "" if ready else f"waiting for the action {self.name}"

    def send(self, outgoing: Outgoing) -> None:
        """Send a goal, or a request about one."""
        if isinstance(outgoing, GoalRequest):
            self._send_goal(outgoing)
        elif isinstance(outgoing, CancelRequest):
            self._handles[outgoing.number].cancel_goal_async()
        elif isinstance(outgoing, StatusRequest):
            callback = self._wrap(
                "known", outgoing.newest, functools.partial(self._on_status, outgoing), GOAL_END
            )
            self._handles[outgoing.number].get_result_async().add_done_callback(callback)

    def _send_goal(self, request: GoalRequest) -> None:
        held = request.held
        trajectory = JointTrajectory(joint_names=[*self._joint_names, *held.names])
        if request.stamp is not None:
            trajectory.header.stamp = time_message(round(1e9 * request.stamp))
        still = np.zeros(len(held.names))
        for when, *state in zip(*request.motion, strict=True):
            rest = (held.positions, still, still)
            point = to_point(*(np.append(each, own) for each, own in zip(state, rest, strict=True)))
            point.time_from_start = _duration_message(when)
            trajectory.points.append(point)
        goal, number = FollowJointTrajectory.Goal(trajectory=trajectory), request.number
        on_feedback = self._wrap(
            "feedback", number, functools.partial(self._on_feedback, number), GOAL_FEEDBACK
        )
        callback = self._wrap(
            "response", number, functools.partial(self._on_response, number), GOAL_RESPONSE
        )
        response = self._boundary.send(
            f"{self.name}/goal",
            trajectory,
            lambda: self._client.send_goal_async(goal, feedback_callback=on_feedback),
        )
        if response is not None:
            response.add_done_callback(callback)

    def _wrap(
        self, what: str, number: int, callback: Callable[[Any], None], form: Form
    ) -> Callable[[Any], None]:
        """Return a callback for an event of a goal; see `Boundary.wrap`."""
        return self._boundary.wrap(f"{what} {self.name} {number}", callback, form)

    def _on_response(self, number: int, response: Future) -> None:
        handle: Any = response.result()
        if handle.accepted:
            # Those before it are neither asked about nor canceled any more.
            later = {each: kept for each, kept in self._handles.items() if each > number}
            self._handles = {number: handle, **later}
            callback = self._wrap(
                "end", number, functools.partial(self._on_result, number), GOAL_END
            )
            handle.get_result_async().add_done_callback(callback)
        now = self._boundary.moment(self._clock)
        self.execution.take_answer(number, now, accepted=handle.accepted)
        self.flush()

    def _on_feedback(self, number: int, message: Any) -> None:
        told = message.feedback
        stamp = told.header.stamp
        when = stamp.sec + 1e-9 * stamp.nanosec if stamp.sec else None
        feedback = GoalFeedback(number, when, told.joint_names, told.desired.positions)
        self.execution.take_feedback(feedback, self._boundary.moment(self._clock))

    def _on_result(self, number: int, response: Future) -> None:
        end: Any = response.result()
        outcome = OUTCOMES.get(end.status, GoalOutcome.OTHER)
        result = GoalResult(number, outcome, end.result.error_string)
        self.execution.take_result(result, self._boundary.moment(self._clock))

    def _on_status(self, request: StatusRequest, response: Future) -> None:
        end: Any = response.result()
        if end.status == GoalStatus.STATUS_UNKNOWN:
            self.execution.take_unknown(request, self._boundary.moment(self._clock))

    def destroy(self) -> None:
        """Destroy the client."""
        self._client.destroy()


def _duration_message(time: float) -> Duration:
    seconds, nanoseconds = divmod(round(time * 1e9), 1_000_000_000)
    return Duration(sec=seconds, nanosec=nanoseconds)

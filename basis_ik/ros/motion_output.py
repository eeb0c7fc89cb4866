"""Whole motions for a controller that executes them: FollowJointTrajectory goals."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.limiter import Motion
from basis_ik.ros.trajectory_messages import to_point

ENDS = {
    GoalStatus.STATUS_ABORTED: "aborted",
    GoalStatus.STATUS_CANCELED: "canceled",
    GoalStatus.STATUS_UNKNOWN: "lost",
}


def motion_message(joint_names: Sequence[str], motion: Motion) -> JointTrajectory:
    """Return a motion as a trajectory that starts when it is received.

    The state at time zero is left out: the controller knows better where it is.
    """
    message = JointTrajectory(joint_names=list(joint_names))
    for time, *state in list(zip(*motion, strict=True))[1:]:
        point = to_point(*state)
        seconds, nanoseconds = divmod(round(time * 1e9), 1_000_000_000)
        point.time_from_start = Duration(sec=seconds, nanosec=nanoseconds)
        message.points.append(point)
    return message


class MotionOutput:
    """Sends each motion as one goal to a joint_trajectory_controller; a newer one replaces it.

    Args:
        node: The node that sends.
        controller: Name of the controller.
        joint_names: What is commanded, in the order of the motions.
        on_failure: Called with one line when the newest motion was not, or not wholly, executed.
    """

    def __init__(
        self,
        node: Node,
        controller: str,
        joint_names: Sequence[str],
        on_failure: Callable[[str], None],
    ) -> None:
        self._joint_names, self._on_failure = joint_names, on_failure
        topic = f"{controller}/follow_joint_trajectory"
        self._client = ActionClient(node, FollowJointTrajectory, topic)
        self.name = node.resolve_service_name(topic)
        self._newest = 0
        self._executing: ClientGoalHandle | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a controller."""
        return bool(self._client.server_is_ready())

    def send(self, motion: Motion) -> None:
        """Send a motion from where the joints are now commanded to be, to rest."""
        goal = FollowJointTrajectory.Goal(trajectory=motion_message(self._joint_names, motion))
        self._newest += 1
        answer = self._client.send_goal_async(goal)
        answer.add_done_callback(functools.partial(self._on_answer, self._newest))

    def destroy(self) -> None:
        """Give up the client; the controller finishes the motion that it has."""
        self._newest += 1  # no failure is news any more
        self._client.destroy()

    def _on_answer(self, number: int, answer: Future) -> None:
        handle: Any = answer.result()
        if handle.accepted:
            self._executing = handle
            handle.get_result_async().add_done_callback(functools.partial(self._on_end, number))
            return
        if number == self._newest and self._executing is not None:
            # The motion before goes on in the controller, and nobody wants it any more.
            self._executing.cancel_goal_async()
        self._fail(number, "the controller rejected the motion")

    def _on_end(self, number: int, answer: Future) -> None:
        end: Any = answer.result()
        if number == self._newest:
            self._executing = None
        if end.status != GoalStatus.STATUS_SUCCEEDED:
            what = ENDS.get(end.status, f"ended with status {end.status}")
            text = f"the motion was {what} by the controller: {end.result.error_string}"
            self._fail(number, text)

    def _fail(self, number: int, text: str) -> None:
        if number == self._newest:
            self._on_failure(text)

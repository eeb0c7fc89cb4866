# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The head action, control_msgs/PointHead, for any chain."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from builtin_interfaces.msg import Duration
from control_msgs.action import PointHead
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from rclpy.timer import Timer

from basis_ik.errors import BasisIkError
from basis_ik.motion.admission import Refused, admit_frame, admit_point
from basis_ik.motion.chain_state import State
from basis_ik.motion.goals import PointGoal, Ray
from basis_ik.motion.limits import MotionLimits
from basis_ik.motion.pace import Pace
from basis_ik.motion.pointing import STALL, Progress, pointing_error
from basis_ik.motion.targets import PointTarget, Target
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.frame_buffer import FrameBuffer, look_up_fixed
from basis_ik.ros.parameters.arm_parameters import pointing_ray, ray_of
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.periodic_spinner import Inputs
from basis_ik.ros.recording.action_forms import HEAD_GOAL, HEAD_HANDLE
from basis_ik.ros.sim_clock import loop_time

PERIOD = 0.05  # s between two checks of a goal's progress; each sends feedback
RESULT_TIMEOUT = 10  # s that a result is kept for late requests


class _Goal(NamedTuple):
    """The active goal. Its pace identifies its target; `before` is the target it replaced."""

    handle: ServerGoalHandle
    result: Future
    pace: Pace
    progress: Progress
    before: Target | None


class _Complaint(NamedTuple):
    """Why a goal is rejected: a reason from a small set, and a text in one line."""

    reason: str
    text: str


class PointHeadServer:
    """Serves `~/point_head_action` of one arm.

    The point becomes the arm's target, as if received by topic. While the goal is active, the arm
    follows the point's frame. A newer target, by action or by topic, replaces the goal.

    Args:
        node: The node that owns the action server.
        inputs: Its callback groups.
        arm: The arm that points.
        buffer: The node's transforms.
        parameters: The node's parameters.
    """

    def __init__(
        self, node: Node, inputs: Inputs, arm: ChainController, buffer: FrameBuffer,
        parameters: Parameters,
    ) -> None:  # fmt: skip
        self._node, self._inputs, self._arm = node, inputs, arm
        self._buffer, self._parameters = buffer, parameters
        self._goal: _Goal | None = None
        self._timer: Timer | None = None  # only while there is a goal: timers cost time per cycle
        self._boundary, name = boundary_of(node), arm.resolve("point_head_action")
        self._server = ActionServer(
            node,
            PointHead,
            name,
            execute_callback=self._result_of,
            goal_callback=self._boundary.wrap(f"goal {name}", self._on_goal, HEAD_GOAL),
            handle_accepted_callback=self._boundary.wrap(
                f"accepted {name}", self._on_accepted, HEAD_HANDLE
            ),
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            result_timeout=RESULT_TIMEOUT,
        )

    def destroy(self) -> None:
        """Abort the active goal, and destroy the server."""
        self._abort("UNLOADED", "the robot is being replaced")
        self._server.destroy()

    def _on_goal(self, request: PointHead.Goal) -> GoalResponse:
        complaint = self._complaint(request)
        journal = self._arm.journal
        if complaint is None:
            journal.recovered("point head", "head goals are valid again")
            return GoalResponse.ACCEPT
        reason, text = complaint
        journal.warn("point head", reason, f"head goal rejected: {text}")
        return GoalResponse.REJECT

    def _complaint(self, request: PointHead.Goal) -> _Complaint | None:
        """Return what is wrong with a goal, or None."""
        if self._arm.state.why_not:
            return _Complaint("INACTIVE", self._arm.state.why_not)
        point = request.target.point
        for refused in (
            admit_frame(request.target.header.frame_id),
            admit_point(point.x, point.y, point.z),
            self._ray(request),
        ):
            if isinstance(refused, Refused):
                return _Complaint(refused.reason.name, f"target: {refused}")
            if isinstance(refused, str):
                return _Complaint("BAD_RAY", refused)
        if not _seconds(request.min_duration) >= 0.0:
            text = f"min_duration is negative: {_seconds(request.min_duration)} s"
            return _Complaint("BAD_PACE", text)
        if not 0.0 <= request.max_velocity < math.inf:
            return _Complaint("BAD_PACE", f"max_velocity is {request.max_velocity} rad/s")
        return None

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        self._abort("REPLACED", "replaced by a newer goal")
        request, arm = handle.request, self._arm
        chain = arm.chain
        pace = Pace(
            speeds=MotionLimits.of_chain(chain).velocity,
            not_before=loop_time(self._node) + _seconds(request.min_duration),
            max_velocity=request.max_velocity or math.inf,
            turning=~chain.prismatic,
        )
        progress = Progress(since=pace.not_before)
        self._goal = _Goal(handle, Future(), pace, progress, arm.targets.newest)
        handle.execute(functools.partial(self._result_of, result=self._goal.result))
        message = request.target
        if not arm.targets.is_carried(message.header.frame_id):
            message.header.stamp.sec = message.header.stamp.nanosec = 0  # follow the frame
        ray = self._ray(request)
        if isinstance(ray, str) or not arm.look_at(message, ray, pace):
            self._abort("REFUSED", f"target refused: {arm.targets.last_refusal}")
            return
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._node.create_timer(PERIOD, self._check, clock=steady)

    async def _result_of(self, _: ServerGoalHandle, result: Future) -> PointHead.Result:
        self._inputs.awaiting += 1
        try:
            return await result
        finally:
            self._inputs.awaiting -= 1

    # While a goal is active ------------------------------------------------------------------

    def _check(self) -> None:
        """Publish the goal's progress, and end the goal when its result is known."""
        goal, arm = self._goal, self._arm
        if goal is None:
            return
        if self._boundary.read("cancel", lambda: goal.handle.is_cancel_requested):
            arm.targets.clear()
            goal.handle.canceled()
            self._finish("CANCELED", "canceled")
            return
        newest = arm.targets.newest
        if not (isinstance(newest, PointTarget) and newest.pace is goal.pace):
            self._abort(*self._why_lost(goal.before))
            return
        self._follow(goal)
        if arm.speed_override == 0.0:
            goal.progress.wait(loop_time(self._node))
        if self._goal is goal and goal.progress.stalled(loop_time(self._node)):
            arm.targets.clear()
            self._abort("STALLED", f"no nearer for {STALL:g} s{self._missed(goal)}")

    def _follow(self, goal: _Goal) -> None:
        """Check the progress of a goal whose target the arm follows."""
        arm, now = self._arm, loop_time(self._node)
        point_goal, solution = arm.pipeline.goal, arm.pipeline.solution
        if not (isinstance(point_goal, PointGoal) and point_goal.pace is goal.pace):
            return  # no transform of the frame yet, or no joint states
        measured = arm.measured.positions()
        error = pointing_error(arm.chain.forward(measured), point_goal.ray, point_goal.root_point)
        goal.progress.observe(error, float(abs(arm.pipeline.remaining(measured)).max()), now)
        goal.handle.publish_feedback(PointHead.Feedback(pointing_angle_error=error))
        if error <= self._parameters["success_angle_threshold"] and now >= goal.pace.not_before:
            arm.targets.put(point_goal)  # stop following the frame
            goal.handle.succeed()
            self._finish("SUCCEEDED", "succeeded")
        elif solution is not None and not solution.success and arm.state.state is State.ARRIVED:
            arm.targets.put(point_goal)
            text = f"the best effort is {error:.4g} rad off: {solution.reason}"
            self._abort("UNREACHABLE", text)

    def _missed(self, goal: _Goal) -> str:
        """Return a text with the progress of a goal."""
        if not math.isfinite(goal.progress.angle):
            return f": {self._arm.problem or 'not begun'}"
        solution = self._arm.pipeline.solution
        why = "" if solution is None or solution.success else f": {solution.reason}"
        return f", {goal.progress.angle:.4g} rad off at best{why}"

    def _why_lost(self, before: Target | None) -> tuple[str, str]:
        """Return why the arm has another target than the goal's, given the one before it."""
        arm = self._arm
        if arm.state.latch is not None or not arm.state.active:
            return "STOPPED", arm.state.why_not
        if arm.problem:
            return "CONTROLLER", arm.problem
        if arm.targets.newest is before and arm.targets.last_refusal is not None:
            return "REFUSED", f"target refused: {arm.targets.last_refusal}"
        return "REPLACED", "replaced by another target"

    def _abort(self, reason: str, why: str) -> None:
        if self._goal is not None:
            self._goal.handle.abort()
            self._finish(reason, f"aborted: {why}")

    def _finish(self, reason: str, text: str) -> None:
        """Send the result of a goal with a final state."""
        if self._goal is not None:
            self._goal.result.set_result(PointHead.Result())
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        self._goal = self._timer = None
        self._arm.journal.info("head goal", reason, f"head goal {text}")

    def _ray(self, request: PointHead.Goal) -> Ray | str:
        """Return the ray of a goal, in tip coordinates, or why it is invalid."""
        arm, frame = self._arm, request.pointing_frame
        axis = request.pointing_axis.x, request.pointing_axis.y, request.pointing_axis.z
        if not all(map(math.isfinite, axis)):
            return f"pointing_axis is {axis}"
        if not frame and not any(axis):
            return arm.ray
        given = axis if any(axis) else ()
        frame = frame or arm.model.link(arm.own("pointing_frame")) or arm.tip
        try:
            if frame in arm.model.links:
                return pointing_ray(arm.model, arm.chain, given, frame)
            tip_T_frame = look_up_fixed(self._buffer, arm.tip, frame)
            if isinstance(tip_T_frame, Refused):
                return f"pointing_frame: {tip_T_frame}"
            return ray_of(tip_T_frame, given, frame)
        except BasisIkError as error:
            return f"pointing_frame: {error}"


def _seconds(duration: Duration) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)

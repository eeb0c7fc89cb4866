# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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

from basis_ik.arm.admission import LastRefusal, Refusal, Refused, admit_frame, admit_point
from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import PointGoal, Ray
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pace import Pace
from basis_ik.arm.pointing import STALL_TIME, Progress, pointing_error
from basis_ik.arm.targets import PointTarget, Target
from basis_ik.errors import BasisIkError
from basis_ik.ros.action_forms import HEAD_GOAL, HEAD_HANDLE
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.convert import frame_stamp
from basis_ik.ros.frame_buffer import FrameBuffer, look_up_fixed
from basis_ik.ros.parameters.arm_parameters import pointing_ray, ray_of
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.periodic_spinner import Inputs
from basis_ik.ros.qos import RESULT_TIMEOUT
from basis_ik.ros.sim_clock import loop_time

HEAD_ACTION = "point_head_action"
HEAD_PERIOD = 0.05  # [s] between two checks of a goal's progress; each sends feedback


class _Goal(NamedTuple):
    """The active goal. Its pace identifies its target.

    `before` is the target that it replaced, and `refusal` the last refusal of a goal before it.
    """

    handle: ServerGoalHandle
    result: Future
    pace: Pace
    progress: Progress
    before: Target | None
    refusal: LastRefusal | None


class PointHeadServer:
    """Serves `~/point_head_action` of one arm.

    The point becomes the arm's target, as if received by topic. While the goal is active, the arm
    follows the point's frame. A newer target, by action or by topic, replaces the goal.

    Args:
        node: The node that owns the action server.
        inputs: Its callback groups.
        controller: Of the arm that points.
        buffer: The node's transforms.
        parameters: The node's parameters.
    """

    def __init__(
        self, node: Node, inputs: Inputs, controller: ChainController, buffer: FrameBuffer,
        parameters: Parameters,
    ) -> None:  # fmt: skip
        self._node, self._inputs = node, inputs
        self._controller, self._arm = controller, controller.arm
        self._buffer, self._parameters = buffer, parameters
        self._goal: _Goal | None = None
        self._timer: Timer | None = None  # only while there is a goal: timers cost time per cycle
        self._boundary, name = boundary_of(node), controller.resolve(HEAD_ACTION)
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
        refused = self._refused(request)
        journal, targets = self._controller.journal, self._arm.targets
        if refused is None:
            journal.recovered("point head", "head goals are valid again")
            return GoalResponse.ACCEPT
        self._arm.refusals.add(
            refused, targets.request(HEAD_ACTION, frame_stamp(request.target.header))
        )
        own = refused.reason in (Refusal.NOT_READY, Refusal.BAD_GOAL)
        text = refused.detail if own else f"target: {refused}"
        reason = f"{refused.reason.name} {text.split()[0]}"
        journal.warn("point head", reason, f"head goal rejected: {text}")
        return GoalResponse.REJECT

    def _refused(self, request: PointHead.Goal) -> Refused | None:
        """Return why a goal is rejected, or None."""
        if self._arm.state.why_not:
            return Refused(Refusal.NOT_READY, self._arm.state.why_not)
        point = request.target.point
        for refused in (
            admit_frame(request.target.header.frame_id),
            admit_point(point.x, point.y, point.z),
            self._ray(request),
        ):
            if isinstance(refused, Refused):
                return refused
            if isinstance(refused, str):
                return Refused(Refusal.BAD_GOAL, refused)
        if not _seconds(request.min_duration) >= 0.0:
            text = f"min_duration is negative: {_seconds(request.min_duration)} s"
            return Refused(Refusal.BAD_GOAL, text)
        if not 0.0 <= request.max_velocity < math.inf:
            return Refused(Refusal.BAD_GOAL, f"max_velocity is {request.max_velocity} rad/s")
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
        before, refusal = arm.targets.newest, arm.refusals.last.get(HEAD_ACTION)
        self._goal = _Goal(handle, Future(), pace, progress, before, refusal)
        handle.execute(functools.partial(self._result_of, result=self._goal.result))
        message = request.target
        if not arm.targets.is_carried(message.header.frame_id):
            message.header.stamp.sec = message.header.stamp.nanosec = 0  # follow the frame
        ray = self._ray(request)
        if isinstance(ray, str) or not self._controller.look_at(message, ray, pace):
            self._abort("REFUSED", self._why_refused(self._goal))
            return
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._node.create_timer(HEAD_PERIOD, self._check, clock=steady)

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
            self._abort(*self._why_lost(goal))
            return
        self._follow(goal)
        if arm.settings.speed_override == 0.0 or arm.hindrance:
            goal.progress.wait(loop_time(self._node))
        if self._goal is goal and goal.progress.stalled(loop_time(self._node)):
            arm.targets.clear()
            self._abort("STALLED", f"no nearer for {STALL_TIME:g} s{self._missed(goal)}")

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
            arm.targets.stop_following(point_goal)
            goal.handle.succeed()
            self._finish("SUCCEEDED", "succeeded")
        elif solution is not None and not solution.success and arm.state.state is State.ARRIVED:
            arm.targets.stop_following(point_goal)
            text = f"the best effort is {error:.4g} rad off: {solution.reason}"
            self._abort("UNREACHABLE", text)

    def _missed(self, goal: _Goal) -> str:
        """Return a text with the progress of a goal."""
        if not math.isfinite(goal.progress.angle):
            return f": {self._arm.problem or 'not begun'}"
        solution = self._arm.pipeline.solution
        why = "" if solution is None or solution.success else f": {solution.reason}"
        return f", {goal.progress.angle:.4g} rad off at best{why}"

    def _why_lost(self, goal: _Goal) -> tuple[str, str]:
        """Return why the arm has another target than the goal's."""
        arm = self._arm
        if arm.state.latch is not None or not arm.state.active:
            return "STOPPED", arm.state.why_not
        if arm.problem:
            return "CONTROLLER", arm.problem
        refused = self._why_refused(goal)
        if arm.targets.newest is goal.before and refused:
            return "REFUSED", refused
        return "REPLACED", "replaced by another target"

    def _why_refused(self, goal: _Goal) -> str:
        """Return why a goal's target was refused; empty if it was not."""
        refusal = self._arm.refusals.last.get(HEAD_ACTION)
        if refusal is None or refusal is goal.refusal:
            return ""
        return f"target refused: {refusal.refused}"

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
        self._controller.journal.info("head goal", reason, f"head goal {text}")

    def _ray(self, request: PointHead.Goal) -> Ray | str:
        """Return the ray of a goal, in tip coordinates, or why it is invalid."""
        arm, frame = self._arm, request.pointing_frame
        axis = request.pointing_axis.x, request.pointing_axis.y, request.pointing_axis.z
        if not all(map(math.isfinite, axis)):
            return f"pointing_axis is {axis}"
        if not frame and not any(axis):
            return arm.ray
        given = axis if any(axis) else ()
        frame = frame or arm.model.link(self._controller.own("pointing_frame")) or arm.chain.tip
        try:
            if frame in arm.model.links:
                return pointing_ray(arm.model, arm.chain, given, frame)
            tip_T_frame = look_up_fixed(self._buffer, arm.chain.tip, frame)
            if isinstance(tip_T_frame, Refused):
                return f"pointing_frame: {tip_T_frame}"
            return ray_of(tip_T_frame, given, frame)
        except BasisIkError as error:
            return f"pointing_frame: {error}"


def _seconds(duration: Duration) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)

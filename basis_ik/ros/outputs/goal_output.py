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

"""Sends whole motions as goals of the action FollowJointTrajectory."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.limiter import Motion
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pipeline import Phase, Pipeline
from basis_ik.ros.boundary import Form, Moment
from basis_ik.ros.convert import time_message
from basis_ik.ros.outputs.controller_state import PAUSED, ControllerState
from basis_ik.ros.outputs.output import Output, OutputOptions
from basis_ik.ros.outputs.trajectory_messages import to_point
from basis_ik.ros.recording.action_forms import END, FEEDBACK, RESPONSE

# s after which feedback is too old to give the controller's position within a motion.
FEEDBACK_TIMEOUT = 0.5
ENDS = {
    GoalStatus.STATUS_ABORTED: "aborted",
    GoalStatus.STATUS_CANCELED: "canceled",
    GoalStatus.STATUS_UNKNOWN: "lost",
}


class FollowJointTrajectoryOutput(Output):
    """Sends each motion as one goal to a joint_trajectory_controller; a newer one replaces it.

    A motion ends with the controller's result. A new one begins at the controller's reported
    position within the current one, which may be slower than planned.

    Args:
        options: The arguments of all outputs.
    """

    streams = False

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options.node)
        self._joint_names, self._lag = options.joint_names, options.lag
        self._resumes = options.resume_after_pause
        self._clock = options.node.get_clock()
        topic = f"{options.controller}/follow_joint_trajectory"
        self._client = ActionClient(options.node, FollowJointTrajectory, topic)
        self.name = options.node.resolve_service_name(topic)
        self._state = ControllerState(options.node, options.controller, options.joint_names)
        self._phase, self._ordered = Phase.IDLE, False
        self._override, self._halted = 1.0, False  # of the current motion; whether it is 0
        self._newest, self._accepted, self._canceled = 0, 0, False
        self._handle: ClientGoalHandle | None = None
        self._motion: Motion | None = None
        self._progress = Progress(0.0, 0.0, 1.0, -math.inf)
        self._queried_at = -math.inf  # ROS time [s] of the last query to a silent controller
        # ROS time [s] since which the motion may have begun; infinite after the first feedback.
        self._begun_since = math.inf

    def _check(self) -> str:
        if not self._is_ready():
            return f"waiting for the action {self.name}"
        self.is_silent = self._state.is_silent
        return self._state.unmet(waits=self._resumes)

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; see `Output.hindrance`."""
        return PAUSED if self._state.stands else ""

    def excuse(self, until: float) -> None:
        """Do not take the controller for silent until then; see `Output.excuse`."""
        self._state.excuse(until)

    def on_clock_jump(self) -> None:
        """Discard all times; see `Output.on_clock_jump`."""
        super().on_clock_jump()
        self._state.on_clock_jump()

    def end_of_motion(self, pipeline: Pipeline) -> FloatArray | None:
        """Return where the motion ends (n,); see `Output.end_of_motion`."""
        return None if self._motion is None else self._motion.positions[-1]

    def _is_ready(self) -> bool:
        return self._boundary.read(f"ready {self.name}", self._client.server_is_ready)

    def begin(self) -> None:
        """Send a motion to the new goal in the next period."""
        super().begin()
        self._ordered = True

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest: along its motion if its position within it is known."""
        pipeline.rest()
        self._ordered = False
        if self._motion is None:
            self._phase = Phase.IDLE
        elif self._phase is not Phase.BRAKING:
            self._phase = Phase.BRAKING
            start = None if self._state.stands else self._where()
            braking = None if start is None else pipeline.plan(start, braking=True)
            if braking is None:
                self._cancel()
            else:
                self._send(braking)

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Make the controller hold the arm at its current position; see `Output.hold`."""
        pipeline.rest()
        self._ordered = False
        self._phase = Phase.IDLE if self._motion is None else Phase.BRAKING
        self._cancel()

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send a motion if one is due; see `Output.advance`."""
        if self._motion is not None and not self._is_ready():
            self._lose_motion("the controller is gone")
        elif self._motion is not None:
            self._query_status(now)
        if pipeline.speed_override != self._override:
            self._override = pipeline.speed_override
            self._ordered = self._ordered or self._phase is Phase.MOVING
        # A motion that is being canceled must end first; one that was just sent must begin first.
        ending = self._canceled and self._motion is not None
        beginning = 0.0 <= 1e-9 * now.clock - self._begun_since <= FEEDBACK_TIMEOUT
        if self._ordered and not ending and not beginning:
            self._ordered, self._halted = False, self._override == 0.0
            start = self._where()
            if start is None and self._halted and self._motion is not None:
                self._cancel()
                return self._phase
            if start is None:
                start = np.zeros((len(measured), 3))
                start[:, 0] = measured
            motion = pipeline.plan(start, braking=False)
            if motion is None:
                self._phase = Phase.UNSAFE
            elif len(motion.times) == 1:
                self._phase = Phase.MOVING if self._halted else Phase.ARRIVED
            else:
                self._phase = Phase.MOVING
                self._send(motion)
        return self._phase

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Output.expected`."""
        if self._motion is None or self._accepted != self._newest:
            return None  # until it accepts a motion, the controller continues the previous one
        progress, clock = self._progress, 1e-9 * now.clock
        until = progress.now(clock, self._motion.times[-1])
        known = clock - progress.received_at <= FEEDBACK_TIMEOUT
        # Without feedback the controller may be anywhere within the motion.
        since = max(until - self._lag - age, 0.0) if known else 0.0
        times = self._motion.times
        # The acceptance arrives after the motion has begun.
        until = min(max(until, clock - self._begun_since), times[-1])
        part = self._motion.positions[(times >= since) & (times <= until)]
        ends = [self._motion.at(since)[:, 0], self._motion.at(until)[:, 0]]
        return np.vstack([part, *ends])

    def end(self, pipeline: Pipeline) -> None:
        """Make the controller stop."""
        self._cancel()

    def destroy(self) -> None:
        """Destroy the client; a controller that brakes continues to do so."""
        self._newest += 1  # ignore all results
        if self._phase is not Phase.BRAKING:
            self._cancel()
        self._client.destroy()
        self._state.destroy()

    def _now(self) -> float:
        return 1e-9 * float(self._boundary.clock(self._clock))

    def _where(self) -> FloatArray | None:
        """Return the controller's current state (n, 3); None if it is not known."""
        if self._motion is None or self._now() - self._progress.received_at > FEEDBACK_TIMEOUT:
            return None
        if self._begun_since < math.inf:
            return None  # its start time in the controller is not known
        return self._motion.at(self._progress.now(self._now(), self._motion.times[-1]))

    def _send(self, motion: Motion) -> None:
        stamp = self._boundary.clock(self._clock)
        trajectory = JointTrajectory(joint_names=list(self._joint_names))
        from_rest = not (motion.velocities[0].any() or motion.accelerations[0].any())
        # From rest, it begins when the controller accepts it, however late. In mid-motion the arm
        # moves on until then, and the stamp aligns the new motion with the old one.
        if not from_rest:
            trajectory.header.stamp = time_message(stamp)
        for when, *state in zip(*motion, strict=True):
            point = to_point(*state)
            point.time_from_start = _duration_message(when)
            trajectory.points.append(point)
        self._newest, self._canceled = self._newest + 1, False
        self._motion = motion
        rate = 0.0 if from_rest else self._state.speed_scaling
        self._begun_since = 1e-9 * stamp if from_rest else math.inf
        self._progress = Progress(1e-9 * stamp, 0.0, rate, 1e-9 * stamp)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory)
        on_feedback = self._wrap("feedback", self._newest, self._on_feedback, FEEDBACK)
        callback = self._wrap("response", self._newest, self._on_goal_response, RESPONSE)
        response = self._boundary.send(
            f"{self.name}/goal",
            trajectory,
            lambda: self._client.send_goal_async(goal, feedback_callback=on_feedback),
        )
        if response is not None:
            response.add_done_callback(callback)
        self.sent += 1

    def _wrap(
        self, what: str, number: int, callback: Callable[[int, Any], None], form: Form
    ) -> Callable[[Any], None]:
        """Return a callback for an event of a motion; see `Boundary.wrap`."""
        name = f"{what} {self.name} {number}"
        return self._boundary.wrap(name, functools.partial(callback, number), form)

    def _cancel(self) -> None:
        """Cancel the current motion, even if it is not accepted yet."""
        self._canceled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def _query_status(self, now: Moment) -> None:
        """Query the result of the motion from a controller that has sent no feedback for long.

        A controller that was restarted does not know the motion, and will never report its end.
        """
        clock = 1e-9 * now.clock
        known = 0.0 <= clock - self._progress.received_at <= FEEDBACK_TIMEOUT
        queried = 0.0 <= clock - self._queried_at <= FEEDBACK_TIMEOUT
        if known or queried or self._state.silence(now.clock) > 0.0:
            return
        self._queried_at = clock
        if self._handle is not None:
            on_response = functools.partial(self._on_status_response, self._handle)
            callback = self._wrap("known", self._newest, on_response, END)
            self._handle.get_result_async().add_done_callback(callback)
        elif self._canceled:  # if it is accepted later, it is canceled then
            self._lose_motion("the controller has not responded")

    def _on_status_response(self, handle: ClientGoalHandle, number: int, response: Future) -> None:
        """Handle a response to `_query_status`; `_on_end` gets all results of known motions."""
        end: Any = response.result()
        is_newest = number == self._newest and handle is self._handle
        if is_newest and end.status == GoalStatus.STATUS_UNKNOWN:
            self._lose_motion("the controller was restarted")

    def _on_goal_response(self, number: int, response: Future) -> None:
        handle: Any = response.result()
        if handle.accepted:
            callback = self._wrap("end", number, self._on_end, END)
            handle.get_result_async().add_done_callback(callback)
            if number == self._newest:
                self._handle, self._accepted = handle, number
                if self._begun_since < math.inf:
                    now = self._now()
                    self._progress = Progress(now, 0.0, self._state.speed_scaling, now)
            if number != self._newest or self._canceled:
                handle.cancel_goal_async()
            return
        if number == self._newest:
            # The controller continues the previous motion, which is obsolete.
            self._cancel()
            self._fail("the controller rejected the motion")

    def _on_feedback(self, number: int, message: Any) -> None:
        if number == self._newest and self._motion is not None:
            desired = np.array(message.feedback.desired.positions)
            if desired.shape == self._motion.positions[0].shape and np.isfinite(desired).all():
                stamp = message.feedback.header.stamp
                when = stamp.sec + 1e-9 * stamp.nanosec if stamp.sec else self._now()
                self._progress = self._progress.updated(when, self._motion, desired)
                self._begun_since = math.inf

    def _on_end(self, number: int, response: Future) -> None:
        if number != self._newest:
            return
        end: Any = response.result()
        self._handle = self._motion = None
        self._begun_since = math.inf
        if self._phase is Phase.BRAKING:
            self._phase = Phase.IDLE
        elif self._halted and end.status in (
            GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED,
        ):  # fmt: skip
            self._phase = Phase.MOVING  # it continues once the override is above 0
        elif end.status == GoalStatus.STATUS_SUCCEEDED:
            self._phase, self.failure = Phase.ARRIVED, ""
        else:
            what = ENDS.get(end.status, f"ended with status {end.status}")
            self._fail(f"the motion was {what} by the controller: {end.result.error_string}")

    def _lose_motion(self, text: str) -> None:
        self._newest += 1  # its result will never arrive
        self._handle = None
        self._fail(text)

    def _fail(self, text: str) -> None:
        self._motion, self._begun_since = None, math.inf
        self._phase, self.failure = Phase.IDLE, text


class Progress(NamedTuple):
    """Progress of a controller within a motion, and its rate."""

    when: float
    """ROS time of the feedback [s]."""
    elapsed: float
    """Time within the motion at that feedback [s]."""
    rate: float
    """Time within the motion per second."""
    received_at: float
    """ROS time of the last feedback [s]."""

    def now(self, now: float, end: float) -> float:
        """Return the current time within the motion [s], at most `end`."""
        return min(max(self.elapsed + self.rate * (now - self.when), 0.0), end)

    def updated(self, when: float, motion: Motion, desired: FloatArray) -> Progress:
        """Return the progress after feedback with the desired state at a time."""
        elapsed, rate = motion.nearest(desired, self.elapsed), self.rate
        if when - self.when > 0.0:
            rate = min((elapsed - self.elapsed) / (when - self.when), 1.0)
        return Progress(when, elapsed, rate, when)


def _duration_message(time: float) -> Duration:
    seconds, nanoseconds = divmod(round(time * 1e9), 1_000_000_000)
    return Duration(sec=seconds, nanosec=nanoseconds)

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

"""Streams windows of a trajectory to a joint_trajectory_controller."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.limiter import AHEAD, LEAD, MOST_POINTS, WIDEST, Motion, stride_of
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pipeline import Phase, Pipeline
from basis_ik.ros.boundary import Moment
from basis_ik.ros.outputs.controller_state import CLOCK_AHEAD, CONTROLLER_TIMEOUT, ControllerState
from basis_ik.ros.outputs.output import MOVED_AWAY, OutputOptions
from basis_ik.ros.outputs.replacement_rule import ReplacementRule
from basis_ik.ros.outputs.stream_output import StreamOutput
from basis_ik.ros.outputs.trajectory_messages import SerializedTrajectory

# rad or m: a controller whose reference is farther than this from its stream was restarted.
ELSEWHERE = 0.005
ACCEPTED = 1e-4  # rad or m: a controller whose reference is closer to a command has accepted it
RESUMPTION = 50_000_000  # ns for which the controller must publish before the stream resumes
EARLY = 3_000_000  # ns by which a stream's first stamp is in the past
FULL_SPEED = 0.999  # a larger speed scaling counts as full speed
INSISTENCE = 3.0  # s for which the arm's position is sent to a controller that does not take it
NARROWEST = 0.01  # s: least spacing of final commands, so that 10 ms of delay change nothing
LONG_AGO = -(10**18)  # ns
TRANSIT = 5_000_000  # ns that a window may need until the controller has taken it


class TrajectoryOutput(StreamOutput):
    """Streams windows of a trajectory that a joint_trajectory_controller follows smoothly.

    A window begins in the past, so that the controller does not interpolate to it. It contains the
    next commands, which no later window changes, and ends with braking to rest: an arm that
    receives no more windows brakes by itself. A window is sent each time the first of these
    commands is due, and begins with it, however late the loop is.

    The stamp is the beginning, if the controller counts the stamp alone. With the other rule it
    must be ahead when the window arrives, and the running window must have no point until then:
    that point would be led to from the measured state, a cycle late. So the stamp is the running
    window's next point, and points are far enough apart. The first rule makes the same of it.

    Args:
        options: As of every output.
    """

    def __init__(self, options: OutputOptions) -> None:
        most = LEAD * stride_of(WIDEST, options.period)
        topic = f"{options.controller}/joint_trajectory"
        super().__init__(options, JointTrajectory, topic, earliest=most)
        self._state = ControllerState(options.node, options.controller, options.joint_names)
        self._rule = ReplacementRule(
            options.node, options.controller, options.trajectory_replacement
        )
        self._by_stamp, self._stride = False, 1  # of the current motion
        self._waits = False  # whether the last period was too late to send a window
        counts = range(1, 1 + MOST_POINTS)
        self._messages = [SerializedTrajectory(self._joint_names, count) for count in counts]
        self._stamp = 0  # beginning of the next window [ns]
        self._clock = 0  # ROS time of this period [ns]
        self._is_first_window, self._periods = True, 0
        self._window: Motion | None = None  # the last one sent, which the controller follows
        self._window_stamp = 0  # its beginning [ns]
        self._unsent = False  # whether the pipeline has advanced without sending a window
        self._changed = False  # whether the goal has changed since the last window
        self._paused_until = -math.inf  # ROS time [ns] before which nothing is sent
        self._insists_until = -math.inf  # loop time [s] until which a hold is repeated
        self._slow_at = LONG_AGO  # last ROS time at which the controller scaled its speed [ns]
        self._held = np.zeros(len(self._joint_names), bool)  # joints held where they are measured

    def _check(self) -> str:
        self._rule.ask()
        unmet = super()._check() or self._state.unmet()
        is_slow = self._is_slow(self._boundary.clock(self._node.get_clock()))
        if not unmet and self._state.speed_scaling < FULL_SPEED:
            return (
                f"the controller scales its speed to {self._state.speed_scaling:.2g}, which a "
                "stream does not follow; set command_interface to follow_joint_trajectory"
            )
        if not unmet and is_slow:
            return "the controller still ends the motion during which it scaled its speed"
        return unmet

    def on_clock_jump(self) -> None:
        """Discard all times; see `Output.on_clock_jump`."""
        super().on_clock_jump()
        self._state.on_clock_jump()

    def controller_reference(self) -> FloatArray | None:
        """Return the controller's reference; see `Output.controller_reference`."""
        return self._state.reference(self._joint_names)

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller holds a command; it may have refused the last window."""
        reference = self.controller_reference()
        return reference is not None and bool((np.abs(reference - command) <= ACCEPTED).all())

    def begin(self) -> None:
        """Start a motion to a new goal."""
        super().begin()
        self._changed = True

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        super().brake(pipeline, quickest=quickest)
        self._changed = True

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send the next window, unless the controller is silent or slow; see `Output.advance`.

        Without windows the controller brakes by itself. One that was switched off would jump to the
        next window, so nothing is sent until it has published its state for a while. One that
        scales its speed is behind in each window, and would jump into the next one.
        """
        if self._is_slow(now.clock):
            if self._has_ended():  # at a factor of 0 it stands, but has a way left
                pipeline.rest()
            self._paused_until = now.clock + RESUMPTION
            return pipeline.phase
        silence = self._state.silence(now.clock)
        if silence > 0.0:
            self._paused_until = now.clock + RESUMPTION
            if silence > CONTROLLER_TIMEOUT:
                pipeline.rest()
            return pipeline.phase
        if now.clock < self._paused_until <= now.clock + RESUMPTION:
            return pipeline.phase
        if now.loop < self._insists_until:
            self._insist(pipeline, measured)
        if self._paused_until > -math.inf:
            self._paused_until = -math.inf
            if self._was_restarted(pipeline, now):
                return pipeline.phase
        return super().advance(pipeline, measured, now)

    def _is_slow(self, clock: int) -> bool:
        """Return whether the controller scales its speed, or is still behind because it did.

        Args:
            clock: ROS time [ns].
        """
        window = 0 if self._window is None else round(1e9 * self._window.times[-1])
        if self._state.speed_scaling < FULL_SPEED:
            self._slow_at = clock
            return True
        return 0 <= clock - self._slow_at <= window

    def _has_ended(self) -> bool:
        """Return whether the controller is at the end of the last window."""
        return self._window is None or self.keeps(self._window.positions[-1])

    def _insist(self, pipeline: Pipeline, measured: FloatArray) -> None:
        """Repeat a hold until the controller has taken it, unless a held joint has been moved.

        A controller without a processor refuses what is over when it comes, and keeps the window
        before it: the arm would leap to the end of that one when a blocked joint gets free.
        """
        command, braking = pipeline.command, pipeline.phase is Phase.BRAKING
        known = self.controller_reference() is not None
        if command is not None and braking and known and not self.keeps(command):
            there = np.abs(measured - command)[self._held] <= MOVED_AWAY  # not if NaN
            if there.all():
                pipeline.repeat_command()
                return
        self._insists_until = -math.inf

    def _was_restarted(self, pipeline: Pipeline, now: Moment) -> bool:
        """Return whether the controller has left its stream because it was restarted.

        In that case it must hold its position, and the target is dropped.
        """
        positions, window = self._state.reference(self._joint_names), self._window
        if pipeline.command is None or positions is None or window is None:
            return False
        if now.loop < self._insists_until:  # it keeps an older window's end instead of a hold
            return False
        elapsed = 1e-9 * (self._state.stamp - self._window_stamp)
        if elapsed < self.early * self._period:  # it may not have received the window yet
            return False
        states = window.at(elapsed)
        tolerance = ELSEWHERE + CLOCK_AHEAD * np.abs(states[:, 1])
        if (np.abs(positions - states[:, 0]) <= tolerance).all():
            return False
        states[:, 0], states[:, 1:] = positions, 0.0
        pipeline.go_on(states)
        self._recent.clear()
        self._begin_at(now.clock)
        self._unmet = "the controller was restarted: it was not active for a moment"
        self._looked_at = self._boundary.steady()
        return True

    @property
    def early(self) -> int:
        """Number of periods from a window's beginning to its last final command."""
        return LEAD * self._stride

    def _restart(self, now: Moment) -> None:
        self._by_stamp = self._rule.by_stamp
        self._stride = stride_of(NARROWEST if self._by_stamp else WIDEST, self._period)
        # A loop that is slightly late or early must still send one command per period.
        self._begin_at(now.clock - EARLY)
        # It begins with a rest, so that a window that arrives late is not entered in motion.
        self._periods -= self._stride
        self._window, self._clock, self._slow_at = None, now.clock, LONG_AGO

    def _begin_at(self, stamp: int) -> None:
        """Start the next window at a time [ns], with the pipeline's current state."""
        self._stamp, self._is_first_window, self._periods = stamp, True, self.early

    def _is_due(self, pipeline: Pipeline, now: Moment) -> bool:
        if self._unsent:  # an error ended the last period early
            pipeline.go_on(self._state_at(now, pipeline))
            self._begin_at(now.clock)
        before, self._clock = self._clock, now.clock
        if self._is_first_window:
            return True
        elapsed = now.clock - self._window_stamp
        period = round(self._period * 1e9)
        self._periods = elapsed // (period * self._stride) * self._stride
        if elapsed < 0 and self._window is not None:  # the clock has been set back
            pipeline.go_on(self._window.at(self._period + 1e-9 * (before - self._window_stamp)))
            self._begin_at(now.clock - EARLY)
            self._window = None
        elif self._periods > self._common(pipeline):
            # The controller already brakes, or still moves to the previous goal; or it was switched
            # off and on unnoticed, because this loop stood still.
            if self._was_restarted(pipeline, now):
                return False
            pipeline.go_on(self._state_at(now, pipeline))
            self._begin_at(now.clock)
        elif self._periods > 0:
            self._stamp = self._window_stamp + self._periods * period
        return self._periods > 0 and not self._is_too_late(now)

    def _is_too_late(self, now: Moment) -> bool:
        """Return whether a window may arrive after its stamp; the next period then sends one.

        A controller that does not count the stamp alone would leap back to the stamp's state.
        """
        left = self._stamp + self._stride * round(self._period * 1e9) - now.clock
        self._waits = not self._by_stamp and not self._waits and left < TRANSIT
        return self._waits

    def _common(self, pipeline: Pipeline) -> int:
        """Return the number of periods of the last window that the next one may continue."""
        ahead = 0 if self._leads_elsewhere(pipeline) else AHEAD + -AHEAD % self._stride
        return self.early + ahead

    def _leads_elsewhere(self, pipeline: Pipeline) -> bool:
        """Return whether a new goal diverges from the motion of the last window.

        A tip on a line stays on it: its goal changes little within so few periods.
        """
        return self._changed and not pipeline.on_line

    def _next(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> FloatArray | None:
        command, self._unsent = None, True
        # The last command is the last final one in the window.
        last = now.loop + 1e-9 * (self._stamp - now.clock) + self.early * self._period
        for left in reversed(range(self._periods)):
            command = pipeline.step(measured, last - left * self._period)
            if command is None:
                break
            if left:
                self._recent.add(command)
        self._unsent = command is not None
        return command

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        motion = pipeline.window(self._stride)
        if self._is_first_window:
            self._recent.add(motion.positions[0])  # the arm's motion starts there
            self._is_first_window = False
        message = self._messages[len(motion.times) - 1]
        stamp = self._stamp if self._by_stamp else self._next_point()
        data = message.filled(stamp, motion, self._stamp - stamp)
        self._boundary.publish(self._publisher, data)
        self._window, self._window_stamp = motion, self._stamp
        self._unsent = self._changed = False

    def _next_point(self) -> int:
        """Return the time of the running window's next point, at most of its next command [ns]."""
        latest = self._stamp + self._stride * round(self._period * 1e9)
        if self._window is None:
            return latest
        points = self._window_stamp + np.rint(1e9 * self._window.times)
        return min([latest, *(round(point) for point in points if point > self._clock)])

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake from the arm's position; see `Output.hold`."""
        super().hold(pipeline, measured, now, lost)
        self._begin_at(now.clock)
        self._insists_until, self._held = now.loop + INSISTENCE, lost

    def _state_at(self, now: Moment, pipeline: Pipeline) -> FloatArray:
        if self._window is None:
            return pipeline.state
        return self._window.at(1e-9 * (now.clock - self._window_stamp))

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Output.expected`.

        If this loop is late, the controller continues along the last window; it is now before the
        window's next sample.
        """
        way, window = super().expected(now, age), self._window
        elapsed = 1e-9 * (now.clock - self._window_stamp)
        settled = self.early * self._period
        if way is None or window is None or self._is_first_window or elapsed <= settled:
            return way
        next_ = int(window.times.searchsorted(elapsed))
        return np.vstack([way, window.positions[1 + LEAD : 1 + next_]])

    def destroy(self) -> None:
        """Destroy the publisher, the subscription and the client."""
        self._rule.destroy()
        self._state.destroy()
        super().destroy()

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

"""Outputs: they send commands to a controller, and monitor their execution."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.admission import printable
from basis_ik.motion.limiter import AHEAD, LEAD, MOST_POINTS, Motion
from basis_ik.motion.tracking import RecentCommands
from basis_ik.pipeline import Phase, Pipeline
from basis_ik.ros.action_forms import ANSWER, END, FEEDBACK
from basis_ik.ros.boundary import Form, Moment, boundary_of
from basis_ik.ros.publishers import publishing
from basis_ik.ros.sim_clock import loop_time
from basis_ik.ros.trajectory_messages import SerializedTrajectory, to_array, to_point

FloatArray = NDArray[np.float64]

CHECK_PERIOD = 0.2  # s between two checks of subscribers and other publishers
# s without a state of a controller that publishes it, after which it counts as not active. The
# timeout of joint states is shorter, but a busy machine may delay the controller's update loop.
CONTROLLER_TIMEOUT = 0.5
# s without a state, or three times the usual interval between two: the stream pauses until the
# controller publishes again. A controller that was switched off must not receive old windows.
CONTROLLER_SILENCE = 0.1
# rad or m: a controller whose reference is farther from its stream than this was restarted.
ELSEWHERE = 0.005
TAKEN = 1e-4  # rad or m: a controller whose reference is closer to a command has accepted it
RESUMPTION = 50_000_000  # ns of states from the controller before the stream resumes
SMOOTHING = 0.1  # weight of each new interval in the usual one
STAMPS = 100  # stamps of a controller's state that are stored, some seconds of them
CLOCK_AHEAD = 0.02  # s by which its clock may be ahead: the final part of a stream's window
CLOCK_BEHIND = 0.1  # s by which it may be behind, or its messages late
OLDEST_STATE = 1.0  # s: for an older measured state, all commands since then are compared
EARLY = 3_000_000  # ns by which a stream's first stamp lies in the past
FULL_SPEED = 0.999  # a speed scaling from here on counts as none
# s: older feedback does not give the controller's position within a motion.
FEEDBACK_TIMEOUT = 0.5
INTERFACES = (
    "joint_trajectory", "position", "velocity", "joint_state", "follow_joint_trajectory",
)  # fmt: skip
ENDS = {
    GoalStatus.STATUS_ABORTED: "aborted",
    GoalStatus.STATUS_CANCELED: "canceled",
    GoalStatus.STATUS_UNKNOWN: "lost",
}


class OutputOptions(NamedTuple):
    """The arguments of all outputs."""

    node: Node
    """The node that sends."""
    controller: str
    """Name of the controller."""
    joint_names: Sequence[str]
    """The commanded joints, in the order of the commands."""
    period: float
    """Of the control loop [s]."""
    lag: float
    """Largest lag of the arm [s]."""
    velocity: FloatArray
    """The joints' limits (n,) [rad/s or m/s]."""


class ControllerState:
    """The published state of a trajectory controller, if it publishes one.

    Trajectories have stamps: if the controller's clock is ahead, it treats them as old, and jumps
    into their braking; if it is behind, it waits. A state arrives after its stamp, so a stamp in
    the future proves that the clock is ahead, and the smallest delay of many that it is behind.

    Args:
        node: The node that subscribes.
        controller: Name of the controller.
    """

    def __init__(self, node: Node, controller: str) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self._subscription = node.create_subscription(
            JointTrajectoryControllerState,
            f"{controller}/controller_state",
            self._on_state,
            qos_profile_sensor_data,
        )
        self._heard_at = loop_time(self._node)
        self._expected = False
        self._heard_clock, self._usual = 0, 0.0  # ROS time [ns]; between two states [s]
        self._ahead: deque[float] = deque(maxlen=STAMPS)
        self._newest = JointTrajectoryControllerState()
        self.speed_scaling = 1.0

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        self._heard_at, self._expected, self._newest = loop_time(self._node), True, message
        stamp, clock = message.header.stamp, self._node.get_clock()
        now = self._boundary.clock(clock)
        gap = min(1e-9 * (now - self._heard_clock), CONTROLLER_TIMEOUT)
        self._heard_clock, self._usual = now, self._usual + SMOOTHING * (gap - self._usual)
        if stamp.sec and not clock.ros_time_is_active:  # otherwise both use /clock
            self._ahead.append(stamp.sec + 1e-9 * (stamp.nanosec - now))
        scaling = message.speed_scaling_factor
        # Controllers without scaling leave it at 0.
        self.speed_scaling = scaling if 0.0 < scaling <= 1.0 else 1.0

    def on_clock_jump(self) -> None:
        """Count the time without a message anew: the last one came by another clock."""
        self._heard_at = loop_time(self._node)
        self._heard_clock = self._boundary.clock(self._node.get_clock())

    def silence(self, now: int) -> float:
        """Return the time without a message [s]; 0 if that is normal.

        Args:
            now: ROS time [ns].
        """
        silence = 1e-9 * (now - self._heard_clock)
        patience = max(CONTROLLER_SILENCE, 3.0 * self._usual)
        return silence if self._expected and silence > patience else 0.0

    @property
    def stamp(self) -> int:
        """Stamp of the newest state, by the controller's clock [ns]."""
        stamp = self._newest.header.stamp
        return int(stamp.sec * 10**9 + stamp.nanosec)

    def reference(self, joint_names: Sequence[str]) -> FloatArray | None:
        """Return the controller's reference (n,) [rad or m]; None if it is not published.

        Args:
            joint_names: The joints.
        """
        if loop_time(self._node) - self._heard_at > CONTROLLER_TIMEOUT:
            return None
        told = zip(self._newest.joint_names, self._newest.reference.positions, strict=False)
        positions = dict(told)
        found = np.array([positions.get(name, math.nan) for name in joint_names])
        return found if np.isfinite(found).all() else None

    def lacking(self) -> str:
        """Return why the controller would not execute commands; empty if it would."""
        silence = loop_time(self._node) - self._heard_at
        if silence <= CONTROLLER_TIMEOUT:
            return self._clock_offset()
        if not self._expected:
            topic = self._subscription.topic_name
            self._expected = count_publishers(self._node, topic) > 0
            self._heard_at = loop_time(self._node)
            return ""
        if count_publishers(self._node, self._subscription.topic_name) == 0:
            return "the controller is gone"
        return f"the controller is not active: no {self._subscription.topic_name}"

    def _clock_offset(self) -> str:
        ahead = max(self._ahead, default=0.0)
        if ahead > CLOCK_AHEAD:
            return f"the controller's clock is {ahead:.3g} s ahead of this one: synchronise them"
        if ahead < -CLOCK_BEHIND and len(self._ahead) == STAMPS:
            return f"the controller's clock is {-ahead:.3g} s behind this one: synchronise them"
        return ""

    def destroy(self) -> None:
        """Give up the subscription."""
        self._node.destroy_subscription(self._subscription)


class Output(ABC):
    """Sends commands to a controller, and monitors their execution.

    Attributes:
        name: Topic or action of the commands.
        streams: Whether it sends each command of a motion; otherwise whole motions.
        failure: The controller's failure; empty from the next goal on.
        rival: The other node that commands the arm; empty if there is none.
        sent: Number of messages sent.
    """

    name: str
    streams: bool

    def __init__(self, node: Node) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self.failure = self.rival = ""
        self.sent = 0
        self._looked_at, self._lacking = -math.inf, ""

    def lacking(self, now: Moment) -> str:
        """Return why no command would be executed; empty if it would."""
        if self._boundary.steady() - self._looked_at >= CHECK_PERIOD:
            self._looked_at = self._boundary.steady()
            # A node that starts to command during a motion must not stop it: it has to wait.
            self.rival = "" if self.expected(now) is not None else self.find_rival()
            self._lacking = self.rival or self._check()
        return self._lacking

    def find_rival(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        own = self._node.get_name(), self._node.get_namespace()
        alike = self._boundary.read(
            "alike", lambda: self._node.get_node_names_and_namespaces().count(own)
        )
        if alike > 1:
            return f"there is another node {self._node.get_fully_qualified_name()}; end one of them"
        return ""

    @abstractmethod
    def _check(self) -> str:
        """Return why no command would be executed; empty if it would."""

    def begin(self) -> None:
        """Note that there is another goal."""
        self.failure = ""

    @abstractmethod
    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""

    @abstractmethod
    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake an arm that is not where it was commanded to be.

        Args:
            pipeline: What makes the commands.
            measured: Where the joints are (n,).
            now: When the period began.
            lost: Which of them do not follow, shape (n,).
        """

    @abstractmethod
    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Do a control period's work.

        Args:
            pipeline: What makes the commands.
            measured: Where the joints are (n,) [rad or m].
            now: When the period began.

        Returns:
            What the commands are doing.
        """

    @abstractmethod
    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should have been recently.

        Args:
            now: When the period began.
            age: Age of the measurement [s].

        Returns:
            Positions (k, n) [rad or m], one at least; None while it rests.
        """

    def on_clock_jump(self) -> None:
        """Discard all times: they are of another clock."""
        self._looked_at = -math.inf

    def controller_reference(self) -> FloatArray | None:
        """Return the controller's reference (n,) [rad or m]; None if it is not published."""
        return None

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller still holds the last command (n,) of an ended motion."""
        return True

    @abstractmethod
    def end(self) -> None:
        """Leave the arm at rest, without waiting."""

    @abstractmethod
    def destroy(self) -> None:
        """Destroy its entities of the node."""


class StreamOutput(Output):
    """Sends each command on a topic.

    Args:
        options: As of every output.
        kind: Type of the messages.
        topic: Where to.
    """

    streams = True
    early = 0
    """By how many periods a command is sent before its time."""

    def __init__(self, options: OutputOptions, kind: type, topic: str) -> None:
        super().__init__(options.node)
        self._period = options.period
        self._joint_names = list(options.joint_names)
        self._publisher = self._node.create_publisher(kind, topic, 1)
        self.name = self._publisher.topic_name
        self._lag = options.lag
        lately = math.ceil((options.lag + OLDEST_STATE) / options.period) + 1 + self.early
        self._recent = RecentCommands(lately, len(self._joint_names))
        self._commanded_at = -math.inf

    def _check(self) -> str:
        listeners = self._boundary.read(
            f"listeners {self.name}", self._publisher.get_subscription_count
        )
        if listeners == 0:
            return f"no controller subscribes to {self.name}"
        return ""

    def find_rival(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        others = self._others() if count_publishers(self._node, self.name) > 1 else ""
        if others:
            return f"{self.name} has another publisher, {others}; end it"
        return super().find_rival()

    def _others(self) -> str:
        """Return the names of the other nodes that publish where this one does."""
        names = set(publishing(self._node, self.name))
        return printable(", ".join(sorted(names - {self._node.get_fully_qualified_name()})))

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        pipeline.brake(quickest=quickest)

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake at the measured positions of joints that do not follow. See `Output.hold`."""
        if pipeline.command is not None:
            states = self._state_at(now, pipeline)
            states[lost] = 0.0
            states[lost, 0] = measured[lost]
            pipeline.go_on(states)
        self._recent.clear()
        pipeline.brake(quickest=True)

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send the next command; see `Output.advance`."""
        if pipeline.command is None:
            self._recent.clear()
            self._restart(now)
        elif not self._is_due(pipeline, now):
            return pipeline.phase
        command = self._next(pipeline, measured, now)
        if command is None:
            return pipeline.phase
        self._recent.add(command)
        self._commanded_at = now.loop
        self._send(pipeline, command, measured)
        self.sent += 1
        return pipeline.phase

    def _state_at(self, now: Moment, pipeline: Pipeline) -> FloatArray:
        """Return the present state (n, 3) of the controller."""
        return pipeline.state

    def _restart(self, now: Moment) -> None:
        """Note that a motion begins."""

    def end(self) -> None:
        """Leave the arm at rest: it stops without commands."""

    def _is_due(self, pipeline: Pipeline, now: Moment) -> bool:
        """Return whether to send; after a gap, continue from rest at the last command."""
        late = now.loop - self._commanded_at > (AHEAD + 1) * self._period
        if pipeline.command is not None and late:
            states = np.zeros((len(pipeline.command), 3))
            states[:, 0] = pipeline.command
            pipeline.go_on(states)
        return True

    def _next(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> FloatArray | None:
        return pipeline.step(measured, now.loop + self._period)

    @abstractmethod
    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        """Publish a command (n,)."""

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm was to be lately; see `Output.expected`."""
        if now.loop - self._commanded_at >= CHECK_PERIOD:
            return None
        return self._recent.newest(math.ceil((self._lag + age) / self._period) + 1 + self.early)

    def destroy(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)


class TrajectoryOutput(StreamOutput):
    """Streams windows of a trajectory that a joint_trajectory_controller follows smoothly.

    Each begins at its stamp, which lies in the past, so that the controller adds no line of its own
    to it. It contains the next commands, which no later window changes, and ends with braking to
    rest: an arm that receives no more windows brakes by itself. The stamps are whole periods apart,
    however late the loop is.

    Args:
        options: As of every output.
    """

    early = LEAD

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options, JointTrajectory, f"{options.controller}/joint_trajectory")
        self._state = ControllerState(options.node, options.controller)
        counts = range(1, 1 + MOST_POINTS)
        self._messages = [SerializedTrajectory(self._joint_names, count) for count in counts]
        self._stamp = 0  # of the next window [ns]
        self._anew, self._periods = True, 0
        self._window: Motion | None = None  # the last that was sent, which the controller follows
        self._window_stamp = 0  # [ns]
        self._unsent = False  # whether the pipeline has advanced without sending a window
        self._changed = False  # whether the goal has changed since the last window
        self._paused_until = -math.inf  # ROS time [ns]; nothing is sent before

    def _check(self) -> str:
        lacking = super()._check() or self._state.lacking()
        if not lacking and self._state.speed_scaling < FULL_SPEED:
            return (
                f"the controller scales its speed to {self._state.speed_scaling:.2g}, which a "
                "stream does not follow; set command_interface to follow_joint_trajectory"
            )
        return lacking

    def on_clock_jump(self) -> None:
        """Discard all times; see `Output.on_clock_jump`."""
        super().on_clock_jump()
        self._state.on_clock_jump()

    def controller_reference(self) -> FloatArray | None:
        """Return the controller's reference; see `Output.controller_reference`."""
        return self._state.reference(self._joint_names)

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller holds the command; it may have refused the last window."""
        led_to = self.controller_reference()
        return led_to is not None and bool((np.abs(led_to - command) <= TAKEN).all())

    def begin(self) -> None:
        """Note that there is another goal."""
        super().begin()
        self._changed = True

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        super().brake(pipeline, quickest=quickest)
        self._changed = True

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send the next window, unless the controller is silent; see `Output.advance`.

        Without windows the controller brakes by itself, and one that was switched off would jump to
        the next window. So nothing is sent until it has published its state for a while.
        """
        silence = self._state.silence(now.clock)
        if silence > 0.0:
            self._paused_until = now.clock + RESUMPTION
            if silence > CONTROLLER_TIMEOUT:
                pipeline.rest()
            return pipeline.phase
        if now.clock < self._paused_until <= now.clock + RESUMPTION:
            return pipeline.phase
        if self._paused_until > -math.inf:
            self._paused_until = -math.inf
            if self._was_restarted(pipeline, now):
                return pipeline.phase
        return super().advance(pipeline, measured, now)

    def _was_restarted(self, pipeline: Pipeline, now: Moment) -> bool:
        """Return whether a controller has left its stream because it was restarted.

        Then it must stay where it is, and the target is dropped.
        """
        positions, window = self._state.reference(self._joint_names), self._window
        if pipeline.command is None or positions is None or window is None:
            return False
        elapsed = 1e-9 * (self._state.stamp - self._window_stamp)
        if elapsed < LEAD * self._period:  # it may not have received the window yet
            return False
        states = window.at(elapsed)
        tolerance = ELSEWHERE + CLOCK_AHEAD * np.abs(states[:, 1])
        if (np.abs(positions - states[:, 0]) <= tolerance).all():
            return False
        states[:, 0], states[:, 1:] = positions, 0.0
        pipeline.go_on(states)
        self._recent.clear()
        self._begin_at(now.clock)
        self._lacking = "the controller was restarted: it was not active for a moment"
        self._looked_at = self._boundary.steady()
        return True

    def _restart(self, now: Moment) -> None:
        # A loop that is slightly late or early must still send one command in each period.
        self._begin_at(now.clock - EARLY)
        self._window = None

    def _begin_at(self, stamp: int) -> None:
        """Start the next window at a time, with the present state of the pipeline."""
        self._stamp, self._anew, self._periods = stamp, True, LEAD

    def _is_due(self, pipeline: Pipeline, now: Moment) -> bool:
        if self._unsent:  # an error has ended the last period early
            pipeline.go_on(self._state_at(now, pipeline))
            self._begin_at(now.clock)
        if self._anew:
            return True
        elapsed = now.clock - self._window_stamp
        period = round(self._period * 1e9)
        self._periods = elapsed // period
        if elapsed < 0 and self._window is not None:  # the clock has been set back
            pipeline.go_on(self._window.at(self._period + 1e-9 * EARLY))
            self._restart(now)
        elif self._periods > (LEAD if self._leads_elsewhere(pipeline) else LEAD + AHEAD):
            # The controller brakes already, or still moves to the previous goal; or it was switched
            # off and on without notice, because this loop stood still.
            if self._was_restarted(pipeline, now):
                return False
            pipeline.go_on(self._state_at(now, pipeline))
            self._begin_at(now.clock)
        elif self._periods > 0:
            self._stamp = self._window_stamp + self._periods * period
        return self._periods > 0

    def _leads_elsewhere(self, pipeline: Pipeline) -> bool:
        """Return whether a new goal diverges from the motion of the last window.

        A tip on a line stays on it: its goal changes little in so few periods.
        """
        return self._changed and not pipeline.on_line

    def _next(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> FloatArray | None:
        command, self._unsent = None, True
        # The last command is the last final one in the window.
        last = now.loop + 1e-9 * (self._stamp - now.clock) + LEAD * self._period
        for left in reversed(range(self._periods)):
            command = pipeline.step(measured, last - left * self._period)
            if command is None:
                break
        self._unsent = command is not None
        return command

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        motion = pipeline.window()
        if self._anew:
            self._recent.add(motion.positions[0])  # the motion of the arm starts there
            self._anew = False
        message = self._messages[len(motion.times) - 1]
        self._boundary.publish(self._publisher, message.filled(self._stamp, motion))
        self._window, self._window_stamp = motion, self._stamp
        self._unsent = self._changed = False

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake where the arm is; see `Output.hold`."""
        super().hold(pipeline, measured, now, lost)
        self._begin_at(now.clock)

    def _state_at(self, now: Moment, pipeline: Pipeline) -> FloatArray:
        if self._window is None:
            return pipeline.state
        return self._window.at(1e-9 * (now.clock - self._window_stamp))

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm was to be lately; see `Output.expected`.

        If this loop is late, the controller continues along the last window: at present it is
        before the next of its samples.
        """
        way, window = super().expected(now, age), self._window
        elapsed = 1e-9 * (now.clock - self._window_stamp)
        if way is None or window is None or self._anew or elapsed <= LEAD * self._period:
            return way
        next_ = int(window.times.searchsorted(elapsed))
        return np.vstack([way, window.positions[1 + LEAD : 1 + next_]])

    def destroy(self) -> None:
        """Destroy publisher and subscription."""
        self._state.destroy()
        super().destroy()


class PositionOutput(StreamOutput):
    """Streams positions to a forward_command_controller, in the order of the chain's joints.

    Args:
        options: As of every output.
    """

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options, Float64MultiArray, f"{options.controller}/commands")

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        self._boundary.publish(self._publisher, Float64MultiArray(data=to_array(command)))


class VelocityOutput(StreamOutput):
    """Streams velocities to a velocity controller, in the order of the chain's joints.

    They are the velocities of the commands plus a correction of the arm's error, within the joints'
    limits. The last is zero.

    Args:
        options: As of every output.
    """

    GAIN = 2.0  # 1/s: most of the arm's error is corrected in half a second

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options, Float64MultiArray, f"{options.controller}/commands")
        self._velocity, self._moves = options.velocity, False

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        self._moves = True
        if pipeline.command is None:  # the last command
            self.end()
        else:
            velocity = pipeline.state[:, 1] + self.GAIN * (command - measured)
            self._publish(np.clip(velocity, -self._velocity, self._velocity))

    def end(self) -> None:
        """Send zero, unless it was sent last."""
        if self._moves:
            self._publish(np.zeros(len(self._joint_names)))
            self._moves = False

    def _publish(self, velocity: FloatArray) -> None:
        self._boundary.publish(self._publisher, Float64MultiArray(data=to_array(velocity)))

    def destroy(self) -> None:
        """Stop the arm, and destroy the publisher."""
        self.end()
        super().destroy()


class JointStateOutput(StreamOutput):
    """Streams named positions to a simulator, or to a joint_state_publisher's `source_list`.

    Args:
        options: As of every output.
    """

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options, JointState, "joint_commands")

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        message = JointState(name=self._joint_names, position=to_array(command))
        message.header.stamp = _time_message(self._boundary.clock(self._node.get_clock()))
        self._boundary.publish(self._publisher, message)


class FollowJointTrajectoryOutput(Output):
    """Sends each motion as one goal to a joint_trajectory_controller; a newer one replaces it.

    A motion has ended when the controller's result says so. A new one begins at the controller's
    reported position within the present one, which may be slower than planned.

    Args:
        options: As of every output.
    """

    streams = False

    def __init__(self, options: OutputOptions) -> None:
        super().__init__(options.node)
        self._joint_names, self._lag = options.joint_names, options.lag
        self._clock = options.node.get_clock()
        topic = f"{options.controller}/follow_joint_trajectory"
        self._client = ActionClient(options.node, FollowJointTrajectory, topic)
        self.name = options.node.resolve_service_name(topic)
        self._state = ControllerState(options.node, options.controller)
        self._phase, self._ordered = Phase.IDLE, False
        self._override, self._halts = 1.0, False  # of the present motion; whether it is at 0
        self._newest, self._accepted, self._unwanted = 0, 0, False
        self._handle: ClientGoalHandle | None = None
        self._motion: Motion | None = None
        self._progress = Progress(0.0, 0.0, 1.0, -math.inf)
        self._begun_since = math.inf  # ROS time since which it may have begun; until feedback tells

    def _check(self) -> str:
        if not self._is_ready():
            return f"waiting for the action {self.name}"
        return self._state.lacking()

    def on_clock_jump(self) -> None:
        """Discard all times; see `Output.on_clock_jump`."""
        super().on_clock_jump()
        self._state.on_clock_jump()

    def _is_ready(self) -> bool:
        return self._boundary.read(f"ready {self.name}", self._client.server_is_ready)

    def begin(self) -> None:
        """Note that there is another goal."""
        super().begin()
        self._ordered = True

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest: along its motion, if its position within it is known."""
        pipeline.rest()
        self._ordered = False
        if self._motion is None:
            self._phase = Phase.IDLE
        elif self._phase is not Phase.BRAKING:
            self._phase = Phase.BRAKING
            start = self._where()
            braking = None if start is None else pipeline.plan(start, braking=True)
            if braking is None:
                self._cancel()
            else:
                self._send(braking)

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Make the controller hold the arm where it is. See `Output.hold`."""
        pipeline.rest()
        self._ordered = False
        self._phase = Phase.IDLE if self._motion is None else Phase.BRAKING
        self._cancel()

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send a motion when there is one to begin; see `Output.advance`."""
        if self._motion is not None and not self._is_ready():
            self._newest += 1  # its result will never arrive
            self._handle = None
            self._fail("the controller is gone")
        if pipeline.speed_override != self._override:
            self._override = pipeline.speed_override
            self._ordered = self._ordered or self._phase is Phase.MOVING
        # A motion that is being cancelled must end first; one that was just sent must begin first.
        ending = self._unwanted and self._motion is not None
        beginning = 0.0 <= 1e-9 * now.clock - self._begun_since <= FEEDBACK_TIMEOUT
        if self._ordered and not ending and not beginning:
            self._ordered, self._halts = False, self._override == 0.0
            start = self._where()
            if start is None and self._halts and self._motion is not None:
                self._cancel()
                return self._phase
            if start is None:
                start = np.zeros((len(measured), 3))
                start[:, 0] = measured
            motion = pipeline.plan(start, braking=False)
            if motion is None:
                self._phase = Phase.UNSAFE
            elif len(motion.times) == 1:
                self._phase = Phase.MOVING if self._halts else Phase.ARRIVED
            else:
                self._phase = Phase.MOVING
                self._send(motion)
        return self._phase

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm was to be lately; see `Output.expected`."""
        if self._motion is None or self._accepted != self._newest:
            return None  # until it is accepted the controller continues the previous motion
        progress, clock = self._progress, 1e-9 * now.clock
        until = progress.now(clock, self._motion.times[-1])
        known = clock - progress.heard_at <= FEEDBACK_TIMEOUT
        # Without feedback the controller may be anywhere within the motion.
        since = max(until - self._lag - age, 0.0) if known else 0.0
        times = self._motion.times
        # The acceptance arrives after the motion has begun.
        until = min(max(until, clock - self._begun_since), times[-1])
        part = self._motion.positions[(times >= since) & (times <= until)]
        ends = [self._motion.at(since)[:, 0], self._motion.at(until)[:, 0]]
        return np.vstack([part, *ends])

    def end(self) -> None:
        """Make the controller stop."""
        self._cancel()

    def destroy(self) -> None:
        """Destroy the client; a controller that brakes continues to do so."""
        self._newest += 1  # results are ignored from now on
        if self._phase is not Phase.BRAKING:
            self._cancel()
        self._client.destroy()
        self._state.destroy()

    def _now(self) -> float:
        return 1e-9 * float(self._boundary.clock(self._clock))

    def _where(self) -> FloatArray | None:
        """Return the present state (n, 3) of the controller; None if it is not known."""
        if self._motion is None or self._now() - self._progress.heard_at > FEEDBACK_TIMEOUT:
            return None
        if self._begun_since < math.inf:
            return None  # its start time in the controller is not known
        return self._motion.at(self._progress.now(self._now(), self._motion.times[-1]))

    def _send(self, motion: Motion) -> None:
        stamp = self._boundary.clock(self._clock)
        trajectory = JointTrajectory(joint_names=list(self._joint_names))
        from_rest = not (motion.velocities[0].any() or motion.accelerations[0].any())
        # From rest it begins when the controller accepts it, however late that is. In mid-motion
        # the arm continues until then, and the stamp aligns the new motion with that time.
        if not from_rest:
            trajectory.header.stamp = _time_message(stamp)
        for when, *state in zip(*motion, strict=True):
            point = to_point(*state)
            point.time_from_start = _duration_message(when)
            trajectory.points.append(point)
        self._newest, self._unwanted = self._newest + 1, False
        self._motion = motion
        rate = 0.0 if from_rest else self._state.speed_scaling
        self._begun_since = 1e-9 * stamp if from_rest else math.inf
        self._progress = Progress(1e-9 * stamp, 0.0, rate, 1e-9 * stamp)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory)
        on_feedback = self._expect("feedback", self._newest, self._on_feedback, FEEDBACK)
        heed = self._expect("answer", self._newest, self._on_goal_response, ANSWER)
        answer = self._boundary.send(
            f"{self.name}/goal",
            trajectory,
            lambda: self._client.send_goal_async(goal, feedback_callback=on_feedback),
        )
        if answer is not None:
            answer.add_done_callback(heed)
        self.sent += 1

    def _expect(
        self, what: str, number: int, callback: Callable[[int, Any], None], form: Form
    ) -> Callable[[Any], None]:
        """Return a callback for an event of a motion; see `Boundary.expect`."""
        name = f"{what} {self.name} {number}"
        return self._boundary.expect(name, functools.partial(callback, number), form)

    def _cancel(self) -> None:
        """Cancel the present motion, and one that is not accepted yet."""
        self._unwanted = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def _on_goal_response(self, number: int, answer: Future) -> None:
        handle: Any = answer.result()
        if handle.accepted:
            heed = self._expect("end", number, self._on_end, END)
            handle.get_result_async().add_done_callback(heed)
            if number == self._newest:
                self._handle, self._accepted = handle, number
                if self._begun_since < math.inf:
                    now = self._now()
                    self._progress = Progress(now, 0.0, self._state.speed_scaling, now)
            if number != self._newest or self._unwanted:
                handle.cancel_goal_async()
            return
        if number == self._newest:
            # The controller continues the previous motion, which is no longer wanted.
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

    def _on_end(self, number: int, answer: Future) -> None:
        if number != self._newest:
            return
        end: Any = answer.result()
        self._handle = self._motion = None
        self._begun_since = math.inf
        if self._phase is Phase.BRAKING:
            self._phase = Phase.IDLE
        elif self._halts and end.status in (
            GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED,
        ):  # fmt: skip
            self._phase = Phase.MOVING  # it continues once the override is above 0
        elif end.status == GoalStatus.STATUS_SUCCEEDED:
            self._phase, self.failure = Phase.ARRIVED, ""
        else:
            what = ENDS.get(end.status, f"ended with status {end.status}")
            self._fail(f"the motion was {what} by the controller: {end.result.error_string}")

    def _fail(self, text: str) -> None:
        self._motion, self._begun_since = None, math.inf
        self._phase, self.failure = Phase.IDLE, text


class Progress(NamedTuple):
    """Progress of a controller within a motion, and its pace."""

    when: float
    """ROS time of the feedback [s]."""
    elapsed: float
    """Time of the motion that had passed then [s]."""
    rate: float
    """Time of the motion that passes in each second."""
    heard_at: float
    """ROS time of the last feedback [s]."""

    def now(self, now: float, end: float) -> float:
        """Return the time of the motion that has passed by now [s]."""
        return min(max(self.elapsed + self.rate * (now - self.when), 0.0), end)

    def updated(self, when: float, motion: Motion, desired: FloatArray) -> Progress:
        """Return the progress after feedback with the desired state at a time."""
        elapsed, rate = motion.nearest(desired, self.elapsed), self.rate
        if when - self.when > 0.0:
            rate = min((elapsed - self.elapsed) / (when - self.when), 1.0)
        return Progress(when, elapsed, rate, when)


def make_output(kind: str, options: OutputOptions) -> Output:
    """Return the output that the parameter `command_interface` names.

    Args:
        kind: One of `INTERFACES`.
        options: Its arguments.
    """
    outputs: dict[str, Callable[[OutputOptions], Output]] = {
        "joint_trajectory": TrajectoryOutput,
        "position": PositionOutput,
        "velocity": VelocityOutput,
        "joint_state": JointStateOutput,
        "follow_joint_trajectory": FollowJointTrajectoryOutput,
    }
    return outputs[kind](options)


def count_publishers(node: Node, topic: str) -> int:
    """Return how many publishers a topic has."""
    return boundary_of(node).read(f"publishers {topic}", lambda: node.count_publishers(topic))


def _time_message(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=seconds, nanosec=rest)


def _duration_message(time: float) -> Duration:
    seconds, nanoseconds = divmod(round(time * 1e9), 1_000_000_000)
    return Duration(sec=seconds, nanosec=nanoseconds)

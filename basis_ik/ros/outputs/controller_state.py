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

"""The published state of a trajectory controller."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from basis_ik.arm.admission import printable
from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.outputs.controller_parameter import PATIENCE, ControllerParameter
from basis_ik.ros.outputs.output import MOVED_AWAY, count_publishers
from basis_ik.ros.sim_clock import loop_time

# s without a state from a controller that publishes it, after which it counts as inactive. The
# timeout of joint states is shorter, but a busy machine may delay the controller's update loop.
CONTROLLER_TIMEOUT = 0.5
# s without a state, or three times the average interval, after which the stream pauses until the
# controller publishes again. A controller that was switched off must not receive old windows.
CONTROLLER_SILENCE = 0.1
SMOOTHING = 0.1  # weight of each new interval in the average
STAMPS = 100  # stored stamps of a controller's states: some seconds
CLOCK_AHEAD = 0.02  # s by which its clock may be ahead: the final part of a stream's window
CLOCK_BEHIND = 0.1  # s by which its clock may be behind, or its messages late
STILL = 1e-9  # rad or m between two states: a reference that changes by less is at rest
STANDS = "the controller scales its speed to 0"
PAUSED = f"{STANDS}: the arm goes on once it is above"


def others_move(names: str) -> str:
    """Return why no motion begins while other joints of the controller move."""
    return f"somebody else moves {names}: the arm begins once they rest"


class ControllerState:
    """The published state of a trajectory controller, if it publishes one.

    Trajectories have stamps. If the controller's clock is ahead, it takes them for old and jumps to
    their braking; if it is behind, it waits. A state arrives after its stamp, so a stamp in the
    future proves that the clock is ahead. A large smallest delay has two possible causes: the clock
    is behind, or all states are late. What varies is delay, whatever the clocks.

    Args:
        node: The node that subscribes.
        controller: Name of the controller.
        joint_names: The commanded joints.
        holds_others: Whether trajectories hold its other joints.

    Attributes:
        others: Its other joints, if they are held.
        places: The newest known reference of each (m,) [rad or m].
        moved: Those whose reference is not that of the state before, as text.
    """

    def __init__(
        self,
        node: Node,
        controller: str,
        joint_names: Sequence[str],
        *,
        holds_others: bool = False,
    ) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self._controller, self._joint_names = controller, joint_names
        self._holds_others = holds_others
        self.others: tuple[str, ...] = ()
        self.places: FloatArray = np.zeros(0)
        self.moved = self._unknown = ""
        self._partial: ControllerParameter | None = None  # asked for if it has other joints
        self._reported = False
        self._subscription = node.create_subscription(
            JointTrajectoryControllerState,
            f"{controller}/controller_state",
            self._on_state,
            qos_profile_sensor_data,
        )
        self._received_at = loop_time(self._node)
        self._expected = False
        self._has_passed = False  # whether a motion may have begun
        self._received_clock, self._interval = 0, 0.0  # ROS time [ns]; average interval [s]
        self._ahead: deque[float] = deque(maxlen=STAMPS)
        self._newest = JointTrajectoryControllerState()
        self._scaling, self._scales = 1.0, False
        self._excused_for, self._excused_until = -math.inf, -math.inf

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        if loop_time(self._node) - self._received_at > CONTROLLER_TIMEOUT:
            self._forget_answer()
        self._received_at, self._expected, self._newest = loop_time(self._node), True, message
        stamp, clock = message.header.stamp, self._node.get_clock()
        now = self._boundary.clock(clock)
        gap = min(1e-9 * (now - self._received_clock), CONTROLLER_TIMEOUT)
        self._interval += SMOOTHING * (gap - self._interval)
        self._received_clock = now
        if stamp.sec and not clock.ros_time_is_active:  # with simulated time both use /clock
            self._ahead.append(stamp.sec + 1e-9 * (stamp.nanosec - now))
        self._scaling = message.speed_scaling_factor
        self._scales = self._scales or self._scaling > 0.0
        if self._holds_others:
            self._take_others(message)

    def _take_others(self, message: JointTrajectoryControllerState) -> None:
        """Store where the controller leads its other joints, and which of them move."""
        told = dict(zip(message.joint_names, message.reference.positions, strict=False))
        told = {name: place for name, place in told.items() if math.isfinite(place)}
        known = dict(zip(self.others, self.places.tolist(), strict=True))
        self.others = tuple(name for name in message.joint_names if name not in self._joint_names)
        before = np.array([known.get(name, math.nan) for name in self.others])
        self.places = np.array([{**known, **told}.get(name, math.nan) for name in self.others])
        rest = np.abs(self.places - before) <= STILL
        moved = [name for name, rests in zip(self.others, rest, strict=True) if not rests]
        self.moved = printable(", ".join(moved))
        self._unknown = printable(", ".join(name for name in self.others if name not in told))

    @property
    def speed_scaling(self) -> float:
        """Factor of the controller's speed, from 0 to 1; 1 if it has none."""
        # Controllers without scaling leave it at 0.
        is_given = 0.0 <= self._scaling <= 1.0 and (self._scaling > 0.0 or self._scales)
        return self._scaling if is_given else 1.0

    @property
    def stands(self) -> bool:
        """Whether the controller lets no time pass on the arm's way: its factor of speed is 0."""
        return self.speed_scaling == 0.0

    def _find_scaling(self) -> None:
        """Find out whether a 0 is a factor: the controller has given others, or takes them."""
        if self._scaling == 0.0 and not self._scales:
            topic = f"{self._controller}/speed_scaling_input"
            count = self._boundary.read(
                f"scaling {topic}", lambda: self._node.count_subscribers(topic)
            )
            self._scales = count > 0

    def on_clock_jump(self) -> None:
        """Restart the time without a message: the last one was timed by the old clock."""
        self._received_at = loop_time(self._node)
        self._received_clock = self._boundary.clock(self._node.get_clock())

    def excuse(self, until: float) -> None:
        """Do not take the controller for inactive until then; see `MeasuredState.excuse`.

        Args:
            until: Time of the loop [s].
        """
        if self._received_at > self._excused_for:
            self._excused_for, self._excused_until = self._received_at, until

    @property
    def _is_excused(self) -> bool:
        return loop_time(self._node) < self._excused_until

    def silence(self, now: int) -> float:
        """Return the time without a message [s]; 0 if it is normal.

        Args:
            now: ROS time [ns].
        """
        silence = 1e-9 * (now - self._received_clock)
        if self._is_excused:
            silence = min(silence, CONTROLLER_TIMEOUT)
        patience = max(CONTROLLER_SILENCE, 3.0 * self._interval)
        return silence if self._expected and silence > patience else 0.0

    @property
    def is_published(self) -> bool:
        """Whether it is published, or was."""
        if not self._expected:
            self._expected = count_publishers(self._node, self._subscription.topic_name) > 0
        return self._expected

    @property
    def is_gone(self) -> bool:
        """Whether nothing publishes it any more."""
        return count_publishers(self._node, self._subscription.topic_name) == 0

    @property
    def is_silent(self) -> bool:
        """Whether something publishes it, but nothing has come for too long."""
        silence = loop_time(self._node) - self._received_at
        return self._expected and silence > CONTROLLER_TIMEOUT and not self.is_gone

    @property
    def interval(self) -> float:
        """Average time between two states [s]; 0 before the first ones."""
        return self._interval

    @property
    def stamp(self) -> int:
        """Stamp of the newest state, on the controller's clock [ns]."""
        stamp = self._newest.header.stamp
        return int(stamp.sec * 10**9 + stamp.nanosec)

    def reference(self) -> FloatArray | None:
        """Return the controller's reference (n,) [rad or m]; None if it is not published."""
        return self._values(self._newest.reference.positions)

    def feedback(self) -> FloatArray | None:
        """Return the positions (n,) that the controller has measured then; as `reference`."""
        return self._values(self._newest.feedback.positions)

    def error(self) -> FloatArray | None:
        """Return by how much the reference is ahead of the feedback (n,); as `reference`."""
        return self._values(self._newest.error.positions)

    def rests_at(self, measured: FloatArray, *, lags: bool) -> FloatArray | None:
        """Return where a motion from rest begins (n,), or None if that is not known.

        It begins at the controller's reference, so that its output does not leap; but where the arm
        is, if something else has moved it.

        Args:
            measured: Measured positions (n,) [rad or m].
            lags: Whether the arm may still be on its way to the reference, which is published.
        """
        reference, feedback = self.reference(), self.feedback()
        feedback = measured if feedback is None else feedback
        if reference is None or lags or (np.abs(reference - feedback) <= MOVED_AWAY).all():
            return reference
        is_new = (np.abs(measured - feedback) <= MOVED_AWAY).all()  # otherwise it came late
        return measured if is_new else None

    def output(self) -> FloatArray | None:
        """Return the positions (n,) that the controller has sent then; as `reference`."""
        return self._values(self._newest.output.positions)

    def states(self) -> FloatArray | None:
        """Return the reference's positions and velocities, without accelerations (n, 3)."""
        reference = self._newest.reference
        positions, velocities = map(self._values, (reference.positions, reference.velocities))
        if positions is None or velocities is None:
            return None
        return np.stack([positions, velocities, np.zeros(len(positions))], axis=1)

    def _values(self, values: Sequence[float]) -> FloatArray | None:
        """Return a state's values in the order of the joints (n,); None if some are missing."""
        if loop_time(self._node) - self._received_at > CONTROLLER_TIMEOUT:
            return None
        named = dict(zip(self._newest.joint_names, values, strict=False))
        found = np.array([named.get(name, math.nan) for name in self._joint_names])
        return found if np.isfinite(found).all() else None

    def unmet(self, *, waits: bool) -> str:
        """Return why the controller would not execute commands, or nothing.

        Args:
            waits: Whether motions wait while the controller stands; otherwise that is a reason.
        """
        silence = loop_time(self._node) - self._received_at
        self._find_scaling()
        if self._holds_others and not self._newest.joint_names:
            topic = self._subscription.topic_name
            return f"waiting for {topic}: it has the joints for hold_other_joints"
        if silence <= CONTROLLER_TIMEOUT or self._is_excused:
            unmet = self._clock_offset() or self._other_joints()
            if not unmet and self.stands and not waits:
                unmet = STANDS
            self._has_passed = self._has_passed or not unmet
            return unmet
        if not self._expected:
            topic = self._subscription.topic_name
            self._expected = count_publishers(self._node, topic) > 0
            self._received_at = loop_time(self._node)
            return ""
        if self.is_gone:
            return "the controller is gone"
        return f"the controller is not active: no {self._subscription.topic_name}"

    def _clock_offset(self) -> str:
        ahead = max(self._ahead, default=0.0)
        if ahead > CLOCK_AHEAD:
            return f"the controller's clock is {ahead:.3g} s ahead of this one: synchronise them"
        if ahead < -CLOCK_BEHIND and len(self._ahead) == STAMPS:
            return (
                f"the controller's states are at least {-ahead:.3g} s old when they arrive: its "
                "clock is behind this one (synchronise them), or they are late (network, load)"
            )
        return ""

    def _other_joints(self) -> str:
        """Return how the controller's joints keep it from taking trajectories of the chain's."""
        theirs = self._newest.joint_names
        if not theirs:  # nothing was received, or it does not tell
            return ""
        if self._unknown:
            return (
                f"{self._controller} does not tell where it holds {self._unknown}: "
                "hold_other_joints needs the reference"
            )
        missing = ", ".join(name for name in self._joint_names if name not in theirs)
        if missing:
            return (
                f"{self._controller} does not have {printable(missing)}: set controller to one "
                "with all joints of the chain, or root_link and tip_link to a chain that it has"
            )
        if self._holds_others:
            return ""
        others = ", ".join(name for name in theirs if name not in self._joint_names)
        return others and self._without(printable(others))

    def _without(self, others: str) -> str:
        """Return why the controller refuses trajectories without other joints, if it does."""
        if self._partial is None:
            self._partial = ControllerParameter(
                self._node, self._controller, "allow_partial_joints_goal", unset=None
            )
        # It can be set at run time.
        self._partial.ask(again=math.inf if self._partial.value else PATIENCE)
        if self._partial.value is False:
            return (
                f"{self._controller} has {others}, too, and refuses trajectories without: set its "
                "parameter allow_partial_joints_goal, let hold_other_joints hold them, or move "
                "them with a controller of their own"
            )
        if self._partial.value is None and not self._partial.is_overdue:
            if self._has_passed:  # a motion that may be right must not end for it
                return ""
            return f"{self._controller} has {others}, too: waiting for {self._partial.service}"
        if self._partial.value is None and not self._reported:
            self._reported = True
            self._node.get_logger().warning(
                f"{self._partial.service} does not tell whether the controller takes trajectories "
                f"without {others}: see its parameter allow_partial_joints_goal"
            )
        return ""

    def _forget_answer(self) -> None:
        """Ask a controller again that was away: it may have been started with another answer."""
        if self._partial is not None:
            self._partial.destroy()
        self._partial, self._has_passed = None, False

    def destroy(self) -> None:
        """Destroy the subscription and the client."""
        self._forget_answer()
        self._node.destroy_subscription(self._subscription)

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

"""Outputs that send each command of a motion: positions, velocities or joint states."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from basis_ik.arm.admission import printable
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.tracking import RecentCommands
from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.boundary import Moment
from basis_ik.ros.convert import time_message
from basis_ik.ros.outputs.output import CHECK_PERIOD, Output, OutputOptions, count_publishers
from basis_ik.ros.outputs.trajectory_messages import to_array
from basis_ik.ros.publishers import publishing

AHEAD = 3  # periods that may be missed: after more, a motion goes on from rest
OLDEST_STATE = 1.0  # s of commands that measured states are compared with, at most


class TopicOutput(Output):
    """Sends messages on a topic, to whoever commands the drives.

    Args:
        options: As of every output.
        kind: Type of the messages.
        topic: The topic.
    """

    streams = True

    def __init__(self, options: OutputOptions, kind: type, topic: str) -> None:
        super().__init__(options.node)
        self._period, self._lag = options.period, options.lag
        self._joint_names = list(options.joint_names)
        self._publisher = self._node.create_publisher(kind, topic, 1)
        self.name = self._publisher.topic_name

    def _check(self) -> str:
        listeners = self._boundary.read(
            f"listeners {self.name}", self._publisher.get_subscription_count
        )
        if listeners == 0:
            return f"no controller subscribes to {self.name}"
        return ""

    def find_other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        others = self._others() if count_publishers(self._node, self.name) > 1 else ""
        if others:
            return f"{self.name} has another publisher, {others}; end it"
        return super().find_other_commander()

    def _others(self) -> str:
        """Return the names of other nodes that publish on the topic."""
        names = set(publishing(self._node, self.name))
        return printable(", ".join(sorted(names - {self._node.get_fully_qualified_name()})))

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        pipeline.brake(quickest=quickest)

    def end(self, pipeline: Pipeline) -> None:
        """Do nothing: without messages the arm stops."""

    def destroy(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)


class StreamOutput(TopicOutput):
    """Sends each command on a topic.

    Args:
        options: As of every output.
        kind: Type of the messages.
        topic: The topic.
    """

    def __init__(self, options: OutputOptions, kind: type, topic: str) -> None:
        super().__init__(options, kind, topic)
        lately = math.ceil((options.lag + OLDEST_STATE) / options.period) + 1
        self._recent = RecentCommands(lately, len(self._joint_names))
        self._commanded_at = -math.inf

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake; joints that do not follow brake at their measured positions. See `Output.hold`."""
        if pipeline.command is not None:
            states = pipeline.state
            states[lost] = 0.0
            states[lost, 0] = measured[lost]
            pipeline.go_on(states)
        self._recent.clear()
        pipeline.brake(quickest=True)

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send the next command; see `Output.advance`. After a gap the motion goes on from rest."""
        if pipeline.command is None:
            self._recent.clear()
        elif now.loop - self._commanded_at > (AHEAD + 1) * self._period:
            states = np.zeros((len(pipeline.command), 3))
            states[:, 0] = pipeline.command
            pipeline.go_on(states)
        command = pipeline.step(measured, now.loop + self._period)
        if command is not None:
            self._recent.add(command)
            self._commanded_at = now.loop
            self._send(pipeline, command, measured)
            self.sent += 1
        return pipeline.phase

    @abstractmethod
    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        """Publish a command (n,)."""

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Output.expected`."""
        if now.loop - self._commanded_at >= CHECK_PERIOD:
            return None
        return self._recent.newest(math.ceil((self._lag + age) / self._period) + 1)


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

    They are the commands' velocities plus a correction of the arm's error, within the joints'
    limits. The last one is zero.

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
            self._stop()
        else:
            velocity = pipeline.state[:, 1] + self.GAIN * (command - measured)
            self._publish(np.clip(velocity, -self._velocity, self._velocity))

    def end(self, pipeline: Pipeline) -> None:
        """Send zero, unless it was sent last."""
        self._stop()

    def _stop(self) -> None:
        if self._moves:
            self._publish(np.zeros(len(self._joint_names)))
            self._moves = False

    def _publish(self, velocity: FloatArray) -> None:
        self._boundary.publish(self._publisher, Float64MultiArray(data=to_array(velocity)))

    def destroy(self) -> None:
        """Stop the arm, and destroy the publisher."""
        self._stop()
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
        message.header.stamp = time_message(self._boundary.clock(self._node.get_clock()))
        self._boundary.publish(self._publisher, message)

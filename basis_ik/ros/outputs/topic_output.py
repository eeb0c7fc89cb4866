# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Outputs by topic: positions, velocities, joint states or trajectories."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from basis_ik.arm.admission import printable
from basis_ik.arm.execution.messages import Outgoing, Samples, Trajectory
from basis_ik.ros.convert import time_message
from basis_ik.ros.outputs.output import Output, count_publishers
from basis_ik.ros.outputs.trajectory_messages import SerializedTrajectory, to_array
from basis_ik.ros.publishers import publishing


class TopicOutput(Output):
    """Publishes messages, to whoever commands the drives.

    Args:
        node: The node that publishes.
        kind: Type of the messages.
        topic: The topic.
    """

    def __init__(self, node: Node, kind: type, topic: str) -> None:
        super().__init__(node)
        self._publisher = node.create_publisher(kind, topic, 1)
        self.name = self._publisher.topic_name

    def complaint(self) -> str:
        """Return whether nothing subscribes, in words; see `Output.complaint`."""
        listeners = self._boundary.read(
            f"listeners {self.name}", self._publisher.get_subscription_count
        )
        return "" if listeners else f"no controller subscribes to {self.name}"

    def other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        others = self._others() if count_publishers(self._node, self.name) > 1 else ""
        if others:
            return f"{self.name} has another publisher, {others}; end it"
        return super().other_commander()

    def _others(self) -> str:
        """Return the names of other nodes that publish on the topic."""
        names = set(publishing(self._node, self.name))
        return printable(", ".join(sorted(names - {self._node.get_fully_qualified_name()})))

    def send(self, outgoing: Outgoing) -> None:
        """Publish a message."""
        self._boundary.publish(self._publisher, self._message(outgoing))

    @abstractmethod
    def _message(self, outgoing: Outgoing) -> object:
        """Return the message, as an object or serialised."""

    def destroy(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)


class NumbersOutput(TopicOutput):
    """Publishes one number for each joint, in the order of the chain, to a forward controller.

    Args:
        node: The node that publishes.
        controller: Name of the controller.
    """

    def __init__(self, node: Node, controller: str) -> None:
        super().__init__(node, Float64MultiArray, f"{controller}/commands")

    def _message(self, outgoing: Outgoing) -> Float64MultiArray:
        assert isinstance(outgoing, Samples)
        return Float64MultiArray(data=to_array(outgoing.values))


class JointStateOutput(TopicOutput):
    """Publishes named positions, for a simulator or a joint_state_publisher's `source_list`.

    Args:
        node: The node that publishes.
        joint_names: The joints.
    """

    def __init__(self, node: Node, joint_names: Sequence[str]) -> None:
        super().__init__(node, JointState, "joint_commands")
        self._joint_names = list(joint_names)

    def _message(self, outgoing: Outgoing) -> JointState:
        assert isinstance(outgoing, Samples)
        message = JointState(name=self._joint_names, position=to_array(outgoing.values))
        message.header.stamp = time_message(self._boundary.clock(self._node.get_clock()))
        return message


class TrajectoryOutput(TopicOutput):
    """Publishes trajectories for a joint_trajectory_controller.

    Args:
        node: The node that publishes.
        controller: Name of the controller.
    """

    def __init__(self, node: Node, controller: str) -> None:
        super().__init__(node, JointTrajectory, f"{controller}/joint_trajectory")
        # By their joints, the number of their samples, and the joints that they hold.
        self._messages: dict[
            tuple[tuple[str, ...], int, tuple[str, ...]], SerializedTrajectory
        ] = {}

    def _message(self, outgoing: Outgoing) -> bytes:
        assert isinstance(outgoing, Trajectory)
        motion, stamp, start, joint_names, held = outgoing
        form = joint_names, len(motion.times), held.names
        if form not in self._messages:
            self._messages[form] = SerializedTrajectory(*form)
        return self._messages[form].filled(stamp, motion, start, held.positions)

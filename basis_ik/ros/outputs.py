"""How commands leave the node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.ros.convert import duration_message
from basis_ik.ros.trajectory_messages import to_array

FloatArray = NDArray[np.float64]

# Control periods that a command is given, so that a late successor does not halt the arm.
HORIZON = 2
# With the last one whole motions are sent, not commands: see motion_output.py.
INTERFACES = ("joint_trajectory", "position", "joint_state", "follow_joint_trajectory")


class Output(Protocol):
    """Takes commands away; `name` is where to."""

    name: str

    def send(self, command: FloatArray) -> None:
        """Send positions (n,) [rad or m]."""

    def destroy(self) -> None:
        """Give up what it holds in the node."""


class TrajectoryOutput:
    """Streams one-point trajectories that a joint_trajectory_controller starts at once.

    Their stamp is zero, which means now. They have no velocities: the controller refuses a
    trajectory that ends in motion.

    Args:
        node: The node that publishes.
        controller: Name of the controller.
        joint_names: What is commanded, in the order of the commands.
        period: Time between two commands [s].
    """

    def __init__(
        self, node: Node, controller: str, joint_names: Sequence[str], period: float
    ) -> None:
        self._node = node
        self._point = JointTrajectoryPoint(time_from_start=duration_message(HORIZON * period))
        # Filled in anew for each command: to make it takes as long as to send it.
        self._message = JointTrajectory(joint_names=list(joint_names), points=[self._point])
        self._publisher = node.create_publisher(
            JointTrajectory, f"{controller}/joint_trajectory", 1
        )
        self.name = self._publisher.topic_name

    def send(self, command: FloatArray) -> None:
        """Publish positions (n,) [rad or m]."""
        self._point.positions = to_array(command)
        self._publisher.publish(self._message)

    def destroy(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)


class PositionOutput:
    """Streams positions to a forward_command_controller, in the order of the chain's joints.

    Args:
        node: The node that publishes.
        controller: Name of the controller.
    """

    def __init__(self, node: Node, controller: str) -> None:
        self._node = node
        self._publisher = node.create_publisher(Float64MultiArray, f"{controller}/commands", 1)
        self.name = self._publisher.topic_name

    def send(self, command: FloatArray) -> None:
        """Publish positions (n,) [rad or m]."""
        self._publisher.publish(Float64MultiArray(data=to_array(command)))

    def destroy(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)


class JointStateOutput:
    """Streams named positions to a simulator, or to a joint_state_publisher's `source_list`.

    Args:
        node: The node that publishes.
        joint_names: What is commanded, in the order of the commands.
    """

    def __init__(self, node: Node, joint_names: Sequence[str]) -> None:
        self._node, self._joint_names = node, list(joint_names)
        self._publisher = node.create_publisher(JointState, "joint_commands", 1)
        self.name = self._publisher.topic_name

    def send(self, command: FloatArray) -> None:
        """Publish positions (n,) [rad or m]."""
        message = JointState(name=self._joint_names, position=to_array(command))
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def destroy(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)


def make_output(
    kind: str, node: Node, controller: str, joint_names: Sequence[str], period: float
) -> Output:
    """Return the output that the parameter `command_interface` names.

    Args:
        kind: One of `INTERFACES`.
        node: The node that sends.
        controller: Name of the controller.
        joint_names: What is commanded, in the order of the commands.
        period: Time between two commands [s].
    """
    if kind == "position":
        return PositionOutput(node, controller)
    if kind == "joint_state":
        return JointStateOutput(node, joint_names)
    return TrajectoryOutput(node, controller, joint_names, period)

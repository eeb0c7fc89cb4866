# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The least that a Python node can do: hear a pose, publish a trajectory of six joints."""

from contextlib import suppress

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINTS = [f"joint_{number}" for number in range(1, 7)]


class Echo(Node):
    """Node `echo`."""

    def __init__(self) -> None:
        super().__init__("echo")
        self._publisher = self.create_publisher(JointTrajectory, "echo/joint_trajectory", 1)
        self.create_subscription(PoseStamped, "~/target_pose", self._on_pose, 1)

    def _on_pose(self, message: PoseStamped) -> None:
        x = message.pose.position.x
        point = JointTrajectoryPoint(positions=[x, x, x, x, x, x])
        self._publisher.publish(JointTrajectory(joint_names=JOINTS, points=[point]))


def main() -> None:
    """Run until interrupted."""
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Echo())


if __name__ == "__main__":
    main()

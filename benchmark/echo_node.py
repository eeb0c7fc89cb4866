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

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Targets from a camera: each pose that it detects becomes a target of the node, 10 cm above it.

The pose stays in the camera's frame and keeps its stamp; tf tells the node where the camera was.
"""

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from basis_ik import RigidTransform

ABOVE = RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, -0.1])  # the part's z points down
NEAR = 0.005  # [m]: a part that is seen again need not be sent again


class CameraTargets(Node):
    """Passes on what a camera detects."""

    def __init__(self) -> None:
        super().__init__("camera_targets")
        self.last: RigidTransform | None = None
        self.targets = self.create_publisher(PoseStamped, "/basis_ik/target_pose", 1)
        self.create_subscription(PoseStamped, "/detected_pose", self.on_detection, 1)

    def on_detection(self, part: PoseStamped) -> None:
        """Send the pose above a part, unless it lies where the last one lay."""
        p, q = part.pose.position, part.pose.orientation
        camera_T_part = RigidTransform.from_quaternion_xyzw([q.x, q.y, q.z, q.w], [p.x, p.y, p.z])
        if self.last is not None and self.last.is_close(camera_T_part, NEAR):
            return
        self.last = camera_T_part
        x, y, z = (camera_T_part @ ABOVE).translation.tolist()
        target = PoseStamped(header=part.header, pose=part.pose)
        target.pose.position.x, target.pose.position.y, target.pose.position.z = x, y, z
        self.targets.publish(target)
        print(f"sent {x:.3f} {y:.3f} {z:.3f} in {part.header.frame_id}")


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(CameraTargets())

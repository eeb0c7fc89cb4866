# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A client of the node: it sends a pose once the arm is ready, and waits until the arm is there.

The stamp of the target tells whether `~/status` is about it; `make demo ARGS=targets:=false` starts
an arm to try it with.
"""

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.node import Node


class PoseClient(Node):
    """Sends one pose, and tells what becomes of it."""

    def __init__(self) -> None:
        super().__init__("pose_client")
        self.stamp, self.done = "", False
        self.targets = self.create_publisher(PoseStamped, "/basis_ik/target_pose", 1)
        self.create_subscription(DiagnosticStatus, "/basis_ik/status", self.on_status, 10)

    def send(self) -> None:
        """Publish a pose in the root's frame."""
        stamp, down = self.get_clock().now().to_msg(), Quaternion(x=1.0, w=0.0)
        target = PoseStamped(pose=Pose(position=Point(x=0.4, y=0.2, z=0.4), orientation=down))
        target.header.frame_id, target.header.stamp = "base_link", stamp
        self.targets.publish(target)
        self.stamp = f"{stamp.sec}.{stamp.nanosec:09d}"

    def on_status(self, status: DiagnosticStatus) -> None:
        """Send the pose if the arm takes one; or tell whether it is there."""
        values = {each.key: each.value for each in status.values}
        is_there = self.stamp == values.get("target_stamp") and values["state"] == "ARRIVED"
        is_refused = self.stamp == values.get("last_refusal_stamp.target_pose")
        if not self.stamp and values["state"] == "READY":
            self.send()
        elif self.stamp and (is_there or is_refused):
            print(f"{values['state']}, {values['verdict']}: {status.message}")
            self.done = True


if __name__ == "__main__":
    rclpy.init()
    client = PoseClient()
    while not client.done:
        rclpy.spin_once(client)

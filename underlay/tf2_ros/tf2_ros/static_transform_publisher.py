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

"""Publishes one static transform until it is stopped."""

import argparse
import math
import random
import string
import sys
from threading import Event

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from tf2_ros_programs import spin

from tf2_ros import StaticTransformBroadcaster


def parse(arguments: list[str]) -> TransformStamped:
    """The transform that the options describe: metres, and fixed-axis angles in radians."""
    parser = argparse.ArgumentParser("static_transform_publisher", description=__doc__)
    for option in ("--x", "--y", "--z", "--roll", "--pitch", "--yaw"):
        parser.add_argument(option, type=_finite_number, default=0.0)
    parser.add_argument("--frame-id", required=True)
    parser.add_argument("--child-frame-id", required=True)
    given = parser.parse_args(arguments)
    if "" in (given.frame_id, given.child_frame_id) or given.frame_id == given.child_frame_id:
        parser.error("--frame-id and --child-frame-id must be two names")
    message = TransformStamped(child_frame_id=given.child_frame_id)
    message.header.frame_id = given.frame_id
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = given.x, given.y, given.z
    q.x, q.y, q.z, q.w = _quaternion(given.roll, given.pitch, given.yaw)
    return message


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    (sr, cr), (sp, cp), (sy, cy) = (
        (math.sin(angle / 2), math.cos(angle / 2)) for angle in (roll, pitch, yaw)
    )
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


class StaticTransformPublisher(Node):
    """Publishes a transform once; it is kept for listeners that come later."""

    def __init__(self, message: TransformStamped) -> None:
        # A name of its own, so that a launch file may start several.
        suffix = "".join(random.choices(string.ascii_letters + string.digits, k=16))
        super().__init__(f"static_transform_publisher_{suffix}")
        message.header.stamp = self.get_clock().now().to_msg()
        self._broadcaster = StaticTransformBroadcaster(self)
        self._broadcaster.sendTransform(message)
        frames = f"from '{message.header.frame_id}' to '{message.child_frame_id}'"
        self.get_logger().info(f"Spinning until stopped - publishing transform {frames}")


def main(stop: Event) -> int:
    """Run until told to stop; the exit status."""
    message = parse(remove_ros_args(sys.argv)[1:])
    spin(lambda: StaticTransformPublisher(message), stop)
    return 0

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

"""Prints a transform once a second."""

import argparse
import math
import sys
from threading import Event

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.time import Time
from rclpy.utilities import remove_ros_args
from tf2_ros_programs import spin

from tf2_ros import Buffer, TransformException, TransformListener


def describe(message: TransformStamped) -> str:
    """The text for one transform, as upstream's program words it, without the matrix."""
    t, q = message.transform.translation, message.transform.rotation
    x, y, z, w = q.x, q.y, q.z, q.w
    angles = (
        math.atan2(2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        math.asin(max(-1.0, min(1.0, 2 * (y * w - x * z)))),
        math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z)),
    )

    def several(*values: float) -> str:
        return "[" + ", ".join(f"{value:.3f}" for value in values) + "]"

    return "\n".join(
        [
            f"At time {message.header.stamp.sec}.{message.header.stamp.nanosec}",
            f"- Translation: {several(t.x, t.y, t.z)}",
            f"- Rotation: in Quaternion (xyzw) {several(x, y, z, w)}",
            f"- Rotation: in RPY (radian) {several(*angles)}",
            f"- Rotation: in RPY (degree) {several(*map(math.degrees, angles))}",
        ]
    )


class Echo(Node):
    """Looks a transform up and prints it, or why it is not known."""

    def __init__(self, source_frame: str, target_frame: str) -> None:
        super().__init__("tf2_echo")
        self._frames = source_frame, target_frame
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._timer = self.create_timer(1.0, self._echo)

    def _echo(self) -> None:
        source, target = self._frames
        try:
            # Upstream's order: the target frame as seen from the source frame.
            print(describe(self._buffer.lookup_transform(source, target, Time())), flush=True)
        except TransformException as error:
            self.get_logger().info(f"Waiting for transform {source} -> {target}: {error}")


def main(stop: Event) -> int:
    """Run until told to stop; the exit status."""
    parser = argparse.ArgumentParser("tf2_echo", description=__doc__)
    parser.add_argument("source_frame", help="the frame to look from")
    parser.add_argument("target_frame", help="the frame to look at")
    options = parser.parse_args(remove_ros_args(sys.argv)[1:])
    spin(lambda: Echo(**vars(options)), stop)
    return 0

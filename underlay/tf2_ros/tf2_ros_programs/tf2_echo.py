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

"""Prints a transform again and again."""

import argparse
import math
import sys
from threading import Event

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.time import Time
from rclpy.utilities import remove_ros_args
from tf2_ros import Buffer, TransformListener

from tf2_ros_programs.run import spin


def describe(message: TransformStamped, precision: int) -> str:
    """The text for one transform, as upstream's program words it."""
    t, q = message.transform.translation, message.transform.rotation
    x, y, z, w = q.x, q.y, q.z, q.w
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), t.x),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), t.y),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), t.z),
        (0.0, 0.0, 0.0, 1.0),
    )
    pitch = math.asin(max(-1.0, min(1.0, -rows[2][0])))
    angles = math.atan2(rows[2][1], rows[2][2]), pitch, math.atan2(rows[1][0], rows[0][0])

    def several(*values: float) -> str:
        return "[" + ", ".join(f"{value:.{precision}f}" for value in values) + "]"

    lines = [
        f"At time {message.header.stamp.sec}.{message.header.stamp.nanosec}",
        f"- Translation: {several(t.x, t.y, t.z)}",
        f"- Rotation: in Quaternion (xyzw) {several(x, y, z, w)}",
        f"- Rotation: in RPY (radian) {several(*angles)}",
        f"- Rotation: in RPY (degree) {several(*map(math.degrees, angles))}",
        "- Matrix:",
    ]
    lines += (" ".join(f"{value:{precision + 3}.{precision}f}" for value in row) for row in rows)
    return "\n".join(lines)


class Echo(Node):
    """Looks a transform up at a rate and prints it, or why it is not known."""

    def __init__(self, source_frame: str, target_frame: str, rate: float, precision: int) -> None:
        super().__init__("tf2_echo")
        self._frames = source_frame, target_frame
        self._precision = precision
        self._buffer = Buffer(node=self)
        self._listener = TransformListener(self._buffer, self)
        self._timer = self.create_timer(1.0 / rate, self._echo)

    def _echo(self) -> None:
        source, target = self._frames
        # Upstream's order: the target frame as seen from the source frame.
        known, reason = self._buffer.can_transform(source, target, Time(), return_debug_tuple=True)
        if known:
            found = self._buffer.lookup_transform(source, target, Time())
            print(describe(found, self._precision), flush=True)
        else:
            self.get_logger().info(f"Waiting for transform {source} -> {target}: {reason}")


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise ValueError
    return value


def main(stop: Event) -> int:
    """Run until told to stop; the exit status."""
    parser = argparse.ArgumentParser("tf2_echo", description=__doc__)
    parser.add_argument("source_frame", help="the frame to look from")
    parser.add_argument("target_frame", help="the frame to look at")
    parser.add_argument("rate", nargs="?", type=_positive, default=1.0, help="[Hz], 1 by default")
    parser.add_argument("-p", "--precision", type=int, choices=range(17), default=3)
    options = parser.parse_args(remove_ros_args(sys.argv)[1:])
    spin(lambda: Echo(**vars(options)), stop)
    return 0

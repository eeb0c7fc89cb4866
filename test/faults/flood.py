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

"""Floods ik_node with poses on a circle, each stamped; prints how many, and in what time.

    python flood.py RATE SECONDS

The last pose is the first on the circle.
"""

import struct
import sys
import time

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import serialize_message

STAMP = 4  # bytes before the stamp in a serialised message
CENTRE, RADIUS, TURNS = (0.40, 0.15, 0.40), 0.05, 0.2  # m, m, 1/s
QUATERNION = (1.0, 0.0, 0.0, 0.0)  # xyzw: the tool points down


def position(turn):
    """Return where a pose is on the circle, after so many turns (3,) [m]."""
    angle = 2.0 * np.pi * turn
    return np.array(CENTRE) + RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0])


def serialised(turn):
    """Return the message of a pose, with a stamp to be filled in."""
    message = PoseStamped()
    message.header.frame_id = "base_link"
    place, turned = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = position(turn).tolist()
    turned.x, turned.y, turned.z, turned.w = QUATERNION
    return bytearray(serialize_message(message))


def main(rate, seconds):
    """Publish."""
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node("flood", context=context)
    publisher = node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    # Serialised ahead: a message made in Python takes longer than it may.
    circle = [serialised(k / 5000) for k in range(5000)]

    def publish(k):
        message = circle[k]
        struct.pack_into("<iI", message, STAMP, *divmod(time.time_ns(), 1_000_000_000))
        publisher.publish(bytes(message))

    start, count = time.monotonic(), 0
    while (elapsed := time.monotonic() - start) < seconds:
        k = int(elapsed * TURNS * len(circle)) % len(circle)
        for _ in range(int(rate * elapsed) - count):
            publish(k)
            count += 1
        time.sleep(0.0005)
    publish(0)
    print(count + 1, elapsed, flush=True)
    time.sleep(0.5)  # for the last to be sent
    node.destroy_node()
    context.shutdown()


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))

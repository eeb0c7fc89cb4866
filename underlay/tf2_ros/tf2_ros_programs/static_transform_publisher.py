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

import math
import random
import string
import sys
from contextlib import suppress
from threading import Event

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from tf2_ros import StaticTransformBroadcaster

from tf2_ros_programs.run import spin

USAGE = """\
usage: static_transform_publisher [--x X] [--y Y] [--z Z] [--qx QX] [--qy QY] [--qz QZ] [--qw QW]
           [--roll ROLL] [--pitch PITCH] [--yaw YAW] --frame-id FRAME_ID --child-frame-id CHILD_ID

Publishes the pose of the frame CHILD_ID in FRAME_ID: metres, and a quaternion or fixed-axis
angles in radians. What is not given is that of the identity."""

_TRANSLATION = dict.fromkeys(("--x", "--y", "--z"), 0.0)
_ANGLES = dict.fromkeys(("--roll", "--pitch", "--yaw"), 0.0)
_QUATERNION = {"--qx": 0.0, "--qy": 0.0, "--qz": 0.0, "--qw": 1.0}
_FRAMES = ("--frame-id", "--child-frame-id")


def parse(arguments: list[str]) -> TransformStamped:
    """The transform that the options describe.

    Raises:
        ValueError: They do not describe one; the message says why.
    """
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    numbers = {**_TRANSLATION, **_ANGLES, **_QUATERNION}
    for option in arguments[::2]:
        if option not in numbers and option not in _FRAMES:
            raise ValueError(f"Extra unparsed arguments on command-line: {option!r}")
        if option not in given:
            raise ValueError(f"Not enough arguments for {option}")
        if option in numbers:
            numbers[option] = _number(option, given[option])
    for option in _FRAMES:
        if not given.get(option):
            raise ValueError(f"{option} must be given and not be empty")
    if given["--frame-id"] == given["--child-frame-id"]:
        raise ValueError("--frame-id and --child-frame-id cannot be the same")
    if given.keys() & _ANGLES.keys() and given.keys() & _QUATERNION.keys():
        raise ValueError("Cannot mix --roll, --pitch, --yaw with --qx, --qy, --qz, --qw")
    message = TransformStamped(child_frame_id=given["--child-frame-id"])
    message.header.frame_id = given["--frame-id"]
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = (numbers[option] for option in _TRANSLATION)
    q.x, q.y, q.z, q.w = (numbers[option] for option in _QUATERNION)
    if given.keys() & _ANGLES.keys():
        q.x, q.y, q.z, q.w = _quaternion(*(numbers[option] for option in _ANGLES))
    return message


def _number(option: str, text: str) -> float:
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    raise ValueError(f"{option} must be a finite number, not {text!r}")


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
        t, q = message.transform.translation, message.transform.rotation
        self.get_logger().info(
            "Spinning until stopped - publishing transform\n"
            f"translation: ('{t.x:f}', '{t.y:f}', '{t.z:f}')\n"
            f"rotation: ('{q.x:f}', '{q.y:f}', '{q.z:f}', '{q.w:f}')\n"
            f"from '{message.header.frame_id}' to '{message.child_frame_id}'"
        )


def main(stop: Event) -> int:
    """Run until told to stop; the exit status."""
    arguments = remove_ros_args(sys.argv)[1:]
    if "--help" in arguments or "-h" in arguments:
        print(USAGE)
        return 0
    try:
        message = parse(arguments)
    except ValueError as error:
        print(f"error parsing command line arguments: {error}", file=sys.stderr)
        return 1
    spin(lambda: StaticTransformPublisher(message), stop)
    return 0

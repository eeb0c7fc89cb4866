# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""static_transform_publisher and tf2_echo."""

import argparse
import math
import random
import signal
import string
import sys
from collections.abc import Callable
from threading import Event

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from rclpy.utilities import remove_ros_args

from tf2_ros import Buffer, StaticTransformBroadcaster, TransformException, TransformListener
from tf2_ros.history import placed


def spin(make_node: Callable[[], Node], stop: Event) -> None:
    """Spin a node until it is told to stop, by a signal for instance.

    rclpy's own signal handling is left out: it shuts the context down in another thread, and what
    is being created or shut down at that moment then fails.
    """
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = make_node()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)  # a signal is only seen in between
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it comes too late to change the exit status
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


def publish(stop: Event) -> None:
    """Publish a static transform until told to stop."""
    message = parse(remove_ros_args(sys.argv)[1:])
    spin(lambda: StaticTransformPublisher(message), stop)


def parse(arguments: list[str]) -> TransformStamped:
    """The transform that the options describe: metres, and fixed-axis angles in radians."""
    parser = argparse.ArgumentParser("static_transform_publisher")
    for option in ("--x", "--y", "--z", "--roll", "--pitch", "--yaw"):
        parser.add_argument(option, type=float, default=0.0)
    parser.add_argument("--frame-id", required=True)
    parser.add_argument("--child-frame-id", required=True)
    given = parser.parse_args(arguments)
    message = TransformStamped(child_frame_id=given.child_frame_id)
    message.header.frame_id = given.frame_id
    pose = placed((given.x, given.y, given.z), (given.roll, given.pitch, given.yaw))
    t, q = message.transform.translation, message.transform.rotation
    (t.x, t.y, t.z), (q.x, q.y, q.z, q.w) = pose
    return message


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


def echo(stop: Event) -> None:
    """Print a transform once a second until told to stop."""
    parser = argparse.ArgumentParser("tf2_echo")
    parser.add_argument("source_frame", help="the frame to look from")
    parser.add_argument("target_frame", help="the frame to look at")
    options = parser.parse_args(remove_ros_args(sys.argv)[1:])
    spin(lambda: Echo(**vars(options)), stop)


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

    return (
        f"At time {message.header.stamp.sec}.{message.header.stamp.nanosec}\n"
        f"- Translation: {several(t.x, t.y, t.z)}\n"
        f"- Rotation: in Quaternion (xyzw) {several(x, y, z, w)}\n"
        f"- Rotation: in RPY (radian) {several(*angles)}\n"
        f"- Rotation: in RPY (degree) {several(*map(math.degrees, angles))}"
    )

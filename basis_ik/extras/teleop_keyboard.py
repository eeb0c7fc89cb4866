# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves the tip by keys: publishes twists for `ik_node` while a key is held.

A terminal does not report the release of a key, but repeats a held key. Therefore each stroke lasts
for `TELEOP.stroke_time`: a tap is a nudge, and a held key keeps the tip moving once it repeats.
"""

from __future__ import annotations

import os
import select
import time
from threading import Event
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from basis_ik.arm.admission import printable
from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.keyboard import KEY_TWISTS, ZERO_TWIST, Triple, strokes_at_once
from basis_ik.ros.parameters.parameters import (
    Declaration,
    Parameters,
    given_frame_complaint,
    given_lists,
)
from basis_ik.ros.qos import LATCHED

TELEOP_NAME = "teleop_keyboard"


class TeleopTuning(NamedTuple):
    """Times and speeds of driving by keys."""

    stroke_time: float = 0.15  # [s]; keyboards repeat a held key 20 to 40 times a second
    twist_period: float = 0.02  # [s] between two twists
    speed_step: float = 1.25  # factor of a key for more or less speed
    slowest: float = 0.02  # factor on the parameters' speeds
    fastest: float = 10.0  # the same
    status_length: int = 60  # characters of the node's status that are shown


TELEOP = TeleopTuning()

KEY_OPENINGS = {"v": 1.0, "c": 0.0}  # of the gripper, for each key
TELEOP_HELP = """\
w s  along x      u j  about x      t  axes of the root or of the tip
a d  along y      i k  about y      + -  faster, slower
r f  along z      o l  about z      space  stop;  e  enable;  q  quit
v c  open, close the gripper
Hold a key to move; a tap is a nudge.
"""

TELEOP_PARAMETERS = (
    Declaration(
        "root_frame",
        "",
        "Frame of the chain's root; empty: inferred.",
        read_only=True,
    ),
    Declaration("tip_frame", "", "Frame of its tip; empty: inferred.", read_only=True),
    Declaration(
        "frame_prefix",
        "",
        "What robot_state_publisher puts before the names of all links in tf.",
        read_only=True,
        check=given_frame_complaint,
    ),
    Declaration("linear_speed", 0.1, "Initial speed of the tip [m/s].", 1e-4, 10.0, True),
    Declaration("angular_speed", 0.3, "Initial angular velocity [rad/s].", 1e-4, 10.0, True),
)


class Keys:
    """Converts strokes of keys to twists, without a terminal or ROS.

    Args:
        linear: Speed of the tip [m/s].
        angular: Angular velocity [rad/s].

    Attributes:
        in_tip: Whether twists are along the axes of the tip; otherwise of the root.
        factor: Factor on both speeds.
    """

    def __init__(self, linear: float, angular: float) -> None:
        self._linear, self._angular = linear, angular
        self._key, self._until = "", 0.0
        self.in_tip, self.factor = False, 1.0

    def press(self, key: str, now: float) -> None:
        """Process a stroke at a time [s]; any key that is not a direction ends the motion."""
        self._key, self._until = "", 0.0
        if key in KEY_TWISTS:
            self._key, self._until = key, now + TELEOP.stroke_time
        elif key == "t":
            self.in_tip = not self.in_tip
        elif key in "+-":
            factor = self.factor * (TELEOP.speed_step if key == "+" else 1.0 / TELEOP.speed_step)
            self.factor = min(max(factor, TELEOP.slowest), TELEOP.fastest)

    @property
    def speeds(self) -> tuple[float, float]:
        """The present speeds [m/s], [rad/s]."""
        return self.factor * self._linear, self.factor * self._angular

    def twist(self, now: float) -> tuple[Triple, Triple] | None:
        """Return the twist at a time [s]: [m/s], [rad/s]; None if no key is held."""
        if not now < self._until:
            return None
        (x, y, z), (a, b, c) = KEY_TWISTS[self._key]
        linear, angular = self.speeds
        return (x * linear, y * linear, z * linear), (a * angular, b * angular, c * angular)


class Frames(NamedTuple):
    """The frames of the twists."""

    root: str
    tip: str


class TeleopKeyboard(Node):
    """Node `teleop_keyboard`."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__(TELEOP_NAME, automatically_declare_parameters_from_overrides=True)
        parameters = Parameters(self)
        parameters.declare(TELEOP_PARAMETERS)
        parameters.refuse_unknown()
        self.keys = Keys(parameters["linear_speed"], parameters["angular_speed"])
        root, tip = parameters["root_frame"], parameters["tip_frame"]
        self._given, self._prefix = Frames(root, tip), parameters["frame_prefix"]
        self._frames = self._given if root and tip else None
        self._status, self._moves = "", False
        self._twists = self.create_publisher(TwistStamped, "basis_ik/twist", 1)
        self.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self.create_subscription(String, "robot_description", self._on_description, LATCHED)
        self._gripper = self.create_publisher(Float64, "basis_ik/gripper", 1)
        self._stop = self.create_client(Trigger, "basis_ik/stop")
        self._enable = self.create_client(SetBool, "basis_ik/enable")

    def _on_description(self, message: String) -> None:
        root, tip = self._given
        try:
            model = RobotModel.from_urdf(message.data, frame_prefix=self._prefix)
            chain = model.chain(root or None, tip or None)
        except BasisIkError as error:
            self._status = f"robot description refused: {error}"
        else:
            self._frames = Frames(chain.root, chain.tip)

    def _on_status(self, message: DiagnosticStatus) -> None:
        self._status = message.message

    def press(self, key: str) -> None:
        """Process a stroke."""
        self.keys.press(key, time.monotonic())
        if key == " ":
            self._stop.call_async(Trigger.Request())
        elif key == "e":
            self._enable.call_async(SetBool.Request(data=True))
        elif key in KEY_OPENINGS:
            self._gripper.publish(Float64(data=KEY_OPENINGS[key]))

    def publish_twist(self) -> None:
        """Publish the twist of the held key; after the last one, one zero twist."""
        twist = self.keys.twist(time.monotonic())
        moves, self._moves = self._moves, twist is not None and self._frames is not None
        if self._frames is None or not (moves or self._moves):
            return
        message = TwistStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = self._frames.tip if self.keys.in_tip else self._frames.root
        v, w = message.twist.linear, message.twist.angular
        (v.x, v.y, v.z), (w.x, w.y, w.z) = twist or ZERO_TWIST
        self._twists.publish(message)

    @property
    def line(self) -> str:
        """Return the status line below the keys."""
        if self._frames is None:
            return self._status or f"waiting for {self.resolve_topic_name('robot_description')}"
        frame = self._frames.tip if self.keys.in_tip else self._frames.root
        linear, angular = self.keys.speeds
        status = self._status or "no status of basis_ik yet"
        shown = printable(status, TELEOP.status_length)
        return f"{frame}: {linear:.3f} m/s, {angular:.3f} rad/s | {shown}"


def main(stop: Event) -> int:
    """Run until `q`, the end of the terminal or a signal; return the exit status."""
    node, shown = TeleopKeyboard(), ""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with strokes_at_once() as terminal:
        print(TELEOP_HELP, flush=True)
        while not stop.is_set():
            if select.select([terminal], [], [], TELEOP.twist_period)[0]:
                keys = os.read(terminal, 64).decode(errors="ignore")
                if not keys or "q" in keys:
                    break
                for key in keys:
                    node.press(key)
            node.publish_twist()
            for _ in range(3):  # bounded, so that messages do not delay the keys
                executor.spin_once(timeout_sec=0.0)
            if node.line != shown:
                shown = node.line
                print(f"\r\033[K{shown}", end="", flush=True)
        print()
    executor.shutdown()
    node.destroy_node()
    return 0

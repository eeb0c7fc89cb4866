# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node: joint states in, frames out."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from xml.etree import ElementTree

from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from tf2_ros.history import IDENTITY, Pose, Vector, compose, placed, turned
from tf2_ros.programs import spin

MOVING = ("revolute", "continuous", "prismatic")
VERSIONS = ("1.0", "1.1", "1.2")
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOINT_STATES = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
NODE_NAME = "robot_state_publisher"


@dataclass(frozen=True)
class Joint:
    """One joint; lengths in metres, angles in radians.

    `mimic` holds (master, multiplier, offset): the joint's value is multiplier * master + offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Vector
    mimic: tuple[str, float, float] | None

    def pose(self, value: float = 0.0) -> Pose:
        """Return where the child stands in the parent when the joint stands at `value`."""
        if self.kind == "prismatic":
            x, y, z = self.axis
            return compose(self.origin, ((value * x, value * y, value * z), IDENTITY[1]))
        return compose(self.origin, turned(self.axis, value))


def read_joints(text: str) -> list[Joint]:
    """Return the joints of a URDF.

    Raises:
        ValueError: it is none; the message is one line.
    """
    try:
        robot = ElementTree.fromstring(text)
        version = robot.get("version", "1.0")
        if version not in VERSIONS:
            raise ValueError(f"version {version!r} is not one of {', '.join(VERSIONS)}")
        turns = version != "1.0"
        return [_joint(element, turns) for element in robot.findall("joint")]
    except (
        ElementTree.ParseError,
        AttributeError,
        KeyError,
        ValueError,
        ZeroDivisionError,
    ) as error:
        raise ValueError(f"robot_description is not a valid URDF: {error}") from error


def _origin(origin: ElementTree.Element | None, turns: bool) -> Pose:
    """Return an origin; `turns`: whether the version of the URDF has quaternions."""
    xyz, rpy = (_vector(origin, part, (0.0, 0.0, 0.0)) for part in ("xyz", "rpy"))
    if origin is None or "quat_xyzw" not in origin.attrib or not turns:
        return placed(xyz, rpy)
    if "rpy" in origin.attrib:
        raise ValueError("both rpy and quat_xyzw in <origin>")
    x, y, z, w = map(float, origin.attrib["quat_xyzw"].split())
    length = math.hypot(x, y, z, w)
    return xyz, (x / length, y / length, z / length, w / length)


def _joint(joint: ElementTree.Element, turns: bool) -> Joint:
    name, kind = joint.attrib["name"], joint.attrib["type"]
    x, y, z = _vector(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z) if kind in MOVING else 1.0
    mimic = None
    if (found := joint.find("mimic")) is not None:
        multiplier, offset = float(found.get("multiplier", 1.0)), float(found.get("offset", 0.0))
        mimic = (found.attrib["joint"], multiplier, offset)
    parent, child = (joint.find(end).attrib["link"] for end in ("parent", "child"))
    axis = (x / length, y / length, z / length)
    return Joint(name, kind, parent, child, _origin(joint.find("origin"), turns), axis, mimic)


def _vector(element: ElementTree.Element | None, name: str, default: Vector) -> Vector:
    text = None if element is None else element.get(name)
    if text is None:
        return default
    x, y, z = map(float, text.split())
    return x, y, z


class RobotStatePublisher(Node):
    """Publishes /tf_static at once, and /tf with the joint states, `publish_frequency` at most.

    The names of all frames, but nothing else, begin with the parameter `frame_prefix`.

    Args:
        description: what `robot_description` is when the parameter is not given.

    Raises:
        ValueError: the description is no URDF, or the frequency not positive.
    """

    def __init__(self, description: str = "") -> None:
        super().__init__(NODE_NAME)
        fixed = ParameterDescriptor(read_only=True)
        frequency = self.declare_parameter("publish_frequency", 20.0, fixed).value
        text = self.declare_parameter("robot_description", description, fixed).value
        prefix = self.declare_parameter("frame_prefix", "", fixed).value
        if not 0.0 < frequency <= 1000.0:
            raise ValueError(f"publish_frequency must be between 0 and 1000, not {frequency}")
        self._period = round(1e9 / frequency)
        self._pause = min(self._period / 2e9, 0.01)
        joints = [
            replace(joint, parent=prefix + joint.parent, child=prefix + joint.child)
            for joint in read_joints(text)
        ]
        self._moving = {j.name: (j, _message(j)) for j in joints if j.kind in MOVING}
        self._published: dict[str, int] = {}
        self._called = 0
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        self._tf_static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._tf_static.publish(
            TFMessage(transforms=[_message(joint) for joint in joints if joint.kind == "fixed"])
        )
        self._description.publish(String(data=text))
        self._states = self.create_subscription(
            JointState, "joint_states", self._on_joint_states, JOINT_STATES
        )
        self.get_logger().info("Robot initialized")

    def _on_joint_states(self, state: JointState) -> None:
        # Waking the executor costs several times what a message costs: at high rates, take batches.
        self._on_joint_state(state)
        while taken := self._states.handle.take_message(JointState, False):
            self._on_joint_state(taken[0])
        time.sleep(self._pause)

    def _on_joint_state(self, state: JointState) -> None:
        if len(state.name) != len(state.position):
            self.get_logger().error(
                f"joint state ignored: {len(state.name)} names, {len(state.position)} positions",
                throttle_duration_sec=5.0,
            )
            return
        now = self.get_clock().now().nanoseconds
        if now < self._called:  # simulated time goes back
            self._published.clear()
        self._called = now
        stamp = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
        oldest = min([now, *(self._published.get(name, 0) for name in state.name)])
        if stamp >= oldest + self._period:
            self._publish_moving(state)
            self._published.update(dict.fromkeys(state.name, stamp))

    def _publish_moving(self, state: JointState) -> None:
        positions = dict(zip(state.name, state.position, strict=True))
        for joint, _ in self._moving.values():
            if joint.mimic and joint.mimic[0] in positions:
                master, multiplier, offset = joint.mimic
                positions.setdefault(joint.name, multiplier * positions[master] + offset)
        messages = []
        for name in positions.keys() & self._moving.keys():
            joint, message = self._moving[name]
            _fill(message, joint, positions[name])
            message.header.stamp = state.header.stamp
            messages.append(message)
        self._tf.publish(TFMessage(transforms=messages))


def _message(joint: Joint) -> TransformStamped:
    message = TransformStamped(child_frame_id=joint.child)
    message.header.frame_id = joint.parent
    _fill(message, joint, 0.0)
    return message


def _fill(message: TransformStamped, joint: Joint, position: float) -> None:
    t, r = message.transform.translation, message.transform.rotation
    (t.x, t.y, t.z), (r.x, r.y, r.z, r.w) = joint.pose(position)


def main(stop: Event) -> int:
    """Run the node until told to stop; return 1 if there is no robot to publish."""
    try:
        files = remove_ros_args(sys.argv)[1:]
        description = Path(files[0]).read_text() if files else ""
        spin(lambda: RobotStatePublisher(description), stop)
        return 0
    except (OSError, ValueError, ParameterException) as error:
        get_logger(NODE_NAME).fatal(str(error))
        return 1

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

"""The node: joint states in, frames out."""

from __future__ import annotations

import math
import signal
import sys
import time
from pathlib import Path
from threading import Event

import rclpy
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_state_publisher.joints import MOVING, DescriptionError, Joint, read_joints

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOINT_STATES = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
NODE_NAME = "robot_state_publisher"


class RobotStatePublisher(Node):
    """Publishes /tf_static at once, and /tf with the joint states, `publish_frequency` at most.

    Args:
        description: what `robot_description` is when the parameter is not given.

    Raises:
        DescriptionError: the description is empty or not a URDF.
        ValueError: another parameter is out of its range.
    """

    def __init__(self, description: str = "") -> None:
        super().__init__(NODE_NAME)
        self.declare_parameter("publish_frequency", 20.0)
        self.declare_parameter("ignore_timestamp", False)
        self.declare_parameter("frame_prefix", "")
        self.declare_parameter("robot_description", description)
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        self._tf_static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        parameters = self.get_parameters(list(PARAMETERS))
        for parameter in parameters:
            PARAMETERS[parameter.name](parameter.value)
        self._apply(parameters)
        self.add_on_set_parameters_callback(self._validate)
        self.add_post_set_parameters_callback(self._apply)
        self._called = 0
        self._states = self.create_subscription(
            JointState, "joint_states", self._on_joint_states, JOINT_STATES
        )
        self.get_logger().info("Robot initialized")

    @staticmethod
    def _validate(parameters: list[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                PARAMETERS.get(parameter.name, lambda _: None)(parameter.value)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply(self, parameters: list[Parameter]) -> None:
        changed = {parameter.name for parameter in parameters}
        self._period = round(1e9 / self.get_parameter("publish_frequency").value)
        self._pause = min(self._period / 2e9, 0.01)
        self._ignore_timestamp = self.get_parameter("ignore_timestamp").value
        if changed & {"robot_description", "frame_prefix"}:
            self._publish_description()

    def _publish_description(self) -> None:
        text = self.get_parameter("robot_description").value
        joints = read_joints(text)
        self._moving = {j.name: (j, self._message(j)) for j in joints if j.kind in MOVING}
        self._mimics = _in_order([j for j in joints if j.kind in MOVING and j.mimic])
        self._published: dict[str, int] = {}
        fixed = [self._message(joint) for joint in joints if joint.kind == "fixed"]
        stamp = self.get_clock().now().to_msg()
        for message in fixed:
            message.header.stamp = stamp
        self._tf_static.publish(TFMessage(transforms=fixed))
        self._description.publish(String(data=text))
        for joint in joints:
            if joint.kind not in (*MOVING, "fixed"):
                self.get_logger().warning(
                    f"joint '{joint.name}' is {joint.kind}; joint states cannot say where "
                    f"'{joint.child}' is, so its frame is not published"
                )

    def _message(self, joint: Joint) -> TransformStamped:
        prefix = self.get_parameter("frame_prefix").value
        message = TransformStamped(child_frame_id=prefix + joint.child)
        message.header.frame_id = prefix + joint.parent
        _fill(message, joint, 0.0)
        return message

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
        if now < self._called:
            self.get_logger().warning("Moved backwards in time, re-publishing joint transforms!")
            self._published.clear()
        self._called = now
        stamp = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
        oldest = min([now, *(self._published.get(name, 0) for name in state.name)])
        if self._ignore_timestamp or stamp >= oldest + self._period:
            self._publish_moving(state)
            self._published.update(dict.fromkeys(state.name, stamp))

    def _publish_moving(self, state: JointState) -> None:
        positions = dict(zip(state.name, state.position, strict=True))
        for joint in self._mimics:
            master, multiplier, offset = joint.mimic
            if master in positions:
                positions.setdefault(joint.name, multiplier * positions[master] + offset)
        messages = []
        for name, position in positions.items():
            joint, message = self._moving.get(name, (None, None))
            if joint is None:
                continue
            if not math.isfinite(position):
                self.get_logger().error(
                    f"joint '{name}' is reported at {position}; its frame is not published",
                    throttle_duration_sec=5.0,
                )
                continue
            _fill(message, joint, position)
            message.header.stamp = state.header.stamp
            messages.append(message)
        if messages:
            self._tf.publish(TFMessage(transforms=messages))


def _fill(message: TransformStamped, joint: Joint, position: float) -> None:
    t, r = message.transform.translation, message.transform.rotation
    (t.x, t.y, t.z), (r.x, r.y, r.z, r.w) = joint.transform(position)


def _in_order(mimics: list[Joint]) -> list[Joint]:
    """Return the mimic joints, each after the mimic joint that it follows; loops are left out."""
    ordered: list[Joint] = []
    waiting = {joint.name: joint for joint in mimics}
    while ready := [joint for joint in waiting.values() if joint.mimic[0] not in waiting]:
        ordered += ready
        for joint in ready:
            del waiting[joint.name]
    return ordered


def _check_description(text: object) -> None:
    if not isinstance(text, str) or not text:
        raise DescriptionError("robot_description parameter must not be empty")
    read_joints(text)


def _check_frequency(hertz: object) -> None:
    if not isinstance(hertz, float) or not 0.0 < hertz <= 1000.0:
        raise ValueError(f"publish_frequency must be between 0 and 1000, not {hertz}")


PARAMETERS = {
    "publish_frequency": _check_frequency,
    "ignore_timestamp": lambda _: None,
    "frame_prefix": lambda _: None,
    "robot_description": _check_description,
}


def main() -> int:
    """Run the node until it is interrupted; 1 when there is no robot to publish."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    logger = rclpy.logging.get_logger(NODE_NAME)
    try:
        text = ""
        if files := remove_ros_args(sys.argv)[1:]:
            logger.warning("a URDF file as argument is deprecated: set robot_description instead")
            text = Path(files[0]).read_text()
        executor = SingleThreadedExecutor()
        executor.add_node(RobotStatePublisher(text))
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)  # Python sees a signal when this returns
        return 0
    except (OSError, ValueError, ParameterException) as error:
        logger.fatal(str(error))
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it comes too late to change the exit status
        rclpy.try_shutdown()

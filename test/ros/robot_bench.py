"""A robot for the node's tests: it obeys every command at once, and objects to unsafe ones."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TransformStamped
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster
from trajectory_msgs.msg import JointTrajectory

from basis_ik.model.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD = 0.01  # the node's default
PATIENCE = 60.0  # for what must happen at all; the first time, kernels are compiled


def start_node(domain, *arguments):
    """Start ik_node as a process of its own."""
    command = [sys.executable, "-m", "basis_ik.ros.programs", "ik_node", "--ros-args", *arguments]
    return subprocess.Popen(
        command,
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def stop_node(process, with_signal=signal.SIGINT):
    """End a node and return its exit status and output."""
    process.send_signal(with_signal)
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, output


class Robot:
    """Publishes description, joint states and tf; records commands and verdicts."""

    def __init__(self, domain):
        self.model = RobotModel.from_urdf(URDF)
        self.chain = self.model.chain()
        self.positions = HOME.copy()
        self.talking = True
        self.commands = []
        self.complaints = []
        self.statuses = []
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("robot", context=self.context)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.targets = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self.tf, self.static_tf = (
            TransformBroadcaster(self.node),
            StaticTransformBroadcaster(self.node),
        )
        topic = "joint_trajectory_controller/joint_trajectory"
        self.node.create_subscription(JointTrajectory, topic, self._obey, 10)
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._hear, 10)
        self.node.create_timer(PERIOD, self._tell)
        self.frames = {}
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self):
        self.context.shutdown()
        self._thread.join(PATIENCE)

    def _spin(self):
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _tell(self):
        if not self.talking:
            return
        stamp = self.node.get_clock().now().to_msg()
        state = JointState(name=list(self.chain.joint_names), position=self.positions.tolist())
        state.header.stamp = stamp
        self.states.publish(state)
        tool = transform_message("base_link", "tool0", self.chain.forward(self.positions), stamp)
        moving = [transform_message("base_link", n, f(), stamp) for n, f in self.frames.items()]
        self.tf.sendTransform([tool, *moving])

    def _obey(self, message):
        """Record a command and whatever is unsafe about it; go there."""
        command = np.array(message.points[0].positions)
        fine = (
            message.joint_names == list(self.chain.joint_names)
            and len(message.points) == 1
            and np.isfinite(command).all()
            and (command >= self.chain.lower - 1e-9).all()
            and (command <= self.chain.upper + 1e-9).all()
            and (np.abs(command - self.positions) <= self.chain.velocity * PERIOD + 1e-9).all()
        )
        if not fine:
            self.complaints.append((self.positions, command))
        self.commands.append(command)
        self.positions = command

    def _hear(self, message):
        values = {pair.key: pair.value for pair in message.values}
        self.statuses.append({**values, "message": message.message, "level": message.level})

    def place(self, parent, child, parent_T_child):
        """Publish a static frame."""
        stamp = self.node.get_clock().now().to_msg()
        self.static_tf.sendTransform(transform_message(parent, child, parent_T_child, stamp))

    def send(self, frame, frame_T_target, stamp="now"):
        """Publish a target pose."""
        message = PoseStamped(pose=pose_message(frame_T_target))
        message.header.frame_id = frame
        if stamp == "now":
            message.header.stamp = self.node.get_clock().now().to_msg()
        elif stamp is not None:
            message.header.stamp = stamp
        self.targets.publish(message)
        return message

    def tip(self):
        return self.chain.forward(self.positions)

    def at(self, root_T_target, tolerance=1e-4):
        return np.allclose(self.tip().matrix, root_T_target.matrix, atol=tolerance)

    def wait(self, condition, what, patience=PATIENCE):
        """Wait until something holds; fail naming what never came."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.01)
        last = self.statuses[-1] if self.statuses else None
        raise AssertionError(f"never: {what}; last status: {last}")

    def wait_status(self, **wanted):
        """Wait for a new status that holds these values."""
        seen = len(self.statuses)

        def come():
            new = self.statuses[seen:]
            return any(all(s.get(k) == v for k, v in wanted.items()) for s in new)

        self.wait(come, f"status with {wanted}")

    def quiet(self, seconds=0.3):
        """Tell whether no command comes for a while."""
        count = len(self.commands)
        time.sleep(seconds)
        return len(self.commands) == count


def transform_message(parent, child, transform, stamp):
    pose = pose_message(transform)
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, stamp
    message.transform.rotation = pose.orientation
    for axis in "xyz":
        setattr(message.transform.translation, axis, getattr(pose.position, axis))
    return message


def down(x, y, z):
    """Return a pose with the tool pointing down."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])

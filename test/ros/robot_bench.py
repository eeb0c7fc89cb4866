# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot of real processes: ik_node, a simulated arm, and a node that records both."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster
from trajectory_msgs.msg import JointTrajectory

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message, transform_message
from basis_ik.transforms.rigid import RigidTransform

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
CONTROLLER = "joint_trajectory_controller"
PERIOD = 0.01  # s: the node's default
# What comes late ends no motion here: what it must end is tested on the bench, in exact time.
PATIENT = [
    word
    for given in (
        "max_velocity_scaling_factor:=1.0",
        "max_acceleration_scaling_factor:=1.0",
        "tracking_lag:=5.0",
        "tracking_margin:=10.0",
        "joint_state_timeout:=10.0",
        "target_max_age:=1000.0",
        "transform_timeout:=10.0",
    )
    for word in ("-p", given)
]
PATIENCE = 300.0  # s: only ends what hangs


def start_node(domain, *arguments, program=("-m", "basis_ik.programs", "ik_node")):
    """Start a program in its own process; its output goes to a file, which never blocks it."""
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in `output_of`
    process = subprocess.Popen(
        [sys.executable, *program, "--ros-args", *arguments],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    process.output = output
    return process


def start_arm(domain, chain, positions, *arguments):
    """Start a simulated arm at joint positions (n,)."""
    words = ["-r", f"__node:={CONTROLLER}"]
    for name, position in zip(chain.joint_names, positions, strict=True):
        words += ["-p", f"initial_positions.{name}:={float(position)}"]
    program = ("-m", "basis_ik.programs", "simulated_arm")
    return start_node(domain, *words, *arguments, program=program)


def wait_for_log(process, words):
    """Wait for words in a running node's output, and return the output so far."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        logged = os.pread(process.output.fileno(), 1 << 20, 0).decode()
        if words in logged:
            return logged
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"it never said {words!r}: {output_of(process)[1]}")


def output_of(process):
    """Wait for a node's end and return its exit status and output."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    with process.output as output:
        output.seek(0)
        return process.returncode, output.read()


def stop_node(process, with_signal=signal.SIGINT):
    """End a node and return its exit status and output."""
    process.send_signal(with_signal)
    return output_of(process)


PROBLEM = re.compile(r"\[(?:WARN|ERROR)\] \[(\d+\.\d+)\] \[basis_ik\]: (.*)")
REASON = re.compile(r"(target refused|joint state): [A-Z_]+|[^0-9'\"(]*")


def logged_too_often(output):
    """Return the reasons that a node's log gives twice within a second."""
    last, found = {}, []
    for line in output.splitlines():
        problem = PROBLEM.fullmatch(line)
        if problem is None:
            continue
        then, reason = float(problem[1]), REASON.match(problem[2])[0]
        if then - last.get(reason, -1.0) < 0.99:  # the node's own clock is another
            found.append(reason)
        last[reason] = then
    return found


@contextlib.contextmanager
def running(domain, *arguments, urdf=URDF, home=HOME):
    """Yield a robot with an arm, and a node that is ready and whose end is clean."""
    robot = Robot(domain, urdf)
    arm = start_arm(domain, robot.chain, home)
    robot.process = process = start_node(domain, *PATIENT, *arguments)
    robot.description.publish(String(data=urdf))
    try:
        robot.wait_status(state="READY")
        yield robot
    finally:
        code, robot.output = stop_node(process)
        stop_node(arm)
        robot.close()
        print(robot.output)  # shown with a failure
    assert code == 0
    assert "Traceback" not in robot.output
    assert logged_too_often(robot.output) == []


class Robot:
    """Publishes description, targets and tf; records commands, joint states and statuses."""

    def __init__(self, domain, urdf=URDF):
        self.model = RobotModel.from_urdf(urdf)
        self.chain = self.model.chain()
        self.positions, self.commands, self.statuses, self.frames = None, [], [], {}
        self._defect = None  # what ended its thread
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("robot", context=self.context)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.targets = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self.points = self.node.create_publisher(PointStamped, "basis_ik/target_point", 1)
        self.twists = self.node.create_publisher(TwistStamped, "basis_ik/twist", 1)
        self.tf, self.static_tf = (
            TransformBroadcaster(self.node),
            StaticTransformBroadcaster(self.node),
        )
        lost = SubscriptionEventCallbacks(message_lost=self._lose)
        # Deep: this process may have no processor for a while.
        self.node.create_subscription(
            JointTrajectory,
            f"{CONTROLLER}/joint_trajectory",
            self._on_trajectory,
            1000,
            event_callbacks=lost,
        )
        self.node.create_subscription(JointState, "joint_states", self._on_joint_state, 1000)
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self.node.create_timer(PERIOD, self._publish_frames)
        self._clients = {}
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self):
        self._executor.shutdown()
        self._thread.join(PATIENCE)
        self.node.destroy_node()  # or its latched description would live on
        self.context.shutdown()

    def _spin(self):
        try:
            self._executor.spin()
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._defect = error
            raise

    def _publish_frames(self):
        if not self.frames:
            return
        stamp, frames = self.node.get_clock().now().to_msg(), list(self.frames.items())
        self.tf.sendTransform([transform_message("base_link", n, f(), stamp) for n, f in frames])

    def _on_trajectory(self, message):
        self.commands.append(message)

    def _lose(self, lost):
        """Ignore that commands were lost on their way to this process."""

    def _on_joint_state(self, message):
        by_name = dict(zip(message.name, message.position, strict=True))
        self.positions = np.array([by_name[name] for name in self.chain.joint_names])

    def _on_status(self, message):
        values = {pair.key: pair.value for pair in message.values}
        self.statuses.append(values | {"message": message.message, "level": message.level})

    def place(self, parent, child, parent_T_child):
        """Publish a static frame."""
        stamp = self.node.get_clock().now().to_msg()
        self.static_tf.sendTransform(transform_message(parent, child, parent_T_child, stamp))

    def send(self, frame, frame_T_target, *, stamped=True):
        """Publish a target pose, of this moment or of any; return its stamp as the status has it.

        The node may know a frame of tf later than this moment.
        """
        self.wait(self.targets.get_subscription_count, "the node hears targets")
        message = PoseStamped(pose=pose_message(frame_T_target))
        message.header.frame_id = frame
        stamp = self.node.get_clock().now().to_msg()
        if stamped:
            message.header.stamp = stamp
        self.targets.publish(message)
        return f"{stamp.sec}.{stamp.nanosec:09}"

    def reach(self, frame, frame_T_target):
        """Send a target pose, and wait until the node says that the arm has arrived at it."""
        stamp = self.send(frame, frame_T_target)
        self.wait_status(state="ARRIVED", verdict="REACHED", target_stamp=stamp)

    def look(self, frame, point):
        """Publish a point to look at, here and now."""
        message = PointStamped()
        message.header.frame_id = frame
        message.point.x, message.point.y, message.point.z = point
        self.points.publish(message)

    def jog(self, frame, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
        """Publish a twist, here and now."""
        message = TwistStamped()
        message.header.frame_id = frame
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = linear
        w.x, w.y, w.z = angular
        self.twists.publish(message)

    def set_parameter(self, name, value):
        """Ask the node to set a parameter; return its answer."""
        given = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, "set_parameters", parameters=[given]).results[0]

    def call(self, kind, name, **fields):
        """Call a service of the node and return its response."""
        # Clients are kept: a new one may miss its first response before discovery has finished.
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(kind, f"basis_ik/{name}")
            assert client.wait_for_service(PATIENCE), f"no service {name}"
            time.sleep(0.2)
        future = client.call_async(kind.Request(**fields))
        self.wait(future.done, f"an answer of {name}")
        return future.result()

    def transit(self, name):
        """Request a lifecycle transition; return whether it succeeded."""
        transition = Transition(id=0, label=name)
        return self.call(ChangeState, "change_state", transition=transition).success

    def state(self):
        """Return the lifecycle state's label."""
        return self.call(GetState, "get_state").current_state.label

    def at(self, root_T_target, tolerance=1e-4):
        """Return whether the measured tip is at a pose."""
        tip = self.chain.forward(self.positions)
        return np.allclose(tip.matrix, root_T_target.matrix, rtol=0.0, atol=tolerance)

    def wait(self, condition, what):
        """Wait until a condition holds; fail with its name if it never does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._defect is not None:
                raise AssertionError("the robot of the tests has failed") from self._defect
            if condition():
                return
            time.sleep(0.01)
        last = self.statuses[-1] if self.statuses else None
        raise AssertionError(f"never: {what}; last status: {last}")

    def wait_status(self, **wanted):
        """Wait for the last status to have given values."""
        what = f"a status with {wanted}"
        self.wait(lambda: self.statuses and wanted.items() <= self.statuses[-1].items(), what)


def down(x, y, z):
    """Return a pose with the tool pointing down."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])

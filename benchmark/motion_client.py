# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The user of a node under test: starts it and an arm, talks to both, records what is measured."""

import contextlib
import threading
import time
from pathlib import Path

import motion_measures as measures
import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

URDF = (Path(__file__).parents[1] / "urdf" / "ur5e.urdf").read_text()
ARM = measures.Kinematics(URDF, "base_link", "tool0")
START = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
RATE = 50.0  # Hz, of all streams
PATIENCE = 180.0  # s; kernels may have to be compiled first
STILL = 0.3  # s without motion: the arm is at rest


class Bench:
    """Plays the user: poses and twists out; joint states and statuses in, kept as they come."""

    def __init__(self):
        self.node = rclpy.create_node("bench_motion")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.poses = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self.twists = self.node.create_publisher(TwistStamped, "basis_ik/twist", 1)
        # An action, for the node suffers no second publisher beside it.
        action = "joint_trajectory_controller/follow_joint_trajectory"
        self.commands = ActionClient(self.node, FollowJointTrajectory, action)
        self.raw, self.rows, self.statuses, self.lateness = [], [], [], 0.0
        self.node.create_subscription(JointState, "joint_states", self._on_state, 1000, raw=True)
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 100)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.diagnostics, self.services = {}, {}
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self._spin, daemon=True)
        self.thread.start()

    def _spin(self):
        with contextlib.suppress(ExternalShutdownException):
            self.executor.spin()

    def _on_state(self, data):
        self.raw.append((time.time(), data))

    def _on_status(self, message):
        values = {pair.key: pair.value for pair in message.values}
        self.statuses.append((time.time(), values, message.message))

    def describe(self, urdf):
        """Publish a robot description, for whoever starts from now on."""
        self.description.publish(String(data=urdf))

    def close(self):
        """End what runs in the background."""
        self.executor.shutdown()
        self.thread.join()
        rclpy.try_shutdown()

    def _on_diagnostics(self, message):
        values = [pair for status in message.status for pair in status.values]
        self.diagnostics = {pair.key: pair.value for pair in values}

    def missed_periods(self):
        """Return how many periods of its control loop the node says it has missed, as of now."""
        self.diagnostics = {}
        self.until(lambda: "missed_periods" in self.diagnostics, "a diagnosis")
        return int(self.diagnostics["missed_periods"])

    # What was measured

    def motion(self, since):
        """Return what was measured since a time, and the last sample before it."""
        while self.raw:
            received, data = self.raw.pop(0)
            state = deserialize_message(data, JointState)
            stamp = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
            if not self.rows or stamp > self.rows[-1][0]:
                positions = dict(zip(state.name, state.position, strict=True))
                self.rows.append((stamp, *(positions[name] for name in ARM.joints)))
                self.lateness = max(self.lateness, received - stamp)
        first = len(self.rows)
        while first > 0 and self.rows[first - 1][0] > since:
            first -= 1
        rows = np.array(self.rows[max(first - 1, 0) :])
        return measures.Motion(rows[:, 0], rows[:, 1:], ARM.forward(rows[:, 1:])[0])

    def joints(self):
        """Return where the joints are (n,) [rad]."""
        return self.motion(time.time()).joints[-1]

    def tip(self):
        """Return where the tip is (3,) [m]."""
        return self.motion(time.time()).tips[-1]

    def told(self, since):
        """Return the distinct texts of the status since a time, in their order."""
        return list(dict.fromkeys(text for when, _, text in self.statuses if when >= since))

    # What the user does

    def until(self, condition, what, patience=PATIENCE):
        """Wait until something is the case; end the benchmark if it never is."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"bench_motion: never: {what}")
            time.sleep(0.005)

    def rest(self, patience=20.0):
        """Wait until the arm rests."""
        time.sleep(STILL)

        def still():
            joints = self.motion(time.time() - STILL).joints
            return np.abs(joints - joints[-1]).max() < 1e-6

        self.until(still, "the arm rests", patience)

    def call(self, kind, name, /, **fields):
        """Call a service; return its answer."""
        if name not in self.services:
            self.services[name] = self.node.create_client(kind, name)
        client = self.services[name]
        self.until(client.service_is_ready, f"a service {name}")
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f"an answer of {name}")
        return future.result()

    def stop(self):
        """Call ~/stop."""
        self.call(Trigger, "basis_ik/stop")

    def set_path(self, path):
        """Set the parameter `path`."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=path)
        changes = [Parameter(name="path", value=value)]
        answer = self.call(SetParameters, "basis_ik/set_parameters", parameters=changes)
        if not answer.results[0].successful:
            raise SystemExit(f"bench_motion: {answer.results[0].reason}")

    def place(self, joints):
        """Bring the arm somewhere by its controller, while the node holds still; wake the node."""
        self.call(SetBool, "basis_ik/enable", data=False)
        self.rest()
        seconds = 0.5 + float(np.abs(joints - self.joints()).max() / 1.5)
        point = JointTrajectoryPoint(positions=joints.tolist(), velocities=[0.0] * len(joints))
        point.time_from_start.sec = int(seconds)
        point.time_from_start.nanosec = int(1e9 * (seconds % 1.0))
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = JointTrajectory(joint_names=ARM.joints, points=[point])
        self.commands.send_goal_async(goal)
        self.until(lambda: np.abs(self.joints() - joints).max() < 1e-4, "the arm is placed", 20.0)
        self.rest()
        self.call(SetBool, "basis_ik/enable", data=True)
        self.until(lambda: self.statuses[-1][1].get("state") == "READY", "the node is ready", 20.0)
        time.sleep(0.1)

    def pose(self, position, rotation):
        """Publish a target pose, here and now; return when."""
        message = PoseStamped()
        message.header.frame_id = "base_link"
        p, o = message.pose.position, message.pose.orientation
        p.x, p.y, p.z = map(float, position)
        o.x, o.y, o.z, o.w = map(float, measures.quaternion_xyzw(rotation))
        return self._publish(self.poses, message)

    def twist(self, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
        """Publish a twist along the axes of the base; return when."""
        message = TwistStamped()
        message.header.frame_id = "base_link"
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = map(float, linear)
        w.x, w.y, w.z = map(float, angular)
        return self._publish(self.twists, message)

    def _publish(self, publisher, message):
        now = self.node.get_clock().now()
        message.header.stamp = now.to_msg()
        publisher.publish(message)
        return 1e-9 * now.nanoseconds

    def stream(self, tell, seconds):
        """Call something at the rate of streams for a while; return the first and last answer."""
        start, count = time.monotonic(), round(seconds * RATE)
        times = []
        for number in range(count):
            due = start + number / RATE
            time.sleep(max(due - time.monotonic(), 0.0))
            self.lateness = max(self.lateness, time.monotonic() - due)
            times.append(tell())
        return times[0], times[-1]

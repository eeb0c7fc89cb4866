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

"""A robot_state_publisher as a real process, a node that listens to it, and robots in few words."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

PACKAGE = Path(__file__).parents[1]


def joint(name, kind, parent, child, inside=""):
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}{limit if kind in ('revolute', 'prismatic') else ''}</joint>"
    )


def robot(links, *joints):
    return (
        f'<robot name="r">{"".join(f"<link name={n!r}/>" for n in links)}{"".join(joints)}</robot>'
    )


class Publisher:
    """The process under test."""

    def __init__(self, tmp_path, urdf, **parameters):
        file = tmp_path / "robot.yaml"
        parameters = {"use_sim_time": "false", **parameters}
        lines = [f"    {name}: {value}" for name, value in parameters.items()]
        if urdf is not None:
            lines.append("    robot_description: '" + urdf.replace("'", "''") + "'")
        file.write_text("\n".join(["/**:", "  ros__parameters:", *lines]))
        self.process = self.start("--ros-args", "--params-file", str(file))

    @staticmethod
    def start(*arguments):
        code = "import sys; from robot_state_publisher.node import main; sys.exit(main())"
        path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            output, _ = self.process.communicate(timeout=15)
        finally:
            self.process.kill()
        return self.process.returncode, output


class Listener:
    """Publishes joint states and keeps every frame and description that it hears."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("listener", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.moving, self.fixed, self.descriptions = [], [], []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        on = self.node.create_subscription
        on(TFMessage, "/tf", self.moving.append, 1000)
        on(TFMessage, "/tf_static", self.fixed.append, latched)
        on(String, "/robot_description", self.descriptions.append, latched)
        self.states = self.node.create_publisher(JointState, "joint_states", 100)
        self.parameters = AsyncParameterClient(self.node, "robot_state_publisher")

    def wait(self, condition, seconds=15.0):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.executor.spin_once(timeout_sec=0.05)

    def ready(self):
        self.wait(lambda: self.descriptions and self.states.get_subscription_count() > 0)

    def spin(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.01)

    def state(self, stamp, **positions):
        message = JointState(name=list(positions), position=list(positions.values()))
        message.header.stamp.sec, rest = divmod(round(stamp * 1e9), 10**9)
        message.header.stamp.nanosec = rest
        self.states.publish(message)

    def set(self, **values):
        self.wait(self.parameters.services_are_ready)
        future = self.parameters.set_parameters([Parameter(k, value=v) for k, v in values.items()])
        self.wait(future.done)
        return future.result().results

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/closed_loop.svg: command, arm and status while things go wrong.

pip install matplotlib && python docs/figures/draw_closed_loop.py      (in `make shell`; a minute)

The node and the simulated arm run as processes of their own; drives lag by 30 ms. What is drawn is
what was on the topics: the reference in controller_state, and joint_states.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from matplotlib.axes import Axes
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

HERE = Path(__file__).parent
URDF = (HERE.parents[1] / "urdf" / "ur5e.urdf").read_text()
CHAIN = RobotModel.from_urdf(URDF).chain()
HOME = [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]
CONTROLLER = "joint_trajectory_controller"
SHOWN = 0  # the shoulder's pan joint goes farthest
BLUE, RED, GREY = "#2b6cb0", "#c53030", "#a0aec0"

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)


def down(x: float, y: float, z: float) -> RigidTransform:
    """Return a pose with the tool pointing down."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])


FAR = down(-0.40, -0.30, 0.40)


def start(program: str, *words: str) -> subprocess.Popen[bytes]:
    """Start one of the package's programs, so that it can be killed."""
    command = [sys.executable, "-m", "basis_ik.programs", program, "--ros-args", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_arm() -> subprocess.Popen[bytes]:
    """Start the simulated arm at its home."""
    words = ["-r", f"__node:={CONTROLLER}", "-p", "drive_time_constant:=0.03"]
    words += ["-p", "state_publish_rate:=125.0"]
    for name, position in zip(CHAIN.joint_names, HOME, strict=True):
        words += ["-p", f"initial_positions.{name}:={position}"]
    return start("simulated_arm", *words)


class Scene(Node):
    """The user of the node; records what is on the topics."""

    def __init__(self, *arguments: str) -> None:
        super().__init__("user")
        self.commands: list[tuple[float, float]] = []
        self.measured: list[tuple[float, float]] = []
        self.states: list[tuple[float, str]] = []
        self.events: list[tuple[float, str]] = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        description = self.create_publisher(String, "robot_description", latched)
        description.publish(String(data=URDF))
        self._targets = self.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self.create_subscription(JointState, "joint_states", self._on_joint_state, 1000)
        self.create_subscription(
            JointTrajectoryControllerState, f"{CONTROLLER}/controller_state", self._on_state, 1000
        )
        self.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        threading.Thread(target=self._executor.spin, daemon=True).start()
        self.arm = start_arm()
        self.node = start(
            "ik_node", "-p", "max_velocity_scaling_factor:=1.0",
            "-p", "max_acceleration_scaling_factor:=1.0", *arguments,
        )  # fmt: skip
        self.wait("READY")
        time.sleep(1.0)

    def _now(self) -> float:
        return 1e-9 * self.get_clock().now().nanoseconds

    def _on_joint_state(self, message: JointState) -> None:
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        position = message.position[message.name.index(CHAIN.joint_names[SHOWN])]
        self.measured.append((stamp, position))

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.commands.append((stamp, message.reference.positions[SHOWN]))

    def _on_status(self, message: DiagnosticStatus) -> None:
        (state,) = (pair.value for pair in message.values if pair.key == "state")
        if not self.states or self.states[-1][1] != state:
            self.states.append((self._now(), state))

    def wait(self, state: str) -> None:
        """Wait until the node is in a state."""
        end = time.monotonic() + 120.0
        while not self.states or self.states[-1][1] != state:
            if time.monotonic() > end:
                raise SystemExit(f"the node never was {state}: {self.states}")
            time.sleep(0.01)

    def send(self, target: RigidTransform) -> None:
        """Publish a target, in the chain's root frame."""
        message = PoseStamped(pose=pose_message(target))
        message.header.frame_id = CHAIN.root
        message.header.stamp = self.get_clock().now().to_msg()
        self._targets.publish(message)

    def note(self, text: str) -> None:
        """Mark a moment in the chart."""
        self.events.append((self._now(), text))

    def set_arm(self, name: str, value: ParameterValue) -> None:
        """Set a parameter of the simulated arm."""
        client = self.create_client(SetParameters, f"{CONTROLLER}/set_parameters")
        client.wait_for_service()
        client.call_async(SetParameters.Request(parameters=[Parameter(name=name, value=value)]))

    def stop(self) -> None:
        """Call the node's ~/stop."""
        client = self.create_client(Trigger, "basis_ik/stop")
        client.wait_for_service()
        time.sleep(0.2)
        self.note("~/stop")
        client.call_async(Trigger.Request())

    def close(self) -> None:
        """End both processes."""
        for process in (self.node, self.arm):
            process.terminate()
            process.wait()
        self._executor.shutdown()
        self.destroy_node()


# Scenes ------------------------------------------------------------------------------------------


def stopped(scene: Scene) -> None:
    """A stop in mid-motion, with a controller at 30 % of its speed."""
    scene.set_arm("speed_scaling", ParameterValue(type=3, double_value=0.3))
    time.sleep(0.5)
    scene.note("target")
    scene.send(FAR)
    time.sleep(2.0)
    scene.stop()
    time.sleep(2.0)


def blocked(scene: Scene) -> None:
    """A joint that is blocked on the way, and free again."""
    scene.note("target")
    scene.send(FAR)
    time.sleep(0.7)
    scene.note("blocked")
    scene.set_arm("blocked_joint", ParameterValue(type=4, string_value=CHAIN.joint_names[SHOWN]))
    time.sleep(1.5)
    scene.note("free")
    scene.set_arm("blocked_joint", ParameterValue(type=4, string_value=""))
    time.sleep(1.5)


def restarted(scene: Scene) -> None:
    """A driver that dies on the way, and returns."""
    scene.note("target")
    scene.send(FAR)
    time.sleep(0.7)
    scene.note("killed")
    scene.arm.kill()
    scene.arm.wait()
    time.sleep(1.0)
    scene.note("started")
    scene.arm = start_arm()
    time.sleep(4.0)


def streamed(scene: Scene) -> None:
    """A target that goes round, 100 times a second."""
    scene.note("targets at 100 Hz")
    began = time.monotonic()
    while (t := time.monotonic() - began) < 5.0:
        angle = 2.0 * np.pi * t / 2.5
        scene.send(down(0.45 + 0.12 * np.cos(angle), 0.20 * np.sin(angle), 0.35))
        time.sleep(0.01)
    scene.note("the last one")
    time.sleep(1.5)


SCENES: list[tuple[str, Callable[[Scene], None], list[str]]] = [
    ("~/stop, controller at 30 % speed", stopped, ["follow_joint_trajectory"]),
    ("a blocked joint", blocked, []),
    ("a driver that dies and returns", restarted, []),
    ("targets at 100 Hz", streamed, []),
]


# Drawing -----------------------------------------------------------------------------------------


def record(play: Callable[[Scene], None], interface: list[str]) -> Scene:
    """Play a scene, with processes of its own."""
    scene = Scene(*(word for each in interface for word in ("-p", f"command_interface:={each}")))
    try:
        play(scene)
    finally:
        scene.close()
    return scene


def draw(position: Axes, velocity: Axes, title: str, scene: Scene) -> None:
    """Draw one scene: positions above, speeds below, states and events between."""
    zero = scene.events[0][0]
    for samples, colour, name in (
        (scene.commands, GREY, "controller's reference"),
        (scene.measured, BLUE, "measured"),
    ):
        times, values = np.array(samples).T
        new = np.concatenate(([True], np.diff(times) > 0.0))
        times, values = times[new] - zero, values[new]
        speeds = np.diff(values, prepend=np.nan) / np.diff(times, prepend=np.nan)
        gap = np.diff(times, prepend=-np.inf) > 0.1
        values[gap], speeds[gap] = np.nan, np.nan
        seen = times > -0.2
        position.plot(times[seen], values[seen], color=colour, label=name)
        velocity.plot(times[seen], speeds[seen], color=colour)
    limit = CHAIN.velocity[SHOWN]
    velocity.set_ylim(-1.3 * limit, 1.3 * limit)
    velocity.axhline(limit, color=RED, lw=0.8, ls=":")
    velocity.axhline(-limit, color=RED, lw=0.8, ls=":")
    for level, (when, text) in enumerate(scene.events):
        for ax in (position, velocity):
            ax.axvline(when - zero, color=RED, lw=0.8)
        velocity.text(when - zero, (1.15 - 0.15 * (level % 3)) * limit, f" {text}", color=RED)
    shown = [(when - zero, state) for when, state in scene.states if when > zero - 0.2]
    for level, (when, state) in enumerate(shown):
        position.axvline(when, color=GREY, lw=0.5)
        height = 0.97 - 0.08 * (level % 5)
        position.text(
            when, height, f" {state}", transform=position.get_xaxis_transform(), fontsize=6
        )
    position.set_title(title)
    velocity.set_xlabel("time [s]")


def main() -> None:
    """Play all scenes and write the figure."""
    rclpy.init()
    figure, axes = plt.subplots(2, len(SCENES), figsize=(14.0, 5.6), sharex="col")
    for column, (title, play, interface) in enumerate(SCENES):
        print(title, flush=True)
        draw(axes[0, column], axes[1, column], title, record(play, interface))
    axes[0, 0].set_ylabel(f"{CHAIN.joint_names[SHOWN]} [rad]")
    axes[1, 0].set_ylabel("velocity [rad/s]; dotted: limit")
    axes[0, 0].legend(loc="lower left", fontsize=7)
    figure.savefig(HERE / "closed_loop.svg", metadata={"Date": None})
    rclpy.shutdown()


if __name__ == "__main__":
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    main()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm for any robot_description, with the interface of ros2_control.

`ros2 run basis_ik simulated_arm`; see docs/simulated_arm.md.
"""

from __future__ import annotations

from threading import Event

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.simulated_arm_parameters import ArmParameters
from basis_ik.ros.demo.simulated_controller import SimulatedController
from basis_ik.ros.parameters.parameters import given_lists, refused
from basis_ik.ros.periodic_spinner import spin
from basis_ik.ros.qos import LATCHED
from basis_ik.ros.sim_clock import clock_missing
from basis_ik.simulation.simulated_robot import SimulatedRobot

# [s] between two log lines that say what the node waits for.
REMINDER_PERIOD = 5.0


NEEDS_MUJOCO = (
    "is mujoco, which needs the Python package mujoco, 3.3 or newer: "
    "python3 -m pip install 'mujoco>=3.3'"
)


class RobotDescriptionError(BasisIkError):
    """The received robot description is invalid."""


class SimulatedArm(Node):
    """Waits for a robot description, then simulates the robot; later descriptions are ignored."""

    def __init__(self) -> None:
        """Start, or wait for the topic robot_description first.

        Raises:
            BasisIkError: The robot or a parameter is invalid.
        """
        with given_lists():
            super().__init__(
                "joint_trajectory_controller", automatically_declare_parameters_from_overrides=True
            )
        self._arm_parameters = ArmParameters(self)
        self._controller: SimulatedController | None = None
        self.add_on_set_parameters_callback(_keep_clock)
        description = self._arm_parameters.text("robot_description")
        if description:
            self._start(description)
        else:
            self._description = self.create_subscription(
                String, "robot_description", self._on_description, LATCHED
            )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._reminder = self.create_timer(REMINDER_PERIOD, self._remind, clock=steady)
        self._remind()

    def _remind(self) -> None:
        if self._controller is None:
            topic = self._description.topic_name
            self.get_logger().info(f"waiting for a robot description on {topic}")
        elif clock_missing(self):
            self.get_logger().info("waiting for the time on /clock")
        else:
            self.destroy_timer(self._reminder)

    def _on_description(self, message: String) -> None:
        self.destroy_subscription(self._description)
        self._start(message.data)

    def _start(self, description: str) -> None:
        try:
            model = RobotModel.from_urdf(description)
        except BasisIkError as error:
            raise RobotDescriptionError(f"robot_description: {error}") from error
        robot = SimulatedRobot(model)
        joints = self._arm_parameters.joints or robot.driven
        try:
            robot.columns(joints)  # check them before their parameters are declared
        except BasisIkError as error:
            raise refused("joints", f"does not fit: {error}") from None
        start = self._arm_parameters.declare_joints(robot, joints)
        lag = self._arm_parameters.number("drive_time_constant")
        delay = self._arm_parameters.number("feedback_delay")
        if self._arm_parameters.text("physics") == "mujoco":
            self._give_masses(robot, model, description, start, lag, delay)
        else:
            robot.place(start, time_constant=lag, feedback_delay=delay)
        self._controller = SimulatedController(self, self._arm_parameters, robot, joints)
        self.get_logger().info(f"simulating '{model.name}'; controlled: {', '.join(joints)}")

    def _give_masses(
        self,
        robot: SimulatedRobot,
        model: RobotModel,
        description: str,
        start: FloatArray,
        lag: float,
        delay: float,
    ) -> None:
        try:
            from basis_ik.simulation.mujoco_joints import MujocoJoints
            from basis_ik.simulation.mujoco_scene import build_scene
        except ImportError as error:
            raise refused("physics", f"{NEEDS_MUJOCO} ({error})") from None
        joints = self._arm_parameters.joints or robot.driven
        alone = self._arm_parameters.flag("publish_uncontrolled_joints")
        absent = () if alone else [name for name in robot.driven if name not in joints]
        scene = build_scene(model, read_dynamics(description), robot, start, absent)
        for note in scene.notes:
            self.get_logger().warning(note)
        robot.joints = MujocoJoints(scene, robot, start, time_constant=lag, feedback_delay=delay)


def _keep_clock(parameters: list[Parameter]) -> SetParametersResult:
    """Refuse to change the clock, which times the motion."""
    changed = any(parameter.name == "use_sim_time" for parameter in parameters)
    reason = "use_sim_time can be set at the start only" if changed else ""
    return SetParametersResult(successful=not changed, reason=reason)


def main(stop: Event) -> int:
    """Run the simulated arm until `stop` is set; return the exit status."""
    spin(SimulatedArm(), stop)
    return 0

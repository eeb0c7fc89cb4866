# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tour of the demo on ros2_control: its own controller and its mock hardware move the arm."""

from pathlib import Path

import yaml
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch_ros.actions import Node

from basis_ik.ros.demo.tour_end import end_with

CONTROLLERS = Path(__file__).with_name("ros2_control.yaml")
HARDWARE = """
<ros2_control name="arm" type="system">
  <hardware>
    <plugin>mock_components/GenericSystem</plugin>
    <param name="calculate_dynamics">true</param>
  </hardware>
  {joints}
</ros2_control>
</robot>"""
JOINT = """<joint name="{name}">
    <command_interface name="position"/>
    <state_interface name="position"><param name="initial_value">{start}</param></state_interface>
    <state_interface name="velocity"/>
  </joint>"""


def description(share):
    """Return the UR5e's URDF with mock hardware that begins where the demo does."""
    urdf = (share / "urdf" / "ur5e.urdf").read_text()
    (demo,) = yaml.safe_load((share / "config" / "demo_ur5e.yaml").read_text()).values()
    start = demo["ros__parameters"]["initial_positions"]
    joints = "\n  ".join(JOINT.format(name=name, start=at) for name, at in start.items())
    return urdf.replace("</robot>", HARDWARE.format(joints=joints))


def generate_launch_description():
    """Start what a driver starts, then the node, then the tour; its status is the launch's."""
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": description(share)}
    spawner = Node(
        package="controller_manager",
        executable="spawner",
        arguments=["joint_state_broadcaster", "joint_trajectory_controller"],
    )
    tour = Node(
        package="basis_ik",
        executable="demo_targets",
        output="screen",
        parameters=[{"targets_file": str(share / "config" / "demo_targets.yaml")}],
    )
    return LaunchDescription(
        [
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[described, {"publish_frequency": 100.0}],
            ),
            Node(
                package="controller_manager",
                executable="ros2_control_node",
                output="screen",
                parameters=[str(CONTROLLERS)],
            ),
            spawner,
            Node(
                package="basis_ik",
                executable="ik_node",
                name="basis_ik",
                output="screen",
                parameters=[
                    {"max_velocity_scaling_factor": 1.0, "max_acceleration_scaling_factor": 1.0}
                ],
            ),
            Node(
                package="tf2_ros",
                executable="static_transform_publisher",
                arguments=[
                    *("--x", "0.45", "--y", "0.10", "--z", "0.10"),
                    *("--roll", "0.1", "--pitch", "-0.2", "--yaw", "2.0"),
                    *("--frame-id", "base_link", "--child-frame-id", "table"),
                ],
            ),
            RegisterEventHandler(OnProcessExit(target_action=spawner, on_exit=[tour])),
            *end_with([tour], "the tour failed: not all targets were as expected"),
        ]
    )

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated pan-tilt head that looks at a moving point, and a program that measures its error."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from basis_ik.ros.demo.tour_end import end_launch, end_with


def generate_launch_description():
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": (share / "urdf" / "pan_tilt.urdf").read_text()}

    def number(name):
        return ParameterValue(LaunchConfiguration(name), value_type=float)

    checker = Node(
        package="basis_ik",
        executable="moving_point",
        output="screen",
        parameters=[{"duration": number("duration"), "period": number("period")}],
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "duration", default_value="20.0", description="Time of the measurement [s]."
            ),
            DeclareLaunchArgument(
                "period", default_value="30.0", description="Period of the point's motion [s]."
            ),
            DeclareLaunchArgument(
                "physics",
                default_value="kinematic",
                choices=["kinematic", "mujoco"],
                description="What moves the simulated joints; mujoco: with masses and forces.",
            ),
            DeclareLaunchArgument(
                "view",
                default_value="false",
                choices=["true", "false"],
                description="Show the scene on a page in the browser.",
            ),
            DeclareLaunchArgument(
                "launch_rviz",
                default_value="false",
                choices=["true", "false"],
                description="Open RViz.",
            ),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[described, {"publish_frequency": 100.0}],
                on_exit=end_launch,
            ),
            Node(
                package="basis_ik",
                executable="simulated_arm",
                name="head_controller",
                parameters=[
                    described,
                    {"drive_time_constant": 0.03, "physics": LaunchConfiguration("physics")},
                ],
                on_exit=end_launch,
            ),
            Node(
                package="basis_ik",
                executable="ik_node",
                name="basis_ik",
                output="screen",
                parameters=[
                    str(share / "config" / "robots" / "pan_tilt.yaml"),
                    {"max_velocity_scaling_factor": 1.0, "max_acceleration_scaling_factor": 1.0},
                    {"home": [0.0, 0.0]},
                ],
                on_exit=end_launch,
            ),
            checker,
            *end_with([checker], "the head did not keep the point in sight"),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py")),
                condition=IfCondition(LaunchConfiguration("view")),
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "rviz.launch.py")),
                launch_arguments={"rviz_config": str(share / "rviz" / "point_head.rviz")}.items(),
                condition=IfCondition(LaunchConfiguration("launch_rviz")),
            ),
        ]
    )

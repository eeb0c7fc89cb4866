# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tree of transform nodes as frames, boxes and handles, with a chain combined into one node."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from basis_ik.ros.demo.tour_end import end_launch


def generate_launch_description():
    share = Path(get_package_share_directory("basis_ik"))
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "params_file",
                default_value=str(share / "config" / "transform_nodes.yaml"),
                description="The nodes.",
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
                package="basis_ik",
                executable="transform_nodes",
                name="transform_nodes",
                output="screen",
                parameters=[LaunchConfiguration("params_file")],
                on_exit=end_launch,
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py")),
                condition=IfCondition(LaunchConfiguration("view")),
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "rviz.launch.py")),
                launch_arguments={
                    "rviz_config": str(share / "rviz" / "transform_nodes.rviz")
                }.items(),
                condition=IfCondition(LaunchConfiguration("launch_rviz")),
            ),
        ]
    )

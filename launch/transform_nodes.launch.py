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

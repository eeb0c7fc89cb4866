# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Legs: the right leg reaches a foothold, and the left calf points at the right ankle there."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from basis_ik.ros.demo.tour_end import end_launch


def generate_launch_description():
    share = Path(get_package_share_directory("basis_ik"))
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "params_file",
                default_value=str(share / "config" / "legs.yaml"),
                description="The constraints.",
            ),
            DeclareLaunchArgument(
                "option",
                default_value="",
                choices=["", "1", "2"],
                description="How rotations are computed: all in world coordinates, where limits are not kept (1), or in each bone's own (2); none: as in params_file.",  # noqa: E501
            ),
            DeclareLaunchArgument(
                "pass_time",
                default_value="",
                description="Show FABRIK pass by pass, each for this long [s]; none: as in params_file.",  # noqa: E501
            ),
            DeclareLaunchArgument(
                "period",
                default_value="4.0",
                description="Period of the leg's swing [s]; 0.0: at rest.",
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
            OpaqueFunction(function=start),
        ]
    )


def start(context):
    share = Path(get_package_share_directory("basis_ik"))
    description = (share / "urdf" / "legs.urdf").read_text()
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in (("option", int), ("pass_time", float))
        if LaunchConfiguration(name).perform(context)
    }
    actions = [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[{"robot_description": description, "publish_frequency": 100.0}],
            on_exit=end_launch,
        ),
        Node(
            package="basis_ik",
            executable="legs_motion",
            parameters=[
                {
                    "period": ParameterValue(LaunchConfiguration("period"), value_type=float),
                    # Solid legs would hide the passes inside them.
                    **({"frame_prefix": ""} if "pass_time" in given else {}),
                }
            ],
        ),
        Node(
            package="basis_ik",
            executable="frames_node",
            name="frames_node",
            output="screen",
            parameters=[LaunchConfiguration("params_file"), *([given] if given else [])],
            on_exit=end_launch,
        ),
    ]
    actions.append(
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py")),
            condition=IfCondition(LaunchConfiguration("view")),
        )
    )
    actions.append(
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / "launch" / "rviz.launch.py")),
            launch_arguments={"rviz_config": str(share / "rviz" / "legs.rviz")}.items(),
            condition=IfCondition(LaunchConfiguration("launch_rviz")),
        )
    )
    return actions

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two simulated arms on one bench, moved by one node; each has its own tour of targets."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from basis_ik.ros.demo.tour_end import end_launch, end_with

SIDES = ("left", "right")
YES_NO = ["true", "false"]


def generate_launch_description():
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": (share / "urdf" / "two_arms.urdf").read_text()}
    config = str(share / "config" / "two_arms.yaml")
    tours = [tour(share, side) for side in SIDES]
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "targets",
                default_value="true",
                choices=YES_NO,
                description="Move through the tours, then stop; false: wait for your targets.",
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
                choices=YES_NO,
                description="Show the scene on a page in the browser.",
            ),
            DeclareLaunchArgument(
                "launch_rviz", default_value="false", choices=YES_NO, description="Open RViz."
            ),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[described, {"publish_frequency": 100.0}],
                on_exit=end_launch,
            ),
            *(simulated(side, described, config) for side in SIDES),
            Node(
                package="basis_ik",
                executable="ik_node",
                name="basis_ik",
                output="screen",
                parameters=[config],
                on_exit=end_launch,
            ),
            *tours,
            *end_with(tours, "a tour failed: not all targets were as expected"),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py")),
                condition=IfCondition(LaunchConfiguration("view")),
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "rviz.launch.py")),
                launch_arguments={"rviz_config": str(share / "rviz" / "two_arms.rviz")}.items(),
                condition=IfCondition(LaunchConfiguration("launch_rviz")),
            ),
        ]
    )


def simulated(side, described, config):
    return Node(
        package="basis_ik",
        executable="simulated_arm",
        name=f"{side}_arm_controller",
        parameters=[
            described,
            {"drive_time_constant": 0.03, "physics": LaunchConfiguration("physics")},
            config,
        ],
        on_exit=end_launch,
    )


def tour(share, side):
    return Node(
        package="basis_ik",
        executable="demo_targets",
        name=f"{side}_targets",
        output="screen",
        condition=IfCondition(LaunchConfiguration("targets")),
        remappings=[
            ("basis_ik/target_pose", f"basis_ik/{side}/target_pose"),
            ("basis_ik/status", f"basis_ik/{side}/status"),
        ],
        parameters=[
            {
                "root_frame": f"{side}_base_link",
                "tip_frame": f"{side}_tool0",
                "targets_file": str(share / "config" / f"two_arms_{side}.yaml"),
            }
        ],
    )

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm that reaches targets given in several tf frames, driven by basis_ik."""

import time
from pathlib import Path

import yaml
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

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.tour_end import end_launch, end_with


def generate_launch_description():
    launched_at = time.time()
    robots = ["ur5e", "panda"]
    yes_no = ["true", "false"]
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot", default_value="ur5e", choices=robots, description="The arm to show."
            ),
            DeclareLaunchArgument(
                "targets",
                default_value="true",
                choices=yes_no,
                description="Move through the tour, then stop; false: wait for your targets.",
            ),
            DeclareLaunchArgument(
                "physics",
                default_value="kinematic",
                choices=["kinematic", "mujoco"],
                description="What moves the simulated joints; mujoco: with masses and forces.",
            ),
            DeclareLaunchArgument(
                "extra_params_file",
                default_value="",
                description="Another parameter file of basis_ik; empty: none.",
            ),
            DeclareLaunchArgument(
                "view",
                default_value="false",
                choices=yes_no,
                description="Show the scene on a page in the browser.",
            ),
            DeclareLaunchArgument(
                "launch_rviz", default_value="false", choices=yes_no, description="Open RViz."
            ),
            DeclareLaunchArgument(
                "rviz_config",
                default_value=str(
                    Path(get_package_share_directory("basis_ik"), "rviz", "basis_ik.rviz")
                ),
                description="RViz configuration file.",
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", description="Log level of basis_ik."
            ),
            OpaqueFunction(function=start, args=[launched_at]),
        ]
    )


def start(context, launched_at):
    def argument(name):
        return LaunchConfiguration(name).perform(context)

    share = Path(get_package_share_directory("basis_ik"))
    robot = argument("robot")
    description = (share / "urdf" / f"{robot}.urdf").read_text()
    chain = RobotModel.from_urdf(description).chain()
    described = {"robot_description": description}
    config = share / "config" / f"demo_{robot}.yaml"
    (demo,) = yaml.safe_load(config.read_text()).values()
    begins = demo["ros__parameters"]["initial_positions"]

    actions = [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[described, {"publish_frequency": 100.0}],
            on_exit=end_launch,
        ),
        Node(
            package="basis_ik",
            executable="simulated_arm",
            name="joint_trajectory_controller",
            parameters=[
                described,
                {
                    "joints": list(chain.joint_names),
                    "drive_time_constant": 0.03,
                    "physics": argument("physics"),
                },
                str(config),
            ],
            on_exit=end_launch,
        ),
        Node(
            package="basis_ik",
            executable="ik_node",
            name="basis_ik",
            output="screen",
            # A simulated arm may use its full limits, and a busy machine may be late with tf.
            parameters=[
                {
                    "transform_timeout": 10.0,
                    "max_velocity_scaling_factor": 1.0,
                    "max_acceleration_scaling_factor": 1.0,
                    "home": [begins[name] for name in chain.joint_names],
                },
                *([argument("extra_params_file")] if argument("extra_params_file") else []),
            ],
            ros_arguments=["--log-level", f"basis_ik:={argument('log_level')}"],
            on_exit=end_launch,
        ),
        table(chain.root),
    ]
    if argument("targets") == "true":
        actions += tour(share, chain, launched_at)
    return [*actions, *viewers(share, chain.root, argument("rviz_config"))]


def table(root):
    """Return the publisher of the static frame `table`."""
    return Node(
        package="tf2_ros",
        executable="static_transform_publisher",
        name="table_publisher",
        arguments=[
            *("--x", "0.45", "--y", "0.10", "--z", "0.10"),
            *("--roll", "0.1", "--pitch", "-0.2", "--yaw", "2.0"),
            *("--frame-id", root, "--child-frame-id", "table"),
        ],
    )


def viewers(share, root, rviz_config):
    """Return the page in the browser and RViz, each if requested."""
    return [
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py")),
            condition=IfCondition(LaunchConfiguration("view")),
        ),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / "launch" / "rviz.launch.py")),
            launch_arguments={"rviz_config": rviz_config, "fixed_frame": root}.items(),
            condition=IfCondition(LaunchConfiguration("launch_rviz")),
        ),
    ]


def tour(share, chain, launched_at):
    tour_node = Node(
        package="basis_ik",
        executable="demo_targets",
        output="screen",
        parameters=[
            {
                "root_frame": chain.root,
                "tip_frame": chain.tip,
                "launched_at": launched_at,
                "targets_file": str(share / "config" / "demo_targets.yaml"),
            }
        ],
    )
    return [
        tour_node,
        *end_with([tour_node], "the tour failed: not all targets were as expected"),
    ]

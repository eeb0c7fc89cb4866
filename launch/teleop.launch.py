# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm moved by a joystick: simulated, or real with a running driver."""

from pathlib import Path

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PACKAGES = {"joy": "ros-$ROS_DISTRO-joy", "teleop_twist_joy": "ros-$ROS_DISTRO-teleop-twist-joy"}
ROOTS = {"ur5e": "base_link", "panda": "panda_link0", "real": "base_link"}


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot",
                default_value="ur5e",
                choices=list(ROOTS),
                description="The arm to simulate; real: an arm with a running driver.",
            ),
            DeclareLaunchArgument(
                "twist_frame",
                default_value="",
                description="Frame whose axes the tip moves along; empty: the arm's base.",
            ),
            DeclareLaunchArgument(
                "linear_speed", default_value="0.1", description="Speed at full deflection [m/s]."
            ),
            DeclareLaunchArgument(
                "angular_speed",
                default_value="0.3",
                description="Angular velocity at full deflection [rad/s].",
            ),
            DeclareLaunchArgument(
                "enable_button", default_value="4", description="Button to hold while moving."
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
                default_value="true",
                choices=["true", "false"],
                description="Open RViz.",
            ),
            OpaqueFunction(function=start),
        ]
    )


def start(context):
    def argument(name):
        return LaunchConfiguration(name).perform(context)

    robot = argument("robot")
    arguments = {name: argument(name) for name in ("launch_rviz", "view")}
    if robot == "real":
        name = "basis_ik.launch.py"
    else:
        name, arguments = "demo.launch.py", {**arguments, "robot": robot, "targets": "false"}
        arguments["physics"] = argument("physics")
    source = str(Path(get_package_share_directory("basis_ik"), "launch", name))
    arm = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(source), launch_arguments=arguments.items()
    )
    return [arm, *joystick(argument, argument("twist_frame") or ROOTS[robot])]


def joystick(argument, frame):
    """Return the joystick's nodes, or a message about missing packages."""
    missing = [apt for package, apt in PACKAGES.items() if not is_installed(package)]
    if missing:
        remedy = f"apt install {' '.join(missing)}"
        keys = "; keys move the arm too: ros2 run basis_ik teleop_keyboard"
        return [
            LogInfo(msg=f"The joystick is not read, because packages are missing: {remedy}{keys}")
        ]
    linear, angular = float(argument("linear_speed")), float(argument("angular_speed"))
    return [
        Node(package="joy", executable="joy_node", parameters=[{"autorepeat_rate": 50.0}]),
        Node(
            package="teleop_twist_joy",
            executable="teleop_node",
            # The left stick moves the tip along x and y, the right one along z and about it; the
            # cross turns it about x and y.
            parameters=[
                {
                    "publish_stamped_twist": True,
                    "frame": frame,
                    "enable_button": int(argument("enable_button")),
                    **axes("axis_linear", "scale_linear", linear, x=1, y=0, z=4),
                    **axes("axis_angular", "scale_angular", angular, yaw=3, pitch=7, roll=6),
                }
            ],
            remappings=[("cmd_vel", "basis_ik/twist")],
        ),
    ]


def axes(axis, scale, speed, **numbers):
    """Return the parameters of teleop_twist_joy for directions, each with an axis of the stick."""
    return {
        **{f"{axis}.{name}": number for name, number in numbers.items()},
        **{f"{scale}.{name}": speed for name in numbers},
    }


def is_installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True

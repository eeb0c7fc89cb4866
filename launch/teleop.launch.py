# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm moved by a joystick, a SpaceMouse or keys: simulated, or real with a running driver."""

import tempfile
from pathlib import Path

import yaml
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

PACKAGES = {"joystick": ("joy", "teleop_twist_joy"), "spacemouse": ("spacenav",), "keyboard": ()}
KEYS = "ros2 run basis_ik teleop_keyboard"
FULL_SCALE = 350.0  # what a SpaceMouse's driver tells at full deflection
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
                "device",
                default_value="joystick",
                choices=list(PACKAGES),
                description="What moves the arm; keyboard: start teleop_keyboard in a terminal.",
            ),
            DeclareLaunchArgument(
                "twist_frame",
                default_value="",
                description="Frame whose axes the tip moves along; empty: the arm's base (for a "
                "joystick and a real arm: base_link).",
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

    robot, device = argument("robot"), argument("device")
    frame = argument("twist_frame") or ROOTS[robot]
    arguments = {name: argument(name) for name in ("launch_rviz", "view")}
    arguments["extra_params_file"] = parameter_file(device, argument("twist_frame"))
    if robot == "real":
        name = "basis_ik.launch.py"
    else:
        name, arguments = "demo.launch.py", {**arguments, "robot": robot, "targets": "false"}
        arguments["physics"] = argument("physics")
    source = str(Path(get_package_share_directory("basis_ik"), "launch", name))
    arm = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(source), launch_arguments=arguments.items()
    )
    return [arm, *front_end(device, argument, frame)]


def parameter_file(device, frame):
    """Return a file with what the arm's node has to know of a device."""
    given = {"joy.gripper_buttons": [1, 0]}
    if device == "spacemouse" and not missing_packages(device):  # else keys move the arm
        given |= {"plain_inputs": ["twist"], "plain_frame": frame}
    path = Path(tempfile.mkdtemp(prefix="basis_ik_")) / "input.yaml"
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": given}}))
    return str(path)


def front_end(device, argument, frame):
    """Return the device's nodes, or a message about missing packages."""
    missing = missing_packages(device)
    if missing:
        names = (f"ros-$ROS_DISTRO-{package.replace('_', '-')}" for package in missing)
        text = f"because packages are missing: apt install {' '.join(names)}"
        return [LogInfo(msg=f"The {device} is not read, {text}; keys move the arm too: {KEYS}")]
    if device == "keyboard":
        return [LogInfo(msg=f"Keys move the arm, in a terminal of their own: {KEYS}")]
    linear, angular = float(argument("linear_speed")), float(argument("angular_speed"))
    if device == "spacemouse":
        scales = {
            f"{part}_scale/{axis}": speed
            for part, speed in (("linear", linear), ("angular", angular))
            for axis in "xyz"
        }
        return [
            Node(
                package="spacenav",
                executable="spacenav_node",
                parameters=[{"full_scale": FULL_SCALE, **scales}],
                remappings=[
                    ("spacenav/twist", "basis_ik/twist"), ("spacenav/joy", "basis_ik/joy"),
                ],
            )
        ]  # fmt: skip
    return [
        Node(
            package="joy",
            executable="joy_node",
            parameters=[{"autorepeat_rate": 50.0}],
            remappings=[("joy", "basis_ik/joy")],
        ),
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
            remappings=[("cmd_vel", "basis_ik/twist"), ("joy", "basis_ik/joy")],
        ),
    ]


def axes(axis, scale, speed, **numbers):
    """Return the parameters of teleop_twist_joy for directions, each with an axis of the stick."""
    return {
        **{f"{axis}.{name}": number for name, number in numbers.items()},
        **{f"{scale}.{name}": speed for name in numbers},
    }


def missing_packages(device):
    return [package for package in PACKAGES[device] if not is_installed(package)]


def is_installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True

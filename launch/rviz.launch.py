# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""RViz, if it is installed; the other launch files include this one."""

import sys
from pathlib import Path
from shutil import which

import yaml
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("rviz_config", description="RViz configuration file."),
            DeclareLaunchArgument(
                "fixed_frame",
                default_value="",
                description="Fixed frame; replaces that of the configuration.",
            ),
            DeclareLaunchArgument(
                "namespace",
                default_value="",
                description="Namespace of robot_description and basis_ik, for a configuration that "
                "has none.",
            ),
            OpaqueFunction(function=start),
        ]
    )


def names_in(entry):
    """Return the topics and services in an entry of RViz's configuration."""
    if isinstance(entry, list):
        return [name for each in entry for name in names_in(each)]
    if not isinstance(entry, dict):
        return []
    found = [name for each in entry.values() for name in names_in(each)]
    space = entry.get("Interactive Markers Namespace")
    if space is not None:
        found += [f"{space}/{end}" for end in ("update", "feedback", "get_interactive_markers")]
    return [*found, entry["Value"]] if isinstance(entry.get("Value"), str) else found


def moved_to(namespace, config):
    """Return the remappings with which RViz finds the robot in a namespace."""
    space = "/" + namespace.strip("/")
    return [
        (name, space + name)
        for name in names_in(yaml.safe_load(Path(config).read_text()))
        if name == "/robot_description" or name.startswith("/basis_ik/")
    ]


def start(context):
    if which("rviz2") is None:
        missing = "RViz is not installed and not opened (apt: ros-$ROS_DISTRO-rviz2)."
        return [LogInfo(msg=missing)]
    config, frame, namespace = (
        LaunchConfiguration(name).perform(context)
        for name in ("rviz_config", "fixed_frame", "namespace")
    )
    arguments = ["-d", config, *(["-f", frame] if frame else [])]
    remappings = moved_to(namespace, config) if namespace.strip("/") else []
    if Path(config).name != "basis_ik.rviz" or frame:
        return [
            Node(package="rviz2", executable="rviz2", arguments=arguments, remappings=remappings)
        ]
    # The one for every robot is fitted to that whose description comes.
    fit = [sys.executable, "-m", "basis_ik.ros.rviz.own_view", which("rviz2"), *arguments]
    renamed = [word for each in remappings for word in ("-r", ":=".join(each))]
    return [ExecuteProcess(cmd=[*fit, "--ros-args", *renamed], output="screen")]

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page in the browser with robots, targets and state; the other launch files include this one.

They take its arguments, too: `ros2 launch basis_ik demo.launch.py view:=true host:=0.0.0.0`.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

ARGUMENTS = {
    "host": ("127.0.0.1", "Address on which the page listens; 0.0.0.0: all of this machine's."),
    "port": ("0", "Port of the page; 0: 8080, or the next free one."),
    "certificate": ("", "File with a certificate and its private key (PEM), for https."),
}


def generate_launch_description():
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=int if name == "port" else str)
        for name in ARGUMENTS
    }
    # It finds everything to show by itself, in all namespaces.
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=text)
                for name, (default, text) in ARGUMENTS.items()
            ),
            Node(
                package="basis_ik",
                executable="web_view",
                name="web_view",
                output="screen",
                parameters=[{"open": True, **given}],
            ),
        ]
    )

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A page in the browser with robots, targets and state; the other launch files include this one."""

from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description():
    # It finds everything to show by itself, in all namespaces.
    return LaunchDescription(
        [
            Node(
                package="basis_ik",
                executable="web_view",
                name="web_view",
                output="screen",
                parameters=[{"open": True}],
            )
        ]
    )

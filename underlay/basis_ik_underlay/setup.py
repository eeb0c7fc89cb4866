# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import setup

setup(
    name="basis_ik_underlay",
    version="0.0.0",
    packages=["launch", "launch.events", "launch_ros", "launch_testing", "ros2cli", "tf2_ros"],
    py_modules=["interactive_markers", "robot_state_publisher", "tf2_ros_programs"],
    data_files=[
        (
            "share/ament_index/resource_index/packages",
            [f"resource/{p}" for p in ("basis_ik_underlay", "robot_state_publisher", "tf2_ros")],
        ),
        ("share/basis_ik_underlay", ["package.xml"]),
        ("lib/robot_state_publisher", ["lib/robot_state_publisher/robot_state_publisher"]),
        ("lib/tf2_ros", ["lib/tf2_ros/static_transform_publisher", "lib/tf2_ros/tf2_echo"]),
    ],
    entry_points={
        "console_scripts": ["ros2 = ros2cli:main"],
        "pytest11": ["launch_testing = launch_testing.hooks"],
    },
)

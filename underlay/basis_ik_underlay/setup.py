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

from setuptools import setup

NAME = "basis_ik_underlay"
PROGRAMS = {
    "robot_state_publisher": ["robot_state_publisher"],
    "tf2_ros": ["static_transform_publisher", "tf2_echo"],
}

setup(
    name=NAME,
    version="0.0.0",
    packages=["launch", "launch.events", "launch_ros", "launch_testing", "ros2cli", "tf2_ros"],
    py_modules=["interactive_markers", "robot_state_publisher", "tf2_ros_programs"],
    data_files=[
        (
            "share/ament_index/resource_index/packages",
            [f"resource/{package}" for package in (NAME, *PROGRAMS)],
        ),
        (f"share/{NAME}", ["package.xml"]),
        *(
            (f"lib/{package}", [f"lib/{package}/{program}" for program in programs])
            for package, programs in PROGRAMS.items()
        ),
    ],
    entry_points={
        "console_scripts": ["ros2 = ros2cli:main"],
        "pytest11": ["launch_testing = launch_testing.hooks"],
    },
)

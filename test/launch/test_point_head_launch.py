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

"""The head as launched: its checker, which measures through tf, succeeds."""

import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

PATIENCE = 600.0  # s: only ends what hangs


@pytest.mark.launch_test
def generate_test_description():
    head = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "point_head.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(head),
                launch_arguments={"duration": "10.0", "period": "60.0"}.items(),
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestHead(unittest.TestCase):
    def test_the_point_stays_in_sight(self, proc_output):
        proc_output.assertWaitFor("measured through tf)", timeout=PATIENCE, stream="stdout")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        """The checker's exit status is its verdict."""
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_measurement_is_printed(self, proc_output):
        launch_testing.asserts.assertInStdout(proc_output, "tf): good", "moving_point")

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
                launch_arguments={"duration": "4.0", "period": "60.0"}.items(),
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

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two arms and one node, as launched: both tours succeed, and each arm follows its own targets."""

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
    arms = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "two_arms.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(PythonLaunchDescriptionSource(arms)),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestTours(unittest.TestCase):
    def test_both_tours_succeed(self, proc_output):
        for side in ("left", "right"):
            proc_output.assertWaitFor(
                "5 of 5 targets as expected",
                process="demo_targets",
                cmd_args=f"__node:={side}_targets",
                timeout=PATIENCE,
                stream="stdout",
            )


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_each_arm_went_to_its_own_targets(self, proc_output):
        for side in ("left", "right"):
            launch_testing.asserts.assertInStdout(
                proc_output,
                f"{side}_base_link REACHED",
                process="demo_targets",
                cmd_args=f"__node:={side}_targets",
            )

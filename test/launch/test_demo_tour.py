# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The demo as a user starts it: the tours succeed, and all processes end cleanly."""

import threading
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.executors import ExternalShutdownException

PATIENCE = 600.0  # s: only ends what hangs


@pytest.mark.launch_test
@launch_testing.parametrize("robot", ["ur5e", "panda"])
def generate_test_description(robot):
    demo = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "demo.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(demo), launch_arguments={"robot": robot}.items()
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestTour(unittest.TestCase):
    def setUp(self):
        self.status = {}
        rclpy.init()
        node = rclpy.create_node("watcher")
        node.create_subscription(DiagnosticStatus, "basis_ik/status", self.take, 10)
        self.spinner = threading.Thread(target=self.spin, args=(node,))
        self.spinner.start()

    def tearDown(self):
        rclpy.shutdown()
        self.spinner.join()

    def take(self, message):
        self.status = {pair.key: pair.value for pair in message.values}

    def spin(self, node):
        try:
            rclpy.spin(node)
        except ExternalShutdownException:
            node.destroy_node()

    def test_the_tour_succeeds(self, proc_output):
        proc_output.assertWaitFor("11 of 11 targets as expected", timeout=PATIENCE, stream="stdout")
        assert self.status["accepted.target_pose"] == "11", "each target was sent once"
        assert "refused.target_pose" not in self.status


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_tour_prints_its_table(self, proc_output):
        for words in (
            "first motion after",
            "REACHED",
            "carousel",
            "too far by 4",
            "and table, 10.0 mm",
            "while moving",
        ):
            launch_testing.asserts.assertInStdout(proc_output, words, "demo_targets")

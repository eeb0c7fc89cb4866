# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A demo's arm with masses and forces: a short tour, measured through tf, and a stop."""

import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.time import Time
from std_srvs.srv import SetBool
from tf2_ros import Buffer, TransformException, TransformListener

PATIENCE = 600.0  # s: only ends what hangs
ROBOT, TIP = "panda", "panda_hand_tcp"
TARGETS = ([0.0, 0.1, 0.2], [0.1, -0.15, 0.2])  # in the table's frame [m], pointing down
TOLERANCE = 1e-3  # [m], as demo_by_hand's


@pytest.mark.launch_test
def generate_test_description():
    demo = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "demo.launch.py"])
    arguments = {"robot": ROBOT, "physics": "mujoco", "targets": "false"}
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(demo), launch_arguments=arguments.items()
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestMasses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("watcher")
        cls.buffer = Buffer()
        cls.listener = TransformListener(cls.buffer, cls.node, spin_thread=True)
        cls.state = ""
        cls.node.create_subscription(DiagnosticStatus, "basis_ik/status", cls.on_status, 10)
        cls.targets = cls.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)

    @classmethod
    def tearDownClass(cls):
        cls.node.destroy_node()
        rclpy.shutdown()

    @classmethod
    def on_status(cls, status):
        cls.state = next(pair.value for pair in status.values if pair.key == "state")

    def where(self):
        """Return the tip's position in the table's frame; NaN if unknown."""
        try:
            found = self.buffer.lookup_transform("table", TIP, Time()).transform.translation
        except TransformException:
            return np.full(3, np.nan)
        return np.array([found.x, found.y, found.z])

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def test_targets_are_reached_and_the_arm_stands(self, proc_output):
        proc_output.assertWaitFor(f"ready: {ROBOT}", timeout=PATIENCE)
        self.until(lambda: np.isfinite(self.where()).all(), "tf has no tip")
        self.until(self.targets.get_subscription_count, "nobody listens to targets")
        self.until(lambda: self.state == "READY", "it does not get ready")
        for xyz in TARGETS:
            target = PoseStamped()
            target.header.frame_id = "table"
            position = target.pose.position
            position.x, position.y, position.z = xyz
            target.pose.orientation.x, target.pose.orientation.w = 1.0, 0.0
            self.targets.publish(target)
            self.until(lambda xyz=xyz: self.is_at(xyz), f"{xyz} was not reached")

    def is_at(self, xyz):
        """Return whether the tip is at a position in the table's frame."""
        return bool(np.abs(self.where() - xyz).max() < TOLERANCE)  # not if NaN

    def test_the_brakes_hold(self):
        stop = self.node.create_client(SetBool, "joint_trajectory_controller/emergency_stop")
        self.assertTrue(stop.wait_for_service(PATIENCE))
        answer = stop.call_async(SetBool.Request(data=True))
        self.until(answer.done, "no answer to the emergency stop")
        before = self.where()
        time.sleep(1.0)
        np.testing.assert_allclose(self.where(), before, rtol=0.0, atol=TOLERANCE)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

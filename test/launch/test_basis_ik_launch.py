# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node as launched for a running robot: the arguments reach it."""

import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
import rclpy
from ament_index_python.packages import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

PATIENCE = 600.0  # s: only ends what hangs
SHARE = get_package_share_path("basis_ik")


@pytest.mark.launch_test
def generate_test_description():
    arguments = {
        "namespace": "cell",
        "params_file": str(SHARE / "config" / "robots" / "ur.yaml"),
        "frame_prefix": "arm1/",
        "autostart": "false",
        "use_sim_time": "true",
        "log_level": "debug",
    }
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / "launch" / "basis_ik.launch.py")),
                launch_arguments=arguments.items(),
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestArguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("watcher")

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def call(self, kind, service, request):
        client = self.node.create_client(kind, service)
        self.assertTrue(client.wait_for_service(PATIENCE), f"there is no {service}")
        answer = client.call_async(request)
        rclpy.spin_until_future_complete(self.node, answer, timeout_sec=PATIENCE)
        return answer.result()

    def test_launch_arguments_reach_the_node(self):
        names = ["use_sim_time", "autostart", "controller", "tip_link", "frame_prefix"]
        answer = self.call(
            GetParameters, "/cell/basis_ik/get_parameters", GetParameters.Request(names=names)
        )
        sim, autostart, controller, tip, prefix = answer.values
        self.assertTrue(sim.bool_value)
        self.assertFalse(autostart.bool_value)
        self.assertEqual(controller.string_value, "scaled_joint_trajectory_controller")
        self.assertEqual(tip.string_value, "tool0")
        self.assertEqual(prefix.string_value, "arm1/")

    def test_without_autostart_it_waits_to_be_activated(self):
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = self.node.create_publisher(String, "/cell/robot_description", latched)
        publisher.publish(String(data=(SHARE / "urdf" / "ur5e.urdf").read_text()))
        end = time.monotonic() + PATIENCE
        topic = "/cell/basis_ik/target_pose"
        while not self.node.count_subscribers(topic):
            self.assertLess(time.monotonic(), end, "the robot was not taken")
            rclpy.spin_once(self.node, timeout_sec=0.1)
        state = self.call(GetState, "/cell/basis_ik/get_state", GetState.Request())
        self.assertEqual(state.current_state.id, State.PRIMARY_STATE_UNCONFIGURED)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_the_node_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

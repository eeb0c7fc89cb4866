# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One arm and two simulated controllers: both move it, and it rests while one of them is off."""

import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
import rclpy
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch_ros.actions import Node
from std_srvs.srv import SetBool

from basis_ik.client import Arm, MotionError

# A machine that is busy delays joint states until the node gives up: right, but no test of it.
pytestmark = pytest.mark.long
PATIENCE = 600.0  # s: only ends what hangs
RIGHT, LEFT = [0.35, -0.30, 0.50], [0.40, 0.20, 0.40]
JOINTS = {
    "base_controller": ["shoulder_pan_joint", "shoulder_lift_joint"],
    "wrist_controller": ["elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"],
}
HOME = {
    "shoulder_lift_joint": -1.57,
    "elbow_joint": 1.57,
    "wrist_1_joint": -1.57,
    "wrist_2_joint": -1.57,
}


@pytest.mark.launch_test
def generate_test_description():
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": (share / "urdf" / "ur5e.urdf").read_text()}
    controllers = [
        Node(
            package="basis_ik",
            executable="simulated_arm",
            name=name,
            parameters=[
                described,
                {"joints": joints, "publish_uncontrolled_joints": False},
                {f"initial_positions.{joint}": HOME.get(joint, 0.0) for joint in joints},
            ],
        )
        for name, joints in JOINTS.items()
    ]
    return LaunchDescription(
        [
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[described, {"publish_frequency": 100.0}],
            ),
            *controllers,
            Node(
                package="basis_ik",
                executable="ik_node",
                name="basis_ik",
                output="screen",
                parameters=[
                    {
                        "controller": ",".join(JOINTS),
                        "max_velocity_scaling_factor": 1.0,
                        "max_acceleration_scaling_factor": 1.0,
                    }
                ],
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestBothControllers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("operator")
        cls.arm = Arm(timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.arm.close()
        rclpy.shutdown()

    def activate(self, controller, on):
        client = self.node.create_client(SetBool, f"{controller}/activate")
        self.assertTrue(client.wait_for_service(PATIENCE))
        future = client.call_async(SetBool.Request(data=on))
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE)
        self.assertTrue(future.result().success)

    def test_both_move_the_arm_and_none_does_alone(self):
        for place in (RIGHT, LEFT):
            self.assertEqual(self.arm.move_to(place).wait().verdict, "REACHED")
        self.activate("wrist_controller", False)
        with pytest.raises(MotionError, match="wrist_controller"):
            self.arm.move_to(RIGHT)
        joints = self.arm.joints()
        self.activate("wrist_controller", True)
        self.assertEqual(joints, self.arm.joints(), "nothing has moved")
        self.arm.wait_for(lambda: self.arm.status.state == "READY", time.monotonic() + PATIENCE)
        self.assertEqual(self.arm.move_to(RIGHT).wait().verdict, "REACHED")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

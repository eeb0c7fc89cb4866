# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stranger's MoveIt client against this package alone: solutions, error codes, and a driven arm.

Nothing below the launch description knows of basis_ik. The client asks /compute_ik and /compute_fk
for a planning group, sends the solution to a joint_trajectory_controller, and reads from tf where
the arm is. It also moves the arm by /move_action and /execute_trajectory, and stops it by
/trajectory_execution_event.
"""

import contextlib
import random
import sys
import threading
import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
import rclpy
from ament_index_python.packages import get_package_share_directory
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MoveItErrorCodes
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.time import Time
from std_msgs.msg import String
from tf2_ros import Buffer, TransformException, TransformListener

sys.path.insert(0, str(Path(__file__).parents[1] / "ros"))
from moveit_client import PATIENCE, MoveItClient, joints_at, motion_goal, pose_stamped, tip_at

GROUP = "ur_manipulator"
JOINTS = [
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
]
HOME = dict(zip(JOINTS, [0.0, -1.57, 1.57, -1.57, -1.57, 0.0], strict=True))


@pytest.mark.launch_test
def generate_test_description():
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": (share / "urdf" / "ur5e.urdf").read_text()}
    return LaunchDescription(
        [
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[described],
            ),
            Node(
                package="basis_ik",
                executable="simulated_arm",
                name="joint_trajectory_controller",
                parameters=[described, {"joints": JOINTS}, str(share / "config/demo_ur5e.yaml")],
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share / "launch" / "basis_ik.launch.py")),
                launch_arguments={"moveit_group": GROUP}.items(),
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestStranger(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("stranger")
        cls.buffer = Buffer()
        cls.listener = TransformListener(cls.buffer, cls.node)
        cls.client = MoveItClient(cls.node)
        ready = threading.Event()

        def on_status(status):
            if KeyValue(key="state", value="READY") in status.values:
                ready.set()

        cls.node.create_subscription(DiagnosticStatus, "basis_ik/status", on_status, 10)
        cls.executor = SingleThreadedExecutor()
        cls.executor.add_node(cls.node)
        cls.thread = threading.Thread(target=cls.spin)
        cls.thread.start()
        cls.client.wait(180.0)
        assert ready.wait(180.0), "the arm is ready"

    @classmethod
    def spin(cls):
        with contextlib.suppress(ExternalShutdownException):
            cls.executor.spin()

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()
        cls.thread.join()

    def random_pose(self, draw):
        """Return a reachable pose of the tool."""
        joints = {name: draw.uniform(-2.5, 2.5) for name in JOINTS}
        code, poses = self.client.place(["tool0"], joints, "base_link")
        self.assertEqual(code, MoveItErrorCodes.SUCCESS)
        return poses["tool0"]

    def assert_same_pose(self, pose, other, places=4):
        for axis in "xyz":
            self.assertAlmostEqual(
                getattr(pose.position, axis), getattr(other.position, axis), places=places
            )
        dot = sum(
            getattr(pose.orientation, part) * getattr(other.orientation, part) for part in "xyzw"
        )
        self.assertAlmostEqual(abs(dot), 1.0, places=places)

    def test_random_reachable_poses(self):
        draw = random.Random(4)
        for _ in range(30):
            wanted = self.random_pose(draw)
            code, joints = self.client.solve(wanted, GROUP)
            self.assertEqual(code, MoveItErrorCodes.SUCCESS)
            self.assertLessEqual(set(JOINTS), set(joints))
            code, poses = self.client.place(["tool0"], joints, "base_link")
            self.assertEqual(code, MoveItErrorCodes.SUCCESS)
            self.assert_same_pose(poses["tool0"].pose, wanted.pose)

    def test_error_codes(self):
        codes = MoveItErrorCodes
        good = pose_stamped("base_link", (0.4, 0.2, 0.4), (1, 0, 0, 0))
        self.assertEqual(self.client.solve(good, GROUP)[0], codes.SUCCESS)
        self.assertEqual(self.client.solve(good, "left_leg")[0], codes.INVALID_GROUP_NAME)
        nowhere = pose_stamped("nowhere", (0.4, 0.2, 0.4), (1, 0, 0, 0))
        self.assertEqual(self.client.solve(nowhere, GROUP)[0], codes.FRAME_TRANSFORM_FAILURE)
        far = pose_stamped("base_link", (3.0, 0.0, 0.4), (1, 0, 0, 0))
        self.assertEqual(self.client.solve(far, GROUP)[0], codes.NO_IK_SOLUTION)
        link = self.client.solve(good, GROUP, link="tail")[0]
        self.assertEqual(link, codes.INVALID_LINK_NAME)

    def test_a_tiny_timeout(self):
        """Within a nanosecond only the first descent or the closed form can find a pose."""
        draw, codes = random.Random(8), set()
        for _ in range(50):
            pose = self.random_pose(draw)
            codes.add(self.client.solve(pose, GROUP, timeout=1e-9)[0])
            self.assertEqual(self.client.solve(pose, GROUP, timeout=1.0)[0], 1)
        self.assertLessEqual(codes, {MoveItErrorCodes.TIMED_OUT, MoveItErrorCodes.SUCCESS})

    def test_the_arm_is_driven_to_a_solution(self):
        for quaternion in ((1, 0, 0, 0), (0.9238795, 0, 0, 0.3826834)):
            pose = pose_stamped("base_link", (0.42, 0.15, 0.35), quaternion)
            code, joints = self.client.solve(pose, GROUP, joints=HOME)
            self.assertEqual(code, MoveItErrorCodes.SUCCESS)
            only = {name: joints[name] for name in JOINTS}
            self.assertEqual(self.client.drive(only, 3.0), 0)
            self.await_tool(pose.pose)

    def test_the_actions_move_the_arm_and_the_event_stops_it(self):
        codes, fast = MoveItErrorCodes, {"max_velocity_scaling_factor": 1.0}
        fast["max_acceleration_scaling_factor"] = 1.0
        for x, plan_only in ((0.40, True), (0.45, False)):
            pose = pose_stamped("base_link", (x, 0.15, 0.35), (1, 0, 0, 0))
            goal = tip_at("base_link", "tool0", position=(x, 0.15, 0.35), quaternion=(1, 0, 0, 0))
            goal = motion_goal(goal, plan_only=plan_only, group_name=GROUP, **fast)
            found = self.client.result(self.client.act(self.client.move, goal)).result
            self.assertEqual(found.error_code.val, codes.SUCCESS, found.error_code.message)
            if plan_only:
                goal = ExecuteTrajectory.Goal(trajectory=found.planned_trajectory)
                found = self.client.result(self.client.act(self.client.execute, goal)).result
                self.assertEqual(found.error_code.val, codes.SUCCESS, found.error_code.message)
            self.await_tool(pose.pose)
        slow = {name: value + 1.0 for name, value in HOME.items()}
        goal = motion_goal(joints_at(slow), max_velocity_scaling_factor=0.05)
        result = self.client.act(self.client.move, goal)
        stop = self.node.create_publisher(String, "/trajectory_execution_event", 1)
        end = time.monotonic() + PATIENCE
        while not result.done():  # nothing tells when the publisher is known
            self.assertLess(time.monotonic(), end)
            stop.publish(String(data="stop"))
            time.sleep(0.05)
        self.assertEqual(result.result().result.error_code.val, codes.PREEMPTED)

    def await_tool(self, pose):
        end = time.monotonic() + PATIENCE
        while True:
            time.sleep(0.05)
            try:
                found = self.buffer.lookup_transform("base_link", "tool0", Time()).transform
            except TransformException:
                found = None
            if found is not None:
                pose_seen = type(pose)(orientation=found.rotation)
                for axis in "xyz":
                    setattr(pose_seen.position, axis, getattr(found.translation, axis))
                try:
                    return self.assert_same_pose(pose_seen, pose, places=3)
                except AssertionError:
                    if time.monotonic() > end:
                        raise
            self.assertLess(time.monotonic(), end, "tf never knew the tool")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

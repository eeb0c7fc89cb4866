# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The demo without its tour, driven by the commands of the README; the result is read from tf."""

import subprocess
import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import rclpy
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.time import Time
from tf2_ros import Buffer, TransformException, TransformListener

from basis_ik.client import Arm

PATIENCE = 600.0  # s: only ends what hangs


@pytest.mark.launch_test
def generate_test_description():
    demo = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "demo.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(demo), launch_arguments={"targets": "false"}.items()
            ),
            launch_testing.actions.ReadyToTest(),
        ]
    )


def ros2(*arguments):
    """Run a ros2 command to its end; return what it printed."""
    done = subprocess.run(
        ["ros2", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestByHand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("watcher")
        cls.buffer = Buffer()
        cls.listener = TransformListener(cls.buffer, cls.node, spin_thread=True)

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def table_T_tool(self):
        """Return the tool's position and quaternion in the table's frame, or None."""
        try:
            found = self.buffer.lookup_transform("table", "tool0", Time()).transform
        except TransformException:
            return None
        t, q = found.translation, found.rotation
        return np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w])

    def test_commands_of_the_readme(self, proc_output):
        proc_output.assertWaitFor("ready: ur5e", timeout=PATIENCE)
        topics = ros2("topic", "list").split()
        self.assertLessEqual(
            {"/joint_states", "/tf", "/basis_ik/target_pose", "/basis_ik/status"}, set(topics)
        )
        self.assertIn("/basis_ik", ros2("node", "list").split())
        self.assertIn("shoulder_pan_joint", ros2("topic", "echo", "--once", "/joint_states"))
        pose = "{position: {x: 0.0, y: 0.1, z: 0.2}, orientation: {x: 1.0, w: 0.0}}"
        ros2(
            "topic", "pub", "--once", "/basis_ik/target_pose", "geometry_msgs/msg/PoseStamped",
            f"{{header: {{frame_id: table}}, pose: {pose}}}",
        )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.02)
            where = self.table_T_tool()
            if (
                where is not None
                and np.allclose(where[0], [0.0, 0.1, 0.2], atol=1e-3)
                and np.allclose(np.abs(where[1]), [1.0, 0.0, 0.0, 0.0], atol=1e-3)
            ):
                break
        else:
            self.fail(f"the arm never got there; tf says {where}")
        self.assertIn("REACHED", ros2("topic", "echo", "--once", "/basis_ik/status"))
        with Arm(timeout=PATIENCE) as arm:
            arm.home(timeout=PATIENCE)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

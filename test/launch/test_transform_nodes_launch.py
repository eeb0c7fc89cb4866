# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The transform nodes as launched: their frames on tf, and a chain of them as one node."""

import math
import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import rclpy
import yaml
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.time import Time
from tf2_ros import Buffer, TransformException, TransformListener

PATIENCE = 600.0  # s: only ends what hangs
NODES = ("turntable", "arm", "leaf")


@pytest.mark.launch_test
def generate_test_description():
    share = FindPackageShare("basis_ik")
    nodes = PathJoinSubstitution([share, "launch", "transform_nodes.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(PythonLaunchDescriptionSource(nodes)),
            launch_testing.actions.ReadyToTest(),
        ]
    )


def turn(x, y, z, angle):
    """Rodrigues' formula, shape (3, 3)."""
    k = np.array((x, y, z)) / math.sqrt(x * x + y * y + z * z)
    cross = np.array(((0, -k[2], k[1]), (k[2], 0, -k[0]), (-k[1], k[0], 0)))
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def matrix(fields):
    along = turn(*fields.get("scaleOrientation", (0, 0, 1, 0)))
    center = np.array(fields.get("center", (0, 0, 0)))
    m = np.eye(4)
    m[:3, :3] = turn(*fields.get("rotation", (0, 0, 1, 0))) @ along
    m[:3, :3] = m[:3, :3] @ np.diag(fields.get("scale", (1, 1, 1))) @ along.T
    m[:3, 3] = center + fields.get("translation", (0, 0, 0)) - m[:3, :3] @ center
    return m


class TestTransformNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("watcher")
        cls.buffer = Buffer()
        cls.listener = TransformListener(cls.buffer, cls.node, spin_thread=True)

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def frame(self, name):
        """Return position and rotation of a frame in the world."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                found = self.buffer.lookup_transform("world", name, Time()).transform
            except TransformException:
                time.sleep(0.05)
                continue
            t, q = found.translation, found.rotation
            angle = 2.0 * math.atan2(math.hypot(q.x, q.y, q.z), q.w)
            return np.array((t.x, t.y, t.z)), turn(q.x, q.y, q.z, angle)
        raise AssertionError(f"tf never had {name}")

    def test_frames_and_the_combined_node_are_the_product_of_matrices(self, proc_output):
        path = Path(get_package_share_directory("basis_ik"), "config", "transform_nodes.yaml")
        given = yaml.safe_load(path.read_text())["transform_nodes"]["ros__parameters"]
        m = np.eye(4)
        for name in NODES:
            m = m @ matrix(given[name])
            u, _, vt = np.linalg.svd(m[:3, :3])
            place, rotation = self.frame(name)
            np.testing.assert_allclose(place, m[:3, 3], rtol=0, atol=1e-9)
            np.testing.assert_allclose(rotation, u @ vt, rtol=0, atol=1e-9)
        place, rotation = self.frame("leaf_at_once")  # one node for all three: where the last is
        np.testing.assert_allclose(place, m[:3, 3], rtol=0, atol=1e-9)
        np.testing.assert_allclose(rotation, u @ vt, rtol=0, atol=1e-9)
        proc_output.assertWaitFor("turntable → arm → leaf in one node: center=", timeout=PATIENCE)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

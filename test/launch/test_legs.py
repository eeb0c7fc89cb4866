"""The legs as launched: corrected frames, read back through tf while the source moves."""

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
from tf2_ros import Buffer, TransformException, TransformListener

PATIENCE = 180.0
SAMPLES = 100


@pytest.mark.launch_test
def generate_test_description():
    legs = PathJoinSubstitution([FindPackageShare("basis_ik"), "launch", "legs.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(PythonLaunchDescriptionSource(legs)),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestLegs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rclpy.init()
        cls.node = rclpy.create_node("watcher")
        cls.buffer = Buffer()
        cls.listener = TransformListener(cls.buffer, cls.node, spin_thread=True)

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def place(self, frame, when):
        t = self.buffer.lookup_transform("hip", frame, when).transform.translation
        return np.array([t.x, t.y, t.z])

    def sample(self):
        """Return angle off the ankle [rad], distance off the foothold [m], ankle, calf's length."""
        # A time that frames_node has sent, not one in between.
        when = self.buffer.get_latest_common_time("ik/calf_l", "ik/ankle_l")
        frames = ("ik/calf_l", "ik/ankle_l", "ankle_r", "ik/ankle_r", "foothold")
        knee, heel, ankle, foot, hold = (self.place(frame, when) for frame in frames)
        u, v = heel - knee, ankle - knee
        angle = np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)
        return angle, np.linalg.norm(foot - hold), ankle, np.linalg.norm(u)

    def test_constraints_hold_while_the_source_moves(self):
        samples = []
        end = time.monotonic() + PATIENCE
        while len(samples) < SAMPLES and time.monotonic() < end:
            time.sleep(0.02)
            try:
                samples.append(self.sample())
            except TransformException:
                continue
        self.assertEqual(len(samples), SAMPLES, "tf never had the corrected frames")
        angles, distances, ankles, lengths = (
            np.array(column) for column in zip(*samples, strict=True)
        )
        self.assertGreater(np.ptp(ankles, axis=0).max(), 0.05, "the source did not move")
        # All at one stamp, so what is left is rounding, in tf's quaternions for the most part.
        self.assertLess(angles.max(), 1e-6)
        self.assertLess(distances.max(), 1e-6)
        np.testing.assert_allclose(lengths, 0.431, atol=1e-6)

    def test_the_source_is_not_fought(self):
        frames = self.buffer.all_frames_as_string()
        self.assertIn("Frame ik/calf_l exists with parent thigh_l.", frames)
        self.assertIn("Frame calf_l exists with parent thigh_l.", frames)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

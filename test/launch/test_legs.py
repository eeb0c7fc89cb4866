# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The legs as launched: corrected frames, read back through tf while the source moves."""

import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from std_msgs.msg import String
from tf2_ros import Buffer, TransformException, TransformListener
from visualization_msgs.msg import InteractiveMarkerFeedback

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.legs_motion import HIP_T_FOOTHOLD

PATIENCE = 600.0  # s: only ends what hangs
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

    def transform(self, parent, frame, when):
        """Return a frame's rotation in another, shape (3, 3), and its position [m]."""
        found = self.buffer.lookup_transform(parent, frame, when).transform
        t, q = found.translation, found.rotation
        x, y, z, w = q.x, q.y, q.z, q.w
        turn = np.array(
            (
                (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
            )
        )
        return turn, np.array([t.x, t.y, t.z])

    def sample(self):
        """Return angle off the corrected ankle [rad], distance off the foothold [m], and more.

        More are: the source's ankle, the lengths of both calves [m], the left calf's lean and the
        right knee's angle [rad], and how far the right knee is off its axis.
        """
        # A time that frames_node has sent, not one in between.
        when = self.buffer.get_latest_common_time("ik/calf_l", "ik/ankle_l")
        frames = ("ik/calf_l", "ik/ankle_l", "ik/ankle_r", "ik/calf_r", "ankle_r", "foothold")
        knee, heel, foot, other, source, hold = (
            self.transform("hip", frame, when)[1] for frame in frames
        )
        u, v = heel - knee, foot - knee
        angle = np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)
        lengths = np.linalg.norm(u), np.linalg.norm(foot - other)
        calf, _ = self.transform("thigh_l", "ik/calf_l", when)
        bend, _ = self.transform("ik/thigh_r", "ik/calf_r", when)
        lean, flexion = np.arccos(calf[2, 2]), np.arctan2(bend[0, 2], bend[2, 2])
        off_axis = np.linalg.norm(bend[:, 1] - (0.0, 1.0, 0.0))
        return angle, np.linalg.norm(foot - hold), source, lengths, lean, flexion, off_axis

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
        angles, distances, ankles, lengths, leans, flexions, off_axis = (
            np.array(column) for column in zip(*samples, strict=True)
        )
        self.assertGreater(np.ptp(ankles, axis=0).max(), 0.05, "the source did not move")
        # All at one stamp, so what is left is rounding, in tf's quaternions for the most part.
        self.assertLess(angles.max(), 1e-6, "the calf points past the ankle that is broadcast")
        self.assertLess(distances.max(), 1e-6)
        np.testing.assert_allclose(lengths, 0.431, atol=1e-6)
        # The limits of config/legs.yaml.
        self.assertLess(leans.max(), 1.2 + 1e-6)
        self.assertGreater(flexions.min(), -1e-6)
        self.assertLess(flexions.max(), 2.4 + 1e-6)
        self.assertLess(off_axis.max(), 1e-6)

    def test_the_status_is_met_for_both_constraints(self):
        logged = {}
        self.node.create_subscription(
            DiagnosticStatus,
            "frames_node/status",
            lambda message: logged.setdefault(message.name, message),
            10,
        )
        end = time.monotonic() + PATIENCE
        names = {"frames_node: calf_looks", "frames_node: foot_stands"}
        while not names <= set(logged) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(
            {name: logged[name].message for name in names}, dict.fromkeys(names, "met")
        )

    def test_the_foot_follows_the_foothold_that_is_dragged(self):
        feedback = self.node.create_publisher(
            InteractiveMarkerFeedback, "legs_motion/foothold/feedback", 10
        )
        drag = InteractiveMarkerFeedback(client_id="test", marker_name="foothold")
        drag.event_type = InteractiveMarkerFeedback.POSE_UPDATE
        drag.header.frame_id, drag.pose.orientation.w = "hip", 1.0
        for there in ([0.25, -0.10, -0.65], HIP_T_FOOTHOLD.translation.tolist()):
            drag.pose.position.x, drag.pose.position.y, drag.pose.position.z = there
            off, end = np.inf, time.monotonic() + PATIENCE
            while not off < 1e-6 and time.monotonic() < end:
                feedback.publish(drag)
                time.sleep(0.05)
                try:
                    _, foot = self.transform("hip", "ik/ankle_r", Time())
                except TransformException:
                    continue
                off = np.abs(foot - there).max()
            self.assertLess(off, 1e-6)

    def test_the_corrected_legs_are_a_robot_with_a_prefix(self):
        found = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(
            String, "corrected/robot_description", lambda message: found.append(message), latched
        )
        end = time.monotonic() + PATIENCE
        while not found and time.monotonic() < end:
            time.sleep(0.05)
        wanted = {f"ik/{link}" for link in RobotModel.from_urdf(found[0].data).links}
        while missing := wanted - yaml.safe_load(self.buffer.all_frames_as_yaml()).keys():
            self.assertLess(time.monotonic(), end, missing)
            time.sleep(0.05)

    def test_the_source_frames_are_not_overwritten(self):
        frames = yaml.safe_load(self.buffer.all_frames_as_yaml())
        self.assertEqual(frames["ik/calf_l"]["parent"], "thigh_l")
        self.assertEqual(frames["calf_l"]["parent"], "thigh_l")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_process_ended_cleanly(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

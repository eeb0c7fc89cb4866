# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shipped legs: joint states by which the right leg swings, a foothold that can be dragged.

It also lets viewers show the corrected legs as a robot: `corrected/robot_description` is theirs,
and links that no constraint corrects have frames with their prefix, too, where they are.
"""

from __future__ import annotations

import math
from pathlib import Path
from threading import Event
from typing import Any

from ament_index_python.packages import get_package_share_directory
from interactive_markers import InteractiveMarkerServer
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import StaticTransformBroadcaster
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_value, transform_message
from basis_ik.ros.parameters.parameters import Declaration, Parameters, given_lists
from basis_ik.ros.periodic_spinner import spin
from basis_ik.ros.qos import LATCHED
from basis_ik.ros.rviz.drag_marker import Mode, drag_marker
from basis_ik.ros.sim_clock import ClockWatch
from basis_ik.transforms.rigid import RigidTransform

LEGS_PARAMETERS = (
    Declaration(
        "period", 4.0, "Time of one swing [s]; 0: the legs rest.", 0.0, 1e5, read_only=True
    ),
    Declaration(
        "frame_prefix",
        "ik/",
        "Prefix of the corrected frames, as `prefix` of frames_node; viewers ask for it. Empty: "
        "viewers show the bones alone.",
        read_only=True,
    ),
)
HIP, FOOTHOLD = "hip", "foothold"
HIP_T_FOOTHOLD = RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.20, -0.12, -0.80])
ARROW_LENGTH = 0.25  # [m], of the foothold's handle
CORRECTED_LINKS = ("thigh_r", "calf_r", "ankle_r", "calf_l", "ankle_l")  # by config/legs.yaml

# Middle and amplitude of each joint's swing [rad].
SWING = {
    "thigh_l_yaw_joint": (0.0, 0.0),
    "thigh_l_roll_joint": (0.0, 0.0),
    "thigh_l_pitch_joint": (-0.4, 0.0),
    "calf_l_joint": (0.6, 0.0),
    "thigh_r_yaw_joint": (0.0, 0.0),
    "thigh_r_roll_joint": (0.0, 0.1),
    "thigh_r_pitch_joint": (-0.3, 0.3),
    "calf_r_joint": (0.6, 0.3),
}


class LegsMotion(Node):
    """Node `legs_motion`: joint_states, `~/foothold`, and what shows the corrected legs."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__("legs_motion", automatically_declare_parameters_from_overrides=True)
        self._clock_watch = ClockWatch(self)
        parameters = Parameters(self)
        parameters.declare(LEGS_PARAMETERS)
        parameters.refuse_unknown()
        self._period: float = parameters["period"]
        self._start = self.get_clock().now()
        self._publisher = self.create_publisher(JointState, "joint_states", 10)
        self._broadcaster = StaticTransformBroadcaster(self)
        if prefix := parameters["frame_prefix"]:
            self._show_corrected(prefix)
        self._foothold = InteractiveMarkerServer(self, f"~/{FOOTHOLD}")
        marker = drag_marker(FOOTHOLD, HIP, HIP_T_FOOTHOLD, ARROW_LENGTH, Mode.POINT)
        self._foothold.insert(marker, feedback_callback=self._on_drag)
        self._foothold.applyChanges()
        self._stand(HIP_T_FOOTHOLD)
        self.create_timer(0.02, self._publish)

    def _show_corrected(self, prefix: str) -> None:
        text = (Path(get_package_share_directory("basis_ik")) / "urdf" / "legs.urdf").read_text()
        self._description = self.create_publisher(String, "corrected/robot_description", LATCHED)
        self._description.publish(String(data=text))
        here, stamp = RigidTransform.identity(), self.get_clock().now().to_msg()
        links = [link for link in RobotModel.from_urdf(text).links if link not in CORRECTED_LINKS]
        self._broadcaster.sendTransform(
            [transform_message(link, prefix + link, here, stamp) for link in links]
        )

    def _on_drag(self, feedback: Any) -> None:
        place = pose_value(feedback.pose)
        moves = feedback.event_type in (Feedback.POSE_UPDATE, Feedback.MOUSE_UP)
        if moves and isinstance(place, RigidTransform) and feedback.header.frame_id == HIP:
            self._stand(place)

    def _stand(self, place: RigidTransform) -> None:
        stamp = self.get_clock().now().to_msg()
        self._broadcaster.sendTransform(transform_message(HIP, FOOTHOLD, place, stamp))

    def _publish(self) -> None:
        now = self.get_clock().now()
        elapsed = 1e-9 * (now - self._start).nanoseconds
        phase = math.sin(2.0 * math.pi * elapsed / self._period) if self._period > 0.0 else 0.0
        message = JointState(name=list(SWING))
        message.header.stamp = now.to_msg()
        message.position = [middle + amplitude * phase for middle, amplitude in SWING.values()]
        self._publisher.publish(message)


def main(stop: Event) -> int:
    """Run the node until `stop` is set; return the exit status."""
    spin(LegsMotion(), stop)
    return 0

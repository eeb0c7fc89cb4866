# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint states of the shipped legs: the right leg swings."""

from __future__ import annotations

import math
from threading import Event

from rclpy.node import Node
from sensor_msgs.msg import JointState

from basis_ik.ros.parameters.parameters import Declaration, Parameters, given_lists
from basis_ik.ros.programs import spin
from basis_ik.ros.sim_clock import ClockWatch

PARAMETERS = (
    Declaration(
        "period", 4.0, "Time of one swing [s]; 0: the legs rest.", 0.0, 1e5, read_only=True
    ),
)

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
    """Node `legs_motion`: publishes joint_states."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__("legs_motion", automatically_declare_parameters_from_overrides=True)
        self._clock_watch = ClockWatch(self)
        parameters = Parameters(self)
        parameters.declare(PARAMETERS)
        parameters.refuse_unknown()
        self._period: float = parameters["period"]
        self._start = self.get_clock().now()
        self._publisher = self.create_publisher(JointState, "joint_states", 10)
        self.create_timer(0.02, self._publish)

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

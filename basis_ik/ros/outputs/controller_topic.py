# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topic on which a trajectory controller publishes its state."""

from __future__ import annotations

import math
from collections.abc import Callable

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from basis_ik.arm.execution.messages import ControllerReport
from basis_ik.arm.moment import SECOND
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.outputs.controller_parameter import PARAMETER_TIMEOUT, ControllerParameter
from basis_ik.ros.outputs.output import count_publishers


class ControllerTopic:
    """Subscribes to a controller's state, and asks for what the state does not tell.

    Args:
        node: The node that subscribes.
        controller: Name of the controller.

    Attributes:
        name: The topic.
        controller: As given.
        on_report: Called with each state; assigned before the node spins.
    """

    on_report: Callable[[ControllerReport], None]

    def __init__(self, node: Node, controller: str) -> None:
        self._node, self._boundary, self.controller = node, boundary_of(node), controller
        self._subscription = node.create_subscription(
            JointTrajectoryControllerState,
            f"{controller}/controller_state",
            self._on_state,
            qos_profile_sensor_data,
        )
        self.name: str = self._subscription.topic_name
        self._partial: ControllerParameter | None = None  # asked for if it has other joints
        self._reported = False

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        stamp, reference = message.header.stamp, message.reference
        self.on_report(
            ControllerReport(
                tuple(message.joint_names),
                stamp.sec * SECOND + stamp.nanosec,
                reference.positions,
                reference.velocities,
                message.output.positions,
                message.feedback.positions,
                message.error.positions,
                message.speed_scaling_factor,
            )
        )

    def count_publishers(self) -> int:
        """Return the number of the topic's publishers."""
        return count_publishers(self._node, self.name)

    def takes_scaling(self) -> bool:
        """Return whether the controller takes factors of its speed."""
        topic = f"{self.controller}/speed_scaling_input"
        count = self._boundary.read(f"scaling {topic}", lambda: self._node.count_subscribers(topic))
        return count > 0

    def ask_for_partial_goals(self) -> None:
        """Ask whether it takes trajectories without some of its joints, if that is due."""
        if self._partial is None:
            self._partial = ControllerParameter(
                self._node, self.controller, "allow_partial_joints_goal", unset=None
            )
        # It can be set at run time.
        self._partial.ask(again=math.inf if self._partial.value else PARAMETER_TIMEOUT)

    @property
    def takes_partial_goals(self) -> bool | None:
        """Whether it does; None: not known."""
        return None if self._partial is None else self._partial.value

    def waits_for_partial_goals(self, others: str) -> str:
        """Return the service that may still tell; nothing, with a warning, once it is overdue.

        Args:
            others: The joints that trajectories omit.
        """
        if self._partial is None:
            return ""
        if not self._partial.is_overdue:
            return self._partial.service
        if not self._reported:
            self._reported = True
            self._node.get_logger().warning(
                f"{self._partial.service} does not tell whether the controller takes trajectories "
                f"without {others}: see its parameter allow_partial_joints_goal"
            )
        return ""

    def forget_partial_goals(self) -> None:
        """Ask anew: the controller may have been started with another answer."""
        if self._partial is not None:
            self._partial.destroy()
        self._partial = None

    def destroy(self) -> None:
        """Destroy the subscription and the client."""
        self.forget_partial_goals()
        self._node.destroy_subscription(self._subscription)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The speed override by topic; it sets the parameter, so that both always agree."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Float64

from basis_ik.arm.admission import Refused, Request, admit_fraction
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.publishers import incompatible_qos


class SpeedOverride:
    """Subscribes to `~/speed_override` of one arm, and sets its parameter `speed_override`.

    Args:
        node: The node that subscribes.
        controller: Of the arm whose motions are scaled.
    """

    def __init__(self, node: Node, controller: ChainController) -> None:
        self._node, self._controller = node, controller
        name = controller.arm.name
        self._parameter = f"{name}.speed_override" if name else "speed_override"
        topic = controller.resolve("speed_override")
        self._subscription = node.create_subscription(
            Float64, topic, self._on_message, 1, event_callbacks=incompatible_qos(node, topic)
        )

    def destroy(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, message: Float64) -> None:
        journal, value = self._controller.journal, admit_fraction(message.data)
        if isinstance(value, Refused):
            self._controller.arm.refusals.add(value, Request("speed_override"))
            text = f"speed override refused: {value}"
            journal.warn("speed override", value.reason.name, text)
            return
        journal.recovered("speed override", "speed overrides are valid again")
        # Setting it publishes an event to all nodes.
        if value != self._controller.own("speed_override"):
            self._node.set_parameters([Parameter(self._parameter, value=value)])

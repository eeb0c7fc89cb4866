# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ways to a controller: what the ROS graph tells of it, and the messages that it takes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from rclpy.node import Node

from basis_ik.arm.execution.messages import Outgoing
from basis_ik.ros.boundary import boundary_of

GRAPH_CHECK_PERIOD = 0.2  # [s] between two checks of subscribers and other publishers


class Output(ABC):
    """Turns what is to be sent into messages.

    Args:
        node: The node that owns the publisher or client.

    Attributes:
        name: Topic or action of the commands.
    """

    name: str

    def __init__(self, node: Node) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self._asked_at = -math.inf

    def is_due(self) -> bool:
        """Return whether it is time to ask again."""
        if self._boundary.steady() - self._asked_at < GRAPH_CHECK_PERIOD:
            return False
        self._asked_at = self._boundary.steady()
        return True

    def ask_soon(self) -> None:
        """Let it be time to ask again."""
        self._asked_at = -math.inf

    @abstractmethod
    def complaint(self) -> str:
        """Return why nothing would take what is sent, or nothing."""

    def other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        own = self._node.get_name(), self._node.get_namespace()
        alike = self._boundary.read(
            "alike", lambda: self._node.get_node_names_and_namespaces().count(own)
        )
        if alike > 1:
            return f"there is another node {self._node.get_fully_qualified_name()}; end one of them"
        return ""

    @abstractmethod
    def send(self, outgoing: Outgoing) -> None:
        """Send a message."""

    @abstractmethod
    def destroy(self) -> None:
        """Destroy its entities of the node."""


def count_publishers(node: Node, topic: str) -> int:
    """Return the number of a topic's publishers."""
    return boundary_of(node).read(f"publishers {topic}", lambda: node.count_publishers(topic))

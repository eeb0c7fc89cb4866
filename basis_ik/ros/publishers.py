# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The publishers on the node's topics, and whether their QoS is compatible."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import QoSRequestedIncompatibleQoSInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import qos_policy_name_from_kind

from basis_ik.motion.admission import printable
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.journal import Journal

PERIOD = 1.0  # s between two queries; the graph does not change often
_RVIZ = re.compile(r"/rviz2?(_[^/]*)?$")  # also with a launch file's suffix


class Publishers:
    """The nodes that publish on a topic; the graph is queried at most twice a second.

    Args:
        node: The node that subscribes to the topic.
        topic: The topic, before remapping.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self.topic = node, node.resolve_topic_name(topic)
        self._boundary = boundary_of(node)
        self._names: tuple[str, ...] = ()
        self._queried_at = -PERIOD

    def names(self) -> tuple[str, ...]:
        """Return the full name of each publisher's node, sorted; a node may have several."""
        now = self._boundary.steady()
        if now - self._queried_at >= 0.5 * PERIOD:
            self._queried_at = now
            self._names = tuple(publishing(self._node, self.topic))
        return self._names

    def __str__(self) -> str:
        return f"published on {self.topic} by {printable(', '.join(self.names()), 100)}"


def publishing(node: Node, topic: str) -> list[str]:
    """Return the full name of each publisher's node, sorted; a node may have several.

    Args:
        node: The node that queries the graph.
        topic: The topic's full name.
    """

    def query() -> list[str]:
        found = node.get_publishers_info_by_topic(topic)
        return sorted(f"{each.node_namespace.rstrip('/')}/{each.node_name}" for each in found)

    return boundary_of(node).read(f"publishing {topic}", query)


class TargetPublishers:
    """Warns of several publishers on a topic for targets, which would move the arm to and fro.

    It warns when two successive queries agree: a publisher appears in the graph before its node's
    name. RViz does not count, because it only publishes clicks.

    Args:
        node: The node that subscribes to the topics.
        topics: The topics, before remapping.
        journal: Logs each change once.
    """

    def __init__(self, node: Node, topics: Sequence[str], journal: Journal) -> None:
        self._node, self._journal = node, journal
        self._publishers = [Publishers(node, topic) for topic in topics]
        self._seen: dict[str, tuple[str, ...]] = {}
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self.check, clock=steady)

    def check(self) -> None:
        """Log changes."""
        for publishers in self._publishers:
            names, topic = publishers.names(), publishers.topic
            streaming = [name for name in names if not _RVIZ.search(name)]
            seen, self._seen[topic] = self._seen.get(topic), names
            if len(streaming) > 1:
                text = f"{len(names)} publishers, the newest target wins: {publishers}"
                if names == seen:
                    self._journal.warn(topic, topic, text)
            else:
                self._journal.recovered(topic, f"no second publisher on {topic}")

    def destroy(self) -> None:
        """Stop checking."""
        self._node.destroy_timer(self._timer)


def incompatible_qos(node: Node, topic: str) -> SubscriptionEventCallbacks:
    """Return callbacks that log an error if a publisher on a topic has an incompatible QoS.

    Args:
        node: The node that subscribes.
        topic: The topic, before remapping.
    """

    def log(event: QoSRequestedIncompatibleQoSInfo) -> None:
        node.get_logger().error(
            f"a publisher on {node.resolve_topic_name(topic)} is incompatible: its QoS does not"
            f" fit, {qos_policy_name_from_kind(event.last_policy_kind)}; let it offer what"
            f" `ros2 topic info -v` shows for this node"
        )

    return SubscriptionEventCallbacks(incompatible_qos=log)

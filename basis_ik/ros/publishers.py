# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The publishers on the node's topics, and whether their QoS is compatible."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import QoSRequestedIncompatibleQoSInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import qos_policy_name_from_kind

from basis_ik.arm.admission import printable
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.journal import Journal

GRAPH_QUERY_PERIOD = 1.0  # [s] between two queries; the graph does not change often
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
        self._queried_at = -GRAPH_QUERY_PERIOD

    def names(self) -> tuple[str, ...]:
        """Return the full name of each publisher's node, sorted; a node may have several."""
        now = self._boundary.steady()
        if now - self._queried_at >= 0.5 * GRAPH_QUERY_PERIOD:
            self._queried_at = now
            self._names = tuple(publishing(self._node, self.topic))
        return self._names

    def __str__(self) -> str:
        return shown_on(self.topic, self.names())


def shown_on(topic: str, names: Sequence[str]) -> str:
    """Return a topic and the names of those who publish on it, for a message."""
    return f"published on {topic} by {printable(', '.join(names), 64)}"


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


def of_other_type(node: Node, kind: type, topic: str) -> dict[str, str]:
    """Return the publishers whose messages do not arrive: full name of the node, and their type.

    Args:
        node: The node that queries the graph.
        kind: The type of the node's subscription.
        topic: The topic's full name.
    """

    def query() -> dict[str, str]:
        found = node.get_publishers_info_by_topic(topic)
        names = {
            f"{each.node_namespace.rstrip('/')}/{each.node_name}": each.topic_type for each in found
        }
        return {name: names[name] for name in sorted(names) if names[name] != type_name(kind)}

    return boundary_of(node).read(f"types {topic}", query) or {}


def type_name(kind: type) -> str:
    """Return the name of a message type as in the graph, `std_msgs/msg/String`."""
    package, folder, *_ = kind.__module__.split(".")
    return f"{package}/{folder}/{kind.__name__}"


class TopicPublishers:
    """Warns of publishers whose messages do not arrive, and of several that send targets.

    Several would move the arm to and fro. Messages of another type than the node's subscription do
    not arrive, and the middleware tells nobody.

    It warns when two successive queries agree: a publisher appears in the graph before its node's
    name. RViz does not count among several, because it only publishes clicks.

    Args:
        node: The node that subscribes to the topics.
        targets: Types and topics of targets, before remapping.
        others: Types and topics of other messages.
        journal: Logs each change once.

    Attributes:
        unheard: What does not arrive, and why; empty if there is nothing.
    """

    def __init__(
        self,
        node: Node,
        targets: Sequence[tuple[type, str]],
        others: Sequence[tuple[type, str]],
        journal: Journal,
    ) -> None:
        self._node, self._journal = node, journal
        self._publishers = [Publishers(node, topic) for _, topic in targets]
        self._kinds = {node.resolve_topic_name(topic): kind for kind, topic in (*targets, *others)}
        self._seen: dict[str, tuple[str, ...]] = {}
        self._unfit: dict[str, dict[str, str]] = {}
        self.unheard = ""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(GRAPH_QUERY_PERIOD, self.check, clock=steady)

    def check(self) -> None:
        """Log changes."""
        self.unheard = "; ".join(filter(None, map(self._check_type, self._kinds)))
        for publishers in self._publishers:
            topic = publishers.topic
            names = tuple(name for name in publishers.names() if name not in self._unfit[topic])
            streaming = [name for name in names if not _RVIZ.search(name)]
            seen, self._seen[topic] = self._seen.get(topic), names
            if len(streaming) > 1:
                text = f"{len(names)} publishers, the newest target wins: {shown_on(topic, names)}"
                if names == seen:
                    self._journal.warn(topic, topic, text)
            else:
                self._journal.recovered(topic, f"no second publisher on {topic}")

    def _check_type(self, topic: str) -> str:
        """Return whose messages on a topic do not arrive, and log changes."""
        kind, seen = self._kinds[topic], self._unfit.get(topic)
        unfit = self._unfit[topic] = of_other_type(self._node, kind, topic)
        subject = f"{topic} type"
        if not unfit:
            self._journal.recovered(subject, f"every publisher on {topic} has its type")
        if not unfit or unfit != seen:
            return ""
        given = ", ".join(f"{kind} by {name}" for name, kind in unfit.items())
        text = f"nothing of {printable(given, 200)} arrives on {topic}: it takes {type_name(kind)}"
        self._journal.warn(subject, topic, text, lasting=True)
        return text

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

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The log of publishers, with a graph of the test's own."""

from types import SimpleNamespace

import pytest
from geometry_msgs.msg import PoseStamped

from basis_ik.ros import publishers
from basis_ik.ros.publishers import TopicPublishers


class Graph:
    """A node with a given graph, and a journal that stores its lines."""

    def __init__(self):
        self.names, self.types = ["/robot"], {}
        self.reported = []

    def resolve_topic_name(self, topic):
        return f"/{topic}"

    def create_timer(self, *_, **__):
        return None

    def get_publishers_info_by_topic(self, _):
        split = [name.rsplit("/", 1) for name in self.names]
        return [
            SimpleNamespace(
                node_namespace=space,
                node_name=name,
                topic_type=self.types.get(name, "geometry_msgs/msg/PoseStamped"),
            )
            for space, name in split
        ]

    def warn(self, subject, reason, text, *, lasting=False):
        self.reported.append(text)

    def recovered(self, subject, text):
        if "has its type" not in text:
            self.reported.append(text)


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setattr(publishers, "GRAPH_QUERY_PERIOD", 0.0)  # each look is a look at the graph
    return Graph()


def test_a_publisher_is_reported_once_it_has_a_name(graph):
    target_publishers = TopicPublishers(graph, [(PoseStamped, "target")], [], graph)
    target_publishers.check()
    graph.reported.clear()
    graph.names.append("_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_")
    target_publishers.check()
    graph.names[1] = "/second"
    target_publishers.check()
    assert graph.reported == []
    target_publishers.check()
    assert graph.reported == [
        "2 publishers, the newest target wins: published on /target by /robot, /second"
    ]


def test_the_end_of_a_second_publisher_is_reported(graph):
    graph.names.append("/second")
    target_publishers = TopicPublishers(graph, [(PoseStamped, "target")], [], graph)
    target_publishers.check()
    target_publishers.check()
    graph.names.pop()
    graph.reported.clear()
    target_publishers.check()
    assert graph.reported == ["no second publisher on /target"]


def test_a_publisher_of_another_type_is_reported_and_does_not_count(graph):
    """Its messages do not arrive, and nothing else would say so."""
    graph.names.append("/joystick")
    graph.types["joystick"] = "geometry_msgs/msg/Pose"
    target_publishers = TopicPublishers(graph, [(PoseStamped, "target")], [], graph)
    target_publishers.check()
    assert target_publishers.unheard == "", "its name may not be known yet"
    graph.reported.clear()
    target_publishers.check()
    text = (
        "nothing of geometry_msgs/msg/Pose by /joystick arrives on /target: it takes "
        "geometry_msgs/msg/PoseStamped"
    )
    assert graph.reported == [text, "no second publisher on /target"]
    assert target_publishers.unheard == text
    graph.names.pop()
    target_publishers.check()
    assert target_publishers.unheard == ""


def test_rviz_is_not_reported(graph):
    graph.names += ["/rviz2", "/arm1/rviz"]
    target_publishers = TopicPublishers(graph, [(PoseStamped, "target")], [], graph)
    for _ in range(3):
        target_publishers.check()
    assert graph.reported == ["no second publisher on /target"] * 3
    graph.names.append("/rviz_relay/second")
    target_publishers.check()
    target_publishers.check()
    assert graph.reported[-1].startswith("4 publishers")

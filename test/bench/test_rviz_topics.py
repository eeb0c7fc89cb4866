# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the RViz configurations name, the nodes have, and with the types that RViz expects."""

from pathlib import Path

import pytest
import rclpy
import yaml
from geometry_msgs.msg import PointStamped
from virtual_node import alone
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate, MarkerArray
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.ros.demo.legs_motion import LegsMotion
from basis_ik.ros.frames.frames_node import FramesNode
from basis_ik.ros.frames.transform_nodes import TransformNodes

ROOT = Path(__file__).parents[2]


def named_in(config, space=""):
    """Return what a configuration expects of the node: published, subscribed, served."""
    text = (ROOT / "rviz" / f"{config}.rviz").read_text()
    manager = yaml.safe_load(text)["Visualization Manager"]
    published, subscribed, served = set(), set(), set()
    for entry in (*manager["Displays"], *manager["Tools"]):
        kind = entry["Class"].split("/")[1]
        if kind == "MarkerArray" and "targets/" not in entry["Topic"]["Value"]:  # a tour's
            published.add((space + entry["Topic"]["Value"], MarkerArray))
        elif kind == "InteractiveMarkers":
            name = space + entry["Interactive Markers Namespace"]
            published.add((f"{name}/update", InteractiveMarkerUpdate))
            subscribed.add((f"{name}/feedback", InteractiveMarkerFeedback))
            served.add((f"{name}/get_interactive_markers", GetInteractiveMarkers))
        elif kind == "PublishPoint":
            subscribed.add((space + entry["Topic"]["Value"], PointStamped))
    return published, subscribed, served


def had_by(node):
    """Return what a node publishes, subscribes to and serves."""
    return (
        {(each.topic_name, each.msg_type) for each in node.publishers},
        {(each.topic_name, each.msg_type) for each in node.subscriptions},
        {(node.resolve_service_name(each.srv_name), each.srv_type) for each in node.services},
    )


def missing(nodes, config, space=""):
    all_had = [set().union(*had) for had in zip(*map(had_by, nodes), strict=True)]
    return [
        expected - there for expected, there in zip(named_in(config, space), all_had, strict=True)
    ]


@pytest.mark.parametrize(
    ("config", "urdf", "space", "words"),
    [
        ("basis_ik", "ur5e", "", []),
        ("point_head", "pan_tilt", "", []),
        ("two_arms", "two_arms", "", ["--params-file", str(ROOT / "config" / "two_arms.yaml")]),
        # Where rviz.launch.py then looks.
        ("basis_ik", "ur5e", "/arm1", ["-r", "__ns:=/arm1"]),
    ],
)
def test_the_node_has_the_topics_of_the_configuration(config, urdf, space, words):
    text = (ROOT / "urdf" / f"{urdf}.urdf").read_text()
    with alone(text, *words, topic=f"{space}/robot_description") as node:
        assert missing([node], config, space) == [set()] * 3


@pytest.mark.parametrize(
    ("kinds", "config"),
    [([TransformNodes], "transform_nodes"), ([FramesNode, LegsMotion], "legs")],
)
def test_other_programs_have_the_topics_of_their_configurations(kinds, config):
    rclpy.init(args=["--ros-args", "--params-file", str(ROOT / "config" / f"{config}.yaml")])
    try:
        nodes = [kind() for kind in kinds]
        assert missing(nodes, config) == [set()] * 3
        for node in nodes:
            node.destroy_node()
    finally:
        rclpy.shutdown()

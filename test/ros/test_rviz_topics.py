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

"""What the RViz configurations name, the node has, and with the types that RViz expects."""

from pathlib import Path

import pytest
import yaml
from robot_bench import PATIENCE, Robot, start_node, stop_node
from std_msgs.msg import String

ROOT = Path(__file__).parents[2]
MARKERS = "visualization_msgs/msg/MarkerArray"
UPDATE = "visualization_msgs/msg/InteractiveMarkerUpdate"
FEEDBACK = "visualization_msgs/msg/InteractiveMarkerFeedback"
HANDLES = "visualization_msgs/srv/GetInteractiveMarkers"
POINT = "geometry_msgs/msg/PointStamped"


def named_in(config):
    """Return what a configuration expects of the node: published, subscribed, served."""
    text = (ROOT / "rviz" / f"{config}.rviz").read_text()
    manager = yaml.safe_load(text)["Visualization Manager"]
    published, subscribed, served = {}, {}, {}
    for entry in (*manager["Displays"], *manager["Tools"]):
        kind = entry["Class"].split("/")[1]
        if kind == "MarkerArray":
            published[entry["Topic"]["Value"]] = MARKERS
        elif kind == "InteractiveMarkers":
            space = entry["Interactive Markers Namespace"]
            published[f"{space}/update"] = UPDATE
            subscribed[f"{space}/feedback"] = FEEDBACK
            served[f"{space}/get_interactive_markers"] = HANDLES
        elif kind == "PublishPoint":
            subscribed[entry["Topic"]["Value"]] = POINT
    return published, subscribed, served


ASKS = (
    "get_publisher_names_and_types_by_node",
    "get_subscriber_names_and_types_by_node",
    "get_service_names_and_types_by_node",
)


def missing_of(graph, node, space, config):
    """Return what a configuration names and a node does not have."""
    if (node, space or "/") not in graph.get_node_names_and_namespaces():
        return ["the node"]
    return [
        name
        for ask, expected in zip(ASKS, named_in(config), strict=True)
        for name, kind in expected.items()
        if (space + name, [kind]) not in getattr(graph, ask)(node, space or "/")
    ]


@pytest.mark.parametrize(
    ("config", "urdf", "arguments"),
    [
        ("basis_ik", "ur5e", []),
        ("point_head", "pan_tilt", []),
        ("two_arms", "two_arms", ["--params-file", str(ROOT / "config" / "two_arms.yaml")]),
        ("basis_ik", "ur5e", ["-r", "__ns:=/arm1", "-r", "robot_description:=/robot_description"]),
    ],
)
def test_the_node_has_the_topics_of_the_configuration(domain, config, urdf, arguments):
    viewer = Robot(domain)
    process = start_node(domain, *arguments)
    viewer.description.publish(String(data=(ROOT / "urdf" / f"{urdf}.urdf").read_text()))
    space = "/arm1" if "__ns:=/arm1" in arguments else ""  # where rviz.launch.py then looks

    def missing():
        return missing_of(viewer.node, "basis_ik", space, config)

    try:
        viewer.wait(lambda: not missing(), f"all that {config}.rviz names", PATIENCE)
    finally:
        viewer.close()
        assert stop_node(process)[0] == 0


@pytest.mark.parametrize(
    ("program", "config"), [("transform_nodes", "transform_nodes"), ("frames_node", "legs")]
)
def test_other_programs_have_the_topics_of_their_configurations(domain, program, config):
    viewer = Robot(domain)
    parameters = str(ROOT / "config" / f"{config}.yaml")
    run = ("-m", "basis_ik.ros.programs", program)
    process = start_node(domain, "--params-file", parameters, program=run)

    def missing():
        return missing_of(viewer.node, program, "", config)

    try:
        viewer.wait(lambda: not missing(), f"all that {config}.rviz names", PATIENCE)
    finally:
        viewer.close()
        assert stop_node(process)[0] == 0

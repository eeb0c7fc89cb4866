# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The RViz configurations: frames that the robots have, topics that the nodes have."""

from pathlib import Path

import pytest
import yaml

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.legs_motion import HIP_T_FOOTHOLD

ROOT = Path(__file__).parents[1]
# Which robot each is shown with, and the chains that the node drives there.
SHOWN = {
    "basis_ik": ("ur5e", [""]),
    "legs": ("legs", []),
    "point_head": ("pan_tilt", [""]),
    "two_arms": ("two_arms", ["left/", "right/"]),
}
# The programs that lead its arms around.
TOURS = {"basis_ik": ["demo_targets"], "two_arms": ["left_targets", "right_targets"]}


def manager(name):
    """Return what RViz reads, below its Visualization Manager."""
    text = (ROOT / "rviz" / f"{name}.rviz").read_text()
    return yaml.safe_load(text)["Visualization Manager"]


def of_class(entries, kind):
    return [e for e in entries if e["Class"] == f"rviz_default_plugins/{kind}"]


def test_all_configurations_are_tested():
    there = sorted(path.stem for path in (ROOT / "rviz").iterdir())
    assert there == sorted([*SHOWN, "transform_nodes"])


@pytest.mark.parametrize("name", SHOWN)
def test_the_fixed_frame_is_a_link_of_the_robot(name):
    robot, _ = SHOWN[name]
    model = RobotModel.from_urdf((ROOT / "urdf" / f"{robot}.urdf").read_text())
    assert manager(name)["Global Options"]["Fixed Frame"] in model.links


@pytest.mark.parametrize("name", SHOWN)
def test_the_robot_model_uses_the_topic_robot_description(name):
    robots = of_class(manager(name)["Displays"], "RobotModel")
    topics = [robot["Description Topic"] for robot in robots]
    more = ["/corrected/robot_description"] * (name == "legs")
    assert [topic["Value"] for topic in topics] == ["/robot_description", *more]
    assert {topic["Durability Policy"] for topic in topics} == {"Transient Local"}
    assert len(of_class(manager(name)["Displays"], "TF")) == 1


@pytest.mark.parametrize("name", SHOWN)
def test_each_chain_has_markers_a_handle_and_a_point_tool(name):
    """`test/bench/test_rviz_topics.py` checks that the node has these names."""
    displays, tools = manager(name)["Displays"], manager(name)["Tools"]
    chains = SHOWN[name][1]
    markers = [d["Topic"]["Value"] for d in of_class(displays, "MarkerArray")]
    handles = [d["Interactive Markers Namespace"] for d in of_class(displays, "InteractiveMarkers")]
    clicks = [t["Topic"]["Value"] for t in of_class(tools, "PublishPoint")]
    without = ["/frames_node/markers"]  # of what has no chains
    tours = TOURS.get(name, [])
    of_arms = [f"/basis_ik/{chain}markers" for chain in chains]
    assert sorted(markers) == sorted(of_arms + [f"/{tour}/markers" for tour in tours] or without)
    own = ["/legs_motion/foothold"] * (name == "legs")
    assert handles == [*(f"/basis_ik/{chain}target" for chain in chains), *own]
    assert clicks == ["/basis_ik/target_point"] * bool(chains)  # of two arms: the last dragged
    assert of_class(tools, "Interact")  # without it nothing can be dragged


def test_the_corrected_legs_are_solid_and_those_before_faint():
    before, after = of_class(manager("legs")["Displays"], "RobotModel")
    assert before["Alpha"] < 0.5
    assert after.get("Alpha", 1.0) == 1.0
    given = yaml.safe_load((ROOT / "config" / "legs.yaml").read_text())
    prefix = given["frames_node"]["ros__parameters"]["prefix"]
    assert f"{after['TF Prefix']}/" == prefix  # RViz adds the slash


def test_the_foothold_is_on_the_grid():
    (grid,) = of_class(manager("legs")["Displays"], "Grid")
    model = RobotModel.from_urdf((ROOT / "urdf" / "legs.urdf").read_text())
    soles = [
        visual.link_T_body.translation[2] - 0.5 * visual.size[2]
        for visual in model.visuals
        if visual.link == "ankle_r" and visual.kind == "box"
    ]
    assert grid["Offset"]["Z"] == pytest.approx(HIP_T_FOOTHOLD.translation[2] + min(soles))


def test_transform_nodes_have_markers_and_handles_in_their_root():
    """`test/bench/test_rviz_topics.py` checks that the program has these names."""
    found = manager("transform_nodes")
    displays = found["Displays"]
    given = yaml.safe_load((ROOT / "config" / "transform_nodes.yaml").read_text())
    root = given["transform_nodes"]["ros__parameters"]["root"]
    assert found["Global Options"]["Fixed Frame"] == root
    (markers,) = of_class(displays, "MarkerArray")
    (handles,) = of_class(displays, "InteractiveMarkers")
    assert markers["Topic"]["Value"] == "/transform_nodes/markers"
    assert handles["Interactive Markers Namespace"] == "/transform_nodes/handles"
    assert len(of_class(displays, "TF")) == len(of_class(found["Tools"], "Interact")) == 1


@pytest.mark.parametrize("name", [*SHOWN, "transform_nodes"])
def test_displays_are_enabled_and_unique(name):
    displays = manager(name)["Displays"]
    assert all(d["Enabled"] and d["Value"] for d in displays)
    assert len({d["Name"] for d in displays}) == len(displays)


@pytest.mark.parametrize("name", [*SHOWN, "transform_nodes"])
def test_names_fit_in_the_side_panel(name):
    """The panel of displays cuts off longer names; the panel of views is not needed."""
    assert max(len(d["Name"]) for d in manager(name)["Displays"]) <= 20
    panels = yaml.safe_load((ROOT / "rviz" / f"{name}.rviz").read_text())["Panels"]
    assert [panel["Class"] for panel in panels] == ["rviz_common/Displays"]

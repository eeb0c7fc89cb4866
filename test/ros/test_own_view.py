# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""RViz's view of a robot that it was not made for."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import rclpy
import yaml
from arm_views import scene_of
from rclpy.node import Node
from rviz_view import ROOT, config_of, corners, manager, seen_at
from std_msgs.msg import String

from basis_ik.arm.goals import PoseGoal
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.rviz import own_view as own_view_module
from basis_ik.ros.rviz.own_view import arms_among, fitted_to, for_arms
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm_scene import extent

TURNS = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
FIRST = "as long a sentence as any"


def arm(length, first="l0"):
    """An arm of six joints on a post, of about a length [m], with a gripper."""
    step = length / 6
    parts = [
        f"""<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>
        <origin xyz="0 0 {step}"/><axis xyz="{axis}"/>
        <limit lower="-3" upper="3" velocity="1" effort="1"/></joint><link name="l{k + 1}"/>"""
        for k, axis in enumerate(TURNS)
    ]
    text = f"""<robot name="arm"><link name="some_base"/><link name="l0"/>{"".join(parts)}
        <joint name="foot" type="fixed"><parent link="some_base"/><child link="l0"/></joint>
        <link name="gripper"/><joint name="hand" type="fixed"><parent link="l6"/>
        <child link="gripper"/><origin xyz="0 0 {0.5 * step}"/></joint></robot>"""
    return RobotModel.from_urdf(text.replace('"l0"', f'"{first}"'))


def own_view(model):
    return fitted_to(config_of("basis_ik"), model)


def display(config, kind):
    (found,) = (d for d in manager(config)["Displays"] if d["Class"].endswith(kind))
    return found


@pytest.mark.parametrize("length", [0.3, 1.0, 3.0])
def test_all_of_an_arm_and_its_marks_is_in_view(length):
    model, rng = arm(length), np.random.default_rng(7)
    config, chain = own_view(model), model.chain()
    nearest = 1.0
    for number in range(40):
        q = rng.uniform(-3.0, 3.0, 6) if number else np.zeros(6)  # upright first
        q[1] *= 0.4  # above the ground
        links = [pose.translation for pose in chain.link_poses(q).values()]
        assert (np.abs(seen_at(config, links)) < 1.0).all()
        nearest = min(nearest, 1.0 - np.abs(seen_at(config, links)).max())
        for shape in scene_of(chain, q, PoseGoal(chain.forward(0.5 * q)), text=FIRST):
            if shape.name != "reach":  # its lower half is below the ground
                seen = seen_at(config, corners(config, shape, RigidTransform.identity()))
                assert (np.abs(seen) < 1.0).all(), shape.name
    assert nearest < 0.65, "the arm is small in it"


def test_sizes_follow_the_robot():
    small, large = (own_view(arm(length)) for length in (0.3, 3.0))
    for kind, key in (("/TF", "Marker Scale"), ("/Grid", "Cell Size")):
        ratio = display(large, kind)[key] / display(small, kind)[key]
        assert ratio == pytest.approx(10.0, rel=0.2)
    chain = arm(0.3).chain()
    assert extent(chain, None) == chain.reach < 0.4


def test_its_root_is_the_fixed_frame_and_both_ends_are_named():
    config = own_view(arm(1.0))
    assert manager(config)["Global Options"]["Fixed Frame"] == "some_base"
    named = re.compile(display(config, "/TF")["Filter (whitelist)"])
    chain = arm(1.0).chain()
    assert [link for link in arm(1.0).links if named.search(link)] == [chain.root, chain.tip]


def test_a_fixed_frame_that_the_robot_has_stays():
    config = own_view(arm(1.0, first="base_link"))
    assert manager(config)["Global Options"]["Fixed Frame"] == "base_link"


def test_of_several_arms_all_ends_are_named_and_all_links_in_view():
    model = RobotModel.from_urdf((ROOT / "urdf" / "two_arms.urdf").read_text())
    config = own_view(model)
    named = re.compile(display(config, "/TF")["Filter (whitelist)"])
    tips = ["left_tool0", "right_tool0"]
    # No other links without one below, as a body's parts are: their names hide each other.
    assert {model.root, *tips} == {link for link in model.links if named.search(link)}
    for tip in tips:
        chain = model.chain(manager(config)["Global Options"]["Fixed Frame"], tip)
        points = [pose.translation for pose in chain.link_poses(np.zeros(6)).values()]
        assert (np.abs(seen_at(config, points)) < 1.0).all()


@pytest.mark.parametrize("space", ["", "/cell"])
def test_each_of_several_arms_has_its_markers_and_its_handle(space):
    given = config_of("basis_ik")
    config = for_arms(given, f"{space}/basis_ik", ["left", "right"])
    displays = manager(config)["Displays"]
    topics = [each["Topic"]["Value"] for each in displays if each["Class"].endswith("/MarkerArray")]
    handles = [each.get("Interactive Markers Namespace") for each in displays]
    assert topics == [
        f"{space}/basis_ik/left/markers",
        f"{space}/basis_ik/right/markers",
        "/demo_targets/markers",
    ]
    assert [each for each in handles if each] == [
        f"{space}/basis_ik/left/target",
        f"{space}/basis_ik/right/target",
    ]
    names = [each["Name"] for each in displays]
    assert len({*names}) == len(names) == len(manager(given)["Displays"]) + 2
    assert given == config_of("basis_ik") == for_arms(given, f"{space}/basis_ik", [])


@pytest.mark.parametrize(
    ("topics", "arms"),
    [
        (["/basis_ik/right/markers", "/basis_ik/left/markers"], ["left", "right"]),
        (["/basis_ik/markers"], []),
        (["/tour/markers", "/other/basis_ik/markers", "/basis_ik/a/b/markers"], None),
        ([], None),
    ],
    ids=["several", "one", "of others", "nothing"],
)
def test_arms_are_known_by_the_topics_of_their_markers(topics, arms):
    assert arms_among(topics, "/basis_ik") == arms


def test_a_single_link_has_a_grid():
    model = RobotModel.from_urdf("<robot name='brick'><link name='brick'/></robot>")
    assert display(own_view(model), "/Grid")["Cell Size"] > 0.0


def test_the_given_configuration_is_left_alone():
    given = config_of("basis_ik")
    fitted_to(given, arm(0.3))
    assert given == config_of("basis_ik")


@pytest.fixture
def became(monkeypatch):
    """Run it with what comes instead of a description; return the command that it becomes."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    commands = []
    monkeypatch.setattr(os, "execvp", lambda _, command: commands.append(list(command)))

    def run(come):
        monkeypatch.setattr(own_view_module, "wait_for_message", come)
        own_view_module.main(["rviz2", "-d", SHIPPED, "--ros-args"])
        return commands

    return run


SHIPPED = str(ROOT / "rviz" / "basis_ik.rviz")


def test_rviz_is_opened_with_a_fitted_copy(became):
    text = (ROOT / "urdf" / "pan_tilt.urdf").read_text()
    ((program, option, path, more),) = became(lambda *_, **__: (True, String(data=text)))
    assert (program, option, more) == ("rviz2", "-d", "--ros-args")
    model = RobotModel.from_urdf(text)
    assert yaml.safe_load(Path(path).read_text()) == own_view(model)
    Path(path).unlink()


def test_the_arms_of_a_node_are_awaited(became, monkeypatch):
    text = (ROOT / "urdf" / "two_arms.urdf").read_text()
    seen = [[], [("/basis_ik/left/markers", []), ("/basis_ik/right/markers", [])]]
    monkeypatch.setattr(Node, "get_topic_names_and_types", lambda _: seen.pop(0))
    ((_, _, path, _),) = became(lambda *_, **__: (True, String(data=text)))
    fitted = own_view(RobotModel.from_urdf(text))
    expected = for_arms(fitted, "/basis_ik", ["left", "right"])
    assert yaml.safe_load(Path(path).read_text()) == expected
    Path(path).unlink()
    assert not seen


@pytest.mark.parametrize(
    ("found", "said"),
    [((False, None), "no /robot_description"), ((True, String(data="<robot/>")), "the view is as")],
    ids=["nothing", "no robot"],
)
def test_without_a_robot_rviz_is_opened_as_it_is(became, capsys, found, said):
    assert became(lambda *_, **__: found) == [["rviz2", "-d", SHIPPED, "--ros-args"]]
    assert said in capsys.readouterr().out


def test_an_interrupt_opens_nothing(became):
    def interrupted(*_, **__):
        rclpy.shutdown()
        return False, None

    assert became(interrupted) == []

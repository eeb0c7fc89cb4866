# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""All that an example shows fits the view and the window of its RViz configuration."""

import numpy as np
import pytest
import yaml
from arm_views import scene_of
from rviz_view import BARS, ROOT, camera, corners, manager, seen_at, window

from basis_ik.arm.goals import PointGoal, PoseGoal, Ray
from basis_ik.bones.constraints import Point, Reach
from basis_ik.bones.meet import meet
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene
from basis_ik.ros.demo.legs_motion import HIP_T_FOOTHOLD, SWING
from basis_ik.ros.demo.moving_point import place
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.combine import combine
from basis_ik.transforms.node import NODE_FIELDS, TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.view.frames import frames_scene
from basis_ik.view.nodes import NodeView, nodes_scene
from basis_ik.view.shapes import WHITE, Ball

UR5E = [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]
PANDA = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
LONG_NAME = (
    "as long a sentence as any that is shown, of eighty letters and more, to be read at once"
)
# Configuration, robot, fixed frame, and each chain's root and tip, start, tour.
ARMS = [
    ("basis_ik", "ur5e", "base_link", "base_link", "tool0", UR5E, "demo_targets"),
    ("basis_ik", "panda", "panda_link0", "panda_link0", "panda_hand_tcp", PANDA, "demo_targets"),
    ("two_arms", "two_arms", "bench", "left_base_link", "left_tool0", UR5E, "two_arms_left"),
    ("two_arms", "two_arms", "bench", "right_base_link", "right_tool0", UR5E, "two_arms_right"),
]
CONFIGS = ["basis_ik", "legs", "point_head", "transform_nodes", "two_arms"]


def tour(name):
    """Return the poses of a tour that are given in the root."""
    targets = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())["targets"]
    for target in targets:
        if target["frame"] == "root":
            yield RigidTransform.from_rpy(*np.radians(target["rpy"]), target["xyz"])


def out_of_view(name, scene, fixed_T_root):
    """Return the names of what does not fit the view."""
    return [
        shape.name
        for shape in scene
        if not (np.abs(seen_at(name, corners(name, shape, fixed_T_root))) <= 1.0).all()
    ]


@pytest.mark.parametrize(("config", "robot", "fixed", "root", "tip", "q", "targets"), ARMS)
def test_the_arm_and_its_tour_are_in_view(config, robot, fixed, root, tip, q, targets):
    model = RobotModel.from_urdf((ROOT / "urdf" / f"{robot}.urdf").read_text())
    chain, q = model.chain(root, tip), np.array(q)
    fixed_T_root = model.chain(fixed, tip).link_poses(q)[root]
    assert out_of_view(config, scene_of(chain, q, text=LONG_NAME), fixed_T_root) == []
    for target in tour(targets):
        shapes = scene_of(chain, q, PoseGoal(target), visuals=model.visuals_of(chain))
        assert {"ghost", "target"} <= {shape.name for shape in shapes}
        assert out_of_view(config, shapes, fixed_T_root) == []
        q = solve(chain, target, q).positions


@pytest.mark.parametrize("phase", np.linspace(0.0, 1.0, 9)[:-1])
def test_the_head_and_its_moving_point_are_in_view(phase):
    model = RobotModel.from_urdf((ROOT / "urdf" / "pan_tilt.urdf").read_text())
    chain, ray = model.chain("base_link", "camera_optical_frame"), Ray((0.0, 0.0, 1.0))
    goal = PointGoal(tuple(place(phase).tolist()), ray)
    for text in ("reached", LONG_NAME):
        shapes = scene_of(chain, np.zeros(2), goal, text=text, visuals=model.visuals_of(chain))
        assert "miss" not in {shape.name for shape in shapes}
        assert out_of_view("point_head", shapes, RigidTransform.identity()) == []


@pytest.mark.parametrize("phase", [-1.0, 0.0, 1.0])
def test_the_legs_and_their_texts_are_in_view(phase):
    model = RobotModel.from_urdf((ROOT / "urdf" / "legs.urdf").read_text())
    tree = scene(model, {name: middle + phase * swing for name, (middle, swing) in SWING.items()})
    tree.add("foothold", "hip", HIP_T_FOOTHOLD)
    constraints = {
        "calf_looks": Point("calf_l", "ankle_l", "ankle_r"),
        "foot_stands": Reach(("thigh_r", "calf_r", "ankle_r"), "foothold"),
    }
    shapes = [
        Ball(name=frame, frame="hip", color=WHITE, pose=tree.lookup("hip", frame), diameter=0.2)
        for frame in tree.frames  # as large as a foot
    ]
    shapes += frames_scene(tree, constraints, meet(tree, constraints))
    assert out_of_view("legs", shapes, RigidTransform.identity()) == []


def test_the_transform_nodes_and_the_combined_node_are_in_view():
    text = (ROOT / "config" / "transform_nodes.yaml").read_text()
    given = yaml.safe_load(text)["transform_nodes"]["ros__parameters"]
    tree = TransformTree(given["root"])
    nodes = {
        name: TransformNode.from_fields({k: v for k, v in given[name].items() if k in NODE_FIELDS})
        for name in given["nodes"]
    }
    for name, node in nodes.items():
        tree.add(name, given[name].get("parent", given["root"]), node)
    for name in given["combine"]:
        tree.add(
            name,
            given["root"],
            combine(given[name]["chain"], [nodes[n] for n in given[name]["chain"]]).node,
        )
    for name in tree.frames[1:]:
        seen = tree.lookup_node(tree.root, name)
        place = RigidTransform.from_rotation_translation(seen.rotation, seen.translation)
        chain = tuple(given[name].get("chain", ()))
        shapes = nodes_scene([NodeView(name, seen, tree.basis(name).center, chain)], 0.2)
        assert out_of_view("transform_nodes", shapes, place) == []


@pytest.mark.parametrize("name", CONFIGS)
def test_the_window_fits_a_small_screen(name):
    width, height = window(name)
    assert width <= 1280
    assert height <= 800


@pytest.mark.parametrize("name", CONFIGS)
def test_names_of_frames_can_be_read(name):
    """RViz's letters are a tenth of the scale high."""
    (frames,) = (d for d in manager(name)["Displays"] if d["Class"].endswith("/TF"))
    _, focus = camera(name)
    size = 0.1 * frames["Marker Scale"] * np.array([0.0, 0.0, 1.0])
    low, high = seen_at(name, [focus, focus + size])[:, 1]
    assert 0.5 * (high - low) * (window(name)[1] - BARS) > 12.0  # px


@pytest.mark.parametrize("name", CONFIGS)
def test_the_view_is_from_above(name):
    """Only then is what stands above the robot before it."""
    assert 0.1 < manager(name)["Views"]["Current"]["Pitch"] < 1.2


def test_a_point_out_of_view_is_detected():
    chain = RobotModel.from_urdf((ROOT / "urdf" / "ur5e.urdf").read_text()).chain()
    beside = RigidTransform.from_rpy(0.0, 0.0, 0.0, [-2.0, 2.0, 0.0])
    assert set(out_of_view("basis_ik", scene_of(chain, UR5E), beside)) == {"reach", "state"}

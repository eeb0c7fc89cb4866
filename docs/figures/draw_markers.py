# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/markers.png: what is shown of each example, as the cameras of rviz/ see it.

pip install matplotlib && python docs/figures/draw_markers.py
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from basis_ik.arm.chain_state import ChainState, Event
from basis_ik.arm.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.bones.constraints import Point, Reach
from basis_ik.bones.meet import meet
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene as scene_of_robot
from basis_ik.ros.demo.legs_motion import HIP_T_FOOTHOLD, SWING
from basis_ik.solvers.look.look_at import look_at
from basis_ik.solvers.pose.fabrik_passes import trace_passes
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.combine import combine
from basis_ik.transforms.node import NODE_FIELDS, TransformNode
from basis_ik.transforms.rigid import IDENTITY, RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.view.arm_scene import ArmScene, ArmView
from basis_ik.view.frames import frames_scene
from basis_ik.view.ghost import OUTLINES, Ghost
from basis_ik.view.nodes import NodeView, nodes_scene
from basis_ik.view.shapes import Ball, Lines, Shape, Text
from basis_ik.view.words import words

ROOT = Path(__file__).parents[2]
ROBOT = (0.55, 0.57, 0.6, 1.0)
UNDER_WAY = (Event.CONFIGURE, Event.ACTIVATE, Event.MOVE)
THERE = (*UNDER_WAY, Event.END_COMMANDS, Event.ARRIVE)
STOPPED = (*UNDER_WAY, Event.STOP, Event.COME_TO_REST)
STARTS = {  # by the number of joints
    2: (0.0, 0.0),
    6: (0.0, -1.57, 1.57, -1.57, -1.57, 0.0),
    7: (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
}
PANDA_ENDS = ("panda_link0", "panda_hand_tcp")

mpl.use("agg")
mpl.rcParams.update({"font.size": 9, "figure.constrained_layout.use": True})


class Camera:
    """The camera of a configuration."""

    def __init__(self, config: str) -> None:
        text = (ROOT / "rviz" / f"{config}.rviz").read_text()
        view = yaml.safe_load(text)["Visualization Manager"]["Views"]["Current"]
        focus, pitch, yaw = view["Focal Point"], view["Pitch"], view["Yaw"]
        out = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
        self.distance = view["Distance"]
        self.eye = np.array([focus[axis] for axis in "XYZ"]) + self.distance * out
        right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        self._axes = np.stack([right, np.cross(out, right), -out])

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return where points (k, 3) of the fixed frame appear, (k, 2)."""
        x, y, depth = self._axes @ (np.atleast_2d(points) - self.eye).T
        return np.stack([x, y], axis=1) / (np.tan(np.pi / 8) * depth[:, np.newaxis])


Scene = list[tuple[RigidTransform, Shape]]
"""Shapes, each with where its frame is in the fixed frame."""


def draw(ax: Axes, camera: Camera, fixed_T_frame: RigidTransform, shape: Shape) -> None:
    """Draw one shape; what is near is not larger than what is far."""
    fixed_T_shape = fixed_T_frame @ shape.pose
    zoom = 2.6 / camera.distance
    if isinstance(shape, Lines):
        ends = camera(fixed_T_shape.apply(shape.ends)).reshape(-1, 2, 2)
        colors = shape.colors or [shape.color]
        width = max(0.8, 150 * zoom * shape.width)
        ax.add_collection(LineCollection(ends, colors=colors, linewidths=width))
        return
    (place,) = camera(fixed_T_shape.translation)
    if isinstance(shape, Ball):
        ax.plot(*place, "o", color=shape.color, markersize=90 * zoom * shape.diameter)
    elif isinstance(shape, Text):
        size = 70 * zoom * shape.height
        ax.text(*place, shape.text, color=shape.color, ha="center", va="center", fontsize=size)


def grid() -> np.ndarray:
    """Return the ends of the lines of RViz's grid."""
    steps, edge = np.linspace(-1.5, 1.5, 13), np.full(13, 1.5)
    lines = np.stack([[steps, -edge, 0 * edge], [steps, edge, 0 * edge]]).transpose(2, 0, 1)
    return np.concatenate([lines, lines[..., [1, 0, 2]]]).reshape(-1, 3)


def show(ax: Axes, config: str, title: str, scene: Scene) -> None:
    """Draw what is shown, on RViz's grid."""
    camera = Camera(config)
    lines = camera(grid()).reshape(-1, 2, 2)
    ax.add_collection(LineCollection(lines, colors=[(0.35,) * 3], linewidths=0.4))
    for fixed_T_frame, shape in scene:
        draw(ax, camera, fixed_T_frame, shape)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.0, 1.0), aspect="equal", xticks=[], yticks=[], title=title)
    ax.set_facecolor((0.19,) * 3)


def read(name: str) -> RobotModel:
    """Return a robot that is shipped."""
    return RobotModel.from_urdf_file(ROOT / "urdf" / f"{name}.urdf")


def arm(
    model: RobotModel,
    ends: tuple[str, str],
    goal: Goal | None,
    events: Sequence[Event],
    measured: Sequence[float] | None = None,
    fixed: str | None = None,
    solver: str = "descent",
) -> Scene:
    """Solve for a goal, and return what is shown while the arm is somewhere: there, or measured."""
    chain = model.chain(*ends)
    n = len(chain.joint_names)
    seed = STARTS[n]
    solution, stages = None, ()
    if isinstance(goal, PoseGoal):
        solution = solve(chain, goal.root_T_target, seed, solver=solver)
        if solution.passes is not None:
            first = {"position_only": False, "tolerances": (1e-5, 1e-5), "most": 12}
            stages = trace_passes(chain, goal.root_T_target, solution.passes.seed, **first)
    elif isinstance(goal, PointGoal):
        solution = look_at(chain, goal.root_point, seed, axis=goal.ray.axis)
    state, ghost = ChainState(), Ghost(chain, model.visuals_of(chain, {}))
    for event in events:
        state.handle(event)
    q = solution.positions if measured is None else np.array(measured)
    view = ArmView(chain, ghost, q, state.state, words(state, solution), goal, solution, stages)
    root = IDENTITY if fixed is None else model.chain(fixed, ends[1]).link_poses(q)[ends[0]]
    robot = ghost.at(chain.link_poses(q), ROBOT)
    return [(root, shape) for shape in (*robot, *ArmScene().shapes(view))]


def both_arms() -> Scene:
    """One arm on its way, the other there."""
    model = read("two_arms")
    goals = {"left": (0.4, 0.35, 0.35), "right": (0.5, -0.1, 0.25)}
    return [
        each
        for side, xyz in goals.items()
        for each in arm(
            model,
            (f"{side}_base_link", f"{side}_tool0"),
            PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, xyz)),
            UNDER_WAY if side == "left" else THERE,
            STARTS[6] if side == "left" else None,
            "bench",
        )
    ]


def legs() -> Scene:
    """A calf that looks at the other ankle, and a foot on a foothold, in mid-swing."""
    model = read("legs")
    tree = scene_of_robot(model, {joint: middle for joint, (middle, _) in SWING.items()})
    shown: Scene = []
    for visual in model.visuals:  # as they were
        ends = visual.link_T_body.apply(OUTLINES[visual.kind] * visual.size)
        pose = tree.lookup("hip", visual.link)
        lines = Lines(name="legs", frame="hip", color=ROBOT, pose=pose, ends=ends, width=0.0)
        shown.append((IDENTITY, lines))
    tree.add("foothold", "hip", HIP_T_FOOTHOLD)
    constraints = {
        "calf_looks": Point("calf_l", "ankle_l", "ankle_r"),
        "foot_stands": Reach(("thigh_r", "calf_r", "ankle_r"), "foothold"),
    }
    met = meet(tree, constraints)
    shown += [(IDENTITY, shape) for shape in frames_scene(tree, constraints, met)]
    return shown


def nodes() -> Scene:
    """The nodes of transform_nodes.launch.py."""
    text = (ROOT / "config" / "transform_nodes.yaml").read_text()
    given = yaml.safe_load(text)["transform_nodes"]["ros__parameters"]
    made = {
        name: TransformNode.from_fields({k: v for k, v in given[name].items() if k in NODE_FIELDS})
        for name in given["nodes"]
    }
    tree = TransformTree(given["root"])
    for name, node in made.items():
        tree.add(name, given[name].get("parent", given["root"]), node)
    for name in given["combine"]:
        chain = given[name]["chain"]
        tree.add(name, given["root"], combine(chain, [made[each] for each in chain]).node)
    frames, views = {}, []
    for name in tree.frames[1:]:
        seen, node = tree.lookup_node(tree.root, name), tree.basis(name)
        frames[name] = RigidTransform.from_rotation_translation(seen.rotation, seen.translation)
        views.append(NodeView(name, seen, node.center, tuple(given[name].get("chain", ()))))
    return [(frames[shape.frame], shape) for shape in nodes_scene(views, given["box_size"])]


def main() -> None:
    """Draw what is shown in each example."""
    down = partial(RigidTransform.from_rpy, np.pi, 0.0, 0.0)
    ur5e, panda = (read("ur5e"), ("base_link", "tool0")), (read("panda"), PANDA_ENDS)
    head = read("pan_tilt"), ("base_link", "camera_optical_frame")
    away = (0.9, -1.57, 1.57, -1.57, -1.57, 0.0)
    look = PointGoal((1.5, 0.4, 0.5), Ray((0.0, 0.0, 1.0)))
    side, far = PoseGoal(down([0.5, -0.3, 0.3])), PoseGoal(down([1.2, 0.6, 0.6]))
    near = PoseGoal(down([-0.2, 0.55, 0.3]))
    shown = {
        "an arm on its way": ("basis_ik", arm(*ur5e, side, UNDER_WAY, away)),
        "a target too far": ("basis_ik", arm(*ur5e, far, THERE)),
        "stopped": ("basis_ik", arm(*ur5e, None, STOPPED, away)),
        "FABRIK's passes": (
            "basis_ik",
            arm(*panda, near, UNDER_WAY, STARTS[7], solver="fabrik"),
        ),
        "a head that looks": ("point_head", arm(*head, look, THERE)),
        "two arms": ("two_arms", both_arms()),
        "constraints on legs": ("legs", legs()),
        "transform nodes": ("transform_nodes", nodes()),
    }
    figure, axes = plt.subplots(2, 4, figsize=(14, 6))
    for ax, (title, (config, scene)) in zip(axes.flat, shown.items(), strict=True):
        show(ax, config, title, scene)
    figure.savefig(Path(__file__).parent / "markers.png", dpi=100)


if __name__ == "__main__":
    main()

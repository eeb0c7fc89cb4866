"""Draw docs/figures/markers.svg: what is shown of arms, as the cameras of rviz/ see it.

pip install matplotlib && python docs/figures/draw_markers.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from basis_ik.model.robot import RobotModel
from basis_ik.motion.chain_state import ChainState, Event
from basis_ik.motion.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.solvers.aim_chain import solve_aim
from basis_ik.solvers.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm import ArmScene, ArmView
from basis_ik.view.ghost import Ghost
from basis_ik.view.shapes import Ball, Lines, Shape, Text
from basis_ik.view.words import words

ROOT = Path(__file__).parents[2]
ROBOT = (0.55, 0.57, 0.6, 1.0)
UNDER_WAY = (Event.CONFIGURE, Event.ACTIVATE, Event.PURSUE)
THERE = (*UNDER_WAY, Event.COMMANDED, Event.ARRIVE)

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True}
)


class Camera:
    """The camera of a configuration."""

    def __init__(self, config: str) -> None:
        text = (ROOT / "rviz" / f"{config}.rviz").read_text()
        view = yaml.safe_load(text)["Visualization Manager"]["Views"]["Current"]
        focus, pitch, yaw = view["Focal Point"], view["Pitch"], view["Yaw"]
        out = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
        self.eye = np.array([focus[axis] for axis in "XYZ"]) + view["Distance"] * out
        right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        self._axes = np.stack([right, np.cross(out, right), -out])

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return where points (k, 3) of the fixed frame appear, (k, 2)."""
        x, y, depth = self._axes @ (np.atleast_2d(points) - self.eye).T
        return np.stack([x, y], axis=1) / (np.tan(np.pi / 8) * depth[:, np.newaxis])


def draw(ax: Axes, camera: Camera, shape: Shape) -> None:
    """Draw one shape; what is near is not larger than what is far."""
    if isinstance(shape, Lines):
        ends = camera(shape.pose.apply(shape.ends)).reshape(-1, 2, 2)
        colors = shape.colors or [shape.color]
        ax.add_collection(
            LineCollection(ends, colors=colors, linewidths=max(0.5, 120 * shape.width))
        )
        return
    (place,) = camera(shape.pose.translation)
    if isinstance(shape, Ball):
        ax.plot(*place, "o", color=shape.color, markersize=110 * shape.diameter)
    elif isinstance(shape, Text):
        size = 85 * shape.height
        ax.text(*place, shape.text, color=shape.color, ha="center", va="center", fontsize=size)


def grid() -> np.ndarray:
    """Return the ends of the lines of RViz's grid."""
    steps, edge = np.linspace(-1.5, 1.5, 13), np.full(13, 1.5)
    lines = np.stack([[steps, -edge, 0 * edge], [steps, edge, 0 * edge]]).transpose(2, 0, 1)
    return np.concatenate([lines, lines[..., [1, 0, 2]]]).reshape(-1, 3)


def show(
    ax: Axes,
    config: str,
    model: RobotModel,
    goal: Goal,
    events: Sequence[Event],
    measured: np.ndarray | None = None,
) -> None:
    """Solve for a goal, and draw what is shown while the arm is somewhere: there, or measured."""
    chain = model.chain("base_link", "tool0" if config == "basis_ik" else "camera_optical_frame")
    n = len(chain.joint_names)
    seed = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])[:n] if n == 6 else np.zeros(n)
    if isinstance(goal, PoseGoal):
        solution = solve(chain, goal.root_T_target, seed)
    else:
        solution = solve_aim(chain, goal.root_point, seed, axis=goal.ray.axis)
    state, ghost, camera = ChainState(), Ghost(chain, model.visuals_of(chain)), Camera(config)
    for event in events:
        state.handle(event)
    q = solution.positions if measured is None else measured
    said = words(state, solution)
    view = ArmView(chain, ghost, q, state.state, said, goal, solution)
    lines = camera(grid()).reshape(-1, 2, 2)
    ax.add_collection(LineCollection(lines, colors=[(0.35,) * 3], linewidths=0.4))
    for shape in (*ghost.at(chain.link_poses(q), ROBOT), *ArmScene().shapes(view)):
        draw(ax, camera, shape)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.0, 1.0), aspect="equal", xticks=[], yticks=[])
    ax.set_facecolor((0.19,) * 3)


def main() -> None:
    """Draw an arm on its way, one that is as near as it gets, and a head that looks at a point."""
    arm = RobotModel.from_urdf((ROOT / "urdf" / "ur5e.urdf").read_text())
    head = RobotModel.from_urdf((ROOT / "urdf" / "pan_tilt.urdf").read_text())
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.2))
    away = np.array([0.9, -1.57, 1.57, -1.57, -1.57, 0.0])
    side = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.5, -0.3, 0.3])
    far = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [1.2, 0.6, 0.6])
    show(axes[0], "basis_ik", arm, PoseGoal(side), UNDER_WAY, away)
    show(axes[1], "basis_ik", arm, PoseGoal(far), THERE)
    look = PointGoal((1.5, 0.4, 0.5), Ray((0.0, 0.0, 1.0)))
    show(axes[2], "point_head", head, look, THERE)
    figure.savefig(Path(__file__).parent / "markers.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

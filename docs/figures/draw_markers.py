"""Draw docs/figures/markers.svg: what is shown of an arm, seen from the side.

pip install matplotlib && python docs/figures/draw_markers.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from basis_ik.model.chain import Chain
from basis_ik.model.robot import RobotModel
from basis_ik.motion.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.solvers.aim_chain import solve_aim
from basis_ik.solvers.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm import ArmView, arm_scene
from basis_ik.view.shapes import Ball, Lines, Shape, Text

ROOT = Path(__file__).parents[2]

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True}
)


def draw(ax: Axes, shape: Shape) -> None:
    """Draw one shape in the plane of x and z."""
    centre = shape.pose.translation
    if isinstance(shape, Lines):
        ends = shape.pose.apply(shape.ends)[:, [0, 2]].reshape(-1, 2, 2)
        colors = shape.colors or [shape.color]
        lines = mpl.collections.LineCollection(ends, colors=colors, linewidths=300 * shape.width)
        ax.add_collection(lines)
    elif isinstance(shape, Ball):
        circle = plt.Circle((centre[0], centre[2]), shape.diameter / 2, color=shape.color, lw=0)
        ax.add_patch(circle)
    elif isinstance(shape, Text):
        ax.text(centre[0], centre[2], shape.text, color=shape.color, ha="center", va="center")


def show(ax: Axes, chain: Chain, goal: Goal, title: str) -> None:
    """Solve for a goal from an easy pose, and draw what is shown of it."""
    seed = np.array([0.0, -1.2, 1.4, -1.77, -1.57, 0.0])
    if isinstance(goal, PoseGoal):
        solution = solve(chain, goal.root_T_target, seed)
    else:
        solution = solve_aim(chain, goal.root_point, seed, axis=goal.ray.axis)
    view = ArmView(chain, solution.positions, goal, str(solution.reason), solution.success)
    for shape in arm_scene(view):
        draw(ax, shape)
    ax.set(title=title, xlabel="x [m]", ylabel="z [m]", aspect="equal")
    ax.set(xlim=(-0.6, 1.5), ylim=(-0.4, 1.2))


def main() -> None:
    """Draw a pose that is reached, one that is too far, and a point that is looked at."""
    chain = RobotModel.from_urdf((ROOT / "urdf" / "ur5e.urdf").read_text()).chain()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True)
    down = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.5, 0.15, 0.3])
    far = RigidTransform.from_rpy(np.pi, -1.0, 0.0, [1.15, 0.0, 0.6])
    show(axes[0], chain, PoseGoal(down), "a pose")
    show(axes[1], chain, PoseGoal(far), "a pose out of reach")
    look = PointGoal((1.2, 0.1, 0.2), Ray((0.0, 0.0, 1.0)))
    show(axes[2], chain, look, "a point to look at")
    figure.savefig(Path(__file__).parent / "markers.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

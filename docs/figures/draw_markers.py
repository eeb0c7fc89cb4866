"""Draw docs/figures/markers.svg: what RViz is sent, seen from the side.

pip install matplotlib && python docs/figures/draw_markers.py      (in `make shell`)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from visualization_msgs.msg import Marker

from basis_ik.model.chain import Chain
from basis_ik.model.robot import RobotModel
from basis_ik.motion.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.ros.marker_array import View, marker_array
from basis_ik.solvers.aim_chain import solve_aim
from basis_ik.solvers.solve import solve
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True}
)


def place(marker: Marker) -> RigidTransform:
    """Return where a marker is."""
    p, q = marker.pose.position, marker.pose.orientation
    return RigidTransform.from_quaternion_xyzw([q.x, q.y, q.z, q.w], [p.x, p.y, p.z])


def rgb(color: object) -> tuple[float, float, float]:
    """Return a message's colour without its opacity."""
    return (color.r, color.g, color.b)


def draw(ax: Axes, marker: Marker) -> None:
    """Draw one marker in the plane of x and z."""
    points = np.array([place(marker).apply((p.x, p.y, p.z)) for p in marker.points])
    centre = place(marker).translation
    if marker.type == Marker.LINE_STRIP:
        ax.plot(points[:, 0], points[:, 2], color=rgb(marker.color), lw=2, label=marker.ns)
    elif marker.type == Marker.LINE_LIST:
        lines = np.insert(points, range(2, len(points), 2), np.nan, axis=0)  # a gap after each
        if not marker.colors:
            ax.plot(lines[:, 0], lines[:, 2], color=rgb(marker.color), lw=0.8)
        for k, colour in enumerate(marker.colors[::2]):
            ends = lines[3 * k : 3 * k + 2]
            ax.plot(ends[:, 0], ends[:, 2], color=rgb(colour), lw=2)
    elif marker.type == Marker.SPHERE_LIST:
        ax.scatter(points[:, 0], points[:, 2], s=45, color=list(map(rgb, marker.colors)), zorder=3)
    elif marker.type == Marker.SPHERE:
        colour = (*rgb(marker.color), min(1.0, 2 * marker.color.a))
        ax.add_patch(plt.Circle((centre[0], centre[2]), marker.scale.x / 2, color=colour, lw=0))
    elif marker.type == Marker.TEXT_VIEW_FACING:
        ax.text(centre[0], centre[2], marker.text, color=rgb(marker.color), ha="center")


def show(ax: Axes, chain: Chain, goal: Goal, title: str) -> None:
    """Solve for a goal from an easy pose, and draw what RViz would be sent."""
    seed = np.array([0.0, -1.2, 1.4, -1.77, -1.57, 0.0])
    if isinstance(goal, PoseGoal):
        solution = solve(chain, goal.root_T_target, seed)
    else:
        solution = solve_aim(chain, goal.root_point, seed, axis=goal.ray.axis)
    view = View(chain, solution.positions, goal, str(solution.reason), solution.success)
    for marker in marker_array(view, 1.0).markers:
        if marker.action == Marker.ADD:
            draw(ax, marker)
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

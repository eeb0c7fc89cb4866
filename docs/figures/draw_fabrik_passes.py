# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw FABRIK's passes on a UR5e, as panels (fabrik_passes.svg) and moving (fabrik_moving.svg).

pip install -r docs/requirements.txt && PYTHONPATH=. python docs/figures/draw_fabrik_passes.py
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.fabrik_passes import Stage
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform

HERE = Path(__file__).parent
BLUE, RED, GREEN, GREY = "#2b6cb0", "#c53030", "#2f855a", "#a0aec0"
COLOURS = {"start": GREY, "backward": RED, "forward": BLUE}
TARGET = RigidTransform.from_rpy(math.pi, 0.0, 0.6, (0.45, 0.3, 0.25))
SEED = (-0.5, -1.3, 1.0, -1.2, -1.6, 0.3)
PANELS = 6
SIDE = RigidTransform.from_rpy(0.35, 0.0, 0.0) @ RigidTransform.from_rpy(0.0, 0.0, -0.5)
STEP, LAST = 0.8, 2.0  # [s] from stage to stage, and that the end stays

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True}
)


def seen(points: np.ndarray) -> np.ndarray:
    """Return points (k, 3) as they are seen from the side, a little from above, (k, 2)."""
    return np.asarray(SIDE.apply(points)[:, [0, 2]])


def draw(ax: Axes, stage: Stage, before: Stage | None, title: str) -> None:
    """Draw where the joints are, and in grey where they were."""
    if before is not None:
        ax.plot(*seen(before.points).T, "-", color=GREY, lw=1.2)
    ax.plot(*seen(stage.points).T, "o-", color=COLOURS[stage.name], lw=2.2, ms=4)
    ax.plot(*seen(TARGET.translation[None]).T, "*", color=GREEN, ms=11, zorder=3)
    ax.plot(*seen(np.zeros((1, 3))).T, "s", color="black", ms=6)
    ax.set_title(title, fontsize=9, color=COLOURS[stage.name])
    ax.set(aspect="equal")
    ax.axis("off")


def panels(stages: tuple[Stage, ...]) -> None:
    """Write the first stages side by side."""
    everything = np.vstack([seen(stage.points) for stage in stages[:PANELS]])
    low, high = everything.min(axis=0) - 0.08, everything.max(axis=0) + 0.08
    figure, axes = plt.subplots(2, PANELS // 2, figsize=(7.2, 4.6))
    for i, (ax, stage) in enumerate(zip(axes.flat, stages, strict=False)):
        title = "the seed" if i == 0 else f"{(i + 1) // 2}. {stage.name} pass"
        draw(ax, stage, stages[i - 1] if i > 0 else None, title)
        if i == 0:
            for point, name in ((TARGET.translation, "target"), (np.zeros(3), "base")):
                (place,) = seen(point[None])
                ax.annotate(name, place, xytext=(7, -3), textcoords="offset points")
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    figure.savefig(HERE / "fabrik_passes.svg", metadata={"Date": None})
    plt.close(figure)


def moving(stages: tuple[Stage, ...]) -> None:
    """Write all stages as one line that moves (SMIL, which browsers play)."""
    shapes = [seen(stage.points) * (300.0, -300.0) for stage in stages]
    everything = np.vstack(shapes)
    x, y = everything.min(axis=0) - 25.0
    right, bottom = everything.max(axis=0) + np.array([70.0, 25.0])
    total = STEP * (len(shapes) - 1) + LAST
    times = [STEP * i / total for i in range(len(shapes))] + [1.0]
    shapes, stages = [*shapes, shapes[-1]], (*stages, stages[-1])

    def animate(attribute: str, values: list[str], mode: str) -> str:
        return (
            f'<animate attributeName="{attribute}" dur="{total:g}s" repeatCount="indefinite" '
            f'calcMode="{mode}" keyTimes="{";".join(f"{t:.4f}" for t in times)}" '
            f'values="{";".join(values)}"/>'
        )

    lines = [" ".join(f"{a:.1f},{b:.1f}" for a, b in shape) for shape in shapes]
    # A line has the colour of the pass that is under way: that of the stage it goes to.
    ahead = [COLOURS[stage.name] for stage in (*stages[1:], stages[-1])]
    target, root = (seen(p) * (300.0, -300.0) for p in (TARGET.translation[None], np.zeros((1, 3))))
    width, height = right - x, bottom - y
    font = 'font-family="sans-serif" font-size="14"'
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{x:.1f} {y:.1f} {width:.1f} {height:.1f}">\n'
        f'<rect x="{root[0, 0] - 7:.1f}" y="{root[0, 1] - 7:.1f}" width="14" height="14"/>\n'
        f'<polyline points="{lines[0]}" fill="none" stroke="{ahead[0]}" stroke-width="6" '
        f'stroke-linejoin="round" stroke-linecap="round">\n{animate("points", lines, "linear")}\n'
        f"{animate('stroke', ahead, 'discrete')}\n</polyline>\n"
        f'<circle cx="{target[0, 0]:.1f}" cy="{target[0, 1]:.1f}" r="7" fill="{GREEN}"/>\n'
        f'<text x="{target[0, 0] + 12:.1f}" y="{target[0, 1] + 5:.1f}" {font}>target</text>\n'
        f'<text x="{root[0, 0] + 12:.1f}" y="{root[0, 1] + 5:.1f}" {font}>base</text>\n</svg>\n'
    )
    (HERE / "fabrik_moving.svg").write_text(text)


def main() -> None:
    """Solve once, and draw both."""
    text = (HERE.parents[1] / "urdf" / "ur5e.urdf").read_text()
    chain = RobotModel.from_urdf(text).chain("base_link", "tool0")
    solution = solve(chain, TARGET, SEED, solver="fabrik", trace=True)
    assert solution.passes is not None
    print(f"{solution.passes.count} passes, {solution.passes.restarts} restarts")
    panels(solution.passes.stages)
    moving(solution.passes.stages)


if __name__ == "__main__":
    main()

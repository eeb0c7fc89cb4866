# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw the figures of docs/mathematics.md with the functions that they explain.

pip install -r docs/requirements.txt && PYTHONPATH=. python docs/figures/draw.py
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from basis_ik.bones.bones import bones_in_object, chain_positions
from basis_ik.bones.points_at import points_at
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.transforms.about_point import rotation_about_point
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree

HERE = Path(__file__).parent
BLUE, RED, GREEN, GREY = "#2b6cb0", "#c53030", "#2f855a", "#a0aec0"

mpl.use("svg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "basis_ik",  # the same figure gives the same file
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.2,  # [inch]; other viewers' letters are taller
    }
)


def arrow(ax: Axes, tail: np.ndarray, head: np.ndarray, color: str, text: str = "") -> None:
    """Draw a labelled arrow in the plane."""
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", head, tail, arrowprops=style)
    ax.annotate(text, head, xytext=(4, 4), textcoords="offset points", color=color)


def name_point(ax: Axes, point: np.ndarray, text: str, color: str, right: int = 5) -> None:
    """Write a name beside a point."""
    ax.annotate(text, point, xytext=(right, -10), textcoords="offset points", color=color)


def without_axes(ax: Axes) -> None:
    """Hide the axes, but not the title."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure beside this script."""
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def bases() -> None:
    """One point in two bases: the office and the door of Rice Hall, seen from above."""
    door_T_office = RigidTransform.from_matrix(
        [[0, 0, 1, 9], [0, 1, 0, 4], [-1, 0, 0, 28], [0, 0, 0, 1]]
    )
    point = door_T_office.apply((-2, -4, -10))
    figure, ax = plt.subplots(figsize=(5.2, 4.2))
    for pose, name, color in (
        (RigidTransform.identity(), "door", BLUE),
        (door_T_office, "office", RED),
    ):
        origin = pose.translation[[0, 2]]
        ax.plot(*origin, "o", color=color)
        ax.annotate(
            name, origin, xytext=(-8, 8), textcoords="offset points", color=color, ha="right"
        )
        for axis, label in ((0, "x"), (2, "z")):
            arrow(ax, origin, origin + 5 * pose.rotation[[0, 2], axis], color, label)
        ax.plot(*zip(origin, point[[0, 2]], strict=True), ":", color=color)
    ax.plot(point[0], point[2], "*", color=GREEN, ms=12)
    ax.annotate(
        "office: (−2, −4, −10)\ndoor: (−1, 0, 30)",
        point[[0, 2]],
        xytext=(-10, -2),
        textcoords="offset points",
        ha="right",
        color=GREEN,
    )
    ax.set(xlabel="x of the door [m]", ylabel="z of the door [m]", aspect="equal", xlim=(-18, 18))
    save(figure, "bases")


def about_point() -> None:
    """Rotation about a point is the same rotation and a translation C − R C."""
    R = RigidTransform.from_axis_angle((0, 0, 1), math.radians(50)).rotation
    C = np.array([2.0, 0.6, 0.0])
    shape = np.array([[1, 0, 0], [2.6, 0, 0], [2.6, 0.9, 0], [1, 0, 0]], float)
    figure, ax = plt.subplots(figsize=(5, 3.6))
    for points, color, label in (
        (shape, GREY, "before"),
        (shape @ R.T, BLUE, "about the origin: R P"),
        (rotation_about_point(R, C).apply(shape), RED, "about C: R P + (C − R C)"),
    ):
        ax.plot(points[:, 0], points[:, 1], color=color, label=label, lw=1.8)
    ax.plot(*C[:2], "o", color=RED)
    name_point(ax, C[:2], "C", RED)
    ax.plot(0, 0, "o", color=BLUE)
    name_point(ax, np.zeros(2), "origin", BLUE)
    arrow(ax, (R @ C)[:2], C[:2], GREEN)
    place = {"textcoords": "offset points", "color": GREEN, "ha": "right"}
    ax.annotate("T = C − R C", (R @ C)[:2], xytext=(-8, -4), **place)
    ax.set(aspect="equal")
    without_axes(ax)
    figure.legend(frameon=False, loc="outside right upper")
    save(figure, "about_point")


def node() -> None:
    """Two nodes with scale, one under the other, and the one node that does the same."""

    def planar(turn: float, scale: tuple[float, float], along: float) -> TransformNode:
        about_z = [RigidTransform.from_rpy(0, 0, angle).rotation for angle in (turn, along)]
        return TransformNode(rotation=about_z[0], scale=(*scale, 1.0), scale_orientation=about_z[1])

    inner, outer = planar(0.4, (1.8, 0.8), 0.2), planar(0.5, (0.6, 1.5), -0.5)
    total = outer @ inner
    angle = np.linspace(0, 2 * math.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    figure, axes = plt.subplots(1, 3, figsize=(7.6, 2.8), sharex=True, sharey=True)
    titles = ("inner: M_b", "then outer: M_a M_b", "equivalent: R · (SR S SRᵀ)")
    for ax, title in zip(axes, titles, strict=True):
        ax.plot(circle[:, 0], circle[:, 1], color=GREY, lw=1)
        ax.set(title=title, aspect="equal")
        without_axes(ax)
    for ax, image in zip(
        axes, (inner.apply(circle), outer.apply(inner.apply(circle))), strict=False
    ):
        ax.plot(image[:, 0], image[:, 1], color=BLUE)
    stretch = total.scale_orientation @ np.diag(total.scale) @ total.scale_orientation.T
    stretched, image = circle @ stretch.T, total.apply(circle)
    axes[2].plot(stretched[:, 0], stretched[:, 1], "--", color=RED, lw=1)
    axes[2].plot(image[:, 0], image[:, 1], color=BLUE)
    for k in range(2):
        axis = total.scale_orientation[:2, k] * total.scale[k]
        arrow(axes[2], np.zeros(2), axis, RED, f"S{'xy'[k]}")
        arrow(axes[2], np.zeros(2), total.rotation[:2, :2] @ axis, BLUE)
    save(figure, "node")


def legs() -> TransformTree:
    """The two legs of the example, in the plane of the figure."""
    tree = TransformTree("world")
    tree.add("hip", "world", RigidTransform.from_rpy(0, 0, 0, (0.0, 0, 0.9)))
    for side, thigh, calf in (("l", -0.5, 0.5), ("r", 0.45, 0.35)):
        tree.add(f"thigh_{side}", "hip", RigidTransform.from_rpy(0, thigh, 0))
        tree.add(
            f"calf_{side}", f"thigh_{side}", RigidTransform.from_rpy(0, calf, 0, (0, 0, -0.43))
        )
        tree.add(f"ankle_{side}", f"calf_{side}", RigidTransform.from_rpy(0, 0, 0, (0, 0, -0.43)))
    return tree


def draw_legs(ax: Axes, tree: TransformTree) -> None:
    """Draw both legs from the side."""
    for side, color in (("r", GREY), ("l", BLUE)):
        frames = [f"{bone}_{side}" for bone in ("thigh", "calf", "ankle")]
        p = chain_positions(tree, frames, "world")
        ax.plot(p[:, 0], p[:, 2], "o-", color=color, lw=3, ms=5)
    ax.set(aspect="equal")
    without_axes(ax)


def points_at_figure() -> None:
    """Left calf points at right ankle."""
    before, after = legs(), legs()
    after.move("calf_l", points_at(after, "calf_l", "ankle_l", "ankle_r").parent_T_bone)
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharex=True, sharey=True)
    for ax, tree, title in zip(axes, (before, after), ("before", "after"), strict=True):
        draw_legs(ax, tree)
        knee, tail, target = (
            tree.lookup("world", f).translation[[0, 2]] for f in ("calf_l", "ankle_l", "ankle_r")
        )
        ax.plot(*zip(knee, target, strict=True), ":", color=GREEN)
        arrow(ax, knee, tail, RED, "current" if tree is before else "")
        ax.annotate("knee", knee, xytext=(6, 4), textcoords="offset points", color=BLUE)
        ax.annotate("right ankle", target, xytext=(-2, -12), textcoords="offset points", color=GREY)
        ax.set_title(title)
    save(figure, "points_at")


def lookup() -> None:
    """Which transforms a lookup multiplies, and which cancel out."""
    at = {
        "world": (0, 4),
        "hip": (0, 3),
        "thigh_l": (-1, 2),
        "calf_l": (-1, 1),
        "ankle_l": (-1, 0),
        "thigh_r": (1, 2),
        "calf_r": (1, 1),
        "ankle_r": (1, 0),
    }
    tree = legs()
    ancestor = tree.common_ancestor("calf_l", "ankle_r")
    figure, ax = plt.subplots(figsize=(4.6, 3.6))
    for frame, place in at.items():
        parent = tree.parent(frame)
        if parent is not None:
            inside = tree.common_ancestor(frame, ancestor) == ancestor and frame != ancestor
            left = inside and tree.common_ancestor(frame, "calf_l") == frame
            right = inside and tree.common_ancestor(frame, "ankle_r") == frame
            color = RED if left else BLUE if right else GREY
            ax.plot(
                *zip(place, at[parent], strict=True), color=color, lw=2.2 if left or right else 1
            )
    for frame, place in at.items():
        box = {"boxstyle": "round", "fc": "white", "ec": GREEN if frame == ancestor else GREY}
        ax.text(*place, frame, ha="center", va="center", bbox=box)
    ax.text(1.35, 1.5, "up: multiplied", color=BLUE)
    ax.text(-1.35, 1.5, "down: inverted", color=RED, ha="right")
    ax.text(0.35, 3.5, "above the ancestor: never touched", color=GREY)
    ax.set(xlim=(-3, 3.4), ylim=(-0.4, 4.4))
    without_axes(ax)
    save(figure, "lookup")


def bones() -> None:
    """From FABRIK's positions back to rotations, one bone after another."""
    frames = ["b0", "b1", "b2", "b3", "tip"]
    tree = TransformTree("world")
    for above, frame in pairwise(["world", *frames]):
        step = (0, 0, 0) if above == "world" else (1, 0, 0)
        tree.add(frame, above, RigidTransform.from_rpy(0, 0, 0.25, step))
    start = chain_positions(tree, frames, "world")
    solved = np.array(solve_chain(start, (1.3, -1.6, 0)).positions)
    moved = bones_in_object(tree, frames, solved, "world")
    figure, axes = plt.subplots(1, 5, figsize=(9.6, 2.6), sharex=True, sharey=True)
    for i, ax in enumerate(axes):
        if i:
            tree.move(frames[i - 1], moved[frames[i - 1]])
        p = chain_positions(tree, frames, "world")
        ax.plot(solved[:, 0], solved[:, 1], "o:", color=GREEN, lw=1.4, ms=4)
        ax.plot(p[:, 0], p[:, 1], "o-", color=GREY, lw=2.4, ms=4)
        ax.plot(p[: i + 1, 0], p[: i + 1, 1], "o-", color=BLUE, lw=2.4, ms=4)
        title = f"{i} of 4 turned" if i else "solved: dotted"
        if i == 0:
            name_point(ax, p[0, :2], "root", BLUE, right=-28)
            name_point(ax, solved[-1, :2], "target", GREEN, right=-8)
        ax.set(title=title, aspect="equal")
        without_axes(ax)
    save(figure, "bones")


if __name__ == "__main__":
    bases()
    about_point()
    node()
    lookup()
    points_at_figure()
    bones()

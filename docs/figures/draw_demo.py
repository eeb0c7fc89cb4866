# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/demo.gif: the demo, as it was on the topics.

pip install matplotlib && python docs/figures/draw_demo.py      (in `make shell`; a minute)

The arm is drawn at its measured positions, from joint_states; the target and the words below it are
from the node's topics.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from PIL import Image
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import JointState
from tf2_ros import Buffer, TransformException, TransformListener

from basis_ik.robot.robot import RobotModel
from basis_ik.robot.visuals import Visual
from basis_ik.ros.convert import pose_value, transform_value
from basis_ik.ros.demo.demo_targets import read_objects
from basis_ik.transforms.rigid import RigidTransform

HERE = Path(__file__).parent
MODEL = RobotModel.from_urdf_file(HERE.parents[1] / "urdf" / "ur5e.urdf")
CHAIN = MODEL.chain()
PERIOD = 0.1  # s between two pictures
TRAIL = 15  # pictures for which the way of the tip is seen
SIDES = 24  # of the polygon in place of a circle
EYE, FOCUS = np.array([2.1, 1.3, 1.2]), np.array([0.15, 0.05, 0.36])
BOARD = 0.25 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])  # m
(POST,) = (
    Visual(CHAIN.root, pose_value(each.pose), "cylinder", (2.0 * radius, 2.0 * radius, height))
    for each in read_objects(HERE.parents[1] / "config" / "demo_targets.yaml", CHAIN.root)
    if each.header.frame_id == CHAIN.root
    for height, radius in [each.primitives[0].dimensions]
)
LIGHT = np.array([0.35, 0.25, 0.9])
GREY, BLUE, WOOD = (0.80, 0.82, 0.85), (0.28, 0.50, 0.74), (0.72, 0.60, 0.45)
FLOOR, TIP = "#d5dbe3", "#dd6b20"
GREEN, ORANGE, WORDS = "#2f855a", "#c05621", "#4a5568"
AXES = ("#c53030", "#2f855a", "#2b6cb0")


class Picture(NamedTuple):
    """What is seen at one time."""

    positions: np.ndarray
    target: RigidTransform
    root_T_frame: RigidTransform
    root_T_table: RigidTransform
    frame: str
    text: str
    good: bool


class Witness(Node):
    """Sees the demo's topics."""

    def __init__(self) -> None:
        super().__init__("witness")
        self.pictures: list[Picture] = []
        self._joints: dict[str, float] = {}
        self._target: PoseStamped | None = None
        self._status = DiagnosticStatus()
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self.create_subscription(JointState, "joint_states", self._on_joint_state, 10)
        self.create_subscription(PoseStamped, "basis_ik/target_pose", self._on_target, 10)
        self.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self.create_timer(PERIOD, self._look)

    def _on_joint_state(self, message: JointState) -> None:
        self._joints = dict(zip(message.name, message.position, strict=True))

    def _on_target(self, message: PoseStamped) -> None:
        self._target = message

    def _on_status(self, message: DiagnosticStatus) -> None:
        self._status = message

    def _look(self) -> None:
        if self._target is None or not self._joints:
            return
        frame = self._target.header.frame_id
        try:
            root_T_frame, root_T_table = (
                transform_value(self._buffer.lookup_transform(CHAIN.root, each, Time()).transform)
                for each in (frame, "table")
            )
        except TransformException:
            return
        frame_T_target = pose_value(self._target.pose)
        values = {each.key: each.value for each in self._status.values}
        positions = np.array([self._joints[name] for name in CHAIN.joint_names])
        target = root_T_frame @ frame_T_target
        off = np.linalg.norm(CHAIN.forward(positions).translation - target.translation)
        good, there = values.get("verdict") == "REACHED", values.get("state") == "ARRIVED"
        text = f"REACHED, measured {1e3 * off:.1f} mm off" if there else f"{1e3 * off:.0f} mm to go"
        text = text if good else self._status.message
        self.pictures.append(
            Picture(positions, target, root_T_frame, root_T_table, frame, text, good)
        )


def project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where points (..., 3) appear (..., 2), and how far away they are (...)."""
    out = (EYE - FOCUS) / np.linalg.norm(EYE - FOCUS)
    right = np.cross([0.0, 0.0, 1.0], out)
    right /= np.linalg.norm(right)
    seen = (points - EYE) @ np.stack([right, np.cross(out, right), -out]).T
    return seen[..., :2] / seen[..., 2:], seen[..., 2]


def faces(visual: Visual) -> Iterator[np.ndarray]:
    """Return the polygons (k, 3) around a body, in its link's frame."""
    angles = np.linspace(0.0, 2.0 * math.pi, SIDES, endpoint=False)
    if visual.kind == "box":
        square = 0.5 * np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
        polygons = [np.roll(s * square, k, axis=1) for k in range(3) for s in (1, -1)]
    elif visual.kind == "cylinder":
        top = 0.5 * np.stack([np.cos(angles), np.sin(angles), np.ones(SIDES)], axis=1)
        foot = top * [1, 1, -1]
        polygons = [top, foot]
        for i in range(SIDES):
            j = (i + 1) % SIDES
            polygons.append(np.stack([foot[i], foot[j], top[j], top[i]]))
    else:
        heights = np.linspace(-0.5 * math.pi, 0.5 * math.pi, SIDES // 2 + 1)
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        rows = [
            0.5 * np.column_stack([math.cos(h) * ring, np.full(SIDES, math.sin(h))])
            for h in heights
        ]
        polygons = [
            np.stack([low[i], low[(i + 1) % SIDES], high[(i + 1) % SIDES], high[i]])
            for low, high in pairwise(rows)
            for i in range(SIDES)
        ]
    for polygon in polygons:
        yield visual.link_T_body.apply(polygon * visual.size)


BODIES = [
    (visual, (GREY, BLUE)[number % 2], list(faces(visual)))
    for number, link in enumerate(dict.fromkeys(v.link for v in MODEL.visuals_of(CHAIN)))
    for visual in MODEL.visuals_of(CHAIN)
    if visual.link == link and visual.kind != "mesh"
]
BODIES.append((POST, WOOD, list(faces(POST))))


def draw_arm(ax: Axes, positions: np.ndarray) -> None:
    """Draw the bodies and the post, the farthest faces first."""
    poses = CHAIN.link_poses(positions)
    light = LIGHT / np.linalg.norm(LIGHT)
    drawn = []
    for visual, color, polygons in BODIES:
        middle = poses[visual.link].apply(visual.link_T_body.translation)
        for polygon in polygons:
            points = poses[visual.link].apply(polygon)
            normal = np.cross(points[1] - points[0], points[2] - points[0])
            normal /= np.linalg.norm(normal) + 1e-12
            normal *= np.sign(normal @ (points.mean(axis=0) - middle))
            if normal @ (EYE - points[0]) <= 0.0:
                continue
            shade = 0.55 + 0.45 * max(0.0, normal @ light)
            place, depth = project(points)
            drawn.append((depth.mean(), place, np.array(color) * shade))
    drawn.sort(key=lambda each: -each[0])
    places, colors = [place for _, place, _ in drawn], [color for _, _, color in drawn]
    ax.add_collection(
        PolyCollection(places, facecolors=colors, edgecolors=colors, lw=0.4, zorder=2)
    )


def draw_floor(ax: Axes) -> None:
    """Draw a grid of 0.25 m."""
    steps, edge = np.linspace(-1.0, 1.0, 9), np.ones(9)
    lines = np.stack([[steps, -edge, 0 * edge], [steps, edge, 0 * edge]]).transpose(2, 0, 1)
    lines = np.concatenate([lines, lines[..., [1, 0, 2]]])
    ax.add_collection(LineCollection(project(lines)[0], colors=FLOOR, lw=0.7, zorder=1))


def draw_board(ax: Axes, root_T_frame: RigidTransform) -> None:
    """Draw a board in the plane of a frame: the table, or the carousel, that targets are on."""
    board, _ = project(root_T_frame.apply(BOARD))
    ax.add_collection(PolyCollection([board], facecolors=FLOOR, edgecolors=WORDS, zorder=1.5))


def draw(pictures: list[Picture], number: int) -> Image.Image:
    """Draw one picture, with the way of the tip in those before it."""
    picture = pictures[number]
    figure = plt.figure(figsize=(6.4, 4.4), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(-0.38, 0.38), ylim=(-0.26125, 0.26125), aspect="equal")
    ax.axis("off")
    draw_floor(ax)
    draw_board(ax, picture.root_T_table)
    if picture.frame not in (CHAIN.root, "table"):
        draw_board(ax, picture.root_T_frame)
    draw_arm(ax, picture.positions)
    way = [CHAIN.forward(each.positions).translation for each in pictures[: number + 1][-TRAIL:]]
    if len(way) > 1:
        ends, _ = project(np.stack([way[:-1], way[1:]], axis=1))
        fading = np.linspace(0.1, 1.0, len(ends))
        ax.add_collection(LineCollection(ends, colors=TIP, alpha=fading, lw=2, zorder=3))
    origin = picture.target.translation
    for axis, color in enumerate(AXES):
        ends, _ = project(np.stack([origin, origin + 0.12 * picture.target.rotation[:, axis]]))
        ax.plot(*ends.T, color=color, lw=2.5, solid_capstyle="round")
    place = {"transform": ax.transAxes, "fontsize": 12}
    ax.text(0.03, 0.94, f"target in frame {picture.frame}", color=WORDS, **place)
    ax.text(0.03, 0.88, picture.text, color=GREEN if picture.good else ORANGE, **place)
    figure.canvas.draw()
    image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    plt.close(figure)
    return image


def watch() -> list[Picture]:
    """Run the demo and return what was seen."""
    rclpy.init()
    witness = Witness()
    demo = subprocess.Popen(
        ["ros2", "launch", "basis_ik", "demo.launch.py"], start_new_session=True
    )
    try:
        while demo.poll() is None:
            rclpy.spin_once(witness, timeout_sec=0.1)
    finally:
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGINT)
            demo.wait(timeout=20)
        rclpy.try_shutdown()
    return witness.pictures


def main() -> None:
    """Watch the demo, and draw it."""
    mpl.use("agg")
    pictures = watch()
    drawn = [draw(pictures, number) for number in range(len(pictures))]
    palette = Image.fromarray(np.vstack(drawn[:: len(drawn) // 8])).quantize(128)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in drawn]
    frames[0].save(
        HERE / "demo.gif", save_all=True, append_images=frames[1:], optimize=True,
        duration=round(1e3 * PERIOD), loop=0,
    )  # fmt: skip


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot's visual bodies on the frames of its links; lines if it has none."""

from __future__ import annotations

from typing import Any

import numpy as np
from viser import SceneApi

from basis_ik.extras.web_view.frame_nodes import FrameNodes
from basis_ik.extras.web_view.mesh_reader import COLORLESS_FORMATS, MeshFile, MeshReader
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.visuals import Visual
from basis_ik.view.shapes import BOX_CORNERS, Color, rgb

UNPAINTED: Color = (0.7, 0.7, 0.72, 1.0)
SKELETON: Color = (0.95, 0.6, 0.1, 1.0)
FADED_OPACITY = 0.3  # opacity of a robot beside its corrected bones, or the robot that these carry
SKELETON_WIDTH = 0.02  # width of a robot's lines, as a fraction of its extent


class RobotBody:
    """The nodes of one robot; its frames' nodes move them.

    Bodies appear one by one: mesh files may be large, and users of the page must not wait.

    Args:
        scene: viser's scene.
        frames: The nodes of the frames.
        meshes: Reads mesh files.
        model: The robot.
        name: Unique; part of its nodes' paths.
    """

    def __init__(
        self, scene: SceneApi, frames: FrameNodes, meshes: MeshReader, model: RobotModel, name: str
    ) -> None:
        self._scene, self._frames, self._meshes, self.model = scene, frames, meshes, model
        self._name, self._shown = name, False
        self._waiting = list(enumerate(model.visuals))
        self._handles: list[Any] = []
        self._opacities: dict[str, float | None] = {}
        self._lines: FloatArray | None = None
        for link in model.links:
            frames.path(link)

    def destroy(self) -> None:
        """Remove the robot from the scene."""
        self._waiting.clear()
        for handle in self._handles:
            handle.remove()

    def update(self) -> None:
        """Show more bodies, reading at most one file; without any bodies, draw lines."""
        self._show_more()
        shown = "robots" not in self._frames.hidden
        faded = self._frames.faded and not self.model.frame_prefix  # not the corrected one itself
        for handle in self._handles:
            if handle.visible is not shown:
                handle.visible = shown
            own = self._opacities.setdefault(handle.name, getattr(handle, "opacity", FADED_OPACITY))
            wanted = FADED_OPACITY if faded else own
            if getattr(handle, "opacity", wanted) != wanted:
                handle.opacity = wanted

    def _show_more(self) -> None:
        while self._waiting:
            number, visual = self._waiting.pop(0)
            new = visual.kind == "mesh" and not self._meshes.holds(visual.file)
            self._show(number, visual)
            if new:
                return
        if not self._shown:
            self._draw_lines()

    def _show(self, number: int, visual: Visual) -> None:
        path = f"{self._frames.path(visual.link)}/{self._name}_{number}"
        mesh = self._meshes.get(visual.file) if visual.kind == "mesh" else None
        if visual.kind == "mesh" and mesh is None:
            return
        self._handles.append(add_visual(self._scene, path, visual, mesh))
        self._shown = True

    def _draw_lines(self) -> None:
        """Draw lines from joint to joint."""
        places = {link: self._frames.place(link) for link in self.model.links}
        ends = [
            (start.position, end.position)
            for joint in self.model.joints.values()
            if (start := places[joint.parent]) and (end := places[joint.child])
        ]
        lines = np.array(ends).reshape(-1, 2, 3)
        if not len(lines) or (self._lines is not None and np.array_equal(lines, self._lines)):
            return
        extent = float(np.linalg.norm(np.ptp(lines.reshape(-1, 3), axis=0)))
        handle = self._scene.add_line_segments(
            f"/lines/{self._name}", lines, rgb(SKELETON), thickness=SKELETON_WIDTH * extent
        )
        self._handles, self._lines = [handle], lines  # in the place of the one before


def extents_of(model: RobotModel) -> list[tuple[str, FloatArray]]:
    """Return the corners of the boxes around a robot's bodies but meshes, (8, 3) [m], by link."""
    return [
        (visual.link, visual.link_T_body.apply(np.array(visual.size) * BOX_CORNERS))
        for visual in model.visuals
        if visual.kind != "mesh"
    ]


def add_visual(scene: SceneApi, path: str, visual: Visual, mesh: MeshFile | None = None) -> Any:
    """Show a body.

    Args:
        scene: viser's scene.
        path: Path of its node.
        visual: The body.
        mesh: The content of its file, if it is a mesh.

    Returns:
        Its handle.
    """
    color = visual.color or UNPAINTED
    opacity = color[3] if color[3] < 1.0 else None
    place = {
        "position": visual.link_T_body.translation,
        "wxyz": np.roll(visual.link_T_body.as_quaternion_xyzw(), 1),
    }
    x, y, z = visual.size
    if visual.kind == "box":
        handle = scene.add_box(path, rgb(color), (x, y, z), opacity=opacity, **place)
    elif visual.kind == "cylinder":
        handle = scene.add_cylinder(path, x / 2.0, z, rgb(color), opacity=opacity, **place)
    elif visual.kind == "sphere":
        handle = scene.add_icosphere(path, x / 2.0, rgb(color), opacity=opacity, **place)
    elif visual.kind == "capsule":
        handle = scene.add_cylinder(path, x / 2.0, z, rgb(color), opacity=opacity, **place)
        for end, height in (("top", z / 2.0), ("bottom", -z / 2.0)):  # removed with the cylinder
            scene.add_icosphere(
                f"{path}/{end}", x / 2.0, rgb(color), opacity=opacity, position=(0.0, 0.0, height)
            )
    elif mesh is not None and mesh.glb and not visual.file.lower().endswith(COLORLESS_FORMATS):
        handle = scene.add_glb(path, mesh.glb, scale=visual.size, **place)
    else:
        assert mesh is not None
        handle = scene.add_mesh_simple(
            path, visual.size * mesh.vertices, mesh.faces, color=rgb(color), opacity=opacity,
            flat_shading=True, side="double", **place,
        )  # fmt: skip
    return handle

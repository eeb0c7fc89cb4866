# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The markers of a MarkerArray topic as nodes of viser's scene; only types that it shows.

A tour's boxes and cylinders are in the planning scene, from which the page has them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from std_msgs.msg import ColorRGBA
from viser import SceneApi
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.extras.web_view.frame_nodes import LAYERS, FrameNodes
from basis_ik.extras.web_view.mesh_reader import MeshReader
from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.convert import pose_value
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import Color, rgb

# Blended into translucent lines: viser's lines have no opacity.
BACKGROUND: Color = (0.1, 0.1, 0.1, 1.0)


# Texts that the panel has from statuses: viser's are black on boxes that hide what is behind.
PANEL_TEXTS = ("state", "verdict", "constraint verdict")


class _Drawn(NamedTuple):
    marker: Marker
    handle: Any


class MarkerNodes:
    """The nodes for the markers of one topic.

    Args:
        scene: viser's scene.
        frames: The nodes of the frames.
        meshes: Reads mesh files.
        name: Name of the topic.

    Attributes:
        root: Frame of the last marker; empty before the first.
    """

    def __init__(self, scene: SceneApi, frames: FrameNodes, meshes: MeshReader, name: str) -> None:
        self._scene, self._frames, self._meshes = scene, frames, meshes
        self._name = name.strip("/").replace("/", "_")
        self._drawn: dict[tuple[str, int], _Drawn] = {}
        self._until, self._hidden = np.inf, frames.hidden
        self.root = ""

    def show(self, message: MarkerArray, now: float) -> None:
        """Process a message at a time [s]; unchanged markers are not sent again."""
        for marker in message.markers:
            key = marker.ns, marker.id
            if marker.action == Marker.DELETEALL:
                self.clear()
            elif marker.action == Marker.DELETE:
                self._remove(key)
            else:
                if marker.ns not in PANEL_TEXTS:
                    self._draw(key, marker)
                self.root = marker.header.frame_id
                lifetime = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
                self._until = now + lifetime if lifetime else np.inf

    def update(self, now: float) -> None:
        """Remove all markers if their lifetime is over at a time [s]: their publisher is gone.

        Otherwise follow the user, who switches layers.
        """
        if now > self._until:
            self.clear()
        if self._hidden != self._frames.hidden:
            self._hidden = self._frames.hidden
            for (namespace, _), (_, handle) in self._drawn.items():
                if handle is not None:
                    handle.visible = self._is_shown(namespace)

    @property
    def has_bones(self) -> bool:
        """Whether it shows corrected bones."""
        return any(namespace == "bones" for namespace, _ in self._drawn)

    def extents(self) -> list[tuple[str, FloatArray]]:
        """Return where markers are, shape (k, 3) [m], by their frames: the ends of lines."""
        return [
            (
                marker.header.frame_id,
                _pose(marker).apply(
                    np.array([(p.x, p.y, p.z) for p in marker.points]).reshape(-1, 3)
                ),
            )
            for marker, _ in self._drawn.values()
            if marker.type == Marker.LINE_LIST
        ]

    def _is_shown(self, namespace: str) -> bool:
        return not any(namespace in LAYERS[layer] for layer in self._hidden)

    def clear(self) -> None:
        """Remove all markers."""
        for key in [*self._drawn]:
            self._remove(key)

    def _remove(self, key: tuple[str, int]) -> None:
        drawn = self._drawn.pop(key, None)
        if drawn is not None and drawn.handle is not None:
            drawn.handle.remove()

    def _draw(self, key: tuple[str, int], marker: Marker) -> None:
        before = self._drawn.get(key)
        if before is not None:
            if before.marker == marker:
                return
            if _only_moved(before.marker, marker) and before.handle is not None:
                before.handle.position, before.handle.wxyz = _place(marker)
                self._drawn[key] = before._replace(marker=marker)
                return
            if _same_node(before.marker, marker) and marker.type == Marker.TEXT_VIEW_FACING:
                before.handle.text = marker.text
                before.handle.position = _place(marker)[0]
                self._drawn[key] = before._replace(marker=marker)
                return
            self._remove(key)
        frame = self._frames.path(marker.header.frame_id)
        path = f"{frame}/{self._name}_{marker.ns}_{marker.id}"
        handle = add_marker(self._scene, path, marker, self._meshes)
        if handle is not None and not self._is_shown(marker.ns):
            handle.visible = False
        self._drawn[key] = _Drawn(marker, handle)


def _same_node(one: Marker, other: Marker) -> bool:
    return one.type == other.type and one.header.frame_id == other.header.frame_id


def _only_moved(one: Marker, other: Marker) -> bool:
    """Return whether two markers differ only in their poses."""
    return _same_node(one, other) and all(
        getattr(one, field) == getattr(other, field)
        for field in ("scale", "color", "points", "colors", "text", "mesh_resource")
    )


def _place(marker: Marker) -> tuple[tuple[float, ...], tuple[float, ...]]:
    p, q = marker.pose.position, marker.pose.orientation
    return (p.x, p.y, p.z), (q.w, q.x, q.y, q.z)


def _pose(marker: Marker) -> RigidTransform:
    pose = pose_value(marker.pose)
    return pose if isinstance(pose, RigidTransform) else RigidTransform.identity()


def add_marker(scene: SceneApi, path: str, marker: Marker, meshes: MeshReader) -> Any:
    """Show a marker.

    Args:
        scene: viser's scene.
        path: Path of its node.
        marker: The marker; other types than those below are not shown.
        meshes: Reads mesh files.

    Returns:
        The node's handle; None if nothing is shown.
    """
    position, wxyz = _place(marker)
    place = {"position": position, "wxyz": wxyz}
    color = _color(marker.color)
    opacity = color[3] if color[3] < 1.0 else None
    scale = marker.scale
    if marker.type == Marker.LINE_LIST and marker.points:
        ends = np.array([(p.x, p.y, p.z) for p in marker.points], np.float32).reshape(-1, 2, 3)
        paint = [rgb(_mixed(_color(each))) for each in marker.colors or [marker.color]]
        colors = np.array(paint, np.uint8)
        colors = colors.reshape(-1, 2, 3) if marker.colors else colors[0]
        return scene.add_line_segments(path, ends, colors, thickness=scale.x, **place)
    if marker.type == Marker.TRIANGLE_LIST and marker.points:
        corners = np.array([(p.x, p.y, p.z) for p in marker.points], np.float32)
        return scene.add_mesh_simple(
            path, corners, np.arange(len(corners)).reshape(-1, 3), color=rgb(color),
            opacity=opacity, side="double", **place,
        )  # fmt: skip
    if marker.type == Marker.SPHERE:
        radius = scale.x / 2.0
        return scene.add_icosphere(path, radius, rgb(color), opacity=opacity, **place)
    if marker.type == Marker.TEXT_VIEW_FACING:
        height = max(scale.z, 1e-3)
        return scene.add_label(
            path, marker.text, font_size_mode="scene", font_scene_height=height,
            anchor="center-center", **place,
        )  # fmt: skip
    if marker.type == Marker.MESH_RESOURCE:
        mesh = meshes.get(marker.mesh_resource)
        if mesh is not None:
            return scene.add_mesh_simple(
                path, np.array([scale.x, scale.y, scale.z]) * mesh.vertices, mesh.faces,
                color=rgb(color), opacity=opacity, side="double", **place,
            )  # fmt: skip
    return None


def _color(message: ColorRGBA) -> Color:
    return message.r, message.g, message.b, message.a


def _mixed(color: Color) -> Color:
    """Return an opaque color: one blended with the background by its opacity."""
    red, green, blue = (
        color[3] * own + (1.0 - color[3]) * other
        for own, other in zip(color[:3], BACKGROUND[:3], strict=True)
    )
    return red, green, blue, 1.0

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Converts shapes to a MarkerArray."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.convert import duration_message, pose_message
from basis_ik.view.shapes import Ball, Color, Faces, Lines, Mesh, Shape, Text

# [s] that markers stay after the next ones are due: slow clients draw once a second.
MARKER_LINGER = 3.0


class Drawing:
    """Converts successive scenes to messages.

    Stamps are zero and markers are locked to their frames, so that they move with them. Every
    message deletes all other markers, because earlier messages may have been lost.

    Args:
        period: Time between two messages [s]; a marker stays `MARKER_LINGER` longer if no
            new one comes.
    """

    def __init__(self, period: float) -> None:
        self._lifetime = duration_message(period + MARKER_LINGER)
        self._drawn: dict[tuple[str, int], tuple[Shape | None, Marker]] = {}

    def message(self, scene: Iterable[Shape]) -> MarkerArray:
        """Return one marker for each shape, with its name as namespace and its number as id.

        Creating messages is slow, so a shape that was in the last scene keeps its message.
        """
        drawn = {(shape.name, shape.number): shape for shape in scene}
        for key, shape in drawn.items():
            before = self._drawn.get(key)
            if before is None or before[0] is not shape:
                self._drawn[key] = (shape, self._marker(shape, before))
        for key, (shape_before, _) in self._drawn.items():
            if key not in drawn and shape_before is not None:
                name, number = key
                gone = Marker(ns=name, id=number, action=Marker.DELETE)
                gone.header.frame_id = shape_before.frame
                self._drawn[key] = (None, gone)
        return MarkerArray(markers=[marker for _, marker in self._drawn.values()])

    def _marker(self, shape: Shape, before: tuple[Shape | None, Marker] | None) -> Marker:
        marker = Marker(ns=shape.name, id=shape.number, frame_locked=True, lifetime=self._lifetime)
        marker.header.frame_id = shape.frame
        marker.pose, marker.color = pose_message(shape.pose), _color(shape.color)
        if isinstance(shape, Lines):
            marker.type, marker.scale = Marker.LINE_LIST, _scale(shape.width, 0.0, 0.0)
            last = None if before is None else before[0]
            same = isinstance(last, Lines) and last.ends is shape.ends
            marker.points = before[1].points if same and before else _points(shape.ends)
            marker.colors = [_color(c) for c in shape.colors for _ in range(2)]
        elif isinstance(shape, Faces):
            marker.type, marker.scale = Marker.TRIANGLE_LIST, _scale(1.0, 1.0, 1.0)
            marker.points = _points(shape.corners)
        elif isinstance(shape, Ball):
            marker.type, marker.scale = Marker.SPHERE, _scale(*(shape.diameter,) * 3)
        elif isinstance(shape, Mesh):
            marker.type, marker.scale = Marker.MESH_RESOURCE, _scale(*shape.scale)
            marker.mesh_resource = shape.file
        elif isinstance(shape, Text):
            # By its definition the message only uses scale.z, but RViz makes a space scale.x wide;
            # if that is zero, as wide as in letters of 1 m.
            marker.type = Marker.TEXT_VIEW_FACING
            marker.scale = _scale(0.5 * shape.height, 0.0, shape.height)
            marker.text = shape.text
        return marker


def _points(points: FloatArray) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]


def _scale(x: float, y: float, z: float) -> Vector3:
    return Vector3(x=float(x), y=float(y), z=float(z))


@lru_cache(maxsize=256)  # creating messages is slow, and these are never changed
def _color(c: Color) -> ColorRGBA:
    return ColorRGBA(r=c[0], g=c[1], b=c[2], a=c[3])

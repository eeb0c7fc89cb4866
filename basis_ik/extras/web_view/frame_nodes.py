# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""tf frames as nodes of viser's scene; objects shown in a frame are children of its node."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from rclpy.time import Time
from tf2_ros import TransformException
from viser import FrameHandle, SceneApi

from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.convert import transform_value
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.transforms.rigid import RigidTransform

AXIS_LENGTH, AXIS_RADIUS = 0.1, 0.003  # [m], of a frame's axes
SENT_CHANGE = 1e-6  # [m], and components of a quaternion: smaller changes are not sent

# What a user can switch off, each with the namespaces of markers that belong to it.
LAYERS: dict[str, tuple[str, ...]] = {
    "robots": (),
    "ghost": ("ghost", "chain"),
    "reach": ("reach",),
    "passes": ("passes", "pass"),
    "limits": ("limits", "limit_names", "limit_ranges"),
    "gaps": ("gaps", "gap_sizes"),
    "reach map": (),
    "frames": (),
}


class Place(NamedTuple):
    """The pose of a frame in the fixed frame."""

    position: tuple[float, float, float]
    """[m]."""
    wxyz: tuple[float, float, float, float]
    """Quaternion in viser's order."""


class FrameNodes:
    """The scene's nodes for tf frames.

    Args:
        scene: viser's scene.
        buffer: The transforms; queried with zero timeout.

    Attributes:
        fixed: The frame in which the scene is drawn; empty while unknown.
        hidden: The layers that the user has switched off, of `LAYERS`.
        faded: Whether robots are as they were before a correction, which is drawn as bones.
    """

    def __init__(self, scene: SceneApi, buffer: FrameBuffer) -> None:
        self._scene, self._buffer = scene, buffer
        self._nodes: dict[str, FrameHandle] = {}
        self._places: dict[str, Place | None] = {}
        self.fixed, self.hidden = "", frozenset({"frames"})
        self.faded = False

    def path(self, frame: str) -> str:
        """Return the path of a frame's node, created if necessary; it prefixes its children's."""
        name = f"/frames/{quote(frame, safe='')}"
        if frame not in self._nodes:
            self._nodes[frame] = self._scene.add_frame(
                name,
                show_axes=False,
                axes_length=AXIS_LENGTH,
                axes_radius=AXIS_RADIUS,
                visible=False,
            )
            self._places[frame] = None
        return name

    def names(self) -> list[str]:
        """Return the frames that have a node."""
        return list(self._nodes)

    def place(self, frame: str) -> Place | None:
        """Return a frame's pose at the last update; None if unknown or without a node."""
        return self._places.get(frame)

    def points(self, frame: str, within: FloatArray) -> FloatArray | None:
        """Return points (k, 3) of a frame in the fixed one [m]; None if that is unknown."""
        place = self._places.get(frame)
        if place is None or not np.isfinite(place.position).all():
            return None
        fixed_T_frame = RigidTransform.from_quaternion_xyzw(np.roll(place.wxyz, -1), place.position)
        return fixed_T_frame.apply(within)

    def between(self, frame: str, other: str) -> RigidTransform | None:
        """Return frame_T_other by the newest transforms; None if unknown."""
        try:
            message = self._buffer.lookup_transform(frame, other, Time())
        except TransformException:
            return None
        found = transform_value(message.transform)
        return found if isinstance(found, RigidTransform) else None

    def root_of(self, frame: str) -> str:
        """Return the topmost ancestor of a frame."""
        parents, seen = self._buffer.parents, {frame}
        while (parent := parents.get(frame)) is not None and parent not in seen:
            frame = parent
            seen.add(frame)
        return frame

    def update(self) -> None:
        """Move all nodes to their frames, and hide those without a transform."""
        shown = "frames" not in self.hidden
        for frame, node in self._nodes.items():
            if node.show_axes is not shown:
                node.show_axes = shown
            place, before = self._look_up(frame), self._places[frame]
            if place == before:
                continue
            if place is None or before is None:
                node.visible = place is not None
            if place is not None and not (before and _near(place, before)):
                node.position, node.wxyz = place
                self._places[frame] = place
            elif place is None:
                self._places[frame] = None

    def _look_up(self, frame: str) -> Place | None:
        try:
            found = self._buffer.lookup_transform(self.fixed, frame, Time()).transform
        except TransformException:
            return None
        t, q = found.translation, found.rotation
        return Place((t.x, t.y, t.z), (q.w, q.x, q.y, q.z))


def _near(one: Place, other: Place) -> bool:
    return all(
        abs(a - b) <= SENT_CHANGE
        for each, before in zip(one, other, strict=True)
        for a, b in zip(each, before, strict=True)
    ) and bool(np.isfinite(one.position).all())

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A map of reach on the page: the point cloud published by the program `reach_map`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2, PointField
from viser import SceneApi

from basis_ik.extras.web_view.frame_nodes import FrameNodes
from basis_ik.ros.qos import LATCHED
from basis_ik.view.colour_scale import colours

SHOWN_FIELDS = ("x", "y", "z", "intensity")
DOT_SIZE = 0.08  # size of a point, in voxels: small enough to see the robot between them


class ReachLayer:
    """The points of a topic, colored by intensity from violet (0) to yellow (1).

    Args:
        node: Owns the subscription.
        scene: viser's scene.
        frames: The nodes of the frames.
        topic: Topic of the cloud.
    """

    def __init__(self, node: Node, scene: SceneApi, frames: FrameNodes, topic: str) -> None:
        self._node, self._scene, self._frames, self._topic = node, scene, frames, topic
        self._handle: Any = None
        self._subscription = node.create_subscription(PointCloud2, topic, self.show, LATCHED)

    def show(self, message: PointCloud2) -> None:
        """Show a cloud instead of the previous one; a malformed one is logged."""
        points = read_points(message)
        if points is None:
            self._node.get_logger().warning(
                f"{self._topic} is not shown: float32 fields {', '.join(SHOWN_FIELDS)} are needed, "
                "little endian, and as many bytes as the header states"
            )
            return
        self._remove()
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) == 0:
            return
        name = self._topic.strip("/").replace("/", "_")
        self._handle = self._scene.add_point_cloud(
            f"{self._frames.path(message.header.frame_id)}/{name}",
            points[:, :3],
            colours(points[:, 3].astype(float)),
            point_size=DOT_SIZE * _spacing(points[:, :3]),
            point_shape="circle",
            visible=self._is_shown,
        )

    def update(self, now: float) -> None:
        """Show or hide the points, as the user has chosen."""
        if self._handle is not None and self._handle.visible is not self._is_shown:
            self._handle.visible = self._is_shown

    @property
    def _is_shown(self) -> bool:
        return "reach map" not in self._frames.hidden

    def destroy(self) -> None:
        """Remove the points and the subscription."""
        self._remove()
        self._node.destroy_subscription(self._subscription)

    def _remove(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def read_points(message: PointCloud2) -> npt.NDArray[np.float32] | None:
    """Return x, y, z [m] and intensity of each point (k, 4); None if the cloud is malformed."""
    fields = {each.name: each for each in message.fields}
    count, step = message.width * message.height, message.point_step
    if (
        message.is_bigendian
        or len(message.data) != count * step
        or not set(SHOWN_FIELDS) <= set(fields)
    ):
        return None
    offsets = [fields[name].offset for name in SHOWN_FIELDS]
    kinds = {(fields[name].datatype, fields[name].count) for name in SHOWN_FIELDS}
    if kinds != {(PointField.FLOAT32, 1)} or max(offsets) + 4 > step:
        return None
    formats = ["<f4"] * len(SHOWN_FIELDS)
    layout = np.dtype(
        {"names": SHOWN_FIELDS, "formats": formats, "offsets": offsets, "itemsize": step}
    )
    records = np.frombuffer(bytes(message.data), layout)
    return np.stack([records[name] for name in SHOWN_FIELDS], axis=1)


def _spacing(points: npt.NDArray[np.float32]) -> float:
    """Return the smallest distance between grid planes that have points [m]."""
    steps = [np.diff(np.unique(points[:, axis])) for axis in range(3)]
    found = np.concatenate(steps)
    found = found[found > 1e-4]  # smaller differences are rounding of float32
    return float(found.min()) if len(found) else 0.05

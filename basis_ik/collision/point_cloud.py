# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The points of a depth camera or a lidar, as spheres that contain them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from basis_ik.collision.point_cloud_kernel import build_tree, cover_by_spheres, points_outside
from basis_ik.collision.shape import LARGEST_EXTENT, SceneError
from basis_ik.numerics.arrays import FloatArray, as_number, as_reals

MOST_CLOUD_POINTS = 500_000
"""Of a cloud: an image of 640 by 480 has 307,200."""
FINEST_VOXEL, COARSEST_VOXEL = 0.002, 0.5  # [m], edges of voxels
LEAF_SPHERES = 8  # below a node


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Spheres that contain points, one for each voxel of a grid that has some.

    Made by `of`.

    Attributes:
        count: Number of spheres.
        depth: Depth of their tree.
        tree: Its nodes and then the spheres, by centre and radius; see `point_cloud_kernel`.
    """

    count: int
    depth: int
    tree: FloatArray

    @staticmethod
    def of(points: npt.ArrayLike, resolution: float = 0.02, name: str = "points") -> PointCloud:
        """Return the cloud of points (n, 3) [m]; none is a cloud, too.

        Args:
            points: The points; rows with NaN or infinity, which sensors send for what they do not
                see, are dropped.
            resolution: Edge of a voxel [m], from 0.002 to 0.5.
            name: What errors call it.

        Raises:
            SceneError: These are not such points or no such number, there are more than half a
                million, or one is farther than 1e4 m.
        """
        size = as_number("resolution", resolution, "the edge of a voxel")
        if not FINEST_VOXEL <= size <= COARSEST_VOXEL:
            text = f"resolution: it is from {FINEST_VOXEL:g} to {COARSEST_VOXEL:g} m"
            raise SceneError(name, f"{text}, got {resolution!r}")
        array = as_reals(points)
        if array is not None and array.size == 0:
            array = np.empty((0, 3))
        if array is None or array.ndim != 2 or array.shape[1] != 3:
            raise SceneError(name, "points are given as an array of the shape (n, 3)")
        refuse_many(name, len(array))
        array = np.ascontiguousarray(array[np.isfinite(array).all(axis=1)], np.float64)
        if not (np.abs(array) <= LARGEST_EXTENT).all():
            raise SceneError(name, f"a coordinate is beyond {LARGEST_EXTENT:g} m")
        return _clustered(array, size)

    def is_equal(self, other: PointCloud) -> bool:
        """Return whether another one has the same spheres."""
        return self.count == other.count and np.array_equal(self.tree, other.tree)

    @property
    def surplus(self) -> float:
        """Largest distance of a point of a sphere from the points in it, at most [m]."""
        return float(self.spheres[:, 3].max(initial=0.0))

    @property
    def spheres(self) -> FloatArray:
        """Centres and radii (count, 4) [m]."""
        return self.tree[len(self.tree) - self.count :]


def refuse_many(name: str, count: int) -> None:
    """Raise a SceneError if a cloud has too many points."""
    if count > MOST_CLOUD_POINTS:
        text = (
            f"{count} points are more than {MOST_CLOUD_POINTS}; publish fewer, such as every second"
        )
        raise SceneError(name, text)


def _clustered(points: FloatArray, size: float) -> PointCloud:
    n = len(points)
    spheres, slots = np.empty((n, 4)), np.zeros(1 << (2 * n).bit_length(), np.int64)
    voxels, boxes = np.empty((n, 4), np.int64), np.empty((n, 6))
    count = int(cover_by_spheres(points, size, slots, voxels, boxes, spheres))
    depth = max(0, math.ceil(math.log2(max(count, 1) / LEAF_SPHERES)))
    tree = np.zeros(((2 << depth) + count, 4))
    tree[2 << depth :] = spheres[:count]
    build_tree(tree, count, depth)
    return PointCloud(count, depth, tree)


def seen(
    points: FloatArray, place: FloatArray, reaches: FloatArray, capsules: FloatArray
) -> FloatArray:
    """Return the points (k, 3) that count, placed: within reach, and not of the robot.

    Args:
        points: (n, 3) in the sensor's frame [m].
        place: (3, 4) root_T_sensor.
        reaches: (r, 4) centres and radii, of which one at least has to contain a point.
        capsules: (c, 7) the robot, in the root frame.
    """
    kept = np.empty((len(points), 3))
    return kept[: points_outside(points, place, reaches, capsules, kept)]


def warm_up() -> None:
    """Compile the kernels of points."""
    points, capsule = np.zeros((1, 3)), np.zeros((1, 7))
    PointCloud.of(seen(points, np.eye(3, 4), capsule[:, :4].copy(), capsule))

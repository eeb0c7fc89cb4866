# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact distances by coal, for the pairs whose covers overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from basis_ik.collision.covered_links import CoveredLink
from basis_ik.collision.shape import Shape
from basis_ik.dependencies import check_extra, is_installed
from basis_ik.numerics.arrays import FloatArray

COAL = "coal"


def is_available() -> bool:
    """Return whether coal is installed."""
    return is_installed(COAL)


class ExactDistances:
    """Distances of the shapes themselves; of meshes, their hulls.

    Raises:
        ExtraError: coal is not installed.
    """

    def __init__(self) -> None:
        check_extra("exact distances", COAL)
        import coal

        self._coal = coal
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._shapes: dict[int, tuple[Shape, Any]] = {}

    def between(
        self, one: CoveredLink, other: CoveredLink, frames: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the least distance of two links' shapes [m], below zero if they overlap.

        Args:
            one: A link or an object.
            other: Another one.
            frames: (m, 3, 4) the moved frames of the chain's joints.

        Returns:
            The distance, and the nearest points (2, 3) in the root frame.
        """
        coal, least, points = self._coal, np.inf, np.zeros((2, 3))
        placed = [self._placed(link, frames) for link in (one, other)]
        for first, there, thick in placed[0]:
            for second, here, more in placed[1]:
                result = coal.DistanceResult()
                distance = coal.distance(first, there, second, here, self._request, result)
                distance -= thick + more
                if distance < least:
                    least = distance
                    points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
        return float(least), points

    def _placed(self, link: CoveredLink, frames: FloatArray) -> list[tuple[Any, Any, float]]:
        """Return geometries, their places, and how much thicker these are [m]."""
        found = []
        for shape, place in link.bodies:
            turn, origin = place.rotation, place.translation
            if link.joint >= 0:
                frame = frames[link.joint]
                turn, origin = frame[:, :3] @ turn, frame[:, :3] @ origin + frame[:, 3]
            thick = shape.hull.slack if shape.kind == "mesh" else 0.0
            found.append((self._geometry(shape), self._coal.Transform3s(turn, origin), thick))
        return found

    def _geometry(self, shape: Shape) -> Any:
        if id(shape) not in self._shapes:
            self._shapes[id(shape)] = shape, self._made(shape)
        return self._shapes[id(shape)][1]

    def _made(self, shape: Shape) -> Any:
        coal, (x, y, z) = self._coal, shape.size
        if shape.kind == "box":
            return coal.Box(x, y, z)
        if shape.kind == "sphere":
            return coal.Sphere(0.5 * x)
        if shape.kind == "cylinder":
            return coal.Cylinder(0.5 * x, z)
        if shape.kind == "capsule":
            return coal.Capsule(0.5 * x, z)
        points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        points.extend(list(shape.hull.vertices))
        faces.extend([coal.Triangle(*map(int, face)) for face in shape.hull.faces])
        return coal.Convex(points, faces)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The convex hull of points.

Points are taken in one after the other, the farthest from the middle first. The faces that a point
is outside of give way to new ones, from it to their rim. Points closer to a face than a tolerance
are left inside; how far any point is outside is measured afterwards, so that what is built on a
hull can allow for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.collision.clipping import directions_around
from basis_ik.collision.hull_kernel import FOLDED, grow_faces, measure_outside
from basis_ik.numerics.arrays import FloatArray

FLATNESS = 1e-7  # of the points' size: thinner than this is flat, and nearer than this is on a face
COARSE_DIRECTIONS = 60  # along which the first points of a coarse hull are the farthest
_JOGGLES = ((0.0, FLATNESS), (1e-6, 1e-10), (1e-5, 1e-10), (1e-4, 1e-10))
"""How far points are moved, and how far outside a face they count, by the points' size."""


class Hull(NamedTuple):
    """A convex hull with a volume."""

    vertices: FloatArray
    """(v, 3)."""
    faces: NDArray[np.int64]
    """(f, 3) the vertices of its triangles, anticlockwise from outside."""
    normals: FloatArray
    """(f, 3) unit normals, outwards."""
    offsets: FloatArray
    """(f,) normal @ x <= offset inside."""
    slack: float
    """Upper bound on how far one of the points is outside [m]."""

    @property
    def volume(self) -> float:
        """Its volume."""
        return volume(self.vertices, self.faces)

    @property
    def triangles(self) -> FloatArray:
        """(f, 3, 3) its triangles' corners."""
        return self.vertices[self.faces]


def volume(vertices: FloatArray, faces: NDArray[np.int64]) -> float:
    """Return the volume inside a closed surface of triangles."""
    a, b, c = np.moveaxis((vertices - vertices.mean(axis=0))[faces], 1, 0)
    return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0


def mesh_volume(triangles: FloatArray) -> float | None:
    """Return the volume inside triangles (f, 3, 3); None if they are not closed."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    normals = np.cross(b - a, c - a)
    gap = np.abs(normals.sum(axis=0)).max()  # zero of a closed surface
    own = volume(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    return own if gap <= 1e-3 * np.abs(normals).sum() and own > 0.0 else None


def convex_hull(points: FloatArray) -> Hull | None:
    """Return the hull of points (n, 3); None where they are flat: on a plane, a line or a point."""
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not size > 0.0:
        return None
    steps = np.round((points - points.min(axis=0)) / (FLATNESS * size))
    _, kept, numbers = np.unique(steps, axis=0, return_index=True, return_inverse=True)
    few = points[kept]
    far_first = np.argsort(-np.linalg.norm(few - few.mean(axis=0), axis=1), kind="stable")
    few, numbers = few[far_first], np.argsort(far_first, kind="stable")[numbers.reshape(-1)]
    left_out = float(np.linalg.norm(points - few[numbers], axis=1).max())
    first = _simplex(few, FLATNESS * size)
    if first is None:
        return None
    # Rounding may fold nearly flat faces; points that are moved a little have no such faces.
    moves = np.random.default_rng(0).uniform(-1.0, 1.0, few.shape)
    found = []
    for joggle, least in _JOGGLES:
        moved = few + joggle * size * moves
        faces = np.empty((2 * len(moved), 3), np.int64)
        count = grow_faces(moved, np.array(first), least * size, faces)
        if count == FOLDED:
            continue
        faces = faces[:count]
        used, numbers = np.unique(faces, return_inverse=True)
        hull = _hull_with(moved[used], numbers.reshape(-1, 3), few)
        found.append(hull._replace(slack=hull.slack + left_out))
        if found[-1].slack <= max(4.0 * joggle, 2.0 * least) * size:
            break
    return min(found, key=lambda hull: hull.slack) if found else None


def hull_volume(points: FloatArray) -> float:
    """Return the volume of the hull of a few points (n, 3), quickly; 0 if they are flat."""
    least = FLATNESS * float(np.ptp(points, axis=0).max())
    first = _simplex(points, least) if least > 0.0 else None
    if first is None:
        return 0.0
    faces = np.empty((2 * len(points), 3), np.int64)
    count = grow_faces(points, np.array(first), least, faces)
    if count != FOLDED:
        return volume(points, faces[:count])
    hull = convex_hull(points)
    return 0.0 if hull is None else hull.volume


def coarse_hull(points: FloatArray, tolerance: float) -> Hull | None:
    """Return a hull of fewer vertices, with the slack of all points; None where they are flat.

    Above each face the farthest point is taken in, until none is farther than the tolerance.

    Args:
        points: (n, 3).
        tolerance: By the points' size.
    """
    outside, least = points, tolerance * float(np.ptp(points, axis=0).max())
    directions = directions_around(COARSE_DIRECTIONS)
    few = points[np.unique((directions @ points.T).argmax(axis=1))]
    while (hull := convex_hull(few)) is not None and hull.slack <= least:
        distances, above = _outside(hull, outside)
        out = distances > least
        outside, distances, above = outside[out], distances[out], above[out]
        if not len(outside):
            return hull._replace(slack=float(_outside(hull, points)[0].max()))
        by_face = np.lexsort((-distances, above))
        _, first = np.unique(above[by_face], return_index=True)
        few = np.concatenate([few, outside[by_face[first]]])
    return convex_hull(points)


def _outside(hull: Hull, points: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return how far points (n, 3) are outside a hull [m], and above which face."""
    outside = np.empty((len(points), 2))
    rounding = FLATNESS * float(np.ptp(hull.vertices, axis=0).max())
    measure_outside(points, *hull[:4], rounding, outside)
    return outside[:, 0], outside[:, 1].astype(np.int64)


def _hull_with(vertices: FloatArray, faces: NDArray[np.int64], points: FloatArray) -> Hull:
    """Return the hull with these faces, and how far points (n, 3) are outside."""
    normals, offsets = _planes(vertices, faces)
    hull = Hull(vertices, faces, normals, offsets, 0.0)
    return hull._replace(slack=float(_outside(hull, points)[0].max()))


def _simplex(points: FloatArray, least: float) -> list[int] | None:
    """Return four points that span a volume, if there are such."""
    if len(points) < 4:
        return None
    axis = int(np.ptp(points, axis=0).argmax())
    a, b = int(points[:, axis].argmin()), int(points[:, axis].argmax())
    along = points[b] - points[a]
    off = np.linalg.norm(np.cross(points - points[a], along), axis=1) / np.linalg.norm(along)
    c = int(off.argmax())
    if not off[c] > least:
        return None
    normal = np.cross(along, points[c] - points[a])
    height = (points - points[a]) @ (normal / np.linalg.norm(normal))
    d = int(np.abs(height).argmax())
    if not abs(height[d]) > least:
        return None
    return [a, c, b, d] if height[d] > 0.0 else [a, b, c, d]


def _planes(vertices: FloatArray, faces: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = np.einsum("fij,fj->fi", vertices[faces], normals).max(axis=1)
    return normals, offsets

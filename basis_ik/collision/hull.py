# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The convex hull of points, in numpy alone.

Quickhull (Barber, Dobkin and Huhdanpaa 1996). Points closer to a face than a tolerance are left
inside; how far any point is outside the faces is measured afterwards, so that what is built on a
hull can allow for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray

FLATNESS = 1e-7  # of the points' size: thinner than this is flat, and nearer than this is on a face
_JOGGLES = ((0.0, FLATNESS), (1e-6, 1e-10), (1e-5, 1e-10), (1e-4, 1e-10))
"""How far points are moved, and how far outside a face they count, by the points' size."""
_CHUNK = 4096


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
    """How far one of the points is outside a face at most."""

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


def convex_hull(points: FloatArray) -> Hull | None:
    """Return the hull of points (n, 3); None where they are flat: on a plane, a line or a point."""
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not size > 0.0:
        return None
    steps = np.round((points - points.min(axis=0)) / (FLATNESS * size))
    few = points[np.unique(steps, axis=0, return_index=True)[1]]
    first = _simplex(few, FLATNESS * size)
    if first is None:
        return None
    # Rounding may fold nearly flat faces; points that are moved a little have no such faces.
    moves = np.random.default_rng(0).uniform(-1.0, 1.0, few.shape)
    found = []
    for joggle, least in _JOGGLES:
        moved = few + joggle * size * moves
        faces = _Quickhull(moved, least * size).run(first)
        if faces is None:
            continue
        used, numbers = np.unique(faces, return_inverse=True)
        found.append(_hull_with(moved[used], numbers.reshape(-1, 3), points))
        if found[-1].slack <= max(4.0 * joggle, 2.0 * least) * size:
            break
    return min(found, key=lambda hull: hull.slack) if found else None


def _hull_with(vertices: FloatArray, faces: NDArray[np.int64], points: FloatArray) -> Hull:
    """Return the hull with these faces, and how far points (n, 3) are outside."""
    normals, offsets = _planes(vertices, faces)
    over = [
        float((points[begin : begin + _CHUNK] @ normals.T - offsets).max())
        for begin in range(0, len(points), _CHUNK)
    ]
    return Hull(vertices, faces, normals, offsets, max(0.0, *over))


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


class _Quickhull:
    """Faces that grow, and the points that are outside each.

    Args:
        points: (n, 3).
        least: Distance from a face up to which a point counts as on it.
    """

    def __init__(self, points: FloatArray, least: float) -> None:
        self.points, self.least = points, least
        self.faces: list[tuple[int, int, int] | None] = []
        self._planes: list[tuple[FloatArray, float]] = []
        self._outside: list[NDArray[np.int64]] = []
        self._behind: dict[tuple[int, int], int] = {}  # the face that has an edge
        self._open: list[int] = []
        self.folded = False

    def run(self, corners: list[int]) -> NDArray[np.int64] | None:
        """Return the faces (f, 3), None where they fold.

        Args:
            corners: Of a tetrahedron, the fourth below the plane of the others.
        """
        a, b, c, d = corners
        self._add([(a, b, c), (a, d, b), (b, d, c), (c, d, a)], np.arange(len(self.points)))
        while self._grow():
            pass
        return None if self.folded else np.array([face for face in self.faces if face is not None])

    def _grow(self) -> bool:
        """Take in the point farthest from a face; return whether there was one."""
        while self._open and self.faces[self._open[-1]] is None:
            self._open.pop()
        if not self._open:
            return False
        at = self._open[-1]
        normal, offset = self._planes[at]
        outside = self._outside[at]
        apex = int(outside[(self.points[outside] @ normal - offset).argmax()])
        seen = self._seen(at, apex)
        horizon = self._horizon(seen)
        if len({a for a, _ in horizon}) < len(horizon):  # more than one ring
            self.folded = True
            return False
        rest = np.concatenate([self._outside[face] for face in seen])
        for face in seen:
            for edge in self._edges(face):
                del self._behind[edge]
            self.faces[face] = None
            self._outside[face] = rest[:0]
        self._add([(a, b, apex) for a, b in horizon], rest[rest != apex])
        return True

    def _edges(self, face: int) -> tuple[tuple[int, int], ...]:
        a, b, c = self.faces[face] or (0, 0, 0)
        return (a, b), (b, c), (c, a)

    def _seen(self, at: int, apex: int) -> list[int]:
        """Return the faces that a point is in front of, around the one with a number."""
        point, seen, known = self.points[apex], [at], {at}
        for face in seen:
            for a, b in self._edges(face):
                other = self._behind[b, a]
                normal, offset = self._planes[other]
                if other not in known and point @ normal - offset > self.least:
                    known.add(other)
                    seen.append(other)
        return seen

    def _horizon(self, seen: list[int]) -> list[tuple[int, int]]:
        """Return the edges around faces."""
        known = set(seen)
        edges = (edge for face in seen for edge in self._edges(face))
        return [(a, b) for a, b in edges if self._behind[b, a] not in known]

    def _add(self, faces: list[tuple[int, int, int]], rest: NDArray[np.int64]) -> None:
        """Add faces, and give each of the points to one that it is outside of."""
        first = len(self.faces)
        normals, offsets = _planes(self.points, np.array(faces))
        height = self.points[rest] @ normals.T - offsets
        best = height.argmax(axis=1)
        out = height[np.arange(len(rest)), best] > self.least
        for k, (a, b, c) in enumerate(faces):
            self.faces.append((a, b, c))
            self._planes.append((normals[k], float(offsets[k])))
            self._outside.append(rest[out & (best == k)])
            for edge in self._edges(first + k):
                self._behind[edge] = first + k
            if len(self._outside[-1]):
                self._open.append(first + k)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faces of a convex hull that grow as points outside them are taken in, one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

IntArray = NDArray[np.int64]
FOLDED = -1
"""Number of faces where they fold, by rounding."""


@helper
def _write_plane(points: FloatArray, face: IntArray, plane: FloatArray) -> bool:
    """Write a face's unit normal, outwards, and its largest offset; return whether it has one."""
    a, b, c = points[face[0]], points[face[1]], points[face[2]]
    x, y, z = b - a, c - a, plane
    z[0] = x[1] * y[2] - x[2] * y[1]
    z[1] = x[2] * y[0] - x[0] * y[2]
    z[2] = x[0] * y[1] - x[1] * y[0]
    length = np.sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2])
    if length == 0.0:
        return False
    for k in range(3):
        z[k] /= length
    plane[3] = max(
        a[0] * z[0] + a[1] * z[1] + a[2] * z[2],
        b[0] * z[0] + b[1] * z[1] + b[2] * z[2],
        c[0] * z[0] + c[1] * z[1] + c[2] * z[2],
    )
    return True


@helper
def _horizon(faces: IntArray, seen: IntArray, count: int, edges: IntArray) -> int:
    """Write the edges (e, 2) around faces, in a ring; return their number, or `FOLDED`."""
    found = 0
    for i in range(count):
        for k in range(3):
            a, b = faces[seen[i], k], faces[seen[i], (k + 1) % 3]
            inside = False
            for j in range(count):
                face = faces[seen[j]]
                for m in range(3):
                    inside = inside or (face[m] == b and face[(m + 1) % 3] == a)
            if not inside:
                edges[found, 0], edges[found, 1] = a, b
                found += 1
    for i in range(1, found):  # sort them into a ring
        at = -1
        for j in range(i, found):
            if edges[j, 0] == edges[i - 1, 1]:
                at = j
                break
        if at < 0:
            return FOLDED
        for k in range(2):
            edges[i, k], edges[at, k] = edges[at, k], edges[i, k]
    return found if edges[found - 1, 1] == edges[0, 0] else FOLDED


@jit
def grow_faces(points: FloatArray, corners: IntArray, least: float, faces: IntArray) -> int:
    """Write the faces of a hull.

    Args:
        points: (n, 3), in the order in which they are taken in.
        corners: (4,) of a tetrahedron among them, the fourth below the plane of the others.
        least: Distance from a face up to which a point counts as on it.
        faces: (2 n, 3) result: the points of each face, anticlockwise from outside.

    Returns:
        The number of faces, or `FOLDED`.
    """
    most = faces.shape[0]
    planes = np.empty((most, 4))
    seen, edges = np.empty(most, np.int64), np.empty((3 * most, 2), np.int64)
    a, b, c, d = corners
    faces[0, 0], faces[0, 1], faces[0, 2] = a, b, c
    faces[1, 0], faces[1, 1], faces[1, 2] = a, d, b
    faces[2, 0], faces[2, 1], faces[2, 2] = b, d, c
    faces[3, 0], faces[3, 1], faces[3, 2] = c, d, a
    for k in range(4):
        _write_plane(points, faces[k], planes[k])
    total = 4
    for apex in range(points.shape[0]):
        count, x, y, z = 0, points[apex, 0], points[apex, 1], points[apex, 2]
        for k in range(total):
            if planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z - planes[k, 3] > least:
                seen[count] = k
                count += 1
        if count == 0 or apex in (a, b, c, d):
            continue
        found = _horizon(faces, seen, count, edges)
        if found == FOLDED or total - count + found > most:
            return FOLDED
        # New faces take the places of those that are seen; the last ones fill what is left.
        for i in range(found):
            k = seen[i] if i < count else total + i - count
            faces[k, 0], faces[k, 1], faces[k, 2] = edges[i, 0], edges[i, 1], apex
            if not _write_plane(points, faces[k], planes[k]):
                return FOLDED
        total += max(0, found - count)
        for i in range(count - 1, found - 1, -1):
            total -= 1
            faces[seen[i]], planes[seen[i]] = faces[total], planes[total]
    return total


@jit
def largest_height(points: FloatArray, normals: FloatArray, offsets: FloatArray) -> float:
    """Return how far a point (n, 3) is outside a face at most; 0 if none is."""
    most = 0.0
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for k in range(offsets.shape[0]):
            height = normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z - offsets[k]
            most = max(most, height)
    return most

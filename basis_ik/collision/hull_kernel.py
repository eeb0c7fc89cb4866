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


@helper
def _distance_to_edge(a: FloatArray, b: FloatArray, x: FloatArray) -> float:
    along, length, total = 0.0, 0.0, 0.0
    for k in range(3):
        along += (x[k] - a[k]) * (b[k] - a[k])
        length += (b[k] - a[k]) * (b[k] - a[k])
    share = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
    for k in range(3):
        off = x[k] - a[k] - share * (b[k] - a[k])
        total += off * off
    return float(np.sqrt(total))


@helper
def _distance_to_face(
    vertices: FloatArray, face: IntArray, n: FloatArray, height: float, x: FloatArray
) -> float:
    """Return the distance of a point (3,) from a face, by its normal and the height above it."""
    least, within = np.inf, True
    for i in range(3):
        a, b = vertices[face[i]], vertices[face[(i + 1) % 3]]
        u, v, w = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        p, q, r = x[0] - a[0], x[1] - a[1], x[2] - a[2]
        turn = n[0] * (v * r - w * q) + n[1] * (w * p - u * r) + n[2] * (u * q - v * p)
        within = within and turn >= 0.0
        least = min(least, _distance_to_edge(a, b, x))
    return max(height, 0.0) if within else least


@jit
def measure_outside(
    points: FloatArray, vertices: FloatArray, faces: IntArray, normals: FloatArray,
    offsets: FloatArray, rounding: float, outside: FloatArray,
) -> None:  # fmt: skip
    """Write how far each of points (n, 3) is outside a hull.

    Args:
        points: The points.
        vertices: (v, 3) of the hull.
        faces: (f, 3) its triangles, anticlockwise from outside.
        normals: (f, 3) of these.
        offsets: (f,) of these.
        rounding: Of heights above faces. A point just above a flat side may be below the triangle
            of it that is nearest to it.
        outside: (n, 2) result: the distance, 0 inside, and the number of the face that the point is
            highest above, -1 inside.
    """
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        highest, face = 0.0, -1
        for k in range(offsets.shape[0]):
            height = normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z - offsets[k]
            if height > highest:
                highest, face = height, k
        outside[i, 0], outside[i, 1] = highest, face
        if face < 0:
            continue
        least = np.inf
        for k in range(offsets.shape[0]):
            height = normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z - offsets[k]
            if height > -rounding:
                off = _distance_to_face(vertices, faces[k], normals[k], height, points[i])
                least = min(least, off)
        outside[i, 0] = least

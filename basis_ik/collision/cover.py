# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A conservative cover of a shape by capsules, which contain it for certain.

A shape is a convex polytope here. It is cut by planes into pieces, and each piece gets the capsule
that sticks out least. A capsule is convex, so it contains a piece exactly if it contains the
piece's corners. Spheres are capsules whose ends are one point.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from basis_ik.collision.clipping import clipped, directions_around
from basis_ik.collision.cover_kernel import fit_capsule
from basis_ik.collision.hull import Hull
from basis_ik.collision.shape import Shape
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import read_only


class CoverTuning(NamedTuple):
    """Tuning of covers; shares are of a piece's extent or surplus."""

    good_surplus: float = 0.012  # [m], from which a cover is not refined
    most_pieces: int = 7
    capsule_price: float = 0.22  # twice as many capsules must lower the surplus by this power of 2
    good_cut: float = 0.85  # share of its surplus at which a cut is a good one
    rounding: float = 1e-9  # of the shape's size, added to each radius
    cuts: tuple[tuple[float, ...], ...] = ((0.5,), (0.3, 0.7))  # shares of an extent to cut at
    first_directions: int = 250  # in which a surplus is measured while pieces are cut
    last_directions: int = 3000  # in which the surplus of the result is measured


COVERING = CoverTuning()

_RADII = np.linspace(1.0, 1.6, 9)  # of the least radius about an axis


class Cover(NamedTuple):
    """Capsules that contain a shape."""

    capsules: FloatArray
    """(k, 7) both ends of each axis and the radius [m], in the shape's frame."""
    surplus: float
    """Largest distance of a point of a capsule from the shape [m]."""


class _Piece(NamedTuple):
    low: FloatArray
    """(3,) the box that cuts it out, in the cover's frame; infinite where it does not."""
    high: FloatArray
    capsule: FloatArray
    surplus: float


@lru_cache(maxsize=256)
def cover_of(shape: Shape) -> Cover:
    """Return the cover of a shape, made once; it has the same bits for equal shapes."""
    if shape.is_round:
        x, _, z = (0.5 * each for each in shape.size)
        half = z if shape.kind == "capsule" else 0.0
        return Cover(read_only(np.array([[0.0, 0.0, -half, 0.0, 0.0, half, x]])), 0.0)
    directions = directions_around(COVERING.first_directions)
    support = shape.support(directions)
    frames = [np.eye(3)]
    if shape.kind == "mesh":
        frames.append(_principal(shape.hull))
    found: list[Cover] = []
    for turn in frames:
        for cover in _Cutter(shape, turn, directions, support).covers():
            found.append(cover)
            if cover.surplus <= COVERING.good_surplus:
                break
    best = min(
        found,
        key=lambda cover: (
            max(cover.surplus, COVERING.good_surplus)
            * len(cover.capsules) ** COVERING.capsule_price
        ),
    )
    return Cover(read_only(best.capsules), _surplus(shape, best.capsules))


class _Cutter:
    """Cuts a shape into pieces along the axes of a frame.

    Args:
        shape: The shape.
        turn: (3, 3) the frame's axes as columns.
        directions: (d, 3) in which the surplus is measured.
        support: (d,) of the shape.
    """

    def __init__(
        self, shape: Shape, turn: FloatArray, directions: FloatArray, support: FloatArray
    ) -> None:
        hull, self._turn = shape.hull, turn
        self._triangles = hull.triangles @ turn
        self._normals, self._offsets = hull.normals @ turn, hull.offsets
        self._directions = np.ascontiguousarray(directions @ turn)
        self._vertices, self._support = hull.vertices @ turn, support
        size = float(np.ptp(hull.vertices, axis=0).max())
        self._more = hull.slack + COVERING.rounding * size

    def covers(self) -> Iterator[Cover]:
        """Yield covers of ever more pieces: the one that sticks out most is cut."""
        free = np.full(3, np.inf)
        pieces = [self._piece(-free, free)]
        while len(pieces) <= COVERING.most_pieces:
            yield self._cover(pieces)
            pieces.sort(key=lambda piece: piece.surplus)
            pieces += self._cut(pieces.pop())

    def _cover(self, pieces: list[_Piece]) -> Cover:
        found = np.array([piece.capsule for piece in pieces])
        found[:, :3], found[:, 3:6] = found[:, :3] @ self._turn.T, found[:, 3:6] @ self._turn.T
        return Cover(found, _most(pieces))

    def _cut(self, piece: _Piece) -> list[_Piece]:
        """Return the parts that stick out least, or else those that take least room."""
        corners = self._corners(piece.low, piece.high)
        low, high = corners.min(axis=0), corners.max(axis=0)
        found = []
        for axis in range(3):
            for shares in COVERING.cuts:
                at = low[axis] + np.array(shares) * (high[axis] - low[axis])
                ends = [piece.low[axis], *at.tolist(), piece.high[axis]]
                parts = []
                for begin, end in pairwise(ends):
                    under, over = piece.high.copy(), piece.low.copy()
                    under[axis], over[axis] = end, begin
                    parts.append(self._piece(over, under))
                found.append(parts)
        best = min(found, key=_most)
        return best if _most(best) <= COVERING.good_cut * piece.surplus else min(found, key=_room)

    def _piece(self, low: FloatArray, high: FloatArray) -> _Piece:
        corners, fits = self._corners(low, high), []
        for axis in range(3):
            capsule = np.empty(7)
            surplus = fit_capsule(corners, axis, self._directions, self._support, _RADII, capsule)
            fits.append((surplus, capsule))
        surplus, capsule = min(fits, key=lambda fit: fit[0])
        capsule[6] += self._more
        return _Piece(low, high, capsule, surplus + self._more)

    def _corners(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return points (n, 3) whose hull is the part of the polytope in a box.

        The edges in which two planes of the box meet end on the polytope's faces, or in a corner of
        the box.
        """
        within = (self._vertices >= low) & (self._vertices <= high)
        points = self._vertices[within.all(axis=1)]
        if len(points) < len(self._vertices):
            corners = self._triangles
            inside = ((corners >= low) & (corners <= high)).all(axis=(1, 2))
            triangles = corners[~inside]
            for axis in range(3):
                for sign, bound in ((1.0, high[axis]), (-1.0, -low[axis])):
                    if np.isfinite(bound):
                        triangles = clipped(triangles, axis, sign, float(bound))
            points = np.concatenate([points, triangles.reshape(-1, 3)])
        if np.isfinite(low).sum() + np.isfinite(high).sum() > 2:
            ends = np.stack([low, high])
            at = np.array(np.meshgrid(*ends.T)).reshape(3, -1).T
            at = at[np.isfinite(at).all(axis=1)]
            inside = (at @ self._normals.T <= self._offsets).all(axis=1)
            points = np.concatenate([points, at[inside]])
        return points


def _most(parts: list[_Piece]) -> float:
    """Return the largest surplus of parts [m]."""
    return max(part.surplus for part in parts)


def _room(parts: list[_Piece]) -> float:
    """Return the volume of the capsules of parts together [m³]."""
    capsules = np.array([part.capsule for part in parts])
    length = np.linalg.norm(capsules[:, 3:6] - capsules[:, :3], axis=1)
    return float((np.pi * capsules[:, 6] ** 2 * (length + 4.0 / 3.0 * capsules[:, 6])).sum())


def distances_to_axis(capsule: FloatArray, points: FloatArray) -> FloatArray:
    """Return the distances (n,) of points (n, 3) from a capsule's axis (7,)."""
    start, along = capsule[:3], capsule[3:6] - capsule[:3]
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0.0, 1.0) if length > 0.0 else 0.0
    off = points - start - np.multiply.outer(share, along)
    found: FloatArray = np.linalg.norm(off, axis=1)
    return found


def _surplus(shape: Shape, capsules: FloatArray) -> float:
    """Return the largest distance of a point of capsules from a shape.

    Of a convex shape it is the largest difference of the supports, and lies where the shape's
    changes its corner: at the normals of its faces.
    """
    directions = np.concatenate([directions_around(COVERING.last_directions), shape.hull.normals])
    tops = np.maximum(directions @ capsules[:, :3].T, directions @ capsules[:, 3:6].T)
    return float(((tops + capsules[:, 6]).max(axis=1) - shape.support(directions)).max())


def _principal(hull: Hull) -> FloatArray:
    """Return the axes (3, 3) of a hull's surface, right-handed."""
    corners = hull.triangles
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.linalg.norm(np.cross(one, other), axis=1)
    middle = corners.mean(axis=1)
    off = middle - area @ middle / area.sum()
    _, axes = np.linalg.eigh((off * area[:, None]).T @ off)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return np.asarray(axes)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cuts a mesh into a few pieces whose convex hulls are much closer to it than its own.

A mesh is cut by planes across its axes, where that lowers the volume of the hulls most, as in the
approximate decompositions of Mamou and Ghorbel (2009). A piece has the parts of the triangles on
its side of the plane, so the hulls of all pieces contain the mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from basis_ik.collision.clipping import clipped, directions_around
from basis_ik.collision.clipping_kernel import write_farthest
from basis_ik.collision.hull import hull_volume, mesh_volume
from basis_ik.numerics.arrays import FloatArray


class PieceTuning(NamedTuple):
    """Tuning of pieces."""

    most: int = 5  # pieces of a mesh
    least_gain: float = 0.02  # of the whole hull's volume, that a cut must save
    far: float = 1.5  # times the mesh's volume, above which cuts that save nothing yet are made
    shares: tuple[float, ...] = (0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85)  # of an extent
    # While cuts are compared, so many triangles stand for a piece, and so many directions for all:
    # the points that are farthest along them.
    compared_triangles: int = 4000
    directions: int = 60


PIECES = PieceTuning()


class _Piece(NamedTuple):
    triangles: FloatArray
    """(f, 3, 3)."""
    gain: float
    """Volume that its best cut saves [m³]; 0 if there is none."""
    axis: int
    """That cut's; without one the longest."""
    at: float
    """Where it cuts that axis [m]; without one in the middle."""
    volume: float
    """Of its hull [m³]."""


def convex_pieces(triangles: FloatArray) -> list[FloatArray]:
    """Return the triangles (f, 3, 3) of each piece of a mesh (f, 3, 3), the mesh itself if one."""
    pieces, own = [_with_best_cut(triangles)], mesh_volume(triangles)
    least_gain = PIECES.least_gain * pieces[0].volume
    while len(pieces) < PIECES.most:
        chosen = max(pieces, key=lambda piece: piece.gain)
        if chosen.gain <= least_gain:
            # A ring is as large in halves, but not in quarters.
            if own is None or sum(piece.volume for piece in pieces) <= PIECES.far * own:
                break
            chosen = max(pieces, key=lambda piece: piece.volume)
        pieces = [piece for piece in pieces if piece is not chosen]
        for sign in (1.0, -1.0):
            part = clipped(chosen.triangles, chosen.axis, sign, sign * chosen.at)
            pieces.append(_with_best_cut(part))
    return [piece.triangles for piece in pieces]


def _with_best_cut(triangles: FloatArray) -> _Piece:
    few = np.ascontiguousarray(triangles[:: 1 + len(triangles) // PIECES.compared_triangles])
    low, high = few.min(axis=(0, 1)), few.max(axis=(0, 1))
    directions, shares = directions_around(PIECES.directions), np.array(PIECES.shares)
    farthest = np.empty((2, len(shares), len(directions), 3))
    axis = int((high - low).argmax())
    cut = axis, float(0.5 * (low[axis] + high[axis]))
    points = few.reshape(-1, 3)
    whole = least = hull_volume(points[(directions @ points.T).argmax(axis=1)])
    for axis in range(3):
        cuts = low[axis] + shares * (high[axis] - low[axis])
        write_farthest(few, axis, cuts, directions, farthest)
        for at, below, above in zip(cuts.tolist(), *farthest, strict=True):
            volumes = hull_volume(below), hull_volume(above)
            if min(volumes) > 0.0 and sum(volumes) < least:
                least, cut = sum(volumes), (axis, at)
    return _Piece(triangles, whole - least, *cut, whole)

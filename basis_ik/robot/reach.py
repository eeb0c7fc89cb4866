# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An upper bound on the reach of a chain."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain_kernel import ChainArrays

_REACH_SWEEPS = 60
# With more, the plain sum is used: each sweep costs the cube of their number.
_MOST_REACH_PARTS = 64


def reach_bound(chain: ChainArrays) -> float:
    """Return an upper bound on the distance [m] from the root link's origin to the tip link's.

    Two points fixed to the same body keep their distance, and a point on a joint's axis is fixed to
    both bodies that the joint connects. Therefore, for any choice of one point per axis, the sum of
    the distances between successive points is a bound. The best choice minimises a sum of norms,
    which is convex; it is found by reweighted least squares (Weiszfeld 1937). Unlike the sum of the
    joints' offsets, it does not count offsets along parallel axes. A sliding joint adds half its
    travel, from the middle of it. For a very long chain the sum of its offsets is returned.
    """
    parts, travel = _parts(chain)
    along = np.zeros(len(parts) + 1)  # position of each point on its axis; root and tip are fixed
    best = np.inf
    for _ in range(_REACH_SWEEPS):
        gaps = _gaps(parts, along)
        total = float(np.sqrt((gaps**2).sum(axis=1)).sum())
        if not total < best - 1e-9:
            break
        best = total
        if len(parts) > _MOST_REACH_PARTS:
            break
        along = _least_squares(parts, np.sqrt((gaps**2).sum(axis=1)))
    return best + travel


def lengths_of(chain: ChainArrays) -> FloatArray:
    """Return how far each joint's frame is from the one before at most (m,) [m]."""
    travel = np.maximum(np.abs(chain.lower), np.abs(chain.upper))[chain.variables]
    travel = np.abs(chain.multipliers) * travel + np.abs(chain.offsets)
    lengths: FloatArray = np.linalg.norm(chain.origins[:, :, 3], axis=1)
    return lengths + np.where(chain.prismatic != 0, travel, 0.0)


def _parts(chain: ChainArrays) -> tuple[FloatArray, float]:
    """Return the constant transforms (m + 1, 3, 4) between axes, and half the travel of slides."""
    parts = np.concatenate((chain.origins, chain.tip[None]))
    travel = 0.0
    for i, slides in enumerate(chain.prismatic):
        if slides:
            k = chain.variables[i]
            a = chain.multipliers[i] * chain.lower[k] + chain.offsets[i]
            b = chain.multipliers[i] * chain.upper[k] + chain.offsets[i]
            parts[i + 1, 2, 3] += 0.5 * (a + b)
            travel += 0.5 * abs(b - a)
    return parts, travel


def _gaps(parts: FloatArray, along: FloatArray) -> FloatArray:
    """Return the vectors (m + 1, 3) from each point to the next."""
    gaps = parts[:, :, 3] + along[1:, None] * parts[:, :, 2]
    gaps[:, 2] -= along[:-1]
    return gaps


def _least_squares(parts: FloatArray, distances: FloatArray) -> FloatArray:
    """Return the points along the axes that minimise the weighted sum of squared gaps."""
    count = len(parts)
    weights = 1.0 / np.sqrt(np.maximum(distances, 1e-9))
    rows = np.zeros((count, 3, count + 1))
    index = np.arange(count)
    rows[index, :, index + 1] = parts[:, :, 2]
    rows[index, 2, index] -= 1.0
    rows *= weights[:, None, None]
    target = -(parts[:, :, 3] * weights[:, None]).reshape(-1)
    along = np.zeros(count + 1)
    inner = rows.reshape(3 * count, count + 1)[:, 1:-1]
    along[1:-1] = np.linalg.lstsq(inner, target, rcond=None)[0]
    return along

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The grid of a map of reach, and the orientations in each voxel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.prepare import prepared
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform

IntArray = npt.NDArray[np.int64]

MOST_VOXELS = 2**24  # 100 MB of map


class GridError(BasisIkError):
    """A grid is too large, or empty."""


@dataclass(frozen=True)
class Grid:
    """Voxels around an arm; their centres are whole multiples of the voxel in the root frame.

    Thus each coordinate plane of the root is a plane of centres, for any size of voxels.

    Attributes:
        voxel: Length of an edge [m].
        first: Centre of the voxel (0, 0, 0), in multiples of the voxel.
        shape: Number of voxels along x, y and z.
    """

    voxel: float
    first: tuple[int, int, int]
    shape: tuple[int, int, int]

    @property
    def origin(self) -> FloatArray:
        """The centre (3,) of the voxel (0, 0, 0) in the root frame [m]."""
        return self.voxel * np.array(self.first, np.float64)

    def centres(self, voxels: IntArray) -> FloatArray:
        """Return the centres (k, 3) of voxels in the root frame [m], by their flat indices (k,)."""
        index = np.stack(np.unravel_index(voxels, self.shape), axis=1)
        return self.voxel * (index + self.first).astype(np.float64)

    def within(self, middle: FloatArray, radius: float) -> IntArray:
        """Return the flat indices (k,) of the voxels with centres in a ball, ascending.

        Args:
            middle: The ball's centre (3,) in the root frame [m].
            radius: The ball's radius [m].
        """
        x, y, z = (
            self.voxel * (first + np.arange(count)) - offset
            for first, count, offset in zip(self.first, self.shape, middle, strict=True)
        )
        across = y[:, None] ** 2 + z**2
        layers = [
            np.flatnonzero(across <= radius**2 - square) + i * across.size
            for i, square in enumerate(x**2)
        ]
        return np.concatenate(layers)


def ball_of(chain: Chain) -> tuple[FloatArray, float]:
    """Return the ball that the tip cannot leave: centre (3,) in the root frame and radius [m]."""
    ready = prepared(chain)
    return ready.ends[0][:, 3].copy(), ready.reach + 1e-9  # allowance for rounding


def grid_around(chain: Chain, voxel: float) -> Grid:
    """Return the smallest grid with all centres within the reach of a chain.

    Args:
        chain: The arm.
        voxel: Length of a voxel's edge [m], above 0.

    Raises:
        GridError: It has more than `MOST_VOXELS` voxels, or a voxel is larger than the reach.
    """
    middle, radius = ball_of(chain)
    if voxel > radius:
        raise GridError(
            f"--voxel {voxel:g} is more than the {radius:.3g} m that the arm reaches from its "
            "first joint: are the units metres?"
        )
    with np.errstate(over="ignore"):
        sides = np.floor(2.0 * radius / np.float64(voxel)) + 1.0
    if not float(sides) ** 3 <= MOST_VOXELS:
        least = _rounded_up(2.0 * radius / (round(MOST_VOXELS ** (1.0 / 3.0)) - 1.0))
        raise GridError(
            f"a grid of {sides:.0f} x {sides:.0f} x {sides:.0f} voxels is too large, there may be "
            f"{MOST_VOXELS}: give --voxel {least:g} or more"
        )
    low = np.ceil((middle - radius) / voxel).astype(np.int64)
    shape = np.floor((middle + radius) / voxel).astype(np.int64) - low + 1
    (a, b, c), (i, j, k) = low.tolist(), shape.tolist()
    return Grid(voxel, (a, b, c), (i, j, k))


def _rounded_up(value: float) -> float:
    """Return a value rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


@lru_cache(maxsize=4)
def orientations(count: int) -> FloatArray:
    """Return rotations (count, 3, 3), evenly spread over all rotations, read-only.

    Super-Fibonacci spirals: M. Alexa, "Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of
    SO(3)", CVPR 2022, section 4.
    """
    psi = 1.533751168755204  # the root of psi^4 = psi + 4
    rotations = np.empty((count, 3, 3))
    for i in range(count):
        s = i + 0.5
        inner, outer = math.sqrt(s / count), math.sqrt(1.0 - s / count)
        a, b = math.tau * s / math.sqrt(2.0), math.tau * s / psi
        quaternion = (
            inner * math.sin(a), inner * math.cos(a), outer * math.sin(b), outer * math.cos(b),
        )  # fmt: skip
        rotations[i] = RigidTransform.from_quaternion_xyzw(quaternion, np.zeros(3)).rotation
    return read_only(rotations)

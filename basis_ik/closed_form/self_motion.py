# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts for arms with joints to spare: the positions that leave their limits least.

A start finds a position within the limits only if its descent leads there. Here the spare joints
take values from limit to limit, the others follow in closed form, and the grid is refined where
they are least outside their limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from basis_ik.closed_form.redundant_form import RedundantForm
from basis_ik.descent.tables_kernel import LOWER, SCALE, START_LOWER, START_UPPER, UPPER
from basis_ik.numerics.arrays import FloatArray


class GridTuning(NamedTuple):
    """Tuning of the grids over fixed joints; tables go by the number of fixed joints.

    Near singularities the other joints move much faster than the fixed ones. So they may be outside
    their limits by many steps of those, and as many times as far as the arm is off its form.
    """

    values: Mapping[int, tuple[int, int]] = MappingProxyType({1: (128, 1), 2: (24, 24)})
    # Around a start.
    finer: Mapping[int, tuple[int, int]] = MappingProxyType({1: (9, 1), 2: (5, 5)})
    levels: Mapping[int, int] = MappingProxyType({1: 5, 2: 4})
    most_outside: float = 25.0  # [steps of the fixed joints] of the others outside their limits
    apart: float = 6.0  # [steps] by which joints differ between neighbours on one branch
    kept: int = 48  # starts from a grid
    refined: Mapping[int, int] = MappingProxyType({1: 12, 2: 6})  # starts, of those


GRID = GridTuning()


class Sampled(NamedTuple):
    """What all positions at the points of a grid come to."""

    starts: FloatArray
    """(k, n) those least outside the limits, taken into them; none where all are far outside."""
    points: int
    """How many points the grid has."""


def sample_starts(
    form: RedundantForm, variables: FloatArray, target: FloatArray, seed: FloatArray, most: int
) -> Iterator[Sampled]:
    """Yield starts from a grid, and from ever finer ones around those nearest to the limits.

    Args:
        form: Of the chain.
        variables: (n, 8 or more) of the chain.
        target: (4, 4) root_T_target.
        seed: (n,) near which joints are turned.
        most: Points that the grids may have together.
    """
    fixed, lower, upper = form.fixed, variables[:, LOWER], variables[:, UPPER]
    low, high = variables[fixed, START_LOWER], variables[fixed, START_UPPER]
    shape = GRID.values[len(fixed)]
    step, corners = (high - low) / (shape[0] - 1), (low[None], high[None])
    seed, off = np.clip(seed, lower, upper), form.form.misfit
    for _ in range(GRID.levels[len(fixed)]):
        grid, size = _grid(*corners, shape), float((step / variables[fixed, SCALE]).max())
        points = grid[..., 0].size
        if points > most:
            return
        most -= points
        positions, excess = form.sample(
            variables,
            target,
            seed,
            grid,
            GRID.apart * size,
            GRID.most_outside * (size + off),
            GRID.most_outside * off,
        )
        starts = positions[np.argsort(excess, kind="stable")[: GRID.kept]]
        yield Sampled(np.clip(starts, lower, upper), points)
        if not len(starts) or size <= off:  # finer than the arm's form
            return
        around, shape = starts[: GRID.refined[len(fixed)], fixed], GRID.finer[len(fixed)]
        corners = np.maximum(around - step, low), np.minimum(around + step, high)
        step = step * 2.0 / (shape[0] - 1)


def _grid(low: FloatArray, high: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Return the points (k, *shape, d) of grids between corners (k, d)."""
    return low[:, None, None] + _shares(shape, low.shape[1]) * (high - low)[:, None, None]


@cache
def _shares(shape: tuple[int, int], d: int) -> FloatArray:
    """Return how far each point (*shape, d) of a grid is from one corner to the other, 0 to 1."""
    rows, columns = np.meshgrid(*(np.linspace(0.0, 1.0, count) for count in shape), indexing="ij")
    return np.stack([rows, columns][:d], axis=-1)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The grid is the whole multiples of the voxel in the ball of reach; orientations are spread."""

import itertools
import math

import numpy as np
import pytest

from basis_ik.extras.reach_map import voxels
from basis_ik.extras.reach_map.voxels import Grid, GridError, ball_of, grid_around, orientations


def test_the_voxels_are_the_multiples_in_the_ball(robot):
    chain = robot("scara")
    middle, radius = ball_of(chain)
    grid = grid_around(chain, 0.25)
    found = {tuple(each) for each in grid.centres(grid.within(middle, radius)).tolist()}
    steps = [0.25 * i for i in range(-8, 9)]
    inside = {
        each for each in itertools.product(steps, repeat=3) if math.dist(each, middle) <= radius
    }
    assert found == inside
    assert len(inside) > 100
    assert grid.centres(np.array([0]))[0].tolist() == grid.origin.tolist()


def test_flat_indices_are_those_of_arrays():
    grid = Grid(0.5, (-1, 0, 2), (3, 4, 5))
    assert grid.centres(np.array([1 * 20 + 2 * 5 + 3])).tolist() == [[0.0, 1.0, 2.5]]


def test_no_configuration_leaves_the_ball(chain):
    middle, radius = ball_of(chain)
    rng = np.random.default_rng(1)
    for _ in range(200):
        assert math.dist(chain.forward(chain.random(rng)).translation, middle) <= radius


def test_a_too_large_grid_is_refused_with_a_voxel_that_fits(robot):
    with pytest.raises(GridError, match="there may be 16777216: give --voxel") as refused:
        grid_around(robot("panda"), 0.001)
    least = float(str(refused.value).split("--voxel ")[1].split()[0])
    assert np.prod(grid_around(robot("panda"), least).shape) <= voxels.MOST_VOXELS
    with pytest.raises(GridError, match="too large"):
        grid_around(robot("panda"), 0.98 * least)
    with pytest.raises(GridError, match="too large"):
        grid_around(robot("panda"), 5e-324)


def test_a_voxel_larger_than_the_reach_is_refused(arm):
    chain = arm([("revolute", "0.5 0.5 0.5", "0 0 0", "0 0 1", -1, 1)], "0.1 0 0")
    with pytest.raises(
        GridError, match=r"--voxel 0.35 is more than the 0.1 m that .* are the units metres"
    ):
        grid_around(chain, 0.35)


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_orientations_are_rotations(count):
    found = orientations(count)
    assert found.shape == (count, 3, 3)
    assert not found.flags.writeable
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), np.tile(np.eye(3), (count, 1, 1)),
                               atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(np.linalg.det(found), 1.0, atol=1e-12)


def test_orientations_are_spread_more_evenly_than_random_ones():
    """The largest gap: the angle from any rotation to the nearest of 500."""
    rng = np.random.default_rng(2)

    def drawn(count):
        q = rng.normal(size=(count, 4))
        return q / np.linalg.norm(q, axis=1)[:, None]

    def as_quaternions(rotations):
        """By the eigenvector of K. Bar-Itzhack, independently of the package."""
        found = []
        for (a, b, c), (d, e, f), (g, h, i) in rotations:
            k = [[a - e - i, d + b, g + c, h - f], [d + b, e - a - i, h + f, c - g],
                 [g + c, h + f, i - a - e, d - b], [h - f, c - g, d - b, a + e + i]]  # fmt: skip
            found.append(np.linalg.eigh(np.array(k) / 3.0)[1][:, -1])
        return np.array(found)

    def gap(of):
        return float(np.arccos(np.clip(np.abs(tried @ of.T).max(axis=1), 0, 1)).max())

    tried = drawn(20_000)
    spread, random = gap(as_quaternions(orientations(500))), gap(drawn(500))
    assert spread < 0.75 * random
    assert 2 * spread < math.radians(35)


def test_the_constant_of_the_spirals_solves_its_equation():
    a, b = (orientations(2)[i] for i in range(2))
    psi = 1.533751168755204
    assert abs(psi**4 - psi - 4) < 1e-13
    s = 0.5
    inner, outer = math.sqrt(s / 2), math.sqrt(1 - s / 2)
    x, y = (
        inner * math.sin(math.tau * s / math.sqrt(2)),
        inner * math.cos(math.tau * s / math.sqrt(2)),
    )
    z, w = outer * math.sin(math.tau * s / psi), outer * math.cos(math.tau * s / psi)
    np.testing.assert_allclose(a[2, 2], 1 - 2 * (x * x + y * y), atol=1e-12)
    np.testing.assert_allclose(a[0, 1], 2 * (x * y - z * w), atol=1e-12)
    assert not np.allclose(a, b)

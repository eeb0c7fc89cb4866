# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms with joints to spare: some of these on a grid, the other six joints in closed form."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from closed_arms import ROWS, chain_of, random_arm, turning
from hard_arms import ARMS

from basis_ik.closed_form.closed_form import QUICK_KERNELS
from basis_ik.closed_form.self_motion import GRID, sample_starts
from basis_ik.search.pose_constraint import PoseConstraint, narrow
from basis_ik.search.prepare import prepared

BOUND = 9.0  # no position is so far outside
ENDLESS = 10**9


@pytest.fixture(scope="module")
def named(robot):
    made = {name: chain_of(*given) for name, given in (ARMS | ROWS).items()}
    return lambda name: made[name] if name in made else robot(name)


def all_positions(ready, target, seed, grid):
    """Return all positions at the points (k, d) of a grid, and how far they are outside."""
    points = np.asarray(grid, float)[None, :, None, :]
    return ready.redundant.sample(ready.variables, target, seed, points, -1.0, BOUND, 0.0)


def off(chain, positions, target):
    """Return by how much each of some positions misses a target [m or rad]."""
    ends = [np.linalg.inv(target) @ chain.forward(q).matrix for q in positions]
    return np.array([np.abs(end - np.eye(4)).max() for end in ends])


@pytest.mark.parametrize(
    ("name", "fixed"),
    [("panda", [6]), ("iiwa", None), ("gen3", [0]), ("baxter", [0]), ("tiago", [0, 1])],
)
def test_which_joints_are_fixed(named, name, fixed):
    form = prepared(named(name)).redundant
    assert form.form.kernels is QUICK_KERNELS
    assert form.fixed.tolist() in ([fixed] if fixed else [[0], [6]])


@pytest.mark.parametrize("name", ["jaco", "ur10", "tiago_pro", "lift_arm"])
def test_other_arms_have_no_such_form(named, name):
    assert prepared(named(name)).redundant is None


@pytest.mark.parametrize("name", ["panda", "iiwa", "tiago"])
def test_all_positions_reach_the_target_and_the_given_one_is_among_them(named, name):
    chain, rng = named(name), np.random.default_rng(1)
    ready = prepared(chain)
    fixed = ready.redundant.fixed
    for _ in range(20):
        q = rng.uniform(chain.lower, chain.upper)
        target = chain.forward(q).matrix.copy()
        grid = np.vstack([q[fixed], rng.uniform(chain.lower, chain.upper)[fixed]])
        found, excess = all_positions(ready, target, q, grid)
        assert np.median(off(chain, found, target)) < 1e-9  # the others are beside an answer
        assert np.abs(found - q).max(axis=1).min() < 1e-6
        outside = np.maximum(chain.lower - found, found - chain.upper).max(axis=1)
        assert excess == pytest.approx(np.maximum(outside, 0.0))
        assert {tuple(row) for row in found[:, fixed]} <= {tuple(row) for row in grid}


def is_kept(number, every, excess, last, off):
    """Return whether no neighbour is less outside, and whether it may be inside beside its point.

    Args:
        number: Of a position.
        every: (k, 7) all of them.
        excess: (k,) by how much they are outside.
        last: (k,) number of the value of the last joint.
        off: See `sample`.
    """
    apart = every - every[number]
    near = (np.abs((apart + pi) % (2 * pi) - pi) <= 0.5).all(axis=1)
    near &= np.abs(last - last[number]) <= 1
    rank = np.lexsort((np.arange(len(every))[near], excess[near]))[0]
    if np.flatnonzero(near)[rank] != number:
        return False
    around = {n for n in (last[number] - 1, last[number] + 1) if 0 <= n <= last.max()}
    rises = excess[near].max() - excess[number]
    return not around <= {*last[near]} or excess[number] <= 4.0 * rises + off


@pytest.mark.parametrize("off", [0.0, 0.2])
def test_of_neighbours_the_one_least_outside_is_kept_if_limits_may_be_near(named, off):
    chain, rng = named("panda"), np.random.default_rng(2)
    ready, left_out = prepared(chain), 0
    for _ in range(10):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 7))
        target = chain.forward(q).matrix.copy()
        grid = np.linspace(chain.lower[6:], chain.upper[6:], 40)
        every, excess = all_positions(ready, target, seed, grid)
        kept, least = ready.redundant.sample(
            ready.variables, target, seed, grid[None, :, None, :], 0.5, BOUND, off
        )
        last = np.searchsorted(grid[:, 0], every[:, 6])
        wanted = [i for i in range(len(every)) if is_kept(i, every, excess, last, off)]
        left_out += sum(is_kept(i, every, excess, last, 9.0) for i in range(len(every)))
        left_out -= len(wanted)
        assert np.array_equal(kept, every[wanted])
        assert np.array_equal(least, excess[wanted])
    assert left_out > 0


def test_what_is_too_far_outside_is_left_out(named):
    chain, rng = named("panda"), np.random.default_rng(2)
    ready = prepared(chain)
    q, seed = rng.uniform(chain.lower, chain.upper, (2, 7))
    target = chain.forward(q).matrix.copy()
    grid = np.linspace(chain.lower[6:], chain.upper[6:], 40)
    every, excess = all_positions(ready, target, seed, grid)
    bound = float(np.median(excess))
    inside, _ = ready.redundant.sample(
        ready.variables, target, seed, grid[None, :, None, :], -1.0, bound, 0.0
    )
    assert np.array_equal(inside, every[excess <= bound])


def test_a_locked_joint_is_none_to_spare(named):
    lower, upper = np.full(8, -np.inf), np.full(8, np.inf)
    lower[0] = upper[0] = 0.2
    six = named("panda").within(lower[:7], upper[:7])
    assert prepared(six).redundant is None
    chain = named("tiago").within(lower, upper)
    ready, q = prepared(chain), np.array([0.2, 1.0, 0.5, -1.0, 1.2, 0.3, 0.4, 0.5])
    assert ready.redundant.fixed.tolist() == [1]
    target = chain.forward(q).matrix.copy()
    found, _ = all_positions(ready, target, ready.middle, [[1.0]])
    assert np.abs(found - q).max(axis=1).min() < 1e-6


def test_neither_a_part_of_a_pose_nor_three_joints_to_spare(named):
    rows, tip = random_arm("parallel_2_3", np.random.default_rng(3))
    more = [turning("0.1 0 0.1", "0 0 0", -pi, pi, axis) for axis in ("0 0 1", "0 1 0", "1 0 0")]
    assert prepared(chain_of([*rows, *more[:1]], tip)).redundant is not None
    assert prepared(chain_of([*rows, *more], tip)).redundant is None
    ready = prepared(named("panda"))
    assert narrow(ready, PoseConstraint()).redundant is ready.redundant
    for part in (
        PoseConstraint(orientation=False),
        PoseConstraint(free_axis=(0, 0, 1)),
        PoseConstraint(box=(0.1, 0, 0)),
        PoseConstraint(rotation_box=(0.1, 0, 0)),
    ):
        assert narrow(ready, part).redundant is None


@pytest.mark.parametrize("name", ["panda", "gen3", "tiago"])
def test_starts_are_within_the_limits_and_the_same_every_time(named, name):
    chain, rng = named(name), np.random.default_rng(4)
    ready = prepared(chain)
    low, high = np.maximum(chain.lower, -pi), np.minimum(chain.upper, pi)
    given = ready.redundant, ready.variables
    for _ in range(10):
        q, seed = rng.uniform(low, high, (2, len(low)))
        target = chain.forward(q).matrix.copy()
        every = list(sample_starts(*given, target, seed, ENDLESS))
        again = list(sample_starts(*given, target, seed, ENDLESS))
        assert 1 <= len(every) <= GRID.levels[len(given[0].fixed)]
        for (starts, points), (starts2, points2) in zip(every, again, strict=True):
            assert np.array_equal(starts, starts2)
            assert points == points2
            assert len(starts) <= GRID.kept
            assert (starts >= chain.lower).all()
            assert (starts <= chain.upper).all()


def test_a_grid_ends_where_there_is_no_hope_or_no_room(named):
    chain = named("panda")
    ready, far = prepared(chain), np.eye(4)
    far[2, 3] = 1.2
    seed = ready.middle
    (only,) = sample_starts(ready.redundant, ready.variables, far, seed, ENDLESS)
    assert len(only.starts) == 0
    near = chain.forward(chain.upper).matrix.copy()
    sizes = [
        each.points for each in sample_starts(ready.redundant, ready.variables, near, seed, ENDLESS)
    ]
    assert len(sizes) > 1
    for most, count in ((sizes[0] - 1, 0), (sizes[0], 1), (sum(sizes[:2]), 2)):
        some = list(sample_starts(ready.redundant, ready.variables, near, seed, most))
        assert len(some) == count


def test_a_grid_is_not_finer_than_the_arm_is_off_its_form(named):
    chain, rng = named("baxter"), np.random.default_rng(6)
    ready = prepared(chain)
    form = ready.redundant.form
    span = np.ptp([chain.lower[0], chain.upper[0]]) / (GRID.values[1][0] - 1)
    while_coarser = 1
    while span > form.misfit:
        span, while_coarser = span / 4.0, while_coarser + 1
    assert while_coarser < GRID.levels[1]
    for _ in range(5):
        q, seed = rng.uniform(chain.lower, chain.upper, (2, 7))
        target = chain.forward(q).matrix.copy()
        grids = list(sample_starts(ready.redundant, ready.variables, target, seed, ENDLESS))
        assert len(grids) <= while_coarser

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths of joint positions get times that keep every limit, also between the samples."""

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of

from basis_ik.arm.limiter import WIDEST_SPACING, plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import PATH_TIMING_TUNING, time_path
from basis_ik.solvers.path.cartesian_path import follow, line
from basis_ik.transforms.checks import NotFiniteError, ShapeError
from basis_ik.transforms.rigid import RigidTransform

# For two joints of the same limits: lower, upper, velocity, acceleration, jerk.
TWO = np.array([[-9.0] * 2, [9.0] * 2, [2.0] * 2, [8.0] * 2, [160.0] * 2])
HERMITE = np.linalg.inv(
    [
        [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
        [1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20],
    ]
)  # fmt: skip


def at_10_khz(motion):
    """Return positions, velocities, accelerations and jerks of quintics, shape (4, t, n)."""
    found = []
    for k in range(len(motion.times) - 1):
        width = motion.times[k + 1] - motion.times[k]
        scale = np.array([1.0, width, width**2])[:, np.newaxis]
        ends = [np.stack([part[i] for part in motion[1:]]) * scale for i in (k, k + 1)]
        powers = HERMITE @ np.concatenate(ends)
        s = np.append(np.arange(0.0, width, 1e-4), width) / width
        states = []
        for order in range(4):
            states.append(np.polynomial.polynomial.polyval(s, powers).T / width**order)
            powers = np.arange(1, len(powers))[:, np.newaxis] * powers[1:]
        found.append(np.array(states))
    return np.concatenate(found, axis=1)


def used(motion, limits):
    """Return the largest part of the limits of velocity, acceleration and jerk that is used."""
    return (np.abs(at_10_khz(motion)[1:]) / limits[2:, np.newaxis]).max(axis=(1, 2))


def check(motion, rows, limits):
    """Check everything that holds for every path."""
    assert (np.diff(motion.times) > 0.0).all()
    assert motion.times[0] == 0.0
    np.testing.assert_array_equal(motion.positions[[0, -1]], rows[[0, -1]])
    for states in motion[2:]:
        np.testing.assert_array_equal(states[[0, -1]], 0.0)
    parts = used(motion, limits)
    assert parts.max() <= 1.01
    assert parts.max() >= 0.97  # it is not slower than it has to be


def limits_of(chain):
    return MotionLimits.of_chain(chain).scaled(1.0, 1.0, 1.0)


@pytest.mark.parametrize("distance", [0.02, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("arm", HOMES)
def test_a_straight_way_is_not_much_slower_than_the_fastest_motion(arm, distance):
    chain = chain_of(arm)
    limits = limits_of(chain)
    way = np.random.default_rng(4).normal(size=len(chain.joint_names))
    rows = HOMES[arm] + np.linspace(0.0, distance, 30)[:, np.newaxis] * way
    motion = time_path(rows, limits)
    check(motion, rows, limits)
    along = (motion.positions - rows[0]) @ way / (way @ way)
    np.testing.assert_allclose(motion.positions, rows[0] + np.outer(along, way), atol=1e-12)
    fastest = plan_motion(limits, rows[0], rows[-1], 0.01).times[-1]
    assert 1.0 - 1e-6 <= motion.times[-1] / fastest < 1.3


def test_all_limits_hold_on_a_way_that_is_hardly_one():
    rows = np.linspace(1.0, 1.0 + 1e-6, 30)[:, np.newaxis] * np.ones(2)
    check(time_path(rows, TWO), rows, TWO)


@pytest.mark.parametrize("seed", range(20))
def test_all_limits_hold_on_curves(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 8))
    velocity = 10.0 ** draw.uniform(-1.0, 0.7, n)
    acceleration = velocity * 10.0 ** draw.uniform(-0.3, 1.3, n)
    limits = np.array(
        [[-9.0] * n, [9.0] * n, velocity, acceleration, acceleration * 10 ** draw.uniform(0, 2, n)]
    )
    s = np.linspace(0.0, 1.0, int(draw.integers(20, 300)))[:, np.newaxis]
    waves = [draw.normal(size=n) * np.sin(draw.uniform(1.0, 9.0, n) * s) for _ in range(3)]
    rows = np.sum(waves, axis=0)
    check(time_path(rows, limits), rows, limits)


def line_of(arm, shift):
    chain = chain_of(arm)
    start = chain.forward(HOMES[arm])
    end = RigidTransform.from_rotation_translation(start.rotation, start.translation + shift)
    path = follow(chain, line(start, end, step=0.01), HOMES[arm])
    assert path.success
    return chain, start, path.positions


@pytest.mark.parametrize("arm", HOMES)
def test_the_tip_stays_on_a_line_of_poses_between_them(arm):
    chain, start, rows = line_of(arm, [-0.05, 0.1, -0.1])
    limits = limits_of(chain)
    motion = time_path(rows, limits)
    check(motion, rows, limits)
    way = chain.forward(rows[-1]).translation - start.translation
    for q in at_10_khz(motion)[0, ::20]:
        shift = chain.forward(q).translation - start.translation
        assert np.linalg.norm(shift - (shift @ way) / (way @ way) * way) < 1e-5


def corner(angle, legs=(1.0, 1.0)):
    """Rows on two straight legs in the plane of two joints."""
    s = np.linspace(0.0, 1.0, 21)[:, np.newaxis]
    turned = np.array([np.cos(angle), np.sin(angle)])
    first = s * legs[0] * np.array([1.0, 0.0])
    return np.concatenate([first, first[-1] + s[1:] * legs[1] * turned])


@pytest.mark.parametrize("angle", [PATH_TIMING_TUNING.corner + 1e-3, 1.5, np.pi])
def test_the_arm_rests_at_a_corner(angle):
    rows = corner(angle, (0.6, 1.0))
    motion = time_path(rows, TWO)
    check(motion, rows, TWO)
    first, second = time_path(rows[:21], TWO), time_path(rows[20:], TWO)
    assert motion.times[-1] == pytest.approx(first.times[-1] + second.times[-1], rel=0.02)
    (rest,) = np.flatnonzero(~motion.velocities[1:-1].any(axis=1)) + 1
    np.testing.assert_array_equal(motion.positions[rest], rows[20])
    assert not motion.accelerations[rest].any()
    # Neither leg is left.
    off = at_10_khz(motion)[0] - rows[20]
    assert np.abs(off[off[:, 0] < -0.01, 1]).max() < 1e-9


def test_a_bend_that_is_no_corner_is_passed_without_a_rest():
    rows = corner(PATH_TIMING_TUNING.corner - 1e-3)
    motion = time_path(rows, TWO)
    check(motion, rows, TWO)
    assert motion.velocities[1:-1].any(axis=1).all()
    assert np.linalg.norm(motion.positions - rows[20], axis=1).min() < 0.05


def test_the_rest_of_the_way_is_as_fast_as_without_a_bend():
    rows = corner(PATH_TIMING_TUNING.corner - 1e-3, (4.0, 4.0))
    straight = plan_motion(TWO, np.zeros(2), np.array([8.0, 0.0]), 0.01).times[-1]
    assert time_path(rows, TWO).times[-1] < 1.15 * straight


S = np.linspace(0.0, 2.0, 40)
ANGLES = np.linspace(0.0, 6.0, 200)
BENT = {
    "one bend": (corner(PATH_TIMING_TUNING.corner - 1e-3), 1.55),
    "waves": (np.column_stack([np.sin(2.0 * S), np.cos(3.0 * S)]), 4.21),
    "many waves": (np.column_stack([np.sin(ANGLES), 0.2 * np.sin(8.0 * ANGLES)]), 17.4),
}


@pytest.mark.parametrize("name", BENT)
def test_a_way_is_slowed_down_where_it_bends_and_not_elsewhere(name):
    """The bounds [s] are what is reached now; without a part of the search it takes longer."""
    rows, longest = BENT[name]
    motion = time_path(rows, TWO)
    check(motion, rows, TWO)
    assert motion.times[-1] < longest


def test_the_curve_passes_every_row():
    s = np.linspace(0.0, 2.0, 40)
    rows = np.column_stack([np.sin(2.0 * s), np.cos(3.0 * s)])
    curve = at_10_khz(time_path(rows, TWO))[0]
    for row in rows:
        assert np.linalg.norm(curve - row, axis=1).min() < 3e-4  # as far as it goes in 0.1 ms


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_way_may_have_few_rows(count):
    rows = np.linspace(0.0, 0.5, count)[:, np.newaxis] * np.array([1.0, -0.5])
    check(time_path(rows, TWO), rows, TWO)


def test_rows_that_repeat_change_nothing():
    rows = corner(1.0)
    again = np.repeat(rows, 3, axis=0)
    again[-1] += 1e-10  # nearer to the last but one than what counts; the motion ends there
    motion, plain = time_path(again, TWO), time_path(rows, TWO)
    check(motion, again, TWO)
    np.testing.assert_allclose(motion.times, plain.times, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 5])
def test_a_way_that_goes_nowhere_is_one_sample(count):
    motion = time_path(np.full((count, 2), 0.3), TWO)
    assert motion.times.tolist() == [0.0]
    assert motion.positions.tolist() == [[0.3, 0.3]]
    assert not np.any(motion[2:])


def test_samples_are_as_close_as_a_controller_needs_them():
    motion = time_path(corner(0.0, (4.0, 4.0)), TWO)
    assert 0.5 * WIDEST_SPACING < np.diff(motion.times).max() < 1.5 * WIDEST_SPACING


def test_the_same_rows_give_the_same_bits():
    _, _, rows = line_of("ur5e", [-0.05, 0.1, -0.1])
    limits = limits_of(chain_of("ur5e"))
    for one, other in zip(time_path(rows, limits), time_path(rows.copy(), limits), strict=True):
        assert one.tobytes() == other.tobytes()


def test_bad_rows_are_refused():
    with pytest.raises(NotFiniteError):
        time_path(np.array([[0.0, 0.0], [np.nan, 0.0]]), TWO)
    with pytest.raises(ShapeError):
        time_path(np.zeros((3, 3)), TWO)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rigid kernels alone; run also without the compiler and with bounds checking."""

import math

import numpy as np
import pytest

from basis_ik.transforms import rigid_kernel as rigid


def random_rigid(rng: np.random.Generator) -> np.ndarray:
    m = np.empty((4, 4))
    rigid.exp(rng.uniform(-3.0, 3.0, 6), m)
    return m


@pytest.mark.parametrize("seed", range(20))
def test_invert_undoes(seed: int) -> None:
    m, out = random_rigid(np.random.default_rng(seed)), np.full((4, 4), math.nan)
    rigid.invert(m, out)
    np.testing.assert_allclose(out @ m, np.eye(4), rtol=0, atol=1e-13)


def test_inverse_of_the_identity_has_no_negative_zero() -> None:
    out = np.full((4, 4), math.nan)
    rigid.invert(np.eye(4), out)
    assert (out == np.eye(4)).all()
    assert not np.signbit(out).any()


@pytest.mark.parametrize("seed", range(20))
def test_apply_is_the_homogeneous_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, points = random_rigid(rng), rng.normal(size=(7, 3))
    for w in (0.0, 1.0):
        expected = (m @ np.vstack([points.T, np.full(7, w)]))[:3].T
        batch, single = points.copy(), points[0].copy()
        rigid.apply_points(m, batch, w)
        rigid.apply_point(m, single, w)
        np.testing.assert_allclose(batch, expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(single, expected[0], rtol=0, atol=1e-14)


def test_apply_to_no_points() -> None:
    rigid.apply_points(np.eye(4), np.empty((0, 3)), 1.0)


@pytest.mark.parametrize("angle", [0.0, 1e-170, 1e-9, 1e-4, 0.0999999, 0.1000001, 1.0, 3.1415926])
def test_log_undoes_exp_in_every_branch(angle: float) -> None:
    rng = np.random.default_rng(0)
    m, log = np.empty((4, 4)), np.empty(6)
    for axis in [*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))]:
        twist = np.concatenate([rng.normal(size=3), axis / np.linalg.norm(axis) * angle])
        rigid.exp(twist, m)
        rigid.log(m, log)
        np.testing.assert_allclose(log, twist, rtol=0, atol=1e-15 * 8 + 4e-15 / (math.pi - angle))


def test_exp_is_continuous_where_its_series_takes_over() -> None:
    below, above = np.empty((4, 4)), np.empty((4, 4))
    rigid.exp(np.array([1.0, 2, 3, 0.1 - 1e-15, 0, 0]), below)
    rigid.exp(np.array([1.0, 2, 3, 0.1 + 1e-15, 0, 0]), above)
    np.testing.assert_allclose(below, above, rtol=0, atol=1e-14)


def test_rotation_vector_near_zero_and_pi_keeps_its_digits() -> None:
    m, out = np.empty((4, 4)), np.empty(3)
    for angle in (1e-12, 1e-8, math.pi - 1e-8, math.pi - 1e-12):
        rigid.exp(np.array([0, 0, 0, 0, angle, 0]), m)
        assert abs(rigid.rotation_vector(m, out) - angle) < 1e-15
        np.testing.assert_allclose(out, (0, angle, 0), rtol=0, atol=1e-15)


def test_rotation_vector_of_a_half_turn_has_a_positive_axis() -> None:
    out = np.empty(3)
    for axis in np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.6, -0.8], [0.48, 0.6, -0.64]]):
        half_turn = 2.0 * np.outer(axis, axis) - np.eye(3)
        assert rigid.rotation_vector(half_turn, out) == math.pi
        np.testing.assert_allclose(out, math.pi * axis, rtol=0, atol=1e-15)


def test_rpy_matches_three_exponentials() -> None:
    out, factors = np.empty((4, 4)), []
    for i, angle in ((5, 0.3), (4, -1.1), (3, 2.0)):
        factor, twist = np.empty((4, 4)), np.zeros(6)
        twist[i] = angle
        rigid.exp(twist, factor)
        factors.append(factor[:3, :3])
    rigid.from_rpy(2.0, -1.1, 0.3, out)
    np.testing.assert_allclose(out[:3, :3], factors[0] @ factors[1] @ factors[2], atol=1e-15)


def test_rotation_defect_is_the_largest_deviation() -> None:
    assert rigid.rotation_defect(np.eye(4)) == 0.0
    m = np.eye(4)
    m[0, 1] = 0.25
    assert rigid.rotation_defect(m) == 0.25
    m = np.diag([1.0, 1.0, 1.5, 1.0])
    assert rigid.rotation_defect(m) == 1.25


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, without the compiler
def test_rotation_defect_is_infinite_for_reflections_and_what_is_not_finite() -> None:
    assert rigid.rotation_defect(np.diag([1.0, -1.0, 1.0, 1.0])) == math.inf
    assert rigid.rotation_defect(np.zeros((4, 4))) == math.inf
    for bad in (math.nan, math.inf, -math.inf):
        for i in range(3):
            for j in range(4):
                m = np.eye(4)
                m[i, j] = bad
                assert rigid.rotation_defect(m) == math.inf

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Polar and eigen-decomposition, and the canonical form of a stretch, on bare arrays."""

import math

import numpy as np
import pytest
from from_python import from_python

from basis_ik.transforms.rigid_kernel import exp
from basis_ik.transforms.stretch_kernel import canonicalise, decompose

canonicalise = from_python(canonicalise)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    m = np.empty((4, 4))
    exp(np.concatenate([np.zeros(3), rng.uniform(-2, 2, 3)]), m)
    return m[:3, :3].copy()


def decomposed(m: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    R, S, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    return decompose(m, R, S, V), R, S, V


def assert_rotation(r: np.ndarray) -> None:
    np.testing.assert_allclose(r.T @ r, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(r) > 0.0


@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-9, 1e-3, 1.0, 5.0, 12.0])
def test_decompose_gives_back_the_matrix_and_agrees_with_numpy(spread: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        factors = np.exp(rng.uniform(-spread, spread, 3)) * 10.0 ** rng.integers(-250, 250)
        m = random_rotation(rng) @ np.diag(factors) @ random_rotation(rng)
        smallest, R, S, V = decomposed(m)
        assert_rotation(R)
        assert_rotation(V)
        assert S.min() > 0.0
        np.testing.assert_allclose(R @ V @ np.diag(S) @ V.T, m, rtol=0, atol=3e-15 * S.max())
        singular = np.linalg.svd(m, compute_uv=False)
        np.testing.assert_allclose(np.sort(S)[::-1], singular, rtol=0, atol=3e-15 * S.max())
        assert abs(smallest - singular[2] / singular[0]) < 3e-15


def test_decompose_keeps_small_factors_along_the_axes() -> None:
    smallest, _, S, V = decomposed(np.diag([1e-100, 1.0, 1e100]))
    assert (S == [1e-100, 1.0, 1e100]).all()
    assert (np.eye(3) == V).all()
    assert smallest == pytest.approx(1e-200)


@pytest.mark.parametrize(
    "m",
    [np.zeros((3, 3)), np.diag([1.0, 0, 0]), np.diag([0.0, 1, 1]), np.ones((3, 3))],
)
def test_singular_matrices_show_no_smallest_factor(m: np.ndarray) -> None:
    assert abs(decomposed(m)[0]) < 1e-15


def test_reflecting_matrices_show_a_negative_factor_and_still_give_rotations() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        m = random_rotation(rng) @ np.diag([3.0, -0.5, 2.0]) @ random_rotation(rng)
        smallest, R, _, V = decomposed(m)
        assert smallest == pytest.approx(-0.5 / 3.0)
        assert_rotation(R)
        assert_rotation(V)


@pytest.mark.parametrize(
    "lost", [(1e-3, 1e-18), (1e-17, 1e-18), (0.0, 0.0), (1e-300, 1e-300), (1e-160, 1e-155)]
)
def test_factors_lost_in_rounding_become_small_and_positive(lost: tuple[float, float]) -> None:
    rng = np.random.default_rng(2)
    for turned in (False, True):
        for _ in range(100):
            m = np.diag([1.0, *lost])
            if turned:
                m = random_rotation(rng) @ m @ random_rotation(rng)
            _, R, S, V = decomposed(m)
            assert_rotation(R)
            assert_rotation(V)
            assert 0.0 < S.min() < 1e-15
            np.testing.assert_allclose(R @ V @ np.diag(S) @ V.T, m, rtol=0, atol=3e-15)


def test_canonicalise_keeps_the_stretch_and_is_idempotent() -> None:
    rng = np.random.default_rng(3)
    for scale in (
        [1.0, 2, 3],
        [3.0, 1, 1],
        [1.0, 3, 1],
        [1.0, 1, 3],
        [2.0, 2, 2],
        [1, 1 + 1e-13, 5],
    ):
        for _ in range(20):
            S, V = np.array(scale, float), random_rotation(rng)
            stretch = V @ np.diag(S) @ V.T
            canonicalise(S, V)
            assert_rotation(V)
            np.testing.assert_allclose(V @ np.diag(S) @ V.T, stretch, rtol=0, atol=5e-12)
            again_S, again_V = S.copy(), V.copy()
            canonicalise(again_S, again_V)
            assert (again_S == S).all()
            assert (again_V == V).all()


def test_factors_equal_to_rounding_are_equal() -> None:
    rng = np.random.default_rng(4)
    for off in (-1e-13, 1e-13):
        S, V = np.array([2.0, 2.0 + off, 2.0 - off]), random_rotation(rng)
        canonicalise(S, V)
        assert S[0] == S[1] == S[2]
        assert (np.eye(3) == V).all()
        S, V = np.array([1.0, 1.0 + off, 3.0]), np.eye(3)
        V[:2, :2] = [[0.8, -0.6], [0.6, 0.8]]
        canonicalise(S, V)
        assert S[0] == S[1]
        assert (np.eye(3) == V).all()


def test_ties_go_to_the_larger_factor_first() -> None:
    half = math.sqrt(0.5)
    left = np.array([[half, -half, 0], [half, half, 0], [0, 0, 1]])
    for V, scale in ((left.copy(), [1.0, 5.0, 3.0]), (left.T.copy(), [5.0, 1.0, 3.0])):
        S = np.array(scale)
        canonicalise(S, V)
        assert S.tolist() == [5.0, 1.0, 3.0]
        np.testing.assert_allclose(V, left.T, rtol=0, atol=1e-15)
    for n in ([1, 1, 0], [-1, -1, 0]):  # a uniaxial stretch as near to x as to y
        V = np.empty((3, 3))
        V[:, 2] = np.array(n) * half
        V[:, 0] = (0, 0, 1)
        V[:, 1] = np.cross(V[:, 2], V[:, 0])
        S = np.array([1.0, 1.0, 2.0])
        canonicalise(S, V)
        assert S.tolist() == [2.0, 1.0, 1.0]
        np.testing.assert_allclose(V[:, 0], (half, half, 0), rtol=0, atol=1e-15)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Symmetric systems, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from from_python import from_python

from basis_ik.numerics.normal_equations_kernel import factor_symmetric, solve_symmetric

factor_symmetric, solve_symmetric = from_python(factor_symmetric), from_python(solve_symmetric)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_a_symmetric_system_of_any_size_is_solved(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        a, b = rng.normal(size=(n, n)), rng.normal(size=n)
        a = a @ a.T + 0.1 * np.eye(n)
        x = b.copy()
        solve_symmetric(np.tril(a), x)
        np.testing.assert_allclose(a @ x, b, atol=1e-9)


def test_a_singular_system_has_a_finite_answer():
    x = np.array([1.0, 1.0])
    solve_symmetric(np.ones((2, 2)), x)
    assert np.isfinite(x).all()


def test_a_factor_tells_whether_the_matrix_is_positive_definite_enough():
    a = np.array([[4.0, 0.0], [2.0, 3.0]])
    factor = a.copy()
    assert factor_symmetric(factor, 1.9)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(a + np.tril(a, -1).T))
    assert not factor_symmetric(a, 2.1)  # the second pivot is 2
    assert a[1, 1] == np.sqrt(2.1)

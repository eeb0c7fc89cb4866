# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Symmetric systems of damped least-squares steps: of six rows without arrays, and of any size."""

from __future__ import annotations

from math import sqrt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined

Six = tuple[float, float, float, float, float, float]
Triangle = tuple[
    float, float, float, float, float, float, float, float, float, float, float,
    float, float, float, float, float, float, float, float, float, float,
]  # fmt: skip
"""The lower triangle of a symmetric matrix (6, 6), by rows."""


@inlined
def diagonal_6(d: float) -> Triangle:
    """Return a multiple of the identity matrix."""
    return (
        d,
        0.0, d,
        0.0, 0.0, d,
        0.0, 0.0, 0.0, d,
        0.0, 0.0, 0.0, 0.0, d,
        0.0, 0.0, 0.0, 0.0, 0.0, d,
    )  # fmt: skip


@inlined
def with_column_6(a: Triangle, j: Six) -> Triangle:
    """Return A + j jᵀ."""
    j0, j1, j2, j3, j4, j5 = j
    return (
        a[0] + j0 * j0,
        a[1] + j1 * j0, a[2] + j1 * j1,
        a[3] + j2 * j0, a[4] + j2 * j1, a[5] + j2 * j2,
        a[6] + j3 * j0, a[7] + j3 * j1, a[8] + j3 * j2, a[9] + j3 * j3,
        a[10] + j4 * j0, a[11] + j4 * j1, a[12] + j4 * j2, a[13] + j4 * j3, a[14] + j4 * j4,
        a[15] + j5 * j0, a[16] + j5 * j1, a[17] + j5 * j2, a[18] + j5 * j3, a[19] + j5 * j4,
        a[20] + j5 * j5,
    )  # fmt: skip


@helper
def solve_symmetric_6(a: Triangle, b: Six) -> Six:
    """Solve A x = b for a symmetric positive definite A given by its lower triangle.

    L D Lᵀ without square roots (Golub and Van Loan 2013, section 4.1.3), written out: as scalars
    the 27 numbers live in registers, as arrays every step would store and reload them.
    """
    (
        a00,
        a10, a11,
        a20, a21, a22,
        a30, a31, a32, a33,
        a40, a41, a42, a43, a44,
        a50, a51, a52, a53, a54, a55,
    ) = a  # fmt: skip
    b0, b1, b2, b3, b4, b5 = b
    d0 = 1.0 / a00
    l10, l20, l30, l40, l50 = a10 * d0, a20 * d0, a30 * d0, a40 * d0, a50 * d0
    a11 -= l10 * a10
    a21 -= l20 * a10
    a31 -= l30 * a10
    a41 -= l40 * a10
    a51 -= l50 * a10
    a22 -= l20 * a20
    a32 -= l30 * a20
    a42 -= l40 * a20
    a52 -= l50 * a20
    a33 -= l30 * a30
    a43 -= l40 * a30
    a53 -= l50 * a30
    a44 -= l40 * a40
    a54 -= l50 * a40
    a55 -= l50 * a50
    d1 = 1.0 / a11
    l21, l31, l41, l51 = a21 * d1, a31 * d1, a41 * d1, a51 * d1
    a22 -= l21 * a21
    a32 -= l31 * a21
    a42 -= l41 * a21
    a52 -= l51 * a21
    a33 -= l31 * a31
    a43 -= l41 * a31
    a53 -= l51 * a31
    a44 -= l41 * a41
    a54 -= l51 * a41
    a55 -= l51 * a51
    d2 = 1.0 / a22
    l32, l42, l52 = a32 * d2, a42 * d2, a52 * d2
    a33 -= l32 * a32
    a43 -= l42 * a32
    a53 -= l52 * a32
    a44 -= l42 * a42
    a54 -= l52 * a42
    a55 -= l52 * a52
    d3 = 1.0 / a33
    l43, l53 = a43 * d3, a53 * d3
    a44 -= l43 * a43
    a54 -= l53 * a43
    a55 -= l53 * a53
    d4 = 1.0 / a44
    l54 = a54 * d4
    a55 -= l54 * a54
    b1 -= l10 * b0
    b2 -= l20 * b0 + l21 * b1
    b3 -= l30 * b0 + l31 * b1 + l32 * b2
    b4 -= l40 * b0 + l41 * b1 + l42 * b2 + l43 * b3
    b5 -= l50 * b0 + l51 * b1 + l52 * b2 + l53 * b3 + l54 * b4
    x5 = b5 / a55
    x4 = b4 * d4 - l54 * x5
    x3 = b3 * d3 - l43 * x4 - l53 * x5
    x2 = b2 * d2 - l32 * x3 - l42 * x4 - l52 * x5
    x1 = b1 * d1 - l21 * x2 - l31 * x3 - l41 * x4 - l51 * x5
    x0 = b0 * d0 - l10 * x1 - l20 * x2 - l30 * x3 - l40 * x4 - l50 * x5
    return x0, x1, x2, x3, x4, x5


@helper
def solve_symmetric(a: FloatArray, x: FloatArray) -> None:
    """Replace x (n,) by A⁻¹ x for a symmetric positive definite A, by Cholesky's factors.

    Args:
        a: (n, n), of which the lower triangle counts; overwritten with its factor.
        x: The right-hand side, and result.
    """
    factor_symmetric(a, 1e-300)
    solve_lower(a, x)
    solve_upper(a, x)


@helper
def factor_symmetric(a: FloatArray, least: float) -> bool:
    """Replace a symmetric matrix (n, n) by its Cholesky factor, in the lower triangle.

    Args:
        a: Its lower triangle counts.
        least: The squares on the factor's diagonal are raised to this.

    Returns:
        Whether none was less.
    """
    sound = True
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if j < i:
                a[i, j] = total / a[j, j]
            else:
                sound = sound and total > least
                a[i, i] = sqrt(max(total, least))
    return sound


@helper
def solve_lower(factor: FloatArray, x: FloatArray) -> None:
    """Replace x (n,) by L⁻¹ x, with a factor of `factor_symmetric`."""
    for i in range(x.shape[0]):
        total = x[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]


@helper
def solve_upper(factor: FloatArray, x: FloatArray) -> None:
    """Replace x (n,) by L⁻ᵀ x, with a factor of `factor_symmetric`."""
    for i in range(x.shape[0] - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, x.shape[0]):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Polar and eigen-decomposition of 3×3 matrices: rotation times stretch along three axes.

The code is written element by element, because array expressions compile several times slower.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.transforms.directions_kernel import perpendicular, rotation_between

# Scale factors this close, relative to the larger, count as equal: their axes are rounding noise.
_EQUAL_FACTORS = 1e-12
# Candidates of the canonical form this close are a tie, which a fixed order decides.
_CANDIDATE_TIE = 1e-9
_EPSILON = 2.220446049250313e-16
# Shorter columns, of a matrix whose largest element is 1, have squares out of range.
_SHORTEST_COLUMN = 1e-150
_JACOBI_SWEEPS = 30  # Jacobi's method converges quadratically: six are usual


@helper
def _dot(m: FloatArray, p: int, q: int) -> float:
    """Return the product of two columns."""
    return float(m[0, p] * m[0, q] + m[1, p] * m[1, q] + m[2, p] * m[2, q])


@helper
def _turn_columns(m: FloatArray, p: int, q: int, c: float, s: float) -> None:
    for i in range(3):
        x, y = m[i, p], m[i, q]
        m[i, p] = c * x - s * y
        m[i, q] = s * x + c * y


@helper
def _orthogonalise(columns: FloatArray, v: FloatArray) -> None:
    """Rotate pairs of columns until all three are perpendicular (Hestenes 1958)."""
    for _ in range(_JACOBI_SWEEPS):
        turned = False
        for pair in range(3):
            p, q = pair // 2, 1 + (pair + 1) // 2  # (0, 1), (0, 2), (1, 2)
            alpha, beta, gamma = _dot(columns, p, p), _dot(columns, q, q), _dot(columns, p, q)
            if abs(gamma) > _EPSILON * math.sqrt(alpha) * math.sqrt(beta):
                turned = True
                zeta = 0.5 * (beta - alpha) / gamma
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                _turn_columns(columns, p, q, c, c * t)
                _turn_columns(v, p, q, c, c * t)
        if not turned:
            return


@helper
def _set_identity(m: FloatArray) -> None:
    for i in range(3):
        for j in range(3):
            m[i, j] = 1.0 if i == j else 0.0


@helper
def _make_unit_columns(w: FloatArray, scale: FloatArray) -> float:
    """Split perpendicular columns into lengths and a rotation; see `decompose`."""
    for k in range(3):
        scale[k] = math.sqrt(_dot(w, k, k))
    k = 0
    for i in range(1, 3):
        if scale[i] < scale[k]:
            k = i
    i, j = (k + 1) % 3, (k + 2) % 3
    first, second = (i, j) if scale[i] >= scale[j] else (j, i)
    biggest = scale[first]
    unit, aside = np.empty(3), np.empty(3)
    for row in range(3):
        w[row, first] /= biggest
        unit[row] = w[row, first]
    if scale[second] > _SHORTEST_COLUMN:
        for row in range(3):
            w[row, second] /= scale[second]
    else:  # rank one: the second direction is free
        perpendicular(unit, aside)
        for row in range(3):
            w[row, second] = aside[row]
        scale[second] = _EPSILON * biggest
    x = w[1, i] * w[2, j] - w[2, i] * w[1, j]
    y = w[2, i] * w[0, j] - w[0, i] * w[2, j]
    z = w[0, i] * w[1, j] - w[1, i] * w[0, j]
    smallest: float = (x * w[0, k] + y * w[1, k] + z * w[2, k]) / biggest
    w[0, k], w[1, k], w[2, k] = x, y, z
    scale[k] = (abs(smallest) if smallest != 0.0 else _EPSILON) * biggest
    return smallest


@jit
def decompose(
    m: FloatArray, rotation: FloatArray, scale: FloatArray, orientation: FloatArray
) -> float:
    """Write M as R·(SR·diag(S)·SRᵀ): a rotation after a stretch.

    One-sided Jacobi rotations make the columns of M·V perpendicular, M V = W diag(S); then R = W Vᵀ
    and SR = V. Both are rotations by construction. If rounding has lost the smallest factor or its
    sign, that factor is positive and of the size of the rounding.

    Args:
        m: Matrix, shape (3, 3), finite, with determinant above zero.
        rotation: Filled with R, shape (3, 3).
        scale: Filled with S, shape (3,), above zero; in no particular order.
        orientation: Filled with SR, shape (3, 3); not canonical.

    Returns:
        The actual smallest factor of `m`, relative to the largest: about zero if `m` is singular,
        below zero if it reflects.
    """
    _set_identity(orientation)
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(m[i, j]))
    if largest == 0.0:
        _set_identity(rotation)
        scale[0] = scale[1] = scale[2] = 0.0
        return 0.0
    w = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            w[i, j] = m[i, j] / largest
    _orthogonalise(w, orientation)
    smallest = _make_unit_columns(w, scale)
    for i in range(3):
        scale[i] *= largest
        for j in range(3):
            rotation[i, j] = (
                w[i, 0] * orientation[j, 0]
                + w[i, 1] * orientation[j, 1]
                + w[i, 2] * orientation[j, 2]
            )
    return smallest


@helper
def _same(a: float, b: float) -> bool:
    return abs(a - b) <= _EQUAL_FACTORS * max(a, b)


@helper
def _turn_axis_to_column(scale: FloatArray, orientation: FloatArray, k: int) -> None:
    """Canonicalise a stretch along column `k`, with the other two scale factors equal."""
    along, across = scale[k], max(scale[(k + 1) % 3], scale[(k + 2) % 3])
    n, axis = np.empty(3), np.zeros(3)
    for i in range(3):
        n[i] = orientation[i, k]
    largest = max(abs(n[0]), abs(n[1]), abs(n[2]))
    m = 0
    while abs(n[m]) < largest - _CANDIDATE_TIE:
        m += 1
    sign = -1.0 if n[m] < 0.0 else 1.0
    for i in range(3):
        n[i] *= sign
        scale[i] = along if i == m else across
    axis[m] = 1.0
    rotation_between(axis, n, n, orientation)
    for i in range(3):  # bit for bit, so that a canonical form is its own canonical form
        orientation[i, m] = n[i]


@helper
def _choose_signed_permutation(scale: FloatArray, orientation: FloatArray) -> None:
    """Canonicalise a stretch with three different factors."""
    a, b, c = (
        0,
        1,
        2,
    )  # columns in a fixed order first, larger factors first, so that ties fall alike
    if scale[a] < scale[b]:
        a, b = b, a
    if scale[b] < scale[c]:
        b, c = c, b
    if scale[a] < scale[b]:
        a, b = b, a
    ordered = (a, b, c)
    best, first, second = 0.0, a, b
    for i in ordered:
        for j in ordered:
            if i != j:
                k = 3 - i - j
                trace = abs(orientation[0, i]) + abs(orientation[1, j]) + abs(orientation[2, k])
                if trace > best + _CANDIDATE_TIE:
                    best, first, second = trace, i, j
    chosen = (first, second, 3 - first - second)
    axes, factors = orientation.copy(), scale.copy()
    for k in range(3):
        scale[k] = factors[chosen[k]]
        sign = 1.0 if axes[k, chosen[k]] >= 0.0 else -1.0
        for row in range(3):
            orientation[row, k] = sign * axes[row, chosen[k]] + 0.0  # no negative zeros


@helper
def canonicalise(scale: FloatArray, orientation: FloatArray) -> None:
    """Replace a scale orientation by the smallest rotation that gives the same stretch.

    SR·diag(S)·SRᵀ does not change if columns of SR change sign, change places together with their
    factors, or rotate in a plane of equal factors. Of all these frames the one with the largest
    trace is used; in a tie, the one with the larger factors first.

    Args:
        scale: Factors above zero, shape (3,); replaced in place.
        orientation: Rotation, shape (3, 3); replaced in place.
    """
    yz, zx, xy = _same(scale[1], scale[2]), _same(scale[2], scale[0]), _same(scale[0], scale[1])
    if int(yz) + int(zx) + int(xy) >= 2:
        scale[0] = scale[1] = scale[2] = max(scale[0], scale[1], scale[2])
        _set_identity(orientation)
    elif yz or zx or xy:
        _turn_axis_to_column(scale, orientation, 0 if yz else 1 if zx else 2)
    else:
        _choose_signed_permutation(scale, orientation)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The least change of a chain's bone directions that puts its tip at a given place.

Bones of unit directions g_i and lengths l_i are to end at T with Σ l_i |v_i − g_i|² as small as it
can be. Lagrange: v_i = (g_i + λ)/|g_i + λ| with one vector λ for all bones, and that λ is where

    F(λ) = Σ l_i |g_i + λ| − λ·T        (∇F = Σ l_i v_i − T)

is least. F is convex, with three unknowns whatever the length of the chain. One exception remains:
a bone with g_i + λ = 0 has no direction; the caller then bends the chain in another way.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.numerics.normal_equations_kernel import factor_symmetric, solve_lower, solve_upper

# Evaluations of F before giving up.
_LEAN_EVALUATIONS = 24
# |g_i + λ| below which a bone has lost its direction.
_VANISHED_DIRECTION = 1e-9
_ARMIJO = 1e-4


@helper
def slope(
    guides: FloatArray, x: float, y: float, z: float, chord: float, hessian: FloatArray
) -> tuple[float, float, float, float]:
    """Evaluate F, its gradient and its Hessian at λ = (x, y, z), for T = (chord, 0, 0).

    Args:
        guides: Directions g_i in columns 0 to 2, lengths l_i in column 3, shape (n, 4).
        x: First component of λ.
        y: Second component of λ.
        z: Third component of λ.
        chord: Distance from root to target, in the unit of the lengths.
        hessian: Its lower triangle is filled, shape (3, 3).

    Returns:
        F and the three components of its gradient.
    """
    value, a, b, c = -x * chord, -chord, 0.0, 0.0
    stiff, xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(guides.shape[0]):
        length = guides[i, 3]
        if length == 0.0:
            continue
        u, v, w = guides[i, 0] + x, guides[i, 1] + y, guides[i, 2] + z
        square = u * u + v * v + w * w
        inverse = 1.0 / math.sqrt(max(square, _VANISHED_DIRECTION * _VANISHED_DIRECTION))
        value += length * square * inverse
        u, v, w = u * inverse, v * inverse, w * inverse
        a += length * u
        b += length * v
        c += length * w
        s = length * inverse
        stiff += s
        xx += s * u * u
        yy += s * v * v
        zz += s * w * w
        xy += s * u * v
        xz += s * u * w
        yz += s * v * w
    hessian[0, 0], hessian[1, 1], hessian[2, 2] = stiff - xx, stiff - yy, stiff - zz
    hessian[1, 0], hessian[2, 0], hessian[2, 1] = -xy, -xz, -yz
    return value, a, b, c


@helper
def descent(hessian: FloatArray, step: FloatArray) -> None:
    """Replace a gradient by Newton's step −H⁻¹ gradient, for a positive semidefinite H.

    Args:
        hessian: H, shape (3, 3), of which the lower triangle counts; overwritten.
        step: The gradient, and result, shape (3,).
    """
    # Near full reach a chain is stiffer across than along by as many digits as there are.
    ridge = 1e-15 * (hessian[0, 0] + hessian[1, 1] + hessian[2, 2]) + 1e-300
    for i in range(3):
        hessian[i, i] += ridge
        step[i] = -step[i]
    factor_symmetric(hessian, ridge)
    solve_lower(hessian, step)
    solve_upper(hessian, step)


@helper
def _lean_all(guides: FloatArray, x: float, y: float, z: float) -> None:
    """Turn every direction to that of its sum with (x, y, z); along x where the sum is 0."""
    for i in range(guides.shape[0]):
        if guides[i, 3] == 0.0:
            continue
        u, v, w = guides[i, 0] + x, guides[i, 1] + y, guides[i, 2] + z
        norm = math.sqrt(u * u + v * v + w * w)
        if norm > 0.0:
            guides[i, 0], guides[i, 1], guides[i, 2] = u / norm, v / norm, w / norm
        else:
            guides[i, 0], guides[i, 1], guides[i, 2] = 1.0, 0.0, 0.0


@helper
def lean(
    guides: FloatArray, chord: float, tolerance: float, record: FloatArray
) -> tuple[float, int]:
    """Turn every bone as little as possible so that the chain ends at (chord, 0, 0).

    Newton's method with backtracking; a chain that is to be nearly straight starts from the
    expansion 1 − chord ≈ Σ l_i sin²(g_i, x)/(2|λ|²), because F is flat there.

    Args:
        guides: Directions g_i in columns 0 to 2, lengths l_i of sum 1 in column 3, shape (n, 4);
            the directions are overwritten with the result where it succeeds.
        chord: Distance from root to target, 0 ≤ chord < 1.
        tolerance: Distance from the target to stop at, > 0.
        record: Filled with the distance from the target in each pass, as far as it goes.

    Returns:
        Distance from the target (infinite where a bone lost its direction or the budget is
        spent: the guides are then untouched) and the passes used.
    """
    n = guides.shape[0]
    h, step = np.empty((3, 3)), np.empty(3)
    x, y, z = 0.0, 0.0, 0.0
    across = 0.0
    for i in range(n):
        across += guides[i, 3] * (1.0 - guides[i, 0] * guides[i, 0])
    if across > 8.0 * (1.0 - chord):
        x = math.sqrt(across / (2.0 * (1.0 - chord)))
    value, a, b, c = slope(guides, x, y, z, chord, h)
    away = math.sqrt(a * a + b * b + c * c)
    used = 1
    if record.shape[0] > 0:
        record[0] = away
    while away > tolerance:
        step[0], step[1], step[2] = a, b, c
        descent(h, step)
        dx, dy, dz = step[0], step[1], step[2]
        fall = a * dx + b * dy + c * dz
        share = 1.0
        while True:
            if used >= _LEAN_EVALUATIONS:
                return math.inf, used
            nx, ny, nz = x + share * dx, y + share * dy, z + share * dz
            trial, a, b, c = slope(guides, nx, ny, nz, chord, h)
            closer = math.sqrt(a * a + b * b + c * c)
            if used < record.shape[0]:
                record[used] = closer
            used += 1
            # Near the solution F no longer shows its decrease in 16 digits; the gradient does.
            if trial <= value + _ARMIJO * share * fall or closer <= 0.5 * away:
                break
            share *= 0.5
        x, y, z, value, away = nx, ny, nz, trial, closer
    _lean_all(guides, x, y, z)
    return away, used

"""Polar and eigen-decomposition of 3×3 matrices: rotation times stretch along three axes."""

from __future__ import annotations

import math

import numpy as np

from basis_ik.kernels.aim import rotation_between
from basis_ik.kernels.jit import jit
from basis_ik.kernels.rigid import FloatArray

# Two scale factors this close, relative to the larger, are one: their axes are rounding noise.
_SAME = 1e-12
# Two candidates of the canonical form this close are a tie, which a fixed order decides.
_TIE = 1e-9
_EPSILON = 2.220446049250313e-16
_SWEEPS = 30  # Jacobi's method converges quadratically: six are usual


@jit
def _orthogonalise(columns: FloatArray, v: FloatArray) -> None:
    """Turn pairs of columns into each other until all three are perpendicular (Hestenes 1958)."""
    for _ in range(_SWEEPS):
        turned = False
        for p in range(2):
            for q in range(p + 1, 3):
                a, b = columns[:, p], columns[:, q]
                alpha = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
                beta = b[0] * b[0] + b[1] * b[1] + b[2] * b[2]
                gamma = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
                if not abs(gamma) > _EPSILON * math.sqrt(alpha) * math.sqrt(beta):
                    continue
                turned = True
                zeta = 0.5 * (beta - alpha) / gamma
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = c * t
                for i in range(3):
                    x, y = columns[i, p], columns[i, q]
                    columns[i, p], columns[i, q] = c * x - s * y, s * x + c * y
                    x, y = v[i, p], v[i, q]
                    v[i, p], v[i, q] = c * x - s * y, s * x + c * y
        if not turned:
            return


@jit
def decompose(
    m: FloatArray, rotation: FloatArray, scale: FloatArray, orientation: FloatArray
) -> float:
    """Write M as R·(SR·diag(S)·SRᵀ): a rotation after a stretch.

    One-sided Jacobi rotations make the columns of M·V perpendicular, M V = W diag(S); then R = W Vᵀ
    and SR = V. Both are rotations by construction, also where rounding has lost the smallest factor
    or its sign: that factor is then set to the size of the rounding.

    Args:
        m: Matrix, shape (3, 3), finite, with determinant above zero.
        rotation: Filled with R, shape (3, 3).
        scale: Filled with S, shape (3,), above zero; in no particular order.
        orientation: Filled with SR, shape (3, 3); not canonical.

    Returns:
        The smallest factor that `m` really shows, relative to the largest: about zero when `m` is
        singular, below zero when it reflects.
    """
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(m[i, j]))
            orientation[i, j] = 1.0 if i == j else 0.0
    if largest == 0.0:
        rotation[:] = orientation
        scale[:] = 0.0
        return 0.0
    w = m / largest
    _orthogonalise(w, orientation)
    for k in range(3):
        scale[k] = math.sqrt(w[0, k] ** 2 + w[1, k] ** 2 + w[2, k] ** 2)
    k = 0
    for i in range(1, 3):
        if scale[i] < scale[k]:
            k = i
    i, j = (k + 1) % 3, (k + 2) % 3
    biggest = max(scale[i], scale[j])
    smallest = 0.0
    if min(scale[i], scale[j]) > 0.0:
        for row in range(3):
            w[row, i] /= scale[i]
            w[row, j] /= scale[j]
        x = w[1, i] * w[2, j] - w[2, i] * w[1, j]
        y = w[2, i] * w[0, j] - w[0, i] * w[2, j]
        z = w[0, i] * w[1, j] - w[1, i] * w[0, j]
        smallest = (x * w[0, k] + y * w[1, k] + z * w[2, k]) / biggest
        w[0, k], w[1, k], w[2, k] = x, y, z
    scale[k] = max(smallest, _EPSILON) * biggest
    for row in range(3):
        scale[row] *= largest
        for column in range(3):
            rotation[row, column] = (
                w[row, 0] * orientation[column, 0]
                + w[row, 1] * orientation[column, 1]
                + w[row, 2] * orientation[column, 2]
            )
    return smallest


@jit
def _same(a: float, b: float) -> bool:
    return abs(a - b) <= _SAME * max(a, b)


@jit
def _turn_axis_to_column(scale: FloatArray, orientation: FloatArray, k: int) -> None:
    """Canonicalise a stretch along column `k`, the other two scale factors being the same."""
    along, across = scale[k], max(scale[(k + 1) % 3], scale[(k + 2) % 3])
    n = orientation[:, k].copy()
    largest = max(abs(n[0]), abs(n[1]), abs(n[2]))
    m = 0
    while abs(n[m]) < largest - _TIE:
        m += 1
    if n[m] < 0.0:
        n = -n
    axis = np.zeros(3)
    axis[m] = 1.0
    rotation_between(axis, n, n, orientation)
    orientation[:, m] = n  # bit for bit, so that the canonical form of itself is itself
    scale[:] = across
    scale[m] = along


@jit
def _choose_signed_permutation(scale: FloatArray, orientation: FloatArray) -> None:
    """Canonicalise a stretch with three different factors."""
    order = np.argsort(-scale)  # columns in a fixed order first, so that ties fall alike
    factors, axes = scale[order], orientation[:, order]
    best = 0.0
    for a in range(3):
        for b in range(3):
            c = 3 - a - b
            if a != b:
                trace = abs(axes[0, a]) + abs(axes[1, b]) + abs(axes[2, c])
                if trace > best + _TIE:
                    best = trace
                    order[0], order[1], order[2] = a, b, c
    for k in range(3):
        scale[k] = factors[order[k]]
        sign = 1.0 if axes[k, order[k]] >= 0.0 else -1.0
        for row in range(3):
            orientation[row, k] = sign * axes[row, order[k]] + 0.0  # no negative zeros


@jit
def canonicalise(scale: FloatArray, orientation: FloatArray) -> None:
    """Replace a scale orientation by the smallest rotation that gives the same stretch.

    SR·diag(S)·SRᵀ does not change when columns of SR change sign, or change places together with
    their factors, or turn within a plane of equal factors. Of all these frames the one with the
    largest trace is taken; in a tie, the one with the larger factors first.

    Args:
        scale: Factors above zero, shape (3,); replaced in place.
        orientation: Rotation, shape (3, 3); replaced in place.
    """
    same = (_same(scale[1], scale[2]), _same(scale[2], scale[0]), _same(scale[0], scale[1]))
    count = int(same[0]) + int(same[1]) + int(same[2])
    if count == 0:
        _choose_signed_permutation(scale, orientation)
    elif count == 1:
        _turn_axis_to_column(scale, orientation, 0 if same[0] else 1 if same[1] else 2)
    else:
        scale[:] = max(scale[0], scale[1], scale[2])
        for i in range(3):
            for j in range(3):
                orientation[i, j] = 1.0 if i == j else 0.0

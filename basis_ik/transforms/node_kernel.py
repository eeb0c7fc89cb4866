# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Transform nodes as packed arrays: P' = R·SR·S·SRᵀ·(P − C) + C + T.

A packed node has shape (12, 3). Its rows are, from top to bottom: the centre C, the translation T,
the scale factors S, the rotation R (3 rows), the scale orientation SR (3 rows), and the linear part
M = R·SR·diag(S)·SRᵀ (3 rows), which `finish` derives from the others.

The code is written element by element, because array expressions compile several times slower.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.transforms.stretch_kernel import canonicalise, decompose

CENTER, TRANSLATION, SCALE, ROTATION, ORIENTATION, LINEAR, ROWS = 0, 1, 2, 3, 6, 9, 12


@helper
def _multiply(m: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(3):
        out[i] = m[i, 0] * p[0] + m[i, 1] * p[1] + m[i, 2] * p[2]


@helper
def _product(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@helper
def _uniform(scale: FloatArray) -> bool:
    return bool(scale[0] == scale[1] and scale[1] == scale[2])


@jit
def finish(node: FloatArray) -> bool:
    """Make scale and scale orientation canonical, and derive the linear part from the fields.

    Args:
        node: Packed node, shape (12, 3); its last three rows are overwritten.

    Returns:
        Whether all numbers are finite and all scale factors are above zero.
    """
    scale, orientation = node[SCALE], node[ORIENTATION:LINEAR]
    canonicalise(scale, orientation)
    stretch = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            stretch[i, j] = (
                scale[0] * orientation[i, 0] * orientation[j, 0]
                + scale[1] * orientation[i, 1] * orientation[j, 1]
                + scale[2] * orientation[i, 2] * orientation[j, 2]
            )
    _product(node[ROTATION:ORIENTATION], stretch, node[LINEAR:])
    for row in range(ROWS):
        for column in range(3):
            if not math.isfinite(node[row, column]):
                return False
    return bool(scale[0] > 0.0 and scale[1] > 0.0 and scale[2] > 0.0)


@jit
def combine(a: FloatArray, b: FloatArray, out: FloatArray) -> bool:
    """Write the node that is equivalent to node `b` as a child of node `a`.

    C = C_b and T = M_a (C_b + T_b − C_a) + C_a + T_a − C_b, as in the text. The linear part is
    M_a M_b. If one of the stretches is uniform, rotation and scale are products, as in the text;
    otherwise M_a M_b is decomposed.

    Args:
        a: Packed outer node, shape (12, 3).
        b: Packed inner node, shape (12, 3).
        out: Filled with the packed equivalent, shape (12, 3).

    Returns:
        Whether the result is within the range of floating point.
    """
    offset = np.empty(3)
    for i in range(3):
        offset[i] = b[CENTER, i] + b[TRANSLATION, i] - a[CENTER, i]
    _multiply(a[LINEAR:], offset, out[TRANSLATION])
    for i in range(3):
        out[CENTER, i] = b[CENTER, i]
        out[TRANSLATION, i] += a[CENTER, i] + a[TRANSLATION, i] - b[CENTER, i]
    rotation, orientation = out[ROTATION:ORIENTATION], out[ORIENTATION:LINEAR]
    uniform_a, uniform_b = _uniform(a[SCALE]), _uniform(b[SCALE])
    if uniform_a or uniform_b:
        _product(a[ROTATION:ORIENTATION], b[ROTATION:ORIENTATION], rotation)
        for i in range(3):
            out[SCALE, i] = a[SCALE, i] * b[SCALE, i]
            for j in range(3):
                if uniform_a:
                    orientation[i, j] = b[ORIENTATION + i, j]
                else:  # R_bᵀ SR_a
                    orientation[i, j] = (
                        b[ROTATION, i] * a[ORIENTATION, j]
                        + b[ROTATION + 1, i] * a[ORIENTATION + 1, j]
                        + b[ROTATION + 2, i] * a[ORIENTATION + 2, j]
                    )
    else:
        _product(a[LINEAR:], b[LINEAR:], out[LINEAR:])
        decompose(out[LINEAR:], rotation, out[SCALE], orientation)
    return finish(out)


@jit
def invert(a: FloatArray, out: FloatArray) -> bool:
    """Write the inverse of node `a`, with the same centre.

    M⁻¹ = (R U)⁻¹ = U⁻¹ Rᵀ = Rᵀ (R U⁻¹ Rᵀ): rotation Rᵀ, factors 1/S, scale orientation R·SR.

    Args:
        a: Packed node, shape (12, 3).
        out: Filled with the packed inverse, shape (12, 3).

    Returns:
        Whether the result is within the range of floating point.
    """
    for i in range(3):
        out[CENTER, i] = a[CENTER, i]
        out[TRANSLATION, i] = 0.0
        out[SCALE, i] = 1.0 / a[SCALE, i]
        for j in range(3):
            out[ROTATION + i, j] = a[ROTATION + j, i]
    _product(a[ROTATION:ORIENTATION], a[ORIENTATION:LINEAR], out[ORIENTATION:LINEAR])
    in_range = finish(out)
    translation = out[TRANSLATION]
    _multiply(out[LINEAR:], a[TRANSLATION], translation)
    for i in range(3):
        translation[i] = 0.0 - translation[i]
        in_range = in_range and math.isfinite(translation[i])
    return in_range


@jit
def apply(node: FloatArray, points: FloatArray) -> None:
    """Replace points by their images.

    The centre is subtracted first, as in the text, so that no digits cancel near the centre.

    Args:
        node: Packed node, shape (12, 3).
        points: Overwritten with the images, shape (N, 3).
    """
    center, m = node[CENTER], node[LINEAR:]
    shift = center + node[TRANSLATION]
    for row in range(points.shape[0]):
        p = points[row]
        x, y, z = p[0] - center[0], p[1] - center[1], p[2] - center[2]
        for i in range(3):
            p[i] = m[i, 0] * x + m[i, 1] * y + m[i, 2] * z + shift[i]

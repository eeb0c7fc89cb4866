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

NODE_CENTER, NODE_TRANSLATION, NODE_SCALE = 0, 1, 2
NODE_ROTATION, NODE_ORIENTATION, NODE_LINEAR = 3, 6, 9
NODE_ROWS = 12


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
    scale, orientation = node[NODE_SCALE], node[NODE_ORIENTATION:NODE_LINEAR]
    canonicalise(scale, orientation)
    stretch = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            stretch[i, j] = (
                scale[0] * orientation[i, 0] * orientation[j, 0]
                + scale[1] * orientation[i, 1] * orientation[j, 1]
                + scale[2] * orientation[i, 2] * orientation[j, 2]
            )
    _product(node[NODE_ROTATION:NODE_ORIENTATION], stretch, node[NODE_LINEAR:])
    for row in range(NODE_ROWS):
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
        offset[i] = b[NODE_CENTER, i] + b[NODE_TRANSLATION, i] - a[NODE_CENTER, i]
    _multiply(a[NODE_LINEAR:], offset, out[NODE_TRANSLATION])
    for i in range(3):
        out[NODE_CENTER, i] = b[NODE_CENTER, i]
        out[NODE_TRANSLATION, i] += a[NODE_CENTER, i] + a[NODE_TRANSLATION, i] - b[NODE_CENTER, i]
    rotation, orientation = out[NODE_ROTATION:NODE_ORIENTATION], out[NODE_ORIENTATION:NODE_LINEAR]
    uniform_a, uniform_b = _uniform(a[NODE_SCALE]), _uniform(b[NODE_SCALE])
    if uniform_a or uniform_b:
        _product(a[NODE_ROTATION:NODE_ORIENTATION], b[NODE_ROTATION:NODE_ORIENTATION], rotation)
        for i in range(3):
            out[NODE_SCALE, i] = a[NODE_SCALE, i] * b[NODE_SCALE, i]
            for j in range(3):
                if uniform_a:
                    orientation[i, j] = b[NODE_ORIENTATION + i, j]
                else:  # R_bᵀ SR_a
                    orientation[i, j] = (
                        b[NODE_ROTATION, i] * a[NODE_ORIENTATION, j]
                        + b[NODE_ROTATION + 1, i] * a[NODE_ORIENTATION + 1, j]
                        + b[NODE_ROTATION + 2, i] * a[NODE_ORIENTATION + 2, j]
                    )
    else:
        _product(a[NODE_LINEAR:], b[NODE_LINEAR:], out[NODE_LINEAR:])
        decompose(out[NODE_LINEAR:], rotation, out[NODE_SCALE], orientation)
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
        out[NODE_CENTER, i] = a[NODE_CENTER, i]
        out[NODE_TRANSLATION, i] = 0.0
        out[NODE_SCALE, i] = 1.0 / a[NODE_SCALE, i]
        for j in range(3):
            out[NODE_ROTATION + i, j] = a[NODE_ROTATION + j, i]
    _product(
        a[NODE_ROTATION:NODE_ORIENTATION],
        a[NODE_ORIENTATION:NODE_LINEAR],
        out[NODE_ORIENTATION:NODE_LINEAR],
    )
    in_range = finish(out)
    translation = out[NODE_TRANSLATION]
    _multiply(out[NODE_LINEAR:], a[NODE_TRANSLATION], translation)
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
    center, m = node[NODE_CENTER], node[NODE_LINEAR:]
    shift = center + node[NODE_TRANSLATION]
    for row in range(points.shape[0]):
        p = points[row]
        x, y, z = p[0] - center[0], p[1] - center[1], p[2] - center[2]
        for i in range(3):
            p[i] = m[i, 0] * x + m[i, 1] * y + m[i, 2] * z + shift[i]

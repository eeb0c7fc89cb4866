# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The trackball: the translation inside a node for a desired translation seen from outside.

Both functions are for an inner node that only translates (C_b = 0, R_b = 1), as in the examples of
transform_nodes, and for an outer node that may also scale.
"""

from __future__ import annotations

import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import finite_array
from basis_ik.transforms.node import TransformNode


def drag(outer: TransformNode, wanted: npt.ArrayLike) -> FloatArray:
    """Return the inner translation that moves the content by `wanted`, seen from outside.

    T_b = R_a′ T_in (example 1): only the outer rotation and scale are undone. The result does not
    depend on the outer node's centre.

    Args:
        outer: Node a.
        wanted: T_in, the motion across the screen [m], shape (3,).

    Returns:
        T_b [m], shape (3,).

    Raises:
        ShapeError: `wanted` has another shape.
        NotFiniteError: An element is NaN or infinite.
    """
    local: FloatArray = outer.inverse().linear @ finite_array("wanted", wanted, 3)
    return local


def drag_off_centre(outer: TransformNode, wanted: npt.ArrayLike) -> FloatArray:
    """Return the inner translation for which both nodes together translate by T_a + `wanted`.

    T_b = R_a′ (T_in − C_a) + C_a (example 2). "Together" means the equivalent node, whose centre is
    the inner node's, the origin. T_b is not zero if `wanted` is, because it also compensates the
    shift C_a − R_a C_a from the rotation about C_a.

    Args:
        outer: Node a.
        wanted: T_in [m], shape (3,).

    Returns:
        T_b [m], shape (3,).

    Raises:
        ShapeError: `wanted` has another shape.
        NotFiniteError: An element is NaN or infinite.
    """
    return drag(outer, finite_array("wanted", wanted, 3) - outer.center) + outer.center

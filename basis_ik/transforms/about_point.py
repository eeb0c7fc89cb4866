# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rotation about a point other than the origin (transform_nodes, "Rotation about a Point")."""

from __future__ import annotations

import numpy.typing as npt

from basis_ik.transforms.checks import finite_array
from basis_ik.transforms.rigid import RigidTransform


def rotation_about_point(rotation: npt.ArrayLike, point: npt.ArrayLike) -> RigidTransform:
    """Return the transform that rotates about a point C: the same R, and T = C − R C.

    It is the conjugate translate(C) · R · translate(−C), without the two products.

    Args:
        rotation: R, shape (3, 3).
        point: C, the fixed point [m], shape (3,).

    Raises:
        ShapeError: An argument has another shape.
        NotFiniteError: An element is NaN or infinite.
        NotARotationError: `rotation` is not a rotation.
    """
    c = finite_array("point", point, 3)
    turn = RigidTransform.from_rotation_translation(rotation, (0.0, 0.0, 0.0))
    return RigidTransform.from_rotation_translation(turn.rotation, c - turn.apply_vector(c))

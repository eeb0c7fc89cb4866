# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The only conversions between quaternion orders: xyzw (ROS) and wxyz (transforms3d)."""

from __future__ import annotations

import numpy as np
from transforms3d.quaternions import mat2quat

from basis_ik.numerics.arrays import FloatArray

UNIT_TOLERANCE = 1e-3
"""Deviation of a quaternion's length up to which it is normalised; beyond, it is refused."""


def xyzw_from_matrix(rotation: FloatArray) -> FloatArray:
    """Convert a rotation matrix to a ROS quaternion.

    Args:
        rotation: Rotation matrix, shape (3, 3).

    Returns:
        Unit quaternion (x, y, z, w), shape (4,). Of q and −q, the one with w > 0; if w is 0, the
        one whose first non-zero element is positive.
    """
    w, x, y, z = wxyz_from_matrix(rotation).tolist()
    return np.array((x, y, z, w))


def wxyz_from_matrix(rotation: FloatArray) -> FloatArray:
    """Convert a rotation matrix to a quaternion with the real part first, as in MuJoCo.

    Args:
        rotation: Rotation matrix, shape (3, 3).

    Returns:
        Unit quaternion (w, x, y, z), shape (4,), of the same sign as that of `xyzw_from_matrix`.
    """
    wxyz: FloatArray = np.asarray(mat2quat(rotation))
    leading = next(value for value in wxyz.tolist() if value != 0.0)
    return -wxyz if leading < 0.0 else wxyz

"""The one place where quaternion orders meet: xyzw (ROS) outside, wxyz (transforms3d) inside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from transforms3d.quaternions import mat2quat, quat2mat

from basis_ik.kernels.rigid import FloatArray
from basis_ik.transforms.checks import QuaternionError, finite_array

UNIT_TOLERANCE = 1e-3
"""A quaternion's length may be off by this much; it is then normalised, beyond it is refused."""


def matrix_from_xyzw(quaternion: npt.ArrayLike) -> FloatArray:
    """Convert a ROS quaternion to a rotation matrix.

    Args:
        quaternion: (x, y, z, w), shape (4,), of length 1 within `UNIT_TOLERANCE`. q and −q give
            the same matrix, bit for bit.

    Returns:
        Rotation matrix, shape (3, 3).

    Raises:
        ShapeError: Not four numbers.
        NotFiniteError: An element is NaN or infinite.
        QuaternionError: Its length is off; a zero quaternion is never taken for the identity.
    """
    x, y, z, w = finite_array("quaternion", quaternion, 4).tolist()
    norm = float(np.hypot(np.hypot(x, y), np.hypot(z, w)))
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        raise QuaternionError(norm)
    matrix: FloatArray = quat2mat((w, x, y, z))
    return matrix


def xyzw_from_matrix(rotation: FloatArray) -> FloatArray:
    """Convert a rotation matrix to a ROS quaternion.

    Args:
        rotation: Rotation matrix, shape (3, 3).

    Returns:
        Unit quaternion (x, y, z, w), shape (4,). Of q and −q, the one with w > 0; where w is 0, the
        one whose first non-zero element is positive.
    """
    w, x, y, z = mat2quat(rotation).tolist()
    xyzw = np.array((x, y, z, w))
    leading = w if w != 0.0 else next(value for value in (x, y, z) if value != 0.0)
    return -xyzw if leading < 0.0 else xyzw

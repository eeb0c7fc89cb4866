# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rotations from joint positions, FABRIK's last step on a skeleton (change_of_basis, 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik.result import finite_chain
from basis_ik.fabrik.skeleton import TreeError, checked_quaternion, make_skeleton, starts_of
from basis_ik.fabrik.skeleton_kernel import Skeleton, fit_rotations
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import finite_array


def bone_rotations(
    rest: npt.ArrayLike, positions: npt.ArrayLike, parents: Sequence[int] | None = None
) -> FloatArray:
    """Return how each bone is turned against its rest pose.

    From the root outwards every bone first turns with its parent and then by the smallest rotation
    that points it at its end: a points-at constraint for each bone, as change_of_basis section 3
    has it. Both poses and all rotations are in root coordinates; `R_parent.T @ R_bone` is the
    joint's own rotation, in the rest pose's coordinates.

    Args:
        rest: Joint positions in the rest pose [m], shape (m + 1, 3).
        positions: Joint positions now [m], shape (m + 1, 3).
        parents: −1 for joint 0, an earlier joint for every other; a chain if not given.

    Returns:
        R with `R[j] @ rest_bone[j]` along bone j now, shape (m, 3, 3), read-only. A bone of length
        zero turns with its parent.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError: Bad positions.
        NoBonesError: There is one joint only.
        TreeError: Parents that do not fit, or poses of different size.
    """
    at_rest, now = finite_chain("rest", rest), finite_chain("positions", positions)
    if at_rest.shape != now.shape:
        raise TreeError(f"rest has {len(at_rest)} joints, positions have {len(now)}")
    starts = starts_of(range(-1, len(at_rest) - 1) if parents is None else parents, len(at_rest))
    s = make_skeleton(starts, at_rest, {}, False)
    return matrices(quaternions(None, s, now))


def quaternions(rotations: npt.ArrayLike | None, s: Skeleton, p: FloatArray) -> FloatArray:
    """Return rotations as kernels take them, (m, 4); if None, those that fit the positions."""
    m = len(s.starts)
    q = np.empty((m, 4))
    if rotations is None:
        fit_rotations(s, p, q)
        return q
    for row, rotation in enumerate(finite_array("rotations", rotations, m, 3, 3)):
        q[row] = checked_quaternion(rotation)
    return q


def matrices(q: FloatArray) -> FloatArray:
    """Convert unit quaternions (w, x, y, z), (m, 4), to read-only rotations (m, 3, 3)."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    out: FloatArray = np.ascontiguousarray(np.moveaxis(np.array(rows), 2, 0))
    out.setflags(write=False)
    return out

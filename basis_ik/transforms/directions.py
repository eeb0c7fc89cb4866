# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rotation from one direction to another, for points-at and FABRIK's bones."""

from __future__ import annotations

import math

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.directions_kernel import perpendicular, roll_towards, rotation_between

SHORTEST_DIRECTION = 1e-12
"""Length [m] up to which a direction is rounding noise, and there is no rotation."""

Lean = tuple[FloatArray, FloatArray]
"""An axis of the bone and the direction that it should lean towards: unit vectors, shape (3,)."""


def turn_between(
    current: FloatArray, desired: FloatArray, fallback: FloatArray, lean: Lean | None = None
) -> FloatArray:
    """Return the smallest rotation from one direction to another, or one with a given roll.

    Args:
        current: Direction, shape (3,), of any length.
        desired: Direction, shape (3,), of any length.
        fallback: Axis of the half turn between opposite directions: unit, perpendicular to
            `current`.
        lean: The roll of the turned bone; None: the rotation is the smallest.

    Returns:
        Rotation, shape (3, 3); the identity if a direction has no length.
    """
    now, then = length(current), length(desired)
    if now <= SHORTEST_DIRECTION or then <= SHORTEST_DIRECTION:
        return np.eye(3)
    rotation, direction = np.empty((3, 3)), desired / then
    rotation_between(current / now, direction, fallback, rotation)
    if lean is not None:
        roll_towards(direction, *lean, rotation)
    return rotation


def perpendicular_to(direction: FloatArray) -> FloatArray:
    """Return a unit vector perpendicular to a direction; it depends only on the direction.

    Points-at uses it in the bone's own space, so that a half turn does not depend on the basis of
    the computation.

    Args:
        direction: Shape (3,), of any length; zero gives zero.
    """
    out = np.zeros(3)
    size = length(direction)
    if size > SHORTEST_DIRECTION:
        perpendicular(direction / size, out)
    return out


def length(vector: FloatArray) -> float:
    """Return the length of a vector, shape (3,)."""
    return math.hypot(*vector.tolist())

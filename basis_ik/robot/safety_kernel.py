# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The last check of positions before they are sent, independent of the code that made them."""

from __future__ import annotations

from math import isfinite

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import jit

LIMIT_ROUNDING = 1e-9  # rounding allowance [rad or m]


@jit
def is_inside(positions: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
    """Return whether positions (n,) are finite and within the limits (n,) [rad or m]."""
    for k in range(positions.shape[0]):
        # NaN fails every comparison; infinity would pass an infinite limit.
        if not (isfinite(positions[k]) and positions[k] >= lower[k] - LIMIT_ROUNDING):
            return False
        if not positions[k] <= upper[k] + LIMIT_ROUNDING:
            return False
    return True


@jit
def is_safe(
    command: FloatArray,
    previous: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    max_step: FloatArray,
) -> bool:
    """Return whether a command (n,) may be sent.

    It must be finite, change each joint by at most `max_step`, and be within the limits; a joint
    outside them may only move inwards. All arguments (n,) [rad or m].
    """
    for k in range(command.shape[0]):
        now, before = command[k], previous[k]
        if not (isfinite(now) and abs(now - before) <= max_step[k] + LIMIT_ROUNDING):
            return False
        if not (now >= lower[k] - LIMIT_ROUNDING or (before < lower[k] and now >= before)):
            return False
        if not (now <= upper[k] + LIMIT_ROUNDING or (before > upper[k] and now <= before)):
            return False
    return True

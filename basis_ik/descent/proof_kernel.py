# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The proof that joint positions reach a target: forward kinematics of its own."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

import numpy as np

from basis_ik.descent.tables_kernel import (
    BOX_RX,
    BOX_RY,
    BOX_RZ,
    BOX_X,
    MULTIPLIER,
    OFFSET,
    P0,
    P1,
    P2,
    PRISMATIC,
    R00,
    R01,
    R02,
    R10,
    R11,
    R12,
    R20,
    R21,
    R22,
    VARIABLE,
    WRX,
    WRZ,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

Four = tuple[float, float, float, float]


@jit
def place_exactly(exact: FloatArray, q: FloatArray, frame: FloatArray) -> None:
    """Write root_T_tip (3, 4) at q (n,), from the chain as given.

    This is the check on the descent. It shares neither the reduced chain nor the sine with it, only
    the meaning of the columns.

    Args:
        exact: (m + 1, 16), see `tables_kernel`.
        q: (n,) variables [rad or m].
        frame: (3, 4) result.
    """
    first = exact[0]
    one = first[R00], first[R01], first[R02], first[P0]
    two = first[R10], first[R11], first[R12], first[P1]
    three = first[R20], first[R21], first[R22], first[P2]
    for i in range(exact.shape[0] - 1):
        value = exact[i, MULTIPLIER] * q[int(exact[i, VARIABLE])] + exact[i, OFFSET]
        motion, link = (1.0, 0.0, value), exact[i + 1]
        if exact[i, PRISMATIC] == 0.0:
            motion = cos(value), sin(value), 0.0
        one, two = _row_moved(one, motion, link), _row_moved(two, motion, link)
        three = _row_moved(three, motion, link)
    frame[0, 0], frame[0, 1], frame[0, 2], frame[0, 3] = one
    frame[1, 0], frame[1, 1], frame[1, 2], frame[1, 3] = two
    frame[2, 0], frame[2, 1], frame[2, 2], frame[2, 3] = three


@helper
def _row_moved(row: Four, motion: Triple, link: FloatArray) -> Four:
    """Return a row of a frame after a joint's motion (cosine, sine, slide) and a link (16,)."""
    cosine, sine, slide = motion
    x, y = cosine * row[0] + sine * row[1], cosine * row[1] - sine * row[0]
    z, t = row[2], row[3] + slide * row[2]
    return (
        x * link[R00] + y * link[R10] + z * link[R20],
        x * link[R01] + y * link[R11] + z * link[R21],
        x * link[R02] + y * link[R12] + z * link[R22],
        x * link[P0] + y * link[P1] + z * link[P2] + t,
    )


@jit
def distance_and_angle(
    frame: FloatArray, target: FloatArray, weights: FloatArray
) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] between two frames, exact from 0 to π.

    Args:
        frame: (3, 4) root_T_tip.
        target: (4, 4) root_T_target.
        weights: (12,), see `tables_kernel`. The distance is that from the deadband. With a free
            axis, the angle is that between the z axes. With a deadband of the rotation, it is the
            length of the rotation vector's excess.
    """
    squared_distance = 0.0
    for c in range(3):
        d = 0.0
        for r in range(3):
            d += target[r, c] * (frame[r, 3] - target[r, 3])
        d -= min(max(d, -weights[BOX_X + c]), weights[BOX_X + c])
        squared_distance += d * d
    if weights[WRX] > 0.0 and max(weights[BOX_RX], max(weights[BOX_RY], weights[BOX_RZ])) > 0.0:
        return sqrt(squared_distance), _excess_angle(frame, target, weights)
    first = 2 if weights[WRX] > 0.0 and weights[WRZ] == 0.0 else 0
    minus, plus = 0.0, 0.0
    for c in range(first, 3):
        for r in range(3):
            # ‖A − B‖ = ‖R − I‖ and ‖A + B‖ = ‖R + I‖ with R = Aᵀ B.
            a, b = frame[r, c] - target[r, c], frame[r, c] + target[r, c]
            minus += a * a
            plus += b * b
    if first == 0:  # ‖R − I‖² = 8 sin²(θ/2), but ‖R + I‖² = 4 + 8 cos²(θ/2)
        plus = max(plus - 4.0, 0.0)
    return sqrt(squared_distance), 2.0 * atan2(sqrt(minus), sqrt(plus))


@helper
def _excess_angle(frame: FloatArray, target: FloatArray, weights: FloatArray) -> float:
    """Return the length of the excess of the rotation vector over its deadband [rad]."""
    off, vector, factor = np.empty((3, 3)), np.empty(3), 1.0
    for r in range(3):
        for c in range(3):
            off[r, c] = 0.0
            for i in range(3):
                off[r, c] += target[i, r] * frame[i, c]
    if weights[WRZ] == 0.0:  # shortest rotation from z to the frame's z
        across = sqrt(off[0, 2] ** 2 + off[1, 2] ** 2)
        angle = atan2(across, off[2, 2])
        vector[0], vector[1], vector[2] = angle, 0.0, 0.0
        if across > 0.0:
            vector[0], vector[1] = -angle * off[1, 2] / across, angle * off[0, 2] / across
    else:  # unit quaternion, from its largest component (Shepperd 1978)
        trace, k = off[0, 0] + off[1, 1] + off[2, 2], -1
        for i in range(3):
            if off[i, i] > trace and (k < 0 or off[i, i] > off[k, k]):
                k = i
        if k < 0:
            vector[0] = off[2, 1] - off[1, 2]
            vector[1] = off[0, 2] - off[2, 0]
            vector[2] = off[1, 0] - off[0, 1]
            scalar = 1.0 + trace
        else:
            i, j = (k + 1) % 3, (k + 2) % 3
            vector[k] = 1.0 + off[k, k] - off[i, i] - off[j, j]
            vector[i], vector[j] = off[k, i] + off[i, k], off[k, j] + off[j, k]
            scalar = off[j, i] - off[i, j]
        size = sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
        angle = 2.0 * atan2(size, abs(scalar))
        factor = 2.0 / abs(scalar) if size == 0.0 else angle / size
        if scalar < 0.0:
            factor = -factor
    total = 0.0
    for c in range(3):
        component = factor * vector[c]
        component -= min(max(component, -weights[BOX_RX + c]), weights[BOX_RX + c])
        total += component * component
    return sqrt(total)

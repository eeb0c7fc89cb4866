# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Speeds of links between commands, and while the joints brake.

The arrays `memory` (n, 27) and `limits` (5, n) are those of `arm.joints_kernel`. Three arrays
describe the k capped links: `limbs` (M, 16) has the rows of `place_exactly` of all links; `starts`
(k + 1,) has the first row of each, and M; `caps` (k, 2) has the largest speed of each link's origin
[m/s] and its largest angular speed [rad/s], inf for none.
"""

from __future__ import annotations

from math import asin, ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.joints_kernel import (
    JERK,
    JOINT_POSITION,
    PROFILE,
    START_STATE,
    plan_brake_together,
)
from basis_ik.arm.profile_kernel import sample
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

IntArray = NDArray[np.int64]

# [s], longest time from one instant to the next while the joints still get faster.
LONGEST_CAP_INTERVAL = 1e-3


@helper
def _place_links(limbs: FloatArray, starts: IntArray, q: FloatArray, frames: FloatArray) -> None:
    """Write the frames of all capped links (k, 3, 4)."""
    for k in range(frames.shape[0]):
        place_exactly(limbs[starts[k] : starts[k + 1]], q, frames[k])


@helper
def _part(before: FloatArray, after: FloatArray, caps: FloatArray, time: float) -> float:
    """Return the largest fraction of a cap that links use between two sets of frames (k, 3, 4).

    Each link takes the shortest path and rotation; for a rotation by θ, ‖A − B‖² = 8 sin²(θ/2).
    """
    most = 0.0
    for k in range(before.shape[0]):
        way, turn = 0.0, 0.0
        for r in range(3):
            way += (after[k, r, 3] - before[k, r, 3]) ** 2
            for c in range(3):
                turn += (after[k, r, c] - before[k, r, c]) ** 2
        most = max(most, sqrt(way) / (caps[k, 0] * time))
        angle = 2.0 * asin(min(1.0, sqrt(turn / 8.0)))
        most = max(most, angle / (caps[k, 1] * time))
    return most


@jit
def part_of_caps(
    limbs: FloatArray, starts: IntArray, caps: FloatArray,
    before: FloatArray, after: FloatArray, time: float,
) -> float:  # fmt: skip
    """Return the largest fraction of a cap that links use between two joint positions (n,)."""
    here, there = np.empty((caps.shape[0], 3, 4)), np.empty((caps.shape[0], 3, 4))
    _place_links(limbs, starts, before, here)
    _place_links(limbs, starts, after, there)
    return _part(here, there, caps, time)


@jit
def part_to_rest(
    memory: FloatArray, then: FloatArray, limits: FloatArray, period: float,
    limbs: FloatArray, starts: IntArray, caps: FloatArray,
) -> float:  # fmt: skip
    """Return the largest fraction of a cap that links use in a period and while braking after it.

    Between two commands a link may be faster than on average while the joints that brake still get
    faster. So there the speeds are compared at more instants.

    Args:
        memory: (n, 27) now.
        then: (n, 27) after the period; the profiles of braking overwrite its own.
        limits: (5, n).
        period: [s].
        limbs: (M, 16).
        starts: (k + 1,).
        caps: (k, 2).
    """
    n, count, fine = memory.shape[0], caps.shape[0], ceil(period / LONGEST_CAP_INTERVAL)
    q, here, there = np.empty(n), np.empty((count, 3, 4)), np.empty((count, 3, 4))
    for i in range(n):
        q[i] = memory[i, JOINT_POSITION]
    _place_links(limbs, starts, q, here)
    for i in range(n):
        q[i] = then[i, JOINT_POSITION]
    _place_links(limbs, starts, q, there)
    most = _part(here, there, caps, period)
    periods = ceil(plan_brake_together(then, limits) / period)
    rise = 0.0  # how long a joint may still get faster
    for i in range(n):
        rise = max(rise, abs(then[i, START_STATE + 2]) / limits[JERK, i])
    for j in range(periods):
        parts = fine if j * period <= rise else 1
        for k in range(parts):
            here, there = there, here
            time = (j + (k + 1) / parts) * period
            for i in range(n):
                row = then[i, PROFILE:]
                x, v, a = then[i, START_STATE], then[i, START_STATE + 1], then[i, START_STATE + 2]
                q[i] = sample(row, x, v, a, time)[0]
            _place_links(limbs, starts, q, there)
            most = max(most, _part(here, there, caps, period / parts))
    return most


@jit
def part_on_way(
    times: FloatArray, way: FloatArray, limbs: FloatArray, starts: IntArray, caps: FloatArray
) -> float:
    """Return the largest fraction of a cap that links use between samples of a motion.

    Args:
        times: (s,) increasing [s].
        way: (s, n) positions.
        limbs: (M, 16).
        starts: (k + 1,).
        caps: (k, 2).
    """
    count, most = caps.shape[0], 0.0
    here, there = np.empty((count, 3, 4)), np.empty((count, 3, 4))
    _place_links(limbs, starts, way[0], there)
    for j in range(1, way.shape[0]):
        here, there = there, here
        _place_links(limbs, starts, way[j], there)
        most = max(most, _part(here, there, caps, times[j] - times[j - 1]))
    return most

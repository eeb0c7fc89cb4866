# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How fast links move between commands, and how joints brake so that none gets faster meanwhile.

The arrays `memory` (n, 27) and `limits` (5, n) are those of `motion_joints`. Capped links are
`limbs` (M, 16), the rows of `proof.place_exactly` for one link after another; `starts` (k + 1,),
the first row of each, and M; and `caps` (k, 2), the speed of its origin [m/s] and its angular speed
[rad/s] at most, inf where there is none.
"""

from __future__ import annotations

from math import asin, ceil, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.motion.joints_kernel import (
    ACCELERATION,
    EDGE,
    GOAL,
    JERK,
    LOWER,
    POSITION,
    PROFILE,
    RATE,
    SPEED,
    START,
    UPPER,
    VELOCITY,
)
from basis_ik.motion.profile_kernel import duration, extent, plan_stop, sample
from basis_ik.numerics.jit import helper, jit
from basis_ik.search.proof_kernel import place_exactly

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

HALVINGS = 30  # of the part of a joint's limits with which it stops as late as the slowest
LEAST_PART = 1e-3


@helper
def _place(limbs: FloatArray, starts: IntArray, q: FloatArray, frames: FloatArray) -> None:
    """Write where all capped links are (k, 3, 4)."""
    for k in range(frames.shape[0]):
        place_exactly(limbs[starts[k] : starts[k + 1]], q, frames[k])


@helper
def _part(before: FloatArray, after: FloatArray, caps: FloatArray, time: float) -> float:
    """Return the largest part of a cap that links take from frames (k, 3, 4) to others in a time.

    It is that of the shortest way and turn; for a turn by θ, ‖A − B‖² = 8 sin²(θ/2).
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
    """Return the largest part of a cap that links take from joints (n,) to others in a time [s]."""
    here, there = np.empty((caps.shape[0], 3, 4)), np.empty((caps.shape[0], 3, 4))
    _place(limbs, starts, before, here)
    _place(limbs, starts, after, there)
    return _part(here, there, caps, time)


@helper
def _least_part(v: float, a: float, speed: float, jerk: float) -> float:
    """Return the part of its jerk that a joint needs at least, so as not to become too fast.

    While the acceleration fades the velocity goes on from v to v + a |a| / (2 jerk).
    """
    room = speed - v if a > 0.0 else speed + v
    needed = 0.5 * a * a / jerk
    return needed / room if needed < room else 1.0


@jit
def plan_brake_together(memory: FloatArray, limits: FloatArray) -> float:
    """Write profiles to rest that end at one time: that of the joint that needs the longest.

    The others use less of their acceleration and jerk; so joints whose motions make up for each
    other do so to the end. One that would become too fast so stops sooner, and one that would pass
    a position limit as soon as it can.

    Args:
        memory: (n, 27).
        limits: (5, n).

    Returns:
        How long it takes [s].
    """
    longest = 0.0
    for i in range(memory.shape[0]):
        row = memory[i, PROFILE:]
        x, v, a = memory[i, POSITION], memory[i, SPEED], memory[i, RATE]
        plan_stop(v, a, limits[ACCELERATION, i], limits[JERK, i], row)
        memory[i, START], memory[i, START + 1], memory[i, START + 2] = x, v, a
        longest = max(longest, duration(row))
    for i in range(memory.shape[0]):
        row = memory[i, PROFILE:]
        x, v, a = memory[i, START], memory[i, START + 1], memory[i, START + 2]
        top, jerk = limits[ACCELERATION, i], limits[JERK, i]
        low, high = LEAST_PART, 1.0  # parts that take too long, and not
        if v != 0.0 or a != 0.0:
            for _ in range(HALVINGS):
                part = 0.5 * (low + high)
                plan_stop(v, a, max(part * top, abs(a)), part * jerk, row)
                if duration(row) > longest:
                    low = part
                else:
                    high = part
            high = max(high, _least_part(v, a, limits[VELOCITY, i], jerk))
            plan_stop(v, a, max(high * top, abs(a)), high * jerk, row)
            least, largest = extent(row, x, v, a)
            lower, upper = min(limits[LOWER, i], x), max(limits[UPPER, i], x)
            if least < lower - EDGE or largest > upper + EDGE:
                plan_stop(v, a, top, jerk, row)
        memory[i, GOAL] = sample(row, x, v, a, inf)[0]
    return longest


@jit
def part_to_rest(
    memory: FloatArray, then: FloatArray, limits: FloatArray, period: float,
    limbs: FloatArray, starts: IntArray, caps: FloatArray,
) -> float:  # fmt: skip
    """Return the largest part of a cap that links take in a period, and braking after it.

    Args:
        memory: (n, 27) now.
        then: (n, 27) a period on; profiles are overwritten with those of braking.
        limits: (5, n).
        period: [s].
        limbs: (M, 16).
        starts: (k + 1,).
        caps: (k, 2).
    """
    n, count = memory.shape[0], caps.shape[0]
    q, here, there = np.empty(n), np.empty((count, 3, 4)), np.empty((count, 3, 4))
    for i in range(n):
        q[i] = memory[i, POSITION]
    _place(limbs, starts, q, here)
    for i in range(n):
        q[i] = then[i, POSITION]
    _place(limbs, starts, q, there)
    most = _part(here, there, caps, period)
    periods = ceil(plan_brake_together(then, limits) / period)
    for j in range(periods):
        here, there = there, here
        for i in range(n):
            row = then[i, PROFILE:]
            x, v, a = then[i, START], then[i, START + 1], then[i, START + 2]
            q[i] = sample(row, x, v, a, (j + 1) * period)[0]
        _place(limbs, starts, q, there)
        most = max(most, _part(here, there, caps, period))
    return most


@jit
def part_on_way(
    times: FloatArray, way: FloatArray, limbs: FloatArray, starts: IntArray, caps: FloatArray
) -> float:
    """Return the largest part of a cap that links take between samples of a motion.

    Args:
        times: (s,) rising [s].
        way: (s, n) positions.
        limbs: (M, 16).
        starts: (k + 1,).
        caps: (k, 2).
    """
    count, most = caps.shape[0], 0.0
    here, there = np.empty((count, 3, 4)), np.empty((count, 3, 4))
    _place(limbs, starts, way[0], there)
    for j in range(1, way.shape[0]):
        here, there = there, here
        _place(limbs, starts, way[j], there)
        most = max(most, _part(here, there, caps, times[j] - times[j - 1]))
    return most

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

"""Velocities and accelerations of joints whose tip moves with a twist.

A twist is the velocity of the tip's origin [m/s] and the tip's angular velocity [rad/s], along the
axes of the root or of the tip itself.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.jit import helper, jit
from basis_ik.numerics.normal_equations_kernel import solve_symmetric_6
from basis_ik.search.residuals_kernel import fill_twists, place_limb

FloatArray = NDArray[np.float64]

DAMPING = 1e-9  # squared [m or rad]: joints that move the tip by less do not move it
INSTANT = 1e-4  # half the interval of the finite difference [s]
FRAME, NORMAL, WANTED = 0, 1, 7  # rows of `work`


@helper
def _fill_normal(twists: FloatArray, work: FloatArray) -> None:
    """Write J Jᵀ (6, 6), damped; the lower triangle. A row of `twists` is a column of J."""
    for r in range(6):
        for c in range(r + 1):
            total = DAMPING if r == c else 0.0
            for k in range(twists.shape[0]):
                total += twists[k, r] * twists[k, c]
            work[NORMAL + r, c] = total


@helper
def _fill_wanted(
    twist: FloatArray, rate: FloatArray, time: float, tip: FloatArray, in_tip: bool, b: FloatArray
) -> None:
    """Write twist + time rate (6,) along the root's axes."""
    for half in (0, 3):
        x = twist[half] + time * rate[half]
        y = twist[half + 1] + time * rate[half + 1]
        z = twist[half + 2] + time * rate[half + 2]
        for r in range(3):
            if in_tip:
                b[half + r] = tip[r, 0] * x + tip[r, 1] * y + tip[r, 2] * z
        if not in_tip:
            b[half], b[half + 1], b[half + 2] = x, y, z


@helper
def _speeds(
    exact: FloatArray, twist: FloatArray, rate: FloatArray, time: float, in_tip: bool,
    axes: FloatArray, twists: FloatArray, work: FloatArray, q: FloatArray, speeds: FloatArray,
) -> float:  # fmt: skip
    """Write the least joint velocities (n,) at q for a twist; return the lost part of the twist."""
    tip, b = work[FRAME].reshape((3, 4)), work[WANTED]
    place_limb(exact, q, axes, tip)
    fill_twists(exact, axes, tip, twists)
    _fill_normal(twists, work)
    _fill_wanted(twist, rate, time, tip, in_tip, b)
    x0, x1, x2, x3, x4, x5 = solve_symmetric_6(
        work[1, 0], work[2, 0], work[2, 1], work[3, 0], work[3, 1], work[3, 2],
        work[4, 0], work[4, 1], work[4, 2], work[4, 3],
        work[5, 0], work[5, 1], work[5, 2], work[5, 3], work[5, 4],
        work[6, 0], work[6, 1], work[6, 2], work[6, 3], work[6, 4], work[6, 5],
        b[0], b[1], b[2], b[3], b[4], b[5],
    )  # fmt: skip
    for k in range(q.shape[0]):
        speeds[k] = twists[k, 0] * x0 + twists[k, 1] * x1 + twists[k, 2] * x2
        speeds[k] += twists[k, 3] * x3 + twists[k, 4] * x4 + twists[k, 5] * x5
    wanted, lost = 0.0, 0.0
    for r in range(6):
        made = 0.0
        for k in range(q.shape[0]):
            made += twists[k, r] * speeds[k]
        wanted += b[r] * b[r]
        lost += (b[r] - made) ** 2
    return sqrt(lost / wanted) if wanted > 0.0 else 0.0


@jit
def states_on_line(
    exact: FloatArray, twist: FloatArray, rate: FloatArray, in_tip: bool,
    axes: FloatArray, twists: FloatArray, work: FloatArray, moves: FloatArray, states: FloatArray,
) -> float:  # fmt: skip
    """Write velocities and accelerations of joints whose tip moves with a twist.

    The velocities are the least of those that come nearest to the twist. The accelerations are the
    velocities' derivative along the motion, by central differences: exact up to INSTANT squared.

    Args:
        exact: (m + 1, 16), see `proof.place_exactly`.
        twist: (6,) of the tip, linear first.
        rate: (6,) its derivative.
        in_tip: Whether both are along the axes of the tip, and turn with it; else of the root.
        axes: (m, 6) scratch.
        twists: (n, 6) scratch.
        work: (8, 12) scratch.
        moves: (3, n) scratch.
        states: (n, 3) positions, input; velocities and accelerations, output.

    Returns:
        The part of the twist that no joint velocities achieve, in [0, 1].
    """
    q, speeds, lost = moves[0], moves[1], 0.0
    for side in (0.0, 1.0, -1.0):  # here, ahead, behind
        time = INSTANT * side
        for k in range(q.shape[0]):
            q[k] = states[k, 0] + time * states[k, 1]
        missed = _speeds(exact, twist, rate, time, in_tip, axes, twists, work, q, speeds)
        for k in range(q.shape[0]):
            if side == 0.0:
                lost, states[k, 1], states[k, 2] = missed, speeds[k], 0.0
            else:
                states[k, 2] += speeds[k] / (2.0 * time)
    return lost

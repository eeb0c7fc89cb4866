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
from typing import NamedTuple

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.numerics.normal_equations_kernel import (
    Six,
    Triangle,
    diagonal_6,
    solve_symmetric_6,
    with_column_6,
)
from basis_ik.search.limb_kernel import fill_twists, place_limb

DAMPING = 1e-9  # squared [m or rad]: joints with a smaller effect on the tip are not used
INSTANT = 1e-4  # half the interval of the finite difference [s]
FRAME, DESIRED = 0, 1  # rows of `work`


class Line(NamedTuple):
    """The motion of a chain's tip."""

    exact: FloatArray
    """(m + 1, 16), see `proof_kernel.place_exactly`."""
    twist: FloatArray
    """(6,) twist of the tip, linear first."""
    rate: FloatArray
    """(6,) its derivative."""
    in_tip: bool
    """Whether both are along the tip's axes, and turn with it; otherwise along the root's."""


class Scratch(NamedTuple):
    """Work arrays of this file's kernels."""

    axes: FloatArray
    """(m, 6)."""
    twists: FloatArray
    """(n, 6): the columns of the Jacobian."""
    work: FloatArray
    """(2, 12)."""


@helper
def _column(twists: FloatArray, k: int) -> Six:
    """Return a column of the Jacobian."""
    return (
        twists[k, 0], twists[k, 1], twists[k, 2], twists[k, 3], twists[k, 4], twists[k, 5]
    )  # fmt: skip


@helper
def _normal_matrix(twists: FloatArray) -> Triangle:
    """Return J Jᵀ, damped."""
    gram = diagonal_6(DAMPING)
    for k in range(twists.shape[0]):
        gram = with_column_6(gram, _column(twists, k))
    return gram


@helper
def _fill_desired(line: Line, time: float, tip: FloatArray, b: FloatArray) -> None:
    """Write twist + time rate (6,) along the root's axes."""
    twist, rate, in_tip = line.twist, line.rate, line.in_tip
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
def _speeds(line: Line, time: float, scratch: Scratch, q: FloatArray, speeds: FloatArray) -> float:
    """Write the least joint velocities (n,) at q for a twist; return the twist's lost fraction."""
    axes, twists, work = scratch
    tip, b = work[FRAME].reshape((3, 4)), work[DESIRED]
    place_limb(line.exact, q, axes, tip)
    fill_twists(line.exact, axes, tip, twists)
    _fill_desired(line, time, tip, b)
    wanted_twist = (b[0], b[1], b[2], b[3], b[4], b[5])
    x0, x1, x2, x3, x4, x5 = solve_symmetric_6(_normal_matrix(twists), wanted_twist)
    for k in range(q.shape[0]):
        speeds[k] = twists[k, 0] * x0 + twists[k, 1] * x1 + twists[k, 2] * x2
        speeds[k] += twists[k, 3] * x3 + twists[k, 4] * x4 + twists[k, 5] * x5
    desired, lost = 0.0, 0.0
    for r in range(6):
        made = 0.0
        for k in range(q.shape[0]):
            made += twists[k, r] * speeds[k]
        desired += b[r] * b[r]
        lost += (b[r] - made) ** 2
    return sqrt(lost / desired) if desired > 0.0 else 0.0


@jit
def states_on_line(
    line: tuple[FloatArray, FloatArray, FloatArray, bool],
    scratch: tuple[FloatArray, FloatArray, FloatArray], moves: FloatArray, states: FloatArray,
) -> float:  # fmt: skip
    """Write velocities and accelerations of joints whose tip moves with a twist.

    The velocities are the least-norm least-squares solution for the twist. The accelerations are
    their derivative along the motion, by central differences: exact up to INSTANT squared.

    Args:
        line: The fields of a `Line`.
        scratch: The fields of `Scratch`.
        moves: (3, n) scratch.
        states: (n, 3) positions, input; velocities and accelerations, output.

    Returns:
        The fraction of the twist that no joint velocities achieve, in [0, 1].
    """
    motion, memory = Line(*line), Scratch(*scratch)
    q, speeds, lost = moves[0], moves[1], 0.0
    for side in (0.0, 1.0, -1.0):  # here, ahead, behind
        time = INSTANT * side
        for k in range(q.shape[0]):
            q[k] = states[k, 0] + time * states[k, 1]
        missed = _speeds(motion, time, memory, q, speeds)
        for k in range(q.shape[0]):
            if side == 0.0:
                lost, states[k, 1], states[k, 2] = missed, speeds[k], 0.0
            else:
                states[k, 2] += speeds[k] / (2.0 * time)
    return lost

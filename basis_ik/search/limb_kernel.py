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

"""A limb is the row of joints from the root to a tip: where it puts and how it moves the tip."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin
from typing import NamedTuple, Protocol

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.search.tables_kernel import (
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    MULTIPLIER,
    OFFSET,
    P0,
    P1,
    P2,
    POINT_X,
    POINT_Y,
    POINT_Z,
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
)


class Residual(NamedTuple):
    """A kind of residual: how a task's error depends on the frame of its tip."""

    number: int
    """By which `residuals_kernel` knows its rows."""
    position_rows: int
    """How many rows are errors of position; they come first."""
    rotation_rows: int
    """How many rows are errors of rotation."""
    miss: Callable[[FloatArray, FloatArray, FloatArray], tuple[float, float]]
    """The proof: from root_T_tip (3, 4), the goal (4, 4) and the weights (12,) to the distance [m]
    and the angle [rad] that are left. It shares no code with the function that writes the rows."""


class PreparedLimb(Protocol):
    """What a task reads of the chain to its tip."""

    exact: FloatArray
    """(m + 1, 16), see `tables_kernel`."""
    full: FloatArray
    """(12,) the weights of a whole pose."""


class PackedTask(NamedTuple):
    """A task on one limb, as kernels take it."""

    residual: Residual
    limb: FloatArray
    """(m + 1, 16), as `exact` in `tables_kernel`; the tip may be another frame of the last link."""
    weights: FloatArray
    """(12,); any of the position above 0 if it counts, and of the rotation likewise."""
    goal: FloatArray
    """(4, 4)."""
    radius: float
    """Where the task is met, the chain's own tip is no farther than this from the goal's origin
    [m]."""


@helper
def place_limb(limb: FloatArray, q: FloatArray, axes: FloatArray, frame: FloatArray) -> None:
    """Write the axis of every joint, a point (3,) and a direction (3,), and root_T_tip (3, 4).

    The steps are those of `proof_kernel.place_exactly`, written twice on purpose: what proves an
    answer shares nothing with what found it.

    Args:
        limb: (m + 1, 16) as `proof_kernel.place_exactly` takes it.
        q: (n,) variables.
        axes: (≥ m, 6) result.
        frame: (3, 4) result.
    """
    for r in range(3):
        for c in range(4):
            frame[r, c] = limb[0, 4 * r + c]
    for i in range(limb.shape[0] - 1):
        value = limb[i, MULTIPLIER] * q[int(limb[i, VARIABLE])] + limb[i, OFFSET]
        cosine, sine, slide = 1.0, 0.0, value
        if limb[i, PRISMATIC] == 0.0:
            cosine, sine, slide = cos(value), sin(value), 0.0
        j = i + 1
        for r in range(3):
            axes[i, POINT_X + r], axes[i, AXIS_X + r] = frame[r, 3], frame[r, 2]
            x = cosine * frame[r, 0] + sine * frame[r, 1]
            y = cosine * frame[r, 1] - sine * frame[r, 0]
            z = frame[r, 2]
            t = frame[r, 3] + slide * z
            frame[r, 0] = x * limb[j, R00] + y * limb[j, R10] + z * limb[j, R20]
            frame[r, 1] = x * limb[j, R01] + y * limb[j, R11] + z * limb[j, R21]
            frame[r, 2] = x * limb[j, R02] + y * limb[j, R12] + z * limb[j, R22]
            frame[r, 3] = x * limb[j, P0] + y * limb[j, P1] + z * limb[j, P2] + t


@helper
def fill_twists(limb: FloatArray, axes: FloatArray, frame: FloatArray, twists: FloatArray) -> None:
    """Write how the tip moves (n, 3) and turns (n, 3) per unit of each variable.

    Args:
        limb: See `place_limb`.
        axes: As `place_limb` wrote them.
        frame: (3, 4), as `place_limb` wrote it.
        twists: (n, 6) result.
    """
    for k in range(twists.shape[0]):
        for c in range(6):
            twists[k, c] = 0.0
    for i in range(limb.shape[0] - 1):
        k, g = int(limb[i, VARIABLE]), limb[i, MULTIPLIER]
        x, y, z = g * axes[i, AXIS_X], g * axes[i, AXIS_Y], g * axes[i, AXIS_Z]
        if limb[i, PRISMATIC] != 0.0:
            twists[k, 0] += x
            twists[k, 1] += y
            twists[k, 2] += z
            continue
        u, v = frame[0, 3] - axes[i, POINT_X], frame[1, 3] - axes[i, POINT_Y]
        w = frame[2, 3] - axes[i, POINT_Z]
        twists[k, 0] += y * w - z * v
        twists[k, 1] += z * u - x * w
        twists[k, 2] += x * v - y * u
        twists[k, 3] += x
        twists[k, 4] += y
        twists[k, 5] += z

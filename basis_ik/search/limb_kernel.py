# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A limb is the row of joints from the root to a tip: where it puts and how it moves the tip."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from basis_ik.descent.tables_kernel import (
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
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper
from basis_ik.robot.chain_kernel import joint_motion, joint_twist, through_joint, through_link


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

    @property
    def exact(self) -> FloatArray:
        """(m + 1, 16), see `tables_kernel`."""

    @property
    def weights(self) -> FloatArray:
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

    It does the work of `proof_kernel.place_exactly` with other code: what proves an answer shares
    nothing with what found it.

    Args:
        limb: (m + 1, 16) as `proof_kernel.place_exactly` takes it.
        q: (n,) variables.
        axes: (≥ m, 6) result.
        frame: (3, 4) result.
    """
    first = limb[0]
    one = first[R00], first[R01], first[R02], first[P0]
    two = first[R10], first[R11], first[R12], first[P1]
    three = first[R20], first[R21], first[R22], first[P2]
    for i in range(limb.shape[0] - 1):
        axes[i, POINT_X], axes[i, POINT_Y], axes[i, POINT_Z] = one[3], two[3], three[3]
        axes[i, AXIS_X], axes[i, AXIS_Y], axes[i, AXIS_Z] = one[2], two[2], three[2]
        value = limb[i, MULTIPLIER] * q[int(limb[i, VARIABLE])] + limb[i, OFFSET]
        motion = joint_motion(limb[i, PRISMATIC] != 0.0, value)
        link = limb[i + 1]
        one = through_link(through_joint(one, motion), link)
        two = through_link(through_joint(two, motion), link)
        three = through_link(through_joint(three, motion), link)
    frame[0, 0], frame[0, 1], frame[0, 2], frame[0, 3] = one
    frame[1, 0], frame[1, 1], frame[1, 2], frame[1, 3] = two
    frame[2, 0], frame[2, 1], frame[2, 2], frame[2, 3] = three


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
        k, turn, slide = int(limb[i, VARIABLE]), limb[i, MULTIPLIER], 0.0 * limb[i, MULTIPLIER]
        if limb[i, PRISMATIC] != 0.0:
            turn, slide = slide, turn
        u, v = frame[0, 3] - axes[i, POINT_X], frame[1, 3] - axes[i, POINT_Y]
        arm = (u, v, frame[2, 3] - axes[i, POINT_Z])
        axis = (axes[i, AXIS_X], axes[i, AXIS_Y], axes[i, AXIS_Z])
        vx, vy, vz, wx, wy, wz = joint_twist(turn, slide, axis, arm)
        twists[k, 0] += vx
        twists[k, 1] += vy
        twists[k, 2] += vz
        twists[k, 3] += wx
        twists[k, 4] += wy
        twists[k, 5] += wz

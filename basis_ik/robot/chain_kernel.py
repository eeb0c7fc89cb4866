# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forward kinematics and Jacobian of a serial chain.

A chain is a series of m moving joints between a root link and a tip link. Fixed joints are merged
into their neighbours, and each joint's axis is its local +z. Thus a joint is a constant transform,
followed by a rotation about z or a translation along z. Lengths are in [m], angles in [rad].

Frames are (3, 4) arrays: a rotation (3, 3) and a translation (3,) side by side.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.numerics.normal_equations_kernel import Six

IntArray = NDArray[np.int64]


class ChainArrays(NamedTuple):
    """A serial chain of m moving joints, driven by n variables, as arrays.

    All arrays are C-contiguous and writable, but are never written: numba compiles kernels again
    for read-only arrays, and passes them slowly. Passing a named tuple from Python costs 2 µs more
    than a plain one, so functions that Python calls take `arrays[:]`, a plain tuple.
    """

    origins: FloatArray
    """(m, 3, 4) transform from the previous joint's moved frame (joint 0: the root link)."""
    prismatic: IntArray
    """(m,) 1 if the joint slides along its z, 0 if it turns about its z."""
    variables: IntArray
    """(m,) index into q; mimic joints share a variable."""
    multipliers: FloatArray
    """(m,) joint value = multipliers * q[variables] + offsets."""
    offsets: FloatArray
    """(m,) [rad or m]."""
    tip: FloatArray
    """(3, 4) transform from the last joint's moved frame to the tip link."""
    lower: FloatArray
    """(n,) lower limits of the variables; -inf if continuous."""
    upper: FloatArray
    """(n,) upper limits; +inf if continuous."""
    continuous: IntArray
    """(n,) 1 if a full turn of the variable returns all its joints to the same place."""


ChainFields = tuple[
    FloatArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray,
    IntArray,
]  # fmt: skip
"""The fields of `ChainArrays`."""
Triple = tuple[float, float, float]
Row = tuple[float, float, float, float]
"""A row of a frame; with three rows in registers the loop is twice as fast as in memory."""


@inlined
def through_link(row: Row, link: FloatArray) -> Row:
    """Return a row of frame @ link; the first 12 numbers of `link` are a frame (3, 4) by rows."""
    a, b, d, t = row
    return (
        a * link[0] + b * link[4] + d * link[8],
        a * link[1] + b * link[5] + d * link[9],
        a * link[2] + b * link[6] + d * link[10],
        a * link[3] + b * link[7] + d * link[11] + t,
    )


@inlined
def through_joint(row: Row, motion: Triple) -> Row:
    """Return a row of frame @ motion, with a joint's motion as of `joint_motion`."""
    (x, y, z, t), (cosine, sine, slide) = row, motion
    return cosine * x + sine * y, cosine * y - sine * x, z, t + slide * z


@inlined
def joint_motion(slides: bool, value: float) -> Triple:
    """Return a joint's motion: cosine and sine of its angle about z, and its slide along z."""
    if slides:
        return 1.0, 0.0, value
    return cos(value), sin(value), 0.0


@inlined
def joint_twist(turn: float, slide: float, axis: Triple, arm: Triple) -> Six:
    """Return how a joint moves a point: a column of the geometric Jacobian.

    All Jacobians by joints that turn about an axis or slide along it are made of these.

    Args:
        turn: Angle of the joint by its variable [rad].
        slide: Length of the joint by its variable [m].
        axis: Its direction, a unit vector.
        arm: The point, from a point on the axis [m].

    Returns:
        The point's velocity, and the angular velocity, by the variable.
    """
    (x, y, z), (a, b, c) = axis, arm
    return (
        turn * (y * c - z * b) + slide * x,
        turn * (z * a - x * c) + slide * y,
        turn * (x * b - y * a) + slide * z,
        turn * x,
        turn * y,
        turn * z,
    )


@helper
def _store(x: Row, y: Row, z: Row, out: FloatArray) -> None:
    """Write three rows as a frame (3, 4)."""
    for c in range(4):
        out[0, c] = x[c]
        out[1, c] = y[c]
        out[2, c] = z[c]


@helper
def joint_value(chain: ChainArrays, q: FloatArray, joint: int) -> float:
    """Return the value of one of the m joints, by its mimic relation [rad or m]."""
    return chain.multipliers[joint] * q[chain.variables[joint]] + chain.offsets[joint]  # type: ignore[no-any-return]


@helper
def forward_frames(chain: ChainArrays, q: FloatArray, frames: FloatArray, tip: FloatArray) -> None:
    """Write all joints' moved frames (m, 3, 4) and root_T_tip (3, 4), in the root frame.

    Column 2 of a frame is the joint's axis; column 3 is a point on the axis of a turning joint.
    """
    x, y, z = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)
    origins, last = chain.origins.reshape((-1, 12)), chain.tip.reshape(12)
    for i in range(origins.shape[0]):
        origin = origins[i]
        motion = joint_motion(chain.prismatic[i] != 0, joint_value(chain, q, i))
        x = through_joint(through_link(x, origin), motion)
        y = through_joint(through_link(y, origin), motion)
        z = through_joint(through_link(z, origin), motion)
        _store(x, y, z, frames[i])
    _store(through_link(x, last), through_link(y, last), through_link(z, last), tip)


@helper
def jacobian_at(
    chain: ChainArrays, frames: FloatArray, point: FloatArray, jacobian: FloatArray
) -> None:
    """Write the geometric Jacobian (6, n) of a point (3,) fixed to the tip, in the root frame.

    Rows 0-2 are linear [m], rows 3-5 angular [rad], per unit of each variable. `frames` is the
    output of `forward_frames`. The columns of joints with a common variable are added.
    """
    jacobian[:, :] = 0.0
    for i in range(chain.origins.shape[0]):
        k, frame = chain.variables[i], frames[i]
        turn, slide = chain.multipliers[i], 0.0 * chain.multipliers[i]
        if chain.prismatic[i] != 0:
            turn, slide = slide, turn
        axis = (frame[0, 2], frame[1, 2], frame[2, 2])
        arm = (point[0] - frame[0, 3], point[1] - frame[1, 3], point[2] - frame[2, 3])
        vx, vy, vz, wx, wy, wz = joint_twist(turn, slide, axis, arm)
        jacobian[0, k] += vx
        jacobian[1, k] += vy
        jacobian[2, k] += vz
        jacobian[3, k] += wx
        jacobian[4, k] += wy
        jacobian[5, k] += wz


@helper
def forward_and_jacobian(
    chain: ChainArrays, q: FloatArray, frames: FloatArray, tip: FloatArray, jacobian: FloatArray
) -> None:
    """Write joint frames (m, 3, 4), root_T_tip (3, 4) and the tip's Jacobian (6, n) at q (n,)."""
    forward_frames(chain, q, frames, tip)
    jacobian_at(chain, frames, tip[:, 3], jacobian)


@jit
def link_frames(
    frames: FloatArray, joints: IntArray, constants: FloatArray, out: FloatArray
) -> None:
    """Write root_T_link (k, 3, 4) for k links that are fixed to joints' moved frames.

    Args:
        frames: (m, 3, 4) from `forward_frames`.
        joints: (k,) the joint that each link is fixed to, -1 for the root link.
        constants: (k, 3, 4) transform from that joint's moved frame (or the root link) to the link.
        out: (k, 3, 4), or (k, 4, 4) whose last rows are not changed.
    """
    for i in range(joints.shape[0]):
        for r in range(3):
            row = (1.0 * (r == 0), 1.0 * (r == 1), 1.0 * (r == 2), 0.0)
            if joints[i] >= 0:
                frame = frames[joints[i]]
                row = (frame[r, 0], frame[r, 1], frame[r, 2], frame[r, 3])
            moved = through_link(row, constants[i].reshape(12))
            for c in range(4):
                out[i, r, c] = moved[c]


@jit
def forward_from_fields(
    chain: ChainFields, q: FloatArray, frames: FloatArray, tip: FloatArray, jacobian: FloatArray
) -> None:
    """Run `forward_and_jacobian` from Python, with the fields of a chain's arrays."""
    forward_and_jacobian(ChainArrays(*chain), q, frames, tip, jacobian)

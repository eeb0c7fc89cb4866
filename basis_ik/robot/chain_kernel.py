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
from basis_ik.numerics.jit import helper, jit

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
    """(n,) lower limits of the variables, including those of mimic joints; -inf if continuous."""
    upper: FloatArray
    """(n,) upper limits; +inf if continuous."""
    continuous: IntArray
    """(n,) 1 if a full turn of the variable returns all its joints to the same place."""


ChainFields = tuple[
    FloatArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray,
    IntArray,
]  # fmt: skip
"""The fields of `ChainArrays`."""
Row = tuple[float, float, float, float]
"""A row of a frame; with three rows in registers `forward` is twice as fast as in memory."""


@helper
def _moved(row: Row, origin: FloatArray, c: float, s: float, slide: float) -> Row:
    """Return a row of frame @ origin @ (rotation about z with cosine c, sine s; slide along z)."""
    a, b, d, t = row
    x = a * origin[0, 0] + b * origin[1, 0] + d * origin[2, 0]
    y = a * origin[0, 1] + b * origin[1, 1] + d * origin[2, 1]
    z = a * origin[0, 2] + b * origin[1, 2] + d * origin[2, 2]
    p = a * origin[0, 3] + b * origin[1, 3] + d * origin[2, 3] + t
    return c * x + s * y, c * y - s * x, z, p + slide * z


@helper
def _motion(slides: int, value: float) -> tuple[float, float, float]:
    """Return a joint's motion: cosine and sine of its angle about z, and its slide along z."""
    if slides != 0:
        return 1.0, 0.0, value
    return cos(value), sin(value), 0.0


@helper
def _store(x: Row, y: Row, z: Row, out: FloatArray) -> None:
    """Write three rows as a frame (3, 4)."""
    for c in range(4):
        out[0, c] = x[c]
        out[1, c] = y[c]
        out[2, c] = z[c]


@helper
def _store_moved(x: Row, y: Row, z: Row, constant: FloatArray, out: FloatArray) -> None:
    """Write three rows, as a frame, times a constant transform (3, 4)."""
    _store(
        _moved(x, constant, 1.0, 0.0, 0.0),
        _moved(y, constant, 1.0, 0.0, 0.0),
        _moved(z, constant, 1.0, 0.0, 0.0),
        out,
    )


@helper
def joint_value(chain: ChainArrays, q: FloatArray, joint: int) -> float:
    """Return the value of one of the m joints, by its mimic relation [rad or m]."""
    return chain.multipliers[joint] * q[chain.variables[joint]] + chain.offsets[joint]  # type: ignore[no-any-return]


@helper
def forward(chain: ChainArrays, q: FloatArray, tip: FloatArray) -> None:
    """Write root_T_tip (3, 4) at variables q (n,)."""
    x, y, z = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)
    for i in range(chain.origins.shape[0]):
        origin = chain.origins[i]
        c, s, slide = _motion(chain.prismatic[i], joint_value(chain, q, i))
        x = _moved(x, origin, c, s, slide)
        y = _moved(y, origin, c, s, slide)
        z = _moved(z, origin, c, s, slide)
    _store_moved(x, y, z, chain.tip, tip)


@helper
def forward_frames(chain: ChainArrays, q: FloatArray, frames: FloatArray, tip: FloatArray) -> None:
    """Write all joints' moved frames (m, 3, 4) and root_T_tip (3, 4), in the root frame.

    Column 2 of a frame is the joint's axis; column 3 is a point on the axis of a turning joint.
    """
    x, y, z = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)
    for i in range(chain.origins.shape[0]):
        origin = chain.origins[i]
        c, s, slide = _motion(chain.prismatic[i], joint_value(chain, q, i))
        x = _moved(x, origin, c, s, slide)
        y = _moved(y, origin, c, s, slide)
        z = _moved(z, origin, c, s, slide)
        _store(x, y, z, frames[i])
    _store_moved(x, y, z, chain.tip, tip)


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
        k = chain.variables[i]
        g = chain.multipliers[i]
        x, y, z = g * frames[i, 0, 2], g * frames[i, 1, 2], g * frames[i, 2, 2]
        if chain.prismatic[i] != 0:
            jacobian[0, k] += x
            jacobian[1, k] += y
            jacobian[2, k] += z
            continue
        a = point[0] - frames[i, 0, 3]
        b = point[1] - frames[i, 1, 3]
        c = point[2] - frames[i, 2, 3]
        jacobian[0, k] += y * c - z * b
        jacobian[1, k] += z * a - x * c
        jacobian[2, k] += x * b - y * a
        jacobian[3, k] += x
        jacobian[4, k] += y
        jacobian[5, k] += z


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
            moved = _moved(row, constants[i], 1.0, 0.0, 0.0)
            for c in range(4):
                out[i, r, c] = moved[c]


@jit
def forward_from_fields(
    chain: ChainFields, q: FloatArray, frames: FloatArray, tip: FloatArray, jacobian: FloatArray
) -> None:
    """Run `forward_and_jacobian` from Python, with the fields of a chain's arrays."""
    forward_and_jacobian(ChainArrays(*chain), q, frames, tip, jacobian)

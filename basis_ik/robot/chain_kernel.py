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

A chain is a row of m moving joints between a root link and a tip link. Fixed joints are folded into
their neighbours and every joint axis is turned to local +z, so one joint is one constant transform
followed by one turn about z or one slide along z. Lengths in [m], angles in [rad].

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
    """The one numeric form of a serial chain: m moving joints driven by n variables.

    All arrays are C-contiguous and writable, though nobody writes to them: numba compiles read-only
    arrays apart and takes them slowly. A named tuple costs 2 µs on the way in from Python, a plain
    one no more than its fields: functions called from Python take `arrays[:]`, which is plain.
    """

    origins: FloatArray
    """(m, 3, 4) from the previous joint's moved frame (joint 0: the root link) to this joint's."""
    prismatic: IntArray
    """(m,) 1 when the joint slides along its z, 0 when it turns about its z."""
    variables: IntArray
    """(m,) index into q; mimic joints share a variable."""
    multipliers: FloatArray
    """(m,) joint value = multipliers * q[variables] + offsets."""
    offsets: FloatArray
    """(m,) in [rad] or [m]."""
    tip: FloatArray
    """(3, 4) from the last joint's moved frame to the tip link."""
    lower: FloatArray
    """(n,) lower limits of the variables, those of mimic joints folded in; -inf if continuous."""
    upper: FloatArray
    """(n,) upper limits; +inf if continuous."""
    continuous: IntArray
    """(n,) 1 when a full turn of the variable brings every joint it drives back to its place."""


ChainFields = tuple[
    FloatArray, IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray,
    IntArray,
]  # fmt: skip
"""The fields of `ChainArrays`."""
Row = tuple[float, float, float, float]
"""One row of a frame; three rows in registers make `forward` twice as fast as a frame in memory."""


@helper
def _moved(row: Row, origin: FloatArray, c: float, s: float, slide: float) -> Row:
    """Return one row of frame @ origin @ (turn about z of cosine c and sine s, slide along z)."""
    a, b, d, t = row
    x = a * origin[0, 0] + b * origin[1, 0] + d * origin[2, 0]
    y = a * origin[0, 1] + b * origin[1, 1] + d * origin[2, 1]
    z = a * origin[0, 2] + b * origin[1, 2] + d * origin[2, 2]
    p = a * origin[0, 3] + b * origin[1, 3] + d * origin[2, 3] + t
    return c * x + s * y, c * y - s * x, z, p + slide * z


@helper
def _motion(slides: int, value: float) -> tuple[float, float, float]:
    """Return a joint's motion: cosine and sine of its turn about z, and its slide along z."""
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
    """Return the value of one of the m joints, mimic relation applied, in [rad] or [m]."""
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
    """Write every joint's moved frame (m, 3, 4), and root_T_tip (3, 4), all in the root frame.

    Column 2 of a frame is the joint's axis. Its column 3 lies on the axis of a turning joint.
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

    Rows 0-2 are linear [m], rows 3-5 angular [rad], per unit of each variable. `frames` is what
    `forward_frames` wrote; columns of joints that share a variable add up.
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
        frames: (m, 3, 4) as written by `forward_frames`.
        joints: (k,) the joint each link is fixed to, -1 for the root link.
        constants: (k, 3, 4) from that joint's moved frame (or the root link) to the link.
        out: (k, 3, 4) or (k, 4, 4), of which the last rows stay as they are.
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

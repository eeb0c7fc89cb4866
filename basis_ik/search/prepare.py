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

"""Making a chain ready for the solvers: reduced, packed into few arrays, kept with the chain."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.chain import Chain
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.robot.configurations import middle
from basis_ik.search.closed_form import closed_form
from basis_ik.search.closed_form_axes import Free
from basis_ik.search.precomputed_starts import with_own_starts
from basis_ik.search.prepared_chain import PATIENCE, ROTATION_WEIGHT, PreparedChain

FloatArray = NDArray[np.float64]


def prepare(arrays: ChainArrays) -> PreparedChain:
    """Reduce and pack a chain; costs some 50 ms, `prepared` keeps the result."""
    reach = _reach(arrays)
    size = reach if 0.0 < reach < np.inf else 1.0
    unit = 1.0 / size
    first = arrays.origins[0] if len(arrays.origins) else np.eye(3, 4)
    exact, variables = _pack_exact(arrays), _pack_variables(arrays, size)
    ready = PreparedChain(
        exact=exact,
        joints=reduce_joints(arrays),
        variables=variables,
        ends=np.stack([first, arrays.tip]),
        reach=reach,
        size=size,
        limits=(arrays.lower.copy(), arrays.upper.copy()),
        middle=middle(arrays.lower, arrays.upper),
        full=np.array([unit] * 3 + [ROTATION_WEIGHT] * 3 + [0.0] * 6),
        position=np.array([unit] * 3 + [0.0] * 9),
        closed=closed_form(exact, variables, size),
        closed_position=closed_form(exact, variables, size, Free.ORIENTATION),
    )
    return replace(ready, variables=with_own_starts(ready, PATIENCE))


def reduce_joints(arrays: ChainArrays) -> FloatArray:
    """Write every constant transform between two axes as Rz(a) [Rx(b) | t] Rz(c).

    The turns about z join the joint angles beside them, which leaves a joint two plane rotations
    and one translation. Unlike Denavit and Hartenberg's form, whose common normal runs away to
    infinity for axes that are parallel up to the rounding of a URDF, this one loses no digits.

    Returns:
        (m, 12): angle = [0] q + [1], slide = [2] q + [3], cos b, sin b, t (3,), index of q, whether
        the joint is the first one that its variable drives, whether it is the only one.
    """
    joints = np.zeros((len(arrays.origins), 12))
    seen: set[int] = set()
    carried = 0.0
    for i, row in enumerate(joints):
        slides = arrays.prismatic[i] != 0
        row[2 if slides else 0] = arrays.multipliers[i]
        row[3 if slides else 1] = arrays.offsets[i]
        row[1] += carried
        row[4] = 1.0
        if i + 1 < len(joints):
            link = arrays.origins[i + 1]
            a = np.arctan2(link[0, 2], -link[1, 2])
            turn = np.array(
                [[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0, 0, 1.0]]
            )
            rest = turn @ link
            b = np.arctan2(-rest[1, 2], rest[2, 2])
            row[1] += a
            row[4:6] = np.cos(b), np.sin(b)
            row[6:9] = rest[:, 3]
            carried = np.arctan2(-rest[0, 1], rest[0, 0])
        variable = int(arrays.variables[i])
        row[9], row[10] = variable, variable not in seen
        row[11] = np.count_nonzero(arrays.variables == variable) == 1
        seen.add(variable)
    return joints


def _pack_exact(arrays: ChainArrays) -> FloatArray:
    exact = np.zeros((len(arrays.origins) + 1, 16))
    exact[:-1, :12] = arrays.origins.reshape(-1, 12)
    exact[-1, :12] = arrays.tip.reshape(12)
    exact[:-1, 12] = arrays.prismatic
    exact[:-1, 13] = arrays.multipliers
    exact[:-1, 14] = arrays.offsets
    exact[:-1, 15] = arrays.variables
    return exact


def _pack_variables(arrays: ChainArrays, size: float) -> FloatArray:
    n = len(arrays.lower)
    variables = np.zeros((n, 8))
    variables[:, 0], variables[:, 1] = arrays.lower, arrays.upper
    for k in range(n):
        driven = arrays.variables == k
        slides = arrays.prismatic[driven] != 0
        whole = arrays.multipliers[driven] == np.round(arrays.multipliers[driven])
        # Slides are put on the footing of angles: chains then solve alike in any unit.
        variables[k, 2] = size if slides.all() else 1.0
        variables[k, 5] = bool(driven.any() and not slides.any() and whole.all())
        span = size if slides.any() else np.pi
        lower, upper = arrays.lower[k], arrays.upper[k]
        if variables[k, 5] and upper - lower > 2.0 * np.pi:  # one turn holds every pose
            lower, upper = max(lower, -np.pi), min(upper, np.pi)
            if not upper - lower > 6.0:
                lower, upper = arrays.lower[k], arrays.upper[k]
        variables[k, 3] = lower if np.isfinite(lower) else min(-span, upper - 2.0 * span)
        variables[k, 4] = upper if np.isfinite(upper) else max(span, lower + 2.0 * span)
    variables[:, 6] = golden_steps(n)
    return variables


def golden_steps(n: int) -> FloatArray:
    """Return the steps of Roberts' sequence: powers of the root of x^(n+1) = x + 1."""
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (n + 1))
    return root ** -np.arange(1.0, n + 1.0)


def _reach(arrays: ChainArrays) -> float:
    lengths = [float(np.linalg.norm(origin[:, 3])) for origin in arrays.origins[1:]]
    lengths.append(float(np.linalg.norm(arrays.tip[:, 3])))
    for i in np.flatnonzero(arrays.prismatic):
        k = arrays.variables[i]
        ends = arrays.multipliers[i] * np.array([arrays.lower[k], arrays.upper[k]])
        lengths.append(float(np.abs(ends + arrays.offsets[i]).max()))
    return float(sum(lengths))


_kept: dict[int, tuple[weakref.ref[Chain], PreparedChain]] = {}


def prepared(chain: Chain) -> PreparedChain:
    """Return the chain made ready, from memory after the first time.

    Raises:
        SolveArgumentError: It is no chain.
    """
    entry = _kept.get(id(chain))
    if entry is not None:
        return entry[1]
    if not isinstance(chain, Chain):
        raise SolveArgumentError("chain", type(chain), "a Chain, which `RobotModel.chain()` makes")
    key = id(chain)
    ready = prepare(chain.arrays)
    _kept[key] = (weakref.ref(chain, lambda _: _kept.pop(key, None)), ready)
    return ready

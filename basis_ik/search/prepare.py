# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Prepares chains for the solvers: reduced, packed into few arrays, cached per chain."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np

from basis_ik.closed_form.closed_form import closed_form
from basis_ik.closed_form.closed_form_axes import Free
from basis_ik.closed_form.redundant_form import redundant_form
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    DRIVER,
    GOLDEN_STEP,
    IS_FIRST,
    IS_ONLY,
    LINK_X,
    LINK_Z,
    LOWER,
    MULTIPLIER,
    OFFSET,
    ORIGIN,
    PERIODIC,
    PRISMATIC,
    SCALE,
    SLIDE,
    SLIDE_OFFSET,
    START_LOWER,
    START_UPPER,
    TURN,
    TURN_OFFSET,
    TWIST_COSINE,
    TWIST_SINE,
    UPPER,
    VARIABLE,
)
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.robot.configurations import middle
from basis_ik.search.precomputed_starts import with_own_starts
from basis_ik.search.prepared_chain import ROTATION_WEIGHT, PreparedChain

PREPARED_ROUNDING = 1e-13  # relative, of a sum of lengths and of a distance


def prepare(arrays: ChainArrays) -> PreparedChain:
    """Reduce and pack a chain. This takes some 50 ms; `prepared` caches the result."""
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
        reach=reach + PREPARED_ROUNDING * (reach + float(np.linalg.norm(first[:, 3]))),
        size=size,
        limits=(arrays.lower.copy(), arrays.upper.copy()),
        middle=middle(arrays.lower, arrays.upper),
        weights=np.array([unit] * 3 + [ROTATION_WEIGHT] * 3 + [0.0] * 6),
        position_weights=np.array([unit] * 3 + [0.0] * 9),
        closed=closed_form(exact, variables, size),
        closed_position=closed_form(exact, variables, size, Free.ORIENTATION),
        redundant=redundant_form(exact, variables, size),
    )
    return replace(ready, variables=with_own_starts(ready))


def reduce_joints(arrays: ChainArrays) -> FloatArray:
    """Write each constant transform between two axes as Rz(a) [Rx(b) | t] Rz(c).

    The rotations about z are added to the neighbouring joint angles, which leaves two plane
    rotations and one translation for a joint. The common normal of Denavit and Hartenberg's form
    goes to infinity for axes that are parallel up to the rounding of a URDF; this form loses no
    digits.

    Returns:
        `joints` (m, 12), see `tables_kernel`; b is the twist, t the link.
    """
    joints = np.zeros((len(arrays.origins), 12))
    seen: set[int] = set()
    carried = 0.0
    for i, row in enumerate(joints):
        slides = arrays.prismatic[i] != 0
        row[SLIDE if slides else TURN] = arrays.multipliers[i]
        row[SLIDE_OFFSET if slides else TURN_OFFSET] = arrays.offsets[i]
        row[TURN_OFFSET] += carried
        row[TWIST_COSINE] = 1.0
        if i + 1 < len(joints):
            link = arrays.origins[i + 1]
            a = np.arctan2(link[0, 2], -link[1, 2])
            turn = np.array(
                [[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0, 0, 1.0]]
            )
            rest = turn @ link
            b = np.arctan2(-rest[1, 2], rest[2, 2])
            row[TURN_OFFSET] += a
            row[TWIST_COSINE], row[TWIST_SINE] = np.cos(b), np.sin(b)
            row[LINK_X : LINK_Z + 1] = rest[:, 3]
            carried = np.arctan2(-rest[0, 1], rest[0, 0])
        variable = int(arrays.variables[i])
        row[DRIVER], row[IS_FIRST] = variable, variable not in seen
        row[IS_ONLY] = np.count_nonzero(arrays.variables == variable) == 1
        seen.add(variable)
    return joints


def _pack_exact(arrays: ChainArrays) -> FloatArray:
    exact = np.zeros((len(arrays.origins) + 1, 16))
    exact[:-1, ORIGIN] = arrays.origins.reshape(-1, 12)
    exact[-1, ORIGIN] = arrays.tip.reshape(12)
    exact[:-1, PRISMATIC] = arrays.prismatic
    exact[:-1, MULTIPLIER] = arrays.multipliers
    exact[:-1, OFFSET] = arrays.offsets
    exact[:-1, VARIABLE] = arrays.variables
    return exact


def _pack_variables(arrays: ChainArrays, size: float) -> FloatArray:
    n = len(arrays.lower)
    variables = np.zeros((n, COLUMNS))
    variables[:, LOWER], variables[:, UPPER] = arrays.lower, arrays.upper
    for k in range(n):
        driven = arrays.variables == k
        slides = arrays.prismatic[driven] != 0
        integer = arrays.multipliers[driven] == np.round(arrays.multipliers[driven])
        # The scale makes lengths comparable to angles: the unit of length does not matter.
        variables[k, SCALE] = size if slides.all() else 1.0
        variables[k, PERIODIC] = bool(driven.any() and not slides.any() and integer.all())
        span = size if slides.any() else np.pi
        lower, upper = arrays.lower[k], arrays.upper[k]
        if variables[k, PERIODIC] and upper - lower > 2.0 * np.pi:  # one turn has every pose
            lower, upper = max(lower, -np.pi), min(upper, np.pi)
            if not upper - lower > 6.0:
                lower, upper = arrays.lower[k], arrays.upper[k]
        variables[k, START_LOWER] = lower if np.isfinite(lower) else min(-span, upper - 2.0 * span)
        variables[k, START_UPPER] = upper if np.isfinite(upper) else max(span, lower + 2.0 * span)
    variables[:, GOLDEN_STEP] = golden_steps(n)
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


_cache: dict[int, tuple[weakref.ref[Chain], PreparedChain]] = {}


def prepared(chain: Chain) -> PreparedChain:
    """Return the prepared chain, from the cache after the first call.

    Raises:
        SolveArgumentError: The argument is not a `Chain`.
    """
    entry = _cache.get(id(chain))
    if entry is not None:
        return entry[1]
    if not isinstance(chain, Chain):
        raise SolveArgumentError("chain", type(chain), "a Chain, which `RobotModel.chain()` makes")
    key = id(chain)
    ready = prepare(chain.arrays)
    _cache[key] = (weakref.ref(chain, lambda _: _cache.pop(key, None)), ready)
    return ready

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of an arm with joints to spare: some joints on a grid, the other six in closed form.

Joints at the ends of a chain are fixed until six are left between them. These have the same
geometry wherever the fixed ones are, and so one form. The fixed joints parametrise the self-motion
(Lee and Bejczy 1991; He and Liu 2021 fix the last joint of a Panda).
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.closed_form.closed_form_kernel import (
    ERROR,
    MAX_FORM_BRANCHES,
    find_branches,
    form_goal,
)
from basis_ik.closed_form.closed_form_search_kernel import assign_variables, clamp_seed
from basis_ik.descent.pose_search_kernel import take_shortest_turns
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import LOWER, UPPER
from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

# By how many times the rise from one point of the grid to the next what is between them may be less
# outside the limits than at both: once where an edge is between straight slopes.
STEEPER = 4.0

IntArray = NDArray[np.int64]


class SplitChain(NamedTuple):
    """A chain, taken apart into joints that are fixed, at its ends, and those between them."""

    lead: FloatArray
    """(a + 1, 16) the joints before those between, and no tip, see `tables_kernel`."""
    trail: FloatArray
    """(b + 1, 16) the joints behind them, and the tip."""
    order: FloatArray
    """(k + d,) numbers of the variables: of those between, then of the fixed ones that have room
    between their limits."""
    form: FloatArray
    """(27, 3) of the joints between, see `closed_form_kernel.find_branches`."""
    variables: FloatArray
    """(k, 8) of these."""


@helper
def write_inner_target(
    lead: FloatArray, target: FloatArray, trail: FloatArray, inner: FloatArray
) -> None:
    """Write lead_T_trail (4, 4), which the joints between have to reach.

    Args:
        lead: (3, 4) root_T_lead.
        target: (4, 4) root_T_target.
        trail: (3, 4) trail_T_target.
        inner: (4, 4) result.
    """
    for r in range(3):
        x, y, z = lead[0, r], lead[1, r], lead[2, r]
        a = x * target[0, 0] + y * target[1, 0] + z * target[2, 0]
        b = x * target[0, 1] + y * target[1, 1] + z * target[2, 1]
        c = x * target[0, 2] + y * target[1, 2] + z * target[2, 2]
        for k in range(3):
            inner[r, k] = a * trail[k, 0] + b * trail[k, 1] + c * trail[k, 2]
            inner[3, k] = 0.0
        inner[r, 3] = (
            x * (target[0, 3] - lead[0, 3])
            + y * (target[1, 3] - lead[1, 3])
            + z * (target[2, 3] - lead[2, 3])
            - inner[r, 0] * trail[0, 3]
            - inner[r, 1] * trail[1, 3]
            - inner[r, 2] * trail[2, 3]
        )
    inner[3, 3] = 1.0


@helper
def fix_joints(
    split: SplitChain, target: FloatArray, values: FloatArray, q: FloatArray, inner: FloatArray
) -> None:
    """Write values (d,) of the fixed joints into q (n,), and the target of those between."""
    frames, between = np.empty((2, 3, 4)), split.order.shape[0] - values.shape[0]
    for i in range(values.shape[0]):
        q[int(split.order[between + i])] = values[i]
    place_exactly(split.lead, q, frames[0])
    place_exactly(split.trail, q, frames[1])
    write_inner_target(frames[0], target, frames[1], inner)


@helper
def turn_inside(variables: FloatArray, seed: FloatArray, branch: FloatArray) -> float:
    """Turn a branch (k,) to near the seed, within the limits where that is possible.

    Returns:
        By how much the worst joint is outside [rad or sizes].
    """
    take_shortest_turns(variables, seed, branch)
    excess = 0.0
    for k in range(branch.shape[0]):
        lower, upper = variables[k, LOWER], variables[k, UPPER]
        if not lower <= branch[k] <= upper:
            branch[k] += whole_turns(0.5 * (lower + upper) - branch[k])
            excess = max(excess, max(lower - branch[k], branch[k] - upper))
    return excess


@helper
def keep_branches(
    split: SplitChain, target: FloatArray, seed: FloatArray, q: FloatArray, found: FloatArray,
    kept: int, bound: float,
) -> int:  # fmt: skip
    """Write the positions with the fixed joints as in q (n,); return how many there are then.

    Args:
        split: The chain.
        target: (4, 4) that the joints between are to reach.
        seed: (k,) of these.
        q: (n,).
        found: (most, n + 1) result: positions, and by how much the worst joint is outside its
            limits [rad].
        kept: How many rows of it are in use.
        bound: By how much they may be outside [rad].
    """
    form, variables, n = split.form, split.variables, q.shape[0]
    angles, branch = np.empty((MAX_FORM_BRANCHES, ERROR + 1)), np.empty(variables.shape[0])
    count, _ = find_branches(form, form_goal(form, target, 0.0, seed), angles)
    for i in range(count):
        if isnan(angles[i, 0]):  # a wrist that cannot be turned so
            continue
        clamp_seed(variables, seed, branch)
        assign_variables(form, seed, angles[i], branch)
        excess = turn_inside(variables, seed, branch)
        if excess > bound:
            continue
        for k in range(n):
            found[kept, k] = q[k]
        for k in range(variables.shape[0]):
            found[kept, int(split.order[k])] = branch[k]
        found[kept, n] = excess
        kept += 1
    return kept


@helper
def are_near(found: FloatArray, i: int, j: int, apart: float) -> bool:
    """Return whether no joints of two rows are farther apart, full turns aside [rad]."""
    for k in range(found.shape[1] - 1):
        off = found[j, k] - found[i, k]
        if abs(off) > apart and abs(off - whole_turns(off)) > apart:
            return False
    return True


@helper
def rise_to(found: FloatArray, i: int, begin: int, end: int, apart: float) -> tuple[bool, float]:
    """Compare row i with the rows near it from `begin` to `end`.

    Returns:
        Whether one of them is less outside its limits; by how much the worst is farther outside, -1
        if there is none near.
    """
    n, less, rise = found.shape[1] - 1, False, -1.0
    for j in range(begin, end):
        if are_near(found, i, j, apart):
            rise = max(rise, found[j, n] - found[i, n])
            less = less or found[j, n] < found[i, n] or (found[j, n] == found[i, n] and j < i)
    return less, rise


@helper
def is_kept(
    found: FloatArray, ends: IntArray, point: tuple[int, int, int], i: int,
    within: tuple[float, float],
) -> bool:  # fmt: skip
    """Tell whether row i is less outside than those near it, at its point and the next ones.

    It is left out, too, if it is farther outside than what lies between these points can make up
    for.

    Args:
        found: See `sample_self_motion`.
        ends: (boxes, rows, columns, 2) the first row of each point, and the one behind its last.
        point: Of the grid, that of row i.
        i: Row.
        within: `apart` and `off`, see there.
    """
    (b, r, c), (apart, off), steepest, known = point, within, 0.0, True
    for s in range(max(r - 1, 0), min(r + 2, ends.shape[1])):
        for t in range(max(c - 1, 0), min(c + 2, ends.shape[2])):
            less, rise = rise_to(found, i, ends[b, s, t, 0], ends[b, s, t, 1], apart)
            if less:
                return False
            steepest, known = max(steepest, rise), known and rise >= 0.0
    return not known or found[i, found.shape[1] - 1] <= STEEPER * steepest + off


@jit
def sample_self_motion(
    split: SplitChain, target: FloatArray, q: FloatArray, grid: FloatArray, found: FloatArray,
    within: tuple[float, float, float],
) -> int:  # fmt: skip
    """Write positions that reach a target with the fixed joints on a grid, least outside limits.

    Of all positions at all points these are the ones that are less outside the limits of the
    joints between than those near them at the same point and the next ones.

    Args:
        split: The chain.
        target: (4, 4) root_T_target.
        q: (n,) within the limits: near which joints are turned; overwritten.
        grid: (boxes, rows, columns, d) values of the fixed joints.
        found: (8 boxes rows columns, n + 1) result: positions, and by how much the worst joint is
            outside its limits [rad].
        within: By how much joints may differ from one point to the next, `apart`; by how much they
            may be outside their limits; and by how much because the arm is off its form, `off`
            [rad].

    Returns:
        How many.
    """
    (apart, bound, off), boxes, rows, columns = within, grid.shape[0], grid.shape[1], grid.shape[2]
    ends, inner = np.empty((boxes, rows, columns, 2), np.int64), np.empty((4, 4))
    seed, kept = np.empty(split.variables.shape[0]), 0
    for k in range(split.variables.shape[0]):
        seed[k] = q[int(split.order[k])]
    for b in range(boxes):
        for r in range(rows):
            for c in range(columns):
                fix_joints(split, target, grid[b, r, c], q, inner)
                ends[b, r, c, 0] = kept
                kept = keep_branches(split, inner, seed, q, found, kept, bound)
                ends[b, r, c, 1] = kept
    least, count = np.empty(kept, np.bool_), 0
    for b in range(boxes):
        for r in range(rows):
            for c in range(columns):
                for i in range(ends[b, r, c, 0], ends[b, r, c, 1]):
                    least[i] = is_kept(found, ends, (b, r, c), i, (apart, off))
    for i in range(kept):
        if least[i]:
            for k in range(found.shape[1]):
                found[count, k] = found[i, k]
            count += 1
    return count

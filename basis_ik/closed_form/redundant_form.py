# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which arms with joints to spare have a closed form once some of their joints are fixed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.closed_form.closed_form import QUICK_KERNELS, ClosedForm, closed_form
from basis_ik.closed_form.closed_form_axes import FORM_JOINTS, candidates
from basis_ik.closed_form.closed_form_kernel import (
    FORM_KIND,
    FORM_MISFIT,
    KIND_SLACK,
    MAX_FORM_BRANCHES,
    MISFIT_DISTANCE,
)
from basis_ik.closed_form.redundant_form_kernel import SplitChain, sample_self_motion
from basis_ik.descent.tables_kernel import COLUMNS, LOWER, ORIGIN, UPPER, VARIABLE
from basis_ik.numerics.arrays import FloatArray

MOST_FIXED = 2  # joints on a grid
NEAR_ANSWER = 0.02  # of an equation's size: how far from an answer there still is a start


class RedundantForm(NamedTuple):
    """The form of a chain's joints between some fixed ones."""

    form: ClosedForm
    split: SplitChain
    fixed: NDArray[np.intp]
    """(d,) the variables that are fixed and have room between their limits."""

    def sample(
        self, variables: FloatArray, target: FloatArray, seed: FloatArray, grid: FloatArray,
        apart: float, bound: float, off: float,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Return positions that reach a target with the fixed joints on a grid.

        Of all these they are the ones that are less outside the limits than those near them.

        Args:
            variables: (n, 8 or more) of the chain.
            target: (4, 4) root_T_target.
            seed: (n,) within the limits, near which joints are turned where these allow it.
            grid: (boxes, rows, columns, d) values of the fixed variables.
            apart: By how much joints may differ from one point of the grid to the next [rad].
            bound: By how much they may be outside their limits [rad].
            off: By how much because the arm is off its form [rad].

        Returns:
            Positions (k, n), and by how much the worst joint of each is outside its limits, (k,)
            [rad].
        """
        inner = self.split.order[: -len(self.fixed)].astype(np.intp)
        found = np.empty((MAX_FORM_BRANCHES * grid[..., 0].size, len(seed) + 1))
        split = self.split._replace(variables=np.ascontiguousarray(variables[inner, :COLUMNS]))
        count = sample_self_motion(split, target, seed.copy(), grid, found, (apart, bound, off))
        return found[:count, :-1], found[:count, -1]


def redundant_form(exact: FloatArray, variables: FloatArray, size: float) -> RedundantForm | None:
    """Return the form of six joints of a chain, the others fixed; None where there is none.

    The fixed ones are at the ends of the chain. Of the forms that are quick to solve it is the one
    that the arm comes nearest to.

    Args:
        exact: See `PreparedChain`.
        variables: Likewise.
        size: The chain's unit of length [m].
    """
    numbers = exact[:-1, VARIABLE].astype(np.intp)
    if len(set(numbers.tolist())) < len(numbers):  # coupled
        return None
    free = np.flatnonzero(variables[numbers, LOWER] < variables[numbers, UPPER])
    spare = len(free) - FORM_JOINTS
    if not 0 < spare <= MOST_FIXED:
        return None
    found: list[RedundantForm] = []
    for before in range(spare + 1):
        six = free[before : before + FORM_JOINTS]
        between = slice(int(six[0]), int(six[-1]) + 1)
        fixed = numbers[np.setdiff1d(free, six)]
        parts, inner = _split(exact, between, fixed)
        own = variables[numbers[between], :COLUMNS]
        form = closed_form(inner, own, size, families=(candidates,))
        if form is not None and form.kernels is QUICK_KERNELS:
            form.rows[FORM_KIND, KIND_SLACK] = max(form.rows[FORM_KIND, KIND_SLACK], NEAR_ANSWER)
            found.append(RedundantForm(form, SplitChain(*parts, form.rows, own), fixed))
    return min(found, key=lambda each: each.form.rows[FORM_MISFIT, MISFIT_DISTANCE], default=None)


def _split(
    exact: FloatArray, between: slice, fixed: NDArray[np.intp]
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], FloatArray]:
    """Return the first fields of a `SplitChain`, and the joints `between` as a chain."""
    end = np.zeros((1, exact.shape[1]))
    end[0, ORIGIN] = np.eye(3, 4).reshape(12)
    lead = np.vstack([exact[: between.start], end])
    inner = np.vstack([exact[between], end])
    inner[:-1, VARIABLE] = np.arange(len(inner) - 1)
    order = np.hstack([exact[between, VARIABLE], fixed])
    return (lead, exact[between.stop :].copy(), order), inner

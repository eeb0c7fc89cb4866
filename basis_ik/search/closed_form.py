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

"""Which arms have a closed form, found from their geometry alone.

Six turning joints, of which three neighbours have axes that meet in a point or are parallel. Arms
of fewer joints are such arms with some of them held. A robot description is never exact, and a
calibrated arm is a millimetre off: what is nearly so gets the form of the arm next to it, which
knows how far it is off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.search import closed_form_kernel as kernel
from basis_ik.search import closed_form_loop_kernel as loop
from basis_ik.search.closed_form_axes import (
    JOINTS,
    NEARLY,
    Arm,
    Candidate,
    Free,
    arm_of,
    candidates,
    loop_candidates,
    meeting_candidates,
    with_added_axes,
)
from basis_ik.search.closed_form_quartic_kernel import (
    quartic_branch_starts,
    solve_quartic_pose,
    solve_quartic_poses,
)
from basis_ik.search.closed_form_search_kernel import (
    branch_starts,
    clear_of,
    solve_closed_pose,
    solve_closed_poses,
)
from basis_ik.search.pose_search_kernel import COLUMNS

STRICT = 1e-9  # of an equation's size: what rounding makes of one that has just one answer
SAMPLES = 32
SAME = 0.1  # [rad] by which a form may miss the angles of a pose: what is nearly exact does
CLEAR = 1e-4  # a margin that is none of a singularity
WORTH_A_QUARTIC = 0.1  # of how far another form is off: how far one that takes longer may be off
ROUNDING = 1e-8  # [sizes], [rad] by which a robot description may be off, written with nine digits
ROUGH = 1e-4  # [sizes], [rad] by which a form is off that an exact one of another family replaces


class Branches(NamedTuple):
    """The joint positions of a pose."""

    variables: FloatArray
    """(n, 16 or 24) for `pose_search_kernel.solve_pose`, the branches as the chain's own starts."""
    inside: int
    """How many lie within the limits, or are brought inside by polishing."""
    number: int
    """How many there are."""
    margin: float
    """By how much the target may be off, [rad] and [sizes], see `find_branches` there."""

    @property
    def positions(self) -> FloatArray:
        """(number, n) [rad], the first ones inside, nearest to the seed first."""
        return self.variables[:, COLUMNS : COLUMNS + self.number].T


class Kernels(NamedTuple):
    """What solves the arms of a family; each is compiled at its first use."""

    branch_starts: Callable[..., tuple[int, int, float]]
    """See `closed_form_search_kernel.branch_starts`."""
    solve_pose: Callable[..., tuple[int, int, int, float, float]]
    """For one target, see `closed_form_search_kernel.solve_closed_pose`."""
    solve_poses: Callable[..., None]
    """For many targets."""
    most: int
    """How many branches a pose has at most."""


QUICK = Kernels(branch_starts, solve_closed_pose, solve_closed_poses, kernel.MOST)
QUARTIC = Kernels(quartic_branch_starts, solve_quartic_pose, solve_quartic_poses, kernel.MOST)
LOOP = Kernels(loop.loop_branch_starts, loop.solve_loop_pose, loop.solve_loop_poses, loop.MOST)


class ClosedForm(NamedTuple):
    """An arm's form, and how far the arm is off it."""

    rows: FloatArray
    """(27, 3), see `search.closed_form_kernel.find_branches`."""
    kernels: Kernels
    """Those of its family."""

    @property
    def off(self) -> float:
        """How far the arm is off its form, [sizes] and [rad] together."""
        away, turned, _ = self.rows[kernel.OFF].tolist()
        return float(away / self.rows[kernel.SIZE, kernel.LENGTH] + turned)

    @property
    def exact(self) -> bool:
        """Whether a branch reaches a target as a rule without being polished."""
        return self.kernels is QUICK and self.off <= ROUNDING

    def clear(self, position_tolerance: float, rotation_tolerance: float) -> float:
        """Return what `Branches.margin` has to exceed for a proof, see `clear_of`."""
        return float(clear_of(self.rows, position_tolerance, rotation_tolerance))

    def starts(self, variables: FloatArray, target: FloatArray, seed: FloatArray) -> Branches:
        """Return all joint positions of a pose, limits aside, those nearest to the seed first.

        Args:
            variables: See `PreparedChain`.
            target: (4, 4) root_T_target.
            seed: (n,) near which they are turned, within the limits where that is possible.
        """
        starts = np.empty((len(seed), COLUMNS + self.kernels.most))
        found = self.kernels.branch_starts(self.rows, variables, target, seed, starts)
        return Branches(starts, *found)


EVERY = candidates, loop_candidates, meeting_candidates
"""The families of forms; those that take longer come last."""


def closed_form(
    exact: FloatArray, variables: FloatArray, size: float, free: Free = Free.NOTHING,
    families: Sequence[Callable[[Arm], Iterable[Candidate]]] = EVERY,
) -> ClosedForm | None:  # fmt: skip
    """Return the form that a chain comes nearest to, or None.

    Args:
        exact: See `PreparedChain`.
        variables: Likewise.
        size: Its unit of length [m].
        free: What of the orientation does not matter.
        families: Those that count; a later one only where no earlier one is exact.
    """
    given = arm_of(exact, variables, free)
    if given is None:
        return None
    draw = np.random.default_rng(0)
    positions = draw.uniform(-np.pi, np.pi, (SAMPLES, len(variables)))
    locked = variables[:, 0] == variables[:, 1]
    positions[:, locked] = variables[locked, 0]
    if given.lift.any():  # poses are those with the slide at 0
        multiplier, offset, v = given.lift[1]
        positions[:, int(v)] = -multiplier * offset
    loose = draw.uniform(-np.pi, np.pi, (SAMPLES, JOINTS))
    best: ClosedForm | None = None
    least, most = np.inf, 0
    for kinds in families:
        for whole in with_added_axes(given, size):
            angles = _angles(whole, positions, loose)
            poses = whole.poses(angles)
            for backward in (False, True):
                if backward and free is Free.ORIENTATION:
                    continue
                arm = whole.from_tip() if backward else whole
                turns = angles[:, ::-1] if backward else angles
                truth = arm.poses(turns)
                for candidate in kinds(arm):
                    bent = arm._replace(axes=candidate.axes, points=candidate.points)
                    away, turned = _apart(truth, bent.poses(turns))
                    off, kernels = away / size + turned, _kernels(candidate)
                    bound = least - STRICT
                    if kernels is QUARTIC:
                        bound *= WORTH_A_QUARTIC
                    alike = candidate.kind == loop.MEETING and off < least + STRICT
                    if away <= NEARLY * size and turned <= NEARLY and (off < bound or alike):
                        rows = _pack(arm, candidate, whole, backward, (away, turned, size))
                        form = ClosedForm(rows, kernels)
                        back, clear = _given_back(form, variables, positions, poses)
                        if 2 * back > SAMPLES and (off < bound or clear > most):
                            best, least, most = form, off, clear
            if least < STRICT:
                break
        if least < ROUGH or free is Free.ORIENTATION:
            break
        if best is not None:
            least = ROUGH
    return best


def pack_exact_form(
    form: FloatArray, weights: FloatArray, limits: tuple[FloatArray, FloatArray],
    variables: FloatArray, exact: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return what `closed_form_search_kernel.take_nearest_branch` reads of a chain.

    Args:
        form: (27, 3).
        weights: (12,) of what is wanted, see `tables_kernel`.
        limits: (n,) lower and (n,) upper, as the chain was given.
        variables: (n, 8 or more), see `tables_kernel`.
        exact: (m + 1, 16), likewise.

    Returns:
        (31 + n + m, 16 or n) all of these below each other.
    """
    tables = form, weights[None], np.stack(limits), variables[:, :COLUMNS], exact
    width = max(exact.shape[1], len(variables))
    return np.vstack([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in tables])


def _kernels(candidate: Candidate) -> Kernels:
    """Return those of a form's family."""
    if candidate.first != 0 or candidate.kind == loop.MEETING:
        return LOOP
    return QUICK if candidate.kind <= kernel.PARALLEL_2_3_4 else QUARTIC


def _angles(arm: Arm, positions: FloatArray, loose: FloatArray) -> FloatArray:
    """Return the angles (k, 6) of the axes at positions (k, n), of free ones as they are drawn."""
    angles = np.zeros((len(positions), JOINTS))
    for i, (multiplier, offset, number) in enumerate(arm.drives):
        if number == kernel.FREE:
            angles[:, i] = loose[:, i]
        elif number != kernel.HELD:
            v = int(kernel.COUPLED - number if number <= kernel.COUPLED else number)
            angles[:, i] = multiplier * positions[:, v] + offset
    return angles


def _given_back(
    form: ClosedForm,
    variables: FloatArray,
    positions: FloatArray,
    poses: tuple[FloatArray, FloatArray],
) -> tuple[int, int]:
    """Return from how many poses a form leads back to the positions (k, n) that they are of.

    Few where an arm has a form but is degenerate in it, as with three axes in one line. And from
    how many it does so clearly.
    """
    free, target = np.zeros((len(variables), COLUMNS)), np.eye(4)
    free[:, 0], free[:, 1], free[:, 2] = -np.inf, np.inf, 1.0
    locked = variables[:, 0] == variables[:, 1]
    free[locked, :2] = variables[locked, :2]
    back = clear = 0
    for q, rotation, place in zip(positions, *poses, strict=True):
        target[:3, :3], target[:3, 3] = rotation, place
        found = form.starts(free, target, np.zeros(len(q)))
        off = np.abs(np.remainder(found.positions - q + np.pi, 2.0 * np.pi) - np.pi)
        near = off.max(axis=1).min(initial=np.inf) < SAME
        back += bool(found.margin > 0.0 and near)
        clear += bool(found.margin > CLEAR and near)
    return back, clear


def _apart(
    a: tuple[FloatArray, FloatArray], b: tuple[FloatArray, FloatArray]
) -> tuple[float, float]:
    """Return the largest distance [m] and angle [rad] between poses."""
    away = np.linalg.norm(a[1] - b[1], axis=1).max()
    chord = np.linalg.norm(a[0] - b[0], axis=(1, 2)).max() / np.sqrt(8.0)
    return float(away), float(2.0 * np.arcsin(min(chord, 1.0)))


def _pack(
    arm: Arm, candidate: Candidate, whole: Arm, backward: bool, off: tuple[float, float, float]
) -> FloatArray:
    (kind, axes, points, first), (away, turned, size) = candidate, off
    rows = np.empty((kernel.ROWS, 3))
    rows[kernel.AXES : kernel.OFFSETS] = axes
    rows[kernel.OFFSETS : kernel.TIP] = np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    rows[kernel.TIP] = arm.place - points[-1]
    rows[kernel.REST : kernel.KIND] = arm.rotation
    rows[kernel.KIND] = kind, float(backward), STRICT + 10.0 * (away / size + turned)
    rows[kernel.SIZE] = size, whole.lift[0] @ whole.place, float(first)
    rows[kernel.DRIVES : kernel.LIFT], rows[kernel.LIFT : kernel.OFF] = whole.drives, whole.lift
    rows[kernel.OFF] = away, turned, 0.0
    return rows

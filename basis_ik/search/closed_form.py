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

Six turning joints, of which the last three have axes that meet in a point; or of which three in the
middle are parallel; or the same seen from the tip. Arms of fewer joints are such arms with some of
them held. A robot description is never exact, and a calibrated arm is a millimetre off: what is
nearly so gets the form of the arm next to it, which knows how far it is off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.search import closed_form_kernel as kernel
from basis_ik.search.closed_form_axes import (
    JOINTS,
    NEARLY,
    Arm,
    Candidate,
    Free,
    arm_of,
    candidates,
    with_added_axes,
)
from basis_ik.search.closed_form_quartic_kernel import (
    quartic_branch_starts,
    solve_quartic_pose,
    solve_quartic_poses,
)
from basis_ik.search.closed_form_search_kernel import (
    branch_starts,
    solve_closed_pose,
    solve_closed_poses,
)
from basis_ik.search.pose_search_kernel import COLUMNS

FloatArray = NDArray[np.float64]

STRICT = 1e-9  # of an equation's size: what rounding makes of one that has just one answer
SAMPLES = 32
SAME = 0.1  # [rad] by which a form may miss the angles of a pose: what is nearly exact does
SAFETY = 10.0  # how many times what an arm and an answer may be off must not matter, for a proof
WORTH_A_QUARTIC = 0.1  # of how far another form is off: how far one that takes longer may be off


class Branches(NamedTuple):
    """The joint positions of a pose."""

    variables: FloatArray
    """(n, 16) for `pose_search_kernel.solve_pose`, the branches as the chain's own starts."""
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


class ClosedForm(NamedTuple):
    """An arm's form, and how far the arm is off it."""

    rows: FloatArray
    """(26, 3), see `search.closed_form_kernel.find_branches`."""
    away: float
    """Largest distance [m] of the tip from where the form puts it."""
    turned: float
    """Largest angle [rad], likewise."""
    size: float
    """The arm's unit of length [m]."""
    is_quartic: bool
    """Whether it is one of `closed_form_quartic_kernel`."""

    @property
    def solve_pose(self) -> Callable[..., tuple[int, int, int, float, float]]:
        """The kernel for one target, `closed_form_search_kernel.solve_closed_pose` or its like.

        That of a quartic is compiled at its first use.
        """
        return solve_quartic_pose if self.is_quartic else solve_closed_pose

    @property
    def solve_poses(self) -> Callable[..., None]:
        """The kernel for many targets."""
        return solve_quartic_poses if self.is_quartic else solve_closed_poses

    def clear(self, position_tolerance: float, rotation_tolerance: float) -> float:
        """Return by how much a target must be let off without effect for a proof.

        An answer of the arm within the tolerances is one of its form's within these and what the
        arm is off its form.

        Args:
            position_tolerance: [m].
            rotation_tolerance: [rad].

        Returns:
            To be compared with `Branches.margin`.
        """
        lengths, angles = position_tolerance + self.away, rotation_tolerance + self.turned
        return SAFETY * max(lengths / self.size, angles)

    def starts(self, variables: FloatArray, target: FloatArray, seed: FloatArray) -> Branches:
        """Return all joint positions of a pose, limits aside, those nearest to the seed first.

        Args:
            variables: See `PreparedChain`.
            target: (4, 4) root_T_target.
            seed: (n,) near which they are turned, within the limits where that is possible.
        """
        find = quartic_branch_starts if self.is_quartic else branch_starts
        starts = np.empty((len(seed), COLUMNS + kernel.MOST))
        return Branches(starts, *find(self.rows, variables, target, seed, starts))


def closed_form(
    exact: FloatArray, variables: FloatArray, size: float, free: Free = Free.NOTHING
) -> ClosedForm | None:
    """Return the form that a chain comes nearest to, or None.

    Args:
        exact: See `PreparedChain`.
        variables: Likewise.
        size: Its unit of length [m].
        free: What of the orientation does not matter.
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
    best, least = None, np.inf
    for whole in with_added_axes(given, size):
        angles = _angles(whole, positions, loose)
        poses = whole.poses(angles)
        for backward in (False, True):
            if backward and free is Free.ORIENTATION:
                continue
            arm = whole.from_tip() if backward else whole
            turns = angles[:, ::-1] if backward else angles
            truth = arm.poses(turns)
            for candidate in candidates(arm):
                kind, axes, points = candidate
                away, turned = _apart(truth, arm._replace(axes=axes, points=points).poses(turns))
                off = away / size + turned
                quick = kind <= kernel.PARALLEL_2_3_4
                bound = least - STRICT if quick else WORTH_A_QUARTIC * (least - STRICT)
                if away <= NEARLY * size and turned <= NEARLY and off < bound:
                    rows = _pack(arm, candidate, whole, backward, off, size)
                    form = ClosedForm(rows, away, turned, size, not quick)
                    if _gives_back(form, variables, positions, poses):
                        best, least = form, off
        if least < STRICT:
            break
    return best


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


def _gives_back(
    form: ClosedForm,
    variables: FloatArray,
    positions: FloatArray,
    poses: tuple[FloatArray, FloatArray],
) -> bool:
    """Tell whether a form leads from most poses back to the positions (k, n) that they are of.

    It does not where an arm has a form but is degenerate in it, as with three axes in one line.
    """
    free, target = np.zeros((len(variables), COLUMNS)), np.eye(4)
    free[:, 0], free[:, 1], free[:, 2] = -np.inf, np.inf, 1.0
    locked = variables[:, 0] == variables[:, 1]
    free[locked, :2] = variables[locked, :2]
    back = 0
    for q, rotation, place in zip(positions, *poses, strict=True):
        target[:3, :3], target[:3, 3] = rotation, place
        found = form.starts(free, target, np.zeros(len(q)))
        off = np.abs(np.remainder(found.positions - q + np.pi, 2.0 * np.pi) - np.pi)
        back += bool(found.margin > 0.0 and off.max(axis=1).min(initial=np.inf) < SAME)
    return 2 * back > len(positions)


def _apart(
    a: tuple[FloatArray, FloatArray], b: tuple[FloatArray, FloatArray]
) -> tuple[float, float]:
    """Return the largest distance [m] and angle [rad] between poses."""
    away = np.linalg.norm(a[1] - b[1], axis=1).max()
    chord = np.linalg.norm(a[0] - b[0], axis=(1, 2)).max() / np.sqrt(8.0)
    return float(away), float(2.0 * np.arcsin(min(chord, 1.0)))


def _pack(
    arm: Arm, candidate: Candidate, whole: Arm, backward: bool, off: float, size: float
) -> FloatArray:
    kind, axes, points = candidate
    rows = np.empty((kernel.ROWS, 3))
    rows[kernel.AXES : kernel.OFFSETS] = axes
    rows[kernel.OFFSETS : kernel.TIP] = np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    rows[kernel.TIP] = arm.place - points[-1]
    rows[kernel.REST : kernel.KIND] = arm.rotation
    rows[kernel.KIND] = kind, float(backward), STRICT + 10.0 * off
    rows[kernel.SIZE] = size, whole.lift[0] @ whole.place, 0.0
    rows[kernel.DRIVES : kernel.LIFT], rows[kernel.LIFT :] = whole.drives, whole.lift
    return rows

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recognises arms that have a closed form, from their geometry alone.

Such an arm has six revolute joints, and three neighbouring axes that intersect in a point or are
parallel. An arm with fewer joints counts as one with some joints held. A robot description is never
exact, and a calibrated arm is a millimetre off, so an arm close to one with a closed form gets that
form. The form stores the arm's deviation from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from basis_ik.closed_form import closed_form_kernel as kernel
from basis_ik.closed_form import closed_form_loop_kernel as loop
from basis_ik.closed_form.closed_form_axes import (
    FORM_JOINTS,
    USEFUL_MISFIT,
    Arm,
    Candidate,
    Free,
    arm_of,
    candidates,
    loop_candidates,
    meeting_candidates,
    with_added_axes,
)
from basis_ik.closed_form.closed_form_pair_proof_kernel import excludes_pair
from basis_ik.closed_form.closed_form_proof_kernel import excludes
from basis_ik.closed_form.closed_form_quartic_kernel import (
    quartic_branch_starts,
    solve_quartic_pose,
    solve_quartic_poses,
)
from basis_ik.closed_form.closed_form_search_kernel import (
    branch_starts,
    proof_margin,
    solve_closed_pose,
    solve_closed_poses,
)
from basis_ik.descent.pose_search_kernel import COLUMNS
from basis_ik.numerics.arrays import FloatArray


class RecognitionTuning(NamedTuple):
    """Tuning of how the closed form of an arm is recognised; sizes are the arm's."""

    double_solution: float = 1e-9  # relative, rounding of an equation with a double solution
    samples: int = 32
    same_branch: float = 0.1  # [rad] by which a form's branch may differ from the arm's positions
    clear_margin: float = 1e-4  # a margin that is not a singularity's
    quartic_share: float = 0.1  # of another form's misfit, below which a slower form is worth it
    rounding: float = 1e-8  # [sizes], [rad] of a robot description with nine digits
    # [sizes], [rad] above which an exact form of another family is better
    rough_misfit: float = 1e-4


RECOGNITION = RecognitionTuning()


class Branches(NamedTuple):
    """The branches of a pose: all its joint positions."""

    variables: FloatArray
    """(n, 16 or 24) for `pose_search_kernel.solve_pose`, with the branches as own starts."""
    inside: int
    """Number of branches within the limits, or close enough to be polished inside."""
    number: int
    """Number of all branches."""
    margin: float
    """Error of the target below which that is exact, in [rad] and [sizes]."""

    @property
    def positions(self) -> FloatArray:
        """(number, n) [rad or m]; those inside come first, by distance from the seed."""
        return self.variables[:, COLUMNS : COLUMNS + self.number].T


class Kernels(NamedTuple):
    """The kernels of a family of forms; each is compiled on first use."""

    branch_starts: Callable[..., tuple[int, int, float]]
    """See `closed_form_search_kernel.branch_starts`."""
    solve_pose: Callable[..., tuple[int, int, int, float, float]]
    """For one target, see `closed_form_search_kernel.solve_closed_pose`."""
    solve_poses: Callable[..., None]
    """For many targets, see `closed_form_search_kernel.solve_closed_poses`."""
    most: int
    """Largest number of branches of a pose."""


QUICK_KERNELS = Kernels(
    branch_starts, solve_closed_pose, solve_closed_poses, kernel.MAX_FORM_BRANCHES
)
QUARTIC_KERNELS = Kernels(
    quartic_branch_starts, solve_quartic_pose, solve_quartic_poses, kernel.MAX_FORM_BRANCHES
)
LOOP_KERNELS = Kernels(
    loop.loop_branch_starts, loop.solve_loop_pose, loop.solve_loop_poses, loop.MAX_LOOP_BRANCHES
)
FORMS = QUICK_KERNELS, QUARTIC_KERNELS, LOOP_KERNELS
"""The kernels of all families, of which an arm's form has one."""
PROOFS = excludes, excludes_pair
"""The kernels of `ClosedForm.excludes`, likewise."""


def compile_alike() -> None:
    """Compile for all families what is compiled for one: their kernels take the same types."""
    for alike in (*zip(*(kernels[:-1] for kernels in FORMS), strict=True), PROOFS):
        compiled = [getattr(each, "overloads", {}) for each in alike]  # none without the compiler
        for signature in {types for each in compiled for types in each}:
            for each in alike:
                each.compile(signature)


class ClosedForm(NamedTuple):
    """The closed form of an arm."""

    rows: FloatArray
    """(27, 3), see `closed_form_kernel.find_branches`."""
    kernels: Kernels
    """The kernels of its family."""
    deviation: tuple[float, float]
    """Bounds on the distance [m] and the angle [rad] between the tips of arm and form, at all
    positions."""
    rough: ClosedForm | None = None
    """A form of joint 1 alone that deviates more, but proves most in a hundredth of the time."""

    @property
    def misfit(self) -> float:
        """Misfit of the arm to its form, [sizes] and [rad] added."""
        distance, angle, _ = self.rows[kernel.FORM_MISFIT].tolist()
        return float(distance / self.rows[kernel.FORM_SIZE, kernel.LENGTH] + angle)

    @property
    def exact(self) -> bool:
        """Whether a branch usually reaches its target without polishing."""
        return self.kernels is QUICK_KERNELS and self.misfit <= RECOGNITION.rounding

    def proof_margin(self, position_tolerance: float, rotation_tolerance: float) -> float:
        """Return the value that `Branches.margin` must exceed for a proof."""
        return float(proof_margin(self.rows, position_tolerance, rotation_tolerance))

    def excludes(
        self, variables: FloatArray, target: FloatArray, tolerances: tuple[float, float]
    ) -> bool:
        """Return whether it is proven that no positions reach a pose within limits and tolerances.

        Args:
            variables: (n, 8 or more) with the limits, see `tables_kernel`.
            target: (4, 4) root_T_target.
            tolerances: Of position [m] and orientation [rad].
        """
        if self.rough is not None and self.rough.excludes(variables, target, tolerances):
            return True
        errors = np.add(tolerances, self.deviation).tolist()
        is_pair = self.rows[kernel.FORM_KIND, kernel.KIND_NAME] == loop.MEET_5_6
        return bool((excludes_pair if is_pair else excludes)(self.rows, variables, target, *errors))

    def starts(self, variables: FloatArray, target: FloatArray, seed: FloatArray) -> Branches:
        """Return all branches of a pose, without regard to limits, the nearest to the seed first.

        Args:
            variables: See `PreparedChain`.
            target: (4, 4) root_T_target.
            seed: (n,) variables are turned to within half a turn of it if the limits allow [rad or
                m].
        """
        starts = np.empty((len(seed), COLUMNS + self.kernels.most))
        found = self.kernels.branch_starts(self.rows, variables, target, seed, starts)
        return Branches(starts, *found)


Family = Callable[[Arm], Iterable[Candidate]]
"""Yields the forms of a family that an arm may have."""
FAMILIES: Sequence[Family] = candidates, loop_candidates, meeting_candidates
"""The families of forms; those that take longer come last."""


def closed_form(
    exact: FloatArray, variables: FloatArray, size: float, free: Free = Free.NOTHING,
    families: Sequence[Family] = FAMILIES,
) -> ClosedForm | None:  # fmt: skip
    """Return the closed form that a chain is closest to, if there is one.

    Args:
        exact: See `PreparedChain`.
        variables: See `PreparedChain`.
        size: The chain's unit of length [m].
        free: The part of the orientation that does not count.
        families: Families to try; a later one is tried only if no earlier one is exact.
    """
    arm = arm_of(exact, variables, free)
    if arm is None:
        return None
    search = _FormSearch(variables, size, free, *_samples(arm, variables))
    for family in families:
        search.rough = search.best
        for full_arm in with_added_axes(arm, size):
            search.try_arm(full_arm, family)
            if search.least < RECOGNITION.double_solution:
                break
        if search.least < RECOGNITION.rough_misfit or free is Free.ORIENTATION:
            break
        if search.best is not None:
            search.least = RECOGNITION.rough_misfit
    return search.found()


def _samples(arm: Arm, variables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return random positions (s, n) of a chain, and angles (s, 6) for free axes."""
    draw = np.random.default_rng(0)
    positions = draw.uniform(-np.pi, np.pi, (RECOGNITION.samples, len(variables)))
    locked = variables[:, 0] == variables[:, 1]
    positions[:, locked] = variables[locked, 0]
    if arm.slide.any():  # a form has its slide at 0
        multiplier, offset, v = arm.slide[1]
        positions[:, int(v)] = -multiplier * offset
    return positions, draw.uniform(-np.pi, np.pi, (RECOGNITION.samples, FORM_JOINTS))


@dataclass
class _FormSearch:
    """Keeps the form closest to an arm.

    Attributes:
        variables: (n, 8 or more), see `tables_kernel`.
        size: The chain's unit of length [m].
        free: The part of the orientation that does not count.
        positions: (k, n) samples at which arm and form are compared [rad or m].
        free_angles: (k, 6) angles of free axes there [rad].
        best: The best form so far.
        least: Its misfit, [sizes] and [rad] added.
        most: Number of samples from which it recovers the positions far from a singularity.
        rough: The best form of the families before, if it is not close enough.
    """

    variables: FloatArray
    size: float
    free: Free
    positions: FloatArray
    free_angles: FloatArray
    best: ClosedForm | None = None
    least: float = np.inf
    most: int = 0
    rough: ClosedForm | None = None

    def found(self) -> ClosedForm | None:
        """Return the best form, with the rough one if joint 1 alone does not prove its answers."""
        best = self.best
        if best is None or best.rows[kernel.FORM_KIND, kernel.KIND_NAME] != loop.MEET_5_6:
            return best
        return best._replace(rough=self.rough)

    def try_arm(self, full_arm: Arm, family: Family) -> None:
        """Try all forms of a family for an arm of six axes, from the root and from the tip."""
        angles = _angles(full_arm, self.positions, self.free_angles)
        poses = full_arm.poses(angles)
        for backward in (False, True):
            if backward and self.free is Free.ORIENTATION:
                continue
            arm = full_arm.from_tip() if backward else full_arm
            turns = angles[:, ::-1] if backward else angles
            exact_poses = arm.poses(turns)
            for candidate in family(arm):
                fitted = arm._replace(axes=candidate.axes, points=candidate.points)
                distance, angle = _largest_errors(exact_poses, fitted.poses(turns))
                if distance <= USEFUL_MISFIT * self.size and angle <= USEFUL_MISFIT:
                    misfit = distance, angle, self.size
                    rows = _pack(arm, candidate, full_arm, backward, misfit)
                    deviation = _deviation(arm, candidate, self.variables)
                    self._consider(ClosedForm(rows, _kernels(candidate), deviation), poses)

    def _consider(self, form: ClosedForm, poses: tuple[FloatArray, FloatArray]) -> None:
        """Keep a form that is closer than the best one, or as close and less often singular."""
        bound, misfit = self.least - RECOGNITION.double_solution, form.misfit
        if form.kernels is QUARTIC_KERNELS:
            bound *= RECOGNITION.quartic_share
        meeting = form.rows[kernel.FORM_KIND, kernel.KIND_NAME] == loop.MEET_5_6
        ties = meeting and misfit < self.least + RECOGNITION.double_solution
        if misfit < bound or ties:
            recovered, regular = _count_recovered(form, self.variables, self.positions, poses)
            if 2 * recovered > RECOGNITION.samples and (misfit < bound or regular > self.most):
                self.best, self.least, self.most = form, misfit, regular


def pack_exact_form(
    form: FloatArray, weights: FloatArray, limits: tuple[FloatArray, FloatArray],
    variables: FloatArray, exact: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return the table that `closed_form_search_kernel.take_nearest_branch` reads.

    Args:
        form: (27, 3), see `closed_form_kernel.find_branches`.
        weights: (12,) of the goal, see `tables_kernel`.
        limits: (n,) lower and (n,) upper limits of the chain [rad or m].
        variables: (n, 8 or more), see `tables_kernel`.
        exact: (m + 1, 16), see `tables_kernel`.

    Returns:
        (31 + n + m, 16 or n) all of these, one below the other.
    """
    tables = form, weights[None], np.stack(limits), variables[:, :COLUMNS], exact
    width = max(exact.shape[1], len(variables))
    return np.vstack([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in tables])


def _kernels(candidate: Candidate) -> Kernels:
    """Return the kernels of a form's family."""
    if candidate.first != 0 or candidate.kind == loop.MEET_5_6:
        return LOOP_KERNELS
    return QUICK_KERNELS if candidate.kind <= kernel.PARALLEL_2_3_4 else QUARTIC_KERNELS


def _angles(arm: Arm, positions: FloatArray, free_angles: FloatArray) -> FloatArray:
    """Return the angles (k, 6) of all axes at positions (k, n) of the chain [rad]."""
    angles = np.zeros((len(positions), FORM_JOINTS))
    for i, (multiplier, offset, number) in enumerate(arm.drives):
        if number == kernel.AXIS_FREE:
            angles[:, i] = free_angles[:, i]
        elif number != kernel.AXIS_HELD:
            v = int(kernel.AXIS_COUPLED - number if number <= kernel.AXIS_COUPLED else number)
            angles[:, i] = multiplier * positions[:, v] + offset
    return angles


def _count_recovered(
    form: ClosedForm,
    variables: FloatArray,
    positions: FloatArray,
    poses: tuple[FloatArray, FloatArray],
) -> tuple[int, int]:
    """Count the poses from which a form recovers the positions (k, n) behind them.

    Few are recovered if the arm is degenerate in this form, as with three axes in one line.

    Returns:
        Number of recovered poses; number of those that are far from a singularity.
    """
    free, target = np.zeros((len(variables), COLUMNS)), np.eye(4)
    free[:, 0], free[:, 1], free[:, 2] = -np.inf, np.inf, 1.0
    locked = variables[:, 0] == variables[:, 1]
    free[locked, :2] = variables[locked, :2]
    recovered = regular = 0
    for q, rotation, place in zip(positions, *poses, strict=True):
        target[:3, :3], target[:3, 3] = rotation, place
        found = form.starts(free, target, np.zeros(len(q)))
        off = np.abs(np.remainder(found.positions - q + np.pi, 2.0 * np.pi) - np.pi)
        near = off.max(axis=1).min(initial=np.inf) < RECOGNITION.same_branch
        recovered += bool(found.margin > 0.0 and near)
        regular += bool(found.margin > RECOGNITION.clear_margin and near)
    return recovered, regular


def _largest_errors(
    a: tuple[FloatArray, FloatArray], b: tuple[FloatArray, FloatArray]
) -> tuple[float, float]:
    """Return the largest distance [m] and angle [rad] between corresponding poses."""
    distance = np.linalg.norm(a[1] - b[1], axis=1).max()
    chord = np.linalg.norm(a[0] - b[0], axis=(1, 2)).max() / np.sqrt(8.0)
    return float(distance), float(2.0 * np.arcsin(min(chord, 1.0)))


def _deviation(arm: Arm, candidate: Candidate, variables: FloatArray) -> tuple[float, float]:
    """Return bounds on the distance [m] and the angle [rad] between the tips of an arm and a form.

    A joint is exchanged for the form's after another. With α between their axes and d between the
    lines at the form's point, a rotation about the one is one about the other up to an angle of
    2 α. It moves a point at a distance l up to 2 d + 2 α (l + d) elsewhere.
    """
    moves = arm.drives[:, 2] != kernel.AXIS_HELD
    axes, points = candidate.axes, candidate.points
    off = np.linalg.norm(np.cross(points - arm.points, arm.axes), axis=1)[moves]
    across = np.linalg.norm(np.cross(axes, arm.axes), axis=1)
    turn = np.arctan2(across, (axes * arm.axes).sum(axis=1))[moves]
    steps = np.linalg.norm(np.diff(points, axis=0, append=arm.place[None]), axis=1)
    ahead = np.cumsum(steps[::-1])[::-1][moves]
    distance = (2.0 * off + 2.0 * turn * (ahead + off)).sum()
    if arm.slide.any():  # its axes are parallel to the slide up to an angle
        lean = np.linalg.norm(np.cross(arm.axes[moves], arm.slide[0]), axis=1).max()
        if lean > 0.0:
            distance += lean * np.abs(variables[int(arm.slide[1, 2]), :2]).max()
    return float(distance), float(2.0 * turn.sum())


def _pack(
    arm: Arm,
    candidate: Candidate,
    full_arm: Arm,
    backward: bool,
    misfit: tuple[float, float, float],
) -> FloatArray:
    """Return the rows (27, 3) of a form; misfit: distance [m], angle [rad], unit of length [m]."""
    (kind, axes, points, first), (distance, angle, size) = candidate, misfit
    rows = np.empty((kernel.FORM_ROWS, 3))
    rows[kernel.FORM_AXES : kernel.FORM_OFFSETS] = axes
    rows[kernel.FORM_OFFSETS : kernel.FORM_TIP] = np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    rows[kernel.FORM_TIP] = arm.place - points[-1]
    rows[kernel.FORM_REST : kernel.FORM_KIND] = arm.rotation
    rows[kernel.FORM_KIND] = (
        kind,
        float(backward),
        RECOGNITION.double_solution + 10.0 * (distance / size + angle),
    )
    rows[kernel.FORM_SIZE] = size, full_arm.slide[0] @ full_arm.place, float(first)
    rows[kernel.FORM_DRIVES : kernel.SLIDE_AXIS], rows[kernel.SLIDE_AXIS : kernel.FORM_MISFIT] = (
        full_arm.drives,
        full_arm.slide,
    )
    rows[kernel.FORM_MISFIT] = distance, angle, 0.0
    return rows

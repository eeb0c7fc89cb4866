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

Six turning joints, of which the last three have axes that meet in a point and the first three are
parallel or meet in pairs; or of which three in the middle are parallel; or the same seen from the
tip. A robot description is never exact, and a calibrated arm is a millimetre off: what is nearly so
gets the form of the arm next to it, which knows how far it is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.search import closed_form_kernel as kernel
from basis_ik.search.closed_form_search_kernel import branch_starts
from basis_ik.search.pose_search_kernel import COLUMNS

FloatArray = NDArray[np.float64]

JOINTS = 6
NEARLY = 0.02  # [reach], [rad] by which an arm may be off its form for that to be worth a start
STRICT = 1e-9  # of an equation's size: what rounding makes of one that has just one answer
SAMPLES = 32
SAME = 0.1  # [rad] by which a form may miss the angles of a pose: what is nearly exact does
SAFETY = 10.0  # how many times what an arm and an answer may be off must not matter, for a proof


class Branches(NamedTuple):
    """The joint positions of a pose."""

    variables: FloatArray
    """(6, 16) for `pose_search_kernel.solve_pose`, the branches as the chain's own starts."""
    inside: int
    """How many lie within the limits, or are brought inside by polishing."""
    number: int
    """How many there are."""
    margin: float
    """By how much the target may be off, [rad] and [sizes], see `find_branches` there."""

    @property
    def positions(self) -> FloatArray:
        """(number, 6) [rad], the first ones inside, nearest to the seed first."""
        return self.variables[:, COLUMNS : COLUMNS + self.number].T


class ClosedForm(NamedTuple):
    """An arm's form, and how far the arm is off it."""

    rows: FloatArray
    """(18, 3), see `search.closed_form_kernel.find_branches`."""
    away: float
    """Largest distance [m] of the tip from where the form puts it."""
    turned: float
    """Largest angle [rad], likewise."""

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
        size = float(self.rows[kernel.SIZE, 0])
        lengths, angles = position_tolerance + self.away, rotation_tolerance + self.turned
        return SAFETY * max(lengths / size, angles)

    def starts(
        self, exact: FloatArray, variables: FloatArray, target: FloatArray, seed: FloatArray
    ) -> Branches:
        """Return all joint positions of a pose, limits aside, those nearest to the seed first.

        Args:
            exact: See `PreparedChain`.
            variables: Likewise.
            target: (4, 4) root_T_target.
            seed: (6,) near which they are turned, within the limits where that is possible.
        """
        starts = np.empty((JOINTS, COLUMNS + kernel.MOST))
        return Branches(starts, *branch_starts(self.rows, exact, variables, target, seed, starts))


class _Screws(NamedTuple):
    """An arm with all joints at 0: its axes and points on them, and the tip."""

    axes: FloatArray
    points: FloatArray
    rotation: FloatArray
    place: FloatArray


def closed_form(arrays: ChainArrays, size: float) -> ClosedForm | None:
    """Return the form that a chain comes nearest to, or None.

    Args:
        arrays: The chain.
        size: Its unit of length [m].
    """
    plain = len(arrays.origins) == len(arrays.lower) == JOINTS and not arrays.prismatic.any()
    if not (plain and (np.abs(arrays.multipliers) == 1.0).all()):
        return None
    forward = _screws(arrays)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (SAMPLES, JOINTS))
    poses = _place(forward, angles)
    best, least = None, np.inf
    for backward in (False, True):
        arm = _from_tip(forward) if backward else forward
        turns = angles[:, ::-1] if backward else angles
        truth = _place(arm, turns)
        for kind, axes, points in _candidates(arm):
            guess = _place(arm._replace(axes=axes, points=points), turns)
            away, turned = _apart(truth, guess)
            off = away / size + turned
            if away <= NEARLY * size and turned <= NEARLY and off < least - STRICT:
                last = kind, float(backward), STRICT + 10.0 * off
                rows = _pack(arm, axes, points, last, size)
                if _gives_back(rows, angles, poses):
                    best, least = ClosedForm(rows, away, turned), off
    return best


def _gives_back(rows: FloatArray, angles: FloatArray, poses: tuple[FloatArray, FloatArray]) -> bool:
    """Tell whether a form leads from most poses back to the angles (k, 6) that they are of.

    It does not where an arm has a form but is degenerate in it, as with three axes in one line.
    """
    plain, free, target = np.zeros((JOINTS + 1, 16)), np.zeros((JOINTS, COLUMNS)), np.eye(4)
    plain[:JOINTS, 13], plain[:JOINTS, 15] = 1.0, np.arange(JOINTS)
    free[:, 0], free[:, 1] = -np.inf, np.inf
    form, back = ClosedForm(rows, 0.0, 0.0), 0
    for turns, rotation, place in zip(angles, *poses, strict=True):
        target[:3, :3], target[:3, 3] = rotation, place
        found = form.starts(plain, free, target, np.zeros(JOINTS))
        off = np.abs(np.remainder(found.positions - turns + np.pi, 2.0 * np.pi) - np.pi)
        back += bool(found.margin > 0.0 and off.max(axis=1).min(initial=np.inf) < SAME)
    return 2 * back > len(angles)


def _screws(arrays: ChainArrays) -> _Screws:
    frame, axes, points = np.eye(4), np.empty((JOINTS, 3)), np.empty((JOINTS, 3))
    for i, origin in enumerate(arrays.origins):
        frame = frame @ np.vstack([origin, [0.0, 0.0, 0.0, 1.0]])
        axes[i], points[i] = frame[:3, 2], frame[:3, 3]
    tip = frame @ np.vstack([arrays.tip, [0.0, 0.0, 0.0, 1.0]])
    return _Screws(axes, points, tip[:3, :3], tip[:3, 3])


def _from_tip(arm: _Screws) -> _Screws:
    """Return the arm as the tip sees it: the joints in the other order, and the root for a tip."""
    turn = arm.rotation.T
    axes = -(arm.axes[::-1] @ turn.T)
    return _Screws(axes, (arm.points[::-1] - arm.place) @ turn.T, turn, -turn @ arm.place)


def _candidates(arm: _Screws) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Yield the forms that the arm may be near to: kind, axes (6, 3) and points (6, 3) on them."""
    h, p = arm.axes, arm.points
    wrist = _meeting(h[3:], p[3:])
    if wrist is not None:
        for kind, alike, meeting in (
            (kernel.PARALLEL_2_3, [1, 2], []),
            (kernel.PARALLEL_1_2, [0, 1], []),
            (kernel.MEET_1_2, [], [0, 1]),
            (kernel.MEET_2_3, [], [1, 2]),
        ):
            centre = _meeting(h[meeting], p[meeting]) if meeting else wrist
            if centre is None or (alike and not _parallel(h[alike])):
                continue
            points = _nearest(h, p, wrist)
            points[3:] = wrist
            points[meeting] = centre
            yield kind, _aligned(h, alike), points
    centre = _meeting(h[4:], p[4:])
    if centre is not None and _parallel(h[1:4]):
        points = _nearest(h, p, centre)
        points[4:] = centre
        yield kernel.PARALLEL_2_3_4, _aligned(h, [1, 2, 3]), points


def _meeting(axes: FloatArray, points: FloatArray) -> FloatArray | None:
    """Return the point nearest to lines (k, 3) no two of which in a row are parallel, or None."""
    for a, b in pairwise(axes):
        if np.linalg.norm(np.cross(a, b)) < NEARLY:
            return None
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    centre: FloatArray = np.linalg.solve(
        across.sum(axis=0), (across @ points[:, :, None]).sum(axis=0)[:, 0]
    )
    return centre


def _parallel(axes: FloatArray) -> bool:
    return bool(np.linalg.norm(np.cross(axes[0], axes[1:]), axis=1).max() < NEARLY)


def _nearest(axes: FloatArray, points: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the points (k, 3) on lines that are nearest to another point."""
    along = ((centre - points) * axes).sum(axis=1, keepdims=True)
    nearest: FloatArray = points + along * axes
    return nearest


def _aligned(axes: FloatArray, alike: list[int]) -> FloatArray:
    """Return the axes (6, 3), some of which have been made parallel."""
    aligned = axes.copy()
    if alike:
        signs = np.sign(axes[alike] @ axes[alike[0]])
        mean = signs @ axes[alike]
        aligned[alike] = signs[:, None] * (mean / np.linalg.norm(mean))
    return aligned


def _place(arm: _Screws, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rotations (k, 3, 3) and places (k, 3) of the tip at angles (k, 6)."""
    rotation = np.broadcast_to(arm.rotation, (len(angles), 3, 3))
    place = np.broadcast_to(arm.place, (len(angles), 3))
    for i in reversed(range(JOINTS)):
        x, y, z = arm.axes[i]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        c, s = np.cos(angles[:, i, None, None]), np.sin(angles[:, i, None, None])
        turn = np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)
        rotation = turn @ rotation
        place = (turn @ (place - arm.points[i])[:, :, None])[:, :, 0] + arm.points[i]
    return rotation, place


def _apart(
    a: tuple[FloatArray, FloatArray], b: tuple[FloatArray, FloatArray]
) -> tuple[float, float]:
    """Return the largest distance [m] and angle [rad] between poses."""
    away = np.linalg.norm(a[1] - b[1], axis=1).max()
    chord = np.linalg.norm(a[0] - b[0], axis=(1, 2)).max() / np.sqrt(8.0)
    return float(away), float(2.0 * np.arcsin(min(chord, 1.0)))


def _pack(
    arm: _Screws,
    axes: FloatArray,
    points: FloatArray,
    last: tuple[float, float, float],
    size: float,
) -> FloatArray:
    rows = np.empty((kernel.ROWS, 3))
    rows[kernel.AXES : kernel.OFFSETS] = axes
    rows[kernel.OFFSETS : kernel.TIP] = np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    rows[kernel.TIP] = arm.place - points[-1]
    rows[kernel.REST : kernel.KIND] = arm.rotation
    rows[kernel.KIND], rows[kernel.SIZE] = last, size
    return rows

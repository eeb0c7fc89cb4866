# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The axes of a chain, completed to six, and the closed forms that they may have.

An arm with fewer joints is one of six joints with some held at 0. Axes are added where they give
the arm a closed form. A part of the orientation that does not count adds free axes at the tip.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.closed_form import closed_form_kernel as kernel
from basis_ik.closed_form import closed_form_loop_kernel as loop
from basis_ik.closed_form import closed_form_quartic_kernel as quartic
from basis_ik.numerics.arrays import FloatArray

FORM_JOINTS = 6
FEWEST_FORM_JOINTS = 3  # revolute joints for which a closed form is worthwhile
PARALLEL_AXES = 1e-9  # [rad] between the axes and a slide along them
USEFUL_MISFIT = 0.02  # [reach], [rad] of misfit up to which a form is a useful start


OPENED_AT = 5, 4, 2  # joints before which a loop is opened


class Free(enum.Enum):
    """The part of the tip's orientation that does not count."""

    NOTHING = 0
    AXIS = 1
    """The rotation about the tip's z axis."""
    ORIENTATION = 3


class Candidate(NamedTuple):
    """A form that an arm may have."""

    kind: float
    axes: FloatArray
    """(6, 3) unit vectors, all joints at 0."""
    points: FloatArray
    """(6, 3) points on the axes [m]."""
    first: int = 0
    """Joint at which the loop is opened, see `closed_form_loop_kernel`."""


class Arm(NamedTuple):
    """Revolute joints, all at 0: axes and points on them, and the tip, in the root frame."""

    axes: FloatArray
    """(k, 3) unit vectors."""
    points: FloatArray
    """(k, 3) [m]."""
    drives: FloatArray
    """(k, 3): angle = [0] q[v] + [1], and v, or see `closed_form_kernel.HELD`."""
    rotation: FloatArray
    place: FloatArray
    slide: FloatArray
    """(2, 3) of a slide along parallel axes, see `closed_form_kernel.find_slide_offset`."""

    def opened(self, first: int) -> Arm:
        """Return the arm with its axes in the order of an opened loop."""
        rows = (np.roll(each, -first, axis=0) for each in (self.axes, self.points, self.drives))
        axes, points, drives = rows
        return self._replace(axes=axes, points=points, drives=drives)

    def from_tip(self) -> Arm:
        """Return the arm seen from the tip: the joints in reverse order, the root as tip."""
        turn = self.rotation.T
        points = (self.points[::-1] - self.place) @ turn.T
        axes = -(self.axes[::-1] @ turn.T)
        return Arm(axes, points, self.drives[::-1], turn, -turn @ self.place, self.slide)

    def poses(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rotations (k, 3, 3) and positions (k, 3) of the tip at angles (k, joints)."""
        rotation = np.broadcast_to(self.rotation, (len(angles), 3, 3))
        place = np.broadcast_to(self.place, (len(angles), 3))
        for i in reversed(range(len(self.axes))):
            turn = _turn(self.axes[i], angles[:, i])
            rotation = turn @ rotation
            place = (turn @ (place - self.points[i])[:, :, None])[:, :, 0] + self.points[i]
        return rotation, place


def arm_of(exact: FloatArray, variables: FloatArray, free: Free) -> Arm | None:
    """Return the revolute joints of a chain, and its free axes at the tip.

    Joints without a range between their limits are left out. There is no such arm if a variable
    drives no joint one to one, or if a joint slides, except one slide along parallel axes.

    Args:
        exact: (m + 1, 16), see `tables_kernel`.
        variables: (n, 8 or more), see `tables_kernel`.
        free: The part of the orientation that does not count.
    """
    frame, axes, points, drives = np.eye(4), [], [], []
    driven: set[int] = set()
    slide = np.zeros((2, 3))
    last = np.array([0.0, 0.0, 0.0, 1.0])
    for row in exact[:-1]:
        frame = frame @ np.vstack([row[:12].reshape(3, 4), last])
        slides, multiplier, offset, v = row[12] != 0.0, row[13], row[14], int(row[15])
        lower, upper = variables[v, :2]
        if lower == upper:
            _move(frame, slides=slides, value=multiplier * lower + offset)
            continue
        if multiplier == 0.0 or multiplier != np.round(multiplier):
            return None
        if slides:
            if slide.any() or abs(multiplier) != 1.0 or np.count_nonzero(exact[:-1, 15] == v) > 1:
                return None
            slide[:] = frame[:3, 2], (multiplier, offset, v)
            continue
        drives.append(
            [multiplier, offset, float(v) if v not in driven else kernel.AXIS_COUPLED - v]
        )
        if v not in driven and abs(multiplier) != 1.0:
            return None
        driven.add(v)
        axes.append(frame[:3, 2].copy())
        points.append(frame[:3, 3].copy())
    frame = frame @ np.vstack([exact[-1, :12].reshape(3, 4), last])
    if len(axes) < FEWEST_FORM_JOINTS + (free is Free.AXIS):
        return None
    for column in range(3 - free.value, 3):
        axes.append(frame[:3, column])
        points.append(frame[:3, 3])
        drives.append([1.0, 0.0, kernel.AXIS_FREE])
    if len(axes) > FORM_JOINTS or (
        slide.any()
        and (free is not Free.NOTHING or np.abs(np.cross(axes, slide[0])).max() > PARALLEL_AXES)
    ):
        return None
    return Arm(
        np.array(axes), np.array(points), np.array(drives), frame[:3, :3], frame[:3, 3], slide
    )


def _move(frame: FloatArray, *, slides: bool, value: float) -> None:
    """Rotate a frame (4, 4) about its z axis [rad], or shift it along [m]."""
    if slides:
        frame[:3, 3] += value * frame[:3, 2]
    else:
        frame[:3, :3] = _turn(frame[:3, 2], np.array([value]))[0] @ frame[:3, :3]


def _turn(axis: FloatArray, angles: FloatArray) -> FloatArray:
    """Return the rotations (k, 3, 3) about an axis by angles (k,) [rad]."""
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    turn: FloatArray = np.eye(3) + s * across + (1.0 - c) * (across @ across)
    return turn


def with_added_axes(arm: Arm, size: float) -> Iterator[Arm]:
    """Yield an arm with six axes: itself, or with axes added at all places, first at the tip.

    Args:
        arm: Has up to six axes.
        size: Order of the distance between added axes and the others [m].
    """
    draw = np.random.default_rng(1)
    for given in combinations(range(FORM_JOINTS), len(arm.axes)):
        axes, points = draw.normal(size=(2, FORM_JOINTS, 3))
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        points = arm.place + 0.3 * size * points
        drives = np.full((FORM_JOINTS, 3), [1.0, 0.0, kernel.AXIS_HELD])
        axes[[*given]], points[[*given]], drives[[*given]] = arm.axes, arm.points, arm.drives
        yield arm._replace(axes=axes, points=points, drives=drives)


def candidates(arm: Arm) -> Iterator[Candidate]:
    """Yield the forms that an arm of six axes may have, the fastest ones first."""
    h, p, given = arm.axes, arm.points, arm.drives[:, 2] != kernel.AXIS_HELD
    wrist = _meeting(arm, [3, 4, 5])
    if wrist is not None:
        points = _nearest(h, p, wrist)
        points[3:] = wrist
        for kind, alike, meeting in (
            (kernel.PARALLEL_2_3, [1, 2], []),
            (kernel.PARALLEL_1_2, [0, 1], []),
            (kernel.MEET_1_2, [], [0, 1]),
            (kernel.MEET_2_3, [], [1, 2]),
        ):
            centre = _meeting(arm, meeting) if meeting else wrist
            if centre is not None and _parallel(h[alike][given[alike]]):
                moved = points.copy()
                moved[meeting] = centre
                yield Candidate(kind, _aligned(h, alike, given), moved)
    if _parallel(h[1:4][given[1:4]]):
        aligned = _aligned(h, [1, 2, 3], given)
        centre = _meeting(arm, [4, 5])
        if centre is not None:
            points = _nearest(h, p, centre)
            points[4:] = centre
            yield Candidate(kernel.PARALLEL_2_3_4, aligned, points)
        yield Candidate(quartic.PARALLELS, aligned, p)
    if wrist is not None:
        points = _nearest(h, p, wrist)
        points[3:] = wrist
        yield Candidate(quartic.WRIST, h, points)


def loop_candidates(arm: Arm) -> Iterator[Candidate]:
    """Yield the forms of `candidates` for an arm whose loop is opened elsewhere.

    Axes on both sides of the opening between the last joint and the first may have a special
    position to each other only by chance, with all joints at 0. Such a form recovers no positions.
    """
    for first in OPENED_AT:
        for kind, axes, points, _ in candidates(arm.opened(first)):
            axes, points = (np.roll(each, first, axis=0) for each in (axes, points))
            yield Candidate(kind, axes, points, first)


def meeting_candidates(arm: Arm) -> Iterator[Candidate]:
    """Yield the forms of an arm with two neighbouring axes that intersect."""
    for first in (0, 5, 4, 3, 2):
        opened = arm.opened(first)
        centre = _meeting(opened, [4, 5])
        if centre is not None:
            points = _nearest(opened.axes, opened.points, centre)
            points[4:] = centre
            yield Candidate(loop.MEET_5_6, arm.axes, np.roll(points, first, axis=0), first)


def _meeting(arm: Arm, which: list[int]) -> FloatArray | None:
    """Return the point nearest to some of the axes, or None if two consecutive ones are parallel.

    Added axes are placed through it. A single axis yields its point nearest to the tip, and no axis
    the tip.
    """
    given = [i for i in which if arm.drives[i, 2] != kernel.AXIS_HELD]
    axes, points = arm.axes[given], arm.points[given]
    if len(given) < 2:
        return _nearest(axes, points, arm.place)[0] if given else arm.place
    for a, b in pairwise(axes):
        if np.linalg.norm(np.cross(a, b)) < USEFUL_MISFIT:
            return None
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    centre: FloatArray = np.linalg.solve(
        across.sum(axis=0), (across @ points[:, :, None]).sum(axis=0)[:, 0]
    )
    return centre


def _parallel(axes: FloatArray) -> bool:
    """Return whether axes (k, 3), possibly none, are nearly parallel."""
    return bool((np.linalg.norm(np.cross(axes[:1], axes), axis=1) < USEFUL_MISFIT).all())


def _nearest(axes: FloatArray, points: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the points (k, 3) on lines that are nearest to a point [m]."""
    along = ((centre - points) * axes).sum(axis=1, keepdims=True)
    nearest: FloatArray = points + along * axes
    return nearest


def _aligned(axes: FloatArray, alike: list[int], given: NDArray[np.bool_]) -> FloatArray:
    """Return the axes (6, 3), some of them made parallel to the mean of the given ones."""
    aligned = axes.copy()
    if alike:
        led = [i for i in alike if given[i]] or alike[:1]
        mean = np.sign(axes[led] @ axes[led[0]]) @ axes[led]
        mean /= np.linalg.norm(mean)
        aligned[alike] = mean
        aligned[led] *= np.sign(axes[led] @ mean)[:, None]
    return aligned

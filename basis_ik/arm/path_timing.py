# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0


"""Times of a path of joint positions: how fast it may be gone without exceeding any limit.

The path is a cubic spline through its rows. How far the arm is along it, first follows the limits
of velocity and acceleration; the mean of that over a window of time then limits the jerk, too.
Places where this exceeds a limit of a joint are made slower, a few times, and what remains is
stretched in time. So the limits hold whatever the path, and only its duration is approximate.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.arm.joints_kernel import ACCELERATION, JERK, VELOCITY
from basis_ik.arm.limiter import WIDEST_SPACING, Motion, control_points
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import finite_array


class PathTimingTuning(NamedTuple):
    """Tuning of the times along a path of joint positions."""

    corner: float = 0.2  # [rad], turn of the way in joint space at a row, above which the arm rests
    row_tolerance: float = 1e-9  # [s], at full speed: rows nearer to each other are one
    parts: int = 6  # of the way between two rows, each of one acceleration along the way
    gain: float = 0.99  # of its duration: a motion that is not shorter than this is no better
    idle_rounds: int = 2  # in a row that make a motion no better
    # Of the time in which the slowest joint reaches its largest acceleration. The jerk of the
    # result exceeds that along the way where the latter changes. With 1, motions last about 4 %
    # longer.
    average_time: float = 1.3


PATH_TIMING_TUNING = PathTimingTuning()


# Where on each piece of the result the limits are checked.
CHECK_FRACTIONS = np.linspace(0.0, 1.0, 17)


def time_path(rows: FloatArray, limits: FloatArray) -> Motion:
    """Return the motion through rows of positions, from rest to rest.

    Args:
        rows: Positions (m, n) [rad or m], at least one row.
        limits: As from `MotionLimits.scaled`, shape (5, n).

    Returns:
        The motion. Its samples are about `WIDEST_SPACING` apart, and the quintics between them keep
        the limits of velocity, acceleration and jerk. It rests at corners: rows at which the way
        turns by more than `corner`, with joints measured in their largest velocities.

    Raises:
        ShapeError: The rows have not one position for each joint.
        NotFiniteError: A position is NaN or infinite.
    """
    rows = finite_array("rows", rows, len(rows), limits.shape[1])
    way = _Way.through(rows, limits)
    if way is None:
        still = np.zeros((1, limits.shape[1]))
        return Motion(np.zeros(1), rows[:1], still, still)
    best, share, idle = None, np.ones(len(way.fastest)), 0
    while best is None or idle < PATH_TIMING_TUNING.idle_rounds:
        pace = _Pace.along(way, share)
        motion, times, excess = pace.sampled(way, limits)
        gains = best is None or motion.times[-1] < PATH_TIMING_TUNING.gain * best.times[-1]
        best, idle = (motion, 0) if gains else (best, idle + 1)
        share = share / pace.worst(way, times, excess)
    return best


class _Way(NamedTuple):
    """Cubics through m rows, and how fast they may be gone; i is one of (m - 1) * `parts`.

    Attributes:
        u: Length of the way at each row (m,), in the joints' largest velocities [s].
        cubics: Coefficients (4, m - 1, n), of the elapsed length.
        corners: Rows between the first and the last at which the arm rests.
        fastest: Largest speed along the way in each part (i,).
        steepest: Largest acceleration along the way in each part (i,) [1/s].
        window: Time for which the speed along the way is averaged [s].
        last: The last row (n,).
    """

    u: FloatArray
    cubics: FloatArray
    corners: npt.NDArray[np.intp]
    fastest: FloatArray
    steepest: FloatArray
    window: float
    last: FloatArray

    @classmethod
    def through(cls, rows: FloatArray, limits: FloatArray) -> _Way | None:
        """Return the way through rows (m, n), or None if they are all the same."""
        scaled = rows / limits[VELOCITY]
        gaps = np.linalg.norm(np.diff(scaled, axis=0), axis=1)
        apart = np.append(True, gaps > PATH_TIMING_TUNING.row_tolerance)
        if not apart[1:].any():
            return None
        apart[len(apart) - 1 - int(np.argmax(apart[::-1]))] = False  # its place is the last row's
        apart[-1] = True
        rows, scaled = rows[apart], scaled[apart]
        steps = np.diff(scaled, axis=0)
        gaps = np.linalg.norm(steps, axis=1)
        ahead = steps / gaps[:, np.newaxis]
        turns = 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(np.diff(ahead, axis=0), axis=1), 1))
        corners = np.flatnonzero(turns > PATH_TIMING_TUNING.corner) + 1
        ends = [0, *corners.tolist(), len(rows) - 1]
        cubics = np.concatenate(
            [_cubics(gaps[a:b], rows[a : b + 1]) for a, b in itertools.pairwise(ends)], axis=1
        )
        s = gaps[:, np.newaxis] * np.linspace(0.0, 1.0, PATH_TIMING_TUNING.parts + 1)
        first = np.abs(_polynomial(cubics, s, 1))
        second = np.abs(_polynomial(cubics, s, 2))
        first, second = (np.maximum(each[:, 1:], each[:, :-1]) for each in (first, second))
        most = 1.0 / np.maximum((first / limits[VELOCITY]).max(axis=2), 1e-12)
        bends = (second / limits[ACCELERATION]).max(axis=2)
        with np.errstate(divide="ignore"):
            most = np.minimum(most, bends**-0.5)
        steepest = 1.0 / (first / limits[ACCELERATION]).max(axis=2)
        return cls(
            np.append(0.0, np.cumsum(gaps)), cubics, corners, most.ravel(), steepest.ravel(),
            PATH_TIMING_TUNING.average_time * float((limits[ACCELERATION] / limits[JERK]).max()),
            rows[-1],
        )  # fmt: skip


class _Pace(NamedTuple):
    """How far along a way the arm is over time, before it is averaged; k knots.

    Attributes:
        times: shape (k,) [s].
        states: Integral of the length, length, speed, acceleration at the knots, shape (4, k).
    """

    times: FloatArray
    states: FloatArray

    @classmethod
    def along(cls, way: _Way, share: FloatArray) -> _Pace:
        """Return the fastest pace with constant acceleration in each part."""
        gaps = np.repeat(np.diff(way.u) / PATH_TIMING_TUNING.parts, PATH_TIMING_TUNING.parts)
        u = np.append(0.0, np.cumsum(gaps))
        squares = (way.fastest * share) ** 2
        squares = np.minimum(np.append(0.0, squares), np.append(squares, 0.0))
        squares[way.corners * PATH_TIMING_TUNING.parts] = 0.0
        rises = np.append(0.0, np.cumsum(2.0 * way.steepest * share**2 * gaps))
        squares = rises + np.minimum.accumulate(squares - rises)
        squares = (np.minimum.accumulate((squares + rises)[::-1]))[::-1] - rises
        speeds = np.sqrt(np.maximum(squares, 0.0))
        durations = 2.0 * gaps / (speeds[1:] + speeds[:-1])
        accelerations = np.diff(speeds) / durations
        # At each corner the arm rests for the window: no average has both sides of it.
        at = way.corners * PATH_TIMING_TUNING.parts
        durations = np.insert(durations, at, way.window)
        accelerations = np.append(np.insert(accelerations, at, 0.0), 0.0)
        u, speeds = np.insert(u, at, u[at]), np.insert(speeds, at, 0.0)
        areas = durations * (
            u[:-1] + durations * (speeds[:-1] / 2.0 + durations * accelerations[:-1] / 6.0)
        )
        times = np.append(0.0, np.cumsum(durations))
        return cls(times, np.array([np.append(0.0, np.cumsum(areas)), u, speeds, accelerations]))

    def at(self, times: FloatArray) -> FloatArray:
        """Return the integral of the length, length and speed at times (t,), shape (3, t)."""
        knots = np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)
        area, u, speed, acceleration = self.states[:, knots]
        t = np.maximum(times - self.times[knots], 0.0)
        return np.array([
            area + t * (u + t * (speed / 2.0 + t * acceleration / 6.0)),
            u + t * (speed + t * acceleration / 2.0),
            speed + t * acceleration,
        ])  # fmt: skip

    def sampled(self, way: _Way, limits: FloatArray) -> tuple[Motion, FloatArray, FloatArray]:
        """Return the motion whose speed along the way is the average of this pace's.

        Args:
            way: The way.
            limits: shape (5, n).

        Returns:
            The motion, stretched in time between two rests so that it just keeps the limits; the
            times (k,) of its samples before that, and by how much it was too fast between them.
        """
        rests = way.corners * PATH_TIMING_TUNING.parts + np.arange(1, len(way.corners) + 1)
        ends = [0.0, *self.times[rests].tolist(), float(self.times[-1]) + way.window]
        counts = [math.ceil((b - a) / WIDEST_SPACING) for a, b in itertools.pairwise(ends)]
        times = np.concatenate(
            [np.linspace(a, b, k, endpoint=False)
             for (a, b), k in zip(itertools.pairwise(ends), counts, strict=True)] + [ends[-1:]]
        )  # fmt: skip
        u, speed, acceleration = (self.at(times) - self.at(times - way.window)) / way.window
        bounds = np.append(0, np.cumsum(counts))
        speed[bounds] = acceleration[bounds] = 0.0
        u[bounds] = way.u[np.concatenate([[0], way.corners, [-1]])]
        rows = np.clip(np.searchsorted(way.u, u, side="right") - 1, 0, len(way.u) - 2)
        cubics, s = way.cubics[:, rows], (u - way.u[rows])[:, np.newaxis]
        first = _polynomial(cubics, s, 1)[:, 0]
        speed, acceleration = speed[:, np.newaxis], acceleration[:, np.newaxis]
        positions = _polynomial(cubics, s, 0)[:, 0]
        velocities = first * speed
        accelerations = _polynomial(cubics, s, 2)[:, 0] * speed**2 + first * acceleration
        positions[-1] = way.last
        excess = _excess(Motion(times, positions, velocities, accelerations), limits)
        stretch = np.repeat(np.maximum.reduceat(excess, bounds[:-1]), counts)
        widths = np.diff(times) * stretch
        stretch = np.append(stretch, 1.0)[:, np.newaxis]
        motion = Motion(
            np.append(0.0, np.cumsum(widths)), positions,
            velocities / stretch, accelerations / stretch**2,
        )  # fmt: skip
        return motion, times, excess

    def worst(self, way: _Way, times: FloatArray, excess: FloatArray) -> FloatArray:
        """Return by how much the motion is too fast where each part of the way matters (i,)."""
        rests = way.corners * PATH_TIMING_TUNING.parts + np.arange(len(way.corners))
        begins, ends = (np.delete(each, rests) for each in (self.times[:-1], self.times[1:]))
        low = np.searchsorted(times, begins, side="right") - 1
        high = np.searchsorted(times, ends + way.window, side="left")
        pairs = np.column_stack([low, high]).ravel()
        return np.maximum(np.maximum.reduceat(np.append(excess, 1.0), pairs)[::2], 1.0)


def _excess(motion: Motion, limits: FloatArray) -> FloatArray:
    """Return by which factor each piece (k - 1,) is too fast; at 1 it just keeps the limits."""
    widths = np.diff(motion.times)
    states = np.stack(motion[1:])
    points = control_points(states, np.append(widths, 0.0))[:-1]
    worst = np.zeros(len(widths))
    for order, row in ((1, VELOCITY), (2, ACCELERATION), (3, JERK)):
        values = np.abs(DERIVATIVES[order - 1] @ points) / limits[row]
        most = values.max(axis=(1, 2)) / widths**order
        worst = np.maximum(worst, most ** (1.0 / order))
    return worst


def _polynomial(cubics: FloatArray, s: FloatArray, order: int) -> FloatArray:
    """Return a derivative of cubics (4, k, n) at lengths s (k, p), shape (k, p, n)."""
    c0, c1, c2, c3 = cubics[:, :, np.newaxis]
    s = s[..., np.newaxis]
    found: FloatArray = (
        c0 + s * (c1 + s * (c2 + s * c3)),
        c1 + s * (2.0 * c2 + s * 3.0 * c3),
        2.0 * c2 + s * 6.0 * c3,
    )[order]
    return found


def _cubics(gaps: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the coefficients (4, m - 1, n) of the cubic spline through rows (m, n).

    Its slopes at the ends are those of the polynomials through the first and last four rows.
    """
    m, u = len(rows), np.append(0.0, np.cumsum(gaps))
    slopes = np.empty_like(rows)
    for end, near in ((0, slice(0, 4)), (m - 1, slice(max(m - 4, 0), m))):
        offsets = u[near] - u[end]
        size = np.abs(offsets).max()
        powers = np.vander(offsets / size, increasing=True)
        slopes[end] = np.linalg.solve(powers, rows[near])[1] / size
    h = gaps[:, np.newaxis]
    chords = np.diff(rows, axis=0) / h
    if m > 2:
        inner = 3.0 * (h[1:] * chords[:-1] + h[:-1] * chords[1:])
        inner[0] -= h[1] * slopes[0]
        inner[-1] -= h[-2] * slopes[-1]
        slopes[1:-1] = _solved(gaps.tolist(), inner)
    second = (3.0 * chords - 2.0 * slopes[:-1] - slopes[1:]) / h
    third = (slopes[:-1] + slopes[1:] - 2.0 * chords) / h**2
    return np.stack([rows[:-1], slopes[:-1], second, third])


def _solved(gaps: list[float], right: FloatArray) -> FloatArray:
    """Return the inner slopes of a spline, by elimination; the diagonal is dominant."""
    ratios = [0.0]
    for k in range(len(right)):
        before, after = gaps[k], gaps[k + 1] if k else 0.0
        pivot = 2.0 * (before + gaps[k + 1]) - after * ratios[-1]
        right[k] = (right[k] - after * right[k - 1]) / pivot
        ratios.append(before / pivot)
    for k in range(len(right) - 2, -1, -1):
        right[k] -= ratios[k + 1] * right[k + 1]
    return right


def _derivatives() -> tuple[FloatArray, ...]:
    """Return matrices from the control points of a quintic to derivatives at `CHECK_FRACTIONS`."""
    matrices, degree, matrix = [], 5, np.eye(6)
    for _ in range(3):
        matrix = degree * np.diff(matrix, axis=0)
        degree -= 1
        basis = [
            math.comb(degree, i) * CHECK_FRACTIONS**i * (1.0 - CHECK_FRACTIONS) ** (degree - i)
            for i in range(degree + 1)
        ]
        matrices.append(np.stack(basis, axis=1) @ matrix)
    return tuple(matrices)


DERIVATIVES = _derivatives()

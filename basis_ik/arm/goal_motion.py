# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates the motion of a goal from repeated samples of it."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.joints_kernel import is_equal
from basis_ik.numerics.arrays import FloatArray


class PredictionTuning(NamedTuple):
    """Tuning of the estimate of how a goal moves."""

    longest_interval: float = 0.25  # [s]: goals farther apart in time are single goals
    pair_interval: float = 0.1  # [s]: two goals so close are a moving one; otherwise it takes three
    shortest_interval: float = 1e-3  # [s]: a goal replaces an earlier one that is closer in time
    largest_age: float = 0.1  # [s], of a goal on arrival; older ones count as this old
    most_goals: int = 48  # stored ones
    most_intervals: int = 24  # stored ones, between goals
    # The next goal is overdue this fraction of the usual interval after the longest recent one.
    overdue: float = 0.5
    # A kind of motion is rated by an earlier prediction: only then do errors of its velocity show.
    look_back: float = 0.5  # fraction of its current look-ahead
    least_look_back: float = 0.06  # [s]
    memory: float = 0.3  # [s], time constant of the averaged prediction error
    switch_ratio: float = 0.8  # error ratio below which another kind replaces the current one
    moving_ratio: float = 0.7  # error ratio below which a goal at rest counts as a moving one
    error_tolerance: float = 1e-9  # [s], in which the joints move so far; smaller errors are equal
    passes: int = 2  # iterations to find missing goals of an evenly sent motion


PREDICTION_TUNING = PredictionTuning()


class _Kind(NamedTuple):
    """A model of the goal's motion: a polynomial in time, fitted to the last goals."""

    degree: int
    window: float
    """Time span of those goals [s]; longer if it has too few."""
    even: bool = False
    """Whether the goals are assumed to be evenly spaced, with varying delays."""


AT_REST_KIND, LINEAR_KIND = 0, 1
MOTION_KINDS = (
    _Kind(0, 0.0),
    _Kind(1, 0.05),
    _Kind(2, 0.2),
    _Kind(3, 0.2),
    _Kind(3, 0.4),
    _Kind(3, 0.3, even=True),
    _Kind(3, 0.5, even=True),
)


POWERS = np.arange(1 + max(kind.degree for kind in MOTION_KINDS))


class _Sample(NamedTuple):
    """A goal, and the time for which it is valid [s]."""

    time: float
    place: FloatArray


class _Fits(NamedTuple):
    """Polynomials in time, one for each of k kinds."""

    since: FloatArray
    """Origin of each polynomial's time (k,) [s]: the time of the newest goal."""
    rows: FloatArray
    """Coefficients (k, 4, n), lowest first."""
    known: NDArray[np.bool_]
    """Whether there were enough goals for each (k,)."""

    def places(self, times: FloatArray) -> FloatArray:
        """Return the prediction of each for its own time (k,), shape (k, n)."""
        powers = (times - self.since)[:, np.newaxis] ** POWERS
        foretold: FloatArray = np.einsum("kp,kpn->kn", powers, self.rows)
        return foretold

    def at(self, kind: int, time: float) -> FloatArray:
        """Return value, first and second derivative of one at a time, shape (3, n)."""
        t, (place, slope, bend, twist) = time - self.since[kind], self.rows[kind]
        return np.array(
            [
                place + t * (slope + t * (bend + t * twist)),
                slope + t * (2.0 * bend + 3.0 * t * twist),
                2.0 * bend + 6.0 * t * twist,
            ]
        )


class GoalMotion:
    """Estimates how a goal moves, so that it can be followed without lag.

    Polynomials in time are fitted to the last goals. The one with the best recent predictions, at
    its current look-ahead, is used; thus noise and steps are not mistaken for motion. A goal counts
    as at rest if its successor is overdue, or if it has jumped farther than the joints can follow.

    Args:
        speeds: Largest speeds of the joints (n,) [rad/s or m/s].
    """

    def __init__(self, speeds: FloatArray) -> None:
        self._speeds = speeds
        self._degrees = np.array([kind.degree for kind in MOTION_KINDS])
        self._windows = np.array([kind.window for kind in MOTION_KINDS])
        self._even = np.array([kind.even for kind in MOTION_KINDS])
        self._still: FloatArray = np.zeros_like(speeds)
        self._intervals: deque[float] = deque(maxlen=PREDICTION_TUNING.most_intervals)
        self.reset()

    def reset(self) -> None:
        """Discard all goals."""
        self._begin()
        self._goal: FloatArray | None = None
        self._of: float | None = None
        self._seen = -np.inf

    def _begin(self) -> None:
        """Discard the estimate of the motion."""
        self._samples: list[_Sample] = []
        self._fits: deque[_Fits] = deque(maxlen=PREDICTION_TUNING.most_goals)
        self._misses, self._weights = np.zeros((2, len(MOTION_KINDS)))
        self._kind, self._reach, self._timeout = LINEAR_KIND, 0.0, 0.0
        self._intervals.clear()

    def observe(self, goal: FloatArray, now: float, time: float | None = None) -> FloatArray:
        """Return estimated position, velocity and acceleration of the goal now, shape (3, n).

        Args:
            goal: The goal as last received (n,).
            now: The current time, on any clock, increasing [s].
            time: Time for which the goal is valid, on the same clock; None: that of the first call
                with it.
        """
        if self._goal is None or time != self._of or not is_equal(goal, self._goal):
            self._add(
                _Sample(
                    max(now if time is None else time, now - PREDICTION_TUNING.largest_age),
                    goal.copy(),
                ),
                now,
            )
            self._goal, self._of = self._samples[-1].place, time
        if not self._fits or now - self._seen > self._timeout:
            return np.array([goal, self._still, self._still])
        self._reach = max(self._reach, now - self._samples[-1].time)
        return self._fits[-1].at(self._kind, now)

    def _add(self, sample: _Sample, now: float) -> None:
        """Store a goal, and compare it with the predictions."""
        interval, self._seen = now - self._seen, now
        if not self._continues(sample, interval):
            self._begin()
            self._samples = [sample]
            return
        self._intervals.append(interval)
        usual = sum(self._intervals) / len(self._intervals)
        self._timeout = max(self._intervals) + PREDICTION_TUNING.overdue * usual
        newer = sample.time - self._samples[-1].time > PREDICTION_TUNING.shortest_interval
        self._samples = [
            *self._samples[1 - PREDICTION_TUNING.most_goals : None if newer else -1],
            sample,
        ]
        if len(self._samples) == 1:
            return
        times = np.array([each.time for each in self._samples])
        # The times of the goals in each kind, shape (k, goals).
        taken = np.where(self._even[:, np.newaxis], _evenly_spaced(times), times)
        if newer and self._fits:
            self._score(taken[:, -1], float(times[-1] - times[-2]))
        self._fits.append(self._fitted(taken, np.array([each.place for each in self._samples])))
        self._choose()
        self._reach = 0.0

    def _continues(self, sample: _Sample, interval: float) -> bool:
        """Return whether a goal continues the motion of the previous ones."""
        if not self._samples or not interval <= PREDICTION_TUNING.longest_interval:
            return False
        before = self._samples[-1]
        apart = sample.time - before.time
        if not 0.0 <= apart <= PREDICTION_TUNING.longest_interval:
            return False
        # A late goal may arrive together with the next one.
        usual = sum(self._intervals) / len(self._intervals) if self._intervals else 0.0
        way = np.abs(sample.place - before.place)
        return bool((way <= self._speeds * max(apart, 0.5 * usual)).all())

    def _score(self, times: FloatArray, apart: float) -> None:
        """Update the prediction error of each kind for the newest goal, relative to their mean.

        Args:
            times: Time of that goal in each kind (k,).
            apart: Time since the previous goal [s].
        """
        horizon = max(PREDICTION_TUNING.look_back * self._reach, PREDICTION_TUNING.least_look_back)
        newest = self._samples[-1]
        old = (
            fits
            for fits in reversed(self._fits)
            if newest.time - fits.since[AT_REST_KIND] >= horizon
        )
        fits = next(old, self._fits[0])
        off = fits.places(times) - newest.place
        misses = (np.abs(off) / self._speeds).max(axis=1) + PREDICTION_TUNING.error_tolerance
        parts = np.where(fits.known, misses / misses[fits.known].mean(), 0.0)
        kept = math.exp(-apart / PREDICTION_TUNING.memory)
        self._misses = kept * self._misses + parts
        self._weights = kept * self._weights + fits.known

    def _fitted(self, times: FloatArray, places: FloatArray) -> _Fits:
        """Return the least-squares polynomials for places (goals, n) at times (k, goals)."""
        last = times.shape[1]
        ago = times - times[:, -1:]
        counts = np.maximum((ago >= -self._windows[:, np.newaxis]).sum(axis=1), self._degrees + 1)
        known = counts <= last
        chosen = np.arange(last) >= last - counts[:, np.newaxis]
        # In units of the window, so that the normal equations are well conditioned.
        units = np.maximum(-(ago * chosen).min(axis=1), PREDICTION_TUNING.shortest_interval)
        used = (self._degrees[:, np.newaxis] >= POWERS) & known[:, np.newaxis]
        part = ago / units[:, np.newaxis]
        powers = np.stack([np.ones_like(part), part, part * part, part * part * part], axis=2)
        powers *= chosen[:, :, np.newaxis] & used[:, np.newaxis]
        turned = powers.transpose(0, 2, 1)
        normal = turned @ powers
        normal[:, POWERS, POWERS] += ~used  # unused coefficients become zero
        rows = np.linalg.solve(normal, turned @ places)
        return _Fits(times[:, -1], rows / (units[:, np.newaxis] ** POWERS)[:, :, np.newaxis], known)

    def _choose(self) -> None:
        """Choose the kind with the best predictions."""
        known = self._weights > 0.0
        scores = np.full(len(MOTION_KINDS), np.inf)
        scores[known] = self._misses[known] / self._weights[known]
        scores[self._kind] *= PREDICTION_TUNING.switch_ratio
        best = LINEAR_KIND + int(np.argmin(scores[LINEAR_KIND:]))
        if not known[best]:
            best = (
                LINEAR_KIND
                if self._intervals[-1] <= PREDICTION_TUNING.pair_interval
                else AT_REST_KIND
            )
        elif scores[best] > PREDICTION_TUNING.moving_ratio * scores[AT_REST_KIND]:
            best = AT_REST_KIND
        self._kind = best


def _evenly_spaced(times: FloatArray) -> FloatArray:
    """Return the evenly spaced times (k,) nearest to given ones, with gaps for missing ones."""
    apart, steps = np.diff(times), np.arange(len(times))
    usual, middle = np.sort(apart)[len(apart) // 2], times.sum() / len(times)
    counts = np.append(0.0, np.cumsum(np.maximum(np.round(apart / usual), 1.0)))
    for _ in range(PREDICTION_TUNING.passes):
        off = counts - counts.sum() / len(counts)
        interval = float(off @ times) / float(off @ off)
        counts = np.round((times - middle) / interval + (counts - off))
        counts = np.maximum.accumulate(counts - steps) + steps  # each later than the one before
    off = counts - counts.sum() / len(counts)
    even: FloatArray = middle + float(off @ times) / float(off @ off) * off
    return even

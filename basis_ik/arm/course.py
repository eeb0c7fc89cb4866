# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Places at given times, and a smooth way between them.

Between two places each number is a cubic that stays between them. Its slope at a place is the
weighted harmonic mean of the slopes on both sides, and zero where these differ in sign (Fritsch and
Butland 1984).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform, from_checked


class Course:
    """Places at times, and the way between them, which rests before the first and at the last.

    Args:
        times: Increasing (k,) [s].
        rows: The places then (k, m).
        velocity: That of the first place (m,); it is reduced to what keeps the way between the
            places. None: that of the way to the second.
        poses: Whether they are rows of `pose_rows`.
    """

    def __init__(
        self,
        times: FloatArray,
        rows: FloatArray,
        velocity: FloatArray | None = None,
        *,
        poses: bool = False,
    ) -> None:
        self.times, self.rows, self.poses = times, rows, poses
        self._slopes = np.zeros_like(rows)
        if len(times) == 1:
            return
        width = np.diff(times)[:, np.newaxis]
        ways = np.diff(rows, axis=0) / width
        before, after = ways[:-1], ways[1:]
        one, other = 2.0 * width[1:] + width[:-1], width[1:] + 2.0 * width[:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (one + other) / (one / before + other / after)
        self._slopes[1:-1] = np.where(before * after > 0.0, mean, 0.0)
        most = 3.0 * ways[0]
        self._slopes[0] = np.clip(
            ways[0] if velocity is None else velocity, np.minimum(most, 0), np.maximum(most, 0)
        )

    @property
    def end(self) -> float:
        """Time of the last place [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> FloatArray:
        """Return place, velocity and acceleration at a time [s], shape (3, m)."""
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        if k < 0 or k >= len(self.times) - 1:
            rest = np.zeros((3, self.rows.shape[1]))
            rest[0] = self.rows[0 if k < 0 else -1]
            return rest
        width = self.times[k + 1] - self.times[k]
        s = (time - self.times[k]) / width
        p, way = self.rows[k], self.rows[k + 1] - self.rows[k]
        v, w = self._slopes[k] * width, self._slopes[k + 1] * width
        c, d = 3.0 * way - 2.0 * v - w, v + w - 2.0 * way
        return np.array(
            [
                p + s * (v + s * (c + s * d)),
                (v + s * (2.0 * c + 3.0 * s * d)) / width,
                (2.0 * c + 6.0 * s * d) / width**2,
            ]
        )

    def begun(self, time: float, row: FloatArray, velocity: FloatArray | None) -> Course:
        """Return the course from a place (m,) at a time [s] on, if it begins later.

        Args:
            time: The time.
            row: The place.
            velocity: That of the place (m,); as for the class.
        """
        if not time < self.times[0]:
            return self
        if self.poses and row[3:] @ self.rows[0, 3:] < 0.0:  # q is -q
            turn = np.array([*3 * [1.0], *4 * [-1.0]])
            row, velocity = turn * row, None if velocity is None else turn * velocity
        times, rows = np.append(time, self.times), np.concatenate([row[np.newaxis], self.rows])
        return Course(times, rows, velocity, poses=self.poses)


def pose_rows(poses: Sequence[RigidTransform]) -> FloatArray:
    """Return poses as rows (k, 7): x, y, z [m] and a quaternion; q and -q are told apart."""
    rows = np.array([[*each.translation, *each.as_quaternion_xyzw()] for each in poses])
    for before, row in itertools.pairwise(rows):
        if before[3:] @ row[3:] < 0.0:
            row[3:] *= -1.0
    return rows


def pose_of(row: FloatArray) -> RigidTransform:
    """Return the pose of a row (7,) between two of `pose_rows`."""
    x, y, z, *quaternion = row.tolist()
    return from_checked(tuple(quaternion), (x, y, z))

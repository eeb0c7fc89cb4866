# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Poses, the history of one frame, and the exception of a failed lookup."""

import math
from bisect import bisect_left
from typing import NamedTuple

# Plain tuples: for so few numbers faster than any array. Quaternions are x, y, z, w.
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Pose = tuple[Vector, Quaternion]

IDENTITY: Pose = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
_DURATION = 10_000_000_000  # that a history covers [ns]


class TransformException(Exception):  # noqa: N818 (upstream's name)
    """A lookup has failed; the message says why."""


class Sample(NamedTuple):
    """parent_T_frame at one time. Stamps are in [ns]."""

    stamp: int
    parent: str
    translation: Vector
    rotation: Quaternion


Bracket = tuple[Sample, Sample]
"""The samples before and after a time; the same one twice at the time of a sample."""


class History:
    """The samples of a frame over the last 10 s, in the order of their stamps.

    That of a static frame has one sample, with stamp 0, which holds at all times.
    """

    def __init__(self, static: bool) -> None:
        self.static = static
        self._stamps: list[int] = []
        self._samples: list[Sample] = []

    def insert(self, sample: Sample) -> bool:
        """Keep a sample, in place of one of the same stamp; False if it is too old to be kept."""
        stamps, samples = self._stamps, self._samples
        if self.static:
            sample = sample._replace(stamp=0)
        if stamps and sample.stamp < stamps[-1] - _DURATION:
            return False
        place = bisect_left(stamps, sample.stamp)
        replaced = place < len(stamps) and stamps[place] == sample.stamp
        stamps[place : place + replaced] = [sample.stamp]
        samples[place : place + replaced] = [sample]
        expired = bisect_left(stamps, stamps[-1] - _DURATION)
        del stamps[:expired], samples[:expired]
        return True

    def parent(self) -> str | None:
        """The parent in the newest sample."""
        return self._samples[-1].parent if self._samples else None

    def bracket(self, stamp: int) -> Bracket:
        """The samples around a time; 0 means the newest.

        Raises:
            TransformException: The time lies outside the history.
        """
        stamps, samples = self._stamps, self._samples
        if not stamps:
            raise TransformException("Unable to lookup transform, cache is empty")
        if stamp == 0 or self.static:
            return samples[-1], samples[-1]
        place = bisect_left(stamps, stamp)
        if place < len(stamps) and stamps[place] == stamp:
            return samples[place], samples[place]
        if 0 < place < len(stamps):
            return samples[place - 1], samples[place]
        raise TransformException(self._outside(stamp))

    def _outside(self, stamp: int) -> str:
        asked, oldest, newest = (seconds(s) for s in (stamp, self._stamps[0], self._stamps[-1]))
        need = "Lookup would require extrapolation"
        if oldest == newest:
            return f"{need} at time {asked}, but only time {newest} is in the buffer"
        if stamp < self._stamps[0]:
            where, known = "past", f"earliest data is at time {oldest}"
        else:
            where, known = "future", f"latest data is at time {newest}"
        return f"{need} into the {where}.  Requested time {asked} but the {known}"


def seconds(stamp: int) -> str:
    """A stamp as messages show it."""
    return f"{stamp / 1e9:.6f}"


def interpolate(bracket: Bracket, stamp: int) -> Pose:
    """parent_T_frame at a time inside a bracket; across a change of parent, the older sample."""
    older, newer = bracket
    if older is newer or older.parent != newer.parent:
        return older.translation, older.rotation
    ratio = (stamp - older.stamp) / (newer.stamp - older.stamp)
    keep = 1.0 - ratio
    (ax, ay, az), (bx, by, bz) = older.translation, newer.translation
    translation = (keep * ax + ratio * bx, keep * ay + ratio * by, keep * az + ratio * bz)
    return translation, _slerp(older.rotation, newer.rotation, ratio)


def _slerp(a: Quaternion, b: Quaternion, ratio: float) -> Quaternion:
    """Turn at constant speed, the shorter way, from a (ratio 0) to b (ratio 1)."""
    cosine = sum(p * q for p, q in zip(a, b, strict=True))
    squares = sum(p * p for p in a) * sum(q * q for q in b)
    angle = math.acos(min(1.0, abs(cosine) / math.sqrt(squares)))
    if angle == 0.0:
        return a
    near = math.sin((1.0 - ratio) * angle) / math.sin(angle)
    far = math.copysign(math.sin(ratio * angle) / math.sin(angle), cosine)
    x, y, z, w = (near * p + far * q for p, q in zip(a, b, strict=True))
    return x, y, z, w


def _rotate(q: Quaternion, v: Vector) -> Vector:
    """Rotate by q v q*, which like upstream scales by |q|² where q is not of unit length."""
    x, y, z, w = q
    vx, vy, vz = v
    along = 2.0 * (x * vx + y * vy + z * vz)
    keep = w * w - x * x - y * y - z * z
    turn = 2.0 * w
    return (
        keep * vx + along * x + turn * (y * vz - z * vy),
        keep * vy + along * y + turn * (z * vx - x * vz),
        keep * vz + along * z + turn * (x * vy - y * vx),
    )


def compose(a: Pose, b: Pose) -> Pose:
    """The pose a @ b."""
    (tx, ty, tz), (ax, ay, az, aw) = a
    vx, vy, vz = _rotate(a[1], b[0])
    bx, by, bz, bw = b[1]
    return (vx + tx, vy + ty, vz + tz), (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def turned(axis: Vector, angle: float) -> Pose:
    """The pose that turns about an axis of unit length by an angle [rad]."""
    x, y, z = (part * math.sin(angle / 2) for part in axis)
    return (0.0, 0.0, 0.0), (x, y, z, math.cos(angle / 2))


def placed(xyz: Vector, rpy: Vector) -> Pose:
    """The pose at a position [m], turned about fixed axes by roll, then pitch, then yaw [rad]."""
    roll, pitch, yaw = rpy
    about_z_y = compose(turned((0.0, 0.0, 1.0), yaw), turned((0.0, 1.0, 0.0), pitch))
    return compose((xyz, IDENTITY[1]), compose(about_z_y, turned((1.0, 0.0, 0.0), roll)))


def inverse(pose: Pose) -> Pose:
    """The pose that undoes one."""
    (tx, ty, tz), (x, y, z, w) = pose
    rotation = (-x, -y, -z, w)
    return _rotate(rotation, (-tx, -ty, -tz)), rotation

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a recorded motion of an arm was like: how late, how far off, how quickly at rest.

Nothing here is of the package under test: the kinematics are read from the URDF anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from basis_ik.numerics.arrays import FloatArray

MOVED = 5e-4  # rad; a joint that has gone so far has begun to move
NEAR_REST = 1e-5  # m; so near to where it comes to rest the tip has come to rest
GRID = 0.01  # s between the samples of which accelerations are differences
LAGS = np.arange(0.0, 0.4, 1e-3)  # s; the time shifts that are tried


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> FloatArray:
    """Return the rotation (3, 3) of a URDF's roll, pitch and yaw [rad]."""
    cr, cp, cy = np.cos((roll, pitch, yaw))
    sr, sp, sy = np.sin((roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_about(axis: FloatArray, angles: FloatArray) -> FloatArray:
    """Return rotations (m, 3, 3) about a unit axis (3,) by angles (m,) [rad]: Rodrigues."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    turned: FloatArray = np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)
    return turned


class Kinematics:
    """Forward kinematics of the revolute and fixed joints between two links of a URDF.

    Attributes:
        joints: Names of the joints that turn, root first.
        lower, upper, speed: Their limits, shape (n,) [rad], [rad/s].
    """

    def __init__(self, urdf: str, root: str, tip: str) -> None:
        above = {j.find("child").get("link"): j for j in ElementTree.fromstring(urdf).iter("joint")
                 if j.find("child") is not None}  # fmt: skip
        chain, link = [], tip
        while link != root:
            chain.append(above[link])
            link = above[link].find("parent").get("link")
        self._steps = []
        self.joints, bounds = [], []
        for joint in reversed(chain):
            origin = joint.find("origin")
            attributes = {} if origin is None else origin.attrib
            xyz, rpy = (_numbers(attributes.get(key, "0 0 0")) for key in ("xyz", "rpy"))
            turns = joint.get("type") != "fixed"
            axis = _numbers(joint.find("axis").get("xyz")) if turns else None
            self._steps.append((xyz, rotation_from_rpy(*rpy), axis))
            if turns:
                self.joints.append(joint.get("name"))
                limit = joint.find("limit")
                bounds.append([float(limit.get(key)) for key in ("lower", "upper", "velocity")])
        self.lower, self.upper, self.speed = np.array(bounds).T

    def forward(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions (m, 3) [m] and rotations (m, 3, 3) of the tip for joints q (m, n)."""
        position, rotation = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
        columns = iter(q.T)
        for xyz, fixed, axis in self._steps:
            position = position + rotation @ xyz
            rotation = rotation @ fixed
            if axis is not None:
                rotation = rotation @ rotation_about(axis / np.linalg.norm(axis), next(columns))
        return position, rotation


def _numbers(text: str) -> FloatArray:
    return np.array([float(word) for word in text.split()])


def quaternion_xyzw(rotation: FloatArray) -> FloatArray:
    """Return the unit quaternion (4,), x y z w, of a rotation (3, 3): Bar-Itzhack's method."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    symmetric = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    quaternion: FloatArray = np.linalg.eigh(symmetric / 3.0)[1][:, 3]
    return quaternion


@dataclass(frozen=True)
class Motion:
    """A measured motion.

    Attributes:
        times: shape (m,), of the samples [s], growing.
        joints: shape (m, n) [rad].
        tips: shape (m, 3), where the tip was [m].
    """

    times: FloatArray
    joints: FloatArray
    tips: FloatArray

    def since(self, time: float) -> Motion:
        """Return what came after a time, and the last sample before it."""
        first = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        return Motion(self.times[first:], self.joints[first:], self.tips[first:])

    def until(self, time: float) -> Motion:
        """Return what came before a time."""
        end = int(np.searchsorted(self.times, time, side="right"))
        return Motion(self.times[:end], self.joints[:end], self.tips[:end])


def delay_to_motion(motion: Motion, event: float) -> float:
    """Return the time from an event, the arm at rest, to the first joint that moves [s]."""
    after = motion.since(event)
    moved = np.abs(after.joints - after.joints[0]).max(axis=1) > MOVED
    return float(after.times[moved][0] - event) if moved.any() else float("nan")


def time_within(motion: Motion, event: float, point: FloatArray, distance: float) -> float:
    """Return the time from an event until the tip is near a point for good [s]."""
    after = motion.since(event)
    away = np.flatnonzero(np.linalg.norm(after.tips - point, axis=1) > distance)
    if not len(away):
        return 0.0
    if away[-1] == len(after.times) - 1:
        return float("nan")
    return float(after.times[away[-1] + 1] - event)


def time_to_rest(motion: Motion, event: float) -> float:
    """Return the time from an event until the tip is where it comes to rest [s]."""
    return time_within(motion, event, motion.tips[-1], NEAR_REST)


def length_of_path(motion: Motion, event: float) -> float:
    """Return how far the tip went after an event, along its path [m]."""
    after = motion.since(event)
    # Of the first step, only what comes after the event.
    start = [np.interp(event, after.times, column) for column in after.tips.T]
    path = np.vstack([start, after.tips[1:]])
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def overshoot(motion: Motion, event: float, point: FloatArray, along: FloatArray) -> float:
    """Return how far the tip was from a point at most, once beyond it [m]; 0 if it never was.

    Args:
        motion: The motion.
        event: Since when [s].
        point: shape (3,) [m].
        along: Direction in which beyond begins, shape (3,).
    """
    off = motion.since(event).tips - point
    beyond = off[int(np.argmax(off @ along > 0.0)) :] if (off @ along > 0.0).any() else off[:0]
    return float(np.linalg.norm(beyond, axis=1).max(initial=0.0))


def departure_from_line(tips: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """Return how far points (m, 3) are at most from the line through two points [m]."""
    along = (end - start) / np.linalg.norm(end - start)
    off = tips - start
    return float(np.linalg.norm(off - np.outer(off @ along, along), axis=1).max())


def accelerations(motion: Motion, *, grid: float | None = GRID) -> FloatArray:
    """Return the size of the joints' accelerations (k, n), by second differences [rad/s²].

    Args:
        motion: The motion.
        grid: Time between samples that are interpolated [s]; None: as measured.
    """
    times, joints = motion.times, motion.joints
    if grid is not None:
        times = np.arange(motion.times[0], motion.times[-1], grid)
        joints = np.stack([np.interp(times, motion.times, q) for q in motion.joints.T], axis=1)
    steps = np.diff(times)[:, None]
    speeds = np.diff(joints, axis=0) / steps
    sizes: FloatArray = np.abs(np.diff(speeds, axis=0)) / (0.5 * (steps[1:] + steps[:-1]))
    return sizes


def following(motion: Motion, reference: Callable[[FloatArray], FloatArray]) -> dict[str, float]:
    """Return how a motion follows a reference.

    The lag is the time shift with the least root mean square distance from the reference, the error
    of shape the greatest distance that this shift leaves.

    Args:
        motion: The motion.
        reference: Gives the points (m, 3) where the tip should be at times (m,).
    """
    off = np.linalg.norm(motion.tips - reference(motion.times), axis=1)
    shifted = [np.linalg.norm(motion.tips - reference(motion.times - lag), axis=1) for lag in LAGS]
    best = int(np.argmin([np.mean(distances**2) for distances in shifted]))
    return {
        "error_median": float(np.median(off)),
        "error_max": float(off.max()),
        "lag": float(LAGS[best]),
        "shape": float(shifted[best].max()),
    }

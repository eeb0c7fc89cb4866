# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves a point that a head looks at, and measures the head's error through tf."""

from __future__ import annotations

import math
import time
from collections import deque
from threading import Event

import numpy as np
from geometry_msgs.msg import PointStamped
from numpy.typing import NDArray

from basis_ik.errors import BasisIkError
from basis_ik.ros.demo.checker import Checker
from basis_ik.ros.parameters.parameters import Declaration, frame_complaint
from basis_ik.transforms.rigid import RigidTransform

POINT_FRAME = "moving_point"
# A figure of eight in front of the head: middle and amplitudes [m].
FIGURE_MIDDLE, FIGURE_AMPLITUDE = np.array([1.5, 0.0, 0.3]), np.array([0.0, 0.8, 0.3])
IN_SIGHT_TIME = 0.5  # [s] that the point must be in sight before the measurement begins
ARRIVAL_TIMEOUT = 20.0  # [s]
POINT_PERIOD = 0.01  # [s] between positions of the point
TRAIL_TIME = 3.0  # [s] of its path that is stored

POINT_PARAMETERS = (
    Declaration(
        "root_frame",
        "base_link",
        "Frame in which the point moves.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration(
        "tip_frame",
        "camera_optical_frame",
        "Frame of the camera.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration("duration", 20.0, "Time of the measurement [s].", 0.1, 1e5, True),
    Declaration("period", 30.0, "Period of the point's motion [s].", 1.0, 1e5, True),
    Declaration(
        "largest_angle",
        0.5,
        "Largest median angle to the path of the moving point, and largest angle to the point at "
        "rest [deg].",
        0.0,
        180.0,
        True,
    ),
)


def place(phase: float) -> NDArray[np.float64]:
    """Return the point (3,) [m] at a phase of its motion, in periods."""
    angle = 2.0 * math.pi * phase
    return FIGURE_MIDDLE + FIGURE_AMPLITUDE * [0.0, math.sin(angle), math.sin(2.0 * angle)]


class MovingPoint(Checker):
    """Node `moving_point`: broadcasts the frame of that name, and checks the head's direction."""

    def __init__(self, stop: Event) -> None:
        super().__init__(POINT_FRAME, stop, POINT_PARAMETERS)
        self._publisher = self.create_publisher(PointStamped, "basis_ik/target_point", 1)
        self._start, self._stopped = time.monotonic(), math.inf
        self._trail: deque[NDArray[np.float64]] = deque(maxlen=round(TRAIL_TIME / POINT_PERIOD))
        self.create_timer(POINT_PERIOD, self._move)

    def _move(self) -> None:
        now = min(time.monotonic(), self._stopped)
        phase = (now - self._start) / self.settings["period"]
        self._trail.append(place(phase))
        pose = RigidTransform.from_rotation_translation(np.eye(3), self._trail[-1])
        self.broadcast(self.settings["root_frame"], POINT_FRAME, pose)

    def angles(self) -> tuple[float, float] | None:
        """Return the angles [deg] from the camera's z axis to the point and to its path.

        The path has the point's positions in the last `TRAIL_TIME` seconds: a head that is late
        on a busy machine is off the point, but on the path. None if tf lacks a transform.
        """
        tip_T_point = self.look_up(self.settings["tip_frame"], POINT_FRAME)
        tip_T_root = self.look_up(self.settings["tip_frame"], self.settings["root_frame"])
        if tip_T_point is None or tip_T_root is None:
            return None
        trail = np.array(self._trail) @ tip_T_root.rotation.T + tip_T_root.translation
        x, y, z = np.vstack([tip_T_point.translation, trail]).T
        off = np.degrees(np.arctan2(np.hypot(x, y), z))
        return float(off[0]), float(off.min())

    def _is_ready(self) -> bool:
        return self._publisher.get_subscription_count() > 0 and self.angles() is not None

    def measure(self) -> bool:
        """Send the point as target, measure, and return whether the errors are small enough."""
        frames = self.settings["root_frame"], self.settings["tip_frame"]
        self.wait_until(self._is_ready, *frames)
        # Stamp zero: the frame's present pose, in every cycle.
        target = PointStamped()
        target.header.frame_id = POINT_FRAME
        measured: list[tuple[float, float]] = []
        end, sent = math.inf, 0.0
        allowed = self.settings["largest_angle"]
        start = time.monotonic()
        printed = astray = start
        while time.monotonic() < end:
            now = time.monotonic()
            if end == math.inf and now - sent > 1.0:
                self._publisher.publish(target)
                sent = now
            self.spin(0.02)
            angles = self.angles()
            if angles is None:
                raise BasisIkError("tf no longer has the head's transform")
            if not angles[0] <= allowed:
                astray = now
            if end == math.inf and (now - astray > IN_SIGHT_TIME or now - start > ARRIVAL_TIMEOUT):
                end = now + self.settings["duration"]
            if end < math.inf:
                measured.append(angles)
            if now - printed >= 1.0:
                printed = now
                print(f"{now - start:6.1f} s: {angles[0]:7.3f} deg off the point", flush=True)
        to_point, to_path = np.array(measured).T
        half, path = float(np.median(to_point)), float(np.median(to_path))
        rest = self._angle_at_rest(allowed)
        good = path <= allowed and rest <= allowed
        print(
            f"half of the time within {half:.3f} deg of the moving point and {path:.3f} deg of "
            f"its path of {TRAIL_TIME:g} s, at most {to_point.max():.3f} deg off; at rest "
            f"{rest:.3f} deg ({allowed:g} allowed on the path and at rest; measured through tf): "
            f"{'good' if good else 'FAILED'}",
            flush=True,
        )
        return good

    def _angle_at_rest(self, allowed: float) -> float:
        """Stop the point; return the angle to it [deg] once the head is at rest."""
        self._stopped = astray = time.monotonic()
        angle, now = math.inf, astray
        while now - astray <= IN_SIGHT_TIME and now - self._stopped <= ARRIVAL_TIMEOUT:
            self.spin(0.02)
            angles, now = self.angles(), time.monotonic()
            angle = math.inf if angles is None else angles[0]
            if not angle <= allowed:
                astray = now
        return angle


def main(stop: Event) -> int:
    """Measure; exit status 0 if the errors were small enough."""
    return 0 if MovingPoint(stop).measure() else 1

"""Moves a point about, lets a head look at it, and measures through tf how well it does."""

from __future__ import annotations

import math
import time
from threading import Event

import numpy as np
from geometry_msgs.msg import PointStamped
from numpy.typing import NDArray

from basis_ik.errors import BasisIkError
from basis_ik.ros.demo.checker import Checker
from basis_ik.ros.parameters import Declaration, frame_complaint
from basis_ik.transforms.rigid import RigidTransform

FRAME = "moving_point"
# A figure of eight ahead of the head: middle and amplitudes [m].
MIDDLE, AMPLITUDE = np.array([1.5, 0.0, 0.3]), np.array([0.0, 0.8, 0.3])
SETTLED = 0.5  # s for which the point must be in sight before the measurement begins
ARRIVAL_PATIENCE = 20.0  # s

PARAMETERS = (
    Declaration(
        "root_frame",
        "base_link",
        "Frame that the point moves in.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration(
        "tip_frame",
        "camera_optical_frame",
        "Frame that looks.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration("duration", 20.0, "Time of the measurement [s].", 0.1, 1e5, True),
    Declaration("period", 30.0, "Time of one round of the point [s].", 1.0, 1e5, True),
    Declaration(
        "largest_angle",
        0.5,
        "Error that is not exceeded 95 % of the time where all is well [deg].",
        0.0,
        180.0,
        True,
    ),
)


def place(phase: float) -> NDArray[np.float64]:
    """Return the point (3,) [m] at a phase of its round, in turns."""
    angle = 2.0 * math.pi * phase
    return MIDDLE + AMPLITUDE * [0.0, math.sin(angle), math.sin(2.0 * angle)]


class MovingPoint(Checker):
    """Node `moving_point`: broadcasts the frame of that name and judges who looks at it."""

    def __init__(self, stop: Event) -> None:
        super().__init__(FRAME, stop, PARAMETERS)
        self._publisher = self.create_publisher(PointStamped, "basis_ik/target_point", 1)
        self._start = time.monotonic()
        self.create_timer(0.01, self._move)

    def _move(self) -> None:
        phase = (time.monotonic() - self._start) / self.settings["period"]
        pose = RigidTransform.from_rotation_translation(np.eye(3), place(phase))
        self.broadcast(self.settings["root_frame"], FRAME, pose)

    def angle(self) -> float | None:
        """Return the angle [deg] between the looking frame's z axis and the point, or None."""
        tip_T_point = self.look_up(self.settings["tip_frame"], FRAME)
        if tip_T_point is None:
            return None
        x, y, z = tip_T_point.translation
        return math.degrees(math.atan2(math.hypot(x, y), z))

    def _is_ready(self) -> bool:
        return self._publisher.get_subscription_count() > 0 and self.angle() is not None

    def judge(self) -> bool:
        """Ask for the point to be looked at, measure, and tell whether all went well."""
        frames = self.settings["root_frame"], self.settings["tip_frame"]
        self.wait_until(self._is_ready, *frames)
        # The stamp zero: wherever the frame is now, on every cycle.
        target = PointStamped()
        target.header.frame_id = FRAME
        angles: list[float] = []
        end, sent = math.inf, 0.0
        allowed = self.settings["largest_angle"]
        start = time.monotonic()
        told = astray = start
        while time.monotonic() < end:
            now = time.monotonic()
            if end == math.inf and now - sent > 1.0:
                self._publisher.publish(target)
                sent = now
            self.spin(0.02)
            angle = self.angle()
            if angle is None:
                raise BasisIkError("tf has lost the head")
            if not angle <= allowed:
                astray = now
            if end == math.inf and (now - astray > SETTLED or now - start > ARRIVAL_PATIENCE):
                end = now + self.settings["duration"]
            if end < math.inf:
                angles.append(angle)
            if now - told >= 1.0:
                told = now
                print(f"{now - start:6.1f} s: {angle:7.3f} deg off the point", flush=True)
        # A desktop's scheduler may withhold the processor from the node for a moment.
        mostly = float(np.percentile(angles, 95))
        good = mostly <= allowed
        print(
            f"95 % of the time within {mostly:.3f} deg ({allowed:g} allowed), at most "
            f"{max(angles):.3f} deg off the moving point after settling "
            f"(measured through tf): {'good' if good else 'FAILED'}",
            flush=True,
        )
        return good


def main(stop: Event) -> int:
    """Measure; exit status 0 when the head looked at the point all the time."""
    return 0 if MovingPoint(stop).judge() else 1

"""Moves a point about, lets a head look at it, and measures through tf how well it does."""

from __future__ import annotations

import math
import time
from threading import Event

import numpy as np
from geometry_msgs.msg import PointStamped
from numpy.typing import NDArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformBroadcaster, TransformException, TransformListener

from basis_ik.errors import BasisIkError
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.ros.parameters import Declaration, Parameters
from basis_ik.transforms.rigid import RigidTransform

FRAME = "moving_point"
# A figure of eight ahead of the head: middle and amplitudes [m].
MIDDLE, AMPLITUDE = np.array([1.5, 0.0, 0.3]), np.array([0.0, 0.8, 0.3])
START_PATIENCE = 120.0  # s; kernels may have to be compiled first
SETTLING = 3.0  # s

PARAMETERS = (
    Declaration("root_frame", "base_link", "Frame that the point moves in.", read_only=True),
    Declaration("tip_frame", "camera_optical_frame", "Frame that looks.", read_only=True),
    Declaration("duration", 20.0, "Time of the measurement [s].", 0.1, 1e5, True),
    Declaration("period", 30.0, "Time of one round of the point [s].", 1.0, 1e5, True),
    Declaration("largest_angle", 1.0, "Error up to which all is well [deg].", 0.0, 180.0, True),
)


def place(phase: float) -> NDArray[np.float64]:
    """Return the point (3,) [m] at a phase of its round, in turns."""
    angle = 2.0 * math.pi * phase
    return MIDDLE + AMPLITUDE * [0.0, math.sin(angle), math.sin(2.0 * angle)]


class MovingPoint(Node):
    """Node `moving_point`: broadcasts the frame of that name and judges who looks at it."""

    def __init__(self, stop: Event) -> None:
        super().__init__(FRAME, automatically_declare_parameters_from_overrides=True)
        self._stop = stop
        self._settings = Parameters(self)
        self._settings.declare(PARAMETERS)
        self._settings.refuse_unknown()
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._broadcaster = TransformBroadcaster(self)
        self._publisher = self.create_publisher(PointStamped, "basis_ik/target_point", 1)
        self._start = time.monotonic()
        self.create_timer(0.01, self._broadcast)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def _broadcast(self) -> None:
        phase = (time.monotonic() - self._start) / self._settings["period"]
        pose = RigidTransform.from_rotation_translation(np.eye(3), place(phase))
        root = self._settings["root_frame"]
        stamp = self.get_clock().now().to_msg()
        self._broadcaster.sendTransform(transform_message(root, FRAME, pose, stamp))

    def _spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)
            if self._stop.is_set():
                raise BasisIkError("stopped before the measurement was over")

    def angle(self) -> float | None:
        """Return the angle [deg] between the looking frame's z axis and the point, or None."""
        try:
            found = self._buffer.lookup_transform(self._settings["tip_frame"], FRAME, Time())
        except TransformException:
            return None
        tip_T_point = transform_value(found.transform)
        if not isinstance(tip_T_point, RigidTransform):
            return None
        x, y, z = tip_T_point.translation
        return math.degrees(math.atan2(math.hypot(x, y), z))

    def wait_until_ready(self) -> None:
        """Wait for the head's transforms and for somebody who listens to points.

        Raises:
            BasisIkError: They do not come.
        """
        end = time.monotonic() + START_PATIENCE
        while time.monotonic() < end:
            self._spin(0.1)
            if self._publisher.get_subscription_count() > 0 and self.angle() is not None:
                return
        raise BasisIkError(
            f"no head after {START_PATIENCE:.0f} s: is basis_ik running, and does tf know "
            f"{self._settings['root_frame']} and {self._settings['tip_frame']}?"
        )

    def judge(self) -> bool:
        """Ask for the point to be looked at, measure, and tell whether all went well."""
        self.wait_until_ready()
        # The stamp zero: wherever the frame is now, on every cycle.
        target = PointStamped()
        target.header.frame_id = FRAME
        worst, end, sent = 0.0, math.inf, 0.0
        start = time.monotonic()
        told = start
        while time.monotonic() < end:
            now = time.monotonic()
            if end == math.inf and now - sent > 1.0:
                self._publisher.publish(target)
                sent = now
            self._spin(0.02)
            angle = self.angle()
            if angle is None:
                raise BasisIkError("tf has lost the head")
            if end == math.inf and now - start > SETTLING:
                end = now + self._settings["duration"]
            if end < math.inf:
                worst = max(worst, angle)
            if now - told >= 1.0:
                told = now
                print(f"{now - start:6.1f} s: {angle:7.3f} deg off the point", flush=True)
        allowed = self._settings["largest_angle"]
        good = worst <= allowed
        print(
            f"at most {worst:.3f} deg off the moving point after settling, {allowed:g} allowed "
            f"(measured through tf): {'good' if good else 'FAILED'}",
            flush=True,
        )
        return good


def main(stop: Event) -> int:
    """Measure; exit status 0 when the head looked at the point all the time."""
    return 0 if MovingPoint(stop).judge() else 1

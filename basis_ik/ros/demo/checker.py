# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Base class of programs that send targets to basis_ik and measure the motion through tf."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import Event

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformBroadcaster, TransformException, TransformListener

from basis_ik.errors import BasisIkError
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.ros.parameters.parameters import Declaration, Parameters, given_lists
from basis_ik.ros.sim_clock import CLOCK_MISSING, ClockWatch, clock_missing
from basis_ik.transforms.rigid import RigidTransform

START_TIMEOUT = 120.0  # [s], not counting the time in which the node reports a compilation


class Checker(Node):
    """A node that receives and broadcasts transforms, and handles messages in `spin` only.

    Args:
        name: Name of the node.
        stop: Set to end the program.
        declarations: Declarations of its parameters.

    Attributes:
        settings: Its parameters.
        status: Values of the last status of basis_ik, and its message; empty before the first.

    Raises:
        ConfigError: A parameter does not exist, or has a wrong value.
    """

    def __init__(self, name: str, stop: Event, declarations: Iterable[Declaration]) -> None:
        with given_lists():
            super().__init__(name, automatically_declare_parameters_from_overrides=True)
        self.settings = Parameters(self)
        self.settings.declare(declarations)
        self.settings.refuse_unknown()
        self._clock_watch = ClockWatch(self)
        self._stop = stop
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._broadcaster = TransformBroadcaster(self)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        self.status: dict[str, str] = {}
        self.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)

    def _on_status(self, message: DiagnosticStatus) -> None:
        self.status = {pair.key: pair.value for pair in message.values}
        self.status["message"] = message.message

    @property
    def _compiling(self) -> bool:
        return self.status.get("state") == "COMPILING"

    def spin(self, seconds: float) -> None:
        """Handle messages for some seconds.

        Raises:
            BasisIkError: `stop` was set.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)
            if self._stop.is_set():
                raise BasisIkError("stopped before the measurement was over")

    def wait_until(self, ready: Callable[[], bool], root: str, tip: str) -> None:
        """Wait for a robot and for the node that moves it.

        Args:
            ready: Returns whether they are available; called once basis_ik accepts targets.
            root: Reference frame of the measurement, for the error message.
            tip: Measured frame, for the error message.

        Raises:
            BasisIkError: They are not available in time.
        """
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            self.spin(0.1)
            if self._compiling:
                end = time.monotonic() + START_TIMEOUT
            elif self.status and ready():
                return
        if clock_missing(self):
            raise BasisIkError(CLOCK_MISSING)
        raise BasisIkError(
            f"no robot after {START_TIMEOUT:.0f} s: is basis_ik running, and does tf have "
            f"{root} and {tip}?"
        )

    def look_up(self, frame: str, child: str) -> RigidTransform | None:
        """Return the latest frame_T_child of tf, or None."""
        try:
            found = self._buffer.lookup_transform(frame, child, Time())
        except TransformException:
            return None
        value = transform_value(found.transform)
        return value if isinstance(value, RigidTransform) else None

    def broadcast(self, frame: str, child: str, frame_T_child: RigidTransform) -> None:
        """Broadcast the current pose of a frame."""
        stamp = self.get_clock().now().to_msg()
        self._broadcaster.sendTransform(transform_message(frame, child, frame_T_child, stamp))

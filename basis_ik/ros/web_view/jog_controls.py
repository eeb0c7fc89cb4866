# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jog commands from held buttons and set sliders, without ROS or a browser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

HOLD_TIMEOUT = 0.15  # s that a button counts as held after a browser's last report
GAIN = 2.0  # 1/s: a joint's velocity per remaining distance
TOLERANCE = 2e-3  # rad or m within which a joint has reached its slider
SLIDER_STEP = 5e-3  # rad or m: a slider is not moved by less
_ECHO = 1e-9  # rad or m: makes a value that a browser may not show one that is sent to it

Triple = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)
ZERO_TWIST = (ZERO, ZERO)
_AXES: dict[str, Triple] = {
    "+x": (1.0, 0.0, 0.0), "−x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0), "−y": (0.0, -1.0, 0.0),
    "+z": (0.0, 0.0, 1.0), "−z": (0.0, 0.0, -1.0),
}  # fmt: skip
# Fractions of the linear and the angular speed for each button.
DIRECTIONS: dict[str, tuple[Triple, Triple]] = {
    **{f"move {axis}": (vector, ZERO) for axis, vector in _AXES.items()},
    **{f"turn {axis}": (ZERO, vector) for axis, vector in _AXES.items()},
}


class HeldButton:
    """The button that a browser reports as held."""

    def __init__(self) -> None:
        self._direction, self._until, self._moves = "", -math.inf, False

    def hold(self, direction: str, now: float) -> None:
        """Record that a browser reports a button as held at a time [s]."""
        self._direction, self._until = direction, now + HOLD_TIMEOUT

    def twist(self, now: float, linear: float, angular: float) -> tuple[Triple, Triple] | None:
        """Return the twist to send, if any; a release gives one zero twist.

        Args:
            now: The time [s].
            linear: Linear speed [m/s].
            angular: Angular velocity [rad/s].
        """
        held = now < self._until
        if not held:
            moved, self._moves = self._moves, False
            return ZERO_TWIST if moved else None
        self._moves = True
        (x, y, z), (a, b, c) = DIRECTIONS[self._direction]
        return (x * linear, y * linear, z * linear), (a * angular, b * angular, c * angular)


class SliderTarget(NamedTuple):
    """The target of a joint.

    Attributes:
        position: Position of its slider [rad or m].
        browser: Id of the browser that set it.
    """

    position: float
    browser: int


class JointSliders:
    """Moves joints to the positions of their sliders.

    Args:
        speeds: Velocity limits of the joints [rad/s or m/s].
        turning: Joints without position limits; they take the shorter way.
    """

    def __init__(self, speeds: Mapping[str, float], turning: frozenset[str]) -> None:
        self._speeds, self._turning = speeds, turning
        self._set: dict[str, SliderTarget] = {}
        self._moving: list[str] = []
        self._touched: set[str] = set()

    def set(self, joint: str, position: float, browser: int) -> None:
        """Set the target of a joint [rad or m]."""
        self._set[joint] = SliderTarget(position, browser)
        self._touched.add(joint)

    def cancel(self) -> None:
        """Drop all targets."""
        self._set.clear()

    def to_show(
        self, joint: str, measured: float, shown: float, low: float, high: float
    ) -> float | None:
        """Return the position that a joint's slider is to show [rad or m]; None: as it is.

        A slider that has a target is the user's. Afterwards it is always sent once: a value for
        the browser and one from it may have crossed, and then each side shows the other's.

        Args:
            joint: Name of the joint.
            measured: Position of the joint [rad or m].
            shown: Position that the slider shows, as far as is known here [rad or m].
            low: Lower end of the slider [rad or m].
            high: Upper end of the slider [rad or m].
        """
        if joint in self._set or not math.isfinite(measured):
            return None
        if joint in self._turning:
            measured = math.remainder(measured, 2.0 * math.pi)
        if joint not in self._touched and not abs(measured - shown) > SLIDER_STEP:
            return None
        self._touched.discard(joint)
        position = min(max(round(measured, 3), low), high)
        if position != shown:
            return position
        return position + (_ECHO if position < high else -_ECHO)

    def velocities(
        self, measured: Mapping[str, float], browsers: frozenset[int], scale: float
    ) -> dict[str, float] | None:
        """Return the velocities to send [rad/s or m/s]; None: nothing.

        A joint that has reached or lost its target gets one zero.

        Args:
            measured: Positions of the joints [rad or m].
            browsers: Ids of the connected browsers; targets of others are dropped.
            scale: Fraction of the velocity limits, from 0 to 1.
        """
        velocities = dict.fromkeys(self._moving, 0.0)
        for joint, (position, browser) in list(self._set.items()):
            remaining = position - measured.get(joint, math.nan)
            if joint in self._turning:
                remaining = math.remainder(remaining, 2.0 * math.pi)
            if browser not in browsers or not abs(remaining) > TOLERANCE:
                del self._set[joint]
                continue
            limit = scale * self._speeds[joint]
            velocities[joint] = min(max(GAIN * remaining, -limit), limit)
        self._moving = list(self._set)
        return velocities or None

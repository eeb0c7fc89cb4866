# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What buttons and sliders that are held or set ask of an arm; no ROS, no browser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

HELD = 0.15  # s that a button counts as held after a browser's last word
PACE = 2.0  # 1/s: speed of a joint, in what it has still to go
THERE = 2e-3  # rad or m from a slider at which its joint is there

Triple = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)
STANDING = (ZERO, ZERO)
_AXES: dict[str, Triple] = {
    "+x": (1.0, 0.0, 0.0), "−x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0), "−y": (0.0, -1.0, 0.0),
    "+z": (0.0, 0.0, 1.0), "−z": (0.0, 0.0, -1.0),
}  # fmt: skip
# Of each button the parts of the linear and of the angular speed.
DIRECTIONS: dict[str, tuple[Triple, Triple]] = {
    **{f"move {axis}": (vector, ZERO) for axis, vector in _AXES.items()},
    **{f"turn {axis}": (ZERO, vector) for axis, vector in _AXES.items()},
}


class HeldButton:
    """The direction of the button that is held; no longer than a browser says so."""

    def __init__(self) -> None:
        self._direction, self._until, self._moves = "", -math.inf, False

    def hold(self, direction: str, now: float) -> None:
        """Note that a browser tells at a time [s] that a button is held."""
        self._direction, self._until = direction, now + HELD

    def twist(self, now: float, linear: float, angular: float) -> tuple[Triple, Triple] | None:
        """Return what is to be sent at a time [s]; after the last twist one that is zero.

        Args:
            now: The time.
            linear: Speed [m/s].
            angular: Angular velocity [rad/s].
        """
        held = now < self._until
        if not held:
            moved, self._moves = self._moves, False
            return STANDING if moved else None
        self._moves = True
        (x, y, z), (a, b, c) = DIRECTIONS[self._direction]
        return (x * linear, y * linear, z * linear), (a * angular, b * angular, c * angular)


class SetJoint(NamedTuple):
    """Where a joint is to go.

    Attributes:
        position: [rad or m].
        by: The browser that asks.
    """

    position: float
    by: int


class JointSliders:
    """Joints on their way to where sliders were set.

    Args:
        speeds: The joints' largest [rad/s or m/s].
        turning: Those that have no limits: they take the shorter way.
    """

    def __init__(self, speeds: Mapping[str, float], turning: frozenset[str]) -> None:
        self._speeds, self._turning = speeds, turning
        self._set: dict[str, SetJoint] = {}
        self._moving: list[str] = []

    def set(self, joint: str, position: float, by: int) -> None:
        """Note where a browser sets a joint's slider [rad or m]."""
        self._set[joint] = SetJoint(position, by)

    def cancel(self) -> None:
        """Leave all joints where they are."""
        self._set.clear()

    def is_set(self, joint: str) -> bool:
        """Return whether a joint is on its way."""
        return joint in self._set

    def velocities(
        self, measured: Mapping[str, float], browsers: frozenset[int], scale: float
    ) -> dict[str, float] | None:
        """Return what is to be sent [rad/s or m/s]; of a joint that is to rest now once a zero.

        Args:
            measured: Where joints are [rad or m].
            browsers: Those that are still there; what others have set is dropped.
            scale: Part of the joints' largest speeds, from 0 to 1.
        """
        velocities = dict.fromkeys(self._moving, 0.0)
        for joint, (position, by) in list(self._set.items()):
            left = position - measured.get(joint, math.nan)
            if joint in self._turning:
                left = math.remainder(left, 2.0 * math.pi)
            if by not in browsers or not abs(left) > THERE:
                del self._set[joint]
                continue
            most = scale * self._speeds[joint]
            velocities[joint] = min(max(PACE * left, -most), most)
        self._moving = list(self._set)
        return velocities or None

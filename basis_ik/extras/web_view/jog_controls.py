# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jog commands from held buttons and set sliders, without ROS or a browser."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from basis_ik.ros.keyboard import KEY_TWISTS as KEYBOARD
from basis_ik.ros.keyboard import ZERO_TWIST, Triple
from basis_ik.transforms.rigid import RigidTransform


class JogControlTuning(NamedTuple):
    """Tuning of buttons and sliders."""

    hold_timeout: float = 0.15  # [s] that a button counts as held after a browser's last report
    slider_gain: float = 2.0  # [1/s], a joint's velocity per remaining distance
    slider_tolerance: float = 2e-3  # [rad or m], within which a joint has reached its slider
    slider_step: float = 5e-3  # [rad or m]; a slider is not moved by less
    grip_period: float = 0.2  # [s] between two commands of a gripper whose slider is dragged
    settling_time: float = 0.3  # [s], after which the status speaks of a step that was sent


JOG_CONTROLS = JogControlTuning()
_ECHO = 1e-9  # makes a value that a browser may not show one that is sent to it

# Fractions of the linear and the angular speed for each button, in the order of the pad.
# Its keys are those of `teleop_keyboard`.
BUTTON_KEYS = {
    f"{verb} {sign}{axis}": key
    for axis, keys in (("x", "swju"), ("y", "daki"), ("z", "frlo"))
    for (verb, sign), key in zip(
        (("move", "−"), ("move", "+"), ("turn", "−"), ("turn", "+")), keys, strict=True
    )
}
BUTTON_TWISTS = {name: KEYBOARD[key] for name, key in BUTTON_KEYS.items()}
WHILE_HELD = "as long as it is held"
# Lengths [m] and angles [rad] of a step.
STEP_SIZES = {
    f"{millimetres} mm, {degrees}°": (1e-3 * millimetres, math.radians(degrees))
    for millimetres, degrees in ((1, 1), (10, 5), (50, 15))
}


class HeldButton:
    """The button that a browser reports as held; while it is, no other browser's counts."""

    def __init__(self) -> None:
        self._direction, self._until, self._moves = "", -math.inf, False
        self._browser: int | None = None

    def hold(self, direction: str, now: float, browser: int | None = None) -> None:
        """Record that a browser reports a button as held at a time [s]."""
        if now >= self._until or browser == self._browser:
            self._direction, self._until = direction, now + JOG_CONTROLS.hold_timeout
            self._browser = browser

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
        (x, y, z), (a, b, c) = BUTTON_TWISTS[self._direction]
        return (x * linear, y * linear, z * linear), (a * angular, b * angular, c * angular)


class Steps:
    """Targets one step apart: one at a time, each from where the last one ends."""

    def __init__(self) -> None:
        self._sent, self._stamp = -math.inf, ""
        self._goal = RigidTransform.identity()

    def next(
        self,
        now: float,
        status: Mapping[str, str],
        root_T_tip: RigidTransform,
        change: Callable[[RigidTransform], RigidTransform],
        *,
        held: bool = False,
    ) -> RigidTransform | None:
        """Return the target of a step, root_T_target; None while the last one is under way.

        Args:
            now: The time [s].
            status: The arm's status.
            root_T_tip: Where the tip is measured.
            change: Returns where a step from a pose leads to.
            held: Whether something holds the arm before its target: the next step may lead away.
        """
        own, state = status.get("target_stamp") == self._stamp, status.get("state")
        under_way = own and state in ("MOVING", "HOLDING") and not held
        if now - self._sent < JOG_CONTROLS.settling_time or under_way:
            return None
        self._goal = change(self._goal if own and state == "ARRIVED" else root_T_tip)
        return self._goal

    def sent(self, now: float, stamp: str) -> None:
        """Record that the step was sent at a time [s], with a stamp as the status has it."""
        self._sent, self._stamp = now, stamp


def stepped(
    root_T_tip: RigidTransform, direction: str, step: tuple[float, float], *, of_root: bool
) -> RigidTransform:
    """Return a tip's pose after a step.

    Args:
        root_T_tip: Its pose before.
        direction: Name of the direction.
        step: Length [m] and angle [rad].
        of_root: Whether the direction is along an axis of the root; otherwise of the tip.
    """
    linear, angular = (np.array(each) for each in BUTTON_TWISTS[direction])
    turn = RigidTransform.from_rpy(*(step[1] * angular))  # about one axis alone
    rotation, point = root_T_tip.rotation, root_T_tip.translation
    if of_root:
        return RigidTransform.from_rotation_translation(
            turn.rotation @ rotation, point + step[0] * linear
        )
    return RigidTransform.from_rotation_translation(
        rotation @ turn.rotation, point + rotation @ (step[0] * linear)
    )


class GripperSlider:
    """Sends a gripper where its slider is, and otherwise shows what was commanded last.

    Openings go from 0, closed, to 1, open.
    """

    def __init__(self) -> None:
        self._wanted: float | None = None
        self._set = self._sent = -math.inf

    def set(self, opening: float, now: float) -> None:
        """Record that a user has set the slider to an opening at a time [s]."""
        self._wanted, self._set = opening, now

    def next(self, now: float) -> float | None:
        """Return the opening to send at a time [s], if any."""
        if self._wanted is None or now - self._sent < JOG_CONTROLS.grip_period:
            return None
        wanted, self._wanted, self._sent = self._wanted, None, now
        return wanted

    def to_show(self, commanded: float, shown: float, now: float) -> float | None:
        """Return the opening that the slider is to show; None: as it is.

        While a user sets it, and until the status speaks of what was sent, it is the user's.

        Args:
            commanded: Last command, as the status has it; NaN: none.
            shown: Opening that the slider shows.
            now: The time [s].
        """
        if (
            now - max(self._set, self._sent) < JOG_CONTROLS.settling_time
            or not abs(commanded - shown) > JOG_CONTROLS.slider_step
        ):
            return None
        return commanded


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
        self, joint: str, measured: float, shown: float, low: float, high: float, unit: float
    ) -> float | None:
        """Return the position that a joint's slider is to show [units]; None: as it is.

        A slider that has a target is the user's. Afterwards it is always sent once: a value for
        the browser and one from it may have crossed, and then each side shows the other's.

        Args:
            joint: Name of the joint.
            measured: Position of the joint [rad or m].
            shown: Position that the slider shows, as far as is known here [units].
            low: Lower end of the slider [units].
            high: Upper end of the slider [units].
            unit: The slider's units in a rad or m.
        """
        if joint in self._set or not math.isfinite(measured):
            return None
        if joint in self._turning:
            measured = math.remainder(measured, 2.0 * math.pi)
        if (
            joint not in self._touched
            and not abs(measured - shown / unit) > JOG_CONTROLS.slider_step
        ):
            return None
        self._touched.discard(joint)
        position = min(max(round(measured * unit, 1), low), high)
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
            if browser not in browsers or not abs(remaining) > JOG_CONTROLS.slider_tolerance:
                del self._set[joint]
                continue
            limit = scale * self._speeds[joint]
            velocities[joint] = min(max(JOG_CONTROLS.slider_gain * remaining, -limit), limit)
        self._moving = list(self._set)
        return velocities or None

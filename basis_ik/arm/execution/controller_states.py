# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The published states of several controllers, each of which has some of an arm's joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.admission import printable
from basis_ik.arm.execution.controller_state import (
    CONTROLLER_TUNING,
    ControllerState,
    begin_of_motion,
)
from basis_ik.arm.execution.messages import ControllerReport, Share
from basis_ik.arm.limiter import Motion
from basis_ik.arm.moment import Moment
from basis_ik.numerics.arrays import FloatArray


class ControllerStates:
    """The states of several controllers as one: what is known of all of them.

    Which joints a controller has is found in its state. Of what differs the worst counts: the
    oldest stamp, the longest silence, the slowest pace.

    Args:
        states: Those of the controllers; their joints are assigned here.
        joint_names: All joints of the arm, in the order of all values.

    Attributes:
        each: The states.
        columns: Of each controller: the indices of its joints, in the order of its state's.
        now: The time of the last `begin_period` or `take`.
    """

    def __init__(self, states: Sequence[ControllerState], joint_names: Sequence[str]) -> None:
        self.each, self._joint_names = tuple(states), tuple(joint_names)
        self.columns: tuple[NDArray[np.intp], ...] = tuple(np.zeros(0, np.intp) for _ in states)
        self._is_split = False
        self.now = states[0].now
        for state in states:
            state.joint_names = ()

    def begin_period(self, now: Moment) -> None:
        """Let time pass."""
        self.now = now
        for state in self.each:
            state.begin_period(now)

    def take(
        self, which: int, report: ControllerReport, now: Moment, *, simulated: bool = False
    ) -> None:
        """Take what a controller has published; see `ControllerState.take`.

        Args:
            which: The controller's index.
            report: Its state.
            now: When it came.
            simulated: Whether all clocks are that of a simulation.
        """
        state, theirs = self.each[which], set(report.joint_names)
        own = tuple(name for name in self._joint_names if name in theirs)
        if own != state.joint_names:
            state.joint_names = own
            named = [self._joint_names.index(name) for name in own]
            columns = [*self.columns]
            columns[which] = np.array(named, np.intp)
            self.columns = tuple(columns)
            self._is_split = not self._unshared()
        state.take(report, now, simulated=simulated)

    def _unshared(self) -> str:
        """Return which joint not exactly one of the controllers has, with the remedy, or nothing.

        A controller that has none of them is told, too.
        """
        names = " and ".join(state.controller for state in self.each)
        having = {
            name: [state.controller for state in self.each if name in state.joint_names]
            for name in self._joint_names
        }
        missing = printable(", ".join(name for name, found in having.items() if not found))
        if missing:
            return (
                f"{names} do not have {missing}: add the controller that has them to controller, "
                "or set root_link and tip_link to a chain that they have"
            )
        for name, found in having.items():
            if len(found) > 1:
                return (
                    f"{' and '.join(found)} both have {printable(name)}: each joint must have one "
                    "controller"
                )
        idle = next((state.controller for state in self.each if not state.joint_names), "")
        return idle and f"{idle} has no joint of the chain: leave it out of controller"

    def unmet(self, *, waits: bool) -> str:
        """Return why one of them would not execute commands, or nothing.

        Args:
            waits: Whether motions wait while one is not at full speed; otherwise that is a reason.
        """
        for state in self.each:
            if not state.has_told:
                unmet = state.unmet(waits=True)
                unmet = unmet or f"waiting for {state.topic_name}: it has the controller's joints"
                return _naming(state, unmet)
        unshared = self._unshared()
        if unshared:
            return unshared
        for state in self.each:
            unmet = _naming(state, state.unmet(waits=True))
            if unmet:
                return unmet
        return "" if waits else self.slowed

    @property
    def slowed(self) -> str:
        """Which controller is not at full speed, and at which; empty if all are."""
        for state in self.each:
            if state.speed_scaling < CONTROLLER_TUNING.full_speed:
                return f"{state.controller} scales its speed to {state.speed_scaling:.2g}"
        return ""

    @property
    def speed_scaling(self) -> float:
        """The least factor of a controller's speed, from 0 to 1."""
        return min(state.speed_scaling for state in self.each)

    @property
    def stands(self) -> bool:
        """Whether the arm must stand, as one is not at full speed: the others would be ahead."""
        return bool(self.slowed)

    @property
    def moved(self) -> str:
        """Joints that are not the arm's, are held, and move."""
        return ", ".join(state.moved for state in self.each if state.moved)

    def addressed(self, motion: Motion, stamp: int, start: int) -> list[Share]:
        """Return what each of them gets of a motion: that of its joints; see `Trajectory`."""
        return [
            Share(k, each)
            for k, (state, columns) in enumerate(zip(self.each, self.columns, strict=True))
            for each in state.addressed(motion.of(columns), stamp, start)
        ]

    def on_clock_jump(self, now: Moment) -> None:
        """Restart the times without a message."""
        self.now = now
        for state in self.each:
            state.on_clock_jump(now)

    def excuse(self, until: float) -> None:
        """Take none for inactive until then; see `ControllerState.excuse`."""
        for state in self.each:
            state.excuse(until)

    def silence(self, now: int) -> float:
        """Return the longest time without a message [s]; see `ControllerState.silence`."""
        return max(state.silence(now) for state in self.each)

    @property
    def is_published(self) -> bool:
        """Whether the states are published: without them nothing is sent."""
        return True

    @property
    def is_gone(self) -> bool:
        """Whether nothing publishes one of them any more."""
        return any(state.is_gone for state in self.each)

    @property
    def is_silent(self) -> bool:
        """Whether nothing has come of one for too long, that something publishes."""
        return any(state.is_silent for state in self.each)

    @property
    def interval(self) -> float:
        """The longest average time between two states [s]."""
        return max(state.interval for state in self.each)

    @property
    def stamp(self) -> int:
        """The oldest stamp of the newest states [ns]."""
        return min(state.stamp for state in self.each)

    @property
    def age(self) -> int:
        """The age of the states, of the controller whose are the youngest [ns]."""
        return min(state.age for state in self.each)

    @property
    def oldest(self) -> int:
        """The age of the states, of the controller whose are the oldest [ns]."""
        return max(state.age for state in self.each)

    def reference(self) -> FloatArray | None:
        """Return the references (n,) [rad or m], of each controller at its own stamp."""
        return self._joined(ControllerState.reference)

    def feedback(self) -> FloatArray | None:
        """Return the positions that they have measured then (n,); as `reference`."""
        return self._joined(ControllerState.feedback)

    def error(self) -> FloatArray | None:
        """Return by how much the references are ahead of that (n,); as `reference`."""
        return self._joined(ControllerState.error)

    def output(self) -> FloatArray | None:
        """Return the positions that they have sent then (n,); as `reference`."""
        return self._joined(ControllerState.output)

    def states(self) -> FloatArray | None:
        """Return the references' positions and velocities (n, 3); see `ControllerState.states`."""
        return self._joined(ControllerState.states)

    def rests_at(self, measured: FloatArray, *, lags: bool) -> FloatArray | None:
        """Return where a motion from rest begins (n,); see `begin_of_motion`."""
        return begin_of_motion(self.reference(), self.feedback(), measured, lags=lags)

    def _joined(self, values: Callable[[ControllerState], FloatArray | None]) -> FloatArray | None:
        """Return the controllers' values in the order of the arm's joints; None if some miss."""
        if not self._is_split:
            return None
        parts = []
        for state in self.each:
            part = values(state)
            if part is None:
                return None
            parts.append(part)
        return np.concatenate(parts)[np.argsort(np.concatenate(self.columns))]


def _naming(state: ControllerState, unmet: str) -> str:
    """Return a reason of one controller, with its name."""
    return unmet.replace("the controller", state.controller, 1)

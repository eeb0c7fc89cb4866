# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The published state of a trajectory controller."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from basis_ik.arm.admission import printable
from basis_ik.arm.execution.execution import MOVED_AWAY
from basis_ik.arm.execution.messages import ControllerReport, Held, Trajectory
from basis_ik.arm.limiter import Motion
from basis_ik.arm.moment import SECOND, Moment
from basis_ik.numerics.arrays import FloatArray


class ControllerTuning(NamedTuple):
    """What the states of a controller are taken to tell."""

    # [s], without a state from a controller that publishes it, after which it counts as inactive.
    # The timeout of joint states is shorter, but a busy machine may delay the controller's loop.
    timeout: float = 0.5
    # [s], without a state, or three times the average interval. Then the stream pauses until the
    # controller publishes again. A controller that was switched off must not receive old windows.
    silence: float = 0.1
    recent: float = 0.05  # [s], or 2.5 times that average: nothing is known of it after that age
    interval_weight: float = 0.1  # of each new interval in the average
    most_stamps: int = 100  # stored ones of a controller's states: some seconds
    clock_ahead: float = 0.02  # [s], most that its clock may be: the end of a stream's window
    clock_behind: float = 0.1  # [s], most that its clock may be, or its messages late
    least_scaling: float = 1e-3  # a smaller factor of its speed is 0: times are divided by it
    full_speed: float = 0.999  # a larger factor of its speed counts as full speed
    rest_tolerance: float = 1e-9  # [rad or m], change of a reference at rest between two states


CONTROLLER_TUNING = ControllerTuning()


STANDS_STILL = "the controller scales its speed to 0"
PAUSED = f"{STANDS_STILL}: the arm goes on once it is above"


NO_REPORT = ControllerReport((), 0, (), (), (), (), (), 0.0)


def others_move(names: str) -> str:
    """Return why no motion begins while other joints of the controller move."""
    return f"somebody else moves {names}: the arm begins once they rest"


def begin_of_motion(
    reference: FloatArray | None, feedback: FloatArray | None, measured: FloatArray, *, lags: bool
) -> FloatArray | None:
    """Return where a motion from rest begins (n,), or None if that is not known.

    It begins at the controller's reference, so that its output does not leap; but where the arm
    is, if something else has moved it.

    Args:
        reference: The controller's reference (n,) [rad or m]; None if it is not published.
        feedback: The positions that the controller has measured then; the same.
        measured: Measured positions (n,).
        lags: Whether the arm may still be on its way to the reference, which is published.
    """
    feedback = measured if feedback is None else feedback
    if reference is None or lags or (np.abs(reference - feedback) <= MOVED_AWAY).all():
        return reference
    is_new = (np.abs(measured - feedback) <= MOVED_AWAY).all()  # otherwise it came late
    return measured if is_new else None


class ControllerTopic(Protocol):
    """What can be asked of a controller that publishes its state."""

    name: str
    """The topic."""
    controller: str
    """The controller."""

    def count_publishers(self) -> int:
        """Return the number of the topic's publishers."""

    def takes_scaling(self) -> bool:
        """Return whether the controller takes factors of its speed."""

    def ask_for_partial_goals(self) -> None:
        """Ask whether it takes trajectories without some of its joints, if that is due."""

    @property
    def takes_partial_goals(self) -> bool | None:
        """Whether it does; None: not known."""

    def waits_for_partial_goals(self, others: str) -> str:
        """Return the service that may still tell, or nothing once it is too late."""

    def forget_partial_goals(self) -> None:
        """Ask anew."""


class ControllerState:
    """The published state of a trajectory controller, if it publishes one.

    Trajectories have stamps. If the controller's clock is ahead, it takes them for old and jumps to
    their braking; if it is behind, it waits. A state arrives after its stamp, so a stamp in the
    future proves that the clock is ahead. A large smallest delay has two possible causes: the clock
    is behind, or all states are late. What varies is delay, whatever the clocks.

    Args:
        topic: Where it is published.
        joint_names: The commanded joints.
        now: The present moment.
        holds_others: Whether trajectories hold its other joints.

    Attributes:
        controller: The controller's name.
        topic_name: Where its state is published.
        joint_names: The commanded joints, in the order of all values.
        now: The time of the last `begin_period` or `take`.
        others: Its other joints, if they are held.
        places: The newest known reference of each (m,) [rad or m].
        moved: Those whose reference is not that of the state before, as text.
    """

    def __init__(
        self,
        topic: ControllerTopic,
        joint_names: Sequence[str],
        now: Moment,
        *,
        holds_others: bool = False,
    ) -> None:
        self._topic, self.joint_names, self.now = topic, tuple(joint_names), now
        self.controller, self.topic_name = topic.controller, topic.name
        self._holds_others = holds_others
        self.others: tuple[str, ...] = ()
        self.places: FloatArray = np.zeros(0)
        self.moved = self._unknown = ""
        self._received_at = now.loop
        self._expected = False
        self._has_passed = False  # whether a motion may have begun
        self._received_clock, self._interval = 0, 0.0  # ROS time [ns]; average interval [s]
        self._ahead: deque[float] = deque(maxlen=CONTROLLER_TUNING.most_stamps)
        self._newest = NO_REPORT
        self._scaling, self._scales = 1.0, False
        self._excused_for, self._excused_until = -math.inf, -math.inf

    def begin_period(self, now: Moment) -> None:
        """Let time pass."""
        self.now = now

    def take(self, report: ControllerReport, now: Moment, *, simulated: bool = False) -> None:
        """Take what the controller has published.

        Args:
            report: Its state.
            now: When it came.
            simulated: Whether both clocks are that of a simulation.
        """
        self.now = now
        if now.loop - self._received_at > CONTROLLER_TUNING.timeout:
            self._forget_answer()
        self._received_at, self._expected, self._newest = now.loop, True, report
        gap = min(1e-9 * (now.clock - self._received_clock), CONTROLLER_TUNING.timeout)
        self._interval += CONTROLLER_TUNING.interval_weight * (gap - self._interval)
        self._received_clock = now.clock
        if abs(report.stamp) >= SECOND and not simulated:
            self._ahead.append(1e-9 * (report.stamp - now.clock))
        self._scaling = report.speed_scaling
        if 0.0 < self._scaling < CONTROLLER_TUNING.least_scaling:
            self._scaling, self._scales = 0.0, True
        self._scales = self._scales or self._scaling > 0.0
        if self._holds_others:
            self._take_others(report)

    def _take_others(self, report: ControllerReport) -> None:
        """Store where the controller leads its other joints, and which of them move."""
        told = dict(zip(report.joint_names, report.reference, strict=False))
        told = {name: place for name, place in told.items() if math.isfinite(place)}
        known = dict(zip(self.others, self.places.tolist(), strict=True))
        self.others = tuple(name for name in report.joint_names if name not in self.joint_names)
        before = np.array([known.get(name, math.nan) for name in self.others])
        self.places = np.array([{**known, **told}.get(name, math.nan) for name in self.others])
        rest = np.abs(self.places - before) <= CONTROLLER_TUNING.rest_tolerance
        moved = [name for name, rests in zip(self.others, rest, strict=True) if not rests]
        self.moved = printable(", ".join(moved))
        self._unknown = printable(", ".join(name for name in self.others if name not in told))

    @property
    def speed_scaling(self) -> float:
        """Factor of the controller's speed, from 0 to 1; 1 if it has none."""
        # Controllers without scaling leave it at 0.
        is_given = 0.0 <= self._scaling <= 1.0 and (self._scaling > 0.0 or self._scales)
        return self._scaling if is_given else 1.0

    @property
    def stands(self) -> bool:
        """Whether the controller lets no time pass on the arm's way: its factor of speed is 0."""
        return self.speed_scaling == 0.0

    def _find_scaling(self) -> None:
        """Find out whether a 0 is a factor: the controller has given others, or takes them."""
        if self._scaling == 0.0 and not self._scales:
            self._scales = self._topic.takes_scaling()

    def on_clock_jump(self, now: Moment) -> None:
        """Restart the time without a message: the last one was timed by the old clock."""
        self.now, self._received_at, self._received_clock = now, now.loop, now.clock

    @property
    def has_told(self) -> bool:
        """Whether it has published which joints it has."""
        return bool(self._newest.joint_names)

    def addressed(self, motion: Motion, stamp: int, start: int) -> list[Trajectory]:
        """Return what the controller gets of a motion; see `Trajectory`."""
        return [Trajectory(motion, stamp, start, tuple(self.joint_names), self.held)]

    @property
    def held(self) -> Held:
        """Its other joints, if they are held, and where."""
        return Held(self.others, self.places)

    def excuse(self, until: float) -> None:
        """Do not take the controller for inactive until then; see `MeasuredState.excuse`.

        Args:
            until: Time of the loop [s].
        """
        if self._received_at > self._excused_for:
            self._excused_for, self._excused_until = self._received_at, until

    @property
    def _is_excused(self) -> bool:
        return self.now.loop < self._excused_until

    def silence(self, now: int) -> float:
        """Return the time without a message [s]; 0 if it is normal.

        Args:
            now: ROS time [ns].
        """
        silence = 1e-9 * (now - self._received_clock)
        if self._is_excused:
            silence = min(silence, CONTROLLER_TUNING.timeout)
        patience = max(CONTROLLER_TUNING.silence, 3.0 * self._interval)
        return silence if self._expected and silence > patience else 0.0

    def is_known(self, now: int) -> bool:
        """Return whether a state has come lately, or none is published.

        Args:
            now: ROS time [ns].
        """
        age = 1e-9 * (now - self._received_clock)
        return not self._expected or age <= max(CONTROLLER_TUNING.recent, 2.5 * self._interval)

    @property
    def is_published(self) -> bool:
        """Whether it is published, or was."""
        if not self._expected:
            self._expected = self._topic.count_publishers() > 0
        return self._expected

    @property
    def is_gone(self) -> bool:
        """Whether nothing publishes it any more."""
        return self._topic.count_publishers() == 0

    @property
    def is_silent(self) -> bool:
        """Whether something publishes it, but nothing has come for too long."""
        silence = self.now.loop - self._received_at
        return self._expected and silence > CONTROLLER_TUNING.timeout and not self.is_gone

    @property
    def interval(self) -> float:
        """Average time between two states [s]; 0 before the first ones."""
        return self._interval

    @property
    def stamp(self) -> int:
        """Stamp of the newest state, on the controller's clock [ns]."""
        return self._newest.stamp

    @property
    def age(self) -> int:
        """The least age of the last states when they came [ns]; below 0 if their clock is ahead."""
        return round(SECOND * -max(self._ahead, default=0.0))

    def reference(self) -> FloatArray | None:
        """Return the controller's reference (n,) [rad or m]; None if it is not published."""
        return self._values(self._newest.reference)

    def feedback(self) -> FloatArray | None:
        """Return the positions (n,) that the controller has measured then; as `reference`."""
        return self._values(self._newest.feedback)

    def error(self) -> FloatArray | None:
        """Return by how much the reference is ahead of the feedback (n,); as `reference`."""
        return self._values(self._newest.error)

    def rests_at(self, measured: FloatArray, *, lags: bool) -> FloatArray | None:
        """Return where a motion from rest begins (n,); see `begin_of_motion`."""
        return begin_of_motion(self.reference(), self.feedback(), measured, lags=lags)

    def output(self) -> FloatArray | None:
        """Return the positions (n,) that the controller has sent then; as `reference`."""
        return self._values(self._newest.output)

    def states(self) -> FloatArray | None:
        """Return the reference's positions and velocities, without accelerations (n, 3)."""
        newest = self._newest
        positions, velocities = map(self._values, (newest.reference, newest.reference_velocities))
        if positions is None or velocities is None:
            return None
        return np.stack([positions, velocities, np.zeros(len(positions))], axis=1)

    def _values(self, values: Sequence[float]) -> FloatArray | None:
        """Return a state's values in the order of the joints (n,); None if some are missing."""
        if self.now.loop - self._received_at > CONTROLLER_TUNING.timeout:
            return None
        names = self._newest.joint_names
        if names != self.joint_names or len(values) != len(names):
            named = dict(zip(names, values, strict=False))
            values = [named.get(name, math.nan) for name in self.joint_names]
        found = np.array(values)
        return found if np.isfinite(found).all() else None

    def unmet(self, *, waits: bool) -> str:
        """Return why the controller would not execute commands, or nothing.

        Args:
            waits: Whether motions wait while the controller stands; otherwise that is a reason.
        """
        silence = self.now.loop - self._received_at
        self._find_scaling()
        if self._holds_others and not self._newest.joint_names:
            return f"waiting for {self._topic.name}: it has the joints for hold_other_joints"
        if silence <= CONTROLLER_TUNING.timeout or self._is_excused:
            unmet = self._clock_offset() or self._other_joints()
            if not unmet and self.stands and not waits:
                unmet = STANDS_STILL
            self._has_passed = self._has_passed or not unmet
            return unmet
        if not self._expected:
            self._expected = self._topic.count_publishers() > 0
            self._received_at = self.now.loop
            return ""
        if self.is_gone:
            return "the controller is gone"
        return f"the controller is not active: no {self._topic.name}"

    def _clock_offset(self) -> str:
        ahead = max(self._ahead, default=0.0)
        if ahead > CONTROLLER_TUNING.clock_ahead:
            return f"the controller's clock is {ahead:.3g} s ahead of this one: synchronise them"
        if (
            ahead < -CONTROLLER_TUNING.clock_behind
            and len(self._ahead) == CONTROLLER_TUNING.most_stamps
        ):
            return (
                f"the controller's states are at least {-ahead:.3g} s old when they arrive: its "
                "clock is behind this one (synchronise them), or they are late (network, load)"
            )
        return ""

    def _other_joints(self) -> str:
        """Return how the controller's joints keep it from taking trajectories of the chain's."""
        theirs = self._newest.joint_names
        if not theirs:  # nothing was received, or it does not tell
            return ""
        if self._unknown:
            return (
                f"{self._topic.controller} does not tell where it holds {self._unknown}: "
                "hold_other_joints needs the reference"
            )
        missing = ", ".join(name for name in self.joint_names if name not in theirs)
        if missing:
            return (
                f"{self._topic.controller} does not have {printable(missing)}: set controller to "
                "one that has all, add the one that has them (with joint_trajectory), or set "
                "root_link and tip_link to a chain that it has"
            )
        if self._holds_others:
            return ""
        others = ", ".join(name for name in theirs if name not in self.joint_names)
        return others and self._without(printable(others))

    def _without(self, others: str) -> str:
        """Return why the controller refuses trajectories without other joints, if it does."""
        self._topic.ask_for_partial_goals()
        takes = self._topic.takes_partial_goals
        if takes is False:
            return (
                f"{self._topic.controller} has {others}, too, and refuses trajectories without: "
                "set its parameter allow_partial_joints_goal, let hold_other_joints hold them, or "
                "move them with a controller of their own"
            )
        service = "" if takes else self._topic.waits_for_partial_goals(others)
        # A motion that may be right must not end for it.
        if not service or self._has_passed:
            return ""
        return f"{self._topic.controller} has {others}, too: waiting for {service}"

    def _forget_answer(self) -> None:
        """Ask a controller again that was away: it may have been started with another answer."""
        self._topic.forget_partial_goals()
        self._has_passed = False

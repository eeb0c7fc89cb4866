# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Streams windows of a trajectory to several controllers that share an arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basis_ik.arm.execution.controller_states import ControllerStates
from basis_ik.arm.execution.execution import LONG_AGO, Drives, Rule
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.execution.window_execution import WINDOW_TUNING, WindowExecution
from basis_ik.arm.limiter import Motion, stride_of
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.sent_windows import Window
from basis_ik.arm.shared_windows import SharedWindows
from basis_ik.numerics.arrays import FloatArray


class Rules:
    """How several controllers replace trajectories.

    Args:
        each: The rule of each.
    """

    def __init__(self, each: Sequence[Rule]) -> None:
        self.each = tuple(each)

    def ask(self) -> None:
        """Ask those that are due."""
        for rule in self.each:
            rule.ask()

    @property
    def by_stamp(self) -> bool:
        """Whether all are known to place a trajectory by its stamp alone."""
        return all(rule.by_stamp for rule in self.each)

    @property
    def asked(self) -> str:
        """The service that may still tell, of one of them; empty if there is none."""
        return next(filter(None, (rule.asked for rule in self.each)), "")


class SharedExecution(WindowExecution):
    """Streams the same windows to several controllers, to each the part of its joints.

    They do not take a message at the same time, so all windows have a stamp:

    - From rest, the first one rests until it may be taken `REPLACEMENT.lateness` late. Unless they
      have just followed another motion, all must first show that they take what is sent.
    - Every window brakes at its end, and is continued only while all are known to follow. So if
      one does not, the others brake on the same path, and no message has to tell them.
    - After one has left the others, or scales its speed, the arm ends at rest. It goes on from
      there if all take what is sent.

    Args:
        drives: What is commanded.
        controller: The controllers, whose state is `ControllerStates` and whose rule is `Rules`.
    """

    _state: ControllerStates
    _rule: Rules
    _sent: SharedWindows

    def __init__(self, drives: Drives, controller: Controller) -> None:
        super().__init__(drives, controller)
        self._by_stamp, self._stride = (
            True,
            stride_of(WINDOW_TUNING.narrowest_spacing, drives.period),
        )
        self._columns = self._state.columns
        self._sent = SharedWindows(self._columns)
        self._strays: list[str] = []  # controllers that follow nothing that was sent
        self._ends = False  # whether nothing is sent until all rest
        self._takes = False  # whether all are known to take what is sent
        self._place: FloatArray | None = None  # where they are to rest before a motion (n,)
        self._asked_at = self._sent_at = LONG_AGO  # when they were first sent there, and last
        self._shown: set[int] = set()  # those that were there
        self._nudge = WINDOW_TUNING.hold_offset

    def _check(self, now: Moment) -> str:
        unmet = super()._check(now)
        if not unmet and self._rule.asked:
            return f"waiting for {self._rule.asked}: it has the rule by which a motion is replaced"
        for state, rule in zip(self._state.each, self._rule.each, strict=True):
            if not (unmet or rule.by_stamp):
                return (
                    f"{state.controller} may blend trajectories, which an arm with several "
                    "controllers cannot: set its parameter allow_trajectory_replacement to false, "
                    "or trajectory_replacement to not_allowed if it does not have that"
                )
        return unmet

    @property
    def unheard(self) -> str:
        """Why a motion cannot begin while one publishes nothing; see `Execution.unheard`."""
        clock = self._state.now.clock
        silent = [each.controller for each in self._state.each if each.silence(clock) > 0.0]
        return f"{' and '.join(silent)} does not tell where it is" if silent else super().unheard

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; see `Execution.hindrance`."""
        slowed = self._state.slowed
        return (
            f"{slowed}: the arm goes on once it is at full speed" if slowed else super().hindrance
        )

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send a window if all follow the last one; see `Execution.advance`."""
        if self._state.columns is not self._columns:
            self._columns = self._state.columns
            if self._sent.newest is not None:
                self.failure = "the controllers do not have the joints any more that they had"
                self._give_up(pipeline)
            self._sent = SharedWindows(self._columns)
        return super().advance(pipeline, measured, now)

    def _unsure(self, *, by_stamp: bool) -> int:
        """Return by how much a controller's clock may be earlier than the latest one [ns]."""
        return self._state.oldest - self._behind

    def _observe(
        self, reference: FloatArray, inexact: float, *, shifted: bool, delayed: bool
    ) -> bool:
        """Draw conclusions from the newest references (n,); see `SharedWindows.observe_each`."""
        states = self._state.each
        stamps = [state.stamp for state in states]
        known = self._sent.observe_each(stamps, reference, inexact, shifted=shifted)
        self._strays = [
            state.controller for state, is_known in zip(states, known, strict=True) if not is_known
        ]
        return not self._strays

    def _why_left(self) -> str:
        names = " and ".join(self._strays)
        return super()._why_left().replace("the controller", names or "the controller", 1)

    def _send_again(self) -> None:
        """Let all end at rest, as one has not taken what the others follow."""
        self._ends, self._takes = True, False

    def _continue_slowly(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Let all end at rest: the others would be ahead of one that scales its speed.

        One that stands would end its brake once it goes on. So it is led to rest where it stands.
        """
        self._ends = True
        reference = self.controller_reference()
        rested = self._state.stamp - self._stood_since()
        if (
            pipeline.phase is not Phase.BRAKING
            or reference is None
            or rested < WINDOW_TUNING.resumption_time
        ):
            return
        if self._have_shown(reference):
            self._place = None
            self._rest_at(reference, now.clock)
        else:
            self._send_beside(reference, now.clock)

    def _continue_in_time(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Continue the motion; see `WindowExecution`.

        After a pause, what is new may come as late as ever: the last window has begun to brake.
        """
        if not self._ends:
            self._changed = self._changed or self._is_late(now.clock)
            super()._continue_in_time(pipeline, measured, now)

    def _start(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Begin a motion from rest, as the continuation of a window that rests."""
        reference = self.controller_reference()
        if reference is None or not self._is_at_rest_for(pipeline, measured, now):
            return
        if pipeline.phase is not Phase.MOVING:
            self._place = None
        elif not self._are_there(pipeline, pipeline.state[:, 0], reference, now.clock):
            return
        self._changed, self._was_silent, self._ends, self._refused = True, False, False, 0
        self._head = LONG_AGO
        self._rest_at(reference, now.clock)
        self._continue(pipeline, measured, now)

    def _rest_at(self, reference: FloatArray, clock: int) -> None:
        """Note that all rest at their references (n,)."""
        self._sent.send(
            Window(
                clock - WINDOW_TUNING.rest_duration, _motion_at(reference), clock, settles=False
            ),
            alone=True,
        )

    def _are_there(
        self, pipeline: Pipeline, begin: FloatArray, reference: FloatArray, clock: int
    ) -> bool:
        """Return whether all rest where a motion begins, and are known to take what is sent.

        Otherwise they are sent there; one that does not take that ends the motion.

        Args:
            pipeline: The source of the commands.
            begin: Where the motion begins (n,).
            reference: Where the controllers are (n,).
            clock: The controllers' time.
        """
        if self._have_shown(reference):
            self._place, self._takes, self._was_silent = None, True, False
        if self._place is None and self._takes and not self._was_silent:
            if (begin == reference).all():
                return True
        elif self._place is not None and clock > self._asked_at + WINDOW_TUNING.begin_timeout:
            names = [
                each.controller for k, each in enumerate(self._state.each) if k not in self._shown
            ]
            self.failure = f"{' and '.join(names)} has not taken the motion"
            self._give_up(pipeline)
            return False
        self._send_beside(begin, clock)
        return False

    def _have_shown(self, reference: FloatArray) -> bool:
        """Return whether all references (n,) were where they were sent."""
        if self._place is None:
            return False
        there = np.abs(reference - self._place) <= WINDOW_TUNING.covered_error
        self._shown |= {k for k, columns in enumerate(self._columns) if there[columns].any()}
        return len(self._shown) == len(self._columns)

    def _send_beside(self, positions: FloatArray, clock: int) -> None:
        """Send all to rest hardly beside positions (n,), so that it is seen whether they take it.

        They rest, so it may be as late as it will.
        """
        if self._place is None:
            self._takes, self._asked_at, self._shown = False, clock, set()
        elif clock < self._sent_at + WINDOW_TUNING.rest_duration:
            return
        else:
            self._nudge = -self._nudge  # a joint may be at its limit
        self._place, self._sent_at = positions + self._nudge, clock
        self._send(_motion_at(self._place), 0, 0)

    def _give_up(self, pipeline: Pipeline) -> None:
        super()._give_up(pipeline)
        self._place, self._takes = None, False

    def _completed(
        self, pipeline: Pipeline, times: list[int], states: list[FloatArray], joins: int
    ) -> Window:
        """Return a window of given samples that then brakes."""
        return self._assembled(pipeline.tail(), times, states, joins, settles=False)


def _motion_at(positions: FloatArray) -> Motion:
    """Return the motion that rests at positions (n,) for `rest_duration`."""
    states = np.zeros((3, 2, len(positions)))
    states[0] = positions
    return Motion(np.array([0.0, 1e-9 * WINDOW_TUNING.rest_duration]), *states)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Streams windows of a trajectory to a joint_trajectory_controller."""

from __future__ import annotations

import itertools
import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.execution.controller_state import CONTROLLER_TUNING, PAUSED, others_move
from basis_ik.arm.execution.execution import LONG_AGO, MOVED_AWAY, REPLACEMENT, Drives
from basis_ik.arm.execution.trajectory_execution import Controller, TrajectoryExecution
from basis_ik.arm.limiter import WIDEST_SPACING, Motion, stride_of
from basis_ik.arm.moment import SECOND, Moment
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.sent_windows import WINDOW_MATCH, SentWindows, Suspects, Window
from basis_ik.numerics.arrays import FloatArray


class WindowTuning(NamedTuple):
    """Tuning of a stream of windows; times are in [ns], unless stated otherwise."""

    # A window may be late by `REPLACEMENT.lateness` and still continue the one before. It may be
    # later if the last motions from rest were taken later: by their longest transit and a reserve.
    most_transits: int = 5  # motions from rest whose transits count
    transit_reserve: float = 1.5  # factor on the longest transit
    most_lateness: int = 300_000_000  # the most by transits, and the lateness after one refusal
    last_lateness: int = SECOND  # once two windows were refused
    soonest_change: int = 5_000_000  # lateness while the goal stays: on a line the motion stays on
    first_way: int = 150_000_000  # least way of a first window before it brakes, until followed
    way_timeout: int = 80_000_000  # for which a way is continued that may have been left
    begin_timeout: int = 2_000_000_000  # until a motion from rest that does not begin is lost
    most_attempts: int = 3  # to begin it
    recall_timeout: int = 2_000_000_000  # after a recall: what has not begun then will not begin
    # A window that moves nothing lasts that long. A late one is refused once it is over.
    rest_duration: int = 500_000_000
    shortest_silence: float = 1e-3  # [s]
    resumption_time: int = 50_000_000  # of publishing, before the stream resumes
    accepted_error: float = 1e-4  # [rad or m]: a reference closer to a command has accepted it
    covered_error: float = 1e-8  # [rad or m]: a closer command need not be sent; 1 ns is rounded
    covered_end: int = 1_000_000  # by which a window may end later than the commands at rest
    first_delay: int = 500_000_000  # by which a brake may be late that repeats a lost one
    most_delay: int = 4 * SECOND  # and the most, after doubling it for each further lost one
    # [s], for which the arm's position is sent to a controller that does not take it.
    insistence_time: float = 3.0
    compare_time: int = 200_000_000  # for which an arm at rest is compared with its motion
    most_references: int = 200  # stored ones of the controller: seconds
    notable_error: float = 1e-3  # [rad or m]: a smaller one is within any tolerance of a path
    other_goal: float = 0.5  # [rad or m]: a goal so far from a window's end leads elsewhere
    hold_offset: float = 4e-6  # [rad or m], of a hold from where its controller stands
    shortest_interval: int = 1_000  # between two samples
    narrowest_spacing: float = 0.01  # [s], of samples in motion
    stamp_error: float = 2e-5  # [s], of the stamps of a controller's states
    blended_error: float = 5e-3  # [s], the same for a controller that blends


WINDOW_TUNING = WindowTuning()


class WindowExecution(TrajectoryExecution):
    """Streams windows of a trajectory that a joint_trajectory_controller follows smoothly.

    A window that the controller takes late is entered where it then is, in one cycle. So a window
    must be harmless whenever it is taken:

    - From rest, the first one has no stamp: it begins when it is taken. Its begin is found in the
      controller's published reference, and until then nothing else is sent.
    - A window to a goal at rest is the whole motion. While nothing changes, nothing is sent.
    - Each further window is the same as the one before for `REPLACEMENT.lateness` from now
      on, and differs then.
    - A motion that changes in every period brakes at the end of each window. It is not continued
      if the controller may have left its way for `way_timeout`, or has.
    - A window that was not taken in time is recalled, also if nobody tells whether it was.
    - A new motion from rest begins when no other window can be taken any more.

    A controller that does not publish its state is taken to follow each window at once. Whether it
    has taken a brake is told by the measured joints: if they go on as before, another one follows
    that begins later.

    With the rule that counts the stamp alone, the stamp is the first sample, in the past. With the
    other rule it must be ahead when the window arrives, and the running window must have no sample
    until then: that one would be led to from the measured state, a cycle late.

    Args:
        drives: What is commanded.
        controller: The controller.
    """

    streams = True

    def __init__(self, drives: Drives, controller: Controller) -> None:
        super().__init__(drives, controller)
        self._period = drives.period
        self._by_stamp, self._stride = False, 1  # of the current motion
        self._step_time = round(SECOND * drives.period)
        self._sent = SentWindows()
        # Where the controller was lately: times, and positions (n,).
        self._followed: deque[tuple[int, FloatArray]] = deque(maxlen=WINDOW_TUNING.most_references)
        # Of the last motions from rest.
        self._transits: deque[int] = deque(maxlen=WINDOW_TUNING.most_transits)
        self._refused = 0  # windows of the current motion that were not taken
        self._attempts = 0  # to begin the motion from rest, in vain
        self._started = 0  # when the pending motion was sent
        self._recalled_at: int | None = None  # and when it was recalled
        self._recalled: Motion | None = None  # the last window that was
        self._head = 0  # time of the pipeline's last command
        self._jumped = False  # whether the windows' times are those of a clock from before a jump
        self._jumped_after = 0  # stamp of the last state before it
        self._changed = False  # whether the goal has changed since the last command
        self._holds_anew = False  # whether a hold has been requested and not been sent
        self._paused_until = -math.inf  # ROS time before which nothing is sent
        self._insists_until = -math.inf  # loop time [s] until which a hold is repeated
        self._slow_at = LONG_AGO  # last ROS time at which the controller scaled its speed
        self._stood_at = LONG_AGO  # and at which it scaled it to 0
        self._was_silent = False  # since the last window
        self._awaits_others = False  # whether a motion waits for other joints to rest
        self._errors: deque[FloatArray] = deque(maxlen=3)  # of the controller, before it left
        self._held = np.zeros(len(self._joint_names), bool)  # joints held where they are measured
        # What an arm may follow that was told to brake, if the controller does not tell.
        self._suspects, self._brakes, self._missed_brakes = Suspects(), False, 0

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; see `Execution.hindrance`."""
        newest = self._sent.newest
        if self._state.stands:
            return PAUSED
        if self._awaits_others and self._state.moved:
            return others_move(self._state.moved)
        if (
            self._state.speed_scaling < CONTROLLER_TUNING.full_speed
            and newest is not None
            and not newest.settles
        ):
            return (
                f"the controller scales its speed to {self._state.speed_scaling:.2g}: "
                "the arm follows in motions from rest to rest"
            )
        return ""

    def on_clock_jump(self, now: Moment) -> None:
        """Discard all times; see `Execution.on_clock_jump`."""
        super().on_clock_jump(now)
        self._followed.clear()
        # Where the controller is on its way is found anew, as after a change of its speed.
        self._slow_at = self._started = now.clock
        self._recalled_at = self._recalled = None  # by the clock that was
        self._suspects = Suspects()
        self._sent.on_clock_jump(self._state.stamp)
        self._jumped_after = self._state.stamp
        self._jumped = self._sent.newest is not None

    def end_of_motion(self, pipeline: Pipeline) -> FloatArray | None:
        """Return where the newest window ends (n,); see `Execution.end_of_motion`."""
        newest = self._sent.newest
        return pipeline.command if newest is None else newest.motion.positions[-1]

    def controller_reference(self) -> FloatArray | None:
        """Return the controller's reference; see `Execution.controller_reference`."""
        return self._state.reference()

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller holds a command; it may have refused the last window."""
        reference = self.controller_reference()
        return reference is not None and bool(
            (np.abs(reference - command) <= WINDOW_TUNING.accepted_error).all()
        )

    def _holds(self, command: FloatArray) -> bool:
        """Return whether the controller's reference is exactly a command."""
        reference = self.controller_reference()
        return reference is not None and bool(
            (np.abs(reference - command) <= WINDOW_TUNING.covered_error).all()
        )

    def begin(self) -> None:
        """Start a motion to a new goal."""
        super().begin()
        self._changed, self._attempts, self._holds_anew = True, 0, False
        self._brakes = False

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        pipeline.brake(quickest=quickest)
        self._changed = self._brakes = True

    # A period --------------------------------------------------------------------------------

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send a window if the last one does not lead where the pipeline does.

        See `Execution.advance`.
        """
        self._state.begin_period(now)
        silence, here = self._silence(now), now
        now = self._there(here)
        if silence > 0.0:
            if silence > CONTROLLER_TUNING.timeout:
                self._end_unseen(pipeline, measured, now)
            newest = self._sent.newest
            if newest is not None and self._sent.since() < now.clock:  # perhaps not taken in time
                self._recall(newest, now.clock)
            return pipeline.phase
        if now.loop < self._insists_until:
            self._insist(pipeline, measured)
        if self._holds_anew or now.loop < self._insists_until:
            self._send_hold(pipeline, measured, now)
            return pipeline.phase
        jumped, seen = self._jumped, self._sent.seen
        known, newest = self._look(now), self._sent.newest
        now = self._there(here)
        self._jumped = jumped and self._sent.seen == self._jumped_after
        if self._jumped:
            return pipeline.phase
        # One that was silent may have left its way before the way's end.
        moves = self._sent.ends_after(min(seen, now.clock) if self._was_silent else now.clock)
        self._awaits_others = pipeline.phase is Phase.MOVING and not self._sent.ends_after(
            now.clock
        )
        if not known and moves and not jumped:
            self.failure = self._why_left()
            self._give_up(pipeline)
        elif not known and jumped and pipeline.phase is Phase.BRAKING:
            self._brake_from_reference(pipeline, measured, now)
        elif not known:  # it was moved at rest
            self._sent.clear()
        elif self._sent.pending:
            self._await_begin(pipeline, now.clock)
        elif self.in_doubt:
            self._brake_again(pipeline, now.clock)
        elif self._sent.newest is None:
            if self._sent.resting is not None or not self._state.is_published:
                self._start(pipeline, measured, now)
        elif self._rests(now.clock) and self._leads_away(pipeline):
            self._start(pipeline, measured, now)
        elif self._slow_at == now.clock:
            self._continue_slowly(pipeline, measured, now)
        else:
            self._continue_in_time(pipeline, measured, now)
        newest = self._sent.newest
        if pipeline.phase is Phase.IDLE and self._brakes and newest is not None:
            self._brakes, self._missed_brakes = False, 0
            if not self._state.is_published:
                self._suspect(self._sent.outlasting(newest.end))
        if pipeline.phase is Phase.ARRIVED and newest is not None and now.clock < newest.end:
            return Phase.MOVING  # the commands have arrived, the controller has not
        return pipeline.phase

    @property
    def in_doubt(self) -> bool:
        """Whether it is not known yet if the arm has braked; see `Execution.in_doubt`."""
        return self._suspects.in_doubt

    def observe(self, measured: FloatArray, age: float, now: Moment) -> None:
        """Take where the arm is measured; see `Execution.observe`."""
        self._suspects.observe(self._there(now).clock - round(SECOND * age), measured)

    def _suspect(self, windows: list[Window]) -> None:
        """Watch whether an arm follows earlier windows after it was told to brake."""
        assert self._sent.newest is not None
        self._suspects.suspect(windows, self._sent.newest.end, round(SECOND * self._lag))

    def _brake_again(self, pipeline: Pipeline, clock: int) -> None:
        """Let an arm that has gone on brake later, so that the message may be later, too."""
        followed = self._suspects.followed
        if followed is None:
            return
        self.failure = "the arm has not braked when it was told to: it is told again"
        delay = min(WINDOW_TUNING.first_delay << self._missed_brakes, WINDOW_TUNING.most_delay)
        self._missed_brakes += 1
        self._send_brake(pipeline, followed, clock, delay)
        pipeline.rest()
        pipeline.begin_where_measured()
        self._suspect([followed])

    @property
    def is_led_elsewhere(self) -> bool:
        """Whether the controller moves; see `Execution.is_led_elsewhere`."""
        if not self.failure or len(self._followed) < 2:
            return False
        if self._state.silence(self._state.now.clock) > CONTROLLER_TUNING.timeout:
            return False  # it tells nothing any more
        (_, before), (_, here) = self._followed[-2], self._followed[-1]
        return bool((np.abs(here - before) > CONTROLLER_TUNING.rest_tolerance).any())

    def _silence(self, now: Moment) -> float:
        """Return for how long the controller has not published its state [s]; 0 if it does.

        One that was switched off would jump to the next window, so nothing is sent until it has
        published for a while.
        """
        silence = self._state.silence(now.clock)
        if silence > 0.0:
            self._was_silent, self._paused_until = True, now.clock + WINDOW_TUNING.resumption_time
        elif now.clock < self._paused_until <= now.clock + WINDOW_TUNING.resumption_time:
            return WINDOW_TUNING.shortest_silence
        return silence

    def _end_unseen(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Brake although the controller does not publish its state: it may be moving the arm."""
        newest = self._sent.newest
        pending = self._sent.pending
        over = self._state.is_gone if pending else not self._sent.ends_after(now.clock)
        if newest is None or over:
            self._give_up(pipeline)
        elif pipeline.phase is Phase.BRAKING and pending:
            self._await_begin(pipeline, now.clock)
        elif pipeline.phase is Phase.BRAKING and not self._jumped:  # its times are of use
            if self._holds_anew:
                self._send_hold(pipeline, measured, now)
            elif newest.settles and self._sent.since() >= now.clock:  # otherwise it is recalled
                self._send_brake(pipeline, newest, now.clock, REPLACEMENT.lateness)

    def _await_begin(self, pipeline: Pipeline, clock: int) -> None:
        """Send a motion again that was not taken, a few times only; recall it to brake."""
        brakes = pipeline.phase is Phase.BRAKING
        if brakes and self._state.stands:  # it may be at its begin
            self._sent.begin_now()
            self._changed = True
            return
        if (
            not brakes
            and 0 <= clock - max(self._started, self._stood_at) <= WINDOW_TUNING.begin_timeout
        ):
            return
        if not brakes and self._attempts < WINDOW_TUNING.most_attempts - 1:
            self._attempts += 1
            self._sent.clear()
        elif self._recalled_at is None:
            self._recalled_at = clock
            self._recall(self._sent.windows[-1], clock)
        elif self._sent.seen >= self._recalled_at + WINDOW_TUNING.recall_timeout:
            self.failure = "" if brakes else "the controller has not taken the motion"
            self._give_up(pipeline)

    def _recall(self, window: Window, clock: int) -> None:
        """Replace the newest window where it waits to be taken, by one that is over.

        A controller keeps only the newest message that waits, and refuses what is over. If it has
        taken the window, nothing changes.
        """
        if window.motion is self._recalled:
            return
        self._recalled = window.motion
        start = window.motion.at(0.0)
        start[:, 1:] = 0.0
        still = np.ascontiguousarray(np.stack([start, start]).transpose(2, 0, 1))
        self._send(
            Motion(np.array([0.0, 1e-9 * WINDOW_TUNING.rest_duration]), *still),
            clock - 2 * WINDOW_TUNING.rest_duration,
            0,
        )

    def _give_up(self, pipeline: Pipeline) -> None:
        """Drop the goal; the next motion begins from rest, once no window can be taken."""
        pipeline.rest()
        self._sent.clear()
        self._holds_anew = False

    def _look(self, now: Moment) -> bool:
        """Find out what the controller follows; return False if it is nothing that was sent."""
        reference, newest = self.controller_reference(), self._sent.newest
        if reference is None:
            if newest is not None and not self._state.is_published:
                self._followed.append((now.clock, newest.at(now.clock)[:, 0]))
            return True
        # The scaling is of no use without a reference.
        if self._state.speed_scaling < CONTROLLER_TUNING.full_speed:
            self._slow_at = now.clock
        if self._state.stands:
            self._stood_at = now.clock
        if not self._followed or self._followed[-1][0] != self._state.stamp:
            self._followed.append((self._state.stamp, reference))
        was_pending = self._sent.pending
        exact = WINDOW_TUNING.stamp_error if self._by_stamp else WINDOW_TUNING.blended_error
        shifted = 0 <= now.clock - self._slow_at <= SECOND
        blends = not (self._by_stamp or self._state.stands)
        is_known = self._observe(reference, exact, shifted=shifted, delayed=blends)
        is_known = is_known and not self._state.moved  # what was sent holds them
        error = self._state.error()
        if is_known and error is not None:
            self._errors.append(np.abs(error))
        placed = self._sent.newest
        if was_pending and not self._sent.pending and placed is not None and not shifted:
            transit = placed.begin - self._started
            self._transits.append(max(transit, 0))
            self._is_behind(-transit)
        if placed is not None and newest is not None:
            if placed.motion is newest.motion:
                self._head += placed.begin - newest.begin
            else:
                self._send_again()
        return is_known

    def _observe(
        self, reference: FloatArray, inexact: float, *, shifted: bool, delayed: bool
    ) -> bool:
        """Draw conclusions from the newest reference (n,); see `SentWindows.observe`."""
        stamp = self._state.stamp
        return self._sent.observe(stamp, reference, inexact, shifted=shifted, delayed=delayed)

    def _send_again(self) -> None:
        """Let the next window leave the way that the controller follows, earlier ahead."""
        self._changed, self._head = True, LONG_AGO
        self._refused += 1

    def _why_left(self) -> str:
        if self._was_silent:
            return "the controller was restarted: it was not active for a moment"
        left = "the controller has left the trajectory"
        if self._state.moved:
            return f"{left}: somebody else moves {self._state.moved}"
        errors = np.max(self._errors, axis=0, initial=0.0)
        if errors.max() < WINDOW_TUNING.notable_error:
            return f"{left}: it holds the arm, or follows somebody else"
        name = self._joint_names[int(np.argmax(errors))]
        return (
            f"{left} when {name} was {errors.max():.2g} off: it holds the arm because of its "
            f"parameter constraints.{name}.trajectory, or follows somebody else"
        )

    def _earliest(self, clock: int) -> int:
        """Return the controller's time at the earliest, for that at the latest; see `_there`."""
        return clock - self._unsure(by_stamp=self._by_stamp)

    def _rests(self, clock: int) -> bool:
        """Return whether the controller is at the end of the newest window."""
        newest = self._sent.newest
        assert newest is not None
        if clock < newest.end:
            return False
        if not self._state.is_published:
            return True
        return len(self._sent.windows) == 1 and self._sent.seen >= newest.end

    def _leads_away(self, pipeline: Pipeline) -> bool:
        """Return whether the pipeline does not stay at the end of the newest window."""
        newest = self._sent.newest
        assert newest is not None
        if pipeline.command is None or self._changed or pipeline.state[:, 1:].any():
            return True
        return not self._covers(newest, pipeline)

    def _covers(self, window: Window, pipeline: Pipeline) -> bool:
        """Return whether a window leads to the pipeline's last command."""
        states = pipeline.state
        if not states[:, 1:].any() and self._head >= window.end - WINDOW_TUNING.covered_end:
            return bool((window.motion.positions[-1] == states[:, 0]).all())
        away = np.abs(window.at(self._head)[:, 0] - states[:, 0])
        return bool((away <= WINDOW_TUNING.covered_error).all())

    def _is_late(self, clock: int) -> bool:
        """Return whether the controller may have left the windows' way for too long."""
        patience = max(WINDOW_TUNING.way_timeout, round(2.5e9 * self._state.interval))
        return clock > self._sent.since() + patience

    def _continue_in_time(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Continue the motion, unless the controller has not taken a window in time.

        One that waits to be taken would be entered where it then is, the farther away the later
        that is. So it is recalled: the motion ends as the followed window does. If that one would
        not brake as it must, another takes its place that leaves it later.
        """
        late, newest = self._is_late(now.clock), self._sent.newest
        close, inexact = (
            (WINDOW_MATCH.follows, WINDOW_TUNING.stamp_error)
            if self._by_stamp
            else (WINDOW_MATCH.leaves, 0.0)
        )
        missed = (late or self._by_stamp) and self._sent.is_off(close, inexact)
        brakes = pipeline.phase is Phase.BRAKING and self._sent.windows[0].settles
        assert newest is not None
        if brakes and (missed or (late and self._sent.seen > self._sent.since())):
            self._sent.drop_others()
            self._send_again()
            sent = self.sent
            self._continue(pipeline, measured, now)
            if self.sent == sent:  # the followed one brakes as well
                self._recall(newest, now.clock)
        elif missed:
            self._recall(newest, now.clock)
        elif not late:
            self._continue(pipeline, measured, now)

    # Windows ---------------------------------------------------------------------------------

    def _start(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Begin a motion from rest."""
        reference = self.controller_reference()
        if not self._is_at_rest_for(pipeline, measured, now):
            return
        self._by_stamp = self._rule.by_stamp
        self._stride = stride_of(
            WINDOW_TUNING.narrowest_spacing if self._by_stamp else WIDEST_SPACING, self._period
        )
        self._changed, self._was_silent, self._refused = False, False, 0
        first = WINDOW_TUNING.first_way + round(SECOND * self._state.interval)
        times, remainder = [0], None
        states: list[FloatArray] = []
        while times[-1] < first and remainder is None:
            ahead = times[-1]
            for _ in range(self._stride):
                ahead += self._step_time
                command = pipeline.step(measured, now.loop + 1e-9 * ahead)
                if command is None:
                    return
                if not states:
                    rest = np.zeros((len(measured), 3))
                    rest[:, 0] = pipeline.origin
                    states.append(rest)
            times.append(ahead)
            states.append(pipeline.state)
            remainder = pipeline.remainder()
        self._suspects = Suspects()  # this motion takes the place of what they follow
        self._head = now.clock + times[-1]
        window = self._completed(pipeline, [now.clock + time for time in times], states, now.clock)
        if all(map(self._holds, window.motion.positions)):  # nobody would see it begin
            self._sent.send(window, alone=True)
        elif not self._state.is_published:  # nothing tells when it begins
            self._head -= REPLACEMENT.lead
            window = window._replace(begin=now.clock - REPLACEMENT.lead)
            self._sent.send(window, alone=True)
            self._send(window.motion, window.begin, 0)
        else:
            self._started, self._recalled_at = now.clock, None
            self._sent.begin(window, reference)
            self._send(window.motion, 0, 0)

    def _is_at_rest_for(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> bool:
        """Let a pipeline begin where the controller rests; return False if it cannot begin yet."""
        if self._state.stands and pipeline.phase is Phase.MOVING:
            return False
        if pipeline.phase in (Phase.MOVING, Phase.BRAKING):
            begin = self._begins_at(pipeline, measured, now)
            if begin is None:
                return False
            at_rest = np.zeros((len(measured), 3))
            at_rest[:, 0] = begin
            pipeline.go_on(at_rest)
        elif (
            self.controller_reference() is not None
            and pipeline.command is not None
            and not self.keeps(pipeline.command)
        ):
            return False  # it has been led elsewhere
        return True

    def _begins_at(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment
    ) -> FloatArray | None:
        """Return where a motion from rest begins (n,); see `ControllerState.rests_at`."""
        if self.controller_reference() is None:
            left = pipeline.command if pipeline.left_at is None else pipeline.left_at
            near = left is not None and (np.abs(left - measured) <= MOVED_AWAY).all()
            return left if near else measured
        newest = self._sent.newest
        ended = LONG_AGO if newest is None else max(newest.end, self._stood_since())
        return self._state.rests_at(measured, lags=now.clock < ended + round(SECOND * self._lag))

    def _stood_since(self) -> int:
        """Return since when the controller's reference is where it is: later, if it stood still."""
        since = LONG_AGO
        for stamp, positions in reversed(self._followed):
            if (np.abs(positions - self._followed[-1][1]) > CONTROLLER_TUNING.rest_tolerance).any():
                break
            since = stamp
        return since

    def _continue_slowly(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Let a controller that scales its speed go on, or send what it must do instead.

        It would leap into a window that is placed by its stamp, at least by what it is slower until
        then. So it gets one only to brake, or for another destination, from its present speed.
        """
        newest = self._sent.newest
        assert newest is not None
        brakes = pipeline.phase is Phase.BRAKING
        if brakes and self._state.stands and newest.at(self._sent.seen)[:, 1].any():
            self._changed = True  # it would end its braking once the controller goes on
        if self._changed and (brakes or self._leads_elsewhere(pipeline, newest)):
            self._send_from_present(pipeline, measured, now)
        elif not self._changed and (newest.settles or self._rests(now.clock)):
            self._continue(pipeline, measured, now)

    def _leads_elsewhere(self, pipeline: Pipeline, newest: Window) -> bool:
        """Return whether the goal has changed so much that the newest window is to be left."""
        if pipeline.command is None or not newest.settles or len(self._sent.windows) > 1:
            return False
        away = pipeline.command + pipeline.remaining(pipeline.command)
        # A controller that blends makes no step.
        differs = WINDOW_TUNING.other_goal if self._by_stamp else 0.0
        return bool((np.abs(away - newest.motion.positions[-1]) > differs).any())

    def _send_from_present(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Send a window that leaves the way of the controller as soon as it may be taken.

        Until then it has the controller's way, at its present speed. A controller that blends goes
        on by itself until the stamp.
        """
        scaling, seen = self._state.speed_scaling, self._sent.seen
        cursor = seen + round(scaling * (now.clock - seen))  # the time on the way, and so on
        followed = self._sent.windows[0]
        if scaling == 0.0:
            stamp = begin = joins = now.clock
            begun, way = [joins], [self._slowed(followed.at(seen))]
        elif self._by_stamp:
            joins = now.clock + self._lateness()
            left = seen + round(scaling * (joins - seen))
            begun, way = followed.part(self._earliest(cursor) - REPLACEMENT.lead, left)
            begun = [joins - round((left - time) / scaling) for time in begun]
            way = [self._slowed(states) for states in way]
            stamp = begin = begun[0]
        else:
            followed = self._sent.windows[-1]
            soon = cursor + round(scaling * 2 * self._stride * self._step_time)
            joins = self._next_sample(followed, soon, cursor)
            stamp = seen + round((joins - seen) / scaling)
            if stamp - now.clock < REPLACEMENT.transit or self._sent.since() < joins:
                return  # a later period sends it
            begun, way = followed.part(self._earliest(cursor) - REPLACEMENT.lead, joins)
            begin = joins
        pipeline.go_on(way[-1])
        if pipeline.phase is Phase.BRAKING:  # what is sent may be refused
            pipeline.keep_braking()
        if pipeline.step(measured, now.loop + self._period) is None:
            return
        self._changed = self._holds_anew = False
        self._head = joins + self._step_time
        window = self._completed(pipeline, [*begun, self._head], [*way, pipeline.state], joins)
        self._sent.send(window)
        self._send(window.motion, stamp, window.begin - begin)

    def _slowed(self, states: FloatArray) -> FloatArray:
        """Return states on a window's way (n, 3) as a controller has them that scales its speed."""
        scaling = self._state.speed_scaling
        slowed = states * scaling ** np.array([0.0, 1.0, 2.0])
        output, reference = self._state.output(), self.controller_reference()
        if output is not None and reference is not None:  # it is a cycle ahead, at full speed
            slowed[:, 0] += (1.0 - scaling) * (output - reference)
        if scaling == 0.0:
            slowed[:, 0] += WINDOW_TUNING.hold_offset  # tells whether the controller has taken it
        return slowed

    def _lateness(self) -> int:
        """Return by how much the next window may be late and still continue the one before."""
        if self._refused:
            return (
                WINDOW_TUNING.most_lateness if self._refused == 1 else WINDOW_TUNING.last_lateness
            )
        longest = round(WINDOW_TUNING.transit_reserve * max(self._transits, default=0))
        return min(max(REPLACEMENT.lateness, longest), WINDOW_TUNING.most_lateness)

    def _brake_from_reference(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Brake where the controller leads the arm to a window that has the stamps of old."""
        states = self._present(now.clock)
        if states is None:
            self._sent.clear()
            return
        self._send_hold(pipeline, measured, now, states)

    def _present(self, clock: int) -> FloatArray | None:
        """Return where the controller's reference is by now (n, 3); None if it is not known."""
        states = self._state.states()
        if states is not None:
            states[:, 0] += 1e-9 * (clock - self._state.stamp) * states[:, 1]
        return states

    def _continue(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> None:
        """Send a window if the pipeline's next commands are not those of the newest one."""
        newest = self._sent.newest
        assert newest is not None
        stride = self._stride * self._step_time
        safe = self._lateness() if self._by_stamp else 2 * stride
        ahead = now.clock + safe + 2 * stride
        if ahead < newest.begin:  # the clock was set back
            if pipeline.phase is Phase.BRAKING:
                self._brake_from_reference(pipeline, measured, now)
            return
        soonest = now.clock + (safe if self._changed else WINDOW_TUNING.soonest_change)
        late = self._head < soonest and (self._changed or not newest.settles)
        if late or (self._changed and self._head > ahead):  # a first window goes farther
            pipeline.go_on(newest.at(ahead))
            self._head = ahead
            ahead += stride
        if self._is_too_late(newest, now.clock):
            return
        joins = self._head
        covered = pipeline.state if self._covers(newest, pipeline) else None
        times: list[int] = []
        states: list[FloatArray] = []
        command: FloatArray | None = newest.motion.positions[0]
        brakes = pipeline.phase is Phase.BRAKING and not self._rests(now.clock)
        while command is not None and self._head + stride <= ahead:
            for _ in range(self._stride):
                if brakes:  # what was sent may be refused
                    pipeline.keep_braking()
                when = now.loop + 1e-9 * (self._head + self._step_time - now.clock)
                command = pipeline.step(measured, when)
                self._head += self._step_time
            if command is None:
                break
            if not times and self._covers(newest, pipeline):
                joins, covered = self._head, pipeline.state
                continue
            times.append(self._head)
            states.append(pipeline.state)
        if not times:
            return
        if joins < now.clock and not late:  # it was left off before: the arm is farther by now
            self._changed, self._head = True, LONG_AGO
            self._continue(pipeline, measured, now)
            return
        self._changed = False
        begun, way = newest.part(self._earliest(now.clock) - REPLACEMENT.lead, joins)
        if covered is not None:  # within the limits, which interpolated ones exceed slightly
            way[-1] = covered
        window = self._completed(pipeline, begun + times, way + states, joins)
        self._sent.send(window, alone=not self._state.is_published)
        earliest = self._earliest(now.clock)
        stamp = window.begin if self._by_stamp else self._next_sample(newest, joins, earliest)
        self._send(window.motion, stamp, window.begin - stamp)

    def _assembled(
        self,
        rest: Motion,
        times: list[int],
        states: list[FloatArray],
        joins: int,
        *,
        settles: bool,
    ) -> Window:
        """Return a window of given samples, and of a motion from the last of them to rest."""
        moves = bool(states[-1][:, 1:].any())
        for k in range(1, len(rest.times)):
            if moves:
                then = self._head + round(SECOND * float(rest.times[k]))
                times.append(max(then, times[-1] + WINDOW_TUNING.shortest_interval))
                states.append(np.stack([each[k] for each in rest[1:]], axis=1))
                moves = bool(states[-1][:, 1:].any())
        last = max((k for k, each in enumerate(states) if each[:, 1:].any()), default=None)
        if last is None:
            times.append(times[-1] + WINDOW_TUNING.rest_duration)
            states.append(states[-1])
        else:  # a late one is refused as soon as it is at rest
            del times[last + 2 :], states[last + 2 :]
        samples = np.ascontiguousarray(np.stack(states).transpose(2, 0, 1))
        motion = Motion(1e-9 * (np.array(times) - times[0]), *samples)
        return Window(times[0], motion, joins, settles)

    def _completed(
        self, pipeline: Pipeline, times: list[int], states: list[FloatArray], joins: int
    ) -> Window:
        """Return a window of given samples, and what follows them if there is no other one."""
        remainder = pipeline.remainder()
        rest = pipeline.tail() if remainder is None else remainder
        return self._assembled(rest, times, states, joins, settles=remainder is not None)

    def _is_too_late(self, newest: Window, clock: int) -> bool:
        """Return whether a window may arrive after its stamp; a later period then sends one.

        A controller that does not count the stamp alone would leap back to the stamp's state.
        """
        earliest = self._earliest(clock)
        sample = self._next_sample(newest, self._head, earliest)
        return not self._by_stamp and earliest < sample < clock + REPLACEMENT.transit

    def _next_sample(self, window: Window, joins: int, clock: int) -> int:
        """Return the time of a running window's next sample, at most that at which it is left."""
        samples = window.samples
        ahead: list[int] = samples[samples > clock].tolist()
        return min([joins, *ahead])

    def _send(self, motion: Motion, stamp: int, start: int) -> None:
        """Send a motion whose first sample comes some time after the stamp."""
        self._outgoing += self._state.addressed(motion, stamp, start)
        self.sent += 1

    # Holding ---------------------------------------------------------------------------------

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake from the arm's position; see `Execution.hold`."""
        self._held = lost
        if pipeline.command is not None:
            pipeline.go_on(self._held_states(pipeline, measured, self._there(now).clock))
            self._holds_anew = True
        pipeline.brake(quickest=True)
        self._brakes = True
        self._insists_until = now.loop + WINDOW_TUNING.insistence_time

    def _held_states(self, pipeline: Pipeline, measured: FloatArray, clock: int) -> FloatArray:
        """Return from which states (n, 3) a hold begins."""
        newest = self._sent.newest
        states = pipeline.state
        if newest is not None and not self._sent.pending:
            states = newest.at(clock)
        # One that was silent may have taken another window than the newest.
        present = self._present(clock) if self._was_silent else None
        states = states if present is None else present
        states[self._held] = 0.0
        states[self._held, 0] = measured[self._held]
        return states

    def _insist(self, pipeline: Pipeline, measured: FloatArray) -> None:
        """Repeat a hold until the controller has taken it, unless a held joint has been moved.

        A controller without a processor refuses what is over when it comes, and keeps the window
        before it: the arm would leap to the end of that one when a blocked joint gets free.
        """
        command, braking = pipeline.command, pipeline.phase is Phase.BRAKING
        known = self.controller_reference() is not None
        if command is not None and braking and known and not self.keeps(command):
            there = np.abs(measured - command)[self._held] <= MOVED_AWAY  # not if NaN
            if there.all():
                pipeline.repeat_command()
                return
        self._insists_until = -math.inf

    def _send_hold(
        self,
        pipeline: Pipeline,
        measured: FloatArray,
        now: Moment,
        states: FloatArray | None = None,
    ) -> None:
        """Send the motion to rest from now on, whatever the controller follows.

        Args:
            pipeline: The source of the commands.
            measured: Measured positions (n,).
            now: The beginning of the period.
            states: Where it begins (n, 3); None: where a hold does, or at the last command.
        """
        if states is None and self._holds_anew:
            states = self._held_states(pipeline, measured, now.clock)
        self._changed = self._holds_anew = False
        if states is None:
            states = pipeline.state
        else:
            pipeline.go_on(states)
        if pipeline.step(measured, now.loop + self._period) is None:
            return
        self._head = now.clock + self._step_time
        newest = self._sent.newest
        window = self._completed(
            pipeline, [now.clock, self._head], [states, pipeline.state], now.clock
        )
        self._sent.send(window, alone=True)
        stamp = now.clock
        if not self._by_stamp and newest is not None:
            stamp = self._next_sample(newest, self._head, now.clock)
        self._send(window.motion, stamp, window.begin - stamp)

    def end(self, pipeline: Pipeline, now: Moment) -> None:
        """Send a window that brakes, unless the last one does; see `Execution.end`."""
        newest, clock = self._sent.newest, self._there(now).clock
        if newest is None or self._sent.pending:  # it has been recalled
            return
        if newest.settles and clock < newest.end:
            self._send_brake(pipeline, newest, clock, REPLACEMENT.lateness)

    def _send_brake(self, pipeline: Pipeline, followed: Window, clock: int, lateness: int) -> None:
        """Send a window that leaves another one after a while, and brakes."""
        joins = max(clock, followed.begin) + lateness
        begun, way = followed.part(self._earliest(clock) - REPLACEMENT.lead, joins)
        pipeline.go_on(way[-1])
        self._head = joins
        window = self._assembled(pipeline.tail(), begun, way, joins, settles=False)
        self._sent.send(window)
        earliest = self._earliest(clock)
        stamp = window.begin if self._by_stamp else self._next_sample(followed, joins, earliest)
        self._send(window.motion, stamp, window.begin - stamp)

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Execution.expected`."""
        windows, way = self._sent.windows, []
        if not windows or self._jumped:
            return None
        if not self._sent.pending and now.clock > windows[-1].end + WINDOW_TUNING.compare_time:
            return None
        earliest = now.clock - round(SECOND * (self._lag + age))
        seen = earliest
        if self._followed:
            seen, last = self._followed[-1]
            way.append(last)
        for before, (stamp, positions) in itertools.pairwise(self._followed):
            if stamp >= earliest:
                way += [before[1], positions]
        for window in windows:
            since = window.begin if self._sent.pending else seen
            way.append(window.way(since, max(since, now.clock)))
        return np.vstack(way)

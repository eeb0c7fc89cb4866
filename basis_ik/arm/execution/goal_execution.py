# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sends whole motions as goals, and follows what the controller answers."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.execution.controller_state import PAUSED, ControllerState, others_move
from basis_ik.arm.execution.execution import LONG_AGO, MOVED_AWAY, REPLACEMENT, Drives
from basis_ik.arm.execution.messages import (
    CancelRequest,
    GoalFeedback,
    GoalOutcome,
    GoalRequest,
    GoalResult,
    StatusRequest,
)
from basis_ik.arm.execution.trajectory_execution import Controller, TrajectoryExecution
from basis_ik.arm.limiter import WIDEST_SPACING, Motion, stride_of
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.numerics.arrays import FloatArray


class GoalTuning(NamedTuple):
    """Tuning of an execution by goals."""

    # [s], after which feedback is too old to give the controller's position within a motion.
    feedback_timeout: float = 0.5
    first_feedback: float = 0.1  # [s], from sending a motion to its feedback, on most controllers
    # [s], by which a motion may be late, after so many ones that brake were rejected as over.
    lateness: tuple[float, ...] = (1e-9 * REPLACEMENT.lateness, 0.3, 1.0)
    answer_timeout: float = 10.0  # [s], after which an unwanted motion without answer is lost
    most_positions: int = 200  # stored ones of the controller: seconds
    shortest_interval: float = 1e-6  # [s], between two samples
    least_pace: float = 1e-3  # a controller at a slower pace stands
    tolerance: float = 1e-3  # [rad or m]: a reference farther from where it should be contradicts
    same: float = 1e-9  # [rad or m]: positions that do not differ by more are the same


GOAL_TUNING = GoalTuning()


class GoalExecution(TrajectoryExecution):
    """Sends each motion as one goal to a joint_trajectory_controller; a newer one replaces it.

    A motion ends with the controller's result. Another one, also to rest, may be taken late: it
    begins with what the controller executes anyway for `REPLACEMENT.lateness` from now on. That is
    known from the position that it reports within the current motion, and its pace. With the rule
    that does not count the stamp alone, the stamp is a sample of the current motion that is still
    ahead.

    Args:
        drives: What is commanded.
        controller: The controller.
    """

    streams = False
    _state: ControllerState

    def __init__(self, drives: Drives, controller: Controller) -> None:
        super().__init__(drives, controller)
        self._widest = drives.period * stride_of(WIDEST_SPACING, drives.period)
        self._phase, self._ordered = Phase.IDLE, False
        self._brakes = False  # whether a motion that brakes is still to be sent
        self._override, self._halted = 1.0, False  # of the current motion; whether it is 0
        # Numbers of motions: how many were sent, the present one, and the last that was accepted.
        self._count, self._newest, self._accepted, self._canceled = 0, 0, 0, False
        self._taken: Motion | None = None  # the one that was accepted last
        self._unanswered: dict[int, Motion] = {}  # by number
        self._refused = 0  # motions that brake in vain
        self._running: int | None = None  # number of the one that the controller pursues
        self._motion: Motion | None = None
        self._progress = Progress(0.0, 0.0, 1.0, -math.inf)
        # Where the last motion has ended, if it is known, and when that was heard [ns].
        self._left_at: FloatArray | None = None
        self._left_since = LONG_AGO
        # Where the controller was lately: ROS times [s], and positions (n,).
        self._passed: deque[tuple[float, FloatArray]] = deque(maxlen=GOAL_TUNING.most_positions)
        self._queried_at = -math.inf  # ROS time [s] of the last query to a silent controller
        self._silent_at = -math.inf  # ROS time [s] at which the controller was silent last
        # ROS time [s] since which the motion may have begun; infinite after the first feedback.
        self._begun_since = math.inf

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; see `Execution.hindrance`."""
        if self._ordered and self._state.moved:
            return others_move(self._state.moved)
        return PAUSED if self._state.stands else ""

    def on_clock_jump(self, now: Moment) -> None:
        """Discard all times; see `Execution.on_clock_jump`."""
        super().on_clock_jump(now)
        self._passed.clear()
        self._left_since = LONG_AGO

    def end_of_motion(self, pipeline: Pipeline) -> FloatArray | None:
        """Return where the motion ends (n,); see `Execution.end_of_motion`."""
        return None if self._motion is None else self._motion.positions[-1]

    def begin(self) -> None:
        """Send a motion to the new goal in the next period."""
        super().begin()
        self._ordered, self._brakes, self._refused = True, False, 0

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest: along its motion if its position within it is known.

        It is sent in the next period: what has come until then tells where the controller is.
        """
        pipeline.rest(keeps_way=not quickest)
        self._ordered = False
        if self._motion is None:
            self._phase = Phase.IDLE
        elif self._phase is not Phase.BRAKING:
            self._phase, self._brakes = Phase.BRAKING, True

    def _brake(self, pipeline: Pipeline) -> None:
        """Send a motion that brakes, unless it might arrive after its stamp; or cancel.

        To cancel stops the controller's reference at once, where the arm is measured: soon after a
        motion was sent, the first feedback is waited for instead.
        """
        now = 1e-9 * self._state.now.clock
        begun = None if self._state.stands else self._begun()
        if begun is None and 0.0 <= now - self._begun_since < GOAL_TUNING.first_feedback:
            return
        if begun is not None and self._is_too_late(begun):
            return
        self._brakes = False
        braking = None if begun is None else self._planned(pipeline, begun.end, braking=True)
        if begun is None or braking is None:
            self._cancel()
        else:
            self._send(begun, braking)

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Make the controller hold the arm at its current position; see `Execution.hold`."""
        pipeline.rest()
        self._ordered = self._brakes = False
        self._phase = Phase.IDLE if self._motion is None else Phase.BRAKING
        self._cancel()

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send a motion if one is due; see `Execution.advance`."""
        self._state.begin_period(now)
        if self._motion is not None and self._link.complaint():
            self._lose_motion("the controller is gone")
        elif self._motion is not None:
            self._correct_progress()
            if self._brakes:
                self._brake(pipeline)
            elapsed = self._progress.now(1e-9 * now.clock, self._motion.times[-1])
            self._passed.append((1e-9 * now.clock, self._motion.at(elapsed)[:, 0]))
            ahead = self._motion.positions[self._motion.times > elapsed]
            if self._phase is Phase.MOVING and not pipeline.is_still_free(ahead):
                self._ordered = True
            self._query_status(now)
        if pipeline.speed_override != self._override:
            self._override = pipeline.speed_override
            self._ordered = self._ordered or self._phase is Phase.MOVING
        # A motion that is being canceled must end first; one that was just sent must begin first.
        ending = self._canceled and self._motion is not None
        beginning = 0.0 <= 1e-9 * now.clock - self._begun_since <= GOAL_TUNING.feedback_timeout
        # A silent controller would take it late; afterwards it tells first where it is.
        if self._state.silence(now.clock) > 0.0:
            self._silent_at = 1e-9 * now.clock
        unheard = 0.0 <= 1e-9 * now.clock - self._silent_at < GOAL_TUNING.first_feedback
        unheard = unheard or (self._motion is not None and not self._state.is_known(now.clock))
        if self._ordered and self._state.moved:
            self._phase = Phase.MOVING  # it begins once they rest
        elif self._ordered and not (ending or beginning or unheard):
            self._replace(pipeline, measured)
        return self._phase

    def _replace(self, pipeline: Pipeline, measured: FloatArray) -> None:
        """Send a motion to the goal, unless it might arrive after its stamp."""
        begun = self._begun()
        if begun is not None and self._is_too_late(begun):
            return
        if begun is None and self._override == 0.0 and self._motion is not None:
            self._ordered, self._halted = False, True
            self._cancel()
            return
        if begun is None:
            rests_at = self._rests_at(measured)
            if rests_at is None:
                return
            begun = Begun.at_rest(rests_at)
        self._ordered, self._halted = False, self._override == 0.0
        motion = self._planned(pipeline, begun.end, braking=False)
        if motion is None:
            self._phase = Phase.UNSAFE
        elif len(motion.times) == 1:  # the present one, if any, leads there
            moves = self._halted or self._motion is not None
            self._phase = Phase.MOVING if moves else Phase.ARRIVED
        else:
            self._phase = Phase.MOVING
            self._send(begun, motion)

    def _rests_at(self, measured: FloatArray) -> FloatArray | None:
        """Return where a motion from rest begins (n,); see `ControllerState.rests_at`."""
        lag = self._state.now.clock - self._left_since
        lags = 0 <= lag < round(1e9 * self._lag)
        if self._state.reference() is None:
            left = self._left_at
            near = left is not None and (np.abs(left - measured) <= MOVED_AWAY).all()
            return left if left is not None and (lags or near) else measured
        if self._state.stamp >= self._left_since:
            return self._state.rests_at(measured, lags=lags)
        return self._left_at  # if that is unknown, a newer state tells

    def _planned(self, pipeline: Pipeline, start: FloatArray, *, braking: bool) -> Motion | None:
        """Return a motion whose samples suit the controller's rule; see `Pipeline.plan`."""
        spacing = 0.0 if self._rule.by_stamp else self._widest
        return pipeline.plan(start, braking=braking, spacing=spacing)

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Execution.expected`."""
        if self._motion is None or self._accepted != self._newest:
            return None  # until it accepts a motion, the controller continues the previous one
        progress, clock = self._progress, 1e-9 * now.clock
        if progress.received_at == -math.inf:
            return None  # after a rejection, it may be anywhere on the motion before
        until = progress.now(clock, self._motion.times[-1])
        known = clock - progress.received_at <= GOAL_TUNING.feedback_timeout
        # Without feedback the controller may be anywhere within the motion.
        since = max(until - self._lag - age, 0.0) if known else 0.0
        times = self._motion.times
        # The acceptance arrives after the motion has begun.
        until = min(max(until, clock - self._begun_since), times[-1])
        part = self._motion.positions[(times >= since) & (times <= until)]
        ends = [self._motion.at(since)[:, 0], self._motion.at(until)[:, 0]]
        # A motion that is new has a past, in which an arm that lags may still be.
        past = [at for when, at in self._passed if when >= clock - self._lag - age]
        return np.vstack([part, *ends, *past])

    def end(self, pipeline: Pipeline, now: Moment) -> None:
        """Make the controller stop."""
        self._cancel()

    def close(self) -> None:
        """Make the controller stop, unless it brakes; see `Execution.close`."""
        self._renumber()  # ignore all results
        self._unanswered.clear()
        if self._phase is not Phase.BRAKING or self._brakes:
            self._cancel()

    def _correct_progress(self) -> None:
        """Correct the progress if the controller's newest reference contradicts it.

        Feedback is rare and may be late; the controller may have changed its speed since.
        """
        motion, progress, reference = self._motion, self._progress, self._state.reference()
        if motion is None or reference is None or self._accepted != self._newest:
            return
        when = 1e-9 * self._state.stamp
        expected = motion.at(progress.now(when, motion.times[-1]))[:, 0]
        if when <= progress.when or (np.abs(expected - reference) <= GOAL_TUNING.tolerance).all():
            return
        elapsed = motion.time_of(reference, progress.elapsed)
        if (np.abs(motion.at(elapsed)[:, 0] - reference) <= GOAL_TUNING.tolerance).all():
            rate = self._state.speed_scaling
            self._progress = Progress(when, elapsed, rate, progress.received_at)

    def _begun(self) -> Begun | None:
        """Return where the controller is and will be; None if that is not known."""
        motion, progress = self._motion, self._progress
        now = 1e-9 * self._there(self._state.now).clock
        unsure = 1e-9 * self._unsure(by_stamp=self._rule.by_stamp)
        if motion is None or now - progress.received_at > GOAL_TUNING.feedback_timeout:
            return None
        if self._begun_since < math.inf:
            return None  # its start time in the controller is not known
        here, pace = progress.elapsed + progress.rate * (now - progress.when), progress.rate
        if pace < GOAL_TUNING.least_pace or here >= motion.times[-1]:
            return Begun.at_rest(motion.at(here)[:, 0])
        joins = (
            here + GOAL_TUNING.lateness[min(self._refused, len(GOAL_TUNING.lateness) - 1)] * pace
        )
        since = here - (1e-9 * REPLACEMENT.lead + unsure) * pace
        first = int(np.searchsorted(motion.times, since, side="right")) - 1
        last = int(np.searchsorted(motion.times, joins - GOAL_TUNING.shortest_interval))
        times = np.append(motion.times[max(first, 0) : last], joins)
        states = np.stack([motion.at(float(time)) for time in times])
        if not self._rule.by_stamp:  # it is on the way until the stamp, at its pace
            ahead = times[times > here - unsure * pace][0]
            return Begun(now + (ahead - here) / pace, times - ahead, states)
        # From the stamp on, its time has its full rate until it has taken the motion.
        begin = (times[0] - here) / pace
        slowed = states * pace ** np.array([0.0, 1.0, 2.0])
        output, reference = self._state.output(), self._state.reference()
        if output is not None and reference is not None:  # it is a cycle ahead, at full speed
            slowed[..., 0] += (1.0 - pace) * (output - reference)
        return Begun(now + begin, (times - here) / pace - begin, slowed)

    def _is_too_late(self, begun: Begun) -> bool:
        """Return whether a motion may arrive after a stamp that must be ahead."""
        if begun.stamp is None or self._rule.by_stamp:
            return False
        return begun.stamp - 1e-9 * self._there(self._state.now).clock < 1e-9 * REPLACEMENT.transit

    def _send(self, begun: Begun, motion: Motion) -> None:
        """Send a motion that follows what the controller has begun."""
        now = 1e-9 * self._state.now.clock
        # From rest, it begins when the controller accepts it, however late. In mid-motion the arm
        # moves on until then, and the stamp aligns the new motion with the old one.
        whole = begun.followed_by(motion)
        self._renumber()
        self._canceled = False
        self._motion = whole._replace(times=whole.times - whole.times[0])
        self._unanswered[self._newest] = self._motion
        if begun.stamp is None:
            self._begun_since, self._progress = now, Progress(now, 0.0, 0.0, now)
        else:
            rate = self._state.speed_scaling
            self._begun_since = math.inf
            self._progress = Progress(begun.stamp, -whole.times[0], rate, now)
        self._outgoing.append(GoalRequest(self._newest, whole, begun.stamp, self._state.held))
        self.sent += 1

    def _cancel(self) -> None:
        """Cancel the current motion, even if it is not accepted yet."""
        self._canceled = True
        if self._running is not None:
            self._outgoing.append(CancelRequest(self._running))

    def _query_status(self, now: Moment) -> None:
        """Query the result of the motion from a controller that has sent no feedback for long.

        A controller that was restarted does not know the motion, and will never report its end.
        """
        clock = 1e-9 * now.clock
        known = 0.0 <= clock - self._progress.received_at <= GOAL_TUNING.feedback_timeout
        queried = 0.0 <= clock - self._queried_at <= GOAL_TUNING.feedback_timeout
        if known or queried or self._state.silence(now.clock) > 0.0:
            return
        self._queried_at = clock
        if self._running is not None:
            self._outgoing.append(StatusRequest(self._running, self._newest))
        elif self._canceled and clock - self._progress.received_at > GOAL_TUNING.answer_timeout:
            self._lose_motion("the controller has not responded")

    def take_unknown(self, request: StatusRequest, now: Moment) -> None:
        """Take that the controller does not know a goal; `take_result` takes all other results."""
        self._state.begin_period(now)
        if request.newest == self._newest and request.number == self._running:
            self._lose_motion("the controller was restarted")

    def take_answer(self, number: int, now: Moment, *, accepted: bool) -> None:
        """Take whether the controller has accepted a goal.

        Args:
            number: The goal's number.
            now: When the answer came.
            accepted: Whether it has.
        """
        self._state.begin_period(now)
        motion = self._unanswered.pop(number, None)
        if accepted:
            if motion is not None and number > self._accepted:  # answers may overtake each other
                self._running, self._accepted, self._taken = number, number, motion
                if number == self._newest and self._begun_since < math.inf:
                    when = 1e-9 * now.clock
                    self._progress = Progress(when, 0.0, self._state.speed_scaling, when)
            if motion is None or self._canceled:
                self._outgoing.append(CancelRequest(number))
        elif number == self._newest:
            self._on_rejection("the controller rejected the motion")

    def _on_rejection(self, text: str) -> None:
        """Brake on the motion before, which the controller continues, if there is one."""
        if self._running is None:
            self._fail(text)
            return
        now = 1e-9 * self._state.now.clock
        self._newest, self._motion = self._accepted, self._taken
        self._begun_since, self._progress = now, Progress(now, 0.0, 1.0, -math.inf)
        if self._phase is not Phase.BRAKING:
            self._phase, self._ordered, self.failure = Phase.BRAKING, False, text
        self._refused += 1
        self._brakes = self._refused < len(GOAL_TUNING.lateness) and not self._canceled
        if not self._brakes:
            self._cancel()

    def take_feedback(self, feedback: GoalFeedback, now: Moment) -> None:
        """Take what the controller tells of a goal."""
        self._state.begin_period(now)
        if feedback.number == self._newest and self._motion is not None:
            desired = self._desired(feedback)
            if np.isfinite(desired).all():
                when = 1e-9 * now.clock if feedback.when is None else feedback.when
                progress = self._progress
                if self._begun_since < math.inf:
                    self._compare_begins(when, self._motion.time_of(desired))
                if (
                    progress.elapsed > 0.0
                    and 0.0 < progress.when - when <= GOAL_TUNING.feedback_timeout
                ):
                    # It came late, and the controller's state has told more.
                    heard = max(when, progress.received_at)
                    self._progress = progress._replace(received_at=heard)
                else:
                    self._progress = progress.updated(when, self._motion, desired)
                if self._progress.elapsed > 0.0:  # before, it may not have begun
                    self._begun_since = math.inf

    def _compare_begins(self, when: float, elapsed: float) -> None:
        """Compare when the motion has begun, by its stamps, with when it was sent.

        Args:
            when: Time of a feedback [s].
            elapsed: Time within the motion then [s]; 0: it may not have begun.
        """
        if elapsed > 0.0:
            earlier = round(1e9 * (self._begun_since - (when - elapsed)))
            self._is_behind(earlier - self._behind)

    def _desired(self, feedback: GoalFeedback) -> FloatArray:
        """Return the desired positions in the order of the joints (n,); NaN where there is none."""
        names, positions = feedback.joint_names or self._joint_names, feedback.desired
        if len(names) != len(positions):
            return np.full(len(self._joint_names), math.nan)
        told = dict(zip(names, positions, strict=True))
        return np.array([told.get(name, math.nan) for name in self._joint_names])

    def take_result(self, result: GoalResult, now: Moment) -> None:
        """Take how a goal has ended."""
        self._state.begin_period(now)
        number = result.number
        if number == self._accepted != self._newest:  # the newest one, of which nothing is known
            self._running = self._taken = None
        if number != self._newest:
            return
        done = self._motion is not None and result.outcome is GoalOutcome.SUCCEEDED
        self._left_at = self._motion.positions[-1] if self._motion is not None and done else None
        self._left_since = now.clock
        self._running = self._motion = None
        self._begun_since = math.inf
        self._brakes = False
        if self._phase is Phase.BRAKING:
            self._phase = Phase.IDLE
        elif self._halted and result.outcome in (GoalOutcome.SUCCEEDED, GoalOutcome.CANCELED):
            self._phase = Phase.MOVING  # it continues once the override is above 0
        elif result.outcome is GoalOutcome.SUCCEEDED:
            self._phase, self.failure = Phase.ARRIVED, ""
        else:
            what = result.outcome.value
            self._fail(f"the motion was {what} by the controller: {result.text}")

    def _renumber(self) -> None:
        """Give the present motion a new number, of which nothing has been heard."""
        self._count += 1
        self._newest = self._count

    def _lose_motion(self, text: str) -> None:
        self._renumber()  # its result will never arrive
        self._unanswered.clear()
        self._running = None
        self._fail(text)

    def _fail(self, text: str) -> None:
        self._motion, self._begun_since = None, math.inf
        self._phase, self.failure = Phase.IDLE, text


class Begun(NamedTuple):
    """The way that a controller is on, which is the begin of the motion that comes next."""

    stamp: float | None
    """ROS time from which its times count [s]; None at rest: from when it is taken."""
    times: FloatArray
    """Times, shape (k,) [s]."""
    states: FloatArray
    """Positions, velocities and accelerations then, shape (k, n, 3)."""

    @classmethod
    def at_rest(cls, positions: FloatArray) -> Begun:
        """Return that of a controller that rests at positions (n,)."""
        states = np.zeros((1, len(positions), 3))
        states[0, :, 0] = positions
        return cls(None, np.zeros(1), states)

    @property
    def end(self) -> FloatArray:
        """The state in which the motion comes next (n, 3)."""
        return np.array(self.states[-1])

    def followed_by(self, motion: Motion) -> Motion:
        """Return both, with times from the stamp; the motion begins at the end."""
        times = np.append(self.times, self.times[-1] + motion.times[1:])
        ways = (np.concatenate([self.states[..., k], way[1:]]) for k, way in enumerate(motion[1:]))
        return Motion(times, *ways)


class Progress(NamedTuple):
    """Progress of a controller within a motion, and its rate."""

    when: float
    """ROS time of the feedback [s]."""
    elapsed: float
    """Time within the motion at that feedback [s]."""
    rate: float
    """Time within the motion per second."""
    received_at: float
    """ROS time of the last feedback [s]."""

    def now(self, now: float, end: float) -> float:
        """Return the current time within the motion [s], at most `end`."""
        return min(max(self.elapsed + self.rate * (now - self.when), 0.0), end)

    def updated(self, when: float, motion: Motion, desired: FloatArray) -> Progress:
        """Return the progress after feedback with the desired state at a time."""
        elapsed, rate = self.now(when, float(motion.times[-1])), self.rate
        # Where a motion stands, its positions do not tell the time.
        if not (np.abs(motion.at(elapsed)[:, 0] - desired) <= GOAL_TUNING.same).all():
            elapsed = motion.time_of(desired, self.elapsed)
        if when - self.when > 0.0 and self.elapsed > 0.0:  # when it began is not known exactly
            rate = min((elapsed - self.elapsed) / (when - self.when), 1.0)
        return Progress(when, elapsed, rate, when)

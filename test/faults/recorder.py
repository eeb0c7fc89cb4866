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

"""Watches both sides of the controller: every command, and the arm where it is measured.

It stands aside from what it judges: nothing of the limiter, the pipeline or the outputs is in it.
It keeps what it hears and judges afterwards, by stamps: messages of two topics overtake each other.
"""

from typing import NamedTuple

import numpy as np

SETTLED = 2  # points after a window's first that no later window may change
ROUNDING = 1e-9  # rad or m
CURVE = 1e-6  # rad or m: a stamp between two points is on a curve, of times rounded to 1e-9 s
# s. The arm's controller counts its own cycles of 8 ms, and the clock when it takes a window: two
# of them may come at once. A cycle that the machine has delayed is made up for, too, at the speed
# of the drives, which is above that of the commands: then states of the arm come late, or none do.
LATENESS = 0.02
HORIZON = 0.5  # s over which the measured speed is judged, and a start's measured state looked for
SECOND = 1_000_000_000  # ns
KEPT = 200  # states of the arm from before a judgement, for what begins after it


class Window(NamedTuple):
    """A trajectory, as it was heard.

    Attributes:
        heard: When, on the clock of its stamp [ns]; None: not to be judged.
        stamp: When it begins [ns].
        names: Of the joints.
        times: Since the stamp, shape (k,) [ns].
        states: Positions, velocities and accelerations, lists of k lists.
    """

    heard: int | None
    stamp: int
    names: list
    times: np.ndarray
    states: list


class Told:
    """What was told of positions, by stamps.

    Attributes:
        times: shape (k,) [ns].
        positions: shape (k, n) [rad or m].
        delays: By how much they were late, shape (k,) [ns].
    """

    def __init__(self, states):
        self.times = np.array([time for time, _, _ in states], dtype=np.int64)
        self.positions = np.array([positions for _, positions, _ in states])
        self.delays = np.array([delay for _, _, delay in states], dtype=np.int64)

    def around(self, stamp):
        """Return the positions (m, n) that were told within half a second of a stamp."""
        first = np.searchsorted(self.times, stamp - HORIZON * SECOND)
        last = np.searchsorted(self.times, stamp + HORIZON * SECOND, side="right")
        return self.positions[first:last]


def nanoseconds(time):
    """Return a message's time, or duration, in ns."""
    return time.sec * SECOND + time.nanosec


class Recorder:
    """Keeps what it hears until it is judged.

    Args:
        joints: Names of the n joints that are commanded, in order.
        lower: Lower limits (n,) [rad or m].
        upper: Upper limits (n,).
        velocity: Largest speeds that may be commanded (n,) [rad/s or m/s].
        drives: Largest speeds of the arm's drives (n,) [rad/s or m/s].
        period: Of the commands [s].
    """

    def __init__(self, joints, lower, upper, velocity, drives, period):
        self.joints, self.period = list(joints), round(period * SECOND)
        self._lower, self._upper, self._velocity, self._drives = lower, upper, velocity, drives
        # Windows, numbers of those that were missed, and None for a clock that leaps.
        self._heard = []
        self._before = None  # the last window that was judged
        # Stamp [ns], positions, delay [ns]: a list for each time the clock leaps.
        self._arm, self._led = [[]], [[]]
        # By how much the arm may be ahead after each leap [s].
        self._ahead = [0.0]

    # Hearing -----------------------------------------------------------------------------------

    def hear_window(self, message, heard):
        """Keep a JointTrajectory that came at a time [ns]."""
        points = message.points
        times = np.array([nanoseconds(point.time_from_start) for point in points], dtype=np.int64)
        states = [[list(p.positions) for p in points], [list(p.velocities) for p in points]]
        states.append([list(p.accelerations) for p in points])
        stamp = nanoseconds(message.header.stamp)
        self._heard.append(Window(heard, stamp, list(message.joint_names), times, states))

    def hear_state(self, message, heard):
        """Keep where the arm is, as a JointState tells that came at a time [ns]."""
        by_name = dict(zip(message.name, message.position, strict=True))
        positions = np.array([by_name[name] for name in self.joints])
        stamp = nanoseconds(message.header.stamp)
        # It may also have left out cycles, as one does that was late by more than 0.1 s.
        silence = stamp - self._arm[-1][-1][0] if self._arm[-1] else 0
        self._arm[-1].append((stamp, positions, max(heard - stamp, silence)))

    def hear_controller(self, message):
        """Keep where the controller leads the arm, as a JointTrajectoryControllerState tells."""
        by_name = dict(zip(message.joint_names, message.reference.positions, strict=True))
        positions = np.array([by_name[name] for name in self.joints])
        self._led[-1].append((nanoseconds(message.header.stamp), positions, 0))

    def miss(self, count):
        """Learn that windows were sent which this process had no time to hear."""
        self._heard.append(count)

    def clock_leaps(self, *, ahead=False):
        """Compare no stamps of before with those of afterwards.

        Args:
            ahead: Whether it leaps to after the last window: the controller is then at the window's
                end at once, and the drives follow as fast as they can.
        """
        window = self.windows[-1] if self.windows else None
        self._ahead.append(window.times[-1] / SECOND if ahead and window else 0.0)
        self._heard.append(None)
        self._arm.append([])
        self._led.append([])

    @property
    def windows(self):
        """The windows that have not been judged yet."""
        return [window for window in self._heard if isinstance(window, Window)]

    def delay(self, since):
        """Return by how much the arm was late at most since a time [ns], as its states tell [s]."""
        return (
            max((delay for stamp, _, delay in self._arm[-1] if stamp >= since), default=0) / SECOND
        )

    # Judging -----------------------------------------------------------------------------------

    def judge(self):
        """Return what was wrong with all that was heard, in words, and forget it."""
        # At once: others go on hearing. What comes next is compared with the newest of this.
        heard, self._heard = self._heard, []
        arm, self._arm = self._arm, [self._arm[-1][-KEPT:]]
        led, self._led = self._led, [self._led[-1][-KEPT:]]
        ahead, self._ahead = self._ahead, self._ahead[-1:]
        arm, led, faults, epoch = list(map(Told, arm)), list(map(Told, led)), [], 0
        missed = False
        for window in heard:
            if not isinstance(window, Window):
                epoch += window is None
                missed = missed or window is not None
                continue
            found = self._of_form(window)
            if not found:
                found = self._of_content(window, arm[epoch])
                if not missed:  # or nobody knows what it goes on from
                    found += self._of_start(window, epoch, arm[epoch], led[epoch])
                self._before, missed = (window, epoch), False
            faults += [f"window at {window.stamp}: {fault}" for fault in found]
        if self._before is not None:
            self._before = self._before[0], 0
        each = zip(arm, ahead, strict=True)
        bad = [fault for told, allowed in each for fault in self._of_arm(told, allowed)]
        if bad:
            del self._arm[0][:KEPT]
        return faults + bad

    def _of_form(self, window):
        """Return what makes the window none that can be judged further."""
        if window.names != self.joints:
            return [f"it names {window.names}"]
        if not len(window.times):
            return ["it has no points"]
        for kind, points in zip(
            ("position", "velocity", "acceleration"), window.states, strict=True
        ):
            for values in points:
                if len(values) != len(self.joints):
                    return [f"a point has {len(values)} {kind} values"]
                if not np.isfinite(values).all():
                    return [f"a {kind} is not finite: {values}"]
        if not (np.diff(window.times) > 0).all():
            return [f"its times do not increase: {window.times.tolist()}"]
        return []

    def _of_content(self, window, arm):
        positions, velocities, _ = map(np.array, window.states)
        faults = []
        if window.heard is not None and window.stamp + int(window.times[0]) > window.heard:
            ahead = (window.stamp + int(window.times[0]) - window.heard) / SECOND
            faults.append(f"its first point is {ahead:.6f} s ahead")
        if velocities[-1].any():
            faults.append(f"it does not end at rest: {velocities[-1].tolist()}")
        ways = np.abs(np.diff(positions, axis=0))
        farthest = np.diff(window.times)[:, np.newaxis] / SECOND * self._velocity + ROUNDING
        if (ways > farthest).any():
            k, j = np.argwhere(ways > farthest)[0]
            faults.append(f"{self.joints[j]} goes {ways[k, j]:.6g}, not {farthest[k, j]:.6g}")
        if (np.abs(velocities) > self._velocity + ROUNDING).any():
            faults.append(f"a velocity is too large: {np.abs(velocities).max(axis=0).tolist()}")
        # A joint that is measured outside may be led from there, inward and no other way.
        measured = arm.around(window.stamp)
        beyond = np.vstack([self._excess(measured).max(axis=0), self._excess(positions)])
        outward = (beyond[1:] > ROUNDING) & (np.diff(beyond, axis=0) > ROUNDING)
        if outward.any():
            k, j = np.argwhere(outward)[0]
            faults.append(f"{self.joints[j]} is led beyond its limit, to {positions[k, j]:.9g}")
        return faults

    def _excess(self, positions):
        """Return how far positions (k, n) are beyond the limits; one row of zeros if k is 0."""
        if not len(positions):
            return np.zeros((1, len(self.joints)))
        return np.maximum(np.maximum(self._lower - positions, positions - self._upper), 0.0)

    def _of_start(self, window, epoch, arm, led):
        """A window begins on the one before; or at rest, where the arm is, or is led.

        Beyond what the one before has settled, by what a joint can go at most since then.
        """
        positions, velocities = np.array(window.states[0][0]), np.array(window.states[1][0])
        near = np.zeros(len(self.joints), dtype=bool)
        if self._before is not None:
            before, its_epoch = self._before
            since, settled = window.stamp - before.stamp, int(before.times[: SETTLED + 1][-1])
            if its_epoch != epoch:
                # The stamps cannot be compared: it goes on somewhere in what was settled.
                since, settled = SETTLED * self.period, 0
            ended = since >= before.times[-1]
            if since >= 0:
                expected = state_at(before, before.times[-1] if ended else min(since, settled))
                late = 0 if ended else max(since - settled, 0)
                near = np.abs(positions - expected) <= late / SECOND * self._velocity + CURVE
                near &= ~ended | (velocities == 0.0)
        for told in (arm, led):
            places = told.around(window.stamp)
            if len(places):
                there = (np.abs(places - positions) <= CURVE).any(axis=0)
                near |= there & (velocities == 0.0)
        if near.all():
            return []
        j = int(np.argmin(near))
        return [
            f"{self.joints[j]} begins at {positions[j]:.6g}, where neither it nor its command is"
        ]

    def _of_arm(self, told, ahead):
        """Return what no arm may do: leave its limits, or go faster than it is commanded.

        Args:
            told: What the arm has told.
            ahead: By how much it may be ahead beyond that [s].
        """
        times, positions = told.times, told.positions
        if not len(times):
            return []
        if not np.isfinite(positions).all():
            return ["the measured arm is not finite"]
        faults = []
        if (self._excess(positions) > ROUNDING).any():
            faults.append("the measured arm is beyond its limits")
        if (np.diff(times) < 0).any():
            return [*faults, "the measured arm's stamps go back"]
        for k in range(1, len(times)):
            first = int(np.searchsorted(times, times[k] - HORIZON * SECOND))
            spans = (times[k] - times[first:k])[:, np.newaxis] / SECOND
            ways = np.abs(positions[k] - positions[first:k])
            if (ways[-1:] > (spans[-1:] + 1e-6) * self._drives).any():
                return [*faults, "the measured arm is faster than its drives"]
            # An arm that had no processor for some whiles lags, and catches up as fast as it can.
            before = int(np.searchsorted(times, times[k] - 2 * HORIZON * SECOND))
            gaps = np.diff(times[before : k + 1]) / SECOND
            stalls = gaps[gaps > LATENESS].sum()
            late = LATENESS + ahead + max(stalls, max(told.delays[first : k + 1]) / SECOND)
            if (ways > (spans + late) * self._velocity).any():
                over = (ways / self._velocity - spans).max()
                return [*faults, f"the measured arm is {over:.3f} s ahead of what it may go"]
        return faults


def state_at(window, since):
    """Return the positions (n,) of a window at a time since its stamp [ns].

    Between two points they are on the quintic through both points' states, as a
    joint_trajectory_controller draws it.
    """
    times = window.times
    p, v, a = map(np.array, window.states)
    if since >= times[-1]:
        return p[-1]
    k = max(int(np.searchsorted(times, since, side="right")) - 1, 0)
    t, h = max(since - times[k], 0) / SECOND, (times[k + 1] - times[k]) / SECOND
    # In the power basis about the left point; the right point's state gives the other three.
    known = p[k] + v[k] * h + 0.5 * a[k] * h**2
    rest = np.stack([p[k + 1] - known, v[k + 1] - v[k] - a[k] * h, a[k + 1] - a[k]])
    powers = np.array(
        [[h**3, h**4, h**5], [3 * h**2, 4 * h**3, 5 * h**4], [6 * h, 12 * h**2, 20 * h**3]]
    )
    c = np.linalg.solve(powers, rest)
    return p[k] + v[k] * t + 0.5 * a[k] * t**2 + c[0] * t**3 + c[1] * t**4 + c[2] * t**5

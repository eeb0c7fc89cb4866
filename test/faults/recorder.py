# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Records both sides of the controller, the commands and the measured arm, and checks them.

It uses nothing of the limiter, the pipeline or the outputs. It stores messages and checks them
later, by their stamps, because messages of two topics may overtake each other.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

SETTLED = 2  # points after a window's first that no later window may change
ROUNDING = 1e-9  # rad or m
CURVE = 1e-6  # rad or m, or per s: between two points is a curve, of times rounded to 1e-9 s
# s. The arm's controller counts its own cycles of 8 ms, and the clock when it takes a window: two
# of them may come at once. A cycle that the machine has delayed is made up for, too, at the speed
# of the drives, which is above that of the commands: then states of the arm come late, or none do.
LATENESS = 0.02
HORIZON = 0.5  # s over which the measured speed is checked, and the state at a start searched
SECOND = 1_000_000_000  # ns
TRANSIT = 0.1  # s between the begin of a window without a stamp and its arrival here, at most
GRAIN = 100_000  # ns between places at which its begin is searched
KEPT = 200  # states of the arm from before a check, for motions that begin after it


class Window(NamedTuple):
    """A received trajectory.

    Attributes:
        received: Time of arrival on the clock of its stamp [ns]; None: not checked.
        stamp: Time of its start [ns].
        names: Names of the joints.
        times: Since the stamp, shape (k,) [ns].
        states: Positions, velocities and accelerations, lists of k lists.
        is_stamped: Whether it has a stamp; otherwise it begins when it is taken, after `stamp`.
    """

    received: int | None
    stamp: int
    names: list
    times: np.ndarray
    states: list
    is_stamped: bool = True


class Track:
    """Published positions, by stamps.

    Attributes:
        times: shape (k,) [ns].
        positions: shape (k, n) [rad or m].
        delays: Their delays, shape (k,) [ns].
    """

    def __init__(self, states):
        self.times = np.array([time for time, _, _ in states], dtype=np.int64)
        self.positions = np.array([positions for _, positions, _ in states])
        self.delays = np.array([delay for _, _, delay in states], dtype=np.int64)

    def around(self, stamp):
        """Return the positions (m, n) published within half a second of a stamp."""
        return self.positions[self._near(stamp)]

    def delay_around(self, stamp):
        """Return the largest delay of those [ns]."""
        return int(self.delays[self._near(stamp)].max(initial=0))

    def _near(self, stamp):
        first = np.searchsorted(self.times, stamp - HORIZON * SECOND)
        last = np.searchsorted(self.times, stamp + HORIZON * SECOND, side="right")
        return slice(first, last)


def nanoseconds(time):
    """Return a message's time, or duration, in ns."""
    return time.sec * SECOND + time.nanosec


class Recorder:
    """Stores messages until they are checked.

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
        self._received = []
        self._before = None  # the last window that was checked
        # Stamp [ns], positions, delay [ns]: a list for each time the clock leaps.
        self._arm, self._references = [[]], [[]]
        # By how much the arm may be ahead after each leap [s].
        self._ahead = [0.0]

    # Messages ----------------------------------------------------------------------------------

    def on_window(self, message, received):
        """Store a JointTrajectory that arrived at a time [ns]."""
        points = message.points
        times = np.array([nanoseconds(point.time_from_start) for point in points], dtype=np.int64)
        states = [[list(p.positions) for p in points], [list(p.velocities) for p in points]]
        states.append([list(p.accelerations) for p in points])
        stamp, names = nanoseconds(message.header.stamp), list(message.joint_names)
        window = Window(received, stamp or received, names, times, states, bool(stamp))
        self._received.append(window)

    def on_joint_state(self, message, received):
        """Store the positions in a JointState that arrived at a time [ns]."""
        by_name = dict(zip(message.name, message.position, strict=True))
        positions = np.array([by_name[name] for name in self.joints])
        stamp = nanoseconds(message.header.stamp)
        # It may also have left out cycles, as one does that was late by more than 0.1 s.
        gap = stamp - self._arm[-1][-1][0] if self._arm[-1] else 0
        self._arm[-1].append((stamp, positions, max(received - stamp, gap)))

    def on_controller_state(self, message):
        """Store the reference in a JointTrajectoryControllerState."""
        by_name = dict(zip(message.joint_names, message.reference.positions, strict=True))
        positions = np.array([by_name[name] for name in self.joints])
        self._references[-1].append((nanoseconds(message.header.stamp), positions, 0))

    def miss(self, count):
        """Note the number of windows that this process has missed."""
        self._received.append(count)

    def clock_leaps(self, *, ahead=False):
        """Note a jump of the clock: stamps before and after it are not compared.

        Args:
            ahead: Whether it leaps to after the last window: the controller is then at the window's
                end at once, and the drives follow as fast as they can.
        """
        window = self.windows[-1] if self.windows else None
        self._ahead.append(window.times[-1] / SECOND if ahead and window else 0.0)
        self._received.append(None)
        self._arm.append([])
        self._references.append([])

    @property
    def windows(self):
        """The windows that have not been checked yet."""
        return [window for window in self._received if isinstance(window, Window)]

    def delay(self, since):
        """Return the largest delay of the arm's states since a time [ns], in [s]."""
        return (
            max((delay for stamp, _, delay in self._arm[-1] if stamp >= since), default=0) / SECOND
        )

    # Checks ------------------------------------------------------------------------------------

    def check(self):
        """Return the faults of all stored messages as texts, and discard the messages."""
        # At once, because further messages arrive. They are compared with the newest of these.
        received, self._received = self._received, []
        arm, self._arm = self._arm, [self._arm[-1][-KEPT:]]
        references, self._references = self._references, [self._references[-1][-KEPT:]]
        ahead, self._ahead = self._ahead, self._ahead[-1:]
        arm, references, faults, epoch = list(map(Track, arm)), list(map(Track, references)), [], 0
        missed = False
        for window in received:
            if not isinstance(window, Window):
                epoch += window is None
                missed = missed or window is not None
                continue
            found = self._of_form(window)
            if not found:
                found = self._of_content(window, arm[epoch])
                if not is_recall(window):
                    if not missed:  # or nobody knows what it goes on from
                        found += self._of_start(window, epoch, arm[epoch], references[epoch])
                    self._before, missed = (window, epoch), False
            faults += [f"window at {window.stamp}: {fault}" for fault in found]
        if self._before is not None:
            self._before = self._before[0], 0
        each = zip(arm, ahead, strict=True)
        bad = [fault for track, allowed in each for fault in self._of_arm(track, allowed)]
        if bad:
            del self._arm[0][:KEPT]
        return faults + bad

    def _of_form(self, window):
        """Return faults that prevent further checks of a window."""
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
        if window.received is not None and window.stamp + int(window.times[0]) > window.received:
            ahead = (window.stamp + int(window.times[0]) - window.received) / SECOND
            faults.append(f"its first point is {ahead:.6f} s ahead")
        if velocities[-1].any():
            faults.append(f"it does not end at rest: {velocities[-1].tolist()}")
        ways = np.abs(np.diff(positions, axis=0))
        spans = (
            np.diff(window.times)[:, np.newaxis] + 1
        ) / SECOND  # both times are rounded to 1 ns
        farthest = spans * self._velocity + ROUNDING
        if (ways > farthest).any():
            k, j = np.argwhere(ways > farthest)[0]
            faults.append(f"{self.joints[j]} goes {ways[k, j]:.6g}, not {farthest[k, j]:.6g}")
        if (np.abs(velocities) > self._velocity + CURVE).any():
            faults.append(f"a velocity is too large: {np.abs(velocities).max(axis=0).tolist()}")
        # A joint that is measured outside may be moved from there, inward and no other way.
        measured = arm.around(window.stamp)
        beyond = np.vstack([self._excess(measured).max(axis=0), self._excess(positions)])
        outward = (beyond[1:] > ROUNDING) & (np.diff(beyond, axis=0) > ROUNDING)
        if outward.any():
            k, j = np.argwhere(outward)[0]
            faults.append(f"{self.joints[j]} is moved beyond its limit, to {positions[k, j]:.9g}")
        return faults

    def _excess(self, positions):
        """Return how far positions (k, n) are beyond the limits; one row of zeros if k is 0."""
        if not len(positions):
            return np.zeros((1, len(self.joints)))
        return np.maximum(np.maximum(self._lower - positions, positions - self._upper), 0.0)

    def _of_start(self, window, epoch, arm, references):
        """Return a fault unless a window begins on the one before, or at rest at arm or reference.

        After the final part of the one before, a joint may be as far as it can go since then.
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
            if not before.is_stamped and its_epoch == epoch and not ended:
                # It began when the controller took it: before it came here, if this is late.
                transit, late = round(TRANSIT * SECOND), arm.delay_around(before.stamp)
                near = is_on(before, positions, since - transit, since + transit + late)
        for track in (arm, references):
            places = track.around(window.stamp)
            if len(places):
                there = (np.abs(places - positions) <= CURVE).any(axis=0)
                near |= there & (velocities == 0.0)
        if near.all():
            return []
        j = int(np.argmin(near))
        return [
            f"{self.joints[j]} begins at {positions[j]:.6g}, where neither it nor its command is"
        ]

    def _of_arm(self, track, ahead):
        """Return faults of the measured arm: positions beyond limits, or too large speeds.

        Args:
            track: The measured positions.
            ahead: By how much it may be ahead beyond that [s].
        """
        times, positions = track.times, track.positions
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
            # An arm whose process was starved lags, and catches up as fast as it can.
            before = int(np.searchsorted(times, times[k] - 2 * HORIZON * SECOND))
            gaps = np.diff(times[before : k + 1]) / SECOND
            stalls = gaps[gaps > LATENESS].sum()
            late = LATENESS + ahead + max(stalls, max(track.delays[first : k + 1]) / SECOND)
            if (ways > (spans + late) * self._velocity).any():
                over = (ways / self._velocity - spans).max()
                return [*faults, f"the measured arm is {over:.3f} s ahead of what it may go"]
        return faults


def is_recall(window):
    """Return whether a window only takes the place of one that was not taken: it moves nothing.

    It was over before it came, so the controller refuses it.
    """
    positions, velocities = np.array(window.states[0]), np.array(window.states[1])
    over = window.received is not None and window.stamp + window.times[-1] < window.received
    return over and not velocities.any() and not np.ptp(positions, axis=0).any()


def is_on(window, positions, first, last):
    """Return which positions (n,) all lie on a window at one time of those between two [ns]."""
    first, last = max(first, 0), max(last, GRAIN)
    places = [state_at(window, since) for since in range(first, last + GRAIN, GRAIN)]
    best = np.full(len(positions), math.inf)
    for here, after in itertools.pairwise(places):
        way = after - here
        share = np.clip((positions - here) @ way / max(way @ way, 1e-30), 0.0, 1.0)
        off = np.abs(positions - here - share * way)
        best = off if off.max() < best.max() else best
    return best <= CURVE


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
    predicted = p[k] + v[k] * h + 0.5 * a[k] * h**2
    rest = np.stack([p[k + 1] - predicted, v[k + 1] - v[k] - a[k] * h, a[k + 1] - a[k]])
    powers = np.array(
        [[h**3, h**4, h**5], [3 * h**2, 4 * h**3, 5 * h**4], [6 * h, 12 * h**2, 20 * h**3]]
    )
    c = np.linalg.solve(powers, rest)
    return p[k] + v[k] * t + 0.5 * a[k] * t**2 + c[0] * t**3 + c[1] * t**4 + c[2] * t**5

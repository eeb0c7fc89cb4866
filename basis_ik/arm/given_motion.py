# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions that are given whole, by a client or a planner: their check, and how an arm keeps to one.

Between two samples the joints are on the quintic that fits both, as in `Motion.at`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.arm import joints_kernel as kernels
from basis_ik.arm.joints_kernel import ACCELERATION, JERK, LOWER_BOUND, UPPER_BOUND
from basis_ik.arm.limiter import WIDEST_SPACING, Motion, plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.safety_kernel import LIMIT_ROUNDING
from basis_ik.verdict import Reason, Verdict


class GivenTuning(NamedTuple):
    """Tuning of motions that are given: of their check, and of the way along them."""

    check_interval: float = 1e-4  # [s], between instants that are compared with the limits
    stop_interval: float = 5e-3  # [s], between instants at which it must be possible to stop
    most_instants: int = 50_000  # that are compared together: their arrays stay small
    longest: float = 600.0  # [s]
    largest_excess: float = 1.01  # factor on a limit up to which a motion is made slower by it
    rest_speed: float = 1e-3  # [rad/s or m/s]: a slower joint rests at the begin and the end
    same: float = 1e-9  # [rad or m]: places that do not differ by more are the same
    way_tolerance: float = 1e-6  # [rad or m]: joints in motion farther from the way are not on it
    # [rad or m], farthest way at rest to the motion's begin, or back to where it was left.
    largest_lead: float = 0.1
    pace_share: float = 0.5  # of the joints' limits, that a change of the pace may need
    # A joint that brakes is about to rest if its speed is below this factor times the square of its
    # deceleration over its jerk.
    end_factor: float = 2.5
    jerk_share: float = 0.97  # of the limits: a period's mean jerk is less than its largest
    first_factor: float = 1.4  # times `pace_share` of the jerk, for the first period from rest
    shortest_interval: float = 1e-6  # [s], between two samples
    cap_interval: float = 5e-3  # [s], between samples whose links' speeds count
    # The arm is looked for near the most likely places, in passes that are ever narrower.
    most_places: int = 16
    passes: int = 6
    narrowing: float = 0.05  # factor on the width, from pass to pass


GIVEN_TUNING = GivenTuning()


PLACES_OF_A_PASS = np.linspace(-1.0, 1.0, 41)  # where a pass looks, in its width


class MotionRefusedError(BasisIkError):
    """A motion that the arm must not follow; the text has the joint, the time and the limit."""


class LeftWay(Reason):
    """Why an arm does not go on with a motion that was given: it rests too far from its way."""

    def __str__(self) -> str:
        return "the arm had to leave the way of its motion; send it again"


LEFT_WAY = LeftWay(Verdict.MOVE_BOUND)


def given_motion(
    times: FloatArray,
    positions: FloatArray,
    velocities: FloatArray,
    accelerations: FloatArray | None = None,
) -> Motion:
    """Return a motion from rest to rest through given samples.

    Without accelerations they are those of the cubics between the samples, at each the mean of both
    sides. Where it begins or ends with an acceleration, there are `WIDEST_SPACING` of rest before
    or after.

    Args:
        times: Since the start [s], (k,).
        positions: (k, n) [rad or m].
        velocities: (k, n) [rad/s or m/s].
        accelerations: (k, n) [rad/s² or m/s²]; None: not given.

    Raises:
        MotionRefusedError: A number is not finite, the times do not increase, or the joints do not
            rest at the begin and at the end.
    """
    for name, given in (
        ("time_from_start", times), ("positions", positions), ("velocities", velocities),
        ("accelerations", accelerations),
    ):  # fmt: skip
        if given is not None and not np.isfinite(given).all():
            k = int(np.argwhere(~np.isfinite(given))[0][0])
            raise MotionRefusedError(f"{name} of points[{k}] is not finite")
    if times[0] < 0.0 or not (np.diff(times) > 0.0).all():
        k = 0 if times[0] < 0.0 else 1 + int(np.argmax(np.diff(times) <= 0.0))
        raise MotionRefusedError(f"time_from_start of points[{k}] is not after the one before")
    if times[-1] > GIVEN_TUNING.longest:
        raise MotionRefusedError(
            f"it takes {times[-1]:.4g} s, more than {GIVEN_TUNING.longest:g} s"
        )
    for k, where in ((0, "begins"), (-1, "ends")):
        fastest = float(np.abs(velocities[k]).max())
        if fastest > GIVEN_TUNING.rest_speed:
            raise MotionRefusedError(f"it {where} in motion, at {fastest:.3g} rad/s or m/s")
    velocities = velocities.copy()
    velocities[[0, -1]] = 0.0
    if accelerations is None:
        accelerations = _of_cubics(times, positions, velocities)
    motion = Motion(times - times[0], positions, velocities, accelerations)
    return _from_rest_to_rest(motion)


def _of_cubics(times: FloatArray, positions: FloatArray, velocities: FloatArray) -> FloatArray:
    """Return the accelerations (k, n) at the samples of cubics, the mean where two of them meet."""
    found = np.zeros_like(positions)
    if len(times) > 1:
        width = np.diff(times)[:, np.newaxis]
        way = np.diff(positions, axis=0) / width
        begin = (6.0 * way - 4.0 * velocities[:-1] - 2.0 * velocities[1:]) / width
        end = (-6.0 * way + 2.0 * velocities[:-1] + 4.0 * velocities[1:]) / width
        found[0], found[-1] = begin[0], end[-1]
        found[1:-1] = 0.5 * (begin[1:] + end[:-1])
    return found


def _from_rest_to_rest(motion: Motion) -> Motion:
    """Return a motion with rest before and after it, where its acceleration begins or ends."""
    times, *states = motion
    for k in (0, -1):
        if states[2][k].any():
            at = 0 if k == 0 else len(times)
            times = np.insert(times, at, times[k] + (WIDEST_SPACING if k else -WIDEST_SPACING))
            rest = [states[0][k], *np.zeros((2, len(states[0][k])))]
            states = [np.insert(e, at, r, axis=0) for e, r in zip(states, rest, strict=True)]
    return Motion(times - times[0], *states)


def keep_limits(motion: Motion, limits: MotionLimits, names: Sequence[str]) -> Motion:
    """Return a motion that keeps all limits; it is slower by what it is beyond them by rounding.

    Positions, speeds and accelerations are compared every `check_interval` and at the samples.
    Wherever the arm is on its way, it must be able to stop before its position limits.

    Args:
        motion: The motion.
        limits: Limits of the n joints.
        names: Their names.

    Raises:
        MotionRefusedError: It exceeds a limit by more than rounding.
    """
    bounds = limits.scaled(1.0, 1.0, 1.0)
    # A joint that begins outside its limits does not go farther out.
    bounds[LOWER_BOUND] = lower = np.minimum(limits.lower, motion.positions[0]) - LIMIT_ROUNDING
    bounds[UPPER_BOUND] = upper = np.maximum(limits.upper, motion.positions[0]) + LIMIT_ROUNDING
    count = max(math.ceil(motion.times[-1] / GIVEN_TUNING.check_interval), 1)
    every = np.union1d(np.linspace(0.0, motion.times[-1], count + 1), motion.times)
    excess = 1.0
    for part in np.array_split(every, len(every) // GIVEN_TUNING.most_instants + 1):
        q, v, a = at_times(motion, part)
        beyond = np.maximum(lower - q, q - upper)
        if not (beyond <= 0.0).all():
            i, k = map(int, np.unravel_index(int(beyond.argmax()), beyond.shape))
            raise MotionRefusedError(
                f"{names[k]} would be at {q[i, k]:.4g} at {part[i]:.3f} s, and its limits are "
                f"[{limits.lower[k]:.4g}, {limits.upper[k]:.4g}]"
            )
        for what, values, most, order in (
            ("speed", v, limits.velocity, 1.0), ("acceleration", a, limits.acceleration, 2.0),
        ):  # fmt: skip
            ratio = np.abs(values) / most
            i, k = map(int, np.unravel_index(int(ratio.argmax()), ratio.shape))
            excess = max(excess, float(ratio[i, k]) ** (1.0 / order))
            if not excess <= GIVEN_TUNING.largest_excess:
                raise MotionRefusedError(
                    f"{names[k]} would have {values[i, k]:.4g} of {what} at {part[i]:.3f} s, and "
                    f"its limit is {most[k]:.4g}"
                )
    if excess > 1.0:
        motion = paced(motion, 1.0 / (excess * (1.0 + 1e-9)))
    _check_stops(motion, bounds, names)
    return motion


def _check_stops(motion: Motion, bounds: FloatArray, names: Sequence[str]) -> None:
    count = max(math.ceil(motion.times[-1] / GIVEN_TUNING.stop_interval), 1)
    every = np.linspace(0.0, motion.times[-1], count + 1)[1:]
    memory = np.zeros((len(names), kernels.JOINT_COLUMNS))
    for time, state in zip(every, at_times(motion, every).transpose(1, 2, 0), strict=True):
        memory[:, :3] = state
        moves = memory[:, kernels.JOINT_SPEED : kernels.JOINT_RATE + 1].any(axis=1)
        if not moves.any() or kernels.can_stop(memory, bounds):
            continue
        for k in np.flatnonzero(moves).tolist():
            row = memory[k : k + 1]
            if not kernels.can_stop(row.copy(), np.ascontiguousarray(bounds[:, k : k + 1])):
                raise MotionRefusedError(
                    f"{names[k]} could not be stopped before its limits "
                    f"[{bounds[0, k]:.4g}, {bounds[1, k]:.4g}] at {time:.3f} s"
                )


def at_times(motion: Motion, times: FloatArray) -> FloatArray:
    """Return positions, velocities and accelerations at times (t,) of a motion, (3, t, n)."""
    last = len(motion.times) - 1
    if last == 0:
        still = np.zeros((3, len(times), motion.positions.shape[1]))
        still[0] = motion.positions[0]
        return still
    k = np.clip(np.searchsorted(motion.times, times, side="right") - 1, 0, last - 1)
    width = (motion.times[k + 1] - motion.times[k])[:, np.newaxis]
    s = (times - motion.times[k])[:, np.newaxis] / width
    p, q = motion.positions[k], motion.positions[k + 1]
    v, w = motion.velocities[k] * width, motion.velocities[k + 1] * width
    a, b = motion.accelerations[k] * width**2, motion.accelerations[k + 1] * width**2
    way = q - p
    c3 = 10.0 * way - 6.0 * v - 4.0 * w - 1.5 * a + 0.5 * b
    c4 = -15.0 * way + 8.0 * v + 7.0 * w + 1.5 * a - b
    c5 = 6.0 * way - 3.0 * (v + w) - 0.5 * (a - b)
    found: FloatArray = np.array(
        [
            p + s * (v + s * (0.5 * a + s * (c3 + s * (c4 + s * c5)))),
            (v + s * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / width,
            (a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / width**2,
        ]
    )
    over = times >= motion.times[-1]
    found[0, over], found[1:, over] = motion.positions[-1], 0.0  # to the bit
    return found


def paced(motion: Motion, pace: float, since: float = 0.0) -> Motion:
    """Return what is left of a motion since a time [s], at a pace in (0, 1]."""
    first = int(
        np.searchsorted(motion.times, since + pace * GIVEN_TUNING.shortest_interval, side="right")
    )
    begin = at_times(motion, np.array([since]))
    states = [np.concatenate([b, e[first:]]) for b, e in zip(begin, motion[1:], strict=True)]
    times = np.append(0.0, (motion.times[first:] - since) / pace)
    return Motion(times, states[0], states[1] * pace, states[2] * pace**2)


def _joined(one: Motion, other: Motion) -> Motion:
    """Return a motion followed by another one that begins in its last state."""
    times = np.append(one.times, one.times[-1] + other.times[1:])
    states = zip(one[1:], other[1:], strict=True)
    return Motion(times, *(np.concatenate([a, b[1:]]) for a, b in states))


class _Place(NamedTuple):
    """Where the arm is on its motion."""

    time: float
    """Time of the motion [s]."""
    rate: float
    """Time of the motion per second."""
    gain: float
    """Change of the rate [1/s]."""


BEGIN_OF_WAY = _Place(0.0, 0.0, 0.0)


class Along:
    """Leads the joints along a motion, at a pace from 0 to 1 that may change.

    The motion keeps all limits at its own pace. A change of the pace takes `pace_share` of the
    limits of acceleration and jerk at most, and less where the motion itself needs them: a slow
    motion comes to rest soon. The joints stay on the motion's way. Where the arm rests beside it,
    it first moves to it.

    Args:
        motion: The motion, from rest to rest, within the limits.
        limits: Limits of the n joints.
        capped: Returns the pace at which a motion keeps the caps on the speeds of links, in (0, 1];
            as `Limiter.capped_pace`.

    Attributes:
        lost: Whether the joints move beside the way, or rest too far away from it.
        left: Whether they have been on it, and rest too far away from it.
    """

    def __init__(
        self,
        motion: Motion,
        limits: MotionLimits,
        capped: Callable[[FloatArray, FloatArray], float],
    ) -> None:
        self._motion, self._bounds = motion, limits.scaled(1.0, 1.0, 1.0)
        self._capped = capped
        self._share: float | None = None
        # The largest of the motion's velocities and accelerations: those that the pace multiplies.
        speeds, growths = (
            np.maximum(np.abs(each).max(axis=0), GIVEN_TUNING.rest_speed) for each in motion[2:4]
        )
        self._gain = GIVEN_TUNING.pace_share * float((limits.acceleration / speeds).min())
        self._rise = GIVEN_TUNING.pace_share * float((limits.jerk / speeds).min())
        self._ease = GIVEN_TUNING.pace_share / 3.0 * float((limits.jerk / growths).min())
        self._outset = GIVEN_TUNING.pace_share * float((limits.jerk / limits.velocity).min())
        self._lead: Motion | None = None  # to the place, from where the arm rests
        self._led = 0.0  # time on it [s]
        self._place = BEGIN_OF_WAY
        self._begun = False  # whether the arm may have left the motion's begin
        self.lost = self.left = False

    @property
    def leads(self) -> bool:
        """Whether the joints are on their way to the motion, from where the arm rested."""
        return self._lead is not None

    def renew_caps(self) -> None:
        """Find the pace by the caps anew."""
        self._share = None

    def _pace(self, override: float) -> float:
        if self._share is None:
            self._share = self._keeping_caps(self._motion)
        return override * self._share

    def _keeping_caps(self, motion: Motion) -> float:
        """Return the pace at which a motion keeps the caps."""
        count = min(max(math.ceil(motion.times[-1] / GIVEN_TUNING.cap_interval), 100), 4000) + 1
        times = np.linspace(0.0, motion.times[-1], count)
        return self._capped(times, np.ascontiguousarray(at_times(motion, times)[0]))

    def begin(self, positions: FloatArray) -> None:
        """Begin at rest at positions (n,), or go on from there."""
        self._lead = None  # it would be in motion there
        states = np.zeros((len(positions), 3))
        states[:, 0] = positions
        self.go_on(states)

    def go_on(self, states: FloatArray) -> None:
        """Go on from positions, velocities and accelerations (n, 3)."""
        if self._finds_lead(states):
            return
        self._place = self._found(states)
        self._lead, self._led = None, 0.0
        way = at_times(self._motion, np.array([self._place.time]))[0, 0]
        off = float(np.abs(way - states[:, 0]).max())
        moves = bool(states[:, 1:].any())
        self.lost = not off <= (GIVEN_TUNING.way_tolerance if moves else GIVEN_TUNING.largest_lead)
        self.left = self.lost and self._begun and not moves
        if off > GIVEN_TUNING.same and not (self.lost or moves):
            lead = plan_motion(
                self._bounds, np.ascontiguousarray(states[:, 0]), way, WIDEST_SPACING
            )
            self._lead = paced(lead, self._keeping_caps(lead))

    def _finds_lead(self, states: FloatArray) -> bool:
        """Find the joints on their way to the motion; return whether they are there."""
        lead = self._lead
        if lead is None:
            return False
        led = lead.time_of(np.ascontiguousarray(states[:, 0]))
        if (
            led >= lead.times[-1]
            or (np.abs(lead.at(led)[:, 0] - states[:, 0]) > GIVEN_TUNING.way_tolerance).any()
        ):
            return False
        self._led = led
        return True

    def _found(self, states: FloatArray) -> _Place:
        """Return the place nearest to states (n, 3).

        A way may come to the same positions again: the velocities count, too, and of places that
        are as near the one closest in time.
        """
        if not self._begun:
            return BEGIN_OF_WAY
        total = float(self._motion.times[-1])
        times = np.linspace(0.0, total, 2 + math.ceil(total / WIDEST_SPACING))
        off = self._off(states, times)
        beside = np.pad(off, 1, constant_values=np.inf)
        least = np.flatnonzero((off <= beside[:-2]) & (off <= beside[2:]))
        likely = times[
            least[np.argsort(off[least], kind="stable")[: GIVEN_TUNING.most_places]]
        ].tolist()
        found = [self._nearest(states, time) for time in likely]
        closest = min(each for each, _ in found) + GIVEN_TUNING.way_tolerance
        near = [time for each, time in found if each <= closest]
        time = min(near, key=lambda each: abs(each - self._place.time))
        return _Place(time, float(self._rates(states, np.array([time]))[0]), 0.0)

    def _nearest(self, states: FloatArray, time: float) -> tuple[float, float]:
        """Return how far the motion is from states near a time, and when."""
        width = WIDEST_SPACING
        for _ in range(GIVEN_TUNING.passes):
            times = self._within(time + width * PLACES_OF_A_PASS)
            off = self._off(states, times)
            k = int(np.argmin(off))
            time, width = float(times[k]), width * GIVEN_TUNING.narrowing
        return float(off[k]), time

    def _rates(self, states: FloatArray, times: FloatArray) -> FloatArray:
        """Return the rates (t,) at which the motion is nearest to the velocities of states."""
        slopes = at_times(self._motion, times)[1]
        steep = np.maximum((slopes * slopes).sum(axis=1), GIVEN_TUNING.rest_speed**2)
        rates: FloatArray = np.clip(slopes @ states[:, 1] / steep, 0.0, 1.0)
        return rates

    def _off(self, states: FloatArray, times: FloatArray) -> FloatArray:
        """Return how far the motion is from states (n, 3) at some times (t,)."""
        q, v, _ = at_times(self._motion, times)
        rates = self._rates(states, times)[:, np.newaxis]
        away = np.abs(v * rates - states[:, 1]).max(axis=1)
        off: FloatArray = np.abs(q - states[:, 0]).max(axis=1) + WIDEST_SPACING * away
        return off

    def _within(self, times: Sequence[float] | FloatArray) -> FloatArray:
        return np.clip(times, 0.0, self._motion.times[-1])

    def step(self, period: float, override: float) -> FloatArray:
        """Return positions, velocities and accelerations a period later, (n, 3).

        Args:
            period: [s].
            override: The wanted pace, in [0, 1], of the fastest that the caps allow.
        """
        pace, lead = self._pace(override), self._lead
        if lead is not None:
            led = self._led + (period if pace > 0.0 else 0.0)
            if led < lead.times[-1]:
                self._led = led
                return lead.at(led)
            period = led - float(lead.times[-1])
            self._lead = None
        before = self._place
        self._begun = True
        if before.time == 0.0:  # at rest any pace is as good
            self._place = _Place(pace * period, pace, 0.0)
        else:
            rate, gain = self._next_rate(period, pace)
            # The gain changes linearly, as the quintics between the states do.
            time = before.time + 0.5 * (before.rate + rate) * period
            time += (before.gain - gain) * period**2 / 12.0
            self._place = _Place(time, rate, gain)
        if self._place.time >= self._motion.times[-1]:
            self._place = _Place(float(self._motion.times[-1]), 0.0, 0.0)
        return self._states()

    def _next_rate(self, period: float, pace: float) -> tuple[float, float]:
        """Return the rate a period later, and its change then [1/s]."""
        time, rate, gain = self._place
        level = rate + 0.5 * gain * period  # the rate then, if its change ends meanwhile
        then = time + 0.5 * (rate + level) * period
        _, v, a = at_times(self._motion, self._within([time, then]))
        low, high = self._room(v, a, period)
        missing = pace - level
        half = 0.5 * self._rise * period  # of what the change of the rate may grow by meanwhile
        wanted = math.sqrt(half**2 + 2.0 * self._rise * abs(missing)) - half
        wanted = min(self._gain, wanted, abs(missing) / period)  # the last two periods end there
        ends = (v * a < 0.0) & (np.abs(v) * self._bounds[JERK] < GIVEN_TUNING.end_factor * a**2)
        if missing > 0.0 or ends.any():  # near its own pace the motion leaves no jerk for more
            wanted = min(wanted, self._ease * (1.0 - rate**3))
        if rate == gain == 0.0:  # not at once too near to what may be in the way
            wanted = min(wanted, GIVEN_TUNING.first_factor * self._outset * period)
        wanted = math.copysign(wanted, missing)
        wanted = min(max(wanted, low), high) if low <= high else 0.5 * (low + high)
        # Where the joints hardly move, those that turn round ask for any change, in vain.
        wanted = min(max(wanted, -self._gain), self._gain)
        if abs(missing) <= GIVEN_TUNING.way_tolerance and low <= 0.0 <= high:
            return pace, 0.0
        return min(max(level + 0.5 * wanted * period, 0.0), 1.0), wanted

    def _room(self, v: FloatArray, a: FloatArray, period: float) -> tuple[float, float]:
        """Return the least and the largest change of the rate a period later [1/s].

        They keep the limits of acceleration and jerk, and more of them where the motion itself
        needs more.

        Args:
            v: Velocities of the motion now and then (2, n).
            a: Its accelerations now and then (2, n).
            period: [s].
        """
        _, rate, gain = self._place
        level = rate + 0.5 * gain * period
        here, own = a[0] * rate**2 + v[0] * gain, a[1] * level**2
        step = np.maximum(
            GIVEN_TUNING.jerk_share * self._bounds[JERK] * period, np.abs(own - a[0] * rate**2)
        )
        most = np.maximum(self._bounds[ACCELERATION], np.abs(own))
        ends = np.stack([np.maximum(-most, here - step), np.minimum(most, here + step)]) - own
        slope = v[1] + level * period * a[1]
        ends = np.sort(
            ends / np.where(np.abs(slope) > GIVEN_TUNING.same, slope, GIVEN_TUNING.same), axis=0
        )
        return float(ends[0].max()), float(ends[1].min())

    def _states(self) -> FloatArray:
        """Return positions, velocities and accelerations at the place, (n, 3)."""
        time, rate, gain = self._place
        q, v, a = at_times(self._motion, np.array([time]))[:, 0]
        return np.column_stack([q, v * rate, a * rate**2 + v * gain])

    def rest(self, override: float) -> Motion | None:
        """Return what is left, from the last step on; None while the pace changes."""
        (time, rate, gain), pace = self._place, self._pace(override)
        if time >= self._motion.times[-1]:
            return paced(self._motion, 1.0, time)
        if pace <= 0.0 or (time > 0.0 and (rate != pace or gain != 0.0 or self._lead is not None)):
            return None
        left = paced(self._motion, pace, time)
        return left if self._lead is None else _joined(paced(self._lead, 1.0, self._led), left)

    def whole(self, states: FloatArray, override: float, spacing: float) -> Motion:
        """Return the motion from states (n, 3) to its end; with an override of 0 until it rests.

        Args:
            states: Where it begins.
            override: As for `step`.
            spacing: Least time between two samples [s]; 0: any.
        """
        self.go_on(states)
        self._begun = True
        times, way = [0.0], [states]
        while (left := self.rest(override)) is None and (override > 0.0 or self._place.rate > 0.0):
            way.append(self.step(WIDEST_SPACING, override))
            times.append(times[-1] + WIDEST_SPACING)
        motion = Motion(np.array(times), *np.ascontiguousarray(np.stack(way).transpose(2, 0, 1)))
        if left is not None:
            motion = _joined(motion, left)
        if spacing > 0.0:
            every = np.linspace(0.0, motion.times[-1], max(int(motion.times[-1] / spacing), 1) + 1)
            motion = Motion(every, *at_times(motion, every))
        return motion

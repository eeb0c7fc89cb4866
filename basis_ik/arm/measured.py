# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The measured joint positions of a chain, gathered from joint states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.admission import Refusal, Refused, StampRules, admit_stamp, printable
from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE


class MeasuredTuning(NamedTuple):
    """What measured positions are accepted."""

    speed_factor: float = 2.0  # on a joint's velocity limit, because stamps jitter
    jump_margin: float = 0.05  # [rad or m], allowance for encoder noise and late stamps
    jump_time: float = 0.5  # [s], for which a new position must last to be accepted
    conflict_time: float = 2.0  # [s], after jumps to and fro: their first source may only pause
    offset_tolerance: float = 0.1  # of the timeout: a wrong clock's offset varies by less


MEASURED_TUNING = MeasuredTuning()


class StateStamp(NamedTuple):
    """The stamp in a joint state's header, and its reference."""

    sec: int
    nanosec: int
    clock: int
    """The node's clock on arrival [ns]."""
    timeout: int
    """Largest difference between this clock and the stamp [ns]."""


class _Reading(NamedTuple):
    """A position of a joint [rad or m], its arrival [s] and its stamp [ns], 0 if unknown."""

    position: float
    arrival: float
    stamp: int


class _Candidate(NamedTuple):
    """A position that a joint has jumped to, and the time since which it is reported [s]."""

    since: float
    last: _Reading


class _Offset(NamedTuple):
    """Offset of the stamps from the node's clock [ns], and the time since which it lasts [s]."""

    nanoseconds: int
    since: float


class MeasuredState:
    """Newest position of each joint of a chain, and its time of arrival.

    Joint states may be reordered, partial, or contain other robots' joints. Ages are measured per
    joint on the control loop's clock.

    A jump of a joint is not accepted, and no motion may begin, until no state has jumped for half a
    second. After jumps to and fro it takes two seconds, because two publishers may contradict each
    other forever. A jump is accepted if it lasts that long without a state from the old position:
    an encoder may have a new reference. It is also accepted if the joint can have moved that far
    meanwhile.

    Args:
        joint_names: The chain's joints.
        velocity: Their velocity limits (n,) [rad/s or m/s]; None: jumps are not detected.
        continuous: Continuous joints (n,) bool, whose driver may reset its count of turns; None:
            none.

    Attributes:
        refused: Why joint states are currently refused or not accepted, or None.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        velocity: NDArray[np.float64] | None = None,
        continuous: NDArray[np.bool_] | None = None,
    ) -> None:
        self._joint_names = tuple(joint_names)
        count = len(self._joint_names)
        self._velocity = [math.inf] * count if velocity is None else velocity.tolist()
        self._continuous = [False] * count if continuous is None else continuous.tolist()
        self._names_seen: list[str] = []
        self._places: list[tuple[int, int]] = []
        self.reset()

    def reset(self) -> None:
        """Discard all positions, stamps and ages, after a jump of the clock."""
        count = len(self._joint_names)
        self._positions = [math.nan] * count
        self._arrivals = [-math.inf] * count
        self._stamps = [0] * count
        self._candidates: list[_Candidate | None] = [None] * count
        self._doubtful: tuple[str, ...] = ()
        self._doubted = self._doubted_since = -math.inf
        self._returns = 0  # of joints that had jumped, since states were last consistent
        self._offset: _Offset | None = None
        self._excused_for, self._excused_until = -math.inf, -math.inf
        self.refused: Refused | None = None

    def update(
        self,
        names: list[str],
        positions: Sequence[float],
        now: float,
        stamp: StateStamp | None = None,
    ) -> Refused | None:
        """Process a joint state.

        Args:
            names: Joint names.
            positions: Their positions [rad or m]; a state without positions is ignored.
            now: Time of arrival on the control loop's clock [s].
            stamp: The header's stamp; None or zero: unknown, and the time of arrival is used.

        Returns:
            Why the whole state was refused, or None.
        """
        if len(positions) == 0:
            return None
        refused = self._admit_values(names, positions)
        if refused is None and self._places:
            refused = self._admit_reading(positions, now, stamp)
        if refused is not None or (self._places and not self._in_doubt(now)):
            self.refused = refused
        return refused

    def _admit_values(self, names: list[str], positions: Sequence[float]) -> Refused | None:
        """Refuse a malformed state; otherwise store the indices of the chain's joints in it."""
        if len(names) != len(positions):
            return Refused(Refusal.SIZE_MISMATCH, f"{len(names)} names, {len(positions)} positions")
        if names != self._names_seen:
            counts = Counter(n for n in names if n in self._joint_names)
            twice = [name for name, count in counts.items() if count > 1]
            if twice:
                return Refused(Refusal.DUPLICATE_JOINT, printable(", ".join(sorted(twice))))
            places = {n: i for i, n in enumerate(names)}
            self._places = [(k, places[n]) for k, n in enumerate(self._joint_names) if n in places]
            self._names_seen = list(names)
        for k, i in self._places:
            if not abs(positions[i]) <= LARGEST_ANGLE:  # beyond the solvers' range
                finite = math.isfinite(positions[i])
                reason = Refusal.OUT_OF_RANGE if finite else Refusal.NON_FINITE
                return Refused(reason, f"joint {self._joint_names[k]}: {positions[i]}")
        return None

    def _admit_reading(
        self, positions: Sequence[float], now: float, stamp: StateStamp | None
    ) -> Refused | None:
        """Store the positions of the chain's joints, unless a stamp or a position is refused."""
        stamped = 0 if stamp is None else self._admit_stamp(stamp, now)
        # Without a valid stamp, the time of arrival bounds a joint's distance.
        counted = 0 if isinstance(stamped, Refused) else stamped
        jumped = [
            (k, after)
            for k, i in self._places
            # The usual case, which must be cheap.
            if abs(positions[i] - self._positions[k]) > MEASURED_TUNING.jump_margin
            and self._jumps(k, self._last(k), after := _Reading(positions[i], now, counted))
        ]
        if jumped:
            if not self._in_doubt(now):
                self._doubted_since, self._returns = now, 0
            self._doubtful = tuple(self._joint_names[k] for k, _ in jumped)
            self._doubted = now
        if isinstance(stamped, Refused):
            return stamped
        lasting = [self._lasts(k, each) for k, each in jumped]
        if not all(lasting):
            return self._jump(*jumped[0])
        newest = max([self._stamps[k] for k, _ in self._places])
        if 0 < stamped < newest:
            return Refused(Refusal.OUT_OF_ORDER, f"{(newest - stamped) * 1e-9:.3f} s older")
        returned = arrived = False
        for k, i in self._places:
            if not 0 < stamped == self._stamps[k]:  # a repeated state is as old as the first
                self._arrivals[k] = now
            self._positions[k], self._stamps[k] = positions[i], stamped
            candidate, self._candidates[k] = self._candidates[k], None
            if candidate is not None:
                back = self._jumps(k, candidate.last, self._last(k))
                returned, arrived = returned or back, arrived or not back
        if returned:
            self._returns += 1
        elif jumped or (arrived and self._jump_time == MEASURED_TUNING.jump_time):
            # The message was only late.
            self._doubted = -math.inf
        return None

    def _last(self, k: int) -> _Reading:
        """Return the last accepted reading of a joint."""
        return _Reading(self._positions[k], self._arrivals[k], self._stamps[k])

    def _admit_stamp(self, stamp: StateStamp, now: float) -> int | Refused:
        """Return a stamp [ns], or why it is refused, apart from its order."""
        offset = stamp.sec * 1_000_000_000 + stamp.nanosec - stamp.clock
        valid = stamp.sec >= 0 and 0 <= stamp.nanosec < 1_000_000_000
        if valid and abs(offset) <= stamp.timeout:  # what follows costs more
            self._offset = None
            return offset + stamp.clock
        rules = StampRules(max_age=stamp.timeout, max_future=stamp.timeout)
        admitted = admit_stamp(stamp.sec, stamp.nanosec, now=stamp.clock, newest=0, rules=rules)
        if not isinstance(admitted, Refused) or admitted.reason is Refusal.BAD_STAMP:
            self._offset = None
            return admitted
        before = self._offset
        if (
            before is None
            or abs(offset - before.nanoseconds) > MEASURED_TUNING.offset_tolerance * stamp.timeout
        ):
            before = self._offset = _Offset(offset, now)
        if now - before.since < MEASURED_TUNING.jump_time:
            return admitted
        # The offset is steady while time passes, so these are not old states sent repeatedly.
        detail = f"{admitted.detail}, steadily: the publisher's clock is off, or use_sim_time is"
        return Refused(admitted.reason, detail)

    def _jumps(self, k: int, before: _Reading, after: _Reading) -> bool:
        """Return whether a joint cannot have moved between two readings."""
        return self._way(k, before, after) > (
            MEASURED_TUNING.speed_factor * self._velocity[k] * _elapsed(before, after)
            + MEASURED_TUNING.jump_margin
        )

    def _way(self, k: int, before: _Reading, after: _Reading) -> float:
        """Return the distance between two readings of a joint [rad or m]."""
        way = after.position - before.position
        return abs(math.remainder(way, 2.0 * math.pi) if self._continuous[k] else way)

    def _lasts(self, k: int, reading: _Reading) -> bool:
        """Return whether a joint has been at its new position long enough to accept it."""
        candidate = self._candidates[k]
        new = candidate is None or self._jumps(k, candidate.last, reading)
        since = reading.arrival if candidate is None or new else candidate.since
        self._candidates[k] = _Candidate(since, reading)
        return reading.arrival - since >= self._jump_time

    @property
    def _jump_time(self) -> float:
        """Time that a new position must last [s]."""
        return MEASURED_TUNING.jump_time if self._returns < 2 else MEASURED_TUNING.conflict_time

    def _in_doubt(self, now: float) -> bool:
        return now - self._doubted < self._jump_time

    def _jump(self, k: int, reading: _Reading) -> Refused:
        """Return a refusal with the distance of a joint's jump."""
        before = self._last(k)
        way, time = self._way(k, before, reading), _elapsed(before, reading)
        return Refused(Refusal.JUMP, f"{self._joint_names[k]}: by {way:.3f} in {time:.3f} s")

    def positions(self) -> NDArray[np.float64]:
        """Return a copy of the measured positions (n,) [rad or m]; NaN for joints never seen."""
        return np.array(self._positions)

    def age(self, now: float, clock: int = 0) -> float:
        """Return the age of the oldest joint position [s]; inf if a joint was never seen.

        A position that came late is older than its arrival tells.

        Args:
            now: The control loop's clock [s].
            clock: The clock of the stamps [ns]; 0: the arrivals count alone.
        """
        oldest = min(self._stamps)  # accepted, so close to that clock; 0 if unknown
        stamped = 1e-9 * (clock - oldest) if clock and oldest else 0.0
        return max(now - min(self._arrivals), stamped)

    @property
    def doubted(self) -> bool:
        """Whether newer positions than these were refused, because a joint has jumped."""
        return any(each is not None for each in self._candidates)

    def excuse(self, until: float) -> None:
        """Do not count the time until `until` as silence: this program was late itself.

        What came meanwhile may not have been handled yet. This is granted once, until there is a
        newer position of each joint: a busy machine must not hide that a driver is silent.

        Args:
            until: The time [s].
        """
        oldest = min(self._arrivals)
        if oldest > self._excused_for:
            self._excused_for, self._excused_until = oldest, until

    def silent(self, now: float, limit: float, *, moving: bool = False) -> tuple[str, ...]:
        """Return the joints whose positions are not known.

        Args:
            now: The control loop's clock [s].
            limit: Largest age of a position [s].
            moving: Whether the arm moves. A moving arm does not brake for a single wrong state:
                jumps are also tolerated for this long.

        Returns:
            The joints whose positions are too old; if there are none, those that jump.
        """
        if now - min(self._arrivals, default=now) <= limit or now < self._excused_until:
            tolerable = moving and now - self._doubted_since <= limit
            return self._doubtful if self._in_doubt(now) and not tolerable else ()
        return tuple(
            name
            for name, arrival in zip(self._joint_names, self._arrivals, strict=True)
            if not now - arrival <= limit
        )


def _elapsed(one: _Reading, other: _Reading) -> float:
    """Return the time between two readings [s]; by their stamps, if both have one."""
    if one.stamp and other.stamp:
        return 1e-9 * abs(other.stamp - one.stamp)
    return abs(other.arrival - one.arrival)

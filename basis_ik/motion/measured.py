"""The measured joint positions of a chain, gathered from joint states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.pose_solve import LARGEST_ANGLE
from basis_ik.motion.admission import Refusal, Refused, StampRules, admit_stamp, printable

# How much faster than its limit a joint may be measured: stamps jitter, and others push.
FASTEST = 2.0
JUMP_MARGIN = 0.05  # rad or m; encoder noise, and positions that are stamped late
SETTLING = 0.5  # s; a new place is believed when it has lasted so long
CONTRADICTION = 2.0  # s; the same after a joint has jumped to and fro: its driver may just pause
STEADY = 0.1  # of the timeout; a clock that is off keeps its distance so closely


class StateStamp(NamedTuple):
    """The stamp in a joint state's header, and what it is compared with."""

    sec: int
    nanosec: int
    clock: int
    """The node's clock on arrival [ns]."""
    timeout: int
    """How far from that clock the stamp may lie [ns]."""


class _Reading(NamedTuple):
    """A position of a joint [rad or m], its arrival [s] and its stamp [ns], 0 if unknown."""

    position: float
    arrival: float
    stamp: int


class _Rival(NamedTuple):
    """A place that a joint has jumped to, and since when [s] it is said to be there."""

    since: float
    last: _Reading


class _Offset(NamedTuple):
    """How far stamps were from the node's clock [ns], and since when [s]."""

    nanoseconds: int
    since: float


class MeasuredState:
    """Newest position of each joint of a chain, and when it came.

    Joint states may be reordered, hold other robots' joints, or come in parts. Ages are counted per
    joint on the clock of the control loop.

    A joint that jumps is not believed, and no motion may begin, until no state has jumped for half
    a second, or for two after joints have jumped to and fro: two publishers may contradict each
    other for ever. A jump that lasts so long without a state from the old place is believed then,
    for an encoder may have a new reference; so is one whose way the joint can have made meanwhile.

    Args:
        joint_names: The chain's joints.
        velocity: Their velocity limits (n,) [rad/s or m/s]; None: jumps are not looked for.
        continuous: Which joints turn without end (n,) bool, so that their driver may count turns
            anew; None: no joint does.

    Attributes:
        refused: Why joint states are refused or not believed at present, or None.
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
        """Forget all positions, stamps and ages: the clock has jumped."""
        count = len(self._joint_names)
        self._positions = [math.nan] * count
        self._arrivals = [-math.inf] * count
        self._stamps = [0] * count
        self._rivals: list[_Rival | None] = [None] * count
        self._doubtful: tuple[str, ...] = ()
        self._doubted = self._doubted_since = -math.inf
        self._returns = 0  # of joints that had jumped, in the present doubt
        self._offset: _Offset | None = None
        self.refused: Refused | None = None

    def update(
        self,
        names: list[str],
        positions: Sequence[float],
        now: float,
        stamp: StateStamp | None = None,
    ) -> Refused | None:
        """Take in a joint state.

        Args:
            names: Joint names.
            positions: Their positions [rad or m]; a state without positions is ignored.
            now: Time of arrival on the control loop's clock [s].
            stamp: The header's stamp; None or zero: unknown, and the arrival counts.

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
        """Refuse a state that is malformed; else learn where in it the chain's joints are."""
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
            if not abs(positions[i]) <= LARGEST_ANGLE:  # no solver could start from there
                finite = math.isfinite(positions[i])
                reason = Refusal.OUT_OF_RANGE if finite else Refusal.NON_FINITE
                return Refused(reason, f"joint {self._joint_names[k]}: {positions[i]}")
        return None

    def _admit_reading(
        self, positions: Sequence[float], now: float, stamp: StateStamp | None
    ) -> Refused | None:
        """Take in the chain's joints, unless their stamp or their way is wrong."""
        stamped = 0 if stamp is None else self._admit_stamp(stamp, now)
        # With a stamp that means nothing the arrival tells how long a joint had for its way.
        counted = 0 if isinstance(stamped, Refused) else stamped
        jumped = [
            (k, after)
            for k, i in self._places
            # Most states go no farther than this, and are to cost little.
            if abs(positions[i] - self._positions[k]) > JUMP_MARGIN
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
            self._positions[k], self._arrivals[k] = positions[i], now
            self._stamps[k] = stamped
            rival, self._rivals[k] = self._rivals[k], None
            if rival is not None:
                back = self._jumps(k, rival.last, self._last(k))
                returned, arrived = returned or back, arrived or not back
        if returned:
            self._returns += 1
        elif jumped or (arrived and self._settling == SETTLING):  # it was only late to be told
            self._doubted = -math.inf
        return None

    def _last(self, k: int) -> _Reading:
        """Return the last reading of a joint that was believed."""
        return _Reading(self._positions[k], self._arrivals[k], self._stamps[k])

    def _admit_stamp(self, stamp: StateStamp, now: float) -> int | Refused:
        """Return a stamp [ns], or why it is refused; whether it is in order is not asked here."""
        offset = stamp.sec * 1_000_000_000 + stamp.nanosec - stamp.clock
        sound = stamp.sec >= 0 and 0 <= stamp.nanosec < 1_000_000_000
        if sound and abs(offset) <= stamp.timeout:  # what follows costs more
            self._offset = None
            return offset + stamp.clock
        rules = StampRules(max_age=stamp.timeout, max_future=stamp.timeout)
        admitted = admit_stamp(stamp.sec, stamp.nanosec, now=stamp.clock, newest=0, rules=rules)
        if not isinstance(admitted, Refused) or admitted.reason is Refusal.BAD_STAMP:
            self._offset = None
            return admitted
        before = self._offset
        if before is None or abs(offset - before.nanoseconds) > STEADY * stamp.timeout:
            before = self._offset = _Offset(offset, now)
        if now - before.since < SETTLING:
            return admitted
        # It keeps its distance while time goes on: no old states are told again and again.
        detail = f"{admitted.detail}, steadily: the publisher's clock is off, or use_sim_time is"
        return Refused(admitted.reason, detail)

    def _jumps(self, k: int, before: _Reading, after: _Reading) -> bool:
        """Tell whether a joint cannot have come from one reading to another."""
        return self._way(k, before, after) > (
            FASTEST * self._velocity[k] * _elapsed(before, after) + JUMP_MARGIN
        )

    def _way(self, k: int, before: _Reading, after: _Reading) -> float:
        """Return how far apart two readings of a joint are [rad or m]."""
        way = after.position - before.position
        return abs(math.remainder(way, 2.0 * math.pi) if self._continuous[k] else way)

    def _lasts(self, k: int, reading: _Reading) -> bool:
        """Tell whether a joint has been at its new place for so long that it is believed."""
        rival = self._rivals[k]
        new = rival is None or self._jumps(k, rival.last, reading)
        since = reading.arrival if rival is None or new else rival.since
        self._rivals[k] = _Rival(since, reading)
        return reading.arrival - since >= self._settling

    @property
    def _settling(self) -> float:
        """How long a new place has to last [s]."""
        return SETTLING if self._returns < 2 else CONTRADICTION

    def _in_doubt(self, now: float) -> bool:
        return now - self._doubted < self._settling

    def _jump(self, k: int, reading: _Reading) -> Refused:
        """Say how far a joint has jumped."""
        before = self._last(k)
        way, time = self._way(k, before, reading), _elapsed(before, reading)
        return Refused(Refusal.JUMP, f"{self._joint_names[k]}: by {way:.3f} in {time:.3f} s")

    def positions(self) -> NDArray[np.float64]:
        """Return a copy of what was measured (n,) [rad or m]; NaN for joints never seen."""
        return np.array(self._positions)

    def age(self, now: float) -> float:
        """Return how long ago the longest-silent joint was heard [s], inf before the first time."""
        return now - min(self._arrivals)

    def silent(self, now: float, limit: float, *, moving: bool = False) -> tuple[str, ...]:
        """Return the joints whose positions are not known.

        Args:
            now: The control loop's clock [s].
            limit: For how long a joint may be unheard [s].
            moving: Whether the arm is in motion. It then need not brake for a single state that is
                wrong: those that jump, too, may do so for as long.

        Returns:
            The joints that have not been heard for so long, or else those that jump.
        """
        if now - min(self._arrivals, default=now) <= limit:
            bearable = moving and now - self._doubted_since <= limit
            return self._doubtful if self._in_doubt(now) and not bearable else ()
        return tuple(
            name
            for name, arrival in zip(self._joint_names, self._arrivals, strict=True)
            if not now - arrival <= limit
        )


def _elapsed(one: _Reading, other: _Reading) -> float:
    """Return the time between two readings [s], by their stamps if both have one."""
    if one.stamp and other.stamp:
        return 1e-9 * abs(other.stamp - one.stamp)
    return abs(other.arrival - one.arrival)

"""The measured joint positions of a chain, gathered from joint states."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.pose_solve import LARGEST_ANGLE
from basis_ik.motion.admission import Refusal, Refused, printable


class MeasuredState:
    """Newest position of each joint of a chain, and when it came.

    Joint states may be reordered, hold other robots' joints, or come in parts; ages are counted per
    joint on a steady clock, so that a step of the system's time does not touch them.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = tuple(joint_names)
        self._positions = np.full(len(self._joint_names), np.nan)
        self._arrivals = [-math.inf] * len(self._joint_names)
        self._names_seen: list[str] = []
        self._places: list[tuple[int, int]] = []

    def update(self, names: list[str], positions: Sequence[float], now: float) -> Refused | None:
        """Take in a joint state.

        Args:
            names: Joint names.
            positions: Their positions [rad or m]; a state without positions is ignored.
            now: Steady time of arrival [s].

        Returns:
            Why the whole state was refused, or None.
        """
        if len(positions) == 0:
            return None
        if len(names) != len(positions):
            return Refused(Refusal.SIZE_MISMATCH, f"{len(names)} names, {len(positions)} positions")
        if names != self._names_seen:
            twice = {n for n in names if n in self._joint_names and names.count(n) > 1}
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
        for k, i in self._places:
            self._positions[k] = positions[i]
            self._arrivals[k] = now
        return None

    def positions(self) -> NDArray[np.float64]:
        """Return a copy of the positions (n,), NaN for joints never seen."""
        return self._positions.copy()

    def age(self, now: float) -> float:
        """Return how long ago the longest-silent joint was heard [s], inf before the first time."""
        return now - min(self._arrivals)

    def silent(self, now: float, limit: float) -> tuple[str, ...]:
        """Return the joints not heard for longer than `limit` [s]."""
        if now - min(self._arrivals, default=now) <= limit:
            return ()
        return tuple(
            name
            for name, arrival in zip(self._joint_names, self._arrivals, strict=True)
            if not now - arrival <= limit
        )

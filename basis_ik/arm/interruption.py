# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A short loss of the joint states, after which an arm goes on to its target by itself."""

from __future__ import annotations

import numpy as np

from basis_ik.arm.execution.execution import MOVED_AWAY
from basis_ik.numerics.arrays import FloatArray

STILL_TIME = 0.1  # [s], for which the measured arm must rest before it goes on


class Interruption:
    """Decides whether an arm that braked without joint states goes on by itself.

    It does if they are back in time and the arm rests where it was braked to, or where it was led:
    otherwise somebody else may have moved it, or be beside it.

    Args:
        deadline: Latest time at which the joint states may be back [s].
        destination: Where the arm was led (n,) [rad or m].
        braked_to: Where it comes to rest (n,) [rad or m]; None: not known.
        tolerance: Distance by which a joint at rest may move [rad or m].

    Attributes:
        deadline: As given.
        placements: Number of targets accepted until the joint states were back; None before.
    """

    def __init__(
        self,
        deadline: float,
        destination: FloatArray,
        braked_to: FloatArray | None,
        tolerance: float,
    ) -> None:
        self.deadline = deadline
        self.placements: int | None = None
        self._destination, self._braked_to = destination, braked_to
        self._tolerance = tolerance
        self._still_since, self._still_at = 0.0, np.full(len(destination), np.nan)

    def brake_to(self, end: FloatArray | None) -> None:
        """Note where the arm comes to rest now (n,) [rad or m]; None: as before."""
        if end is not None:
            self._braked_to = end

    def rests(self, measured: FloatArray, now: float) -> bool:
        """Return whether the arm has rested for a while where it was braked to or led.

        Args:
            measured: Its positions (n,) [rad or m].
            now: The time [s].
        """
        if not (np.abs(measured - self._still_at) <= self._tolerance).all():
            self._still_since, self._still_at = now, measured
        places = (self._destination, self._braked_to)
        known = [each for each in places if each is not None]
        near = any((np.abs(measured - each) <= MOVED_AWAY).all() for each in known)
        return near and now - self._still_since >= STILL_TIME

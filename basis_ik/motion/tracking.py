"""Does the arm follow its commands?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Departure:
    """A joint that is not where its commands have lately been.

    Attributes:
        joints: Which of the joints are that far away, shape (n,).
        text: One line that names the farthest, and how far it is.
    """

    def __init__(self, joints: NDArray[np.bool_], text: str) -> None:
        self.joints, self.text = joints, text


class Tracking:
    """Compares the measured joints with what they were commanded lately.

    A joint has to be where it was commanded to be at some time within the last `lag` seconds, give
    or take a margin: so the distance that is allowed grows with the speed of the command.

    Args:
        joint_names: The n joints.
        endless: Which of them turn without end, shape (n,): whole turns do not count.
        lag: How late the arm may be [s].
        margin: How far off it may be beyond that [rad or m].
    """

    def __init__(
        self, joint_names: Sequence[str], endless: NDArray[np.bool_], lag: float, margin: float
    ) -> None:
        self._names, self._endless = tuple(joint_names), endless
        self.lag, self.margin = lag, margin

    def check(
        self, lowest: FloatArray, highest: FloatArray, measured: FloatArray
    ) -> Departure | None:
        """Return which joints are too far away; None if all are near enough.

        Args:
            lowest: Least of the positions commanded lately (n,).
            highest: Largest of them (n,).
            measured: Where the joints are (n,); one that is not finite is too far away.
        """
        middle = 0.5 * (lowest + highest)
        whole = 2.0 * math.pi
        turns = np.where(self._endless, np.round((measured - middle) / whole) * whole, 0.0)
        away = np.abs(measured - turns - middle) - 0.5 * (highest - lowest)
        near = away <= self.margin
        if near.all():
            return None
        worst = int(np.argmax(np.where(np.isfinite(away), away, np.inf)))
        text = (
            f"{self._names[worst]} is {away[worst]:.3g} from where it was commanded in the last "
            f"{self.lag:g} s, more than {self.margin:g}"
        )
        return Departure(~near, text)


class RecentCommands:
    """The commands of the last while, and between what they lie.

    Args:
        size: How many are kept.
        joints: How many joints they have.
    """

    def __init__(self, size: int, joints: int) -> None:
        self._commands: FloatArray = np.zeros((max(size, 1), joints))
        self._next = self._count = 0

    def clear(self) -> None:
        """Forget all."""
        self._next = self._count = 0

    def add(self, command: FloatArray) -> None:
        """Take in a command (n,); the oldest goes when there is no more room."""
        self._commands[self._next] = command
        self._next = (self._next + 1) % len(self._commands)
        self._count = min(self._count + 1, len(self._commands))

    def span(self, newest: int) -> tuple[FloatArray, FloatArray] | None:
        """Return the least and the largest positions of the newest commands, each (n,).

        Args:
            newest: How many commands count.

        Returns:
            Both; None while there are none.
        """
        count = min(self._count, newest)
        if count == 0:
            return None
        kept = self._commands[(self._next - 1 - np.arange(count)) % len(self._commands)]
        return kept.min(axis=0), kept.max(axis=0)

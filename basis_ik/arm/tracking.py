# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks that the arm follows its commands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.joints_kernel import is_near
from basis_ik.numerics.arrays import FloatArray

# Once one joint is lost, so are all that are off by more than this fraction of the margin. If the
# drives are off, the fastest joint is only the first to exceed the margin.
FOLLOWING_FRACTION = 0.02


class Departure:
    """A joint that does not follow its recent commands.

    Attributes:
        joints: The joints that do not follow, or are about to stop following, shape (n,).
        text: One line with the farthest joint and its distance.
    """

    def __init__(self, joints: NDArray[np.bool_], text: str) -> None:
        self.joints, self.text = joints, text


class Tracking:
    """Compares the measured joints with their recent commands.

    A joint must be within a margin of a position that was commanded within the last `lag` seconds.
    Thus the allowed distance grows with the command's speed.

    Args:
        joint_names: The n joints.
        endless: The continuous joints, shape (n,), for which whole turns do not count.
        lag: Largest lag of the arm [s].
        margin: Largest distance beyond that [rad or m].
    """

    def __init__(
        self, joint_names: Sequence[str], endless: NDArray[np.bool_], lag: float, margin: float
    ) -> None:
        self._names, self._endless = tuple(joint_names), endless.copy()
        self.lag, self.margin = lag, float(margin)
        self._away: FloatArray = np.zeros(len(self._names))

    def check(self, way: FloatArray, measured: FloatArray) -> Departure | None:
        """Return the joints that are too far away; None if there are none.

        Args:
            way: The recently commanded positions (k, n), k ≥ 1 [rad or m].
            measured: Measured positions (n,); one that is not finite is too far away.
        """
        away = self._away
        if is_near(way, measured, self._endless, self.margin, away):
            return None
        worst = int(np.argmax(np.where(np.isfinite(away), away, np.inf)))
        text = (
            f"{self._names[worst]} is {away[worst]:.3g} from where it was commanded in the last "
            f"{self.lag:g} s, more than {self.margin:g}"
        )
        return Departure(~(away <= FOLLOWING_FRACTION * self.margin), text)


class RecentCommands:
    """The most recent commands.

    Args:
        size: Number of stored commands, at least one.
        joints: Number of joints.
    """

    def __init__(self, size: int, joints: int) -> None:
        # Each command is stored twice, a buffer apart, so that the newest are always contiguous.
        self._commands: FloatArray = np.zeros((2 * size, joints))
        self._size, self._next, self._count = size, 0, 0

    def clear(self) -> None:
        """Remove all."""
        self._next = self._count = 0

    def add(self, command: FloatArray) -> None:
        """Add a command (n,); the oldest is dropped when the buffer is full."""
        self._commands[self._next] = self._commands[self._next + self._size] = command
        self._next = (self._next + 1) % self._size
        self._count = min(self._count + 1, self._size)

    def newest(self, count: int) -> FloatArray | None:
        """Return up to `count` newest commands (k, n), valid until the next `add`; or None."""
        count = min(self._count, count)
        end = self._next + self._size
        return self._commands[end - count : end] if count else None

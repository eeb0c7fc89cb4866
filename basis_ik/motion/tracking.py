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

"""Does the arm follow its commands?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.motion_joints import is_near

FloatArray = NDArray[np.float64]

# Once one joint is lost, so is each that is off its commands by more than this part of the margin:
# in an arm whose drives are off, the fastest joint is merely the first to leave the margin.
FOLLOWS = 0.02


class Departure:
    """A joint that is not where its commands have lately been.

    Attributes:
        joints: Which of the joints do not follow, shape (n,): it, and those that are on the way.
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
        self._names, self._endless = tuple(joint_names), endless.copy()
        self.lag, self.margin = lag, float(margin)
        self._away: FloatArray = np.zeros(len(self._names))

    def check(self, way: FloatArray, measured: FloatArray) -> Departure | None:
        """Return which joints are too far away; None if all are near enough.

        Args:
            way: The positions commanded lately, one at least (k, n).
            measured: Where the joints are (n,); one that is not finite is too far away.
        """
        away = self._away
        if is_near(way, measured, self._endless, self.margin, away):
            return None
        worst = int(np.argmax(np.where(np.isfinite(away), away, np.inf)))
        text = (
            f"{self._names[worst]} is {away[worst]:.3g} from where it was commanded in the last "
            f"{self.lag:g} s, more than {self.margin:g}"
        )
        return Departure(~(away <= FOLLOWS * self.margin), text)


class RecentCommands:
    """The commands of the last while.

    Args:
        size: How many are kept, one at least.
        joints: How many joints they have.
    """

    def __init__(self, size: int, joints: int) -> None:
        # Each is kept twice, a whole round apart: the newest are then one piece wherever they end.
        self._commands: FloatArray = np.zeros((2 * size, joints))
        self._size, self._next, self._count = size, 0, 0

    def clear(self) -> None:
        """Forget all."""
        self._next = self._count = 0

    def add(self, command: FloatArray) -> None:
        """Take in a command (n,); the oldest goes when there is no more room."""
        self._commands[self._next] = self._commands[self._next + self._size] = command
        self._next = (self._next + 1) % self._size
        self._count = min(self._count + 1, self._size)

    def newest(self, count: int) -> FloatArray | None:
        """Return the newest commands, as many or fewer (k, n), until the next is added; or None."""
        count = min(self._count, count)
        end = self._next + self._size
        return self._commands[end - count : end] if count else None

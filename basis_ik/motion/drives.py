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

"""What every engine of the simulated arm offers: drives that follow set points."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray


class Drives(Protocol):
    """The drives of n joints, which a controller commands by positions.

    Attributes:
        stopped: Whether all drives hold their positions, as after an emergency stop.
        blocked: shape (n,), True for a joint that does not move.
    """

    stopped: bool
    blocked: NDArray[np.bool_]

    @property
    def positions(self) -> FloatArray:
        """Shape (n,), measured [rad] or [m]; a new array every step."""

    @property
    def velocities(self) -> FloatArray:
        """Shape (n,), measured [rad/s] or [m/s]."""

    def step(self, targets: FloatArray, dt: float) -> None:
        """Move towards the targets for a while.

        Args:
            targets: shape (n,), [rad] or [m]; a joint whose target is not finite stays put.
            dt: How long [s], above zero.
        """


class Feedback:
    """The measured state, which is told late."""

    def __init__(self, positions: FloatArray, delay: float) -> None:
        """Begin at rest.

        Args:
            positions: shape (n,), [rad] or [m].
            delay: How old a state is when it is told [s].
        """
        self._delay = delay
        self._time = 0.0
        self._history = deque([(0.0, positions, np.zeros_like(positions))])

    @property
    def positions(self) -> FloatArray:
        """Shape (n,), as they are told now."""
        return self._history[0][1]

    @property
    def velocities(self) -> FloatArray:
        """Shape (n,), as they are told now."""
        return self._history[0][2]

    def add(self, positions: FloatArray, velocities: FloatArray, dt: float) -> None:
        """Take the state after a step of some length [s]; the arrays are kept."""
        self._time += dt
        self._history.append((self._time, positions, velocities))
        # Half a step, because the sum of the steps is rounded.
        while len(self._history) > 1 and self._history[1][0] <= self._time - self._delay + 0.5 * dt:
            self._history.popleft()


class SetPoints:
    """Positions that move towards targets no farther and no faster than the joints may."""

    def __init__(
        self,
        lower: FloatArray,
        upper: FloatArray,
        speed: FloatArray,
        positions: FloatArray,
        time_constant: float,
    ) -> None:
        """Begin at positions.

        Args:
            lower: shape (n,), [rad] or [m], -inf where there is none.
            upper: shape (n,), inf where there is none.
            speed: shape (n,), greatest [rad/s] or [m/s], inf where there is none.
            positions: shape (n,); those beyond the limits are taken to be there.
            time_constant: Of a first-order lag [s]; 0: none.
        """
        self._lower, self._upper, self._speed = lower.copy(), upper.copy(), speed.copy()
        self._time_constant = time_constant
        self.positions = np.clip(positions, lower, upper)

    def step(self, targets: FloatArray, held: NDArray[np.bool_], dt: float) -> FloatArray:
        """Move for a while.

        Args:
            targets: shape (n,), [rad] or [m]; a joint whose target is not finite stays put.
            held: shape (n,), True for a joint that stays put.
            dt: How long [s], above zero.

        Returns:
            shape (n,), a new array, which is `positions` from now on.
        """
        # Checked before clipping, which would turn an infinity into a plausible command.
        wanted = np.where(np.isfinite(targets) & ~held, targets, self.positions)
        share = -np.expm1(-dt / self._time_constant) if self._time_constant > 0.0 else 1.0
        farthest = self._speed * dt
        move = np.clip(share * (wanted - self.positions), -farthest, farthest)
        self.positions = np.clip(self.positions + move, self._lower, self._upper)
        return self.positions

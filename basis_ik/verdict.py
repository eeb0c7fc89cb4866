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

"""The outcome of a solve, and its reason."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Verdict(enum.Enum):
    """The outcome of a solve. All but REACHED come with a best-effort solution."""

    REACHED = "reached"
    TOO_FAR = "too far"
    TOO_NEAR = "too near"
    LIMIT = "a joint limit stands in the way"
    ORIENTATION_UNREACHABLE = "orientation unreachable"
    ORIENTATION_NOT_FOUND = "orientation not found"
    SINGULAR = "singular"
    DEGENERATE = "degenerate"
    BUDGET_SPENT = "budget spent"
    MOVE_BOUND = "only a longer move than allowed would reach"
    OTHER_TASKS = "other tasks stand in the way"
    STEP_BOUND = "on the way, as far as one step may go"


@dataclass(frozen=True)
class Reason:
    """Why a target was not reached, as data; `str` returns one line of text.

    Attributes:
        verdict: The verdict that this explains.
        missing: Position error of the nearest solution found [m]; 0 if the position is free.
        turn: Its orientation error [rad]; 0 if the orientation is free.
        joint: The joint whose limit blocks the motion, for LIMIT and MOVE_BOUND.
        bound: That limit [rad or m].
        proven: Whether it is proven that the target cannot be reached: by the chain's lengths, or
            by a closed form of its kinematics.
        starts: Number of starts before the search ended; 0 without a search. If nothing is proven,
            this only means that none of them reached the target.
        grid: Number of points on a grid over the spare joints for which all positions of the other
            joints were computed; 0 if they have no closed form.
    """

    verdict: Verdict
    missing: float = 0.0
    turn: float = 0.0
    joint: str | None = None
    bound: float | None = None
    starts: int = 0
    proven: bool = False
    grid: int = 0

    def __str__(self) -> str:
        if self.verdict is Verdict.REACHED:
            return "reached"
        if self.proven or self.starts == 0:
            return self._obstacle()
        grid = f"all positions at {self.grid} values of the spare joints and " if self.grid else ""
        return f"{self._obstacle()}; given up after {grid}{self.starts} starts"

    def _obstacle(self) -> str:
        if self.verdict is Verdict.TOO_FAR:
            return f"too far by {_length(self.missing)}"
        if self.verdict is Verdict.TOO_NEAR:
            return f"too near by {_length(self.missing)}"
        if self.verdict is Verdict.LIMIT:
            return f"{self.joint} is held by its limit {self.bound:.4g}; {self._left()}"
        if self.verdict is Verdict.MOVE_BOUND:
            return f"{self.joint} would have to move farther than allowed; {self._left()}"
        if self.verdict in (Verdict.ORIENTATION_UNREACHABLE, Verdict.ORIENTATION_NOT_FOUND):
            held = "position within reach, " if self.missing > 0.0 else ""
            return f"{held}orientation off by {self.turn:.4g} rad"
        return f"{self.verdict.value}; {self._left()}"

    def _left(self) -> str:
        length = f"{_length(self.missing)} and " if self.missing > 0.0 else ""
        return f"{length}{self.turn:.4g} rad are left"


def _length(metres: float) -> str:
    return f"{metres:.4g} m" if metres >= 0.1 else f"{1e3 * metres:.4g} mm"


REACHED = Reason(Verdict.REACHED)

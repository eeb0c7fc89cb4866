# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The outcome of a solve, and the reason for it."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass


class Verdict(enum.Enum):
    """The outcome of a solve. Any other than REACHED comes with a best-effort result."""

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
    COLLISION = "in collision"
    OTHER_TASKS = "other tasks stand in the way"
    STEP_BOUND = "on the way, as far as one step may go"


@dataclass(frozen=True)
class Reason:
    """The reason why a target was not reached, as data; `str` makes one line of text.

    Attributes:
        verdict: The verdict that this explains.
        missing: Distance between the target and the nearest position found [m]; 0 if the position
            is free.
        turn: Angle between the target and the result [rad]; 0 if the orientation is free.
        joint: The joint whose limit prevents a solution, for LIMIT and MOVE_BOUND.
        bound: That limit [rad or m].
        proven: Whether the target is proven to be out of reach: by the chain's length, by a closed
            form, or because no joint turns the tip that way.
        starts: Number of starts when the search gave up; 0 if there was no search. Without a proof,
            the verdict only says that none of them arrived.
        grid: Number of grid points over the redundant joints at which all positions of the other
            joints were calculated; 0 without a closed form.
        pair: The links or objects that collide most at the positions of the result, in a solve with
            a scene; of a step of `track`, those that would collide farther on. None if nothing
            does.
        depth: By how much these overlap [m]; by their covers, at most by so much.
        elsewhere: For COLLISION, whether a solution that does not collide is beyond `max_move`.
    """

    verdict: Verdict
    missing: float = 0.0
    turn: float = 0.0
    joint: str | None = None
    bound: float | None = None
    starts: int = 0
    proven: bool = False
    grid: int = 0
    pair: tuple[str, str] | None = None
    depth: float = 0.0
    elsewhere: bool = False

    def __str__(self) -> str:
        if self.verdict is Verdict.REACHED:
            return f"reached{self.allowed}"
        if self.verdict is Verdict.COLLISION:
            if self.pair and not self.depth > 0.0:
                return f"held by {' and '.join(self.pair)}; {self._left()}"
            if self.starts == 0 and (self.missing > 0.0 or self.turn > 0.0):  # of a step
                return f"{self._overlap()}; {self._left()}"
            return f"{self._overlap()}; {self._others()}"
        contact = f"; there {self._overlap()}" if self.pair else ""
        return f"{self._missed()}{contact}"

    @property
    def allowed(self) -> str:
        """What is left of a target that counts as reached, as the end of a line; empty: nothing."""
        if self.verdict is not Verdict.REACHED or not self.turn:
            return ""
        return f", orientation off by {shown_angle(self.turn)}"

    def _overlap(self) -> str:
        one, other = self.pair or ("", "")
        return f"{one} and {other} overlap by {shown_length(self.depth)}"

    def _others(self) -> str:
        if self.elsewhere:
            return "another posture is free, but farther than allowed"
        if self.proven:
            return "all other postures collide, too"
        found = "no other posture that is free was found"
        return f"{found}; given up after {self.starts} starts" if self.starts else found

    def _missed(self) -> str:
        if self.proven or self.starts == 0:
            return self._obstacle()
        grid = f"all positions at {self.grid} values of the spare joints and " if self.grid else ""
        return f"{self._obstacle()}; given up after {grid}{self.starts} starts"

    def _obstacle(self) -> str:
        if self.verdict is Verdict.TOO_FAR:
            return f"too far by {shown_length(self.missing)}"
        if self.verdict is Verdict.TOO_NEAR:
            return f"too near by {shown_length(self.missing)}"
        if self.verdict is Verdict.LIMIT:
            return f"{self.joint} is held by its limit {self.bound:.4g}; {self._left()}"
        if self.verdict is Verdict.MOVE_BOUND:
            return f"{self.joint} would have to move farther than allowed; {self._left()}"
        if self.verdict in (Verdict.ORIENTATION_UNREACHABLE, Verdict.ORIENTATION_NOT_FOUND):
            held = "position within reach, " if self.missing > 0.0 else ""
            return f"{held}orientation off by {shown_angle(self.turn)}"
        return f"{self.verdict.value}; {self._left()}"

    def _left(self) -> str:
        length = f"{shown_length(self.missing)} and " if self.missing > 0.0 else ""
        return f"{length}{shown_angle(self.turn)} are left"


def shown_length(metres: float) -> str:
    """Return a length [m] as people read it: in millimetres, with three digits."""
    return f"{_three_digits(1e3 * metres)} mm"


def shown_angle(radians: float) -> str:
    """Return an angle [rad] as people read it: in degrees, with three digits."""
    return f"{_three_digits(math.degrees(radians))}°"


def _three_digits(value: float) -> str:
    if 0.0 < abs(value) < 0.01:
        return "under 0.01"
    large = math.isfinite(value) and abs(value) >= 10.0
    return f"{value:.{(0 if abs(value) >= 100.0 else 1) if large else 2}f}"


REASON_REACHED = Reason(Verdict.REACHED)

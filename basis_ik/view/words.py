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

"""The status line of a chain: what it does, or why it does nothing."""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.arm.admission import Refused
from basis_ik.arm.chain_state import LATCHES, ChainState, State
from basis_ik.pose.solve import Solution
from basis_ik.view.shapes import GREEN, GREY, ORANGE, RED, WHITE, YELLOW, Color


class Words(NamedTuple):
    """A line of text and its color."""

    text: str
    color: Color


def words(
    state: ChainState,
    solution: Solution | None,
    problem: str = "",
    refused: Refused | None = None,
    *,
    following: bool = False,
    hindrance: str = "",
) -> Words:
    """Return the line.

    Args:
        state: The chain's state.
        solution: The solution for its goal; None if there is none or the goal needs none.
        problem: Its controller's problem; empty if there is none.
        refused: Why the newest target was refused; None if it was not.
        following: Whether its goal moves.
        hindrance: Why it does not move as commanded; empty if it does.
    """
    now = state.state
    if now is State.WAITING:
        return Words(f"waiting: {state.unmet}", YELLOW)
    if now in LATCHES.values():
        return Words(state.why_not, ORANGE if now is State.STOPPED else RED)
    if problem:
        return Words(problem, RED)
    if now is State.READY:
        return Words("no target", GREY) if refused is None else Words(str(refused), ORANGE)
    if not state.has_target:
        return Words(now.value, GREY)
    if refused is not None:
        return Words(f"the newest target was refused: {refused}", ORANGE)
    if hindrance:
        return Words(hindrance, ORANGE)
    there, going = now is State.ARRIVED, "following" if following else "on the way"
    if solution is None or solution.success:
        return Words("reached", GREEN) if there else Words(going, WHITE)
    text = f"as near as it gets: {solution.reason}"
    return Words(text if there else f"{going}, {text}", ORANGE)

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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

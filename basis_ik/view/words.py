# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The status line of a chain: what it does, or why it does nothing."""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.arm.admission import Refused
from basis_ik.arm.chain_state import LATCHES, STATES_WITH_TARGET, ChainState, State
from basis_ik.arm.goals import JOG_GOALS, Goal
from basis_ik.solvers.pose.solve import Solution
from basis_ik.view.shapes import GREEN, GREY, ORANGE, RED, WHITE, YELLOW, Color


class Words(NamedTuple):
    """A line of text and its color."""

    text: str
    color: Color


class Phrase(NamedTuple):
    """What people read where an arm does something: in RViz, on the page, in the status."""

    text: str
    """The words; `...` stands for what follows."""
    color: str
    """In RViz and on the page."""
    meaning: str
    """When they are said."""


PHRASE_ON_THE_WAY = "on the way"
PHRASE_FOLLOWING = "following"
PHRASE_JOGGING = "jogging"
PHRASE_REACHED = "reached"
PHRASE_NEAREST = "as near as it gets"
PHRASE_HELD = "held by"
PHRASE_WAITING = "waiting"
PHRASE_NO_TARGET = State.READY.value
PHRASE_REFUSED = "the newest target was refused"
PHRASE_STOPPED = "stopped"
PHRASE_COMING_TO_REST = State.BRAKING.value
PHRASES = (
    Phrase(
        f"{PHRASE_WAITING}: ...", "yellow", "what motion requires is missing; the reason follows"
    ),
    Phrase(PHRASE_NO_TARGET, "grey", "the arm accepts targets"),
    Phrase(PHRASE_ON_THE_WAY, "white", "to a target; the measured arm is not there yet"),
    Phrase(PHRASE_FOLLOWING, "white", "a goal that moves"),
    Phrase(PHRASE_JOGGING, "white", "a twist or velocities of joints lead"),
    Phrase(PHRASE_REACHED, "green", "the measured arm is at the target"),
    Phrase(f"{PHRASE_NEAREST}: ...", "orange", "the target cannot be reached; the reason follows"),
    Phrase(
        f"{PHRASE_HELD} ...",
        "orange",
        "links or objects that would collide; how far they are apart",
    ),
    Phrase(
        f"... is {PHRASE_HELD} its limit ...", "orange", "a joint that would have to go farther"
    ),
    Phrase(f"{PHRASE_REFUSED}: ...", "orange", "the one before stays in force; the reason follows"),
    Phrase(PHRASE_COMING_TO_REST, "grey", "it brakes within its limits"),
    Phrase(f"{PHRASE_STOPPED}; call ~/enable to continue", "orange", "by `~/stop`"),
    Phrase("...; call ~/enable to continue", "red", "a fault, which comes first"),
)


def phase(state: State, goal: Goal | None, *, following: bool = False) -> str:
    """Return what an arm does while nothing hinders it.

    Args:
        state: Its state.
        goal: Its goal.
        following: Whether that moves.
    """
    if state not in STATES_WITH_TARGET:
        return state.value
    if isinstance(goal, JOG_GOALS):
        return PHRASE_JOGGING
    if state is State.ARRIVED:
        return PHRASE_REACHED
    return PHRASE_FOLLOWING if following else PHRASE_ON_THE_WAY


def words(
    state: ChainState,
    solution: Solution | None,
    problem: str = "",
    refused: Refused | None = None,
    *,
    following: bool = False,
    hindrance: str = "",
    goal: Goal | None = None,
    preview: str = "",
) -> Words:
    """Return the line.

    Args:
        state: The chain's state.
        solution: The solution for its goal; None if there is none or the goal needs none.
        problem: Its controller's problem; empty if there is none.
        refused: Why the newest target was refused; None if it was not.
        following: Whether its goal moves.
        hindrance: Why it does not move as commanded; empty if it does.
        goal: Its goal.
        preview: What a target that waits for a go would do; empty if none waits.
    """
    now = state.state
    if now is State.WAITING:
        return Words(f"{PHRASE_WAITING}: {state.unmet}", YELLOW)
    if now in LATCHES.values():
        return Words(state.why_not, ORANGE if now is State.STOPPED else RED)
    if problem:
        return Words(problem, RED)
    if preview:
        return Words(preview, WHITE)
    if now is State.READY:
        return Words(PHRASE_NO_TARGET, GREY) if refused is None else Words(str(refused), ORANGE)
    does = phase(now, goal, following=following)
    if not state.has_target:
        return Words(does, GREY)
    if refused is not None:
        return Words(f"{PHRASE_REFUSED}: {refused}", ORANGE)
    if hindrance:
        return Words(hindrance, ORANGE)
    if solution is None or solution.success:
        allowed = "" if solution is None else solution.reason.allowed
        return Words(f"{does}{allowed}", GREEN if does == PHRASE_REACHED else WHITE)
    if does == PHRASE_JOGGING:
        return Words(str(solution.reason), ORANGE)
    nearest = f"{PHRASE_NEAREST}: {solution.reason}"
    return Words(nearest if does == PHRASE_REACHED else f"{does}, {nearest}", ORANGE)


def table() -> str:
    """Return the phrases as a table in Markdown."""
    rows = (f"| {text} | {color} | {meaning} |" for text, color, meaning in PHRASES)
    return "\n".join(("| words | colour | meaning |", "|---|---|---|", *rows))


if __name__ == "__main__":
    print(table())

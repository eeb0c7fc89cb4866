# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The state machine of a chain: whether it may move, and why not.

It uses neither ROS nor a clock. `TRANSITIONS` defines it completely; docs/states.md shows it.
"""

from __future__ import annotations

import enum


class State(enum.Enum):
    """The state of a chain."""

    UNCONFIGURED = "no robot"
    INACTIVE = "inactive"
    WAITING = "something that motion requires is missing"
    READY = "no target"
    MOVING = "moving to the target"
    HOLDING = "the command is at the target, the arm is not yet"
    ARRIVED = "at the target, as measured"
    BRAKING = "coming to rest"
    STOPPED = "stopped; call ~/enable to continue"
    TRACKING_LOST = "the arm does not follow its commands; call ~/enable to continue"
    UNSAFE = "a command failed the last check; call ~/enable to continue"


class Event(enum.Enum):
    """An event of a chain."""

    CONFIGURE = "a robot is created"
    CLEAN_UP = "the robot is destroyed"
    ACTIVATE = "the node is activated"
    DEACTIVATE = "the node is deactivated"
    UNMET = "something that motion requires is missing"
    MET = "nothing is missing any more"
    MOVE = "the arm starts to move"
    DROP_TARGET = "the target is dropped"
    END_COMMANDS = "the command is at the target"
    ARRIVE = "the arm is at the target"
    DEPART = "the arm is no longer at the target"
    COME_TO_REST = "the motion has ended"
    GO_ON = "the arm goes on although it was told to brake"
    STOP = "the operator stops it"
    LOSE_TRACKING = "the arm is too far from its command"
    FAIL_CHECK = "a command fails the last check"
    ENABLE = "the operator enables it"


class AtRest(enum.Enum):
    """The result of a transition to rest; the conditions at that time decide the state."""

    AT_REST = "at rest"


AT_REST = AtRest.AT_REST
STATES_AT_REST = (
    State.WAITING, State.READY, State.STOPPED, State.TRACKING_LOST, State.UNSAFE,
)  # fmt: skip
STATES_WITH_TARGET = (State.MOVING, State.HOLDING, State.ARRIVED)
# Latched: only ENABLE leaves these states.
LATCHES = {
    Event.STOP: State.STOPPED,
    Event.LOSE_TRACKING: State.TRACKING_LOST,
    Event.FAIL_CHECK: State.UNSAFE,
}

TRANSITIONS: dict[tuple[State, Event], State | AtRest] = {
    (State.UNCONFIGURED, Event.CONFIGURE): State.INACTIVE,
    (State.INACTIVE, Event.CLEAN_UP): State.UNCONFIGURED,
    (State.INACTIVE, Event.ACTIVATE): AT_REST,
    (State.READY, Event.MOVE): State.MOVING,
    (State.MOVING, Event.END_COMMANDS): State.HOLDING,
    (State.HOLDING, Event.ARRIVE): State.ARRIVED,
    (State.ARRIVED, Event.DEPART): State.HOLDING,
    (State.HOLDING, Event.MOVE): State.MOVING,
    (State.ARRIVED, Event.MOVE): State.MOVING,
    (State.BRAKING, Event.MOVE): State.MOVING,
    (State.BRAKING, Event.COME_TO_REST): AT_REST,
    **{(state, Event.GO_ON): State.BRAKING for state in STATES_AT_REST},
    **{
        (state, event): State.BRAKING
        for state in STATES_WITH_TARGET
        for event in (
            Event.DROP_TARGET, Event.UNMET, Event.DEACTIVATE,
            Event.STOP, Event.LOSE_TRACKING, Event.FAIL_CHECK,
        )
    },
    **{
        (State.BRAKING, event): State.BRAKING
        for event in (
            Event.UNMET, Event.MET, Event.ACTIVATE, Event.DEACTIVATE,
            Event.STOP, Event.LOSE_TRACKING, Event.FAIL_CHECK, Event.ENABLE,
        )
    },
    **{
        (state, event): AT_REST
        for state in STATES_AT_REST
        for event in (
            Event.UNMET, Event.MET, Event.DEACTIVATE,
            Event.STOP, Event.LOSE_TRACKING, Event.FAIL_CHECK, Event.ENABLE,
        )
    },
    **{
        (State.INACTIVE, event): State.INACTIVE
        for event in (Event.UNMET, Event.MET, Event.STOP, Event.ENABLE)
    },
    **{(State.UNCONFIGURED, event): State.UNCONFIGURED for event in (Event.STOP, Event.ENABLE)},
}  # fmt: skip


class ChainState:
    """The state of a chain, and what prevents its motion.

    Attributes:
        state: What it is doing.
        latch: STOPPED, TRACKING_LOST or UNSAFE until the chain is enabled; otherwise None.
        unmet: The missing requirement of motion; empty if there is none.
        active: Whether the node is active.
        why: Reason for the last change of state, in one line.
    """

    def __init__(self) -> None:
        self.state = State.UNCONFIGURED
        self.latch: State | None = None
        self.unmet = ""
        self.active = False
        self.why = ""
        self._latched_by = ""

    @property
    def why_not(self) -> str:
        """Why it may not move; empty if it may."""
        if not self.active:
            return "not active"
        if self.latch is not None:
            return self._latched_by
        return self.unmet

    @property
    def has_target(self) -> bool:
        """Whether it moves to a target or holds it."""
        return self.state in STATES_WITH_TARGET

    @property
    def resting(self) -> bool:
        """Whether no command is sent until a new target arrives."""
        return self.state not in STATES_WITH_TARGET and self.state is not State.BRAKING

    def handle(self, event: Event, why: str = "") -> bool:
        """Handle an event.

        Args:
            event: The event.
            why: The reason, in one line; for UNMET, the missing requirement.

        Returns:
            Whether the state has a transition for it; if not, nothing changes.
        """
        leads = TRANSITIONS.get((self.state, event))
        if leads is None or (event is Event.MOVE and self.why_not):
            return False
        self.why = why or event.value
        if event in LATCHES and (self.latch is None or event is Event.STOP):
            self.latch = LATCHES[event]
            self._latched_by = f"{why or event.value}; call ~/enable to continue"
        elif event is Event.ENABLE:
            self.latch = None
        elif event in (Event.UNMET, Event.MET):
            self.unmet = why if event is Event.UNMET else ""
        elif event in (Event.ACTIVATE, Event.DEACTIVATE):
            self.active = event is Event.ACTIVATE
        self.state = self._at_rest() if isinstance(leads, AtRest) else leads
        return True

    def _at_rest(self) -> State:
        if not self.active:
            return State.INACTIVE
        if self.latch is not None:
            return self.latch
        return State.WAITING if self.unmet else State.READY


def mermaid() -> str:
    """Return the transitions as a state diagram in Mermaid's language."""
    lines = ["stateDiagram-v2"]
    targets: dict[tuple[str, str], list[str]] = {}
    for (state, event), leads in TRANSITIONS.items():
        if leads is not state:
            targets.setdefault((state.name, leads.name), []).append(event.name)
    lines += [f"    {a} --> {b}: {', '.join(events)}" for (a, b), events in targets.items()]
    lines += [
        "    AT_REST --> INACTIVE: not active",
        *(f"    AT_REST --> {latch.name}: latched" for latch in LATCHES.values()),
        "    AT_REST --> WAITING: something is missing",
        "    AT_REST --> READY: else",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(mermaid())

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whether a chain may move: all transitions and latches, and the diagram in the documentation."""

from pathlib import Path

import pytest

from basis_ik.arm.chain_state import (
    LATCHES,
    STATES_AT_REST,
    STATES_WITH_TARGET,
    TRANSITIONS,
    AtRest,
    ChainState,
    Event,
    State,
    mermaid,
)

STATES = Path(__file__).parents[2] / "docs" / "states.md"
ALL = [(state, event) for state in State for event in Event]


def named(pair):
    return "-".join(each.name for each in pair)


@pytest.fixture
def active():
    state = ChainState()
    for event in (Event.CONFIGURE, Event.ACTIVATE):
        assert state.handle(event)
    return state


def moving(state):
    assert state.handle(Event.MOVE)
    assert state.state is State.MOVING
    return state


@pytest.mark.parametrize("pair", [p for p in ALL if p in TRANSITIONS], ids=named)
def test_a_transition_follows_the_table(pair):
    chain = ChainState()
    chain.state, chain.active = pair[0], pair[0] not in (State.UNCONFIGURED, State.INACTIVE)
    assert chain.handle(pair[1], "why")
    leads = TRANSITIONS[pair]
    if not isinstance(leads, AtRest):
        assert chain.state is leads
    else:
        assert chain.state in (State.INACTIVE, *STATES_AT_REST)
    assert chain.why == "why"


@pytest.mark.parametrize("pair", [p for p in ALL if p not in TRANSITIONS], ids=named)
def test_other_events_change_nothing(pair):
    chain = ChainState()
    chain.state, chain.active = pair[0], True
    assert not chain.handle(pair[1], "why")
    assert (chain.state, chain.latch, chain.unmet, chain.why) == (
        pair[0],
        None,
        "",
        "",
    )
    assert chain.active


@pytest.mark.parametrize("has_target", STATES_WITH_TARGET)
@pytest.mark.parametrize("event", LATCHES)
def test_a_latch_survives_rest_deactivation_and_a_new_robot(active, has_target, event):
    active.state = has_target
    active.handle(event, "reason")
    assert active.state is State.BRAKING
    active.handle(Event.COME_TO_REST)
    assert active.state is LATCHES[event]
    for each in (Event.DEACTIVATE, Event.CLEAN_UP, Event.CONFIGURE, Event.ACTIVATE):
        assert active.handle(each)
    assert active.state is LATCHES[event]
    assert active.why_not == "reason; call ~/enable to continue"
    for each in (Event.UNMET, Event.MET):
        active.handle(each, "no joint states" if each is Event.UNMET else "")
        assert active.state is LATCHES[event]
    assert not active.handle(Event.MOVE)
    active.handle(Event.ENABLE)
    assert active.state is State.READY
    assert active.why_not == ""


@pytest.mark.parametrize("event", [Event.STOP, Event.ENABLE])
def test_stop_and_enable_work_without_a_robot(event):
    chain = ChainState()
    chain.handle(Event.STOP, "stopped")
    assert chain.handle(event)
    for each in (Event.CONFIGURE, Event.ACTIVATE):
        chain.handle(each)
    assert chain.state is (State.STOPPED if event is Event.STOP else State.READY)


def test_the_first_fault_is_kept_until_a_stop(active):
    moving(active).handle(Event.LOSE_TRACKING, "elbow is off")
    active.handle(Event.FAIL_CHECK, "unsafe")
    assert active.latch is State.TRACKING_LOST
    assert active.why_not.startswith("elbow is off")
    active.handle(Event.STOP, "stopped")
    assert active.latch is State.STOPPED


def test_a_chain_with_unmet_requirements_does_not_move(active):
    active.handle(Event.UNMET, "no joint state of elbow")
    assert active.state is State.WAITING
    assert active.why_not == "no joint state of elbow"
    assert not active.handle(Event.MOVE)
    active.handle(Event.MET)
    assert moving(active).has_target


def test_an_unmet_requirement_ends_motion_until_it_is_met(active):
    moving(active).handle(Event.UNMET, "the controller is gone")
    assert active.state is State.BRAKING
    assert not active.handle(Event.MOVE)
    active.handle(Event.COME_TO_REST)
    assert active.state is State.WAITING


def test_an_inactive_chain_does_not_move():
    chain = ChainState()
    chain.handle(Event.CONFIGURE)
    assert chain.why_not == "not active"
    chain.state = State.BRAKING
    assert not chain.handle(Event.MOVE)


def test_deactivation_brakes_first(active):
    moving(active).handle(Event.DEACTIVATE)
    assert active.state is State.BRAKING
    assert not active.resting
    active.handle(Event.COME_TO_REST)
    assert active.state is State.INACTIVE
    assert active.resting


def test_activation_while_braking_takes_effect_at_rest(active):
    moving(active).handle(Event.DEACTIVATE)
    assert active.handle(Event.ACTIVATE)
    assert active.state is State.BRAKING
    active.handle(Event.COME_TO_REST)
    assert active.state is State.READY


def test_a_new_target_ends_braking(active):
    moving(active).handle(Event.DROP_TARGET)
    assert moving(active).resting is False


def test_the_documentation_draws_the_table():
    assert mermaid() in STATES.read_text()

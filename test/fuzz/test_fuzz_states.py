# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Anything in any order, found and shortened by hypothesis; what the oracle catches."""

import random

import numpy as np
import pytest
from fuzz_arm import INTERFACES, PERIOD, STEPS, Arm, Latch, make_step
from fuzz_messages import CHAIN
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from std_msgs.msg import Float64MultiArray

from basis_ik.arm.chain_state import LATCHES, TRANSITIONS, ChainState, Event, State

SHORT = settings(suppress_health_check=list(HealthCheck), print_blob=False)
SEEDS = st.integers(0, 2**32 - 1)


class ChainStateMachine(RuleBasedStateMachine):
    """A `ChainState`, and any event at any time."""

    def __init__(self):
        super().__init__()
        self.latch = Latch()

    @rule(event=st.sampled_from(Event))
    def handle(self, event):
        self.latch.handle(event)


class ArmMachine(RuleBasedStateMachine):
    """A whole arm, and anything at any time."""

    arm = None

    @initialize(interface=st.sampled_from(INTERFACES))
    def begin(self, interface):
        self.arm = Arm(interface)

    @rule(seed=SEEDS, kind=st.sampled_from([*STEPS, "cycle", "pose", "twist", "joint_jog"]))
    def step(self, seed, kind):
        self.arm.step(make_step(random.Random(seed), kind))

    def teardown(self):
        if self.arm is not None:
            self.arm.recover()


TestChainState = ChainStateMachine.TestCase
TestChainState.settings = settings(SHORT, max_examples=100, stateful_step_count=40)
TestArm = ArmMachine.TestCase
TestArm.settings = settings(SHORT, max_examples=8, stateful_step_count=25)


# What the oracle catches --------------------------------------------------------------------------


@pytest.fixture
def arm():
    arm = Arm("position")
    arm.step(["go_to", [0.5, -1.0, 1.0, -1.0, -1.0, 0.5]])
    arm.step(["cycle", 20])
    return arm


def damage(arm, change):
    """Let the node send another command than it wants to."""
    take = arm.take

    def take_damaged(message):
        data = np.array(message.data)
        change(data)
        take(Float64MultiArray(data=data.tolist()))

    arm.take = take_damaged


def nan(data):
    data[2] = np.nan


def leap(data):
    data[0] += 2.0 * CHAIN.velocity[0] * PERIOD


def jerk(data):
    data[1] += 0.2 * CHAIN.velocity[1] * PERIOD


def outside(data):
    data[2] = CHAIN.upper[2] + 1e-6


@pytest.mark.parametrize("change", [nan, leap, jerk, outside])
def test_a_bad_command_is_caught(arm, change):
    damage(arm, change)
    with pytest.raises(AssertionError):
        arm.step(["cycle", 1])


def test_silence_at_full_speed_is_caught(arm):
    arm.take = lambda _: None
    with pytest.raises(AssertionError, match="silence at full speed"):
        arm.step(["cycle", 1])


def test_a_command_in_a_latched_state_is_caught(arm):
    arm.step(["stop"])
    arm.step(["cycle", 100])
    assert arm.state.state is State.STOPPED
    arm.sent.append(Float64MultiArray(data=arm.place.tolist()))
    with pytest.raises(AssertionError, match="in a latched state"):
        arm.step(["cycle", 1])


def test_a_latch_left_without_enable_is_caught(arm, monkeypatch):
    arm.step(["stop"])
    monkeypatch.setattr(Arm, "_home", lambda self: setattr(self.state, "latch", None))
    with pytest.raises(AssertionError, match="home has ended STOPPED"):
        arm.step(["home"])


def test_a_transition_out_of_a_latch_is_caught(monkeypatch):
    monkeypatch.setitem(TRANSITIONS, (State.STOPPED, Event.UNMET), State.MOVING)
    latch = Latch()
    for event in (Event.CONFIGURE, Event.ACTIVATE, Event.STOP):
        latch.handle(event)
    with pytest.raises(AssertionError):
        latch.handle(Event.UNMET)


@pytest.mark.parametrize("event", LATCHES)
def test_a_lost_latch_is_caught(event, monkeypatch):
    latch = Latch()
    for each in (Event.CONFIGURE, Event.ACTIVATE, event):
        latch.handle(each)

    def forget(self, _, why=""):
        self.latch = None
        return True

    monkeypatch.setattr(ChainState, "handle", forget)
    with pytest.raises(AssertionError, match="enable alone"):
        latch.handle(Event.COME_TO_REST)


def test_what_goes_unconfirmed_is_caught(arm, monkeypatch):
    arm.step(["parameter", "follow_drag", "confirm"])
    arm.step(["cycle", 1])
    monkeypatch.setattr(type(arm.arm), "_previews", lambda self, held=False: False)
    with pytest.raises(AssertionError, match="posture goes unconfirmed"):
        arm.step(["posture", "ready"])

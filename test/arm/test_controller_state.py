# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a controller's state tells of its clock and its silence; times are those of its messages."""

import numpy as np
import pytest
from controller_stand_ins import JOINTS, StateTopic, moment, report

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.moment import Moment


class Clocks:
    """A controller that publishes its state, and the clocks of both sides."""

    def __init__(self):
        self.now = moment(10.0)
        self.state = ControllerState(StateTopic(), JOINTS, self.now)

    def receive(self, ahead, delays, *, simulated=False):
        """Hear states of a controller whose clock is ahead; they come after delays [s]."""
        for delay in delays:
            stamp = 1e-9 * self.now.clock + ahead - delay
            self.state.take(report(stamp), self.now, simulated=simulated)
        return self.state.unmet(waits=True)

    def wait(self, seconds):
        """Let time pass."""
        self.now = Moment(self.now.loop + seconds, self.now.clock + round(1e9 * seconds))
        self.state.begin_period(self.now)


SOON, OFTEN_LATE = [0.001] * 100, [0.3] * 99 + [0.001]
VARYING = np.linspace(0.0, 0.2, 100)  # s


@pytest.mark.parametrize(
    ("ahead", "delays", "words"),
    [
        (0.0, SOON, ""),
        (0.0, OFTEN_LATE, ""),
        (0.015, SOON, ""),
        (0.03, SOON, "0.029 s ahead of this one: synchronise"),
        (3.0, OFTEN_LATE, "3 s ahead"),
        (-0.05, SOON, ""),
        (-0.2, SOON, "at least 0.201 s old"),
        (0.0, [0.201] * 100, "at least 0.201 s old"),  # the same to this node
        (0.0, 0.05 + VARYING, ""),
        (-0.05, VARYING, ""),
        (0.0, 0.105 + VARYING, "at least 0.105 s old"),
        (-0.15, VARYING, "at least 0.15 s old"),
        (-0.2, SOON[:50], ""),  # they may be late ones
    ],
)
def test_a_clock_offset_is_detected_from_states(ahead, delays, words):
    logged = Clocks().receive(ahead, delays)
    assert words in logged
    assert bool(words) == bool(logged)


def test_a_steady_delay_may_be_the_clocks_or_the_messages():
    late, behind = Clocks().receive(0.0, [0.3] * 100), Clocks().receive(-0.3, [0.0] * 100)
    assert late == behind, "nothing distinguishes the two"
    assert "clock is behind this one (synchronise them), or they are late" in late


def test_in_simulated_time_there_is_one_clock():
    assert Clocks().receive(3.0, SOON, simulated=True) == ""


def test_a_state_without_a_stamp_tells_nothing_of_the_clock():
    clocks = Clocks()
    for _ in range(100):
        clocks.state.take(report(0.0), clocks.now)
    assert clocks.state.unmet(waits=True) == ""


def test_a_controller_is_silent_once_no_state_has_come_for_long():
    clocks = Clocks()
    clocks.receive(0.0, SOON)
    clocks.wait(0.5)
    assert clocks.state.unmet(waits=True) == ""
    clocks.wait(0.5)
    assert clocks.state.unmet(waits=True).startswith("the controller is not active")


@pytest.mark.parametrize("jump", [3600, -3600])
def test_a_jump_of_the_clock_is_no_silence_of_the_controller(jump):
    clocks = Clocks()
    clocks.receive(0.0, SOON)
    clocks.now = moment(10.0 + jump)
    clocks.state.on_clock_jump(clocks.now)
    assert clocks.state.unmet(waits=True) == ""
    assert clocks.state.silence(clocks.now.clock) == 0.0
    clocks.wait(1.0)
    assert clocks.state.unmet(waits=True).startswith("the controller is not active")
    assert clocks.state.silence(clocks.now.clock) == 1.0


@pytest.mark.parametrize("scaling", [5e-324, 1e-9, 0.9e-3])
def test_a_controller_that_hardly_moves_stands(scaling):
    clocks = Clocks()
    clocks.state.take(report(1.0, speed_scaling=scaling), clocks.now)
    assert clocks.state.stands
    clocks.state.take(report(2.0, speed_scaling=0.01), clocks.now)
    assert clocks.state.speed_scaling == 0.01

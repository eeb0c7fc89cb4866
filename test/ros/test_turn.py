# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""When the node runs its periods, on virtual time."""

from types import SimpleNamespace

import pytest

from basis_ik.ros import ik_node
from basis_ik.ros.boundary import LIVE

PERIOD, WORK = 0.004, 0.0015  # s


class Loop:
    """A node and its spinner; a period takes a while, and a target may end a wait."""

    def __init__(self, *, target_after=None, sends=False):
        self.time, self.began, self.boundary = 100.0, [], LIVE
        self.requests, self.failing, self.gave_up = [], False, 0
        self.context = SimpleNamespace(ok=lambda: True)
        self.period, self.sends, self._after = PERIOD, sends, target_after

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds

    def wait(self, seconds):
        came = self._after is not None and self._after < seconds
        self.sleep(self._after if came else seconds)
        return came

    def handle_messages(self):
        pass

    def handle_others(self):
        self.requests.append(self.time)
        if self.failing:
            raise ZeroDivisionError

    def give_up(self):
        self.gave_up += 1

    def handle_target(self):
        came, self._after = self._after is not None, None
        if came:
            self.run_period()
        return came

    def run_period(self):
        self.began.append(self.time)
        self.sleep(WORK)

    def turn(self, due):
        return ik_node.turn(self, self, due)


def test_periods_begin_a_period_apart_however_long_they_take():
    loop = Loop()
    due = loop.time
    for _ in range(4):
        due = loop.turn(due)
    assert loop.began == pytest.approx([100.0 + k * PERIOD for k in range(4)])


def test_after_a_target_the_next_period_begins_a_period_after_its_own():
    loop = Loop(target_after=0.001)
    due = loop.turn(loop.time + PERIOD)
    loop.turn(due)
    assert loop.began == pytest.approx([100.001, 100.001 + PERIOD])


def test_a_target_waits_for_the_period_while_commands_are_sent():
    loop = Loop(target_after=0.001, sends=True)
    loop.turn(loop.time + PERIOD)
    assert loop.began == pytest.approx([100.0 + PERIOD])


def test_a_late_loop_keeps_its_phase_and_catches_nothing_up():
    loop = Loop()
    due = loop.turn(loop.time - 2.5 * PERIOD)
    assert due == pytest.approx(100.0 + 0.5 * PERIOD)
    assert len(loop.began) == 1


@pytest.mark.parametrize("target_after", [None, 0.001])
def test_requests_are_handled_after_the_work_of_a_period(target_after):
    loop = Loop(target_after=target_after)
    loop.turn(loop.time + PERIOD)
    assert loop.requests == pytest.approx([loop.began[0] + WORK])


def test_a_request_that_fails_stops_the_arm_and_repeats_no_period():
    loop = Loop()
    loop.failing = True
    due = loop.turn(loop.time)
    loop.turn(due)
    assert loop.began == pytest.approx([100.0, 100.0 + PERIOD])
    assert loop.gave_up == 2

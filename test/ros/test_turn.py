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

"""When the node runs its periods, on virtual time."""

from types import SimpleNamespace

import pytest

from basis_ik.ros import ik_node
from basis_ik.ros.boundary import LIVE

PERIOD, WORK = 0.004, 0.0015  # s


class Loop:
    """A node and its spinner; a period takes a while, and a target may end a wait."""

    def __init__(self, monkeypatch, *, target_after=None, sends=False):
        self.now, self.began, self.boundary = 100.0, [], LIVE
        self.requests = []
        self.period, self.sends, self._after = PERIOD, sends, target_after
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self._pass)
        monkeypatch.setattr(ik_node, "time", clock)

    def _pass(self, seconds):
        self.now += seconds

    def wait(self, seconds):
        came = self._after is not None and self._after < seconds
        self._pass(self._after if came else seconds)
        return came

    def handle_messages(self):
        pass

    def handle_others(self):
        self.requests.append(self.now)

    def handle_target(self):
        came, self._after = self._after is not None, None
        if came:
            self.run_period()
        return came

    def run_period(self):
        self.began.append(self.now)
        self._pass(WORK)

    def turn(self, due):
        return ik_node._turn(self, self, due)


def test_periods_begin_a_period_apart_however_long_they_take(monkeypatch):
    loop = Loop(monkeypatch)
    due = loop.now
    for _ in range(4):
        due = loop.turn(due)
    assert loop.began == pytest.approx([100.0 + k * PERIOD for k in range(4)])


def test_after_a_target_the_next_period_begins_a_period_after_its_own(monkeypatch):
    loop = Loop(monkeypatch, target_after=0.001)
    due = loop.turn(loop.now + PERIOD)
    loop.turn(due)
    assert loop.began == pytest.approx([100.001, 100.001 + PERIOD])


def test_a_target_waits_for_the_period_while_commands_are_sent(monkeypatch):
    loop = Loop(monkeypatch, target_after=0.001, sends=True)
    loop.turn(loop.now + PERIOD)
    assert loop.began == pytest.approx([100.0 + PERIOD])


def test_a_late_loop_keeps_its_phase_and_catches_nothing_up(monkeypatch):
    loop = Loop(monkeypatch)
    due = loop.turn(loop.now - 2.5 * PERIOD)
    assert due == pytest.approx(100.0 + 0.5 * PERIOD)
    assert len(loop.began) == 1


@pytest.mark.parametrize("target_after", [None, 0.001])
def test_requests_are_handled_after_the_work_of_a_period(monkeypatch, target_after):
    loop = Loop(monkeypatch, target_after=target_after)
    loop.turn(loop.now + PERIOD)
    assert loop.requests == pytest.approx([loop.began[0] + WORK])

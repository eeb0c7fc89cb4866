# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The conditions that demo programs wait for before they measure."""

from threading import Event

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from basis_ik.ros.demo import checker as module
from basis_ik.ros.demo.checker import Checker


@pytest.fixture
def checker(domain):
    rclpy.init(domain_id=domain)
    node = Checker("checker", Event(), ())
    yield node
    node.destroy_node()
    rclpy.shutdown()


def receive(checker, monkeypatch, states):
    """Receive one status per turn; None is a turn without."""
    coming = iter(states)

    def spin(_):
        state = next(coming)
        if state is not None:
            checker._on_status(DiagnosticStatus(values=[KeyValue(key="state", value=state)]))

    monkeypatch.setattr(checker, "spin", spin)


def test_a_node_that_compiles_is_waited_for(checker, monkeypatch):
    receive(checker, monkeypatch, [None, "COMPILING", "COMPILING", "WAITING", "READY"])
    asked = []

    def ready():
        asked.append(checker.status["state"])
        return len(asked) == 2

    checker.wait_until(ready, "base", "tip")
    assert asked == ["WAITING", "READY"]


def test_compilation_does_not_count_for_the_timeout(checker, monkeypatch):
    now = [0.0]

    def monotonic():
        now[0] += 50.0  # s, with each look at the clock
        return now[0]

    monkeypatch.setattr(module.time, "monotonic", monotonic)
    receive(checker, monkeypatch, ["COMPILING"] * 10 + ["READY"])
    checker.wait_until(lambda: True, "base", "tip")
    receive(checker, monkeypatch, [None] * 10)
    checker.status = {}
    with pytest.raises(module.BasisIkError, match="is basis_ik running"):
        checker.wait_until(lambda: True, "base", "tip")

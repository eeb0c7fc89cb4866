# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node's log: throttled by reason, with one line for a recovery."""

import pytest
import rclpy.logging

from basis_ik.ros import boundary as module
from basis_ik.ros.journal import Journal


class Log:
    def __init__(self):
        self.lines = []

    def get_logger(self):
        return self

    def warning(self, text):
        self.lines.append(f"W {text}")

    def error(self, text):
        self.lines.append(f"E {text}")

    def info(self, text):
        self.lines.append(f"I {text}")


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_problems_are_throttled_by_reason_and_recovery_is_logged_once(clock):
    log = Log()
    journal = Journal(log, "left")
    for i in range(200):  # two seconds, each line another text
        journal.warn("target", "STALE", f"{i} s old")
        journal.warn("target", "NO_FRAME", f"no frame {i}")
        journal.warn("joint state", "NON_FINITE", f"nan {i}")
        clock[0] += 0.01
    assert [line for line in log.lines if "old" in line] == ["W left: 0 s old", "W left: 100 s old"]
    assert len(log.lines) == 6
    log.lines.clear()
    journal.recovered("target", "too soon: it has only just been in trouble")
    assert log.lines == []
    clock[0] += 1.0
    journal.recovered("target", "targets")
    journal.recovered("target", "targets")
    journal.recovered("motion", "never in trouble")
    assert log.lines == ["I left: recovered: targets"]


def test_a_lasting_problem_is_a_throttled_error(clock):
    log = Log()
    journal = Journal(log)
    for i in range(200):
        journal.warn("start", "parameter", f"bad {i}", lasting=True)
        clock[0] += 0.01
    assert log.lines == ["E bad 0", "E bad 100"]


def test_a_real_logger_accepts_warnings_and_errors_of_one_subject(clock):
    class Node:
        def get_logger(self):
            return rclpy.logging.get_logger("journal")

    journal = Journal(Node())
    journal.warn("start", "refused", "malformed")
    journal.warn("start", "parameter", "bad", lasting=True)  # rclpy raises, if it may


def test_the_same_text_is_logged_once_until_recovery(clock):
    log = Log()
    journal = Journal(log)
    for _ in range(5):
        journal.warn("motion", "TOO_FAR", "too far")
        clock[0] += 2.0
    assert log.lines == ["W too far"]
    journal.recovered("motion", "at the goal")
    journal.warn("motion", "TOO_FAR", "too far")
    assert log.lines == ["W too far", "I recovered: at the goal", "W too far"]


def test_a_suppressed_problem_is_logged_if_it_lasts(clock):
    log = Log()
    journal = Journal(log)
    journal.warn("joint state", "NON_FINITE", "joint a")
    for _ in range(300):
        clock[0] += 0.01
        journal.warn("joint state", "NON_FINITE", "joint b")
    assert log.lines == ["W joint a", "W joint b"]


def test_failed_requests_are_logged_each_time_but_throttled(clock):
    log = Log()
    journal = Journal(log)
    for _ in range(150):
        journal.error("cannot configure")
        clock[0] += 0.01
    assert log.lines == ["E cannot configure"] * 2
    clock[0] += 10.0
    journal.error("cannot configure")
    assert len(log.lines) == 3


def test_info_once_is_logged_once(clock):
    log = Log()
    journal = Journal(log)
    for _ in range(3):
        journal.info_once("waiting", "waiting")
        clock[0] += 10.0
    assert log.lines == ["I waiting"]


def test_old_reasons_are_discarded(clock):
    journal = Journal(Log())
    for i in range(1000):
        journal.warn("point head", f"reason {i}", f"text {i}")
        clock[0] += 0.1
    assert len(journal._recent) <= 11


def test_information_is_throttled_by_reason(clock):
    log = Log()
    journal = Journal(log)
    for i in range(200):
        journal.info("head goal", "REPLACED", f"replaced {i}")
        journal.info("head goal", "CANCELED", f"canceled {i}")
        clock[0] += 0.01
    assert log.lines == ["I replaced 0", "I canceled 0", "I replaced 100", "I canceled 100"]

# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The content of /diagnostics in various conditions."""

import math
from dataclasses import replace

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus

from basis_ik.ros.diagnostics import ArmReport, LoopReport, diagnostic_array

LOOP = LoopReport(
    desired_rate=100.0,
    rate=99.7,
    missed=3,
    newly_missed=0,
    work=(1e-4, 2e-4, 3e-3),
    memory=180_000_000,
)
ARM = ArmReport(
    tip="tool0",
    state="MOVING",
    why_not="",
    joint_state_rate=125.0,
    target_rate=30.0,
    command_rate=100.0,
    joint_state_age=0.008,
    target_age=1.25,
    solves=42,
    solve_time=(2e-5, 5e-5, 1e-3),
    verdicts={"REACHED": 40, "TOO_FAR": 2},
    refusals={"STALE": 1},
)


def statuses(loop=LOOP, **arms):
    message = diagnostic_array(Time(sec=7), "/ns/basis_ik", "ur5e", loop, arms or {"": ARM})
    assert message.header.stamp.sec == 7
    return message.status


def values(status):
    return {pair.key: pair.value for pair in status.values}


def test_names_begin_with_the_node():
    assert [s.name for s in statuses()] == ["ns/basis_ik: control loop", "ns/basis_ik: tool0"]
    assert {s.hardware_id for s in statuses()} == {"ur5e"}
    assert [s.name for s in statuses(left=ARM, right=ARM)][1:] == [
        "ns/basis_ik: left",
        "ns/basis_ik: right",
    ]


def test_without_problems_all_is_ok():
    loop, arm = statuses()
    assert (loop.level, loop.message) == (DiagnosticStatus.OK, "in time")
    assert (arm.level, arm.message) == (DiagnosticStatus.OK, "MOVING")


def test_values_of_loop_and_arm():
    loop, arm = map(values, statuses())
    assert loop == {
        "desired_rate": "100",
        "rate": "99.7",
        "missed_periods": "3",
        "turn_ms_p50": "0.1",
        "turn_ms_p99": "0.2",
        "turn_ms_max": "3",
        "memory_mb": "180",
    }
    assert arm == {
        "state": "MOVING",
        "joint_state_rate": "125",
        "target_rate": "30",
        "command_rate": "100",
        "joint_state_age": "0.008",
        "target_age": "1.25",
        "tf_age": "",
        "solves": "42",
        "solve_ms_p50": "0.02",
        "solve_ms_p99": "0.05",
        "solve_ms_max": "1",
        "verdict.REACHED": "40",
        "verdict.TOO_FAR": "2",
        "refused.STALE": "1",
    }


def test_it_says_why_numba_compiles_by_itself():
    loop_status, _ = statuses(replace(LOOP, plain_numba="basis_ik does not know numba 9.0"))
    assert values(loop_status)["plain_numba"] == "basis_ik does not know numba 9.0"


def test_parameters_that_are_not_used_are_a_warning():
    loop_status, _ = statuses(replace(LOOP, unused_parameters="no section of x is for /ik"))
    assert (loop_status.level, loop_status.message) == (
        DiagnosticStatus.WARN,
        "no section of x is for /ik",
    )
    assert values(loop_status)["unused_parameters"] == loop_status.message


def test_unknown_values_are_empty():
    loop = replace(LOOP, rate=math.nan, memory=None)
    arm = replace(ARM, solve_time=(math.nan,) * 3, joint_state_age=math.inf)
    loop_status, arm_status = statuses(loop, arm=arm)
    assert values(loop_status)["rate"] == ""
    assert "memory_mb" not in values(loop_status)
    assert "plain_numba" not in values(loop_status)
    assert loop_status.level == DiagnosticStatus.OK
    assert values(arm_status)["solve_ms_max"] == ""
    assert values(arm_status)["joint_state_age"] == "inf"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"newly_missed": 2}, "2 periods missed"),
        ({"rate": 94.0}, "only 94 of 100 turns"),
        ({"rate": 94.0, "clock_missing": True}, "no time has come on /clock"),
    ],
)
def test_a_late_loop_is_a_warning(change, text):
    loop, _ = statuses(replace(LOOP, **change))
    assert loop.level == DiagnosticStatus.WARN
    assert text in loop.message


@pytest.mark.parametrize(
    ("change", "level", "text"),
    [
        (
            {"state": "WAITING", "why_not": "no joint state of elbow"},
            DiagnosticStatus.WARN,
            "no joint state of elbow",
        ),
        ({"newly_refused": 4}, DiagnosticStatus.WARN, "4 inputs refused"),
        (
            {"state": "UNSAFE", "why_not": "a command failed"},
            DiagnosticStatus.ERROR,
            "a command failed",
        ),
        (
            {"state": "TRACKING_LOST", "why_not": "elbow is off"},
            DiagnosticStatus.ERROR,
            "elbow is off",
        ),
        ({"state": "STOPPED", "why_not": "stopped"}, DiagnosticStatus.WARN, "stopped"),
        ({"state": "INACTIVE", "why_not": "not active"}, DiagnosticStatus.OK, "INACTIVE"),
    ],
)
def test_an_arm_that_may_not_move_is_a_warning_or_error(change, level, text):
    _, arm = statuses(arm=replace(ARM, **change))
    assert (arm.level, arm.message) == (level, text)

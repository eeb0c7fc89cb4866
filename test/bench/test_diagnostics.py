# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`/diagnostics`: what the node reports of its loop and its arm once a second."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench import PERIOD, STATES, down, running
from diagnostic_msgs.msg import DiagnosticStatus
from world import MILLISECOND, SECOND

from basis_ik.ros import diagnostics
from basis_ik.ros.periodic_spinner import SPIN_PAUSE
from basis_ik.transforms.rigid import RigidTransform

NEAR = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot():
    with running() as robot, pytest.MonkeyPatch.context() as patch:
        # Rates are by a clock that does not cross the boundary: what they measure is not replayed.
        patch.setattr(diagnostics, "time", SimpleNamespace(monotonic=robot.loop.spinner.now))
        robot.run(2.0)
        yield robot


def next_report(robot):
    """Return the values, level and message of the next report's parts: the loop and the arm."""
    before, begun = robot.heard["/diagnostics"], robot.time
    robot.wait(lambda: robot.heard["/diagnostics"] is not before, "a report")
    assert robot.time - begun <= 1.0 + SPIN_PAUSE + PERIOD
    reports = []
    names = "control loop", "tool0"
    for name, status in zip(names, robot.heard["/diagnostics"].status, strict=True):
        assert status.name == f"basis_ik: {name}"
        values = {pair.key: pair.value for pair in status.values}
        reports.append({**values, "level": status.level, "message": status.message})
    return reports


def test_the_loops_values_are_published(robot):
    next_report(robot)
    loop, _ = next_report(robot)
    assert robot.heard["/diagnostics"].header.stamp == robot.stamp()
    assert (loop["desired_rate"], loop["rate"], loop["missed_periods"]) == ("100", "100", "0")
    assert float(loop["turn_ms_p50"]) <= float(loop["turn_ms_max"])
    assert float(loop["memory_mb"]) == pytest.approx(1e-6 * diagnostics.resident_memory(), rel=0.1)
    assert (loop["level"], loop["message"]) == (DiagnosticStatus.OK, "in time")


def test_missed_periods_are_a_warning_once(robot):
    next_report(robot)
    before = int(next_report(robot)[0]["missed_periods"])
    robot.boundary.stalls.add(robot.world.now, 0.04)
    loop, _ = next_report(robot)
    missed = int(loop["missed_periods"]) - before
    assert missed in (3, 4)
    assert loop["level"] == DiagnosticStatus.WARN
    assert loop["message"] == f"{missed} periods missed"
    assert next_report(robot)[0]["level"] == DiagnosticStatus.OK
    robot.boundary.stalls.add(robot.world.now, 0.1)
    loop, _ = next_report(robot)
    assert loop["message"] == f"only {loop['rate']} of 100 turns in a second"
    assert float(loop["rate"]) == pytest.approx(91.0, abs=1.0)
    next_report(robot)


def test_joint_states_are_counted(robot):
    next_report(robot)
    _, arm = next_report(robot)
    assert float(arm["joint_state_rate"]) == pytest.approx(SECOND / STATES, abs=1.0)
    assert float(arm["joint_state_age"]) <= 1e-9 * STATES + PERIOD
    assert arm["message"] == arm["state"] == "READY"


def test_solves_and_targets_are_counted(robot):
    _, before = next_report(robot)
    begun = len(robot.commands)
    robot.send("base_link", NEAR)
    _, arm = next_report(robot)
    assert float(arm["target_rate"]) == 1.0
    assert float(arm["command_rate"]) == pytest.approx(len(robot.commands) - begun, abs=2.0)
    robot.run(0.3)
    robot.send("base_link", down(2.0, 0.20, 0.40))
    _, arm = next_report(robot)
    assert float(arm["target_age"]) == pytest.approx(0.7, abs=SPIN_PAUSE)
    assert int(arm["solves"]) == int(before["solves"]) + 2
    assert (arm["verdict.REACHED"], arm["verdict.TOO_FAR"]) == ("1", "1")
    assert 0.0 < float(arm["solve_ms_p50"]) <= float(arm["solve_ms_max"])
    assert arm["tf_age"] == ""


def test_the_age_of_the_targets_frame(robot):
    robot.tf.link.delay = (100 * MILLISECOND, 100 * MILLISECOND)
    robot.frames["base_link", "ball"] = lambda: NEAR
    robot.run(0.2)
    robot.send("ball", RigidTransform.identity(), stamp=None)
    _, arm = next_report(robot)
    assert 0.1 <= float(arm["tf_age"]) <= 0.1 + PERIOD + 1e-9
    robot.tf.link.delay = (0, 0)
    robot.reach(NEAR)
    assert next_report(robot)[1]["tf_age"] == ""


def test_refusals_are_counted_and_are_a_warning_once(robot):
    next_report(robot)
    robot.look("base_link", (0.0, math.nan, 0.0))
    _, arm = next_report(robot)
    assert arm["refused.NON_FINITE"] == "1"
    assert (arm["level"], arm["message"]) == (DiagnosticStatus.WARN, "1 inputs refused")
    assert next_report(robot)[1]["level"] == DiagnosticStatus.OK


def test_missing_joint_states_are_reported(robot):
    next_report(robot)
    robot.publishing, begun = False, robot.time
    _, arm = next_report(robot)
    assert arm["level"] == DiagnosticStatus.WARN
    assert arm["message"].startswith("no joint state of")
    age = robot.time - begun
    assert age - PERIOD <= float(arm["joint_state_age"]) <= age + 1e-9 * STATES + PERIOD
    robot.publishing = True
    assert next_report(robot)[1]["level"] == DiagnosticStatus.OK


def test_memory_is_that_of_the_system():
    """But for what other threads take or free meanwhile."""
    status = Path("/proc/self/status").read_text()
    told = 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])
    assert abs(diagnostics.resident_memory() - told) < 32 << 20

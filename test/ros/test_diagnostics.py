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

"""/diagnostics over DDS."""

import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from robot_bench import down, running

from basis_ik.ros.diagnostics import resident_memory
from basis_ik.transforms.rigid import RigidTransform


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        yield robot


@pytest.fixture(scope="module")
def reported(robot):
    """The last statuses and their number: loop and arm, with values, level and message."""
    reported = {"count": 0}

    def receive(message):
        for status in message.status:
            if status.name.startswith("basis_ik: "):
                values = {pair.key: pair.value for pair in status.values}
                reported[status.name.removeprefix("basis_ik: ")] = {
                    **values, "level": status.level, "message": status.message
                }  # fmt: skip
        reported["count"] += 1

    robot.node.create_subscription(DiagnosticArray, "/diagnostics", receive, 10)
    robot.wait(lambda: reported["count"] >= 2, "two of them")
    return reported


def afresh(robot, reported):
    """Wait for the second report from now, which has the present values."""
    count = reported["count"]
    robot.wait(lambda: reported["count"] >= count + 2, "news")
    return reported


def test_the_loops_values_are_published(robot, reported):
    loop = afresh(robot, reported)["control loop"]
    assert float(loop["desired_rate"]) == 100.0
    assert 0.0 < float(loop["rate"]) < 110.0
    assert 0.0 < float(loop["turn_ms_p50"]) <= float(loop["turn_ms_max"])
    assert 20.0 < float(loop["memory_mb"]) < 2000.0


def test_joint_states_are_counted(robot, reported):
    arm = afresh(robot, reported)["tool0"]
    assert 0.0 < float(arm["joint_state_rate"]) < 110.0
    assert 0.0 <= float(arm["joint_state_age"]) < 0.5
    assert arm["message"] == "READY"


def test_solves_and_targets(robot, reported):
    before = afresh(robot, reported)["tool0"]
    robot.send("base_link", down(0.40, 0.20, 0.40))
    robot.wait(lambda: robot.at(down(0.40, 0.20, 0.40)), "the arm is there")
    robot.send("base_link", down(2.0, 0.20, 0.40))
    robot.wait_status(verdict="TOO_FAR")
    arm = afresh(robot, reported)["tool0"]
    assert int(arm["solves"]) == int(before["solves"]) + 2
    assert (arm["verdict.REACHED"], arm["verdict.TOO_FAR"]) == ("1", "1")
    assert 0.0 < float(arm["solve_ms_p50"]) <= float(arm["solve_ms_max"])
    assert 0.0 < float(arm["target_age"]) < 60.0
    assert arm["tf_age"] == ""


def test_the_age_of_the_targets_frame(robot, reported):
    robot.frames["ball"] = lambda: RigidTransform.from_rpy(3.14, 0.0, 0.0, [0.4, 0.1, 0.4])
    robot.send("ball", RigidTransform.identity(), stamp=None)
    robot.wait_status(target_frame="ball")
    assert -0.1 < float(afresh(robot, reported)["tool0"]["tf_age"]) < 0.5
    robot.frames.clear()
    robot.send("base_link", down(0.40, 0.20, 0.40))
    robot.wait_status(target_frame="base_link", state="ARRIVED")


def test_refusals_are_counted_and_are_a_warning_once(robot, reported):
    robot.look("base_link", (0.0, math.nan, 0.0))
    robot.wait(lambda: reported["tool0"].get("refused.NON_FINITE") == "1", "the count")
    assert reported["tool0"]["level"] == DiagnosticStatus.WARN
    assert afresh(robot, reported)["tool0"]["level"] == DiagnosticStatus.OK


def test_missing_joint_states_are_reported(robot, reported):
    robot.publishing = False
    robot.wait(lambda: reported["tool0"]["message"].startswith("no joint state of"), "a warning")
    assert float(reported["tool0"]["joint_state_age"]) > 0.5
    robot.publishing = True
    robot.wait(lambda: reported["tool0"]["level"] == DiagnosticStatus.OK, "they are back")


def test_memory_is_that_of_the_system():
    before = resident_memory()
    block = bytearray(64 << 20)
    for i in range(0, len(block), 4096):
        block[i] = 1
    assert resident_memory() - before > 32 << 20

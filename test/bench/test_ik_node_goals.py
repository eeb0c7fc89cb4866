# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0


"""Points to look at, and the operator's services: stop, enable and home."""

import math

import numpy as np
import pytest
from bench import PERIOD, down, running
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger

from basis_ik.transforms.rigid import RigidTransform

HOME = np.array([0.1, -1.5, 1.5, -1.5, -1.5, 0.1])
NEAR, FAR = down(0.45, -0.10, 0.30), down(-0.40, -0.30, 0.40)


@pytest.fixture(scope="module")
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    assert robot.call(SetBool, "enable", data=True).success
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, HOME, rtol=0.0, atol=1e-9)
    yield
    robot.frames.clear()
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []
    assert robot.arm.refused == []


def miss(robot, root_point):
    """Return the angle between the tip's z axis and the line to a point [rad]."""
    line = np.asarray(root_point) - robot.tip().translation
    axis = robot.tip().rotation[:, 2]
    return math.atan2(np.linalg.norm(np.cross(axis, line)), axis @ line)


def test_a_point_is_looked_at(robot):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.wait_status(state="ARRIVED", verdict="REACHED", input="point", target_frame="base_link")
    robot.wait(robot.rests, "silence")
    assert miss(robot, (0.9, -0.5, 0.7)) < 1e-6


def test_a_point_in_a_moving_frame_is_followed(robot):
    start = robot.time

    def ball():
        angle = 0.5 * math.sin(min(robot.time - start, 2.0))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.8, 0.0, 0.3])

    robot.frames["base_link", "ball"] = ball
    robot.run(0.1)
    robot.look("ball", (0.1, 0.2, 0.0))
    robot.run(0.9)
    misses = []
    while robot.time < start + 1.9:
        robot.run(0.01)
        misses.append(miss(robot, ball().apply((0.1, 0.2, 0.0))))
    assert max(misses) < 1.1e-5, "the arm sees the ball"
    robot.run(0.6)
    assert miss(robot, ball().apply((0.1, 0.2, 0.0))) < 1e-7, "also after it has stopped"


@pytest.mark.parametrize(("bad", "reason"), [(math.nan, "NON_FINITE"), (1e200, "OUT_OF_RANGE")])
def test_a_bad_point_is_refused(robot, bad, reason):
    count = len(robot.commands)
    robot.look("base_link", (0.0, bad, 0.0))
    robot.wait_status(**{f"refused.{reason}": "1"})
    robot.run(1.0)
    assert len(robot.commands) == count


def test_the_newest_target_of_any_kind_wins(robot):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.run(PERIOD)  # of what comes in one period, no order between topics is kept
    robot.reach(NEAR, 1e-9)
    robot.send("base_link", FAR)
    robot.run(PERIOD)
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.wait_status(state="ARRIVED", input="point")
    robot.wait(robot.rests, "silence")
    assert miss(robot, (0.9, -0.5, 0.7)) < 1e-6


@pytest.mark.parametrize(
    ("kind", "name", "fields"), [(Trigger, "stop", {}), (SetBool, "enable", {"data": False})]
)
def test_stop_brakes_and_holds_until_enabled(robot, kind, name, fields):
    robot.set_off(FAR, 0.05)
    begin, seen, first = robot.time, len(robot.statuses), len(robot.arm.outputs)
    assert robot.call(kind, name, **fields).success
    robot.wait_status(state="STOPPED")
    braking = next(each for each in robot.statuses[seen:] if each["state"] == "BRAKING")
    assert braking["heard"] - begin <= 0.02 + PERIOD + 1e-9, "requests are handled every 20 ms"
    robot.wait(robot.rests, "silence")
    held, count = robot.positions, len(robot.commands)
    moving = [
        time
        for time, positions in robot.arm.outputs[first:]
        if np.abs(positions - held).max() > 1e-9
    ]
    assert 1e-9 * moving[-1] - braking["heard"] < 0.35, "it gets faster for 50 to 70 ms"
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    robot.look("base_link", (1.0, 0.0, 0.0))
    robot.run(PERIOD)
    robot.send("base_link", NEAR)
    assert not robot.call(Trigger, "home").success
    robot.run(1.0)
    assert robot.statuses[-1]["state"] == "STOPPED"
    assert robot.call(SetBool, "enable", data=True).success
    robot.run(1.0)
    assert len(robot.commands) == count, "what came while it was stopped is not replayed"
    assert np.array_equal(robot.positions, held)


def test_home_goes_to_its_positions(robot):
    robot.reach(NEAR)
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, HOME, rtol=0.0, atol=1e-9)


OUT_OF_REACH = down(1.2, 0.6, 0.6)


@pytest.fixture
def exact(robot):
    """The robot, which moves to targets only if it can reach them."""
    assert robot.set_parameter("approximate", False).successful
    yield robot
    assert robot.set_parameter("approximate", True).successful


def unreachable(robot):
    return int(robot.statuses[-1].get("refused.UNREACHABLE", 0))


@pytest.mark.parametrize("solving", [0.0, 0.2], ids=["at once", "in a thread"])
@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "in motion"])
def test_a_target_out_of_reach_is_refused_on_request(exact, monkeypatch, solving, moving):
    robot, before = exact, unreachable(exact)
    if moving:
        robot.set_off(FAR, 0.2)
    here, sent = robot.positions, robot.time
    if solving:
        monkeypatch.setattr("basis_ik.arm.pipeline.QUICK_STEPS", 1)
        robot.boundary.solving = solving
    robot.send("base_link", OUT_OF_REACH)
    robot.wait(lambda: unreachable(robot) == before + 1, "its refusal", 1.0)
    assert robot.time - sent >= solving
    robot.boundary.solving = 0.0
    robot.wait_status(state="READY", level=DiagnosticStatus.WARN)
    words = "the target cannot be reached, and approximate is false (too far by 4"
    assert words in robot.statuses[-1]["message"]
    robot.wait(robot.rests, "silence")
    if moving:
        assert solving or not robot.at(FAR, 1e-2), "it brakes"
        assert not robot.at(OUT_OF_REACH, 0.3), "it does not go there"
    else:
        assert np.array_equal(robot.positions, here)
    monkeypatch.undo()
    robot.reach(NEAR, 1e-9)


def test_an_arm_goes_as_near_as_it_can_unless_told_otherwise(robot):
    before = unreachable(robot)
    robot.send("base_link", OUT_OF_REACH)
    robot.wait_status(state="ARRIVED", verdict="TOO_FAR")
    assert np.linalg.norm(robot.tip().translation - OUT_OF_REACH.translation) < 0.5
    assert unreachable(robot) == before
